"""The calibration runs, finds what is planted, and can fail."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def calibration(monkeypatch: pytest.MonkeyPatch):
    """The calibration's package, which lies beside the program and not in it."""
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks.calibration import __main__ as calibration

    return calibration


def test_every_printed_interval_has_one_rule(calibration) -> None:
    """Each place of an interval in the figures' models is held to exactly one rule, and no rule is left without a place."""
    from benchmarks.calibration.printed import BESIDE_MODELS, RULES, places, rules_of

    found = set(places())
    assert len(found) > 150
    assert [place for place in sorted(found) if len(rules_of(place)) != 1] == []
    used = {rule.places for place in found for rule in rules_of(place)}
    assert [rule.places for rule in RULES if rule.places not in used] == []
    families = {rule.family for rule in (*RULES, *BESIDE_MODELS.values())}
    assert families <= set(calibration.FAMILIES)


def test_an_interval_without_a_rule_is_found() -> None:
    """A place that nothing is known of has no rule, and bounds are no intervals."""
    from benchmarks.calibration.printed import places, rules_of

    assert rules_of("evaluate.models.charm") == []
    assert "audit.models.bounds.overall" not in set(places())


@pytest.mark.full
def test_a_few_seeds_end_to_end(calibration) -> None:
    """Over two seeds every figure has its verdict, and intervals cover nearly always."""
    from benchmarks.calibration.printed import BESIDE_MODELS, RULES

    verdicts = calibration.calibrate(2)
    for rule in (*RULES, *BESIDE_MODELS.values()):
        assert any(one.name.startswith(rule.figure) for one in verdicts[rule.family]), rule
    assert list(verdicts) == list(calibration.FAMILIES)
    intervals = [one for several in verdicts.values() for one in several if one.rule == "covers"]
    assert len(intervals) > 60
    assert sum(one.count for one in intervals) / sum(one.printed for one in intervals) > 0.9
    assert all(one.mean_width > 0 for one in intervals if one.printed)
    assert sum(one.printed for one in intervals) / sum(one.seeds for one in intervals) > 0.9


@pytest.mark.full
def test_unclustered_intervals_break_the_rule(calibration) -> None:
    """With six questions an image the clustered interval keeps the rule over 40 seeds, the unclustered one does not."""
    verdicts = {one.name: one for one in calibration.calibrate(40, families=["clusters"])["clusters"]}
    for figure in ("mean score", "paired difference"):
        with_clusters = verdicts[f"six questions an image, {figure}, clustered"]
        without = verdicts[f"six questions an image, {figure}, unclustered"]
        assert with_clusters.count >= 36
        assert without.count <= 33
        assert without.kept, "that it breaks the rule is what it is there for"


@pytest.mark.full
def test_equal_models_are_not_marked_against_the_others(calibration) -> None:
    """Over 20 seeds at most 4 mark any of five or twenty equal models with scores at the ceiling; most find a worse one."""
    families = ["equal models", "worse model"]
    found = {one.name: one for several in calibration.calibrate(20, families=families).values() for one in several}
    for models in (5, 20):
        assert found[f"{models} equal models, 10% below full, any node"].count <= 4
        assert found[f"{models} models, 10% below full, one worse at a leaf, found"].count >= 14


@pytest.mark.full
def test_a_kind_of_error_on_hard_images_is_no_blind_spot(calibration) -> None:
    """Over 20 seeds at most 4 name a kind that stands mostly on hard images, and most name it where it is missed more."""
    tied, more = calibration.calibrate(20, families=["tied kinds"])["tied kinds"]
    assert tied.count <= 4
    assert more.count >= 14
    assert more.rule == "finds"


@pytest.mark.full
def test_paradigms_of_unequally_many_strategies_are_compared_at_the_level(calibration) -> None:
    """Over 60 seeds at most 4 tell any paradigm of equal judges from another, and half find the one that misses more."""
    equal, more = calibration.calibrate(60, families=["strategies"])["strategies"]
    assert equal.count <= 4
    assert more.count >= 30


