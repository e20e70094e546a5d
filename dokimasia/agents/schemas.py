"""The output schemas of the judges: what a reply has to look like where the endpoint holds it to a JSON schema.

Every schema is an object in which all properties are required and no others allowed, which is what strict modes demand,
and uses only keywords that the usual servers know (no ranges, no lengths: allowed values are listed). A schema is an aid
to the endpoint and never a proof: each reply is read by a parser that checks it all again.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Generic, TypeVar

from pydantic import JsonValue

from dokimasia.domain.call import ModelSpec
from dokimasia.domain.criterion import WEIGHT_TOTAL, CriteriaCheck, Criterion
from dokimasia.domain.judgement import CriterionScore
from dokimasia.parsing.criteria import parse_criteria
from dokimasia.parsing.criteria_check import VERDICTS, parse_structured_check
from dokimasia.parsing.structured import parse_structured_equivalence, parse_structured_scores

T_co = TypeVar("T_co", covariant=True)

_NUMBER: JsonValue = {"type": "number"}
_TEXT: JsonValue = {"type": "string"}
_TRUTH: JsonValue = {"type": "boolean"}


@dataclass(frozen=True, slots=True)
class Structured(Generic[T_co]):
    """A reply as a JSON object.

    Attributes:
        schema: what the endpoint is sent.
        form: the same for the model to read, as an example.
        parse: reads the reply's text, or raises UnparsableReply.
    """

    schema: dict[str, JsonValue]
    form: str
    parse: Callable[[str], T_co]


def takes_schema(spec: ModelSpec) -> bool:
    """Return whether replies of the model are asked for by a native JSON schema."""
    return "json_schema" in spec.capabilities


@lru_cache(maxsize=64)  # asked for with every judgement
def criterion_scores(expected: int, *, published: bool = False) -> Structured[Sequence[CriterionScore]]:
    """Return the form of a judge's scores of one response, one for each of the `expected` criteria.

    With `published` it does not ask whether the response speaks of a criterion.
    """
    spoken: dict[str, JsonValue] = {} if published else {"stated": {"type": "boolean"}}
    row = closed(n=one_of(range(1, expected + 1)), **spoken, score=one_of(range(1, 6)))
    told = "" if published else '"stated": TRUE_OR_FALSE, '
    parse = partial(parse_structured_scores, expected=expected)
    return Structured(
        schema={"title": "checkpoint_scores", **closed(scores={"type": "array", "items": row})},
        form=f'{{"scores": [{{"n": NUMBER, {told}"score": SCORE}}, ...]}}'
        + ("" if published else '; "stated" is false, and "score" 1, where the response does not speak of the point'),
        parse=partial(silence_unasked, parse) if published else parse,
    )


def silence_unasked(parse: Callable[[str], list[CriterionScore]], text: str) -> list[CriterionScore]:
    """Return the scores that a parser reads of a judge that was not asked to tell silence from error."""
    return [one._replace(stated=None) for one in parse(text)]


def criteria(image_count: int, *, published: bool = False) -> Structured[Sequence[Criterion]]:
    """Return the form of a set of atomic criteria on a sample of so many images.

    With `published` it does not ask which of them is the final answer.
    """
    box: JsonValue = {"anyOf": [{"type": "array", "items": _NUMBER}, {"type": "null"}]}
    anchor = closed(image=one_of(range(max(1, image_count))), box=box)
    weight = one_of(range(1, WEIGHT_TOTAL + 1))
    last: dict[str, JsonValue] = {} if published else {"final": _TRUTH}
    row = closed(question=_TEXT, ground_truth=_TEXT, weight=weight, anchor=anchor, **last)
    final = "" if published else ', "final": TRUE_OR_FALSE'
    return Structured(
        schema={"title": "criteria", **closed(criteria={"type": "array", "items": row})},
        form='{"criteria": [{"question": "QUESTION", "ground_truth": "ANSWER", "weight": NUMBER, '
        f'"anchor": {{"image": NUMBER, "box": [LEFT, TOP, RIGHT, BOTTOM]}}{final}}}, ...]}}; "box" is null for the whole '
        "image",
        parse=partial(parse_criteria, image_count=image_count),
    )


def criteria_check(expected: int) -> Structured[CriteriaCheck]:
    """Return the form of a second look at so many criteria."""
    verdicts = dict.fromkeys(VERDICTS, _TRUTH)
    row = closed(n=one_of(range(1, expected + 1)), **verdicts, reason=_TEXT)
    shown = ", ".join(f'"{name}": TRUE_OR_FALSE' for name in VERDICTS)
    return Structured(
        schema={"title": "criteria_check", **closed(criteria={"type": "array", "items": row}, missing=_TEXT)},
        form=f'{{"criteria": [{{"n": NUMBER, {shown}, "reason": "REASON"}}, ...], "missing": "WHAT"}}; "reason" is empty '
        'where all three are true, and "missing" where nothing is missing',
        parse=partial(parse_structured_check, expected=expected),
    )


def equivalence() -> Structured[bool]:
    """Return the form of the verdict on whether two answers say the same."""
    verdict: JsonValue = {"type": "string", "enum": ["same", "different"]}
    return Structured(
        schema={"title": "equivalence", **closed(reasoning=_TEXT, verdict=verdict)},
        form='{"reasoning": "one short sentence", "verdict": "same"} or {"reasoning": "...", "verdict": "different"}',
        parse=parse_structured_equivalence,
    )


def one_of(values: Sequence[int]) -> JsonValue:
    """Return the schema of a whole number that is one of these."""
    return {"type": "integer", "enum": list(values)}


def closed(**properties: JsonValue) -> dict[str, JsonValue]:
    """Return the schema of an object that has all of these properties and no others."""
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
