"""Checkpoints keep the steps of unfinished threads, refuse foreign types, and are swept."""

import os
import pickle
import sqlite3
from pathlib import Path
from typing import TypedDict

import ormsgpack
import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, StateGraph

from dokimasia.errors import StorageError
from dokimasia.storage.checkpoints import Saver, delete_thread, open_saver, sweep_orphans
from dokimasia.storage.home import Home


class State(TypedDict, total=False):
    """A number that grows."""

    number: int


def grow(state: State) -> State:
    """Add one."""
    return {"number": state.get("number", 0) + 1}


async def run(saver: Saver, thread_id: str) -> dict[str, int]:
    """Run a graph of two steps on a thread."""
    graph = StateGraph(State)
    graph.add_node("first", grow)
    graph.add_node("second", grow)
    graph.add_edge(START, "first")
    graph.add_edge("first", "second")
    graph.add_edge("second", END)
    compiled = graph.compile(checkpointer=saver)
    config: RunnableConfig = {"configurable": {"thread_id": thread_id}}
    return await compiled.ainvoke({"number": 0}, config, durability="sync")


async def steps(saver: Saver, thread_id: str) -> int:
    """Return how many checkpoints a thread has."""
    return len([step async for step in saver.alist({"configurable": {"thread_id": thread_id}})])


async def test_new_checkpoints_are_closed_to_others(tmp_path: Path) -> None:
    """They have the rights of the home's database, whatever the umask."""
    before = os.umask(0o022)
    try:
        with Home.open(tmp_path, write=True) as home:
            async with open_saver(home):
                files = [home.checkpoints, home.path / "checkpoints.db-wal", home.database]
                assert {file.stat().st_mode & 0o777 for file in files} == {0o600}
    finally:
        os.umask(before)


async def test_steps_are_kept_until_the_thread_is_deleted(home: Home) -> None:
    """Every step of a thread is there after reopening; deleting one thread leaves the others."""
    async with open_saver(home) as saver:
        assert await run(saver, "a") == {"number": 2}
        await run(saver, "b")
    async with open_saver(home) as saver:
        assert await steps(saver, "a") == await steps(saver, "b") == 4
        await delete_thread(saver, "a")
        await delete_thread(saver, "a")
        assert (await steps(saver, "a"), await steps(saver, "b")) == (0, 4)


async def test_a_thread_that_begins_again_keeps_nothing_of_the_one_deleted(home: Home) -> None:
    """Deleted threads go together, and before one of them is asked for again; the last ones when the saver is closed."""
    async with open_saver(home) as saver:
        await run(saver, "a")
        await run(saver, "b")
        await delete_thread(saver, "a")
        assert await run(saver, "a") == {"number": 2}
        assert await steps(saver, "a") == 4
        await delete_thread(saver, "a")
        await delete_thread(saver, "b")
    async with open_saver(home) as saver:
        for table in ("checkpoints", "writes"):
            assert saver.conn.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)


async def test_what_a_task_wrote_is_kept_whole_or_not_at_all(home: Home) -> None:
    """An error at the second value of a task takes the first one back: half a task would count as done on a resume."""
    config: RunnableConfig = {"configurable": {"thread_id": "a", "checkpoint_ns": "", "checkpoint_id": "1"}}
    async with open_saver(home) as saver:
        saver.conn.execute(
            "CREATE TRIGGER full BEFORE INSERT ON writes WHEN NEW.idx = 1 BEGIN SELECT RAISE(FAIL, 'full'); END"
        )
        with pytest.raises(sqlite3.Error, match="full"):
            await saver.aput_writes(config, [("x", 1), ("y", 2)], "task")
    async with open_saver(home) as saver:
        assert saver.conn.execute("SELECT count(*) FROM writes").fetchone() == (0,)


async def test_steps_can_be_written_while_others_are_gone_through(home: Home) -> None:
    """Who goes through the steps of one thread may write those of another meanwhile."""
    async with open_saver(home) as saver:
        await run(saver, "a")
        async for _ in saver.alist({"configurable": {"thread_id": "a"}}):
            await run(saver, "b")
        assert await steps(saver, "b") > 4


async def test_orphans_are_swept(home: Home) -> None:
    """Threads that are not live lose their steps and writes; the live one keeps its own."""
    async with open_saver(home) as saver:
        for thread_id in ("a", "b", "c"):
            await run(saver, thread_id)
        assert await sweep_orphans(saver, {"b", "never begun"}) == 2
        assert [await steps(saver, thread_id) for thread_id in ("a", "b", "c")] == [0, 4, 0]
        assert saver.conn.execute("SELECT DISTINCT thread_id FROM writes").fetchall() == [("b",)]
        assert await sweep_orphans(saver, {"b"}) == 0


async def test_foreign_types_are_not_built(home: Home) -> None:
    """A checkpoint that names a callable or a pickle runs nothing when it is read; plain values come back."""
    marker = home.path / "ran"
    async with open_saver(home) as saver:
        payload = ormsgpack.packb(
            ormsgpack.Ext(0, ormsgpack.packb(("os", "mkdir", str(marker)))), option=ormsgpack.OPT_NON_STR_KEYS
        )
        assert saver.serde.loads_typed(("msgpack", payload)) == str(marker)
        with pytest.raises(NotImplementedError, match="pickle"):
            saver.serde.loads_typed(("pickle", pickle.dumps(Path("x"))))
        plain = {"ids": ["a", "b"], "n": 3, "score": 2.5, "none": None}
        assert saver.serde.loads_typed(saver.serde.dumps_typed(plain)) == plain
        with pytest.raises(TypeError):
            saver.serde.dumps_typed(object())
    assert not marker.exists()


async def test_the_log_is_set_as_the_database_is(home: Home) -> None:
    """The checkpoints use a write-ahead log, survive a kill at each step, and wait for other readers."""
    async with open_saver(home) as saver:
        for pragma, value in (("journal_mode", "wal"), ("synchronous", 1), ("busy_timeout", 10_000)):
            assert saver.conn.execute(f"PRAGMA {pragma}").fetchall() == [(value,)]


async def test_damaged_checkpoints_may_be_deleted(home: Home) -> None:
    """A file that is no database is reported with the advice to delete it and resume."""
    home.checkpoints.write_bytes(b"no database at all " * 100)
    with pytest.raises(StorageError, match=r"checkpoints\.db.*delete it.*resume"):
        async with open_saver(home):
            pass


async def test_a_reader_opens_no_saver(home: Home) -> None:
    """A home that is open for reading has no saver."""
    with Home.open(home.path, write=False) as reader, pytest.raises(StorageError, match="reading only"):
        async with open_saver(reader):
            pass
