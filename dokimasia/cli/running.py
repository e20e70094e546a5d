"""Run a method with a live line; the first Ctrl-C finishes the calls in flight, the second stops at once."""

import asyncio
import logging
import os
import shlex
import signal
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, TypeAlias

from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
from rich.progress import Progress as LiveProgress
from rich.table import Column

from dokimasia.cli.interrupts import end_interrupted
from dokimasia.cli.outcomes import RunOutcome
from dokimasia.cli.shared import home_options, say, say_error, stopping_signals
from dokimasia.errors import Interrupted, StorageError
from dokimasia.gateway.events import GatewayEvent, GatewayStats
from dokimasia.log import unguarded
from dokimasia.report.console import PrintableConsole
from dokimasia.report.figures import cost_text, several
from dokimasia.runs.estimate import Estimate
from dokimasia.runs.observer import Progress, Speed
from dokimasia.runs.outcome import End
from dokimasia.runs.reachability import Stop
from dokimasia.settings import Settings
from dokimasia.storage.home import Home
from dokimasia.storage.naming import Label, labels

if TYPE_CHECKING:
    from dokimasia.runs.lifecycle import RunResult

DATA_NOTE = "read "
"""The beginning of the note on the files of a new run, which is printed first, unchanged."""

ROOM_FOR_A_BAR = 110
"""The terminal width, in columns, below which the line has no bar, to leave room for spending and
the remaining time.
"""

PLAIN_EVERY = 180.0
"""Seconds of silence after which a run without a terminal prints a line, in addition to those of each step."""

PLAIN_STEPS = 10
"""The number of steps, each with a line, of a run without a terminal."""

PLAIN_FIRST = 5.0
"""The minimum number of seconds between two lines of steps; short runs print none."""
BRIEF = 60
"""The maximum number of characters of a failed try's reason on the line."""


