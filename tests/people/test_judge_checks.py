"""Whether a judge is good enough: what blind spots and positions rest on, and what is left out."""

import pytest

from dokimasia.people.passports.suitability import JudgeCheck, JudgeQuality, judge_check
from tests.planted_judges import detections, planted_passport


def checked(*, images: int, misses: float = 0.0) -> JudgeCheck:
    cases = detections(images=images, misses=misses, alarms=0.0, ways=("pairwise-vanilla",))
    return judge_check(planted_passport(cases), labelled={}, seconds={})


def quality(check: JudgeCheck, name: str) -> JudgeQuality:
    (use,) = check.uses
    return next(measured for measured in use.qualities if measured.name == name)


@pytest.mark.parametrize(
    ("images", "misses", "within"), [(6, 0.0, "open"), (24, 0.0, "yes"), (24, 1.0, "open")], ids=["few", "many", "all"]
)
def test_no_blind_spot_is_sure_only_if_every_kind_is_seen(images: int, misses: float, within: str) -> None:
    """With few errors a kind, or of a judge that misses all kinds alike, nothing says that there is no blind spot."""
    check = checked(images=images, misses=misses)
    assert (quality(check, "blind spots").value, quality(check, "blind spots").within) == (0, within)


def test_position_bias_is_over_what_is_judged_in_both_orders() -> None:
    """The right answer judged once more is shown in one order, and is none of the items."""
    bias = quality(checked(images=24), "position bias")
    assert (bias.n, bias.n_scored) == (24 * 5, 24 * 5)
