"""LangGraph checkpoints of a home: the steps of unfinished threads, in their own database."""

import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager, closing, contextmanager, suppress
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
)
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite import SqliteSaver

from dokimasia.errors import StorageError
from dokimasia.storage.connection import BUSY_TIMEOUT, SAFE_AND_SMALL
from dokimasia.storage.faults import checkpoints_error
from dokimasia.storage.home import Home

GONE_TOGETHER = 64
"""The number of threads that one commit deletes."""


class Saver(SqliteSaver):
    """LangGraph's saver, with asynchronous methods that write in the event loop's own thread.

    Writing a step, some hundred bytes in a write-ahead log, takes less time than two hops to another thread, and
    `AsyncSqliteSaver` makes four to six hops a step.

    Threads are deleted in batches of `GONE_TOGETHER` and at the end, with one commit per batch. Readers do not see a
    thread that waits for deletion; after a kill, `sweep_orphans` deletes the remaining ones.
    """

    def __init__(self, connection: sqlite3.Connection, *, serde: SerializerProtocol) -> None:
        """Store steps through a connection, which the caller closes."""
        super().__init__(connection, serde=serde)
        self._gone: set[str] = set()

    @contextmanager
    def cursor(self, transaction: bool = True) -> Iterator[sqlite3.Cursor]:
        """Yield a cursor; its writes are committed together, or rolled back on an error."""
        with self.lock, self.conn, closing(self.conn.cursor()) as cursor:
            yield cursor

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Return the step that a configuration names, or the last step of its thread."""
        self._settle(config)
        return self.get_tuple(config)

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, object] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """Yield steps, the newest first; all are read beforehand, because the caller may write while iterating."""
        for checkpoint in await self.listed(config, filter, before, limit):
            yield checkpoint

    async def listed(
        self,
        config: RunnableConfig | None,
        filter: dict[str, object] | None,
        before: RunnableConfig | None,
        limit: int | None,
    ) -> list[CheckpointTuple]:
        """Return steps, the newest first."""
        self._settle(config)
        return list(self.list(config, filter=filter, before=before, limit=limit))

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a step."""
        self._settle(config)
        return self.put(config, checkpoint, metadata, new_versions)

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, object]], task_id: str, task_path: str = ""
    ) -> None:
        """Store the writes of a task."""
        self._settle(config)
        self.put_writes(config, writes, task_id, task_path)

    async def adelete_thread(self, thread_id: str) -> None:
        """Delete the steps of a thread."""
        self._gone.add(thread_id)
        if len(self._gone) >= GONE_TOGETHER:
            self.clear()

    def clear(self) -> None:
        """Delete the steps of the threads in the batch."""
        if self._gone:
            with self.cursor() as cursor:
                delete_threads(cursor, self._gone)
            self._gone.clear()

    def _settle(self, config: RunnableConfig | None) -> None:
        """Delete the batch if it contains the requested thread, or if all threads are requested."""
        if self._gone and (config is None or config.get("configurable", {}).get("thread_id") in self._gone):
            self.clear()


KEPT_ELSEWHERE = ("aget_tuple", "listed", "aput", "aput_writes", "adelete_thread")
"""The methods of a `Saver` that a `RemoteSaver` may call."""


class RemoteSaver(BaseCheckpointSaver[str]):
    """A saver for a process without the home; it calls the methods of a `Saver` by name."""

    def __init__(self, ask: Callable[..., Awaitable[Any]]) -> None:
        """Call methods through a function that takes a method's name and its arguments."""
        super().__init__()
        self._ask = ask

    def get_next_version(self, current: str | None, channel: None) -> str:
        """Return the next version of a channel, numbered as by a `Saver`."""
        return SqliteSaver.get_next_version(cast("SqliteSaver", self), current, channel)

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Return the step that a configuration names, or the last step of its thread."""
        return await self._ask("aget_tuple", _plain_config(config))

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, object] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """Yield steps, the newest first."""
        for checkpoint in await self._ask(
            "listed", config and _plain_config(config), filter, before and _plain_config(before), limit
        ):
            yield checkpoint

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a step."""
        return await self._ask("aput", _plain_config(config), checkpoint, metadata, new_versions)

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, object]], task_id: str, task_path: str = ""
    ) -> None:
        """Store the writes of a task."""
        await self._ask("aput_writes", _plain_config(config), list(writes), task_id, task_path)

    async def adelete_thread(self, thread_id: str) -> None:
        """Delete the steps of a thread."""
        await self._ask("adelete_thread", thread_id)


