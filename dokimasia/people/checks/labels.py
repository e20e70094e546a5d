"""Figures of perturbations that people label: how many are fit, by dimension, and how far people agree on the labels."""

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
    """A perturbation with what people said of it: the label that counts, and everybody's own, by name."""

    item: Perturbed
    cluster: str
    label: Label | None
    said: Mapping[str, Label]

    @property
    def fit(self) -> bool:
        """Whether people found it as it was meant: an error valid, a harmless change score-invariant."""
        return self.label == ("score_invariant" if self.item.neutral else "valid")


def labelled(home: Home, run: str, standings: Sequence[Standing] | None = None) -> list[LabelledPerturbation]:
    """Return the perturbations of a run with their labels, in order.

    Args:
        home: where the run is.
        run: its id.
        standings: how its items stand, where that is known already.
    """
    by_subject = (
        {one.item.subject: one for one in all_standings(home, run)}
        if standings is None
        else {one.item.subject: one for one in standings}
    )
    found: list[LabelledPerturbation] = []
    for made, item in made_values(home, run, Perturbed):
        standing = by_subject.get(made.id)
        said = {} if standing is None else labels_of(standing)
        first: Label | None = next(iter(said.values()), None)
        found.append(LabelledPerturbation(item, made.cluster, first, said))
    return found


def label_figures(items: Sequence[LabelledPerturbation]) -> LabelFigures:
    """Return the figures of perturbations that people label.

    `fit` is the share of the labelled ones that people found as they were meant: errors valid, harmless changes
    score-invariant; its `bounds` say what those without a label leave open. `agreement` is of all labels that people gave,
    second opinions among them: Krippendorff's alpha (nominal) over all people, Cohen's kappa of each two, and `confusion`,
    how often two people's labels of one perturbation met, each two counted both ways.
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
    """Return everybody's own label of an item, by name, in the order in which they first gave one."""
    return {who: label for who, one in standing.opinions.items() for label in LABELS if label == one.action}


def _counted(labels: Iterable[Label | None]) -> LabelCounts:
    counted = Counter(labels)
    return {label: counted[label] for label in LABELS}


def _fit(items: Sequence[LabelledPerturbation]) -> Share:
    decided = [one for one in items if one.label is not None]
    clusters = [one.cluster for one in decided]
    return share_of_hits([one.fit for one in decided], clusters, unknown=len(items) - len(decided))


def _dimension(name: str, items: Sequence[LabelledPerturbation]) -> DimensionLabels:
    known = error_dimensions(items[0].item.task).get(name)
    return DimensionLabels(
        dimension=name,
        title=known.title if known is not None else name,
        group=known.group if known is not None else "",
        meant="score_invariant" if name == NEUTRAL else "valid",
        made=len(items),
        labelled=sum(one.label is not None for one in items),
        labels=_counted(one.label for one in items),
        fit=_fit(items),
    )


def _agreement(items: Sequence[LabelledPerturbation]) -> LabelAgreement:
    people = sorted({who for one in items for who in one.said})
    several = [one for one in items if len(one.said) > 1]
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
    rows = [[one.said.get(who) for who in people] for one in items]
    return _coefficient(krippendorff_alpha, rows, [one.cluster for one in items])


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
    for one in items:
        met.update(permutations(one.said.values(), 2))
    rows: list[Met] = []
    for label in LABELS:
        beside: LabelCounts = {other: met[label, other] for other in LABELS}
        rows.append(Met(label=label, n=sum(beside.values()), beside=beside))
    return tuple(rows)
