"""Shares of a passport: means over a judge's detections with their intervals, clustered by image."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from dokimasia.algorithms.statistics import Interval, bootstrap_interval, rate_interval
from dokimasia.domain.blindspots import Detection
from dokimasia.domain.passport import MeasuredShare
from dokimasia.runs.reading.rates import rounded


def share_of(values: Sequence[float], clusters: Sequence[str], *, seed: int) -> MeasuredShare:
    """Return the mean of values from 0 to 1 with its interval: that of a share where all are 0 or 1, else of a mean."""
    if not values:
        return MeasuredShare()
    if all(one in (0, 1) for one in values):
        interval = rate_interval([one == 1 for one in values], clusters=clusters)
    else:
        interval = bootstrap_interval(values, clusters=clusters, seed=seed, bounds=(0.0, 1.0))
    return MeasuredShare(share=rounded(sum(values) / len(values)), **limits_of(interval))


def detected(one: Detection) -> float | None:
    """Return how far an error was detected, 0 to 1; None where there is no judgement."""
    return None if one.undetected is None else 1 - one.undetected


def alarmed(one: Detection) -> float | None:
    """Return whether a harmless change was judged to be one that matters; None where there is no judgement."""
    return None if one.equal is None else 1 - one.equal


def measured(found: Iterable[Detection], what: Callable[[Detection], float | None], *, seed: int) -> MeasuredShare:
    """Return the mean of what is known of detections, clustered by image."""
    known = [(value, one.cluster) for one in found if (value := what(one)) is not None]
    return share_of([value for value, _ in known], [cluster for _, cluster in known], seed=seed)


def limits_of(interval: Interval, *, unit: float = 1.0) -> dict[str, Any]:
    """Return an interval's fields of a passport; where it has none, why."""
    if interval.reason:
        return {"no_interval": interval.reason}
    return {"low": rounded(unit * interval.low), "high": rounded(unit * interval.high)}
