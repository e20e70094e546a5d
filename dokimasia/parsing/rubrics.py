"""Rubrics in judges' replies: must-right, easy-wrong and repaired ones as JSON, and a panel's verdicts line by line."""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, ClassVar, cast

from pydantic import AfterValidator, BeforeValidator, Field, JsonValue, ValidationInfo

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
from dokimasia.parsing.json_finder import read_json
from dokimasia.parsing.own import beside, is_empty_talk, own_form, split_lines
from dokimasia.parsing.reply import DECORATION, MAX_LINE, listed, refuse, short, spoken, tried

MAX_STATEMENT = 1_000
"""The maximum number of characters of a statement; a longer one is not atomic."""

EXAMPLE = FormExample(
    '[{"statement": "The response must say that boats lie at a jetty.", "kind": "object", '
    '"evidence": "three boats lie at the jetty"}, {"statement": "The response must say that a woman mends a net.", '
    '"kind": "state", "evidence": "a woman sits mending a net"}, {"statement": "The response must give the words of the '
    'sign as \\"NO SWIMMING\\".", "kind": "text", "evidence": "a sign reads \\"NO SWIMMING\\""}]'
)
_MINED = (
    '{"statement": "The response must say that three boats lie at the jetty.", "polarity": "positive", "kind": "count", '
    '"evidence": "three boats lie at the jetty", "responses": [2, 5]}, {"statement": "The response must not say that a '
    'flag flies on a boat.", "polarity": "negative", "kind": "object", "evidence": "", "responses": [4]}'
)
MINED_EXAMPLE = FormExample(
    f'[{_MINED}, {{"statement": "The response must say that the woman mends a net.", "polarity": "positive", "kind": "state", '
    '"evidence": "a woman sits mending a net", "responses": []}]'
)
PUBLISHED_EXAMPLE = FormExample(f"[{_MINED}]")

REPAIR_EXAMPLE = FormExample(
    '[{"n": 91, "statement": "The response must say that three boats lie at the jetty.", "kind": "count", '
    '"evidence": "three boats lie at the jetty"}, {"n": 93, "statement": "The response must not say that a flag flies on '
    'a boat.", "kind": "object", "evidence": "", "responses": [2, 5]}, {"n": 96, "drop": true}]'
)
CHECK_EXAMPLE = FormExample("91 | passes: yes | atomic: no | decidable: yes")

_KINDS: dict[str, ErrorKind] = {kind: kind for kind in ERROR_KINDS}
_FIELDS = ("passes", "atomic", "decidable")
_EARLIER = {"true": "passes"}
"""Names of fields in earlier versions of the form."""

_VERDICT = form(r"\b(?:passes|true|atomic|decidable)\b")
_LINE = form(r"(?:rubric~)?\(?(?P<number>[0-9]{1,6})\)?(?![0-9])[\s|:.)]{0,12}(?P<rest>.*)")
_ANSWER = form(r"\b(?P<field>passes|true|atomic|decidable)~[:=]~[\[<]?(?P<said>[A-Za-z]{1,20})[\]>]?")


def _atomic(statement: str, _about: object) -> str:
    if len(statement) > MAX_STATEMENT:
        raise UnparsableReply(f"a statement of {len(statement)} characters is no single point")
    return statement


def _kind(stated: object) -> ErrorKind | None:
    """Return the canonical name of a kind, or None if none is given."""
    kind = _KINDS.get(stated.strip().casefold()) if isinstance(stated, str) else None
    if kind is None and stated is not None:
        raise ValueError(f"the kind {short(repr(stated))} is none of {', '.join(ERROR_KINDS)}")
    return kind


def _polarity(stated: object) -> object:
    if stated and stated not in ("positive", "negative"):
        raise ValueError(f"the polarity {short(repr(stated))} is neither positive nor negative")
    return stated or None


def _text_or_nothing(stated: object) -> object:
    return stated or ""


