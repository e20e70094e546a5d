"""The crash harness can fail: it sees what is lost, changed, sent again or torn."""

import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.crash.__main__ import Findings, Scene, compare_with_earlier, count_sent
from benchmarks.crash.evidence import Evidence, ServerLog, committed, read_evidence, take_copy
from benchmarks.crash.limits import Start, kept

ROOT = Path(__file__).parents[2]

WAL_HEADER, FRAME = 32, 24 + 4096
"""Bytes of the log's header, and of a page in it with its own (SQLite's file format, section 4)."""

WRITER = """
import sqlite3, sys
from benchmarks.crash.torn_writes import TornWrites
torn = TornWrites(sys.argv[2], int(sys.argv[3]), armed=False)
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA journal_mode=WAL")
connection.execute("CREATE TABLE t (n INTEGER, text TEXT)")
torn.arm()
for n in range(100):
    connection.execute("INSERT INTO t VALUES (?, ?)", (n, "x" * 3000))
    print(n, flush=True)
"""


@pytest.mark.parametrize(("file", "at"), [("data.db-wal", 1), ("data.db-wal", 8), ("data.db*", 21)])
def test_a_write_is_torn_and_the_process_is_gone(tmp_path: Path, file: str, at: int) -> None:
    """The process dies in the chosen write, and what it had acknowledged before is all there and nothing is damaged."""
    path = tmp_path / "data.db"
    command = [sys.executable, "-c", WRITER, str(path), file, str(at)]
    died = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert died.returncode == -signal.SIGKILL, died.stderr
    acknowledged = [int(line) for line in died.stdout.split()]
    assert len(acknowledged) < at
    if file.endswith("-wal"):
        assert ((tmp_path / file).stat().st_size - WAL_HEADER) % FRAME != 0, "the last frame is not whole"
    connection = sqlite3.connect(path)
    assert [row[0] for row in connection.execute("SELECT n FROM t ORDER BY n")] == acknowledged
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()


def test_what_is_lost_or_changed_is_counted() -> None:
    """A call that is gone, a reply that is another and a result that is another are found, and damage is passed on."""
    findings = Findings()
    before = Evidence({"a": "1", "b": "2", "c": "3"}, {"item": ("item", 4.0)}, ())
    now = Evidence({"a": "1", "b": "other"}, {"item": ("item", 3.0)}, ("dokimasia.db: row 1 missing",))
    compare_with_earlier(before, now, findings, "after a kill")
    assert (findings.lost, findings.changed, findings.damaged) == (1, 2, 1)
    assert len(findings.said) == 3


def test_what_is_sent_again_is_counted(tmp_path: Path) -> None:
    """A request in the server's log that was committed before the last kill is found; half a line is read later."""
    import random

    log = tmp_path / "server.log"
    log.write_text('{"request": "one"}\n{"request": "two"}\n{"requ')
    scene = Scene(tmp_path, ServerLog(log), 0.0, random.Random(0))
    findings = Findings()
    assert count_sent(scene, {"two", "three"}, findings, "after a kill") == {"one", "two"}
    assert (findings.resent, findings.requests) == (1, 2)
    with open(log, "a") as file:
        file.write('est": "three"}\n')
    assert count_sent(scene, {"two", "three"}, findings, "after another") == {"three"}
    assert (findings.resent, findings.requests) == (2, 3)


def test_a_home_that_is_not_made_yet_holds_nothing(tmp_path: Path) -> None:
    """Before and half-way through the first migration there is no call, and no damage."""
    home = tmp_path / "home"
    home.mkdir()
    assert committed(home) == 0
    assert read_evidence(take_copy(home, tmp_path / "copy")) == Evidence({}, {}, ())
    connection = sqlite3.connect(home / "dokimasia.db")
    connection.execute("CREATE TABLE _migrations (number INTEGER PRIMARY KEY, name TEXT, applied_at TEXT)")
    connection.close()
    assert committed(home) == 0
    assert read_evidence(take_copy(home, tmp_path / "copy")) == Evidence({}, {}, ())


def line(began: float, ended: float, *, model: str = "sim/weak", sent: bool = True, tokens: int = 0) -> dict[str, Any]:
    """A line of the server's log."""
    return {"began": began, "ended": ended, "model": model, "sent": sent, "tokens": [tokens, tokens]}


def test_requests_at_once_are_counted_and_orphans_apart() -> None:
    """What ends as another begins is not at once with it; a request whose client was gone is counted in all alone."""
    lines = [line(0, 2), line(1, 3), line(2, 4), line(1, 9, sent=False)]
    found = kept(lines, [Start(0)], prices=(1, 4))
    assert (found.at_once, found.at_once_in_all, found.orphans) == (2, 3, 1)


def test_a_minute_that_holds_too_much_is_found() -> None:
    """Of a model with a limit a minute every 60 s are looked at; a start in them allows what may be sent at once, once more."""
    lines = [line(at, at + 1) for at in (0, 50, 100, 105, 108, 109)] + [
        line(at, at + 1, model="other") for at in (1, 2)
    ]
    found = kept(lines, [Start(0)], prices=(1, 4), paced="sim/weak", rpm=4)
    assert (found.a_minute, found.over_minute) == (5, 1.0)
    assert kept(lines, [Start(0), Start(101)], prices=(1, 4), paced="sim/weak", rpm=4).over_minute == 0
    assert kept(lines, [Start(0)], prices=(1, 4), paced="sim/weak", rpm=5).over_minute == 0


def test_what_a_start_spends_beyond_its_limit_is_found() -> None:
    """Calls and money are those of the start before them; a limit that was reached and kept is told."""
    lines = [line(at, at + 1, tokens=100_000) for at in (1, 2, 3, 11, 12)]
    starts = [Start(0, calls=2), Start(10, cost=1.0)]
    found = kept(lines, starts, prices=(1, 4))
    assert (found.over_calls, found.over_cost, found.spent) == (1, 0.0, 2)
    found = kept(lines, [Start(0, calls=3), Start(10, cost=0.75)], prices=(1, 4))
    assert (found.over_calls, found.over_cost) == (0, 0.25)