@pytest.mark.full
def test_only_what_holds_for_terse_models_is_held_to_its_level(calibration) -> None:
    """A terse and a talkative model of equal skill: right answers and what both speak to tell them apart by chance alone.

    The score as published tells them apart nearly always, and the score on what both speak to where silence depends on
    what a model would have got wrong.
    """
    found = {one.name: one for one in calibration.calibrate(30, families=["equal skill"])["equal skill"]}
    for silence in ("silent at random", "silent where it is hard"):
        assert found[f"sign-flip test, {silence}, right answers"].count <= 4
        assert found[f"sign-flip test, {silence}, score on what both speak to"].count <= 6
        assert found[f"paired difference, {silence}, score on what both speak to"].count >= 24
        assert found[f"sign-flip test, {silence}, score as published"].count >= 25
    assert found["sign-flip test, silent where it errs, right answers"].count <= 4
    misled = found["sign-flip test, silent where it errs, score on what both speak to, misled"]
    assert misled.count >= 18
    assert misled.kept, "that it misleads is what it is there for"


@pytest.mark.full
def test_what_is_expected_of_silent_models_is_what_they_do(calibration) -> None:
    """Over many answers to one world's questions the planted figures are met, none of which comes from an answer."""
    from random import Random

    from benchmarks.calibration import planted_speech, speaking
    from benchmarks.calibration.planted import fogged_images, world

    pairs, speaker, rng = list(world(0)), speaking.HARD_ONES, Random(1)
    planted = planted_speech.expected(speaker, speaking.JUDGE, pairs)
    right: list[bool] = []
    shares: list[float] = []
    for _ in range(150):
        fogged = fogged_images(rng, speaker.who, pairs)
        for (_, question), one in zip(
            pairs, planted_speech.answers(rng, speaker, speaking.JUDGE, pairs, fogged), strict=True
        ):
            right += [] if one.right is None else [one.right]
            weights = [step.weight for step in question.steps]
            shares.append(sum(w for w, told in zip(weights, one.stated, strict=True) if told) / sum(weights))
    assert sum(right) / len(right) == pytest.approx(planted.accuracy, abs=0.03)
    assert sum(shares) / len(shares) == pytest.approx(planted.stated, abs=0.01)


def test_a_broken_rule_is_reported() -> None:
    """An interval that misses too often is not kept; so are tests that cry wolf."""
    sys.path.insert(0, str(ROOT))
    try:
        from benchmarks.calibration.trials import Seed, Trial
        from benchmarks.calibration.verdicts import judge
    finally:
        sys.path.remove(str(ROOT))
    seeds = [Seed({"mean score": Trial(0, 1, 2 if at < 31 else 0.5)}, {"test": 0.04}) for at in range(400)]
    truth = sum(seed.intervals["mean score"].planted for seed in seeds) / 400
    interval, alarms, uniform = judge(seeds)
    assert interval.truth == pytest.approx(truth)
    assert interval.kept
    assert interval.needed == ">= 370"
    assert (alarms.count, alarms.kept, uniform.kept) == (400, False, False)
    missing = [Seed({"mean score": Trial(0, 0.4, 0.5)}, {}) if at < 31 else seeds[-1] for at, _ in enumerate(seeds)]
    verdict = judge([Seed(seed.intervals, {}) for seed in missing])[0]
    assert (verdict.count, verdict.kept, verdict.too_low) == (369, False, 31)


def test_command_prints_json() -> None:
    """The command prints one JSON object and says by its exit code whether every rule was kept."""
    command = [sys.executable, "-m", "benchmarks.calibration", "--json", "--seeds", "4", "--families", "rates"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    printed = json.loads(done.stdout)
    assert printed["seeds"] == 4
    assert done.returncode == (0 if printed["kept"] else 1)
    assert {"name", "rule", "count", "needed", "kept", "mean_width"} <= set(printed["families"]["rates"][0])
