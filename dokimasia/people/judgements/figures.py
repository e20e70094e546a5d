"""Judgements of files held against correct values and people, with the human ceiling and the test of replacement."""

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from dokimasia.algorithms.statistics.agreement import Scale, cohen_kappa, fleiss_kappa, krippendorff_alpha
from dokimasia.algorithms.statistics.replacement import EPSILON, Alignment
from dokimasia.errors import ConfigError
from dokimasia.people.judgements.battles import battle_ratings
from dokimasia.people.judgements.ceiling import BesidePeople, beside_people
from dokimasia.people.judgements.reading import JudgedItem, JudgementFile, Kind, read_judgements
from dokimasia.people.judgements.shape import (
    BothOrders,
    JudgementFigures,
    JudgementsOfJudge,
    JudgementsOfPerson,
    PeopleTogether,
    ValuesCompared,
)
from dokimasia.people.judgements.values import Numbers
from dokimasia.report.fields import AgreementCoefficient, Share
from dokimasia.runs.measures import (
    agreement_coefficient,
    correlation_coefficient,
    counted_rate,
    share_of_hits,
)

MOST_CATEGORIES = 11
"""The most whole numbers that count as the categories of a scale."""

MOST_FAILURES = 10
"""Failures that are listed for a judge, at most."""

UNEQUAL = "the ratings have no categories: whole numbers, at most 11 of them"


class ComparedValue(NamedTuple):
    """A value that judgements are held against: its category (None without categories), and the value as a number."""

    category: str | None
    value: float


def compare_judgements(
    files: Sequence[str | Path],
    *,
    columns: Mapping[str, str] | None = None,
    people: Sequence[str] = (),
    judges: Sequence[str] = (),
    kind: Kind | None = None,
    numbers: Numbers | None = None,
    by_place: bool = False,
    epsilon: float = EPSILON,
) -> JudgementFigures:
    """Return the figures of judgements in files: of judges and people, against what is correct and each other.

    Args:
        files: see `read_judgements`, as for the other arguments.
        columns: by field the column that holds it.
        people: columns or names of people.
        judges: columns or names of judges.
        kind: what the judgements are.
        numbers: what a number says of a pair.
        by_place: whether a verdict of the swapped order names a place.
        epsilon: how much more often than the judge a person may be closer to the others: 0.2 for experts, 0.15 for people
            with skill, 0.1 for crowds.

    Raises:
        NotFound: there is no such file.
        ConfigError: a column is in no file, or epsilon is not from 0 to below 1.
        DataError: a line cannot be used; with file and line.
    """
    if not 0 <= epsilon < 1:
        raise ConfigError(f"epsilon is from 0 to below 1: {epsilon:g}")
    read = read_judgements(
        files, columns=columns, people=people, judges=judges, kind=kind, numbers=numbers, by_place=by_place
    )
    return judgement_figures(read, epsilon=epsilon)


def judgement_figures(read: JudgementFile, *, epsilon: float = EPSILON) -> JudgementFigures:
    """Return the figures of judgements that are read."""
    scale = _JudgementScale.of(read)
    gold = {
        item: ComparedValue(scale.category(reading.value, reading.label), reading.value)
        for item, reading in read.gold.items()
        if reading.value is not None
    }
    said = {name: {item: one.both for item, one in by_item.items()} for name, by_item in read.people.items()}
    values = {
        name: {item: scale.known(one.value or 0.0, one.label) for item, one in by_item.items()}
        for name, by_item in said.items()
    }
    several = [item for item in read.clusters if sum(item in by_item for by_item in values.values()) > 1]
    panel = scale.reference(values)
    return JudgementFigures(
        files=read.files,
        kind=read.kind,
        items=len(read.clusters),
        clusters=len(set(read.clusters.values())),
        with_gold=len(gold),
        unreadable=read.unreadable,
        people={name: _person(name, values, gold, scale) for name in sorted(values)},
        together=_together(values, several, scale) if several else None,
        judges={
            name: _judge(read.judges[name], values, gold, panel, scale, epsilon=epsilon if several else None)
            for name in read.judges
        },
        ratings=battle_ratings(read),
    )


