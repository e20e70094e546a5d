"""Rubrics as judges write them: must-right, easy-wrong and mended ones as JSON, and a panel's verdicts line by line."""

import re
from collections.abc import Collection, Iterable
from typing import Any, cast

from dokimasia.domain.rubric import (
    ERROR_KINDS,
    MAX_EASY_WRONG,
    MAX_MUST_RIGHT,
    MIN_MUST_RIGHT,
    CheckedRubric,
    ErrorKind,
    Polarity,
    WrittenRubric,
    polarity_of,
)
from dokimasia.errors import UnparsableReply
from dokimasia.parsing.json_finder import find_json
from dokimasia.parsing.own import beside, is_empty_talk, own, split_lines
from dokimasia.parsing.reply import DECORATION, NAMED, field_text, listed, short, spoken

MAX_STATEMENT = 1_000
"""Characters of a statement; what is longer is no atomic one."""

_KINDS: dict[str, ErrorKind] = {kind: kind for kind in ERROR_KINDS}
_FIELDS = ("passes", "atomic", "decidable")
_EARLIER = {"true": "passes"}
"""What a field was called in earlier versions of the form."""

_VERDICT = re.compile(r"\b(?:passes|true|atomic|decidable)\b", re.IGNORECASE | re.ASCII)
_LINE = re.compile(
    r"(?:rubric\s{0,4})?\(?(?P<number>[0-9]{1,6})\)?(?![0-9])[\s|:.)]{0,12}(?P<rest>.*)", re.IGNORECASE | re.ASCII
)
_ANSWER = re.compile(
    r"\b(?P<field>passes|true|atomic|decidable)\s{0,4}[:=]\s{0,4}[\[<]?(?P<said>[A-Za-z]{1,20})[\]>]?",
    re.IGNORECASE | re.ASCII,
)


def parse_must_right(text: str) -> tuple[WrittenRubric, ...]:
    """Return 3 to 5 must-right rubrics, in order.

    Args:
        text: the judge's reply: a JSON array of objects with `statement`, `polarity`, `kind`, `evidence`; or an object
            whose field `rubrics` is such an array, or one of bare statements as published. A polarity that is not given
            is read off the statement.

    Raises:
        UnparsableReply: there is no such array, there are different ones, there are fewer than 3 or more than 5, or a
            field does not hold what it should. The reason names every such rubric and field.
    """
    rows = _only(text)
    problems: list[str] = []
    if not MIN_MUST_RIGHT <= len(rows) <= MAX_MUST_RIGHT:
        problems.append(f"there are {len(rows)} rubrics, not {MIN_MUST_RIGHT} to {MAX_MUST_RIGHT}")
    return _all_written(rows, 0, problems)


def parse_easy_wrong(text: str, n_responses: int) -> tuple[WrittenRubric, ...]:
    """Return easy-wrong rubrics, at most 12 and perhaps none, in order, with the responses of the pool that make the error.

    The judge writes them by severity; what comes after the first 12 is left out and not looked at.

    Args:
        text: as for must-right rubrics; `responses` lists numbers of responses, from 1.
        n_responses: how many responses the judge was shown.

    Raises:
        UnparsableReply: as for must-right rubrics; or a rubric that is an object names no response, or one that is not
            in the pool.
    """
    return _all_written(_only(text)[:MAX_EASY_WRONG], n_responses, [])


def parse_repaired(
    text: str, named: Collection[int], *, mined: Collection[int] = (), n_responses: int = 0
) -> dict[int, WrittenRubric | None]:
    """Return the mended rubrics by number, None for one that is given up.

    Args:
        text: the judge's reply: a JSON array of objects with `n` and the fields of a rubric, or `n` and `drop`.
        named: the numbers of the rubrics that were to be mended or replaced.
        mined: those of them that are replaced by another error of the pool, and so name responses.
        n_responses: how many responses the judge was shown.

    Raises:
        UnparsableReply: a rubric that was named is missing or stands there twice, one that was not named is there, or a
            field does not hold what it should. The reason names all that is wrong.
    """
    mended: dict[int, WrittenRubric | None] = {}
    problems: list[str] = []
    for row in _only(text):
        number = cast("dict[str, Any]", row).get("n") if isinstance(row, dict) else None
        if type(number) is not int or number not in named:
            problems.append(f"n is {short(repr(number))}, none of the rubrics to mend: {listed(named)}")
            continue
        if number in mended:
            problems.append(f"rubric {number} is mended twice")
            continue
        fields = cast("dict[str, Any]", row)
        mended[number] = None
        if fields.get("drop") is not True:
            asked = n_responses if number in mined else 0
            mended[number] = _noted(fields, number, asked, problems)
    missing = [number for number in named if number not in mended]
    if missing:
        problems.append(f"nothing is said of rubric {listed(missing)}")
    _raise_all(problems)
    return mended


