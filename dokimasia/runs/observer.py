"""Who watches a run: told what it is, what it will cost, how far it is, and how it ended."""

from dataclasses import dataclass, field
from typing import Protocol

from dokimasia.gateway.events import GatewayEvent, GatewayStats
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
    """Watches one run; none of its methods may raise."""

    def planned(self, run_id: str, estimate: Estimate) -> None:
        """The run is known and its estimate made, with what is answered already; nothing was sent yet by this invocation."""
        ...

    def progressed(self, progress: Progress) -> None:
        """Called about twice a second while the run works, and once at its end."""
        ...

    def happened(self, event: GatewayEvent) -> None:
        """Something worth a line of log happened in the gateway."""
        ...


class Silent:
    """Watches and says nothing."""

    def planned(self, run_id: str, estimate: Estimate) -> None:
        """Say nothing."""

    def progressed(self, progress: Progress) -> None:
        """Say nothing."""

    def happened(self, event: GatewayEvent) -> None:
        """Say nothing."""
