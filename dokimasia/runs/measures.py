"""Means, shares, differences and bounds as rounded, typed parts of figures, with cluster-resampling intervals."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from math import exp, lgamma, log, sqrt
from typing import Literal, NotRequired, TypedDict, TypeVar, overload

import numpy as np
from pydantic import BaseModel

from dokimasia.algorithms.statistics import (
    ConfidenceInterval,
    adjusted,
    bootstrap_interval,
    correlation_interval,
    jackknife_interval,
    kendall,
    pearson,
    rate_interval,
    spearman,
)
from dokimasia.algorithms.statistics.clusters import ClusterNames, Floats, total
from dokimasia.algorithms.statistics.paired import PERMUTATIONS, sign_flip_test
from dokimasia.algorithms.statistics.power import pilot_design, samples_needed
from dokimasia.algorithms.statistics.refusal import ONE_CLUSTER
from dokimasia.domain.identity import unit_interval
from dokimasia.domain.judgement import OPEN_KINDS, Correctness, FailureKind
from dokimasia.report.fields import (
    AgreementCoefficient,
    Bounds,
    ChangeCounts,
    CountedRate,
    Interval,
    Lead,
    PairedDifference,
    Permutations,
    Rate,
    Share,
    StrictShare,
    Used,
)
from dokimasia.runs.figures import costs
from dokimasia.storage.ledger import CallFigures

M = TypeVar("M", bound=BaseModel)
T = TypeVar("T")

DIGITS = 6

_UNCHANGED = 0.5 * 10**-DIGITS
"""Differences of this size or less are written as 0."""

MOST_FLIPS = 50_000_000
"""The most signs that the test of a lead draws; beyond this it draws fewer patterns."""

MOST_LEFT_OUT = 200
"""The most groups that a jackknife leaves out; more clusters than this are drawn into this many groups."""


class LimitFields(TypedDict):
    """The fields of an interval in a model: both ends and, if unusual, its name; or why there is none."""

    low: float | None
    high: float | None
    no_interval: NotRequired[str]
    interval_method: NotRequired[Literal["gaffke"]]


class CoverageFields(TypedDict):
    """The fields that state how much was scored.

    Attributes:
        n: samples.
        n_scored: samples with a scored answer.
        answers: answers, all repeats.
        answers_scored: answers with a score.
        coverage: the share of answers that were scored; None without an answer.
    """

    n: int
    n_scored: int
    answers: int
    answers_scored: int
    coverage: float | None


@overload
def rounded(value: float) -> float: ...


@overload
def rounded(value: None) -> None: ...


def rounded(value: float | None) -> float | None:
    """Return a figure as written: rounded to six decimals, without minus zero, so that equal rows give equal bytes.

    None, for a figure without a value, stays None.
    """
    if value is None:
        return None
    return round(value, DIGITS) + 0.0


def ratio(part: float, whole: float) -> float | None:
    """Return a part of a whole as written; None if the whole is 0."""
    return rounded(part / whole) if whole else None


def unrounded_mean(values: Sequence[float]) -> float | None:
    """Return the unrounded mean; None without values."""
    if values:
        return sum(values) / len(values)
    return None


def mean(values: Sequence[float]) -> float | None:
    """Return the mean as written; None without values."""
    return rounded(unrounded_mean(values))


def limits(interval: ConfidenceInterval | None, *, unit: float = 1.0) -> LimitFields:
    """Return the ends of an interval as fields of a model; without one both are None, and `no_interval` gives the
    reason.

    Args:
        interval: the interval; None if there is none and no reason is given.
        unit: the factor of the limits, such as 100 for percent.
    """
    if interval is None:
        return {"low": None, "high": None}
    if interval.reason:
        return {"low": None, "high": None, "no_interval": interval.reason}
    ends: LimitFields = {"low": rounded(unit * interval.low), "high": rounded(unit * interval.high)}
    if interval.method:
        ends["interval_method"] = interval.method
    return ends


def interval_of(mean: float, ends: ConfidenceInterval, *, unit: float = 1.0) -> Interval:
    """Return a figure with its interval, whose ends are multiplied by `unit`."""
    return Interval(mean=rounded(mean), **limits(ends, unit=unit))


def mean_with_interval(
    values: Sequence[float] | Floats, clusters: ClusterNames, *, seed: int, bounds: tuple[float, float] | None = None
) -> Interval | None:
    """Return the mean with its 95 % cluster bootstrap interval; None without values."""
    if not len(values):
        return None
    ends = bootstrap_interval(values, clusters=clusters, seed=seed, bounds=bounds)
    return interval_of(total(np.asarray(values)) / len(values), ends)


def rate_of_hits(hits: Sequence[bool], clusters: Sequence[Hashable] | None = None) -> Rate:
    """Return the share of trials that hit, with its interval; all None without trials."""
    if not hits:
        return Rate(share=None, low=None, high=None)
    return Rate(share=rounded(sum(hits) / len(hits)), **limits(rate_interval(hits, clusters=clusters)))


def counted_rate(hits: Sequence[bool], clusters: Sequence[Hashable] | None = None) -> CountedRate:
    """Return the share of trials that hit, with the counts and its interval."""
    return CountedRate(**dict(rate_of_hits(hits, clusters)), k=sum(hits), n=len(hits))


def share_of_hits(hits: Sequence[bool], clusters: Sequence[Hashable] | None = None, *, unknown: int = 0) -> Share:
    """Return the share of trials that hit, with its interval and the range that `unknown` further trials leave open."""
    k, n = sum(hits), len(hits)
    return Share(**dict(counted_rate(hits, clusters)), bounds=mean_bounds(k, k + unknown, n + unknown))


def strict_accuracy(answers: Sequence[Correctness], clusters: Sequence[Hashable]) -> StrictShare:
    """Return the share of right answers; undecided ones count as not right, failed ones not at all."""
    usable = [pair for pair in zip(answers, clusters, strict=True) if pair[0] != "failed"]
    usable_clusters = [cluster for _, cluster in usable]
    hits = [answer == "right" for answer, _ in usable]
    k, n, undecided = sum(hits), len(hits), answers.count("undecided")
    rate, outer = rate_of_hits(hits, usable_clusters), None
    if undecided and rate.low is not None:
        possible = rate_interval([answer != "wrong" for answer, _ in usable], clusters=usable_clusters)
        outer = Bounds(low=rate.low, high=rounded(possible.high))
    return StrictShare(
        **dict(rate),
        outer=outer,
        k=k,
        n=n,
        n_undecided=undecided,
        upper=ratio(k + undecided, n),
        answers=len(answers),
        coverage=ratio(n, len(answers)),
        bounds=mean_bounds(k, k + undecided + len(answers) - n, len(answers)),
    )


def paired_difference(
    differences: Sequence[float] | Floats, clusters: ClusterNames, *, widest: float, seed: int
) -> PairedDifference:
    """Return the mean of paired differences with its interval, a sign-flip test and the number of changes.

    Args:
        differences: second minus first, one for each pair.
        clusters: the cluster of each pair.
        widest: the largest difference that can occur.
        seed: of the bootstrap and of the permutations.
    """
    steps = np.asarray(differences, dtype=np.float64)
    changed = ChangeCounts(
        higher=int(np.count_nonzero(steps > _UNCHANGED)),
        equal=int(np.count_nonzero(np.abs(steps) <= _UNCHANGED)),
        lower=int(np.count_nonzero(steps < -_UNCHANGED)),
    )
    if not len(steps):
        return PairedDifference(difference=None, p_value=None, permutations=None, changed=changed)
    test = sign_flip_test(differences, clusters=clusters, seed=seed)
    return PairedDifference(
        difference=mean_with_interval(differences, clusters, seed=seed, bounds=(-widest, widest)),
        p_value=rounded(test.p_value),
        permutations=Permutations(patterns=test.patterns, exact=test.exact),
        changed=changed,
    )


def with_adjusted(tested: Iterable[M], p_values: Sequence[float | None]) -> list[M]:
    """Return results with `adjusted`: p-values adjusted over all of them (Benjamini and Hochberg); None
    without a test.
    """
    results: list[M] = []
    for result, value in zip(tested, adjusted(p_values), strict=True):
        results.append(result.model_copy(update={"adjusted": rounded(value)}))
    return results


def lead_of(
    values: Mapping[str, Mapping[str, float]],
    clusters: Mapping[str, Hashable],
    *,
    widest: float,
    seed: int,
    unit: float = 1.0,
    highest: Mapping[str, Mapping[str, float]] | None = None,
) -> Lead | None:
    """Return how the best of several compares with the next best on their shared samples; None for fewer than two.

    Args:
        values: by name, the value of each sample. Those with less than half as many as another take no part; the
            highest mean over the shared samples is the best, and names break ties.
        clusters: the cluster of each sample.
        widest: the largest difference that can occur.
        seed: of the bootstrap and of the permutations.
        unit: the factor of the difference, such as 100 for percentage points.
        highest: the values if all undecided answers were right; None if none are undecided.
    """
    most = max(map(len, values.values()), default=0)
    compared = {name: by_sample for name, by_sample in values.items() if by_sample and 2 * len(by_sample) >= most}
    if len(compared) < 2:
        return None
    samples = [sample for sample in next(iter(compared.values())) if all(sample in of for of in compared.values())]
    if not samples:
        return None
    means = {name: sum(by_sample[sample] for sample in samples) for name, by_sample in compared.items()}
    best, next_best = sorted(means, key=lambda name: (-means[name], name))[:2]
    steps = [compared[best][sample] - compared[next_best][sample] for sample in samples]
    sample_clusters = [clusters[sample] for sample in samples]
    patterns = max(1_000, min(PERMUTATIONS, MOST_FLIPS // len(samples)))
    ends = bootstrap_interval(steps, clusters=sample_clusters, seed=seed, bounds=(-widest, widest))
    difference = sum(steps) / len(steps)
    possible = means[next_best] if highest is None else sum(highest[next_best][sample] for sample in samples)
    return Lead(
        best=best,
        next_best=next_best,
        n=len(samples),
        difference=interval_of(unit * difference, ends, unit=unit),
        p_value=rounded(sign_flip_test(steps, clusters=sample_clusters, seed=seed, permutations=patterns).p_value),
        samples_needed=samples_that_show(difference, steps, sample_clusters),
        reversible=possible > means[best],
    )


def samples_that_show(difference: float, steps: Sequence[float], clusters: Sequence[Hashable]) -> int | None:
    """Return the number of samples needed to show a difference, from a pilot's `steps`; None if uninformative."""
    try:
        return samples_needed(difference, pilot_design(steps, clusters=clusters))
    except ValueError:
        return None


