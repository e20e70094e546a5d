"""Planted errors: the changes of each error, checked against the text that they change."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar, Literal

from pydantic import Field, JsonValue

from dokimasia.domain.perturbation import TextChange, spans
from dokimasia.errors import UnparsableReply
from dokimasia.parsing.declared import JsonReply, checked, only_value, read_fields, read_numbered
from dokimasia.parsing.examples import FormExample
from dokimasia.parsing.json_finder import objects_of, read_json
from dokimasia.parsing.reply import NAMED, is_unicode, short, spoken

MAX_CHANGES = 12
MAX_WORDS = 60
"""The maximum number of words of one change; a longer one is a rewriting rather than a single error."""

Changes = tuple[TextChange, ...]


class ChangeReply(JsonReply):
    """Words of a text, and the words in their place."""

    original: str = Field(description="words of the text")
    new: str = Field(description="the words in their place")


def made_changes(changes: Sequence[ChangeReply], text: str) -> Changes:
    """Return changes that quote the text exactly.

    Raises:
        UnparsableReply: there is no change, or one of them cannot be made.
    """
    if not changes:
        raise UnparsableReply('it has neither "changes" nor "none": true')
    if len(changes) > MAX_CHANGES:
        raise UnparsableReply(f"it has {len(changes)} changes, more than one error takes ({MAX_CHANGES})")
    exact_changes = tuple(_change(change, text) for change in changes)
    try:
        spans(text, exact_changes)
    except ValueError as problem:
        raise UnparsableReply(str(problem)) from None
    return exact_changes


def _checked(changes: list[ChangeReply], text: str) -> list[ChangeReply]:
    made_changes(changes, text)
    return changes


class PlantedReply(JsonReply):
    """An error that is planted."""

    example: ClassVar[FormExample] = FormExample(
        '[{"n": 1, "changes": [{"original": "three boats lie at the jetty", "new": "four boats lie at the jetty"}]}, '
        '{"n": 2, "none": true}]'
    )

    n: int = Field(description="number")
    changes: Annotated[list[ChangeReply], checked(_checked)] = Field(default=[], description="", validate_default=True)


class NotPlantedReply(JsonReply):
    """An error that cannot be planted."""

    n: int = Field(description="number of an error that cannot be planted")
    none: Literal[True] = Field(examples=[True])


def parse_perturbations(reply: str, text: str, expected: int, *, lenient: bool = False) -> tuple[Changes, ...]:
    """Return the changes that plant each error in a text, in order; empty for an error that cannot be planted.

    The changes quote the text exactly, even if the reply has other line breaks.

    Args:
        reply: the model's reply.
        text: the text in which the errors are planted.
        expected: the number of errors.
        lenient: whether an error with unusable changes counts as not planted, as in the reply to a re-ask.

    Raises:
        UnparsableReply: there is no such array; an error is missing or repeated; or, unless `lenient`, original words are
            not in the text exactly once, changes overlap, or one changes nothing or too much. The reason names all
            faults.
    """

    def read(row: Mapping[str, object], number: int) -> Changes:
        if row.get("none") is True and not row.get("changes"):
            return ()
        try:
            return made_changes(read_fields(PlantedReply, row, f"error {number}", about=text).changes, text)
        except UnparsableReply:
            if lenient:
                return ()
            raise

    rows = only_value(read_json(spoken(reply), _numbered_objects), 'JSON array with objects that have an "n"')
    if rows == json.loads(PlantedReply.example.text):
        raise UnparsableReply("it is the example, which is about another text")
    planted, faults = read_numbered(rows, range(1, expected + 1), "error", read)
    if faults and not (lenient and planted):
        raise UnparsableReply("; ".join(faults[:NAMED]))
    return tuple(planted.get(number, ()) for number in range(1, expected + 1))


def _numbered_objects(value: JsonValue) -> list[dict[str, JsonValue]] | None:
    """Return the objects of an array if all have a number; else None."""
    rows = objects_of(value) if isinstance(value, list) else None
    if rows and all("n" in row for row in rows):
        return rows
    return None


def _change(change: ChangeReply, text: str) -> TextChange:
    original, new = change.original, change.new
    if not (original.strip() and new.strip()):
        raise UnparsableReply('a change has no "original" or no "new" words')
    if not is_unicode(new):
        raise UnparsableReply('"new" holds half a character (a lone surrogate)')
    if max(len(original.split()), len(new.split())) > MAX_WORDS:
        raise UnparsableReply(f"a change of more than {MAX_WORDS} words is a rewriting, not one error")
    quoted = _as_it_stands(original, text)
    if " ".join(quoted.split()).casefold() == " ".join(new.split()).casefold():
        raise UnparsableReply(f"'{short(quoted)}' is changed into itself")
    return TextChange(original=quoted, new=new.strip())


def _as_it_stands(words: str, text: str) -> str:
    """Return quoted words as in the text, which may have other line breaks."""
    pattern = r"\s{1,20}".join(map(re.escape, words.split()))
    passages = [match[0] for match in re.finditer(pattern, text)]
    if not passages:
        raise UnparsableReply(f"'{short(words)}' does not stand in the text")
    if len(passages) > 1:
        raise UnparsableReply(
            f"'{short(words)}' stands in the text {len(passages)} times: quote more of the words around it"
        )
    return passages[0]
