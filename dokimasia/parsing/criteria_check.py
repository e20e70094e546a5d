"""Examination of atomic criteria (the second look): a line of three verdicts for each, and what is missing."""

import re

from pydantic import JsonValue

from dokimasia.domain.criterion import CriteriaCheck, CriterionCheck
from dokimasia.errors import UnparsableReply
from dokimasia.parsing.grammar import form
from dokimasia.parsing.json_finder import read_json_and_rest
from dokimasia.parsing.own import beside, own, own_form, split_lines
from dokimasia.parsing.reply import DECORATION, MAX_LINE, NAMED, listed, refuse, short

VERDICTS = ("needed", "single", "open")
REASON_LIMIT = 300
"""The maximum number of stored characters of a reason."""

_LINE = form(r"\s{0,9}(?:[-\u2022]\s{0,9})?(?:point|criterion)?~([0-9]{1,3})~[|.:)](.*)", re.UNICODE)
_VERDICT = form(r"\b(needed|single|open)~[:=]~\W{0,3}(yes|no)\b")
_MISSING = form(r"\s{0,9}(?:[-\u2022]\s{0,9})?missing~[:=|]\s{0,9}(.*)", re.UNICODE)
_BETWEEN = re.compile(r"[\s|,;.\[\]()<>]*")
_BEHIND = re.compile(r"[\s\])>.]*(?:\||\Z)")
"""The permitted text between verdicts, and between the last verdict and the reason."""
_NOTHING = frozenset({"", "nothing", "none", "no", "-", "\u2013", "\u2014", "n/a"})


def parse_criteria_check(text: str, expected: int) -> CriteriaCheck:
    """Return a judge's examination of a set of criteria.

    Args:
        text: the judge's reply: for each criterion a line `N | needed: YES | single: NO | open: YES | REASON`, with the
            criteria's numbers from 1, and a line `missing: WHAT`.
        expected: the number of criteria.

    Raises:
        UnparsableReply: a criterion has no line, more than one, or one without exactly three verdicts; there is a line
            for another criterion; or there is no line `missing`. The reason names all faults.
    """
    lines, rest = split_lines(_VERDICT, own_form(text, _is_line))
    checks: dict[int, CriterionCheck] = {}
    problems: dict[str, None] = {}
    for line in lines:
        match = _LINE.fullmatch(line.translate(DECORATION))
        if match is None:
            problems[f"the line '{short(line)}' names no criterion by its number"] = None
            continue
        number = int(match[1])
        if not 1 <= number <= expected:
            problems[f"there is a line for criterion {number}, but the criteria are 1 to {expected}"] = None
        elif number in checks:
            problems[f"criterion {number} has more than one line"] = None
        else:
            verdicts = {name: _verdict_of(match[2], name, number, problems) for name in VERDICTS}
            last_verdict = list(_VERDICT.finditer(match[2]))[-1]
            tail = match[2][last_verdict.end() :]
            between = _VERDICT.sub("", match[2][: last_verdict.end()])
            if _BETWEEN.fullmatch(between) is None or _BEHIND.match(tail) is None:
                problems[
                    f"criterion {number}: something beside its verdicts could change them: put reasons after a bar"
                ] = None
            reason = tail.rsplit("|", 1)[-1] if "|" in tail else ""
            checks[number] = CriterionCheck(**verdicts, reason=_plain(reason))
    missing = [match[1] for line in rest if (match := _MISSING.fullmatch(line.translate(DECORATION)))]
    problems.update(dict.fromkeys(beside(line for line in rest if not _MISSING.fullmatch(line.translate(DECORATION)))))
    return _checked(checks, missing[-1] if missing else None, expected, problems)


def _is_line(line: str) -> bool:
    """Return whether a line is one of the form."""
    plain = line[:MAX_LINE].translate(DECORATION)
    return _MISSING.fullmatch(plain) is not None or (
        _VERDICT.search(plain) is not None and _LINE.fullmatch(plain) is not None
    )


def parse_structured_check(text: str, expected: int) -> CriteriaCheck:
    """Return a judge's examination of a set of criteria, from the JSON object that its schema asks for.

    The object is `{"criteria": [{"n": 1, "needed": true, "single": true, "open": true, "reason": ""}, ...], "missing":
    ""}`. A reply without such an object is read as the lines that the prompt describes.

    Raises:
        UnparsableReply: as for lines, or there are several such objects that differ.
    """
    objects, rest = read_json_and_rest(own(text), _object)
    if not objects:
        return parse_criteria_check(text, expected)
    if any(other != objects[0] for other in objects[1:]):
        raise UnparsableReply("there is more than one JSON object of criteria, and they differ")
    rows, missing = objects[0].get("criteria"), objects[0].get("missing")
    checks: dict[int, CriterionCheck] = {}
    problems: dict[str, None] = dict.fromkeys(beside(rest.split("\n")))
    for row in rows if isinstance(rows, list) else ():
        fields = row if isinstance(row, dict) else {}
        number = fields.get("n")
        if type(number) is not int or not 1 <= number <= expected:
            problems[f"n is {short(repr(number))}, but the criteria are 1 to {expected}"] = None
        elif number in checks:
            problems[f"criterion {number} has more than one object"] = None
        else:
            for name in VERDICTS:
                if type(fields.get(name)) is not bool:
                    problems[f"criterion {number}: '{name}' is neither true nor false"] = None
            verdicts = {name: fields.get(name) is True for name in VERDICTS}
            checks[number] = CriterionCheck(**verdicts, reason=_plain(str(fields.get("reason") or "")))
    return _checked(checks, missing if isinstance(missing, str) else "", expected, problems)


def _object(value: JsonValue) -> dict[str, JsonValue] | None:
    """Return an object with an examination; None for any other value."""
    if isinstance(value, dict) and value.keys() >= {"criteria", "missing"}:
        return value
    return None


def _verdict_of(text: str, name: str, number: int, problems: dict[str, None]) -> bool:
    """Return one verdict of a line; a fault is added to `problems`."""
    verdicts = {verdict[2].casefold() for verdict in _VERDICT.finditer(text) if verdict[1].casefold() == name}
    if len(verdicts) != 1:
        state = "both YES and NO" if verdicts else "neither YES nor NO"
        problems[f"criterion {number}: '{name}' is {state}"] = None
    return verdicts == {"yes"}


def _checked(
    found: dict[int, CriterionCheck], missing: str | None, expected: int, problems: dict[str, None]
) -> CriteriaCheck:
    unsaid = set(range(1, expected + 1)) - set(found)
    if unsaid:
        problems[f"there is no line of the form 'N | needed: ... | single: ... | open: ...' for {listed(unsaid)}"] = (
            None
        )
    if missing is None:
        problems["there is no line 'missing: ...'"] = None
    refuse(list(problems)[-NAMED:])
    return CriteriaCheck(tuple(found[number] for number in sorted(found)), _plain(missing or ""))


def _plain(reason: str) -> str:
    """Return a reason on one line; empty for `none`, a dash and the like."""
    line = " ".join(reason.translate(DECORATION).split())[:REASON_LIMIT]
    if line.strip("\"'.[]() ").casefold() in _NOTHING:
        return ""
    return line
