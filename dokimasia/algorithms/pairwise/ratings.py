"""Ratings of many models from pairwise comparisons, with intervals, ranks and tests of differences."""

import math
from collections.abc import Mapping, Sequence
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
from dokimasia.algorithms.statistics.clusters import (
    ROUNDING,
    ClusterNames,
    Floats,
    jackknife_error,
    number_clusters,
    trusted_df,
)
from dokimasia.algorithms.statistics.distributions import student_t_quantile, student_t_tails
from dokimasia.algorithms.statistics.intervals import RESAMPLES, accelerated
from dokimasia.algorithms.statistics.refusal import NO_SPREAD

MEAN = 1000.0
"""The mean rating in a group of models."""

TENFOLD = 400.0
"""The difference of two ratings at which the odds of winning are 10 to 1, ties aside."""

LEVEL = 0.95
"""The nominal coverage of all intervals."""

FEW_CASES = 6
"""Minimum number of clusters per part for an interval."""

MOST_INFINITE = 0.01
"""Maximum share of resamples without finite ratings for an interval."""

_SAME = 1e-6
"""The largest difference of two ratings that counts as a tie."""

_SCALE = TENFOLD / math.log(10)


class RatingDifference(NamedTuple):
    """The rating of the second of two models minus the first's, with interval and p-value (None if unavailable)."""

    value: float
    interval: ConfidenceInterval
    p_value: float | None


class ConnectedModels(NamedTuple):
    """Models with comparable ratings, in the order of their names, or the reason why there are no ratings.

    `ratings` have the mean 1000; `tie_rate` is how often two models of equal strength tie, 0 to 1. `ranks` has, for
    each model, the shares of resamples in which it comes first, second and so on; models that tie in a resample share
    its ranks. `rank_intervals` has, for each model, the best and the worst rank that its tests against the others leave
    possible. If `reason` is not empty, there are no ratings, and everything else is empty.
    """

    models: tuple[str, ...]
    reason: str
    ratings: Mapping[str, float]
    intervals: Mapping[str, ConfidenceInterval]
    ranks: Mapping[str, tuple[float, ...]]
    rank_intervals: Mapping[str, tuple[int, int]]
    differences: Mapping[tuple[str, str], RatingDifference]
    tie_rate: float | None


