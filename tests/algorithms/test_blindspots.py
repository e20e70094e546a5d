"""Blind spots: when an error went undetected, how often that happens, and which kinds are missed most."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from dokimasia.algorithms.blindspots import (
    AxisRule,
    blind_spots,
    equal_pair,
    equal_single,
    failure_rates,
    full_score,
    images_of,
    item_share,
    pair_verdict,
    undetected_gated,
    undetected_pair,
    undetected_score,
    undetected_single,
    worse_pair,
    worse_single,
)
from dokimasia.algorithms.statistics import false_discovery_rate, rate_interval
from dokimasia.domain.blindspots import Detection

GOLD = {"trustworthiness": 8.0, "coherence": 7.0, "clarity": 9.0, "overall": 8.0}
RELEVANT = ("trustworthiness", "coherence", "overall")


@pytest.mark.parametrize(
    ("changed", "published", "strict"),
    [
        ({}, True, True),
        ({"clarity": 2.0}, True, True),
        ({"overall": 7.0}, False, False),
        ({"overall": 9.0}, False, True),
        ({"overall": 9.0, "coherence": 6.0}, False, False),
    ],
)
def test_undetected_is_what_leaves_the_relevant_axes_as_they_were(
    changed: dict[str, float], published: bool, strict: bool
) -> None:
    """Only relevant axes count; a score that rises is a detection as published, and none in the strict form."""
    assert undetected_single(GOLD, GOLD | changed, RELEVANT) is published
    assert undetected_single(GOLD, GOLD | changed, RELEVANT, strict=True) is strict


def test_axes_that_were_not_asked_for_are_not_counted() -> None:
    """A prompt that asks for the overall score alone is judged by that."""
    assert undetected_single({"overall": 8}, {"overall": 8}, RELEVANT)
    assert not undetected_single({"overall": 8}, {"overall": 7}, RELEVANT)


@pytest.mark.parametrize(
    ("gold", "perturbed", "said"),
    [
        ({"clarity": 8}, {"clarity": 8}, "no relevant axis"),
        ({}, {}, "no relevant axis"),
        ({"overall": 8, "coherence": 7}, {"overall": 8}, "one answer only: coherence"),
        ({"overall": float("nan")}, {"overall": 8}, "finite"),
    ],
)
def test_what_was_not_scored_is_neither_a_detection_nor_a_miss(
    gold: dict[str, float], perturbed: dict[str, float], said: str
) -> None:
    """An axis that only one answer has, no relevant axis at all, and a score that is no number are refused."""
    with pytest.raises(ValueError, match=said):
        undetected_single(gold, perturbed, RELEVANT)


def test_harmless_changes_are_equal_on_all_axes_or_not_at_all() -> None:
    """One axis that moves, relevant or not, makes two answers unequal; the overall score says which is better."""
    assert equal_single(GOLD, GOLD)
    assert not equal_single(GOLD, GOLD | {"clarity": 8.0})
    assert worse_single(GOLD, GOLD | {"overall": 9.0})
    assert not worse_single(GOLD, GOLD | {"clarity": 10.0})


@pytest.mark.parametrize(
    ("choices", "verdict"),
    [
        ({"trustworthiness": "first", "coherence": "first", "overall": "second"}, 1),
        ({"trustworthiness": "first", "coherence": "tie", "overall": "tie"}, 0),
        ({"trustworthiness": "first", "overall": "tie"}, 0),
        ({"trustworthiness": "second", "coherence": "second", "overall": "first"}, -1),
        ({"overall": "first", "creativity": "second"}, 1),
    ],
)
def test_a_pair_is_decided_by_the_majority_of_the_relevant_axes(choices: dict[str, str], verdict: int) -> None:
    """More than half of the relevant axes asked for have to prefer an answer; a tie on an axis prefers none."""
    assert pair_verdict(choices, RELEVANT, gold="first", rule="majority") == verdict
    assert pair_verdict(choices, RELEVANT, gold="second", rule="majority") == -verdict


@pytest.mark.parametrize(
    ("choices", "verdict"),
    [
        ({"trustworthiness": "first", "coherence": "tie", "overall": "tie"}, 1),
        ({"trustworthiness": "second", "coherence": "second", "overall": "first"}, 1),
        ({"trustworthiness": "second", "coherence": "tie", "overall": "tie"}, -1),
        ({"trustworthiness": "tie", "coherence": "tie", "overall": "tie", "clarity": "first"}, 0),
    ],
)
def test_any_relevant_axis_detects_an_error_in_a_pair(choices: dict[str, str], verdict: int) -> None:
    """The gold answer is chosen where any relevant axis prefers it; an axis that is not relevant says nothing."""
    assert pair_verdict(choices, RELEVANT, gold="first") == verdict


def test_honest_ties_do_not_hide_what_a_judge_sees() -> None:
    """An omission that is chosen against on completeness and overall, the rest rightly ties, is detected as in single scores."""
    relevant = ("relevance", "trustworthiness", "completeness", "clarity", "overall")
    ties = dict.fromkeys(relevant, "tie")
    first, second = (ties | {"completeness": gold, "overall": gold} for gold in ("first", "second"))

    def undetected(rule: AxisRule) -> float:
        verdicts = (
            pair_verdict(first, relevant, gold="first", rule=rule),
            pair_verdict(second, relevant, gold="second", rule=rule),
        )
        return undetected_pair(verdicts)

    assert (undetected("any"), undetected("majority")) == (0.0, 1.0)
    gold: dict[str, float] = dict.fromkeys(relevant, 9.0)
    less = gold | {"completeness": 8.0, "overall": 8.0}
    assert not undetected_single(gold, less, relevant)
    assert undetected_single(gold, less, relevant, rule="majority")


def test_a_pair_goes_undetected_in_each_order_that_does_not_choose_the_gold_answer() -> None:
    """A tie does not choose it; both orders count alike."""
    assert [undetected_pair(both) for both in ([1, 1], [1, 0], [-1, 1], [0, -1])] == [0, 0.5, 0.5, 1]
    assert [worse_pair(both) for both in ([1, 1], [1, 0], [-1, 1], [0, -1])] == [0, 0, 0.5, 0.5]
    assert equal_pair([{"overall": "tie"}, {"overall": "first"}]) == 0.5
    with pytest.raises(ValueError, match="one an order"):
        undetected_pair([])


def test_the_other_evaluators_have_rules_of_their_own() -> None:
    """Reference: the full score; checkpoints: not lower; gated: no rubric newly failed."""
    assert full_score({"overall": 10.0}, RELEVANT)
    assert not full_score({"overall": 9.5}, RELEVANT)
    assert undetected_score(50.0, 60.0)
    assert not undetected_score(50.0, 49.0)
    assert undetected_gated([True, False], [True, False])
    assert not undetected_gated([True, False], [False, True])
    with pytest.raises(ValueError, match="same ones"):
        undetected_gated([True], [True, False])


def test_failed_judgements_open_the_bounds_and_are_no_number() -> None:
    """A share is over what was judged; the bounds say what it would be if none, or all, of the failed had counted."""
    found = item_share([(1, "a"), (0, "a"), (None, "b"), (0, "c")])
    assert (found.n, found.n_scored, found.coverage, found.share) == (4, 3, 0.75, 1 / 3)
    assert found.bounds == (0.25, 0.5)
    assert found.interval == rate_interval([True, False, False], clusters=["a", "a", "c"])
    assert item_share([]) == (0, 0, None, None, None)
    assert item_share([(None, "a")]).bounds == (0, 1)
    with pytest.raises(ValueError, match="1/2"):
        item_share([(0.3, "a")])


def test_both_orders_of_a_pair_are_trials_of_one_image() -> None:
    """An item whose orders differ counts half, and its interval is that of two trials that belong together."""
    found = item_share([(0.5, "a"), (1, "b"), (0, "c"), (0, "d")])
    hits = [True, False, True, True, False, False, False, False]
    assert found.share == 0.375
    assert found.interval == rate_interval(hits, clusters="aabbccdd")


def detection(item: int, **fields: Any) -> Detection:
    known: dict[str, Any] = {
        "judge": "j",
        "task": "image-to-text",
        "evaluator": "single-axes",
        "case": "error",
        "dimension": "numerical_errors",
        "group": "VR",
        "cluster": f"c{item}",
        "item": f"i{item}",
    }
    return Detection(**known | fields)


def test_the_table_has_all_errors_then_groups_then_dimensions() -> None:
    """Harmless changes and retests are no errors: the row of all errors says apart what was made of them."""
    rows = failure_rates(
        [
            detection(0, undetected=1.0, strict=1.0, worse=0.0, named=1.0),
            detection(1, undetected=0.0, strict=0.0, worse=0.0, named=1.0),
            detection(2, dimension="causal_misattribution", undetected=1.0, strict=1.0, worse=1.0, named=0.0),
            detection(3, group="VG", dimension="phantom_details", failure="refused"),
            detection(4, case="neutral", group="", dimension="score_neutral", equal=1.0, worse=0.0, named=0.0),
            detection(5, case="neutral", group="", dimension="score_neutral", equal=0.0, worse=1.0, named=1.0),
            detection(0, case="retest", equal=0.0),
        ]
    )
    assert [(row.scope, row.name, row.undetected.n, row.undetected.share) for row in rows] == [
        ("all", "", 4, 2 / 3),
        ("group", "VR", 3, 2 / 3),
        ("group", "VG", 1, None),
        ("dimension", "numerical_errors", 2, 0.5),
        ("dimension", "causal_misattribution", 1, 1.0),
        ("dimension", "phantom_details", 1, None),
    ]
    whole = rows[0]
    assert whole.undetected.bounds == (0.5, 0.75)
    assert (whole.named.n, whole.named.share, whole.unnoticed.share) == (2, 0.5, 1 / 3)
    assert whole.worse.share == 1 / 3
    assert whole.either is None
    assert whole.both is None
    kept = whole.controls
    assert kept is not None
    assert (kept.equal.share, kept.preferred.share, kept.flickers.share, kept.false_alarms.share) == (0.5, 0.5, 1, 0.5)
    assert rows[1].controls is None


def test_pairs_have_the_forms_of_either_and_both_orders() -> None:
    """The mean over orders stands first; either is not below it, and both not above."""
    rows = failure_rates(
        [detection(at, evaluator="pairwise-axes", undetected=value, strict=float(value > 0)) for at, value in
         enumerate((0.0, 0.5, 0.5, 1.0))]
    )  # fmt: skip
    assert rows[0].either is not None
    assert rows[0].both is not None
    assert (rows[0].undetected.share, rows[0].either.share, rows[0].both.share) == (0.5, 0.75, 0.25)


def world(rates: Sequence[float], *, images: int, seed: int) -> tuple[list[float], list[str], list[int]]:
    """Errors of as many dimensions as there are rates, each in every image, some of which are hard throughout."""
    generator = np.random.default_rng(seed)
    hard = generator.normal(size=images) * 0.15
    chances = np.clip(np.asarray(rates)[None, :] + hard[:, None], 0, 1)
    missed = generator.random(chances.shape) < chances
    names = [f"d{place}" for place in range(len(rates))] * images
    return missed.astype(float).ravel().tolist(), names, np.repeat(np.arange(images), len(rates)).tolist()


def rows_of(rates: Sequence[float], *, images: int, seed: int, evaluators: Sequence[str]) -> list[Detection]:
    """What a judge made of such errors under several evaluators, apart from each other."""
    found: list[Detection] = []
    for number, evaluator in enumerate(evaluators):
        missed, names, clusters = world(rates, images=images, seed=1000 * number + seed)
        found += [
            detection(at, evaluator=evaluator, dimension=name, cluster=str(cluster), undetected=value, strict=value)
            for at, (value, name, cluster) in enumerate(zip(missed, names, clusters, strict=True))
        ]
    return found


def test_a_kind_of_error_that_is_missed_more_often_is_called_a_blind_spot() -> None:
    """The planted dimension is found, and no other; the same seed gives the same p-values."""
    found = rows_of([0.2] * 7 + [0.8], images=20, seed=1, evaluators=["single-axes", "gated"])
    rows = failure_rates(found, seed=0)
    called = [(row.evaluator, row.name) for row in rows if row.spot is not None and row.spot.blind]
    assert called == [("single-axes", "d7"), ("gated", "d7")]
    assert failure_rates(found, seed=0) == rows
    assert blind_spots([1.0, 0.0], ["a", "a"], ["x", "y"], seed=0) == {}


def test_p_values_are_adjusted_over_all_that_a_judge_was_asked() -> None:
    """What one evaluator shows weighs less where eleven others were looked at, too."""
    one = rows_of([0.3] * 5 + [0.8], images=10, seed=3, evaluators=["single-axes"])
    more = one + rows_of([0.5] * 6, images=10, seed=4, evaluators=["gated", "reference", "checkpoints"])
    alone, among = (failure_rates(found, seed=0)[6 + 1].spot for found in (one, more))
    assert alone is not None
    assert among is not None
    assert alone.p_value == among.p_value
    assert alone.adjusted < among.adjusted


def test_a_judge_that_misses_all_kinds_alike_has_no_blind_spot_at_more_than_the_nominal_rate() -> None:
    """Over 100 data sets of a judge that misses two errors in five of every kind, at most 9 name any dimension."""
    named = 0
    for seed in range(100):
        p_values = blind_spots(*world([0.4] * 8, images=12, seed=seed), seed=seed, draws=1000)
        named += min(false_discovery_rate(list(p_values.values()))) <= 0.05
    assert named <= 9


def tied(*, seed: int, more: float = 0.0) -> tuple[list[float], list[str], list[int]]:
    """Errors on hard and easy images, six each; `d0` stands mostly on hard ones, where errors of all kinds are missed."""
    generator = np.random.default_rng(seed)
    missed: list[float] = []
    names: list[str] = []
    for image in range(24):
        rate, share = (0.7, 0.5) if image % 2 else (0.15, 0.05)
        for _ in range(6):
            names.append("d0" if generator.random() < share else f"d{generator.integers(1, 5)}")
            missed.append(float(generator.random() < rate + more * (names[-1] == "d0")))
    return missed, names, np.repeat(np.arange(24), 6).tolist()


def test_a_kind_that_stands_on_hard_images_is_no_blind_spot() -> None:
    """Over 60 data sets without an effect within an image at most 7 have any dimension named; with one it is found in most."""
    named, found = 0, 0
    for seed in range(60):
        p_values = blind_spots(*tied(seed=seed), seed=seed, draws=1000)
        named += min(false_discovery_rate(list(p_values.values()))) <= 0.05
        found += blind_spots(*tied(seed=seed, more=0.28), seed=seed, draws=1000)["d0"] <= 0.01
    assert named <= 7
    assert found >= 40


def test_images_that_hold_one_kind_say_nothing_of_it_and_are_counted() -> None:
    """They change no p-value; a dimension without an image that holds another one, too, has none."""
    missed, names, clusters = world([0.2, 0.2, 0.8], images=12, seed=1)
    alone = ([1.0] * 20, ["d2"] * 20, [100 + at for at in range(20)])
    more = (missed + alone[0], names + alone[1], clusters + alone[2])
    assert blind_spots(*more, seed=0) == blind_spots(missed, names, clusters, seed=0)
    assert blind_spots(*alone, seed=0) == {}
    assert images_of(*more[1:])["d2"] == (12, 20)
    rows = failure_rates(
        [
            detection(at, dimension=name, cluster=str(cluster), undetected=value, strict=value)
            for at, (value, name, cluster) in enumerate(zip(*more, strict=True))
        ]
    )
    spots = {row.name: row.spot for row in rows if row.spot is not None}
    assert {name: (one.images, one.alone) for name, one in spots.items()} == {
        "d0": (12, 0),
        "d1": (12, 0),
        "d2": (12, 20),
    }
    apart = failure_rates([detection(at, dimension=f"d{at}", undetected=1.0, strict=1.0) for at in range(4)])
    assert [row.spot for row in apart] == [None] * len(apart)
