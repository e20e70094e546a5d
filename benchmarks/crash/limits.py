"""Whether limits were kept, by the endpoint's own log: requests at once and a minute, calls and money of every start.

What the log says of a request lies within what the program says of it: it begins later there, and ends before its reply
can have arrived. So a limit that the program keeps holds for the log as it stands, but for three things that no program
can know. A request whose worker was killed is counted as ended as soon as the death is known, and may be open at the
endpoint until that sees the broken connection: such an orphan is counted apart. A driver that is started anew knows nothing
of the minute before, so that a minute with such a start may hold what may be sent at once, a twentieth of the limit, once
more. And money is known when a reply is there: it may be passed by what was in flight.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

MINUTE = 60.0
AT_ONCE = 20
"""The share of a minute's requests that may be sent at once is one of so many."""

Line = Mapping[str, Any]
"""A line of the server's log."""


class Start(NamedTuple):
    """A start of the program: when, and what it was allowed, in calls and in dollars."""

    at: float
    calls: int | None = None
    cost: float | None = None


class Kept(NamedTuple):
    """What the log says of one run.

    `at_once` leaves out orphans, which `at_once_in_all` counts, too. `over_calls` and `over_cost` are what a start spent
    beyond its limit at most; `spent` says how many starts came to their limit.
    """

    at_once: int
    at_once_in_all: int
    orphans: int
    a_minute: int
    over_minute: float
    over_calls: int
    over_cost: float
    spent: int


def kept(
    lines: Sequence[Line],
    starts: Sequence[Start],
    *,
    prices: tuple[float, float],
    paced: str = "",
    rpm: int = 0,
) -> Kept:
    """Hold a run's requests against what its starts were allowed.

    Args:
        lines: of the server's log, in any order.
        starts: of the program, in their order; the first one before all requests.
        prices: dollars per million tokens, input and output.
        paced: the model with a limit a minute.
        rpm: that limit; 0: there is none.
    """
    whole = [line for line in lines if line["sent"]]
    most, over = _a_minute([line["began"] for line in lines if line["model"] == paced], [one.at for one in starts], rpm)
    over_calls, over_cost, spent = 0, 0.0, 0
    shares = [list[Line]() for _ in starts]
    for line in lines:
        shares[bisect_right(starts, line["began"], key=lambda start: start.at) - 1].append(line)
    for start, share in zip(starts, shares, strict=True):
        if start.calls is not None:
            over_calls = max(over_calls, len(share) - start.calls)
            spent += len(share) >= start.calls
        if start.cost is not None:
            over_cost = max(over_cost, (paid := sum(cost_of(share, prices))) - start.cost)
            spent += paid >= 0.95 * start.cost
    return Kept(
        at_once(whole),
        at_once(lines),
        len(lines) - len(whole),
        most,
        over if rpm else 0.0,
        over_calls,
        over_cost,
        spent,
    )


def at_once(lines: Iterable[Line]) -> int:
    """Return how many requests were open at the same time at most."""
    steps = sorted((at, step) for line in lines for at, step in ((line["began"], 1), (line["ended"], -1)))
    most = now = 0
    for _, step in steps:  # an end comes before a beginning at the same time
        now += step
        most = max(most, now)
    return most


def cost_of(lines: Iterable[Line], prices: tuple[float, float]) -> Iterable[float]:
    """Yield what each request cost in dollars, as its reply says; also that of a reply that reached nobody."""
    for line in lines:
        used = line["tokens"] or (0, 0)
        yield (used[0] * prices[0] + used[1] * prices[1]) / 1e6


def _a_minute(began: list[float], starts: Sequence[float], rpm: int) -> tuple[int, float]:
    """Return the most requests in any minute, and the most that a minute has beyond what may be in it."""
    began.sort()
    most, over = 0, 0.0
    for first, at in enumerate(began):
        count = bisect_right(began, at + MINUTE) - first
        again = sum(at < start <= at + MINUTE for start in starts)
        most, over = max(most, count), max(over, count - rpm - again * max(1.0, rpm / AT_ONCE))
    return most, over