def _pooled(stated: object, info: ValidationInfo) -> object:
    """Return the sorted numbers of responses of a pool, whose size is the context; other values are unchanged."""
    if not isinstance(stated, list):
        return stated
    count: int = info.context or 0
    numbers: set[int] = set()
    for number in cast("list[object]", stated):
        if type(number) is not int or not 1 <= number <= count:
            raise ValueError(f"response {short(repr(number))} is not in the pool, which has 1 to {count}")
        numbers.add(number)
    return sorted(numbers)


def _some(numbers: list[int]) -> list[int]:
    if not numbers:
        raise ValueError("the field 'responses' names no response of the pool")
    return numbers


class RubricReply(JsonReply):
    """A rubric as a judge writes it."""

    example: ClassVar[FormExample] = FormExample(f"{EXAMPLE.text}\n{MINED_EXAMPLE.text}\n{REPAIR_EXAMPLE.text}")
    quoted: ClassVar[tuple[str, ...]] = ("evidence",)

    statement: Annotated[Sentence, checked(_atomic)]
    polarity: Annotated[Polarity | None, BeforeValidator(_polarity)] = None
    kind: Annotated[ErrorKind | None, BeforeValidator(_kind)] = None
    evidence: Annotated[str, BeforeValidator(_text_or_nothing)] = ""


class EasyWrongReply(RubricReply):
    """A rubric on an error that the named responses of a pool make, perhaps none of them."""

    responses: Annotated[list[int], BeforeValidator(_pooled)] = Field(default=[])


class MinedReply(EasyWrongReply):
    """A rubric that is drawn from the errors of a pool of responses."""

    responses: Annotated[list[int], AfterValidator(_some), BeforeValidator(_pooled)] = Field(
        default=[], validate_default=True
    )


def parse_must_right(text: str) -> tuple[WrittenRubric, ...]:
    """Return 3 to 5 must-right rubrics, in order.

    Args:
        text: the judge's reply: a JSON array of objects with `statement`, `polarity`, `kind`, `evidence`; or an object
            whose field `rubrics` is such an array, or one of bare statements as published. A missing polarity is
            derived from the statement.

    Raises:
        UnparsableReply: there is no such array, there are several that differ, there are fewer than 3 or more than 5
            rubrics, or a field is invalid. The reason names every such rubric and field.
    """
    rows = _only(text)
    problems: list[str] = []
    if not MIN_MUST_RIGHT <= len(rows) <= MAX_MUST_RIGHT:
        problems.append(f"there are {len(rows)} rubrics, not {MIN_MUST_RIGHT} to {MAX_MUST_RIGHT}")
    return _all_written(rows, 0, problems)


def parse_easy_wrong(text: str, n_responses: int, *, published: bool = False) -> tuple[WrittenRubric, ...]:
    """Return easy-wrong rubrics, in order, with the responses of the pool that make the error.

    The judge writes them by severity, and those after the first 20 are ignored. With `published` there is no such
    limit, and every rubric that is an object names a response that makes its error.

    Args:
        text: as for must-right rubrics; `responses` lists numbers of responses, from 1.
        n_responses: the number of responses that the judge saw.
        published: whether rubrics come only from the errors of the pool.

    Raises:
        UnparsableReply: as for must-right rubrics; or a rubric names a response that is not in the pool, or none where
            it has to.
    """
    rows = _only(text)
    return _all_written(rows if published else rows[:MAX_EASY_WRONG], n_responses, [], mined=published)


def parse_repaired(
    text: str, named: Collection[int], *, mined: Collection[int] = (), n_responses: int = 0
) -> dict[int, WrittenRubric | None]:
    """Return repaired rubrics by number, None for a rubric that the judge drops.

    Args:
        text: the judge's reply: a JSON array of objects with `n` and the fields of a rubric, or `n` and `drop`.
        named: the numbers of the rubrics to repair or replace.
        mined: those of them that are replaced in the stream easy-wrong, and so may name responses.
        n_responses: the number of responses that the judge saw.

    Raises:
        UnparsableReply: a named rubric is missing or repeated, there is one that was not named, or a field is invalid. The
            reason names all faults.
    """

    def read(row: Mapping[str, object], number: int) -> WrittenRubric | None:
        if row.get("drop") is True:
            return None
        return _written(row, number, n_responses if number in mined else 0, mined=False)

    repaired, problems = read_numbered(_only(text), sorted(named), "rubric", read)
    refuse(problems)
    return repaired