def parse_cross_check(text: str, expected: int) -> tuple[CheckedRubric, ...]:
    """Return a panel member's three answers on each rubric, in order.

    The form is a line `N | passes: yes | atomic: no | decidable: yes` for each rubric, numbered from 1.

    Raises:
        UnparsableReply: a rubric has no line, or two that differ; a line is for what was not asked, lacks an answer, or
            answers otherwise than yes or no. The reason names all that is wrong.
        ValueError: no rubric is expected.
    """
    if expected < 1:
        raise ValueError("at least one rubric is expected")
    found: dict[int, CheckedRubric] = {}
    problems: dict[str, None] = {}
    lines, rest = split_lines(_VERDICT, own(text))
    for line in lines:
        match = _LINE.fullmatch(line.translate(DECORATION).strip(" \t\r|-#>"))
        if match is None:
            rest.append(line)
            continue
        number = int(match["number"])
        try:
            if not 1 <= number <= expected:
                raise UnparsableReply(f"there is a line for rubric {number}, but the rubrics are 1 to {expected}")
            said = _answers(match["rest"], number)
            if found.setdefault(number, said) != said:
                raise UnparsableReply(f"rubric {number} has two lines, which differ")
        except UnparsableReply as problem:
            problems[problem.reason] = None
    missing = [number for number in range(1, expected + 1) if number not in found]
    if missing and not problems:
        problems[f"there is no line for rubric {listed(missing)}"] = None
    problems.update(dict.fromkeys(beside(rest)))
    _raise_all(problems)
    return tuple(found[number] for number in range(1, expected + 1))


def _answers(rest: str, number: int) -> CheckedRubric:
    said: dict[str, bool] = {}
    for match in _ANSWER.finditer(rest):
        field, word = match["field"].casefold(), match["said"].casefold()
        field = _EARLIER.get(field, field)
        if word not in {"yes", "no"}:
            raise UnparsableReply(f"rubric {number}: {field} is '{short(word)}', neither yes nor no")
        if said.setdefault(field, word == "yes") != (word == "yes"):
            raise UnparsableReply(f"rubric {number}: {field} is both yes and no")
    other = _ANSWER.sub(" ", rest)
    if not is_empty_talk(other):
        raise UnparsableReply(f"rubric {number} has '{short(other.strip(' |'))}' beside its answers")
    missing = [field for field in _FIELDS if field not in said]
    if missing:
        raise UnparsableReply(f"rubric {number} has no answer to: {', '.join(missing)}")
    return CheckedRubric(**said)


def _only(text: str) -> list[Any]:
    """Return the one array of rubrics of a reply."""
    found = [_rows(value) or [] for value in find_json(spoken(text), lambda value: _rows(value) is not None)]
    if not found:
        if re.search(r"\[\s{0,99}\]", text):
            return []
        raise UnparsableReply("there is no complete JSON array of rubrics")
    if any(other != found[0] for other in found[1:]):
        raise UnparsableReply("there is more than one JSON array of rubrics, and they differ")
    return found[0]


def _rows(value: Any) -> list[Any] | None:
    """Return the rows of an array, bare or under `rubrics`: all objects, or all texts; None if it is something else."""
    if isinstance(value, dict):
        value = cast("dict[str, Any]", value).get("rubrics")
    if not isinstance(value, list):
        return None
    rows = cast("list[Any]", value)
    alike = all(isinstance(row, dict) for row in rows) or all(isinstance(row, str) for row in rows)
    return rows if alike else None


def _all_written(rows: list[Any], n_responses: int, problems: list[str]) -> tuple[WrittenRubric, ...]:
    """Return all rubrics of a reply, unless there are problems, whose reasons are added to those that are known."""
    found = [_noted(row, number, n_responses, problems) for number, row in enumerate(rows, start=1)]
    _raise_all(problems)
    return tuple(one for one in found if one is not None)


def _noted(row: Any, number: int, n_responses: int, problems: list[str]) -> WrittenRubric | None:
    """Return a rubric; what is wrong with it is added to the problems, so that all can be named at once."""
    try:
        return _written(row, number, n_responses)
    except UnparsableReply as problem:
        problems.append(problem.reason)
        return None


def _raise_all(problems: Iterable[str]) -> None:
    named = list(problems)[:NAMED]
    if named:
        raise UnparsableReply("; ".join(named))


def _written(row: Any, number: int, n_responses: int) -> WrittenRubric:
    if isinstance(row, str):
        statement = _statement(row, number)
        return WrittenRubric(statement, polarity_of(statement))
    fields = cast("dict[str, Any]", row)
    statement = _statement(fields.get("statement"), number)
    stated = fields.get("polarity") or polarity_of(statement)
    if stated not in {"positive", "negative"}:
        raise UnparsableReply(f"rubric {number}: the polarity {short(repr(stated))} is neither positive nor negative")
    evidence: Any = fields.get("evidence") or ""
    if not isinstance(evidence, str):
        raise UnparsableReply(f"rubric {number}: the field 'evidence' is no text")
    kind: Any = fields.get("kind")
    if kind is not None and (not isinstance(kind, str) or kind.strip().casefold() not in _KINDS):
        raise UnparsableReply(f"rubric {number}: the kind {short(repr(kind))} is none of {', '.join(ERROR_KINDS)}")
    return WrittenRubric(
        statement=statement,
        polarity=cast("Polarity", stated),
        kind=None if kind is None else _KINDS[kind.strip().casefold()],
        evidence=evidence.strip(),
        responses=_responses(fields.get("responses"), number, n_responses) if n_responses else (),
    )


def _statement(value: Any, number: int) -> str:
    plain = " ".join(field_text(value, "statement", f"rubric {number}").split())
    if len(plain) > MAX_STATEMENT:
        raise UnparsableReply(f"rubric {number}: a statement of {len(plain)} characters is no single point")
    return plain


def _responses(value: Any, number: int, n_responses: int) -> tuple[int, ...]:
    if not isinstance(value, list) or not value:
        raise UnparsableReply(f"rubric {number}: the field 'responses' names no response of the pool")
    named = cast("list[Any]", value)
    for one in named:
        if type(one) is not int or not 1 <= one <= n_responses:
            raise UnparsableReply(
                f"rubric {number}: response {short(repr(one))} is not in the pool, which has 1 to {n_responses}"
            )
    return tuple(sorted(set(named)))
