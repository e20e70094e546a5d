"""The units of a probe: the stored probes, and their judgements by item."""

import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import ClassVar, Literal, NamedTuple

from pydantic import Field

from dokimasia.agents.candidate import stated_answer
from dokimasia.algorithms.text.padding import padded
from dokimasia.domain.blindspots import NEUTRAL, Case, ErrorDimension, Evaluator, Perturbed, Probe, paradigm_of
from dokimasia.domain.identity import Value, digest, value_id
from dokimasia.methods.probe.request import Arm, ProbePlan
from dokimasia.prompts.dimensions import error_dimensions
from dokimasia.runs.figures import grouped
from dokimasia.storage.home import Home
from dokimasia.storage.lookup import find_values

Basis = Literal["criteria", "rubrics", "reference"]
"""The basis of judgements: criteria of a sample, must-right rubrics of a gold answer, or a sample's new reference."""

READ: tuple[str, ...] = ("single", "pairwise", "reference")
"""Paradigms whose judges write justifications, which a reader can read."""


PADDED = "Sentences that say nothing stand in front of it."
"""The description of the padding in a padded answer."""


class StoredProbe(NamedTuple):
    """A probe without its texts: `perturbed` is the id of the perturbation, the rest is as in `Probe`."""

    id: str
    perturbed: str
    neutral: bool
    checked: bool
    cluster: str


class StoredProbes(Value):
    """All probes of a run, in order; `pads` holds `Probe.pads` of the padded ones, by id."""

    stored_as: ClassVar[str] = "KeptProbes"

    probes: tuple[StoredProbe, ...]
    pads: dict[str, str] = Field(default_factory=dict, exclude_if=operator.not_)


def to_store(probes: Iterable[Probe]) -> StoredProbes:
    """Return probes in their stored form, which refers to perturbations by id."""
    rows: list[StoredProbe] = []
    pads: dict[str, str] = {}
    for probe in probes:
        rows.append(StoredProbe(probe.id, value_id(probe.item), probe.neutral, probe.checked, probe.cluster))
        if probe.pads is not None:
            pads[probe.id] = probe.pads
    return StoredProbes(probes=tuple(rows), pads=pads)


def stored_probes(home: Home, plan: ProbePlan) -> list[Probe]:
    """Return the probes of a run in order, including padded ones."""
    value = find_values(home, StoredProbes, [plan.probes])[plan.probes]
    items = find_values(home, Perturbed, {row.perturbed for row in value.probes})
    return [Probe(row.id, items[row.perturbed], *row[2:], value.pads.get(row.id)) for row in value.probes]


def planted(probes: Iterable[Probe]) -> list[Probe]:
    """Return the probes that are not padded."""
    return [probe for probe in probes if probe.pads is None]


def probes_by_sample(probes: Iterable[Probe]) -> dict[str, list[Probe]]:
    """Return probes by sample, in order."""
    return grouped(probes, lambda probe: probe.item.sample_id)


def dimension_of(probe: Probe) -> ErrorDimension:
    """Return the dimension that a probe counts under; items that people found harmless count as harmless changes."""
    return error_dimensions(probe.item.task)[NEUTRAL if probe.neutral else probe.item.dimension]


class Gold(NamedTuple):
    """A gold answer, its probes, and its padded answers; `key` distinguishes it from others to the same sample."""

    key: str
    item: Perturbed
    probes: tuple[Probe, ...]
    padded: tuple[Probe, ...] = ()


def golds_of(probes: Iterable[Probe]) -> list[Gold]:
    """Return the distinct gold answers among a sample's probes, each with its probes."""
    golds: list[Gold] = []
    for key, group in grouped(probes, _gold_key).items():
        padded_probes = tuple(probe for probe in group if probe.pads is not None)
        golds.append(Gold(key, group[0].item, tuple(planted(group)), padded_probes))
    return golds


def _gold_key(probe: Probe) -> str:
    item = probe.item
    answer = item.gold or (item.gold_image.sha256 if item.gold_image else "")
    return digest("gold", answer)[:12]


def padded_probes(probes: Iterable[Probe]) -> Iterator[Probe]:
    """Yield the right answer padded if it is a text, and one of its errors padded, preferably one in the final answer.

    A judge's score of a right answer may have no room to rise, so an error is needed, too.
    """
    for sample, group in probes_by_sample(probes).items():
        for gold in golds_of(group):
            if not gold.item.gold:
                continue
            text = padded(gold.item.gold)
            item = gold.item.model_copy(
                update={"dimension": NEUTRAL, "perturbed": text, "description": PADDED, "rationale": "", "by": ""}
            )
            yield Probe(f"padded/{sample}/{gold.key}", item, False, False, gold.probes[0].cluster, "")
            errors = [probe for probe in gold.probes if not probe.neutral]
            if errors:
                error = min(errors, key=_padding_order)
                item = error.item.model_copy(
                    update={
                        "perturbed": padded(error.item.perturbed),
                        "description": f"{error.item.description} {PADDED}".strip(),
                    }
                )
                yield Probe(f"padded/{error.id}", item, False, False, error.cluster, error.id)


def _padding_order(probe: Probe) -> tuple[bool, str]:
    return not changes_final_answer(probe.item), digest("padded", probe.id)


