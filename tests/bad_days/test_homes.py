"""Homes on bad days, through the command line: an exit code, one line that names the file and the way out, nothing lost."""

import json
import os
import re
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dokimasia.cli.main import run
from dokimasia.storage.home import Home
from dokimasia.storage.schema.migrations import SCHEMA_VERSION
from tests.processes import UNLIMITED, start_program

SIM = ("--judge", "sim/judge", "--models", "sim/strong,sim/weak")
Lines = Callable[[], str]


@pytest.fixture
def home(small_world: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """A home with one finished run, closed."""
    path = tmp_path / "home"
    assert run(["evaluate", str(small_world), *SIM, "--home", str(path), "--json"]) == 0
    capsys.readouterr()
    return path


@pytest.fixture(scope="module")
def expected(small_world: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """What the program prints of the small world on a good day."""
    folder = tmp_path_factory.mktemp("good")
    ended = in_a_process(evaluating(small_world, folder / "home"), folder)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def figures(capsys: pytest.CaptureFixture[str]) -> object:
    return json.loads(capsys.readouterr().out)


def evaluating(world: Path, home: Path, *more: str) -> list[str]:
    return ["evaluate", str(world), *SIM, "--home", str(home), "--json", *more]


def in_a_process(arguments: list[str], folder: Path, largest: int = UNLIMITED) -> subprocess.CompletedProcess[str]:
    """Run the program by itself, with a limit in bytes on each file that it writes."""
    return start_program(arguments, folder, largest=largest).ended()


def the_error(ended: subprocess.CompletedProcess[str]) -> str:
    """The one line of error that the program ended with."""
    assert "Traceback" not in ended.stderr
    lines = re.findall(r"^error: .*$", ended.stderr, re.MULTILINE)
    assert len(lines) == 1, ended.stderr
    return lines[0]


@pytest.mark.parametrize("arguments", [["runs"], ["verify"], ["evaluate"]])
@pytest.mark.parametrize("damage", ["header", "truncated", "garbage"])
def test_a_damaged_database_is_named_and_left_as_it_is(
    damage: str, arguments: list[str], home: Path, small_world: Path, one_error: Lines
) -> None:
    """Whatever is wrong with the file, every verb exits with 1 and one line that names it and what can be saved."""
    database = home / "dokimasia.db"
    whole = database.read_bytes()
    broken = {
        "header": b"\0" * 100 + whole[100:],
        "truncated": whole[: len(whole) // 2],
        "garbage": b"no database " * 999,
    }
    database.write_bytes(broken[damage])
    line = evaluating(small_world, home) if arguments == ["evaluate"] else [*arguments, "--home", str(home)]
    assert run(line) == 1
    said = one_error()
    assert str(database) in said
    assert "damaged" in said
    assert ".recover" in said
    assert database.read_bytes() == broken[damage]


def test_damaged_checkpoints_cost_nothing_but_a_file(
    home: Path, small_world: Path, one_error: Lines, capsys: pytest.CaptureFixture[str]
) -> None:
    """The line says that deleting the file and going on is safe, and so it is: the same figures, and nothing asked."""
    assert run(evaluating(small_world, home)) == 0
    expected = figures(capsys)
    checkpoints = home / "checkpoints.db"
    checkpoints.write_bytes(b"\0" * 5000)
    assert run(evaluating(small_world, home, "--repeats", "2")) == 1
    said = one_error()
    assert str(checkpoints) in said
    assert "delete it" in said
    for path in home.glob("checkpoints.db*"):
        path.unlink()
    assert run(evaluating(small_world, home, "--repeats", "2")) == 0
    capsys.readouterr()
    assert run(evaluating(small_world, home)) == 0
    assert figures(capsys) == expected


@pytest.mark.parametrize("verb", ["runs", "evaluate"])
def test_a_home_of_a_newer_version_is_refused(verb: str, home: Path, small_world: Path, one_error: Lines) -> None:
    """The line has both versions of the schema, and the exit code is 2: it is for the user to update."""
    connection = sqlite3.connect(home / "dokimasia.db")
    connection.execute("INSERT INTO _migrations VALUES (?, 'later', 'then')", (SCHEMA_VERSION + 1,))
    connection.commit()
    connection.close()
    assert run(evaluating(small_world, home) if verb == "evaluate" else [verb, "--home", str(home)]) == 2
    said = one_error()
    assert str(SCHEMA_VERSION + 1) in said
    assert "newer" in said


@pytest.mark.full
def test_a_locked_home_names_its_holder_on_one_line(home: Path, small_world: Path, tmp_path: Path) -> None:
    """Exit code 2, with the holder's process and command; what is there can still be read."""
    with Home.open(home, write=True, command="dokimasia evaluate another.jsonl"):
        refused = in_a_process(evaluating(small_world, home, "--fresh"), tmp_path)
        assert run(["runs", "--home", str(home)]) == 0
    assert refused.returncode == 2
    said = the_error(refused)
    assert str(os.getpid()) in said
    assert "another.jsonl" in said


@pytest.fixture
def read_only(home: Path) -> Iterator[Path]:
    """The home without permission to write: mounted so where root runs the tests, whom permissions do not hold."""
    if os.geteuid() != 0:
        for path in (home, *home.rglob("*")):
            path.chmod(0o555 if path.is_dir() else 0o444)
        yield home
        for path in (home, *home.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
        return
    _mount("--bind", str(home), str(home))
    try:
        _mount("-o", "remount,bind,ro", str(home))
        yield home
    finally:
        subprocess.run(["umount", str(home)], check=True)


def _mount(*arguments: str) -> None:
    if (
        shutil.which("mount") is None
        or subprocess.run(["mount", *arguments], capture_output=True, check=False).returncode
    ):
        pytest.skip("nothing may be mounted here")


def test_a_read_only_home_is_read_and_refuses_to_be_written(
    read_only: Path, small_world: Path, one_error: Lines, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is there is shown; writing is exit code 2 and a line that names the place and --home."""
    assert run(["runs", "--home", str(read_only), "--json"]) == 0
    (shown,) = json.loads(capsys.readouterr().out)
    assert run(["show", shown["id"], "--home", str(read_only), "--json"]) == 0
    capsys.readouterr()
    assert run(evaluating(small_world, read_only, "--fresh")) == 2
    said = one_error()
    assert str(read_only) in said
    assert "--home" in said


@pytest.fixture(params=["900k", "1700k"])
def small_disk(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    """A disk that fills up while the home is made, or at one moment or another of a run."""
    disk = tmp_path / "disk"
    disk.mkdir()
    _mount("-t", "tmpfs", "-o", f"size={request.param}", "tmpfs", str(disk))
    try:
        yield disk
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_a_full_disk_stops_the_run_and_loses_nothing(
    small_disk: Path, small_world: Path, tmp_path: Path, expected: str
) -> None:
    """Exit code 1 and a line that says so; with space again the same command ends as on a disk that never was full."""
    home = small_disk / "home"
    stopped = in_a_process(evaluating(small_world, home), tmp_path)
    assert stopped.returncode == 1, stopped.stderr
    said = the_error(stopped)
    assert str(home) in said
    assert "no space left" in said
    assert "run the same command again" in said
    before = committed(home)
    _mount("-o", "remount,size=64m", str(small_disk))
    mended = in_a_process(evaluating(small_world, home), tmp_path)
    assert mended.returncode == 0, mended.stderr
    assert before <= committed(home)
    assert mended.stdout == expected


def committed(home: Path) -> set[str]:
    """Keys of the calls that the home has, if it has any table yet."""
    connection = sqlite3.connect(home / "dokimasia.db")
    try:
        return {key for (key,) in connection.execute("SELECT key FROM calls")}
    except sqlite3.OperationalError:
        return set()
    finally:
        connection.close()


@pytest.mark.parametrize("largest", [40_000, 450_000, 750_000])
def test_files_that_may_not_grow_stop_the_run_and_lose_nothing(
    largest: int, small_world: Path, tmp_path: Path, expected: str
) -> None:
    """A limit on the size of files, met at any moment, is exit code 1 and a line; without it the command ends well."""
    stopped = in_a_process(evaluating(small_world, tmp_path / "home"), tmp_path, largest)
    assert stopped.returncode == 1, stopped.stderr
    assert str(tmp_path / "home") in the_error(stopped)
    mended = in_a_process(evaluating(small_world, tmp_path / "home"), tmp_path)
    assert mended.returncode == 0, mended.stderr
    assert mended.stdout == expected


def test_data_that_change_between_runs_make_another_run(
    small_world: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A changed file is never answered with the old file's figures, and the old run stays as it was."""
    shutil.copytree(small_world.parent, tmp_path / "data")
    data, home = tmp_path / "data" / "world.jsonl", tmp_path / "home"
    assert run(evaluating(data, home)) == 0
    first = json.loads(capsys.readouterr().out)
    lines = data.read_text().splitlines(keepends=True)
    row = json.loads(lines[0])
    changed = json.dumps({**row, "prompt": row["prompt"] + " Say it in one sentence."}) + "\n"
    data.write_text(changed + "".join(lines[1:-1]))
    assert run(evaluating(data, home)) == 0
    second = json.loads(capsys.readouterr().out)
    assert second["run"] != first["run"]
    assert (first["samples"], second["samples"]) == (8, 7)
    data.unlink()
    for line in (["show", first["run"]], ["resume", first["run"]]):
        assert run([*line, "--home", str(home), "--json"]) == 0
        assert json.loads(capsys.readouterr().out) == first


def test_data_that_change_under_an_interrupted_run_do_not_change_it(
    small_world: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A run goes on with the data that it was accepted with, to the figures that it would have had."""
    shutil.copytree(small_world.parent, tmp_path / "data")
    data = tmp_path / "data" / "world.jsonl"
    assert run(evaluating(data, tmp_path / "whole")) == 0
    expected = json.loads(capsys.readouterr().out)
    home = tmp_path / "home"
    assert run(evaluating(data, home, "--max-calls", "9")) == 4
    assert json.loads(capsys.readouterr().out)["status"] == "interrupted"
    data.write_text(data.read_text().replace("?", " now?"))
    assert run(["resume", expected["run"], "--max-calls", "none", "--home", str(home), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == expected
