"""The work of a diagnosis in words: one graph run for all reports, and one row per report."""

from collections.abc import AsyncIterator, Iterable
from typing import Any, cast

from dokimasia.graphs import diagnosis as diagnosis_graph
from dokimasia.graphs.context import services_of
from dokimasia.graphs.drive import GraphFile
from dokimasia.methods.diagnosis.request import REPORT, WordsPlan, item_of, subjects_of, written_from
from dokimasia.runs.work import Job, Stage, outcome_fields, single_stage
from dokimasia.storage.results import ResultRow

THREAD = "reports"
"""The name of the only graph thread, which makes a row for each report."""

STEPS = 3
"""Progress steps of a report: picking rows, writing the text, and storing the report."""


def stages(job: Job[WordsPlan]) -> AsyncIterator[Stage[Any]]:
    """Yield the only stage: the reports."""
    return single_stage(reports_stage(job))


def reports_stage(job: Job[Any]) -> Stage[str]:
    """Return the stage, with one item, that writes all reports of a run."""
    subjects = subjects_of(written_from(job.home, job.run))
    return Stage(units=(THREAD,), do=lambda _: _write_reports(job), items=STEPS * len(subjects))


async def _write_reports(job: Job[WordsPlan]) -> None:
    """Write the reports, resuming after the last finished step, and store their rows.

    A retry of failed reports runs the graph for all: the ledger answers the successful ones, and their rows are kept.

    Raises:
        CallFailed: the budget is used up; finished work is kept.
    """
    diagnosis, progress = written_from(job.home, job.run), job.progress
    subjects = subjects_of(diagnosis)
    unwritten = [subject for subject in subjects if job.stored_row(item_of(subject)) is None]
    steps_done = progress.done + (STEPS - 1) * len(subjects)
    progress.samples = len(diagnosis.models)

    def on_progress(steps: int) -> None:
        progress.done = min(steps_done, progress.done + steps)

    if unwritten:
        services = services_of(job.context)
        context = diagnosis_graph.DiagnosisContext(**services, diagnosis=diagnosis, on_progress=on_progress)
        thread = THREAD
        attempt = max(job.attempt(item_of(subject)) for subject in subjects)
        if attempt:
            thread = f"{THREAD}/{attempt}"
            context = context.at_attempt(attempt)
        state = await job.walk(cast("GraphFile", diagnosis_graph), {}, thread, context=context)
        progress.done = steps_done
        await job.commit(*_rows(job, unwritten, cast("diagnosis_graph.State", state)))
        await job.close(thread)
    progress.done = steps_done + len(unwritten)
    progress.samples_done = progress.samples


def _rows(job: Job[WordsPlan], subjects: Iterable[str], state: "diagnosis_graph.State") -> Iterable[ResultRow]:
    """Yield a row for each report: its picked rows and the report, or its failure."""
    for subject in subjects:
        ids = (state.get("salient", {}).get(subject), state.get("reports", {}).get(subject))
        kind, reason = state.get("failed", {}).get(subject) or ("", "")
        yield job.row(
            None,
            item_of(subject),
            kind=REPORT,
            model=subject,
            value_ids=tuple(id for id in ids if id is not None),
            calls=tuple(state.get("calls", {}).get(subject, ())),
            **outcome_fields({"failed": kind, "reason": reason}),
        )
