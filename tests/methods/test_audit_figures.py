"""An audit's figures equal the plain formulas, keep failures as bounds, and count each repeat and image as it should."""

import random
from collections.abc import Sequence
from typing import Any

import pytest

from dokimasia.algorithms.gating import summarise
from dokimasia.domain.judgement import FailureKind
from dokimasia.methods.audit import METHOD
from dokimasia.methods.audit.figures import AuditRow, blind_scores, judged_samples, samples_by_domain, scores_by_model
from dokimasia.methods.audit.report import scores
from dokimasia.report.blocks import Table, plain
from dokimasia.report.data import ReportData
from dokimasia.report.fields import as_json
from tests.drawn import FACTS

A, B = 3, 4


def row(
    sample: int,
    hits: str,
    *,
    model: str = "m",
    repeat: int = 0,
    domain: str = "data",
    failure: FailureKind | None = None,
) -> AuditRow:
    """A response whose rubrics hold where a letter is capital: group A before the bar, B after it."""
    groups = [tuple(letter.isupper() for letter in group) for group in hits.split("|")]
    return AuditRow(
        sample_id=f"s{sample}",
        cluster=f"c{sample}",
        domain=domain,
        model=model,
        repeat=repeat,
        rubrics=(len(groups[0]), len(groups[1])),
        judged=None if failure else (groups[0], groups[1]),
        failure=failure,
        words=10,
    )


def audit_figures(rows: Sequence[AuditRow], *, seed: int) -> dict[str, Any]:
    """The figures that rows alone decide, as JSON."""
    judged = judged_samples(rows)
    return {
        "models": {name: as_json(figures) for name, figures in scores_by_model(judged, seed=seed).items()},
        "domains": samples_by_domain(judged),
        "blind": {name: as_json(score) for name, score in blind_scores(judged).items()},
    }


def test_figures_equal_the_formulas() -> None:
    """Without repeats every figure is that of `gating.summarise`, and lies within its interval."""
    draw = random.Random(4)
    rows = [
        row(n, "".join(draw.choice("aA") for _ in range(A)) + "|" + "".join(draw.choice("bB") for _ in range(B)))
        for n in range(40)
    ]
    rows.append(row(40, "aaa|bbbb", failure="unparsable"))
    one = audit_figures(rows, seed=0)["models"]["m"]
    summary = summarise([each.judged for each in rows])
    assert (one["n"], one["n_scored"], one["coverage"]) == (41, 40, pytest.approx(40 / 41))
    item_rates = ("must_right_item", "easy_wrong_item", "atomic_accuracy")
    for name in (*item_rates, "overall", "gate_pass", "easy_wrong_mean", "reliability_gap", "atomic_gap"):
        assert one[name]["mean"] == pytest.approx(getattr(summary, name), abs=1e-6), name
        assert one[name]["low"] < one[name]["mean"] < one[name]["high"], name
    assert one["failures"] == {"unparsable": 1}


def test_failures_open_bounds_and_are_no_zeros() -> None:
    """A failed judgement lowers nothing; the bounds say what it could have been, in every figure."""
    rows = [row(0, "AAA|BBbb"), row(1, "AAA|BBBB"), row(2, "aaa|bbbb", failure="refused")]
    one = audit_figures(rows, seed=0)["models"]["m"]
    assert one["overall"]["mean"] == 75
    assert one["bounds"]["overall"] == {"low": 50, "high": pytest.approx(250 / 3)}
    assert one["bounds"]["gate_pass"] == {"low": pytest.approx(200 / 3), "high": 100}
    assert one["bounds"]["must_right_item"] == {"low": pytest.approx(600 / 9), "high": 100}
    assert one["bounds"]["easy_wrong_item"] == {"low": 50, "high": pytest.approx(1000 / 12)}


def test_a_model_without_any_judgement_has_no_score() -> None:
    """Nothing judged is no number, and the bounds are the whole scale."""
    one = audit_figures([row(0, "aaa|bbbb", failure="api_error")], seed=0)["models"]["m"]
    assert one["overall"] is None
    assert one["reliability_gap"] is None
    assert one["bounds"]["overall"] == {"low": 0, "high": 100}


def test_repeats_are_averaged_by_sample() -> None:
    """A sample's score is the mean over its scored repeats; a repeat that failed leaves the others."""
    rows = [
        row(0, "AAA|BBBB", repeat=0),
        row(0, "aAA|BBBB", repeat=1),
        row(1, "AAA|BBbb", repeat=0),
        row(1, "aaa|bbbb", repeat=1, failure="truncated"),
    ]
    one = audit_figures(rows, seed=0)["models"]["m"]
    assert one["overall"]["mean"] == 50
    assert one["gate_pass"]["mean"] == 75
    assert one["n_scored"] == 2
    assert one["failures"] == {}
    assert one["failed_answers"] == {"truncated": 1}
    assert one["spread"] == pytest.approx(50 * 2**0.5 / 0.797885, abs=1e-3), "corrected for there being two"


def test_failed_repeats_are_seen_in_coverage_and_bounds() -> None:
    """Ten samples of three repeats each, of which two failed: a third is covered, and bounds are as wide as that leaves."""
    rows = [
        row(at, "AAA|BBBB", repeat=repeat, failure="unparsable" if repeat else None)
        for at in range(10)
        for repeat in range(3)
    ]
    one = audit_figures(rows, seed=0)["models"]["m"]
    assert (one["n"], one["n_scored"], one["answers"], one["answers_scored"]) == (10, 10, 30, 10)
    assert one["coverage"] == pytest.approx(1 / 3, abs=1e-6)
    for name in ("overall", "gate_pass", "must_right_item"):
        assert one["bounds"][name] == {"low": pytest.approx(100 / 3, abs=1e-5), "high": 100}


