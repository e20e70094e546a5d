"""People as models from the command line: a panel with a person to its golden captions, in the terminal and through files."""

import shutil
import stat
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest
from click.testing import CliRunner

from dokimasia.cli.decide import command
from dokimasia.cli.main import run as dokimasia
from dokimasia.settings import Settings, load_settings
from dokimasia.simulation.world import write_described
from dokimasia.storage.decisions import draft_file
from dokimasia.storage.home import Home
from dokimasia.storage.people.questions import get_question, open_questions
from tests.runs.people import as_model

PANEL = "sim/panel-a,sim/panel-b,human/ana"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data file of two scenes."""
    path = tmp_path_factory.mktemp("world") / "data.jsonl"
    write_described(path, 2, 0, disputed=0.0)
    return path


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings of a home of the test's own."""
    return load_settings(home=tmp_path / "home", cwd=tmp_path, env={})


def _review(world: Path, settings: Settings, panel: str = PANEL) -> int:
    return dokimasia(["review", str(world), "--panel", panel, "--home", str(settings.home)])


def _resume(settings: Settings) -> int:
    return dokimasia(["resume", "last", "--home", str(settings.home)])


def _check(settings: Settings, keys: str = "", *options: str, who: str = "ana", editor: str = "false"):
    arguments = ["last", "--home", str(settings.home), "--who", who, *options]
    return CliRunner().invoke(command, arguments, input=keys, env={"EDITOR": editor, "VISUAL": ""})


def _waiting(settings: Settings) -> list[str]:
    with Home.open(settings.home, write=False) as home:
        return [one.item for one in open_questions(home)]


def _editor(settings: Settings, path: Path) -> str:
    """An editor in which ana writes what a simulated model says to the question whose draft is open."""
    replies = path.with_name("replies")
    replies.mkdir(exist_ok=True)
    reply = as_model(settings, "sim/panel-c")
    with Home.open(settings.home, write=False) as home:
        for item in _waiting(settings):
            text = reply(get_question(home, item).call.messages)
            (replies / draft_file(settings.home, item, "ana").name).write_text(text)
    path.write_text(f'#!/bin/sh\ncp "{replies}/$(basename "$1")" "$1"\n')
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def _in_the_terminal(settings: Settings, folder: Path) -> None:
    keys = "e\n" * len(_waiting(settings))
    result = _check(settings, keys, editor=_editor(settings, folder / "editor.sh"))
    assert result.exit_code == 0, result.output
    assert "the run goes on with the answers: dokimasia resume" in " ".join(result.output.split())


def _through_files(settings: Settings, folder: Path) -> None:
    path = folder / "questions.jsonl"
    assert _check(settings, "", "--export", str(path)).exit_code == 0
    reply = as_model(settings, "sim/panel-c")
    rows = [orjson.loads(line) for line in path.read_bytes().splitlines()]
    with Home.open(settings.home, write=False) as home:
        for row in (one for one in rows if one["kind"] == "question"):
            assert row["person"] == "ana"
            assert all((folder / image).is_file() for image in row["images"])
            assert row["form"] == get_question(home, row["item"]).aid.form
            row["reply"] = row["reply"] or reply(get_question(home, row["item"]).call.messages)
    path.write_bytes(b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows))
    result = _check(settings, "", "--import", str(path))
    assert result.exit_code == 0, result.output


def _to_the_end(settings: Settings, folder: Path, how: Callable[[Settings, Path], None]) -> int:
    code = 6
    for _ in range(12):
        how(settings, folder)
        code = _resume(settings)
        if code != 6:
            break
    return code


