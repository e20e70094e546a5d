"""Every two models against each other, with p-values adjusted over all pairs."""

from dokimasia.methods.evaluation.differences import rival_differences
from dokimasia.methods.evaluation.report import means_by_repeat
from dokimasia.runs.reading.comparison import ComparedAnswer, ComparisonSide, SampleRef
from dokimasia.runs.reading.reporting import draw_samples
from dokimasia.storage.usage import ScoredAnswer

PLACES = [SampleRef(f"s{number}", f"d{number}", f"c{number}") for number in range(12)]


def side(*scores: float | None) -> ComparisonSide:
    return ComparisonSide.of(
        PLACES,
        [
            ComparedAnswer(place.sample_id, 0, score, None if score is not None else "refused")
            for place, score in zip(PLACES, scores, strict=True)
        ],
    )


def test_pairs_are_the_first_minus_the_second_with_adjusted_p_values() -> None:
    """Three models make three pairs; the adjusted p-values are those of Benjamini and Hochberg, never below the others."""
    sides = {
        "low": side(*[1.0 + 0.1 * (number % 3) for number in range(12)]),
        "high": side(*[4.0 + 0.1 * (number % 2) for number in range(12)]),
        "same": side(*[4.0 + 0.1 * ((number + 1) % 2) for number in range(12)]),
    }
    pairs = [pair.model_dump() for pair in rival_differences(sides, ["high", "same", "low"], seed=0)]
    assert [(pair["better"], pair["worse"]) for pair in pairs] == [("high", "same"), ("high", "low"), ("same", "low")]
    assert pairs[0]["difference"]["mean"] == 0
    assert pairs[1]["difference"]["mean"] > 2.8
    assert pairs[1]["p_value"] == 2 / 4096 or pairs[1]["p_value"] == round(2 / 4096, 6)
    assert pairs[1]["adjusted"] == round(1.5 * pairs[1]["p_value"], 6)
    assert all(pair["adjusted"] >= pair["p_value"] for pair in pairs)


def test_a_pair_without_a_shared_score_has_no_p_value() -> None:
    """Where nothing is scored on both sides nothing is tested, and the others are adjusted without it."""
    sides = {"a": side(*[3.0] * 12), "b": side(*[None] * 12), "c": side(*[2.0] * 12)}
    compared = rival_differences(sides, ["a", "c", "b"], seed=0)
    pairs = {(pair.better, pair.worse): pair.model_dump() for pair in compared}
    assert pairs["a", "b"]["adjusted"] is None
    assert pairs["a", "b"]["difference"] is None
    assert pairs["a", "c"]["adjusted"] == pairs["a", "c"]["p_value"]


def test_means_by_repeat() -> None:
    """Each repeat has the mean of the answers that were scored in it, and counts those that were not."""
    rows = [
        ScoredAnswer("s", "c", None, "m", repeat, score, None if score is not None else "refused")
        for repeat, score in ((0, 2.0), (0, 4.0), (1, 5.0), (1, None), (2, None))
    ]
    means = {model: [repeat.model_dump() for repeat in repeats] for model, repeats in means_by_repeat(rows).items()}
    assert means == {
        "m": [
            {"repeat": 0, "n": 2, "n_scored": 2, "mean": 3.0},
            {"repeat": 1, "n": 2, "n_scored": 1, "mean": 5.0},
            {"repeat": 2, "n": 1, "n_scored": 0, "mean": None},
        ]
    }


def test_failures_come_first_and_the_draw_is_seeded() -> None:
    """A choice takes all failures that fit, fills up with a draw, keeps the data's order, and is the same for a seed."""
    ids = [f"s{number}" for number in range(100)]
    failed = {"s90", "s3", "s50"}
    chosen = draw_samples(ids, failed, limit=10, seed=1)
    assert chosen.failed == ("s3", "s50", "s90")
    assert len(chosen.others) == 7
    assert list(chosen.others) == sorted(chosen.others, key=ids.index)
    assert chosen == draw_samples(ids, failed, limit=10, seed=1)
    assert chosen != draw_samples(ids, failed, limit=10, seed=2)
    few = draw_samples(ids, failed, limit=2, seed=1)
    assert len(few.failed) == 2
    assert few.others == ()
    assert draw_samples(ids, failed, limit=500, seed=1) == (chosen.failed, tuple(id for id in ids if id not in failed))
