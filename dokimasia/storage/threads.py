"""Active work: graph threads of items, and runs in the service's queue."""

import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from typing import Literal

import orjson
from pydantic import Field, JsonValue

from dokimasia.domain.identity import Value, canonical_json
from dokimasia.domain.judgement import FailureKind
from dokimasia.errors import StorageError
from dokimasia.storage.home import Home
from dokimasia.storage.runs import RunStatus
from dokimasia.storage.schema.rows import change_row, insert_row, next_number, without_seal
from dokimasia.storage.values import now


class Thread(Value):
    """A graph thread; a checkpoint of another `graph_version` is never resumed."""

    thread_id: str
    run_id: str
    item: str
    graph: str
    graph_version: str


async def open_thread(home: Home, thread: Thread) -> None:
    """Store the thread of an item, durably, replacing one with the same id.

    Raises:
        StorageError: it could not be written, or there is no such run.
    """
    row = thread.model_dump() | {"created_at": now("milliseconds")}

    def replace(connection: sqlite3.Connection) -> None:
        connection.execute("DELETE FROM threads WHERE thread_id = ?", (thread.thread_id,))
        insert_row(connection, "threads", row)

    await home.write(replace, routine=True)


async def close_thread(home: Home, thread_id: str) -> None:
    """Remove a thread whose result is committed; a missing thread is not an error."""
    await home.write(
        lambda connection: connection.execute("DELETE FROM threads WHERE thread_id = ?", (thread_id,)), routine=True
    )


def live_threads(home: Home) -> set[str]:
    """Return the ids of all threads that are active, or were when their process died."""
    return {id for (id,) in home.all("SELECT thread_id FROM threads")}


class Queued(Value):
    """A run in the service's queue, which a restarted service continues.

    Attributes:
        id: the run's id.
        number: its number, by which the queue is ordered.
        before: the run's status before it was queued; empty for a new run.
        changes: fields of its request that hold until it leaves the queue, such as limits.
        retry: kinds of failure whose items are asked anew when work begins.
        cost: US dollars spent since it was queued.
        calls: requests sent since it was queued.
        tokens: tokens used since it was queued.
        queued_at: the time at which it was queued, in ISO form.
        at_work: whether work has begun; if a new process finds it set, the previous one died during that work.
        deaths: number of processes that died while the run was at work.
        payer: the holder of the token that put it into the queue; empty if it was put in without one.
    """

    id: str
    number: int = 0
    before: RunStatus | Literal[""] = ""
    changes: dict[str, JsonValue] = Field(default_factory=dict)
    retry: tuple[FailureKind, ...] = ()
    cost: float = 0.0
    calls: int = 0
    tokens: int = 0
    queued_at: str = ""
    at_work: bool = False
    deaths: int = 0
    payer: str = ""


async def enqueue(home: Home, queued: Queued) -> None:
    """Put a run at the end of the queue, durably, and set its status; a queued run moves to the end.

    Raises:
        StorageError: it could not be written, or there is no such run.
    """
    row = queued.model_dump(mode="json") | {"queued_at": now()}
    row |= {name: canonical_json(row[name]).decode() for name in ("changes", "retry")}

    def insert(connection: sqlite3.Connection) -> None:
        connection.execute("DELETE FROM queue WHERE id = ?", (queued.id,))
        insert_row(connection, "queue", row | {"number": next_number(connection, "queue", "number")})
        change_row(connection, "runs", queued.id, {"status": "queued", "updated_at": now()})

    await home.write(insert)


async def leave_queue(home: Home, run_id: str, *, status: RunStatus | None = None) -> None:
    """Remove a run from the queue, durably, and set its status, if one is passed.

    Raises:
        StorageError: it could not be written.
    """

    def remove(connection: sqlite3.Connection) -> None:
        connection.execute("DELETE FROM queue WHERE id = ?", (run_id,))
        if status is not None:
            change_row(connection, "runs", run_id, {"status": status, "updated_at": now()})

    await home.write(remove)


def queue(home: Home) -> list[Queued]:
    """Return the runs in the queue, in order."""
    rows = home.rows("SELECT * FROM queue ORDER BY number")
    filled_rows = [{name: value for name, value in without_seal(row).items() if value is not None} for row in rows]
    return [
        Queued.model_validate(row | {name: orjson.loads(row[name]) for name in ("changes", "retry")})
        for row in filled_rows
    ]


async def mark_at_work(home: Home, run_id: str) -> None:
    """Record the beginning of work on a queued run, durably.

    Raises:
        StorageError: it could not be written.
    """
    await home.write(lambda connection: change_row(connection, "queue", run_id, {"at_work": 1}))


async def mark_at_rest(home: Home, run_ids: Sequence[str], *, died: bool = False) -> None:
    """Record, durably, that no process works on these queued runs any longer, and with `died` that it died.

    Raises:
        StorageError: it could not be written.
    """

    def change(connection: sqlite3.Connection) -> None:
        for id in run_ids:
            row = connection.execute("SELECT deaths FROM queue WHERE id = ?", (id,)).fetchone()
            if row is not None:
                change_row(connection, "queue", id, {"at_work": 0, "deaths": (row[0] or 0) + died})

    await home.write(change)


def note_in_queue(home: Home, queued: Queued, *changed: str) -> None:
    """Update fields of a queued run without waiting for the commit; ignored if the run or the home is gone."""
    row = queued.model_dump(mode="json", include=set(changed))
    row |= {name: canonical_json(row[name]).decode() for name in ("changes", "retry") if name in row}
    with suppress(StorageError):
        home.writer.submit(lambda connection: change_row(connection, "queue", queued.id, row), routine=True)
