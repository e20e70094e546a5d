"""Runs walked by workers on three simulated nodes, whose workers, driver and nodes are killed, against one never killed.

A worker, or the driver, is killed at a random moment by SIGKILL, a node with all that is on it by its manager's. Others
take the place of workers and nodes by themselves; a driver is started again on the same home, with another number of
workers, or with none where nothing else is killed any more. At each death it is taken down which calls are committed; the
server's log says whether one of them was sent again after it. Each start of the driver has a limit on calls or on money,
and is followed by another where that is spent; in every other run one model has a limit a minute. The server's log says
when each request came and ended, and with it whether these limits were kept, and that on what is in flight.
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
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.cluster import Nodes, nodes_of
from benchmarks.command import ROOT, BenchmarkFailed, Options, run_benchmark, say, scratch, sized
from benchmarks.crash.__main__ import MODEL, Findings, Scene, compare_with_earlier, server_of, until, verify
from benchmarks.crash.evidence import Evidence, Requests, ServerLog, committed, read_evidence, spent_before, take_copy
from benchmarks.crash.limits import Kept, Line, Start, cost_of, kept
from benchmarks.figures import Figure, Report
from dokimasia.simulation.world import write_world

WORKERS = (2, 3, 4)
"""As many workers a driver is started with."""

MODELS = {"J": "judge-noisy", "A": "strong", "B": "weak"}
PACED = "B"
"""The model with a limit a minute in every other run."""

MINUTES = 0.4
"""The share of that model's requests that a minute may have."""

PRICES = (1.0, 4.0)
"""Dollars per million tokens, as `MODEL` says."""

SHARES = (0.1, 0.5)
"""Between these shares of a run's calls, or of its money, lies what a start of the driver may spend."""

SPENT = 4
"""The exit code of a driver that came to its limit."""


class Death(NamedTuple):
    """What was killed when, and what was committed then."""

    what: str
    at: float
    evidence: Evidence


class Whole(NamedTuple):
    """The run that nobody killed: what it committed and printed, how many requests it made, and what they cost."""

    evidence: Evidence
    figures: Any
    requests: int
    cost: float


