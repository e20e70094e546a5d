"""Deletion of runs: a run's own rows are removed, shared ones stay."""

import sqlite3

from dokimasia.domain.identity import Value
from dokimasia.errors import NotFound
from dokimasia.storage.home import Home

_TABLES = {"results": "results", "events": "events", "threads": "threads", "samples": "run_samples"}


class Deleted(Value):
    """Numbers of a run's rows, by kind."""

    run: str
    results: int
    events: int
    threads: int
    samples: int


def run_size(home: Home, run_id: str) -> Deleted:
    """Return the numbers of rows that the deletion of a run would remove; all zero for an unknown run."""
    sql = "SELECT count(*) FROM {} WHERE run_id = ?"
    return Deleted(
        run=run_id, **{name: home.all(sql.format(table), (run_id,))[0][0] for name, table in _TABLES.items()}
    )


async def delete_run(home: Home, run_id: str) -> Deleted:
    """Remove a run with its results, events, threads, sample positions, decisions and comments, in one transaction.

    The ledger, images and values (samples, chains, criteria, responses, judgements) stay: other runs may share them, and a
    repetition of the run needs no calls. Checkpoints of the run's threads become orphans, which
    `dokimasia.storage.checkpoints.sweep_orphans` removes.

    Raises:
        NotFound: there is no such run.
        StorageError: it could not be written; nothing is removed.
    """

    def remove(connection: sqlite3.Connection) -> Deleted | None:
        items = "(SELECT id FROM check_items WHERE run_id = ?)"
        connection.execute(f"DELETE FROM decisions WHERE item IN {items}", (run_id,))
        connection.execute(f"DELETE FROM questions WHERE id IN {items}", (run_id,))
        connection.execute("DELETE FROM check_items WHERE run_id = ?", (run_id,))
        for table in ("queue", "spending"):
            connection.execute(f"DELETE FROM {table} WHERE id = ?", (run_id,))
        for table in ("comments", "views"):
            connection.execute(f"DELETE FROM {table} WHERE run_id = ?", (run_id,))
        sql = "DELETE FROM {} WHERE run_id = ?"
        rows = {name: connection.execute(sql.format(table), (run_id,)).rowcount for name, table in _TABLES.items()}
        count = connection.execute("DELETE FROM runs WHERE id = ?", (run_id,)).rowcount
        if count:
            return Deleted(run=run_id, **rows)
        return None

    deleted = await home.write(remove)
    if deleted is None:
        raise NotFound(f"{home.path} has no run {run_id}.")
    return deleted
