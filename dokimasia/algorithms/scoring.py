"""From checkpoint scores to one number: the weighted mean of a response's criteria, and its place on 0 to 100."""

import math
from collections.abc import Sequence

LOWEST, HIGHEST = 1, 5
"""The scale of a checkpoint score: 1 wrong or contradictory, 5 fully aligned with the ground truth."""


def weighted_score(scores: Sequence[float], weights: Sequence[float]) -> float:
    """Return the score of a response, the mean of its criteria's scores by weight: S = Σ w·s / Σ w.

    Parameters
    ----------
    scores : sequence of float
        One score a criterion, 1 to 5, higher is better. A criterion that was not scored has no place here: a judgement
        without all of its scores is a failure, not a number.
    weights : sequence of float
        One weight a criterion, in the same order; not negative, not all zero.

    Returns
    -------
    float
        1 to 5, higher is better.

    Raises
    ------
    ValueError
        If the two differ in length or are empty, if a score is outside 1..5, or if a weight cannot be used.

    References
    ----------
    ATOM, section 3.3, equation 2.

    Examples
    --------
    >>> weighted_score([5, 1, 4], [5, 2, 3])
    3.9
    >>> weighted_score([3, 3], [1, 9])
    3.0
    """
    if len(scores) != len(weights):
        raise ValueError(f"{len(scores)} scores for {len(weights)} weights")
    if not scores:
        raise ValueError("no score: a response without scored criteria has no weighted score")
    if not all(LOWEST <= score <= HIGHEST for score in scores):
        raise ValueError(f"a checkpoint score lies between {LOWEST} and {HIGHEST}: {list(scores)}")
    if not all(math.isfinite(weight) and weight >= 0 for weight in weights):
        raise ValueError(f"a weight is a finite number that is not negative: {list(weights)}")
    total = math.fsum(weights)
    if total <= 0:
        raise ValueError("the weights are all zero")
    mean = math.fsum(score * weight for score, weight in zip(scores, weights, strict=True)) / total
    return min(max(mean, float(min(scores))), float(max(scores)))


def normalise(score: float) -> float:
    """Return a score of 1 to 5 as 0 to 100, higher is better: 100 (s - 1) / 4.

    Raises
    ------
    ValueError
        If the score is outside 1..5.

    Examples
    --------
    >>> normalise(1), normalise(4), normalise(5)
    (0.0, 75.0, 100.0)
    """
    if not LOWEST <= score <= HIGHEST:
        raise ValueError(f"a checkpoint score lies between {LOWEST} and {HIGHEST}: {score}")
    return (score - LOWEST) / (HIGHEST - LOWEST) * 100
