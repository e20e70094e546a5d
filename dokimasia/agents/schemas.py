"""The JSON objects requested from judges whose endpoints enforce a schema.

A form is declared once; the schema for the endpoint and the example for the model are derived from it. Every schema is
an object in which all properties are required and no others allowed, as strict modes demand, and uses only keywords
that the usual servers support (no ranges or lengths: allowed values are listed). A schema helps the endpoint but proves
nothing: a parser checks each reply in full.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Generic, NamedTuple, TypeAlias, TypeVar

from pydantic import JsonValue

from dokimasia.domain.call import ModelSpec
from dokimasia.domain.criterion import WEIGHT_TOTAL, CriteriaCheck, Criterion
from dokimasia.domain.judgement import CriterionScore
from dokimasia.parsing.criteria import parse_criteria
from dokimasia.parsing.criteria_check import VERDICTS, parse_structured_check
from dokimasia.parsing.structured import (
    parse_structured_equivalence,
    parse_structured_reasoned_scores,
    parse_structured_scores,
)

T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Structured(Generic[T_co]):
    """A reply as a JSON object.

    Attributes:
        schema: the schema sent to the endpoint.
        form: the same as an example for the model to read.
        parse: reads the reply's text, or raises UnparsableReply.
    """

    schema: dict[str, JsonValue]
    form: str
    parse: Callable[[str], T_co]


class Place(NamedTuple):
    """A value of a form that is not a text: the example's placeholder, and the schema of permitted values."""

    shown: str
    schema: dict[str, JsonValue]


Form: TypeAlias = str | Place | Mapping[str, "Form"] | list["Form"]
"""A text, as in the example; another value; an object by its fields; or a list, by the form of its items."""

TRUTH = Place("TRUE_OR_FALSE", {"type": "boolean"})


def number(values: Iterable[int], shown: str = "NUMBER") -> Place:
    """Return the place of a whole number that has one of these values."""
    return Place(shown, {"type": "integer", "enum": list(values)})


def structured(title: str, form: Form, parse: Callable[[str], T_co], note: str = "") -> Structured[T_co]:
    """Return a structured reply of a form; a note follows the example."""
    return Structured({"title": title, **_schema(form)}, _example(form) + note, parse)


def _schema(form: Form) -> dict[str, JsonValue]:
    match form:
        case str():
            return {"type": "string"}
        case Place():
            return form.schema
        case list():
            return {"type": "array", "items": _schema(form[0])}
        case _:
            properties: dict[str, JsonValue] = {name: _schema(field) for name, field in form.items()}
            return {"type": "object", "properties": properties, "required": list(form), "additionalProperties": False}


def _example(form: Form) -> str:
    match form:
        case str():
            return f'"{form}"'
        case Place():
            return form.shown
        case list():
            return f"[{_example(form[0])}, ...]"
        case _:
            fields = ", ".join(f'"{name}": {_example(field)}' for name, field in form.items())
            return f"{{{fields}}}"


def takes_schema(spec: ModelSpec) -> bool:
    """Return whether the model's replies are requested with a native JSON schema."""
    return "json_schema" in spec.capabilities


@lru_cache(maxsize=64)  # requested with every judgement
def criterion_scores(
    expected: int, *, published: bool = False, reasons: bool = False
) -> Structured[Sequence[CriterionScore]]:
    """Return the form of a judge's scores of one response, one for each of the `expected` criteria.

    With `published`, it does not ask whether the response addresses a criterion; with `reasons`, it asks for a sentence
    on each score.
    """
    parse = partial(parse_structured_reasoned_scores if reasons else parse_structured_scores, expected=expected)
    silence = {} if published else {"stated": TRUTH}
    row: dict[str, Form] = {"n": number(range(1, expected + 1)), **silence, "score": number(range(1, 6), "SCORE")}
    if reasons:
        row["reason"] = "SENTENCE"
    note = '; "stated" is false, and "score" 1, where the response does not speak of the point'
    return structured(
        "checkpoint_scores",
        {"scores": [row]},
        partial(silence_unasked, parse) if published else parse,
        "" if published else note,
    )


def silence_unasked(parse: Callable[[str], list[CriterionScore]], text: str) -> list[CriterionScore]:
    """Return the scores that a parser reads from a judge that was not asked to distinguish silence from error."""
    return [checkpoint._replace(stated=None) for checkpoint in parse(text)]


def criteria(
    image_count: int, *, published: bool = False, sizes: Sequence[Sequence[int]] = ()
) -> Structured[Sequence[Criterion]]:
    """Return the form of a set of atomic criteria for a sample with the given number of images.

    With `published`, it does not ask which of them is the final answer. `sizes` are the images' widths and heights in
    pixels.
    """
    box: JsonValue = {"anyOf": [{"type": "array", "items": {"type": "number"}}, {"type": "null"}]}
    anchor = {"image": number(range(max(1, image_count))), "box": Place("[LEFT, TOP, RIGHT, BOTTOM]", box)}
    row: dict[str, Form] = {
        "question": "QUESTION",
        "ground_truth": "ANSWER",
        "weight": number(range(1, WEIGHT_TOTAL + 1)),
        "anchor": anchor,
        **({} if published else {"final": TRUTH}),
    }
    return structured(
        "criteria",
        {"criteria": [row]},
        partial(parse_criteria, image_count=image_count, sizes=sizes),
        '; "box" is null for the whole image',
    )


def criteria_check(expected: int) -> Structured[CriteriaCheck]:
    """Return the form of a second look at the expected number of criteria."""
    verdicts = dict.fromkeys(VERDICTS, TRUTH)
    row: dict[str, Form] = {"n": number(range(1, expected + 1)), **verdicts, "reason": "REASON"}
    return structured(
        "criteria_check",
        {"criteria": [row], "missing": "WHAT"},
        partial(parse_structured_check, expected=expected),
        '; "reason" is empty where all three are true, and "missing" where nothing is missing',
    )


def equivalence() -> Structured[bool]:
    """Return the form of the verdict on whether two answers are equivalent."""
    return structured(
        "equivalence",
        {
            "reasoning": "one short sentence",
            "verdict": Place('"same"', {"type": "string", "enum": ["same", "different"]}),
        },
        parse_structured_equivalence,
        ' or {"reasoning": "...", "verdict": "different"}',
    )
