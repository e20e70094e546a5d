"""How much one client may ask: requests a second, and bytes in a body."""

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

MANY_CLIENTS = 10_000
"""Clients whose rate is remembered at most; the one not seen for longest is forgotten first."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a service takes.

    Attributes:
        rate: requests a second of one client, on the average.
        burst: requests at once.
        body: bytes of a request's body.
        upload: bytes of an uploaded file.
        streams: event streams that are open at once.
        patience: seconds for the next piece of a body.
    """

    rate: float = 200.0
    burst: int = 600
    body: int = 1_000_000
    upload: int = 2_000_000_000
    streams: int = 2_000
    patience: float = 60.0


@dataclass(slots=True)
class Rates:
    """Counts what clients ask, each by a bucket that is filled at an even rate."""

    limits: Limits
    clock: Callable[[], float] = time.monotonic
    _buckets: "OrderedDict[str, tuple[float, float]]" = field(default_factory=OrderedDict[str, tuple[float, float]])

    def wait(self, client: str) -> float:
        """Take one request of a client; return 0, or the seconds until one would be taken."""
        now = self.clock()
        left, before = self._buckets.pop(client, (float(self.limits.burst), now))
        left = min(float(self.limits.burst), left + (now - before) * self.limits.rate)
        short = max(0.0, 1.0 - left) / self.limits.rate
        self._buckets[client] = (left if short else left - 1.0, now)
        while len(self._buckets) > MANY_CLIENTS:
            self._buckets.popitem(last=False)
        return short
