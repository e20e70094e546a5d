"""Failed items taken up anew: each under a new attempt, what failed before kept as an event."""

import sqlite3
from collections.abc import Collection
from typing import NamedTuple

import orjson

from dokimasia.domain.judgement import FailureKind
from dokimasia.storage.home import Home
from dokimasia.storage.results import ResultRow, events, insert_event, take_failed
from dokimasia.storage.schema.rows import change_row
from dokimasia.storage.values import now

RETRIED = "retried"


class Retry(NamedTuple):
    """An item that failed and is, or was, asked anew: the attempt to ask under, and the row that it had when it failed.

    The row is a scored one where all that failed is the judge's verdict on right or wrong.
    """

    attempt: int
    failed: ResultRow


async def retry_failed(home: Home, run_id: str, *, failures: Collection[FailureKind]) -> int:
    """Take up anew a run's items that failed, or lost their verdict, in these ways, in one transaction; return how many.

    Their rows go, and stand whole in an event `retried` with the attempt that comes next; the run counts as running
    again. An item that was never asked, because its sample had no criteria, keeps its attempt: it is asked for the
    first time.

    Raises:
        StorageError: it could not be written.
    """

    def reopen_rows(connection: sqlite3.Connection) -> int:
        rows = take_failed(connection, run_id, failures)
        if not rows:
            return 0
        before = _attempts(connection, run_id)
        items = [
            {
                "item": row.item,
                "attempt": before.get(row.item, 0) + _failed_itself(row),
                "failed": row.model_dump(mode="json"),
            }
            for row in rows
        ]
        insert_event(connection, run_id, RETRIED, {"items": items})
        change_row(connection, "runs", run_id, {"status": "running", "updated_at": now()})
        return len(rows)

    return await home.write(reopen_rows)


def retries(home: Home, run_id: str) -> dict[str, Retry]:
    """Return, by item, the latest attempt and what failed before it; an item that never failed is not there."""
    return {outcome.failed.item: outcome for outcome in earlier_outcomes(home, run_id)}


def earlier_outcomes(home: Home, run_id: str) -> list[Retry]:
    """Return every failure of a run that was asked anew, in the order in which they were taken up."""
    return [
        Retry(item["attempt"], ResultRow.model_validate(item["failed"]))
        for event in events(home, run_id, kind=RETRIED)
        for item in event.data["items"]
    ]


def _attempts(connection: sqlite3.Connection, run_id: str) -> dict[str, int]:
    sql = "SELECT data FROM events WHERE run_id = ? AND kind = ? ORDER BY id"
    return {
        item["item"]: item["attempt"]
        for (data,) in connection.execute(sql, (run_id, RETRIED))
        for item in orjson.loads(data)["items"]
    }


def _failed_itself(row: ResultRow) -> bool:
    """Whether the item itself failed, and not only the making of the criteria that it needed."""
    return row.kind != "score" or row.criteria_id is not None or bool(row.calls)
