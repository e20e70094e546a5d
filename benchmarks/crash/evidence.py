"""What a kill left behind, read from a copy, so that the first to recover the database is the run that goes on."""

import shutil
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from dokimasia.simulation.draws import request_hash
from dokimasia.storage.home import Home
from dokimasia.storage.ledger import SqliteLedger
from dokimasia.storage.schema.migrations import SCHEMA_VERSION, applied_version

_DATABASES = ("dokimasia.db", "checkpoints.db")
_SUFFIXES = ("", "-wal", "-journal")
_RESULT = (
    "item, kind, sample_id, sample_digest, model, arm, repeat, status, outcome, failure, reason, score, chain_id, "
    "criteria_id, response_id, judgement_id, value_ids, calls"
)
_CLOSED = "WHERE coalesce(failure, '') NOT IN ('budget', 'waiting')"
"""What is open since money or a person is waited for is no result yet, and is taken up again."""

Rows = Mapping[str, tuple[object, ...]]


class Evidence(NamedTuple):
    """What is committed: calls by key (with their replies' digests), results by run and item; and whether SQLite finds damage."""

    calls: dict[str, str]
    results: Rows
    damage: tuple[str, ...]


class Requests:
    """Knows the committed calls by the name that the server gives a request in its log; each is worked out once."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def named(self, keys: Mapping[str, str], folder: Path) -> set[str]:
        """Return the server's names of the calls with these keys, which the home in the folder holds."""
        new = [key for key in keys if key not in self._names]
        if new:
            with Home.open(folder, write=False) as home:
                ledger = SqliteLedger(home)
                for key in new:
                    call = ledger.rebuild(key)[0]
                    if call.kind == "chat" and not call.model.person:
                        self._names[key] = request_hash(call)
        return {self._names[key] for key in keys if key in self._names}


def take_copy(home: Path, folder: Path) -> Path:
    """Copy a home's databases, as a kill left them, into the folder, and return it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in _DATABASES:
        for suffix in _SUFFIXES:
            path = home / f"{name}{suffix}"
            if path.exists():
                shutil.copyfile(path, folder / path.name)
    return folder


def read_evidence(folder: Path) -> Evidence:
    """Recover a copy and return what it holds; of a home whose tables are not all made yet, nothing."""
    damage: list[str] = []
    calls: dict[str, str] = {}
    rows: dict[str, tuple[object, ...]] = {}
    for name in _DATABASES:
        if not (folder / name).exists():
            continue
        connection = sqlite3.connect(folder / name)
        try:
            found = [row[0] for row in connection.execute("PRAGMA quick_check")]
            damage += [f"{name}: {line}" for line in found if line != "ok"]
            if name == _DATABASES[0] and applied_version(connection) == SCHEMA_VERSION:
                calls = dict(connection.execute("SELECT key, reply_digest FROM calls"))
                rows = {
                    f"{row[0]}/{row[1]}": row
                    for row in connection.execute(f"SELECT run_id, {_RESULT} FROM results {_CLOSED}")
                }
        finally:
            connection.close()
    return Evidence(calls, rows, tuple(damage))


def committed(home: Path) -> int:
    """Return how many calls a home holds at this moment; 0 before there is a ledger."""
    return _counts_of(home, "SELECT count(*) FROM calls")[0]


def spent_before(home: Path) -> tuple[int, float]:
    """Return the requests and the dollars that the runs of a home have spent by now, against which their limits count."""
    calls, cost = _counts_of(home, "SELECT total(calls), total(cost) FROM spending")
    return int(calls), cost


def _counts_of(home: Path, query: str) -> Sequence[Any]:
    """Return the row of numbers that a query finds, all 0 before the home has its tables."""
    if (home / _DATABASES[0]).exists():
        connection = sqlite3.connect(f"file:{home / _DATABASES[0]}?mode=ro", uri=True)
        try:
            return connection.execute(query).fetchone()
        except sqlite3.OperationalError:
            pass
        finally:
            connection.close()
    return (0, 0)


class ServerLog:
    """The server's log of requests, read on from where it was read last."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._at = 0

    def new_requests(self) -> list[str]:
        """Return the names of the requests that came since this was last asked, answered or not."""
        return [line["request"] for line in self.new_lines()]

    def new_lines(self) -> list[dict[str, Any]]:
        """Return what the log says of those requests."""
        with open(self._path, "rb") as file:
            file.seek(self._at)
            text = file.read()
        whole = text.rfind(b"\n") + 1
        self._at += whole
        return [line for line in map(orjson.loads, text[:whole].splitlines()) if line["request"]]
