"""A test of fingerprints at work: reports are written, then every trial is put to the judge, a few at once."""

from collections.abc import AsyncIterator, Mapping
from typing import Any

from dokimasia.domain.diagnosis.fingerprint import FingerprintTask
from dokimasia.graphs.diagnosis import fingerprinting
from dokimasia.methods.diagnosis import REPORT, reports_stage
from dokimasia.methods.fingerprints.request import FingerprintPlan
from dokimasia.methods.fingerprints.results import MATCH
from dokimasia.methods.fingerprints.tasks import item_of, tasks_of
from dokimasia.runs.work import Job, Stage, ending
from dokimasia.storage.results import ResultRow, results


async def stages(job: Job[FingerprintPlan]) -> AsyncIterator[Stage[Any]]:
    """Yield the stage of the reports, then that of the trials, unless a person is to match them."""
    yield reports_stage(job)
    if job.request.by_hand:
        job.held_open = True
    else:
        yield _matching(job)


def _matching(job: Job[FingerprintPlan]) -> Stage[tuple[str, FingerprintTask]]:
    trials = tasks_of(job.home, job.run)
    made = {row.model: row for row in results(job.home, job.run.id) if row.kind == REPORT}
    job.progress.samples = len(trials)

    async def do(trial: tuple[str, FingerprintTask]) -> None:
        if job.finished(item_of(trial[1])) is None:
            await job.finish(await _matched(job, made, *trial))
        job.progress.samples_done += 1

    return Stage(trials, do, items=len(trials))


async def _matched(
    job: Job[FingerprintPlan], made: Mapping[str, ResultRow], id: str, task: FingerprintTask
) -> ResultRow:
    """Return the row of a trial; where a report is missing nothing is asked."""
    fields: dict[str, Any] = {
        "kind": MATCH,
        "model": task.first,
        "arm": task.second,
        "repeat": task.trial - 1,
    }
    missing = next((made[name] for name in (task.first, task.second) if made[name].outcome != "made"), None)
    if missing is not None:
        reason = f"there is no report on {missing.model}: {missing.reason}"
        ended = ending({"failed": missing.failure, "reason": reason})
        return job.row(None, item_of(task), **fields, value_ids=(id,), **ended)
    inputs = {"task": id, "first": made[task.first].value_ids[1], "second": made[task.second].value_ids[1]}
    state = await job.walk(fingerprinting, inputs, item_of(task))
    said = () if state.get("failed") else (state["result"],)
    calls = tuple(state.get("calls") or ())
    return job.row(None, item_of(task), **fields, value_ids=(id, *said), calls=calls, **ending(state))
