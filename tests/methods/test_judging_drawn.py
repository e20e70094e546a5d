"""A comparison of judging methods as it is drawn: what page, Markdown and terminal say of it, from figures alone."""

import numpy as np
import pytest

from dokimasia.domain.judging.judgements import HumanRanking
from dokimasia.methods.judging.figures import ShownRanking, comparisons_of, judging_tables, order_effect, per_point
from dokimasia.methods.judging.report import DRAWING, accuracy, conclusion, cost, gaps, margins, order
from dokimasia.report.blocks import Chart, Paragraph, Table, plain
from dokimasia.report.data import ReportData
from dokimasia.report.fields import Share, as_json

pytestmark = pytest.mark.full  # tests/report/test_kinds.py and tests/cli hold the same tables

IMAGES = 20


@pytest.fixture(scope="module")
def summary():
    """Figures of two methods, of which one knows what two people say, and one guesses."""
    rng = np.random.default_rng(4)
    merit = rng.integers(0, 9, size=(IMAGES, 4))
    rankings = [
        HumanRanking(sample=f"s{row}", annotator=who, scores={f"m{at}": float(merit[row, at]) for at in range(4)})
        for row in range(IMAGES)
        for who in ("eva", "max")
    ]
    places = {f"s{row}": f"i{row}" for row in range(IMAGES)}
    categories = {name: ["read" if number % 2 else "count"] for number, name in enumerate(places)}
    tables = {"atom": merit + 0.0, "pointwise": rng.integers(1, 11, size=merit.shape) + 0.0}
    scores = {
        method: {(f"s{row}", f"m{at}"): float(table[row, at]) for row in range(IMAGES) for at in range(4)}
        for method, table in tables.items()
    }
    del scores["pointwise"]["s0", "m0"]
    comparisons = comparisons_of(rankings, places, categories, seed=0)
    found = as_json(judging_tables(comparisons, {"j": scores}, seed=0))
    for one in found["results"]["j"].values():
        used = {"calls": 80, "cost": 0.4, "input_tokens": 1000, "output_tokens": None}
        points = {name: per_point(used[name], Share(**one["accuracy"])).model_dump() for name in ("calls", "cost")}
        one |= {**used, "failures": {}, "per_point": points}
    batch = [
        [ShownRanking("i0", ["m0", "m1"], [1, 2]), ShownRanking("i0", ["m1", "m0"], [1, 2])],
        [ShownRanking("i1", ["m0", "m1"], [1, 1])] * 2,
    ]
    said = {"annotators": 2, "samples": IMAGES, "without": 3, "models": ["m0"], "comparisons": 240, "pairs": 120}
    return {
        **found,
        "run": "r",
        "direction": "second minus first",
        "status": "done",
        "simulated": [],
        "seed": 0,
        "skipped": [],
        "open_items": 0,
        "protocol": "default",
        "show_image": False,
        "repeats": 1,
        "judges": ["j"],
        "methods": ["pointwise", "atom"],
        "rankings": {**said, "ties": 0.1, "folds": 5},
        "order": {"j": as_json(order_effect(batch, orders=2, seed=0))},
        "calls": 160,
        "cost": 0.8,
    }


@pytest.fixture
def data(summary):
    """What the sections are made from."""
    return ReportData(None, None, summary)


def rows_of(section, number=0):
    """The rows of a section's nth table, as texts."""
    table = [block for block in section.blocks if isinstance(block, Table)][number]
    return [[plain(cell).replace("\xa0", " ") for cell in row] for row in table.rows]


def test_the_conclusion_says_how_the_best_method_does_beside_people(data) -> None:
    """Two people who say the same are no better than a method that knows it, and the test says whether it can take a place."""
    said = " ".join(plain(sentence) for sentence in conclusion(data))
    assert (
        "Against the same other people it agrees in 100.0 %, a person in 100.0 %; it can take a person's place" in said
    )


