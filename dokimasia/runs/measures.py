"""Means, shares and bounds as typed parts of figures, rounded, with intervals that keep whole clusters together."""

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence

from dokimasia.domain.judgement import Correctness, FailureKind
from dokimasia.report.fields import Bounds, Interval, Share, StrictShare, Used
from dokimasia.runs.figures import costs
from dokimasia.runs.reading import rates


def mean_with_interval(
    values: Sequence[float], clusters: Sequence[Hashable], *, seed: int, bounds: tuple[float, float] | None = None
) -> Interval | None:
    """Return the mean with its 95 % interval, clusters resampled whole; None of nothing."""
    interval = rates.mean_interval(values, clusters, seed=seed, bounds=bounds)
    return None if interval is None else Interval.model_validate(interval)


def share_of_hits(hits: Sequence[bool], clusters: Sequence[Hashable] | None = None, *, unknown: int = 0) -> Share:
    """Return the share of trials that hit, with its interval and what `unknown` further trials leave open."""
    return Share.model_validate(rates.share(hits, clusters, unknown=unknown))


def strict_accuracy(answers: Sequence[Correctness], clusters: Sequence[Hashable]) -> StrictShare:
    """Return the share of answers that are right: undecided ones count as not right, failed ones not at all."""
    return StrictShare.model_validate(rates.strict_share(answers, clusters))


def mean_bounds(low: float, high: float, n: int) -> Bounds | None:
    """Return the bounds of a mean over n from the sums that it may have; None where n is 0."""
    bounds = rates.bounds(low, high, n)
    return None if bounds is None else Bounds.model_validate(bounds)


def bounds_over_failures(
    samples: Iterable[tuple[Sequence[float], int]], lowest: float, highest: float
) -> Bounds | None:
    """Return the bounds of a mean over samples if every failed answer had the lowest, or the highest, value.

    A sample's value is the mean over its answers: its scored values, and how many failed. None without any.
    """
    bounds = rates.possible(samples, lowest, highest)
    return None if bounds is None else Bounds.model_validate(bounds)


def failures_by_kind(kinds: Iterable[FailureKind]) -> dict[FailureKind, int]:
    """Return how many failed by kind of failure, in alphabetical order."""
    return dict(sorted(Counter(kinds).items()))


def used_by_all(parts: Iterable[Used]) -> Used:
    """Return what all parts used together; the cost is unknown where that of any part is."""
    listed = list(parts)
    cost = costs((part.cost for part in listed), (part.cost_known for part in listed))
    return Used(calls=sum(part.calls for part in listed), cost=cost["cost"], cost_known=cost.get("cost_known"))
