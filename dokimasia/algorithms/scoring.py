"""The weighted mean of a response's checkpoint scores, on a scale of 1 to 5 or 0 to 100."""

import math
from collections.abc import Sequence

LOWEST, HIGHEST = 1, 5
"""The scale of a checkpoint score: 1 wrong or contradictory, 5 fully aligned with the ground truth."""


def weighted_score(scores: Sequence[float], weights: Sequence[float]) -> float:
    """Return the score of a response, the mean of its criteria's scores by weight: S = Σ w·s / Σ w.

    Parameters
    ----------
    scores : sequence of float
        One score per criterion, 1 to 5, higher is better. All criteria must be scored: a judgement that lacks a score is a
        failure, not a number.
    weights : sequence of float
        One weight per criterion, in the same order; not negative, not all zero.

    Returns
    -------
    float
        1 to 5, higher is better.

    Raises
    ------
    ValueError
        If the two differ in length or are empty, if a score is outside 1..5, or if a weight is invalid.

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


def addressed_score(
    scores: Sequence[float], stated: Sequence[bool], weights: Sequence[float]
) -> tuple[float, float | None]:
    """Return the share of the weight that a response addresses, and its score on the criteria it addresses.

    Parameters
    ----------
    scores, weights : sequence of float
        As for `weighted_score`.
    stated : sequence of bool
        Whether the response addresses each criterion, in the same order.

    Returns
    -------
    share : float
        The share of the weight of the criteria that the response addresses, 0 to 1.
    score : float or None
        The mean of their scores by weight, 1 to 5, higher is better; None if it addresses none. Since a response chooses
        what it addresses, this score cannot be compared with that of another response.

    Raises
    ------
    ValueError
        If the three differ in length, or as for `weighted_score`.

    Notes
    -----
    This is an addition: in the paper, silence on a criterion counts as 1, so that a score also measures how much a
    response says.

    Examples
    --------
    >>> addressed_score([5, 1, 4], [True, False, True], [5, 2, 3])
    (0.8, 4.625)
    >>> addressed_score([1, 1], [False, False], [4, 6])
    (0.0, None)
    """
    if not len(scores) == len(stated) == len(weights):
        raise ValueError(
            f"{len(scores)} scores and {len(stated)} of whether they are stated for {len(weights)} weights"
        )
    addressed = [at for at, weight in enumerate(weights) if stated[at] and weight]
    addressed_weights = [weights[at] for at in addressed]
    share = math.fsum(addressed_weights) / math.fsum(weights)
    if not addressed:
        return share, None
    return share, weighted_score([scores[at] for at in addressed], addressed_weights)


def normalise(score: float) -> float:
    """Return a score of 1 to 5 on the scale of 0 to 100, higher is better: 100 (s - 1) / 4.

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
