"""The work of a fingerprint test: writing reports, then matching the trials with the judge."""

from collections.abc import AsyncIterator, Mapping
from typing import Any

from dokimasia.domain.diagnosis.fingerprint import FingerprintTask
from dokimasia.graphs import fingerprinting
from dokimasia.methods.diagnosis import REPORT, reports_stage
from dokimasia.methods.fingerprints.request import MATCH, FingerprintPlan
from dokimasia.methods.fingerprints.trials import item_of, tasks_of
from dokimasia.runs.work import Job, Stage, outcome_fields
from dokimasia.storage.results import ResultRow, results


async def stages(job: Job[FingerprintPlan]) -> AsyncIterator[Stage[Any]]:
    """Yield the stage of the reports and, unless a person does the matching, the stage of the trials."""
    yield reports_stage(job)
    if job.request.by_hand:
        job.held_open = True
    else:
        yield _matching_stage(job)


def _matching_stage(job: Job[FingerprintPlan]) -> Stage[tuple[str, FingerprintTask]]:
    trials = tasks_of(job.home, job.run)
    report_rows = {row.model: row for row in results(job.home, job.run.id) if row.kind == REPORT}
    job.progress.samples = len(trials)

    async def do(trial: tuple[str, FingerprintTask]) -> None:
        if job.stored_row(item_of(trial[1])) is None:
            await job.commit(await _match(job, report_rows, *trial))
        job.progress.samples_done += 1

    return Stage(trials, do, items=len(trials))


async def _match(
    job: Job[FingerprintPlan], report_rows: Mapping[str, ResultRow], id: str, task: FingerprintTask
) -> ResultRow:
    """Return the row of a trial; no call is made if a report is missing."""
    item = item_of(task)
    fields: dict[str, object] = {"kind": MATCH, "model": task.first, "arm": task.second, "repeat": task.trial - 1}
    first, second = report_rows[task.first], report_rows[task.second]
    for row in (first, second):
        if row.outcome != "made":
            reason = f"there is no report on {row.model}: {row.reason}"
            return job.row(
                None, item, **fields, value_ids=(id,), **outcome_fields({"failed": row.failure, "reason": reason})
            )
    inputs = {"task": id, "first": first.value_ids[1], "second": second.value_ids[1]}
    state = await job.walk(fingerprinting, inputs, item)
    value_ids = (id,) if state.get("failed") else (id, state["result"])
    return job.row(
        None, item, **fields, value_ids=value_ids, calls=tuple(state.get("calls") or ()), **outcome_fields(state)
    )
