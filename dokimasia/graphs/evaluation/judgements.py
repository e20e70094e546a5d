"""A judge's scores of a response as the judgement that is kept."""

from collections.abc import Sequence

from dokimasia.agents import Asked
from dokimasia.algorithms.scoring import weighted_score
from dokimasia.domain.criterion import CriteriaSet
from dokimasia.domain.judgement import Checkpoint, CheckpointScores


def judgement_of(
    asked: Asked[Sequence[Checkpoint]],
    response: str,
    criteria_id: str,
    criteria: CriteriaSet,
    *,
    published: bool = False,
) -> CheckpointScores | None:
    """Return the judgement of a response by its id; None where the judge gave no scores.

    As `published` the judge was not asked to tell silence from error, and the judgement says nothing of it.
    """
    if asked.value is None or asked.provenance is None:
        return None
    scores = tuple(one.score for one in asked.value)
    return CheckpointScores(
        response=response,
        criteria=criteria_id,
        scores=scores,
        stated=() if published else tuple(one.stated for one in asked.value),
        score=weighted_score(scores, criteria.weights),
        provenance=asked.provenance,
    )
