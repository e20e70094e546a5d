"""Stored rows of duels as figures, items, one case whole, and cells of an export."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dokimasia.agents.candidate import BLIND
from dokimasia.domain.call import ChatReply
from dokimasia.domain.duel import (
    TEXT,
    Described,
    DuelJudgement,
    Place,
    criteria_of,
    factuality_by,
    factuality_not_applicable,
    ground_truth_of,
    task_of,
)
from dokimasia.domain.judgement import Response
from dokimasia.domain.sample import Sample
from dokimasia.methods.duel.figures import DuelRow, duel_figures
from dokimasia.methods.duel.request import DuelPlan
from dokimasia.methods.duel.sight import without_images
from dokimasia.runs.catalogue import method_of
from dokimasia.runs.figures import heading, paid, rows_shown, shown_name
from dokimasia.runs.method import ColumnType
from dokimasia.runs.reading.exporting import ANSWERED, answer_cells, exported
from dokimasia.storage.home import Home
from dokimasia.storage.ledger import SqliteLedger
from dokimasia.storage.lookup import find_values
from dokimasia.storage.results import ResultRow, results
from dokimasia.storage.runs import Run, load_samples, run_samples

COLUMNS: dict[str, ColumnType] = {
    "task": "text",
    "baseline": "text",
    "baseline_response": "text",
    "verdict_first": "integer",
    "verdict_second": "integer",
    "factuality_first": "number",
    "factuality_second": "number",
    "baseline_factuality_first": "number",
    "baseline_factuality_second": "number",
    "factuality_not_applicable": "text",
    **ANSWERED,
}
"""What an export says of an answer: verdicts (+2 to -2 for it) and visual factuality by the place it was shown in; to
which case visual factuality does not apply, and why."""


def duel_summary(home: Home, run: Run) -> dict[str, Any]:
    """Return the figures of duels, ready for JSON; the same stored rows give the same bytes."""
    plan = DuelPlan.model_validate(run.options["plan"])
    rows = results(home, run.id)
    samples = {sample.id: sample for sample in load_samples(home, run.id)}
    criteria = {id: criteria_of(sample) for id, sample in samples.items()}
    judged = duel_rows(home, run)
    untold = {id for id, sample in samples.items() if criteria[id].factuality and not ground_truth_of(sample)}
    unseen = {row.sample_id for row in judged if plan.factuality != "none" and not row.factuality}
    unknown = {id for id in untold if id in unseen or factuality_not_applicable(samples[id])}
    figures = duel_figures(judged, seed=run.seed, compared=lambda name: not name.endswith((f"#{BLIND}", f"#{TEXT}")))
    for name, one in figures["models"].items():
        one |= paid(home, [row for row in rows if shown_name(row.model, row.arm) == name])
    return {
        **heading(run, plan),
        "samples": len(samples),
        "open_items": len(samples) * plan.per_sample - len(rows),
        "baseline": plan.baseline_name,
        "repeats": plan.repeats,
        "orders": len(plan.places),
        "judge_sees": plan.judge_sees,
        "factuality": plan.factuality,
        "describer": None if plan.describer is None else plan.describer.ref.name,
        "descriptions": None if plan.describer is None else plan.descriptions,
        "without_images": without_images(judged, seed=run.seed),
        "cases": {
            "general_criteria": sum(one.general for one in criteria.values()),
            "factuality_criteria": sum(bool(one.factuality) for one in criteria.values()),
            "factuality_by_image": len(untold - unknown),
            "factuality_unknown": len(unknown),
            "ground_truth": sum(bool(ground_truth_of(one)) for one in samples.values()),
            "several_images": sum(len(one.images) > 1 for one in samples.values()),
            "without_category": sum(not one.category for one in samples.values()),
            "without_task": sum(not task_of(one) for one in samples.values()),
        },
        **figures,
        **paid(home, rows),
    }


def duel_rows(home: Home, run: Run) -> list[DuelRow]:
    """Return the answers of a run that have a result, in the run's order."""
    plan = _plan(run)
    samples = {sample.id: sample for sample in load_samples(home, run.id)}
    clusters = {place.sample_id: place.cluster for place in run_samples(home, run.id)}
    rows = exported(method_of(run), results(home, run.id))
    judged = judgements(home, rows)
    texts = _texts(home, rows, judged)
    tokens = _tokens(home, texts)
    found: list[DuelRow] = []
    for row in rows:
        sample, said = samples[row.sample_id], judged[row.item]
        own, other = texts.get(row.response_id or ""), texts.get(said[0].baseline if said else "")
        longer = None if own is None or other is None else _words(own.text) - _words(other.text)
        found.append(
            DuelRow(
                sample_id=row.sample_id,
                cluster=clusters[row.sample_id],
                model=shown_name(row.model, row.arm),
                repeat=row.repeat,
                category=sample.category or "",
                task=task_of(sample) or "",
                verdicts=_verdicts(plan, said),
                factuality=_scores(plan, sample, said),
                failure=row.failure,
                words=None if own is None else _words(own.text),
                tokens=tokens.get(row.response_id or ""),
                longer=longer,
                same=own is not None and other is not None and own.text == other.text,
            )
        )
    return found


