"""`annotate agreement --scale 0-1` on an evaluation: labels of right and wrong beside verdicts, and what rules decided apart."""

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest

from dokimasia.cli.main import run
from tests.cli import test_correct as correcting
from tests.cli.test_correct import Place

place = correcting.place


def said(place: Place, path: Path, *, of: str = "") -> Path:
    """Write the verdicts of a run on all of its answers as a person's labels."""
    lines: list[str] = []
    for model, answers in place.answers(of or place.judged).items():
        for one in answers:
            if one.decision is not None and not one.undecided:
                line = {"id": one.unit.id, "model": model, "annotator": "anna", "value": int(one.decision.right)}
                lines.append(json.dumps(line) + "\n")
    path.write_text("".join(lines))
    return path


def agreement(place: Place, path: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """Return the agreement of a file's labels with the run."""
    capsys.readouterr()
    command = ["annotate", "agreement", str(path), "--run", place.judged, "--scale", "0-1", *place.home]
    assert run([*command, "--json"]) == 0
    measured = json.loads(capsys.readouterr().out)["measures"]["score"]
    assert run(command) == 0
    return measured


def test_labels_that_are_the_verdicts_agree_fully(
    place: Place, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Labels are held against verdicts, not against scores: kappa is 1; what is near on a scale of 0 and 1 is not asked."""
    measured = agreement(place, said(place, tmp_path / "said.jsonl"), capsys)
    (judge,), (rules,) = measured["judges"].values(), measured["rules"].values()
    for one in (judge, rules):
        assert one["kappa"]["value"] == 1
        assert one["mae"]["mean"] == 0
        assert one["consistency"] is None
    answers = [one for several in place.answers(place.judged).values() for one in several]
    assert judge["n"] == sum(one.decision is not None and one.decision.by_judge for one in answers)
    assert judge["coverage"] + rules["coverage"] == pytest.approx(1, abs=1e-5)
    printed = capsys.readouterr().out
    assert "consistent" not in printed
    assert "decided by rules" in printed


def test_verdicts_have_a_confusion_matrix_with_intervals(
    place: Place, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Beside what is true the judge's verdicts have sensitivity and specificity, and the matrix adds up."""
    measured = agreement(place, said(place, tmp_path / "true.jsonl", of=place.true), capsys)
    (judge,) = measured["judges"].values()
    verdicts = judge["verdicts"]
    cells = [verdicts[name] for name in ("right_right", "right_wrong", "wrong_right", "wrong_wrong")]
    assert sum(cells) == verdicts["n"] == judge["n"]
    assert verdicts["wrong_right"] > 0
    assert verdicts["sensitivity"]["k"] == verdicts["wrong_wrong"]
    assert verdicts["sensitivity"]["share"] < 1
    assert verdicts["sensitivity"]["low"] < verdicts["sensitivity"]["share"] < verdicts["sensitivity"]["high"]
    printed = " ".join(capsys.readouterr().out.split())
    wrong = verdicts["wrong_right"] + verdicts["wrong_wrong"]
    assert re.search(
        rf"agrees with people on \d+\.\d % \[\d+, \d+\] of {verdicts['n']} answers\. It finds \d+\.\d %", printed
    )
    assert f"of the {wrong} that people call wrong" in printed, "the opening sentence"
    assert re.search(rf"\d %( \[\d+, \d+\])? of {wrong} ", printed), "the table"


def test_the_scale_of_the_draw_goes_along_from_form_to_agreement(
    place: Place, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What `read` writes has the draw's scale, so that `agreement` compares verdicts without --scale; two scales are refused."""
    forms, path = tmp_path / "forms", tmp_path / "said.jsonl"
    options = ["--annotators", "anna", "--cases", "6", "--scale", "0-1"]
    assert run(["annotate", "draw", place.judged, *options, "-o", str(forms), *place.home]) == 0
    with (forms / "anna" / "form.csv").open(newline="") as form:
        rows = list(csv.DictReader(form))
    asked = "score: Is the final answer right? The reasoning before it does not count. 0 · no, wrong; 1 · yes, right"
    for number, row in enumerate(rows):
        assert row["question"]
        assert row["reference"]
        assert row["response"]
        assert row["asked"] == asked
        row["score"] = "right" if number % 2 else "0"
    filled = tmp_path / "anna.csv"
    with filled.open("w", newline="") as form:
        writer = csv.DictWriter(form, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    assert run(["annotate", "read", f"{forms}.key.jsonl", str(filled), "-o", str(path)]) == 0
    said_values = [json.loads(line)["value"] for line in path.read_text().splitlines()]
    assert said_values == [number % 2 for number in range(len(rows))]
    capsys.readouterr()
    assert run(["annotate", "agreement", str(path), "--run", place.judged, *place.home, "--json"]) == 0
    measured = json.loads(capsys.readouterr().out)["measures"]["score"]
    assert measured["scale"] == [0, 1]
    (judge,) = measured["judges"].values()
    assert judge["verdicts"]["n"] > 0
    lines = path.read_text().splitlines()
    lines[1] = json.dumps(json.loads(lines[1]) | {"scale": "1-5"})
    path.write_text("\n".join(lines))
    assert run(["annotate", "agreement", str(path), "--run", place.judged, *place.home]) == 2
    assert "on the scale 0-1 in line 1 and 1-5 in line 2" in " ".join(capsys.readouterr().err.split())


def test_tables_are_readable_at_100_columns(
    place: Place, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seven columns at most, each header on one line, and why a figure is absent stands once below the tables."""
    monkeypatch.setenv("COLUMNS", "100")
    lines = said(place, tmp_path / "said.jsonl").read_text().splitlines()
    people = [{**json.loads(line), "annotator": who} for line in lines for who in ("anna", "ben", "carla")]
    (tmp_path / "three.jsonl").write_text("\n".join(map(json.dumps, people)))
    agreement(place, tmp_path / "three.jsonl", capsys)
    printed = capsys.readouterr().out.splitlines()
    assert max(map(len, printed)) <= 100
    rules = [number for number, line in enumerate(printed) if line.strip(" ─") == "" and "─" in line]
    titles = [re.split(r"\s{2,}", printed[number - 1].strip()) for number in rules]
    assert len(titles) >= 6
    for number, columns in zip(rules, titles, strict=True):
        assert not printed[number - 2].strip(), f"a header of several lines: {printed[number - 2 : number]}"
        assert len(columns) <= 7
    assert ["verdicts of", "agreement", "sensitivity", "specificity"] in titles
    assert ["human ceiling", "n", "people among themselves", "judge", "judge minus people"] in titles
    notes = [line for line in printed if re.match("[¹²³⁴⁵⁶⁷⁸⁹]", line)]
    assert any("no interval" in note or "no value" in note for note in notes)
    for note in notes:
        mark = note.partition(" ")[0]
        assert sum(mark in line for line in printed) > 1, f"{note}: no figure bears this mark"
    reasons = [line for line in printed if "no interval" in line or "no value" in line]
    assert set(reasons) <= set(notes), "reasons stand below the tables alone"
