"""Passports of judges: what they say of planted judges, their files, and what is refused."""

from collections.abc import Sequence
from pathlib import Path

import orjson
import pytest

from benchmarks.calibration.passports import EQUAL, best_of_ten
from dokimasia.domain.blindspots import EVALUATORS
from dokimasia.domain.passport import MeasuredShare, Passport
from dokimasia.errors import DataError, NotFound
from dokimasia.people.passports.blocks import blocks_of
from dokimasia.people.passports.choosing import recommendations, task_halves
from dokimasia.people.passports.files import encoded, read_passport, schema, write_passport
from dokimasia.report.blocks import Span, Table, plain
from dokimasia.report.figures import NOTHING
from tests.planted_judges import detections, judge_of, planted_passport


def test_rates_cover_what_is_planted() -> None:
    """Detection by group and false alarms are those that were planted, within their intervals, and n is all items."""
    found = planted_passport(detections(images=60, misses={"VG": 0.1, "VR": 0.8}, alarms=0.15, seed=3))
    for group, missed in (("VG", 0.1), ("VR", 0.8)):
        rates = found.rates("image-to-text", "checkpoints", level="group", name=group)
        assert rates is not None
        assert rates.n == rates.n_scored == 120
        assert rates.detection.low is not None
        assert rates.detection.high is not None
        assert rates.detection.low <= 1 - missed <= rates.detection.high
    alarms = next(one.false_alarms for one in found.neutral if one.evaluator == "gated")
    assert alarms.low is not None
    assert alarms.high is not None
    assert alarms.low <= 0.15 <= alarms.high


def test_failed_judgements_are_no_numbers() -> None:
    """A judgement that failed is in n and in the rate of refusals, and in no detection rate."""
    found = planted_passport(detections(misses=0.0, failing=0.3))
    rates = found.rates("image-to-text", "gated")
    assert rates is not None
    assert 0 < rates.n_scored < rates.n
    assert rates.detection.share == 1.0
    replies = next(one for one in found.replies if one.evaluator == "gated")
    assert replies.failures == {"unparsable": replies.n - sum(_scored(found, "gated"))}
    assert replies.refused.share == 0.0


def _scored(found: Passport, evaluator: str) -> list[int]:
    rows = [*(one for one in found.errors if one.level == "all"), *found.neutral, *found.retests]
    return [one.n_scored for one in rows if one.evaluator == evaluator]


def test_decisions_have_counts_by_kind_of_error() -> None:
    """Sensitivity and specificity of decisions come as counts, by dimension, which add up to the whole."""
    found = planted_passport()
    decided = found.decisions("image-to-text", "right-or-wrong")
    assert decided is not None
    assert sum(one.k for one in decided.by_dimension) == decided.sensitivity.k
    assert sum(one.n for one in decided.by_dimension) == decided.sensitivity.n == 96
    assert (decided.specificity.n, decided.specificity.images) == (24, 24)
    assert {one.group for one in decided.by_dimension} == {"VG", "VR"}
    assert found.decisions("image-to-text", "single-vanilla") is None


def test_a_judge_that_takes_the_first_place_shows() -> None:
    """Position bias is above 0 for a judge that often takes what stands first, and consistency falls."""
    fair, first = (
        planted_passport(detections(ways=["pairwise-vanilla"], bias=bias, images=40)).places[0] for bias in (0.0, 0.5)
    )
    assert fair.bias.mean == 0
    assert fair.consistency.share == 1
    assert first.bias.low is not None
    assert first.bias.low > 0.2
    assert first.consistency.high is not None
    assert first.consistency.high < 0.8


