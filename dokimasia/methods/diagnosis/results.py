"""What a diagnosis in words came to: its reports, its figures for JSON, and the rows of an export."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dokimasia.domain.diagnosis.report import EVERYONE, Report, Salience
from dokimasia.domain.diagnosis.tables import Diagnosis
from dokimasia.methods.diagnosis.request import NAME, WordsPlan
from dokimasia.runs.figures import simulated
from dokimasia.runs.method import ColumnType
from dokimasia.storage.home import Home
from dokimasia.storage.lookup import find_values
from dokimasia.storage.results import ResultRow, results
from dokimasia.storage.runs import Run, list_runs

REPORT = "report"
"""The kind of a result row that stands for a report; its `model` is whom it is about, empty for the one across models."""

COLUMNS: dict[str, ColumnType] = {
    "text": "text",
    "picked": "texts",
    "words": "integer",
    "cut": "truth",
    "repaired": "truth",
    "verified": "integer",
    "unverified": "integer",
    "unverified_at_first": "integer",
    "judge": "text",
    "prompt": "text",
    "prompt_version": "integer",
    "prompt_hash": "text",
}
"""What an export says of a report: `text` has its sentences with their places printed, a paragraph a line."""


def written_from(home: Home, run: Run) -> Diagnosis:
    """Return the tables that the reports of a run are written from."""
    plan: Any = run.options["plan"]
    return find_values(home, Diagnosis, [plan["diagnosis"]])[plan["diagnosis"]]


def subjects_of(diagnosis: Diagnosis) -> tuple[str, ...]:
    """Return whom a diagnosis is reported on: each model, and with more than one also all of them together."""
    models = diagnosis.models
    return (*models, EVERYONE) if len(models) > 1 else models


def item_of(subject: str) -> str:
    """Return the name of a report's result row."""
    return f"{REPORT}/{subject}"


def reports_of(home: Home, run_id: str) -> dict[str, Report]:
    """Return the reports of a run by subject (empty: across models); those that failed are not among them."""
    made = {
        row.model: row.value_ids[1] for row in results(home, run_id) if row.kind == REPORT and row.outcome == "made"
    }
    found = find_values(home, Report, made.values())
    return {subject: found[id] for subject, id in made.items()}


def latest_words(home: Home, source: str) -> Run | None:
    """Return the newest finished diagnosis in words of an evaluation that has a report, None without one.

    Where all have failed, the newest: why it has no report is worth reading. A later failure hides no earlier report.
    """
    found = [run for run in runs_on(home, source, NAME) if run.status == "done"]
    return next((run for run in found if reports_of(home, run.id)), found[0] if found else None)


def runs_on(home: Home, source: str, method: str) -> Iterator[Run]:
    """Yield the runs of a method that rest on an evaluation, the newest first."""
    for run in list_runs(home):
        plan: Any = run.options.get("plan")
        if run.method == method and plan["source"] == source:
            yield run


def words_summary(home: Home, run: Run) -> dict[str, Any]:
    """Return what a diagnosis in words came to, ready for JSON; the same stored rows give the same bytes.

    Returns:
        What `shape.DiagnosisFigures` describes.
    """
    plan, diagnosis = _plan(run), written_from(home, run)
    rows = {row.model: row for row in results(home, run.id) if row.kind == REPORT}
    reports = reports_of(home, run.id)
    picked = find_values(home, Salience, [row.value_ids[0] for row in rows.values() if row.value_ids])
    shown = [_report(rows[one], reports.get(one), picked) for one in subjects_of(diagnosis) if one in rows]
    kinds = Counter(fault.kind for report in reports.values() for one in report.sentences for fault in one.faults)
    return {
        "run": run.id,
        "source": plan.source,
        "status": run.status,
        "judge": plan.judge.ref.name,
        "simulated": sorted({*diagnosis.simulated, *simulated((plan.judge,))}),
        "models": list(diagnosis.models),
        "notes": list(diagnosis.notes),
        "diagnosis": plan.diagnosis,
        "totals": {
            **{name: sum(one[name] for one in shown) for name in ("verified", "unverified", "unverified_at_first")},
            "sentences": sum(len(one["sentences"]) for one in shown),
            "failed": sum(one["failed"] is not None for one in shown),
            "by_kind": dict(sorted(kinds.items())),
        },
        "reports": shown,
    }


def _report(row: ResultRow, report: Report | None, picked: Mapping[str, Salience]) -> dict[str, Any]:
    salient = picked[row.value_ids[0]] if row.value_ids else None
    return {
        "subject": row.model,
        "failed": None if row.failure is None else {"kind": row.failure, "reason": row.reason},
        "picked": list(salient.rows) if salient else [],
        "unknown_picks": salient.unknown if salient else 0,
        "calls": len(row.calls),
        **_counts(report),
        "sentences": [one.model_dump(mode="json") for one in report.sentences] if report else [],
    }


def _counts(report: Report | None) -> dict[str, int | bool]:
    """Return what is counted of a report: of one that failed nothing."""
    return {
        "words": report.words if report else 0,
        "cut": report is not None and report.cut,
        "repaired": report is not None and report.repaired,
        "verified": len(report.verified) if report else 0,
        "unverified": len(report.unverified) if report else 0,
        "unverified_at_first": report.unverified_at_first if report else 0,
    }


async def cells(home: Home, run: Run, rows: Sequence[ResultRow]) -> list[dict[str, Any]]:
    """Return what an export says of each report; of one that failed what there is not is null."""
    judge, reports = _plan(run).judge_name, reports_of(home, run.id)
    picked = find_values(home, Salience, [row.value_ids[0] for row in rows if row.value_ids])
    found: list[dict[str, Any]] = []
    for row in rows:
        salient = {"picked": list(picked[row.value_ids[0]].rows)} if row.value_ids else {}
        found.append({**dict.fromkeys(COLUMNS), "judge": judge, **salient, **_written(reports.get(row.model))})
    return found


def _written(report: Report | None) -> dict[str, Any]:
    if report is None:
        return {}
    paragraphs: dict[int, list[str]] = {}
    for one in report.sentences:
        paragraphs.setdefault(one.paragraph, []).append(one.text)
    return {
        "text": "\n".join(" ".join(each) for each in paragraphs.values()),
        **_counts(report),
        **report.provenance.model_dump(include=set(COLUMNS)),
    }


def _plan(run: Run) -> WordsPlan:
    return WordsPlan.model_validate(run.options["plan"])
