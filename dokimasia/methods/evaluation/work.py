"""The work of one evaluation: sample by sample through replay and scoring, each item committed as it is finished."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from functools import partial
from typing import Any, cast

from dokimasia.algorithms.scoring import spoken_to
from dokimasia.domain.call import CallKeys
from dokimasia.domain.criterion import CriteriaSet
from dokimasia.domain.identity import digest, value_id
from dokimasia.domain.judgement import CheckpointScores, Failed, FinalAnswer, Response
from dokimasia.domain.sample import Sample
from dokimasia.graphs.answering import AnswerState
from dokimasia.graphs.drive import GraphFile
from dokimasia.graphs.evaluation import checkpoint_scoring, cognitive_replay
from dokimasia.methods.evaluation.plan import EvaluationPlan, replay_item
from dokimasia.methods.evaluation.retrying import retried_replay, retried_score
from dokimasia.methods.evaluation.taken_over import ResumePoint, taken_by
from dokimasia.runs.plans import AnswerItem
from dokimasia.runs.responses import read_given
from dokimasia.runs.work import Job, Stage, ending
from dokimasia.storage.criteria import CollectedCriteria, load_collection
from dokimasia.storage.home import Home
from dokimasia.storage.ledger import SqliteLedger
from dokimasia.storage.results import ResultRow
from dokimasia.storage.trees.lookup import criterion_key
from dokimasia.storage.trees.versions import mappings

REPLAY, SCORING = cast("GraphFile", cognitive_replay), cast("GraphFile", checkpoint_scoring)


async def stages(job: Job[EvaluationPlan]) -> AsyncIterator[Stage[Sample]]:
    """Yield the one stage of an evaluation: every sample goes through all its steps on its own.

    While one candidate's endpoint holds up the samples in flight and another's could take more, more are begun.
    """
    count = job.progress.samples
    reached = [spec.ref.name for spec in job.plan.candidates if spec.ref.name in job.services.specs]
    work = await asyncio.to_thread(EvaluationWork, job)
    yield Stage(
        job.samples(),
        work.sample,
        items=count * job.plan.rows_per_sample,
        width=min(job.width, count),
        uneven=lambda: job.services.gateway.uneven(reached),
    )


class EvaluationWork:
    """Does the items of one evaluation that have no result yet."""

    def __init__(self, job: Job[EvaluationPlan]) -> None:
        """Prepare the work: imported criteria and answers that exist replace calls, and a fork takes outcomes over."""
        self._job, self._plan = job, job.plan
        self._criteria = _collected(job.home, job.plan)
        placed = [] if job.plan.tree is None else mappings(job.home, job.plan.tree)
        self._leaves = {one.criterion: one.leaf for one in placed if one.leaf is not None}
        self._responses = read_given(job.request.responses)
        self._taken: Mapping[str, ResumePoint] = taken_by(job.home, job.run.id, job.plan)

    async def sample(self, sample: Sample) -> None:
        """Do all items of a sample.

        Raises:
            Interrupted: the gateway was drained; everything finished is committed.
            StorageError: a result could not be kept.
        """
        replay = await self._replay(sample) if self._plan.judge is not None else None
        await self._job.in_parts(self._plan.items(sample.id), partial(self._answers, sample, replay))
        self._job.progress.samples_done += 1

    async def _answers(self, sample: Sample, replay: ResultRow | None, items: Sequence[AnswerItem]) -> None:
        """Do some answers to a sample, all in one walk, and commit their rows."""
        open_items: list[tuple[AnswerItem, AnswerState]] = []
        rows: list[ResultRow] = []
        for item in items:
            begun = await self._begin_score(sample, item, replay)
            if isinstance(begun, ResultRow):
                rows.append(begun)
            elif begun is not None:
                open_items.append((item, begun))
        if open_items:
            state = await self._score(sample, replay, [begun for _, begun in open_items])
            for (item, _), ended in zip(open_items, state["items"], strict=True):
                rows.append(await self._scored_row(sample, item, replay, ended))
        await self._job.finish(*rows)

    async def _score(self, sample: Sample, replay: ResultRow | None, items: list[AnswerState]) -> dict[str, Any]:
        """Run the scoring graph over the answers to one sample, without criteria where there is no judge."""
        inputs: dict[str, Any] = {"sample": value_id(sample), "items": items}
        if replay is not None:
            inputs["criteria"] = replay.criteria_id
            inputs |= await self._paths(str(replay.criteria_id))
        name = f"score/{sample.id}/{digest('items', items)[:8]}"
        return await self._job.walk(SCORING, inputs, name, context=self._job.context)

    async def _paths(self, criteria_id: str) -> dict[str, list[str]]:
        """Return the paths of a set's criteria in the run's tree, by the name they have in the graph; none without any."""
        if not self._leaves:
            return {}
        made = await self._job.context.store.get(CriteriaSet, criteria_id)
        keys = [criterion_key(criteria_id, number) for number in range(1, len(made.criteria) + 1)]
        paths = [self._leaves.get(key, "") for key in keys]
        return {"paths": paths} if any(paths) else {}

    async def _replay(self, sample: Sample) -> ResultRow:
        """Return the row of the sample's criteria, making them where there is none."""
        item = replay_item(sample.id)
        job = self._job
        row = job.finished(item)
        if row is not None:
            return row
        begun = self._begin(item)
        if begun.row is not None:
            await job.finish(begun.row)
            return begun.row
        if self._criteria is not None:
            ready = self._criteria[sample.digest]
            made = {"chain_id": ready.chain_id, "criteria_id": ready.criteria_id}
            row = job.row(sample, item, kind="replay", outcome="made", **made)
            await job.finish(row)
            return row
        retried = retried_replay(job.retries.get(item), SqliteLedger(job.home))
        inputs = {"sample": value_id(sample), **begun.inputs, **retried}
        state = await job.walk(REPLAY, inputs, item, context=job.context)
        row = job.row(
            sample,
            item,
            kind="replay",
            **await self._made(state),
            chain_id=state.get("chain") or None,
            value_ids=tuple(state.get("looks", ())),
            calls=(*state.get("calls", ()), *await self._drawing(state)),
        )
        await job.finish(row)
        return row

    async def _drawing(self, state: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the calls in which criteria were drawn and looked at again."""
        if not state.get("drawing"):
            return ()
        return (await self._job.context.store.get(CallKeys, state["drawing"])).calls

    async def _made(self, state: Mapping[str, Any]) -> dict[str, Any]:
        """How a replay ended: criteria were made, or it failed for a reason that lies in the store."""
        if not state.get("failed"):
            return {"outcome": "made", "criteria_id": state["criteria"]}
        failed = await self._job.context.store.get(Failed, state["why"])
        return {"outcome": "failed", "failure": failed.kind, "reason": failed.reason}

    async def _begin_score(
        self, sample: Sample, item: AnswerItem, replay: ResultRow | None
    ) -> "ResultRow | AnswerState | None":
        """Return the row of an answer that needs no call, or what it enters the graph with; None if there is nothing to do."""
        if self._job.finished(item.name) is not None:
            return None
        if replay is not None and replay.outcome == "failed":
            reason = f"no criteria for this sample: {replay.reason}"[:500]
            return self._row(sample, item, outcome="failed", failure=replay.failure, reason=reason)
        begun = self._begin(item.name)
        if begun.row is not None:
            return begun.row
        entered: dict[str, Any] = {
            **item.place,
            **begun.inputs,
            **{name: value for name, value in retried_score(self._job.retries.get(item.name)).items() if value},
        }
        if self._responses is not None and "response" not in entered:
            given = await self._responses.kept(sample, item, self._job.context.store)
            if given is None:
                self._job.progress.items -= 1
                return None
            entered["response"] = given
        return cast("AnswerState", entered)

    async def _scored_row(
        self, sample: Sample, item: AnswerItem, replay: ResultRow | None, ended: AnswerState
    ) -> ResultRow:
        store = self._job.context.store
        judged: dict[str, Any] = {}
        if response := ended.get("response"):
            judged["length"] = len((await store.get(Response, response)).text)
        if final := ended.get("final"):
            judged |= {"final_id": final, "verdict": (await store.get(FinalAnswer, final)).verdict}
        if sample.reference_text is None:
            judged.pop("verdict", None)
        criteria_id = None if replay is None else replay.criteria_id
        if criteria_id and ended.get("judgement") and not ended.get("failed"):
            judgement = await store.get(CheckpointScores, ended["judgement"])
            criteria = await store.get(CriteriaSet, criteria_id)
            share, spoken = spoken_to(judgement.scores, judgement.spoken_to, criteria.weights)
            ended = {**ended, "score": judgement.score}
            judged["judgement_id"] = ended["judgement"]
            if judgement.stated:
                judged |= {"stated": share, "stated_score": spoken}
        return self._row(
            sample,
            item,
            **ending(ended),
            **judged,
            criteria_id=criteria_id,
            response_id=ended.get("response") or None,
            value_ids=tuple(ended.get("looks", ())),
            calls=tuple(ended.get("calls", ())),
        )

    def _row(self, sample: Sample, item: AnswerItem, **fields: Any) -> ResultRow:
        return self._job.row(sample, item.name, kind="score", **item.place, **fields)

    def _begin(self, item: str) -> ResumePoint:
        """Where an item of a fork begins; one that failed, was taken over so, and is retried, is asked here."""
        begun = self._taken.get(item, ResumePoint())
        if begun.row is None:
            return begun
        if item in self._job.retries:
            return ResumePoint()
        return ResumePoint(row=begun.row.model_copy(update={"run_id": self._job.run.id}))


def _collected(home: Home, plan: EvaluationPlan) -> Mapping[str, CollectedCriteria] | None:
    if plan.criteria is None:
        return None
    return {entry.sample_digest: entry for entry in load_collection(home, plan.criteria)}