class ProgressLine:
    """An observer that shows the progress of a run on a live line. Use it as a context manager around the run."""

    steps = None

    def __init__(self, method: str = "run") -> None:
        """Create a line, which appears when the run is planned; `method` is its label."""
        self.method = method
        self._console = PrintableConsole(file=unguarded(sys.stderr), highlight=False)
        self._live: LiveProgress | None = None
        self._started = time.monotonic()
        self._last_line = self._started
        self._step = 0
        self._to_send = 0
        self._speed = Speed()
        self._limits: dict[str, str] = {}
        self._failing: dict[str, str] = {}
        self.run_id = ""
        self.starts = False
        """Whether workers are being started."""
        self.begun = False
        """Whether workers were started or a model was asked, which an interruption has to clean up."""
        self.standing: Progress | None = None
        self.before = 0.0
        """US dollars that the run had spent on the service before it was resumed there."""

    def __enter__(self) -> "ProgressLine":
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    def planned(self, run_id: str, estimate: Estimate) -> None:
        """Print the run's id, its samples and its estimate, and start the live line."""
        remaining = estimate.remaining
        self.run_id, self._to_send = run_id, remaining.calls
        self._speed = Speed(to_send=self._to_send)
        cost = cost_text(remaining.cost, remaining.cost_known)
        models = ", ".join(f"{name} {model.calls}" for name, model in remaining.models.items() if model.calls)
        calls = several(remaining.calls, "call") + (" left" if estimate.answered else "")
        plan = f", about {calls} ({models}), estimated cost {cost}" if models else ""
        undecided = sum(model.calls for model in estimate.undecided.values())
        if undecided:
            plan += f"; at most {several(undecided, 'call')} more where no rule decides an answer"
        if estimate.answered:
            plan += f"; {several(estimate.answered, 'call')} made already"
        for name, count in estimate.people.items():
            plan += f"; at most {several(count, 'question')} to {name}"
        for note in estimate.notes:
            if note.startswith(DATA_NOTE):
                say(note)
        say(f"run {run_id}: {several(estimate.samples, 'sample')}{plan}; cached calls are not re-sent")
        for note in estimate.notes:
            if not note.startswith(DATA_NOTE):
                say(f"note: {note}")
        if self._console.is_terminal:
            self._live = LiveProgress(
                TextColumn("{task.description}"),
                *([BarColumn(bar_width=28)] if self._console.width >= ROOM_FOR_A_BAR else []),
                MofNCompleteColumn(),
                # if the line is too short, only the note is cut
                TextColumn("{task.fields[note]}", table_column=Column(ratio=1, no_wrap=True, overflow="ellipsis")),
                console=self._console,
                expand=True,
                transient=True,
                refresh_per_second=4,
            )
            self._live.add_task(self.method, total=None, note="")
            self._live.start()

    def starting(self, workers: int, address: str | None) -> None:
        """Print which workers are starting; the remaining time is estimated once they are ready."""
        self.starts = workers > 0
        if not workers:
            self._speed = Speed(to_send=self._to_send)
            return
        self.begun = True
        where = "this machine, which takes 5 to 30 seconds" if address is None else f"the cluster at {address}"
        say(f"starting {several(workers, 'worker')} by Ray on {where}")
        if address is None and workers > (cores := os.cpu_count() or workers):
            say(f"note: that is more than this machine's {several(cores, 'core')}, which they share")

    def progressed(self, progress: Progress) -> None:
        """Show the progress of the run."""
        self.standing = progress
        now = time.monotonic()
        self._speed.mark(progress)
        note = "waiting for workers" if self.starts else self._note(progress)
        if self._live is not None:
            task = self._live.task_ids[0]
            self._live.update(task, completed=progress.done, total=progress.items, note=note)
        elif self._is_due(progress, now - self._last_line):
            self._last_line = now
            say(f"{progress.done}/{progress.items} done · {note}")

    def _is_due(self, progress: Progress, silent: float) -> bool:
        """Return whether a run without a terminal prints a line after this many seconds of silence."""
        step = PLAIN_STEPS * progress.done // max(1, progress.items)
        if silent < PLAIN_EVERY and (silent < PLAIN_FIRST or step <= self._step):
            return False
        self._step = step
        return True

    def happened(self, event: GatewayEvent) -> None:
        """Remember reasons for changed limits and failed tries for the line, and log the event."""
        from dokimasia.log import logger

        self.begun = True
        if event.kind == "limit":
            self._limits[event.endpoint] = event.reason
        elif event.kind == "failed_try":
            next_try = "" if event.delay is None else f", next try in {event.delay:.0f} s"
            self._failing[event.model] = f"try {event.number}: {_brief(event.reason)}{next_try}"
        elif event.kind == "answered":
            self._failing.pop(event.model, None)
        level = logging.INFO if event.kind in {"limit", "gave_up", "left", "failed_try", "draining"} else logging.DEBUG
        if logging.getLogger(__name__).isEnabledFor(level):
            usual = {"kind": event.kind, **event._field_defaults}
            fields = {name: value for name, value in event._asdict().items() if value != usual[name]}
            logger(__name__).log(level, event.kind, **fields)

    def failed(self, item: str, model: str, kind: str, reason: str) -> None:
        """Do nothing: failures are counted in the progress, and logged."""

    def became(self, status: str, *, end: str = "", why: str = "") -> None:
        """Do nothing: the command prints at its end how the run ended."""

    def paid(self) -> str:
        """Return a sentence on the calls of this invocation and their cost."""
        if self.standing is None:
            return "nothing was asked: the run was complete"
        stats = self.standing.stats
        calls = f"{several(stats.answered, 'call')} answered by models, {stats.cached} by the ledger"
        tries = f", {several(stats.failed_tries, 'try', 'tries')} failed" if stats.failed_tries else ""
        earlier = f" ({cost_text(self.before)} of it before the run went on)" if self.before else ""
        return f"{calls}{tries}; cost {self._spent(stats)}{earlier}, took {time.monotonic() - self._started:.1f} s"

    def _note(self, progress: Progress) -> str:
        stats = progress.stats
        rate, seconds_left = self._speed.of(progress)
        undecided = progress.failures.get("undecided", 0)
        failures = sum(progress.failures.values()) - undecided
        parts = [
            f"{rate:.1f} calls/s",
            *([f"{stats.cached:,} by the ledger"] if stats.cached else []),
            f"{sum(stats.in_flight.values())} in flight",
            f"{failures} failed",
            *([f"{undecided} undecided"] if undecided else []),
            *([f"{several(progress.waiting_items, 'item')} waiting for people"] if progress.waiting_items else []),
            *([f"{several(progress.unpaid_items, 'item')} beyond the budget"] if progress.unpaid_items else []),
            *([f"{several(stats.waiting, 'question')} to people"] if stats.waiting else []),
            *([f"{several(stats.failed_tries, 'try', 'tries')} failed"] if stats.failed_tries else []),
            *([f"spent {self._spent(stats)}"] if stats.answered or self.before else []),
            *([] if seconds_left is None else [f"left {_clock(seconds_left)}"]),
            *(f"{model} does not answer ({why})" for model, why in sorted(self._failing.items())),
            *(f"requests at a time to {endpoint}: {reason}" for endpoint, reason in sorted(self._limits.items())),
        ]
        return " · ".join(parts)

    def _spent(self, stats: GatewayStats) -> str:
        """Return the known cost of answers as text."""
        known_cost = self.before + stats.cost
        if stats.cost_unknown and not known_cost:
            return f"an unknown amount ({several(stats.cost_unknown, 'call')} of unknown cost)"
        return cost_text(None if stats.cost_unknown else known_cost, known_cost)


