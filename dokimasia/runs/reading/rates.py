"""Means, shares and paired differences as figures for JSON: with intervals, spread, and the bounds that failures leave."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from math import exp, lgamma, log, sqrt
from typing import Any

from dokimasia.algorithms.statistics import Interval, bootstrap_interval, jackknife_interval, rate_interval
from dokimasia.algorithms.statistics.paired import sign_flip_test
from dokimasia.algorithms.statistics.refusal import ONE_CLUSTER
from dokimasia.domain.identity import unit_interval
from dokimasia.domain.judgement import Correctness

DIGITS = 6

MOST_LEFT_OUT = 200
"""More clusters than this are left out in so many groups, each by its name's draw, for the interval of a coefficient."""


def share(hits: Sequence[bool], clusters: Sequence[Hashable] | None = None, *, unknown: int = 0) -> dict[str, Any]:
    """Return how many of some trials hit, ready for JSON.

    Args:
        hits: one a trial.
        clusters: the cluster of each trial.
        unknown: trials beside these whose outcome is not known.

    Returns:
        `k`, `n`, `share` (0..1) with its 95 % interval `low` and `high` (None without a trial), and `bounds` {low, high}
        of the share over all trials, if none or all of the unknown ones had hit (None without any).
    """
    k, n = sum(hits), len(hits)
    known: dict[str, Any] = {"share": None, "low": None, "high": None}
    if n:
        known = {"share": rounded(k / n), **limits(rate_interval(hits, clusters=clusters))}
    return {"k": k, "n": n, **known, "bounds": bounds(k, k + unknown, n + unknown)}


def strict_share(answers: Sequence[Correctness], clusters: Sequence[Hashable]) -> dict[str, Any]:
    """Return the strict accuracy of some answers, ready for JSON: undecided ones count as not right, failed ones not at all.

    Args:
        answers: what is known of each.
        clusters: the cluster of each.

    Returns:
        What `share` returns of the `n` answers that did not fail, with `n_undecided` of them and `upper`, the share if all
        undecided ones were right (None without an answer); `answers`, the failed ones included, and `coverage`, the share of
        these that did not fail. `bounds` are of the share over all `answers`, if no undecided or failed one were right, or all.
    """
    counted = [
        (answer == "right", cluster) for answer, cluster in zip(answers, clusters, strict=True) if answer != "failed"
    ]
    rate = share([right for right, _ in counted], [cluster for _, cluster in counted])
    k, n, undecided = rate["k"], rate["n"], answers.count("undecided")
    return {
        **rate,
        "n_undecided": undecided,
        "upper": rounded((k + undecided) / n) if n else None,
        "bounds": bounds(k, k + undecided + len(answers) - n, len(answers)),
        "answers": len(answers),
        "coverage": rounded(n / len(answers)) if answers else None,
    }


def mean(values: Sequence[float]) -> float | None:
    """Return the mean; None of nothing."""
    return rounded(sum(values) / len(values)) if values else None


def mean_interval(
    values: Sequence[float], clusters: Sequence[Hashable], *, seed: int, bounds: tuple[float, float] | None = None
) -> dict[str, Any] | None:
    """Return `mean` with the `limits` of its 95 % interval, clusters resampled whole; None of nothing."""
    if not values:
        return None
    interval = bootstrap_interval(values, clusters=clusters, seed=seed, bounds=bounds)
    return {"mean": rounded(sum(values) / len(values)), **limits(interval)}


def coefficient(statistic: Callable[[Sequence[int]], float], n: int, clusters: Sequence[Hashable]) -> dict[str, Any]:
    """Return a coefficient of agreement, -1 to 1, as `value` with its `limits`; where it has none, `no_value` says why.

    One less a coefficient is a ratio, of the disagreement seen to that of chance, and with few clusters it leans: each end
    is the farther one of the jackknife's of the coefficient and of the logarithm of that ratio.

    Args:
        statistic: the coefficient of the things at some positions; it raises ValueError where it has no value.
        n: how many things there are.
        clusters: the cluster of each thing.
    """
    try:
        value = statistic(range(n))
    except ValueError as error:
        return {"value": None, "low": None, "high": None, "no_value": str(error)}
    ends: dict[str, Any] = coefficient_limits(statistic, n, clusters)
    ratio = _limits_of_ratio(statistic, n, clusters)
    if ratio is not None and ends["low"] is not None:
        ends |= {"low": min(ends["low"], rounded(ratio.low)), "high": max(ends["high"], rounded(ratio.high))}
    return {"value": rounded(value), **ends}


def _limits_of_ratio(
    statistic: Callable[[Sequence[int]], float], n: int, clusters: Sequence[Hashable]
) -> Interval | None:
    """Return the limits of a coefficient by the logarithm of one less it; None where that has none, as in full agreement."""
    try:
        found = jackknife_interval(lambda use: log(1 - statistic(use)), n, clusters=_grouped(clusters))
    except ValueError:
        return None
    return None if found.reason else Interval(max(-1.0, 1 - exp(found.high)), 1 - exp(found.low))


