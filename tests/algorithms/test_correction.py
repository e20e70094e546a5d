"""Rates corrected for what a judge misses: by sensitivity and specificity, by kinds of error, and by labels of people."""

from collections.abc import Sequence

import numpy as np
import pytest

from benchmarks.calibration.corrections import certain, ruled_world
from dokimasia.algorithms.correction import (
    FEWEST_CLUSTERS,
    FEWEST_LABELS,
    DecidedLabel,
    LabelledAnswers,
    RatedAnswers,
    ShareEstimate,
    corrected_difference,
    corrected_rate,
    interval_tipping,
    labels_needed,
    mixed_sensitivity,
    order_tipping,
    powered_difference,
    powered_rate,
    rate_tipping,
    rates_over_mixes,
    same_kinds,
    stratified_difference,
    stratified_mean,
    unlike,
)
from dokimasia.algorithms.statistics import ConfidenceInterval, rate_interval

SENSITIVITY, SPECIFICITY = 0.8, 0.9


def decisions(right: int, wrong: int) -> list[DecidedLabel]:
    return [DecidedLabel(True)] * right + [DecidedLabel(False)] * wrong


def passport(
    sensitivity: float = SENSITIVITY, specificity: float = SPECIFICITY, n: int = 400
) -> dict[str, ShareEstimate]:
    return {
        "sensitivity": ShareEstimate.of(round(sensitivity * n), n),
        "specificity": ShareEstimate.of(round(specificity * n), n),
    }


def judged(
    generator: np.random.Generator, rate: float, n: int, judge: tuple[float, float]
) -> tuple[list[bool], list[bool]]:
    """Return whether answers are right, and whether a judge of this sensitivity and specificity says so."""
    right = generator.random(n) < rate
    said = generator.random(n) < np.where(right, judge[1], 1 - judge[0])
    return right.tolist(), said.tolist()


def some(labels: Sequence[bool], n: int) -> list[bool | None]:
    """Return the first labels and no others; answers are in no order."""
    return [one if place < n else None for place, one in enumerate(labels)]


@pytest.mark.parametrize("rate", [0.0, 0.2, 0.5, 0.9, 1.0])
def test_the_expected_share_is_corrected_to_the_planted_one(rate: float) -> None:
    """What a judge of known rates finds right of a share x of right answers is brought back to x."""
    said = round(1000 * (rate * SPECIFICITY + (1 - rate) * (1 - SENSITIVITY)))
    found = corrected_rate(decisions(said, 1000 - said), **passport(), seed=0)
    assert found.rate == pytest.approx(rate)
    assert found.interval is not None
    assert found.interval.low <= rate <= found.interval.high


def test_corrected_intervals_cover_where_raw_ones_do_not() -> None:
    """Over 100 worlds with 90 % right answers the corrected interval holds the truth, and the raw one hardly ever."""
    generator = np.random.default_rng(0)
    corrected = raw = 0
    for _ in range(100):
        _, said = judged(generator, 0.9, 300, (SENSITIVITY, SPECIFICITY))
        measured = {
            "sensitivity": ShareEstimate.of(int(generator.binomial(200, SENSITIVITY)), 200),
            "specificity": ShareEstimate.of(int(generator.binomial(200, SPECIFICITY)), 200),
        }
        found = corrected_rate([DecidedLabel(one) for one in said], **measured, seed=0).interval
        assert found is not None
        corrected += found.low <= 0.9 <= found.high
        low, high = rate_interval(said)
        raw += low <= 0.9 <= high
    assert corrected >= 91
    assert raw <= 20


def test_the_passports_own_uncertainty_widens_the_interval() -> None:
    """The same decisions have a wider interval where sensitivity and specificity rest on fewer items."""
    widths = []
    for n in (60, 200, 2000):
        found = corrected_rate(decisions(180, 120), **passport(n=n), seed=0).interval
        assert found is not None
        widths.append(found.high - found.low)
    assert widths[0] > widths[1] > widths[2]


