"""`dokimasia decide`: going through what waits, files out and in, and a terminal that is closed in the middle."""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import orjson
import pytest
from click.testing import CliRunner

from dokimasia.cli.decide import command
from dokimasia.cli.main import run as dokimasia
from dokimasia.methods.review import METHOD, ReviewRequest
from dokimasia.runs.lifecycle import run
from dokimasia.settings import load_settings
from dokimasia.simulation.world import write_described
from dokimasia.storage.decisions import draft_file
from dokimasia.storage.home import Home
from tests.processes import PATIENCE


@pytest.fixture(scope="module")
def reviewed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a review of six scenes that nobody has checked."""
    folder = tmp_path_factory.mktemp("reviewed")
    write_described(folder / "data.jsonl", 6, 0, disputed=0.0)
    settings = load_settings(home=folder / "home", cwd=folder, env={})
    request = ReviewRequest(data=folder / "data.jsonl", panel=("sim/panel-a", "sim/panel-c"))
    asyncio.run(run(METHOD, request, settings=settings))
    return folder / "home"


@pytest.fixture
def home(reviewed: Path, tmp_path: Path) -> Path:
    """A copy of that home."""
    return Path(shutil.copytree(reviewed, tmp_path / "home"))


def _go(home: Path, keys: str, *options: str, who: str = "anna", env: dict[str, str] | None = None):
    arguments = ["last", "--home", str(home), "--who", who, *options]
    result = CliRunner().invoke(command, arguments, input=keys, env=env, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def _figures(home: Path, capsys: pytest.CaptureFixture[str]) -> dict:
    assert dokimasia(["decide", "last", "--home", str(home), "--json"]) == 0
    return orjson.loads(capsys.readouterr().out)


def test_every_key_does_what_it_says(home: Path, capsys) -> None:
    """Accept, delete, reject, skip and back; an unknown key is answered with the keys, and the end of input stops."""
    count = _figures(home, capsys)["states"]["waiting"]
    output = _go(home, "a\nd 1\n\nwhat\nr\n\ns\nb\nb\na\n")
    assert f"1 of {count}" in output
    assert output.count("a accept") == 2
    assert "4 decided in this invocation" in output
    figures = _figures(home, capsys)
    assert figures["states"] == {"waiting": count - 3, "accepted": 2, "edited": 1, "rejected": 0}
    assert figures["people"] == {"anna": 3}
    with Home.open(home, write=False) as opened:
        made = opened.all("SELECT action, difference <> '' FROM decisions ORDER BY item, number")
    assert len(made) == 4, "a change of mind is kept beside the first decision"
    assert sorted(made) == [("accept", 0), ("accept", 0), ("edit", 1), ("reject", 0)]


def test_images_are_files_that_programs_open(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The image of an item has a name with its type's ending, and `o` opens it; the stored one stays out of reach."""
    opened: list[Path] = []

    def launch(name: str) -> None:
        opened.append(Path(name))
        assert opened[-1].read_bytes()

    monkeypatch.setattr("dokimasia.cli.checking.click.launch", launch)
    output = _go(home, "o\nq\n")
    assert opened
    assert opened[0].suffix in {".png", ".jpeg", ".webp", ".gif"}
    assert str(opened[0]) in output
    assert home not in opened[0].parents


def test_a_wrong_sentence_is_named_and_asked_again(home: Path) -> None:
    """Deleting what is not there changes nothing."""
    output = _go(home, "d 99\nd\nq\n")
    assert output.count("there are sentences 1 to") == 2
    assert "0 decided" in output


def test_an_edit_goes_through_the_editor(home: Path, tmp_path: Path, capsys) -> None:
    """$EDITOR gets a sentence a line; what is saved is the text, and an edit without a change decides nothing."""
    editor = tmp_path / "editor.sh"
    editor.write_text('#!/bin/sh\nsed -i "1d" "$1"\n')
    editor.chmod(0o755)
    output = _go(home, "e\n\nq\n", env={"EDITOR": str(editor), "VISUAL": ""})
    assert "1 decided" in output
    assert "\n-" in output
    assert _figures(home, capsys)["states"]["edited"] == 1
    assert "nothing was changed" in _go(home, "e\nq\n", env={"EDITOR": "true", "VISUAL": ""})
    assert not list((home / "drafts").iterdir())


