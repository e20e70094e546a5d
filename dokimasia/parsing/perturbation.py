"""Planted errors as a perturbing model reports them: the changes of each, checked against the text that they change."""

import re
from typing import Any, cast

from dokimasia.domain.perturbation import TextChange, spans
from dokimasia.errors import UnparsableReply
from dokimasia.parsing.json_finder import find_json
from dokimasia.parsing.reply import NAMED, is_unicode, short, spoken

MAX_CHANGES = 12
MAX_WORDS = 60
"""Words of one change; what is longer is a rewriting and no single error."""

Changes = tuple[TextChange, ...]


def parse_perturbations(reply: str, text: str, expected: int, *, lenient: bool = False) -> tuple[Changes, ...]:
    """Return the changes that plant each error in a text, in order; no change for an error that cannot be planted.

    The form is a JSON array of objects with `n`, from 1, and `changes`, each with `original` and `new`, or with `none`.
    What comes back quotes the text exactly, also where the reply broke its lines otherwise.

    Args:
        reply: the model's reply.
        text: the text in which the errors are planted.
        expected: how many errors were asked for.
        lenient: take an error whose changes cannot be used for one that was not planted, as in the reply to a re-ask.

    Raises:
        UnparsableReply: there is no such array; an error is missing, or there twice; or, unless `lenient`, original words
            do not stand in the text exactly once, changes overlap, or one changes nothing or too much. The reason names
            all that is wrong.
    """
    found = find_json(spoken(reply), _is_array)
    if not found:
        raise UnparsableReply('there is no complete JSON array of objects with "n"')
    if any(other != found[0] for other in found[1:]):
        raise UnparsableReply("there is more than one such JSON array, and they differ")
    planted: dict[int, Changes] = {}
    problems: dict[str, None] = {}
    for row in cast("list[dict[str, Any]]", found[0]):
        number = row["n"]
        if type(number) is not int or not 1 <= number <= expected:
            problems[f"n is {short(repr(number))}, but the errors are 1 to {expected}"] = None
            continue
        if number in planted:
            problems[f"error {number} is there twice"] = None
            continue
        planted[number] = ()
        try:
            planted[number] = () if row.get("none") is True and not row.get("changes") else parse_changes(row, text)
        except UnparsableReply as problem:
            if not lenient:
                problems[f"error {number}: {problem.reason}"] = None
    missing = [number for number in range(1, expected + 1) if number not in planted]
    if missing and not lenient:
        problems[f"there is no object for error {', '.join(map(str, missing[:NAMED]))}"] = None
    if problems and not (lenient and planted):
        raise UnparsableReply("; ".join(list(problems)[:NAMED]))
    return tuple(planted.get(number, ()) for number in range(1, expected + 1))


def _is_array(value: Any) -> bool:
    rows = cast("list[Any]", value) if isinstance(value, list) else []
    return bool(rows) and all(isinstance(row, dict) and "n" in row for row in rows)


def parse_changes(row: dict[str, Any], text: str) -> Changes:
    """Return the changes of one error, each as it can be made in the text.

    Raises:
        UnparsableReply: there is none, or one of them cannot be made in the text.
    """
    listed = row.get("changes")
    if not isinstance(listed, list) or not listed:
        raise UnparsableReply('it has neither "changes" nor "none": true')
    rows = cast("list[Any]", listed)
    if len(rows) > MAX_CHANGES:
        raise UnparsableReply(f"it has {len(rows)} changes, more than one error takes ({MAX_CHANGES})")
    changes = tuple(_change(row, text) for row in rows)
    try:
        spans(text, changes)
    except ValueError as problem:
        raise UnparsableReply(str(problem)) from None
    return changes


def _change(row: Any, text: str) -> TextChange:
    fields = cast("dict[str, Any]", row) if isinstance(row, dict) else {}
    original, new = fields.get("original"), fields.get("new")
    if not (isinstance(original, str) and original.strip() and isinstance(new, str) and new.strip()):
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
    """Return quoted words as the text has them, whose lines may be broken otherwise."""
    pattern = r"\s{1,20}".join(map(re.escape, words.split()))
    found = [match[0] for match in re.finditer(pattern, text)]
    if not found:
        raise UnparsableReply(f"'{short(words)}' does not stand in the text")
    if len(found) > 1:
        raise UnparsableReply(
            f"'{short(words)}' stands in the text {len(found)} times: quote more of the words around it"
        )
    return found[0]
