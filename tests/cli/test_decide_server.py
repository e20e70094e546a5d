"""`decide` through a service: the same session, files and figures as on a home, and two people at the same item."""

import itertools
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from click.testing import CliRunner

from dokimasia.cli import checking
from dokimasia.cli.backend import backend_of
from dokimasia.cli.decide import command
from dokimasia.domain.decision import CheckItem
from dokimasia.errors import InputError, Unreachable
from dokimasia.people.checks import open_for_people
from dokimasia.settings import load_settings
from dokimasia.simulation.world import write_described
from dokimasia.storage.home import Home
from tests.cli.served import Served, served
from tests.perturbed_home import perturbed_home
from tests.processes import run_program

EDITOR = '#!/bin/sh\nsed -i "1d" "$1"\n'
WRITER = '#!/bin/sh\necho "A dog sleeps." > "$1"\n'
CAPTIONS = "a\nd 1\n2,5\nr\n\nwhat\na\nb\nr\n\ne\n3\na\nd 99\na\na\nd 1\n\na\nr\n\ns\nq\n"


@pytest.fixture(scope="module")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a home of twelve captions that wait, one of questions to ana, and one of perturbations."""
    folder = tmp_path_factory.mktemp("homes")
    for name, count, panel in (
        ("captions", 12, "sim/panel-a,sim/panel-c"),
        ("questions", 3, "sim/panel-a,sim/panel-b,human/ana"),
    ):
        data = folder / f"{name}.jsonl"
        write_described(data, count, 0, disputed=0.0)
        made = run_program(["review", data, "--panel", panel, "--home", folder / name], folder)
        assert made.returncode in (0, 6), made.stderr
    perturbed_home(folder / "perturbations", scenes=2)[0].close()
    open_for_people(load_settings(home=folder / "perturbations", env={}), "last")
    return folder


@pytest.fixture
def pair(homes: Path, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[tuple[Path, Served]]:
    """Two copies of a home: one to be read as it lies, one that a service holds."""
    name = getattr(request, "param", "captions")
    here = Path(shutil.copytree(homes / name, tmp_path / "here"))
    with served(Path(shutil.copytree(homes / name, tmp_path / "there"))) as service:
        yield here, service


def _go(where: tuple[object, ...], keys: str, *options: str, who: str = "ana", editor: str = "false") -> Any:
    words = ["last", *map(str, where), "--who", who, *options]
    return CliRunner().invoke(command, words, input=keys, env={"EDITOR": editor, "VISUAL": ""})


def _said(result: Any) -> str:
    """What was printed, without the names of folders that are made anew each time, and of the place in commands to go on."""
    return re.sub(r" --(home|server) \S+", " PLACE", re.sub(r"dokimasia-check-\w+", "FOLDER", result.output))


def _program(folder: Path, text: str) -> str:
    path = folder / "editor.sh"
    path.write_text(text)
    path.chmod(0o755)
    return str(path)


def _rows(home: Path) -> list[tuple[Any, ...]]:
    with Home.open(home, write=False) as opened:
        return opened.all(
            "SELECT item, number, who, action, text, difference, reasons FROM decisions ORDER BY item, number"
        )


@pytest.mark.parametrize(
    ("pair", "keys", "editor", "made"),
    [
        ("captions", CAPTIONS, EDITOR, 11),
        ("questions", "a\nr\nr A cat sits.\nb\nz\ne\ne\nr A bird.\n", WRITER, 4),
        ("perturbations", "v\ni\nwhat\na\nb\nx\nn\nu\nq\n", WRITER, 5),
    ],
    indirect=["pair"],
)
def test_a_session_is_the_same_to_the_byte(
    pair: tuple[Path, Served], keys: str, editor: str, made: int, tmp_path: Path
) -> None:
    """Captions are decided and questions answered through a service as here: the same words printed, the same rows kept."""
    here, service = pair
    program = _program(tmp_path, editor)
    for who, more in (("ana", ()), ("bert", ("--second",)), ("ana", ("--json",))):
        one = _go(("--home", here), keys, *more, who=who, editor=program)
        two = _go(("--server", service.url), keys, *more, who=who, editor=program)
        assert (two.exit_code, _said(two)) == (0, _said(one)), repr(two.exception)
    assert _rows(service.home) == _rows(here)
    assert len([row for row in _rows(here) if row[2] == "ana"]) == made
    assert ("spatial,attribute" in {row[-1] for row in _rows(here)}) == (keys == CAPTIONS)
    drafts = [{path.name: path.read_text() for path in home.glob("drafts/*")} for home in (here, service.home)]
    assert drafts[0] == drafts[1]


@pytest.mark.parametrize("pair", ["captions", "questions", "perturbations"], indirect=True)
def test_files_go_out_and_in(pair: tuple[Path, Served], tmp_path: Path) -> None:
    """--export writes the same files from a service, and --import takes in the same decisions, whole or not at all."""
    here, service = pair
    places = {"here": ("--home", here), "there": ("--server", service.url)}
    for name, where in places.items():
        (tmp_path / "out" / name).mkdir(parents=True)
        made = _go(where, "", "--export", str(tmp_path / "out" / name / "items.jsonl"))
        assert made.exit_code == 0, made.output
    files = {
        name: {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
        for name, folder in ((name, tmp_path / "out" / name) for name in places)
    }
    assert files["here"] == files["there"]
    rows = [orjson.loads(line) for line in files["here"]["items.jsonl"].splitlines()]
    if rows[0]["kind"] == "question":
        rows[0]["reply"], bad = "A cat sits.", {**rows[1], "item": "nobody"}
    elif rows[0]["kind"] == "perturbation":
        rows[0]["label"], bad = "valid", {**rows[1], "action": "accept"}
    else:
        rows[0]["action"], bad = "accept", {**rows[1], "action": "delete", "delete": [99]}
        rows[1] |= {"action": "edit", "new_text": "A cat sits.", "who": "carl"}
    for name, lines in (("bad", [rows[0], {"item": "nobody"}]), ("good", rows), ("late", [bad])):
        path = tmp_path / f"{name}.jsonl"
        path.write_bytes(b"\n".join(map(orjson.dumps, lines)))
        one, two = (_go(where, "", "--import", str(path), "--json") for where in places.values())
        assert (two.exit_code, two.output) == (one.exit_code, one.output)
        assert str(two.exception) == str(one.exception)
        assert (name == "good") == (one.exit_code == 0), one.output
    assert _rows(service.home) == _rows(here)
    assert len(_rows(here)) == (2 if rows[0]["kind"] == "caption" else 1)


def _when_shown(patched: pytest.MonkeyPatch, number: int, done: Callable[[CheckItem], object]) -> None:
    """Have something happen once so many items were shown."""
    real, count = checking._show, itertools.count(1)  # pyright: ignore[reportPrivateUsage]

    def show(screen: Any, *words: Any) -> None:
        real(screen, *words)
        if next(count) == number:
            done(screen.item)

    patched.setattr(checking, "_show", show)


def test_who_comes_second_is_told(pair: tuple[Path, Served], monkeypatch: pytest.MonkeyPatch) -> None:
    """Where somebody decides on what is on the screen, nothing is written over, and the text is kept, here and there."""
    here, service = pair
    said: list[str] = []
    for where, home in ((("--home", here), here), (("--server", service.url), service.home)):
        backend = backend_of(load_settings(home=home, env={}))
        with monkeypatch.context() as patched:
            _when_shown(patched, 2, lambda item, backend=backend: backend.decide(item, "accept", who="bert"))
            result = _go(where, "a\nd 1\n\nr\n\ns\nq\n")
        said.append(re.sub(r"\(at .*?\)", "", " ".join(_said(result).split())))
        assert said[-1].count("meanwhile bert decided on it") == 2
        assert "decide --second" in said[-1]
        assert "1 decided in this invocation" in said[-1]
        assert sorted(row[2:4] for row in _rows(home)) == [("ana", "accept"), ("bert", "accept")]
        assert len(list((home / "drafts").iterdir())) == 1, "what was left of the caption"
    assert said[0] == said[1]


def test_ctrl_c_leaves_what_was_decided(pair: tuple[Path, Served], monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C ends the session with its figures; each decision before it is durable at once."""
    _, service = pair

    def interrupted(item: CheckItem) -> None:
        assert len(_rows(service.home)) == 2
        raise KeyboardInterrupt

    _when_shown(monkeypatch, 3, interrupted)
    result = _go(("--server", service.url), "a\nr\na\n")
    assert (result.exit_code, "2 decided in this invocation" in result.output) == (0, True)


