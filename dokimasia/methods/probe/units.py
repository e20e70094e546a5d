"""What a probe consists of: each judgement, and each thing that judgements rest on, by the name of its item."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from dokimasia.domain.blindspots import Case, Evaluator, Probe, paradigm_of
from dokimasia.methods.probe.arms import Arm
from dokimasia.methods.probe.items import Gold, by_sample, golds_of
from dokimasia.methods.probe.request import ProbePlan

BLIND_TO_IMAGES: tuple[Evaluator, ...] = ("gated", "right-or-wrong")
"""Evaluators that show no image, as they are used: with tools there would be nothing to look closer at."""

Basis = Literal["criteria", "rubrics", "reference"]
"""Atomic criteria of a sample; must-right rubrics of a gold answer; a reference that is made anew for a sample."""

READ: tuple[str, ...] = ("single", "pairwise", "reference")
"""Paradigms whose judges justify themselves, so that a reader can read it."""


class ProbeUnit(NamedTuple):
    """One judgement, or of a pair both orders: `probe` is None for the unchanged answer, judged for the (`draw` + 1)th time.

    `new` says that it goes by a reference that was made anew.
    """

    name: str
    evaluator: Evaluator
    arm: Arm
    sample: str
    gold: Gold
    probe: Probe | None = None
    draw: int = 0
    new: bool = False

    @property
    def compared(self) -> bool:
        """Whether it is held against the gold answer's first judgement, and not that judgement itself."""
        return self.probe is not None or self.draw > 0

    @property
    def case(self) -> Case:
        """What is put to the judge."""
        if self.probe is None:
            return "retest"
        return "neutral" if self.probe.neutral else "error"

    @property
    def first(self) -> str:
        """The name of the gold answer's first judgement; empty for pairs, which hold both answers."""
        return "" if paradigm_of(self.evaluator) == "pairwise" else _name(self, "gold")

    @property
    def item(self) -> str:
        """The id of what is judged, as detections name it."""
        return f"retest/{self.sample}/{self.gold.key}/{self.draw}" if self.probe is None else self.probe.id

    @property
    def reading(self) -> str:
        """The name of the item in which its justification is read."""
        return f"reading/{self.name}"


def _name(unit: ProbeUnit, what: str) -> str:
    asked = f"{unit.evaluator}{'+new' if unit.new else ''}"
    return f"{asked}/{unit.arm.name}/{unit.sample}/{unit.gold.key}/{what}"


def is_read(plan: ProbePlan, unit: ProbeUnit) -> bool:
    """Return whether the justification of a judgement is read."""
    return plan.reader is not None and unit.compared and paradigm_of(unit.evaluator) in READ


def ways(plan: ProbePlan, arm: Arm) -> list[tuple[Evaluator, bool]]:
    """Return the evaluators that ask a judge in an arm, and whether by new references, in order."""
    asked: list[tuple[Evaluator, bool]] = [
        (one, False) for one in plan.evaluators if not (arm.tools and one in BLIND_TO_IMAGES)
    ]
    return asked if plan.writer is None else [*asked, ("reference", True)]


def units_of(
    plan: ProbePlan, arm: Arm, evaluator: Evaluator, new: bool, sample: str, gold: Gold
) -> Iterator[ProbeUnit]:
    """Yield the judgements of a gold answer and of what was made of it, those first that others are held against."""
    unit = ProbeUnit("", evaluator, arm, sample, gold, new=new)
    draws = range(1 if paradigm_of(evaluator) == "pairwise" else 0, plan.retests + 1)
    for draw in draws:
        yield unit._replace(name=_name(unit, f"retest-{draw}" if draw else "gold"), draw=draw)
    for probe in gold.probes:
        yield unit._replace(name=_name(unit, probe.id), probe=probe)


def units_of_sample(plan: ProbePlan, sample: str, probes: Sequence[Probe]) -> Iterator[ProbeUnit]:
    """Yield all judgements of what belongs to one sample."""
    golds = list(golds_of(probes))
    for arm in plan.arms:
        for evaluator, new in ways(plan, arm):
            for gold in golds:
                yield from units_of(plan, arm, evaluator, new, sample, gold)


def count_items(plan: ProbePlan, probes: Mapping[str, Sequence[Probe]]) -> int:
    """Return of how many items a probe consists: judgements, readings, and what judgements rest on, none of which is made.

    Args:
        plan: the probe.
        probes: those of each sample, by its name.
    """
    golds = {sample: list(golds_of(own)) for sample, own in probes.items()}
    count = sum(map(len, golds.values()))
    compared = count * plan.retests + sum(len(gold.probes) for several in golds.values() for gold in several)
    found = len(probes) * (plan.writer is not None)
    for arm in plan.arms:
        for evaluator, _ in ways(plan, arm):
            paradigm = paradigm_of(evaluator)
            found += compared + (0 if paradigm == "pairwise" else count)
            found += compared if plan.reader is not None and paradigm in READ else 0
        if not arm.tools:
            found += len(probes) * ("checkpoints" in plan.evaluators) + count * ("gated" in plan.evaluators)
    return found


def all_units(plan: ProbePlan, probes: Iterable[Probe]) -> dict[str, ProbeUnit]:
    """Return every judgement of a run by its item's name."""
    several = by_sample(probes)
    return {unit.name: unit for sample, own in several.items() for unit in units_of_sample(plan, sample, own)}


def bases_of_sample(plan: ProbePlan, sample: str, probes: Sequence[Probe]) -> list[str]:
    """Return the names of the items that judgements of one sample rest on."""
    found = [basis_item("reference", "", sample)] if plan.writer is not None else []
    for arm in plan.arms:
        if "checkpoints" in plan.evaluators and not arm.tools:
            found.append(basis_item("criteria", arm.name, sample))
        if "gated" in plan.evaluators and not arm.tools:
            found += [basis_item("rubrics", arm.name, sample, gold.key) for gold in golds_of(probes)]
    return found


def basis_item(basis: Basis, arm: str, sample: str, gold: str = "") -> str:
    """Return the name of the item that makes what judgements of a sample, or of a gold answer to it, rest on."""
    return "/".join(filter(None, (basis, arm, sample, gold)))


def count_of(unit: ProbeUnit) -> int:
    """Return of how many judgements an item consists: of both orders, where two different answers are compared."""
    return 2 if unit.evaluator.startswith("pairwise") and unit.probe is not None else 1