def judgements(home: Home, rows: Sequence[ResultRow]) -> dict[str, list[DuelJudgement]]:
    """Return what the judge said of each answer, by item, in the order in which it was asked; empty where it was not."""
    ids = {row.item: row.value_ids[row.arm == TEXT :] for row in rows}
    found = find_values(home, DuelJudgement, [id for one in ids.values() for id in one])
    return {item: [found[id] for id in one] for item, one in ids.items()}


def descriptions(home: Home, rows: Sequence[ResultRow]) -> dict[str, Described]:
    """Return the descriptions that answers went by, by item; they stand before the judgements of an answer."""
    ids = {row.item: row.value_ids[0] for row in rows if row.arm == TEXT and row.value_ids}
    found = find_values(home, Described, ids.values())
    return {item: found[id] for item, id in ids.items()}


def duel_items(home: Home, run: Run, sample: str | None = None) -> Iterator[dict[str, Any]]:
    """Yield each finished duel whole: the case, both answers, and what the judge said in each order.

    With a sample, of that one alone, and each judgement with the judge's reply as it was read (`said`).
    """
    ledger = SqliteLedger(home)
    rows = exported(method_of(run), rows_shown(home, run, sample))
    plan = _plan(run)
    judged = judgements(home, rows)
    texts = _texts(home, rows, judged)
    described = descriptions(home, rows)
    wanted = {row.sample_id for row in rows}
    samples = {one.id: one for one in load_samples(home, run.id) if one.id in wanted}
    for row in rows:
        case, said = samples[row.sample_id], judged[row.item]
        other = said[0].baseline if said else plan.given_to(plan.held_against(row), row.sample_id, row.repeat)
        yield {
            "sample": row.sample_id,
            "model": shown_name(row.model, row.arm),
            "repeat": row.repeat,
            **_case(case),
            "baseline": plan.held_against(row),
            "score": row.score,
            "failure": row.failure,
            "reason": row.reason,
            "response": _text(texts, row.response_id),
            "factuality_not_applicable": _not_applicable(case, said) or None,
            "descriptions": described[row.item].shown if row.item in described else None,
            "baseline_response": _text(texts, other),
            "judgements": [
                one.model_dump(
                    mode="json",
                    include={"asked", "place", "verdict", "score", "baseline_score", "failure", "reason"},
                )
                | ({} if sample is None else {"said": _reply(ledger, one)})
                for one in said
            ],
        }


