"""A probe's stored rows as figures and tables: what `probe`, `show` and `export` print."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dokimasia.domain.blindspots import AxisChoices, AxisScores, Detection, Noticed
from dokimasia.domain.identity import Value
from dokimasia.domain.judgement import CheckpointScores, FinalAnswer
from dokimasia.domain.look import Look
from dokimasia.domain.rubric import RubricJudgement
from dokimasia.methods.probe.detections import detections, judgements
from dokimasia.methods.probe.figures import figures_of
from dokimasia.methods.probe.items import by_sample, probes_kept
from dokimasia.methods.probe.request import ProbePlan
from dokimasia.methods.probe.units import ProbeUnit, all_units, bases_of_sample, count_of, is_read
from dokimasia.runs.figures import costs, failures, heading, rows_shown
from dokimasia.runs.method import ColumnType
from dokimasia.storage.excerpts import samples_of
from dokimasia.storage.home import Home
from dokimasia.storage.ledger import SqliteLedger
from dokimasia.storage.lookup import find_values
from dokimasia.storage.results import ResultRow, results
from dokimasia.storage.runs import Run, run_samples

COLUMNS: dict[str, ColumnType] = {
    "judge": "text",
    "task": "text",
    "evaluator": "text",
    "new_reference": "truth",
    "dimension": "text",
    "group": "text",
    "case": "text",
    "item": "text",
    "checked": "truth",
    "undetected": "number",
    "strict": "number",
    "overall": "number",
    "equal": "number",
    "worse": "number",
    "named": "number",
    "scores": "texts",
    "gold_scores": "texts",
    "justification": "texts",
    "words": "texts",
    "looks": "integer",
}
"""What an export says of a judgement; `scores` are `axis: points`, or of a pair `axis: choice` in each order. The gold
answer's own judgement has the case `gold`."""


def probe_summary(home: Home, run: Run) -> dict[str, Any]:
    """Return the figures of a probe, ready for JSON; the same stored rows give the same bytes."""
    plan = ProbePlan.model_validate(run.options["plan"])
    probes = probes_kept(home, plan)
    units = all_units(plan, probes)
    rows = results(home, run.id)
    found = list(detections(home, units, rows))
    items = len(units) + sum(is_read(plan, unit) for unit in units.values())
    items += sum(len(bases_of_sample(plan, sample, own)) for sample, own in by_sample(probes).items())
    used = SqliteLedger(home).calls_for(dict.fromkeys(key for row in rows for key in row.calls))
    return {
        **heading(run, plan),
        "samples": len(run_samples(home, run.id)),
        "judges": list(dict.fromkeys(arm.judge for arm in plan.arms)),
        "evaluators": list(plan.evaluators),
        "budgets": list(plan.budgets),
        "tools": list(plan.tools),
        "retests": plan.retests,
        "reader": None if plan.reader is None else plan.reader.ref.name,
        "writer": None if plan.writer is None else plan.writer.ref.name,
        "probes": {
            "errors": sum(not one.neutral for one in probes),
            "neutral": sum(one.neutral for one in probes),
            "checked": sum(one.checked for one in probes),
        },
        "open_items": items - len(rows),
        **figures_of(found, seed=run.seed),
        "failures": failures(rows),
        "calls": len(used),
        **costs(one.cost for one in used.values()),
    }


def probe_items(home: Home, run: Run, sample: str | None = None) -> Iterator[dict[str, Any]]:
    """Yield each judgement that has a result, with what was judged and what came of it; with `sample`, only its."""
    plan = ProbePlan.model_validate(run.options["plan"])
    probes = [one for one in probes_kept(home, plan) if sample is None or one.item.sample_id == sample]
    units = all_units(plan, probes)
    rows = rows_shown(home, run, sample)
    asked = samples_of(home, run.id, list(by_sample(probes)))
    for row, told in zip(*_told(home, units, rows), strict=True):
        probe = units[row.item].probe
        item = units[row.item].gold.item if probe is None else probe.item
        yield {
            "sample": row.sample_id,
            "prompt": asked[row.sample_id].prompt,
            "images": [image.sha256 for image in asked[row.sample_id].images],
            **told,
            "description": "" if probe is None else item.description,
            "gold": item.gold or (item.gold_image and item.gold_image.sha256),
            "perturbed": None
            if probe is None
            else item.perturbed or (item.perturbed_image and item.perturbed_image.sha256),
            "looks": [one.model_dump(mode="json") for one in looks_of(home, units[row.item], row)],
            "failure": row.failure,
            "reason": row.reason,
        }


