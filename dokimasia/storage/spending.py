"""Spending of a run since it was accepted, over all invocations: its limits apply to the total."""

import sqlite3
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from dokimasia.errors import StorageError
from dokimasia.storage.home import Home
from dokimasia.storage.schema.rows import change_row, insert_row


class Spending(NamedTuple):
    """Requests sent, tokens and US dollars; what a provider did not report is counted at its estimate."""

    calls: int = 0
    tokens: int = 0
    cost: float = 0.0


def spent_by(home: Home, run_id: str) -> Spending:
    """Return a run's spending; zero for a run that an older version accepted, or that has sent nothing yet."""
    row = home.one("SELECT calls, tokens, cost FROM spending WHERE id = ?", (run_id,))
    return Spending() if row is None else Spending(*row)


def spending_recorder(home: Home, run_id: str, read: Callable[[], Spending]) -> Callable[[], None]:
    """Return a function that queues the run's spending for writing, before any later write to the home.

    Args:
        home: open for writing.
        run_id: the run.
        read: returns the spending at the time of writing, so that many queued notes become one.
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
