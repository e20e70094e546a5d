"""`dokimasia fork` and runs under other prompts, on the command line."""

import json
from pathlib import Path
from typing import Any

import pytest

import dokimasia.prompts
from dokimasia.cli.main import run

SHIPPED = Path(dokimasia.prompts.__file__).parent


class Line:
    """The command line in one home: runs a verb and returns its JSON, or what it said of a mistake."""

    def __init__(self, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self._home = ["--home", str(home)]
        self._capsys = capsys

    def json(self, *arguments: object, code: int = 0) -> Any:
        """Run with --json and return what was printed."""
        assert run([*map(str, arguments), "--json", *self._home]) == code
        return json.loads(self._capsys.readouterr().out)

    def text(self, *arguments: object, code: int = 0) -> str:
        """Run and return all that was printed, spaces as one."""
        assert run([*map(str, arguments), *self._home]) == code
        return " ".join(" ".join(self._capsys.readouterr()).split())


@pytest.fixture
def line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Line:
    return Line(tmp_path / "home", capsys)


def test_a_run_is_forked_and_shown(line: Line, world: Path) -> None:
    """The preview names each step's fate, the fork names its origin wherever it is shown, and the way to compare."""
    parent = line.json("evaluate", world, "--judge", "sim/judge-noisy", "--models", "sim/strong,sim/weak")
    arguments = ("fork", parent["run"][:8], "--from", "score", "--judge", "sim/judge")
    shown = line.json(*arguments, "--dry-run")
    assert [step["step"] for step in shown["steps"] if step["again"]] == ["score"]
    assert set(shown["models"]) == {"sim/judge"}
    assert "taken over" in line.text(*arguments, "--dry-run")
    assert len(line.json("runs")) == 1
    text = line.text(*arguments)
    assert f"forked from run {parent['run']} at score" in text
    assert f"dokimasia diff {parent['run']} {shown['run']}" in text
    child = line.json("show", shown["run"])
    assert child["forked_from"] == {"run": parent["run"], "node": "score"}
    assert parent["forked_from"] is None
    listed = {one["id"]: one["forked_from"] for one in line.json("runs")}
    assert listed == {parent["run"]: None, shown["run"]: {"run": parent["run"], "node": "score"}}
    assert f"fork {parent['run']}" in line.text("runs")


def test_mistakes_are_said_with_the_way_out(line: Line, world: Path) -> None:
    """An unknown step lists all steps with what they do; a replacement that is none is said to be none."""
    parent = line.json("evaluate", world, "--judge", "sim/judge-noisy", "--models", "sim/strong")
    unknown = line.text("fork", parent["run"], "--from", "nowhere", "--judge", "sim/judge", code=2)
    assert "extract_criteria the judge draws atomic criteria from the chain" in unknown
    wrong = line.text("fork", parent["run"], "--from", "answer", "--models", "sim/weak", code=2)
    assert "write OLD=NEW" in wrong
    nobody = line.text("evaluate", world, "--judge", "sim/judge", "--models", "sim/weak", "--prompts", "x", code=2)
    assert "--prompts x: there is no such folder, and no plug-in brings prompts of that name" in nobody


def test_prompts_of_a_folder(line: Line, world: Path, tmp_path: Path) -> None:
    """`--prompts` shows in the dry run what will be asked, makes a run of its own, and is found again by a resume."""
    folder = tmp_path / "prompts"
    folder.mkdir()
    text = next(SHIPPED.rglob("checkpoints.md")).read_text().replace("version: 1\n", "version: 2\n")
    (folder / "checkpoints.md").write_text(text.replace("## user\n", "Be very strict.\n## user\n"))
    arguments = ("evaluate", world, "--judge", "sim/judge", "--models", "sim/strong", "--prompts", folder)
    shown = line.json(*arguments, "--dry-run")
    assert "Be very strict." in json.dumps(shown["prompts"]["checkpoints"])
    part = line.json(*arguments, "--max-calls", 30, code=4)
    assert part["run"] == shown["run"]
    assert part["status"] == "interrupted"
    assert line.json("resume", part["run"], "--max-calls", "none")["status"] == "done"