def parse_cross_check(text: str, expected: int) -> tuple[CheckedRubric, ...]:
    """Return a panel member's three answers on each rubric, in order.

    The form is a line `N | passes: yes | atomic: no | decidable: yes` for each rubric, numbered from 1.

    Raises:
        UnparsableReply: a rubric has no line, or two that differ; a line is for another rubric, lacks an answer, or has an
            answer other than yes or no. The reason names all faults.
        ValueError: no rubric is expected.
    """
    if expected < 1:
        raise ValueError("at least one rubric is expected")
    checks: dict[int, CheckedRubric] = {}
    problems: dict[str, None] = {}
    lines, rest = split_lines(_VERDICT, own_form(text, lambda line: _numbered(line) is not None))
    for line in lines:
        match = _numbered(line)
        if match is None:
            rest.append(line)
            continue
        digits, answers_text = match.groups()
        number = int(digits)
        try:
            if not 1 <= number <= expected:
                raise UnparsableReply(f"there is a line for rubric {number}, but the rubrics are 1 to {expected}")
            answers = _answers(answers_text, number)
            if checks.setdefault(number, answers) != answers:
                raise UnparsableReply(f"rubric {number} has two lines, which differ")
        except UnparsableReply as problem:
            problems[problem.reason] = None
    missing = [number for number in range(1, expected + 1) if number not in checks]
    if missing and not problems:
        problems[f"there is no line for rubric {listed(missing)}"] = None
    problems.update(dict.fromkeys(beside(rest)))
    refuse(problems)
    return tuple(checks[number] for number in range(1, expected + 1))


def _numbered(line: str) -> re.Match[str] | None:
    """Return the match of a line on a rubric, and None of any other."""
    plain = line[:MAX_LINE].translate(DECORATION)
    if _VERDICT.search(plain):
        return _LINE.fullmatch(plain.strip(" \t\r|-#>"))
    return None


def _answers(rest: str, number: int) -> CheckedRubric:
    answers: dict[str, bool] = {}
    for match in _ANSWER.finditer(rest):
        field, word = (group.casefold() for group in match.groups())
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


def _only(text: str) -> list[JsonValue]:
    """Return the one array of rubrics of a reply."""
    arrays = read_json(spoken(text), _rows)
    if not arrays and re.search(r"\[\s{0,99}\]", text):
        return []
    return only_value(arrays, "JSON array with rubrics")


def _rows(value: JsonValue) -> list[JsonValue] | None:
    """Return the rows of an array, bare or under `rubrics`, if all are objects or all are texts; else None."""
    rows = value.get("rubrics") if isinstance(value, dict) else value
    if not isinstance(rows, list):
        return None
    uniform = all(isinstance(row, dict) for row in rows) or all(isinstance(row, str) for row in rows)
    return rows if uniform else None


def _all_written(
    rows: Sequence[object], n_responses: int, problems: list[str], *, mined: bool = False
) -> tuple[WrittenRubric, ...]:
    """Return all rubrics of a reply, or refuse it for its faults, including those in `problems`."""
    rubrics = [tried(problems, _written, row, number, n_responses, mined) for number, row in enumerate(rows, start=1)]
    refuse(problems)
    return tuple(rubric for rubric in rubrics if rubric is not None)


def _written(row: object, number: int, n_responses: int, mined: bool) -> WrittenRubric:
    """Return a rubric; a bare statement has no response, and a missing polarity is derived from the statement."""
    fields = {"statement": row} if isinstance(row, str) else cast("Mapping[str, object]", row)
    model = RubricReply
    if n_responses and not isinstance(row, str):
        model = MinedReply if mined else EasyWrongReply
    parsed = read_fields(model, fields, f"rubric {number}", about=n_responses)
    responses = tuple(parsed.responses) if isinstance(parsed, EasyWrongReply) else ()
    polarity = parsed.polarity or polarity_of(parsed.statement)
    return WrittenRubric(parsed.statement, polarity, parsed.kind, parsed.evidence.strip(), responses)
