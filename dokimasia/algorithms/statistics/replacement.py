"""A test of whether a judge can replace a person, by comparing both with the same panels of people."""

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np

from dokimasia.algorithms.statistics.clusters import Clusters, Floats, by_cluster, jackknife_error
from dokimasia.algorithms.statistics.distributions import normal_quantile, normal_tail, student_t_tails

Alignment = Literal["same", "distance"]
Values = Mapping[str, Hashable]

FEWEST_ITEMS = 30
"""Minimum number of items for testing whether a person can be replaced."""

EPSILON = 0.15
"""The default advantage of a judge, since people cost more: the value for skilled people who are not experts."""

_TIED = 1e-9


class PanelComparison(NamedTuple):
    """A person and a judge, each compared with the other people on the items that all of them judged.

    `items` are in order; `person` and `judge` hold the alignment with the others for each item, higher is better.
    """

    name: str
    items: tuple[str, ...]
    person: tuple[float, ...]
    judge: tuple[float, ...]

    @property
    def lead(self) -> list[int]:
        """For each item, 1 if the person is closer to the others, -1 if the judge is, 0 if both are equally close."""
        return [
            int(person > judge + _TIED) - int(judge > person + _TIED)
            for person, judge in zip(self.person, self.judge, strict=True)
        ]


class PlaceTest(NamedTuple):
    """The test of whether a judge can replace one person.

    `person_as_good` and `judge_as_good` are the shares of items on which one is at least as close to the others as the
    other is; `p_value` and `q_value` (adjusted) are None with fewer than `FEWEST_ITEMS`; `items_needed` is the number
    of items with which an equally good judge passes with 80 % power, None if no number suffices.
    """

    name: str
    n: int
    person_as_good: float
    judge_as_good: float
    p_value: float | None
    q_value: float | None
    passed: bool
    items_needed: int | None


class AlternativeTest(NamedTuple):
    """The alternative-annotator test of a judge.

    `winning_rate` is the share of tested people whom the judge can replace, and `advantage` the mean over them of the
    share of items on which the judge is at least as close to the others as the person is; None without a tested person.
    The judge passes if it can replace half of them.
    """

    epsilon: float
    level: float
    people: tuple[PlaceTest, ...]
    winning_rate: float | None
    advantage: float | None
    passed: bool
    items_needed: int | None


def compare_with_panels(people: Mapping[str, Values], judge: Values, *, alignment: Alignment) -> list[PanelComparison]:
    """Return how closely each person and the judge agree with the same panel: all other people.

    Parameters
    ----------
    people : mapping of str to mapping
        Each person's judgements, by item; a panel needs at least two people.
    judge : mapping
        The judge's judgements, by item, without failures.
    alignment : {"same", "distance"}
        Alignment with a panel: the share of its members with the same judgement or, for numbers, minus the root mean
        square of the distances from its members.

    Returns
    -------
    list of PanelComparison
        One per person, in order of names, over the items that the person, the judge and at least one other person
        judged.

    Examples
    --------
    >>> people = {"ann": {"1": "a", "2": "b"}, "ben": {"1": "a", "2": "a"}, "cho": {"1": "b", "2": "a"}}
    >>> compare_with_panels(people, {"1": "a", "2": "a"}, alignment="same")[0]
    PanelComparison(name='ann', items=('1', '2'), person=(0.5, 0.0), judge=(0.5, 1.0))
    """
    align: Callable[[Hashable, Sequence[Hashable]], float] = _same if alignment == "same" else _nearness
    rows: list[PanelComparison] = []
    for name in sorted(people):
        items: list[str] = []
        by_person: list[float] = []
        by_judge: list[float] = []
        for item, value in people[name].items():
            others = [by_item[item] for other, by_item in sorted(people.items()) if other != name and item in by_item]
            if others and item in judge:
                items.append(item)
                by_person.append(align(value, others))
                by_judge.append(align(judge[item], others))
        rows.append(PanelComparison(name, tuple(items), tuple(by_person), tuple(by_judge)))
    return rows


