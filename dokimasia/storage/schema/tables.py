"""The tables, as the migrations make them; `docs/storage.md` describes every column."""

from typing import TYPE_CHECKING, Any

from dokimasia.storage.schema.decisions import decisions
from dokimasia.storage.schema.trees import trees

if TYPE_CHECKING:
    from sqlite_utils import Database

__all__ = ["first_tables"]


def first_tables(db: "Database") -> None:
    """Make the tables of runs and their results, of values, of the ledger, of profiles, of trees and of decisions."""
    _make_runs(db)
    _make_values(db)
    _make_ledger(db)
    _make_results(db)
    _make_profiles(db)
    trees(db)
    decisions(db)


def _make_profiles(db: "Database") -> None:
    _make(
        db,
        "profiles",
        {
            "model": "TEXT",
            "endpoint": "TEXT",
            "name": "TEXT",
            "transport": "TEXT",
            "findings": "TEXT",
            "usage": "INTEGER",
            "finish_reasons": "TEXT",
            "latency": float,
            "checked_at": "TEXT",
        },
        pk=("model", "endpoint"),
    )


def _make(db: "Database", name: str, columns: dict[str, Any], **options: Any) -> None:
    """Create one table; every column whose type is written in capitals must hold a value."""
    required = {column for column, type_ in columns.items() if isinstance(type_, str)}
    db.table(name).create(columns, not_null=required, **options)


def _index(db: "Database", table: str, *columns: str, unique: bool = False) -> None:
    db.table(table).create_index(columns, unique=unique)


def _make_runs(db: "Database") -> None:
    _make(
        db,
        "runs",
        {
            "id": "TEXT",
            "method": "TEXT",
            "command": "TEXT",
            "data_name": "TEXT",
            "data_hash": "TEXT",
            "options": "TEXT",
            "seed": "INTEGER",
            "fresh": "INTEGER",
            "version": "TEXT",
            "status": "TEXT",
            "created_at": "TEXT",
            "updated_at": "TEXT",
        },
        pk="id",
    )
    _make(
        db,
        "events",
        {"id": int, "run_id": "TEXT", "at": "TEXT", "kind": "TEXT", "data": "TEXT"},
        pk="id",
        foreign_keys=[("run_id", "runs", "id")],
    )
    _index(db, "events", "run_id")
    _make(
        db,
        "threads",
        {
            "thread_id": "TEXT",
            "run_id": "TEXT",
            "item": "TEXT",
            "graph": "TEXT",
            "graph_version": "TEXT",
            "created_at": "TEXT",
        },
        pk="thread_id",
        foreign_keys=[("run_id", "runs", "id")],
    )
    _index(db, "threads", "run_id")


def _make_values(db: "Database") -> None:
    _make(
        db,
        "samples",
        {
            "id": "TEXT",
            "sample_id": "TEXT",
            "sample_digest": "TEXT",
            "cluster": "TEXT",
            "category": str,
            "prompt": "TEXT",
            "reference_answer": str,
            "image_count": "INTEGER",
            "body": "TEXT",
        },
        pk="id",
    )
    _index(db, "samples", "sample_digest")
    _make(
        db,
        "run_samples",
        {
            "run_id": "TEXT",
            "position": "INTEGER",
            "sample": "TEXT",
            "sample_id": "TEXT",
            "sample_digest": "TEXT",
            "cluster": "TEXT",
        },
        pk=("run_id", "position"),
        foreign_keys=[("run_id", "runs", "id"), ("sample", "samples", "id")],
    )
    _index(db, "run_samples", "run_id", "sample_id", unique=True)
    _make(db, "chains", {"id": "TEXT", "reasoning": "TEXT", "answer": "TEXT", "body": "TEXT"}, pk="id")
    _make(
        db,
        "criteria_sets",
        {"id": "TEXT", "criteria_count": "INTEGER", "weights": "TEXT", "repaired": "INTEGER", "body": "TEXT"},
        pk="id",
    )
    provenance = {"call_key": str, "prompt": str, "prompt_version": int, "prompt_hash": str, "shown": str}
    _make(
        db,
        "responses",
        {
            "id": "TEXT",
            "sample": "TEXT",
            "model": "TEXT",
            "arm": "TEXT",
            "repeat": "INTEGER",
            "text": "TEXT",
            "flags": "TEXT",
            **provenance,
            "body": "TEXT",
        },
        pk="id",
    )
    _index(db, "responses", "sample", "model")
    _make(
        db,
        "judgements",
        {
            "id": "TEXT",
            "response_id": "TEXT",
            "criteria_id": "TEXT",
            "judge": "TEXT",
            "scores": "TEXT",
            "score": "REAL",
            **provenance,
            "body": "TEXT",
        },
        pk="id",
    )
    _index(db, "judgements", "response_id")
    _make(db, "objects", {"id": "TEXT", "type": "TEXT", "body": "TEXT"}, pk="id")
    _index(db, "objects", "type")


def _make_ledger(db: "Database") -> None:
    _make(db, "texts", {"hash": "TEXT", "text": "TEXT"}, pk="hash")
    _make(
        db,
        "calls",
        {
            "key": "TEXT",
            "kind": "TEXT",
            "model": "TEXT",
            "endpoint": "TEXT",
            "model_name": "TEXT",
            "label": "TEXT",
            "request": "TEXT",
            "reply": "TEXT",
            "reply_digest": "TEXT",
            "finish_reason": str,
            "input_tokens": int,
            "output_tokens": int,
            "cost": float,
            "created_at": "TEXT",
        },
        pk="key",
    )
    _make(
        db,
        "attempts",
        {
            "id": int,
            "call_key": "TEXT",
            "model": "TEXT",
            "endpoint": "TEXT",
            "label": "TEXT",
            "kind": "TEXT",
            "status": int,
            "message": "TEXT",
            "at": "TEXT",
        },
        pk="id",
    )
    _index(db, "attempts", "call_key")


def _make_results(db: "Database") -> None:
    _make(
        db,
        "results",
        {
            "run_id": "TEXT",
            "item": "TEXT",
            "kind": "TEXT",
            "sample_id": "TEXT",
            "sample_digest": "TEXT",
            "model": "TEXT",
            "arm": "TEXT",
            "repeat": "INTEGER",
            "status": "TEXT",
            "outcome": "TEXT",
            "failure": str,
            "reason": str,
            "score": float,
            "chain_id": str,
            "criteria_id": str,
            "response_id": str,
            "judgement_id": str,
            "calls": "TEXT",
            "value_ids": "TEXT",
        },
        pk=("run_id", "item"),
        foreign_keys=[("run_id", "runs", "id")],
    )
    _index(db, "results", "run_id", "sample_id")
    _make(
        db,
        "criteria_collections",
        {
            "collection_id": "TEXT",
            "sample_id": "TEXT",
            "sample_digest": "TEXT",
            "criteria_id": "TEXT",
            "chain_id": str,
        },
        pk=("collection_id", "sample_id"),
        foreign_keys=[("criteria_id", "criteria_sets", "id"), ("chain_id", "chains", "id")],
    )
    _index(db, "criteria_collections", "collection_id", "sample_digest")
