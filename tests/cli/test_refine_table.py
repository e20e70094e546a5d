"""The table of `refine --strategy all --json`, in the paper's form: by the data's categories, and by a tree's six."""

import json
from pathlib import Path
from typing import Any

import pytest

from dokimasia.cli.main import run
from dokimasia.domain.capability import CATEGORIES
from dokimasia.domain.refinement import ARMS
from dokimasia.simulation.world import write_world


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    capsys.readouterr()
    assert run(list(arguments)) == 0
    return capsys.readouterr().out


def cells(table: dict[str, Any], strategy: str, measure: str) -> dict[str, Any]:
    return next(one for one in table["rows"] if (one["strategy"], one["measure"]) == (strategy, measure))


def test_the_table_by_categories_and_by_capabilities(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Five strategies, accuracy and atom score, six categories, gains; with a tree the six are those of its first layer."""
    write_world(tmp_path / "w.jsonl", 18, 5)
    home = ("--home", str(tmp_path / "home"))
    said(
        capsys, "evaluate", str(tmp_path / "w.jsonl"), "--judge", "sim/judge", "--models", "sim/strong,sim/weak", *home
    )
    refine = ("refine", "last", "--strategy", "all", "--models", "sim/weak", *home)
    summary = json.loads(said(capsys, *refine, "--json"))
    table = summary["table"]
    assert table["by"] == "category"
    assert len(table["columns"]) == 6
    assert [(one["strategy"], one["measure"]) for one in table["rows"]] == [
        (arm, measure) for arm in ARMS for measure in ("accuracy", "atom score")
    ]
    before = cells(table, "original", "accuracy")
    assert before["average"]["value"] == 0
    assert all(cell is None or cell["value"] == 0 for cell in before["cells"].values())
    assert sum(cell["n"] for cell in before["cells"].values() if cell) == before["average"]["n"] == summary["failed"]
    after = cells(table, "peer", "accuracy")
    retry = cells(table, "retry", "accuracy")
    assert after["gain"]["mean"] == pytest.approx(after["average"]["value"] - retry["average"]["value"], abs=2e-6)
    assert 1 <= cells(table, "peer", "atom score")["average"]["value"] <= 5
    assert "strategy measure" in " ".join(said(capsys, "show", "last", "--full", *home).split())
    tree = json.loads(said(capsys, *refine, "--json"))["tree"]
    assert tree is None

    said(capsys, "tree", "grow", summary["source"], "--judge", "sim/judge", *home)
    mapped = json.loads(said(capsys, "refine", summary["source"], *refine[2:], "--json"))
    assert mapped["run"] == summary["run"]
    assert mapped["table"]["by"] == "capability"
    assert tuple(mapped["table"]["columns"]) == CATEGORIES
    assert mapped["models"]["sim/weak"]["arms"] == summary["models"]["sim/weak"]["arms"]
    leaves = mapped["models"]["sim/weak"]["by_capability"]
    failed = sum(one["arms"]["again"]["atoms"]["solved"]["n"] for one in leaves.values())
    whole = mapped["models"]["sim/weak"]["arms"]["again"]["atoms"]["solved"]["n"]
    assert mapped["models"]["sim/weak"]["placed"] == {"failed_atoms": whole, "on_the_tree": failed}
    assert 0 < failed <= whole
    said(capsys, "refine", summary["source"], *refine[2:])
    shown = said(capsys, "show", summary["run"], "--full", *home)
    for text in ("gain", "peer over again", "withheld", "spoilt", "found to leak", "the judge turned"):
        assert text in shown, text
