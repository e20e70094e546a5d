"""An audit's stored rows as figures: what `audit`, `show` and `analyse` print."""

from collections.abc import Iterator, Sequence
from typing import Any

from dokimasia.domain.identity import digest
from dokimasia.domain.judgement import Response
from dokimasia.domain.rubric import RubricJudgement, RubricSet
from dokimasia.errors import StorageError
from dokimasia.methods.audit.figures import BLIND_MARK, AuditRow, audit_figures
from dokimasia.methods.audit.request import AuditPlan
from dokimasia.runs.figures import costs, heading, paid, rows_shown, shown_name
from dokimasia.runs.reading.exporting import ANSWERED, ColumnType, answer_cells
from dokimasia.storage.home import Home
from dokimasia.storage.lookup import find_value, find_values
from dokimasia.storage.results import ResultRow, results
from dokimasia.storage.runs import Run, response_texts, run_samples

COLUMNS: dict[str, ColumnType] = {
    "domain": "text",
    "rubrics": "text",
    "must_right": "integers",
    "easy_wrong": "integers",
    **ANSWERED,
}
"""What an export says of a response: `must_right` and `easy_wrong` have a 1 for each rubric that holds, a 0 for others."""


def audit_summary(home: Home, run: Run) -> dict[str, Any]:
    """Return the figures of an audit, ready for JSON; the same stored rows give the same bytes."""
    plan = AuditPlan.model_validate(run.options["plan"])
    rows = results(home, run.id)
    sets = rubric_sets(home, plan)
    samples = len(run_samples(home, run.id))
    every = list(sets.values())
    figures = audit_figures(audit_rows(home, run), seed=run.seed)
    models: dict[str, dict[str, Any]] = figures["models"]
    specs = {spec.ref.name: spec for spec in plan.candidates}
    for name, one in models.items():
        spec = specs[name.removesuffix(BLIND_MARK)]
        one |= {"weights": spec.weights, "parameters": spec.parameters}
        one |= paid(home, [row for row in rows if shown_name(row.model, row.arm) == name])
    pool = sorted({name for one in every for name in one.pool})
    return {
        **heading(run, plan),
        "samples": samples,
        "open_items": 0 if run.status == "done" else samples * plan.per_sample - len(rows),
        "without_rubrics": run.options["without_rubrics"],
        "repeats": plan.repeats,
        "show_image": plan.show_image,
        "rubrics": {
            "id": plan.rubrics,
            "must_right": sum(len(one.must_right) for one in every),
            "easy_wrong": sum(len(one.easy_wrong) for one in every),
            "checked": sum(one.checked for one in every),
            "pool": pool,
        },
        "in_pool": sorted({spec.ref.name for spec in plan.candidates} & set(pool)),
        **figures,
        "calls": sum(one["calls"] for one in models.values()),
        **costs((one["cost"] for one in models.values()), (one.get("cost_known") for one in models.values())),
    }


def audit_rows(home: Home, run: Run) -> list[AuditRow]:
    """Return the responses of an audit that have a result, in the run's order."""
    plan = AuditPlan.model_validate(run.options["plan"])
    sets = rubric_sets(home, plan)
    clusters = {place.sample_id: place.cluster for place in run_samples(home, run.id)}
    said = {id: (len(text.split()), digest("text", text)) for id, text in response_texts(home, run.id)}
    rows = results(home, run.id)
    judged = _judgements(home, rows)
    found: list[AuditRow] = []
    for row in rows:
        rubrics, judgement = sets[row.sample_id], judged.get(row.item)
        words, text = said.get(row.response_id or "", (None, ""))
        found.append(
            AuditRow(
                sample_id=row.sample_id,
                cluster=clusters[row.sample_id],
                domain=rubrics.domain or "unknown",
                model=shown_name(row.model, row.arm),
                repeat=row.repeat,
                rubrics=(len(rubrics.must_right), len(rubrics.easy_wrong)),
                judged=None if judgement is None else (judgement.group_a, judgement.group_b),
                failure=row.failure,
                words=words,
                response=text,
            )
        )
    return found


def rubric_sets(home: Home, plan: AuditPlan) -> dict[str, RubricSet]:
    """Return an audit's rubric sets by the sample's name."""
    found = find_values(home, RubricSet, plan.sets.values())
    return {sample: found[id] for sample, id in plan.sets.items()}


def rubrics_used(home: Home, run: Run) -> dict[str, str]:
    """Return what tells apart what an audit demanded of descriptions, by the sample's name: streams and statements."""
    sets = rubric_sets(home, AuditPlan.model_validate(run.options["plan"]))
    return {
        sample: digest("rubrics", [[rubric.stream, rubric.statement] for rubric in one.rubrics])
        for sample, one in sets.items()
    }


def audit_items(home: Home, run: Run, sample: str | None = None) -> Iterator[dict[str, Any]]:
    """Yield each finished response with its text, each rubric and whether it holds; with `sample`, only its."""
    plan = AuditPlan.model_validate(run.options["plan"])
    sets = rubric_sets(home, plan)
    rows = rows_shown(home, run, sample)
    judged = _judgements(home, rows)
    for row in rows:
        rubrics = sets[row.sample_id]
        judgement = judged.get(row.item)
        groups = ((), ()) if judgement is None else (judgement.group_a, judgement.group_b)
        yield {
            "sample": row.sample_id,
            "domain": rubrics.domain,
            "model": shown_name(row.model, row.arm),
            "repeat": row.repeat,
            "score": None if row.score is None else round(100 * row.score, 6),
            "failure": row.failure,
            "reason": row.reason,
            "response": None if row.response_id is None else find_value(home, row.response_id)["value"]["text"],
            "must_right": _said(rubrics.must_right, groups[0]),
            "easy_wrong": _said(rubrics.easy_wrong, groups[1]),
        }


async def cells(home: Home, run: Run, rows: Sequence[ResultRow]) -> list[dict[str, Any]]:
    """Return what an export says of each response: its text, and which rubrics hold; what there is not is null."""
    plan = AuditPlan.model_validate(run.options["plan"])
    sets = rubric_sets(home, plan)
    judged = _judgements(home, rows)
    responses = find_values(home, Response, [row.response_id for row in rows if row.response_id is not None])
    found: list[dict[str, Any]] = []
    for row in rows:
        judgement = judged.get(row.item)
        origin = None if judgement is None else judgement.provenance
        found.append(
            {
                "domain": sets[row.sample_id].domain,
                "rubrics": plan.sets[row.sample_id],
                "must_right": None if judgement is None else list(map(int, judgement.group_a)),
                "easy_wrong": None if judgement is None else list(map(int, judgement.group_b)),
                **answer_cells(plan.judge_name, responses.get(row.response_id or ""), origin),
            }
        )
    return found


def _said(rubrics: tuple[Any, ...], holds: tuple[bool, ...]) -> list[dict[str, Any]]:
    return [
        {"statement": rubric.statement, "holds": holds[place] if holds else None}
        for place, rubric in enumerate(rubrics)
    ]


def _judgements(home: Home, rows: Sequence[ResultRow]) -> dict[str, RubricJudgement]:
    """Return what was judged, by item; a failed item has none."""
    ids: dict[str, str] = {}
    for row in rows:
        if row.outcome != "scored":
            continue
        if not row.value_ids:
            raise StorageError(f"{home.path}: item {row.item} of run {row.run_id} is scored and names no judgement")
        ids[row.item] = row.value_ids[0]
    found = find_values(home, RubricJudgement, ids.values())
    return {item: found[id] for item, id in ids.items()}
