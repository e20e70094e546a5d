"""A home opens for one writer and many readers, and says what is wrong with it."""

import fcntl
import json
import multiprocessing
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
from multiprocessing.synchronize import Barrier
from pathlib import Path
from types import SimpleNamespace

import pytest
from sqlite_utils import Database

from dokimasia.domain.judgement import Failed
from dokimasia.domain.ports import Spending
from dokimasia.errors import HomeLocked, NewerHome, NotFound, OlderHome, StorageError
from dokimasia.storage import lock
from dokimasia.storage.connection import Row, connect_writer
from dokimasia.storage.home import Home
from dokimasia.storage.runs import Run, SqliteValueStore, create_run
from dokimasia.storage.schema.migrations import FIRST, MIGRATIONS, SCHEMA_VERSION, applied_version, migrate
from dokimasia.storage.schema.rows import matches_seal, row_digest
from dokimasia.storage.spending import spending_recorder, spent_by
from tests.processes import PATIENCE

pytestmark = pytest.mark.quick

HOLDER = """
import sys, time
from dokimasia.storage.home import Home
home = Home.open(sys.argv[1], write=True, command="dokimasia evaluate cats.jsonl")
print("open", flush=True)
time.sleep(600)
"""


def test_a_new_home_has_the_present_schema(home: Home) -> None:
    """A writer makes the folder and its tables, set to a log that readers can follow."""
    assert applied_version(home.reader()) == SCHEMA_VERSION == FIRST + len(MIGRATIONS) - 1
    assert home.one("PRAGMA journal_mode") == ("wal",)
    assert {"runs", "calls", "results", "texts"} <= set(home.tables().table_names())


def test_the_second_writer_is_told_who_is_the_first(tmp_path: Path) -> None:
    """While a process writes, another is refused with the holder's pid, host and command, and reading works."""
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path / "h")], stdout=subprocess.PIPE) as holder:
        try:
            assert holder.stdout is not None
            assert holder.stdout.readline() == b"open\n"
            with pytest.raises(HomeLocked) as refused:
                Home.open(tmp_path / "h", write=True)
            for part in (f"process {holder.pid}", os.uname().nodename, "dokimasia evaluate cats.jsonl", "--home"):
                assert part in str(refused.value)
            with Home.open(tmp_path / "h", write=False) as reader:
                assert reader.all("SELECT * FROM runs") == []
        finally:
            holder.send_signal(signal.SIGKILL)
    Home.open(tmp_path / "h", write=True).close()


def test_one_process_cannot_open_a_home_twice_for_writing(home: Home) -> None:
    """A second writer in the same process is told to close the first; after closing it opens."""
    with pytest.raises(HomeLocked, match="in this process"):
        Home.open(home.path, write=True)
    home.close()
    Home.open(home.path, write=True).close()


UNPRIVILEGED = """
import os, sys
from pathlib import Path
from dokimasia.errors import StorageError
from dokimasia.storage.home import Home

if os.getuid() == 0:
    os.setresuid(65534, 65534, 65534)
path = Path(sys.argv[1])
with Home.open(path, write=False) as home:
    print(home.all("SELECT max(number) FROM _migrations"))
for target in (path, path / "new"):
    try:
        Home.open(target, write=True)
    except StorageError as error:
        print(error)
"""


def test_a_home_that_may_not_be_written_can_be_read() -> None:
    """In a folder without write permission a cleanly closed home is read, and writing is an error that says why."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        Home.open(path, write=True).close()
        path.chmod(0o555)
        for name in ("lock", "dokimasia.db"):
            (path / name).chmod(0o444)
        try:
            done = subprocess.run(
                [sys.executable, "-c", UNPRIVILEGED, folder],
                capture_output=True,
                text=True,
                timeout=PATIENCE,
                check=True,
            )
        finally:
            path.chmod(0o755)
        read, *refused = done.stdout.splitlines()
        assert read == f"[({SCHEMA_VERSION},)]"
        assert len(refused) == 2
        assert all("Check the folder's permissions" in line for line in refused)
        assert sorted(each.name for each in path.iterdir()) == ["dokimasia.db", "lock"]


def test_the_lock_says_who_holds_it(tmp_path: Path) -> None:
    """The lock file holds pid, host, command and since as JSON while it is held, and stays behind empty."""
    with Home.open(tmp_path / "h", write=True, command="a command"):
        holder = json.loads((tmp_path / "h" / "lock").read_text())
        assert set(holder) == {"pid", "host", "command", "since"}
        assert (holder["pid"], holder["command"]) == (os.getpid(), "a command")
    assert (tmp_path / "h" / "lock").read_bytes() == b""


def test_a_writer_waits_for_a_reader_that_looks_at_the_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The moment for which a reader shares a free lock keeps no writer out."""
    Home.open(tmp_path / "h", write=True).close()
    with (tmp_path / "h" / "lock").open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        waits = SimpleNamespace(sleep=lambda _: fcntl.flock(file, fcntl.LOCK_UN))
        monkeypatch.setattr(lock, "time", waits)
        Home.open(tmp_path / "h", write=True).close()


