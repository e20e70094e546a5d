"""The benchmark of fingerprints: every pair has its row, twins are told from others, and nothing fails."""

import argparse

import pytest

from benchmarks import fingerprints

pytestmark = pytest.mark.quick


def test_a_small_world_has_a_row_for_every_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    """Six models make 15 pairs, three of them twins; different profiles are matched better than twins."""
    monkeypatch.setattr(fingerprints, "QUICK", 35)
    monkeypatch.setattr(fingerprints, "RESPONSES", 8)
    monkeypatch.setattr(fingerprints, "MODELS", ("sim/strong", "sim/seer", "sim/weak"))
    monkeypatch.setattr(fingerprints, "configure", lambda level: None)
    report = fingerprints.measure(argparse.Namespace(quick=True, full=False, seeds=None))
    assert len(report.rows) == 15
    assert sum(row["twins"] for row in report.rows) == 3
    measured = {figure.what: figure.value for figure in report.figures}
    assert measured["matchings"] >= 15
    assert measured["matchings that failed"] == 0
    assert measured["different profiles, share matched rightly"] > 0.7
    assert measured["twins, lower end of the 95 % interval"] <= 0.5
