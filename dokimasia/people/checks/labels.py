"""Figures of people's labels of perturbations: the usable share by dimension, and agreement between people."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import combinations, permutations
from typing import NamedTuple

from dokimasia.algorithms.statistics.agreement import krippendorff_alpha
from dokimasia.domain.blindspots import ENTERING, LABELS, NEUTRAL, Label, Perturbed
from dokimasia.domain.decision import Standing
from dokimasia.people.checks.shape import (
    Coefficient,
    DimensionLabels,
    LabelAgreement,
    LabelCounts,
    LabelFigures,
    Met,
    TwoPeople,
)
from dokimasia.people.checks.standings import all_standings
from dokimasia.people.judgements import kappa_of_pairs
from dokimasia.prompts.dimensions import error_dimensions
from dokimasia.report.fields import Share
from dokimasia.runs.measures import agreement_coefficient, counted_rate, share_of_hits
from dokimasia.storage.home import Home
from dokimasia.storage.reviews import made_values

ONE_PERSON = "one annotator: there is nobody to compare with"
NOTHING_TWICE = "no two annotators labelled the same perturbation"
NOBODY = "nobody has labelled anything"


class LabelledPerturbation(NamedTuple):
    """A perturbation with the label that counts, and each person's label, by name."""

    item: Perturbed
    cluster: str
    label: Label | None
    said: Mapping[str, Label]

    @property
    def fit(self) -> bool:
        """Whether the label is the intended one: `valid` for an error, `score_invariant` for a harmless change."""
        return self.label == ("score_invariant" if self.item.neutral else "valid")

    @property
    def enters(self) -> bool:
        """Whether probes use it: a valid error, or a change that people found score-invariant."""
        return self.label in ENTERING and not (self.label == "valid" and self.item.neutral)


def labelled(home: Home, run: str, standings: Sequence[Standing] | None = None) -> list[LabelledPerturbation]:
    """Return the perturbations of a run with their labels, in order.

    Args:
        home: the home of the run.
        run: the run's id.
        standings: its items with decisions, if already loaded.
    """
    if standings is None:
        standings = all_standings(home, run)
    by_subject = {standing.item.subject: standing for standing in standings}
    perturbations: list[LabelledPerturbation] = []
    for made, item in made_values(home, run, Perturbed):
        standing = by_subject.get(made.id)
        by_person = {} if standing is None else labels_of(standing)
        first: Label | None = next(iter(by_person.values()), None)
        perturbations.append(LabelledPerturbation(item, made.cluster, first, by_person))
    return perturbations


def label_figures(items: Sequence[LabelledPerturbation]) -> LabelFigures:
    """Return the figures of labelled perturbations.

    `fit` is the share of labelled perturbations with the intended label: `valid` for errors, `score_invariant` for
    harmless changes; its `bounds` allow for unlabelled ones. A change of a wrong gold answer (`gold_wrong`) is excluded
    from it and counted only by its label. `agreement` uses all labels, including second opinions: Krippendorff's alpha
    (nominal) over all people, Cohen's kappa of each two, and `confusion`, the counts of pairs of labels of one
    perturbation, in both directions.
    """
    people: Counter[str] = Counter()
    by_name: dict[str, list[LabelledPerturbation]] = {}
    order: dict[str, int] = {}
    for item in items:
        by_name.setdefault(item.item.dimension, []).append(item)
        people.update(item.said.keys())
    for task in dict.fromkeys(item.item.task for item in items):
        order |= {name: at for at, name in enumerate(error_dimensions(task))}
    names = sorted(by_name, key=lambda name: order.get(name, len(order)))
    return LabelFigures(
        made=len(items),
        labelled=sum(item.label is not None for item in items),
        labels=_label_counts(item.label for item in items),
        enter=sum(item.enters for item in items),
        fit=_fit(items),
        by_dimension=tuple(_dimension(name, by_name[name]) for name in names),
        people=dict(sorted(people.items())),
        agreement=_agreement(items),
    )


def labels_of(standing: Standing) -> dict[str, Label]:
    """Return each person's label of an item, by name, in the order of their first labels."""
    labels: dict[str, Label] = {}
    for who, decision in standing.opinions.items():
        for label in LABELS:
            if label == decision.action:
                labels[who] = label
    return labels


def _label_counts(labels: Iterable[Label | None]) -> LabelCounts:
    counted = Counter(labels)
    return {label: counted[label] for label in LABELS}


def _fit(items: Sequence[LabelledPerturbation]) -> Share:
    decided = [item for item in items if item.label not in (None, "gold_wrong")]
    clusters = [item.cluster for item in decided]
    return share_of_hits([item.fit for item in decided], clusters, unknown=sum(item.label is None for item in items))


def _dimension(name: str, items: Sequence[LabelledPerturbation]) -> DimensionLabels:
    known = error_dimensions(items[0].item.task).get(name)
    return DimensionLabels(
        dimension=name,
        title=known.title if known is not None else name,
        group=known.group if known is not None else "",
        meant="score_invariant" if name == NEUTRAL else "valid",
        made=len(items),
        labelled=sum(item.label is not None for item in items),
        labels=_label_counts(item.label for item in items),
        fit=_fit(items),
    )


def _agreement(items: Sequence[LabelledPerturbation]) -> LabelAgreement:
    people = sorted({who for item in items for who in item.said})
    several = [item for item in items if len(item.said) > 1]
    absent = ""
    if not people:
        absent = NOBODY
    elif len(people) == 1:
        absent = ONE_PERSON
    elif not several:
        absent = NOTHING_TWICE
    if absent:
        return LabelAgreement(n=len(several), absent=absent, alpha=None, pairs=(), confusion=())
    return LabelAgreement(
        n=len(several),
        absent="",
        alpha=_alpha(several, people),
        pairs=tuple(_pair(several, *two) for two in combinations(people, 2)),
        confusion=_confusion(several),
    )


def _alpha(items: Sequence[LabelledPerturbation], people: Sequence[str]) -> Coefficient:
    rows = [[item.said.get(who) for who in people] for item in items]
    coefficient = agreement_coefficient(krippendorff_alpha, rows, [item.cluster for item in items])
    return Coefficient(**dict(coefficient))


def _pair(items: Sequence[LabelledPerturbation], first: str, second: str) -> TwoPeople:
    both = [item for item in items if first in item.said and second in item.said]
    rows: list[tuple[Label, Label]] = [(item.said[first], item.said[second]) for item in both]

    clusters = [item.cluster for item in both]
    return TwoPeople(
        people=(first, second),
        n=len(rows),
        same=counted_rate([label == other for label, other in rows], clusters),
        kappa=Coefficient(**dict(agreement_coefficient(partial(kappa_of_pairs, categories=LABELS), rows, clusters))),
    )


def _confusion(items: Sequence[LabelledPerturbation]) -> tuple[Met, ...]:
    met: Counter[tuple[Label, Label]] = Counter()
    for item in items:
        met.update(permutations(item.said.values(), 2))
    rows: list[Met] = []
    for label in LABELS:
        counts: LabelCounts = {other: met[label, other] for other in LABELS}
        rows.append(Met(label=label, n=sum(counts.values()), beside=counts))
    return tuple(rows)
