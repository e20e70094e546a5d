"""When a failed request is sent again and how long to wait first: pure policy, no clock and no sleep."""

import random

from pydantic import Field

from dokimasia.domain.identity import Value
from dokimasia.errors import AttemptKind, TransportError

PERHAPS_PAID: frozenset[AttemptKind] = frozenset(
    ("timeout", "empty_body", "not_json", "broken_envelope", "empty_choices", "unknown")
)
"""Kinds after which the provider may have charged for a reply that never came: a budget counts their estimate."""


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
        asked = min(max(failure.retry_after, 0.0), self.longest_asked)
        return asked + min(jitter, base)

    def next_delay(self, tries: int, failure: TransportError, *, waited: float, rng: random.Random) -> float | None:
        """Return the wait before the next try, or None when there must be none.

        Args:
            tries: requests of this call that have failed, this one included.
            failure: how the last one failed.
            waited: seconds that the call has waited between its tries so far.
            rng: source of the jitter.
        """
        if not failure.retryable or tries >= self.max_tries:
            return None
        delay = self.delay(tries, failure, rng)
        return delay if waited + delay <= self.max_total_wait else None
