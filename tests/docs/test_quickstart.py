"""The quick start: its commands are run as they stand, in their order, in an empty folder."""

import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.processes import run_program, run_script

DOCS = Path(__file__).parent.parent.parent / "docs"
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", (DOCS / "quickstart.md").read_text(), re.DOTALL | re.MULTILINE)
COMMANDS = [line for kind, text in BLOCKS if kind == "sh" for line in text.splitlines()]


@pytest.fixture(scope="module")
def followed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, "subprocess.CompletedProcess[str]"]]:
    """The folder in which the page was followed, and what came of each command."""
    folder = tmp_path_factory.mktemp("quickstart")
    return folder, {command: typed(command, folder) for command in COMMANDS}


def typed(command: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    """Run a command as a reader would type it, with no key and no configuration of this machine."""
    kept = {name: value for name, value in os.environ.items() if name in {"HOME", "LANG", "LC_ALL", "TMPDIR", "PATH"}}
    program, *arguments = shlex.split(command)
    assert program == "dokimasia"
    return run_program(arguments, folder, variables=kept)


def words(text: str) -> str:
    """The text with every stretch of white space as one blank."""
    return " ".join(text.split())


def test_the_page_shows_the_whole_way() -> None:
    """Data, a look, a run, an interruption, a closer look, a fork and criteria: each is shown by a command."""
    verbs = {command.split()[1] for command in COMMANDS}
    assert verbs >= {
        "sim",
        "data",
        "evaluate",
        "resume",
        "show",
        "diff",
        "export",
        "fork",
        "criteria",
        "runs",
        "verify",
    }
    assert all(command.startswith("dokimasia ") for command in COMMANDS)


def test_every_command_works_as_written(followed: tuple[Path, dict[str, "subprocess.CompletedProcess[str]"]]) -> None:
    """Each command ends with exit code 0, the one that a limit stops with 4, and without a word of an error."""
    for command, done in followed[1].items():
        assert done.returncode == (4 if "--max-calls 60" in command else 0), (command, done.stderr)
        assert "error:" not in done.stderr, (command, done.stderr)


def test_what_the_page_shows_is_what_is_printed(
    followed: tuple[Path, dict[str, "subprocess.CompletedProcess[str]"]],
) -> None:
    """Every line of output on the page is printed by the command before it."""
    command, shown = "", 0
    for kind, text in BLOCKS:
        if kind == "sh":
            command = text.splitlines()[-1]
        elif kind == "text":
            printed = words(followed[1][command].stdout)
            for line in text.splitlines():
                assert words(line) in printed, f"docs/quickstart.md shows what `{command}` does not print: {line}"
                shown += 1
    assert shown


def test_what_was_paid_for_is_not_asked_again(
    followed: tuple[Path, dict[str, "subprocess.CompletedProcess[str]"]],
) -> None:
    """The limited run stops at 60 calls, and the run with the blind arm is answered by the ledger where it can be."""
    limited, blind = (
        next(done.stderr for command, done in followed[1].items() if option in command)
        for option in ("--max-calls", "--blind-arm")
    )
    assert "60 calls answered by models" in limited
    found = re.search(r"(\d+) calls answered by models, (\d+) by the ledger", blind)
    assert found is not None
    assert int(found[2]) > 0


def test_the_python_of_the_reference_runs(
    followed: tuple[Path, dict[str, "subprocess.CompletedProcess[str]"]],
) -> None:
    """The program at the head of the Python reference runs in the quick start's folder and prints both models."""
    found = re.search(r"^```python\n(.*?)^```$", (DOCS / "reference/index.md").read_text(), re.DOTALL | re.MULTILINE)
    assert found is not None
    (followed[0] / "program.py").write_text(found[1])
    done = run_script(followed[0] / "program.py", (), followed[0])
    assert done.returncode == 0, done.stderr
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["sim/strong", "sim/weak"]