def measure(options: Options) -> Report:
    """Run once without a kill in one process, then kill runs of the same on the cluster, and compare."""
    runs = options.runs or sized(options, quick=1, usual=2, full=10)
    sizes = {
        "worker": options.workers if options.workers is not None else sized(options, quick=3, usual=20, full=100),
        "driver": options.drivers if options.drivers is not None else sized(options, quick=1, usual=4, full=20),
        "node": options.nodes if options.nodes is not None else sized(options, quick=1, usual=2, full=10),
    }
    samples = options.samples or sized(options, quick=30, usual=100)
    rpm = max(2, round(MINUTES * samples))
    findings, found = Findings(), list[Kept]()
    with scratch() as folder, server_of(folder, options.latency) as url, nodes_of(options.seed) as nodes:
        write_world(folder / "world.jsonl", samples, options.seed)
        scene = Scene(folder, ServerLog(folder / "server.log"), options.latency, random.Random(options.seed))
        _configure(folder, url, options.in_flight, 0)
        say(f"a run of {samples} samples that nobody kills")
        figures = scene.to_the_end(folder / "whole")
        evidence = read_evidence(take_copy(folder / "whole", folder / "copy"))
        lines = scene.log.new_lines()
        whole = Whole(evidence, figures, len(lines), sum(cost_of(lines, PRICES)))
        number = 0
        while left := Counter(sizes) - findings.kills:
            number += 1
            share = max(1, runs + 1 - number)  # what a run's end forestalled is left to one more
            deaths = [what for what, times in left.items() for _ in range(-(-times // share))]
            scene.randomness.shuffle(deaths)
            if number % 2 and "driver" in deaths:  # what is left then is done by a driver alone
                deaths.remove("driver")
                deaths.append("driver")
            paced = rpm if number % 2 else 0
            _configure(folder, url, options.in_flight, paced)
            began = time.monotonic()
            found.append(_killed_run(scene, nodes, folder / f"killed{number}", deaths, whole, findings, paced))
            say(f"run {number} ({time.monotonic() - began:.0f} s): {dict(findings.kills)}, {found[-1]}")
            if number > 3 * runs:
                raise BenchmarkFailed("runs end before they are killed; take more samples")
    most = findings.kills.total() * options.in_flight
    dearest = max(cost_of(lines, PRICES))
    report = (
        *(Figure(f"kills: {what}", findings.kills[what], target=times, must=True) for what, times in sizes.items()),
        _none("committed calls sent again", findings.resent),
        _none("calls or results lost", findings.lost),
        _none("calls or results changed", findings.changed),
        _none("databases damaged", findings.damaged),
        _none("results other than those of the unkilled run", findings.differing),
        _most("requests more than an unkilled run's", findings.requests - findings.ended * whole.requests, most),
        _most("requests at once, without orphans", max(one.at_once for one in found), options.in_flight),
        Figure("requests at once, with orphans", max(one.at_once_in_all for one in found)),
        Figure("orphans: requests whose client was killed", sum(one.orphans for one in found)),
        Figure(f"requests a minute of a model that may have {rpm}", max(one.a_minute for one in found[::2])),
        _most("requests a minute beyond what may be", max(one.over_minute for one in found), 0),
        _most("calls beyond a start's --max-calls", max(one.over_calls for one in found), 0),
        _most("dollars beyond a start's --max-cost", max(one.over_cost for one in found), options.in_flight * dearest),
        Figure("starts that came to their limit", sum(one.spent for one in found)),
        Figure("runs", findings.ended),
    )
    notes = (f"{samples} samples, {len(evidence.calls):,} calls a run, {options.in_flight} in flight.", *findings.said)
    return Report("crash.workers", report, (), notes)


def _none(what: str, value: float) -> Figure:
    return Figure(what, value, target=0, rule="exactly", must=True)


def _most(what: str, value: float, most: float) -> Figure:
    return Figure(what, value, target=most, rule="at most", must=True)


def _configure(folder: Path, url: str, in_flight: int, rpm: int) -> None:
    """Write the configuration, with a limit a minute for one model unless it is 0."""
    tables = [
        MODEL.format(name=name, model=of, url=url, concurrency=in_flight)
        + (f"rpm = {rpm}\n" if rpm and name == PACED else "")
        for name, of in MODELS.items()
    ]
    (folder / "dokimasia.toml").write_text("".join(tables))


def _killed_run(
    scene: Scene, nodes: Nodes, home: Path, deaths: list[str], whole: Whole, findings: Findings, rpm: int
) -> Kept:
    """Have a run suffer these deaths over its whole length, let it end, and compare it with the unkilled one."""
    total, taken = len(whole.evidence.calls), list[Death]()
    driver = Driver(scene, home, nodes, whole)
    for place, what in enumerate(deaths):
        share = (place + 1 + scene.randomness.uniform(-0.3, 0.3)) / (len(deaths) + 1)
        driver.until(lambda share=share: committed(home) >= share * total)
        if what == "worker":
            driver.until(lambda: bool(nodes.workers()))
        if driver.done:
            break
        if what == "driver":
            driver.kill()
            at = time.monotonic()
            taken.append(Death(what, at, read_evidence(take_copy(home, scene.folder / "copy"))))
            nodes.forsake()
            driver.start(alone=place == len(deaths) - 1)
        else:
            evidence = calls_of(home)
            taken.append(Death(what, time.monotonic(), evidence))
            if what == "node":
                nodes.kill()
                nodes.replaced()
            else:
                with suppress(ProcessLookupError):  # it has died by itself meanwhile
                    os.kill(scene.randomness.choice(nodes.workers()), signal.SIGKILL)
        findings.kills[what] += 1
    printed = driver.to_the_end()
    time.sleep(scene.latency + 0.2)  # what the server still had in hand is written to its log
    lines = scene.log.new_lines()
    after = read_evidence(take_copy(home, scene.folder / "copy"))
    findings.ended += 1
    findings.requests += len(lines)
    _look_for_repeats(taken, lines, after, home, findings)
    results = whole.evidence.results
    differing = {one for one in results.keys() | after.results.keys() if results.get(one) != after.results.get(one)}
    if differing or printed != whole.figures:
        findings.differing += max(1, len(differing))
        findings.note(f"{home.name} differs from the unkilled run: {sorted(differing)[:5] or 'in the printed figures'}")
    verify(home, findings)
    return kept(lines, driver.starts, prices=PRICES, paced=f"sim/{MODELS[PACED]}", rpm=rpm)


def _look_for_repeats(
    deaths: Sequence[Death], lines: Sequence[Line], after: Evidence, home: Path, findings: Findings
) -> None:
    """Count what was committed at a death and is gone, is otherwise, or was asked again after it."""
    names = Requests()
    for death in deaths:
        compare_with_earlier(death.evidence, after, findings, f"{home.name}, since the death of a {death.what}")
        done = names.named(death.evidence.calls, home)
        if again := done & {line["request"] for line in lines if line["began"] > death.at}:
            findings.resent += len(again)
            findings.note(f"{home.name}: {len(again)} calls were sent again after the death of a {death.what}")
        if missing := done - {line["request"] for line in lines}:
            raise BenchmarkFailed(f"{len(missing)} committed calls are not in the server's log: it proves nothing")


def calls_of(home: Path) -> Evidence:
    """Return the committed calls of a home that is at work."""
    import sqlite3

    connection = sqlite3.connect(f"file:{home / 'dokimasia.db'}?mode=ro", uri=True)
    try:
        return Evidence(dict(connection.execute("SELECT key, reply_digest FROM calls")), {}, ())
    finally:
        connection.close()


class Driver:
    """The program at work on a home, started as often as it takes, with workers on the cluster or with none."""

    def __init__(self, scene: Scene, home: Path, nodes: Nodes, whole: Whole | None, *, workers: int = 0) -> None:
        """Start it; without a `whole` to share out nothing limits it, and with `workers` it always has so many."""
        self._scene, self._home, self._nodes, self._whole, self._workers = scene, home, nodes, whole, workers
        self._out, self._err = scene.folder / "out", scene.folder / "err"
        self.starts: list[Start] = []
        self._alone = False
        self.start()

    def start(self, *, alone: bool = False) -> None:
        """Start it, with a limit on calls or on money; `alone`: from now on without workers."""
        self._alone = self._alone or alone
        far = [
            "--workers",
            str(self._workers or self._scene.randomness.choice(WORKERS)),
            "--address",
            self._nodes.address,
        ]
        spend = [] if self._whole is None else self._limited(self._whole)
        command = [sys.executable, "-m", "dokimasia", *self._scene.arguments(self._home), *spend]
        with self._out.open("wb") as out, self._err.open("wb") as err:
            self._process = subprocess.Popen(
                [*command, *([] if self._alone else far)], cwd=ROOT, stdout=out, stderr=err
            )

    def _limited(self, whole: Whole) -> list[str]:
        """Return a limit that leaves this start a share of the whole: limits count what the run spent before, too."""
        share, (calls, cost) = self._scene.randomness.uniform(*SHARES), spent_before(self._home)
        if len(self.starts) % 2:
            more = round(share * whole.cost, 6)
            self.starts.append(Start(time.monotonic(), cost=more))
            return ["--max-cost", str(round(cost + more, 6))]
        more = round(share * whole.requests)
        self.starts.append(Start(time.monotonic(), calls=more))
        return ["--max-calls", str(calls + more)]

    @property
    def done(self) -> bool:
        """Whether it came to its end; one that came to its limit is started again."""
        code = self._process.poll()
        if code == SPENT:
            self._nodes.forsake()
            self.start()
        elif code:
            raise BenchmarkFailed(f"a driver ended with {code}: {self._err.read_text()[-2000:]}")
        return code == 0

    def until(self, reached: Callable[[], bool]) -> None:
        """Wait until something holds, or it has ended, as long as it goes on."""
        while not (reached() or self.done):
            before = self._state
            until(lambda before=before: reached() or self.done or self._state != before, "go on")

    @property
    def _state(self) -> tuple[int, int]:
        return committed(self._home), len(self.starts)

    def kill(self) -> None:
        """Kill it."""
        self._process.kill()
        self._process.wait()

    def to_the_end(self) -> Any:
        """Return the figures that it prints at its end."""
        self.until(lambda: False)
        printed = self._out.read_text()
        try:
            return json.loads(printed)
        except ValueError:
            raise BenchmarkFailed(
                f"a driver printed no figures: {printed[:500]!r}; {self._err.read_text()[-500:]}"
            ) from None


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
