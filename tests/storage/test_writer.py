"""Commits come in groups; what was acknowledged is durable, and a failing job fails alone."""

import asyncio
import queue
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dokimasia.domain.call import Chat, ChatReply, call_key
from dokimasia.domain.ports import Spending
from dokimasia.errors import StorageError
from dokimasia.storage.connection import connect_writer
from dokimasia.storage.home import Home
from dokimasia.storage.ledger import SqliteLedger
from dokimasia.storage.spending import spending_recorder
from dokimasia.storage.writer import WriteJob, Writer

KILLED = """
import asyncio, sys
from dokimasia.domain.call import Chat, ChatReply, Message, ModelRef, call_key
from dokimasia.domain.sample import TextPart
from dokimasia.storage.home import Home
from dokimasia.storage.ledger import SqliteLedger

async def main():
    home = Home.open(sys.argv[1], write=True)
    ledger = SqliteLedger(home)
    numbers = iter(range(10**9))

    async def work():
        for number in numbers:
            part = TextPart(text=f"question {number} " + "x" * 2000)
            call = Chat(model=ModelRef(name="m", model="m"), messages=(Message(role="user", parts=(part,)),))
            key = call_key(call)
            await ledger.commit(key, call, ChatReply(text=f"answer {number}"), cost=None, label="test")
            sys.stdout.write(key + "\\n")
            sys.stdout.flush()

    await asyncio.gather(*(work() for _ in range(50)))

asyncio.run(main())
"""


def insert(number: int) -> WriteJob[int]:
    """Return a job that inserts a number and gives it back."""

    def job(connection: sqlite3.Connection) -> int:
        connection.execute("INSERT INTO numbers VALUES (?)", (number,))
        return number

    return job


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """A database with a table of distinct numbers."""
    path = tmp_path / "numbers.db"
    connection = connect_writer(path)
    connection.execute("CREATE TABLE numbers (number INTEGER PRIMARY KEY)")
    connection.close()
    return path


def numbers_in(path: Path) -> list[int]:
    """Return the committed numbers, read through another connection."""
    connection = sqlite3.connect(path)
    try:
        return [number for (number,) in connection.execute("SELECT number FROM numbers ORDER BY number")]
    finally:
        connection.close()


async def test_two_thousand_commits_at_once_are_all_there(
    home: Home, chat: Callable[..., Chat], reply: Callable[..., ChatReply]
) -> None:
    """Two thousand concurrent commits are each found by a reader as soon as they are acknowledged."""
    ledger = SqliteLedger(home)
    calls = [chat(f"question {number}") for number in range(2000)]

    async def commit(call: Chat) -> bool:
        await ledger.commit(call_key(call), call, reply(call.messages[1].text), cost=None, label="test")
        return await ledger.get(call_key(call)) is not None

    assert all(await asyncio.gather(*(commit(call) for call in calls)))
    assert home.one("SELECT count(*) FROM calls") == (2000,)
    assert list(ledger.verify()) == []


async def test_what_waits_is_committed_together(database: Path) -> None:
    """Jobs that queue up while the thread is busy share few transactions."""
    connection = connect_writer(database)
    begun: list[str] = []
    connection.set_trace_callback(lambda sql: begun.append(sql) if sql.startswith("BEGIN") else None)
    writer = Writer(connection, path=database)
    assert await asyncio.gather(*(writer.run(insert(number)) for number in range(1000))) == list(range(1000))
    writer.close()
    assert len(begun) < 100
    assert numbers_in(database) == list(range(1000))


async def test_a_failing_job_fails_alone(database: Path) -> None:
    """Of jobs in one group, those that fail are undone and told why; the others are committed."""

    def half(connection: sqlite3.Connection) -> None:
        connection.execute("INSERT INTO numbers VALUES (100)")
        connection.execute("INSERT INTO nowhere VALUES (1)")

    def own_fault(connection: sqlite3.Connection) -> None:
        connection.execute("INSERT INTO numbers VALUES (200)")
        raise LookupError("mine")

    writer = Writer(connect_writer(database), path=database)
    jobs: list[WriteJob[int | None]] = [insert(1), half, insert(2), insert(2), own_fault, insert(3)]
    outcomes = await asyncio.gather(*(writer.run(job) for job in jobs), return_exceptions=True)
    writer.close()
    assert [type(outcome) for outcome in outcomes] == [int, StorageError, int, StorageError, LookupError, int]
    assert "no such table" in str(outcomes[1])
    assert "numbers.db" in str(outcomes[3])
    assert numbers_in(database) == [1, 2, 3]


async def test_a_full_disk_is_reported_and_passes(database: Path) -> None:
    """When no page can be added every waiter is told that there is no space; later jobs are committed again."""
    connection = connect_writer(database)
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count={pages}")
    writer = Writer(connection, path=database)

    def fill(connection: sqlite3.Connection) -> None:
        connection.execute("CREATE TABLE big AS SELECT zeroblob(100000) AS bytes")

    with pytest.raises(StorageError, match="no space left"):
        await writer.run(fill)

    def relieve(connection: sqlite3.Connection) -> None:
        connection.execute("PRAGMA max_page_count=1000000")

    await writer.run(relieve)
    assert await writer.run(insert(5)) == 5
    writer.close()
    assert numbers_in(database) == [5]


