"""Cognitive replay's products: the reference chain and the atomic criteria drawn from it (ATOM, section 3.1)."""

from pydantic import Field, model_validator

from dokimasia.domain.identity import Value

WEIGHT_TOTAL = 10
"""The weights of one sample's criteria sum to this (ATOM, figure 8)."""

MIN_CRITERIA, MAX_CRITERIA = 3, 5


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
    """The region that a criterion rests on: a box in one of the sample's images, or, without a box, the whole image."""

    image: int = Field(default=0, ge=0)
    box: Box | None = None


class ReferenceChain(Value):
    """A textbook-quality chain of thought grounded in the image, and the final answer it comes to."""

    reasoning: str = Field(min_length=1)
    answer: str = Field(min_length=1)


class Criterion(Value):
    """An atomic criterion (q, g, w): an open question on another solution, its local ground truth, an integer weight."""

    question: str = Field(min_length=1)
    ground_truth: str = Field(min_length=1)
    weight: int = Field(ge=1, le=10)
    anchor: Anchor = Anchor()


class CriteriaSet(Value):
    """The criteria of one sample, in order; criterion numbers are 1-based positions in this tuple.

    `repaired` is true when the judge's weights were rescaled to sum to ten.
    """

    criteria: tuple[Criterion, ...] = Field(min_length=1)
    repaired: bool = False

    @property
    def weights(self) -> tuple[int, ...]:
        """Weights in the order of the criteria."""
        return tuple(criterion.weight for criterion in self.criteria)
