"""A circuit breaker for each model: after refusals in a row nothing more is sent to it for a while, and its calls fail fast."""

import time

from dokimasia.errors import AttemptKind, TransportError
from dokimasia.gateway.limiter import Clock

REFUSALS: frozenset[AttemptKind] = frozenset(("rate_limit", "connection", "server_error", "timeout"))
"""Kinds of failures that speak of the endpoint and not of the call: the next call would meet the same."""

IN_A_ROW = 6
"""Refusals in a row, with no other outcome between them, that open the breaker once `LEAST_SECONDS` have passed: as many
as the tries of one call."""

LEAST_SECONDS = 120.0
"""From the first refusal of a row until the breaker may open: twice the minute after which a limit by the minute is over."""

REST_SECONDS = 60.0
"""For how long nothing is sent then; afterwards one request in each such time finds out whether the endpoint is back."""


class Breaker:
    """Says whether a model may be asked. A single outcome that is no refusal closes it again.

    It is open after `IN_A_ROW` refusals in a row over at least `LEAST_SECONDS`. A burst of refusals, as an endpoint gives
    that is asked too fast, does not open it: its limit by the minute lets something through before that time is over.
    """

    def __init__(self, *, clock: Clock = time.monotonic) -> None:
        """Make a closed breaker."""
        self._clock = clock
        self._count = 0
        self._since = 0.0
        self._rests_until = float("-inf")
        self._reason = ""

    def refusal(self) -> str:
        """Return why nothing is to be sent now; empty if something may be, of which its outcome must then be told."""
        now = self._clock()
        if not self._reason or now < self._rests_until:
            return self._reason
        self._rests_until = now + REST_SECONDS
        return ""

    def reached(self) -> bool:
        """Take in that the endpoint dealt with a request, whatever it said; return whether the breaker was open."""
        was_open = bool(self._reason)
        self._count = 0
        self._reason = ""
        return was_open

    def refused(self, failure: TransportError) -> bool:
        """Take in a refusal; return whether it opened the breaker."""
        now = self._clock()
        if self._count == 0:
            self._since = now
        self._count += 1
        seconds = now - self._since
        if self._count < IN_A_ROW or seconds < LEAST_SECONDS:
            return False
        opened = not self._reason
        self._rests_until = now + REST_SECONDS
        self._reason = (
            f"{self._count} requests in a row were refused, over {seconds:.0f} s: nothing more is sent to it but one request a "
            f"minute, until one is answered; --retry-failed asks again (the last refusal: {failure})"
        )
        return opened