def agreement_coefficient(
    statistic: Callable[[list[T]], float], things: Sequence[T], clusters: Sequence[Hashable]
) -> AgreementCoefficient:
    """Return a coefficient of agreement with its interval; if it has no value, `no_value` gives the reason.

    One minus the coefficient is the ratio of observed to chance disagreement, whose distribution is skewed with few
    clusters. So each end is the wider of two jackknife intervals: of the coefficient, and of that ratio's logarithm.

    Args:
        statistic: returns the coefficient of some of the things; raises ValueError if it has no value.
        things: the rated things, each as its ratings.
        clusters: the cluster of each thing.
    """

    def of_some(use: Sequence[int]) -> float:
        return statistic([things[at] for at in use])

    n = len(things)
    try:
        value = of_some(range(n))
    except ValueError as error:
        return AgreementCoefficient(value=None, low=None, high=None, no_value=str(error))
    coefficient = AgreementCoefficient(value=rounded(value), **coefficient_limits(of_some, n, clusters))
    ratio = _limits_of_ratio(of_some, n, clusters)
    if ratio is None or coefficient.low is None or coefficient.high is None:
        return coefficient
    wider = {"low": min(coefficient.low, rounded(ratio.low)), "high": max(coefficient.high, rounded(ratio.high))}
    return coefficient.model_copy(update=wider)


