"""Compare judgements in files with correct values and with people."""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from dokimasia.algorithms.statistics.agreement import Weights, cohen_kappa, fleiss_kappa, krippendorff_alpha
from dokimasia.algorithms.statistics.replacement import EPSILON, Alignment
from dokimasia.errors import ConfigError
from dokimasia.people.judgements.battles import battle_ratings
from dokimasia.people.judgements.ceiling import BesidePeople, beside_people
from dokimasia.people.judgements.reading import JudgedItem, JudgementFile
from dokimasia.people.judgements.shape import (
    BothOrders,
    JudgementFigures,
    JudgementsOfJudge,
    JudgementsOfPerson,
    PeopleTogether,
    ValuesCompared,
)
from dokimasia.people.judgements.values import Reading
from dokimasia.report.fields import AgreementCoefficient, Share
from dokimasia.runs.measures import (
    agreement_coefficient,
    correlation_coefficient,
    counted_rate,
    share_of_hits,
)

MOST_CATEGORIES = 11
"""Maximum number of whole numbers that count as the categories of a scale."""

MOST_FAILURES = 10
"""Maximum number of failure reasons listed for a judge."""

UNEQUAL = "the ratings have no categories: whole numbers, at most 11 of them"


class ComparedValue(NamedTuple):
    """A value to compare: its category (None without categories), and the value as a number."""

    category: str | None
    value: float


def judgement_figures(judgements: JudgementFile, *, epsilon: float = EPSILON) -> JudgementFigures:
    """Return the agreement of judgements with correct values and with each other.

    Args:
        judgements: the judgements of files, from `read_judgements`.
        epsilon: how much more often a person may be closer to the others than the judge: 0.2 for experts, 0.15 for
            skilled people, 0.1 for crowds.

    Raises:
        ConfigError: epsilon is not from 0 to below 1.
    """
    if not 0 <= epsilon < 1:
        raise ConfigError(f"epsilon is from 0 to below 1: {epsilon:g}")
    scale = _JudgementScale.of(judgements)
    gold = scale.values(judgements.gold)
    people: dict[str, dict[str, ComparedValue]] = {}
    for name, by_item in judgements.people.items():
        people[name] = scale.values({item: judgement.both for item, judgement in by_item.items()})
    several = [item for item in judgements.clusters if sum(item in values for values in people.values()) > 1]
    panel = scale.reference(people)
    judges: dict[str, JudgementsOfJudge] = {}
    for name, judged in judgements.judges.items():
        judges[name] = _judge(judged, people, gold, panel, scale, epsilon=epsilon if several else None)
    return JudgementFigures(
        files=judgements.files,
        kind=judgements.kind,
        items=len(judgements.clusters),
        clusters=len(set(judgements.clusters.values())),
        with_gold=len(gold),
        unreadable=judgements.unreadable,
        people={name: _person(name, people, gold, scale) for name in sorted(people)},
        together=_people_together(people, several, scale) if several else None,
        judges=judges,
        ratings=battle_ratings(judgements),
    )


def compare_values(
    values: Mapping[str, float],
    against: Mapping[str, float | None],
    clusters: Mapping[str, str],
    *,
    categories: Sequence[float],
) -> ValuesCompared:
    """Return accuracy, correlations, kappa and alpha of values on a scale, each over the items that have both values.

    Args:
        values: the values, by item.
        against: the values to compare with, by item; None where people are split.
        clusters: the cluster of each item.
        categories: the categories of the scale, in order; a value belongs to the nearest.
    """
    scale = _JudgementScale(pairs=False, categories=tuple(categories), clusters=clusters)
    references = {item: None if value is None else scale.known(value) for item, value in against.items()}
    return _compare_known({item: scale.known(value) for item, value in values.items()}, (), references, scale)


