"""What came of each work item of a run, and what happened on the way: result rows and events."""

import sqlite3
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple

import orjson
from pydantic import Field, model_validator

from dokimasia.domain.identity import Value, canonical_json
from dokimasia.domain.judgement import FailureKind
from dokimasia.storage.home import Home
from dokimasia.storage.values import insert_statement

__all__ = [
    "Event",
    "ResultRow",
    "events",
    "get_result",
    "record_event",
    "record_result",
    "reopen",
    "result_failures",
    "result_items",
    "results",
]


class ResultRow(Value):
    """The outcome of one work item.

    `item` names it within its run, `kind` says what was done. `outcome` is `scored` (then `score` is there), `failed`
    (then `failure` is) or `made` for an item whose product has no score, such as a sample's criteria. `calls` are the
    keys of all ledger entries that it used, in order.
    """

    run_id: str
    item: str = Field(min_length=1)
    kind: str = Field(min_length=1)
    sample_id: str
    sample_digest: str = ""
    model: str = ""
    arm: str = ""
    repeat: int = Field(default=0, ge=0)
    status: Literal["done"] = "done"
    outcome: Literal["scored", "failed", "made"]
    failure: FailureKind | None = None
    reason: str | None = None
    score: float | None = Field(default=None, allow_inf_nan=False)
    chain_id: str | None = None
    criteria_id: str | None = None
    response_id: str | None = None
    judgement_id: str | None = None
    calls: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _a_failure_is_never_a_number(self) -> "ResultRow":
        if (self.outcome == "scored") != (self.score is not None):
            raise ValueError("a row has a score if, and only if, its outcome is 'scored'")
        if (self.outcome == "failed") != (self.failure is not None):
            raise ValueError("a row has a kind of failure if, and only if, its outcome is 'failed'")
        return self


class Event(NamedTuple):
    """Something that happened in a run: when (UTC, ISO form), of what kind, and its details."""

    id: int
    at: str
    kind: str
    data: dict[str, Any]


async def record_result(home: Home, row: ResultRow) -> bool:
    """Keep a result, durably on return; whether it is new. An item that has a result keeps the first one.

    Raises:
        StorageError: it could not be written, or there is no such run.
    """
    columns = row.model_dump(mode="json")
    columns["calls"] = canonical_json(columns["calls"]).decode()

    def insert(connection: sqlite3.Connection) -> bool:
        return connection.execute(insert_statement("results", columns), columns).rowcount > 0

    return await home.write(insert)


def results(home: Home, run_id: str) -> list[ResultRow]:
    """Return a run's results ordered by sample, kind, model, arm and repeat, never by when they came."""
    rows = home.rows(
        "SELECT r.* FROM results r "
        "LEFT JOIN run_samples s ON s.run_id = r.run_id AND s.sample_id = r.sample_id WHERE r.run_id = ? "
        "ORDER BY s.position IS NULL, s.position, r.sample_id, r.kind, r.model, r.arm, r.repeat, r.item",
        (run_id,),
    )
    return [_result(row) for row in rows]


def get_result(home: Home, run_id: str, item: str) -> ResultRow | None:
    """Return an item's result, or None while it has none."""
    rows = home.rows("SELECT * FROM results WHERE run_id = ? AND item = ?", (run_id, item))
    return _result(rows[0]) if rows else None


def result_failures(home: Home, run_id: str) -> dict[FailureKind, int]:
    """Return how many of a run's items failed, by kind of failure; a kind that did not occur is left out."""
    sql = "SELECT failure, count(*) FROM results WHERE run_id = ? AND outcome = 'failed' GROUP BY failure ORDER BY failure"
    return dict(home.all(sql, (run_id,)))


def result_items(home: Home, run_id: str) -> set[str]:
    """Return the items of a run that have a result, which a resume leaves alone."""
    return {item for (item,) in home.all("SELECT item FROM results WHERE run_id = ?", (run_id,))}


async def reopen(home: Home, run_id: str, *, failures: Iterable[FailureKind] = ("budget",)) -> int:
    """Remove a run's rows that failed in these ways, so that a resume takes their items up again; return how many.

    What failed and why stays on record as an event `reopened`.
    """
    kinds = sorted(set(failures))
    marks = ",".join("?" * len(kinds))
    where = f"run_id = ? AND outcome = 'failed' AND failure IN ({marks})"

    def remove(connection: sqlite3.Connection) -> int:
        sql = f"SELECT item, failure, reason FROM results WHERE {where} ORDER BY item"
        removed = connection.execute(sql, (run_id, *kinds)).fetchall()
        if removed:
            connection.execute(f"DELETE FROM results WHERE {where}", (run_id, *kinds))
            items = [{"item": item, "failure": failure, "reason": reason} for item, failure, reason in removed]
            _insert_event(connection, run_id, "reopened", {"items": items})
        return len(removed)

    return await home.write(remove)


async def record_event(home: Home, run_id: str, kind: str, data: dict[str, Any] | None = None) -> None:
    """Record that something happened in a run; `data` is plain JSON, without secrets.

    Raises:
        StorageError: it could not be written, or there is no such run.
    """
    details = data or {}
    canonical_json(details)  # what JSON has no form for is refused here, in the caller's own stack
    await home.write(lambda connection: _insert_event(connection, run_id, kind, details))


def events(home: Home, run_id: str, *, kind: str | None = None) -> list[Event]:
    """Return a run's events in the order in which they were recorded; with `kind`, only those of that kind."""
    sql = "SELECT id, at, kind, data FROM events WHERE run_id = ? AND (? IS NULL OR kind = ?) ORDER BY id"
    return [Event(id, at, name, orjson.loads(data)) for id, at, name, data in home.all(sql, (run_id, kind, kind))]


def _result(row: dict[str, Any]) -> ResultRow:
    return ResultRow.model_validate(row | {"calls": orjson.loads(row["calls"])})


def _insert_event(connection: sqlite3.Connection, run_id: str, kind: str, data: dict[str, Any]) -> None:
    connection.execute(
        "INSERT INTO events (run_id, at, kind, data) VALUES (?, ?, ?, ?)",
        (run_id, datetime.now(UTC).isoformat(timespec="milliseconds"), kind, canonical_json(data).decode()),
    )
