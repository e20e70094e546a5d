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
    """With 12 images of 1 to 20 samples every mean has an interval, at ceiling, floor and in mid-scale, and it covers."""
    found = {one.name: one for one in independent.cells(100, ["mean score"])}
    for world in (f"12 images of 1 to 20 samples, {level}" for level in ("ceiling", "floor", "mid-scale")):
        one = found[f"mean score, {world}"]
        assert one.printed == one.sets
        assert one.covered >= 93
    assert found["mean score, 20 images of 5 samples, mid-scale"].covered >= 90


@pytest.mark.parametrize("name", ["paired, 20 images of 1, .02 with sd .05", "mean, 12 images of 1, fives, 4.5 and 1"])
def test_every_small_data_set_has_an_interval_that_covers(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """In a small cell of the calibration all data sets have an interval, where a part had none, and it covers."""
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks.calibration.independent import small

    kinds = small.cell(name, 60)
    assert not small.broken(kinds, 60)
    assert kinds["rule"].printed == 60 > kinds["before"].printed
    assert kinds["rule"].covered >= 55


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
