"""Adaptive concurrency and per-minute paces."""

import asyncio
from typing import Any

import pytest

from dokimasia.gateway.limiter import HOLD_SECONDS, AdaptiveLimiter, Pace, Slot, Turn

pytestmark = pytest.mark.quick


async def take(limiter: AdaptiveLimiter) -> list[Slot]:
    """Take every free permit."""
    return [await limiter.acquire() for _ in range(limiter.limit - limiter.in_use)]


async def turn(limiter: AdaptiveLimiter) -> None:
    """Use the limit fully for a round, every request succeeding at full use."""
    for _ in range(limiter.limit):
        slots = await take(limiter)
        limiter.release(slots[0], "ok")
        for slot in slots[1:]:
            limiter.release(slot, "failed")


async def test_grows_to_the_most_while_fully_used(fake_time: Any) -> None:
    """Successes at full use raise the limit step by step to the configured most and no further; each change is told."""
    told: list[tuple[int, str]] = []
    limiter = AdaptiveLimiter(10, start=8, clock=fake_time.clock, on_change=lambda *change: told.append(change))
    for _ in range(5):
        await turn(limiter)
    assert limiter.limit == 10
    assert [limit for limit, _ in told] == [9, 10]
    assert told[0][1].startswith("8 → 9: 8 requests succeeded")


async def test_does_not_grow_without_demand(fake_time: Any) -> None:
    """Success below the limit says nothing of a higher one, so the limit stays."""
    limiter = AdaptiveLimiter(16, start=4, clock=fake_time.clock)
    for _ in range(50):
        limiter.release(await limiter.acquire(), "ok")
    assert limiter.limit == 4


async def test_one_round_trip_of_429s_halves_once(fake_time: Any) -> None:
    """Sixteen 429s to requests sent before the first cut are one sign: 16 becomes 8, not 1."""
    limiter = AdaptiveLimiter(16, clock=fake_time.clock)
    for slot in await take(limiter):
        limiter.release(slot, "limited")
    assert (limiter.limit, limiter.in_use) == (8, 0)
    limiter.release(await limiter.acquire(), "limited")
    assert limiter.limit == 4


async def test_never_exceeds_the_most_by_default_nor_after_a_cut(fake_time: Any) -> None:
    """Without a start it begins with the most; after a cut it grows back to the most and stays there."""
    limiter = AdaptiveLimiter(4, clock=fake_time.clock)
    limiter.release(await limiter.acquire(), "limited")
    assert limiter.limit == 2
    fake_time.now += HOLD_SECONDS
    for _ in range(9):
        await turn(limiter)
    assert limiter.limit == 4


async def test_never_falls_below_one(fake_time: Any) -> None:
    """Whatever comes, one request at a time remains possible."""
    limiter = AdaptiveLimiter(2, clock=fake_time.clock)
    for _ in range(5):
        limiter.release(await limiter.acquire(), "limited")
    assert limiter.limit == 1


async def test_grows_again_after_a_rest(fake_time: Any) -> None:
    """After a cut the limit rests, then grows by one for each full turn."""
    limiter = AdaptiveLimiter(16, clock=fake_time.clock)
    limiter.release(await limiter.acquire(), "limited")
    await turn(limiter)
    assert limiter.limit == 8
    fake_time.now += HOLD_SECONDS
    await turn(limiter)
    assert limiter.limit == 9


async def test_first_come_first_served_and_cancelling_costs_nothing(fake_time: Any) -> None:
    """Waiters are served in order; one cancelled while waiting, or in the moment it is served, leaves its place."""
    limiter = AdaptiveLimiter(1, clock=fake_time.clock)
    held = await limiter.acquire()
    served: list[int] = []

    async def wait(number: int) -> None:
        slot = await limiter.acquire()
        served.append(number)
        limiter.release(slot, "ok")

    tasks = [asyncio.create_task(wait(number)) for number in range(5)]
    await asyncio.sleep(0)
    tasks[1].cancel()
    await asyncio.sleep(0)
    limiter.release(held, "ok")
    tasks[0].cancel()  # its permit is granted but it has not run yet
    await asyncio.gather(*tasks, return_exceptions=True)
    assert served == [2, 3, 4]
    assert limiter.in_use == 0


