"""A test of fingerprints carried out: every trial that has no result yet is put to the judge, a few at once."""

import asyncio
from collections.abc import Mapping
from typing import Any, cast

from dokimasia.domain.fingerprint import FingerprintTask
from dokimasia.errors import NotFound
from dokimasia.graphs import drive
from dokimasia.graphs.context import Context
from dokimasia.graphs.diagnosis import fingerprinting
from dokimasia.graphs.drive import GraphFile
from dokimasia.methods.diagnosis.plan import FINGERPRINT, FingerprintPlan, FingerprintRequest
from dokimasia.methods.diagnosis.words import Accepted
from dokimasia.prompts import PromptLibrary
from dokimasia.runs.concurrency import raise_worst, reporting
from dokimasia.runs.observer import Observer, Progress
from dokimasia.runs.services import Workshop
from dokimasia.storage.home import Home
from dokimasia.storage.lookup import find_values
from dokimasia.storage.results import ResultRow, get_result, record_result, results
from dokimasia.storage.runs import Run

ITEM = "match"
"""The kind of a result row of the judge's."""

WIDTH = 8
"""At least so many trials are in flight."""


def read_fingerprint_plan(run: Run) -> tuple[FingerprintPlan, FingerprintRequest]:
    """Return the plan and the request that a test of fingerprints was accepted with.

    Raises:
        NotFound: the run is of another kind.
    """
    if run.options.get("kind") != FINGERPRINT:
        raise NotFound(f"run {run.id} is of kind {run.graph!r}, not a test of fingerprints")
    return FingerprintPlan.model_validate(run.options["plan"]), FingerprintRequest.model_validate(
        run.options["request"]
    )


def tasks_of(home: Home, run: Run) -> list[tuple[str, FingerprintTask]]:
    """Return the trials of a test with their ids, in their order."""
    ids = [str(id) for id in cast("list[str]", run.options["tasks"])]
    found = find_values(home, FingerprintTask, ids)
    return [(id, found[id]) for id in ids]


def item_of(task: FingerprintTask) -> str:
    """Return the name of a trial's result row."""
    return f"match/{task.first}/{task.second}/{task.trial}"


async def match_all(
    home: Home, accepted: Accepted, workshop: Workshop, library: PromptLibrary, observer: Observer
) -> None:
    """Walk every trial that has no result yet; a few at once.

    Raises:
        CallFailed: the budget is used up; what is finished is kept.
    """
    run, plan = accepted.run, accepted.plan
    context = Context(workshop.gateway, workshop.store, plan.options, plan.seed, library, home.blobs)
    graph = drive.compiled(cast("GraphFile", fingerprinting))
    trials = tasks_of(home, run)
    made = {row.model: row for row in results(home, run.id) if row.kind == "report"}
    progress = Progress(samples=len(trials), items=len(trials))
    problems: list[BaseException] = []
    waiting = iter(trials)

    def report() -> None:
        progress.stats = workshop.gateway.stats()
        observer.progressed(progress)

    async def worker() -> None:
        for id, task in waiting:
            if problems:
                return
            try:
                row = get_result(home, run.id, item_of(task))
                if row is None:
                    row = await _walk(run.id, id, task, made, graph, context)
                    await record_result(home, row)
                progress.count(row.failure)
                progress.samples_done += 1
            except BaseException as problem:
                problems.append(problem)
                if isinstance(problem, asyncio.CancelledError):
                    raise
                return

    async with reporting(report):
        await asyncio.gather(*(worker() for _ in range(max(WIDTH, plan.judge.max_concurrency))))
    raise_worst(problems)


async def _walk(
    run_id: str, id: str, task: FingerprintTask, made: Mapping[str, ResultRow], graph: Any, context: Context
) -> ResultRow:
    fields: dict[str, Any] = {
        "run_id": run_id,
        "item": item_of(task),
        "kind": ITEM,
        "sample_id": "",
        "model": task.first,
        "arm": task.second,
        "repeat": task.trial - 1,
    }
    missing = next((made[name] for name in (task.first, task.second) if made[name].outcome != "made"), None)
    if missing is not None:
        reason = f"there is no report on {missing.model}: {missing.reason}"[:500]
        return ResultRow(**fields, value_ids=(id,), outcome="failed", failure=missing.failure, reason=reason)
    inputs = {"task": id, "first": made[task.first].value_ids[1], "second": made[task.second].value_ids[1]}
    state = await drive.run(graph, inputs, context=context)
    calls = tuple(state.get("calls") or ())
    if state.get("failed"):
        kind, reason = state["failed"], str(state.get("reason", ""))[:500]
        return ResultRow(**fields, value_ids=(id,), calls=calls, outcome="failed", failure=kind, reason=reason)
    return ResultRow(
        **fields, value_ids=(id, state["result"]), calls=calls, outcome="scored", score=float(state["score"])
    )
