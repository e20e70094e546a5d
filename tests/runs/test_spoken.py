"""Two models that do not say equally much, against a computation by hand: right answers, shares, what both speak to."""

from typing import Any

import pytest

from dokimasia.domain.judgement import Correctness
from dokimasia.report.fields import as_json
from dokimasia.runs.reading import comparison
from dokimasia.runs.reading.comparison import ComparedAnswer, ComparisonSide, SampleRef


def compare(first: ComparisonSide, second: ComparisonSide, **options: Any) -> dict[str, Any]:
    """The JSON of a comparison."""
    return as_json(comparison.compare(first, second, **options))


PLACES = [SampleRef(name, f"digest-{name}", f"image-{name}") for name in "abcde"]
WEIGHTS = (5, 3, 2)
KNOWN: tuple[Correctness, ...] = ("right", "wrong", "undecided", "undecided", "failed")


def answer(
    sample: str, scores: str, *, right: Correctness = "failed", criteria: str = "", repeat: int = 0
) -> ComparedAnswer:
    """One answer from its scores, `-` where the answer says nothing; without any, the judge failed."""
    if not scores:
        return ComparedAnswer(sample, repeat, None, "unparsable", correctness=right)
    stated = tuple(one != "-" for one in scores)
    values = tuple(1 if one == "-" else int(one) for one in scores)
    return ComparedAnswer(
        sample,
        repeat,
        sum(value * weight for value, weight in zip(values, WEIGHTS, strict=True)) / 10,
        None,
        criteria=criteria or f"criteria-{sample}",
        criteria_scores=values,
        correctness=right,
        stated=sum(weight for told, weight in zip(stated, WEIGHTS, strict=True) if told) / 10,
        criteria_stated=stated,
        weights=WEIGHTS,
    )


TERSE = ComparisonSide.of(
    PLACES,
    [
        answer("a", "5--", right="right"),
        answer("b", "---", right="right"),
        answer("c", "-42", right="wrong"),
        answer("d", "", right="right"),
        answer("e", "555", right="failed", criteria="others"),
    ],
)
TALKATIVE = ComparisonSide.of(
    PLACES,
    [
        answer("a", "311", right="right"),
        answer("b", "555", right="wrong"),
        answer("c", "525", right="wrong"),
        answer("d", "555", right="right"),
        answer("e", "111", right="right"),
    ],
)


def test_what_both_speak_to_agrees_with_a_computation_by_hand() -> None:
    """Of a one criterion counts, of b none, of c two by their weights 3 and 2; d failed, e has other criteria."""
    both = compare(TERSE, TALKATIVE, seed=0)["both_stated"]
    assert (both["n"], both["criteria"]) == (2, 3)
    assert both["first"] == pytest.approx((5 + (4 * 3 + 2 * 2) / 5) / 2)
    assert both["second"] == pytest.approx((3 + (2 * 3 + 5 * 2) / 5) / 2)
    assert both["difference"]["mean"] == pytest.approx((-2 + 0) / 2)
    assert both["p_value"] == 1, "one sample alone differs"


def test_shares_and_right_answers_are_paired_by_sample() -> None:
    """Shares are compared where both are scored, strict accuracy where neither decision failed, scored or not."""
    found = compare(TERSE, TALKATIVE, seed=0)
    assert found["stated"]["n"] == 4
    assert found["stated"]["first"] == pytest.approx((0.5 + 0 + 0.5 + 1) / 4)
    assert tuple(found["strict_accuracy"][name] for name in ("n", "first", "second")) == (4, 0.75, 0.5)


def test_undecided_answers_are_paired_as_not_right() -> None:
    """Strict accuracy is compared on all samples whose decisions did not fail; undecided answers open bounds of their own."""
    first = ComparisonSide.of(
        PLACES, [answer(name, "", right=right) for name, right in zip("abcde", KNOWN, strict=True)]
    )
    second = ComparisonSide.of(PLACES, [answer(name, "", right="right") for name in "abcde"])
    found = compare(first, second, seed=0)["strict_accuracy"]
    assert (found["n"], found["first"], found["second"]) == (4, 0.25, 1.0)
    assert (found["difference"]["mean"], found["lost"]) == (0.75, {"first: unparsable": 1})
    assert found["n_undecided"] == {"first": 2, "second": 0}
    assert found["bounds"] == {"low": 0.25, "high": 0.75}
    turned_round = compare(second, first, seed=0)["strict_accuracy"]
    assert turned_round["bounds"] == {"low": -0.75, "high": -0.25}
    assert found["outer"]["low"] < 0.25 < 0.75 < found["outer"]["high"]
    assert turned_round["outer"] == {"low": -found["outer"]["high"], "high": -found["outer"]["low"]}
    assert "outer" not in compare(second, second, seed=0)["strict_accuracy"]


def test_a_terse_answer_loses_nothing_on_what_both_speak_to() -> None:
    """Leaving criteria out of a right answer lowers the score as published, and not the score on what both speak to."""
    whole = ComparisonSide.of(PLACES, [answer(place.sample_id, "555") for place in PLACES])
    short = ComparisonSide.of(PLACES, [answer(place.sample_id, "--5") for place in PLACES])
    found = compare(short, whole, seed=0)
    assert found["difference"]["mean"] == pytest.approx(3.2)
    assert (found["both_stated"]["difference"]["mean"], found["both_stated"]["p_value"]) == (0, 1)


def test_repeats_are_compared_with_their_own() -> None:
    """Each repeat is compared on what both answers of it speak to; a sample has the mean of its repeats."""
    one = ComparisonSide.of(
        PLACES[:1], [answer("a", "5--"), answer("a", "--3", repeat=1), answer("a", "555", repeat=2)]
    )
    other = ComparisonSide.of(PLACES[:1], [answer("a", "1-5"), answer("a", "5-1", repeat=1)])
    both = compare(one, other, seed=0)["both_stated"]
    assert (both["n"], both["criteria"], both["first"], both["second"]) == (1, 2, 4.0, 1.0)


def test_nothing_spoken_to_is_nothing_measured() -> None:
    """Two models that never speak to the same criterion are not compared on it; without shares nothing is said of them."""
    one, other = (ComparisonSide.of(PLACES[:1], [answer("a", scores)]) for scores in ("5--", "-55"))
    both = compare(one, other, seed=0)["both_stated"]
    assert (both["n"], both["first"], both["difference"], both["p_value"]) == (0, None, None, None)
    bare = ComparisonSide.of(PLACES[:1], [ComparedAnswer("a", 0, 3.0, None)])
    assert {"strict_accuracy", "stated", "both_stated"}.isdisjoint(compare(bare, bare, seed=0))
