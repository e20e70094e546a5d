"""`dokimasia data check` says what a data set holds and what is wrong with it, and `evaluate` reads every format."""

import json
from pathlib import Path

import pytest
from PIL import Image

from dokimasia.cli.main import run


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """Return a folder of three images."""
    (tmp_path / "photos" / "dogs").mkdir(parents=True)
    for name, colour in (("a.png", "red"), ("b.png", "blue"), ("dogs/c.png", "green")):
        Image.new("RGB", (8, 8), colour).save(tmp_path / "photos" / name)
    return tmp_path / "photos"


def test_a_good_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Counts of samples, images, references, options and categories, warnings for twins, and exit code 0."""
    Image.new("RGB", (8, 8)).save(tmp_path / "a.png")
    rows = [
        {"id": "1", "prompt": "?", "image": "a.png", "category": "x", "reference_answer": "no"},
        {"id": "2", "prompt": "?", "image": "a.png", "category": "y", "reference_answer": "no"},
        {"id": "3", "prompt": "!", "choices": ["p", "q"], "category": "y", "reference_answer": "r"},
        {"id": "4", "prompt": "!", "choices": ["p", "p"], "reference_answer": "p"},
    ]
    path = tmp_path / "data.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows))
    assert run(["data", "check", str(path), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["format"], report["samples"], report["images"], report["without_image"]) == ("jsonl", 4, 1, 2)
    assert (report["with_reference"], report["with_choices"], report["categories"]) == (4, 2, {"x": 1, "y": 2})
    assert report["problems"] == []
    assert [(warning["kind"], warning["ids"]) for warning in report["warnings"]] == [
        ("same-content", ["1", "2"]),
        ("reference-no-option", ["3"]),
        ("equal-options", ["4"]),
    ]
    assert run(["data", "check", str(path)]) == 0
    printed = capsys.readouterr().out
    assert "4 valid samples" in printed
    assert "'1' and '2' are the same sample" in printed
    assert "No problems found." in printed


def test_a_folder_with_a_prompt(photos: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder is checked and evaluated with one question for all; without it the error says how to give it."""
    assert run(["data", "check", str(photos)]) == 2
    assert "--prompt" in capsys.readouterr().err
    assert run(["data", "check", str(photos), "--prompt", "What is it?"]) == 0
    assert "1 (dogs 1)" in capsys.readouterr().out
    (photos / "notes.txt").write_text("x")
    assert run(["data", "check", str(photos), "--prompt", "What is it?"]) == 2
    assert "notes.txt" in capsys.readouterr().out
    (photos / "notes.txt").unlink()
    simulated = ["--judge", "sim/judge-noisy", "--models", "sim/weak", "--home", str(tmp_path / "home"), "--json"]
    assert run(["evaluate", str(photos), "--prompt", "What is it?", *simulated]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["samples"] == 3
    assert list(summary["models"]["sim/weak"]["by_category"]) == ["dogs"]


def test_a_thousand_problems(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two hundred are printed one by one, all are counted, and runs of lines are ranges; JSON has them all."""
    path = tmp_path / "data.jsonl"
    path.write_text('{"id": "1", "prompt": "?"}\n' + "{\n" * 1000)
    assert run(["data", "check", str(path)]) == 2
    printed = capsys.readouterr().out
    assert "1,000 problems on 1,000 lines" in printed
    assert "2–1001" in printed
    assert "and 800 more" in printed
    assert run(["data", "check", str(path), "--json"]) == 2
    assert len(json.loads(capsys.readouterr().out)["problems"]) == 1000


def test_what_a_terminal_would_obey_is_not_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Control characters of the file do not reach the terminal."""
    path = tmp_path / "data.jsonl"
    path.write_text('{"id": "\\u001b[2J", "prompt": "", "category": "\\u001b[2J"}\n' * 2)
    assert run(["data", "check", str(path)]) == 2
    assert "\x1b[2J" not in capsys.readouterr().out


def test_another_kind_of_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file in no known format is one error that lists the formats."""
    (tmp_path / "data.bin").write_bytes(b"\0")
    assert run(["data", "check", str(tmp_path / "data.bin")]) == 2
    assert "a VLMEvalKit TSV (.tsv)" in capsys.readouterr().err


def test_a_check_names_the_way_out_and_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Foreign headers lead to --map, and a missing image is said with the path of the folder that was searched."""
    monkeypatch.chdir(tmp_path)
    Path("foreign.csv").write_text("nr,prompttext,truth\n1,What?,a\n")
    Path("misspelt.jsonl").write_text('{"id": "1", "prompt": "What?", "refrence_answer": "a"}\n')
    Path("lost.jsonl").write_text('{"id": "1", "prompt": "What?", "image": "none.png"}\n')
    run(["data", "check", "foreign.csv"])
    assert "--map id=COLUMN" in capsys.readouterr().out
    assert run(["data", "check", "misspelt.jsonl"]) == 0
    assert "nothing reads it (rows: 1); did you mean 'reference_answer'?" in capsys.readouterr().out
    run(["data", "check", "lost.jsonl"])
    assert f"in {tmp_path}" in "".join(capsys.readouterr().out.split("\n")).replace("  ", " ")


def test_a_check_says_which_columns_are_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each field is named with its column, columns that nothing reads are listed, and a missing reference is said."""
    monkeypatch.chdir(tmp_path)
    Path("data.csv").write_text("id,question,answer,topic\n1,What?,a,x\n")
    Path("open.csv").write_text("id,question,topic\n1,What?,x\n")
    assert run(["data", "check", "data.csv"]) == 0
    said = capsys.readouterr().out
    assert "columns: id, question as prompt, answer as reference_answer\n" in said
    assert "unused columns: topic\n" in said
    assert "No column is a reference answer" not in said
    assert run(["data", "check", "open.csv"]) == 0
    assert "No column is a reference answer" in capsys.readouterr().out
