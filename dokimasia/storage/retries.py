"""Retries of failed items: each gets a new attempt, and an event records its earlier result."""

import sqlite3
from collections.abc import Collection

from dokimasia.domain.identity import Value
from dokimasia.domain.judgement import FailureKind
from dokimasia.storage.home import Home
from dokimasia.storage.results import ResultRow, events, insert_event, take_failed
from dokimasia.storage.schema.rows import change_row
from dokimasia.storage.values import now

RETRIED = "retried"


class Retry(Value):
    """A retry of an item: its new attempt, and the result with which it failed.

    That result is a scored one if only the judge's verdict on right or wrong failed.
    """

    item: str
    attempt: int
    failed: ResultRow


class Retries(Value):
    """The event of items that were reopened together."""

    items: tuple[Retry, ...]


async def retry_failed(home: Home, run_id: str, *, failures: Collection[FailureKind]) -> int:
    """Reopen a run's items that failed, or lost their verdict, in these ways, in one transaction; return their number.

    Their rows are moved into an event `retried`, each with the item's next attempt, and the run's status becomes
    `running`. An item that was never asked, because its sample had no criteria, keeps its attempt.

    Raises:
        StorageError: it could not be written.
    """

    def reopen_rows(connection: sqlite3.Connection) -> int:
        rows = take_failed(connection, run_id, failures)
        if not rows:
            return 0
        before = _attempts(connection, run_id)
        retries = tuple(
            Retry(item=row.item, attempt=before.get(row.item, 0) + _failed_itself(row), failed=row) for row in rows
        )
        insert_event(connection, run_id, RETRIED, Retries(items=retries).model_dump(mode="json"))
        change_row(connection, "runs", run_id, {"status": "running", "updated_at": now()})
        return len(rows)

    return await home.write(reopen_rows)


def retries(home: Home, run_id: str) -> dict[str, Retry]:
    """Return the last retry of each repeated item, by item."""
    return {retry.item: retry for retry in earlier_outcomes(home, run_id)}


def earlier_outcomes(home: Home, run_id: str) -> list[Retry]:
    """Return all retries of a run, in order."""
    stored = (Retries.model_validate(event.data) for event in events(home, run_id, kind=RETRIED))
    return [retry for event in stored for retry in event.items]


def _attempts(connection: sqlite3.Connection, run_id: str) -> dict[str, int]:
    sql = (
        "SELECT json_extract(i.value, '$.item'), json_extract(i.value, '$.attempt') FROM events e, "
        "json_each(e.data, '$.items') i WHERE e.run_id = ? AND e.kind = ? ORDER BY e.id, i.id"
    )
    return dict(connection.execute(sql, (run_id, RETRIED)))


def _failed_itself(row: ResultRow) -> bool:
    """Return whether the item itself failed, rather than only the criteria it needed."""
    return row.kind != "score" or row.criteria_id is not None or bool(row.calls)
