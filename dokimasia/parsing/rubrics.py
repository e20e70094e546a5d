"""Rubrics as judges write them: must-right, easy-wrong and mended ones as JSON, and a panel's verdicts line by line."""

import re
from collections.abc import Collection, Mapping
from typing import Annotated, Any, ClassVar, cast

from pydantic import BeforeValidator, Field

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
from dokimasia.parsing.declared import JsonReply, Sentence, checked, only_value, read_fields, read_numbered
from dokimasia.parsing.examples import FormExample
from dokimasia.parsing.grammar import form
from dokimasia.parsing.json_finder import find_json
from dokimasia.parsing.own import beside, is_empty_talk, own, split_lines
from dokimasia.parsing.reply import DECORATION, listed, refuse, short, spoken, tried

MAX_STATEMENT = 1_000
"""Characters of a statement; what is longer is no atomic one."""

EXAMPLE = FormExample(
    '[{"statement": "The response must say that three boats lie at the jetty.", "kind": "count", '
    '"evidence": "three boats lie at the jetty"}, {"statement": "The response must say that the red boat lies on the '
    'left.", "kind": "position", "evidence": "the red one on the left"}, {"statement": "The response must give the '
    'words of the sign as \\"NO SWIMMING\\".", "kind": "text", "evidence": "a sign reads \\"NO SWIMMING\\""}]'
)
MINED_EXAMPLE = FormExample(
    '[{"statement": "The response must say that three boats lie at the jetty.", "polarity": "positive", "kind": "count", '
    '"evidence": "three boats lie at the jetty", "responses": [2, 5]}, {"statement": "The response must not say that a '
    'flag flies on the red boat.", "polarity": "negative", "kind": "object", "evidence": "", "responses": [4]}]'
)

REPAIR_EXAMPLE = FormExample(
    '[{"n": 21, "statement": "The response must say that three boats lie at the jetty.", "kind": "count", '
    '"evidence": "three boats lie at the jetty"}, {"n": 23, "statement": "The response must not say that a flag flies on '
    'the red boat.", "kind": "object", "evidence": "", "responses": [2, 5]}, {"n": 26, "drop": true}]'
)
CHECK_EXAMPLE = FormExample("21 | passes: yes | atomic: no | decidable: yes")

_KINDS: dict[str, ErrorKind] = {kind: kind for kind in ERROR_KINDS}
_FIELDS = ("passes", "atomic", "decidable")
_EARLIER = {"true": "passes"}
"""What a field was called in earlier versions of the form."""

_VERDICT = form(r"\b(?:passes|true|atomic|decidable)\b")
_LINE = form(r"(?:rubric~)?\(?(?P<number>[0-9]{1,6})\)?(?![0-9])[\s|:.)]{0,12}(?P<rest>.*)")
_ANSWER = form(r"\b(?P<field>passes|true|atomic|decidable)~[:=]~[\[<]?(?P<said>[A-Za-z]{1,20})[\]>]?")


def _atomic(statement: str, _about: object) -> str:
    if len(statement) > MAX_STATEMENT:
        raise UnparsableReply(f"a statement of {len(statement)} characters is no single point")
    return statement


def _kind(stated: object) -> ErrorKind | None:
    """Return a kind in its one spelling; None where none is given."""
    kind = _KINDS.get(stated.strip().casefold()) if isinstance(stated, str) else None
    if kind is None and stated is not None:
        raise ValueError(f"the kind {short(repr(stated))} is none of {', '.join(ERROR_KINDS)}")
    return kind


def _polarity(stated: Any) -> Polarity | None:
    if stated and stated not in ("positive", "negative"):
        raise ValueError(f"the polarity {short(repr(stated))} is neither positive nor negative")
    return stated or None


def _text_or_nothing(stated: object) -> object:
    return stated or ""