def alternative_test(
    comparisons: Sequence[PanelComparison],
    *,
    epsilon: float = EPSILON,
    level: float = 0.05,
    clusters: Mapping[str, Hashable] | None = None,
) -> AlternativeTest:
    """Return whether a judge can replace people, by the alternative-annotator test.

    Parameters
    ----------
    comparisons : sequence of PanelComparison
        One per person, from `compare_with_panels`.
    epsilon : float
        How much more often a person may be closer to the others than the judge: 0.2 for experts, 0.15 for skilled
        people, 0.1 for crowds. Within 0 to 1.
    level : float
        The false discovery rate over people, strictly between 0 and 1.
    clusters : mapping, optional
        The cluster of each item.

    Raises
    ------
    ValueError
        If `epsilon` or `level` is out of range.

    Notes
    -----
    For each person, the null hypothesis is that the person is closer to the others than the judge is at least `epsilon`
    more often than the reverse. Its p-value is the larger one of two: of the paper's one-sided paired t-test, and of
    the score test of a difference of paired shares (Tango), which holds its level where person and judge rarely differ.
    Both are widened by the design effect of clusters. P-values are adjusted over people by Benjamini and Yekutieli.

    References
    ----------
    Calderon, Reichart and Dror, The Alternative Annotator Test for LLM-as-a-Judge, 2025; Tango, Equivalence test and
    confidence interval for the difference in proportions for the paired-sample design, 1998.

    Examples
    --------
    >>> items = [str(number) for number in range(60)]
    >>> people = {name: {item: int(item) * weight % 3 for item in items} for name, weight in (("a", 1), ("b", 1), ("c", 2))}
    >>> judge = {item: int(item) % 3 for item in items}
    >>> test = alternative_test(compare_with_panels(people, judge, alignment="same"))
    >>> test.winning_rate, round(test.advantage, 2), test.passed
    (1.0, 1.0, True)
    """
    from dokimasia.algorithms.statistics import false_discovery_rate

    if not (0 <= epsilon < 1 and 0 < level < 1):
        raise ValueError(f"epsilon lies within 0 to 1, and a level strictly between: {epsilon}, {level}")
    tested = [comparison for comparison in comparisons if len(comparison.items) >= FEWEST_ITEMS]
    harmonic = sum(1 / rank for rank in range(1, len(tested) + 1))
    half = math.ceil(len(tested) / 2)
    leads = {comparison.name: _Lead.of(comparison, clusters) for comparison in comparisons if comparison.items}
    p_values = [leads[comparison.name].p_value(epsilon) for comparison in tested]
    q_values = dict(
        zip((comparison.name for comparison in tested), false_discovery_rate(p_values, dependence="any"), strict=True)
    )
    tests: list[PlaceTest] = []
    for comparison in comparisons:
        lead, n = leads.get(comparison.name), len(comparison.items)
        person_as_good = judge_as_good = 0.0
        p_value = q_value = needed = None
        if lead is not None:
            person_as_good, judge_as_good = 1 - lead.judge / n, 1 - lead.person / n
        if lead is not None and comparison.name in q_values:
            p_value, q_value = lead.p_value(epsilon), q_values[comparison.name]
            needed = lead.items_needed(epsilon, level * half / (len(tested) * harmonic))
        passed = q_value is not None and q_value <= level
        tests.append(PlaceTest(comparison.name, n, person_as_good, judge_as_good, p_value, q_value, passed, needed))
    tests_with_p = [test for test in tests if test.p_value is not None]
    if not tests_with_p:
        return AlternativeTest(epsilon, level, tuple(tests), None, None, passed=False, items_needed=None)
    needs = sorted(test.items_needed for test in tests_with_p if test.items_needed is not None)
    winning_rate = sum(test.passed for test in tests_with_p) / len(tests_with_p)
    return AlternativeTest(
        epsilon,
        level,
        tuple(tests),
        winning_rate,
        sum(test.judge_as_good for test in tests_with_p) / len(tests_with_p),
        passed=winning_rate >= 0.5,
        items_needed=needs[half - 1] if len(needs) >= half else None,
    )


