"""A home in which an older version kept counts that no call can have stays readable."""

import sqlite3
from collections.abc import Callable

from dokimasia.domain.call import MOST_TOKENS
from dokimasia.methods.evaluation import EvaluationRequest, evaluate
from dokimasia.settings import Settings
from dokimasia.storage.home import Home
from dokimasia.storage.usage import usage_of

Requests = Callable[..., EvaluationRequest]


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
    assert max(one.input_tokens or 0 for one in used.values()) > MOST_TOKENS
