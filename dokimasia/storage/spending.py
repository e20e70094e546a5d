"""Spending of a run over all its invocations, to whose total its limits apply."""

import sqlite3
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from dokimasia.errors import StorageError
from dokimasia.storage.home import Home
from dokimasia.storage.schema.rows import change_row, insert_row


class Spending(NamedTuple):
    """Requests sent, tokens, and cost in US dollars; unreported usage counts at its estimate."""

    calls: int = 0
    tokens: int = 0
    cost: float = 0.0


def spent_by(home: Home, run_id: str) -> Spending:
    """Return a run's spending; zero if it has sent nothing yet, or was accepted by an older version."""
    row = home.one("SELECT calls, tokens, cost FROM spending WHERE id = ?", (run_id,))
    return Spending() if row is None else Spending(*row)


def spending_recorder(home: Home, run_id: str, read: Callable[[], Spending]) -> Callable[[], None]:
    """Return a function that queues the run's spending to be written, ahead of later writes to the home.

    Args:
        home: open for writing.
        run_id: the run.
        read: returns the spending at the time of writing, so that many queued writes become one.
    """
    waiting = False

    def write(connection: sqlite3.Connection) -> None:
        nonlocal waiting
        waiting = False
        row = read()._asdict()
        if not insert_row(connection, "spending", {"id": run_id, **row}):
            change_row(connection, "spending", run_id, row)

    def keep() -> None:
        nonlocal waiting
        if not waiting:
            waiting = True
            with suppress(StorageError):
                home.writer.submit(write, steady=True)

    return keep