def test_a_panel_with_a_person_reaches_its_captions_by_terminal_and_by_files(
    world: Path, settings: Settings, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The run says whom it waits for and with which command, code 6; both ways end in the same figures to the byte."""
    assert _review(world, settings) == 6
    said = " ".join(capsys.readouterr().err.split())
    assert "2 questions wait for human/ana: `dokimasia decide" in said
    assert "--who ana`" in said
    assert "at most 10 questions to human/ana" in said
    assert dokimasia(["runs", "--home", str(settings.home)]) == 0
    assert "waiting for 2 questions" in " ".join(capsys.readouterr().out.split())
    files = load_settings(home=tmp_path / "by-files", cwd=tmp_path, env={})
    shutil.copytree(settings.home, files.home)
    figures: list[bytes] = []
    for one, how in ((settings, _in_the_terminal), (files, _through_files)):
        folder = tmp_path / how.__name__
        folder.mkdir()
        assert _to_the_end(one, folder, how) == 0
        capsys.readouterr()
        assert dokimasia(["show", "last", "--home", str(one.home), "--json"]) == 0
        figures.append(capsys.readouterr().out.encode())
    assert figures[0] == figures[1]
    assert orjson.loads(figures[0])["verdicts"]["accepted"] >= 1
    assert not list((settings.home / "drafts").glob("*"))


def test_what_was_saved_outlives_a_closed_terminal(world: Path, settings: Settings, tmp_path: Path) -> None:
    """A reply that cannot be used yet, or was only saved, is where the editor goes on."""
    assert _review(world, settings) == 6
    _in_the_terminal(settings, tmp_path)
    assert _resume(settings) == 6
    half = tmp_path / "half.sh"
    half.write_text('#!/bin/sh\necho "half a thought" > "$1"\n')
    half.chmod(0o755)
    output = _check(settings, "e\n", editor=str(half)).output
    assert "this reply cannot be used: there is no critique" in " ".join(output.split())
    item = _waiting(settings)[0]
    assert draft_file(settings.home, item, "ana").read_text() == "half a thought\n"
    assert "an unfinished edit of yours is kept" in _check(settings, "q\n").output
    assert "nothing was written" in _check(settings, "s\ne\nq\n", editor="true").output
    assert not draft_file(settings.home, _waiting(settings)[1], "ana").exists(), "an untouched form is no draft"


def test_keys_of_a_question(world: Path, settings: Settings) -> None:
    """A reply in a line, back and take it back, skip; accepting is told to be no answer; others are told whose it is."""
    assert _review(world, settings) == 6
    output = " ".join(_check(settings, "a\nr\nr A cat sits.\nb\nu\nz\nr A dog sits.\ns\n").output.split())
    assert "a question is answered in words: what can be decided is reply, undo" in output
    assert "write the reply behind r" in output
    assert "3 decided in this invocation" in output
    assert len(_waiting(settings)) == 1
    other = _check(settings, "", who="bert").output
    assert "others are asked, too: 1 question to ana (--who ana)" in other
    assert "nothing waits for bert" in other


def test_files_with_faults_are_taken_whole_or_not_at_all(
    world: Path, settings: Settings, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every line that cannot be used is named, another's question too, and nothing is decided; empty replies are no answers."""
    assert _review(world, settings) == 6
    path = tmp_path / "questions.jsonl"
    assert "wrote 0 items" in _check(settings, "", "--export", str(path), who="bert").output
    _check(settings, "", "--export", str(path))
    rows = [orjson.loads(line) for line in path.read_bytes().splitlines()]
    rows[0]["reply"], rows[1]["reply"] = "A cat sits.", "   "

    def taken(who: str = "ana"):
        path.write_bytes(b"\n".join(map(orjson.dumps, rows)))
        return _check(settings, "", "--import", str(path), who=who)

    assert "is a question to ana, and bert cannot answer it" in str(taken("bert").exception)
    assert len(_waiting(settings)) == 2
    assert "took in 1 decision; 1 line without one" in taken().output
    assert len(_waiting(settings)) == 1
    again = taken()
    assert again.exit_code == 0, "the same file once more changes nothing"
    assert "took in 0 decisions, 1 known already; 1 line without one" in again.output
    rows[1]["reply"] = "A dog sits."
    assert "took in 1 decision, 1 known already; 0 lines without one" in taken().output
    assert _resume(settings) == 6
    capsys.readouterr()
    assert _resume(settings) == 6
    said = "estimated cost $0.00; 8 calls made already; at most 10 questions to human/ana"
    assert said in " ".join(capsys.readouterr().err.split()), "what people answered is no call of a model"
    _check(settings, "", "--export", str(path))
    rows = [orjson.loads(line) for line in path.read_bytes().splitlines()]
    for row in rows:
        row["reply"] = row["reply"] or "the first"
    problem = str(taken().exception)
    assert problem.count("there is no critique of candidate 1") == 2


def test_a_finished_run_forked_to_a_person(world: Path, settings: Settings, tmp_path: Path, capsys) -> None:
    """`fork --models sim/x=human/ana` asks the person in the place of the model, and nothing of the others anew."""
    assert _review(world, settings, "sim/panel-a,sim/panel-b,sim/panel-c") == 0
    code = dokimasia(["fork", "last", "--models", "sim/panel-c=human/ana", "--home", str(settings.home)])
    assert code == 6
    assert "2 questions wait for human/ana" in capsys.readouterr().err
    assert _to_the_end(settings, tmp_path, _through_files) == 0


def test_models_says_who_a_person_is(settings: Settings, tmp_path: Path, capsys, monkeypatch) -> None:
    """`models --check` contacts nobody for a person, and the list has the rate of an hour."""
    monkeypatch.chdir(tmp_path)
    Path("dokimasia.toml").write_text('[models.expert]\nmodel = "human/ana"\nhourly_rate = 60.0\n')
    assert dokimasia(["models", "--check", "expert", "human/bert", "--home", str(settings.home)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "expert: ana, a person: no endpoint is asked" in said
    assert "human/bert: bert, a person" in said
    assert "0 paid calls" in said
    assert dokimasia(["models", "--json", "--home", str(settings.home)]) == 0
    listed = orjson.loads(capsys.readouterr().out)
    assert (listed[0]["transport"], listed[0]["price"]["hour"], listed[0]["structured_output"]) == (
        "human",
        60.0,
        False,
    )


def test_a_reply_given_while_the_home_is_held(world: Path, settings: Settings) -> None:
    """While another process writes, the reply is left as a file, which the next resume takes in."""
    assert _review(world, settings) == 6
    with Home.open(settings.home, write=True):
        output = _check(settings, "r A cat sits.\nr A dog sits.\n").output
    assert output.count("another process writes to the home: it takes the decision in") == 2
    assert _resume(settings) == 6
    with Home.open(settings.home, write=False) as home:
        assert {one.prompt for one in open_questions(home)} == {"peer_review"}


def test_nothing_says_who_wrote_what(world: Path, settings: Settings, tmp_path: Path) -> None:
    """What a person is shown names no model: neither in the terminal nor in the file."""
    assert _review(world, settings) == 6
    _in_the_terminal(settings, tmp_path)
    assert _resume(settings) == 6
    path = tmp_path / "questions.jsonl"
    _check(settings, "", "--export", str(path))
    shown = _check(settings, "s\ns\n").output + path.read_text()
    assert "candidate" in shown
    assert "sim/" not in shown
    assert "panel-" not in shown.replace(str(tmp_path), "")
