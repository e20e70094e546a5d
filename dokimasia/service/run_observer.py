"""The observer of a run in the service, which adds events to the run's log, without secrets."""

import time
from collections import Counter
from collections.abc import Callable

from dokimasia.gateway.events import GatewayEvent, GatewayStats
from dokimasia.graphs.steps import GraphOutline, Step
from dokimasia.runs.estimate import Estimate
from dokimasia.runs.observer import Progress, Speed
from dokimasia.service.event_log import FailureEvent, LimitEvent, Log, PlannedEvent, RunPicture, StatusEvent
from dokimasia.storage.values import now

PROGRESS_INTERVAL = 1.0
"""Seconds between two events of progress."""

POINTS = 120
"""Maximum number of points on the speed chart of a run."""

LONGEST = 300
"""Maximum number of characters of a reason."""

STOPPED = frozenset({"done", "failed", "interrupted"})
"""Statuses that do not change without an action."""

TOTALS = ("sent", "answered", "cached", "failed_tries", "input_tokens", "output_tokens", "cost")


class SpeedHistory:
    """The speed of a run at even intervals since its start: at most `POINTS` numbers, however long the run takes."""

    def __init__(self) -> None:
        """Start without any rate."""
        self._stride, self._count = 1, 0
        self._rates: list[float] = []

    def add(self, rate: float) -> list[float]:
        """Record a rate if the interval has passed, and return the recorded rates and this one."""
        if self._count % self._stride == 0:
            if len(self._rates) == POINTS:
                self._rates, self._stride = self._rates[::2], 2 * self._stride
            self._rates.append(rate)
        self._count += 1
        return [*self._rates, rate]


class RunObserver:
    """Observes a run while it is queued and at work; for one event loop."""

    def __init__(
        self,
        log: Log,
        *,
        redact: Callable[[str], str],
        facts_at_start: Callable[[], dict[str, object]],
        save_picture: Callable[[RunPicture, int], None],
        totals: Counter[str],
    ) -> None:
        """Create an observer.

        Args:
            log: the log of the run.
            redact: removes secrets from a text.
            facts_at_start: returns the failures and the budget of the run when its work starts.
            save_picture: stores the picture of a run after a change of status, and the id of its last event.
            totals: counters of the calls and spending of all runs of the process.
        """
        self._log = log
        self._redact = redact
        self._facts_at_start = facts_at_start
        self._save_picture = save_picture
        self._totals = totals
        self._counted = GatewayStats()
        self._progress: Progress | None = None
        self._progress_added_at = float("-inf")
        self._speed = Speed()
        self._failing: dict[str, str] = {}
        self._steps: dict[str, dict[str, Counter[Step]]] = {}
        self._rates = SpeedHistory()

    @property
    def steps(self) -> "RunObserver":
        """The observer itself, which also counts steps of graphs."""
        return self

    def planned(self, run_id: str, estimate: Estimate) -> None:
        """Add the plan of the run, whose work starts."""
        self._speed, self._rates = Speed(to_send=estimate.remaining.calls), SpeedHistory()
        models = {
            name: {"calls": model_estimate.calls, "cost": model_estimate.cost}
            for name, model_estimate in estimate.models.items()
        }
        plan = {
            "samples": estimate.samples,
            "calls": estimate.calls,
            "answered": estimate.answered,
            "cost": estimate.cost,
            "models": models,
            "by_step": estimate.by_step,
            "notes": [self._reason(note) for note in estimate.notes],
        }
        self._log.add("planned", PlannedEvent.model_validate(plan | self._facts_at_start()))

    def starting(self, workers: int, address: str | None) -> None:
        """Add the number of workers that the run waits for."""
        self._log.add("starting", {"workers": workers})

    def progressed(self, progress: Progress) -> None:
        """Add the progress, once a second."""
        self._progress = progress
        self._speed.mark(progress)
        self._count(progress.stats)
        if time.monotonic() - self._progress_added_at >= PROGRESS_INTERVAL:
            self._add_progress()

    def happened(self, event: GatewayEvent) -> None:
        """Add a changed limit, and note why models do not answer."""
        if event.kind == "limit":
            reason = self._reason(event.reason)
            self._log.add("limit", LimitEvent(endpoint=event.endpoint, limit=event.limit, reason=reason, at=now()))
        elif event.kind == "failed_try":
            self._failing[event.model] = self._reason(event.reason)
        elif event.kind == "answered" and self._failing:
            self._failing.pop(event.model, None)

    def failed(self, item: str, model: str, kind: str, reason: str) -> None:
        """Add a failure."""
        failure = FailureEvent(kind=kind, model=model, item=item, reason=self._reason(reason), at=now())
        self._log.add("failure", failure)

    def became(self, status: str, *, end: str = "", why: str = "") -> None:
        """Add the run's status, and its end if it has ended."""
        status_event = StatusEvent(status=status, end=end, why=self._reason(why), at=now())
        if self._progress is not None:
            self._add_progress()
            self._progress = None
        if status not in ("queued", "running") or self._log.picture.run_status != status:
            self._log.add("status", status_event)
        if status in STOPPED:
            self._log.add("ended", status_event)
        self._save_picture(self._log.picture, self._log.last)

    def drawn(self, picture: GraphOutline) -> None:
        """Add a graph's nodes and edges."""
        self._steps.setdefault(picture.name, {})
        self._log.add("graph", picture)

    def stepped(self, graph: str, node: str, item: str, what: Step) -> None:
        """Count a step."""
        self._steps.setdefault(graph, {}).setdefault(node, Counter())[what] += 1

    def _add_progress(self) -> None:
        progress = self._progress
        if progress is None:
            return
        self._progress_added_at = time.monotonic()
        stats = progress.stats
        rate, seconds_left = self._speed.of(progress)
        figures = {
            "items": progress.items,
            "done": progress.done,
            "restored": progress.restored,
            "failures": dict(progress.failures),
            "waiting_items": progress.waiting_items,
            "unpaid_items": progress.unpaid_items,
            "rate": round(rate, 2),
            "rates": self._rates.add(round(rate, 2)),
            "left": None if seconds_left is None else round(seconds_left, 1),
            "failing": dict(self._failing),
            "at": now("milliseconds"),
            **stats.model_dump(mode="json"),
        }
        if self._steps:
            self._log.add("steps", {name: _counts(nodes) for name, nodes in self._steps.items()})
        self._log.add("progress", figures)

    def _count(self, stats: GatewayStats) -> None:
        for name in TOTALS:
            self._totals[name] += getattr(stats, name) - getattr(self._counted, name)
        self._counted = stats

    def _reason(self, text: str) -> str:
        line = self._redact(" ".join(text.split()))
        if len(line) <= LONGEST:
            return line
        return f"{line[: LONGEST - 1]}…"


def _counts(nodes: dict[str, Counter[Step]]) -> dict[str, dict[str, int]]:
    """Return, for each node, the numbers of items at work, ended, failed and stopped."""
    counts_by_node: dict[str, dict[str, int]] = {}
    for node, counts in nodes.items():
        over = {step: counts[step] for step in ("ended", "failed", "stopped")}
        counts_by_node[node] = {"at_work": max(0, counts["began"] - sum(over.values())), **over}
    return counts_by_node