class _JudgementScale(NamedTuple):
    """The scale of judgements: their kind, its categories in order (None without any), and the items' clusters."""

    pairs: bool
    categories: tuple[float, ...] | None
    clusters: Mapping[str, str]

    @classmethod
    def of(cls, judgements: JudgementFile) -> "_JudgementScale":
        if judgements.kind != "scores":
            return cls(pairs=True, categories=None, clusters=judgements.clusters)
        values = {reading.value for reading in judgements.gold.values() if reading.value is not None}
        for by_item in (*judgements.people.values(), *judgements.judges.values()):
            values |= {judged.both.value for judged in by_item.values() if judged.both.value is not None}
        categorical = all(value == int(value) for value in values) and len(values) <= MOST_CATEGORIES
        return cls(pairs=False, categories=tuple(sorted(values)) if categorical else None, clusters=judgements.clusters)

    @property
    def alignment(self) -> Alignment:
        return "same" if self.pairs else "distance"

    def category(self, value: float, label: str) -> str | None:
        if self.pairs:
            return label
        if not self.categories:
            return None
        return f"{min(self.categories, key=lambda category: abs(category - value)):g}"

    def known(self, value: float, label: str = "") -> ComparedValue:
        return ComparedValue(self.category(value, label), value)

    def values(self, readings: Mapping[str, Reading]) -> dict[str, ComparedValue]:
        """Return the values of readings by item, without unreadable ones."""
        values: dict[str, ComparedValue] = {}
        for item, reading in readings.items():
            if reading.value is not None:
                values[item] = self.known(reading.value, reading.label)
        return values

    def step(self, value: ComparedValue) -> float:
        """Return a value as a step of the scale: for a pair, 1, 0 or -1."""
        if self.pairs:
            return float(value.value > 0) - float(value.value < 0)
        return float(value.category or 0.0)

    def reference(self, people: Mapping[str, Mapping[str, ComparedValue]]) -> dict[str, ComparedValue | None]:
        """Return the majority verdict on each item, or people's mean score; None where verdicts are split."""
        panel: dict[str, ComparedValue | None] = {}
        for item in self.clusters:
            values = [by_item[item] for by_item in people.values() if item in by_item]
            if not values:
                continue
            mean = sum(value.value for value in values) / len(values)
            if not self.pairs:
                panel[item] = self.known(mean)
                continue
            (label, most), *others = Counter(value.category for value in values).most_common(2)
            panel[item] = None if others and others[0][1] == most else ComparedValue(label, mean)
        return panel


