"""`rubrics`, `audit` and `analyse` as a user runs them: one after another, and misused."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from dokimasia.cli.main import run
from dokimasia.simulation.world import write_described
from dokimasia.storage.home import Home
from dokimasia.storage.runs import list_runs

PANEL = "sim/panel-a,sim/panel-b,sim/panel-c"


@pytest.fixture(scope="session")
def described(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a described world, a home with its review and rubrics, and the rubrics as a file."""
    folder = tmp_path_factory.mktemp("described")
    write_described(folder / "data.jsonl", 14, 3)
    home = ["--home", str(folder / "home")]
    assert run(["review", str(folder / "data.jsonl"), "--panel", PANEL, "--json", *home]) == 0
    rubrics = ["rubrics", "last", "--judge", "sim/judge", "--pool", "sim/hasty,sim/nearsighted"]
    assert run([*rubrics, "--export", str(folder / "rubrics.jsonl"), *home]) == 0
    return folder


def test_what_a_user_sees(described: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The tables name simulated models first, and show, resume, analyse and report speak of the audit and its rubrics."""
    shutil.copytree(described / "home", tmp_path / "home")
    home = ["--home", str(tmp_path / "home")]
    data, file = str(described / "data.jsonl"), str(described / "rubrics.jsonl")
    models = "sim/strong,sim/steady,sim/weak"
    assert run(["show", "last", *home]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("Simulated models")
    assert "must-right" in shown
    assert (
        run(["audit", data, "--rubrics", file, "--models", models, "--judge", "sim/judge", "--blind-arm", *home]) == 0
    )
    table = capsys.readouterr().out
    assert table.startswith("Simulated models")
    assert "gate" in table
    assert run(["show", "last", "--full", *home]) == 0
    assert "by domain" in capsys.readouterr().out
    assert run(["resume", "last", "--json", *home]) == 0
    summary: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert run(["show", "last", "--json", *home]) == 0
    assert json.loads(capsys.readouterr().out) == summary
    sample = json.loads(Path(file).read_text().splitlines()[0])["id"]
    assert run(["show", "last", "--sample", sample, *home]) == 0
    assert "✓ gate" in capsys.readouterr().out
    ratings, page, text = tmp_path / "r.csv", tmp_path / "a.html", tmp_path / "a.md"
    ratings.write_text("model,rating\nsim/strong,3\nsim/steady,2\nsim/weak,1\n")
    assert (
        run(["analyse", "last", "--ratings", str(ratings), "--benchmark", f"Flat={ratings}", "-o", str(page), *home])
        == 0
    )
    assert run(["analyse", "last", "--benchmark", f"Flat={ratings}", *home]) == 2
    told = capsys.readouterr().out.casefold()
    for words in (
        "reliability gap",
        "failures by domain",
        "consistency",
        "agreement",
        "other benchmarks",
        "length bias",
        "coverage",
    ):
        assert words in told.lower()
    assert run(["analyse", "last", "-o", str(text), "--json", *home]) == 0
    assert json.loads(capsys.readouterr().out)["models"] == summary["models"]
    assert page.read_text().startswith("<!doctype html>")
    assert "What the figures say" in text.read_text()
    assert text.read_text().startswith("> Simulated models")
    assert run(["report", "last", "-o", str(tmp_path / "b.md"), *home]) == 0
    assert (tmp_path / "b.md").read_text() == text.read_text()


def test_files_and_schema(described: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A run's rubrics are exported again without a judge, byte for byte; each line keeps the printed schema's fields."""
    home = ["--home", str(described / "home")]
    assert run(["rubrics", "last", "--export", str(tmp_path / "again.jsonl"), *home]) == 0
    assert (tmp_path / "again.jsonl").read_bytes() == (described / "rubrics.jsonl").read_bytes()
    capsys.readouterr()
    assert run(["rubrics", "--schema"]) == 0
    schema = json.loads(capsys.readouterr().out)
    for line in (tmp_path / "again.jsonl").read_text().splitlines():
        assert set(json.loads(line)) <= set(schema["properties"])


def test_forked_compared_and_shown(described: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Forks by another judge are told from their parents: rubrics by what they came to, audits by score; no file is needed."""
    shutil.copytree(described / "home", tmp_path / "home")
    home = ["--home", str(tmp_path / "home")]
    rubrics = _newest(tmp_path / "home", capsys)
    assert run(["fork", "last", "--judge", "sim/judge-lenient", *home]) == 0
    capsys.readouterr()
    assert run(["diff", rubrics, "last", *home]) == 0
    assert "items in both runs" in capsys.readouterr().out
    audit = [
        "audit",
        str(described / "data.jsonl"),
        "--rubrics",
        rubrics,
        "--models",
        "sim/weak",
        "--judge",
        "sim/judge",
    ]
    assert run([*audit, *home]) == 0
    audited = _newest(tmp_path / "home", capsys)
    assert run(["fork", audited, "--models", "sim/weak=sim/steady", *home]) == 0
    capsys.readouterr()
    assert run(["diff", audited, "last", "--models", "sim/weak,sim/steady", *home]) == 0
    assert "points of the scale from 0 to 1" in " ".join(capsys.readouterr().out.split())
    sample = json.loads((described / "rubrics.jsonl").read_text().splitlines()[0])["id"]
    for shown in (rubrics, audited):
        for raw in ([], ["--raw"]):
            assert run(["show", shown, "--sample", sample, *raw, *home]) == 0
            assert "gate" in capsys.readouterr().out


def _newest(home: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """The id of the newest run of a home."""
    capsys.readouterr()
    assert run(["runs", "--home", str(home), "--json"]) == 0
    return json.loads(capsys.readouterr().out)[0]["id"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["rubrics", "--judge", "sim/judge"], "Missing argument 'SOURCE'"),
        (["rubrics", "last"], "name who writes the rubrics"),
        (["rubrics", "RUBRICS", "--judge", "sim/judge", "--pool", "sim/weak"], "not a peer review"),
        (["rubrics", "DATA", "--judge", "sim/judge", "--pool", "sim/weak"], "has no caption"),
        (["rubrics", "nothing", "--judge", "sim/judge", "--pool", "sim/weak"], "no run"),
        (["audit", "DATA", "--rubrics", "nothing", "--models", "sim/weak", "--judge", "sim/judge"], "no run"),
        (
            ["audit", "DATA", "--rubrics", "DATA", "--models", "sim/weak", "--judge", "sim/judge"],
            "not a line of rubrics",
        ),
        (["audit", "DATA", "--rubrics", "FILE", "--models", "sim/weak,sim/weak", "--judge", "sim/judge"], "twice"),
        (["analyse", "last"], "not an audit"),
        (["analyse", "last", "--ratings", "DATA"], "not an audit"),
    ],
)
def test_misuse_is_told_in_one_line(
    described: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    """What cannot be used ends with exit code 2 and says what is wrong."""
    shutil.copytree(described / "home", tmp_path / "home")
    with Home.open(tmp_path / "home", write=False) as home:
        made = next(one.id for one in list_runs(home) if one.method == "rubrics")
    named = {"DATA": str(described / "data.jsonl"), "FILE": str(described / "rubrics.jsonl"), "RUBRICS": made}
    code = run([*(named.get(one, one) for one in arguments), "--home", str(tmp_path / "home")])
    assert said in " ".join(capsys.readouterr().err.split())
    assert code == 2
