"""The figures of a diagnosis in words: stored reports, their JSON, and the rows of an export."""

from collections import Counter
from collections.abc import Iterable, Sequence

from pydantic import Field, JsonValue, field_serializer

from dokimasia.domain.diagnosis.report import FaultKind, Report, Salience, Sentence
from dokimasia.domain.identity import Value
from dokimasia.domain.judgement import FailureKind
from dokimasia.methods.diagnosis.request import NAME, REPORT, WordsPlan, runs_on, subjects_of, written_from
from dokimasia.report.fields import Count
from dokimasia.report.figures import several
from dokimasia.runs.figure_models import Heading, Judge
from dokimasia.runs.figures import simulated_names
from dokimasia.runs.reading.exporting import JUDGED, ColumnType
from dokimasia.storage.home import Home
from dokimasia.storage.lookup import find_values
from dokimasia.storage.people.corrections import Correction, JudgedColumns, correction_events
from dokimasia.storage.results import ResultRow, results
from dokimasia.storage.runs import Run

COLUMNS: dict[str, ColumnType] = {
    "text": "text",
    "picked": "texts",
    "words": "integer",
    "cut": "truth",
    "repaired": "truth",
    "verified": "integer",
    "unverified": "integer",
    "unverified_at_first": "integer",
    **JUDGED,
}
"""Columns of a report in an export; `text` holds its sentences with all figures, one paragraph per line."""


class MissingReport(Value):
    """The reason why a report is missing."""

    kind: FailureKind
    reason: str


class WrittenReport(Value):
    """One report in words; if it failed, counts are 0 and sentences empty."""

    subject: str = Field(description="the model that it is about; empty: all models together")
    failed: MissingReport | None = Field(description="null where there is a report")
    picked: tuple[str, ...] = Field(description="rows that were picked as worth reporting, the most telling first")
    unknown_picks: Count = Field(description="picks of rows that are not there")
    calls: Count = Field(description="calls of the judge that it rests on")
    words: Count = Field(description="words of the reply that counts")
    cut: bool = Field(description="whether it was cut for its length")
    repaired: bool = Field(description="whether it was sent back once")
    verified: Count = Field(description="sentences of which the program wrote every number and every tested comparison")
    unverified: Count = Field(description="all other sentences")
    unverified_at_first: Count = Field(description="unverified sentences before the writer was told")
    sentences: tuple[Sentence, ...]

    @field_serializer("sentences")
    def _whole_sentences(self, sentences: tuple[Sentence, ...]) -> list[dict[str, JsonValue]]:
        """Return the sentences with all fields, including defaults."""
        return [sentence.model_dump(mode="json") for sentence in sentences]


class ReportTotals(Value):
    """Counts over all reports."""

    verified: Count = Field(description="verified sentences")
    unverified: Count = Field(description="unverified sentences")
    unverified_at_first: Count = Field(description="unverified sentences before the writer was told")
    sentences: Count
    failed: Count = Field(description="reports that failed")
    by_kind: dict[FaultKind, Count] = Field(description="faults of unverified sentences, by kind")


class DiagnosisFigures(Heading):
    """The figures of a diagnosis in words."""

    source: str = Field(description="the id of the evaluation that is diagnosed")
    judge: Judge
    models: tuple[str, ...] = Field(description="the models that are diagnosed, in order")
    notes: tuple[str, ...] = Field(description="what a reader must know first")
    diagnosis: str = Field(description="the id of the tables that the reports are written from")
    totals: ReportTotals
    reports: tuple[WrittenReport, ...] = Field(description="one a model, in order, and last the one across models")


def reports_of(home: Home, run_id: str) -> dict[str, Report]:
    """Return the successful reports of a run by subject (empty for the report across models)."""
    ids: dict[str, str] = {}
    for row in results(home, run_id):
        if row.kind == REPORT and row.outcome == "made":
            ids[row.model] = row.value_ids[1]
    reports = find_values(home, Report, ids.values())
    return {subject: reports[id] for subject, id in ids.items()}


def latest_words(home: Home, source: str) -> Run | None:
    """Return an evaluation's newest finished diagnosis in words that has a report.

    If none has a report, the newest is returned, because its failure reasons are useful; None if there is no diagnosis.
    """
    finished_runs = [run for run in runs_on(home, source, NAME) if run.status == "done"]
    for run in finished_runs:
        if reports_of(home, run.id):
            return run
    if finished_runs:
        return finished_runs[0]
    return None


