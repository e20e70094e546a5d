"""Runs killed at random moments, also half-way through a write, resumed and killed again, against one never killed.

A kill comes at a random moment from outside, or in the middle of a write: of a commit, of a graph's checkpoint, of the
log's return into the database, or of a migration; half of that write is in the file then.
"""

import argparse
import json
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.command import ROOT, BenchmarkFailed, Options, run_benchmark, say, scratch, sized
from benchmarks.crash.evidence import Evidence, Requests, ServerLog, committed, read_evidence, take_copy
from benchmarks.figures import Figure, Report
from dokimasia.simulation.world import write_world

PATIENCE = 60.0
"""Seconds within which a process goes on, or dies where its death is planned."""


class Death(NamedTuple):
    """How a process is killed: in one of so many writes to a file, or, without a file, from outside."""

    file: str = ""
    among: int = 0
    weight: int = 0


DEATHS = {
    "at a moment": Death(weight=4),
    "in a commit": Death("dokimasia.db-wal", 60, weight=3),
    "in a checkpoint": Death("checkpoints.db-wal", 60, weight=2),
    "in folding the log": Death("dokimasia.db", 40, weight=1),
}
MIGRATION, MIGRATING = "in a migration", Death("dokimasia.db*", 150)

MODEL = """
[models.{name}]
model = "openai/sim/{model}"
endpoint = "sim-server"
api_base = "{url}"
transport = "direct"
max_concurrency = {concurrency}
start_concurrency = {concurrency}
input_price = 1.0
output_price = 4.0
capabilities = ["vision"]
"""


@dataclass
class Findings:
    """What was found over all kills; every count but `kills` has to be 0."""

    kills: Counter[str] = field(default_factory=Counter[str])
    resent: int = 0
    lost: int = 0
    changed: int = 0
    damaged: int = 0
    differing: int = 0
    requests: int = 0
    ended: int = 0
    said: list[str] = field(default_factory=list[str])

    def note(self, what: str) -> None:
        """Keep the first few things that went wrong, for the report."""
        if len(self.said) < 20:
            self.said.append(what)


