"""Count the calls of an evaluation missing from the ledger, by walking its steps over some samples with its replies."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

from dokimasia.domain.call import model_names
from dokimasia.domain.criterion import CriteriaSet
from dokimasia.domain.identity import Value
from dokimasia.domain.judgement import OPEN_KINDS, Response
from dokimasia.domain.sample import Sample
from dokimasia.methods.evaluation.plan import REPLAYED, EvaluationPlan
from dokimasia.prompts import PromptLibrary
from dokimasia.runs.ledger_gateway import LedgerGateway
from dokimasia.runs.responses import Responses
from dokimasia.storage.criteria import load_collection
from dokimasia.storage.home import Home
from dokimasia.storage.memory import MemoryStore
from dokimasia.storage.runs import SqliteValueStore

if TYPE_CHECKING:
    from dokimasia.graphs.answering import AnswerState

V = TypeVar("V", bound=Value)
JUDGE_ANSWER = "judge_answer"
"""The part of the step `score` in which the judge decides whether an answer is right, where no rule can."""

STEP_OF_PROMPT = {
    "solver": "write_chain",
    "equivalence": "judge_chain",
    "criteria": "extract_criteria",
    "criteria_published": "extract_criteria",
    "criteria_check": "judge_criteria",
}
"""The step of a replay that uses each prompt."""


async def missing_calls(
    plan: EvaluationPlan, library: PromptLibrary, samples: Sequence[Sample], responses: Responses | None, home: Home
) -> Counter[tuple[str, str]]:
    """Return the calls that an evaluation of these samples would send, by step and model.

    The steps are walked as in the run, with replies from the ledger and the same rules. All steps that depend on a missing
    reply count in full, although the run may need fewer calls; with tools, so do the judge's steps.
    """
    walk = LedgerWalk(plan, home, library, responses)
    for sample in samples:
        await walk.sample(sample)
    return walk.missing


class _ReadStore(MemoryStore):
    """A store in memory on top of the values of a home, which are only read."""

    def __init__(self, home: Home) -> None:
        super().__init__()
        self._base = SqliteValueStore(home)

    async def get(self, type_: type[V], id: str) -> V:
        if id in self._values:
            return await super().get(type_, id)
        return await self._base.get(type_, id)


class LedgerWalk:
    """A walk through the steps of an evaluation with the ledger's replies.

    Attributes:
        missing: the number of calls missing from the ledger or dependent on missing ones, by step and model.
    """

    def __init__(
        self, plan: EvaluationPlan, home: Home, library: PromptLibrary, responses: Responses | None = None
    ) -> None:
        """Read the imported criteria of a plan; `responses` are existing answers."""
        from dokimasia.graphs.context import Context
        from dokimasia.graphs.evaluation import cognitive_replay

        self.missing = Counter[tuple[str, str]]()
        self._plan = plan
        self._responses = responses
        self._gateway = LedgerGateway(home, dict(plan.models))
        self._store = _ReadStore(home)
        self._context = Context(self._gateway, self._store, plan.options, plan.seed, library, home.blobs)
        self._replay = cognitive_replay.build().compile()
        self._imported: dict[str, str] = {}
        if plan.criteria is not None:
            self._imported = {entry.sample_digest: entry.criteria_id for entry in load_collection(home, plan.criteria)}

    async def sample(self, sample: Sample) -> None:
        """Add the remaining calls about a sample."""
        id = await self._store.put(sample)
        if self._plan.judge is None:
            await self._answers(sample, id)
            return
        criteria = self._imported.get(sample.digest) or await self._criteria(sample, id)
        if criteria is None:  # the replay failed permanently: no further calls about this sample
            return
        await self._score(sample, id, criteria)

    async def _criteria(self, sample: Sample, id: str) -> str | None:
        """Return the id of the sample's criteria; empty if they still need a call, None if they cannot be made."""
        steps = [step for step in REPLAYED if step in self._plan.steps_that_ask]
        if self._plan.tools:
            self._count(steps, sample)
            return ""
        state = await self._replay.ainvoke({"sample": id}, context=self._context)
        missing_steps = {STEP_OF_PROMPT[label] for label, _ in self._gateway.take_missing()}
        if missing_steps:
            self._count(steps[min(map(steps.index, missing_steps)) :], sample)
            return ""
        if state.get("failed"):
            if state["failed"] in OPEN_KINDS:
                return ""
            return None
        return str(state["criteria"])

    def _count(self, steps: Sequence[str], sample: Sample) -> None:
        """Count all calls of some steps of a replay."""
        for step in steps:
            if step == "judge_chain" and sample.reference_text is None:
                continue
            self.missing[step, self._plan.judge_of(step).ref.name] += (
                self._most_calls(sample) if step == "write_chain" else 1
            )

    def _most_calls(self, sample: Sample) -> int:
        """Return the maximum number of calls of an ask with the plan's tools."""
        if self._plan.tools and sample.images:
            return self._plan.looks + 1
        return 1

    async def _answers(self, sample: Sample, id: str) -> "list[AnswerState]":
        """Return the answers to a sample, with a `response` if the ledger has it, and count the calls for the others."""
        from dokimasia.graphs.answering import answer_items

        live_models = model_names(self._plan.asked)
        plan_items = list(self._plan.items(sample.id))
        items: list[AnswerState] = []
        for item in plan_items:
            if item.model not in live_models and self._responses is not None:
                response = await self._responses.kept(sample, item, self._store)
                if response is not None:
                    items.append({**item.place, "response": response})
        live: list[AnswerState] = [{**item.place} for item in plan_items if item.model in live_models]
        items += await answer_items(id, live, self._context, plain=self._plan.options.plain)
        for (_, model), count in self._gateway.take_missing().items():
            self.missing["answer", model] += count
        return items

    async def _score(self, sample: Sample, id: str, criteria: str) -> None:
        """Count the remaining calls for the answers to a sample and their scores; without criteria, all scores count."""
        from dokimasia.graphs.evaluation import checkpoint_scoring

        judge = self._plan.judge_of("score").ref.name
        states: list[AnswerState] = []
        for item in await self._answers(sample, id):
            if item.get("response"):
                states.append(await self._decide_by_rule(sample, item))
            elif item.get("failed") not in (None, *OPEN_KINDS):
                continue  # the candidate's reply is unusable and not judged
            else:
                self.missing["score", judge] += self._most_calls(sample)
                self.missing[JUDGE_ANSWER, judge] += sample.reference_text is not None
        if criteria and states and not self._plan.tools:
            await self._store.get(CriteriaSet, criteria)
            state: checkpoint_scoring.State = {"sample": id, "criteria": criteria, "items": states}
            await checkpoint_scoring.score_answers(state, self._context)
            for (label, _), count in self._gateway.take_missing().items():
                self.missing[JUDGE_ANSWER if label == "equivalence" else "score", judge] += count
            return
        for item in states:
            self.missing["score", judge] += self._most_calls(sample)
            self.missing[JUDGE_ANSWER, judge] += not item.get("final")

    async def _decide_by_rule(self, sample: Sample, item: "AnswerState") -> "AnswerState":
        """Return an answer, with its verdict if a rule gives one."""
        from dokimasia.graphs.evaluation.checkpoint_scoring import by_rule

        response = await self._store.get(Response, item["response"])
        final = by_rule(sample, response, item["response"], tolerance=self._plan.options.tolerance)
        if final is None:
            return item
        return {**item, "final": await self._store.put(final)}
