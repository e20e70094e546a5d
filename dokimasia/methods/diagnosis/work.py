"""A diagnosis in words at work: one walk through the steps of all reports, and a row for each report."""

from collections.abc import AsyncIterator, Iterable
from dataclasses import fields
from typing import Any, cast

from dokimasia.graphs.context import Context
from dokimasia.graphs.diagnosis import diagnosis as diagnosis_graph
from dokimasia.graphs.drive import GraphFile
from dokimasia.methods.diagnosis.request import WordsPlan
from dokimasia.methods.diagnosis.results import REPORT, item_of, subjects_of, written_from
from dokimasia.runs.work import Job, Stage, ending, one_stage
from dokimasia.storage.results import ResultRow

THREAD = "reports"
"""The one walk; it ends in a row for each report."""

STEPS = 3
"""What of a report is counted as progress: rows picked, a text written, and the report kept."""


def stages(job: Job[WordsPlan]) -> AsyncIterator[Stage[Any]]:
    """Yield the one stage: the reports."""
    return one_stage(reports_stage(job))


def reports_stage(job: Job[Any]) -> Stage[str]:
    """Return the stage, of one unit, in which all reports of a run are written from its tables."""
    return Stage(
        units=(THREAD,), do=lambda _: _write(job), items=STEPS * len(subjects_of(written_from(job.home, job.run)))
    )


async def _write(job: Job[WordsPlan]) -> None:
    """Take the reports through their steps, from the last one that was finished on, and keep what came of each.

    Where reports that failed are asked anew, all are walked through once more: those that were good are answered by the
    ledger, and their rows stay.

    Raises:
        CallFailed: the budget is used up; what is finished is kept.
    """
    diagnosis, progress = written_from(job.home, job.run), job.progress
    subjects = subjects_of(diagnosis)
    waiting = [one for one in subjects if job.finished(item_of(one)) is None]
    walked = progress.done + (STEPS - 1) * len(subjects)
    progress.samples = len(diagnosis.models)

    def told(done: int) -> None:
        progress.done = min(walked, progress.done + done)

    if waiting:
        services = {one.name: getattr(job.context, one.name) for one in fields(Context)}
        context = diagnosis_graph.DiagnosisContext(**services, diagnosis=diagnosis, told=told)
        attempt = max(job.attempt(item_of(one)) for one in subjects)
        thread = f"{THREAD}/{attempt}" if attempt else THREAD
        context = context.at_attempt(attempt) if attempt else context
        state = await job.walk(cast("GraphFile", diagnosis_graph), {}, thread, context=context)
        progress.done = walked
        await job.finish(*_rows(job, waiting, cast("diagnosis_graph.State", state)))
        await job.close(thread)
    progress.done = walked + len(waiting)
    progress.samples_done = progress.samples


def _rows(job: Job[WordsPlan], subjects: Iterable[str], state: "diagnosis_graph.State") -> Iterable[ResultRow]:
    """Yield a row for each report: what was picked for it, then the report; or why there is none."""
    for subject in subjects:
        made = (state.get("salient", {}).get(subject), state.get("reports", {}).get(subject))
        kind, reason = state.get("failed", {}).get(subject) or ("", "")
        yield job.row(
            None,
            item_of(subject),
            kind=REPORT,
            model=subject,
            value_ids=tuple(id for id in made if id is not None),
            calls=tuple(state.get("calls", {}).get(subject, ())),
            **ending({"failed": kind, "reason": reason}),
        )
