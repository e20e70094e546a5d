"""Scores and verdicts from the JSON object that an output schema asks for, as strictly as from plain text."""

from collections.abc import Iterator

from pydantic import JsonValue

from dokimasia.domain.judgement import CriterionScore
from dokimasia.errors import UnparsableReply
from dokimasia.parsing.criterion_scores import (
    HIGHEST,
    LOWEST,
    SILENT,
    parse_criterion_scores,
    parse_reasoned_scores,
    reason_of,
    scores_of,
)
from dokimasia.parsing.grammar import form
from dokimasia.parsing.json_finder import read_json_and_rest, with_json_replaced
from dokimasia.parsing.own import beside, own
from dokimasia.parsing.reply import matches, short, spoken
from dokimasia.parsing.verdicts import EQUIVALENCE, parse_equivalence

_VERDICTS = {"same": True, "different": False}
_FIELDS = frozenset({"scores", "score", "verdict", "n", "stated"})
_ANOTHER = form(r"score|verdict|rating|grade|correct|revis|final|updat")
"""Names of fields that would state another score or verdict."""
_SCORE_LINE = form(r"score~[:=]?~\[")
"""Part of a line of the form `N | score: [S]` that cannot occur in JSON, where a quotation mark follows the word."""


def parse_structured_scores(text: str, expected: int) -> list[CriterionScore]:
    """Return a judge's scores of one response, in the order of the criteria, from the JSON object of its schema.

    The object is `{"scores": [{"n": 1, "stated": true, "score": 4}, ...]}` with the criteria's numbers, counted from 1;
    if the response does not address a criterion, `stated` is false and the score 1 or null. Fields that state no other
    score are ignored. A reply without such an object is read as the lines that the prompt describes, for endpoints that
    accept a schema and do not follow it.

    Args:
        text: the judge's reply.
        expected: the number of criteria.

    Returns:
        Scores from 1 to 5, each with whether the response addresses the criterion.

    Raises:
        UnparsableReply: as for lines: a criterion has no score, several, or one that is not an integer from 1 to 5, or
            there is a score for another criterion; or several objects, or lines outside the object, differ, or other
            words around it could change it. The reason names all faults.
        ValueError: no criterion is expected.
    """
    if expected < 1:
        raise ValueError("at least one criterion is expected")
    reply = own(text)
    objects, rest = read_json_and_rest(reply, _with_scores)
    if not objects:
        if _SCORE_LINE.search(reply):
            return parse_criterion_scores(text, expected)
        raise UnparsableReply('there is no complete JSON object of the form {"scores": [{"n": 1, "score": S}, ...]}')
    rows = objects[0].get("scores")
    if any(other.get("scores") != rows for other in objects[1:]):
        raise UnparsableReply("there is more than one JSON object of scores, and they differ")
    missing = "there is no score for criterion"
    listed_rows = rows if isinstance(rows, list) else []
    scores = scores_of(listed_rows, expected, lambda row: _number(row, expected), _score, missing=missing)
    for row in objects:
        _nothing_else(row, "")
    if not _SCORE_LINE.search(reply):
        _nothing_else({}, rest)
    elif parse_criterion_scores(rest, expected) != scores:
        raise UnparsableReply("the scores stand in the reply twice, as an object and as lines, and differ")
    return scores


def parse_structured_reasoned_scores(text: str, expected: int) -> list[CriterionScore]:
    """Return a judge's scores as `parse_structured_scores`, each with the reason in the field `reason` of its row.

    Reasons are taken out before the scores are read, so that nothing in them can change a score. A reply without such an
    object is read as `parse_reasoned_scores` reads lines.

    Raises:
        UnparsableReply, ValueError: as `parse_structured_scores`.
    """
    reasons: dict[int, str | None] = {}

    def without_reasons(value: JsonValue) -> JsonValue | None:
        scores = _with_scores(value)
        if scores is None:
            return None
        rows: list[JsonValue] = []
        for row in scores["scores"] if isinstance(scores["scores"], list) else ():
            if isinstance(row, dict) and isinstance(number := row.get("n"), int):
                reasons[number] = reason_of(row.get("reason"))
            rows.append(
                {name: field for name, field in row.items() if name != "reason"} if isinstance(row, dict) else row
            )
        return {**scores, "scores": rows}

    plain = with_json_replaced(spoken(text), without_reasons)
    if not reasons:
        return parse_reasoned_scores(text, expected)
    scores = parse_structured_scores(plain, expected)
    return [score._replace(reason=reasons.get(number)) for number, score in enumerate(scores, start=1)]


