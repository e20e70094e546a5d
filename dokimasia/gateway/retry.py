"""Retries with backoff, and the circuit breaker that fails calls fast after consecutive refusals."""

import random
import time

from pydantic import Field

from dokimasia.domain.identity import Value
from dokimasia.errors import AttemptKind, TransportError
from dokimasia.gateway.limiter import Clock

PERHAPS_PAID: frozenset[AttemptKind] = frozenset(
    ("timeout", "empty_body", "not_json", "broken_envelope", "empty_choices", "unknown")
)
"""Kinds of failure after which the provider may have charged for a lost reply: a budget counts their estimate."""


class RetryPolicy(Value):
    """How often and how long: tries of one call, exponential backoff with full jitter, and the bound on all waiting.

    All times are in seconds. `rate_limit_base` replaces `base` after a 429, which takes longer to pass than a hiccup.
    A wait that the endpoint asked for (`Retry-After`) is honoured up to `longest_asked` and gets jitter on top, so that
    requests told to wait equally long do not come back at one moment.
    """

    max_tries: int = Field(default=6, ge=1)
    base: float = Field(default=0.5, gt=0)
    rate_limit_base: float = Field(default=2.0, gt=0)
    longest: float = Field(default=30.0, gt=0)
    longest_asked: float = Field(default=60.0, ge=0)
    max_total_wait: float = Field(default=300.0, ge=0)

    def delay(self, tries: int, failure: TransportError, rng: random.Random) -> float:
        """Return the seconds to wait after the given number of failed tries (1 or more)."""
        base = self.rate_limit_base if failure.kind == "rate_limit" else self.base
        jitter = rng.uniform(0.0, min(self.longest, base * 2.0 ** min(tries - 1, 32)))
        if failure.retry_after is None:
            return jitter
        requested = min(max(failure.retry_after, 0.0), self.longest_asked)
        return requested + min(jitter, base)

    def next_delay(self, tries: int, failure: TransportError, *, waited: float, rng: random.Random) -> float | None:
        """Return the wait before the next try, or None if there is none.

        Args:
            tries: failed requests of this call, including this one.
            failure: the last failure.
            waited: seconds that the call has waited between its tries so far.
            rng: source of the jitter.
        """
        if not failure.retryable or tries >= self.max_tries:
            return None
        delay = self.delay(tries, failure, rng)
        if waited + delay <= self.max_total_wait:
            return delay
        return None


REFUSALS: frozenset[AttemptKind] = frozenset(("rate_limit", "connection", "server_error", "timeout"))
"""Kinds of failure caused by the endpoint rather than the call, which would affect the next call too."""

IN_A_ROW = 6
"""The number of consecutive refusals that open the breaker once `LEAST_SECONDS` have passed: the tries of one call."""

LEAST_SECONDS = 120.0
"""Seconds from the first of consecutive refusals until the breaker may open: twice the period of a per-minute limit."""

REST_SECONDS = 60.0
"""Seconds during which nothing is sent; afterwards, one request per period tests whether the endpoint is back."""


class Breaker:
    """Decides whether requests may be sent to a model. A single outcome other than a refusal closes it again.

    It is open after `IN_A_ROW` consecutive refusals over at least `LEAST_SECONDS`. A burst of refusals, from an
    endpoint that is called too fast, does not open it: a per-minute limit lets something through within that time.
    """

    def __init__(self, *, clock: Clock = time.monotonic) -> None:
        """Create a closed breaker."""
        self._clock = clock
        self._count = 0
        self._since = 0.0
        self._rests_until = float("-inf")
        self._reason = ""

    def refusal(self) -> str:
        """Return why nothing may be sent now; empty if a request may be sent, whose outcome must then be reported."""
        now = self._clock()
        if not self._reason or now < self._rests_until:
            return self._reason
        self._rests_until = now + REST_SECONDS
        return ""

    def endpoint_answered(self) -> bool:
        """Record that the endpoint answered a request in any way; return whether the breaker was open."""
        was_open = bool(self._reason)
        self._count = 0
        self._reason = ""
        return was_open

    def refused(self, failure: TransportError) -> bool:
        """Record a refusal; return whether it opened the breaker."""
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