def test_a_service_that_goes_away(pair: tuple[Path, Served], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What was decided is kept, the message names the command that goes on, and an edit that was not sent lies in a file."""
    _, service = pair
    _when_shown(monkeypatch, 2, lambda item: service.process.kill())
    result = _go(("--server", service.url), "a\ne\n", editor=_program(tmp_path, WRITER))
    assert isinstance(result.exception, Unreachable)
    assert "1 decided in this invocation" in result.output
    with Home.open(service.home, write=False) as opened:
        ((run,),) = opened.all("SELECT id FROM runs")
    assert f"dokimasia decide {run} --who ana --server {service.url}" in str(result.exception)
    found = re.search(r"your text lies in (\S+);", str(result.exception))
    assert found is not None
    kept = Path(found[1])
    assert kept.read_text() == "A dog sleeps.\n"
    kept.unlink()
    assert [row[2:4] for row in _rows(service.home)] == [("ana", "accept")]


def test_a_token_decides_as_its_holder(homes: Path, tmp_path: Path) -> None:
    """Without --who the token's name counts; another name, and what others decided in a file, are refused with the way out."""
    home = Path(shutil.copytree(homes / "captions", tmp_path / "home"))
    tokens, mine = tmp_path / "tokens", tmp_path / "mine"
    tokens.write_text("ana read,review ana-token-0123456789\n")
    mine.write_text("ana-token-0123456789\n")
    for path in (tokens, mine):
        path.chmod(0o600)
    with served(home, "--token-file", tokens) as service:
        where = ("last", "--server", service.url, "--server-token-file", str(mine))
        assert CliRunner().invoke(command, where, input="a\nq\n").exit_code == 0
        other = CliRunner().invoke(command, [*where, "--who", "bert"], input="a\n")
        assert "the token is ana's" in str(other.exception)
        file = tmp_path / "items.jsonl"
        assert CliRunner().invoke(command, [*where, "--export", str(file)]).exit_code == 0
        assert CliRunner().invoke(command, [*where, "--import", str(file)]).exit_code == 0
        row = orjson.loads(file.read_bytes().splitlines()[-1])
        file.write_bytes(orjson.dumps({**row, "action": "accept", "who": "carl"}))
        refused = CliRunner().invoke(command, [*where, "--import", str(file)])
        assert "line 1: carl decided this" in str(refused.exception)
    assert [row[2:4] for row in _rows(home)] == [("ana", "accept")]


def test_files_of_a_service_lie_where_they_are_wanted(tmp_path: Path) -> None:
    """What a service sends as a file elsewhere than beside the one that is asked for is not written."""
    from dokimasia.people.checks.files import write_files

    for name in ("../items.jsonl", "items-images/..", "other.jsonl", "items-images/a/b.png", "/tmp/x"):
        with pytest.raises(InputError, match="nothing was written"):
            write_files({"items.jsonl": b"", name: b""}, tmp_path / "items.jsonl")
    assert not (tmp_path / "items.jsonl").exists()
