"""Spending of a run over all its invocations, and of a service's runs by payer; limits apply to the totals."""

import sqlite3
from concurrent.futures import Future

from dokimasia.domain.ports import Spending, SpendingRecorder
from dokimasia.storage.home import Home
from dokimasia.storage.schema.rows import change_row, insert_row


def spent_by(home: Home, run_id: str) -> Spending:
    """Return a run's spending; zero if it has sent nothing yet, or was accepted by an older version."""
    return _spent(home, "spending", run_id)


def spent_by_run(home: Home) -> dict[str, Spending]:
    """Return the spending of every run that has sent anything, by its id."""
    return _spent_by_id(home, "spending")


def spent_by_payer(home: Home) -> dict[str, Spending]:
    """Return the spending of the service's runs by the holder of their token; that of all runs under the empty name."""
    return _spent_by_id(home, "payers")


def spending_recorder(home: Home, run_id: str) -> SpendingRecorder:
    """Return a function that queues the run's spending to be written, ahead of later writes to the home.

    Of several waiting amounts, only the last is written; all share its future.

    Args:
        home: open for writing.
        run_id: the run.
    """
    return _recorder(home, "spending", run_id)


def paid_by(home: Home, payer: str) -> Spending:
    """Return the spending of the service's runs started by a token's holder, or of all runs if `payer` is empty."""
    return _spent(home, "payers", payer)


def payment_recorder(home: Home, payer: str) -> SpendingRecorder:
    """Return a function that queues the spending of a payer's runs, as `spending_recorder` does for a run."""
    return _recorder(home, "payers", payer)


def _spent(home: Home, table: str, id: str) -> Spending:
    row = home.one(f"SELECT calls, tokens, cost, coalesce(cut_off, 0) FROM {table} WHERE id = ?", (id,))
    if row is None:
        return Spending()
    return Spending(*row)


def _spent_by_id(home: Home, table: str) -> dict[str, Spending]:
    rows = home.all(f"SELECT id, calls, tokens, cost, coalesce(cut_off, 0) FROM {table}")
    return {row[0]: Spending(*row[1:]) for row in rows}


def _recorder(home: Home, table: str, id: str) -> SpendingRecorder:
    latest = Spending()
    waiting = False
    written: Future[None] = Future()

    def write(connection: sqlite3.Connection) -> None:
        nonlocal waiting
        waiting = False
        row = latest._asdict()
        if not insert_row(connection, table, {"id": id, **row}):
            change_row(connection, table, id, row)

    def keep(spending: Spending) -> "Future[None]":
        nonlocal latest, waiting, written
        latest = spending
        if not waiting:
            waiting = True
            try:
                written = home.writer.submit(write, routine=True)
            except BaseException:  # nothing is queued, so the next amount must be
                waiting = False
                raise
        return written

    return keep
