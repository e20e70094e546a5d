"""How far a run is: a live line on a terminal, plain lines elsewhere; always on standard error."""

import logging
import os
import sys
import time

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Column

from dokimasia.cli.shared import say
from dokimasia.gateway.events import GatewayEvent, GatewayStats
from dokimasia.log import unguarded
from dokimasia.report.console import PrintableConsole
from dokimasia.report.figures import cost_text, several
from dokimasia.runs.estimate import Estimate
from dokimasia.runs.observer import Progress as Standing
from dokimasia.runs.observer import Speed

ROOM_FOR_A_BAR = 110
"""Columns below which the line has no bar, so that what is spent and left can be read."""

PLAIN_EVERY = 5.0
BRIEF = 60
"""Characters of a failed try's reason that the line shows."""


class ProgressLine:
    """An observer that shows what it is told. Use it as a context manager around the run."""

    steps = None

    def __init__(self, method: str = "run") -> None:
        """Make a display, which begins when the run is planned; `method` says what is at work."""
        self.method = method
        self._console = PrintableConsole(file=unguarded(sys.stderr), highlight=False)
        self._live: Progress | None = None
        self._started = time.monotonic()
        self._last_line = self._started
        self._speed = Speed()
        self._limits: dict[str, str] = {}
        self._failing: dict[str, str] = {}
        self.run_id = ""
        self.starts = False
        """Whether workers are just being started."""
        self.standing: Standing | None = None
        self.before = 0.0
        """US dollars that the run has spent already in the service that works on it, before it went on there."""

    def __enter__(self) -> "ProgressLine":
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    def planned(self, run_id: str, estimate: Estimate) -> None:
        """Say which run this is and what it may come to."""
        self.run_id, self._speed = run_id, Speed()
        cost = cost_text(estimate.cost, estimate.cost_known)
        models = ", ".join(f"{name} {one.calls}" for name, one in estimate.models.items())
        asked = f", about {several(estimate.calls, 'call')} ({models}), estimated cost {cost}" if models else ""
        if estimate.answered:
            asked += f"; at least {estimate.answered:,} of them answered already, at most about {estimate.left:,} left"
        for name, count in estimate.people.items():
            asked += f"; at most {several(count, 'question')} to {name}"
        say(f"run {run_id}: {several(estimate.samples, 'sample')}{asked}; what the ledger has is not asked again")
        for note in estimate.notes:
            say(f"note: {note}")
        if self._console.is_terminal:
            self._live = Progress(
                TextColumn("{task.description}"),
                *([BarColumn(bar_width=28)] if self._console.width >= ROOM_FOR_A_BAR else []),
                MofNCompleteColumn(),
                # the note is cut where the line is too short for all, and nothing else
                TextColumn("{task.fields[note]}", table_column=Column(ratio=1, no_wrap=True, overflow="ellipsis")),
                console=self._console,
                expand=True,
                transient=True,
                refresh_per_second=4,
            )
            self._live.add_task(self.method, total=None, note="")
            self._live.start()

    def starting(self, workers: int, address: str | None) -> None:
        """Say what is waited for; a time left is reckoned from the moment in which it is there."""
        self.starts = workers > 0
        if not workers:
            self._speed = Speed()
            return
        where = "this machine, which takes 5 to 30 seconds" if address is None else f"the cluster at {address}"
        say(f"starting {several(workers, 'worker')} by Ray on {where}")
        if address is None and workers > (cores := os.cpu_count() or workers):
            say(f"note: that is more than this machine's {several(cores, 'core')}, which they share")

    def progressed(self, progress: Standing) -> None:
        """Show where the run stands."""
        self.standing = progress
        now = time.monotonic()
        self._speed.mark(progress)
        note = "waiting for workers" if self.starts else self._note(progress)
        if self._live is not None:
            task = self._live.task_ids[0]
            self._live.update(task, completed=progress.done, total=progress.items, note=note)
        elif now - self._last_line >= PLAIN_EVERY:
            self._last_line = now
            say(f"{progress.done}/{progress.items} done · {note}")

    def happened(self, event: GatewayEvent) -> None:
        """Remember why a limit changed, and what fails at models that do not answer; everything else is in the log."""
        from dokimasia.log import logger

        if event.kind == "limit":
            self._limits[event.endpoint] = event.reason
        elif event.kind == "failed_try":
            again = "" if event.delay is None else f", next try in {event.delay:.0f} s"
            self._failing[event.model] = f"try {event.number}: {_brief(event.reason)}{again}"
        elif event.kind == "answered":
            self._failing.pop(event.model, None)
        level = logging.INFO if event.kind in {"limit", "gave_up", "left", "failed_try", "draining"} else logging.DEBUG
        if logging.getLogger(__name__).isEnabledFor(level):
            usual = {"kind": event.kind, **event._field_defaults}
            fields = {name: said for name, said in event._asdict().items() if said != usual[name]}
            logger(__name__).log(level, event.kind, **fields)

    def failed(self, item: str, model: str, kind: str, reason: str) -> None:
        """Say nothing: it is counted, and the log has it."""

    def became(self, status: str, *, end: str = "", why: str = "") -> None:
        """Say nothing: the command says at its end how the run ended."""

    def paid(self) -> str:
        """Return a sentence on what this invocation sent and paid."""
        if self.standing is None:
            return "nothing was asked: the run was complete"
        stats = self.standing.stats
        sent = f"{several(stats.answered, 'call')} answered by models, {stats.cached} by the ledger"
        tries = f", {several(stats.failed_tries, 'try', 'tries')} failed" if stats.failed_tries else ""
        earlier = f" ({cost_text(self.before)} of it before the run went on)" if self.before else ""
        return f"{sent}{tries}; paid now: {self._spent(stats)}{earlier} in {time.monotonic() - self._started:.1f} s"

    def _note(self, progress: Standing) -> str:
        stats = progress.stats
        rate, left = self._speed.of(progress)
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
            *([] if left is None else [f"left {_clock(left)}"]),
            *(f"{model} does not answer ({why})" for model, why in sorted(self._failing.items())),
            *(f"limit of {endpoint} {reason}" for endpoint, reason in sorted(self._limits.items())),
        ]
        return " · ".join(parts)

    def _spent(self, stats: GatewayStats) -> str:
        """Return what answers cost, as far as it is known."""
        known = self.before + stats.cost
        if stats.cost_unknown and not known:
            return f"an unknown amount ({several(stats.cost_unknown, 'call')} of unknown cost)"
        return cost_text(None if stats.cost_unknown else known, known)


def _brief(reason: str) -> str:
    """Return the beginning of a reason, on one line."""
    line = " ".join(reason.split())
    return line if len(line) <= BRIEF else f"{line[: BRIEF - 1]}…"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
