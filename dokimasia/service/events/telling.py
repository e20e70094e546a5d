"""The observer of a run in the service: puts what it is told into the run's log, without secrets."""

import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from dokimasia.gateway.events import GatewayEvent, GatewayStats
from dokimasia.graphs.steps import GraphOutline as Drawn
from dokimasia.graphs.steps import Step
from dokimasia.runs.estimate import Estimate
from dokimasia.runs.observer import Progress, Speed
from dokimasia.service.events.log import Log
from dokimasia.service.events.picture import Picture
from dokimasia.storage.values import now

EVERY = 1.0
"""Seconds between two events of progress."""

POINTS = 120
"""Numbers of the line that shows how fast a run went."""

LONGEST = 300
"""Characters of a reason."""

STOPPED = frozenset({"done", "failed", "interrupted"})
"""Statuses in which a run stays until somebody asks for more."""

TOTALS = ("sent", "answered", "cached", "failed_tries", "input_tokens", "output_tokens", "cost")


class Rates:
    """How fast a run went from its beginning on, at even distances: at most `POINTS` numbers, however long it goes on."""

    def __init__(self) -> None:
        """Begin."""
        self._stride, self._seen = 1, 0
        self._kept: list[float] = []

    def add(self, rate: float) -> list[float]:
        """Take a rate down, where it is its turn, and return those that are kept and this one."""
        if self._seen % self._stride == 0:
            if len(self._kept) == POINTS:
                self._kept, self._stride = self._kept[::2], 2 * self._stride
            self._kept.append(rate)
        self._seen += 1
        return [*self._kept, rate]


class Telling:
    """Watches a run while it is in the queue and at work; for one event loop."""

    def __init__(
        self,
        log: Log,
        *,
        redact: Callable[[str], str],
        begins: Callable[[], dict[str, Any]],
        stands: Callable[[Picture, int], None],
        totals: Counter[str],
    ) -> None:
        """Watch.

        Args:
            log: the run's.
            redact: takes secrets out of a text.
            begins: returns what is known of the run when its work begins: what failed before, and what it may spend.
            stands: keeps the picture of a run whose status changed, and the id of its last event.
            totals: what all runs of the process have sent and spent, counted on.
        """
        self._log = log
        self._redact = redact
        self._begins = begins
        self._stands = stands
        self._totals = totals
        self._counted = GatewayStats()
        self._progress: Progress | None = None
        self._told = float("-inf")
        self._speed = Speed()
        self._failing: dict[str, str] = {}
        self._steps: dict[str, dict[str, Counter[Step]]] = {}
        self._rates = Rates()

    @property
    def steps(self) -> "Telling":
        """Itself: each step is counted."""
        return self

    def planned(self, run_id: str, estimate: Estimate) -> None:
        """The work begins."""
        self._speed, self._rates = Speed(), Rates()
        models = {name: {"calls": one.calls, "cost": one.cost} for name, one in estimate.models.items()}
        told = {
            "samples": estimate.samples,
            "calls": estimate.calls,
            "answered": estimate.answered,
            "cost": estimate.cost,
            "models": models,
            "notes": [self._said(note) for note in estimate.notes],
        }
        self._log.add("planned", told | self._begins())

    def starting(self, workers: int, address: str | None) -> None:
        """Tell that so many workers are waited for; none: no longer."""
        self._log.add("starting", {"workers": workers})

    def progressed(self, progress: Progress) -> None:
        """Tell how far it is, once a second."""
        self._progress = progress
        self._speed.mark(progress)
        self._count(progress.stats)
        if time.monotonic() - self._told >= EVERY:
            self._tell()

    def happened(self, event: GatewayEvent) -> None:
        """Tell a changed limit; remember what fails at models that do not answer."""
        if event.kind == "limit":
            limit = {"endpoint": event.endpoint, "limit": event.limit, "reason": self._said(event.reason), "at": now()}
            self._log.add("limit", limit)
        elif event.kind == "failed_try":
            self._failing[event.model] = self._said(event.reason)
        elif event.kind == "answered" and self._failing:
            self._failing.pop(event.model, None)

    def failed(self, item: str, model: str, kind: str, reason: str) -> None:
        """Tell a failure."""
        told = {"kind": kind, "model": model, "item": item, "reason": self._said(reason), "at": now()}
        self._log.add("failure", told)

    def became(self, status: str, *, end: str = "", why: str = "") -> None:
        """Tell the run's status, and its end where it has come to one."""
        told = {"status": status, "end": end, "why": self._said(why), "at": now()}
        if self._progress is not None:
            self._tell()
            self._progress = None
        if status not in ("queued", "running") or (self._log.picture["status"] or {}).get("status") != status:
            self._log.add("status", told)
        if status in STOPPED:
            self._log.add("ended", told)
        self._stands(self._log.picture, self._log.last)

    def drawn(self, picture: Drawn) -> None:
        """Tell a graph's nodes and edges."""
        self._steps.setdefault(picture.name, {})
        self._log.add("graph", picture.model_dump(mode="json"))

    def stepped(self, graph: str, node: str, item: str, what: Step) -> None:
        """Count a step."""
        self._steps.setdefault(graph, {}).setdefault(node, Counter())[what] += 1

    def _tell(self) -> None:
        progress = self._progress
        if progress is None:
            return
        self._told = time.monotonic()
        stats = progress.stats
        rate, left = self._speed.of(progress)
        told = {
            "items": progress.items,
            "done": progress.done,
            "restored": progress.restored,
            "failures": dict(progress.failures),
            "waiting_items": progress.waiting_items,
            "unpaid_items": progress.unpaid_items,
            "rate": round(rate, 2),
            "rates": self._rates.add(round(rate, 2)),
            "left": None if left is None else round(left, 1),
            "failing": dict(self._failing),
            "at": now("milliseconds"),
            **stats.model_dump(mode="json"),
        }
        if self._steps:
            self._log.add("steps", {name: _counts(nodes) for name, nodes in self._steps.items()})
        self._log.add("progress", told)

    def _count(self, stats: GatewayStats) -> None:
        for name in TOTALS:
            self._totals[name] += getattr(stats, name) - getattr(self._counted, name)
        self._counted = stats

    def _said(self, text: str) -> str:
        line = self._redact(" ".join(text.split()))
        return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


def _counts(nodes: dict[str, Counter[Step]]) -> dict[str, dict[str, int]]:
    """Return by node how many items are at it, and how they left it."""
    return {
        node: {
            "at_work": max(0, told["began"] - told["ended"] - told["failed"] - told["stopped"]),
            "ended": told["ended"],
            "failed": told["failed"],
            "stopped": told["stopped"],
        }
        for node, told in nodes.items()
    }