def test_an_edit_outlives_a_closed_terminal(home: Path, capsys) -> None:
    """What the editor had saved when the terminal closed is offered to the same person again."""
    with Home.open(home, write=False) as opened:
        item = opened.all("SELECT id FROM check_items ORDER BY position")[0][0]
    draft = draft_file(home, item, "anna")
    draft.parent.mkdir()
    draft.write_text("A dog sleeps.\nIt is brown.\n")
    assert "unfinished edit" not in _go(home, "q\n", who="bert")
    assert "unfinished edit" in _go(home, "e\n\nq\n", env={"EDITOR": "true", "VISUAL": ""})
    with Home.open(home, write=False) as opened:
        assert opened.all("SELECT text FROM decisions") == [("A dog sleeps. It is brown.",)]
    assert not draft.exists()


@pytest.mark.parametrize("signal_", [signal.SIGHUP, signal.SIGKILL])
def test_a_closed_terminal_loses_nothing(home: Path, capsys, signal_: int) -> None:
    """Whoever dies in the middle has decided what was answered, and goes on with the rest."""
    count = _figures(home, capsys)["states"]["waiting"]
    command = [sys.executable, "-m", "dokimasia", "decide", "last", "--home", str(home), "--who", "anna"]
    env = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=env,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),  # also where this process ignores it
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("a\n")
        process.stdin.flush()
        while f"2 of {count}" not in process.stdout.readline():
            assert process.poll() is None
        process.send_signal(signal_)
        process.wait(timeout=PATIENCE)
    assert process.returncode == -signal_
    figures = _figures(home, capsys)
    assert figures["states"] == {"waiting": count - 1, "accepted": 1, "edited": 0, "rejected": 0}
    assert f"1 of {count - 1}" in _go(home, "q\n")


def test_people_say_why_they_change_a_caption(home: Path, capsys) -> None:
    """After an edit and a rejection the terminal asks why; the reasons are counted, with shares and intervals."""
    output = _go(home, "d 1\n2, 1\nr\n9\n2\nd 2\n\na\nq\n")
    assert "1  material or edge misread" in output
    assert "numbers from 1 to 8" in output
    assert output.count("why?") == 4, "an accepted caption needs no reason"
    figures = _figures(home, capsys)["reasons"]
    assert (figures["checked"], figures["changed"], figures["with_reason"]) == (4, 3, 2)
    counted = {one["reason"]: (one["edited"], one["rejected"], one["share"]["k"]) for one in figures["reasons"]}
    assert counted.pop("boundary") == (1, 0, 1)
    assert counted.pop("spatial") == (1, 1, 2)
    assert set(counted.values()) == {(0, 0, 0)}
    spatial = figures["reasons"][1]["share"]
    assert (spatial["n"], spatial["share"], spatial["bounds"]) == (2, 1.0, {"low": 0.666667, "high": 1.0})
    assert "3 of 4 checked captions were edited or rejected, 1 of them without a reason" in " ".join(output.split())
    assert dokimasia(["show", "last", "--home", str(home), "--json"]) == 0
    assert orjson.loads(capsys.readouterr().out)["golden"]["reasons"] == figures
    assert dokimasia(["show", "last", "--home", str(home), "--full"]) == 0
    assert "3 of 4 checked captions were edited or rejected" in capsys.readouterr().out


def test_the_end_of_input_at_a_reason_loses_no_decision(home: Path, capsys) -> None:
    """Whoever leaves while being asked why has decided, without a reason."""
    assert "1 decided in this invocation" in _go(home, "r\n")
    figures = _figures(home, capsys)
    assert figures["states"]["rejected"] == 1
    assert (figures["reasons"]["changed"], figures["reasons"]["with_reason"]) == (1, 0)


def test_files_out_and_in(home: Path, tmp_path: Path, capsys) -> None:
    """An export that somebody filled in is taken in, whole or not at all, and twice is once."""
    file = tmp_path / "items.jsonl"
    assert dokimasia(["decide", "last", "--home", str(home), "--export", str(file)]) == 0
    rows = [orjson.loads(line) for line in file.read_bytes().splitlines()]
    assert all(row["state"] == "waiting" and row["action"] is None and row["decisions"] == [] for row in rows)
    rows[0]["action"] = "accept"
    rows[1] |= {"action": "edit", "new_text": "A cat sits.", "who": "carl"}
    rows[2] |= {"action": "delete", "delete": [1], "reasons": ["vague", "text", "vague"]}
    assert rows[2].keys() >= {"action", "new_text", "reasons"}
    filled = tmp_path / "filled.jsonl"
    filled.write_bytes(b"\n".join(map(orjson.dumps, rows)))
    capsys.readouterr()
    for _ in range(2):
        assert (
            dokimasia(["decide", "last", "--home", str(home), "--who", "bert", "--import", str(filled), "--json"]) == 0
        )
        figures = orjson.loads(capsys.readouterr().out)
        assert figures["people"] == {"bert": 2, "carl": 1}
        assert figures["states"]["edited"] == 2
    again = tmp_path / "again.jsonl"
    assert dokimasia(["decide", "last", "--home", str(home), "--export", str(again)]) == 0
    made = [made for line in again.read_bytes().splitlines() for made in orjson.loads(line)["decisions"]]
    assert {one["who"] for one in made} == {"bert", "carl"}
    assert all(one["at"] for one in made)
    assert sorted(one["reasons"] for one in made) == [[], [], ["vague", "text"]]


