"""One sample of an evaluation, whole: chain, criteria, every answer with its scores."""

from collections.abc import Sequence
from typing import Any

from dokimasia.domain.criterion import CriteriaSet, ReferenceChain
from dokimasia.domain.identity import Value
from dokimasia.domain.judgement import CheckpointScores, FinalAnswer, Response
from dokimasia.domain.look import Look
from dokimasia.domain.sample import Sample
from dokimasia.methods.evaluation.coverage import sample_coverage
from dokimasia.methods.evaluation.plan import EvaluationPlan
from dokimasia.runs.figures import rows_shown, shown_name
from dokimasia.storage.excerpts import samples_of
from dokimasia.storage.home import Home
from dokimasia.storage.people.corrections import Corrections, corrections_of
from dokimasia.storage.results import ResultRow
from dokimasia.storage.retries import Retry, earlier_outcomes
from dokimasia.storage.runs import Run, SqliteRunStore


async def sample_view(home: Home, run: Run, sample_id: str) -> dict[str, Any]:
    """Return everything that a run knows of one sample, ready for JSON."""
    sample = samples_of(home, run.id, [sample_id])[sample_id]
    rows, corrected = rows_shown(home, run, sample_id), corrections_of(home, run.id)
    earlier = [one for one in earlier_outcomes(home, run.id) if one.failed.sample_id == sample_id]
    return await view_of(SqliteRunStore(home, run.id), run, sample, rows=rows, earlier=earlier, corrected=corrected)


async def view_of(
    store: SqliteRunStore,
    run: Run,
    sample: Sample,
    *,
    rows: Sequence[ResultRow],
    earlier: Sequence[Retry],
    corrected: Corrections,
) -> dict[str, Any]:
    """Return what a run knows of a sample from its rows, from what failed before, and from what people corrected, for JSON."""
    plan = EvaluationPlan.model_validate(run.options["plan"])
    replay = next((row for row in rows if row.kind == "replay"), None)
    view: dict[str, Any] = {
        "run": run.id,
        "sample": sample.model_dump(mode="json"),
        "accepted": sample.reference_text,
        "judge": plan.judge_name or None,
        "replay": await _replay(store, replay),
        "coverage": await _coverage(store, sample, replay),
        "answers": [await _answer(store, row, corrected) for row in rows if row.kind == "score"],
    }
    if sample.id in corrected.left_out:
        view["left_out"] = corrected.left_out[sample.id].shown()
    if earlier:
        view["earlier"] = [
            {"item": one.failed.item, "next_attempt": one.attempt, **_ending(one.failed)} for one in earlier
        ]
    return view


async def _replay(store: SqliteRunStore, row: ResultRow | None) -> dict[str, Any] | None:
    if row is None:
        return None
    return {
        **_ending(row),
        "chain": await _value(store, ReferenceChain, row.chain_id),
        "criteria": await _value(store, CriteriaSet, row.criteria_id),
        "looks": await _looks(store, row),
        "calls": list(row.calls),
    }


async def _coverage(store: SqliteRunStore, sample: Sample, row: ResultRow | None) -> dict[str, Any] | None:
    if row is None or row.criteria_id is None:
        return None
    found = sample_coverage(sample, await store.get(CriteriaSet, row.criteria_id))
    return None if found is None else found.model_dump(mode="json", exclude={"sample"}) | {"share": found.share}


async def _answer(store: SqliteRunStore, row: ResultRow, corrected: Corrections) -> dict[str, Any]:
    said = corrected.answers.get(row.item)
    stands = said is not None and said.now == row.model_dump(mode="json", include=set(said.now))
    return {
        "model": shown_name(row.model, row.arm),
        "repeat": row.repeat,
        **row.model_dump(mode="json", include={"score", "verdict", "stated", "stated_score", "length"}),
        **_ending(row),
        "final": await _value(store, FinalAnswer, row.final_id),
        "response": await _value(store, Response, row.response_id),
        "judgement": await _value(store, CheckpointScores, row.judgement_id),
        "looks": await _looks(store, row),
        "calls": list(row.calls),
        **({"corrected": {**said.shown(), "stands": stands, "as_judged": dict(said.was)}} if said else {}),
    }


async def _looks(store: SqliteRunStore, row: ResultRow) -> list[dict[str, Any]]:
    """What the judge looked at with its tools, in order."""
    return [(await store.get(Look, id)).model_dump(mode="json") for id in row.value_ids]


async def _value(store: SqliteRunStore, type_: type[Value], id: str | None) -> dict[str, Any] | None:
    return None if id is None else (await store.get(type_, id)).model_dump(mode="json")


def _ending(row: ResultRow) -> dict[str, Any]:
    return {"outcome": row.outcome, "failure": row.failure, "reason": row.reason}