class Scene(NamedTuple):
    """What all runs share: the folder with data and configuration, the server's log, and the moments' randomness."""

    folder: Path
    log: ServerLog
    latency: float
    randomness: random.Random

    def arguments(self, home: Path) -> list[str]:
        """Return the program's arguments."""
        data, config = self.folder / "world.jsonl", self.folder / "dokimasia.toml"
        named = ["evaluate", data, "--judge", "J", "--models", "A,B", "--json", "--config", config, "--home", home]
        return list(map(str, named))

    def to_the_end(self, home: Path) -> Any:
        """Run to the end and return the figures that are printed."""
        command = [sys.executable, "-m", "dokimasia", *self.arguments(home)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode:
            raise BenchmarkFailed(f"a run that nobody killed ended with {done.returncode}: {done.stderr[-2000:]}")
        return json.loads(done.stdout)


def measure(options: Options) -> Report:
    """Run once without a kill, then kill runs of the same until there were enough, and compare."""
    kills = options.kills or sized(options, quick=6, usual=20, full=200)
    samples = options.samples or sized(options, quick=30, usual=1000)
    findings = Findings()
    with scratch() as folder, server_of(folder, options.latency) as url:
        write_world(folder / "world.jsonl", samples, options.seed)
        models = {"J": "judge-noisy", "A": "strong", "B": "weak"}
        tables = [
            MODEL.format(name=name, model=model, url=url, concurrency=options.in_flight)
            for name, model in models.items()
        ]
        (folder / "dokimasia.toml").write_text("".join(tables))
        log = ServerLog(folder / "server.log")
        scene = Scene(folder, log, options.latency, random.Random(options.seed))
        say(f"a run of {samples} samples that nobody kills")
        started = time.perf_counter()
        figures = scene.to_the_end(folder / "whole")
        seconds = time.perf_counter() - started
        whole = read_evidence(take_copy(folder / "whole", folder / "copy"))
        asked = len(log.new_requests())
        number = 0
        while findings.kills.total() < kills:
            number += 1
            earlier = findings.kills.total()
            left = min(options.per_run, kills - findings.kills.total())
            home = folder / f"killed{number}"
            _kill_and_resume(scene, home, left, whole, figures, findings)
            say(f"run {number}: {findings.kills.total()} of {kills} kills so far")
            if findings.kills.total() == earlier:
                raise BenchmarkFailed("no process could be killed before its run was done; take more samples")
    rows = [{"killed": name, "times": findings.kills[name]} for name in (MIGRATION, *DEATHS)]
    report = (
        Figure("kills", findings.kills.total(), target=kills, must=True),
        Figure("committed calls sent again", findings.resent, target=0, rule="exactly", must=True),
        Figure("calls or results lost", findings.lost, target=0, rule="exactly", must=True),
        Figure("calls or results changed", findings.changed, target=0, rule="exactly", must=True),
        Figure("databases damaged", findings.damaged, target=0, rule="exactly", must=True),
        Figure("results other than those of the unkilled run", findings.differing, target=0, rule="exactly", must=True),
        Figure("runs", findings.ended),
        Figure("requests a run, beside those of an unkilled one", findings.requests / findings.ended / asked, "×"),
    )
    notes = (f"{samples} samples, {len(whole.calls):,} calls, {seconds:.0f} s without a kill.", *findings.said)
    return Report("crash", report, tuple(rows), notes)


def _kill_and_resume(scene: Scene, home: Path, kills: int, whole: Evidence, figures: Any, findings: Findings) -> None:
    """Kill one run so many times, over its whole length, let it end, and compare it with the unkilled one."""
    copy, requests = scene.folder / "copy", Requests()
    before = Evidence({}, {}, ())
    done: set[str] = set()
    seen: set[str] = set()
    total = len(whole.calls)
    step = total / (kills + 1)
    for number in range(1, kills + 1):
        if len(before.calls) >= total - 1:
            break
        target = max(len(before.calls) + 1, round(step * (number + scene.randomness.uniform(-0.4, 0.4))))
        how = _how(scene.randomness, number)
        killed = _killed(scene, home, how, min(target, total - 1))
        if killed is None:
            break
        findings.kills[killed] += 1
        time.sleep(scene.latency + 0.15)  # what the server still had in hand is written to its log
        seen |= count_sent(scene, done, findings, f"after kill {number} of {home.name} ({killed})")
        take_copy(home, copy)
        now = read_evidence(copy)
        compare_with_earlier(before, now, findings, f"{home.name}, kill {number} ({killed})")
        done = requests.named(now.calls, copy)
        if not done <= seen:
            raise BenchmarkFailed(f"{len(done - seen)} committed calls are not in the server's log: it proves nothing")
        before = now
    printed = scene.to_the_end(home)
    count_sent(scene, done, findings, f"at the end of {home.name}")
    after = read_evidence(take_copy(home, copy))
    compare_with_earlier(before, after, findings, f"{home.name}, at the end")
    findings.ended += 1
    differing = {item for item in whole.results.keys() | after.results.keys()
                 if whole.results.get(item) != after.results.get(item)}  # fmt: skip
    if differing or printed != figures:
        findings.differing += max(1, len(differing))
        findings.note(f"{home.name} differs from the unkilled run: {sorted(differing)[:5] or 'in the printed figures'}")
    verify(home, findings)


def _how(randomness: random.Random, number: int) -> str:
    if number <= 2:
        return MIGRATION
    return randomness.choices(list(DEATHS), [death.weight for death in DEATHS.values()])[0]


def _killed(scene: Scene, home: Path, how: str, target: int) -> str | None:
    """Start the program, kill it, and return how it died; None if it came to its end."""
    death = DEATHS.get(how, MIGRATING)
    at_once = how == MIGRATION
    command = [sys.executable, "-m", "dokimasia", *scene.arguments(home)]
    if death.file:
        at = str(scene.randomness.randint(1, death.among))
        planned = (death.file, at, "now" if at_once else "when")
        command = [sys.executable, "-m", "benchmarks.crash.victim", *planned, *scene.arguments(home)]
    errors = scene.folder / "errors.txt"
    with open(errors, "wb") as said:
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=said)
    try:
        if not at_once:
            until(lambda: process.poll() is not None or committed(home) >= target, "go on")
        if death.file:
            if not at_once:
                process.send_signal(signal.SIGUSR1)
            until(lambda: process.poll() is not None, "die")
        else:
            time.sleep(scene.randomness.uniform(0, 0.04))
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
    if process.returncode == -signal.SIGKILL:
        return how
    if process.returncode:
        raise BenchmarkFailed(f"the program ended with {process.returncode}: {errors.read_text()[-2000:]}")
    return None


