"""Live models and stored answers in one run: evaluation, audit, duel and arena judge them together."""

import json
from pathlib import Path
from typing import Any

import pytest

from dokimasia.cli.main import run
from dokimasia.simulation.world import write_world

LIVE, STORED = "sim/strong", "llava"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with data and two answers of a stored model to each sample."""
    folder = tmp_path_factory.mktemp("mixed")
    write_world(folder / "data.jsonl", 6, 1)
    samples = [json.loads(line)["id"] for line in (folder / "data.jsonl").read_text(encoding="utf-8").splitlines()]
    answers = [
        {
            "id": id,
            "model": STORED,
            "response": f"Perhaps a green bird, {id}.\n\nFinal answer: a green bird",
            "repeat": 0,
        }
        for id in samples
    ]
    (folder / "llava.jsonl").write_text("\n".join(map(json.dumps, answers)), encoding="utf-8")
    return folder


def made(capfd: pytest.CaptureFixture[str], folder: Path, verb: str, *words: str) -> dict[str, Any]:
    """The figures of a run over the data and the stored answers."""
    capfd.readouterr()
    files = (str(folder / "data.jsonl"), "--responses", str(folder / "llava.jsonl"), "--home", str(folder / "home"))
    assert run([verb, *files, "--judge", "sim/judge", *words, "--json"]) == 0
    return json.loads(capfd.readouterr().out)


def rows_of(capfd: pytest.CaptureFixture[str], folder: Path) -> list[dict[str, Any]]:
    """The rows of the newest run."""
    capfd.readouterr()
    assert run(["export", "last", "--home", str(folder / "home")]) == 0
    return [json.loads(line) for line in capfd.readouterr().out.splitlines()]


def test_an_evaluation_asks_only_live_models(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Stored answers are judged as they are, as often as they are there; live models answer as often as is asked for."""
    figures = made(capfd, folder, "evaluate", "--models", LIVE, "--repeats", "2")
    assert set(figures["models"]) == {LIVE, STORED}
    rows = rows_of(capfd, folder)
    counts = {name: sum(row["model"] == name for row in rows) for name in (LIVE, STORED)}
    assert counts == {LIVE: 12, STORED: 6}
    assert all(row["response"].endswith("green bird") for row in rows if row["model"] == STORED)
    stored = figures["models"][STORED]
    assert (stored["n"], stored["answers_scored"]) == (6, 6)


def test_duels_and_arenas_judge_all_of_them(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A duel compares live and stored models with a live baseline; an arena pairs all of them."""
    duel = made(capfd, folder, "duel", "--models", LIVE, "--baseline", "sim/weak")
    assert set(duel["models"]) >= {LIVE, STORED}
    arena = made(capfd, folder, "arena", "--models", f"{LIVE},sim/weak")
    assert set(arena["models"]) == {LIVE, "sim/weak", STORED}


def test_a_new_run_says_what_it_read(folder: Path, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The line on standard error counts samples, names models of stored answers, and gives reasons for what is left out."""
    lines = (folder / "data.jsonl").read_text(encoding="utf-8").splitlines()
    (folder / "bad.jsonl").write_text(
        "\n".join([*lines, '{"id": "x"}', '{"id": "y"}', '{"id": "z"}']), encoding="utf-8"
    )
    files = (str(folder / "bad.jsonl"), "--responses", str(folder / "llava.jsonl"), "--home", str(tmp_path / "home"))
    capfd.readouterr()
    words = ["evaluate", *files, "--judge", "sim/judge", "--models", LIVE, "--on-bad-sample", "skip"]
    assert run(words) == 0
    read = [line for line in capfd.readouterr().err.splitlines() if line.startswith("read ")]
    assert len(read) == 1
    assert read[0].startswith(f"read bad.jsonl: 6 samples; stored answers of {STORED}; left out 3: ")
    assert "line 7" in read[0]
    assert read[0].endswith("; and 1 more")
    assert run(words) == 0
    assert "read bad.jsonl" not in capfd.readouterr().err, "a finished run is printed without a reading"


def shown(capfd: pytest.CaptureFixture[str], folder: Path) -> str:
    """The terminal's view of the newest run, on lines of single spaces."""
    capfd.readouterr()
    assert run(["show", "last", "--home", str(folder / "home")]) == 0
    return "\n".join(" ".join(line.split()) for line in capfd.readouterr().out.splitlines())


@pytest.mark.parametrize(
    ("verb", "words"),
    [
        ("evaluate", ("--models", LIVE)),
        ("duel", ("--models", LIVE, "--baseline", "sim/weak")),
        ("arena", ("--models", f"{LIVE},sim/weak")),
    ],
)
def test_tables_mark_stored_answers_beside_live_ones(
    folder: Path, capfd: pytest.CaptureFixture[str], verb: str, words: tuple[str, ...]
) -> None:
    """A line under the verdict names the models whose answers were stored, and the table has a column of it."""
    made(capfd, folder, verb, *words)
    text = shown(capfd, folder)
    assert f"Stored answers: {STORED}. The other models answered in this run." in text.replace("\n", " ")
    assert f"{STORED} stored " in text
    assert f"{LIVE} live " in text


def test_a_stored_baseline_is_named(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Where only the baseline's answers were stored, the line names the baseline."""
    made(capfd, folder, "duel", "--models", LIVE, "--baseline", STORED)
    assert f"Stored answers: {STORED}." in shown(capfd, folder)


def test_a_run_over_stored_answers_alone_marks_none(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Where no model was asked for an answer, the command says all, and no column is added."""
    made(capfd, folder, "evaluate")
    assert "stored" not in shown(capfd, folder).lower()


def test_audits_judge_all_of_them(folder: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Descriptions that exist and those that are asked for are judged by the same rubrics."""
    home = str(folder / "home")
    write_world(tmp_path / "pictures.jsonl", 3, 4)
    panel = ("--panel", "sim/panel-a,sim/panel-b,sim/panel-c")
    assert run(["review", str(tmp_path / "pictures.jsonl"), *panel, "--home", home, "--json"]) == 0
    assert (
        run(["rubrics", "last", "--judge", "sim/judge", "--pool", "sim/strong,sim/weak", "--home", home, "--json"]) == 0
    )
    samples = [
        json.loads(line)["id"] for line in (tmp_path / "pictures.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    answers = [{"id": id, "model": STORED, "response": "A row of things on a table."} for id in samples]
    (tmp_path / "stored.jsonl").write_text("\n".join(map(json.dumps, answers)), encoding="utf-8")
    capfd.readouterr()
    words = ["audit", str(tmp_path / "pictures.jsonl"), "--rubrics", "last", "--judge", "sim/judge", "--models", LIVE]
    assert run([*words, "--responses", str(tmp_path / "stored.jsonl"), "--home", home, "--json"]) == 0
    figures = json.loads(capfd.readouterr().out)
    assert set(figures["models"]) == {LIVE, STORED}


def test_a_name_that_is_nowhere_is_refused(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The error says which models the files have."""
    words = ("--responses", str(folder / "llava.jsonl"), "--models", "lava", "--judge", "sim/judge")
    assert run(["evaluate", str(folder / "data.jsonl"), *words, "--home", str(folder / "home")]) == 2
    assert "has answers of llava" in capfd.readouterr().err
