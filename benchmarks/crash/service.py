"""An engine of the service killed again and again with runs at work and a review open, against one that was never killed.

Several runs are at work at once over one home, and a person answers the questions of a review's panel meanwhile. After every
kill what is committed is compared with what was before, with the server's log, and at the end with the unkilled home.
"""

import argparse
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple, Protocol

from benchmarks.command import ROOT, BenchmarkFailed, Options, run_benchmark, say, scratch, sized
from benchmarks.crash.__main__ import (
    MODEL,
    Findings,
    Scene,
    compare_with_earlier,
    count_sent,
    server_of,
    until,
    verify,
)
from benchmarks.crash.engine import PERSON
from benchmarks.crash.evidence import Evidence, Requests, ServerLog, committed, read_evidence, take_copy
from benchmarks.figures import Figure, Report
from dokimasia.domain.call import Chat, ModelRef
from dokimasia.people.checks import checked, waiting_questions
from dokimasia.simulation.respond import respond
from dokimasia.simulation.world import write_world
from dokimasia.storage.decisions import file_decision, filed_decisions
from dokimasia.storage.home import Home
from dokimasia.storage.people.questions import get_question
from dokimasia.storage.runs import list_runs

MODELS = {"J": "judge-noisy", "A": "strong", "B": "weak", "C": "steady", "P": "panel-a", "Q": "panel-b"}
AFTER = 0.5
"""Seconds without a call until the person answers."""

ANSWERS_AS = "sim/panel-c"
"""The simulated model as which the person answers."""


class Process(Protocol):
    """A process with an engine."""

    @property
    def alive(self) -> bool: ...
    def kill(self) -> None: ...


Start = Callable[[Path, Path], Process]
"""Starts an engine: the folder of data and configuration, and the home."""


class Whole(NamedTuple):
    """What a home holds in which nobody was killed, and what was asked for it."""

    evidence: Evidence
    asked: int


class Subprocess:
    """An engine in a fresh interpreter."""

    def __init__(self, folder: Path, home: Path) -> None:
        self._errors = folder / "errors.txt"
        with open(self._errors, "wb") as said:
            command = [sys.executable, "-m", "benchmarks.crash.engine", str(folder), str(home)]
            self._process = subprocess.Popen(command, cwd=ROOT, stderr=said)

    @property
    def alive(self) -> bool:
        """Whether it has not ended."""
        if self._process.poll() not in (None, 0, -signal.SIGKILL):
            raise BenchmarkFailed(
                f"the engine ended with {self._process.returncode}: {self._errors.read_text()[-2000:]}"
            )
        return self._process.returncode is None

    def kill(self) -> None:
        """Let it die without a word."""
        self._process.kill()
        self._process.wait()


def prepare(folder: Path, url: str, *, samples: int, in_flight: int, seed: int) -> None:
    """Write data and configuration."""
    write_world(folder / "world.jsonl", samples, seed)
    tables = [MODEL.format(name=name, model=one, url=url, concurrency=in_flight) for name, one in MODELS.items()]
    (folder / "dokimasia.toml").write_text("".join(tables))


def answer(home: Path, *, most: int) -> int:
    """Have the person answer so many questions that wait, as files, since the engine holds the home; return how many."""
    with Home.open(home, write=False) as opened:
        asked = [
            get_question(opened, one.item) for run in list_runs(opened) for one in waiting_questions(opened, run=run.id)
        ]
        asked = asked[:most]
        shown = {ref.sha256 for one in asked for message in one.call.messages for ref in message.images}
        images = {sha256: opened.blobs.get(sha256) for sha256 in shown}
        for one in asked:
            call = Chat(model=ModelRef(name=ANSWERS_AS, model=ANSWERS_AS, endpoint="sim"), messages=one.call.messages)
            file_decision(home, checked(opened, one.item, "reply", who=PERSON, text=respond(call, images).text))
    return len(asked)


def answered(home: Path) -> set[str]:
    """Return the questions whose answers a home has, as rows and as files that are not taken in (one may be there as both)."""
    with Home.open(home, write=False) as opened:
        rows = {item for (item,) in opened.all("SELECT item FROM decisions WHERE action = 'reply'")}
    return rows | {left.item.id for _, left in filed_decisions(home)}


def to_the_end(folder: Path, home: Path, start: Start, *, patience: float = 300.0) -> None:
    """Have an engine do all, and the person answer all."""
    process, deadline = start(folder, home), time.monotonic() + patience
    while process.alive:
        if time.monotonic() > deadline:
            process.kill()
            raise BenchmarkFailed("the engine did not come to its end")
        if (home / "dokimasia.db").exists() and committed(home):
            answer(home, most=5)
        time.sleep(0.2)


def whole_of(scene: Scene, start: Start) -> Whole:
    """Do everything once without a kill."""
    to_the_end(scene.folder, scene.folder / "whole", start)
    evidence = read_evidence(take_copy(scene.folder / "whole", scene.folder / "copy"))
    return Whole(evidence, len(scene.log.new_requests()))


