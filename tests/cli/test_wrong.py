"""`show --wrong`: the answers that were judged wrong, from the command line, in Python and through a service."""

import json
from pathlib import Path

import pytest

import dokimasia
from dokimasia.cli.main import run
from dokimasia.errors import InputError
from dokimasia.methods.evaluation.figures import reason_of
from dokimasia.simulation.world import write_world
from tests.integrations.writing import write_lines


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with an evaluation that has verdicts, one without references, and a run of the filter."""
    folder = tmp_path_factory.mktemp("wrong")
    data = folder / "world.jsonl"
    write_world(data, 8, 3)
    samples = [json.loads(line) for line in data.read_text().splitlines()]
    for sample in samples:
        sample.pop("reference_answer", None)
        sample.pop("choices", None)
    open_data = write_lines(folder / "open.jsonl", samples)
    models = ["--models", "sim/weak,sim/strong", "--judge", "sim/judge", "--home", str(folder / "home")]
    assert run(["evaluate", str(data), *models, "--name", "decided", "--repeats", "2"]) == 0
    assert run(["evaluate", str(open_data), *models, "--name", "graded"]) == 0
    assert run(["filter", str(data), "--judge", "sim/judge", "--name", "filtered", "--home", str(folder / "home")]) == 0
    return folder / "home"


def shown(capfd: pytest.CaptureFixture[str], home: Path, *words: str, code: int = 0) -> str:
    capfd.readouterr()
    assert run(["show", *words, "--home", str(home)]) == code
    printed = capfd.readouterr()
    return printed.err if code else printed.out


def test_wrong_answers_are_those_of_the_export(home: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The list has every answer whose verdict is wrong, in the order of the data, with its number among the judged."""
    path = tmp_path / "rows.jsonl"
    assert run(["export", "decided", "-o", str(path), "--home", str(home)]) == 0
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    expected = [(row["id"], row["model"], row["repeat"]) for row in rows if row["verdict"] == "wrong"]
    figures = json.loads(shown(capfd, home, "decided", "--wrong", "--limit", "500", "--json"))
    assert [(one["sample"], one["model"], one["repeat"]) for one in figures["answers"]] == expected
    assert (figures["by"], figures["wrong"], figures["n"], figures["failed"]) == (
        "verdict",
        len(expected),
        len(rows),
        0,
    )
    for entry, row in zip(figures["answers"], (row for row in rows if row["verdict"] == "wrong"), strict=True):
        assert entry["score"] == row["score"]
        assert " ".join(row["response"].split()).startswith(entry["answer"])
        assert entry["expected"] == row["reference_answer"]
        assert entry["reason"]
    text = " ".join(shown(capfd, home, "decided", "--wrong", "--limit", "2").split())
    assert f"{len(expected)} of {len(rows)} answers" in text
    assert "the first 2 follow" in text
    short = dokimasia.wrong_answers_sync("decided", home=home, limit=3)
    assert len(short.answers) == 3
    assert short.wrong == len(expected)


def test_one_model_is_listed_alone(home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """`--model` restricts list and counts; an unknown model is refused with the known ones."""
    figures = json.loads(shown(capfd, home, "decided", "--wrong", "--model", "sim/weak", "--json"))
    assert {entry["model"] for entry in figures["answers"]} == {"sim/weak"}
    assert figures["n"] == 16
    assert "have no model 'sim/else'" in shown(capfd, home, "decided", "--wrong", "--model", "sim/else", code=2)


def test_without_verdicts_the_lowest_scores_are_listed(home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Data without references give scores alone: the lowest come first."""
    figures = json.loads(shown(capfd, home, "graded", "--wrong", "--limit", "5", "--json"))
    scores = [entry["score"] for entry in figures["answers"]]
    assert (figures["by"], figures["wrong"], figures["n"]) == ("score", None, 16)
    assert scores == sorted(scores)
    assert len(scores) == 5
    assert "5 lowest of 16 answers" in " ".join(shown(capfd, home, "graded", "--wrong", "--limit", "5").split())


def test_methods_without_judged_answers_are_refused(home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The error says what the run has, and of which methods answers can be listed; other options do not go with it."""
    said = " ".join(shown(capfd, home, "filtered", "--wrong", code=2).split())
    assert "is a run of the filter: its ratings are not answers that are right or wrong" in said
    assert "evaluate, audit, duel, arena and refine" in said
    with pytest.raises(InputError, match="its ratings are not answers"):
        dokimasia.wrong_answers_sync("filtered", home=home)
    assert "--wrong lists answers" in shown(capfd, home, "decided", "--wrong", "--full", code=2)
    assert "go with --search" in shown(capfd, home, "decided", "--wrong", "--answers", code=2)


def test_the_reason_names_the_lowest_criterion() -> None:
    """What was compared comes first, then the reason of the lowest score that has one."""
    cells = {
        "rule": "choice",
        "final_answer": "B",
        "criteria_scores": [1, 2, 5],
        "criteria_reasons": ["", "no count is given", "it names the bus"],
    }
    assert reason_of(cells) == "final answer 'B', compared by choice; criterion 2: no count is given"
    assert reason_of({}) is None