def judged_probes(evaluator: Evaluator, gold: Gold) -> tuple[Probe, ...]:
    """Return the probes of a gold answer that an evaluator judges.

    `right-or-wrong` judges final answers alone, and ignores probes that leave the final answer unchanged, such as an
    error in the reasoning before it. All others see the whole answer and judge every probe.
    """
    if evaluator != "right-or-wrong":
        return gold.probes
    return tuple(probe for probe in gold.probes if changes_final_answer(probe.item))


def probes_asked(evaluator: Evaluator, gold: Gold) -> tuple[Probe, ...]:
    """Return all probes of a gold answer that a judge judges under an evaluator, padded ones last.

    In pairs, the gold answer is compared with its padded form. `right-or-wrong` judges padded answers only if the
    padding is part of what it judges, that is, if the gold answer has no separate line for the final answer.
    """
    probes = judged_probes(evaluator, gold)
    if not probes or (evaluator == "right-or-wrong" and stated_answer(gold.item.gold)[1]):
        return probes
    bases = {""}
    if paradigm_of(evaluator) != "pairwise":
        bases |= {probe.id for probe in probes}
    return (*probes, *(probe for probe in gold.padded if probe.pads in bases))


def changes_final_answer(item: Perturbed) -> bool:
    """Return whether a change in a text affects its final answer, ignoring case, white space and a last full stop.

    A text without a separate line for the final answer counts as a final answer as a whole.
    """
    gold, perturbed = (" ".join(stated_answer(text)[0].split()).casefold() for text in (item.gold, item.perturbed))
    return gold.rstrip(".") != perturbed.rstrip(".")


def unjudged_probes(evaluators: Iterable[Evaluator], probes: Iterable[Probe]) -> dict[Evaluator, int]:
    """Return the number of probes that each evaluator does not judge; evaluators that judge all probes are absent."""
    all_probes = planted(probes)
    golds = [gold for group in probes_by_sample(all_probes).values() for gold in golds_of(group)]
    unjudged: dict[Evaluator, int] = {}
    for evaluator in evaluators:
        count = len(all_probes) - sum(len(judged_probes(evaluator, gold)) for gold in golds)
        if count:
            unjudged[evaluator] = count
    return unjudged


class ProbeUnit(NamedTuple):
    """A judgement, or both orders for a pair; `probe` is None for the unchanged answer, judged `draw` times before.

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
        if self.probe is None:
            return self.gold.item
        return self.probe.item

    @property
    def compared(self) -> bool:
        """Whether the unit is compared with the gold answer's first judgement."""
        return self.probe is not None or self.draw > 0

    @property
    def case(self) -> Case:
        """The case to judge."""
        if self.probe is None:
            if self.draw:
                return "retest"
            return "gold"
        if self.probe.pads is not None:
            return "padded"
        if self.probe.neutral:
            return "neutral"
        return "error"

    @property
    def first(self) -> str:
        """The name of the judgement to compare with; empty for pairs, which contain both answers.

        It is the gold answer's first judgement or, for a padded error, that of the error.
        """
        if paradigm_of(self.evaluator) == "pairwise":
            return ""
        return _name(self, (self.probe is not None and self.probe.pads) or "gold")

    @property
    def item(self) -> str:
        """The id of the judged item in detections."""
        if self.probe is not None:
            return self.probe.id
        return f"{self.case}/{self.sample}/{self.gold.key}/{self.draw}"

    @property
    def bases(self) -> tuple[str, ...]:
        """The names of the items that must exist first: a basis of its judgements, and the gold answer's judgement."""
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
        if self.evaluator.startswith("pairwise") and self.probe is not None:
            return 2
        return 1


def _name(unit: ProbeUnit, ending: str) -> str:
    evaluator = f"{unit.evaluator}+new" if unit.new_reference else unit.evaluator
    return f"{evaluator}/{unit.arm.name}/{unit.sample}/{unit.gold.key}/{ending}"


def is_read(plan: ProbePlan, unit: ProbeUnit) -> bool:
    """Return whether a reader reads the justification."""
    return (
        plan.reader is not None and unit.case in ("error", "neutral", "retest") and paradigm_of(unit.evaluator) in READ
    )


def units_of(
    plan: ProbePlan, arm: Arm, evaluator: Evaluator, sample: str, gold: Gold, *, new_reference: bool = False
) -> Iterator[ProbeUnit]:
    """Yield the units of a gold answer and its probes, with the units that others are compared with first.

    A gold answer without probes that the evaluator judges has no units.
    """
    probes = probes_asked(evaluator, gold)
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
            probe_counts = [len(judged_probes(evaluator, gold)) for gold in golds]
            judged_golds = sum(map(bool, probe_counts))
            comparisons = judged_golds * plan.retests + sum(probe_counts)
            count += judged_golds * plan.retests + sum(len(probes_asked(evaluator, gold)) for gold in golds)
            if paradigm != "pairwise":
                count += judged_golds
            if plan.reader is not None and paradigm in READ:
                count += comparisons
        if not arm.tools:
            count += len(probes) * ("checkpoints" in plan.evaluators) + len(golds) * ("gated" in plan.evaluators)
    return count


def basis_item(basis: Basis, arm: str, sample: str, gold: str = "") -> str:
    """Return the name of the item that makes a basis for judgements of a sample or a gold answer."""
    return "/".join(filter(None, (basis, arm, sample, gold)))
