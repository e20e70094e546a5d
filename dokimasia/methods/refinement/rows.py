"""What an export says of an arm of an answer beside what it says of every row: what it was told, and what came of it."""

from collections.abc import Sequence
from typing import Any

from dokimasia.domain.judgement import FinalAnswer, Response
from dokimasia.methods.refinement.plan import RefinementPlan
from dokimasia.methods.refinement.results import refinement_rows
from dokimasia.runs.method import ColumnType
from dokimasia.storage.home import Home
from dokimasia.storage.lookup import find_values
from dokimasia.storage.results import ResultRow
from dokimasia.storage.runs import Run

COLUMNS: dict[str, ColumnType] = {
    "failed": "truth",
    "selected": "truth",
    "rounds": "integer",
    "draw": "integer",
    "stopped": "text",
    "answered": "text",
    "rule": "text",
    "final_answer": "text",
    "score_before": "number",
    "shown": "integers",
    "withheld": "integers",
    "told": "integers",
    "response": "text",
    "flags": "texts",
    "judge": "text",
}


async def cells(home: Home, run: Run, rows: Sequence[ResultRow]) -> list[dict[str, Any]]:
    """Return the values of these columns for each arm of each answer, those of its last round.

    Raises:
        StorageError: a value is missing or damaged.
    """
    judge = RefinementPlan.model_validate(run.options["plan"]).judge_name
    last = {(one.sample_id, one.model, one.repeat, one.arm): one for one in refinement_rows(home, run) if one.last}
    texts = find_values(home, Response, (one.response_id for one in last.values() if one.response_id))
    finals = find_values(home, FinalAnswer, (one.final_id for one in last.values() if one.final_id))
    found: list[dict[str, Any]] = []
    for row in rows:
        one = last[row.sample_id, row.model, row.repeat, row.arm]
        final, response = finals.get(one.final_id or ""), texts.get(one.response_id or "")
        found.append(
            {
                **one.model_dump(mode="json", include=set(COLUMNS)),
                "rounds": one.round,
                "final_answer": None if final is None else final.answer,
                "response": None if response is None else response.text,
                "judge": judge,
            }
        )
    return found