def test_the_judge_stands_beside_people_who_labelled_the_same_items() -> None:
    """Two people who say what was planted agree always, the judge as often as it sees errors and raises no alarm."""
    found = detections(misses=0.4, alarms=0.2, images=30)
    truth = {one.item: float(one.case == "error") for one in found if one.case in ("error", "neutral")}
    labels = {item: {"ann": worse, "ben": worse} for item, worse in truth.items()}
    passport = planted_passport(found, labels=labels)
    assert {one.evaluator for one in passport.human_ceiling} == {one.evaluator for one in passport.replies}
    decided = passport.decisions("image-to-text", "right-or-wrong")
    ceiling = next(one for one in passport.human_ceiling if one.evaluator == "right-or-wrong")
    assert decided is not None
    assert (ceiling.people, ceiling.n, ceiling.comparisons) == (2, len(truth), 2 * len(truth))
    assert (ceiling.among_people.share, ceiling.passed) == (1.0, False)
    right = decided.sensitivity.k + decided.specificity.k
    assert ceiling.judge.share == pytest.approx(right / len(truth), abs=1e-6)
    assert ceiling.warning.startswith("there are two people")
    assert "ann" not in encoded(passport).decode()
    told = [
        plain(cell) for block in blocks_of(passport) if isinstance(block, Table) for row in block.rows for cell in row
    ]
    assert "0.00, not shown" in told


def test_a_ceiling_without_a_value_is_no_number() -> None:
    """A passport may leave a share of its ceiling null: its table then has no number there, and 0 least of all."""
    found = detections(images=30)
    labels = {one.item: {"ann": 1.0, "ben": 1.0} for one in found}
    passport = planted_passport(found, labels=labels)
    ceiling = passport.human_ceiling[0].model_copy(update={"judge": MeasuredShare(no_interval="one cluster")})
    passport = passport.model_copy(update={"human_ceiling": (ceiling,)})
    (table,) = (block for block in blocks_of(passport) if isinstance(block, Table) and "panels" in block.about)
    people, judge = (plain(cell) for cell in table.rows[0][2:4])
    assert people.startswith("1.00")
    assert judge == plain(NOTHING)


def test_a_passport_without_several_people_says_nothing_of_them() -> None:
    """One label an item makes no ceiling; the file, its hash and its identity are those without labels."""
    found = detections()
    alone = planted_passport(found, labels={found[0].item: {"ann": 1.0}})
    assert alone == planted_passport(found)
    assert b"human_ceiling" not in encoded(alone)


def test_own_answers_need_own_answers() -> None:
    """Self-preference is null with its reason where nobody knows of an answer that the judge's own model wrote."""
    found = planted_passport()
    assert all(one.difference.mean is None for one in found.own_answers)
    assert {one.reason for one in found.own_answers} == {
        "no answer with an error is known to be written by the judge's own model"
    }


def test_selection_and_estimation_share_no_image() -> None:
    """What is recommended is chosen on one half of the images and its rates come from the other: together all of them."""
    found = planted_passport(detections(images=31))
    whole = next(one for one in found.recommended if not one.group)
    assert whole.estimated is not None
    assert {one.images for one in whole.considered} == {16}
    assert whole.estimated.images == 15
    assert whole.evaluator == max(whole.considered, key=lambda one: one.worth or 0).evaluator
    assert [one.group for one in found.recommended] == ["", "VG", "VR"]


def test_kinds_without_a_recommendation_share_a_row() -> None:
    """Where nothing is recommended for one reason, the table says it once and names the kinds of error."""
    found = planted_passport(detections(images=31))
    none = {"evaluator": None, "paradigm": None, "estimated": None, "reason": "nothing was judged"}
    recommended = [one.model_copy(update=none) for one in found.recommended]
    changed = found.model_copy(update={"recommended": tuple(recommended)})
    table = next(one for one in blocks_of(changed) if isinstance(one, Table) and one.about.startswith("Recommended"))
    assert [row[:3] for row in table.rows] == [
        ["image-to-text", "all, VG and VR", Span("nothing was judged", "muted")],
    ]