def test_domains_and_the_blind_arm() -> None:
    """Each domain has its own mean and count; what survives without the image is a share of the score with it."""
    rows = [
        row(0, "AAA|BBBB"),
        row(1, "AAA|bbbb", domain="stem"),
        row(0, "AAA|BBbb", model="m#blind"),
        row(1, "aAA|BBBB", model="m#blind", domain="stem"),
    ]
    figures = audit_figures(rows, seed=0)
    assert figures["domains"] == {"data": 1, "stem": 1}
    assert figures["models"]["m"]["by_domain"]["data"]["overall"]["mean"] == 100
    assert figures["models"]["m"]["by_domain"]["stem"]["overall"]["mean"] == 0
    assert figures["blind"] == {"m": {"n": 2, "share": 0.5}}


def test_streams_that_are_missing() -> None:
    """Without must-right rubrics the gate is open; without easy-wrong ones an open gate scores full marks."""
    one = audit_figures([row(0, "|BBbb"), row(1, "AAA|")], seed=0)["models"]["m"]
    assert one["overall"]["mean"] == 75
    assert one["easy_wrong_mean"]["mean"] == 50
    assert one["gate_pass"]["mean"] == 100


def test_order_of_the_rows_changes_no_figure() -> None:
    """Rows that come in another order give the same figures."""
    draw = random.Random(2)
    rows = [
        row(n, "".join(draw.choice("aA") for _ in range(A)) + "|" + "".join(draw.choice("bB") for _ in range(B)))
        for n in range(20)
    ]
    mixed = rows[:]
    draw.shuffle(mixed)
    assert audit_figures(rows, seed=1) == audit_figures(mixed, seed=1)


@pytest.mark.full
def test_intervals_cover_planted_figures() -> None:
    """Over 400 worlds, intervals of the gated score, the gate and the gap cover what was planted at least 366 times."""
    p, q = 0.93, 0.7
    true = {
        "gate_pass": 100 * p**A,
        "overall": 100 * p**A * q,
        "reliability_gap": 100 * (p - p**A),
        "easy_wrong_mean": 100 * q,
    }
    covered = dict.fromkeys(true, 0)
    for seed in range(400):
        draw = random.Random(seed)
        rows = [
            row(
                n,
                "".join("A" if draw.random() < p else "a" for _ in range(A))
                + "|"
                + "".join("B" if draw.random() < q else "b" for _ in range(B)),
            )
            for n in range(60)
        ]
        one = audit_figures(rows, seed=seed)["models"]["m"]
        for name, value in true.items():
            covered[name] += one[name]["low"] <= value <= one[name]["high"]
    assert all(count >= 366 for count in covered.values()), covered


def test_models_stand_in_groups_with_their_parameters() -> None:
    """Where the configuration says it, open models come first, best first in each group; failures are counted in responses."""
    rate = {"mean": 50.0, "low": 40.0, "high": 60.0}

    def model(overall: float, weights: str | None, parameters: str | None) -> dict[str, Any]:
        names = ("overall", "gate_pass", "easy_wrong_mean", "must_right_item", "easy_wrong_item")
        return {
            "gate_pass": rate,
            "easy_wrong_mean": rate,
            "must_right_item": rate | {"n": 9},
            "easy_wrong_item": rate | {"n": 9},
            "reliability_gap": rate,
            "atomic_accuracy": rate | {"n": 18},
            "atomic_gap": rate,
            "overall": rate | {"mean": overall},
            "bounds": dict.fromkeys(names),
            "spread": None,
            "calls": 3,
            "cost": None,
            "by_domain": {},
            "failures": {},
            "failed_answers": {"refused": 2},
            **dict.fromkeys(("n", "n_scored"), 3),
            "answers": 6,
            "answers_scored": 4,
            "coverage": 0.666667,
            "weights": weights,
            "parameters": parameters,
        }

    models = {
        "a": model(40, "open", "7B"),
        "b": model(90, "proprietary", None),
        "c": model(60, "open", "235B-A22B"),
        "d": model(95, None, None),
    }
    summary = {
        "models": models,
        "in_pool": [],
        "domains": {"natural": 3},
        "without_rubrics": ["s9"],
        "rubrics": {"id": "", "must_right": 9, "easy_wrong": 9, "checked": 0, "pool": []},
        "calls": 3,
        "cost": None,
        "run": "r",
        "status": "done",
        "simulated": [],
        "seed": 0,
        "skipped": [],
        "open_items": 0,
        "samples": 3,
        "judge": "j",
        "repeats": 1,
        "show_image": False,
        "protocol": "default",
    }

    def tables() -> list[Table]:
        drawn = scores(ReportData(METHOD.report.drawing(), FACTS, summary))
        return [block for block in drawn.blocks if isinstance(block, Table)]

    for table in tables():
        assert [column.title for column in table.columns][:3] == ["model", "weights", "parameters"]
        assert [[plain(cell) for cell in row[:3]] for row in table.rows] == [
            ["c", "open", "235B-A22B"],
            ["a", "open", "7B"],
            ["b", "proprietary", "–"],
            ["d", "–", "–"],
        ]
    responses = [plain(row[-3]) + ": " + plain(row[-1]) for row in tables()[0].rows]
    assert responses == ["4/6: 2 refused"] * 4, "judged and failed are both counted in responses"
    assert [column.title for column in tables()[1].columns][3:] == ["natural", "overall"]
    for one in models.values():
        one |= {"weights": None, "parameters": None}
    assert [[plain(row[0]) for row in table.rows] for table in tables()] == [["d", "b", "c", "a"]] * 2
