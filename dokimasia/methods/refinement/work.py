"""The work of a refinement: check all original answers, then run the arms of those that failed."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from itertools import product
from typing import NamedTuple, cast

from dokimasia.domain.call import model_names
from dokimasia.domain.identity import value_id
from dokimasia.domain.judgement import Answered, CheckpointScores, FinalAnswer
from dokimasia.domain.refinement import Arm, PointSelection, RefinementStep
from dokimasia.domain.sample import Sample
from dokimasia.graphs.drive import GraphFile
from dokimasia.graphs.reasking import gather_all
from dokimasia.graphs.refinement import refinement
from dokimasia.methods.refinement.request import RefinementPlan
from dokimasia.methods.refinement.source import Peers, SourceAnswer, graph_inputs, peers_for, refined_part
from dokimasia.runs.work import Job, Stage
from dokimasia.storage.results import ResultRow, get_result

REFINEMENT = cast("GraphFile", refinement)

AnswerInputs = dict[SourceAnswer, dict[str, object]]
"""Graph inputs of each answer in addition to those from `graph_inputs`."""


async def stages(job: Job[RefinementPlan]) -> AsyncIterator[Stage[Sample]]:
    """Yield two stages: checks of the original answers, then the arms of those that failed.

    The arms start after all checks, so that peers are chosen from the same failures however often the work was
    interrupted. If the budget runs out before that, a resume continues with the checks.
    """
    plan = job.plan
    source = await asyncio.to_thread(refined_part, job.home, job.run, plan.source)
    names = model_names(plan.candidates)
    answers = [answer for answer in source.answers if answer.model in names]
    originals: AnswerInputs = {}
    for answer in answers:
        originals[answer] = {"withhold": plan.withhold, "needs_points": plan.names_points, "final": answer.final}
    yield _stage(job, originals, ["original"], {})
    if job.left_open:
        return
    atoms_of: dict[SourceAnswer, Sequence[int]] = {}
    failed_inputs: AnswerInputs = {}
    for answer in answers:
        step = await _step_of_failed(job, answer)
        if step is not None:
            atoms_of[answer] = step.selection.shown
            failed_inputs[answer] = {"answered": step.answered, "selection": step.selection_id}
    peers: Peers = {}
    if "peer" in plan.arms:
        peers = await asyncio.to_thread(peers_for, atoms_of, source, plan)
    yield _stage(job, failed_inputs, [arm for arm in plan.arms if arm != "original"], peers)


class FailedAnswer(NamedTuple):
    """A failed answer's selection of points to feed back, and whether its final answer was right."""

    selection_id: str
    selection: PointSelection
    answered: Answered


def _stage(job: Job[RefinementPlan], answers: AnswerInputs, arms: Sequence[Arm], peers: Peers) -> Stage[Sample]:
    """Return the stage that runs some arms of the answers, sample by sample."""
    by_sample: dict[str, list[SourceAnswer]] = {}
    for answer in answers:
        by_sample.setdefault(answer.sample_id, []).append(answer)

    async def do(sample: Sample) -> None:
        answers_of_sample = by_sample.get(sample.id, [])
        if job.plan.threshold is None and not sample.accepted:
            job.progress.items -= len(answers_of_sample) * len(arms)
            answers_of_sample = []
        sample_id = value_id(sample)

        async def walk(part: list[tuple[SourceAnswer, Arm]]) -> None:
            await gather_all(
                _item(job, sample, answer, arm, graph_inputs(answer, job.plan, sample_id) | answers[answer], peers)
                for answer, arm in part
            )

        await job.in_batches(product(answers_of_sample, arms), walk)
        job.progress.samples_done += 1

    return Stage(job.samples(), do, items=len(answers) * len(arms))


async def _step_of_failed(job: Job[RefinementPlan], answer: SourceAnswer) -> FailedAnswer | None:
    """Return the failed answer to refine; None if it is not refined.

    An answer without a verdict or without a point to feed back is not refined, and is counted separately.
    """
    row = get_result(job.home, job.run.id, item_name(answer, "original"))
    if row is None or row.outcome == "failed" or not row.value_ids:
        return None
    store = job.services.store
    step = await store.get(RefinementStep, row.value_ids[0])
    if step.selection is None or step.final is None:
        return None
    selection = await store.get(PointSelection, step.selection)
    if job.plan.names_points and not selection.shown:
        return None
    return FailedAnswer(step.selection, selection, (await store.get(FinalAnswer, step.final)).verdict)


async def _item(
    job: Job[RefinementPlan],
    sample: Sample,
    answer: SourceAnswer,
    arm: Arm,
    answer_inputs: dict[str, object],
    peers: Peers,
) -> None:
    item = item_name(answer, arm)
    if job.stored_row(item) is not None:
        return
    inputs = {**answer_inputs, "arm": arm}
    if arm == "peer":
        inputs["peers"] = peers.get(answer.key, {})
    state = await job.walk(REFINEMENT, inputs, item)
    await job.commit(await _row(job, sample, answer, arm, state["steps"]))


async def _row(
    job: Job[RefinementPlan], sample: Sample, answer: SourceAnswer, arm: Arm, ids: Sequence[str]
) -> ResultRow:
    store = job.services.store
    steps = [await store.get(RefinementStep, id) for id in ids]
    last = steps[-1]
    fields: dict[str, object] = {"outcome": "failed", "failure": last.failure, "reason": last.reason}
    if last.failure is None and arm == "original":
        fields = {"outcome": "scored", "score": answer.score, "judgement_id": answer.judgement}
    elif last.failure is None:
        scores = [(await store.get(CheckpointScores, id)).score for id in last.judgements]
        fields = {"outcome": "scored", "score": sum(scores) / len(scores), "judgement_id": last.judgements[0]}
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
        **fields,
    )


def item_name(answer: SourceAnswer, arm: Arm) -> str:
    """Return the name of the item for an arm of an answer, unique in its run."""
    return f"refine/{answer.key}/{arm}"
