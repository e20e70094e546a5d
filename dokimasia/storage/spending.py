"""Spending of a run over all its invocations, to whose total its limits apply."""

import sqlite3
from concurrent.futures import Future

from dokimasia.domain.ports import Spending, SpendingRecorder
from dokimasia.storage.home import Home
from dokimasia.storage.schema.rows import change_row, insert_row


def spent_by(home: Home, run_id: str) -> Spending:
    """Return a run's spending; zero if it has sent nothing yet, or was accepted by an older version."""
    row = home.one("SELECT calls, tokens, cost FROM spending WHERE id = ?", (run_id,))
    return Spending() if row is None else Spending(*row)


def spending_recorder(home: Home, run_id: str) -> SpendingRecorder:
    """Return a function that queues the run's spending to be written, ahead of later writes to the home.

    Of several amounts that wait, the last is written; all share its future.

    Args:
        home: open for writing.
        run_id: the run.
    """
    latest = Spending()
    waiting = False
    written: Future[None] = Future()

    def write(connection: sqlite3.Connection) -> None:
        nonlocal waiting
        waiting = False
        row = latest._asdict()
        if not insert_row(connection, "spending", {"id": run_id, **row}):
            change_row(connection, "spending", run_id, row)

    def keep(spending: Spending) -> "Future[None]":
        nonlocal latest, waiting, written
        latest = spending
        if not waiting:
            waiting = True
            try:
                written = home.writer.submit(write, steady=True)
            except BaseException:  # nothing is queued, so the next amount has to be
                waiting = False
                raise
        return written

    return keep
