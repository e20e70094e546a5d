"""Figures of people's labels of perturbations: the share that is fit, by dimension, and agreement between people."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import combinations, permutations
from typing import NamedTuple, TypeVar

from dokimasia.algorithms.statistics.agreement import cohen_kappa, krippendorff_alpha
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
from dokimasia.prompts.dimensions import error_dimensions
from dokimasia.report.fields import Share
from dokimasia.runs.measures import agreement_coefficient, counted_rate, share_of_hits
from dokimasia.storage.home import Home
from dokimasia.storage.reviews import made_values

ONE_PERSON = "one annotator: there is nobody to compare with"
NOTHING_TWICE = "no two annotators labelled the same perturbation"
NOBODY = "nobody has labelled anything"

Row = TypeVar("Row")


class LabelledPerturbation(NamedTuple):
    """A perturbation with the label that counts, and each person's own label, by name."""

    item: Perturbed
    cluster: str
    label: Label | None
    said: Mapping[str, Label]

    @property
    def fit(self) -> bool:
        """Whether the label is the intended one: `valid` for an error, `score_invariant` for a harmless change."""
        return self.label == ("score_invariant" if self.item.neutral else "valid")


def labelled(home: Home, run: str, standings: Sequence[Standing] | None = None) -> list[LabelledPerturbation]:
    """Return the perturbations of a run with their labels, in order.

    Args:
        home: the home of the run.
        run: the run's id.
        standings: its items with decisions, if already loaded.
    """
    by_subject = (
        {one.item.subject: one for one in all_standings(home, run)}
        if standings is None
        else {one.item.subject: one for one in standings}
    )
    perturbations: list[LabelledPerturbation] = []
    for made, item in made_values(home, run, Perturbed):
        standing = by_subject.get(made.id)
        said = {} if standing is None else labels_of(standing)
        first: Label | None = next(iter(said.values()), None)
        perturbations.append(LabelledPerturbation(item, made.cluster, first, said))
    return perturbations


def label_figures(items: Sequence[LabelledPerturbation]) -> LabelFigures:
    """Return the figures of labelled perturbations.

    `fit` is the share of labelled perturbations with the intended label: `valid` for errors, `score_invariant` for harmless
    changes; its `bounds` are those that unlabelled ones leave possible. A change of a wrong gold answer (`gold_wrong`) is no
    part of it, and is counted by its label alone. `agreement` uses all labels, including second
    opinions: Krippendorff's alpha (nominal) over all people, Cohen's kappa of each two, and `confusion`, the counts of
    pairs of labels of one perturbation, in both directions.
    """
    dimensions = {one.item.dimension: one.item.task for one in items}
    order = {name: at for task in dict.fromkeys(dimensions.values()) for at, name in enumerate(error_dimensions(task))}
    by_dimension: list[DimensionLabels] = []
    for name in sorted(dimensions, key=lambda name: order.get(name, len(order))):
        by_dimension.append(_dimension(name, [one for one in items if one.item.dimension == name]))
    return LabelFigures(
        made=len(items),
        labelled=sum(one.label is not None for one in items),
        labels=_counted(one.label for one in items),
        enter=sum(one.label in ENTERING and not (one.label == "valid" and one.item.neutral) for one in items),
        fit=_fit(items),
        by_dimension=tuple(by_dimension),
        people=dict(sorted(Counter(who for one in items for who in one.said).items())),
        agreement=_agreement(items),
    )


def labels_of(standing: Standing) -> dict[str, Label]:
    """Return each person's own label of an item, by name, in the order of their first labels."""
    return {who: label for who, one in standing.opinions.items() for label in LABELS if label == one.action}


def _counted(labels: Iterable[Label | None]) -> LabelCounts:
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
        labels=_counted(item.label for item in items),
        fit=_fit(items),
    )


def _agreement(items: Sequence[LabelledPerturbation]) -> LabelAgreement:
    people = sorted({who for item in items for who in item.said})
    several = [item for item in items if len(item.said) > 1]
    absent = NOBODY if not people else ONE_PERSON if len(people) == 1 else "" if several else NOTHING_TWICE
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
    return _coefficient(krippendorff_alpha, rows, [item.cluster for item in items])


def _pair(items: Sequence[LabelledPerturbation], first: str, second: str) -> TwoPeople:
    both = [one for one in items if first in one.said and second in one.said]
    rows: list[tuple[Label, Label]] = [(one.said[first], one.said[second]) for one in both]

    def kappa(some: Sequence[tuple[Label, Label]]) -> float:
        return cohen_kappa([one for one, _ in some], [other for _, other in some], categories=LABELS)

    clusters = [one.cluster for one in both]
    return TwoPeople(
        people=(first, second),
        n=len(rows),
        same=counted_rate([one == other for one, other in rows], clusters),
        kappa=_coefficient(kappa, rows, clusters),
    )


def _coefficient(
    statistic: Callable[[list[Row]], float], rows: Sequence[Row], clusters: Sequence[Hashable]
) -> Coefficient:
    coefficient = agreement_coefficient(lambda use: statistic([rows[at] for at in use]), len(rows), clusters)
    return Coefficient(**dict(coefficient))


def _confusion(items: Sequence[LabelledPerturbation]) -> tuple[Met, ...]:
    met: Counter[tuple[Label, Label]] = Counter()
    for item in items:
        met.update(permutations(item.said.values(), 2))
    rows: list[Met] = []
    for label in LABELS:
        beside: LabelCounts = {other: met[label, other] for other in LABELS}
        rows.append(Met(label=label, n=sum(beside.values()), beside=beside))
    return tuple(rows)
