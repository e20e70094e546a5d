"""Values of duels: a case's criteria, and a judge's verdict on two responses in one order (Creation-MMBench)."""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, Self, TypeVar

from pydantic import Field, JsonValue, model_validator

from dokimasia.domain.identity import Value
from dokimasia.domain.judgement import FailureKind, Provenance, Response
from dokimasia.domain.options import GraphOptions
from dokimasia.domain.sample import Sample
from dokimasia.errors import DataError

T = TypeVar("T")

Place = Literal["first", "second"]
"""The position of the evaluated model's response: before the baseline's, or after it."""

PLACES: tuple[Place, ...] = ("first", "second")

Asked = Literal["verdict", "factuality"]
FactualityBy = Literal["text", "image", "none"]
"""The basis of the visual factuality judgement: the ground truth, the images too, or no judgement.

For a case without a ground truth it is the images, whichever of the first two is chosen; see `factuality_by`.
"""

REFERENCE = "reference"
"""The baseline whose answers are the data's reference answers."""

AGAIN = "again"
"""The arm in which the baseline answers again, as an independent draw, compared with its first answer."""

TEXT = "text"
"""The arm in which a model answers from a description of the images, without seeing them."""

Instruction = Literal["generic", "specific"]
"""The scope of a requested description: everything in the image, or additionally what the request depends on."""

MUCH = 2
LOWEST, HIGHEST = 0.0, 10.0
REWARD = 50.0
"""The factor from a verdict of +2 to -2 to its reward, -100 to 100."""

GENERAL = """\
1. It does what the request asks for: the role, the form, the length, and every single demand.
2. It makes use of what the images show, and says nothing that they contradict.
3. It has ideas of its own instead of what anybody would write first.
4. It is coherent, and its language suits whom it is for."""
"""The subjective criteria of a case without its own."""


class CaseCriteria(Value):
    """What a case is judged by; `general`: the subjective ones are not its own; no `factuality`: none of it."""

    subjective: str = Field(min_length=1)
    factuality: str = ""
    general: bool = False


class Described(Value):
    """What a model wrote of a case's images, in one text, for models that are not shown them.

    `observe` is what it was told to pay attention to, where the instruction is specific to the request. Older values have a
    text for each image.
    """

    describer: str
    observe: str = ""
    texts: tuple[str, ...]

    @property
    def shown(self) -> str:
        """The descriptions as shown to a model."""
        if len(self.texts) == 1:
            return self.texts[0]
        return "\n\n".join(f"Image {number}:\n{text}" for number, text in enumerate(self.texts, 1))


class DuelJudgement(Value):
    """What a judge said of two responses in one order of places, for the evaluated model, or why it said nothing.

    `verdict` is +2 (much better) to -2 (much worse); of visual factuality `score` is the model's and `baseline_score` the
    baseline's, 0 to 10. A failed judgement has neither.
    """

    asked: Asked
    place: Place
    response: str
    baseline: str
    verdict: int | None = Field(default=None, ge=-MUCH, le=MUCH)
    score: float | None = Field(default=None, ge=LOWEST, le=HIGHEST)
    baseline_score: float | None = Field(default=None, ge=LOWEST, le=HIGHEST)
    failure: FailureKind | None = None
    reason: str = ""
    provenance: Provenance | None = None

    @model_validator(mode="after")
    def _a_failure_is_never_a_number(self) -> Self:
        filled = (self.verdict is not None, self.score is not None, self.baseline_score is not None)
        expected = (
            (False, False, False) if self.failure else (self.asked == "verdict", *[self.asked == "factuality"] * 2)
        )
        if filled != expected:
            raise ValueError("a verdict, or two scores, stand in a judgement if, and only if, it did not fail")
        return self


class ArenaRound(Value):
    """A round of an arena: the pairs of models for each half of the cases, each pair in alphabetical order."""

    number: int = Field(ge=1)
    halves: tuple[tuple[tuple[str, str], ...], tuple[tuple[str, str], ...]]


class DuelOptions(GraphOptions):
    """Options of duels: whose answers those of others are held against, in which orders, and what each side sees."""

    baseline: str = REFERENCE
    describer: str = ""
    descriptions: Instruction = "generic"
    places: tuple[Place, ...] = PLACES
    judge_sees: Literal["image", "text"] = "image"
    factuality: FactualityBy = "text"