def _plain_config(config: RunnableConfig) -> RunnableConfig:
    """Return the plain part of a configuration, without LangGraph's own objects."""
    configurable = {name: value for name, value in config.get("configurable", {}).items() if not name.startswith("__")}
    return {"configurable": configurable, "metadata": config.get("metadata", {})}


@asynccontextmanager
async def open_saver(home: Home) -> AsyncIterator[Saver]:
    """Yield the saver of a home that is open for writing, and close it on exit.

    The serializer accepts only LangGraph's own types, plain values, and, for embedded graphs, this package's frozen
    values (see `dokimasia.graphs.runnable.allow_in_checkpoints`). It never imports or builds another type that a
    checkpoint names, and refuses pickled data, so that write access to the file does not allow running code.

    Raises:
        StorageError: the home is open for reading only, or its checkpoints are damaged or cannot be written; also
            raised inside the block.
    """
    if not home.is_writing:
        raise StorageError(f"{home.path} is open for reading only: checkpoints need it open with write=True.")
    with ExitStack() as stack:
        with keeping_steps(home, doing="opening the checkpoints"):
            with suppress(OSError):  # SQLite would create it readable for others
                home.checkpoints.touch(mode=home.database.stat().st_mode & 0o660, exist_ok=False)
            connection = sqlite3.connect(home.checkpoints, timeout=BUSY_TIMEOUT, check_same_thread=False)
            stack.callback(connection.close)
            for pragma in ("journal_mode=WAL", *SAFE_AND_SMALL):
                connection.execute(f"PRAGMA {pragma}").fetchall()
            saver = Saver(connection, serde=JsonPlusSerializer(allowed_msgpack_modules=None))
            saver.setup()
        with keeping_steps(home):
            try:
                yield saver
            finally:
                with suppress(sqlite3.Error):  # the rest is swept when a run begins
                    saver.clear()


@contextmanager
def keeping_steps(home: Home, *, doing: str = "keeping the steps of unfinished items") -> Iterator[None]:
    """Raise SQLite's errors inside LangGraph as StorageError; the home's reads and writes raise it themselves."""
    try:
        yield
    except sqlite3.Error as error:
        raise checkpoints_error(error, path=home.checkpoints, doing=doing) from error


async def delete_thread(saver: Saver, thread_id: str) -> None:
    """Delete the steps of a thread whose result is committed; a thread without steps is not an error."""
    await saver.adelete_thread(thread_id)


async def sweep_orphans(saver: Saver, live_thread_ids: Collection[str]) -> int:
    """Delete the steps of all threads that are not live, such as those left by a kill between commit and deletion.

    Returns:
        The number of deleted threads.
    """
    with saver.cursor() as cursor:
        rows = cursor.execute("SELECT thread_id FROM checkpoints UNION SELECT thread_id FROM writes").fetchall()
        orphans = [id for (id,) in rows if id not in live_thread_ids]
        delete_threads(cursor, orphans)
    return len(orphans)


def delete_threads(cursor: sqlite3.Cursor, thread_ids: Iterable[str]) -> None:
    """Delete the steps of threads through a cursor of the saver."""
    parameters = [(id,) for id in thread_ids]
    for table in ("checkpoints", "writes"):
        cursor.executemany(f"DELETE FROM {table} WHERE thread_id = ?", parameters)