def kill_again_and_again(
    scene: Scene, home: Path, start: Start, whole: Whole, findings: Findings, *, kills: int
) -> None:
    """Kill an engine over one home so many times, spread over all its work, let it end, and compare."""
    copy, requests = scene.folder / "copy", Requests()
    before, done, seen, given = Evidence({}, {}, ()), set[str](), set[str](), set[str]()
    total = len(whole.evidence.calls)
    for number in range(1, kills + 1):
        target = round(total / (kills + 1) * (number + scene.randomness.uniform(-0.4, 0.4)))
        process = start(scene.folder, home)
        reached = min(max(target, len(before.calls) + 1), total - 1)
        gone_on = partial(_reached, process, home, reached)
        until(gone_on, "go on", also=Answering(home).some)
        time.sleep(scene.randomness.uniform(0, 0.04))
        if not process.alive:
            break
        process.kill()
        findings.kills["at a moment"] += 1
        time.sleep(scene.latency + 0.15)  # what the server still had in hand is written to its log
        when = f"{home.name}, kill {number}"
        seen |= count_sent(scene, done, findings, when)
        now = read_evidence(take_copy(home, copy))
        compare_with_earlier(before, now, findings, when)
        done = requests.named(now.calls, copy)
        if not done <= seen:
            raise BenchmarkFailed(f"{len(done - seen)} committed calls are not in the server's log: it proves nothing")
        if gone := given - (known := answered(home)):
            findings.lost += len(gone)
            findings.note(f"{when}: {len(gone)} answers of a person are gone")
        before, given = now, known
    to_the_end(scene.folder, home, start)
    count_sent(scene, done, findings, f"at the end of {home.name}")
    after = read_evidence(take_copy(home, copy))
    compare_with_earlier(before, after, findings, f"{home.name}, at the end")
    findings.ended += 1
    differing = {item for item in whole.evidence.results.keys() | after.results.keys()
                 if whole.evidence.results.get(item) != after.results.get(item)}  # fmt: skip
    if differing:
        findings.differing += len(differing)
        findings.note(f"{home.name} differs from the unkilled home: {sorted(differing)[:5]}")
    verify(home, findings)


def _reached(process: Process, home: Path, calls: int) -> bool:
    return not process.alive or committed(home) >= calls


class Answering:
    """Has the person answer a question each time that nothing else has gone on for a while."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._count, self._since = 0, time.monotonic()

    def some(self) -> None:
        """Look once more, and answer if it is time."""
        count, now = committed(self._home), time.monotonic()
        if count != self._count:
            self._count, self._since = count, now
        elif count and now - self._since > AFTER:
            self._since = now
            answer(self._home, most=3)


def measure(options: Options) -> Report:
    """Do all once without a kill, then kill engines until there were enough, and compare."""
    kills = options.kills or sized(options, quick=5, usual=20, full=50)
    samples = options.samples or sized(options, quick=14, usual=100)
    findings = Findings()
    with scratch() as folder, server_of(folder, options.latency) as url:
        prepare(folder, url, samples=samples, in_flight=options.in_flight, seed=options.seed)
        scene = Scene(folder, ServerLog(folder / "server.log"), options.latency, random.Random(options.seed))
        say("an engine that nobody kills")
        started = time.perf_counter()
        whole = whole_of(scene, Subprocess)
        seconds = time.perf_counter() - started
        number = 0
        while (left := kills - findings.kills.total()) > 0:
            number += 1
            earlier = kills - left
            kill_again_and_again(
                scene, folder / f"killed{number}", Subprocess, whole, findings, kills=min(options.per_run, left)
            )
            say(f"home {number}: {findings.kills.total()} of {kills} kills so far")
            if findings.kills.total() == earlier:
                raise BenchmarkFailed("no engine could be killed before all was done; take more samples")
    more = findings.requests - findings.ended * whole.asked
    report = (
        Figure("kills", findings.kills.total(), target=kills, must=True),
        Figure("committed calls sent again", findings.resent, target=0, rule="exactly", must=True),
        Figure("calls, results or answers lost", findings.lost, target=0, rule="exactly", must=True),
        Figure("calls or results changed", findings.changed, target=0, rule="exactly", must=True),
        Figure("databases damaged", findings.damaged, target=0, rule="exactly", must=True),
        Figure(
            "results other than those of the unkilled home", findings.differing, target=0, rule="exactly", must=True
        ),
        Figure("homes", findings.ended),
        Figure("requests beyond those of unkilled homes, a kill", more / max(1, findings.kills.total())),
    )
    about = f"{samples} samples, four runs, {len(whole.evidence.calls):,} calls, {seconds:.0f} s without a kill."
    return Report("service kills", report, (), (about, *findings.said))


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what can be told."""
    parser.add_argument("--kills", type=int)
    parser.add_argument("--samples", type=int, help="samples of the evaluations")
    parser.add_argument("--per-run", type=int, default=25, help="kills over one home before its runs may end")
    parser.add_argument("--latency", type=float, default=0.05, help="seconds a reply takes")
    parser.add_argument("--in-flight", type=int, default=16)
    parser.add_argument("--seed", type=int, default=11, help="of data and moments")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark."""
    return run_benchmark("crash.service", __doc__, measure, arguments, add=add_options)


if __name__ == "__main__":
    raise SystemExit(main())