def test_the_table_has_the_form_of_the_paper(data) -> None:
    """A row a judge and method with each category, the whole with its interval, pairs, coverage and bounds; then people."""
    rows = rows_of(accuracy(data))
    assert [row[:2] for row in rows] == [["j", "pointwise"], ["j", "atom"], ["people", "one with another"]]
    assert rows[1][2:4] == ["100.0", "100.0"]
    assert rows[1][4].startswith("100.0 [")
    assert rows[0][5:7] == ["234", "98 %"]
    assert "–" in rows[0][7]
    assert any(isinstance(block, Chart) for block in accuracy(data).blocks)
    said = " ".join(plain(block.text) for block in accuracy(data).blocks if isinstance(block, Paragraph))
    assert "3 samples of the data were ranked by nobody" in said


def test_differences_are_marked_where_they_are_sure(data, summary) -> None:
    """The gap stands with its interval and adjusted p-value; those by category are folded."""
    section = gaps(data)
    (row,) = rows_of(section)
    assert row[1] == "pointwise − atom"
    assert row[-1].startswith(("0.0", "< 0.001"))
    assert {gap["category"] for gap in summary["gaps"]} == {None, "count", "read"}
    assert all(gap["adjusted"] >= gap["p_value"] for gap in summary["gaps"])


def test_margins_order_and_cost_are_shown(data) -> None:
    """Each fold's margin is printed, what order does to a batch, and what a point of accuracy comes to."""
    assert rows_of(margins(data))[1][2] == ", ".join(["0.00"] * 5)
    assert rows_of(order(data)) == [["j", "2", "50.0 [1, 99]", "100.0 [0, 100]", "1.000"]]
    rows = rows_of(cost(data))
    assert rows[1][2:6] == ["80", "1,000", "unknown", "$0.4000"]
    assert rows[1][6].startswith("0.80")
    assert len(DRAWING.sections) == 7


def test_a_consistent_batch_prefers_nobody() -> None:
    """Verdicts that follow the first place alone are found inconsistent, those that follow the models consistent."""
    models = ["a", "b", "c"]

    def effect(second):
        rankings = [
            [ShownRanking(f"i{at}", models, [1, 2, 3]), ShownRanking(f"i{at}", models[::-1], second)] for at in range(9)
        ]
        return as_json(order_effect(rankings, orders=2, seed=0))

    found = effect([3, 2, 1])
    assert (found["consistent"]["share"], found["earlier"]["share"], found["p_value"]) == (1.0, 0.5, 1.0)
    found = effect([1, 2, 3])
    assert (found["consistent"]["share"], found["earlier"]["share"]) == (0.0, 1.0)
    assert found["p_value"] < 0.01


def test_calls_that_methods_share_are_accounted_for(data, summary) -> None:
    """Where methods' calls add up to more than all together, the note says by how many, and why."""

    def said() -> str:
        return " ".join(plain(block.text) for block in cost(data).blocks if isinstance(block, Paragraph))

    assert "add up" not in said()
    object.__setattr__(data, "summary", {**summary, "calls": 130})
    assert "All together: 130 calls" in said()
    assert "The methods' calls add up to 30 more: a call that several methods rest on" in said()


def test_little_costs_are_no_zeros_and_shares_are_written_alike(data, summary) -> None:
    """What a point costs has digits that say something, and the share of ties is written as percentages are elsewhere."""
    ratio = {"mean": 0.0000123, "low": 0.0000101, "high": 0.000015}
    changed = {
        name: {**one, "per_point": {"calls": None, "cost": ratio}} for name, one in summary["results"]["j"].items()
    }
    object.__setattr__(data, "summary", {**summary, "results": {"j": changed}})
    assert rows_of(cost(data))[0][-1] == "0.000012 [0.000010, 0.000015]"
    notes = " ".join(plain(block.text) for block in accuracy(data).blocks if isinstance(block, Paragraph))
    assert "10 % are ties" in notes
