"""Whether a judge is good enough: what blind spots and positions rest on, and what is left out."""

import pytest

from dokimasia.domain.blindspots import NEUTRAL, Detection, Evaluator
from dokimasia.people.passports.suitability import JudgeCheck, JudgeQuality, check_blocks, judge_check
from dokimasia.report.blocks import Bullets, plain
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


def padded(*, better: int, worse: int, equal: int, failed: int, way: Evaluator = "single-vanilla") -> JudgeQuality:
    """Return the quality of length of a judge that judges so many padded answers better, worse or as before, or fails."""
    (use,) = judge_check(
        planted_passport(with_padding(way, better=better, worse=worse, equal=equal, failed=failed)),
        labelled={},
        seconds={},
    ).uses
    return next(one for one in use.qualities if "length" in one.name)


def with_padding(
    way: Evaluator, *, better: int = 0, worse: int = 0, equal: int = 0, failed: int = 0
) -> list[Detection]:
    """Return the detections of a careful judge, and so many of padded answers."""
    moved = [(0.0, 1.0)] * better + [(0.0, 0.0)] * worse + [(1.0, 0.0)] * equal + [(None, None)] * failed
    found = detections(alarms=0.0, ways=(way,))
    for number, (same, gain) in enumerate(moved):
        found.append(
            Detection(
                judge="sim/judge",
                task="image-to-text",
                evaluator=way,
                case="padded",
                dimension=NEUTRAL,
                group="",
                cluster=f"image-{number}",
                item=f"padded/{number}",
                equal=same,
                worse=gain,
                failure="" if same is not None else "unparsable",
            )
        )
    return found


def test_a_judge_that_is_suitable_by_some_evaluators_alone_is_called_that_first() -> None:
    """The verdict that a reader quotes names the evaluators that it holds for, and those that it does not hold for."""
    careful = detections(images=24, misses=0.0, alarms=0.0, ways=("single-vanilla",))
    cases = [*careful, *with_padding("right-or-wrong", worse=20, equal=20)]
    check = judge_check(planted_passport(cases), labelled={}, seconds={})
    assert [use.verdict for use in check.uses] == ["suitable", "not suitable"]
    assert check.sentence.startswith("suitable for single-vanilla alone, not for right-or-wrong")
    alone = judge_check(planted_passport(careful), labelled={}, seconds={})
    assert alone.verdict == "suitable"
    assert "alone" not in alone.sentence


def test_a_failed_judgement_of_a_padded_answer_has_no_part_in_the_length_bias() -> None:
    """It is in n and lowers the coverage."""
    bias = padded(better=10, worse=2, equal=20, failed=8)
    assert (bias.name, bias.value, bias.n, bias.n_scored, bias.coverage) == ("length bias", 0.25, 40, 32, 0.8)
    assert bias.low is not None
    assert bias.high is not None
    assert bias.low < 0.25 < bias.high


def test_a_judge_may_prefer_the_shorter_answer_and_may_not_call_the_longer_one_wrong() -> None:
    """A score below that without padding is within the limit, a decision that changes is not."""
    assert padded(better=0, worse=20, equal=20, failed=0).within == "yes"
    changed = padded(better=0, worse=20, equal=20, failed=0, way="right-or-wrong")
    assert (changed.name, changed.value, changed.within) == ("changed by length", 0.5, "no")


def test_what_an_open_row_and_a_value_below_0_mean_stands_under_the_table() -> None:
    """Every quality has a name that can be read in a sentence, and the notes are sentences."""
    check = checked(images=24)
    assert quality(check, "verdict changed on repetition").limit == 0.1
    *_, notes = check_blocks(check)
    assert isinstance(notes, Bullets)
    text = " ".join(map(plain, notes.items))
    assert "Values below 0 count as within the limit." in text
    assert "An open row affects the verdict only for undetected errors, or if its value exceeds the limit." in text
