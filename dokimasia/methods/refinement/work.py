"""The work of one refinement: every original answer is checked, then each arm of those that failed goes its rounds."""

from collections.abc import Awaitable, Callable, Iterator
from typing import Any, cast

from dokimasia.agents import PromptLibrary
from dokimasia.domain.identity import value_id
from dokimasia.domain.judgement import CheckpointScores
from dokimasia.domain.refinement import Arm, FinalAnswer, RefinementStep
from dokimasia.domain.sample import Sample
from dokimasia.graphs import drive
from dokimasia.graphs.context import Context
from dokimasia.graphs.drive import GraphFile
from dokimasia.graphs.reasking import gathered
from dokimasia.graphs.refinement import refinement
from dokimasia.log import logger
from dokimasia.methods.refinement.plan import KIND, RefinementPlan
from dokimasia.methods.refinement.source import Source, SourceAnswer, graph_inputs, peers_for
from dokimasia.runs.concurrency import work_through
from dokimasia.runs.observer import Observer, Progress
from dokimasia.runs.services import Workshop
from dokimasia.storage.checkpoints import delete_thread
from dokimasia.storage.home import Home
from dokimasia.storage.results import ResultRow, get_result, record_result, result_failures
from dokimasia.storage.runs import load_samples, run_samples
from dokimasia.storage.threads import Thread, close_thread, open_thread


class RefinementWorker:
    """Does the items of a refinement that have no result: first every original answer, then the arms of those that failed.

    The arms begin when all answers are checked, so that peers are chosen from the same failures however often the work
    was interrupted; where the money ends before that, a resume goes on with the checks.
    """

    def __init__(
        self,
        home: Home,
        run: str,
        plan: RefinementPlan,
        source: Source,
        workshop: Workshop,
        prompts: PromptLibrary | None,
        observer: Observer,
    ) -> None:
        self._home, self._run, self._plan, self._source = home, run, plan, source
        self._saver, self._store = workshop.saver, workshop.store
        self._graph = drive.compiled(cast("GraphFile", refinement), workshop.saver)
        self._context = Context(workshop.gateway, workshop.store, plan.options, plan.seed, prompts, home.blobs)
        self._stats = workshop.gateway.stats
        self._observer = observer
        self._answers: dict[str, list[SourceAnswer]] = {}
        self._peers: dict[str, dict[str, list[list[str]]]] = {}
        self.progress = Progress()

    async def work(self) -> None:
        """Do all items."""
        names = {spec.ref.name for spec in self._plan.candidates}
        eligible = [answer for answer in self._source.answers if answer.model in names]
        places = run_samples(self._home, self._run)
        self.progress.samples = len(places)
        self._take(eligible)
        self.progress.items = len(eligible)
        await self._each(lambda answer: self._item(answer, "original"))
        if result_failures(self._home, self._run).get("budget"):
            return
        failed = [answer for answer in eligible if await self._fails(answer)]
        if "peer" in self._plan.arms:
            self._peers = peers_for(failed, self._source, self._plan)
        self._take(failed)
        arms: list[Arm] = [arm for arm in self._plan.arms if arm != "original"]
        self.progress.items += len(failed) * len(arms)
        self.progress.samples_done = 0
        await self._each(lambda answer: self._all_arms(answer, arms))

    def _take(self, answers: list[SourceAnswer]) -> None:
        self._answers = {}
        for answer in answers:
            self._answers.setdefault(answer.sample_id, []).append(answer)
        self._sample_ids: dict[str, str] = {}

    async def _each(self, do: Callable[[SourceAnswer], Awaitable[None]]) -> None:
        async def one(sample: Sample) -> None:
            self._sample_ids[sample.id] = value_id(sample)
            answers = self._answers.get(sample.id, [])
            if self._plan.threshold is None and sample.reference_answer is None:
                self.progress.items -= len(answers)
                answers = []
            await gathered(map(do, answers))
            self.progress.samples_done += 1

        width = max(spec.max_concurrency for spec in self._plan.options.models.values())
        samples: Iterator[Sample] = load_samples(self._home, self._run)
        await work_through(samples, one, width=width, report=self._report)

    def _report(self) -> None:
        self.progress.stats = self._stats()
        self._observer.progressed(self.progress)

    async def _fails(self, answer: SourceAnswer) -> bool:
        """Whether an answer is one to refine; one without a verdict is not, and is counted apart."""
        row = get_result(self._home, self._run, item_name(answer, "original"))
        if row is None or row.outcome == "failed" or not row.value_ids:
            return False
        if self._plan.threshold is not None:
            return answer.score < self._plan.threshold
        step = await self._store.get(RefinementStep, row.value_ids[0])
        return step.final is not None and (await self._store.get(FinalAnswer, step.final)).verdict == "wrong"

    async def _all_arms(self, answer: SourceAnswer, arms: list[Arm]) -> None:
        await gathered(self._item(answer, arm) for arm in arms)

    async def _item(self, answer: SourceAnswer, arm: Arm) -> None:
        item = item_name(answer, arm)
        row = get_result(self._home, self._run, item)
        if row is None:
            row = await self._walk(answer, arm, item)
        else:
            self.progress.restored += 1
        self.progress.count(row.failure)

    async def _walk(self, answer: SourceAnswer, arm: Arm, item: str) -> ResultRow:
        inputs = {**graph_inputs(answer, self._plan, self._sample_ids[answer.sample_id]), "arm": arm}
        if arm == "peer":
            inputs["peers"] = self._peers.get(answer.key, {})
        thread = f"{self._run}/{item}/{refinement.NAME}@{refinement.VERSION}"
        await open_thread(
            self._home,
            Thread(
                thread_id=thread,
                run_id=self._run,
                item=item,
                graph=refinement.NAME,
                graph_version=str(refinement.VERSION),
            ),
        )
        state = await drive.start_or_resume(self._graph, inputs, context=self._context, thread=thread)
        row = await self._row(answer, arm, item, state["steps"])
        await record_result(self._home, row)
        if row.failure is not None:
            logger(__name__).info("item failed", item=item, kind=row.failure, reason=row.reason)
        await delete_thread(self._saver, thread)
        await close_thread(self._home, thread)
        return row

    async def _row(self, answer: SourceAnswer, arm: Arm, item: str, ids: list[str]) -> ResultRow:
        steps = [await self._store.get(RefinementStep, id) for id in ids]
        last = steps[-1]
        ending: dict[str, Any] = {"outcome": "failed", "failure": last.failure, "reason": last.reason}
        if last.failure is None and arm == "original":
            ending = {"outcome": "scored", "score": answer.score, "judgement_id": answer.judgement}
        elif last.failure is None:
            scores = [(await self._store.get(CheckpointScores, id)).score for id in last.judgements]
            ending = {
                "outcome": "scored",
                "score": sum(scores) / len(scores),
                "judgement_id": last.judgements[0],
            }
        return ResultRow(
            run_id=self._run,
            item=item,
            kind=KIND,
            sample_id=answer.sample_id,
            sample_digest=answer.sample_digest,
            model=answer.model,
            arm=arm,
            repeat=answer.repeat,
            criteria_id=answer.criteria,
            response_id=last.response,
            value_ids=tuple(ids),
            calls=tuple(key for step in steps for key in step.calls),
            **ending,
        )


def item_name(answer: SourceAnswer, arm: Arm) -> str:
    """Return the name of an arm of an answer, unique in its run."""
    return f"refine/{answer.key}/{arm}"