def words_figures(home: Home, run: Run) -> DiagnosisFigures:
    """Return the figures of a diagnosis in words; the same stored rows give the same bytes."""
    plan, diagnosis = run.plan_as(WordsPlan), written_from(home, run)
    rows = {row.model: row for row in results(home, run.id) if row.kind == REPORT}
    reports = reports_of(home, run.id)
    picks = _picks(home, rows.values())
    reports_and_failures = [
        _written_report(rows[subject], reports.get(subject), picks.get(subject))
        for subject in subjects_of(diagnosis)
        if subject in rows
    ]
    fault_kinds: Counter[FaultKind] = Counter()
    for report in reports_and_failures:
        for sentence in report.sentences:
            fault_kinds.update(fault.kind for fault in sentence.faults)
    return DiagnosisFigures(
        run=run.id,
        source=plan.source,
        status=run.status,
        judge=plan.judge.ref.name,
        simulated=tuple(sorted({*diagnosis.simulated, *simulated_names((plan.judge,))})),
        models=diagnosis.models,
        notes=(*diagnosis.notes, *corrected_since(home, run, plan.source)),
        diagnosis=plan.diagnosis,
        totals=ReportTotals(
            verified=sum(report.verified for report in reports_and_failures),
            unverified=sum(report.unverified for report in reports_and_failures),
            unverified_at_first=sum(report.unverified_at_first for report in reports_and_failures),
            sentences=sum(len(report.sentences) for report in reports_and_failures),
            failed=sum(report.failed is not None for report in reports_and_failures),
            by_kind=dict(sorted(fault_kinds.items())),
        ),
        reports=tuple(reports_and_failures),
    )


def corrected_since(home: Home, run: Run, source: str) -> list[str]:
    """Return a note if corrections of the evaluation changed after a diagnosis in words was begun; else nothing."""
    events = correction_events(home, source)
    then = _standing(correction for correction in events if correction.at <= run.created_at)
    now = _standing(events)
    changes = {thing for thing in {*then, *now} if then.get(thing) != now.get(thing)}
    later = [correction for correction in events if (correction.sample, correction.item) in changes]
    if not later:
        return []
    things = len(changes)
    verb = "was" if things == 1 else "were"
    return [
        f"{several(things, 'verdict or sample', 'verdicts or samples')} of run {source} {verb} corrected by hand after this "
        f"was written, the last on {later[-1].at[:10]}: its words and figures are those before. "
        f"`dokimasia diagnose {source} --write` writes it anew."
    ]


def _standing(events: Iterable[Correction]) -> dict[tuple[str, str], JudgedColumns]:
    """Return the effective columns of the last correction of each answer or left-out sample, unless it was undone."""
    last = {(correction.sample, correction.item): correction for correction in events}
    return {thing: correction.now for thing, correction in last.items() if not correction.undo}


def _picks(home: Home, rows: Iterable[ResultRow]) -> dict[str, Salience]:
    """Return the picked rows, by subject."""
    ids = {row.model: row.value_ids[0] for row in rows if row.value_ids}
    picks = find_values(home, Salience, ids.values())
    return {subject: picks[id] for subject, id in ids.items()}


def _written_report(row: ResultRow, report: Report | None, picked: Salience | None) -> WrittenReport:
    base = WrittenReport(
        subject=row.model,
        failed=None if row.failure is None else MissingReport(kind=row.failure, reason=row.reason or ""),
        picked=picked.rows if picked else (),
        unknown_picks=picked.unknown if picked else 0,
        calls=len(row.calls),
        words=0,
        cut=False,
        repaired=False,
        verified=0,
        unverified=0,
        unverified_at_first=0,
        sentences=(),
    )
    if report is None:
        return base
    counts = {
        "words": report.words,
        "cut": report.cut,
        "repaired": report.repaired,
        "verified": len(report.verified),
        "unverified": len(report.unverified),
        "unverified_at_first": report.unverified_at_first,
        "sentences": report.sentences,
    }
    return base.model_copy(update=counts)


async def cells(home: Home, run: Run, rows: Sequence[ResultRow]) -> list[dict[str, JsonValue]]:
    """Return the values of the export's columns for each report; null for a failed report."""
    judge, reports = run.plan_as(WordsPlan).judge_name, reports_of(home, run.id)
    picks = _picks(home, rows)
    exported: list[dict[str, JsonValue]] = []
    for row in rows:
        columns: dict[str, JsonValue] = {**dict.fromkeys(COLUMNS), "judge": judge}
        if row.model in picks:
            columns["picked"] = list(picks[row.model].rows)
        report = reports.get(row.model)
        if report is not None:
            counts = _written_report(row, report, None).model_dump(include=set(COLUMNS) - {"picked"})
            columns |= {"text": _text(report), **counts, **report.provenance.model_dump(include=set(COLUMNS))}
        exported.append(columns)
    return exported


def _text(report: Report) -> str:
    paragraphs: dict[int, list[str]] = {}
    for sentence in report.sentences:
        paragraphs.setdefault(sentence.paragraph, []).append(sentence.text)
    return "\n".join(" ".join(sentences) for sentences in paragraphs.values())