def test_the_recommended_rate_has_no_winners_curse() -> None:
    """Where all evaluators are alike the best one looks too good on the half that chose it, and not on the other."""
    ways = EVALUATORS[:4]
    chosen: list[float] = []
    estimated: list[float] = []
    for seed in range(60):
        found = detections(ways=ways, images=20, misses=0.5, alarms=0.2, seed=seed)
        by_way = {("image-to-text", way): [one for one in found if one.evaluator == way] for way in ways}
        one = next(recommendations(task_halves(by_way, seed=seed)))
        assert one.estimated is not None
        best = next(half for half in one.considered if half.evaluator == one.evaluator)
        chosen.append(best.detection.share or 0)
        estimated.append(one.estimated.detection.share or 0)
    assert sum(chosen) / 60 > 0.53
    assert sum(estimated) / 60 == pytest.approx(0.5, abs=0.02)


def test_the_chosen_judge_is_described_by_the_images_that_did_not_choose_it() -> None:
    """The best of ten equal judges has their rate on the half that did not choose, whose interval holds it often enough."""
    chosen, luckiest = zip(*(best_of_ten(seed, images=60) for seed in range(60)), strict=True)

    def mean(rates: Sequence[MeasuredShare]) -> float:
        return sum(one.share or 0.0 for one in rates) / len(rates)

    assert mean(luckiest) > EQUAL + 0.04
    assert mean(chosen) == pytest.approx(EQUAL, abs=0.025)
    held = sum((one.low or 0.0) <= EQUAL <= (one.high or 1.0) for one in chosen)
    assert held >= 54


def test_equal_material_makes_equal_bytes(tmp_path: Path) -> None:
    """The same detections in any order make the same file, which reads as the passport that it is of."""
    found = detections()
    one, other = planted_passport(found), planted_passport(found[::-1])
    assert encoded(one) == encoded(other)
    write_passport(one, tmp_path / "judge.json")
    assert read_passport(tmp_path / "judge.json") == one


def test_dates_are_no_part_of_the_identity() -> None:
    """The same measurement on another day has the same identity, and another hash of the file's content."""
    one = planted_passport()
    later = one.model_copy(update={"dates": None}).sealed()
    assert later.identity == one.identity
    assert later.sha256 != one.sha256


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda body: body["judge"].update(model="other/model"), "changed after it was made"),
        (lambda body: body["dates"].update(first="2020-01-01"), "changed after it was made"),
        (lambda body: body["errors"][0]["detection"].update(share=0.99), "changed after it was made"),
        (lambda body: body.update(format="dokimasia-passport/7"), "its format is dokimasia-passport/7"),
        (lambda body: body.update(format="other"), "no passport"),
        (lambda body: body.update(more=1), "more: Extra inputs"),
        (lambda body: body["judge"].pop("model"), "judge.model: Field required"),
    ],
)
def test_a_passport_altered_by_hand_is_refused(tmp_path: Path, change, told: str) -> None:
    """A file that is not as it was made is refused with the reason and a way out."""
    path = tmp_path / "judge.json"
    body = orjson.loads(encoded(planted_passport()))
    change(body)
    path.write_bytes(orjson.dumps(body))
    with pytest.raises(DataError) as problem:
        read_passport(path)
    assert told in str(problem.value)
    assert "dokimasia passport" in str(problem.value)


def test_what_is_no_file_or_no_json_is_said(tmp_path: Path) -> None:
    """A file that is not there, and one that is no JSON, are named."""
    with pytest.raises(NotFound, match=r"gone\.json: there is no such file"):
        read_passport(tmp_path / "gone.json")
    (tmp_path / "torn.json").write_text('{"format":')
    with pytest.raises(DataError, match=r"torn\.json, line 1: no JSON"):
        read_passport(tmp_path / "torn.json")


def test_the_schema_describes_every_field() -> None:
    """The published schema names every part of a passport, and has a meaning for every share."""
    shown = schema()
    assert shown["properties"].keys() == Passport.model_fields.keys()
    assert judge_of().model_fields_set <= shown["$defs"]["PassportModel"]["properties"].keys()
