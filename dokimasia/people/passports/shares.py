"""Shares of a judge's detections for a passport, with intervals clustered by image."""

from collections.abc import Callable, Iterable
from typing import TypedDict

from dokimasia.algorithms.blindspots import ItemShare, item_share
from dokimasia.algorithms.correction import ShareEstimate
from dokimasia.algorithms.statistics import ConfidenceInterval
from dokimasia.algorithms.statistics.contrasts import contrast_interval
from dokimasia.domain.blindspots import Detection
from dokimasia.domain.passport import MeasuredShare
from dokimasia.report.fields import Interval
from dokimasia.runs.measures import mean_with_interval, rounded


def detected(detection: Detection) -> float | None:
    """Return the degree to which an error was detected, 0 to 1; None without a judgement."""
    if detection.undetected is None:
        return None
    return 1 - detection.undetected


def alarmed(detection: Detection) -> float | None:
    """Return the degree to which an unharmed answer was judged differently, 0 to 1; None without a judgement."""
    if detection.equal is None:
        return None
    return 1 - detection.equal


def marked(detection: Detection) -> float | None:
    """Return how much worse than the gold answer an item was judged, 0 to 1; None without a judgement."""
    if detection.case == "error":
        return detected(detection)
    return alarmed(detection)


def leaning(detection: Detection) -> float | None:
    """Return how padding moved the judgement of an answer: 1 up, 0 not, -1 down; for pairs, the mean over orders."""
    if detection.equal is None or detection.worse is None:
        return None
    return 2 * detection.worse + detection.equal - 1


def changed_by_length(detection: Detection) -> float | None:
    """Return the degree to which padding moved the judgement of an answer, 0 to 1; None without a judgement."""
    moved = leaning(detection)
    return None if moved is None else abs(moved)


def length_bias(padded: Iterable[Detection], *, seed: int) -> Interval | None:
    """Return how much more often padding moves judgements up than down, -1 to 1; None without a judgement."""
    moves: list[float] = []
    clusters: list[str] = []
    for detection in padded:
        if (moved := leaning(detection)) is not None:
            moves.append(moved)
            clusters.append(detection.cluster)
    return mean_with_interval(moves, clusters, seed=seed, bounds=(-1.0, 1.0))


def measured(detections: Iterable[Detection], value: Callable[[Detection], float | None]) -> MeasuredShare:
    """Return the mean of a measure of detections (0, 1/2 or 1 each) over those with a value."""
    return written(item_share([(value(detection), detection.cluster) for detection in detections]))


def written(measure: ItemShare, *, less: bool = False) -> MeasuredShare:
    """Return a share in a passport's form; with `less`, one minus the share."""
    if measure.share is None or measure.interval is None:
        return MeasuredShare()
    estimate = ShareEstimate(measure.share, measure.interval)
    if less:
        estimate = estimate.less
    return MeasuredShare(share=rounded(estimate.share), **limits_of(estimate.interval))


def n_images(detections: Iterable[Detection]) -> int:
    """Return the number of clusters of items that share an image."""
    return len({detection.cluster for detection in detections})


def difference_interval(first: MeasuredShare, second: MeasuredShare) -> ConfidenceInterval | None:
    """Return the interval of the difference of two shares measured on different items; None if one has no interval."""
    ends: list[tuple[float, ConfidenceInterval]] = []
    for rate in (first, second):
        if rate.share is None or rate.low is None or rate.high is None:
            return None
        ends.append((rate.share, ConfidenceInterval(rate.low, rate.high)))
    return contrast_interval(*ends[0], *ends[1])


class ShareLimits(TypedDict, total=False):
    """The fields of an interval in a passport."""

    low: float
    high: float
    no_interval: str


def limits_of(interval: ConfidenceInterval, *, unit: float = 1.0) -> ShareLimits:
    """Return the fields of an interval in a passport; without an interval, the reason."""
    if interval.reason:
        return {"no_interval": interval.reason}
    return {"low": rounded(unit * interval.low), "high": rounded(unit * interval.high)}
