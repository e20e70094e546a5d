"""Rates on each half of a passport's images, and the recommended evaluators: chosen on one half, and measured on the other."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from dokimasia.algorithms.halving import halves
from dokimasia.domain.blindspots import Detection, Evaluator, Task, paradigm_of
from dokimasia.domain.passport import HalfRates, RatesByHalf, Recommendation
from dokimasia.people.passports.shares import alarmed, detected, measured

Half = Mapping[Evaluator, Sequence[Detection]]


class TaskHalves(NamedTuple):
    """The detections of a task by evaluator, on the half of its images that chooses and on the one that estimates."""

    task: Task
    choosing: Half
    estimating: Half


def task_halves(found: Mapping[tuple[Task, Evaluator], Sequence[Detection]], *, seed: int) -> list[TaskHalves]:
    """Return the detections of each task in random halves of its images, by the seed.

    Whatever is best on the first half is the luckiest there, too, and its rates are too high; those on the second half,
    which was not used for choosing, are not.
    """
    tasks: list[Task] = sorted({task for task, _ in found})
    split: list[TaskHalves] = []
    for task in tasks:
        of_task: dict[Evaluator, Sequence[Detection]] = {
            evaluator: several for (one, evaluator), several in found.items() if one == task
        }
        clusters = {
            detection.item: detection.cluster
            for detections in of_task.values()
            for detection in detections
            if detection.case not in ("gold", "padded")
        }
        choosing, estimating = halves(dict(sorted(clusters.items())), {}, seed=seed)
        split.append(TaskHalves(task, _within(of_task, choosing), _within(of_task, estimating)))
    return split


def rates_by_half(split: Sequence[TaskHalves]) -> Iterator[RatesByHalf]:
    """Yield what each half says of all errors under every evaluator."""
    for task, choosing, estimating in split:
        for evaluator in choosing:
            yield RatesByHalf(
                task=task,
                choosing=_rates(evaluator, choosing[evaluator], ""),
                estimating=_rates(evaluator, estimating[evaluator], ""),
            )


def recommendations(split: Sequence[TaskHalves]) -> Iterator[Recommendation]:
    """Yield for each task the recommended evaluator for all errors together, and for each group of them."""
    for task, choosing, estimating in split:
        errors = (
            detection
            for half in (choosing, estimating)
            for several in half.values()
            for detection in several
            if detection.case == "error"
        )
        for group in ("", *sorted({detection.group for detection in errors})):
            yield _recommended(task, group, choosing, estimating)


def _within(found: Half, side: Collection[str]) -> Half:
    return {name: [one for one in several if one.item in side] for name, several in found.items()}


def _recommended(task: Task, group: str, choosing: Half, estimating: Half) -> Recommendation:
    considered = [_rates(name, found, group) for name, found in choosing.items()]
    known = [one for one in considered if one.worth is not None]
    chosen = max(known, key=lambda one: one.worth or 0.0) if known else None
    best = None if chosen is None else chosen.evaluator
    estimated = None if best is None else _rates(best, estimating[best], group)
    reason = ""
    if best is None:
        reason = "no evaluator has both errors and harmless changes judged in the half that chooses"
    elif estimated is None or estimated.worth is None:
        reason = f"{best} was chosen, and the half that measures has no judged errors or no judged harmless changes"
        best = None
    return Recommendation(
        task=task,
        group=group,
        evaluator=best,
        paradigm=None if best is None else paradigm_of(best),
        considered=tuple(considered),
        estimated=estimated,
        reason=reason,
    )


def _rates(evaluator: Evaluator, found: Sequence[Detection], group: str) -> HalfRates:
    errors = [one for one in found if one.case == "error" and (not group or one.group == group)]
    neutral = [one for one in found if one.case == "neutral"]
    scored = [one for one in errors if one.undetected is not None]
    return HalfRates(
        evaluator=evaluator,
        n=len(scored),
        neutral=sum(one.equal is not None for one in neutral),
        images=len({one.cluster for one in scored}),
        detection=measured(errors, detected),
        false_alarms=measured(neutral, alarmed),
    )
