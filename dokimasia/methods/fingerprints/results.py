"""What a test of fingerprints came to: figures of every matcher, notes, the tables that are drawn, and an export's rows."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from dokimasia.domain.diagnosis.fingerprint import FingerprintMatch, FingerprintTask
from dokimasia.methods.diagnosis import reports_of, runs_on, written_from
from dokimasia.methods.fingerprints.figures import Trial, fingerprint_assets, fingerprint_figures
from dokimasia.methods.fingerprints.request import NAME, FingerprintPlan
from dokimasia.methods.fingerprints.tasks import tasks_of, untested_of
from dokimasia.runs.figures import simulated
from dokimasia.runs.method import ColumnType
from dokimasia.storage.home import Home
from dokimasia.storage.lookup import find_values
from dokimasia.storage.results import ResultRow, results
from dokimasia.storage.runs import Run

MATCH = "match"
"""The kind of a result row of the judge's; its `model` and `arm` are the trial's two models."""

BY_HAND = "match by hand"
"""The kind of a result row of a person's."""

COLUMNS: dict[str, ColumnType] = {
    "task": "text",
    "samples": "texts",
    "said": "text",
    "truth": "text",
    "removed": "integer",
    "judge": "text",
    "prompt": "text",
    "prompt_version": "integer",
    "prompt_hash": "text",
}
"""What an export says of a trial of the judge's; a score of 1 says that both reports were given to the right models."""

FEW = 30
"""Fewer responses of each model than the paper's 30 to 50 are said to be so."""

FEW_TRIALS = 5
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


def fingerprint_summary(home: Home, run: Run) -> dict[str, Any]:
    """Return what a test of fingerprints came to, ready for JSON; the same stored rows give the same bytes.

    Returns:
        What `shape.FingerprintFigures` describes.
    """
    plan, diagnosis = _plan(run), written_from(home, run)
    tasks = [task for _, task in tasks_of(home, run)]
    rows = results(home, run.id)
    matches = find_values(home, FingerprintMatch, [row.value_ids[1] for row in rows if row.kind == BY_HAND])
    by_hand: dict[str, list[Trial]] = {}
    for row in rows:
        if row.kind == BY_HAND:
            by_hand.setdefault(matches[row.value_ids[1]].by, []).append(_trial(row))
    judged = [_trial(row) for row in rows if row.kind == MATCH]
    figures = fingerprint_figures(judged, diagnosis.models)
    hands = {name: fingerprint_figures(each, diagnosis.models) for name, each in sorted(by_hand.items())}
    reports = reports_of(home, run.id)
    untested: list[dict[str, Any]] = [
        dict(zip(("first", "second", "samples"), one, strict=True)) for one in untested_of(run)
    ]
    judge, sizes = plan.judge.ref.name, [len(task.samples) for task in tasks]
    matchers = [(judge, "", figures)] if judged else []
    matchers += [(name, _UNSAFE.sub("-", name), each) for name, each in hands.items()]
    return {
        "run": run.id,
        "source": plan.source,
        "status": run.status,
        "judge": judge,
        "simulated": sorted({*diagnosis.simulated, *simulated((plan.judge,))}),
        "seed": plan.seed,
        "models": list(diagnosis.models),
        "notes": [*diagnosis.notes, *_notes(plan, len(diagnosis.models), tasks, untested)],
        "responses": plan.responses,
        "shown": {"low": min(sizes), "high": max(sizes)},
        "tasks": len(tasks),
        "waiting": len(tasks) - len(judged),
        "untested": untested,
        "removed": sum(task.removed for task in tasks),
        "reports": {
            name: {"verified": len(reports[name].verified), "unverified": len(reports[name].unverified)}
            if name in reports
            else None
            for name in diagnosis.models
        },
        "by_judge": figures,
        "by_hand": hands,
        "assets": [
            asset.model_dump(mode="json")
            for name, id, each in matchers
            for asset in fingerprint_assets(each, diagnosis.models, matcher=name, id=id)
        ],
    }


def latest_fingerprints(home: Home, source: str) -> Run | None:
    """Return the newest test of an evaluation's fingerprints in which anything was matched; None without one."""
    tests = runs_on(home, source, NAME)
    return next((run for run in tests if any(row.kind in (MATCH, BY_HAND) for row in results(home, run.id))), None)


async def cells(home: Home, run: Run, rows: Sequence[ResultRow]) -> list[dict[str, Any]]:
    """Return what an export says of each trial; of one that failed what there is not is null."""
    judge, tasks = _plan(run).judge_name, dict(tasks_of(home, run))
    matches = find_values(home, FingerprintMatch, [row.value_ids[1] for row in rows if row.outcome == "scored"])
    found: list[dict[str, Any]] = []
    for row in rows:
        task = tasks[row.value_ids[0]]
        fields = {"task": row.value_ids[0], "samples": list(task.samples), "truth": task.truth, "removed": task.removed}
        found.append({**dict.fromkeys(COLUMNS), **fields, "judge": judge})
        if row.outcome == "scored":
            match = matches[row.value_ids[1]]
            origin = match.provenance.model_dump(include=set(COLUMNS)) if match.provenance else {}
            found[-1] |= {"said": match.said, **origin}
    return found


def _plan(run: Run) -> FingerprintPlan:
    return FingerprintPlan.model_validate(run.options["plan"])


def _trial(row: ResultRow) -> Trial:
    return Trial(row.model, row.arm, None if row.score is None else row.score > 0, row.failure)


def _notes(
    plan: FingerprintPlan, models: int, tasks: Sequence[FingerprintTask], untested: Sequence[Mapping[str, Any]]
) -> list[str]:
    notes: list[str] = []
    if plan.responses < FEW:
        notes.append(f"{plan.responses} answers of each model are fewer than the paper's 30 to 50.")
    short = [len(task.samples) for task in tasks if len(task.samples) < plan.responses]
    if short:
        low, high = min(short), max(short)
        notes.append(
            f"{len(short)} trials show {low if low == high else f'{low} to {high}'} answers of each model and not "
            f"{plan.responses}: the run has no more that both models gave and no report was written from."
        )
    for one in untested:
        notes.append(
            f"{one['first']} and {one['second']} have no trial: there are {one['samples']} samples that both answered in "
            "the half that is shown."
        )
    pairs = models * (models - 1) // 2
    if len(tasks) < FEW_TRIALS * pairs:
        notes.append(
            f"{len(tasks)} trials for {pairs} pairs: the run has too few samples for more that share none, so the intervals "
            "are wide. Fewer answers a trial (--responses) make more trials, and harder ones."
        )
    return notes
