"""The program, and scripts, in processes of their own that are forked from one that has loaded them already.

A process is what a user starts: it has its own folder, environment and output, dies by signals, and ends with an exit
code. It is spared only the seconds that Python takes to import LangGraph and LiteLLM. What a fresh interpreter loads,
and when, is tested with `python -m dokimasia` itself.
"""

import multiprocessing
import os
import resource
import runpy
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parent.parent
KEY = "key-9f3b1c77aa5d4e02"
UNLIMITED = resource.RLIM_INFINITY
PATIENCE = 300.0
"""Seconds within which a process ends, however busy the machine is."""


class Limits(NamedTuple):
    """What a process runs under: its folder, its environment, and bytes in each file that it writes."""

    folder: Path
    environment: dict[str, str]
    largest: int


def environment() -> dict[str, str]:
    """The environment of a program under test: no home or key of the machine, one key of the test's."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("DOKIMASIA")}
    return {**kept, "SIM_API_KEY": KEY, "COLUMNS": "120"}


class Started:
    """A process under way."""

    def __init__(self, process: ForkServerProcess, arguments: list[str], folder: Path) -> None:
        self._process = process
        self._arguments = arguments
        self._folder = folder

    @property
    def alive(self) -> bool:
        """Whether it has not ended yet."""
        return self._process.exitcode is None

    @property
    def printed(self) -> str:
        """What it has written to standard output so far."""
        return (self._folder / "out").read_text()

    @property
    def told(self) -> str:
        """What it has written to standard error so far."""
        return (self._folder / "err").read_text()

    def until(self, condition: Callable[[], bool]) -> bool:
        """Wait until something holds or the process has ended; return whether it is still alive."""
        while self.alive and not condition():
            time.sleep(0.005)
        return self.alive

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal, if it has not ended."""
        if self.alive and self._process.pid is not None:
            os.kill(self._process.pid, number)

    def kill(self) -> None:
        """Let it die without a word, and wait until it has."""
        self.signal(signal.SIGKILL)
        self.ended()

    def ended(self) -> "subprocess.CompletedProcess[str]":
        """Wait for its end and return its exit code and what it printed; to be asked once."""
        self._process.join(PATIENCE)
        code = self._process.exitcode
        if code is None:
            self.signal(signal.SIGKILL)
            raise TimeoutError(f"{self._arguments} did not end within {PATIENCE:.0f} s")
        ended = subprocess.CompletedProcess(self._arguments, code, self.printed, self.told)
        shutil.rmtree(self._folder)
        return ended


def start_program(
    arguments: Sequence[object],
    folder: Path,
    *,
    largest: int = UNLIMITED,
    variables: Mapping[str, str] | None = None,
) -> Started:
    """Start the program in a folder.

    Args:
        arguments: what stands behind `dokimasia` on the command line.
        folder: the working folder.
        largest: so many bytes each file that it writes may have.
        variables: its environment; without it `environment()`.
    """
    return _start(_program, arguments, Limits(folder, dict(variables or environment()), largest))


def run_program(arguments: Sequence[object], folder: Path, **options: Any) -> "subprocess.CompletedProcess[str]":
    """Start the program, wait for its end, and return its exit code and what it printed."""
    return start_program(arguments, folder, **options).ended()


def run_script(path: Path, arguments: Sequence[object], folder: Path) -> "subprocess.CompletedProcess[str]":
    """Run a Python script as `python -W error::ResourceWarning` does, and return its exit code and what it printed."""
    return start_script(path, arguments, folder).ended()


def start_script(path: Path, arguments: Sequence[object], folder: Path) -> Started:
    """Start a Python script in a folder, as `run_script` does."""
    return _start(_script, [path, *arguments], Limits(folder, environment(), UNLIMITED))


def _start(work: Callable[[list[str]], None], arguments: Sequence[object], limits: Limits) -> Started:
    words = list(map(str, arguments))
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.loaded"])
    printed = Path(tempfile.mkdtemp(prefix="printed-"))
    for name in ("out", "err"):
        (printed / name).touch()
    process = context.Process(target=_set_up, args=(work, words, limits, printed), daemon=True)
    path = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = str(ROOT)  # the server that forks is started with the first process
    try:
        process.start()
    finally:
        if path is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = path
    return Started(process, words, printed)


def _set_up(work: Callable[[list[str]], None], arguments: list[str], limits: Limits, printed: Path) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job would ignore it
    os.chdir(limits.folder)
    os.environ.clear()
    os.environ.update(limits.environment)
    for name, number in (("out", 1), ("err", 2)):
        file = os.open(printed / name, os.O_WRONLY)
        os.dup2(file, number)
        os.close(file)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limits.largest, resource.RLIM_INFINITY))
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a suite that runs in the background ignores it
    work(arguments)


def _program(arguments: list[str]) -> None:
    from dokimasia.__main__ import main

    sys.argv = ["dokimasia", *arguments]
    main()


def _script(arguments: list[str]) -> None:
    sys.argv = arguments
    sys.path.insert(0, str(Path(arguments[0]).parent))
    warnings.simplefilter("error", ResourceWarning)
    runpy.run_path(arguments[0], run_name="__main__")