async def test_another_programs_lock_is_reported(database: Path) -> None:
    """A write lock that another program keeps becomes an error that says so; nothing hangs."""
    connection = connect_writer(database)
    connection.execute("PRAGMA busy_timeout=50")
    writer = Writer(connection, path=database)
    shell = sqlite3.connect(database, isolation_level=None)
    shell.execute("BEGIN IMMEDIATE")
    with pytest.raises(StorageError, match="another program keeps it locked"):
        await writer.run(insert(1))
    shell.execute("ROLLBACK")
    shell.close()
    assert await writer.run(insert(1)) == 1
    writer.close()


async def test_a_cancelled_caller_does_not_undo_the_job(database: Path) -> None:
    """Cancelling who waits leaves the job to be committed, and the neighbours unharmed."""
    writer = Writer(connect_writer(database), path=database)
    cancelled = asyncio.ensure_future(writer.run(insert(1)))
    other = asyncio.ensure_future(writer.run(insert(2)))
    await asyncio.sleep(0)
    cancelled.cancel()
    assert await other == 2
    writer.close()
    assert cancelled.cancelled()
    assert numbers_in(database) == [1, 2]


def test_closing_commits_what_waits(database: Path) -> None:
    """Jobs that were queued before close are committed; afterwards the writer refuses."""
    writer = Writer(connect_writer(database), path=database)
    futures = [writer.submit(insert(number)) for number in range(2000)]
    writer.close()
    assert [future.result(timeout=0) for future in futures] == list(range(2000))
    assert len(numbers_in(database)) == 2000
    with pytest.raises(StorageError, match="closed"):
        writer.submit(insert(1))


def commit_and_kill(home: Path, acknowledged: int) -> list[bytes]:
    """Let a process commit calls, kill it after so many acknowledgements, and return all that it had printed."""
    with subprocess.Popen([sys.executable, "-c", KILLED, str(home)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(acknowledged)]
        process.send_signal(signal.SIGKILL)
        return lines + process.stdout.readlines()


@pytest.mark.parametrize("acknowledged", [1, 300])
async def test_what_was_acknowledged_survives_kill_9(tmp_path: Path, acknowledged: int) -> None:
    """After SIGKILL in the middle of commits every call that had been acknowledged is in the reopened ledger, whole."""
    lines = await asyncio.to_thread(commit_and_kill, tmp_path, acknowledged)
    keys = [line.decode().strip() for line in lines if line.endswith(b"\n")]
    assert len(keys) >= acknowledged
    with Home.open(tmp_path, write=True) as home:
        ledger = SqliteLedger(home)
        assert [key for key in keys if await ledger.get(key) is None] == []
        assert list(ledger.verify()) == []
        assert home.one("PRAGMA integrity_check") == ("ok",)


class Counting(queue.SimpleQueue[object]):
    """Counts how often something is put into it, and so how often a thread that waits for it is woken at the most."""

    puts = 0

    def put(self, item: object, block: bool = True, timeout: float | None = None) -> None:
        """Count, and put."""
        self.puts += 1
        super().put(item, block, timeout)


async def test_what_is_queued_in_one_turn_of_the_loop_is_handed_over_once(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hundreds of jobs queued at once wake the thread once and are done in order, one from synchronous code among them."""
    handed = Counting()
    monkeypatch.setattr(queue, "SimpleQueue", lambda: handed)
    writer = Writer(connect_writer(database), path=database)
    seen: list[int] = []

    def job(number: int) -> WriteJob[int]:
        return lambda connection: seen.append(number) or insert(number)(connection)

    await asyncio.gather(*(writer.run(job(number)) for number in range(300)))
    assert handed.puts == 1
    late = asyncio.create_task(writer.run(job(300)))
    await asyncio.sleep(0)
    writer.submit(job(301)).result(30)
    await late
    writer.close()
    assert seen == list(range(302)) == numbers_in(database)


def test_an_amount_that_could_not_be_queued_leaves_the_next_one_free() -> None:
    """After an amount whose write was refused the next one is queued, and does not wait for the refused one."""
    queued: Future[None] = Future()
    outcomes: list[Future[None] | StorageError] = [StorageError("closed"), queued]

    def submit(job: object, *, routine: bool) -> Future[None]:
        outcome = outcomes.pop(0)
        if isinstance(outcome, StorageError):
            raise outcome
        return outcome

    home: Any = SimpleNamespace(writer=SimpleNamespace(submit=submit))
    keep = spending_recorder(home, "r1")
    with pytest.raises(StorageError, match="closed"):
        keep(Spending(calls=1))
    assert keep(Spending(calls=2)) is queued
    assert keep(Spending(calls=3)) is queued, "amounts that wait share a future"
