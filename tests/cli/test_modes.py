"""`dokimasia modes` from the command line: printed, kept as a file, counted again, and refused with a way out."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from dokimasia.cli.main import run as command_line
from dokimasia.simulation.world import write_world


@pytest.fixture
def home(tmp_path: Path, capsys: Any) -> str:
    """A home with an evaluation of two simulated models."""
    world = tmp_path / "world.jsonl"
    write_world(world, 21, 3)
    home = str(tmp_path / "home")
    arguments = ["--judge", "sim/judge", "--models", "sim/weak,sim/hasty", "--home", home]
    assert command_line(["evaluate", str(world), *arguments]) == 0
    capsys.readouterr()
    return home


def test_modes_are_printed_kept_and_counted_again(home: str, tmp_path: Path, capsys: Any) -> None:
    """The same command prints them again and writes their file; with that file nothing is noted."""
    asked = ["modes", "last", "--judge", "sim/judge", "--home", home]
    assert command_line(asked) == 0
    assert "failed criteria" in capsys.readouterr().out
    assert command_line(["show", "last", "--full", "--home", home]) == 0
    printed = capsys.readouterr().out
    assert "Cohen's kappa 1.00" in printed
    path = tmp_path / "modes.json"
    assert command_line([*asked, "--export", str(path), "--json"]) == 0
    done = capsys.readouterr()
    figures = orjson.loads(done.out)
    assert f"wrote {len(figures['modes'])} modes to {path}" in done.err
    assert command_line([*asked, "--modes", str(path), "--dry-run"]) == 0
    assert "sim/judge" in capsys.readouterr().out
    assert command_line([*asked, "--modes", str(path), "--json"]) == 0
    again = orjson.loads(capsys.readouterr().out)
    assert [one["failed"] for one in again["modes"]] == [one["failed"] for one in figures["modes"]]
    sample = figures["modes"][0]["examples"][0]["sample"]
    assert command_line(["show", figures["run"], "--sample", sample, "--home", home]) == 0
    assert figures["modes"][0]["name"].split()[0] in capsys.readouterr().out


def test_a_bad_file_is_the_users_mistake(home: str, tmp_path: Path, capsys: Any) -> None:
    """One line a fault, with the file, and exit code 2."""
    path = tmp_path / "modes.yaml"
    path.write_text("format: dokimasia-modes/1\nmodes:\n- name: a b\n- kind: omission\n")
    assert command_line(["modes", "last", "--judge", "sim/judge", "--modes", str(path), "--home", home]) == 2
    told = capsys.readouterr().err
    assert told.count(str(path)) == 4
    assert "mode 1 ('a b'): kind: is missing" in told
    assert "mode 2: name: is missing" in told
