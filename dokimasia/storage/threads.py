"""Which graph thread works on which item of which run, and in which version of its graph."""

import sqlite3

from dokimasia.domain.identity import Value
from dokimasia.storage.home import Home
from dokimasia.storage.schema.rows import insert_row
from dokimasia.storage.values import now


class Thread(Value):
    """A graph thread; a checkpoint of another `graph_version` is never continued."""

    thread_id: str
    run_id: str
    item: str
    graph: str
    graph_version: str


async def open_thread(home: Home, thread: Thread) -> None:
    """Record, durably, that a thread works on an item; a thread of the same id is replaced.

    Raises:
        StorageError: it could not be written, or there is no such run.
    """
    row = thread.model_dump() | {"created_at": now("milliseconds")}

    def replace(connection: sqlite3.Connection) -> None:
        connection.execute("DELETE FROM threads WHERE thread_id = ?", (thread.thread_id,))
        insert_row(connection, "threads", row)

    await home.write(replace)


async def close_thread(home: Home, thread_id: str) -> None:
    """Forget a thread, whose result is committed; forgetting one that is not there is harmless."""
    await home.write(lambda connection: connection.execute("DELETE FROM threads WHERE thread_id = ?", (thread_id,)))


def live_threads(home: Home) -> set[str]:
    """Return the ids of all threads that are still at work or were when their process died."""
    return {id for (id,) in home.all("SELECT thread_id FROM threads")}
