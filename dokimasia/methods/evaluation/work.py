"""The work of an evaluation: replay and scoring of each sample; every item is committed as soon as it is finished."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from functools import partial
from typing import Any, cast

from dokimasia.algorithms.scoring import addressed_score
from dokimasia.domain.call import model_names
from dokimasia.domain.criterion import CriteriaSet
from dokimasia.domain.identity import digest, value_id
from dokimasia.domain.judgement import CheckpointScores, FinalAnswer, Response
from dokimasia.domain.sample import Sample
from dokimasia.graphs.answering import AnswerState
from dokimasia.graphs.drive import GraphFile
from dokimasia.graphs.evaluation import checkpoint_scoring, cognitive_replay
from dokimasia.methods.evaluation.forking import ResumePoint, judge_agreed, points_of_fork
from dokimasia.methods.evaluation.plan import EvaluationPlan, replay_item
from dokimasia.runs.plans import AnswerItem
from dokimasia.runs.responses import read_answer_files
from dokimasia.runs.work import Job, Stage, outcome_fields
from dokimasia.storage.criteria import CollectedCriteria, load_collection
from dokimasia.storage.ledger import SqliteLedger
from dokimasia.storage.results import ResultRow
from dokimasia.storage.retries import Retry
from dokimasia.storage.trees.lookup import criterion_key
from dokimasia.storage.trees.versions import mappings

REPLAY, SCORING = cast("GraphFile", cognitive_replay), cast("GraphFile", checkpoint_scoring)


async def stages(job: Job[EvaluationPlan]) -> AsyncIterator[Stage[Sample]]:
    """Yield the only stage of an evaluation: every sample goes through all its steps independently.

    While one candidate's endpoint is slow and another has spare capacity, more samples than the stage's width are
    started.
    """
    count = job.progress.samples
    candidates = [name for name in model_names(job.plan.candidates) if name in job.services.specs]
    work = await asyncio.to_thread(EvaluationWork, job)
    yield Stage(
        job.samples(),
        work.sample,
        items=count * job.plan.rows_per_sample,
        endpoint_idles=lambda: job.services.gateway.endpoint_idles(candidates),
    )


class EvaluationWork:
    """Processes the items of an evaluation that have no result yet."""

    def __init__(self, job: Job[EvaluationPlan]) -> None:
        """Load the replacements for calls: imported criteria, existing answers, and the outcomes that a fork reuses."""
        self._job, self._plan = job, job.plan
        self._imported: dict[str, CollectedCriteria] = {}
        if job.plan.criteria is not None:
            self._imported = {entry.sample_digest: entry for entry in load_collection(job.home, job.plan.criteria)}
        self._leaves: dict[str, str] = {}
        if job.plan.tree is not None:
            for mapping in mappings(job.home, job.plan.tree):
                if mapping.leaf is not None:
                    self._leaves[mapping.criterion] = mapping.leaf
        self._responses = read_answer_files(job.request.responses, job.request.data)
        self._asked = frozenset(model_names(job.plan.asked))
        self._points: Mapping[str, ResumePoint] = points_of_fork(job.home, job.run.id, job.plan)

    async def sample(self, sample: Sample) -> None:
        """Process all items of a sample.

        Raises:
            Interrupted: the gateway was drained; finished work is committed.
            StorageError: a result could not be stored.
        """
        replay: ResultRow | None = None
        if self._plan.judge is not None:
            item = replay_item(sample.id)
            replay = self._job.stored_row(item)
            if replay is None:
                replay = await self._replay_row(sample, item)
                await self._job.commit(replay)
        await self._job.in_batches(self._plan.items(sample.id), partial(self._answers, sample, replay))
        self._job.progress.samples_done += 1

    async def _replay_row(self, sample: Sample, item: str) -> ResultRow:
        """Return the sample's replay row: reused from the parent of a fork, imported, or made by the graph."""
        job = self._job
        start = self._begin(item)
        if start.row is not None:
            return start.row
        if self._plan.criteria is not None:
            entry = self._imported[sample.digest]
            criteria = {"chain_id": entry.chain_id, "criteria_id": entry.criteria_id}
            return job.row(sample, item, kind="replay", outcome="made", **criteria)
        retried = _retried_replay(job.retries.get(item), SqliteLedger(job.home))
        inputs = {"sample": value_id(sample), **start.inputs, **retried}
        state = await job.walk(REPLAY, inputs, item, context=job.context)
        fields = await cognitive_replay.replay_fields(state, job.context.store)
        return job.row(sample, item, kind="replay", value_ids=tuple(state.get("looks", ())), **fields)

    async def _answers(self, sample: Sample, replay: ResultRow | None, items: Sequence[AnswerItem]) -> None:
        """Process some answers to a sample in a single graph run, and commit their rows."""
        open_items: list[AnswerItem] = []
        states: list[AnswerState] = []
        rows: list[ResultRow] = []
        for item in items:
            start = await self._begin_answer(sample, item, replay)
            if isinstance(start, ResultRow):
                rows.append(start)
            elif start is not None:
                open_items.append(item)
                states.append(start)
        if states:
            final_state = await self._score(sample, replay, states)
            for item, state in zip(open_items, final_state["items"], strict=True):
                rows.append(await self._answer_row(sample, item, replay, state))
        await self._job.commit(*rows)

    async def _begin_answer(
        self, sample: Sample, item: AnswerItem, replay: ResultRow | None
    ) -> "ResultRow | AnswerState | None":
        """Return the row of an answer that needs no call, or its graph inputs; None if there is nothing to do."""
        if self._job.stored_row(item.name) is not None:
            return None
        if replay is not None and replay.outcome == "failed":
            reason = f"no criteria for this sample: {replay.reason}"[:500]
            return self._row(sample, item, outcome="failed", failure=replay.failure, reason=reason)
        start = self._begin(item.name)
        if start.row is not None:
            return start.row
        inputs: dict[str, object] = {**item.place, **start.inputs, **_retried_answer(self._job.retries.get(item.name))}
        if self._responses is not None and item.model not in self._asked and "response" not in inputs:
            response = await self._responses.kept(sample, item, self._job.context.store)
            if response is None:
                self._job.progress.items -= 1
                return None
            inputs["response"] = response
        return cast("AnswerState", inputs)

    async def _score(self, sample: Sample, replay: ResultRow | None, items: list[AnswerState]) -> dict[str, Any]:
        """Run the scoring graph over the answers to a sample, without criteria if there is no judge."""
        inputs: dict[str, object] = {"sample": value_id(sample), "items": items}
        if replay is not None:
            inputs["criteria"] = replay.criteria_id
            paths = await self._paths(str(replay.criteria_id))
            if any(paths):
                inputs["paths"] = paths
        name = f"answers/{sample.id}/{digest('items', items)[:8]}"
        return await self._job.walk(SCORING, inputs, name, context=self._job.context)

    async def _paths(self, criteria_id: str) -> list[str]:
        """Return the path of each criterion in the run's tree; nothing without a tree."""
        if not self._leaves:
            return []
        criteria = (await self._job.context.store.get(CriteriaSet, criteria_id)).criteria
        numbers = range(1, len(criteria) + 1)
        return [self._leaves.get(criterion_key(criteria_id, number), "") for number in numbers]

    async def _answer_row(
        self, sample: Sample, item: AnswerItem, replay: ResultRow | None, state: AnswerState
    ) -> ResultRow:
        """Return an answer's result row; its score is that of the stored judgement."""
        store = self._job.context.store
        fields: dict[str, object] = {}
        if response := state.get("response"):
            fields["length"] = len((await store.get(Response, response)).text)
        if final := state.get("final"):
            fields["final_id"] = final
            if sample.reference_text is not None:
                fields["verdict"] = (await store.get(FinalAnswer, final)).verdict
        criteria_id = None if replay is None else replay.criteria_id
        if criteria_id and state.get("judgement") and not state.get("failed"):
            judgement = await store.get(CheckpointScores, state["judgement"])
            state = {**state, "score": judgement.score}
            fields["judgement_id"] = state["judgement"]
            if judgement.stated:
                weights = (await store.get(CriteriaSet, criteria_id)).weights
                share, score = addressed_score(judgement.scores, judgement.addressed, weights)
                fields |= {"stated": share, "stated_score": score}
        return self._row(
            sample,
            item,
            **outcome_fields(state),
            **fields,
            criteria_id=criteria_id,
            response_id=state.get("response") or None,
            value_ids=tuple(state.get("looks", ())),
            calls=tuple(state.get("calls", ())),
        )

    def _row(self, sample: Sample, item: AnswerItem, **fields: object) -> ResultRow:
        return self._job.row(sample, item.name, kind="score", **item.place, **fields)

    def _begin(self, item: str) -> ResumePoint:
        """Return the starting point of an item; a retried item that failed in a fork's parent starts from scratch."""
        point = self._points.get(item, ResumePoint())
        if point.row is None:
            return point
        if item in self._job.retries:
            return ResumePoint()
        return ResumePoint(row=point.row.model_copy(update={"run_id": self._job.run.id}))