def rate_models(
    comparisons: Sequence[PairOutcome],
    *,
    clusters: ClusterNames | None = None,
    models: Sequence[str] = (),
    parts: int = 1,
    seed: int,
) -> tuple[ConnectedModels, ...]:
    """Return the ratings of models by Davidson's version of the Bradley-Terry model, in groups that can be compared.

    Parameters
    ----------
    comparisons : sequence of PairOutcome
        The outcomes of pairs, ties included. Leave out pairs without a verdict.
    clusters : sequence of hashable, optional
        The case of each comparison, shared by all pairs and both orders; by default each is its own cluster.
    models : sequence of str
        All models, if some may lack comparisons.
    parts : int
        The number of equal parts of the clusters for which pairs were drawn separately: 1 if all models meet on all.
    seed : int
        Seed of the bootstrap. The order of comparisons does not matter.

    Returns
    -------
    tuple of ConnectedModels
        The strongest group first, if groups met. Higher is better.

    Raises
    ------
    ValueError
        If an outcome is not 1, 0 or -1, a model is compared with itself, or an argument is invalid.

    Notes
    -----
    *Model.* With log-strengths a and b the first wins, ties or loses as exp((a - b) / 2) : exp(t) : exp((b - a) / 2).
    Davidson's model, unlike Rao and Kupper's, is an exponential family: the likelihood is concave, so that there is one
    maximum or provably none, and a model's strength depends only on its wins and half its ties; if all meet equally often
    the order of strengths is that of points. The strength of a preference is ignored.

    *Scale.* rating = 1000 + 400 log10 of the strength, the mean of a group being 1000: a difference d means odds of
    10^(d / 400) to 1 of winning against losing.

    *No finite rating.* If some models always won, or never met, no number says how much stronger they are, so that they
    form another group. No prior shrinks such ratings; see `groups` and `unbounded`.

    *Intervals.* At each end the outer one of two limits: that of the bootstrap over clusters, bias-corrected and
    accelerated, with quantiles of Student's t with G - 1 degrees of freedom, as in `bootstrap_interval`; and that of the
    jackknife over clusters, as in `jackknife_interval`. With several parts, clusters vary within their part: the degrees
    of freedom are those of one part. Below 6 clusters per part, or if more than 1 % of the resamples have no finite
    ratings, there is no interval, and its reason says why. A difference's p-value is that of Student's t with the
    jackknife's standard error.

    *Ranks.* The rank intervals hold for all models at once: a model ranks below all that are rated significantly higher
    and above all that are rated significantly lower, by the p-values of all pairs times their number (Bonferroni).

    References
    ----------
    Davidson, On extending the Bradley-Terry model to accommodate ties in paired comparison experiments, 1970; Ford,
    Solution of a ranking problem from binary comparisons, 1957 (when there is a maximum);
    Mogstad, Romano, Shaikh and Wilhelm, Inference for ranks with applications to mobility across neighbourhoods and
    academic achievement across countries, 2024 (rank intervals from tests of all pairs).

    Examples
    --------
    >>> outcomes = [PairOutcome("a", "b", 1)] * 10 + [PairOutcome("a", "b", -1)]
    >>> (group,) = rate_models(outcomes, seed=0)
    >>> {name: round(rating) for name, rating in group.ratings.items()}
    {'a': 1200, 'b': 800}
    >>> [group.reason for group in rate_models([PairOutcome("a", "b", 1)], seed=0)]
    ['always won or always lost against all others', 'always won or always lost against all others']
    """
    if not all(
        comparison.outcome in (1, 0, -1) and comparison.first != comparison.second for comparison in comparisons
    ):
        raise ValueError("a comparison is of two models, and its outcome is 1, 0 or -1")
    alone = [ConnectedModels((name,), NEVER_MET, {}, {}, {}, {}, {}, None) for name in _unmet(comparisons, models)]
    if not comparisons:
        return tuple(alone)
    index = number_clusters(range(len(comparisons)) if clusters is None else clusters, len(comparisons))
    rated: list[ConnectedModels] = []
    for group in groups(comparisons):
        reason = unbounded(comparisons, group)
        if reason:
            rated.append(ConnectedModels(group, reason, {}, {}, {}, {}, {}, None))
        else:
            rated.append(_rate_group(tables(comparisons, index, group), parts=parts, seed=seed))
    return (*rated, *alone)


