"""Reservations against limits on calls, tokens and dollars."""

import asyncio

import pytest

from dokimasia.errors import CallFailed
from dokimasia.gateway.budget import Budget


async def test_sent_requests_stay_counted_and_unsent_ones_do_not() -> None:
    """A place given up before its request left is free again; a request that left counts even if it failed."""
    budget = Budget(max_calls=1)
    (await budget.reserve(tokens=1, cost=None)).release()
    reservation = await budget.reserve(tokens=1, cost=None)
    await reservation.send()
    reservation.release()
    assert budget.calls == 1
    with pytest.raises(CallFailed, match="all 1 calls are spent"):
        await budget.reserve(tokens=1, cost=None)


async def test_waits_for_requests_in_flight_that_may_turn_out_cheaper() -> None:
    """A request that fits only if another comes out below its estimate waits for it, and then goes or fails."""
    budget = Budget(max_tokens=100)
    first = await budget.reserve(tokens=80, cost=None)
    second = asyncio.create_task(budget.reserve(tokens=50, cost=None))
    await asyncio.sleep(0)
    assert not second.done()
    first.settle(tokens=20, cost=None)
    reservation = await second
    reservation.settle(tokens=60, cost=None)
    assert budget.tokens == 80
    with pytest.raises(CallFailed, match="80 of 100 tokens are spent"):
        await budget.reserve(tokens=50, cost=None)


async def test_unknown_outcome_counts_at_its_estimate() -> None:
    """What a reply cost is taken as estimated where the provider does not say."""
    budget = Budget(max_cost=1.0)
    (await budget.reserve(tokens=10, cost=0.4)).settle(tokens=None, cost=None)
    assert (budget.tokens, budget.cost) == (10, pytest.approx(0.4))


async def test_requests_that_are_cut_off_are_counted() -> None:
    """What is abandoned in flight counts, above as well; so does, until its reply, what a kill would abandon."""
    above = Budget()
    budget = Budget(max_cost=1.0, calls=3, cut_off=2, above=(above,))
    first = await budget.reserve(tokens=10, cost=0.4)
    await first.send()
    assert budget.spending.cut_off == 3
    first.settle(tokens=7, cost=0.2)
    assert budget.spending.cut_off == 2
    second = await budget.reserve(tokens=10, cost=0.4)
    await second.send()
    second.settle(tokens=None, cost=None, cut_off=True)
    assert (budget.spending.calls, budget.spending.cut_off, above.spending.cut_off) == (5, 3, 1)


async def test_closing_twice_charges_once() -> None:
    """A reservation that is settled and then released is charged once."""
    budget = Budget()
    reservation = await budget.reserve(tokens=10, cost=0.5)
    reservation.settle(tokens=7, cost=0.25)
    reservation.release()
    assert (budget.tokens, budget.cost) == (7, 0.25)


async def test_cancelled_waiter_holds_nothing() -> None:
    """A request cancelled while it waits for money leaves the budget as it was."""
    budget = Budget(max_tokens=10)
    first = await budget.reserve(tokens=8, cost=None)
    waiting = asyncio.create_task(budget.reserve(tokens=5, cost=None))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    first.release()
    (await budget.reserve(tokens=10, cost=None)).release()
    assert budget.tokens == 0


@pytest.mark.parametrize("value", [-1, float("nan"), float("inf")])
def test_limits_must_be_numbers_from_zero_up(value: float) -> None:
    """A negative or infinite limit is a mistake."""
    with pytest.raises(ValueError, match="max_cost must be a number from 0 up"):
        Budget(max_cost=value)


async def test_a_budget_above_is_charged_with_requests_and_people() -> None:
    """What a run pays, for requests as for people's time, counts against the budget that it shares, which refuses the rest."""
    shared = Budget(max_cost=1.0, whose="the service: ")
    first, second = Budget(above=[shared]), Budget(above=[shared])
    reservation = await first.reserve(tokens=1, cost=0.5)
    await reservation.send()
    reservation.settle(tokens=1, cost=0.3)
    second.pay(0.6)
    assert (shared.calls, shared.cost) == (1, pytest.approx(0.9))
    with pytest.raises(CallFailed, match="the service: "):
        await second.reserve(tokens=1, cost=0.2)
    assert (second.calls, second.cost) == (0, 0.6)
