"""Compute the human ceiling of a judge, and test whether it can replace a person."""

from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple

from dokimasia.algorithms.statistics.replacement import (
    EPSILON,
    Alignment,
    PanelComparison,
    alternative_test,
    compare_with_panels,
)
from dokimasia.domain.wording import is_or_are
from dokimasia.people.judgements.shape import HumanCeiling, PersonReplaced, ReplacementTest
from dokimasia.report.figures import several
from dokimasia.runs.measures import mean_with_interval, rounded

FEW_PEOPLE = "there are two people: it says which of them the judge is closer to, not whether it is like people"


class BesidePeople(NamedTuple):
    """The human ceiling and the replacement test of a judge; both None if no two people judged the same items."""

    ceiling: HumanCeiling | None
    replacement: ReplacementTest | None


def beside_people(
    people: Mapping[str, Mapping[str, Hashable]],
    judge: Mapping[str, Hashable],
    clusters: Mapping[str, str],
    *,
    alignment: Alignment,
    epsilon: float = EPSILON,
    failed: int = 0,
) -> BesidePeople:
    """Return the human ceiling of a judge, and the test of whether it can replace a person.

    Args:
        people: each person's judgements, by item.
        judge: the judge's judgements, by item, without failures.
        clusters: the cluster of each item.
        alignment: `same` for values that match or do not, `distance` for numbers.
        epsilon: how much more often a person may be closer to the others than the judge.
        failed: number of items that the judge failed on, for the warning.
    """
    comparisons = compare_with_panels(people, judge, alignment=alignment)
    ceiling = _ceiling(comparisons, clusters, alignment)
    if ceiling is None:
        return BesidePeople(None, None)
    warnings = [FEW_PEOPLE] if len(people) == 2 else []
    if failed:
        warnings.append(f"{several(failed, 'item')} on which the judge failed {is_or_are(failed)} left out")
    return BesidePeople(ceiling, _replacement(comparisons, clusters, epsilon, "; ".join(warnings)))


def _ceiling(
    comparisons: Sequence[PanelComparison], clusters: Mapping[str, str], alignment: Alignment
) -> HumanCeiling | None:
    """Return how closely people and the judge agree with the same panels; None without a comparison."""
    sign = 1.0 if alignment == "same" else -1.0
    by_person: list[float] = []
    by_judge: list[float] = []
    places: list[str] = []
    for comparison in comparisons:
        by_person += [sign * value for value in comparison.person]
        by_judge += [sign * value for value in comparison.judge]
        places += [clusters[item] for item in comparison.items]
    widest = 1.0
    if alignment == "distance":
        widest = max([*by_person, *by_judge], default=1.0) or 1.0
    people = mean_with_interval(by_person, places, seed=0, bounds=(0.0, widest))
    judge = mean_with_interval(by_judge, places, seed=0, bounds=(0.0, widest))
    steps = [judge_value - person_value for judge_value, person_value in zip(by_judge, by_person, strict=True)]
    difference = mean_with_interval(steps, places, seed=0, bounds=(-widest, widest))
    if people is None or judge is None or difference is None:
        return None
    return HumanCeiling(n=len(steps), alignment=alignment, people=people, judge=judge, difference=difference)


def _replacement(
    comparisons: Sequence[PanelComparison], clusters: Mapping[str, str], epsilon: float, warning: str
) -> ReplacementTest:
    test = alternative_test(comparisons, epsilon=epsilon, clusters=clusters)
    people: dict[str, PersonReplaced] = {}
    for place in test.people:
        people[place.name] = PersonReplaced(
            n=place.n,
            judge_as_good=rounded(place.judge_as_good),
            person_as_good=rounded(place.person_as_good),
            p_value=rounded(place.p_value),
            q_value=rounded(place.q_value),
            passed=place.passed,
            items_needed=place.items_needed,
        )
    return ReplacementTest(
        epsilon=test.epsilon,
        level=test.level,
        winning_rate=rounded(test.winning_rate),
        advantage=rounded(test.advantage),
        passed=test.passed,
        items_needed=test.items_needed,
        people=people,
        warning=warning,
    )
