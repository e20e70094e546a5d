"""Runs walked by a worker beside the driver and one behind a network that delays, drops, and is away for a while.

The second worker's node is in a network namespace of its own, behind a wire (`benchmarks.crash.wire`) that is disturbed; both
workers reach the simulated models undisturbed. It takes root and iproute2. The printed figures, the home and the server's log
are held against a run in one process.
"""

import argparse
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast
from urllib.parse import urlsplit

from benchmarks.command import ROOT, BenchmarkFailed, Options, run_benchmark, say, scratch, sized
from benchmarks.crash.__main__ import MODEL, Findings, Scene, compare_with_earlier, server_of, until, verify
from benchmarks.crash.evidence import Evidence, Requests, ServerLog, committed, read_evidence, take_copy
from benchmarks.crash.workers import Driver, calls_of
from benchmarks.figures import Figure, Report
from dokimasia.simulation.world import write_world

if TYPE_CHECKING:
    from benchmarks.cluster import Nodes

GOOD = (0.0, 0.0, 0.0)
BAD = (0.2, 0.1, 0.05)
AWAY = (0.0, 0.0, 1.0)
"""What the wire does: seconds of delay, seconds by which that varies, and the share of packets that is lost."""


class Trouble(NamedTuple):
    """What the network does: all the time, or in the middle of a run for so many seconds."""

    name: str
    wire: tuple[float, float, float]
    seconds: float = 0.0


class Network:
    """A head that has one place for a worker, and a node in a namespace that has another."""

    def __init__(self, number: int, folder: Path) -> None:
        self._name, self._device, self._other = f"doki{number}", f"dk{number}a", f"dk{number}b"
        self._subnet, self._folder = f"10.213.{number % 250}", folder
        self.address = f"{self._subnet}.1:{_free()}"
        self._kept = ExitStack()
        self._wire: Any = None

    def __enter__(self) -> "Network":
        with ExitStack() as undo:
            _ip("netns", "add", self._name)
            undo.callback(_ip, "netns", "del", self._name)
            words = (self._name, self._device, self._other, self._subnet)
            self._wire = undo.enter_context(
                _process(sys.executable, "-m", "benchmarks.crash.wire", *words, out=subprocess.PIPE)
            )
            self._told()
            port = self.address.rpartition(":")[2]
            head = ("--head", f"--node-ip-address={self._subnet}.1", f"--port={port}", "--num-cpus=1")
            more = ("--include-dashboard=false", f"--ray-client-server-port={_free()}", f"--temp-dir={self._folder}")
            undo.enter_context(
                _process(_RAY, "start", *head, *more, *_COMMON, f"--dashboard-agent-listen-port={_free()}")
            )
            until(lambda: _answers(self._subnet + ".1", int(port)), "start Ray")
            time.sleep(5)
            node = (f"--address={self.address}", f"--node-ip-address={self._subnet}.2", "--num-cpus=1")
            undo.enter_context(self._inside(_RAY, "start", *node, *_COMMON))
            self._kept = undo.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._kept.close()

    def reaches(self, url: str) -> None:
        """Have the namespace reach a server of this machine's under the address that it has here."""
        port, path = str(urlsplit(url).port), str(self._folder / "relay")
        for command in ((path, port), (port, path)):
            words = (sys.executable, "-m", "benchmarks.crash.relay", *command)
            self._kept.enter_context(_process(*words) if command[0] == path else self._inside(*words))
            time.sleep(1)

    def becomes(self, wire: tuple[float, float, float]) -> None:
        """Have the network do this from now on, both ways."""
        self._wire.stdin.write(" ".join(map(str, wire)) + "\n")
        self._wire.stdin.flush()
        self._told()

    def _told(self) -> None:
        if not self._wire.stdout.readline():
            raise BenchmarkFailed("there is no wire: it takes root, iproute2 and /dev/net/tun")

    def _inside(self, *words: str) -> Any:
        return _process("ip", "netns", "exec", self._name, *words)


_RAY = str(Path(sys.executable).with_name("ray"))
_COMMON = ("--block", f"--object-store-memory={100 * 2**20}", "--disable-usage-stats")


