"""Duel: a judge compares each candidate's answer with the baseline model's answer, in one order or both.

    describe ─► answer ─► judge ─► end

If a model answers without the images, the images are described first. One execution handles all answers to one sample.
Every order of a verdict and of visual factuality is a separate call. The graph is linear and runs without checkpoints:
after a crash the ledger and the result rows restore its state.
"""

from collections.abc import Mapping
from typing import Literal, NamedTuple, TypedDict, TypeVar, cast

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from dokimasia.agents import AskResult
from dokimasia.agents.asking import failure
from dokimasia.agents.duel import (
    answer_described,
    answer_request,
    compare_responses,
    describe_images,
    say_what_to_observe,
    score_factuality,
)
from dokimasia.domain.duel import (
    REFERENCE,
    REWARD,
    TEXT,
    Asked,
    CaseCriteria,
    Described,
    DuelJudgement,
    DuelOptions,
    Place,
    criteria_of,
    factuality_by,
    reference_response,
)
from dokimasia.domain.judgement import Failed, Response
from dokimasia.domain.sample import Sample
from dokimasia.graphs.answering import AnswerState, is_unjudged, with_calls
from dokimasia.graphs.context import Context, failed_update, own_options
from dokimasia.graphs.reasking import gather_all, to_report, update_items
from dokimasia.graphs.versions import VERSIONS

NAME = "duel"
VERSION = VERSIONS[NAME]

T = TypeVar("T")


class Duel(AnswerState, total=False):
    """An answer, the baseline's answer to compare it with, and the ids of the judgements."""

    baseline: str
    judgements: list[str]
    described: str


class State(TypedDict, total=False):
    """The sample's id and the answers to it; items with a `response` and a `baseline` are not requested again."""

    sample: str
    items: list[Duel]


AnswerKey = tuple[str, str, int]
"""A model, its arm, and the repeat."""


def _own_key(item: Duel) -> AnswerKey:
    return item["model"], item.get("arm", ""), item.get("repeat", 0)


def _baseline_key(item: Duel, options: DuelOptions) -> AnswerKey:
    return options.baseline, "", item.get("repeat", 0)


def _with(item: AnswerState, **changes: object) -> Duel:
    return cast("Duel", {**item, **changes})


async def describe(state: State, runtime: Runtime[Context]) -> State:
    """Have the images described for models that answer without them."""
    context = runtime.context
    items = state["items"]
    if not any(map(_needs_description, items)):
        return {}
    sample = await context.store.get(Sample, state["sample"])
    described, calls = await _describe(context, sample)
    if isinstance(described, Failed):
        changes = dict(failed_update(described))
    else:
        changes = {"described": await context.store.put(described)}
    return {
        "items": [_with(with_calls(item, calls), **changes) if _needs_description(item) else item for item in items]
    }


def _needs_description(item: Duel) -> bool:
    return item.get("arm") == TEXT and not item.get("described")


async def _describe(context: Context, sample: Sample) -> tuple[Described | Failed, list[str]]:
    """Return the descriptions of a sample's images, or the failure, and the keys of the calls."""
    options = own_options(context, DuelOptions, NAME)
    calls: list[str] = []
    observe = ""
    if options.descriptions == "specific":
        instruction = await context.ask(say_what_to_observe(sample), model=options.describer)
        calls += instruction.calls
        if instruction.value is None:
            return _undescribed(options, instruction.failure), calls
        observe = instruction.value
    reply = await context.ask(describe_images(sample, observe=observe), model=options.describer)
    calls += reply.calls
    if reply.value is None:
        return _undescribed(options, reply.failure), calls
    return Described(describer=options.describer, observe=observe, texts=(reply.value.text,)), calls


def _undescribed(options: DuelOptions, problem: Failed) -> Failed:
    return failure(problem.kind, f"{options.describer} did not describe the images: {problem.reason}")


async def answer(state: State, runtime: Runtime[Context]) -> State:
    """Request each answer of the candidates and the baseline once; the baseline may be the reference answer.

    Raises:
        DataError: the baseline is the reference answer, and the sample has none.
    """
    context = runtime.context
    options = own_options(context, DuelOptions, NAME)
    sample = await context.store.get(Sample, state["sample"])
    items = state["items"]
    if options.baseline == REFERENCE and not all(item.get("baseline") for item in items):
        reference = await context.store.put(reference_response(sample))
        items = [_with(item, baseline=item.get("baseline") or reference) for item in items]
    open_items = [item for item in items if not item.get("failed")]
    described = next((item["described"] for item in open_items if item.get("described")), "")
    missing_keys: set[AnswerKey] = set()
    for item in open_items:
        if not item.get("response"):
            missing_keys.add(_own_key(item))
        if not item.get("baseline"):
            missing_keys.add(_baseline_key(item, options))
    keys = sorted(missing_keys)
    answers = await gather_all(_answer(context, sample, key, described) for key in keys)
    by_key = dict(zip(keys, answers, strict=True))
    return {"items": [_with_answers(item, by_key, options) for item in items]}


async def _answer(context: Context, sample: Sample, key: AnswerKey, described: str) -> tuple[AskResult[Response], str]:
    """Return one model's answer and the id of its stored value, which is empty after a failure."""
    model, arm, repeat = key
    if arm == TEXT:
        ask = answer_described(sample, await context.store.get(Described, described), repeat=repeat)
    else:
        ask = answer_request(sample, arm=arm, repeat=repeat)
    reply = await context.ask(ask, model=model)
    return reply, "" if reply.value is None else await context.store.put(reply.value)