CORRELATIONS = {"pearson": pearson, "spearman": spearman, "kendall": kendall}


def correlation_coefficient(
    x: Sequence[float],
    y: Sequence[float],
    clusters: Sequence[Hashable],
    *,
    method: Literal["pearson", "spearman", "kendall"],
) -> AgreementCoefficient:
    """Return a correlation with its interval; if it has no value, `no_value` gives the reason."""
    try:
        value = rounded(CORRELATIONS[method](x, y))
    except ValueError as error:
        return AgreementCoefficient(value=None, low=None, high=None, no_value=str(error))
    try:
        ends = correlation_interval(x, y, method=method, clusters=_grouped(clusters))
    except ValueError as error:
        ends = ConfidenceInterval(-1.0, 1.0, str(error))
    return AgreementCoefficient(value=value, **limits(ends))


def _limits_of_ratio(
    statistic: Callable[[Sequence[int]], float], n: int, clusters: Sequence[Hashable]
) -> ConfidenceInterval | None:
    """Return the limits of a coefficient by the logarithm of one minus it; None at full agreement."""
    try:
        ends = jackknife_interval(lambda use: log(1 - statistic(use)), n, clusters=_grouped(clusters))
    except ValueError:
        return None
    if ends.reason:
        return None
    return ConfidenceInterval(max(-1.0, 1 - exp(ends.high)), 1 - exp(ends.low))


def _grouped(clusters: Sequence[Hashable]) -> Sequence[Hashable]:
    """Return the jackknife's groups: the clusters, or `MOST_LEFT_OUT` groups of them."""
    if len(set(clusters)) <= MOST_LEFT_OUT:
        return clusters
    return [int(unit_interval("kappa", str(cluster)) * MOST_LEFT_OUT) for cluster in clusters]


