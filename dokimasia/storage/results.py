"""The results of a run's work items, and the events of the run."""

import sqlite3
from collections.abc import Collection, Iterator, Sequence
from typing import Literal, NamedTuple

import orjson
from pydantic import Field, model_validator

from dokimasia.domain.identity import JsonObject, Value, canonical_json
from dokimasia.domain.judgement import OPEN_KINDS, Answered, FailureKind
from dokimasia.storage.connection import Row, rows_of
from dokimasia.storage.home import Home
from dokimasia.storage.people.corrections import Corrections, JudgedColumns, corrections_of
from dokimasia.storage.schema.rows import insert_row, insert_rows, next_number, without_seal
from dokimasia.storage.values import now


class ResultRow(Value):
    """The outcome of one work item.

    `item` is its name within the run, `kind` the kind of work, and `status` the same in every row, since only finished items
    have one. `outcome` is `scored` (with a `score`), `failed` (with a
    `failure`), or `made` for an item whose product has no score, such as a sample's criteria. `value_ids` are the values
    that a plug-in's graph made or, in an evaluation, the judge's looks with its tools. `calls` are the keys of all ledger
    entries that the item used, in order.

    For an answer of an evaluation, `final_id` is its `FinalAnswer` and `verdict` the verdict of that, `stated` the share of
    the criteria's weight that the answer addresses (0 to 1), `stated_score` its score on the addressed criteria (1 to 5),
    and `length` its length in characters.
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
    final_id: str | None = None
    verdict: Answered | None = None
    stated: float | None = Field(default=None, ge=0, le=1)
    stated_score: float | None = Field(default=None, ge=1, le=5)
    length: int | None = Field(default=None, ge=0)
    value_ids: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _a_failure_is_never_a_number(self) -> "ResultRow":
        if (self.outcome == "scored") != (self.score is not None):
            raise ValueError("a row has a score if, and only if, its outcome is 'scored'")
        if (self.outcome == "failed") != (self.failure is not None):
            raise ValueError("a row has a kind of failure if, and only if, its outcome is 'failed'")
        return self


class RunEvent(NamedTuple):
    """An event of a run: its number, its time (UTC, ISO form), its kind, and its details."""

    id: int
    at: str
    kind: str
    data: JsonObject


async def record_results(home: Home, rows: Sequence[ResultRow]) -> int:
    """Store results, all or none, durably on return; return the number of new ones. An item keeps its first result.

    Raises:
        StorageError: they could not be written, or there is no such run.
    """
    if not rows:
        return 0
    columns = [_columns(row) for row in rows]
    return await home.write(lambda connection: insert_rows(connection, "results", columns), routine=True)


def _columns(row: ResultRow) -> Row:
    columns = row.model_dump(mode="json")
    for name in ("calls", "value_ids"):
        columns[name] = canonical_json(columns[name]).decode()
    return columns


def results(home: Home, run_id: str, *, kind: str | None = None, as_judged: bool = False) -> list[ResultRow]:
    """Return a run's results, or those of a kind, by sample, kind, model, arm and repeat.

    Corrections by people apply, and samples they excluded are left out, unless `as_judged` is set.
    """
    rows = home.rows(
        "SELECT r.* FROM results r "
        "LEFT JOIN run_samples s ON s.run_id = r.run_id AND s.sample_id = r.sample_id "
        "WHERE r.run_id = ? AND (? IS NULL OR r.kind = ?) "
        "ORDER BY s.position IS NULL, s.position, r.sample_id, r.kind, r.model, r.arm, r.repeat, r.item",
        (run_id, kind, kind),
    )
    results = [read_result(row) for row in rows]
    if as_judged or not (corrections := corrections_of(home, run_id)):
        return results
    return [corrected(row, corrections) for row in results if row.sample_id not in corrections.left_out]


PAGE = 4_000
"""The approximate number of rows that `result_pages` reads at a time, unless a sample has more."""


def result_pages(home: Home, run_id: str, kind: str) -> Iterator[list[ResultRow]]:
    """Yield a run's results of a kind as judged, in the order of `results`, all those of some samples at a time."""
    [(end, count)] = home.all(
        "SELECT (SELECT coalesce(max(position) + 1, 0) FROM run_samples WHERE run_id = ?1), "
        "(SELECT count(*) FROM results WHERE run_id = ?1 AND kind = ?2)",
        (run_id, kind),
    )
    step = max(1, PAGE * end // max(1, count))
    of_samples = (
        "SELECT r.* FROM run_samples s JOIN results r ON r.run_id = s.run_id AND r.sample_id = s.sample_id "
        "WHERE s.run_id = ? AND s.position >= ? AND s.position < ? AND r.kind = ? "
        "ORDER BY s.position, r.model, r.arm, r.repeat, r.item"
    )
    for start in range(0, end, step):
        if page := home.rows(of_samples, (run_id, start, start + step, kind)):
            yield [read_result(row) for row in page]
    others = (
        "SELECT * FROM results WHERE run_id = ?1 AND kind = ?2 "
        "AND sample_id NOT IN (SELECT sample_id FROM run_samples WHERE run_id = ?1) "
        "ORDER BY sample_id, model, arm, repeat, item"
    )
    if page := home.rows(others, (run_id, kind)):
        yield [read_result(row) for row in page]


def columns_of(row: ResultRow) -> JudgedColumns:
    """Return the columns of a result that a correction may change."""
    return JudgedColumns(*(getattr(row, name) for name in JudgedColumns._fields))


def corrected(row: ResultRow, corrections: Corrections) -> ResultRow:
    """Return a result with its correction, if there is one."""
    correction = corrections.of(row.item, row.judgement_id, row.final_id)
    if correction is None:
        return row
    return row.model_copy(update=correction.now._asdict())


def get_result(home: Home, run_id: str, item: str) -> ResultRow | None:
    """Return an item's result, or None if it has none yet."""
    rows = home.rows("SELECT * FROM results WHERE run_id = ? AND item = ?", (run_id, item))
    return read_result(rows[0]) if rows else None


def has_results(home: Home, run_id: str) -> bool:
    """Return whether a run has any result."""
    return home.one("SELECT 1 FROM results WHERE run_id = ? LIMIT 1", (run_id,)) is not None


def result_failures(home: Home, run_id: str) -> dict[FailureKind, int]:
    """Return the numbers of a run's failed items by kind of failure, without kinds that did not occur."""
    sql = "SELECT failure, count(*) FROM results WHERE run_id = ? AND outcome = 'failed' GROUP BY failure ORDER BY failure"
    return dict(home.all(sql, (run_id,)))


def failed_by_model(home: Home, run_id: str) -> dict[str, tuple[int, int]]:
    """Return the numbers of a run's failed items and of its results, by model ('' for items of none or several)."""
    sql = "SELECT model, sum(outcome = 'failed'), count(*) FROM results WHERE run_id = ? GROUP BY model ORDER BY model"
    return {model: (failed, count) for model, failed, count in home.all(sql, (run_id,))}


def last_failures(home: Home, run_id: str, last: int) -> dict[FailureKind, tuple[int, list[ResultRow]]]:
    """Return the number of a run's failed items and the last few of them by name, for each kind of failure."""
    sql = "SELECT * FROM results WHERE run_id = ? AND outcome = 'failed' AND failure = ? ORDER BY item DESC LIMIT ?"
    return {
        kind: (count, [read_result(row) for row in reversed(home.rows(sql, (run_id, kind, last)))])
        for kind, count in result_failures(home, run_id).items()
    }


def counts_by_sample(home: Home, run_id: str, samples: Sequence[str]) -> dict[str, tuple[int, int, int]]:
    """Return the numbers of results, of failed ones and of waiting items of some samples, by name.

    Samples without any are left out.
    """
    sql = (
        "SELECT sample_id, sum(failure IS NOT 'waiting'), sum(coalesce(failure, 'waiting') != 'waiting'), "
        "sum(failure IS 'waiting') FROM results WHERE run_id = ? AND sample_id IN (SELECT value FROM json_each(?)) "
        "GROUP BY sample_id"
    )
    rows = home.all(sql, (run_id, orjson.dumps(list(samples)).decode()))
    return {sample: (count, failed, waiting) for sample, count, failed, waiting in rows}


async def reopen(home: Home, run_id: str, *, failures: Collection[FailureKind] = OPEN_KINDS) -> int:
    """Remove a run's results with failures of these kinds, so that a resume repeats their items; return their number.

    An event `reopened` records what failed and why.
    """

    def remove(connection: sqlite3.Connection) -> int:
        rows = take_failed(connection, run_id, failures)
        if rows:
            items = [{"item": row.item, "failure": row.failure, "reason": row.reason} for row in rows]
            insert_event(connection, run_id, "reopened", {"items": items})
        return len(rows)

    return await home.write(remove)


def count_failed(home: Home, run_id: str, failures: Collection[FailureKind]) -> int:
    """Return the number of a run's items that failed, or lost the verdict on their final answer, in these ways."""
    query, values = _failure_query(run_id, failures)
    return home.all(f"SELECT count(*) {query}", values)[0][0]


def take_failed(connection: sqlite3.Connection, run_id: str, failures: Collection[FailureKind]) -> list[ResultRow]:
    """Remove, inside a writing job, a run's results that failed in these ways, and return them by item.

    They include scored answers whose verdict on right or wrong failed in these ways. The threads of the items are
    removed too, so that none continues from the old outcome.
    """
    query, values = _failure_query(run_id, failures)
    rows = rows_of(connection.execute(f"SELECT * {query} ORDER BY item", values))
    connection.execute(f"DELETE {query}", values)
    connection.executemany("DELETE FROM threads WHERE run_id = :run_id AND item = :item", rows)
    return [read_result(row) for row in rows]


def _failure_query(run_id: str, failures: Collection[FailureKind]) -> tuple[str, tuple[str, ...]]:
    """Return the end of a query for results that failed, or lost their verdict, in these ways, and its parameters."""
    marks = ",".join("?" * len(failures))
    verdict_failure = f"(SELECT json_extract(body, '$.failure') FROM objects WHERE id = final_id) IN ({marks})"
    condition = f"outcome = 'failed' AND failure IN ({marks}) OR outcome = 'scored' AND verdict = 'unknown' AND {verdict_failure}"
    return f"FROM results WHERE run_id = ? AND ({condition})", (run_id, *failures, *failures)


async def record_event(home: Home, run_id: str, kind: str, data: JsonObject | None = None) -> None:
    """Record an event of a run; `data` must be free of secrets.

    Raises:
        StorageError: it could not be written, or there is no such run.
    """
    details = data or {}
    canonical_json(details)  # raises here, in the caller's own stack, for values that JSON cannot represent
    await home.write(lambda connection: insert_event(connection, run_id, kind, details))


def events(home: Home, run_id: str, *, kind: str | None = None) -> list[RunEvent]:
    """Return a run's events, or those of a kind, in the order of recording."""
    sql = "SELECT id, at, kind, data FROM events WHERE run_id = ? AND (? IS NULL OR kind = ?) ORDER BY id"
    return [RunEvent(id, at, name, orjson.loads(data)) for id, at, name, data in home.all(sql, (run_id, kind, kind))]


def read_result(row: Row) -> ResultRow:
    """Return the result in a row of the table.

    Raises:
        ValueError: the row is not a valid result.
    """
    lists = {name: orjson.loads(row[name]) for name in ("calls", "value_ids")}
    return ResultRow.model_validate(without_seal(row) | lists)


def insert_event(connection: sqlite3.Connection, run_id: str, kind: str, data: JsonObject) -> None:
    """Record an event of a run, inside a writing job."""
    row = {"id": next_number(connection, "events"), "run_id": run_id, "at": now("milliseconds"), "kind": kind}
    insert_row(connection, "events", {**row, "data": canonical_json(data).decode()})


def keep_event(connection: sqlite3.Connection, run_id: str, kind: str, data: JsonObject) -> None:
    """Record an event of a run, replacing the earlier ones of its kind, inside a writing job."""
    connection.execute("DELETE FROM events WHERE run_id = ? AND kind = ?", (run_id, kind))
    insert_event(connection, run_id, kind, data)
