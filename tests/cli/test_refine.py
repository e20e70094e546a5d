"""`dokimasia refine` on the command line: tables and JSON, and bad input."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from dokimasia.cli.main import run
from dokimasia.simulation.world import write_world


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with an evaluation of two models on ten questions."""
    folder = tmp_path_factory.mktemp("refine")
    write_world(folder / "w.jsonl", 10, 6)
    options = ["--judge", "sim/judge", "--models", "sim/strong,sim/weak", "--home", str(folder / "home"), "--json"]
    assert run(["evaluate", str(folder / "w.jsonl"), *options]) == 0
    return folder / "home"


def said(capsys: pytest.CaptureFixture[str], *arguments: object, code: int = 0) -> tuple[str, str]:
    capsys.readouterr()
    assert run(list(map(str, arguments))) == code
    captured = capsys.readouterr()
    return captured.out, captured.err


def shown(capsys: pytest.CaptureFixture[str], *arguments: object) -> Any:
    return json.loads(said(capsys, *arguments, "--json")[0])


def test_a_run_is_refined_shown_and_continued(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The table has every arm; the same command, `show` and `resume` of the refinement print the same again."""
    out, _ = said(capsys, "refine", "last", "--home", home)
    assert "Simulated models" in out
    out, _ = said(capsys, "show", shown(capsys, "runs", "--home", home)[0]["id"], "--full", "--home", home)
    for arm in ("original", "again", "retry", "self", "peer"):
        assert arm in out
    listed = shown(capsys, "runs", "--home", home)
    assert [one["method"] for one in listed] == ["refine", "evaluate"]
    first = shown(capsys, "refine", listed[1]["id"], "--home", home)
    assert first["source"] == listed[1]["id"]
    for verb in ("show", "resume"):
        assert shown(capsys, verb, listed[0]["id"], "--home", home) == first
    assert shown(capsys, "resume", listed[0]["id"], "--retry-failed", "--home", home) == first


def test_a_refinement_is_not_refined(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Naming a refinement is refused with the command that refines its evaluation further; nothing is begun."""
    refined = shown(capsys, "refine", "last", "--strategy", "retry", "--home", home)
    before = len(shown(capsys, "runs", "--home", home))
    for extra in ((), ("--rounds", "2"), ("--dry-run",)):
        _, err = said(capsys, "refine", refined["run"], *extra, "--home", home, code=2)
        assert f"run {refined['run']} is a refinement" in err
        assert re.search(rf"dokimasia refine {refined['source']} .*--rounds 2\)", err)
    assert len(shown(capsys, "runs", "--home", home)) == before


def test_the_leak_judge_can_be_turned_off(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is another run, which says what was not looked for, and whose command says that the judge was turned off."""
    said(capsys, "refine", "last", "--strategy", "self", "--no-leak-judge", "--home", home)
    out, _ = said(capsys, "show", "last", "--full", "--home", home)
    assert "No judge looked for leaks (--no-leak-judge): paraphrases" in " ".join(out.split())
    newest = shown(capsys, "runs", "--home", home)[0]
    found = shown(capsys, "show", newest["id"], "--home", home)
    assert "sums" in found["leaks"]["not_looked_for"]
    assert found["leaks"]["found_by"].keys() <= {"rules"}
    assert newest["command"].endswith("--no-leak-judge")


def test_one_sample_is_shown(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A sample is shown with what each arm was told and came to."""
    said(capsys, "refine", "last", "--home", home)
    listed = shown(capsys, "runs", "--home", home)
    exported, _ = said(capsys, "export", listed[0]["id"], "--home", home)
    sample = json.loads(exported.splitlines()[0])["id"]
    out, _ = said(capsys, "show", listed[0]["id"], "--sample", sample, "--home", home)
    assert f"sample {sample}" in out
    assert "before · " in out
    view = shown(capsys, "show", listed[0]["id"], "--sample", sample, "--home", home)
    assert view["sample"]["id"] == sample


def test_a_dry_run_and_a_fork_say_what_would_be(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """--dry-run says what is asked at most and keeps nothing; a fork says what to do instead."""
    expected = shown(capsys, "refine", "last", "--rounds", "3", "--dry-run", "--home", home)
    assert expected["calls"] == sum(one["calls"] for one in expected["models"].values()) > 0
    assert said(capsys, "show", expected["run"], "--home", home, code=2)[1].startswith("error: no run of")
    run = shown(capsys, "refine", "last", "--strategy", "self", "--home", home)["run"]
    _, err = said(capsys, "fork", run, "--judge", "sim/judge-noisy", "--home", home, code=2)
    assert "fork that run, then refine the fork" in err


def test_nothing_to_refine_is_said(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A run without failures: so it says, and ends well."""
    words = ("refine", "last", "--models", "sim/strong", "--strategy", "self", "--threshold", "1.01", "--home", home)
    tried, _ = said(capsys, *words, "--dry-run")
    assert "about 0 calls" in tried
    assert "upper bound" not in tried
    out, _ = said(capsys, *words)
    assert "No answer failed: there was nothing to refine (of " in out
    refined = shown(capsys, *words)
    _, err = said(capsys, "refine", refined["run"], "--home", home, code=2)
    assert f"it took up none, and says why, and which option would (dokimasia show {refined['run']} " in err


def test_bad_input_is_one_line(home: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A stranger among the models, an unknown run and impossible options end with code 2 and say the way out."""
    _, err = said(capsys, "refine", "last", "--models", "sim/other", "--home", home, code=2)
    assert "did not answer in run" in err
    assert said(capsys, "refine", "nowhere", "--home", home, code=2)[1].count("\n") == 1
    assert "--withhold" in said(capsys, "refine", "last", "--withhold", "1", "--home", home, code=2)[1]
    assert "--rounds" in said(capsys, "refine", "last", "--rounds", "9", "--home", home, code=2)[1]
    said(capsys, "refine", "last", "--home", tmp_path / "none", code=2)


def test_a_run_by_rules_alone_needs_a_judge_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With one model and no judge what is missing first is the judge: no strategy is recommended that would be refused."""
    write_world(tmp_path / "w.jsonl", 8, 5)
    assert run(["evaluate", str(tmp_path / "w.jsonl"), "--models", "sim/weak", "--home", str(tmp_path / "home")]) in (
        0,
        3,
    )
    _, err = said(capsys, "refine", "last", "--home", tmp_path / "home", code=2)
    assert "evaluate the same data with --judge" in err
    assert "--strategy self" not in err


def test_nothing_is_folded_away_on_a_terminal(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What only the page can unfold has no empty title on a terminal."""
    found = shown(capsys, "refine", "last", "--home", home)
    out, _ = said(capsys, "show", found["run"], "--full", "--home", home)
    assert "By category" not in out
    assert "a gain in bold" in " ".join(out.split())
