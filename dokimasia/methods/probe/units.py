"""The units of a probe: the stored probes, and their judgements by item."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import ClassVar, Literal, NamedTuple

from dokimasia.agents.candidate import stated_answer
from dokimasia.domain.blindspots import NEUTRAL, Case, ErrorDimension, Evaluator, Perturbed, Probe, paradigm_of
from dokimasia.domain.identity import Value, digest, value_id
from dokimasia.methods.probe.request import Arm, ProbePlan
from dokimasia.prompts.dimensions import error_dimensions
from dokimasia.storage.home import Home
from dokimasia.storage.lookup import find_values

Basis = Literal["criteria", "rubrics", "reference"]
"""Atomic criteria of a sample; must-right rubrics of a gold answer; a new reference for a sample."""

READ: tuple[str, ...] = ("single", "pairwise", "reference")
"""Paradigms whose judges write justifications, which a reader can read."""


class StoredProbe(NamedTuple):
    """A probe without its texts: `perturbed` is the id of the perturbation, the rest is as in `Probe`."""

    id: str
    perturbed: str
    neutral: bool
    checked: bool
    cluster: str


class StoredProbes(Value):
    """All probes of a run, in order."""

    stored_as: ClassVar[str] = "KeptProbes"

    probes: tuple[StoredProbe, ...]


def to_store(probes: Iterable[Probe]) -> StoredProbes:
    """Return probes in their stored form, which refers to perturbations by id."""
    rows = [StoredProbe(probe.id, value_id(probe.item), *probe[2:]) for probe in probes]
    return StoredProbes(probes=tuple(rows))


def stored_probes(home: Home, plan: ProbePlan) -> list[Probe]:
    """Return the probes of a run, in order."""
    rows = find_values(home, StoredProbes, [plan.probes])[plan.probes].probes
    items = find_values(home, Perturbed, {row.perturbed for row in rows})
    return [Probe(row.id, items[row.perturbed], *row[2:]) for row in rows]


def probes_by_sample(probes: Iterable[Probe]) -> dict[str, list[Probe]]:
    """Return probes by sample, in order."""
    by_sample: dict[str, list[Probe]] = {}
    for probe in probes:
        by_sample.setdefault(probe.item.sample_id, []).append(probe)
    return by_sample


def dimension_of(probe: Probe) -> ErrorDimension:
    """Return the dimension that a probe counts under; an item that people found harmless is a harmless change."""
    return error_dimensions(probe.item.task)[NEUTRAL if probe.neutral else probe.item.dimension]


class Gold(NamedTuple):
    """A gold answer and its probes; `key` distinguishes it from other gold answers to the same sample."""

    key: str
    item: Perturbed
    probes: tuple[Probe, ...]


def golds_of(probes: Iterable[Probe]) -> list[Gold]:
    """Return the distinct gold answers among a sample's probes, each with its probes."""
    by_gold: dict[str, list[Probe]] = {}
    for probe in probes:
        item = probe.item
        answer = item.gold or (item.gold_image.sha256 if item.gold_image else "")
        by_gold.setdefault(digest("gold", answer)[:12], []).append(probe)
    return [Gold(key, group[0].item, tuple(group)) for key, group in by_gold.items()]


def judged_probes(evaluator: Evaluator, gold: Gold) -> tuple[Probe, ...]:
    """Return the probes of a gold answer that an evaluator is asked about.

    `right-or-wrong` judges final answers alone: a change that leaves the final answer as it is, such as an error in the
    reasoning before it, is none to this evaluator. All others are shown the whole answer, and asked about every probe.
    """
    if evaluator != "right-or-wrong":
        return gold.probes
    return tuple(probe for probe in gold.probes if changes_final_answer(probe.item))


def changes_final_answer(item: Perturbed) -> bool:
    """Return whether a change in a text changes its final answer; letter case, white space and a last full stop aside.

    A text without a line of its own for the final answer is its own final answer.
    """
    gold, perturbed = (" ".join(stated_answer(text)[0].split()).casefold() for text in (item.gold, item.perturbed))
    return gold.rstrip(".") != perturbed.rstrip(".")


def unjudged_probes(evaluators: Iterable[Evaluator], probes: Iterable[Probe]) -> dict[Evaluator, int]:
    """Return how many probes each evaluator is not asked about; evaluators that are asked about all are missing."""
    all_probes = list(probes)
    golds = [gold for group in probes_by_sample(all_probes).values() for gold in golds_of(group)]
    unjudged: dict[Evaluator, int] = {}
    for evaluator in evaluators:
        count = len(all_probes) - sum(len(judged_probes(evaluator, gold)) for gold in golds)
        if count:
            unjudged[evaluator] = count
    return unjudged