def _pooled(responses: list[Any], count: int) -> list[int]:
    """Return the numbers of responses of a pool of so many."""
    if not responses:
        raise UnparsableReply("the field 'responses' names no response of the pool")
    for number in responses:
        if type(number) is not int or not 1 <= number <= count:
            raise UnparsableReply(f"response {short(repr(number))} is not in the pool, which has 1 to {count}")
    return sorted(set(responses))


class RubricReply(JsonReply):
    """A rubric as a judge writes it."""

    example: ClassVar[FormExample] = FormExample(f"{EXAMPLE.text}\n{MINED_EXAMPLE.text}\n{REPAIR_EXAMPLE.text}")
    quoted: ClassVar[tuple[str, ...]] = ("evidence",)

    statement: Annotated[Sentence, checked(_atomic)]
    polarity: Annotated[Polarity | None, BeforeValidator(_polarity)] = None
    kind: Annotated[ErrorKind | None, BeforeValidator(_kind)] = None
    evidence: Annotated[str, BeforeValidator(_text_or_nothing)] = ""


class MinedReply(RubricReply):
    """A rubric that is drawn from the errors of a pool of responses."""

    responses: Annotated[list[Any], checked(_pooled)] = Field(default=[], validate_default=True)


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

    def read(row: Mapping[str, object], number: int) -> WrittenRubric | None:
        if row.get("drop") is True:
            return None
        return _written(row, number, n_responses if number in mined else 0)

    mended, problems = read_numbered(_only(text), sorted(named), "rubric", read)
    refuse(problems)
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
            answers = _answers(match["rest"], number)
            if found.setdefault(number, answers) != answers:
                raise UnparsableReply(f"rubric {number} has two lines, which differ")
        except UnparsableReply as problem:
            problems[problem.reason] = None
    missing = [number for number in range(1, expected + 1) if number not in found]
    if missing and not problems:
        problems[f"there is no line for rubric {listed(missing)}"] = None
    problems.update(dict.fromkeys(beside(rest)))
    refuse(problems)
    return tuple(found[number] for number in range(1, expected + 1))


def _answers(rest: str, number: int) -> CheckedRubric:
    answers: dict[str, bool] = {}
    for match in _ANSWER.finditer(rest):
        field, word = match["field"].casefold(), match["said"].casefold()
        field = _EARLIER.get(field, field)
        if word not in {"yes", "no"}:
            raise UnparsableReply(f"rubric {number}: {field} is '{short(word)}', neither yes nor no")
        if answers.setdefault(field, word == "yes") != (word == "yes"):
            raise UnparsableReply(f"rubric {number}: {field} is both yes and no")
    other = _ANSWER.sub(" ", rest)
    if not is_empty_talk(other):
        raise UnparsableReply(f"rubric {number} has '{short(other.strip(' |'))}' beside its answers")
    missing = [field for field in _FIELDS if field not in answers]
    if missing:
        raise UnparsableReply(f"rubric {number} has no answer to: {', '.join(missing)}")
    return CheckedRubric(**answers)


def _only(text: str) -> list[Any]:
    """Return the one array of rubrics of a reply."""
    found = [_rows(value) or [] for value in find_json(spoken(text), lambda value: _rows(value) is not None)]
    if not found and re.search(r"\[\s{0,99}\]", text):
        return []
    return only_value(found, "JSON array with rubrics")


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
    found = [tried(problems, _written, row, number, n_responses) for number, row in enumerate(rows, start=1)]
    refuse(problems)
    return tuple(rubric for rubric in found if rubric is not None)


def _written(row: object, number: int, n_responses: int) -> WrittenRubric:
    """Return a rubric; a bare statement has no response, and a polarity that is not given is read off the statement."""
    fields = {"statement": row} if isinstance(row, str) else cast("Mapping[str, object]", row)
    model = MinedReply if n_responses and not isinstance(row, str) else RubricReply
    read = read_fields(model, fields, f"rubric {number}", about=n_responses)
    responses = tuple(read.responses) if isinstance(read, MinedReply) else ()
    polarity = read.polarity or polarity_of(read.statement)
    return WrittenRubric(read.statement, polarity, read.kind, read.evidence.strip(), responses)
