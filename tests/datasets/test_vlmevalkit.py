"""Judged duels are written as VLMEvalKit keeps them, and are read back by id, in the same form to the last verdict."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from dokimasia.algorithms.pairwise import VerdictCounts
from dokimasia.datasets.vlmevalkit import COLUMNS, ENDINGS, JudgedCase, ratings, read_judged, scores_table
from dokimasia.errors import DataError, NotFound

CASES = [
    JudgedCase(
        "1", "travel_journal", {"first": 2, "second": 1}, {"first": (8, 6), "second": (7.5, 6)}, "Mine.", "Its."
    ),
    JudgedCase("2", "travel_journal", {"first": -1, "second": None}, None, 'A "quoted"\nline', "x"),
    JudgedCase("3", "meme_explanation", {"first": 0, "second": -2}, {"first": None, "second": (10, 0)}, "=1+1", "y"),
    JudgedCase("4", "own_task", {"first": None, "second": None}, {"first": None, "second": None}),
]


def written(folder: Path, cases: list[JudgedCase] = CASES) -> Path:
    """Write both tables and return the path that names them."""
    for at, ending in ENDINGS.items():
        with (folder / f"m_Creation_MMBench{ending}_score.csv").open("w", newline="") as file:
            csv.writer(file).writerows(scores_table(cases, at))
    return folder / "m_Creation_MMBench_merged_rating.json"


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    """Both orders, failures, cases without factuality criteria and the answers come back by id."""
    assert read_judged(written(tmp_path)) == CASES


def test_rows_are_matched_by_id(tmp_path: Path) -> None:
    """The order of the rows in one table does not matter."""
    path = written(tmp_path)
    table = tmp_path / "m_Creation_MMBench_rev_score.csv"
    with table.open(newline="") as file:
        header, *rows = csv.reader(file)
    with table.open("w", newline="") as file:
        csv.writer(file).writerows([header, *reversed(rows)])
    assert read_judged(path) == CASES


def test_a_table_shows_a_and_b() -> None:
    """In the plain table A is the baseline and B the model, in the other one the other way round."""
    plain, turned = (dict(zip(COLUMNS, list(scores_table(CASES, at))[1], strict=True)) for at in ("second", "first"))
    assert (plain["reference_answer_by_gpt4o"], plain["prediction"]) == ("Its.", "Mine.")
    assert (plain["subjective_score"], plain["objective_score"]) == ("B>A", "6.0|7.5")
    assert (turned["reference_answer_by_gpt4o"], turned["prediction"]) == ("Mine.", "Its.")
    assert (turned["subjective_score"], turned["objective_score"]) == ("A>>B", "8.0|6.0")


def test_the_merged_rating_is_that_of_both_orders() -> None:
    """Reward, win rate, distribution and factuality over both orders, overall, by task, and by category under its names."""
    found: dict[str, Any] = json.loads(json.dumps(ratings(CASES)))
    merged = found["_merged_rating.json"]
    counts = VerdictCounts(much_better=1, better=1, tie=1, worse=1, much_worse=1, failed=3)
    overall = merged["overall"]
    assert overall["reward"] == pytest.approx(counts.reward)
    assert overall["win_rate"] == pytest.approx(counts.win_rate)
    assert overall["preference_parse_ok"] == 5 / 8
    assert overall["preference_dist"] == {"-2": 0.2, "-1": 0.2, "0": 0.2, "1": 0.2, "2": 0.2}
    assert overall["visual_factuality_score"] == pytest.approx((8 + 7.5 + 10) / 3)
    assert overall["visual_factuality_ref_score"] == pytest.approx((6 + 6 + 0) / 3)
    assert overall["visual_factuality_parse_ok"] == 3 / 6
    assert merged["own_task"] == {"preference_parse_ok": 0.0, "visual_factuality_parse_ok": 0.0}
    assert merged["CATEGORY_Common_Functionality_Writing"] == merged["travel_journal"]
    assert set(merged["category_raw"]) == {
        "CATEGORY_Common_Functionality_Writing",
        "CATEGORY_Creative_Multimodal_Understanding",
    }
    assert sorted(merged["raw"]["overall"]["sub_score"]) == [-2, -1, 0, 1, 2]


def test_each_order_has_its_own_rating() -> None:
    """The rating of one order is that of B: the model's in the plain one, the baseline's in the other."""
    found = ratings(CASES)
    assert found["_rating.json"]["overall"]["sub_reward"] == 50 * (1 - 2) / 2
    assert found["_rev_rating.json"]["overall"]["sub_reward"] == 50 * (-2 + 1 - 0) / 3
    assert found["_rev_rating.json"]["raw"]["overall"]["obj_score"] == [6]
    assert found["_rating.json"]["raw"]["overall"]["obj_score"] == [7.5, 10]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"subjective_score": "A>C"}, "line 2: 'A>C' is no verdict"),
        ({"objective_score": "8"}, "line 2: '8' are no two scores"),
        ({"objective_score": "8|11"}, "line 2: '8|11' lies outside"),
        ({"index": ""}, "line 2: the column 'index'"),
        ({"index": "2"}, "case '2' stands there twice"),
        ({"index": "9"}, "case '1' stands in one of them only"),
    ],
)
def test_what_cannot_be_used_is_named(tmp_path: Path, change: dict[str, str], reason: str) -> None:
    """A damaged row is an error with its place."""
    path = written(tmp_path)
    table = tmp_path / "m_Creation_MMBench_score.csv"
    with table.open(newline="") as file:
        rows = list(csv.DictReader(file))
    rows[0] |= change
    with table.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    with pytest.raises(DataError) as problem:
        read_judged(path)
    assert reason in str(problem.value)


def test_both_tables_are_needed(tmp_path: Path) -> None:
    """A missing table is named."""
    path = written(tmp_path)
    (tmp_path / "m_Creation_MMBench_rev_score.csv").unlink()
    with pytest.raises(NotFound, match="_rev_score"):
        read_judged(path)
