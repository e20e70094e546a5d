"""A run's stored rows as figures, and as an export's: what `show`, `evaluate` and the report all print."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from dokimasia.domain.criterion import CriteriaSet
from dokimasia.domain.judgement import CheckpointScores, FinalAnswer, Response
from dokimasia.methods.evaluation.criteria_sets import criteria_figures
from dokimasia.methods.evaluation.plan import EvaluationPlan
from dokimasia.methods.evaluation.scores import AnswerRow, collect, summarise
from dokimasia.runs.figures import counted as counted_names
from dokimasia.runs.figures import forked_from, heading, shown_name
from dokimasia.runs.method import ColumnType
from dokimasia.runs.reading.exporting import ANSWERED, answer_cells
from dokimasia.storage.home import Home
from dokimasia.storage.people.corrections import corrections_of, standing_answers
from dokimasia.storage.results import ResultRow
from dokimasia.storage.runs import Run, SqliteRunStore
from dokimasia.storage.usage import count_items, scored_answers, usage_of

COLUMNS: dict[str, ColumnType] = {
    "verdict": "text",
    "rule": "text",
    "final_answer": "text",
    "final_stated": "truth",
    "stated": "number",
    "stated_score": "number",
    "length": "integer",
    "criteria_scores": "integers",
    "criteria_stated": "integers",
    "weights": "integers",
    **ANSWERED,
}
"""What an export says of an answer beside what it says of every row: criteria, response, judge and prompt."""


def summary_of(home: Home, run: Run) -> dict[str, Any]:
    """Return the figures of an evaluation, ready for JSON; the same stored rows give the same bytes."""
    plan = EvaluationPlan.model_validate(run.options["plan"])
    with ThreadPoolExecutor(1) as aside:
        using = aside.submit(usage_of, home, run.id)
        samples, rows = count_items(home, run.id)
        answers = collect(scored_rows(home, run))
        used = using.result()
    usage = {shown_name(model, arm): one for (kind, model, arm), one in used.items() if kind == "score"}
    return {
        **heading(run, plan),
        "samples": samples,
        "open_items": 0 if run.status == "done" else max(0, samples * plan.rows_per_sample - rows),
        "forked_from": forked_from(run),
        "ask": None if plan.responses is not None else plan.ask,
        "protocol": plan.protocol,
        **({} if plan.judge is None else {"criteria": criteria_figures(home, run.id)}),
        **summarise(
            answers, seed=run.seed, judged=plan.judge is not None, usage=usage, preparation=used.get(("replay", "", ""))
        ),
        **_corrected(home, run, judged=plan.judge is not None),
    }


def _corrected(home: Home, run: Run, *, judged: bool) -> dict[str, Any]:
    """Return what people corrected, beside the judge's own figures; nothing where they corrected nothing."""
    stands = corrections_of(home, run.id)
    counted = [*standing_answers(home, run.id, stands)]
    if not counted and not stands.left_out:
        return {}
    rows = list(scored_rows(home, run, as_judged=True))
    ours = summarise(collect(rows), seed=run.seed, judged=judged)["models"]
    left_out = list(stands.left_out.values())
    return {
        "corrections": {
            "answers": len(counted),
            "of": sum(row.sample_id not in stands.left_out for row in rows),
            "by": counted_names(one.who for one in (*counted, *left_out)),
            "left_out": [{"sample": one.sample, "who": one.who, "reason": one.reason} for one in left_out],
            "as_judged": {
                name: {part: one[part] for part in ("n", "n_scored", "strict_accuracy", "score")}
                for name, one in ours.items()
            },
        }
    }


async def cells(home: Home, run: Run, rows: Sequence[ResultRow]) -> list[dict[str, Any]]:
    """Return the values of the columns for each answer.

    Raises:
        StorageError: a value is missing or damaged.
    """
    judge = EvaluationPlan.model_validate(run.options["plan"]).judge_name
    store = SqliteRunStore(home, run.id)
    found: list[dict[str, Any]] = []
    for row in rows:
        response = None if row.response_id is None else await store.get(Response, row.response_id)
        criteria = None if row.criteria_id is None else await store.get(CriteriaSet, row.criteria_id)
        judgement = None if row.judgement_id is None else await store.get(CheckpointScores, row.judgement_id)
        final = None if row.final_id is None else await store.get(FinalAnswer, row.final_id)
        found.append(
            {
                **row.model_dump(mode="json", include={"verdict", "stated", "stated_score", "length"}),
                "rule": None if final is None else final.rule,
                "final_answer": None if final is None else final.answer,
                "final_stated": None if final is None else final.stated,
                "criteria_stated": None if judgement is None else list(map(int, judgement.stated)) or None,
                "criteria_scores": None if judgement is None else list(judgement.scores),
                "weights": None if criteria is None else list(criteria.weights),
                **answer_cells(judge, response, None if judgement is None else judgement.provenance),
            }
        )
    return found


def scored_rows(home: Home, run: Run, *, as_judged: bool = False) -> Iterator[AnswerRow]:
    """Yield a run's answers that have a result, as figures are made from them, in the run's order.

    What people corrected counts as they did; with `as_judged` all is as the judge left it.
    """
    for answer in scored_answers(home, run.id, as_judged=as_judged):
        yield AnswerRow(
            sample_id=answer.sample_id,
            cluster=answer.cluster,
            category=answer.category,
            model=shown_name(answer.model, answer.arm),
            repeat=answer.repeat,
            score=answer.score,
            failure=answer.failure,
            referenced=bool(answer.referenced),
            verdict=answer.verdict,
            stated=answer.stated,
            stated_score=answer.stated_score,
            length=answer.length,
        )
