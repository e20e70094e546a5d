"""What an export says of an answer beside what it says of every row: criteria, response, judge and prompt."""

from collections.abc import Sequence
from typing import Any

from dokimasia.domain.criterion import CriteriaSet
from dokimasia.domain.judgement import CheckpointScores, Response
from dokimasia.methods.evaluation.plan import EvaluationPlan
from dokimasia.runs.reading.exporting import ColumnType
from dokimasia.storage.home import Home
from dokimasia.storage.results import ResultRow
from dokimasia.storage.runs import Run, SqliteRunStore

COLUMNS: dict[str, ColumnType] = {
    "criteria_scores": "integers",
    "weights": "integers",
    "response": "text",
    "flags": "texts",
    "judge": "text",
    "prompt": "text",
    "prompt_version": "integer",
    "prompt_hash": "text",
}


async def cells(home: Home, run: Run, rows: Sequence[ResultRow]) -> list[dict[str, Any]]:
    """Return the values of these columns for each answer.

    Raises:
        StorageError: a value is missing or damaged.
    """
    judge = EvaluationPlan.model_validate(run.options["plan"]).judge_of("score").ref.name
    store = SqliteRunStore(home, run.id)
    return [{"judge": judge, **await _judged(store, row)} for row in rows]


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
