"""The rate of requests to one model: per-minute allowances, configured, from headers, or learnt from refusals."""

import asyncio
import time
from collections.abc import Callable, Mapping

from dokimasia.gateway.limiter import Clock, Pace, Sleep
from dokimasia.gateway.rate_limit_headers import read_allowance, resets_too_late

WINDOW = 60
"""The seconds over which successes are counted."""

LEAST_SEEN = 10.0
"""The seconds of sending before a rate can be learnt from it."""

SAFETY = 0.9
"""The factor applied to the rate of successes before a refusal."""

GROWTH = 1.25
"""The growth factor of a learnt rate for each minute without a refusal."""

LONGEST_ASKED = 120.0
"""The maximum seconds that a request waits because of headers; then it is sent anyway, to test them."""

FORGOTTEN = 4.0
"""The growth of a learnt rate, relative to its beginning, at which it is forgotten."""


class Pacing:
    """The requests and tokens per minute of one model under one key; first come, first served.

    Configured limits always apply. In addition, an endpoint's stated allowance (`read_allowance`) is adopted at every
    reply, but no request waits for it longer than `LONGEST_ASKED`; if such a request succeeds nevertheless, the headers
    are ignored from then on. An endpoint that states nothing and refuses again within a minute of an earlier refusal,
    when the limiter has already halved the requests in flight, has a per-minute limit: from then on the pace is nine
    tenths of the rate of successes in the last minute. That rate grows by a quarter for each minute without a refusal,
    and is forgotten at four times its beginning.
    """

    def __init__(
        self,
        *,
        rpm: float | None,
        tpm: float | None,
        clock: Clock = time.monotonic,
        sleep: Sleep = asyncio.sleep,
        on_change: Callable[[int, str], None] | None = None,
    ) -> None:
        """Create the pacing of a model.

        Args:
            rpm: the configured requests per minute; None for no limit.
            tpm: the configured tokens per minute, likewise.
            clock: returns monotonic seconds.
            sleep: waits that many seconds.
            on_change: called with each new per-minute limit, rounded, and the reason.
        """
        self._clock = clock
        self._sleep = sleep
        self._on_change = on_change
        self._configured = [
            (unit, Pace(rate, clock=clock, sleep=sleep))
            for unit, rate in (("requests", rpm), ("tokens", tpm))
            if rate is not None
        ]
        self._stated: dict[str, Pace] = {}
        self._overruled: set[str] = set()
        self._disbelieved: set[str] = set()
        self.turn = asyncio.Lock()
        self.waiting = 0
        self._learnt: Pace | None = None
        self._learnt_first = self._learnt_rate = 0.0
        self._refused_at = self._grown_at = float("-inf")
        self._began = clock()
        self._second = -1
        self._counts = [0] * WINDOW

    @property
    def counts_tokens(self) -> bool:
        """Whether tokens are limited, so that they must be estimated."""
        return "tokens" in self._stated or any(unit == "tokens" for unit, _ in self._configured)

    @property
    def limited(self) -> bool:
        """Whether a request may have to wait at all."""
        return bool(self._configured or self._stated or self._learnt)

    async def take(self, tokens: int) -> None:
        """Wait until one more request of this many tokens may be sent."""
        for unit, pace in self._configured:
            await pace.take(1 if unit == "requests" else tokens)
        for unit, pace in tuple(self._stated.items()):
            in_time = await pace.take(1 if unit == "requests" else tokens)
            if not in_time and self._stated.get(unit) is pace and unit not in self._overruled:
                self._overruled.add(unit)
                reason = f"the endpoint's headers ask to wait for {unit} for longer than {LONGEST_ASKED:g} s"
                self._tell(0, f"{reason}, which is the most that is waited: one request is sent to see")
        if self._learnt is not None:
            await self._learnt.take(1)

    def correct(self, tokens: int) -> None:
        """Charge a request's usage beyond its estimate, or refund a negative amount. Headers include it already."""
        for unit, pace in self._configured:
            if unit == "tokens":
                pace.correct(tokens)

    def read_headers(self, headers: Mapping[str, str]) -> None:
        """Read the allowances in the headers of a reply."""
        for unit in ("requests", "tokens"):
            allowance = None if unit in self._disbelieved else read_allowance(headers, unit)
            if allowance is None:
                if unit not in self._disbelieved and resets_too_late(headers, unit):
                    self._disbelieve(
                        unit, f"the endpoint's headers put the reset of its limit of {unit} more than a month away"
                    )
                continue
            limit, remaining, rate = allowance
            if unit not in self._stated:
                self._stated[unit] = Pace(rate, clock=self._clock, sleep=self._sleep, longest=LONGEST_ASKED)
                self._tell(limit, f"the endpoint takes {limit:g} {unit}, as its headers say")
            self._stated[unit].adopt(capacity=limit, level=remaining, per_minute=rate)

    def succeeded(self) -> None:
        """Count a successful request."""
        while self._overruled:
            unit = self._overruled.pop()
            self._disbelieve(unit, f"the endpoint answers though its headers leave no {unit}")
        now = self._clock()
        self._forward(now)
        self._counts[self._second % WINDOW] += 1
        if self._learnt is not None and now - max(self._refused_at, self._grown_at) >= WINDOW:
            self._grow(now)

    def _disbelieve(self, unit: str, reason: str) -> None:
        """Ignore a unit's headers from now on, and delay nobody because of them."""
        self._disbelieved.add(unit)
        self._overruled.discard(unit)
        if (pace := self._stated.pop(unit, None)) is not None:
            pace.lift()
        self._tell(0, f"{reason}: they are believed no more")

    def refused(self) -> None:
        """Record that a request, sent after the last cut of the concurrency, was refused with 429."""
        now = self._clock()
        before, self._refused_at = self._refused_at, now
        if "requests" in self._stated or now - before > WINDOW or now - self._began < LEAST_SEEN:
            return
        self._forward(now)
        rate = SAFETY * sum(self._counts) / min(WINDOW, now - self._began) * 60
        if rate < 1 or (self._learnt is not None and rate >= self._learnt_rate):
            rate = max(1.0, SAFETY * (self._learnt_rate or 1.0))
        self._learnt_first = rate
        self._learn(rate, "refused again (429) with less in flight")

    def _grow(self, now: float) -> None:
        self._grown_at = now
        if self._learnt_rate * GROWTH >= FORGOTTEN * self._learnt_first:
            self._learnt = None
            self._tell(0, "no refusal for minutes: no limit a minute any more")
        else:
            self._learn(self._learnt_rate * GROWTH, "a minute without a refusal")

    def _learn(self, rate: float, reason: str) -> None:
        self._learnt_rate = rate
        if self._learnt is None:
            self._learnt = Pace(rate, clock=self._clock, sleep=self._sleep)
        else:
            self._learnt.change(rate)
        self._tell(rate, f"{rate:.0f} requests per minute: {reason}")

    def _tell(self, limit: float, reason: str) -> None:
        if self._on_change is not None:
            self._on_change(round(limit), reason)

    def _forward(self, now: float) -> None:
        """Clear the seconds between the last count and now."""
        second = int(now)
        if self._second < 0 or second - self._second >= WINDOW:
            self._counts = [0] * WINDOW
        else:
            for passed in range(self._second + 1, second + 1):
                self._counts[passed % WINDOW] = 0
        self._second = max(self._second, second)