def _with_answers(
    item: Duel, answers: Mapping[AnswerKey, tuple[AskResult[Response], str]], options: DuelOptions
) -> Duel:
    """Return an item with the answers on both sides, or with the failure of either."""
    if item.get("failed"):
        return item
    failures: list[Failed] = []
    for side, key in (("response", _own_key(item)), ("baseline", _baseline_key(item, options))):
        if item.get(side):
            continue
        reply, id = answers[key]
        item = cast("Duel", with_calls(item, reply.calls))
        if reply.value is None:
            prefix = f"the baseline {options.baseline} gave no answer: " if side == "baseline" else ""
            failures.append(failure(reply.failure.kind, prefix + reply.failure.reason))
        else:
            item = _with(item, **{side: id})
    if failures:
        return _with(item, **failed_update(to_report(failures)))
    return item


async def judge(state: State, runtime: Runtime[Context]) -> State:
    """Have the judge compare each answer with the baseline's, in every requested order."""
    context = runtime.context
    sample = await context.store.get(Sample, state["sample"])

    async def judge_item(item: Duel) -> Duel:
        return await _judge(context, sample, item)

    return {"items": await update_items(state["items"], judge_item, _unjudged)}


async def _judge(context: Context, sample: Sample, item: Duel) -> Duel:
    options = own_options(context, DuelOptions, NAME)
    response = (await context.store.get(Response, item["response"])).text
    baseline = (await context.store.get(Response, item["baseline"])).text
    for side, text in (("model", response), ("baseline", baseline)):
        if not text.strip():
            return _with(item, **failed_update(failure("unparsable", f"the answer of the {side} is empty")))
    judge = _Judge(context, options, sample, criteria_of(sample), item, response, baseline)
    asks = [judge.verdict(place) for place in options.places]
    if factuality_by(sample, options.factuality, published=options.published) != "none":
        asks += [judge.factuality(place) for place in options.places]
    results = await gather_all(asks)
    ids: list[str] = []
    calls: list[str] = []
    failures: list[Failed] = []
    verdicts: list[int] = []
    for judgement, judgement_calls in results:
        ids.append(await context.store.put(judgement))
        calls += judgement_calls
        if judgement.failure is not None:
            failures.append(failure(judgement.failure, judgement.reason))
        elif judgement.verdict is not None:
            verdicts.append(judgement.verdict)
    item = _with(with_calls(item, calls), judgements=ids)
    if failures:
        return _with(item, **failed_update(to_report(failures)))
    return _with(item, score=REWARD * sum(verdicts) / len(verdicts))


class _Judge(NamedTuple):
    """The judge of an answer and the baseline's answer."""

    context: Context
    options: DuelOptions
    sample: Sample
    criteria: CaseCriteria
    item: Duel
    response: str
    baseline: str

    def ordered_texts(self, place: Place) -> tuple[str, str]:
        """Return the two texts in the order in which the judge sees them."""
        if place == "first":
            return (self.response, self.baseline)
        return (self.baseline, self.response)

    async def verdict(self, place: Place) -> tuple[DuelJudgement, list[str]]:
        """Return the judge's verdict on the better response, and the calls."""
        ask = compare_responses(
            self.sample,
            self.criteria,
            self.ordered_texts(place),
            sees=self.options.judge_sees == "image",
            published=self.options.published,
            repeat=self.item.get("repeat", 0),
        )
        reply = await self.context.ask(ask, node="verdict")
        verdict = reply.value
        if verdict is not None and place == "second":
            verdict = -verdict
        return self.judgement("verdict", place, reply, verdict=verdict), reply.calls

    async def factuality(self, place: Place) -> tuple[DuelJudgement, list[str]]:
        """Return the judge's scores of visual factuality, and the calls."""
        published = self.options.published
        ask = score_factuality(
            self.sample,
            self.criteria,
            self.ordered_texts(place),
            sees=factuality_by(self.sample, self.options.factuality, published=published) == "image",
            published=published,
            repeat=self.item.get("repeat", 0),
        )
        reply = await self.context.ask(ask, node="factuality")
        score, baseline_score = reply.value or (None, None)
        if place == "second":
            score, baseline_score = baseline_score, score
        judgement = self.judgement("factuality", place, reply, score=score, baseline_score=baseline_score)
        return judgement, reply.calls

    def judgement(
        self,
        asked: Asked,
        place: Place,
        reply: AskResult[T],
        *,
        verdict: int | None = None,
        score: float | None = None,
        baseline_score: float | None = None,
    ) -> DuelJudgement:
        """Return a reply as a judgement of the evaluated model, or as its failure."""
        problem = reply.failure if reply.value is None else None
        return DuelJudgement(
            asked=asked,
            place=place,
            response=self.item["response"],
            baseline=self.item["baseline"],
            verdict=verdict,
            score=score,
            baseline_score=baseline_score,
            failure=problem.kind if problem else None,
            reason=problem.reason if problem else "",
            provenance=None if problem else reply.provenance,
        )


def _unjudged(item: Duel) -> bool:
    return is_unjudged(item) and bool(item.get("baseline")) and not item.get("judgements")


async def after_answer(state: State) -> Literal["judge", "__end__"]:
    """Return `judge` if an item has answers on both sides, else the end."""
    if any(map(_unjudged, state["items"])):
        return "judge"
    return "__end__"


def build() -> StateGraph[State, Context]:
    """Return the uncompiled graph."""
    graph = StateGraph(State, context_schema=Context)
    graph.add_node("describe", describe)
    graph.add_node("answer", answer)
    graph.add_node("judge", judge)
    graph.add_edge(START, "describe")
    graph.add_edge("describe", "answer")
    graph.add_conditional_edges("answer", after_answer)
    graph.add_edge("judge", END)
    return graph
