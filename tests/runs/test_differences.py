"""Paired differences against a computation by hand: pairing, losses, bounds, what changed most, how judges agree."""

from typing import Any

import pytest

from dokimasia.report.comparison import ComparedMeans, interval_and_test
from dokimasia.report.fields import ChangeCounts, Interval, Permutations, as_json
from dokimasia.runs.reading import comparison
from dokimasia.runs.reading.comparison import ComparedAnswer, ComparisonSide, SampleRef


def compare(first: ComparisonSide, second: ComparisonSide, **options: Any) -> dict[str, Any]:
    """The JSON of a comparison."""
    return as_json(comparison.compare(first, second, **options))


pytestmark = pytest.mark.quick


def places(*names: str) -> list[SampleRef]:
    return [SampleRef(name, f"digest-{name}", f"image-{name[0]}") for name in names]


def answer(
    sample: str, score: float | None, *scores: int, repeat: int = 0, failure: str | None = None
) -> ComparedAnswer:
    return ComparedAnswer(
        sample_id=sample,
        repeat=repeat,
        score=score,
        failure=failure if score is None else None,
        response=f"response-{sample}-{repeat}",
        criteria=f"criteria-{sample}",
        criteria_scores=scores,
    )


FIRST = ComparisonSide.of(
    places("a1", "a2", "b1", "c1", "d1", "x1"),
    [
        answer("a1", 3.0, 3, 3),
        answer("a2", 2.0, 2, 2),
        answer("b1", 4.0, 4, 4, repeat=0),
        answer("b1", 5.0, 5, 5, repeat=1),
        answer("c1", None, failure="refused"),
        answer("d1", 2.5, 2, 3),
        answer("x1", 1.0, 1, 1),
    ],
)
SECOND = ComparisonSide.of(
    places("d1", "c1", "b1", "a2", "a1", "y1"),
    [
        answer("a1", 4.0, 3, 5),
        answer("a2", 2.0, 2, 2),
        answer("b1", 3.0, 4, 2, repeat=0),
        answer("b1", None, failure="unparsable", repeat=1),
        answer("c1", 5.0, 5, 5),
        answer("d1", None, failure="truncated"),
        answer("y1", 1.0, 1, 1),
    ],
)


def test_differences_agree_with_a_computation_by_hand() -> None:
    """Differences +1, 0 and -1.5 on two images; one failed on each side; one sample in each run alone."""
    found = compare(FIRST, SECOND, seed=0)
    assert (found["n_shared"], found["n_paired"], found["coverage"]) == (5, 3, 0.6)
    assert found["lost"] == {
        "first: refused": 1,
        "only in the first run": 1,
        "only in the second run": 1,
        "second: truncated": 1,
    }
    assert found["first"] == round((3 + 2 + 4.5) / 3, 6)
    assert found["second"] == 3
    assert found["difference"]["mean"] == round(-0.5 / 3, 6)
    # two images, +0.5 and -1.5 in the mean, say nothing of others: the interval is the whole scale
    assert found["difference"] == {"mean": round(-0.5 / 3, 6), "low": -4.0, "high": 4.0}
    # c1: the first failed, the second has 5, so the difference is from 5 - 5 to 5 - 1; d1: from 1 - 2.5 to 5 - 2.5
    assert found["bounds"] == {"low": (-0.5 + 0 - 1.5) / 5, "high": (-0.5 + 4 + 2.5) / 5}
    # the images' sums are +1 (a1 and a2) and -1.5 (b1): every pattern of signs brings 0.5 or 2.5
    assert found["p_value"] == 1
    assert found["permutations"] == {"patterns": 4, "exact": True}
    assert found["changed"] == {"higher": 1, "equal": 1, "lower": 1}
    assert found["most_changed"] == [
        {"sample": "b1", "first": 4.5, "second": 3.0, "difference": -1.5},
        {"sample": "a1", "first": 3.0, "second": 4.0, "difference": 1.0},
    ]


