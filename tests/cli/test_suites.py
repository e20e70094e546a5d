"""Suites: several data sets in one command, a run each, with one estimate, one limit and one board."""

import json
from pathlib import Path
from typing import Any

import pytest

from dokimasia.cli.main import run
from dokimasia.simulation.world import write_world

WORDS = ("--judge", "sim/judge", "--models", "sim/strong,sim/weak")


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two data sets."""
    folder = tmp_path_factory.mktemp("suites")
    for name, seed in (("first", 1), ("second", 2)):
        write_world(folder / f"{name}.jsonl", 8, seed)
    return folder


def called(capfd: pytest.CaptureFixture[str], *words: object, code: int = 0) -> str:
    """Return what a command prints, which ends with the code; of a command that fails, its messages."""
    capfd.readouterr()
    assert run([*map(str, words)]) == code
    captured = capfd.readouterr()
    return captured.out if code in (0, 4) else captured.err


def runs_of(capfd: pytest.CaptureFixture[str], home: Path) -> list[dict[str, Any]]:
    """Return the runs of a home, the oldest first."""
    return json.loads(called(capfd, "runs", "--home", home, "--json"))[::-1]


def test_several_data_sets(worlds: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Each data set is a run of its own, named and tagged after the suite; the board has both; again, nothing is asked."""
    home = tmp_path / "home"
    words = ["evaluate", worlds / "first.jsonl", worlds / "second.jsonl", *WORDS, "--home", home, "--name", "both"]
    printed = called(capfd, *words)
    assert "both.first" in printed
    assert "first.jsonl" in printed
    assert "sim/strong" in printed
    runs = runs_of(capfd, home)
    assert [(row["name"], row["tags"], row["status"]) for row in runs] == [
        ("both.first", ["both"], "done"),
        ("both.second", ["both"], "done"),
    ]
    again = json.loads(called(capfd, *words, "--json"))
    assert [row["run"] for row in again["runs"]] == [row["id"] for row in runs]
    assert [data["title"] for data in again["board"]["data"]] == ["first.jsonl", "second.jsonl"]
    assert len(runs_of(capfd, home)) == 2


def test_duels_over_several_data_sets(worlds: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Duels take a suite, too: a run for each data set, and the board by the reward against the one baseline."""
    words = ["--judge", "sim/judge", "--models", "sim/strong,sim/steady", "--baseline", "sim/weak", "--limit", 3]
    data = (worlds / "first.jsonl", worlds / "second.jsonl")
    said = json.loads(called(capfd, "duel", *data, *words, "--home", tmp_path / "home", "--json"))
    assert [row["end"] for row in said["runs"]] == ["complete", "complete"]
    assert [one["title"] for one in said["board"]["data"]] == ["first.jsonl", "second.jsonl"]
    assert set(said["board"]["models"]) == {"sim/strong", "sim/steady"}
    means = {name: model["mean"]["mean"] for name, model in said["board"]["models"].items()}
    for name, mean in means.items():
        entries = said["board"]["models"][name]["entries"].values()
        assert mean == pytest.approx(sum(entry["figure"]["mean"] for entry in entries) / 2, abs=1e-4)


def test_run_is_the_one_of_its_data_alone(worlds: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A run of a suite is the run that the same command over one data set continues."""
    words = [*WORDS, "--home", tmp_path / "home", "--dry-run", "--json"]
    suite = json.loads(called(capfd, "evaluate", worlds / "first.jsonl", worlds / "second.jsonl", *words))
    alone = json.loads(called(capfd, "evaluate", worlds / "second.jsonl", *words))
    assert suite["data"][1] == {"data": "second", **alone}
    assert suite["total"]["samples"] == 16
    assert suite["total"]["calls"] == sum(data["calls"] for data in suite["data"])
    assert suite["total"]["cost"] == pytest.approx(sum(data["cost"] for data in suite["data"]))


@pytest.mark.parametrize("ending", ["yaml", "toml"])
def test_suite_file(worlds: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str], ending: str) -> None:
    """A file names the suite and its data sets, with how each is read; paths are relative to it."""
    texts = {
        "yaml": "name: scenes\ndata:\n  one: first.jsonl\n  two: {data: second.jsonl, limit: 3}\n",
        "toml": 'name = "scenes"\n[data]\none = "first.jsonl"\ntwo = {data = "second.jsonl", limit = 3}\n',
    }
    file = worlds / f"suite.{ending}"
    file.write_text(texts[ending])
    printed = called(capfd, "evaluate", file, *WORDS, "--home", tmp_path / "home", "--dry-run", "--json")
    estimate = json.loads(printed)
    assert [(data["data"], data["samples"]) for data in estimate["data"]] == [("one", 8), ("two", 3)]
    text = called(capfd, "evaluate", file, *WORDS, "--home", tmp_path / "home", "--dry-run")
    assert "11 samples" in text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name: s\ndata: {}\n", "data: Dictionary should have at least 1 item"),
        ("name: s\ndata: {a: missing.jsonl}\n", "data set 'a': there is no"),
        ("name: s\ndata: {a: {data: first.jsonl, seed: 1}}\n", "data.a.seed: Extra inputs"),
        ("name: s/t\ndata: {a: first.jsonl}\n", "cannot be a name"),
        ("data: [", "is not valid YAML"),
    ],
)
def test_faults_of_a_suite_file(
    worlds: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str], text: str, message: str
) -> None:
    """A fault is named by file and place, and no run begins."""
    file = worlds / "faulty.yaml"
    file.write_text(text)
    printed = called(capfd, "evaluate", file, *WORDS, "--home", tmp_path / "home", code=2)
    assert "faulty.yaml" in printed
    assert message in printed


