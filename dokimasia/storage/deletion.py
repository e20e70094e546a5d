"""Runs deleted: what belongs to one run goes, and what runs share stays."""

import sqlite3

from dokimasia.domain.identity import Value
from dokimasia.errors import NotFound
from dokimasia.storage.home import Home

_TABLES = {"results": "results", "events": "events", "threads": "threads", "samples": "run_samples"}


class Deleted(Value):
    """How many rows of each kind a run has, or had."""

    run: str
    results: int
    events: int
    threads: int
    samples: int


def run_size(home: Home, run_id: str) -> Deleted:
    """Return what deleting a run would remove; zero everywhere for a run that is not there."""
    sql = "SELECT count(*) FROM {} WHERE run_id = ?"
    return Deleted(
        run=run_id, **{name: home.all(sql.format(table), (run_id,))[0][0] for name, table in _TABLES.items()}
    )


async def delete_run(home: Home, run_id: str) -> Deleted:
    """Remove a run with its results, events, threads, places of samples and what people decided, in one transaction.

    The ledger, the images and the values (samples, chains, criteria, responses, judgements) stay: other runs may share
    them, and the same run, evaluated again, is answered by them without a call. Checkpoints of the run's threads are
    orphans from then on: `dokimasia.storage.checkpoints.sweep_orphans` clears them.

    Raises:
        NotFound: there is no such run.
        StorageError: it could not be written; nothing is removed.
    """

    def remove(connection: sqlite3.Connection) -> Deleted | None:
        checked = "(SELECT id FROM check_items WHERE run_id = ?)"
        connection.execute(f"DELETE FROM decisions WHERE item IN {checked}", (run_id,))
        connection.execute(f"DELETE FROM questions WHERE id IN {checked}", (run_id,))
        connection.execute("DELETE FROM check_items WHERE run_id = ?", (run_id,))
        for table in ("queue", "spending"):
            connection.execute(f"DELETE FROM {table} WHERE id = ?", (run_id,))
        sql = "DELETE FROM {} WHERE run_id = ?"
        rows = {name: connection.execute(sql.format(table), (run_id,)).rowcount for name, table in _TABLES.items()}
        gone = connection.execute("DELETE FROM runs WHERE id = ?", (run_id,)).rowcount
        return Deleted(run=run_id, **rows) if gone else None

    deleted = await home.write(remove)
    if deleted is None:
        raise NotFound(f"{home.path} has no run {run_id}.")
    return deleted