class _JudgementScale(NamedTuple):
    """The scale of judgements: their kind, its categories in order (None without any), and the items' clusters."""

    pairs: bool
    categories: tuple[float, ...] | None
    clusters: Mapping[str, str]

    @classmethod
    def of(cls, read: JudgementFile) -> "_JudgementScale":
        if read.kind != "scores":
            return cls(pairs=True, categories=None, clusters=read.clusters)
        values = {one.value for one in read.gold.values() if one.value is not None}
        for said in (*read.people.values(), *read.judges.values()):
            values |= {one.both.value for one in said.values() if one.both.value is not None}
        whole = all(value == int(value) for value in values) and len(values) <= MOST_CATEGORIES
        return cls(pairs=False, categories=tuple(sorted(values)) if whole else None, clusters=read.clusters)

    @property
    def alignment(self) -> Alignment:
        return "same" if self.pairs else "distance"

    def category(self, value: float, label: str) -> str | None:
        if self.pairs:
            return label
        if not self.categories:
            return None
        return f"{min(self.categories, key=lambda one: abs(one - value)):g}"

    def known(self, value: float, label: str) -> ComparedValue:
        return ComparedValue(self.category(value, label), value)

    def order(self, values: Sequence[ComparedValue]) -> list[float]:
        """Return values as steps of a scale: of pairs 1, 0 and -1."""
        if self.pairs:
            return [float(one.value > 0) - float(one.value < 0) for one in values]
        return [float(one.category or 0.0) for one in values]

    def reference(self, people: Mapping[str, Mapping[str, ComparedValue]]) -> dict[str, ComparedValue | None]:
        """Return what most people said of each item, or their mean; None where no verdict has most of them."""
        panel: dict[str, ComparedValue | None] = {}
        for item in self.clusters:
            given = [said[item] for said in people.values() if item in said]
            if not given:
                continue
            mean = sum(one.value for one in given) / len(given)
            if not self.pairs:
                panel[item] = self.known(mean, "")
                continue
            (label, most), *others = Counter(one.category for one in given).most_common(2)
            panel[item] = None if others and others[0][1] == most else ComparedValue(label, mean)
        return panel


def _person(
    name: str,
    people: Mapping[str, Mapping[str, ComparedValue]],
    gold: Mapping[str, ComparedValue],
    scale: _JudgementScale,
) -> JudgementsOfPerson:
    said = people[name]
    others = scale.reference({other: values for other, values in people.items() if other != name})
    others = {item: known for item, known in others.items() if item in said}
    return JudgementsOfPerson(
        judged=len(said),
        gold=_compared(said, (), gold, scale) if gold else None,
        others=_compared(said, (), others, scale) if others else None,
    )


def _judge(
    judged: Mapping[str, JudgedItem],
    people: Mapping[str, Mapping[str, ComparedValue]],
    gold: Mapping[str, ComparedValue],
    panel: Mapping[str, ComparedValue | None],
    scale: _JudgementScale,
    *,
    epsilon: float | None,
) -> JudgementsOfJudge:
    readings = {item: one.both for item, one in judged.items()}
    said = {item: scale.known(one.value, one.label) for item, one in readings.items() if one.value is not None}
    failures = Counter(one.failure for one in readings.values() if one.value is None)
    failed = [item for item in judged if item not in said]
    beside = BesidePeople(None, None)
    if epsilon is not None:
        beside = beside_people(
            {name: _plain(values, scale) for name, values in people.items()},
            _plain(said, scale),
            scale.clusters,
            alignment=scale.alignment,
            epsilon=epsilon,
            failed=len(failed),
        )
    twice = scale.pairs and any(one.straight is not None and one.swapped is not None for one in judged.values())
    return JudgementsOfJudge(
        judged=len(judged),
        failed=len(failed),
        failures=dict(failures.most_common(MOST_FAILURES)),
        gold=_compared(said, failed, gold, scale) if gold else None,
        orders=_orders(judged, gold, scale) if gold and twice else None,
        people=_compared(said, failed, panel, scale) if panel else None,
        ceiling=beside.ceiling,
        replacement=beside.replacement,
    )


def _plain(values: Mapping[str, ComparedValue], scale: _JudgementScale) -> dict[str, Hashable]:
    """Return values as panels are compared: the categories of pairs, and scores as numbers."""
    return {item: one.category if scale.pairs else one.value for item, one in values.items()}