@pytest.mark.parametrize("per_minute", [1, 2, 7, 60, 600])
async def test_no_minute_sees_more_than_the_allowance(fake_time: Any, per_minute: int) -> None:
    """Over many requests taken as fast as they go, every window of a minute holds at most the allowance."""
    pace = Pace(per_minute, clock=fake_time.clock, sleep=fake_time.sleep)
    times: list[float] = []
    for _ in range(3 * per_minute):
        await pace.take(1)
        times.append(fake_time.now)
    for start in range(len(times)):
        assert sum(times[start] <= moment < times[start] + 60 - 1e-6 for moment in times) <= per_minute


async def test_amount_above_the_bucket_goes_through_and_the_next_waits(fake_time: Any) -> None:
    """A request larger than the bucket is not stuck for ever; its debt delays the next, and a correction pays it back."""
    pace = Pace(6000, clock=fake_time.clock, sleep=fake_time.sleep)
    await pace.take(3000)
    assert fake_time.now == 0
    pace.correct(-2900)
    await pace.take(100)
    assert fake_time.now == 0
    await pace.take(300)
    assert fake_time.now > 0


@pytest.mark.parametrize("start", [0, -1])
def test_impossible_limits_are_refused(start: int) -> None:
    """A limit below one request at once, or per minute, is an error and not a standstill."""
    with pytest.raises(ValueError, match="limit must be"):
        AdaptiveLimiter(start)
    with pytest.raises(ValueError, match="limit must be"):
        AdaptiveLimiter(4, start=start)
    with pytest.raises(ValueError, match="limit must be"):
        AdaptiveLimiter(4, start=5)
    with pytest.raises(ValueError, match="limit must be"):
        Pace(start)


async def waiting(limiter: AdaptiveLimiter, count: int, near: list[Turn]) -> list["asyncio.Task[Slot]"]:
    """Have so many wait for a permit who are told when it is near."""
    tasks = [asyncio.create_task(limiter.acquire(near.append)) for _ in range(count)]
    await asyncio.sleep(0)
    return tasks


async def test_a_permit_is_handed_on_to_one_whose_turn_is_near() -> None:
    """As many as there are permits are near; one of them takes a permit over past those before it, and the count stays."""
    limiter, near = AdaptiveLimiter(2), list[Turn]()
    slots = await take(limiter)
    tasks = await waiting(limiter, 4, near)
    assert len(near) == 2
    limiter.release(slots[0], "ok", to=near[1])
    await asyncio.sleep(0)
    assert [task.done() for task in tasks] == [False, True, False, False]
    assert (limiter.in_use, limiter.waiting, len(near)) == (2, 3, 2)
    limiter.release(slots[1], "ok", to=near[1])
    await asyncio.sleep(0)
    assert [task.done() for task in tasks] == [True, True, False, False], "whose turn has come takes no second permit"
    assert (limiter.in_use, limiter.waiting, len(near)) == (2, 2, 4)
    for task in tasks[2:]:
        task.cancel()


async def test_nobody_is_near_while_more_are_used_than_the_limit() -> None:
    """After a cut a permit that is handed on keeps its place, and nobody else is told to be near before the limit is kept."""
    limiter, near = AdaptiveLimiter(4), list[Turn]()
    slots = await take(limiter)
    tasks = await waiting(limiter, 9, near)
    assert len(near) == 4
    limiter.release(slots[0], "limited")
    limiter.release(slots[1], "ok", to=near[0])
    await asyncio.sleep(0)
    assert (limiter.limit, limiter.in_use, len(near), tasks[0].done()) == (2, 3, 4, True)
    limiter.release(slots[2], "ok")
    assert (limiter.in_use, len(near)) == (2, 4)
    limiter.release(slots[3], "ok")
    limiter.release(await tasks[0], "ok")
    await asyncio.sleep(0)
    assert (limiter.in_use, len(near)) == (2, 5), "two of those that were near have come, and the limit is two"
    for task in tasks:
        task.cancel()