def _rate_group(outcomes: OutcomeTables, *, parts: int, seed: int) -> ConnectedModels:
    """Return the ratings of a group with finite ratings."""
    names, pairs, counts = outcomes
    number = len(counts)
    overall = fit(pairs, counts.sum(axis=0)[None], len(names))
    generator = np.random.default_rng(seed)
    drawn = generator.multinomial(number, np.full(number, 1 / number), size=RESAMPLES)
    resampled = fit(pairs, np.tensordot(drawn.astype(np.float64), counts, 1), len(names))
    left_out_fits = fit(pairs, counts.sum(axis=0) - counts, len(names))
    point, finite = _SCALE * overall.strengths[0], _SCALE * resampled.strengths[resampled.finite]
    reason = _thin(number, int(left_out_fits.finite.sum()), len(finite), parts)

    def interval(weights: Floats) -> ConfidenceInterval:
        left_out = _SCALE * left_out_fits.strengths @ weights
        if reason or np.ptp(left_out) <= ROUNDING * _SCALE:
            return ConfidenceInterval(-math.inf, math.inf, reason or NO_SPREAD)
        value, (error, df) = float(point @ weights), _error(left_out, parts)
        quantile = student_t_quantile((1 + LEVEL) / 2, number / parts - 1)
        resampled_limits = accelerated(finite @ weights, value, left_out, quantile)
        margin = student_t_quantile((1 + LEVEL) / 2, df) * error
        return ConfidenceInterval(min(resampled_limits.low, value - margin), max(resampled_limits.high, value + margin))

    def p_value(weights: Floats) -> float | None:
        left_out = _SCALE * left_out_fits.strengths @ weights
        if reason or np.ptp(left_out) <= ROUNDING * _SCALE:
            return None
        error, df = _error(left_out, parts)
        return student_t_tails(float(point @ weights) / error, df)

    units = np.eye(len(names))
    intervals = {name: interval(units[place]) for place, name in enumerate(names)}
    contrasts = {pair: units[pair[1]] - units[pair[0]] for pair in combinations(range(len(names)), 2)}
    differences = {
        (names[first], names[second]): RatingDifference(float(point @ weights), interval(weights), p_value(weights))
        for (first, second), weights in contrasts.items()
    }
    shares = {name: _rank_shares(finite, place) for place, name in enumerate(names)}
    nu = math.exp(overall.ties[0])
    return ConnectedModels(
        models=names,
        reason="",
        ratings={name: MEAN + float(point[place]) for place, name in enumerate(names)},
        intervals={
            name: ConfidenceInterval(MEAN + interval.low, MEAN + interval.high, interval.reason)
            for name, interval in intervals.items()
        },
        ranks={} if reason else shares,
        rank_intervals={} if reason else _rank_intervals(names, differences, 1 - LEVEL),
        differences=differences,
        tie_rate=nu / (2 + nu),
    )


def _rank_shares(resampled: Floats, place: int) -> tuple[float, ...]:
    """Return how often a model has each rank; it has an equal part of ranks that it shares with others."""
    leads = resampled - resampled[:, place, None]
    better = np.count_nonzero(leads > _SAME, axis=1)
    alike = np.count_nonzero(np.abs(leads) <= _SAME, axis=1)
    shares: list[float] = []
    for rank in range(resampled.shape[1]):
        takes_rank = (better <= rank) & (rank < better + alike)
        shares.append(float((takes_rank / alike).sum()) / max(1, len(resampled)))
    return tuple(shares)


def _rank_intervals(
    names: Sequence[str], differences: Mapping[tuple[str, str], RatingDifference], tail: float
) -> dict[str, tuple[int, int]]:
    """Return the best and the worst rank of each model that the tests of all pairs leave possible."""
    best, worst = dict.fromkeys(names, 1), dict.fromkeys(names, len(names))
    for (first, second), difference in differences.items():
        if difference.p_value is None or difference.p_value * len(differences) > tail:
            continue
        lower, higher = (first, second) if difference.value > 0 else (second, first)
        best[lower] += 1
        worst[higher] -= 1
    return {name: (best[name], worst[name]) for name in names}


def _error(left_out: Floats, parts: int) -> tuple[float, float]:
    """Return the jackknife's standard error and its degrees of freedom, with clusters that vary only within parts."""
    number = len(left_out)
    share = (number / parts - 1) / (number - 1)
    return jackknife_error(left_out) / math.sqrt(parts * share), trusted_df(left_out) * share


def _thin(number: int, without: int, finite: int, parts: int) -> str:
    """Return why there is no interval; empty if there is one."""
    if number < parts * FEW_CASES:
        return f"{number} cases, and an interval of ratings needs {parts * FEW_CASES}"
    if without < number or finite < (1 - MOST_INFINITE) * RESAMPLES:
        return f"{RESAMPLES - finite} of {RESAMPLES} resamples have no finite ratings"
    return ""


def _unmet(comparisons: Sequence[PairOutcome], models: Sequence[str]) -> list[str]:
    met = {name for comparison in comparisons for name in comparison[:2]}
    return sorted(set(models) - met)
