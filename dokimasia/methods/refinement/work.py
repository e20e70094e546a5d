"""The work of one refinement: every original answer is checked, then each arm of those that failed goes its rounds."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from itertools import product
from typing import Any, cast

from dokimasia.domain.identity import value_id
from dokimasia.domain.judgement import CheckpointScores, FinalAnswer
from dokimasia.domain.refinement import Arm, PointSelection, RefinementStep
from dokimasia.domain.sample import Sample
from dokimasia.graphs.drive import GraphFile
from dokimasia.graphs.reasking import gathered
from dokimasia.graphs.refinement import refinement
from dokimasia.methods.refinement.plan import RefinementPlan
from dokimasia.methods.refinement.source import Peers, SourceAnswer, graph_inputs, peers_for, read_source
from dokimasia.runs.work import Job, Stage
from dokimasia.storage.results import ResultRow, get_result
from dokimasia.storage.runs import get_run

REFINEMENT = cast("GraphFile", refinement)

Given = dict[SourceAnswer, dict[str, Any]]
"""What the graph is given of each answer beside what `graph_inputs` says."""


async def stages(job: Job[RefinementPlan]) -> AsyncIterator[Stage[Sample]]:
    """Yield two stages: the original answers are checked, then the arms of those that failed go their rounds.

    The arms begin when all answers are checked, so that peers are chosen from the same failures however often the work
    was interrupted; where the budget ends before that, a resume goes on with the checks.
    """
    plan = job.plan
    source = await asyncio.to_thread(read_source, job.home, get_run(job.home, plan.source))
    names = {spec.ref.name for spec in plan.candidates}
    answers = [answer for answer in source.answers if answer.model in names]
    of_first = {"withhold": plan.withhold, "needs_points": plan.names_points}
    yield _stage(job, {answer: of_first | {"final": answer.final} for answer in answers}, ["original"], {})
    if job.left_open:
        return
    shown: dict[SourceAnswer, Sequence[int]] = {}
    taken: Given = {}
    for answer in answers:
        found = await _taken_up(job, answer)
        if found is not None:
            shown[answer] = found[0].shown
            taken[answer] = found[1]
    peers = await asyncio.to_thread(peers_for, shown, source, plan) if "peer" in plan.arms else {}
    yield _stage(job, taken, [arm for arm in plan.arms if arm != "original"], peers)


def _stage(job: Job[RefinementPlan], answers: Given, arms: Sequence[Arm], peers: Peers) -> Stage[Sample]:
    """Return the stage in which answers go through arms, sample by sample."""
    by_sample: dict[str, list[SourceAnswer]] = {}
    for answer in answers:
        by_sample.setdefault(answer.sample_id, []).append(answer)

    async def do(sample: Sample) -> None:
        mine = by_sample.get(sample.id, [])
        if job.plan.threshold is None and not sample.accepted:
            job.progress.items -= len(mine) * len(arms)
            mine = []
        stored = value_id(sample)

        async def some(part: list[tuple[SourceAnswer, Arm]]) -> None:
            await gathered(
                _item(job, sample, answer, arm, graph_inputs(answer, job.plan, stored) | answers[answer], peers)
                for answer, arm in part
            )

        await job.in_parts(product(mine, arms), some)
        job.progress.samples_done += 1

    return Stage(job.samples(), do, items=len(answers) * len(arms))


async def _taken_up(job: Job[RefinementPlan], answer: SourceAnswer) -> tuple[PointSelection, dict[str, Any]] | None:
    """Return what may be fed back on an answer that failed, and what its arms are given of it; None where it stays as it is.

    One without a verdict or without a point to feed back is not taken up, and is counted apart.
    """
    row = get_result(job.home, job.run.id, item_name(answer, "original"))
    if row is None or row.outcome == "failed" or not row.value_ids:
        return None
    store = job.services.store
    step = await store.get(RefinementStep, row.value_ids[0])
    if step.selection is None or step.final is None:
        return None
    selection = await store.get(PointSelection, step.selection)
    verdict = (await store.get(FinalAnswer, step.final)).verdict
    if job.plan.names_points and not selection.shown:
        return None
    return selection, {"answered": verdict, "selection": step.selection}


async def _item(
    job: Job[RefinementPlan], sample: Sample, answer: SourceAnswer, arm: Arm, given: dict[str, Any], peers: Peers
) -> None:
    item = item_name(answer, arm)
    if job.finished(item) is not None:
        return
    inputs = {**given, "arm": arm}
    if arm == "peer":
        inputs["peers"] = peers.get(answer.key, {})
    state = await job.walk(REFINEMENT, inputs, item)
    await job.finish(await _row(job, sample, answer, arm, state["steps"]))


async def _row(
    job: Job[RefinementPlan], sample: Sample, answer: SourceAnswer, arm: Arm, ids: Sequence[str]
) -> ResultRow:
    store = job.services.store
    steps = [await store.get(RefinementStep, id) for id in ids]
    last = steps[-1]
    ended: dict[str, Any] = {"outcome": "failed", "failure": last.failure, "reason": last.reason}
    if last.failure is None and arm == "original":
        ended = {"outcome": "scored", "score": answer.score, "judgement_id": answer.judgement}
    elif last.failure is None:
        scores = [(await store.get(CheckpointScores, id)).score for id in last.judgements]
        ended = {"outcome": "scored", "score": sum(scores) / len(scores), "judgement_id": last.judgements[0]}
    return job.row(
        sample,
        item_name(answer, arm),
        model=answer.model,
        arm=arm,
        repeat=answer.repeat,
        criteria_id=answer.criteria,
        response_id=last.response,
        value_ids=tuple(ids),
        calls=tuple(key for step in steps for key in step.calls),
        **ended,
    )


def item_name(answer: SourceAnswer, arm: Arm) -> str:
    """Return the name of an arm of an answer, unique in its run."""
    return f"refine/{answer.key}/{arm}"
