"""`dokimasia diagnose RUN --fingerprint`: by a judge and by hand; mistakes cost a line."""

import csv
import json
from pathlib import Path

import pytest

from dokimasia.cli.main import run
from dokimasia.simulation.world import write_world


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with an evaluation of three models."""
    folder = tmp_path_factory.mktemp("fingerprint")
    write_world(folder / "world.jsonl", 21, 3)
    asked = ["--models", "sim/strong,sim/weak,sim/hasty", "--judge", "sim/judge", "--home", str(folder / "home")]
    assert run(["evaluate", str(folder / "world.jsonl"), *asked]) == 0
    return folder / "home"


def test_the_heat_map_the_files_and_a_readers_sheet(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Judge and reader have a table each; JSON is the same twice; the report page has both."""
    asked = ["diagnose", "last", "--fingerprint", "--judge", "sim/judge", "--responses", "5", "--home", str(home)]
    assert run([*asked, "--export", str(tmp_path)]) == 0
    told = capsys.readouterr()
    assert told.out.startswith("Simulated models")
    assert "Matched by sim/judge: " in told.out
    sheet = (tmp_path / "trials.jsonl").read_text().splitlines()
    assert f"{len(sheet)} trials for a reader" in told.err
    assert {"matches.csv", "trials.jsonl", "heatmap-fingerprints.png", "heatmap-fingerprints.csv"} <= {
        path.name for path in tmp_path.iterdir()
    }
    rows = list(csv.reader((tmp_path / "matches.csv").read_text().splitlines()))
    with (tmp_path / "ann.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([rows[0], *([*row[:2], "A"] for row in rows[1:])])
    assert run(["diagnose", "last", "--fingerprint", "--matches", str(tmp_path / "ann.csv"), "--home", str(home)]) == 0
    assert "Matched by ann, by hand: " in capsys.readouterr().out
    printed: list[str] = []
    for _ in range(2):
        assert run([*asked, "--json"]) == 0
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1]
    found = json.loads(printed[0])
    assert found["by_hand"]["ann"]["trials"] == found["by_judge"]["trials"] == len(sheet) > 0
    source = found["source"]
    for name in ("page.html", "page.md"):
        assert run(["report", source, "-o", str(tmp_path / name), "--home", str(home)]) == 0
        text = (tmp_path / name).read_text()
        assert "matched by sim/judge" in text
        assert "ann, by hand" in text
    assert run(["show", found["run"], "--full", "--home", str(home)]) == 0
    assert "Matched by ann" in capsys.readouterr().out


def test_by_hand_first_and_then_by_the_judge(home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a matching call the trials wait; `resume` has the judge match them."""
    asked = ["diagnose", "last", "--fingerprint", "--judge", "sim/judge", "--responses", "4", "--home", str(home)]
    assert run([*asked, "--by-hand", "--export", str(tmp_path / "out"), "--json"]) == 0
    waiting = json.loads(capsys.readouterr().out)
    assert waiting["waiting"] == waiting["tasks"] > 0
    assert waiting["status"] == "interrupted"
    assert run(["resume", waiting["run"], "--home", str(home), "--json"]) == 0
    done = json.loads(capsys.readouterr().out)
    assert (done["status"], done["waiting"]) == ("done", 0)
    assert run(["verify", "--home", str(home)]) == 0


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--fingerprint"], "needs --judge"),
        (["--by-hand"], "--by-hand belongs to --fingerprint"),
        (["--fingerprint", "--judge", "sim/judge", "--by-hand"], "needs --export DIR"),
        (["--fingerprint", "--judge", "sim/judge", "--responses", "1"], "responses"),
        (["--fingerprint", "--judge", "absent-judge/x", "--max-cost", "1"], "absent-judge/x"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(
    home: Path, arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The message says what is wrong."""
    assert run(["diagnose", "last", *arguments, "--home", str(home)]) == 2
    assert told in capsys.readouterr().err


def test_a_bad_sheet_and_one_model_cost_a_line_each(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each bad line is named with its number; nothing is taken in."""
    asked = ["diagnose", "last", "--fingerprint", "--judge", "sim/judge", "--responses", "5", "--home", str(home)]
    assert run([*asked, "--json"]) == 0
    test = json.loads(capsys.readouterr().out)["run"]
    (tmp_path / "x.csv").write_text("task,report_1_is\nabsent,A\nother,C\n")
    assert run(["diagnose", test, "--fingerprint", "--matches", str(tmp_path / "x.csv"), "--home", str(home)]) == 2
    told = capsys.readouterr().err
    assert "line 2: " in told
    assert "line 3: " in told
    write_world(tmp_path / "one.jsonl", 7, 1)
    alone = ["--models", "sim/weak", "--judge", "sim/judge", "--home", str(tmp_path / "home")]
    assert run(["evaluate", str(tmp_path / "one.jsonl"), *alone]) == 0
    assert run(["diagnose", "last", "--fingerprint", "--judge", "sim/judge", "--home", str(tmp_path / "home")]) == 2
    assert "one model, sim/weak" in capsys.readouterr().err
