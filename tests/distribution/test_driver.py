"""A driver that is killed: its workers end, no key lies in what Ray left, and any number of workers goes on."""

import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from dokimasia.simulation.serving.server import running_server
from tests.distribution.conftest import holding, processes_of
from tests.distribution.test_ray import MODELS
from tests.killing import Witness, committed
from tests.processes import KEY, PATIENCE, ROOT, Started, environment, run_program


class Driver:
    """The program in a process that is forked from none, as Ray is started in; a `Started` as far as it is killed."""

    def __init__(self, arguments: tuple[Any, ...], folder: Path, temporary: Path) -> None:
        """Start it; what it and Ray keep for a while lies in a folder of its own."""
        variables = {**environment(), "TMPDIR": str(temporary), "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-m", "dokimasia", *map(str, arguments)]
        with (folder / "said").open("wb") as said:
            self._process = subprocess.Popen(
                command, cwd=folder, env=variables, stdout=said, stderr=said, start_new_session=True
            )

    @property
    def alive(self) -> bool:
        """Whether it has not ended yet."""
        return self._process.poll() is None

    def until(self, condition: Callable[[], bool]) -> bool:
        """Wait until something holds or it has ended; return whether it is still alive."""
        while self.alive and not condition():
            time.sleep(0.01)
        return self.alive

    def interrupt(self) -> int:
        """Press Ctrl-C, which a terminal sends to all processes of the group, and return the exit code."""
        os.killpg(self._process.pid, signal.SIGINT)
        return self._process.wait(PATIENCE)

    def kill(self) -> None:
        """Let it die without a word."""
        self._process.kill()
        self._process.wait()


@pytest.fixture
def short() -> Iterator[Path]:
    """A folder with a short path, as the sockets of Ray need one."""
    folder = Path(tempfile.mkdtemp(prefix="doki-", dir="/tmp"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.full
def test_a_killed_driver_is_gone_on_with(world: Path, tmp_path: Path, short: Path) -> None:
    """Killed with two workers and with three, a run ends in one process: the same bytes, no committed call sent again.

    What a killed driver leaves of Ray holds no key, and the next driver removes it. At Ctrl-C a driver finishes the calls in
    flight, says how to go on, and leaves nothing of Ray.
    """
    if importlib.util.find_spec("ray") is None:
        pytest.skip("the extra dokimasia[ray] is not installed")
    log, whole, killed = tmp_path / "log", tmp_path / "whole", tmp_path / "killed"
    with running_server(latency=0.2, log_path=log) as url:
        keyed = MODELS.replace('transport = "direct"', 'transport = "direct"\napi_key_env = "SIM_API_KEY"')
        (tmp_path / "dokimasia.toml").write_text(keyed.format(url=url))
        arguments = ("evaluate", world, "--judge", "sim/judge", "--models", "sim/strong,sim/weak", "--json")
        expected = run_program((*arguments, "--home", whole), tmp_path)
        assert expected.returncode == 0, expected.stderr
        witness = Witness(killed, log)
        for workers, at in ((2, 8), (3, 20)):
            driver = Driver((*arguments, "--home", killed, "--workers", workers), tmp_path, short)
            witness.kill(cast("Started", driver), at=at)
            (folder,) = short.glob("dokimasia-ray-*")
            assert any(folder.rglob("logs/*")), "Ray left no log to look through"
            assert not holding(folder, KEY)
        assert witness.deaths == 2, (tmp_path / "said").read_text()
        patience = time.monotonic() + PATIENCE
        while left := processes_of(short):
            assert time.monotonic() < patience, f"processes of Ray outlive the driver: {left}"
            time.sleep(0.1)
        driver = Driver((*arguments, "--home", killed, "--workers", 1, "--engine", "ray"), tmp_path, short)
        assert driver.until(lambda: committed(killed) >= 30)
        assert driver.interrupt() == 130
        assert "Continue with: dokimasia resume" in (tmp_path / "said").read_text()
        assert not processes_of(short)
        assert not list(short.glob("dokimasia-ray-*"))
        ended = run_program((*arguments, "--home", killed), tmp_path)
        assert ended.returncode == 0, ended.stderr
        witness.check()
    assert ended.stdout == expected.stdout
    assert committed(killed) == committed(whole)