def reference_response(sample: Sample) -> Response:
    """Return a sample's reference answer as the response of the baseline `reference`.

    Raises:
        DataError: the sample has no reference answer.
    """
    text = sample.reference_text or ""
    if not text.strip():
        raise DataError(
            f"sample {sample.id!r} has no reference answer to compare with: add `reference_answer`, or name a model as the "
            "baseline"
        )
    return Response(sample=sample.digest, model=REFERENCE, text=text)


def criteria_of(sample: Sample) -> CaseCriteria:
    """Return a case's criteria, see `criteria_in`.

    Raises:
        DataError: they have another form.
    """
    return _of(sample, criteria_in)


def task_of(sample: Sample) -> str | None:
    """Return a case's task; None if the data do not name one."""
    return _of(sample, task_in)


def ground_truth_of(sample: Sample) -> str:
    """Return the ground truth of a case's images; empty if the data have none."""
    return _of(sample, ground_truth_in)


def factuality_not_applicable(sample: Sample, *, published: bool = False) -> str:
    """Return why visual factuality does not apply to a case; empty if it applies."""
    if not criteria_of(sample).factuality:
        return "no criteria of visual factuality"
    if published or ground_truth_of(sample) or sample.images:
        return ""
    return "neither a ground truth nor an image to judge it by"


def factuality_by(sample: Sample, chosen: FactualityBy, *, published: bool = False) -> FactualityBy:
    """Return the basis for judging a case's visual factuality; `none` if it is not requested or does not apply.

    Without a ground truth, a judge that does not see the images could only trust the response; with `published` it does
    (Creation-MMBench, figure 34).
    """
    if chosen == "none" or factuality_not_applicable(sample, published=published):
        return "none"
    if published or ground_truth_of(sample):
        return chosen
    return "image"


def criteria_in(meta: Mapping[str, JsonValue]) -> CaseCriteria:
    """Return the criteria in `meta["criteria"]`: a text (subjective), a list of texts, or `subjective` and
    `factuality`.

    Raises:
        DataError: they have another form.
    """
    criteria = meta.get("criteria")
    if criteria is None:
        return CaseCriteria(subjective=GENERAL, general=True)
    if not isinstance(criteria, dict):
        subjective = _text(
            criteria, "meta.criteria", "a text, nor a list of texts, nor an object of 'subjective' and 'factuality'"
        )
        return CaseCriteria(subjective=subjective or GENERAL, general=not subjective)
    unknown = sorted(criteria.keys() - {"subjective", "factuality"})
    if unknown:
        raise DataError(
            f"meta.criteria has {', '.join(map(repr, unknown))}; it holds 'subjective' and 'factuality', each a text or a "
            "list of texts"
        )
    subjective, factuality = (
        _text(criteria.get(name), f"meta.criteria.{name}") for name in ("subjective", "factuality")
    )
    return CaseCriteria(subjective=subjective or GENERAL, factuality=factuality, general=not subjective)


def task_in(meta: Mapping[str, JsonValue]) -> str | None:
    """Return the task named in `meta`.

    Raises:
        DataError: it is not a text.
    """
    return _text(meta.get("task_name"), "meta.task_name") or None


def ground_truth_in(meta: Mapping[str, JsonValue]) -> str:
    """Return the ground truth of a case's images in `meta`.

    Raises:
        DataError: it is not a text.
    """
    return _text(meta.get("ground_truth"), "meta.ground_truth")


def _of(sample: Sample, read: Callable[[Mapping[str, JsonValue]], T]) -> T:
    try:
        return read(sample.meta)
    except DataError as problem:
        raise DataError(f"sample {sample.id!r}: {problem}") from None


def _text(value: JsonValue, name: str, expected: str = "a text nor a list of texts") -> str:
    if value is None:
        return ""
    lines: Sequence[JsonValue] = value if isinstance(value, list) else [value]
    if not all(isinstance(line, str) for line in lines):
        raise DataError(f"{name} is neither {expected}")
    return "\n".join(map(str, lines)).strip()