def until(reached: Callable[[], bool], what: str, *, also: Callable[[], object] | None = None) -> None:
    """Wait until something holds, and do something else meanwhile."""
    deadline = time.monotonic() + PATIENCE
    while not reached():
        if also is not None:
            also()
        if time.monotonic() > deadline:
            raise BenchmarkFailed(f"the program did not {what} within {PATIENCE:.0f} s")
        time.sleep(0.01)


def count_sent(scene: Scene, done: set[str], findings: Findings, when: str) -> set[str]:
    """Hold the server's log since the last kill against the calls committed at it; return the requests in it."""
    sent = scene.log.new_requests()
    findings.requests += len(sent)
    again = done & set(sent)
    if again:
        findings.resent += len(again)
        findings.note(f"{when}: {len(again)} calls were sent again that were committed before")
    return set(sent)


def compare_with_earlier(before: Evidence, now: Evidence, findings: Findings, when: str) -> None:
    """Count what was there and is not, or is otherwise now."""
    for earlier, later in ((before.calls, now.calls), (before.results, now.results)):
        lost = earlier.keys() - later.keys()
        changed = [name for name, value in earlier.items() if name in later and later[name] != value]
        findings.lost += len(lost)
        findings.changed += len(changed)
        if lost or changed:
            findings.note(f"{when}: lost {sorted(lost)[:3]}, changed {sorted(changed)[:3]}")
    findings.damaged += len(now.damage)
    for line in now.damage:
        findings.note(f"{when}: {line}")


def verify(home: Path, findings: Findings) -> None:
    """Let the program itself look for damage."""
    command = [sys.executable, "-m", "dokimasia", "verify", "--home", str(home)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        findings.damaged += 1
        findings.note(f"{home.name}: verify ended with {done.returncode}: {(done.stderr or done.stdout)[-500:]}")


@contextmanager
def server_of(folder: Path, latency: float) -> Iterator[str]:
    """Serve the simulated models from a process of its own, with a log; yields the base URL."""
    log = folder / "server.log"
    log.touch()
    command = [sys.executable, "-m", "benchmarks.crash.server", str(latency), str(log)]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            url = process.stdout.readline().strip()
            if not url:
                raise BenchmarkFailed("the simulated server did not start")
            yield url
        finally:
            process.stdin.close()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what can be told."""
    parser.add_argument("--kills", type=int)
    parser.add_argument("--samples", type=int, help="the length of each run")
    parser.add_argument("--per-run", type=int, default=20, help="kills of one run before it may end")
    parser.add_argument("--latency", type=float, default=0.05, help="seconds a reply takes")
    parser.add_argument("--in-flight", type=int, default=32)
    parser.add_argument("--seed", type=int, default=11, help="of data, moments and writes")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark."""
    return run_benchmark("crash", __doc__, measure, arguments, add=add_options)


if __name__ == "__main__":
    raise SystemExit(main())
