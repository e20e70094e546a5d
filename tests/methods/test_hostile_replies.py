"""Hostile replies in the life of a run: it ends, what failed is said, and it can be gone on with and read."""

import sqlite3
from collections.abc import Callable

from dokimasia.domain.call import MOST_TOKENS, ModelCall, call_key
from dokimasia.gateway.doubles import CountingTransport
from dokimasia.methods.evaluation import EvaluationRequest, evaluate
from dokimasia.settings import Settings
from dokimasia.simulation.serving.transport import SimTransport
from dokimasia.storage.home import Home
from dokimasia.storage.results import results
from dokimasia.storage.usage import usage_of

Requests = Callable[..., EvaluationRequest]


async def test_what_a_transport_raises_unforeseen_ends_no_run(settings: Settings, request_of: Requests) -> None:
    """An answer on which the transport breaks is one failed row; all others are scored, and the same command goes on."""
    request = request_of(limit=4, models=("sim/weak",))
    broken: list[str] = []

    def fail(call: ModelCall) -> BaseException | None:
        if call.model.name == "sim/weak" and len(broken) < 1:
            broken.append(call_key(call))
        return OverflowError("date value out of range") if call_key(call) in broken else None

    transport = CountingTransport(SimTransport(), fail=fail)
    done = await evaluate(request, settings=settings, transports={"sim": transport})
    with Home.open(settings.home, write=False) as home:
        rows = [row for row in results(home, done.run) if row.kind == "score"]
    assert sorted(row.failure or "" for row in rows) == ["", "", "", "api_error"]
    assert (await evaluate(request, settings=settings)).complete


async def test_counts_beyond_any_call_leave_a_run_readable(settings: Settings, request_of: Requests) -> None:
    """Three calls of 2^63-1 tokens at nine million millions of dollars each have a sum, and the same command goes on."""
    request = request_of(limit=4)
    before = await evaluate(request, settings=settings)
    connection = sqlite3.connect(settings.home / "dokimasia.db", isolation_level=None)
    connection.execute("UPDATE calls SET input_tokens = ?, cost = 9e12", (2**63 - 1,))
    connection.close()
    again = await evaluate(request, settings=settings)
    assert (again.run, again.complete) == (before.run, True)
    with Home.open(settings.home, write=False) as home:
        used = usage_of(home, before.run)
    assert max(one.input_tokens or 0 for one in used.by_work.values()) > MOST_TOKENS
