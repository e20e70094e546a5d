"""`dokimasia review` and `filter` as a user runs them: through HTTP, killed and resumed, over real photographs."""

import json
from pathlib import Path

import pytest

from dokimasia.cli.main import run
from dokimasia.simulation.serving.server import running_server
from tests.cli.conftest import CONFIG, Program
from tests.killing import Witness
from tests.processes import start_program

PANEL = {"A": "panel-a", "B": "panel-b", "C": "panel-c"}


def write_panel(folder: Path, url: str) -> None:
    """Configure a judge J and a panel A, B and C at the server."""
    models = {"J": "judge-noisy", **PANEL}
    text = "".join(CONFIG.format(name=name, model=one, url=url, transport="litellm") for name, one in models.items())
    (folder / "dokimasia.toml").write_text(text)


def test_photographs_killed_twice(program: Program, tmp_path: Path, shared_data: Path) -> None:
    """Thirty photographs, killed twice and resumed: no sample is lost, no committed call is sent again."""
    log, home = tmp_path / "server.log", tmp_path / "home"
    arguments = (shared_data / "coco30" / "captions.jsonl", "--panel", "A,B,C", "--json", "--home", home)
    with running_server(latency=0.02, log_path=log) as url:
        write_panel(tmp_path, url)
        witness = Witness(home, log)
        for share in (60, 180):
            witness.kill(start_program(("review", *arguments), tmp_path), at=share)
        assert witness.deaths == 2, "the run was over before it could be killed"
        run_id = json.loads(program("runs", "--home", home, "--json").stdout)[0]["id"]
        result = program("resume", run_id, "--json", "--home", home)
        assert result.returncode == 0, result.stderr
        witness.check()
    summary = json.loads(result.stdout)
    assert summary["n"] == summary["n_complete"] == len(summary["items"]) == 30
    assert summary["verdicts"]["accepted"] >= 5
    assert summary["verdicts"]["discarded"] >= 5
    again = program("review", *arguments)
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout) == summary, "the server is gone, and a finished run asks nothing"


def test_filter_then_review(program: Program, tmp_path: Path, world: Path) -> None:
    """What the filter keeps is a data file that a review reads; both are shown again without the server."""
    kept = tmp_path / "kept" / "kept.jsonl"
    kept.parent.mkdir()
    with running_server() as url:
        write_panel(tmp_path, url)
        filtered = program("filter", world, "--judge", "J", "--thresholds", "all=5,5", "--output", kept, "--json")
        assert filtered.returncode == 0, filtered.stderr
        reviewed = program("review", kept, "--panel", "A,B", "--cycles", "1", "--accept", "majority", "--json")
        assert reviewed.returncode == 0, reviewed.stderr
    figures = json.loads(filtered.stdout)
    rows = [json.loads(line) for line in kept.read_text().splitlines()]
    assert figures["n_rated"] == figures["n"] == 21
    assert 0 < figures["kept"]["k"] == len(rows)
    assert all(row["meta"]["domain"] in figures["domains"] for row in rows)
    assert json.loads(reviewed.stdout)["n"] == len(rows)
    shown = program("show", json.loads(reviewed.stdout)["run"])
    assert "Simulated models" in shown.stdout
    assert "unverified" in shown.stdout
    sample = json.loads(reviewed.stdout)["items"][0]["sample"]
    whole = program("show", json.loads(reviewed.stdout)["run"], "--sample", sample)
    assert "draft of A" in whole.stdout
    assert "votes, cycle 1" in whole.stdout
    assert "kept" in program("show", figures["run"]).stdout


def test_bad_questions(
    tmp_path: Path, world: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A panel of one, a threshold that is none and an unknown domain end with exit code 2 and one line."""
    monkeypatch.chdir(tmp_path)
    for arguments, told in (
        (["review", str(world), "--panel", "sim/panel-a"], "two or more"),
        (["filter", str(world), "--judge", "sim/judge", "--thresholds", "nature=5,5"], "no domain 'nature'"),
        (["filter", str(world), "--judge", "sim/judge", "--thresholds", "natural=5"], "two numbers"),
        (["filter", str(world), "--judge", "sim/judge", "--thresholds", "gone.json"], "no such file"),
    ):
        assert run(arguments) == 2
        said = capsys.readouterr().err
        assert told in said
        assert len(said.strip().splitlines()) == 1
