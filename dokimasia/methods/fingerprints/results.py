"""What a test of fingerprints came to: figures of every matcher, notes, and the tables that are drawn and exported."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from dokimasia.domain.diagnosis import Asset, Diagnosis
from dokimasia.domain.fingerprint import FingerprintMatch, FingerprintTask
from dokimasia.errors import InputError
from dokimasia.methods.diagnosis.files import file_name, table_csv
from dokimasia.methods.diagnosis.plan import FINGERPRINT, FingerprintPlan
from dokimasia.methods.diagnosis.words import reports_of
from dokimasia.methods.fingerprints.figures import Trial, fingerprint_assets, fingerprint_figures
from dokimasia.methods.fingerprints.matching import ITEM, read_fingerprint_plan, tasks_of
from dokimasia.runs.export_formats import write_whole
from dokimasia.storage.home import Home
from dokimasia.storage.lookup import find_values
from dokimasia.storage.results import ResultRow, results
from dokimasia.storage.runs import Run, list_runs

BY_HAND = "match by hand"
"""The kind of a result row of a person's."""

FEW = 30
"""Fewer responses of each model than the paper's 30 to 50 are said to be so."""

FEW_TRIALS = 5
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


def fingerprint_summary(home: Home, run: Run) -> dict[str, Any]:
    """Return what a test of fingerprints came to, ready for JSON; the same stored rows give the same bytes.

    Returns:
        run, source, status, judge, simulated, seed, models, notes, responses (asked of each model in a trial), shown {low,
        high} (there were), tasks, waiting (trials that the judge has not matched), untested [{first, second, samples}],
        reports {model: {verified, unverified} or None}, removed (pieces that anonymising took out of answers), `by_judge` (see
        `analysis.fingerprints.fingerprint_figures`), `by_hand` {name: the same}, and assets, ready to be drawn: the
        judge's, then each person's.
    """
    plan, _ = read_fingerprint_plan(run)
    diagnosis = find_values(home, Diagnosis, [plan.diagnosis])[plan.diagnosis]
    tasks = [task for _, task in tasks_of(home, run)]
    rows = results(home, run.id)
    matches = find_values(home, FingerprintMatch, [row.value_ids[1] for row in rows if row.kind == BY_HAND])
    by_hand: dict[str, list[Trial]] = {}
    for row in rows:
        if row.kind == BY_HAND:
            by_hand.setdefault(matches[row.value_ids[1]].by, []).append(_trial(row))
    judged = [_trial(row) for row in rows if row.kind == ITEM]
    figures = fingerprint_figures(judged, diagnosis.models)
    hands = {name: fingerprint_figures(each, diagnosis.models) for name, each in sorted(by_hand.items())}
    reports = reports_of(home, run.id)
    simulated = "sim" in plan.judge.ref.model.split("/")[:-1]
    left: Any = run.options.get("untested", [])
    untested: list[dict[str, Any]] = [{"first": one[0], "second": one[1], "samples": one[2]} for one in left]
    judge = plan.judge.ref.name
    return {
        "run": run.id,
        "source": plan.source,
        "status": run.status,
        "judge": judge,
        "simulated": sorted({*diagnosis.simulated, *((judge,) if simulated else ())}),
        "seed": plan.seed,
        "models": list(diagnosis.models),
        "notes": [*diagnosis.notes, *_notes(plan, tasks, untested)],
        "responses": plan.responses,
        "shown": {
            "low": min(len(task.samples) for task in tasks),
            "high": max(len(task.samples) for task in tasks),
        },
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
            one.model_dump(mode="json")
            for one in (
                *(fingerprint_assets(figures, diagnosis.models, matcher=judge) if judged else ()),
                *(
                    asset
                    for name, each in hands.items()
                    for asset in fingerprint_assets(each, diagnosis.models, matcher=name, id=_UNSAFE.sub("-", name))
                ),
            )
        ],
    }


def latest_fingerprints(home: Home, source: str) -> Run | None:
    """Return the newest test of an evaluation's fingerprints in which anything was matched; None without one."""
    for run in list_runs(home):
        plan: Any = run.options.get("plan")
        own = run.options.get("kind") == FINGERPRINT and plan["source"] == source
        if own and any(row.kind in (ITEM, BY_HAND) for row in results(home, run.id)):
            return run
    return None


def export_figures(summary: Mapping[str, Any], folder: Path) -> list[Path]:
    """Write a test's tables as CSV and PNG, and its summary as JSON, into a folder; equal summaries give equal bytes.

    Raises:
        InputError: the folder cannot be written.
    """
    from dokimasia.methods.diagnosis.blocks.pictures import picture_of

    make_folder(folder)
    written = [folder / "fingerprints.json"]
    write_whole(written[0], orjson.dumps(summary, option=orjson.OPT_INDENT_2) + b"\n")
    taken = {"fingerprints.json"}
    for asset in (Asset.model_validate(one) for one in summary["assets"]):
        name = file_name(asset.id, taken)
        written.append(folder / f"{name}.csv")
        write_whole(written[-1], table_csv(asset))
        drawn = picture_of(asset, simulated=bool(summary["simulated"]))
        if drawn is not None:
            written.append(folder / f"{name}.png")
            write_whole(written[-1], drawn)
    return sorted(written)


def make_folder(folder: Path) -> None:
    """Make a folder, and those above it, where there is none.

    Raises:
        InputError: it cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder} cannot be made: {error.strerror}; name another folder with --export") from error


def _trial(row: ResultRow) -> Trial:
    return Trial(row.model, row.arm, None if row.score is None else row.score > 0, row.failure)


def _notes(plan: FingerprintPlan, tasks: Sequence[FingerprintTask], untested: Sequence[Mapping[str, Any]]) -> list[str]:
    notes: list[str] = []
    if plan.responses < FEW:
        notes.append(f"{plan.responses} answers of each model are fewer than the paper's 30 to 50.")
    short = [task for task in tasks if len(task.samples) < plan.responses]
    if short:
        low, high = min(len(task.samples) for task in short), max(len(task.samples) for task in short)
        notes.append(
            f"{len(short)} trials show {low if low == high else f'{low} to {high}'} answers of each model and not "
            f"{plan.responses}: the run has no more that both models gave and no report was written from."
        )
    for one in untested:
        notes.append(
            f"{one['first']} and {one['second']} have no trial: there are {one['samples']} samples that both answered in "
            "the half that is shown."
        )
    pairs = plan.models * (plan.models - 1) // 2
    if len(tasks) < FEW_TRIALS * pairs:
        notes.append(
            f"{len(tasks)} trials for {pairs} pairs: the run has too few samples for more that share none, so the intervals "
            "are wide. Fewer answers a trial (--responses) make more trials, and harder ones."
        )
    return notes