def parse_structured_equivalence(text: str) -> bool:
    """Return whether a judge finds two answers equivalent, from the JSON object of its schema.

    The object is `{"verdict": "same"}` or `{"verdict": "different"}`; fields that state no other
    verdict are ignored. A reply without such an object is read for `[[same]]` or `[[different]]`, as the prompt describes.

    Raises:
        UnparsableReply: there is no verdict, both verdicts, or another one.
    """
    reply = own(text)
    objects, rest = read_json_and_rest(reply, _with_verdict)
    if not objects:
        if EQUIVALENCE.search(reply):
            return parse_equivalence(text)
        raise UnparsableReply('there is no complete JSON object of the form {"verdict": "same"} or "different"')
    stated = {str(row.get("verdict")).strip().casefold() for row in objects}
    if len(stated) > 1:
        raise UnparsableReply("there is more than one verdict, and they differ")
    word = stated.pop()
    if word not in _VERDICTS:
        raise UnparsableReply(f"the verdict is '{short(word)}', neither 'same' nor 'different'")
    for row in objects:
        _nothing_else(row, "")
    agrees = {match[1].casefold() for match in matches(EQUIVALENCE, reply)} <= {word}
    if EQUIVALENCE.search(rest):
        agrees = parse_equivalence(rest) is _VERDICTS[word] and agrees
    else:
        _nothing_else({}, rest)
    if not agrees:
        raise UnparsableReply("the verdict stands in the reply twice, as an object and in brackets, and differs")
    return _VERDICTS[word]


def _nothing_else(value: JsonValue, rest: str) -> None:
    """Refuse an object with a field that states another score or verdict, or words around it that could change it."""
    field = next((key for key in _keys(value) if key not in _FIELDS and _ANOTHER.search(key)), None)
    if field is not None:
        raise UnparsableReply(f"the field '{short(field)}' beside those that were asked for states something else")
    if faults := beside(rest.split("\n")):
        raise UnparsableReply(faults[0])


def _keys(value: JsonValue) -> Iterator[str]:
    """Yield the names of all fields of an object and of the objects inside it."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from _keys(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _keys(inner)


def _with_scores(value: JsonValue) -> dict[str, JsonValue] | None:
    if isinstance(value, dict) and isinstance(value.get("scores"), list):
        return value
    return None


def _with_verdict(value: JsonValue) -> dict[str, JsonValue] | None:
    if isinstance(value, dict) and isinstance(value.get("verdict"), str):
        return value
    return None


def _number(row: JsonValue, expected: int) -> int:
    if not isinstance(row, dict):
        raise UnparsableReply(f"the scores hold {short(repr(row))}, which is no object with n and score")
    number = row.get("n")
    if type(number) is not int:
        raise UnparsableReply(f"a score names no criterion by its number: n is {short(repr(number))}")
    if not 1 <= number <= expected:
        raise UnparsableReply(
            f"there is a score for criterion {short(str(number))}, but the criteria are 1 to {expected}"
        )
    return number


def _score(row: JsonValue, number: int) -> CriterionScore:
    fields = row if isinstance(row, dict) else {}
    score, stated = fields.get("score"), fields.get("stated", True)
    if type(stated) is not bool:
        raise UnparsableReply(f"criterion {number}: stated is {short(repr(stated))}, neither true nor false")
    if not stated and (score is None or (type(score) is int and score == LOWEST)):
        return SILENT
    if not stated:
        raise UnparsableReply(f"criterion {number} is not stated and has the score {short(repr(score))}: give it a 1")
    if type(score) is not int or not LOWEST <= score <= HIGHEST:
        raise UnparsableReply(f"criterion {number} has the score {short(repr(score))}, not an integer from 1 to 5")
    return CriterionScore(score, stated=True)
