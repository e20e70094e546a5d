"""What the queue notes of a run at work: what it has spent there, and that it has begun."""

import time
from collections.abc import Callable
from typing import Any

from dokimasia.gateway.events import GatewayEvent
from dokimasia.log import logger
from dokimasia.runs.estimate import Estimate
from dokimasia.runs.observer import Observer, Progress
from dokimasia.storage.home import Home
from dokimasia.storage.threads import Queued, note_in_queue

EVERY = 1.0
"""Seconds between two notes of what a run has spent."""


class Watch:
    """An observer that notes what a run in the queue spends, and tells another one all that it is told.

    What the other raises is logged and stops nothing.
    """

    def __init__(self, home: Home, queued: Queued, observer: Observer) -> None:
        """Note it in the home, from what the run has spent there before."""
        self._home = home
        self._before = queued
        self._observer = observer
        self._noted = time.monotonic()
        self.queued = queued
        self.steps = observer.steps

    def planned(self, run_id: str, estimate: Estimate) -> None:
        """The run has begun: what was to be asked anew is open from now on, and is not opened a second time."""
        if self.queued.retry:
            self.queued = self.queued.model_copy(update={"retry": ()})
            note_in_queue(self._home, self.queued, "retry")
        self._tell(self._observer.became, "running")
        self._tell(self._observer.planned, run_id, estimate)

    def starting(self, workers: int, address: str | None) -> None:
        """Pass it on."""
        self._tell(self._observer.starting, workers, address)

    def progressed(self, progress: Progress) -> None:
        """Note what is spent."""
        stats, before = progress.stats, self._before
        tokens = before.tokens + stats.input_tokens + stats.output_tokens
        spent = {"cost": before.cost + stats.cost, "calls": before.calls + stats.sent, "tokens": tokens}
        self.queued = self.queued.model_copy(update=spent)
        if time.monotonic() - self._noted >= EVERY:
            self._note()
        self._tell(self._observer.progressed, progress)

    def happened(self, event: GatewayEvent) -> None:
        """Pass it on."""
        self._tell(self._observer.happened, event)

    def failed(self, item: str, model: str, kind: str, reason: str) -> None:
        """Pass it on."""
        self._tell(self._observer.failed, item, model, kind, reason)

    def became(self, status: str, *, end: str = "", why: str = "") -> None:
        """Note what was spent at last, and pass it on."""
        self._note()
        self._tell(self._observer.became, status, end=end, why=why)

    def _note(self) -> None:
        self._noted = time.monotonic()
        note_in_queue(self._home, self.queued, "cost", "calls", "tokens")

    def _tell(self, what: Callable[..., None], *arguments: Any, **named: Any) -> None:
        try:
            what(*arguments, **named)
        except Exception as problem:  # whoever watches a run never stops it
            logger(__name__).error("an observer failed", run=self.queued.id, exc_info=problem)