def coefficient_limits(
    statistic: Callable[[Sequence[int]], float], n: int, clusters: Sequence[Hashable]
) -> LimitFields:
    """Return the jackknife `limits` of a coefficient that has a value."""
    clusters = _grouped(clusters)
    if len(set(clusters)) == 1:
        return limits(ConfidenceInterval(-1.0, 1.0, ONE_CLUSTER))
    try:
        return limits(jackknife_interval(statistic, n, clusters=clusters, bounds=(-1.0, 1.0)))
    except ValueError:
        return limits(ConfidenceInterval(-1.0, 1.0, "no value without one of the clusters"))


def mean_bounds(low: float, high: float, n: int) -> Bounds | None:
    """Return the bounds of a mean over n from its possible sums; None if n is 0."""
    if n:
        return Bounds(low=rounded(low / n), high=rounded(high / n))
    return None


def bounds_with_unknown(values: Sequence[float], unknown: int, scale: tuple[float, float]) -> Bounds | None:
    """Return the bounds of a mean if `unknown` further values were all the lowest, or the highest, of the scale."""
    known_sum, n = sum(values), len(values) + unknown
    return mean_bounds(known_sum + scale[0] * unknown, known_sum + scale[1] * unknown, n)


def bounds_over_failures(
    samples: Iterable[tuple[Sequence[float], int]], lowest: float, highest: float
) -> Bounds | None:
    """Return the bounds of a mean over samples if every failed answer had the lowest, or the highest, value.

    A sample's value is the mean over its answers. `samples` has each sample's scored values and its number of failures.
    None without any.
    """
    sums = [(sum(values), len(values), failed) for values, failed in samples if values or failed]
    low, high = (
        sum((total + end * failed) / (count + failed) for total, count, failed in sums) for end in (lowest, highest)
    )
    return mean_bounds(low, high, len(sums))


def coverage(samples: Iterable[tuple[int, int]]) -> CoverageFields:
    """Return how much was scored, from each sample's numbers of scored and failed answers."""
    counts = list(samples)
    scored = sum(scored_count for scored_count, _ in counts)
    answers = scored + sum(failed for _, failed in counts)
    return {
        "n": len(counts),
        "n_scored": sum(scored_count > 0 for scored_count, _ in counts),
        "answers": answers,
        "answers_scored": scored,
        "coverage": ratio(scored, answers),
    }


def deviation(values: Sequence[float]) -> float:
    """Return the standard deviation of two values or more."""
    mean = sum(values) / len(values)
    return (sum((value - mean) ** 2 for value in values) / (len(values) - 1)) ** 0.5


def spread(repeats: Iterable[Sequence[float]]) -> float | None:
    """Return the standard deviation over repeats, pooled over all things with two or more; None without any.

    It is corrected for small-sample bias (c4): uncorrected, two repeats give on average 0.8 of the standard deviation
    of normal values.
    """
    several = [values for values in repeats if len(values) > 1]
    df = sum(len(values) - 1 for values in several)
    if not df:
        return None
    pooled = sqrt(sum(deviation(values) ** 2 * (len(values) - 1) for values in several) / df)
    return rounded(pooled * sqrt(df / 2) * exp(lgamma(df / 2) - lgamma((df + 1) / 2)))


class FailureFields(TypedDict):
    """Failed and open counts by kind, as fields of figures."""

    failures: dict[FailureKind, int]
    left_open: dict[FailureKind, int]


def failure_fields(kinds: Iterable[FailureKind | None]) -> FailureFields:
    """Return counts of failures and, separately, of open items by kind, in alphabetical order; None
    counts as neither.
    """
    fields: FailureFields = {"failures": {}, "left_open": {}}
    for kind, count in sorted(Counter[FailureKind](filter(None, kinds)).items()):
        fields["left_open" if kind in OPEN_KINDS else "failures"][kind] = count
    return fields


def failures_by_kind(kinds: Iterable[FailureKind | None]) -> dict[FailureKind, int]:
    """Return the number of failures by kind, in alphabetical order; open items did not fail."""
    return failure_fields(kinds)["failures"]


def left_open(kinds: Iterable[FailureKind | None]) -> dict[FailureKind, int]:
    """Return the number of open items by kind."""
    return failure_fields(kinds)["left_open"]


def used_by_calls(calls: Iterable[CallFigures]) -> Used:
    """Return the usage of calls; the cost is unknown if that of any call is."""
    figures = list(calls)
    cost = costs(call.cost for call in figures)
    return Used(calls=len(figures), **cost)
