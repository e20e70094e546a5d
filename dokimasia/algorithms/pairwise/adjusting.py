"""Ratings of models adjusted for other influences on a comparison, such as a response's position or length."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from dokimasia.algorithms.pairwise.ratings import FEW_CASES, MEAN, TENFOLD
from dokimasia.algorithms.pairwise.strengths import PairOutcome, groups, unbounded
from dokimasia.algorithms.statistics import ConfidenceInterval
from dokimasia.algorithms.statistics.clusters import ClusterNames, Floats, Positions, number_clusters
from dokimasia.algorithms.statistics.intervals import jackknifed

MOST_GROUPS = 200
"""Maximum number of groups of clusters for the jackknife; more clusters are dealt into this many groups."""

SEPARATED = "the outcomes follow from what is adjusted for: there is no finite rating"

_POINTS = TENFOLD / math.log(10)
_STEPS = 60
_LONGEST = 2.0
_CLOSE = 1e-9
_RIDGE = 1e-9
_FAR = 30.0


class AdjustedValue(NamedTuple):
    """A rating or an effect, in points of ratings, with its interval."""

    value: float
    interval: ConfidenceInterval


class AdjustedRatings(NamedTuple):
    """Ratings of comparable models, mean 1000, and the effects they are adjusted for.

    An effect is the number of points that the first of two models gains where its covariate is 1. If `reason` is not empty,
    there are neither.
    """

    models: tuple[str, ...]
    reason: str
    ratings: Mapping[str, AdjustedValue]
    effects: Mapping[str, AdjustedValue]


def rate_adjusted(
    comparisons: Sequence[PairOutcome],
    covariates: Mapping[str, Sequence[float]],
    *,
    clusters: ClusterNames | None = None,
) -> tuple[AdjustedRatings, ...]:
    """Return ratings as in `rate_models`, adjusted for covariates of the comparisons.

    Parameters
    ----------
    comparisons : sequence of PairOutcome
        The outcomes of pairs, ties included.
    covariates : mapping of str to sequence of float
        By name, one value for each comparison, which changes its sign if the two models are swapped: for place, 1 if
        the first model was shown first and -1 if it was shown second; for length, the difference over the sum.
    clusters : sequence of hashable, optional
        The case of each comparison; by default each is its own cluster.

    Returns
    -------
    tuple of AdjustedRatings
        One for each group of comparable models, the strongest first.

    Raises
    ------
    ValueError
        If a covariate has a different number of values.

    Notes
    -----
    Davidson's model with half the sum of effects times covariates added to half the difference of log-strengths. A covariate
    that never varies where models differ has an effect of 0 within rounding: a small ridge keeps the fit unique.

    References
    ----------
    Davidson and Beaver, On extending the Bradley-Terry model to incorporate within-pair order effects, 1977.

    Examples
    --------
    >>> shown_first = [PairOutcome("a", "b", 1)] * 6 + [PairOutcome("a", "b", -1)] * 2
    >>> shown_second = [PairOutcome("a", "b", 1)] * 2 + [PairOutcome("a", "b", -1)] * 6
    >>> (group,) = rate_adjusted(shown_first + shown_second, {"place": [1.0] * 8 + [-1.0] * 8})
    >>> round(group.ratings["a"].value), round(group.effects["place"].value)
    (1000, 191)
    """
    if any(len(values) != len(comparisons) for values in covariates.values()):
        raise ValueError(f"a covariate has one value for each of {len(comparisons)} comparisons")
    index = number_clusters(range(len(comparisons)) if clusters is None else clusters, len(comparisons))
    design = np.array([*covariates.values()], dtype=np.float64).reshape(len(covariates), len(comparisons)).T
    rated: list[AdjustedRatings] = []
    for models in groups(comparisons):
        reason = unbounded(comparisons, models)
        if reason:
            rated.append(AdjustedRatings(models, reason, {}, {}))
            continue
        inside = [
            at
            for at, comparison in enumerate(comparisons)
            if comparison.first in models and comparison.second in models
        ]
        chosen = [comparisons[at] for at in inside]
        rated.append(_rate_group(models, chosen, design[inside], index[inside], tuple(covariates)))
    return tuple(rated)


def _rate_group(
    models: tuple[str, ...],
    comparisons: Sequence[PairOutcome],
    covariates: Floats,
    index: Positions,
    names: tuple[str, ...],
) -> AdjustedRatings:
    place = {name: at for at, name in enumerate(models)}
    rows = np.zeros((len(comparisons), len(models) + len(names)))
    for at, (first, second, _) in enumerate(comparisons):
        rows[at, place[first]], rows[at, place[second]] = 0.5, -0.5
    rows[:, len(models) :] = covariates / 2
    outcomes = np.array([comparison.outcome for comparison in comparisons], dtype=np.float64)
    estimate = _fit(rows, outcomes, len(models))
    if estimate is None:
        return AdjustedRatings(models, SEPARATED, {}, {})
    _, cases = np.unique(index, return_inverse=True)
    number = int(cases.max()) + 1
    dealt = cases.reshape(-1) % MOST_GROUPS
    left_out: list[Floats] = []
    if number >= FEW_CASES:
        fits = (
            _fit(rows[dealt != group], outcomes[dealt != group], len(models)) for group in range(int(dealt.max()) + 1)
        )
        left_out = [fit for fit in fits if fit is not None]

    def value(at: int, mean: float) -> AdjustedValue:
        figure = mean + float(estimate[at])
        if number < FEW_CASES:
            few = f"{number} cases, and an interval of ratings needs {FEW_CASES}"
            return AdjustedValue(figure, ConfidenceInterval(-math.inf, math.inf, few))
        if len(left_out) <= int(dealt.max()):
            return AdjustedValue(
                figure, ConfidenceInterval(-math.inf, math.inf, "no value without one of the clusters")
            )
        return AdjustedValue(figure, jackknifed(figure, mean + np.array([fit[at] for fit in left_out])))

    return AdjustedRatings(
        models,
        "",
        {name: value(at, MEAN) for name, at in place.items()},
        {name: value(len(models) + at, 0.0) for at, name in enumerate(names)},
    )


def _fit(rows: Floats, outcomes: Floats, models: int) -> Floats | None:
    """Return strengths of mean 0 and effects, in points, by Newton's method; None if they diverge."""
    width = rows.shape[1]
    ties = bool((outcomes == 0).any())
    beta, tie = np.zeros(width), 0.0
    level = np.zeros((width, width))
    level[:models, :models] = 1 / models  # the level of the strengths is free, so their mean stays 0
    for _ in range(_STEPS):
        u = rows @ beta
        weights = np.stack([np.exp(u), np.full_like(u, math.exp(tie) if ties else 0.0), np.exp(-u)])
        win, tied, loss = weights / weights.sum(axis=0)
        lead = win - loss
        curve, slope = np.zeros((width + 1, width + 1)), np.zeros(width + 1)
        curve[:width, :width] = rows.T @ ((1 - tied - lead**2)[:, None] * rows) + level + _RIDGE * np.eye(width)
        curve[:width, width] = curve[width, :width] = -(lead * tied) @ rows
        curve[width, width] = 1.0
        slope[:width] = (outcomes - lead) @ rows - level @ beta - _RIDGE * beta
        if ties:
            curve[width, width] = float((tied * (1 - tied)).sum()) + _RIDGE
            slope[width] = float((outcomes == 0).sum() - tied.sum())
        step = np.linalg.solve(curve, slope)
        longest = float(np.abs(step).max())
        step = step * min(1.0, _LONGEST / max(longest, _CLOSE))
        beta, tie = beta + step[:width], tie + float(step[width])
        if longest < _CLOSE:
            return _POINTS * beta
        if np.ptp(beta) > _FAR:
            return None
    return None
