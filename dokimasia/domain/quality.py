"""How good single atomic criteria are: accuracy and necessity, 1 to 3, as a rater says (ATOM, appendix C)."""

from pydantic import Field

from dokimasia.domain.identity import Value
from dokimasia.domain.judgement import Provenance

LOWEST, HIGHEST = 1, 3


class Quality(Value):
    """A rater's two ratings of a criterion: whether its ground truth is right, and whether the answer rests on it."""

    accuracy: int = Field(ge=LOWEST, le=HIGHEST)
    necessity: int = Field(ge=LOWEST, le=HIGHEST)


class DrawnCriterion(Value):
    """A criterion that is rated: its sample's name, its set's id, its number from 1 in the set, and the group it was drawn in."""

    sample: str
    criteria: str
    number: int = Field(ge=1)
    group: str = ""


class DrawnCriteria(Value):
    """The criteria that are rated, in order, and how many each group has altogether."""

    criteria: tuple[DrawnCriterion, ...]
    of: dict[str, int]


class CriterionRating(Value):
    """What a rater said of one criterion of a set, by its number from 1; `sample` is the sample's digest."""

    sample: str
    criteria: str
    number: int = Field(ge=1)
    quality: Quality
    provenance: Provenance
