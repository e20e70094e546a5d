"""Marks of differences: one rule for every table, by the adjusted p-value where a table has one."""

import re
from pathlib import Path
from typing import Literal

import pytest

from dokimasia.cli.main import run
from dokimasia.report.blocks import Span, plain
from dokimasia.report.comparison import ComparedMeans, difference_cells, interval_and_test
from dokimasia.report.fields import ChangeCounts, Interval, Permutations


def compared(low: float | None, high: float | None, p_value: float) -> ComparedMeans:
    """Two means whose difference has this interval and this p-value."""
    return ComparedMeans(
        first=3.0,
        second=3.5,
        difference=Interval(mean=0.5, low=low, high=high),
        p_value=p_value,
        permutations=Permutations(patterns=1024, exact=True),
        changed=ChangeCounts(higher=8, equal=1, lower=1),
    )


@pytest.mark.parametrize(
    ("means", "adjusted", "tone"),
    [
        (compared(0.1, 0.9, 0.015), None, "higher"),
        (compared(0.1, 0.9, 0.015), 0.04, "higher"),
        (compared(0.1, 0.9, 0.015), 0.092, "strong"),
        (compared(-0.1, 1.1, 0.2), 0.2, "strong"),
        (compared(0.1, 0.9, 0.06), None, "strong"),
        (compared(None, None, 0.015), None, "higher"),
        (compared(None, None, 0.015), 0.092, "strong"),
    ],
)
def test_a_difference_is_marked_by_the_adjusted_p_value(
    means: ComparedMeans, adjusted: float | None, tone: Literal["higher", "strong"]
) -> None:
    """What stays below the limit unadjusted alone may be chance among several comparisons, and has no mark."""
    difference = difference_cells(means, adjusted=adjusted)[2]
    assert isinstance(difference, Span)
    assert difference.tone == tone


def test_a_difference_of_shares_is_that_of_the_shares_beside_it() -> None:
    """With a decimal each, 80.0 % less 57.5 % is 22.5; whole numbers would round each by itself."""
    means = compared(-0.35, -0.1, 0.01).model_copy(update={"first": 0.8, "second": 0.575})
    means = means.model_copy(update={"difference": Interval(mean=-0.225, low=-0.35, high=-0.1)})
    first, second, difference, limits, _ = map(plain, difference_cells(means, percent=True))
    assert (first, second, difference, limits) == ("80.0 %", "57.5 %", "−22.5", "−35.0, −10.0")


def test_an_interval_that_allows_for_unseen_images_is_told_apart_from_a_contradiction() -> None:
    """Beside a small p it has its own explanation; both it and an interval of the usual method are inconclusive."""
    usual = compared(-0.1, 1.1, 0.031)
    assert usual.difference is not None
    wide = usual.difference.model_copy(update={"interval_method": "gaffke"})
    allowing = usual.model_copy(update={"difference": wide})
    (note,) = interval_and_test([("score of a → b", allowing)])
    assert note.startswith("The interval holds 0 although p is at most 0.05 on score of a → b: it allows for images")
    assert note.endswith("Treat such a difference as inconclusive.")
    assert difference_cells(allowing)[2] == Span("+0.50", "strong")
    (contradiction,) = interval_and_test([("score of a → b", usual)])
    assert "disagree on score of a → b" in contradiction
    assert not list(interval_and_test([("score of a → b", compared(0.1, 0.9, 0.031))]))


def test_two_judges_of_the_same_answers_lead_with_the_clearest_difference_of_scores(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The strict accuracy, which the judge does not change, is said once."""
    data, home = str(tmp_path / "world.jsonl"), ["--home", str(tmp_path / "home")]
    assert run(["sim", "make", data, "--samples", "36", "--seed", "1"]) == 0
    for judge in ("sim/judge", "sim/judge-lenient"):
        models = ["--models", "sim/hasty,sim/weak", "--name", judge.partition("/")[2]]
        assert run(["evaluate", data, "--judge", judge, *models, *home]) == 0
    capsys.readouterr()
    assert run(["diff", "judge", "judge-lenient", *home]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert re.search(
        r"The same answers; only the judge differs\. Strict accuracy is unchanged: sim/hasty \d+\.\d % of 36 and "
        r"sim/weak \d+\.\d % of 36\. The largest clear difference of scores: sim/weak: score [\d.]+ → [\d.]+, a difference of \+",
        printed,
    )
    assert "No sample differs." not in printed