def _person(
    name: str,
    people: Mapping[str, Mapping[str, ComparedValue]],
    gold: Mapping[str, ComparedValue],
    scale: _JudgementScale,
) -> JudgementsOfPerson:
    values = people[name]
    others = scale.reference({other: by_item for other, by_item in people.items() if other != name})
    others = {item: known for item, known in others.items() if item in values}
    return JudgementsOfPerson(
        judged=len(values),
        gold=_compare_known(values, (), gold, scale) if gold else None,
        others=_compare_known(values, (), others, scale) if others else None,
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
    readings = {item: judgement.both for item, judgement in judged.items()}
    values = scale.values(readings)
    failed = [item for item in judged if item not in values]
    failures = Counter(readings[item].failure for item in failed)
    comparison = BesidePeople(None, None)
    if epsilon is not None:
        comparison = beside_people(
            {name: _plain(by_item, scale) for name, by_item in people.items()},
            _plain(values, scale),
            scale.clusters,
            alignment=scale.alignment,
            epsilon=epsilon,
            failed=len(failed),
        )
    twice = scale.pairs and any(None not in judgement for judgement in judged.values())
    return JudgementsOfJudge(
        judged=len(judged),
        failed=len(failed),
        failures=dict(failures.most_common(MOST_FAILURES)),
        gold=_compare_known(values, failed, gold, scale) if gold else None,
        orders=_orders(judged, gold, scale) if gold and twice else None,
        people=_compare_known(values, failed, panel, scale) if panel else None,
        ceiling=comparison.ceiling,
        replacement=comparison.replacement,
    )


def _plain(values: Mapping[str, ComparedValue], scale: _JudgementScale) -> dict[str, Hashable]:
    """Return values in the form used to compare panels: categories for pairs, numbers for scores."""
    return {item: value.category if scale.pairs else value.value for item, value in values.items()}


def _compare_known(
    values: Mapping[str, ComparedValue],
    failed: Sequence[str],
    against: Mapping[str, ComparedValue | None],
    scale: _JudgementScale,
) -> ValuesCompared:
    """Return values compared with known values; items without a known value are left out."""
    first: list[ComparedValue] = []
    second: list[ComparedValue] = []
    clusters: list[str] = []
    for item, known in against.items():
        if known is not None and item in values:
            first.append(values[item])
            second.append(known)
            clusters.append(scale.clusters[item])
    n_failed = sum(against.get(item) is not None for item in failed)
    split = sum(known is None for known in against.values())
    left_out = {"failed": n_failed, "missing": len(against) - split - len(first) - n_failed, "split": split}
    pairs = list(zip(first, second, strict=True))
    same: Share | None = None
    if scale.pairs or scale.categories:
        hits = [value.category == reference.category for value, reference in pairs]
        same = share_of_hits(hits, clusters, unknown=n_failed)
    values_and_known = [value.value for value in first], [known.value for known in second]
    categories = [(value.category, known.category) for value, known in pairs]
    steps = [(scale.step(value), scale.step(known)) for value, known in pairs]
    numbers = [(value.value, known.value) for value, known in pairs]
    order = (-1.0, 0.0, 1.0) if scale.pairs else scale.categories or ()
    weighted_kappa = partial(kappa_of_pairs, weights="quadratic", categories=order)
    if scale.pairs:
        alpha = agreement_coefficient(partial(krippendorff_alpha, scale="nominal"), categories, clusters)
    else:
        alpha = agreement_coefficient(partial(krippendorff_alpha, scale="ordinal"), numbers, clusters)
    none = AgreementCoefficient(value=None, low=None, high=None, no_value=UNEQUAL)
    return ValuesCompared(
        n=len(pairs),
        left_out={reason: count for reason, count in left_out.items() if count},
        same=same,
        pearson=correlation_coefficient(*values_and_known, clusters, method="pearson"),
        spearman=correlation_coefficient(*values_and_known, clusters, method="spearman"),
        kendall=correlation_coefficient(*values_and_known, clusters, method="kendall"),
        kappa=none if same is None else agreement_coefficient(kappa_of_pairs, categories, clusters),
        kappa_weighted=none if same is None else agreement_coefficient(weighted_kappa, steps, clusters),
        alpha=alpha,
    )


def kappa_of_pairs(
    pairs: Sequence[tuple[Hashable, Hashable]],
    *,
    weights: Weights | None = None,
    categories: Sequence[Hashable] | None = None,
) -> float:
    """Return Cohen's kappa of two ratings per item, as `cohen_kappa` does."""
    first, second = [rating for rating, _ in pairs], [rating for _, rating in pairs]
    return cohen_kappa(first, second, weights=weights, categories=categories)


def _orders(judged: Mapping[str, JudgedItem], gold: Mapping[str, ComparedValue], scale: _JudgementScale) -> BothOrders:
    """Return the accuracy of each order, and of both orders together."""
    straight: dict[str, str] = {}
    swapped: dict[str, str] = {}
    for item in gold:
        judgement = judged.get(item)
        if judgement is not None and judgement.straight is not None and judgement.swapped is not None:
            straight[item], swapped[item] = judgement.straight.label, judgement.swapped.label

    def right(labels: Mapping[str, str]) -> Share:
        readable = [item for item in labels if labels[item]]
        hits = [labels[item] == gold[item].category for item in readable]
        clusters = [scale.clusters[item] for item in readable]
        return share_of_hits(hits, clusters, unknown=len(labels) - len(readable))

    readable = [item for item in straight if straight[item] and swapped[item]]
    consistent = [straight[item] == swapped[item] for item in readable]
    both = dict.fromkeys(straight, "")
    for item, same in zip(readable, consistent, strict=True):
        both[item] = straight[item] if same else "the two orders differ"
    return BothOrders(
        n=len(straight),
        straight=right(straight),
        swapped=right(swapped),
        consistent=counted_rate(consistent, [scale.clusters[item] for item in readable]),
        consistent_and_right=right(both),
    )


def _people_together(
    people: Mapping[str, Mapping[str, ComparedValue]], items: Sequence[str], scale: _JudgementScale
) -> PeopleTogether:
    rows = [[by_item.get(item) for by_item in people.values()] for item in items]
    numbers = [[None if value is None else value.value for value in row] for row in rows]
    labels = [[None if value is None else value.category or str(value.value) for value in row] for row in rows]
    clusters = [scale.clusters[item] for item in items]
    return PeopleTogether(n=len(items), **coefficients_of_people(numbers, labels, clusters))


def coefficients_of_people(
    numbers: Sequence[Sequence[Hashable]], labels: Sequence[Sequence[Hashable]], clusters: Sequence[Hashable]
) -> dict[str, AgreementCoefficient]:
    """Return Fleiss' kappa (if all items have equally many ratings) and Krippendorff's alpha on three scales.

    Args:
        numbers: each item's ratings by every person, None if missing.
        labels: the same, as categories.
        clusters: the cluster of each item.
    """
    ratings = [[label for label in row if label is not None] for row in labels]
    nominal = partial(krippendorff_alpha, scale="nominal")
    ordinal, interval = partial(krippendorff_alpha, scale="ordinal"), partial(krippendorff_alpha, scale="interval")
    return {
        "fleiss": agreement_coefficient(fleiss_kappa, ratings, clusters),
        "alpha_nominal": agreement_coefficient(nominal, labels, clusters),
        "alpha_ordinal": agreement_coefficient(ordinal, numbers, clusters),
        "alpha_interval": agreement_coefficient(interval, numbers, clusters),
    }
