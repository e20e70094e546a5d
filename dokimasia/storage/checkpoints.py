"""LangGraph's checkpoints in a home: the steps of unfinished threads, in a database of their own."""

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
"""So many threads are deleted by one commit."""


class Saver(SqliteSaver):
    """LangGraph's saver, whose asynchronous methods write in the event loop's own thread.

    A step is some hundred bytes in a write-ahead log, which is written in less time than two hops to another thread take
    (`AsyncSqliteSaver` makes four to six a step).

    Threads that are deleted go together, `GONE_TOGETHER` at a time and at the end, which costs a commit for all of them.
    Whoever asks for one meanwhile finds nothing of it; after a kill `sweep_orphans` finds those that are still there.
    """

    def __init__(self, connection: sqlite3.Connection, *, serde: SerializerProtocol) -> None:
        """Keep steps over a connection, which stays open."""
        super().__init__(connection, serde=serde)
        self._gone: set[str] = set()

    @contextmanager
    def cursor(self, transaction: bool = True) -> Iterator[sqlite3.Cursor]:
        """Give a cursor; what is written by it is kept as a whole, or not at all where an error is raised."""
        with self.lock, self.conn, closing(self.conn.cursor()) as cursor:
            yield cursor

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Return the step that a configuration names, or a thread's last."""
        self._settle(config)
        return self.get_tuple(config)

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """Yield steps, the newest first; all are read before, since a reader may write while it goes through them."""
        for one in await self.listed(config, filter, before, limit):
            yield one

    async def listed(
        self,
        config: RunnableConfig | None,
        filter: dict[str, Any] | None,
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
        """Keep a step."""
        self._settle(config)
        return self.put(config, checkpoint, metadata, new_versions)

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Keep what a task wrote."""
        self._settle(config)
        self.put_writes(config, writes, task_id, task_path)

    async def adelete_thread(self, thread_id: str) -> None:
        """Delete the steps of a thread."""
        self._gone.add(thread_id)
        if len(self._gone) >= GONE_TOGETHER:
            self.clear()

    def clear(self) -> None:
        """Delete the steps of the threads that are to go."""
        if self._gone:
            with self.cursor() as cursor:
                delete_threads(cursor, self._gone)
            self._gone.clear()

    def _settle(self, config: RunnableConfig | None) -> None:
        """Delete what is to go where a thread of it is asked for again, or all are."""
        if self._gone and (config is None or config.get("configurable", {}).get("thread_id") in self._gone):
            self.clear()


KEPT_ELSEWHERE = ("aget_tuple", "listed", "aput", "aput_writes", "adelete_thread")
"""What a `RemoteSaver` asks for."""


class RemoteSaver(BaseCheckpointSaver[str]):
    """A saver for another process than the one that has the home: it asks for the methods of a `Saver` by their names."""

    def __init__(self, ask: Callable[..., Awaitable[Any]]) -> None:
        """Ask by a function that takes a method's name and its arguments."""
        super().__init__()
        self._ask = ask

    def get_next_version(self, current: str | None, channel: None) -> str:
        """Return the next version of a channel, as a `Saver` numbers them."""
        return SqliteSaver.get_next_version(cast("SqliteSaver", self), current, channel)

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Return the step that a configuration names, or a thread's last."""
        return await self._ask("aget_tuple", _said(config))

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """Yield steps, the newest first."""
        for one in await self._ask("listed", config and _said(config), filter, before and _said(before), limit):
            yield one

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Keep a step."""
        return await self._ask("aput", _said(config), checkpoint, metadata, new_versions)

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Keep what a task wrote."""
        await self._ask("aput_writes", _said(config), list(writes), task_id, task_path)

    async def adelete_thread(self, thread_id: str) -> None:
        """Delete the steps of a thread."""
        await self._ask("adelete_thread", thread_id)


def _said(config: RunnableConfig) -> RunnableConfig:
    """Return what a configuration says of a step; LangGraph's own objects in it stay where they are."""
    said = {name: value for name, value in config.get("configurable", {}).items() if not name.startswith("__")}
    return {"configurable": said, "metadata": config.get("metadata", {})}


@asynccontextmanager
async def open_saver(home: Home) -> AsyncIterator[Saver]:
    """Open the saver of a home that is open for writing, and close it at the end.

    The serializer knows LangGraph's own types and plain values only. Another type that a checkpoint names is never
    imported or built, and pickled data is refused, so that who can write the file cannot run code through it.

    Raises:
        StorageError: the home is open for reading only, or its checkpoints are damaged or cannot be written, at
            first or while they are in use.
    """
    if not home.is_writing:
        raise StorageError(f"{home.path} is open for reading only: checkpoints need it open with write=True.")
    with ExitStack() as stack:
        with keeping_steps(home, doing="opening the checkpoints"):
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
                with suppress(sqlite3.Error):  # what stays is swept when a run begins
                    saver.clear()


@contextmanager
def keeping_steps(home: Home, *, doing: str = "keeping the steps of unfinished items") -> Iterator[None]:
    """Raise what SQLite says inside LangGraph as a StorageError; the home's own reads and writes raise theirs."""
    try:
        yield
    except sqlite3.Error as error:
        raise checkpoints_error(error, path=home.checkpoints, doing=doing) from error


async def delete_thread(saver: Saver, thread_id: str) -> None:
    """Delete the steps of a thread, whose result is committed; a thread that has none is no error."""
    await saver.adelete_thread(thread_id)


async def sweep_orphans(saver: Saver, live_thread_ids: Collection[str]) -> int:
    """Delete the steps of every thread that is not live, as a kill between commit and clearing leaves them.

    Returns:
        How many threads were deleted.
    """
    with saver.cursor() as cursor:
        rows = cursor.execute("SELECT thread_id FROM checkpoints UNION SELECT thread_id FROM writes").fetchall()
        orphans = [id for (id,) in rows if id not in live_thread_ids]
        delete_threads(cursor, orphans)
    return len(orphans)


def delete_threads(cursor: sqlite3.Cursor, thread_ids: Iterable[str]) -> None:
    """Delete the steps of threads, by a cursor of the saver."""
    gone = [(id,) for id in thread_ids]
    for table in ("checkpoints", "writes"):
        cursor.executemany(f"DELETE FROM {table} WHERE thread_id = ?", gone)
