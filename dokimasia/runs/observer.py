"""Who watches a run: told what it is, what it will cost, how far it is, and how it ended."""

from dataclasses import dataclass, field
from typing import Protocol

from dokimasia.gateway.events import GatewayEvent, GatewayStats
from dokimasia.graphs.steps import Steps
from dokimasia.runs.estimate import Estimate


@dataclass(slots=True)
class Progress:
    """Where a run stands. `items` counts chains with criteria and scored answers; `restored` of them were there before."""

    items: int = 0
    done: int = 0
    restored: int = 0
    samples: int = 0
    samples_done: int = 0
    failures: dict[str, int] = field(default_factory=dict[str, int])
    stats: GatewayStats = field(default_factory=GatewayStats)

    def count(self, failure: str | None) -> None:
        """Count one finished item."""
        self.done += 1
        if failure is not None:
            self.failures[failure] = self.failures.get(failure, 0) + 1


class Observer(Protocol):
    """Watches one run; none of its methods may raise.

    A queue of runs makes one for each run that it accepts (`Callable[[Run], Observer]`), tells it whenever the run's
    status changed (`became`), and hands it to the life-cycle, which tells the rest.
    """

    @property
    def steps(self) -> Steps | None:
        """What is told each step of the run's graphs; None where nobody listens, which costs nothing."""
        ...

    def planned(self, run_id: str, estimate: Estimate) -> None:
        """The run is known and its estimate made, with what is answered already; nothing was sent yet by this invocation."""
        ...

    def progressed(self, progress: Progress) -> None:
        """Called about twice a second while the run works, and once at its end."""
        ...

    def happened(self, event: GatewayEvent) -> None:
        """Something worth a line of log happened in the gateway."""
        ...

    def failed(self, item: str, model: str, kind: str, reason: str) -> None:
        """An item's result is committed, and it is a failure; `model` is empty for an item of no one model."""
        ...

    def became(self, status: str, *, end: str = "", why: str = "") -> None:
        """The run's stored status is another now, such as `queued`, `running` or `done`.

        Told by whoever holds the queue, after it is stored. `end` says how a run ended that came to its end
        (`RunResult.end`), and `why` is the sentence that the command line would print where it is not as it was wanted: an
        error's, or that of a run that was stopped.
        """
        ...


class Silent:
    """Watches and says nothing."""

    steps: Steps | None = None

    def planned(self, run_id: str, estimate: Estimate) -> None:
        """Say nothing."""

    def progressed(self, progress: Progress) -> None:
        """Say nothing."""

    def happened(self, event: GatewayEvent) -> None:
        """Say nothing."""

    def failed(self, item: str, model: str, kind: str, reason: str) -> None:
        """Say nothing."""

    def became(self, status: str, *, end: str = "", why: str = "") -> None:
        """Say nothing."""