def test_an_absent_home_is_not_made_by_reading(tmp_path: Path) -> None:
    """Reading, or writing with create=False, where there is no home is NotFound and makes nothing."""
    for write in (False, True):
        with pytest.raises(NotFound, match="no home at"):
            Home.open(tmp_path / "absent", write=write, create=False)
    assert not (tmp_path / "absent").exists()


def test_a_half_made_home_is_not_there_for_readers(tmp_path: Path) -> None:
    """A database whose first migration has not been committed yet counts as no home."""
    (tmp_path / "h").mkdir()
    connect_writer(tmp_path / "h" / "dokimasia.db").close()
    with pytest.raises(NotFound):
        Home.open(tmp_path / "h", write=False)


@pytest.mark.parametrize("write", [True, False])
def test_a_newer_home_is_refused_and_left_alone(tmp_path: Path, write: bool) -> None:
    """A schema above the known one is refused, with both numbers, and a later attempt finds the lock free."""
    Home.open(tmp_path, write=True).close()
    connection = connect_writer(tmp_path / "dokimasia.db")
    connection.execute("INSERT INTO _migrations VALUES (?, 'later', 'then')", (SCHEMA_VERSION + 1,))
    connection.close()
    for _ in range(2):
        with pytest.raises(NewerHome, match=f"schema {SCHEMA_VERSION + 1}.*up to {SCHEMA_VERSION}"):
            Home.open(tmp_path, write=write)


@pytest.mark.parametrize("write", [True, False])
def test_a_file_that_is_no_database_is_named(tmp_path: Path, write: bool) -> None:
    """Garbage in the place of the database is reported with its path and a way out, and is not overwritten."""
    garbage = b"this was a database once " * 100
    (tmp_path / "dokimasia.db").write_bytes(garbage)
    with pytest.raises(StorageError, match=r"dokimasia\.db.*damaged"):
        Home.open(tmp_path, write=write)
    assert (tmp_path / "dokimasia.db").read_bytes() == garbage


