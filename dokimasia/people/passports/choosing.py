"""Rates on each half of a passport's images; and recommendations, chosen on one half and measured on the other."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from dokimasia.algorithms.halving import halves
from dokimasia.domain.blindspots import Detection, Evaluator, Task, paradigm_of
from dokimasia.domain.passport import HalfRates, RatesByHalf, Recommendation
from dokimasia.people.passports.options import Way
from dokimasia.people.passports.shares import alarmed, detected, measured, n_images

Half = Mapping[Evaluator, Sequence[Detection]]


class TaskHalves(NamedTuple):
    """The detections of a task by evaluator, on the half of its images for choosing and on the half for estimating."""

    task: Task
    choosing: Half
    estimating: Half


def task_halves(results: Mapping[Way, Sequence[Detection]], *, seed: int) -> list[TaskHalves]:
    """Return the detections of each task in random halves of its images, by the seed.

    The best evaluator on the first half is also the luckiest there, so that its rates are too high; rates on the second
    half, which was not used for choosing, are not.
    """
    by_task: dict[Task, dict[Evaluator, Sequence[Detection]]] = {}
    for (task, evaluator), detections in results.items():
        by_task.setdefault(task, {})[evaluator] = detections
    split: list[TaskHalves] = []
    for task, by_evaluator in sorted(by_task.items()):
        clusters: dict[str, str] = {}
        for detections in by_evaluator.values():
            clusters |= {
                detection.item: detection.cluster
                for detection in detections
                if detection.case not in ("gold", "padded")
            }
        choosing, estimating = halves(dict(sorted(clusters.items())), {}, seed=seed)
        split.append(TaskHalves(task, _detections_of(by_evaluator, choosing), _detections_of(by_evaluator, estimating)))
    return split


def rates_by_half(split: Sequence[TaskHalves]) -> Iterator[RatesByHalf]:
    """Yield the rates of all errors on each half, for every evaluator."""
    for task, choosing, estimating in split:
        for evaluator in choosing:
            yield RatesByHalf(
                task=task,
                choosing=_rates(evaluator, choosing[evaluator], ""),
                estimating=_rates(evaluator, estimating[evaluator], ""),
            )


def recommendations(split: Sequence[TaskHalves]) -> Iterator[Recommendation]:
    """Yield, for each task, the recommended evaluator for all errors together and for each group of errors."""
    for task, choosing, estimating in split:
        groups: set[str] = set()
        for detections in (*choosing.values(), *estimating.values()):
            groups |= {detection.group for detection in detections if detection.case == "error"}
        for group in ("", *sorted(groups)):
            yield _recommended(task, group, choosing, estimating)


def _detections_of(results: Half, items: Collection[str]) -> Half:
    """Return the detections of some items."""
    half: dict[Evaluator, list[Detection]] = {}
    for evaluator, detections in results.items():
        half[evaluator] = [detection for detection in detections if detection.item in items]
    return half


def _recommended(task: Task, group: str, choosing: Half, estimating: Half) -> Recommendation:
    considered = tuple(_rates(evaluator, detections, group) for evaluator, detections in choosing.items())
    known = [rates for rates in considered if rates.worth is not None]
    best: Evaluator | None = None
    estimated: HalfRates | None = None
    reason = "no evaluator has both errors and harmless changes judged in the half that chooses"
    if known:
        best = max(known, key=lambda rates: rates.worth or 0.0).evaluator
        estimated, reason = _rates(best, estimating[best], group), ""
        if estimated.worth is None:
            reason = f"{best} was chosen, and the half that measures has no judged errors or no judged harmless changes"
            best = None
    return Recommendation(
        task=task,
        group=group,
        evaluator=best,
        paradigm=None if best is None else paradigm_of(best),
        considered=considered,
        estimated=estimated,
        reason=reason,
    )


def _rates(evaluator: Evaluator, detections: Sequence[Detection], group: str) -> HalfRates:
    errors = [error for error in detections if error.case == "error" and group in ("", error.group)]
    neutral = [detection for detection in detections if detection.case == "neutral"]
    scored = [error for error in errors if error.undetected is not None]
    return HalfRates(
        evaluator=evaluator,
        n=len(scored),
        neutral=sum(detection.equal is not None for detection in neutral),
        images=n_images(scored),
        detection=measured(errors, detected),
        false_alarms=measured(neutral, alarmed),
    )