def test_nothing_is_sent_while_any_data_set_is_bad(
    worlds: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """All data are read before the first run begins."""
    (tmp_path / "bad.jsonl").write_text('{"id": "a"}\n')
    words = ["evaluate", worlds / "first.jsonl", tmp_path / "bad.jsonl", *WORDS, "--home", tmp_path / "home"]
    assert "bad.jsonl, line 1" in called(capfd, *words, code=2)
    assert not (tmp_path / "home").exists() or runs_of(capfd, tmp_path / "home") == []


def test_one_limit_for_all(worlds: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A limit holds for the whole suite: the second run gets what the first left, and goes on with a larger one."""
    home = tmp_path / "home"
    words = ["evaluate", worlds / "first.jsonl", worlds / "second.jsonl", *WORDS, "--home", home, "--json"]
    alone = ["evaluate", worlds / "first.jsonl", *WORDS, "--home", tmp_path / "other", "--json"]
    called(capfd, *alone)
    limit = runs_of(capfd, tmp_path / "other")[0]["spent"]["calls"] + 5
    first = json.loads(called(capfd, *words, "--max-calls", limit, code=4))
    assert [row["end"] for row in first["runs"]] == ["complete", "spending"]
    assert sum(row["spent"]["calls"] for row in runs_of(capfd, home)) <= limit
    whole = json.loads(called(capfd, *words))
    assert [row["run"] for row in whole["runs"]] == [row["run"] for row in first["runs"]]
    assert [row["end"] for row in whole["runs"]] == ["complete", "complete"]


def test_equal_names_and_mixed_arguments(worlds: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Data sets of one name need a file that names them, and such a file stands alone."""
    (tmp_path / "first.jsonl").write_text((worlds / "first.jsonl").read_text())
    (worlds / "whole.yaml").write_text("name: s\ndata: {a: first.jsonl}\n")
    for other, message in (
        (tmp_path / "first.jsonl", "two data sets are called 'first'"),
        (worlds / "whole.yaml", "stands alone"),
    ):
        words = ["evaluate", worlds / "first.jsonl", other, *WORDS, "--home", tmp_path / "home"]
        assert message in called(capfd, *words, code=2)
