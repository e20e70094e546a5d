"""The gate closes on one must-right rubric that fails, and every figure has its own denominator."""

import pytest

from dokimasia.algorithms.gating import GatedSummary, gate, gated_score, summarise


def test_gate_and_score() -> None:
    """One must-right rubric that fails makes the score 0; without rubrics of a stream it stands open, or full."""
    assert gate([True, True, False]) == 0
    assert gate([]) == 1
    assert gated_score([True], [True, False, False, True]) == 0.5
    assert gated_score([False], [True]) == 0
    assert gated_score([True], []) == 1
    assert gated_score([], [False]) == 0


def test_summary_keeps_denominators_apart() -> None:
    """Items are pooled, passes and means are per sample, failures count in n alone, empty streams are left out."""
    summary = summarise(
        [
            ([True, True, True], [True, False]),
            ([True, False], [True, True, True]),
            ([], [False]),
            ([True], []),
            None,
        ]
    )
    assert (summary.n, summary.n_scored, summary.coverage) == (5, 4, 80)
    assert summary.overall == pytest.approx(100 * (0.5 + 0 + 0 + 1) / 4)
    assert summary.must_right_item == pytest.approx(100 * 5 / 6)
    assert summary.easy_wrong_item == pytest.approx(100 * 4 / 6)
    assert summary.gate_pass == pytest.approx(75)
    assert summary.easy_wrong_mean == pytest.approx(100 * (0.5 + 1 + 0) / 3)
    assert summary.reliability_gap == pytest.approx(100 * 5 / 6 - 75)


def test_summary_of_nothing_holds_no_numbers() -> None:
    """Where nothing was scored there is None and no zero."""
    assert summarise([None, None]) == GatedSummary(2, 0, 0.0, *[None] * 8)
    assert summarise([]) == GatedSummary(0, 0, *[None] * 9)
