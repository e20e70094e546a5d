"""Ctrl-C: at once and in one line before a model is asked, afterwards with the command that resumes the run."""

import os
import re
import shlex
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from dokimasia.cli.main import run
from dokimasia.cli.running import run_to_end
from dokimasia.errors import Interrupted
from dokimasia.gateway.doubles import CountingTransport
from dokimasia.methods.evaluation import METHOD, EvaluationRequest
from dokimasia.runs import lifecycle
from dokimasia.runs.lifecycle import run as run_method
from dokimasia.settings import Settings
from dokimasia.simulation.serving.transport import SimTransport
from tests.processes import environment

INTERRUPTED_WHILE_LOADING = """
import os, signal, sys
from importlib.abc import MetaPathFinder

class Interrupting(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name == sys.argv[1]:
            os.kill(os.getpid(), signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)  # a test that runs in the background ignores it
sys.meta_path.insert(0, Interrupting())
from dokimasia.__main__ import main
main(sys.argv[2:])
"""


@pytest.mark.parametrize(
    ("module", "message"),
    [
        ("click", "interrupted"),
        ("dokimasia.cli.method_verb", "interrupted"),
        ("dokimasia.cli.local_backend", "interrupted"),
        ("langgraph", "interrupted: no model was asked yet; the same command begins again"),
    ],
)
def test_ctrl_c_while_modules_are_loaded(module: str, message: str, tmp_path: Path, world: Path) -> None:
    """The process ends with one line and exit code 130, whatever it is just loading; the same command then begins."""
    asked = (
        "evaluate",
        world,
        "--judge",
        "sim/judge",
        "--models",
        "sim/strong",
        "--limit",
        "1",
        "--home",
        tmp_path / "h",
    )
    ended = subprocess.run(
        [sys.executable, "-c", INTERRUPTED_WHILE_LOADING, module, *map(str, asked)],
        capture_output=True,
        text=True,
        check=False,
        env=environment(),
    )
    assert (ended.returncode, ended.stdout, ended.stderr.strip()) == (130, "", message)
    assert run([*map(str, asked)]) == 0


def test_an_interrupted_run_is_called_by_its_name(tmp_path: Path, world: Path) -> None:
    """The message has the run's name, and the command in it resumes the run."""
    settings = Settings(home=tmp_path / "home")
    request = EvaluationRequest.model_validate(
        {"data": world, "judge": "sim/judge", "models": ("sim/strong", "sim/weak"), "name": "first try", "limit": 4}
    )
    transport = CountingTransport(SimTransport(), stop=lambda: os.kill(os.getpid(), signal.SIGINT), stop_after=3)
    work = partial(run_method, METHOD, request, transports={"sim": transport})
    with pytest.raises(
        Interrupted, match=r"run first try keeps \d of 12 results and every answered call"
    ) as interrupted:
        run_to_end(work, settings)
    _, _, command = str(interrupted.value).partition("Continue with: dokimasia ")
    assert shlex.split(command) == ["resume", "first try", "--home", str(settings.home)]
    assert run(shlex.split(command)) == 0


def test_an_interruption_is_no_error(
    tmp_path: Path, world: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """After Ctrl-C the last line begins with "interrupted:", says what is kept, and has the command that resumes the run."""
    transport = CountingTransport(SimTransport(), stop=lambda: os.kill(os.getpid(), signal.SIGINT), stop_after=3)
    monkeypatch.setattr(lifecycle, "run", partial(run_method, transports={"sim": transport}))
    words = ["evaluate", str(world), "--judge", "sim/judge", "--models", "sim/strong", "--limit", "4"]
    assert run([*words, "--home", str(tmp_path / "home")]) == 130
    said = capfd.readouterr().err
    last = said.splitlines()[-1]
    assert re.match(
        r"interrupted: run [0-9a-f]{16} keeps \d of 8 results and every answered call\. Continue with: ", last
    )
    assert "error" not in last
    assert re.search(r"^\d+ calls? answered by models, .*; cost \$0\.00, took", said, re.MULTILINE)
    _, _, command = last.partition("Continue with: dokimasia ")
    assert run(shlex.split(command)) == 0
