"""A run's answers as a table for other tools: one row a scored or failed answer, in the run's order, without times."""

from collections.abc import Iterator
from typing import Any, Literal

from dokimasia.domain.criterion import CriteriaSet
from dokimasia.domain.judgement import CheckpointScores, Response
from dokimasia.methods.evaluation.evaluation import read_plan
from dokimasia.methods.evaluation.results import simulated_models
from dokimasia.storage.home import Home
from dokimasia.storage.ledger import CallFigures, SqliteLedger
from dokimasia.storage.results import ResultRow, results
from dokimasia.storage.retries import retries
from dokimasia.storage.runs import Run, SqliteRunStore, load_samples

ColumnType = Literal["text", "integer", "number", "truth", "integers", "texts"]

COLUMNS: dict[str, ColumnType] = {
    "run": "text",
    "sample": "text",
    "sample_digest": "text",
    "category": "text",
    "model": "text",
    "arm": "text",
    "repeat": "integer",
    "attempt": "integer",
    "outcome": "text",
    "failure": "text",
    "reason": "text",
    "score": "number",
    "criteria_scores": "integers",
    "weights": "integers",
    "response": "text",
    "flags": "texts",
    "judge": "text",
    "prompt": "text",
    "prompt_version": "integer",
    "prompt_hash": "text",
    "calls": "integer",
    "input_tokens": "integer",
    "output_tokens": "integer",
    "cost": "number",
    "call_keys": "texts",
    "simulated": "truth",
}
"""The columns of an export, in order, and what each holds; where there is no value it is null."""


_UNKNOWN = CallFigures(None, None, None, "", "")


async def export_rows(home: Home, run: Run) -> list[dict[str, Any]]:
    """Return one row an answer, by the columns above; a failed one has no score, and null stands for what is unknown.

    `attempt` is 0 but for answers that failed and were asked anew; `input_tokens`, `output_tokens` and `cost` (US
    dollars) sum over the row's calls and are null if any of them is unknown. Calls that make criteria belong to a
    sample, not to an answer, and are in no row.

    Raises:
        NotFound: the run is not an evaluation.
        StorageError: a value of it is missing or damaged.
    """
    plan, _ = read_plan(run)
    judge = plan.judge_of("score").ref.name
    simulated = set(simulated_models(run))
    store, ledger = SqliteRunStore(home, run.id), SqliteLedger(home)
    categories = {sample.id: sample.category for sample in load_samples(home, run.id)}
    attempts = {item: retry.attempt for item, retry in retries(home, run.id).items()}
    rows = [row for row in results(home, run.id) if row.kind == "score"]
    figures = ledger.calls_for(key for row in rows for key in row.calls)
    return [
        {
            "run": run.id,
            "sample": row.sample_id,
            "sample_digest": row.sample_digest,
            "category": categories.get(row.sample_id),
            "model": row.model,
            "arm": row.arm,
            "repeat": row.repeat,
            "attempt": attempts.get(row.item, 0),
            "outcome": row.outcome,
            "failure": row.failure,
            "reason": row.reason,
            "score": row.score,
            "judge": judge,
            **await _judged(store, row),
            **_used(row, figures),
            "simulated": row.model in simulated or judge in simulated,
        }
        for row in rows
    ]


async def _judged(store: SqliteRunStore, row: ResultRow) -> dict[str, Any]:
    response = None if row.response_id is None else await store.get(Response, row.response_id)
    criteria = None if row.criteria_id is None else await store.get(CriteriaSet, row.criteria_id)
    judgement = None if row.judgement_id is None else await store.get(CheckpointScores, row.judgement_id)
    origin = None if judgement is None else judgement.provenance
    return {
        "criteria_scores": None if judgement is None else list(judgement.scores),
        "weights": None if criteria is None else list(criteria.weights),
        "response": None if response is None else response.text,
        "flags": None if response is None else list(response.flags),
        "prompt": None if origin is None else origin.prompt,
        "prompt_version": None if origin is None else origin.prompt_version,
        "prompt_hash": None if origin is None else origin.prompt_hash,
    }


def _used(row: ResultRow, figures: dict[str, CallFigures]) -> dict[str, Any]:
    keys = list(dict.fromkeys(row.calls))
    used = [figures.get(key, _UNKNOWN) for key in keys]
    return {
        "calls": len(keys),
        "call_keys": keys,
        "input_tokens": _sum([one.input_tokens for one in used]),
        "output_tokens": _sum([one.output_tokens for one in used]),
        "cost": _sum([one.cost for one in used]),
    }


def _sum(values: list[Any]) -> Any:
    """The sum, or None if any value is unknown: a part of a cost is not the cost."""
    return None if any(value is None for value in values) else sum(values)


def in_order(rows: list[dict[str, Any]]) -> Iterator[list[Any]]:
    """Yield each row's values in the order of the columns."""
    for row in rows:
        yield [row[column] for column in COLUMNS]