def test_judges_agree_on_the_criteria_that_they_share() -> None:
    """Criterion by criterion over the answers that both scored: 3 and 5 for 3 and 3, twice alike, 4 and 2 for 4 and 4.

    b1 has the same criteria on both sides, though the second has fewer scored answers to it.
    """
    found = compare(FIRST, SECOND, seed=0)
    assert (found["same_criteria"], found["same_answers"]) == (3, 2)
    agreement = found["agreement"]
    assert (agreement["answers"], agreement["criteria"]) == (3, 6)
    assert agreement["exact"]["share"] == round(4 / 6, 6)
    assert agreement["within_one"] == round(4 / 6, 6)
    assert agreement["mean_absolute"] == round(4 / 6, 6)


def test_the_other_way_round_is_the_mirror() -> None:
    """Exchanging the sides turns every difference round and leaves the p-value as it is."""
    one, other = compare(FIRST, SECOND, seed=0), compare(SECOND, FIRST, seed=0)
    assert other["difference"]["mean"] == -one["difference"]["mean"]
    assert other["p_value"] == one["p_value"]
    assert other["bounds"] == {"low": -one["bounds"]["high"], "high": -one["bounds"]["low"]}
    assert [row["difference"] for row in other["most_changed"]] == [1.5, -1.0]


def test_samples_of_one_content_are_paired_by_name_first() -> None:
    """Of several samples with one content those of one name belong together, the others go by their order."""
    first = ComparisonSide.of(
        [SampleRef("p", "same", "i"), SampleRef("q", "same", "i"), SampleRef("r", "same", "i")],
        [answer("p", 1.0, 1), answer("q", 2.0, 2), answer("r", 3.0, 3)],
    )
    second = ComparisonSide.of(
        [SampleRef("q", "same", "i"), SampleRef("z", "same", "i")], [answer("q", 5.0, 5), answer("z", 4.0, 4)]
    )
    found = compare(first, second, seed=0)
    assert found["lost"] == {"only in the first run": 1}
    assert found["most_changed"] == [
        {"sample": "p", "in_second": "z", "first": 1.0, "second": 4.0, "difference": 3.0},
        {"sample": "q", "first": 2.0, "second": 5.0, "difference": 3.0},
    ]


def test_nothing_in_common_is_nothing_measured() -> None:
    """Without a pair there is no mean, no interval and no p-value, and what is lost is still counted."""
    found = compare(ComparisonSide.of(places("a1"), []), ComparisonSide.of(places("b1"), []), seed=0)
    assert found["difference"] is found["p_value"] is found["bounds"] is found["agreement"] is None
    assert found["lost"] == {"only in the first run": 1, "only in the second run": 1}
    unfinished = compare(
        ComparisonSide.of(places("a1"), []), ComparisonSide.of(places("a1"), [answer("a1", 3.0, 3)]), seed=0
    )
    assert unfinished["lost"] == {"first: no result": 1}
    assert unfinished["bounds"] == {"low": -2.0, "high": 2.0}


@pytest.mark.parametrize("top", [0, 1])
def test_the_list_of_changes_is_as_long_as_wanted(top: int) -> None:
    """At most `top` samples are listed, the largest change first."""
    assert len(compare(FIRST, SECOND, seed=0, top=top)["most_changed"]) == top


def test_an_interval_and_a_test_that_do_not_go_together_are_explained() -> None:
    """A row whose interval holds 0 beside a small p, or the reverse, and one without any difference, each bring a note."""

    def one(
        low: float | None, high: float | None, p: float, higher: int = 3, name: str = "score of a"
    ) -> tuple[str, ComparedMeans]:
        means = ComparedMeans(
            first=3.0,
            second=3.0,
            difference=Interval(mean=0.0, low=low, high=high),
            p_value=p,
            permutations=Permutations(patterns=4096, exact=True),
            changed=ChangeCounts(higher=higher, equal=9, lower=0),
        )
        return name, means

    assert not list(interval_and_test([one(-0.1, 0.2, 0.3), one(0.1, 0.2, 0.01), one(None, None, 0.01)]))
    for row in (one(-0.14, 0.01, 0.048), one(0.1, 0.2, 0.06)):
        (said,) = interval_and_test([row, one(0.1, 0.2, 0.01, name="score of b")])
        assert said.endswith("disagree on score of a: treat such a difference as inconclusive.")
    (said,) = interval_and_test([one(-0.14, 0.14, 1.0, higher=0)])
    assert said.startswith("Where no sample differs the interval is not made of differences")
