"""The simulated nodes of a Ray cluster (`benchmarks.crash.nodes`), as whoever had them started holds them."""

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from benchmarks.command import ROOT, BenchmarkFailed


class Nodes:
    """The simulated cluster, and the processes of workers on it."""

    def __init__(self, process: "subprocess.Popen[str]", said: IO[str], told: IO[str]) -> None:
        """Wait until it is there."""
        self._process, self._said, self._told = process, said, told
        self._orphaned: set[int] = set()
        self.address = self._line()

    def workers(self) -> list[int]:
        """Return the processes of workers on all nodes, without those whose driver is gone."""
        found = {pid for pid in _below(self._process.pid) if _command(pid).startswith(b"ray::Worker")}
        return sorted(found - self._orphaned)

    def places(self) -> set[int]:
        """Return the nodes on which workers are, each by the process that started them."""
        return {parent for pid in self.workers() if (parent := _parent(pid))}

    def forsake(self) -> None:
        """Take in that the driver of all workers there are is gone: they end by themselves."""
        self._orphaned.update(self.workers())

    def kill(self) -> None:
        """Kill a node."""
        self._told.write("kill\n")
        self._told.flush()
        self._line()

    def replaced(self) -> None:
        """Wait until another has taken its place."""
        self._line()

    def _line(self) -> str:
        line = self._said.readline().strip()
        if not line:
            raise BenchmarkFailed("the simulated nodes ended")
        return line


@contextmanager
def nodes_of(seed: int, *more: int) -> Iterator[Nodes]:
    """Have the simulated nodes while something is done: three, or so many, also for Ray's client at a port."""
    command = [sys.executable, "-m", "benchmarks.crash.nodes", *map(str, (seed, *more))]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield Nodes(process, process.stdout, process.stdin)
        finally:
            process.stdin.close()
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()


def free_port() -> int:
    """Return a port that nobody listens at."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def _below(pid: int) -> list[int]:
    """Return the processes that descend from one."""
    children: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*"):
        if parent := _parent(int(path.name)):
            children.setdefault(parent, []).append(int(path.name))
    found, left = list[int](), [pid]
    while left:
        new = children.get(left.pop(), [])
        found += new
        left += new
    return found


def _parent(pid: int) -> int:
    """Return the process that started one; 0 where it is gone."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except (OSError, ValueError):
        return 0


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