def _retried_replay(retry: Retry | None, ledger: SqliteLedger) -> dict[str, object]:
    """Return additional graph inputs for the retry of a failed replay.

    An existing chain is kept, unless it contradicts the reference; a chain that a judge already accepted is not judged
    again. The calls of the failed attempt were paid for and still count.
    """
    if retry is None:
        return {}
    failed_row = retry.failed
    inputs = _earlier_attempt(retry)
    if failed_row.chain_id is not None and failed_row.failure != "reference_contradicted":
        inputs["chain"] = failed_row.chain_id
        if judge_agreed(failed_row.calls, ledger):
            inputs["agreed"] = "judge"
    return inputs


def _retried_answer(retry: Retry | None) -> dict[str, object]:
    """Return additional graph inputs for the retry of a failed answer.

    An existing response, verdict or judgement is kept, so that only missing parts are requested.
    """
    if retry is None:
        return {}
    failed_row = retry.failed
    inputs = _earlier_attempt(retry)
    is_decided = failed_row.verdict in ("right", "wrong")
    inputs |= {
        "response": failed_row.response_id,
        "final": failed_row.final_id if is_decided else None,
        "judgement": failed_row.judgement_id,
    }
    return {name: value for name, value in inputs.items() if value}


def _earlier_attempt(retry: Retry) -> dict[str, object]:
    """Return the number of the next attempt, and the calls and looks of the failed attempt, which still count."""
    inputs: dict[str, object] = {"attempt": retry.attempt, "calls": list(retry.failed.calls)}
    if retry.failed.value_ids:
        inputs["looks"] = list(retry.failed.value_ids)
    return inputs