class ProbeUnit(NamedTuple):
    """A judgement, or for a pair both orders; `probe` is None for the unchanged answer, judged for the (`draw` + 1)th time.

    `new_reference` says whether it uses a new reference.
    """

    name: str
    evaluator: Evaluator
    arm: Arm
    sample: str
    gold: Gold
    probe: Probe | None = None
    draw: int = 0
    new_reference: bool = False

    @property
    def perturbed(self) -> Perturbed:
        """The perturbation whose gold or perturbed answer is judged."""
        return self.gold.item if self.probe is None else self.probe.item

    @property
    def compared(self) -> bool:
        """Whether the unit is compared with the gold answer's first judgement."""
        return self.probe is not None or self.draw > 0

    @property
    def case(self) -> Case:
        """The case to judge."""
        if self.probe is None:
            return "retest" if self.draw else "gold"
        return "neutral" if self.probe.neutral else "error"

    @property
    def first(self) -> str:
        """The name of the gold answer's first judgement; empty for pairs, which contain both answers."""
        return "" if paradigm_of(self.evaluator) == "pairwise" else _name(self, "gold")

    @property
    def item(self) -> str:
        """The id of the judged item in detections."""
        if self.probe is not None:
            return self.probe.id
        return f"{self.case}/{self.sample}/{self.gold.key}/{self.draw}"

    @property
    def bases(self) -> tuple[str, ...]:
        """The names of the items without which it is not asked: a basis of its judgements, and the gold answer's own."""
        names = [self.first] if self.compared and self.first else []
        match self.evaluator:
            case "checkpoints":
                names.append(basis_item("criteria", self.arm.model, self.sample))
            case "gated":
                names.append(basis_item("rubrics", self.arm.model, self.sample, self.gold.key))
            case _ if self.new_reference:
                names.append(basis_item("reference", "", self.sample))
            case _:
                pass
        return tuple(names)

    @property
    def reading(self) -> str:
        """The name of the item that reads the justification."""
        return f"reading/{self.name}"

    @property
    def judgements(self) -> int:
        """Number of judgements: two for a comparison of different answers, else one."""
        return 2 if self.evaluator.startswith("pairwise") and self.probe is not None else 1


def _name(unit: ProbeUnit, ending: str) -> str:
    evaluator = f"{unit.evaluator}+new" if unit.new_reference else unit.evaluator
    return f"{evaluator}/{unit.arm.name}/{unit.sample}/{unit.gold.key}/{ending}"


def is_read(plan: ProbePlan, unit: ProbeUnit) -> bool:
    """Return whether a reader reads the justification."""
    return plan.reader is not None and unit.compared and paradigm_of(unit.evaluator) in READ


def units_of(
    plan: ProbePlan, arm: Arm, evaluator: Evaluator, sample: str, gold: Gold, *, new_reference: bool = False
) -> Iterator[ProbeUnit]:
    """Yield the units of a gold answer and its probes; units that others are compared with come first.

    A gold answer without a probe that the evaluator is asked about has none.
    """
    probes = judged_probes(evaluator, gold)
    if not probes:
        return
    unit = ProbeUnit("", evaluator, arm, sample, gold, new_reference=new_reference)
    if paradigm_of(evaluator) != "pairwise":
        yield unit._replace(name=_name(unit, "gold"))
    for draw in range(1, plan.retests + 1):
        yield unit._replace(name=_name(unit, f"retest-{draw}"), draw=draw)
    for probe in probes:
        yield unit._replace(name=_name(unit, probe.id), probe=probe)


def all_units(plan: ProbePlan, probes: Iterable[Probe]) -> dict[str, ProbeUnit]:
    """Return all units of a run, by the item's name."""
    units: dict[str, ProbeUnit] = {}
    for sample, group in probes_by_sample(probes).items():
        golds = golds_of(group)
        for arm in plan.arms:
            for evaluator, new in plan.evaluators_of(arm):
                for gold in golds:
                    for unit in units_of(plan, arm, evaluator, sample, gold, new_reference=new):
                        units[unit.name] = unit
    return units


def count_items(plan: ProbePlan, probes: Mapping[str, Sequence[Probe]]) -> int:
    """Return the number of items of a probe: judgements, readings, and bases of judgements.

    Args:
        plan: the plan of the probe.
        probes: the probes by sample.
    """
    golds = [gold for group in probes.values() for gold in golds_of(group)]
    count = len(probes) if plan.writer is not None else 0
    for arm in plan.arms:
        for evaluator, _ in plan.evaluators_of(arm):
            paradigm = paradigm_of(evaluator)
            judged = [len(judged_probes(evaluator, gold)) for gold in golds]
            judged_golds = sum(map(bool, judged))
            compared = judged_golds * plan.retests + sum(judged)
            count += compared
            if paradigm != "pairwise":
                count += judged_golds
            if plan.reader is not None and paradigm in READ:
                count += compared
        if not arm.tools:
            count += len(probes) * ("checkpoints" in plan.evaluators) + len(golds) * ("gated" in plan.evaluators)
    return count


def basis_item(basis: Basis, arm: str, sample: str, gold: str = "") -> str:
    """Return the name of the item that makes a basis of judgements of a sample or a gold answer."""
    return "/".join(filter(None, (basis, arm, sample, gold)))