class _Lead(NamedTuple):
    """How often the person and the judge are closer to the others, and the design effect of clusters."""

    n: int
    person: int
    judge: int
    groups: int
    effect: float

    @classmethod
    def of(cls, comparison: PanelComparison, clusters: Mapping[str, Hashable] | None) -> "_Lead":
        lead = np.array(comparison.lead, dtype=np.float64)
        person, judge = int((lead > 0).sum()), int((lead < 0).sum())
        if clusters is None:
            return cls(len(lead), person, judge, len(lead), 1.0)
        grouped = by_cluster(lead, [clusters.get(item, item) for item in comparison.items])
        return cls(len(lead), person, judge, grouped.number, _design_effect(lead, grouped))

    @property
    def mean(self) -> float:
        return (self.person - self.judge) / self.n

    @property
    def variance(self) -> float:
        """The sample variance of the lead."""
        return ((self.person + self.judge) / self.n - self.mean**2) * self.n / max(1, self.n - 1)

    def p_value(self, epsilon: float) -> float:
        """Return the larger p-value of t-test and score test."""
        score = self._tail(self._null_variance(epsilon), epsilon, normal_tail)
        if self.groups < 2:
            return 1.0
        t_test = self._tail(self.variance, epsilon, lambda t: student_t_tails(t, self.groups - 1) / 2)
        return max(score, t_test)

    def _tail(self, variance: float, epsilon: float, tail: Callable[[float], float]) -> float:
        """Return the probability of a mean at least this far below epsilon."""
        margin = epsilon - self.mean
        error = math.sqrt(self.effect * variance / self.n)
        if error == 0:
            return 0.0 if margin > 0 else 1.0
        if margin >= 0:
            return tail(margin / error)
        return 1 - tail(-margin / error)

    def _null_variance(self, epsilon: float) -> float:
        """Return the variance of the lead under the null hypothesis, by restricted maximum likelihood."""
        n, person, judge = self.n, self.person, self.judge
        slope = person * (1 + epsilon) + judge * (1 - epsilon) - 2 * n * epsilon
        root = math.sqrt(slope**2 + 8 * n * judge * epsilon * (1 - epsilon))
        judge_share = max(0.0, (slope + root) / (4 * n))
        return max(0.0, 2 * judge_share + epsilon - epsilon**2)

    def items_needed(self, epsilon: float, level: float) -> int | None:
        """Return the number of items with which this lead passes at a level with 80 % power; None if none suffices."""
        margin = epsilon - self.mean
        if margin <= 0:
            return None
        null = max(self._null_variance(epsilon), self.variance)
        spread = normal_quantile(1 - level) * math.sqrt(null) + normal_quantile(0.8) * math.sqrt(self.variance)
        return max(FEWEST_ITEMS, math.ceil(self.effect * (spread / margin) ** 2))


def _design_effect(values: Floats, grouped: Clusters) -> float:
    """Return the number of items that carry as much information as one independent item, at least 1."""
    variance = float(values.var())
    if grouped.number in (1, len(values)) or variance == 0:
        return 1.0
    return max(1.0, jackknife_error(grouped.left_out) ** 2 * (len(values) - 1) / variance)


def _same(value: Hashable, others: Sequence[Hashable]) -> float:
    return sum(value == other for other in others) / len(others)


def _nearness(value: Hashable, others: Sequence[Hashable]) -> float:
    squares = [(_as_number(value) - _as_number(other)) ** 2 for other in others]
    return -math.sqrt(sum(squares) / len(squares))


def _as_number(value: Hashable) -> float:
    if not isinstance(value, int | float):
        raise ValueError(f"{value!r} is no number, which a distance needs")
    return float(value)
