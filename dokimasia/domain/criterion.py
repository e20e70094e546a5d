"""Results of cognitive replay: the reference chain and its atomic criteria (ATOM, section 3.1)."""

from typing import Literal, NamedTuple

from pydantic import Field, model_validator

from dokimasia.domain.identity import Value

WEIGHT_TOTAL = 10
"""The weights of one sample's criteria sum to this (ATOM, figure 8)."""

MIN_CRITERIA, MAX_CRITERIA = 1, 5
"""The minimum and maximum number of criteria in a set, which depends on the question."""

PUBLISHED_COUNT = (3, 5)
"""The number of criteria in a set according to the paper (ATOM, section 3.1), regardless of the question."""

CONTRADICTED = "contradicted"
"""The value for a chain that contradicts the reference answer but is kept, as published."""

Defect = Literal["unnecessary", "compound", "suggestive", "missing", "rule"]
"""A defect of a criterion: the answer does not rest on it, it asks for more than one thing, or its question gives its
answer away; no criterion covers something the answer rests on; or it breaks a rule that needs no judge.
"""

Became = Literal["mended", "dropped", "left"]


class Box(Value):
    """A region of an image in fractions of its width and height: (0, 0) is the upper left, (1, 1) the lower right."""

    x0: float = Field(ge=0, le=1)
    y0: float = Field(ge=0, le=1)
    x1: float = Field(ge=0, le=1)
    y1: float = Field(ge=0, le=1)

    @model_validator(mode="after")
    def _has_area(self) -> "Box":
        if self.x1 <= self.x0 or self.y1 <= self.y0:
            raise ValueError("a box needs x0 < x1 and y0 < y1")
        return self


class Anchor(Value):
    """The region a criterion rests on: a box in one of the sample's images, or, without a box, the whole image."""

    image: int = Field(default=0, ge=0)
    box: Box | None = None


class ReferenceChain(Value):
    """A textbook-quality chain of thought grounded in the image, with its final answer."""

    reasoning: str = Field(min_length=1)
    answer: str = Field(min_length=1)


class Criterion(Value):
    """An atomic criterion (q, g, w): an open question, its local ground truth, an integer weight.

    `final` marks a criterion that asks for the final answer itself, not for a step towards it.
    """

    question: str = Field(min_length=1)
    ground_truth: str = Field(min_length=1)
    weight: int = Field(ge=1, le=10)
    anchor: Anchor = Anchor()
    final: bool = False


class CriterionCheck(NamedTuple):
    """The second look's verdict on one criterion: whether the answer rests on it, whether it asks for one thing,
    whether its question conceals its answer; and the fault, if any.
    """

    needed: bool
    single: bool
    open: bool
    reason: str = ""


class CriteriaCheck(NamedTuple):
    """The second look's verdict on a set: on each criterion in order, and the content missing from all criteria (empty:
    none).
    """

    criteria: tuple[CriterionCheck, ...]
    missing: str = ""


class CriterionFault(Value):
    """What was found to be wrong with a criterion, and what became of it.

    `question` is that of the criterion as it stood; it is empty for what no criterion asks for. What was sent back and is
    gone since is `mended`; what the program left out is `dropped`; a fault that could not be helped is `left`.
    """

    question: str
    defect: Defect
    reason: str = ""
    became: Became


class CriteriaSet(Value):
    """The criteria of one sample, in order; criterion numbers are 1-based positions in this tuple.

    `repaired` is true when the judge's weights were rescaled to sum to ten, `checked` when a second look was taken at the
    set; `faults` is what was found to be wrong with it on the way to what it is.
    """

    criteria: tuple[Criterion, ...] = Field(min_length=1)
    repaired: bool = False
    checked: bool = False
    faults: tuple[CriterionFault, ...] = ()

    @property
    def weights(self) -> tuple[int, ...]:
        """Weights in the order of the criteria."""
        return tuple(criterion.weight for criterion in self.criteria)

    @property
    def only_final(self) -> bool:
        """Whether the set asks only for the final answer."""
        return all(criterion.final for criterion in self.criteria)