def test_decisions_travel_with_their_files(home: Path, reviewed: Path, tmp_path: Path, capsys) -> None:
    """Decisions exported from one home and imported into another copy stand there with the same people and times."""
    _go(home, "a\nb\nr\n\nd 2\n2,4\nr\n\nq\n")
    file = tmp_path / "items.jsonl"
    assert dokimasia(["decide", "last", "--home", str(home), "--export", str(file)]) == 0
    other = Path(shutil.copytree(reviewed, tmp_path / "other"))
    assert dokimasia(["decide", "last", "--home", str(other), "--import", str(file)]) == 0
    back = tmp_path / "back.jsonl"
    assert dokimasia(["decide", "last", "--home", str(other), "--export", str(back)]) == 0
    assert back.read_bytes() == file.read_bytes()
    assert "took in 4 decisions;" in capsys.readouterr().err
    assert dokimasia(["decide", "last", "--home", str(other), "--import", str(file)]) == 0
    assert "took in 0 decisions, 4 known already;" in capsys.readouterr().err
    assert dokimasia(["decide", "last", "--home", str(other), "--export", str(back)]) == 0
    assert back.read_bytes() == file.read_bytes(), "not even a mind that was changed is changed once more"


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (b"{", "line 1"),
        (b'{"item": "nobody", "action": "accept"}', "no item 'nobody'"),
        (b'{"item": "ITEM", "action": "improve"}', "line 1: action"),
        (b'{"item": "ITEM", "action": "edit"}', "needs new_text"),
        (b'{"item": "ITEM", "action": "reject", "reasons": ["ugly"]}', "line 1: reasons.0"),
        (b'{"item": "ITEM", "action": "accept", "reasons": ["vague"]}', "reasons belong to an edit or a rejection"),
        (b'{"item": "ITEM", "reasons": ["vague"]}', "reasons are given without an action"),
        (b'{"item": "ITEM", "action": "delete"}', "numbers of sentences"),
        (b'{"item": "ITEM", "action": "delete", "delete": [99]}', "sentences 1 to"),
    ],
)
def test_a_bad_line_is_named(home: Path, tmp_path: Path, capsys, row: bytes, message: str) -> None:
    """A line that cannot be used is the user's mistake, named with its number."""
    with Home.open(home, write=False) as opened:
        item = opened.all("SELECT id FROM check_items ORDER BY position")[0][0]
    file = tmp_path / "bad.jsonl"
    file.write_bytes(row.replace(b"ITEM", item.encode()))
    assert dokimasia(["decide", "last", "--home", str(home), "--import", str(file)]) == 2
    assert message in " ".join(capsys.readouterr().err.split())
    assert _figures(home, capsys)["people"] == {}


def test_two_people_have_an_agreement(home: Path, capsys) -> None:
    """A second opinion goes through what is decided, and gives a share with its interval, and kappa."""
    count = _figures(home, capsys)["states"]["waiting"]
    _go(home, "a\n" * (count - 1) + "r\n\n")
    output = _go(home, "a\n" * (count - 2) + "r\n\nr\n\n", "--second", who="bert")
    assert "anna and bert decided alike" in output
    (pair,) = _figures(home, capsys)["agreement"]
    assert (pair["people"], pair["n"]) == (["anna", "bert"], count)
    assert pair["low"] < pair["share"] == (count - 1) / count < pair["high"]
    assert 0 < pair["kappa"] < 1
    assert pair["same_text"] == count
    assert "nothing waits for a second opinion of bert" in _go(home, "", "--second", who="bert")


def test_a_run_without_anything_to_check_says_so(tmp_path: Path, capsys) -> None:
    """A run of another kind is the user's mistake, and the message says what makes captions and rubrics."""
    from dokimasia.simulation.world import write_world

    write_world(tmp_path / "world.jsonl", 2, 0)
    home = str(tmp_path / "home")
    data = str(tmp_path / "world.jsonl")
    assert dokimasia(["evaluate", data, "--judge", "sim/judge", "--models", "sim/weak", "--home", home, "--json"]) == 0
    assert dokimasia(["decide", "last", "--home", home]) == 2
    assert "dokimasia review" in capsys.readouterr().err
