"""Instructions to edit an image, and what was seen of an edit, as models write them: one JSON object each."""

import re
from collections.abc import Collection
from typing import Any, cast

from dokimasia.domain.perturbation import EditCheck, EditInstruction
from dokimasia.errors import UnparsableReply
from dokimasia.parsing.json_finder import find_json
from dokimasia.parsing.reply import NAMED, is_unicode, short, spoken

MAX_WORDS = 80
"""Words of an instruction."""

MAX_SAID = 100
"""Words of what is said beside it."""

_PLACEHOLDER = re.compile(r"<[a-z][^<>]{3,}>", re.IGNORECASE)


def parse_edit_instruction(reply: str, *, unnamed: Collection[str] = ()) -> EditInstruction:
    """Return an instruction with what it changes, or why the image cannot be edited so.

    The form is a JSON object with `instruction` and `change`, or with `unsuited`.

    Args:
        reply: the model's reply.
        unnamed: words that the instruction may not hold: the names of the kind of change.

    Raises:
        UnparsableReply: there is no such object, or several that differ; the instruction is too long, or names what it may
            not; or it is both. The reason names all that is wrong.
    """
    row = _one(reply, ("instruction", "unsuited"), 'with "instruction" and "change", or with "unsuited"')
    faults: list[str] = []
    if "unsuited" in row and not row.get("instruction"):
        unsuited = _text(row, "unsuited", MAX_SAID, faults)
        if faults:
            raise UnparsableReply("; ".join(faults))
        return EditInstruction(unsuited=unsuited)
    if row.get("unsuited"):
        faults.append('"instruction" and "unsuited" exclude each other')
    instruction = _text(row, "instruction", MAX_WORDS, faults)
    change = _text(row, "change", MAX_SAID, faults)
    plain = re.sub(r"[\W_]+", " ", instruction).casefold()
    named = [name for name in unnamed if re.sub(r"[\W_]+", " ", name).casefold().strip() in plain]
    if named:
        faults.append(
            f"the instruction names the kind of change ('{short(named[0])}'): say what is to be shown instead"
        )
    if faults:
        raise UnparsableReply("; ".join(faults[:NAMED]))
    return EditInstruction(instruction=instruction, change=change)


def parse_edit_check(reply: str) -> EditCheck:
    """Return what was seen of an edit; the form is a JSON object with `seen`, and true or false for `done` and `alone`.

    Raises:
        UnparsableReply: there is no such object, or several that differ, or a verdict is neither true nor false.
    """
    row = _one(reply, ("done", "alone"), 'with "seen", "done" and "alone"')
    faults = [f'"{name}" is neither true nor false' for name in ("done", "alone") if type(row.get(name)) is not bool]
    seen = _text(row, "seen", MAX_SAID, faults)
    if faults:
        raise UnparsableReply("; ".join(faults))
    return EditCheck(done=row["done"], alone=row["alone"], seen=seen)


def _one(reply: str, names: Collection[str], what: str) -> dict[str, Any]:
    """Return the one JSON object of a reply that has any of these fields."""

    def wanted(value: Any) -> bool:
        return isinstance(value, dict) and any(name in value for name in names)

    found = find_json(spoken(reply), wanted)
    if not found:
        raise UnparsableReply(f"there is no complete JSON object {what}")
    if any(other != found[0] for other in found[1:]):
        raise UnparsableReply("there is more than one such JSON object, and they differ")
    return cast("dict[str, Any]", found[0])


def _text(row: dict[str, Any], name: str, most: int, faults: list[str]) -> str:
    """Return a field's words on one line; what is wrong with them is added to the faults."""
    value = row.get(name)
    if not isinstance(value, str) or not value.strip():
        faults.append(f'"{name}" is missing, empty, or no text')
        return ""
    if not is_unicode(value):
        faults.append(f'"{name}" holds half a character (a lone surrogate)')
        return ""
    words = value.split()
    if len(words) > most:
        faults.append(f'"{name}" has {len(words)} words, more than {most}')
    text = " ".join(words[:most])
    if _PLACEHOLDER.search(text):
        faults.append(f'"{name}" holds a placeholder of the form: {short(text)}')
    return text
