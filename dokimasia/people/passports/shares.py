"""Shares of a judge's detections for a passport, with intervals clustered by image."""

from collections.abc import Callable, Iterable
from typing import TypedDict

from dokimasia.algorithms.blindspots import ItemShare, item_share
from dokimasia.algorithms.statistics import ConfidenceInterval
from dokimasia.domain.blindspots import Detection
from dokimasia.domain.passport import MeasuredShare
from dokimasia.report.fields import Interval
from dokimasia.runs.measures import mean_with_interval, rounded


def detected(one: Detection) -> float | None:
    """Return the degree to which an error was detected, 0 to 1; None without a judgement."""
    return None if one.undetected is None else 1 - one.undetected


def alarmed(one: Detection) -> float | None:
    """Return the degree to which an unharmed answer was judged differently, 0 to 1; None without a judgement."""
    return None if one.equal is None else 1 - one.equal


def marked(one: Detection) -> float | None:
    """Return how much worse than the gold answer an item was judged, 0 to 1; None without a judgement."""
    return detected(one) if one.case == "error" else alarmed(one)


def leaning(one: Detection) -> float | None:
    """Return how padding moved the judgement of an answer: 1 up, 0 not, -1 down, in pairs the mean over both orders."""
    return None if one.equal is None or one.worse is None else 2 * one.worse + one.equal - 1


def changed_by_length(one: Detection) -> float | None:
    """Return the degree to which padding moved the judgement of an answer, 0 to 1; None without a judgement."""
    moved = leaning(one)
    return None if moved is None else abs(moved)


def length_bias(padded: Iterable[Detection], *, seed: int) -> Interval | None:
    """Return how much more often padding moves judgements up than down, -1 to 1; None without a judgement."""
    moved = [(value, one.cluster) for one in padded if (value := leaning(one)) is not None]
    clusters = [cluster for _, cluster in moved]
    return mean_with_interval([value for value, _ in moved], clusters, seed=seed, bounds=(-1.0, 1.0))


def measured(found: Iterable[Detection], what: Callable[[Detection], float | None]) -> MeasuredShare:
    """Return the mean of a measure of detections (0, 1/2 or 1 each) over those with a value."""
    return written(item_share([(what(one), one.cluster) for one in found]))


def written(one: ItemShare, *, less: bool = False) -> MeasuredShare:
    """Return a share in a passport's form; with `less`, one minus the share."""
    if one.share is None or one.interval is None:
        return MeasuredShare()
    if not less:
        return MeasuredShare(share=rounded(one.share), **limits_of(one.interval))
    low, high = one.interval
    return MeasuredShare(
        share=rounded(1 - one.share), **limits_of(ConfidenceInterval(1 - high, 1 - low, one.interval.reason))
    )


class ShareLimits(TypedDict, total=False):
    """An interval's fields of a passport."""

    low: float
    high: float
    no_interval: str


def limits_of(interval: ConfidenceInterval, *, unit: float = 1.0) -> ShareLimits:
    """Return an interval's fields in a passport; without an interval, the reason."""
    if interval.reason:
        return {"no_interval": interval.reason}
    return {"low": rounded(unit * interval.low), "high": rounded(unit * interval.high)}
