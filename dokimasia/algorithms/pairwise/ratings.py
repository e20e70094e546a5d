"""Ratings of many models from comparisons of two at a time, with intervals, ranks, and which of them are apart."""

import math
from collections.abc import Hashable, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from dokimasia.algorithms.pairwise.strengths import (
    NEVER_MET,
    OutcomeTables,
    PairOutcome,
    fit,
    groups,
    tables,
    unbounded,
)
from dokimasia.algorithms.statistics import ConfidenceInterval
from dokimasia.algorithms.statistics.clusters import ROUNDING, Floats, jackknife_error, number_clusters, trusted_df
from dokimasia.algorithms.statistics.distributions import student_t_quantile, student_t_tails
from dokimasia.algorithms.statistics.intervals import RESAMPLES, accelerated
from dokimasia.algorithms.statistics.refusal import NO_SPREAD
from dokimasia.algorithms.statistics.shares import check_level

MEAN = 1000.0
"""The mean rating of a group of models."""

TENFOLD = 400.0
"""Two models that lie so far apart win against each other with odds of 10 to 1, ties aside."""

FEW_CASES = 6
"""Over fewer clusters, in a part, there is no interval."""

MOST_INFINITE = 0.01
"""Where more of the resamples than this have no finite ratings, there is no interval."""

_SCALE = TENFOLD / math.log(10)


class RatingDifference(NamedTuple):
    """How much higher the first of two models is rated, its interval, and the p-value of no difference (None: none)."""

    value: float
    interval: ConfidenceInterval
    p_value: float | None


class ConnectedModels(NamedTuple):
    """Models whose ratings can be compared, in the order of their names, or why they have none.

    `ratings` have the mean 1000; `tie_rate` is how often two models of equal strength tie, 0 to 1. `ranks` has for each
    model the shares of resamples in which it comes first, second and so on. Where `reason` is not empty, there are no
    ratings, and all else is empty.
    """

    models: tuple[str, ...]
    reason: str
    ratings: Mapping[str, float]
    intervals: Mapping[str, ConfidenceInterval]
    ranks: Mapping[str, tuple[float, ...]]
    differences: Mapping[tuple[str, str], RatingDifference]
    tie_rate: float | None


def rate_models(
    comparisons: Sequence[PairOutcome],
    *,
    clusters: Sequence[Hashable] | None = None,
    models: Sequence[str] = (),
    parts: int = 1,
    level: float = 0.95,
    seed: int,
) -> tuple[ConnectedModels, ...]:
    """Return the ratings of models by Davidson's form of the Bradley-Terry model, in groups that can be compared.

    Parameters
    ----------
    comparisons : sequence of Comparison
        Who won, of two at a time. What was not decided for want of a verdict has no place here; a tie has.
    clusters : sequence of hashable, optional
        The case of each comparison, which all pairs and both orders share; without it each is its own.
    models : sequence of str
        Those that there are, where some may be in no comparison.
    parts : int
        In how many equal parts of the clusters it was drawn apart who meets whom: 1 where all meet on all.
    level : float
        Nominal coverage, strictly between 0 and 1.
    seed : int
        Of the bootstrap. The order of comparisons does not matter.

    Returns
    -------
    tuple of Group
        The strongest first, where groups met. Higher is better.

    Raises
    ------
    ValueError
        If an outcome is not 1, 0 or -1, a model is compared with itself, or an argument cannot be used.

    Notes
    -----
    *Model.* With log-strengths a and b the first wins, ties or loses as exp((a - b) / 2) : exp(t) : exp((b - a) / 2). It
    is Davidson's, and not Rao and Kupper's, since it is an exponential family: the likelihood is concave, so that there
    is one maximum or provably none, and a model's strength depends on its wins and half its ties alone; in a draw in
    which all meet equally often the order of strengths is that of points. By how much a verdict prefers plays no part.

    *Scale.* rating = 1000 + 400 log10 of the strength, the mean of a group being 1000: a difference d means odds of
    10^(d / 400) to 1 of winning against losing.

    *No finite rating.* Where some models always won, or never met, no number says how much stronger they are: they are
    another group. No prior draws such a rating back; see `groups` and `unbounded`.

    *Intervals.* At each end the farther of two limits: that of the bootstrap over clusters, bias-corrected and
    accelerated, with quantiles of Student's t with G - 1 degrees of freedom, as in `bootstrap_interval`; and that of the
    jackknife over clusters, as in `jackknife_interval`. With several parts, clusters differ within their part: the degrees
    of freedom are those of one part. Below 6 clusters a part, or where more than 1 % of the resamples have no
    finite ratings, there is none, and its reason says why. A difference's p-value is that of Student's t with the
    jackknife's standard error.

    References
    ----------
    Davidson, On extending the Bradley-Terry model to accommodate ties in paired comparison experiments, 1970; Ford,
    Solution of a ranking problem from binary comparisons, 1957 (when there is a maximum).

    Examples
    --------
    >>> won = [PairOutcome("a", "b", 1)] * 10 + [PairOutcome("a", "b", -1)]
    >>> (group,) = rate_models(won, seed=0)
    >>> {name: round(rating) for name, rating in group.ratings.items()}
    {'a': 1200, 'b': 800}
    >>> [group.reason for group in rate_models([PairOutcome("a", "b", 1)], seed=0)]
    ['always won or always lost against all others', 'always won or always lost against all others']
    """
    if not all(comparison.outcome in (1, 0, -1) and comparison.one != comparison.other for comparison in comparisons):
        raise ValueError("a comparison is of two models, and its outcome is 1, 0 or -1")
    check_level(level)
    alone = [ConnectedModels((name,), NEVER_MET, {}, {}, {}, {}, None) for name in _unmet(comparisons, models)]
    if not comparisons:
        return tuple(alone)
    index = number_clusters(range(len(comparisons)) if clusters is None else clusters, len(comparisons))
    found: list[ConnectedModels] = []
    for group in groups(comparisons):
        reason = unbounded(comparisons, group)
        if reason:
            found.append(ConnectedModels(group, reason, {}, {}, {}, {}, None))
        else:
            found.append(_rated(tables(comparisons, index, group), parts=parts, level=level, seed=seed))
    return (*found, *alone)


