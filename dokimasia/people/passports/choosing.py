"""Recommended evaluators of a passport: chosen on one half of the images, and measured on the other."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from dokimasia.algorithms.halving import halves
from dokimasia.domain.blindspots import Detection, Evaluator, Task, paradigm_of
from dokimasia.domain.passport import HalfRates, Recommendation
from dokimasia.people.passports.shares import alarmed, detected, measured

Half = Mapping[Evaluator, Sequence[Detection]]


def recommendations(
    found: Mapping[tuple[Task, Evaluator], Sequence[Detection]], *, seed: int
) -> Iterator[Recommendation]:
    """Yield for each task the recommended evaluator for all errors together, and for each group of them.

    The images of a task are split in random halves. The rates of the best evaluator on the first half are biased by the
    selection; those on the second half, which was not used for it, are not.
    """
    tasks: list[Task] = sorted({task for task, _ in found})
    for task in tasks:
        of_task: dict[Evaluator, Sequence[Detection]] = {
            evaluator: several for (one, evaluator), several in found.items() if one == task
        }
        clusters = {one.item: one.cluster for several in of_task.values() for one in several}
        sides = halves(dict(sorted(clusters.items())), {}, seed=seed)
        choosing, estimating = (_within(of_task, side) for side in sides)
        groups = sorted({one.group for several in of_task.values() for one in several if one.case == "error"})
        for group in ("", *groups):
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
