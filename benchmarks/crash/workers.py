"""Runs walked by workers on three simulated nodes, whose workers, driver and nodes are killed, against one never killed.

A worker, or the driver, is killed at a random moment by SIGKILL, a node with all that is on it by its manager's. Others
take the place of workers and nodes by themselves; a driver is started again on the same home, with another number of
workers, or with none where nothing else is killed any more. At each death it is taken down which calls are committed; the
server's log says whether one of them was sent again after it.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, NamedTuple

from benchmarks.command import ROOT, BenchmarkFailed, Options, run_benchmark, say, scratch, sized
from benchmarks.crash.__main__ import MODEL, Findings, Scene, compare_with_earlier, server_of, until, verify
from benchmarks.crash.evidence import Evidence, Requests, ServerLog, committed, read_evidence, take_copy
from benchmarks.figures import Figure, Report
from dokimasia.simulation.world import write_world

WORKERS = (2, 3, 4)
"""As many workers a driver is started with."""


class Death(NamedTuple):
    """What was committed when something was killed, and how many requests were in the server's log."""

    what: str
    evidence: Evidence
    requests: int


class Nodes:
    """The simulated cluster."""

    def __init__(self, process: "subprocess.Popen[str]", said: IO[str], told: IO[str]) -> None:
        """Wait until it is there."""
        self._process, self._said, self._told = process, said, told
        self.address = self._line()

    def workers(self) -> list[int]:
        """Return the processes of workers on all nodes."""
        below = _below(self._process.pid)
        return [pid for pid in below if _command(pid).startswith(b"ray::Worker")]

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