def _grouped(clusters: Sequence[Hashable]) -> Sequence[Hashable]:
    """Return clusters in as many groups as are left out."""
    if len(set(clusters)) <= MOST_LEFT_OUT:
        return clusters
    return [int(unit_interval("kappa", str(cluster)) * MOST_LEFT_OUT) for cluster in clusters]


def coefficient_limits(
    statistic: Callable[[Sequence[int]], float], n: int, clusters: Sequence[Hashable]
) -> dict[str, Any]:
    """Return the `limits` of a coefficient that has a value (see `coefficient`)."""
    clusters = _grouped(clusters)
    if len(set(clusters)) == 1:
        return limits(Interval(-1.0, 1.0, ONE_CLUSTER))
    try:
        return limits(jackknife_interval(statistic, n, clusters=clusters, bounds=(-1.0, 1.0)))
    except ValueError:
        return limits(Interval(-1.0, 1.0, "no value without one of the clusters"))


def limits(interval: Interval, *, unit: float = 1.0) -> dict[str, Any]:
    """Return an interval's `low` and `high`, ready for JSON; where it has none both are None, and `no_interval` says why.

    Args:
        interval: of a figure.
        unit: what its limits are multiplied with: 100 for percent.
    """
    if interval.reason:
        return {"low": None, "high": None, "no_interval": interval.reason}
    return {"low": rounded(unit * interval.low), "high": rounded(unit * interval.high)}


def paired(differences: Sequence[float], clusters: Sequence[Hashable], *, widest: float, seed: int) -> dict[str, Any]:
    """Return how large paired differences are and whether they may be chance, ready for JSON.

    Args:
        differences: second minus first, one a pair.
        clusters: the cluster of each pair.
        widest: the largest difference that can occur.
        seed: of the bootstrap and of the permutations.

    Returns:
        `difference` as in `mean_interval`, `p_value` (two-sided sign flips of whole clusters) and `permutations`
        {patterns, exact}, each None without a pair; `changed` {higher, equal, lower}, how many differences are which.
    """
    steps = [rounded(difference) for difference in differences]
    changed = {
        "higher": sum(step > 0 for step in steps),
        "equal": sum(step == 0 for step in steps),
        "lower": sum(step < 0 for step in steps),
    }
    if not differences:
        return {"difference": None, "p_value": None, "permutations": None, "changed": changed}
    test = sign_flip_test(differences, clusters=clusters, seed=seed)
    return {
        "difference": mean_interval(differences, clusters, seed=seed, bounds=(-widest, widest)),
        "p_value": rounded(test.p_value),
        "permutations": {"patterns": test.patterns, "exact": test.exact},
        "changed": changed,
    }


def bounds(low: float, high: float, n: int) -> dict[str, float] | None:
    """Return the bounds of a mean over n from the sums that it may have; None where n is 0."""
    return {"low": rounded(low / n), "high": rounded(high / n)} if n else None


def coverage(samples: Iterable[tuple[int, int]]) -> dict[str, Any]:
    """Return how much was scored, from how many answers to each sample were scored, and how many failed.

    Returns:
        `n` samples and `n_scored`, those with a scored answer; `answers` and `answers_scored`, all repeats; `coverage`,
        the share of answers that were scored (None without an answer).
    """
    counts = list(samples)
    scored, answers = (
        sum(scored_count for scored_count, _ in counts),
        sum(scored_count + failed for scored_count, failed in counts),
    )
    return {
        "n": len(counts),
        "n_scored": sum(one > 0 for one, _ in counts),
        "answers": answers,
        "answers_scored": scored,
        "coverage": rounded(scored / answers) if answers else None,
    }


def possible(samples: Iterable[tuple[Sequence[float], int]], lowest: float, highest: float) -> dict[str, float] | None:
    """Return the bounds of a mean over samples if every failed answer had the lowest, or the highest, value.

    A sample's value is the mean over its answers: its scored values, and how many failed. None without any.
    """
    known = [(sum(values), len(values), failed) for values, failed in samples if values or failed]
    ends = [
        sum((total + end * failed) / (count + failed) for total, count, failed in known) for end in (lowest, highest)
    ]
    return bounds(ends[0], ends[1], len(known))


def deviation(values: Sequence[float]) -> float:
    """Return the standard deviation of two values or more."""
    mean = sum(values) / len(values)
    return (sum((value - mean) ** 2 for value in values) / (len(values) - 1)) ** 0.5


def spread(repeats: Iterable[Sequence[float]]) -> float | None:
    """Return the standard deviation over repeats, of all things that have two or more; None where nothing has.

    Variances are pooled, and the root is corrected for what it loses with few of them, so that with two repeats a thing
    the standard deviation of normal values is met on average, and not 0.8 of it.
    """
    several = [values for values in repeats if len(values) > 1]
    df = sum(len(values) - 1 for values in several)
    if not df:
        return None
    pooled = sqrt(sum(deviation(values) ** 2 * (len(values) - 1) for values in several) / df)
    return rounded(pooled * sqrt(df / 2) * exp(lgamma(df / 2) - lgamma((df + 1) / 2)))


def rounded(value: float) -> float:
    """Return a figure as it is written: six decimals and no minus zero, so that the same rows give the same bytes."""
    return round(value, DIGITS) + 0.0
