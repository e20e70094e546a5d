"""The work of one evaluation: sample by sample through replay and scoring, each item committed as it is finished."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

from dokimasia.domain.identity import digest, value_id
from dokimasia.domain.judgement import CheckpointScores, Failed, Response
from dokimasia.domain.sample import Sample
from dokimasia.gateway.events import GatewayStats
from dokimasia.graphs import drive
from dokimasia.graphs.context import Context
from dokimasia.graphs.evaluation import checkpoint_scoring, cognitive_replay
from dokimasia.log import logger
from dokimasia.runner.crowd import work_through
from dokimasia.runner.observer import Observer, Progress
from dokimasia.runner.plan import EvaluationPlan, ScoreItem, replay_item
from dokimasia.runner.retrying import retried_replay, retried_score
from dokimasia.runner.taking import Beginning
from dokimasia.storage.checkpoints import Saver, delete_thread
from dokimasia.storage.criteria import CollectedCriteria
from dokimasia.storage.home import Home
from dokimasia.storage.ledger import SqliteLedger
from dokimasia.storage.results import ResultRow, get_result, has_results, record_results
from dokimasia.storage.retries import Retry, retries
from dokimasia.storage.threads import Thread, close_thread, open_thread

WINDOW = 4
"""Samples in flight for each call that the widest endpoint takes at once, so that a slow one idles no other."""


class EvaluationWorker:
    """Does the work items of one run that have no result yet.

    Every sample goes through all its stages on its own: no stage waits for another sample. At most `width` samples are
    in flight, so that memory stays bounded and the slowest endpoint does not starve the others.
    """

    def __init__(
        self,
        *,
        home: Home,
        plan: EvaluationPlan,
        context: Context,
        saver: Saver,
        observer: Observer,
        stats: Callable[[], GatewayStats],
        uneven: Callable[[], bool],
        criteria: Mapping[str, CollectedCriteria] | None = None,
        responses: Mapping[tuple[str, str, int], str] | None = None,
        taken: Mapping[str, Beginning] | None = None,
        keep_checkpoints: bool = False,
    ) -> None:
        """Prepare the work; `criteria` by sample digest and `responses` by (sample id, model, repeat) replace calls.

        `uneven` says whether one candidate's requests wait while another's endpoint has room (`work_through`). `taken`
        says, by item, what a fork takes over from the run that it branched off. `keep_checkpoints` keeps every
        step of every thread for inspection.
        """
        self._home = home
        self._plan = plan
        self._run = plan.run_id
        self._context = context
        self._saver = saver
        self._observer = observer
        self._stats = stats
        self._uneven = uneven
        self._criteria = criteria
        self._responses = responses
        self._taken = taken or {}
        self._keep = keep_checkpoints
        self._retries: dict[str, Retry] = {}
        self._replay_graph = drive.checkpointed(cognitive_replay.NAME, saver)
        self._scoring_graph = drive.straight(checkpoint_scoring.NAME)
        self._begun = True
        self.progress = Progress()

    async def work(self, samples: Iterator[Sample], count: int) -> None:
        """Do all items of the samples.

        Raises:
            Interrupted: the gateway was drained; everything finished is committed.
            StorageError: a result could not be kept.
        """
        self._retries = retries(self._home, self._run)
        progress = self.progress
        self._begun = has_results(self._home, self._run)
        progress.samples = count
        progress.items = count * (1 + len(list(self._plan.items(""))))
        concurrency = max(spec.max_concurrency for spec in (*self._plan.candidates, self._plan.judge))
        await work_through(
            samples,
            self._one,
            width=min(WINDOW * concurrency, count),
            report=self._report,
            uneven=self._uneven,
        )

    async def _one(self, sample: Sample) -> None:
        await self._sample(sample)
        self.progress.samples_done += 1

    def _report(self) -> None:
        self.progress.stats = self._stats()
        self._observer.progressed(self.progress)

    async def _sample(self, sample: Sample) -> None:
        replay = await self._replay(sample)
        open_items: list[tuple[ScoreItem, checkpoint_scoring.Item]] = []
        rows: list[ResultRow] = []
        for item in self._plan.items(sample.id):
            begun = await self._begin_score(sample, item, replay)
            if isinstance(begun, ResultRow):
                rows.append(begun)
            elif begun is not None:
                open_items.append((item, begun))
        if open_items:
            state = await self._score(sample, replay, [begun for _, begun in open_items])
            for (item, _), ended in zip(open_items, state["items"], strict=True):
                rows.append(await self._scored_row(sample, item, replay, ended))
        await self._finish(*rows)

    async def _score(self, sample: Sample, replay: ResultRow, items: list[checkpoint_scoring.Item]) -> dict[str, Any]:
        """Run the scoring graph over the answers to one sample: straight, or, to be looked at later, step by step."""
        inputs = {"sample": value_id(sample), "criteria": replay.criteria_id, "items": items}
        if not self._keep:
            return await drive.run(self._scoring_graph, inputs, context=self._context)
        item = f"score/{sample.id}/{digest('items', items)[:8]}"
        thread = await self._open_thread(item, checkpoint_scoring.NAME)
        graph = drive.checkpointed(checkpoint_scoring.NAME, self._saver)
        return await drive.start_or_resume(graph, inputs, context=self._context, thread=thread)

    async def _open_thread(self, item: str, graph: str) -> str:
        thread = drive.thread_id(self._run, item, graph)
        version = str(drive.GRAPHS[graph].VERSION)
        row = Thread(thread_id=thread, run_id=self._run, item=item, graph=graph, graph_version=version)
        await open_thread(self._home, row)
        return thread

    async def _replay(self, sample: Sample) -> ResultRow:
        """Return the row of the sample's criteria, making them where there is none."""
        item = replay_item(sample.id)
        row = self._row_of(item)
        if row is not None:
            self.progress.restored += 1
            self.progress.count(row.failure)
            return row
        begun = self._begin(item)
        if begun.row is not None:
            await self._finish(begun.row)
            return begun.row
        base: dict[str, Any] = {"run_id": self._run, "item": item, "kind": "replay", **_names(sample)}
        if self._criteria is not None:
            ready = self._criteria[sample.digest]
            row = ResultRow(**base, outcome="made", chain_id=ready.chain_id, criteria_id=ready.criteria_id)
            await self._finish(row)
            return row
        thread = await self._open_thread(item, cognitive_replay.NAME)
        retried = retried_replay(self._retries.get(item), SqliteLedger(self._home))
        inputs = {"sample": value_id(sample), **begun.inputs, **retried}
        state = await drive.start_or_resume(self._replay_graph, inputs, context=self._context, thread=thread)
        made = {} if state.get("failed") else {"criteria_id": state["criteria"]}
        row = ResultRow(
            **base,
            **await self._made(state),
            **made,
            chain_id=state.get("chain") or None,
            value_ids=tuple(state.get("looks", ())),
            calls=tuple(state.get("calls", ())),
        )
        await self._finish(row)
        if not self._keep:
            await delete_thread(self._saver, thread)
            await close_thread(self._home, thread)
        return row

    async def _made(self, state: Mapping[str, Any]) -> dict[str, Any]:
        """How a replay ended: criteria were made, or it failed for a reason that lies in the store."""
        if not state.get("failed"):
            return {"outcome": "made"}
        failed = await self._context.store.get(Failed, state["why"])
        return {"outcome": "failed", "failure": failed.kind, "reason": failed.reason}

    async def _begin_score(
        self, sample: Sample, item: ScoreItem, replay: ResultRow
    ) -> "ResultRow | checkpoint_scoring.Item | None":
        """Return the row of an answer that needs no call, or what it enters the graph with; None if there is nothing to do."""
        row = self._row_of(item.name)
        if row is not None:
            self.progress.restored += 1
            self.progress.count(row.failure)
            return None
        if replay.outcome == "failed":
            reason = f"no criteria for this sample: {replay.reason}"[:500]
            return ResultRow(**self._base(sample, item), outcome="failed", failure=replay.failure, reason=reason)
        begun = self._begin(item.name)
        if begun.row is not None:
            return begun.row
        entered: dict[str, Any] = {
            "model": item.model,
            "arm": item.arm,
            "repeat": item.repeat,
            **begun.inputs,
            **{name: value for name, value in retried_score(self._retries.get(item.name)).items() if value},
        }
        if self._responses is not None and "response" not in entered:
            text = self._responses.get((item.sample_id, item.model, item.repeat))
            if text is None:
                self.progress.items -= 1
                return None
            entered["response"] = await self._context.store.put(
                Response(sample=sample.digest, model=item.model, arm=item.arm, repeat=item.repeat, text=text)
            )
        return cast("checkpoint_scoring.Item", entered)

    async def _scored_row(
        self, sample: Sample, item: ScoreItem, replay: ResultRow, ended: checkpoint_scoring.Item
    ) -> ResultRow:
        score: dict[str, Any] = {}
        if not ended.get("failed"):
            judgement = await self._context.store.get(CheckpointScores, ended["judgement"])
            score = {"score": judgement.score, "judgement_id": ended["judgement"]}
        return ResultRow(
            **self._base(sample, item),
            **_ending(ended),
            **score,
            criteria_id=replay.criteria_id,
            response_id=ended.get("response") or None,
            value_ids=tuple(ended.get("looks", ())),
            calls=tuple(ended.get("calls", ())),
        )

    def _row_of(self, item: str) -> ResultRow | None:
        """Return an item's result from before; in a run that had none at all there is nothing to look for."""
        return get_result(self._home, self._run, item) if self._begun else None

    def _base(self, sample: Sample, item: ScoreItem) -> dict[str, Any]:
        return {
            "run_id": self._run,
            "item": item.name,
            "kind": "score",
            **_names(sample),
            "model": item.model,
            "arm": item.arm,
            "repeat": item.repeat,
        }

    def _begin(self, item: str) -> Beginning:
        """Where an item of a fork begins; one that failed, was taken over so, and is retried, is asked here."""
        begun = self._taken.get(item, Beginning())
        if begun.row is None:
            return begun
        if item in self._retries:
            return Beginning()
        return Beginning(row=begun.row.model_copy(update={"run_id": self._run}))

    async def _finish(self, *rows: ResultRow) -> None:
        await record_results(self._home, rows)
        for row in rows:
            self.progress.count(row.failure)
            if row.failure is not None:
                logger(__name__).info("item failed", item=row.item, kind=row.failure, reason=row.reason)


def _names(sample: Sample) -> dict[str, str]:
    return {"sample_id": sample.id, "sample_digest": sample.digest}


def _ending(state: Mapping[str, Any]) -> dict[str, Any]:
    if state.get("failed"):
        return {"outcome": "failed", "failure": state["failed"], "reason": state.get("reason", "")}
    return {"outcome": "scored"}