def _rated(counted: OutcomeTables, *, parts: int, level: float, seed: int) -> ConnectedModels:
    """Rate a group that has finite ratings."""
    names, pairs, counts = counted
    number = len(counts)
    whole = fit(pairs, counts.sum(axis=0)[None], len(names))
    generator = np.random.default_rng(seed)
    drawn = generator.multinomial(number, np.full(number, 1 / number), size=RESAMPLES)
    resampled = fit(pairs, np.tensordot(drawn.astype(np.float64), counts, 1), len(names))
    without = fit(pairs, counts.sum(axis=0) - counts, len(names))
    at, finite = _SCALE * whole.strengths[0], _SCALE * resampled.strengths[resampled.finite]
    reason = _thin(number, int(without.finite.sum()), len(finite), parts)

    def interval(weights: Floats) -> ConfidenceInterval:
        left_out = _SCALE * without.strengths @ weights
        if reason or np.ptp(left_out) <= ROUNDING * _SCALE:
            return ConfidenceInterval(-math.inf, math.inf, reason or NO_SPREAD)
        value, (error, df) = float(at @ weights), _error(left_out, parts)
        quantile = student_t_quantile((1 + level) / 2, number / parts - 1)
        resampled_limits = accelerated(finite @ weights, value, left_out, quantile)
        margin = student_t_quantile((1 + level) / 2, df) * error
        return ConfidenceInterval(min(resampled_limits.low, value - margin), max(resampled_limits.high, value + margin))

    def p_value(weights: Floats) -> float | None:
        left_out = _SCALE * without.strengths @ weights
        if reason or np.ptp(left_out) <= ROUNDING * _SCALE:
            return None
        error, df = _error(left_out, parts)
        return student_t_tails(float(at @ weights) / error, df)

    each = np.eye(len(names))
    intervals = {name: interval(each[place]) for place, name in enumerate(names)}
    apart = {pair: each[pair[0]] - each[pair[1]] for pair in combinations(range(len(names)), 2)}
    ranked = np.argsort(np.argsort(-finite, axis=1, kind="stable"), axis=1)
    ranks = np.array([np.bincount(column, minlength=len(names)) for column in ranked.T]) / max(1, len(finite))
    nu = math.exp(whole.ties[0])
    return ConnectedModels(
        models=names,
        reason="",
        ratings={name: MEAN + float(at[place]) for place, name in enumerate(names)},
        intervals={
            name: ConfidenceInterval(MEAN + interval.low, MEAN + interval.high, interval.reason)
            for name, interval in intervals.items()
        },
        ranks={} if reason else {name: tuple(ranks[place].tolist()) for place, name in enumerate(names)},
        differences={
            (names[one], names[other]): RatingDifference(float(at @ weights), interval(weights), p_value(weights))
            for (one, other), weights in apart.items()
        },
        tie_rate=nu / (2 + nu),
    )


def _error(left_out: Floats, parts: int) -> tuple[float, float]:
    """Return the jackknife's standard error and its degrees of freedom, where clusters differ within parts alone."""
    number = len(left_out)
    share = (number / parts - 1) / (number - 1)
    return jackknife_error(left_out) / math.sqrt(parts * share), trusted_df(left_out) * share


def _thin(number: int, without: int, finite: int, parts: int) -> str:
    """Return why clusters carry no interval; empty where they do."""
    if number < parts * FEW_CASES:
        return f"{number} cases, and an interval of ratings needs {parts * FEW_CASES}"
    if without < number or finite < (1 - MOST_INFINITE) * RESAMPLES:
        return f"{RESAMPLES - finite} of {RESAMPLES} resamples have no finite ratings"
    return ""


def _unmet(comparisons: Sequence[PairOutcome], models: Sequence[str]) -> list[str]:
    met = {name for comparison in comparisons for name in comparison[:2]}
    return sorted(set(models) - met)