def measure(options: Options) -> Report:
    """Run once in one process, then over each network, and compare."""
    if os.geteuid() != 0:
        raise BenchmarkFailed("network namespaces take root")
    os.environ["RAY_AUTH_MODE"] = (
        "disabled"  # else `ray start` takes a token where this user has one, and the driver none
    )
    troubles = [Trouble("delay and loss", BAD)]
    lengths = (30.0, 90.0)[: sized(options, quick=1, usual=2)]
    troubles += [Trouble(f"away for {length:g} s", AWAY, length) for length in lengths]
    samples = options.samples or sized(options, quick=20, usual=60)
    findings, rows = Findings(), list[dict[str, Any]]()
    with scratch() as folder, server_of(folder, options.latency) as url:
        write_world(folder / "world.jsonl", samples, options.seed)
        models = {"J": "judge-noisy", "A": "strong", "B": "weak"}
        tables = [MODEL.format(name=name, model=of, url=url, concurrency=8) for name, of in models.items()]
        (folder / "dokimasia.toml").write_text("".join(tables))
        scene: Any = Scene(folder, ServerLog(folder / "server.log"), options.latency, None)  # pyright: ignore[reportArgumentType]
        say(f"a run of {samples} samples in one process")
        figures = scene.to_the_end(folder / "whole")
        whole = read_evidence(take_copy(folder / "whole", folder / "copy"))
        asked = len(scene.log.new_requests())
        for number, trouble in enumerate(troubles, 1):
            with _short() as ray, Network(os.getpid() % 1000 * 10 + number, ray) as network:
                network.reaches(url)
                seconds, requests = _troubled(
                    scene, network, trouble, folder / f"home{number}", whole, figures, findings
                )
            rows.append({"network": trouble.name, "seconds": round(seconds), "requests": requests, "calls": asked})
            say(f"{trouble.name}: {rows[-1]}")
    report = (
        Figure("runs", findings.ended, target=len(troubles), must=True),
        Figure("committed calls sent again", findings.resent, target=0, rule="exactly", must=True),
        Figure("calls or results lost", findings.lost, target=0, rule="exactly", must=True),
        Figure("calls or results changed", findings.changed, target=0, rule="exactly", must=True),
        Figure("databases damaged", findings.damaged, target=0, rule="exactly", must=True),
        Figure("results other than those of one process", findings.differing, target=0, rule="exactly", must=True),
        Figure("requests more than one process's", findings.requests - findings.ended * asked),
    )
    return Report("crash.network", report, tuple(rows), (f"{samples} samples, two workers.", *findings.said))


def _troubled(
    scene: Scene, network: Network, trouble: Trouble, home: Path, whole: Evidence, figures: Any, findings: Findings
) -> tuple[float, int]:
    """Have one run suffer the network, and compare it with the one of one process; return its seconds and requests."""
    if not trouble.seconds:
        network.becomes(trouble.wire)
    started, driver = time.monotonic(), Driver(scene, home, cast("Nodes", network), None, workers=2)
    driver.until(lambda: committed(home) >= len(whole.calls) / 4)
    before, seen = calls_of(home), scene.log.new_requests()
    if trouble.seconds:
        network.becomes(trouble.wire)
        time.sleep(trouble.seconds)
        network.becomes(GOOD)
    printed = driver.to_the_end()
    seconds = time.monotonic() - started
    network.becomes(GOOD)
    time.sleep(scene.latency + 0.5)
    later = scene.log.new_requests()
    after = read_evidence(take_copy(home, scene.folder / "copy"))
    findings.ended += 1
    findings.requests += len(seen) + len(later)
    compare_with_earlier(before, after, findings, trouble.name)
    again = Requests().named(before.calls, home) & set(seen) & set(later)
    findings.resent += len(again)
    differing = {one for one in whole.results.keys() | after.results.keys()
                 if whole.results.get(one) != after.results.get(one)}  # fmt: skip
    if differing or printed != figures:
        findings.differing += max(1, len(differing))
        findings.note(f"{trouble.name}: {sorted(differing)[:5] or 'in the printed figures'}")
    verify(home, findings)
    return seconds, len(seen) + len(later)


@contextmanager
def _short() -> Iterator[Path]:
    """Give a folder with a short path, as the sockets of Ray need one."""
    import shutil
    import tempfile

    folder = Path(tempfile.mkdtemp(prefix="dk-", dir="/tmp"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _process(*words: str, out: int = subprocess.DEVNULL) -> Iterator["subprocess.Popen[str]"]:
    """Have a process while something is done; what it started ends with it."""
    with subprocess.Popen(
        words,
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=out,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            yield process
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)


def _ip(*words: str) -> None:
    done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise BenchmarkFailed(f"ip {' '.join(words)}: {done.stderr.strip()}")


def _free() -> int:
    with socket.socket() as one:
        one.bind(("", 0))
        return one.getsockname()[1]


def _answers(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port), 1).close()
    except OSError:
        return False
    return True


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what can be told."""
    parser.add_argument("--samples", type=int, help="the length of each run")
    parser.add_argument("--latency", type=float, default=0.3, help="seconds a reply takes")
    parser.add_argument("--seed", type=int, default=11, help="of the data")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark."""
    return run_benchmark("crash.network", __doc__, measure, arguments, add=add_options)


if __name__ == "__main__":
    raise SystemExit(main())
