"""Results of judging methods: human rankings, ratings of responses, batch rankings, and compared criteria."""

from typing import Annotated

from pydantic import Field

from dokimasia.domain.identity import Value
from dokimasia.domain.judgement import Provenance

Weight = Annotated[int, Field(ge=1, le=10)]


class HumanRanking(Value):
    """How one person ranked responses to one sample: a score a model, higher is better, equal is a tie.

    A model that is not among them was not ranked.
    """

    sample: str
    annotator: str
    scores: dict[str, float]


class HumanRankings(Value):
    """All rankings that a run is compared with, in the order of the file."""

    rankings: tuple[HumanRanking, ...]


class ResponseRating(Value):
    """One judge's score of one response as a whole, in the unit of its method; higher is better.

    Where the score is put together from several, `aspects` says what of, `scores` how each was scored, and `weights` how
    much each counts. `basis` is the id of what it was judged by beside the question: a chain or a set of criteria.
    """

    response: str
    basis: str = ""
    aspects: tuple[str, ...] = ()
    scores: tuple[float, ...] = ()
    weights: tuple[Weight, ...] = ()
    score: float = Field(allow_inf_nan=False)
    provenance: Provenance


class BatchRanking(Value):
    """One judge's ranking of several responses at once: their ids as they were shown, and each one's rank from 1, the best.

    Equal ranks are a tie.
    """

    responses: tuple[str, ...]
    ranks: tuple[Annotated[int, Field(ge=1)], ...]
    provenance: Provenance


class ComparedCriterion(Value):
    """One criterion that tells responses apart, and how much it counts for the question."""

    criterion: str = Field(min_length=1)
    weight: Weight


class ComparedCriteria(Value):
    """The criteria that a judge drew from the differences of auxiliary responses to one sample."""

    criteria: tuple[ComparedCriterion, ...] = Field(min_length=1)
    provenance: Provenance

    @property
    def weights(self) -> tuple[int, ...]:
        """The weights in the order of the criteria."""
        return tuple(criterion.weight for criterion in self.criteria)