async def cells(home: Home, run: Run, rows: Sequence[ResultRow]) -> list[dict[str, Any]]:
    """Return what an export says of each judgement beside what it says of every row."""
    plan = ProbePlan.model_validate(run.options["plan"])
    units = all_units(plan, probes_kept(home, plan))
    return _told(home, units, results(home, run.id))[1]


def looks_of(home: Home, unit: ProbeUnit, row: ResultRow) -> list[Look]:
    """Return what a judge looked at with its tools for a judgement, in order."""
    ids = row.value_ids[count_of(unit) :]
    found = find_values(home, Look, ids)
    return [found[id] for id in ids]


def _told(
    home: Home, units: Mapping[str, ProbeUnit], rows: Sequence[ResultRow]
) -> tuple[list[ResultRow], list[dict[str, Any]]]:
    """Return the rows that are judgements, and what is said of each."""
    known = {row.item: row for row in rows}
    shown = [row for row in rows if row.item in units]
    judged = judgements(home, units, known)
    came = _by_item(units, detections(home, units, rows))
    read = _words(home, known)
    found: list[dict[str, Any]] = []
    for row in shown:
        unit = units[row.item]
        own, gold, one = judged.get(row.item, ()), judged.get(unit.first, ()), came.get(row.item)
        probe = unit.probe
        found.append(
            {
                "judge": unit.arm.name,
                "task": unit.gold.item.task,
                "evaluator": unit.evaluator,
                "new_reference": unit.new,
                "dimension": None if probe is None else probe.item.dimension,
                "group": None if one is None or not one.group else one.group,
                "case": unit.case if unit.compared else "gold",
                "item": None if probe is None else probe.id,
                "checked": None if probe is None else probe.checked,
                **{name: None if one is None else getattr(one, name) for name in _DETECTED},
                "scores": [text for value in own for text in scores_of(value)] or None,
                "gold_scores": [text for value in gold for text in scores_of(value)]
                if unit.compared and gold
                else None,
                "justification": [text for value in own if (text := getattr(value, "justification", ""))] or None,
                "words": read.get(unit.reading),
                "looks": len(row.value_ids[count_of(unit) :]) if own else 0,
            }
        )
    return shown, found


_DETECTED = ("undetected", "strict", "overall", "equal", "worse", "named")


def _by_item(units: Mapping[str, ProbeUnit], found: Iterator[Detection]) -> dict[str, Detection]:
    """Return what came of each unit, by the unit's name."""
    keys = {_key(unit): name for name, unit in units.items() if unit.compared}
    return {keys[(one.judge, one.evaluator, one.new_reference, one.item)]: one for one in found}


def _key(unit: ProbeUnit) -> tuple[str, str, bool, str]:
    return (unit.arm.name, unit.evaluator, unit.new, unit.item)


def scores_of(judged: Value) -> list[str]:
    """Return what a judge said of an answer, a text for each axis, criterion or rubric."""
    match judged:
        case AxisScores():
            return [f"{axis}: {points:g}" for axis, points in judged.scores.items()]
        case AxisChoices():
            return [f"{axis}: {choice}" for axis, choice in judged.choices.items()]
        case CheckpointScores():
            return [
                *(f"{number}: {score}" for number, score in enumerate(judged.scores, 1)),
                f"overall: {judged.score:.4g}",
            ]
        case RubricJudgement():
            holds = (*judged.group_a, *judged.group_b)
            return [*(f"{number}: {int(one)}" for number, one in enumerate(holds, 1)), f"overall: {judged.score:.4g}"]
        case FinalAnswer():
            return [f"verdict: {judged.verdict}"]
        case _:
            return []


def _words(home: Home, rows: Mapping[str, ResultRow]) -> dict[str, list[str]]:
    """Return by reading the words in which a justification names an error."""
    read = {name: row.value_ids for name, row in rows.items() if row.kind == "reading" and row.failure is None}
    found = find_values(home, Noticed, [id for ids in read.values() for id in ids])
    return {name: [found[id].words for id in ids if found[id].named] for name, ids in read.items()}