def test_clusters_widen_the_interval() -> None:
    """Answers to one image that go together say less than as many that do not."""
    said = [DecidedLabel(place % 12 < 8) for place in range(240)]
    together = [place % 12 + 12 * (place // 120) for place in range(240)]
    alone = corrected_rate(said, **passport(), seed=0).interval
    clustered = corrected_rate(said, **passport(), clusters=together, seed=0).interval
    assert alone is not None
    assert clustered is not None
    assert clustered.high - clustered.low > alone.high - alone.low


@pytest.mark.parametrize(
    ("sensitivity", "specificity", "reason"),
    [
        (ShareEstimate.of(55, 100), ShareEstimate.of(54, 100), "at least 0.1 is needed"),
        (ShareEstimate.of(7, 10), ShareEstimate.of(7, 10), "may be 0"),
        (
            ShareEstimate(0.9, ConfidenceInterval(0, 1, "one cluster")),
            ShareEstimate.of(90, 100),
            "the sensitivity has no interval: one cluster",
        ),
    ],
)
def test_useless_rates_are_refused(sensitivity: ShareEstimate, specificity: ShareEstimate, reason: str) -> None:
    """A judge that hardly tells right from wrong, or of which too little is known, corrects nothing, and the reason is told."""
    found = corrected_rate(decisions(60, 40), sensitivity=sensitivity, specificity=specificity, seed=0)
    assert (found.rate, found.interval) == (None, None)
    assert reason in found.reason
    both = corrected_difference(
        decisions(60, 40), decisions(70, 30), sensitivity=sensitivity, specificity=specificity, seed=0
    )
    assert reason in both.reason


def test_rates_that_cannot_be_of_this_run_are_refused() -> None:
    """A judge that finds fewer answers wrong than its false alarms alone would make was measured on something else."""
    found = corrected_rate(decisions(1000, 0), **passport(specificity=0.8), seed=0)
    assert found.rate is None
    assert found.reason.startswith("fewer answers were judged wrong")


def test_what_rules_decided_is_not_corrected() -> None:
    """Rules do not err: their share stands, the corrected rate lies between what they leave."""
    ruled = [DecidedLabel(True, by_judge=False)] * 50 + [DecidedLabel(False, by_judge=False)] * 30
    assert corrected_rate(ruled, **passport(), seed=0).rate == 50 / 80
    found = corrected_rate([*ruled, *decisions(4, 16)], **passport(), seed=0)
    assert found.rate == pytest.approx(0.5)
    assert corrected_rate([*ruled, *decisions(14, 6)], **passport(), seed=0).rate == pytest.approx(
        0.5 + 0.2 * (SENSITIVITY - 0.3) / (SENSITIVITY + SPECIFICITY - 1)
    )


def test_a_difference_is_that_of_what_was_judged_divided_by_what_the_judge_tells() -> None:
    """Two models' difference grows by the factor by which the judge shrinks it, and keeps its sign and its significance."""
    first, second = decisions(50, 100), decisions(92, 58)
    found = corrected_difference(first, second, **passport(), seed=0)
    assert found.rate == pytest.approx(0.28 / (SENSITIVITY + SPECIFICITY - 1))
    assert found.interval is not None
    assert found.interval.low > 0
    back = corrected_difference(second, first, **passport(), seed=0)
    assert back.interval is not None
    assert back.interval.low == pytest.approx(-found.interval.high, abs=0.02)


def test_rates_whose_sums_are_rounded_are_corrected() -> None:
    """A judge that raised no false alarm is no error of rounding, whatever its sensitivity, where rules decided some answers."""
    mixed = [DecidedLabel(True, False), DecidedLabel(False, False), DecidedLabel(True), DecidedLabel(False)] * 20
    for share in (0.9016666666666667, 0.6923529638235294, *(place / 997 for place in range(400, 997, 7))):
        rates = {
            "sensitivity": ShareEstimate(share, ConfidenceInterval(share - 0.05, 1.0)),
            "specificity": ShareEstimate.of(200, 200),
        }
        assert corrected_rate(mixed, **rates, seed=0).reason == ""
        assert corrected_difference(mixed, mixed[::-1], **rates, seed=0).rate == pytest.approx(0.0)


def test_a_difference_is_that_of_the_cut_rates_and_keeps_what_rules_decided() -> None:
    """The first's rate is cut at 1: the difference is that of both rates; no difference lies beyond what rules leave open."""
    first = [DecidedLabel(True, False)] * 20 + [DecidedLabel(True)] * 77 + [DecidedLabel(False)] * 3
    second = [DecidedLabel(True, False)] * 20 + [DecidedLabel(True)] * 10 + [DecidedLabel(False)] * 70
    rates = [corrected_rate(side, **passport(), seed=0).rate for side in (first, second)]
    assert rates[0] == 1.0
    found = corrected_difference(first, second, **passport(), seed=0)
    assert found.rate == pytest.approx(rates[1] - rates[0])
    assert found.interval.low <= found.rate <= found.interval.high
    settled = [DecidedLabel(True, False)] * 180 + decisions(19, 1)
    wrong = [DecidedLabel(True, False)] * 60 + [DecidedLabel(False, False)] * 120 + decisions(4, 16)
    found = corrected_difference(settled, wrong, **passport(n=60), seed=0)
    assert found.rate == pytest.approx(-0.7)  # 180 + 20 less 60 + 0, of 200
    assert found.interval.low >= -0.77


def test_a_difference_is_refused_with_either_rate() -> None:
    """Where one model's decisions cannot come of these rates there is no difference to another model either."""
    fine, odd = decisions(60, 40), decisions(100, 0)
    assert corrected_rate(odd, **passport(), seed=0).rate is None
    assert corrected_difference(fine, odd, **passport(), seed=0).reason == "of the second model there is no rate"


def test_sensitivity_follows_the_mix_of_errors() -> None:
    """A mix of errors that are hard to see has a lower sensitivity; a mix counted among few errors is known less well."""
    by_kind = {"easy": ShareEstimate.of(95, 100), "hard": ShareEstimate.of(30, 100)}
    half, hard = (mixed_sensitivity(by_kind, {"easy": easy, "hard": 1}) for easy in (1, 0))
    assert half.share == pytest.approx(0.625)
    assert hard == by_kind["hard"]
    counted = mixed_sensitivity(by_kind, {"easy": 5, "hard": 5}, n_errors=10)
    assert counted.interval.low < half.interval.low
    together = (by_kind.keys(), ShareEstimate(0.625, ConfidenceInterval(0.45, 0.8)))
    shared = mixed_sensitivity(by_kind, {"easy": 1, "hard": 1}, pooled=(dict.fromkeys(together[0], 1.0), together[1]))
    assert shared.interval.low == pytest.approx(0.45)
    with pytest.raises(ValueError, match="no sensitivity is known to errors of the kind odd"):
        mixed_sensitivity(by_kind, {"odd": 1})


def test_the_bound_over_mixes_holds_every_mix() -> None:
    """Whatever the mix, the corrected rate lies between those of the easiest and the hardest kind."""
    by_kind = {name: ShareEstimate.of(hits, 100) for name, hits in (("a", 90), ("b", 70), ("c", 45))}
    specificity = ShareEstimate.of(95, 100)
    bound = rates_over_mixes(0.8, by_kind, specificity)
    assert (bound.lowest, bound.highest) == ("c", "a")
    for mix in ({"a": 1}, {"a": 1, "b": 2, "c": 1}, {"c": 1}, {"b": 1, "c": 3}):
        one = corrected_rate(
            decisions(800, 200), sensitivity=mixed_sensitivity(by_kind, mix), specificity=specificity, seed=0
        )
        assert one.rate is not None
        assert bound.low - 1e-9 <= one.rate <= bound.high + 1e-9
    assert rates_over_mixes(0.8, {**by_kind, "d": ShareEstimate.of(5, 100)}, specificity).low == 0
    hidden = {"d": ShareEstimate.of(5, 100), "e": ShareEstimate.of(2, 100)}
    assert rates_over_mixes(0.8, hidden, specificity)[:2] == (0, 1)
    assert rates_over_mixes(0.3, hidden, specificity, by_rule=(0.5, 0.1))[:2] == (0.5, 0.9)


def test_a_shifted_mix_is_told_from_an_equal_one() -> None:
    """Kinds of error as in the mix have no small p-value; others have, and errors of one image count once."""
    own = {"a": 1, "b": 1, "c": 2}
    assert same_kinds(["a", "b", "c", "c"] * 10, own, seed=0) > 0.5
    assert same_kinds(["a"] * 25 + ["c"] * 15, own, seed=0) < 0.001
    assert same_kinds(["a"] * 30, own, clusters=[0] * 30, seed=0) > 0.05
    assert same_kinds(["odd", "a"], own, seed=0) < 0.001
    assert unlike(ShareEstimate.of(20, 60), ShareEstimate.of(160, 200))


@pytest.mark.parametrize(
    ("name", "judge"), [("good", (0.95, 0.97)), ("mediocre", (0.8, 0.75)), ("useless", (0.3, 0.7))]
)
def test_labels_beside_a_judge_cover_and_cost_little(name: str, judge: tuple[float, float]) -> None:
    """With 50 labels intervals hold the truth and are at most 1.05 as wide as those of the labels alone, whatever the judge."""
    generator = np.random.default_rng(1)
    covered, widths, alone = 0, 0.0, 0.0
    for _ in range(100):
        right, said = judged(generator, 0.7, 300, judge)
        found = powered_rate(said, some(right, 50))
        assert found.interval is not None
        assert found.alone is not None
        covered += found.interval.low <= 0.7 <= found.interval.high
        widths += found.interval.high - found.interval.low
        alone += found.alone.interval.high - found.alone.interval.low
    assert covered >= 91
    assert widths <= 1.05 * alone
    assert (widths < 0.8 * alone) == (name == "good")


def test_no_disagreement_among_few_labels_is_no_certainty() -> None:
    """Where judge and people agree on all 50 labels, the interval still reaches as far as unseen disagreement may."""
    said = [place % 2 == 0 for place in range(2000)]
    found = powered_rate(said, some(said, 50))
    assert found.interval is not None
    assert found.interval.high - found.interval.low > 0.1


def test_few_labels_are_refused_and_rare_kinds_stand_alone() -> None:
    """Below 20 labels or 10 clusters nothing is corrected; with hardly a wrong answer among them, the labels stand alone."""
    said = [True, False] * 100
    few = powered_rate(said, some(said, FEWEST_LABELS - 1))
    assert few.rate is None
    assert powered_rate([], []).reason.startswith("0 labels")
    one = LabelledAnswers([True], [None])
    assert powered_difference(one, one).reason == "0 of 1 open answers are labelled: label the remaining 1"
    assert (few.missing, powered_difference(one, one).missing) == (1, 1)
    assert few.reason == f"19 labels, at least {FEWEST_LABELS} are needed"
    clustered = powered_rate(said, some(said, 40), clusters=[place // 8 for place in range(200)])
    assert clustered.reason == f"labels in 5 clusters, at least {FEWEST_CLUSTERS} are needed"
    rare = powered_rate(said, [place > 3 if place < 50 else None for place in range(200)])
    assert rare.alone is not None
    assert (rare.weight, rare.rate, rare.interval) == (0, rare.alone.share, rare.alone.interval)


def test_fewer_open_answers_than_labels_are_needed_are_all_to_be_labelled() -> None:
    """No number of labels is asked for that the answers cannot have, by label and by stratum."""
    known = [True] * 56 + [False] * 4
    found = powered_rate([True] * 60, [None] * 58 + [True, False], known=known)
    assert (found.missing, found.reason) == (2, "2 of 4 open answers are labelled: label the remaining 2")
    scored = stratified_mean(RatedAnswers([3.0] * 15, [3.0] * 5 + [None] * 10), scale=(1.0, 5.0))
    assert (scored.missing, scored.reason) == (10, "5 of 15 open answers are labelled: label the remaining 10")
    assert powered_rate([True] * 60, [None] * 58 + [True, False]).reason == "2 labels, at least 20 are needed"


def test_an_interval_by_gaffke_says_so() -> None:
    """Where answers that rules decided hardly differ, rate and labels alone have Gaffke's interval, and its name with it."""
    labels = [place > 0 if place < 24 else None for place in range(30)]
    found = powered_rate([True] * 30, labels, known=[place >= 26 for place in range(30)])
    assert found.interval is not None
    assert found.alone is not None
    assert (found.interval.method, found.alone.interval.method) == ("gaffke", "gaffke")
    assert found.alone.less.interval.method == "gaffke"


def test_two_models_by_labels_are_paired() -> None:
    """The difference of two models that are labelled on the same samples is surer with the judge's word on all of them."""
    generator = np.random.default_rng(2)
    right = [generator.random(400) < rate for rate in (0.5, 0.7)]
    said = [np.where(generator.random(400) < 0.05, ~one, one) for one in right]
    sides = [LabelledAnswers(said[at].tolist(), some(right[at].tolist(), 60)) for at in (0, 1)]
    found = powered_difference(*sides)
    assert found.interval is not None
    assert found.alone is not None
    assert found.interval.low <= 0.2 <= found.interval.high
    assert found.interval.high - found.interval.low < 0.7 * (found.alone.interval.high - found.alone.interval.low)
    rates = [powered_rate(*side[:2]).rate or 0 for side in sides]
    assert found.rate == pytest.approx(rates[1] - rates[0])
    with pytest.raises(ValueError, match="400 decisions for 399 labels"):
        powered_rate(sides[0].decided, sides[0].labels[1:])
    with pytest.raises(ValueError, match="400 first and 399 second"):
        powered_difference(sides[0], LabelledAnswers(sides[1].decided[1:], sides[1].labels[1:]))


def test_what_rules_settled_is_known() -> None:
    """Estimates never lie outside what rules and labels leave open, intervals hold the truth, and so do differences."""
    covered, outside, apart = 0, 0, 0
    for seed in range(60):
        world = ruled_world(seed, labels=30)
        estimates: list[float] = []
        for side, truth in zip(world.sides, world.truths, strict=True):
            found = powered_rate(*side[:2], known=side.known, clusters=world.images, seed=seed)
            assert found.rate is not None
            assert found.interval is not None
            low, high = certain(side)
            outside += not low - 1e-9 <= found.rate <= high + 1e-9
            covered += found.interval.low <= truth <= found.interval.high
            estimates.append(found.rate)
        found = powered_difference(*world.sides, clusters=world.images)
        assert found.rate == pytest.approx(estimates[1] - estimates[0])
        assert found.interval is not None
        apart += found.interval.low <= world.truths[1] - world.truths[0] <= found.interval.high
    assert outside == 0
    assert covered >= 108
    assert apart >= 53


def test_where_rules_and_labels_leave_nothing_open_the_rate_is_theirs() -> None:
    """No label is missing where rules decided everything, or where the few open answers are all labelled."""
    known = [True] * 55 + [False] * 5
    settled = [True] * 40 + [False] * 15
    found = powered_rate([*settled, *[True] * 5], [None] * 55 + [True, True, True, False, False], known=known)
    assert (found.rate, found.weight, found.missing, found.reason) == (43 / 60, 0, 0, "")
    assert found.interval is not None
    assert found.interval.low < 43 / 60 < found.interval.high
    assert powered_rate(settled, [None] * 55, known=[True] * 55).rate == 40 / 55
    few = powered_rate([*settled, *[True] * 5], [None] * 59 + [True], known=known)
    assert (few.rate, few.missing) == (None, 4)


@pytest.mark.parametrize("labelled", [False, True])
def test_a_difference_of_answers_that_are_all_known_has_a_width(labelled: bool) -> None:
    """Without an open answer the difference of these answers is certain, and that of all questions is not."""
    labels = [True] * 30 if labelled else [None] * 30
    known = None if labelled else [True] * 30
    same = LabelledAnswers([True] * 30, labels, known)
    difference = powered_difference(same, same)
    assert difference.rate == 0
    assert difference.interval is not None
    assert difference.interval.low < 0 < difference.interval.high


def test_the_interval_of_a_corrected_rate_tips_where_the_run_is_judged_otherwise() -> None:
    """At a specificity beyond the tipping point the rate corrected by it lies outside of the interval, before it inside."""
    judge = passport(specificity=0.95)
    answers = decisions(875, 125)
    found = corrected_rate(answers, **judge, seed=0)
    assert found.interval is not None
    tipping = interval_tipping(answers, found.interval, **judge)["specificity"]
    assert tipping.below is not None
    assert tipping.below > 0.9

    def rate(specificity: float) -> float:
        return (SENSITIVITY - 0.125) / (SENSITIVITY - (1 - specificity))

    assert rate(tipping.below + 0.001) <= found.interval.high < rate(tipping.below - 0.001)


def test_a_fall_of_specificity_from_95_to_90_percent_is_beyond_the_tipping_point() -> None:
    """Of 100 passports with 0.95 for runs with 0.90 most corrected intervals miss the rate, and the tipping point says so."""
    missed = beyond = 0
    for seed in range(100):
        generator = np.random.default_rng(seed)
        _, said = judged(generator, 0.9, 1000, (SENSITIVITY, 0.9))
        judge = {
            "sensitivity": ShareEstimate.of(int(generator.binomial(400, SENSITIVITY)), 400),
            "specificity": ShareEstimate.of(int(generator.binomial(400, 0.95)), 400),
        }
        answers = [DecidedLabel(one) for one in said]
        found = corrected_rate(answers, **judge, seed=0)
        assert found.interval is not None
        missed += not found.interval.low <= 0.9 <= found.interval.high
        below = interval_tipping(answers, found.interval, **judge)["specificity"].below
        beyond += below is not None and below > 0.9
    assert missed > 60
    assert beyond > 75


def test_the_order_of_two_models_tips_by_the_answers_of_either_alone() -> None:
    """On both alike the judge's errors change no order; that it overlooks errors of the better model alone does."""
    tipping = order_tipping(decisions(100, 100), decisions(150, 50), **passport(), seed=0)
    assert tipping["both", "sensitivity"].above is None
    overlooked = tipping["second", "sensitivity"].below
    assert overlooked is not None
    assert 0.4 < overlooked < SENSITIVITY
    alarmed = tipping["first", "specificity"].below
    assert alarmed is not None
    assert 0.4 < alarmed < SPECIFICITY
    turned = order_tipping(decisions(150, 50), decisions(100, 100), **passport(), seed=0)
    assert turned["first", "sensitivity"].below == pytest.approx(overlooked, abs=0.01)


def test_no_conclusion_has_no_tipping_point() -> None:
    """Where the interval holds the rate as judged, or a difference of 0, nothing can tip."""
    assert rate_tipping(decisions(20, 10), **passport(), seed=0) == {}
    assert order_tipping(decisions(20, 10), decisions(20, 10), **passport(), seed=0) == {}
    assert rate_tipping([], **passport(), seed=0) == {}


def strata(seed: int, labels: int, each: int | None = None) -> tuple[RatedAnswers, float]:
    """Return scores of 300 answers in three categories that differ in level and in how good the judge is, and their mean."""
    generator = np.random.default_rng(seed)
    stratum = generator.choice(3, size=300, p=[0.6, 0.3, 0.1])
    true = np.clip(np.round(3.3 + np.array([0.8, 0.0, -0.8])[stratum] + generator.standard_normal(300)), 1, 5)
    said = np.clip(np.round(true + np.array([0.0, 0.5, 1.0])[stratum] + 0.5 * generator.standard_normal(300)), 1, 5)
    drawn = (
        generator.choice(300, labels, replace=False).tolist()
        if each is None
        else [place for one in range(3) for place in generator.permutation(np.flatnonzero(stratum == one))[:each]]
    )
    told = [float(value) if place in set(drawn) else None for place, value in enumerate(true)]
    return RatedAnswers(said.tolist(), told, stratum.tolist()), float(true.mean())


@pytest.mark.parametrize("each", [None, 20])
def test_scores_by_strata_are_unbiased_and_narrower_than_labels_alone(each: int | None) -> None:
    """Also where the same number of labels is drawn of each category, whatever its size."""
    errors: list[float] = []
    for seed in range(100):
        answers, mean = strata(seed, 60, each)
        found = stratified_mean(answers, scale=(1.0, 5.0), together=each is None)
        assert found.rate is not None
        assert found.interval is not None
        assert found.alone is not None
        errors.append(found.rate - mean)
        assert found.interval.high - found.interval.low < found.alone.interval.high - found.alone.interval.low
    assert abs(np.mean(errors)) < 0.03


def test_strata_without_labels_are_refused_unless_the_draw_was_of_all_answers() -> None:
    """With the number of labels that are missing."""
    answers = RatedAnswers([1.0] * 100, [1.0, 0.0] * 20 + [None] * 60, ["a"] * 40 + ["b"] * 57 + ["c"] * 3)
    refused = stratified_mean(answers, together=False)
    assert refused.rate is None
    assert refused.missing == 5 + 3
    assert stratified_mean(answers).rate is not None


def test_one_stratum_of_rates_agrees_with_the_rate_by_labels() -> None:
    """The estimate is that of `powered_rate` but for the cross-fitting, and known answers are added as they are."""
    generator = np.random.default_rng(5)
    right, said = judged(generator, 0.7, 400, (0.9, 0.9))
    known = [place >= 300 for place in range(400)]
    plain = powered_rate(said, some(right, 60), known=known)
    found = stratified_mean(RatedAnswers(said, some(right, 60), None, known))
    assert plain.rate is not None
    assert found.rate == pytest.approx(plain.rate, abs=0.02)
    assert stratified_mean(RatedAnswers([1.0] * 60, [1.0] * 60)).rate == 1.0


def test_labels_needed_fall_with_the_width_and_keep_it() -> None:
    """With so many labels of a like draw the interval is about as narrow as was asked."""
    answers, _ = strata(1, 40)
    needed = [labels_needed(strata(seed, 40)[0], 0.45, scale=(1.0, 5.0)) or 300 for seed in range(20)]
    widths: list[float] = []
    for seed, labels in enumerate(needed):
        found = stratified_mean(strata(seed + 100, labels)[0], scale=(1.0, 5.0))
        assert found.interval is not None
        widths.append(found.interval.high - found.interval.low)
    assert min(needed) >= 40
    assert np.mean(widths) == pytest.approx(0.45, rel=0.15)
    assert labels_needed(answers, 0.01, scale=(1.0, 5.0)) is None
    with pytest.raises(ValueError, match="above 0"):
        labels_needed(answers, 0)


def test_the_difference_of_two_models_by_strata_has_its_sign() -> None:
    """And is refused with either mean."""
    first, mean = strata(2, 60)
    second = RatedAnswers(
        [min(5.0, one + 1) for one in first.values],
        [None if one is None else min(5.0, one + 1) for one in first.labels],
        first.strata,
    )
    found = stratified_difference(first, second, scale=(1.0, 5.0))
    assert found.interval is not None
    assert found.interval.low > 0
    assert mean < 5
    nothing = RatedAnswers(first.values, [None] * 300, first.strata)
    assert stratified_difference(first, nothing, scale=(1.0, 5.0)).reason.startswith("0 labels")