async def test_a_damaged_page_is_reported_when_it_is_read(tmp_path: Path) -> None:
    """Pages overwritten in the middle of the file become a StorageError that names it."""
    with Home.open(tmp_path, write=True) as home:
        store = SqliteValueStore(home)
        ids = [await store.put(Failed(kind="refused", reason=f"{number} " + "x" * 400)) for number in range(1500)]
    with (tmp_path / "dokimasia.db").open("r+b") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(-(size // 4096 // 2) * 4096, os.SEEK_END)
        file.write(b"\xff" * (size // 4096 // 2 * 4096))

    async def read_all(store: SqliteValueStore) -> None:
        for id in ids:
            await store.get(Failed, id)

    with Home.open(tmp_path, write=False) as home, pytest.raises(StorageError, match=r"dokimasia\.db.*damaged"):
        await read_all(SqliteValueStore(home))


def test_a_file_in_the_place_of_the_folder_is_named(tmp_path: Path) -> None:
    """A home that is a file is an error that names it."""
    (tmp_path / "h").write_text("not a folder")
    with pytest.raises(StorageError, match="making the home"):
        Home.open(tmp_path / "h", write=True)


def test_a_home_for_reading_refuses_to_write(home: Home) -> None:
    """The writer of a home that is open for reading is not there, and its connection cannot write either."""
    with Home.open(home.path, write=False) as reader:
        with pytest.raises(StorageError, match="reading only"):
            _ = reader.writer
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            reader.reader().execute("DELETE FROM runs")


async def test_a_closed_home_says_so(home: Home) -> None:
    """After closing, reading and writing are errors, and closing again is harmless."""
    home.close()
    home.close()
    with pytest.raises(StorageError, match="closed"):
        home.rows("SELECT * FROM runs")
    with pytest.raises(StorageError, match="closed"):
        await home.write(lambda connection: None)


def _migrate(path: Path, barrier: Barrier, answers: "multiprocessing.Queue[int]") -> None:
    barrier.wait()
    connection = connect_writer(path)
    answers.put(migrate(connection, path))
    connection.close()


def test_processes_that_migrate_at_once_make_one_schema(tmp_path: Path) -> None:
    """Four processes that start at the same moment on an empty folder each find every migration applied once."""
    context = multiprocessing.get_context("spawn")
    barrier, answers = context.Barrier(4), context.Queue()
    database = tmp_path / "dokimasia.db"
    processes = [context.Process(target=_migrate, args=(database, barrier, answers)) for _ in range(4)]
    for process in processes:
        process.start()
    assert [answers.get(timeout=PATIENCE) for _ in processes] == [SCHEMA_VERSION] * 4
    for process in processes:
        process.join()
    connection = connect_writer(database)
    assert connection.execute("SELECT number, name FROM _migrations").fetchall() == [
        (number, name) for number, (name, _) in enumerate(MIGRATIONS, start=FIRST)
    ]
    connection.close()


def test_a_migration_that_dies_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A migration that fails half-way leaves the database as it was, and the next start applies it whole."""

    def fail(tables: Database) -> None:
        MIGRATIONS[0][1](tables)  # the real migration, then the fault
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("dokimasia.storage.schema.migrations.MIGRATIONS", (("first_tables", fail),))
        with pytest.raises(KeyboardInterrupt):
            Home.open(tmp_path, write=True)
    with pytest.raises(NotFound):
        Home.open(tmp_path, write=False)
    with Home.open(tmp_path, write=True) as home:
        assert home.all("SELECT * FROM runs") == []


def test_copying_through_sqlite_while_a_run_writes(home: Home, tmp_path: Path) -> None:
    """The documented copy of a home in use opens as a home."""
    (tmp_path / "copy").mkdir()
    source = sqlite3.connect(home.database)
    source.execute("VACUUM INTO ?", (str(tmp_path / "copy" / "dokimasia.db"),))
    source.close()
    with Home.open(tmp_path / "copy", write=True) as copy:
        assert copy.all("SELECT max(number) FROM _migrations") == [(SCHEMA_VERSION,)]


def test_a_home_from_before_the_first_release_is_refused(tmp_path: Path) -> None:
    """A database of an earlier schema is neither read nor changed: one sentence says to use another home."""
    Home.open(tmp_path, write=True).close()
    connection = sqlite3.connect(tmp_path / "dokimasia.db")
    connection.execute("DELETE FROM _migrations WHERE number > ?", (FIRST,))
    connection.execute("UPDATE _migrations SET number = ?", (FIRST - 1,))
    connection.commit()
    connection.close()
    for write in (True, False):
        with pytest.raises(OlderHome, match=r"development version .* use another home with --home"):
            Home.open(tmp_path, write=write)


async def test_spending_of_an_older_version_is_read(tmp_path: Path) -> None:
    """A home whose spending has no count of calls that were cut off is migrated, and the count goes on from 0."""
    with Home.open(tmp_path, write=True) as home:
        await create_run(home, Run(id="run1", method="evaluate"))
        spending_recorder(home, "run1")(Spending(5, 100, 0.5)).result()
    connection = sqlite3.connect(tmp_path / "dokimasia.db")
    for table in ("spending", "payers"):
        connection.execute(f"ALTER TABLE {table} DROP COLUMN cut_off")
    connection.execute("DELETE FROM _migrations WHERE number >= ?", (FIRST + 10,))
    connection.execute("UPDATE spending SET row_digest = ?", (row_digest("spending", SPENT_BEFORE),))
    connection.commit()
    connection.close()
    with Home.open(tmp_path, write=True) as home:
        assert spent_by(home, "run1") == Spending(5, 100, 0.5)
        spending_recorder(home, "run1")(Spending(6, 110, 0.6, 1)).result()
        assert spent_by(home, "run1") == Spending(6, 110, 0.6, 1)
        assert all(matches_seal("spending", row) for row in home.rows("SELECT * FROM spending"))


SPENT_BEFORE: Row = {"id": "run1", "calls": 5, "tokens": 100, "cost": 0.5}