def _brief(reason: str) -> str:
    """Return the beginning of a reason, on one line."""
    line = " ".join(reason.split())
    if len(line) <= BRIEF:
        return line
    return f"{line[: BRIEF - 1]}…"


def _clock(seconds: float) -> str:
    minutes, remaining = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}:{minutes:02}:{remaining:02}"
    return f"{minutes}:{remaining:02}"


EXIT_CODES: dict[End, int] = {"complete": 0, "failures": 3, "spending": 4, "below": 5, "waiting": 6}
"""Exit codes by the end of a run; errors have their own: 1 internal, 2 the user's, 130 interrupted."""

STARTS = "stopping once Ray has started or let this process in, in some 10 seconds; Ctrl-C again does not shorten that"
"""The message on Ctrl-C while workers are starting."""

NOT_BEGUN = "no model was asked yet; the same command begins again"
"""The message on Ctrl-C before there is a run to resume, or anything was sent."""

Work: TypeAlias = "Callable[..., Awaitable[RunResult]]"
"""A function that carries out a run, given `settings`, `observer` and `stop`, and returns a `RunResult`."""


def run_to_end(work: Work, settings: Settings, *, method: str = "run", worker_flags: str = "") -> "RunResult":
    """Carry out a run under signal handlers and a progress line, and print what was paid.

    `method` labels the line; `worker_flags` are repeated in the command that resumes the run.

    Raises:
        Interrupted: after Ctrl-C or SIGTERM; the message has the command that resumes the run.
    """
    stop = Stop()
    interrupts = 0

    def handle_signal(*_: object) -> None:
        if line.begun:
            loop.call_soon_threadsafe(interrupt)
            return
        line.__exit__()  # restores the terminal's cursor
        end_interrupted(f"interrupted: {NOT_BEGUN}")

    def interrupt() -> None:
        nonlocal interrupts
        interrupts += 1
        if interrupts == 1:
            stop.ask()
            say(f"\n{STARTS if line.starts else 'finishing the calls in flight; Ctrl-C again stops at once'}")
        else:
            stop.ask(at_once=True)
            task.cancel()

    with ProgressLine(method) as line:
        try:
            with asyncio.Runner() as runner:
                loop = runner.get_loop()
                task = asyncio.ensure_future(work(settings=settings, observer=line, stop=stop), loop=loop)
                with _signals_handled(handle_signal):
                    result = loop.run_until_complete(task)
        except (Interrupted, KeyboardInterrupt, asyncio.CancelledError) as interruption:
            if isinstance(interruption, asyncio.CancelledError) and not interrupts:
                raise
            if not line.run_id:
                raise Interrupted(NOT_BEGUN) from None
            if line.standing is not None:
                say(line.paid())
            options = home_options(settings) + worker_flags
            raise run_interrupted(_name_of(line.run_id, settings), options, line.standing) from None
    say(line.paid())
    return result


def run_interrupted(run: str, options: str, progress: Progress | None) -> Interrupted:
    """Return the error of an interrupted run: what is kept of it, and the command that resumes it.

    Args:
        run: the run's name, or its id if it has none.
        options: the options by which the command finds the run.
        progress: the run's progress; None if unknown.
    """
    results = "" if progress is None else f"{progress.done:,} of {several(progress.items, 'result')} and "
    resume = f"dokimasia resume {shlex.quote(run)}{options}"
    return Interrupted(f"run {run} keeps {results}every answered call. Continue with: {resume}")


def _name_of(run: str, settings: Settings) -> str:
    with suppress(StorageError), Home.open(settings.home, write=False) as home:
        return labels(home).get(run, Label()).name or run
    return run


@contextmanager
def _signals_handled(handler: Callable[..., None]) -> Iterator[None]:
    """Handle the signals that end a command in a `with` block; outside the main thread, change nothing."""
    before: dict[int, signal.Handlers | Callable[..., object] | int | None] = {}
    with suppress(ValueError):
        for number in stopping_signals():
            before[number] = signal.signal(number, handler)
    try:
        yield
    finally:
        for number, former in before.items():
            signal.signal(number, former)


def exit_code(outcome: RunOutcome, where: str) -> int:
    """Print why a run did not end as wanted, after its results, and return the exit code.

    `where` are the options for another command to find the same home or service.
    """
    if outcome.end == "spending":
        say(f"{outcome.why}. Continue with: dokimasia resume {outcome.run}{where} (with a larger limit, or none)")
    elif outcome.end == "waiting":
        check_command = f"dokimasia decide {outcome.run}"
        say(f"run {outcome.run}: {outcome.why.replace(check_command, check_command + where)}")
    elif outcome.why:
        resume_command = f"dokimasia resume {outcome.run}"
        say_error(f"run {outcome.run}: {outcome.why.replace(resume_command, resume_command + where)}")
    return EXIT_CODES[outcome.end]
