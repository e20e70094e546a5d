"""The human ceiling of a judge, and the test whether it can take a person's place."""

from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple

from dokimasia.algorithms.statistics.replacement import (
    EPSILON,
    Alignment,
    PanelComparison,
    alternative_test,
    compare_with_panels,
)
from dokimasia.people.judgements.shape import HumanCeiling, PersonReplaced, ReplacementTest
from dokimasia.report.figures import several
from dokimasia.runs.measures import mean_with_interval, rounded

FEW_PEOPLE = "there are two people: it says which of them the judge is closer to, not whether it is like people"


class BesidePeople(NamedTuple):
    """A judge beside people, against the same panels; None where no two people judged the same items."""

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
    """Return the human ceiling of a judge and the test of replacement.

    Args:
        people: what each person said, by item.
        judge: what the judge said, by item, without what failed.
        clusters: the cluster of each item.
        alignment: whether values are the same or not, or numbers with a distance.
        epsilon: how much more often than the judge a person may be closer to the others.
        failed: how many items the judge failed on, for the warning.
    """
    comparisons = compare_with_panels(people, judge, alignment=alignment)
    ceiling = _ceiling(comparisons, clusters, alignment)
    if ceiling is None:
        return BesidePeople(None, None)
    warnings = [FEW_PEOPLE] if len(people) == 2 else []
    if failed:
        warnings.append(
            f"{several(failed, 'item')} on which the judge failed {'is' if failed == 1 else 'are'} left out"
        )
    return BesidePeople(ceiling, _replacement(comparisons, clusters, epsilon, "; ".join(warnings)))


def _ceiling(
    comparisons: Sequence[PanelComparison], clusters: Mapping[str, str], alignment: Alignment
) -> HumanCeiling | None:
    """Return people among themselves beside the judge against the same panels; None without a comparison."""
    sign = 1.0 if alignment == "same" else -1.0
    by_person = [sign * value for one in comparisons for value in one.person]
    by_judge = [sign * value for one in comparisons for value in one.judge]
    places = [clusters[item] for one in comparisons for item in one.items]
    widest = 1.0
    if alignment == "distance":
        widest = max([*by_person, *by_judge], default=1.0) or 1.0
    people = mean_with_interval(by_person, places, seed=0, bounds=(0.0, widest))
    judge = mean_with_interval(by_judge, places, seed=0, bounds=(0.0, widest))
    steps = [judged - said for judged, said in zip(by_judge, by_person, strict=True)]
    difference = mean_with_interval(steps, places, seed=0, bounds=(-widest, widest))
    if people is None or judge is None or difference is None:
        return None
    return HumanCeiling(n=len(steps), alignment=alignment, people=people, judge=judge, difference=difference)


def _replacement(
    comparisons: Sequence[PanelComparison], clusters: Mapping[str, str], epsilon: float, warning: str
) -> ReplacementTest:
    test = alternative_test(comparisons, epsilon=epsilon, clusters=clusters)
    return ReplacementTest(
        epsilon=test.epsilon,
        level=test.level,
        winning_rate=_rounded(test.winning_rate),
        advantage=_rounded(test.advantage),
        passed=test.passed,
        items_needed=test.items_needed,
        people={
            one.name: PersonReplaced(
                n=one.n,
                judge_as_good=rounded(one.judge_as_good),
                person_as_good=rounded(one.person_as_good),
                p_value=_rounded(one.p_value),
                q_value=_rounded(one.q_value),
                passed=one.passed,
                items_needed=one.items_needed,
            )
            for one in test.people
        },
        warning=warning,
    )


def _rounded(value: float | None) -> float | None:
    return None if value is None else rounded(value)
