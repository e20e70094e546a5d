"""A judge's scores of a response as the judgement that is kept."""

from collections.abc import Sequence

from dokimasia.agents import AskResult
from dokimasia.algorithms.scoring import weighted_score
from dokimasia.domain.criterion import CriteriaSet
from dokimasia.domain.judgement import Checkpoint, CheckpointScores


def judgement_of(
    asked: AskResult[Sequence[Checkpoint]],
    response: str,
    criteria_id: str,
    criteria: CriteriaSet,
) -> CheckpointScores | None:
    """Return the judgement of a response by its id; None where the judge gave no scores."""
    if asked.value is None or asked.provenance is None:
        return None
    scores = tuple(one.score for one in asked.value)
    stated = tuple(one.stated for one in asked.value if one.stated is not None)
    return CheckpointScores(
        response=response,
        criteria=criteria_id,
        scores=scores,
        stated=stated,
        score=weighted_score(scores, criteria.weights),
        provenance=asked.provenance,
    )