def measure(options: Options) -> Report:
    """Run once without a kill in one process, then kill runs of the same on the cluster, and compare."""
    runs = options.runs or sized(options, quick=1, usual=2, full=10)
    sizes = {
        "worker": options.workers if options.workers is not None else sized(options, quick=3, usual=20, full=100),
        "driver": options.drivers if options.drivers is not None else sized(options, quick=1, usual=4, full=20),
        "node": options.nodes if options.nodes is not None else sized(options, quick=1, usual=2, full=10),
    }
    samples = options.samples or sized(options, quick=30, usual=200, full=1000)
    randomness, findings = random.Random(options.seed), Findings()
    with scratch() as folder, server_of(folder, options.latency) as url, nodes_of(options.seed) as nodes:
        write_world(folder / "world.jsonl", samples, options.seed)
        models = {"J": "judge-noisy", "A": "strong", "B": "weak"}
        tables = [
            MODEL.format(name=name, model=of, url=url, concurrency=options.in_flight) for name, of in models.items()
        ]
        (folder / "dokimasia.toml").write_text("".join(tables))
        scene = Scene(folder, ServerLog(folder / "server.log"), options.latency, randomness)
        say(f"a run of {samples} samples that nobody kills")
        figures = scene.to_the_end(folder / "whole")
        whole = read_evidence(take_copy(folder / "whole", folder / "copy"))
        asked = len(scene.log.new_requests())
        number = 0
        while left := Counter(sizes) - findings.kills:
            number += 1
            share = max(1, runs + 1 - number)  # what a run's end forestalled is left to one more
            deaths = [what for what, times in left.items() for _ in range(-(-times // share))]
            randomness.shuffle(deaths)
            if number % 2 and "driver" in deaths:  # what is left then is done by a driver alone
                deaths.remove("driver")
                deaths.append("driver")
            _killed_run(scene, nodes, folder / f"killed{number}", deaths, whole, figures, findings)
            say(f"run {number}: {dict(findings.kills)}")
            if number > 3 * runs:
                raise BenchmarkFailed("runs end before they are killed; take more samples")
    extra = findings.requests - findings.ended * asked
    most = findings.kills.total() * options.in_flight
    report = (
        *(Figure(f"kills: {what}", findings.kills[what], target=times, must=True) for what, times in sizes.items()),
        Figure("committed calls sent again", findings.resent, target=0, rule="exactly", must=True),
        Figure("calls or results lost", findings.lost, target=0, rule="exactly", must=True),
        Figure("calls or results changed", findings.changed, target=0, rule="exactly", must=True),
        Figure("databases damaged", findings.damaged, target=0, rule="exactly", must=True),
        Figure("results other than those of the unkilled run", findings.differing, target=0, rule="exactly", must=True),
        Figure("requests more than an unkilled run's", extra, target=most, rule="at most", must=True),
        Figure("runs", findings.ended),
    )
    notes = (f"{samples} samples, {len(whole.calls):,} calls a run, {options.in_flight} in flight.", *findings.said)
    return Report("crash.workers", report, (), notes)


def _killed_run(
    scene: Scene, nodes: Nodes, home: Path, deaths: list[str], whole: Evidence, figures: Any, findings: Findings
) -> None:
    """Have a run suffer these deaths over its whole length, let it end, and compare it with the unkilled one."""
    total, taken, seen = len(whole.calls), list[Death](), list[str]()
    driver = _Driver(scene, home, nodes, scene.randomness.choice(WORKERS))
    for place, what in enumerate(deaths):
        share = (place + 1 + scene.randomness.uniform(-0.3, 0.3)) / (len(deaths) + 1)
        driver.until(lambda share=share: committed(home) >= share * total, "go on")
        if what == "worker":
            driver.until(lambda: bool(nodes.workers()), "have workers")
        if driver.ended:
            break
        copied = read_evidence(take_copy(home, scene.folder / "copy")) if what == "driver" else _calls_of(home)
        seen += scene.log.new_requests()
        taken.append(Death(what, copied, len(seen)))
        if what == "driver":
            driver.kill()
            findings.kills[what] += 1
            alone = place == len(deaths) - 1
            driver = _Driver(scene, home, nodes, 0 if alone else scene.randomness.choice(WORKERS))
        elif what == "node":
            nodes.kill()
            findings.kills[what] += 1
            nodes.replaced()
        else:
            with suppress(ProcessLookupError, IndexError):  # it has died by itself meanwhile
                os.kill(scene.randomness.choice(nodes.workers()), signal.SIGKILL)
                findings.kills[what] += 1
    printed = driver.to_the_end()
    time.sleep(scene.latency + 0.2)  # what the server still had in hand is written to its log
    seen += scene.log.new_requests()
    after = read_evidence(take_copy(home, scene.folder / "copy"))
    findings.ended += 1
    findings.requests += len(seen)
    names = Requests()
    for death in taken:
        compare_with_earlier(death.evidence, after, findings, f"{home.name}, since the death of a {death.what}")
        kept = names.named(death.evidence.calls, home)
        again = kept & set(seen[: death.requests]) & set(seen[death.requests :])
        findings.resent += len(again)
        if again:
            findings.note(f"{home.name}: {len(again)} calls were sent again after the death of a {death.what}")
    differing = {one for one in whole.results.keys() | after.results.keys()
                 if whole.results.get(one) != after.results.get(one)}  # fmt: skip
    if differing or printed != figures:
        findings.differing += max(1, len(differing))
        findings.note(f"{home.name} differs from the unkilled run: {sorted(differing)[:5] or 'in the printed figures'}")
    verify(home, findings)


def _calls_of(home: Path) -> Evidence:
    """Return the committed calls of a home that is at work."""
    import sqlite3

    connection = sqlite3.connect(f"file:{home / 'dokimasia.db'}?mode=ro", uri=True)
    try:
        return Evidence(dict(connection.execute("SELECT key, reply_digest FROM calls")), {}, ())
    finally:
        connection.close()


class _Driver:
    """The program at work on a home, with so many workers on the cluster, or with none."""

    def __init__(self, scene: Scene, home: Path, nodes: Nodes, workers: int) -> None:
        self.workers = workers
        far = ["--workers", str(workers), "--address", nodes.address] if workers else []
        command = [sys.executable, "-m", "dokimasia", *scene.arguments(home), *far]
        self._out, self._err = scene.folder / "out", scene.folder / "err"
        with self._out.open("wb") as out, self._err.open("wb") as err:
            self._process = subprocess.Popen(command, cwd=ROOT, stdout=out, stderr=err)

    @property
    def ended(self) -> bool:
        """Whether it came to its end."""
        return self._process.poll() is not None

    def until(self, reached: Callable[[], bool], what: str) -> None:
        """Wait until something holds, or it has ended."""
        until(lambda: reached() or self.ended, what)

    def kill(self) -> None:
        """Kill it."""
        self._process.kill()
        self._process.wait()

    def to_the_end(self) -> Any:
        """Return the figures that it prints at its end."""
        until(lambda: self.ended, "end")
        if self._process.returncode:
            raise BenchmarkFailed(f"a driver ended with {self._process.returncode}: {self._err.read_text()[-2000:]}")
        printed = self._out.read_text()
        try:
            return json.loads(printed)
        except ValueError:
            raise BenchmarkFailed(
                f"a driver printed no figures: {printed[:500]!r}; {self._err.read_text()[-500:]}"
            ) from None


@contextmanager
def nodes_of(seed: int) -> Iterator[Nodes]:
    """Have the simulated nodes while something is done."""
    command = [sys.executable, "-m", "benchmarks.crash.nodes", str(seed)]
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


def _below(pid: int) -> list[int]:
    """Return the processes that descend from one."""
    children: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(path.read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError):
            continue
        children.setdefault(parent, []).append(int(path.parent.name))
    found, left = list[int](), [pid]
    while left:
        new = children.get(left.pop(), [])
        found += new
        left += new
    return found


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what can be told."""
    for name, what in (("workers", "workers"), ("drivers", "drivers"), ("nodes", "nodes")):
        parser.add_argument(f"--{name}", type=int, help=f"how many {what} are killed, over all runs")
    parser.add_argument("--runs", type=int)
    parser.add_argument("--samples", type=int, help="the length of each run")
    parser.add_argument("--latency", type=float, default=0.1, help="seconds a reply takes")
    parser.add_argument("--in-flight", type=int, default=32)
    parser.add_argument("--seed", type=int, default=11, help="of data and moments")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark."""
    return run_benchmark("crash.workers", __doc__, measure, arguments, add=add_options)


if __name__ == "__main__":
    raise SystemExit(main())