async def cells(home: Home, run: Run, rows: Sequence[ResultRow]) -> list[dict[str, Any]]:
    """Return what an export says of each answer; what there is not is null."""
    plan = _plan(run)
    judged = judgements(home, rows)
    texts = _texts(home, rows, judged)
    samples = {sample.id: sample for sample in load_samples(home, run.id)}
    found: list[dict[str, Any]] = []
    for row in rows:
        said = judged[row.item]
        one: dict[str, Any] = dict.fromkeys(COLUMNS)
        sample = samples[row.sample_id]
        one |= {"task": task_of(sample), "baseline": plan.held_against(row)}
        if plan.factuality != "none":
            one["factuality_not_applicable"] = _not_applicable(sample, said) or None
        if said:
            one["baseline_response"] = _text(texts, said[0].baseline)
        for each in said:
            if each.asked == "verdict":
                one[f"verdict_{each.place}"] = each.verdict
            elif not one["factuality_not_applicable"]:
                one[f"factuality_{each.place}"] = each.score
                one[f"baseline_factuality_{each.place}"] = each.baseline_score
        origin = next((each.provenance for each in said if each.provenance is not None), None)
        found.append(one | answer_cells(plan.judge_name, texts.get(row.response_id or ""), origin))
    return found


def _plan(run: Run) -> DuelPlan:
    """Return a run's plan, of whichever method it is that holds answers against each other."""
    plan: DuelPlan = method_of(run).read(run)[0]
    return plan


def _verdicts(plan: DuelPlan, said: Sequence[DuelJudgement]) -> dict[Place, int | None]:
    known = {one.place: one.verdict for one in said if one.asked == "verdict"}
    return {place: known.get(place) for place in plan.places}


def _scores(plan: DuelPlan, sample: Sample, said: Sequence[DuelJudgement]) -> dict[Place, tuple[float, float] | None]:
    if factuality_by(sample, plan.factuality) == "none" or _not_applicable(sample, said):
        return {}
    known = {
        one.place: (one.score, one.baseline_score)
        for one in said
        if one.score is not None and one.baseline_score is not None
    }
    return {place: known.get(place) for place in plan.places}


def _not_applicable(sample: Sample, said: Sequence[DuelJudgement]) -> str:
    """Return why visual factuality does not apply to an answer; empty where it does.

    Runs of earlier versions hold scores by a judge that was shown nothing to know them by.
    """
    shown = [one.provenance.shown for one in said if one.asked == "factuality" and one.provenance is not None]
    if all({"ground_truth", "image"} & {*one} for one in shown):
        return factuality_not_applicable(sample)
    return "its judge was shown neither a ground truth nor an image"


def _case(sample: Sample) -> dict[str, Any]:
    criteria = criteria_of(sample)
    return {
        "prompt": sample.prompt,
        "images": [one.model_dump(mode="json") for one in sample.images],
        "category": sample.category,
        "task": task_of(sample),
        "criteria": criteria.subjective,
        "general_criteria": criteria.general,
        "factuality_criteria": criteria.factuality or None,
        "ground_truth": ground_truth_of(sample) or None,
    }


def _texts(home: Home, rows: Sequence[ResultRow], judged: Mapping[str, Sequence[DuelJudgement]]) -> dict[str, Response]:
    own = [row.response_id for row in rows if row.response_id is not None]
    return find_values(home, Response, [*own, *(said[0].baseline for said in judged.values() if said)])


def _text(texts: Mapping[str, Response], id: str | None) -> str | None:
    found = texts.get(id or "")
    return None if found is None else found.text


def _tokens(home: Home, texts: Mapping[str, Response]) -> dict[str, int]:
    """Return how many tokens answers were reported to have, by id; those that nobody reported are left out."""
    keys = {id: one.provenance.call for id, one in texts.items() if one.provenance is not None}
    calls = SqliteLedger(home).calls_for(keys.values())
    return {id: used for id, key in keys.items() if key in calls and (used := calls[key].output_tokens) is not None}


def _reply(ledger: SqliteLedger, one: DuelJudgement) -> str | None:
    """Return the reply that a judgement was read from; None of a failed one."""
    if one.provenance is None:
        return None
    reply = ledger.rebuild(one.provenance.call)[1]
    return reply.text if isinstance(reply, ChatReply) else None


def _words(text: str) -> int:
    return len(text.split())
