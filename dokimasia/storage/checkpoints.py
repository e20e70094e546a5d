"""LangGraph's checkpoints in a home: the steps of unfinished threads, in a database of their own."""

import sqlite3
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager

import aiosqlite
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from dokimasia.errors import StorageError
from dokimasia.storage.connection import BUSY_TIMEOUT, SAFE_AND_SMALL
from dokimasia.storage.faults import checkpoints_error
from dokimasia.storage.home import Home

Saver = AsyncSqliteSaver
"""The kind of saver that a home gives; other rooms name it without importing LangGraph."""


@asynccontextmanager
async def open_saver(home: Home) -> AsyncIterator[AsyncSqliteSaver]:
    """Open the saver of a home that is open for writing, and close it at the end.

    The serializer knows LangGraph's own types and plain values only. Another type that a checkpoint names is never
    imported or built, and pickled data is refused, so that who can write the file cannot run code through it.

    Raises:
        StorageError: the home is open for reading only, or its checkpoints are damaged or cannot be written, at
            first or while they are in use.
    """
    if not home.is_writing:
        raise StorageError(f"{home.path} is open for reading only: checkpoints need it open with write=True.")
    connection = aiosqlite.connect(home.checkpoints, timeout=BUSY_TIMEOUT)
    doing = "opening the checkpoints"
    try:
        await connection
        for pragma in ("journal_mode=WAL", *SAFE_AND_SMALL):
            await connection.execute_fetchall(f"PRAGMA {pragma}")
        saver = AsyncSqliteSaver(connection, serde=JsonPlusSerializer(allowed_msgpack_modules=None))
        await saver.setup()
        doing = "keeping the steps of unfinished items"
        yield saver
    except sqlite3.Error as error:  # raised inside LangGraph; the home's own reads and writes raise StorageError
        raise checkpoints_error(error, path=home.checkpoints, doing=doing) from error
    finally:
        await connection.close()


async def delete_thread(saver: AsyncSqliteSaver, thread_id: str) -> None:
    """Delete the steps of a thread, whose result is committed; a thread that has none is no error."""
    await saver.adelete_thread(thread_id)


async def sweep_orphans(saver: AsyncSqliteSaver, live_thread_ids: Collection[str]) -> int:
    """Delete the steps of every thread that is not live, as a kill between commit and clearing leaves them.

    Returns:
        How many threads were deleted.
    """
    async with saver.lock:
        rows = await saver.conn.execute_fetchall("SELECT thread_id FROM checkpoints UNION SELECT thread_id FROM writes")
        orphans = [(id,) for (id,) in rows if id not in live_thread_ids]
        for table in ("checkpoints", "writes"):
            await saver.conn.executemany(f"DELETE FROM {table} WHERE thread_id = ?", orphans)
        await saver.conn.commit()
    return len(orphans)