def _compared(
    said: Mapping[str, ComparedValue],
    failed: Sequence[str],
    against: Mapping[str, ComparedValue | None],
    scale: _JudgementScale,
) -> ValuesCompared:
    """Return judgements held against known values; an item without one takes no part."""
    items = [item for item, known in against.items() if known is not None and item in said]
    pairs = [(said[item], known) for item in items if (known := against[item]) is not None]
    clusters = [scale.clusters[item] for item in items]
    n_failed = sum(against.get(item) is not None for item in failed)
    split = sum(known is None for known in against.values())
    left_out = {"failed": n_failed, "missing": len(against) - split - len(items) - n_failed, "split": split}
    first, second = [one for one, _ in pairs], [other for _, other in pairs]
    same: Share | None = None
    if scale.pairs or scale.categories:
        hits = [one.category == other.category for one, other in pairs]
        same = share_of_hits(hits, clusters, unknown=n_failed)
    numbers = [one.value for one in first], [other.value for other in second]
    categories = [one.category for one in first], [other.category for other in second]
    steps = scale.order(first), scale.order(second)
    order = (-1.0, 0.0, 1.0) if scale.pairs else scale.categories or ()

    def plain_kappa(use: Sequence[int]) -> float:
        return cohen_kappa([categories[0][at] for at in use], [categories[1][at] for at in use])

    def weighted_kappa(use: Sequence[int]) -> float:
        ours, theirs = ([side[at] for at in use] for side in steps)
        return cohen_kappa(ours, theirs, weights="quadratic", categories=order)

    def alpha(use: Sequence[int]) -> float:
        sides = categories if scale.pairs else numbers
        return krippendorff_alpha(
            [[sides[0][at], sides[1][at]] for at in use], scale="nominal" if scale.pairs else "ordinal"
        )

    def coefficient(statistic: Callable[[Sequence[int]], float]) -> AgreementCoefficient:
        return agreement_coefficient(statistic, len(items), clusters)

    none = AgreementCoefficient(value=None, low=None, high=None, no_value=UNEQUAL)
    return ValuesCompared(
        n=len(items),
        left_out={reason: count for reason, count in left_out.items() if count},
        same=same,
        pearson=correlation_coefficient(*numbers, clusters, method="pearson"),
        spearman=correlation_coefficient(*numbers, clusters, method="spearman"),
        kendall=correlation_coefficient(*numbers, clusters, method="kendall"),
        kappa=none if same is None else coefficient(plain_kappa),
        kappa_weighted=none if same is None else coefficient(weighted_kappa),
        alpha=coefficient(alpha),
    )


def _orders(judged: Mapping[str, JudgedItem], gold: Mapping[str, ComparedValue], scale: _JudgementScale) -> BothOrders:
    """Return the accuracy of each order, and of both together."""
    items = [item for item in gold if (one := judged.get(item)) is not None and one.straight and one.swapped]

    def right(labels: Mapping[str, str]) -> Share:
        readable = [item for item in items if labels[item]]
        hits = [labels[item] == gold[item].category for item in readable]
        clusters = [scale.clusters[item] for item in readable]
        return share_of_hits(hits, clusters, unknown=len(items) - len(readable))

    straight = {item: one.label for item in items if (one := judged[item].straight) is not None}
    swapped = {item: one.label for item in items if (one := judged[item].swapped) is not None}
    readable = [item for item in items if straight[item] and swapped[item]]
    consistent = [straight[item] == swapped[item] for item in readable]
    both = dict.fromkeys(items, "")
    for item, same in zip(readable, consistent, strict=True):
        both[item] = straight[item] if same else "the two orders differ"
    return BothOrders(
        n=len(items),
        straight=right(straight),
        swapped=right(swapped),
        consistent=counted_rate(consistent, [scale.clusters[item] for item in readable]),
        consistent_and_right=right(both),
    )


def _together(
    people: Mapping[str, Mapping[str, ComparedValue]], items: Sequence[str], scale: _JudgementScale
) -> PeopleTogether:
    clusters = [scale.clusters[item] for item in items]
    rows = [[said.get(item) for said in people.values()] for item in items]
    numbers = [[None if one is None else one.value for one in row] for row in rows]
    labels = [[None if one is None else one.category or str(one.value) for one in row] for row in rows]
    given = [[label for label in row if label is not None] for row in labels]

    def alpha(level: Scale) -> AgreementCoefficient:
        table = labels if level == "nominal" else numbers
        return agreement_coefficient(
            lambda use: krippendorff_alpha([table[at] for at in use], scale=level), len(items), clusters
        )

    return PeopleTogether(
        n=len(items),
        fleiss=agreement_coefficient(lambda use: fleiss_kappa([given[at] for at in use]), len(items), clusters),
        alpha_nominal=alpha("nominal"),
        alpha_ordinal=alpha("ordinal"),
        alpha_interval=alpha("interval"),
    )
