"""Intervals in worlds that share no code with the package: what is printed covers, and what does not is not printed."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def independent(monkeypatch: pytest.MonkeyPatch):
    """The generator of worlds, which lies beside the program and not in it."""
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks.calibration.independent import __main__ as independent

    return independent


@pytest.mark.full
def test_mean_scores_of_few_unequal_images_cover_where_they_are_printed(independent) -> None:
    """With 12 images of 1 to 20 samples at ceiling and floor part is printed and covers; in mid-scale all is."""
    found = {one.name: one for one in independent.cells(100, ["mean score"])}
    for level in ("ceiling", "floor"):
        one = found[f"mean score, 12 images of 1 to 20 samples, {level}"]
        assert 15 <= one.printed <= 85
        assert one.covered >= 0.93 * one.printed
    usual = found["mean score, 20 images of 5 samples, mid-scale"]
    assert usual.printed == usual.sets
    assert usual.covered >= 90


@pytest.mark.full
def test_correlations_of_few_pairs_are_not_printed(independent) -> None:
    """Below ten pairs no correlation has an interval; from ten on they cover."""
    found = {one.name: one for one in independent.cells(40, ["correlations"])}
    few = [one for name, one in found.items() if " of 5 " in name or " of 8 " in name]
    assert [one.printed for one in few] == [0] * 6
    assert all(one.kept() for one in found.values())


@pytest.mark.parametrize(("printed", "least"), [(0, 0), (20, 15), (400, 366), (1000, 915)])
def test_the_rule_leaves_to_chance_what_few_intervals_do(independent, printed: int, least: int) -> None:
    """Of 400 printed intervals 366 have to cover, and of a few as many as intervals of 95 % nearly always do."""
    assert independent.least(printed, 366) == least


@pytest.mark.full
def test_the_interval_of_corrected_rates_was_chosen_for_what_it_covers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the ways compared, the one that `corrected_rate` takes covers in every world, and both classical ones do not."""
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks.calibration.independent.corrected import compared

    found = {name: min(one.covered for one in came) for name, came in compared(200).items()}
    assert found["MOVER, exact shares"] > 0.9
    assert found["delta method on the logit"] < 0.8
    assert found["parametric bootstrap"] < 0.8
