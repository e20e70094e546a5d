"""Duel: candidates and the baseline answer, and a judge compares each answer with the baseline's, in one order or both.

    describe ─► answer ─► judge ─► end

Where a model is to answer without the images, they are described first. One walk takes all answers to one sample. Every
order of a verdict and of visual factuality is a call of its own. Straight, so it runs without checkpoints: ledger and
result rows carry it over any crash.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict, cast

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from dokimasia.agents import AskResult
from dokimasia.agents.asking import failure
from dokimasia.agents.duel import (
    answer_described,
    answer_request,
    compare_responses,
    describe_one,
    say_what_to_observe,
    score_factuality,
)
from dokimasia.domain.duel import (
    REWARD,
    TEXT,
    CaseCriteria,
    Described,
    DuelJudgement,
    DuelOptions,
    Place,
    criteria_of,
    factuality_by,
)
from dokimasia.domain.judgement import Failed, Response
from dokimasia.domain.sample import Sample
from dokimasia.graphs.answering import AnswerState, unjudged, with_calls
from dokimasia.graphs.context import Context, failed_update, own_options
from dokimasia.graphs.reasking import each, gathered, to_report
from dokimasia.graphs.versions import VERSIONS

NAME = "duel"
VERSION = VERSIONS[NAME]


class Duel(AnswerState, total=False):
    """An answer with the baseline's, which it is held against, and the ids of what the judge said of the two."""

    baseline: str
    judgements: list[str]
    described: str


class State(TypedDict, total=False):
    """Id of the sample, and the answers to it; those that are there already need not be asked for."""

    sample: str
    items: list[Duel]


async def describe(state: State, runtime: Runtime[Context]) -> State:
    """Have the images described for those who are to answer without them."""
    context = runtime.context
    wanted = [item for item in state["items"] if item.get("arm") == TEXT and not item.get("described")]
    if not wanted:
        return {}
    options = own_options(context, DuelOptions, NAME)
    sample = await context.store.get(Sample, state["sample"])
    calls: list[str] = []
    texts: tuple[str, ...] = ()
    ended: Duel = {}
    observe = ""
    if options.descriptions == "specific":
        told = await context.ask(say_what_to_observe(sample), model=options.describer)
        calls += told.calls
        observe = told.value or ""
        ended = _undescribed(options, [told])
    if not ended:
        asked = await gathered(
            context.ask(describe_one(sample, image, observe=observe), model=options.describer)
            for image in sample.images
        )
        calls += [key for one in asked for key in one.calls]
        ended = _undescribed(options, asked)
        texts = tuple(one.value.text for one in asked if one.value is not None)
    if not ended:
        described = Described(describer=options.describer, observe=observe, texts=texts)
        ended = {"described": await context.store.put(described)}
    return {
        "items": [
            cast("Duel", {**with_calls(item, calls), **ended}) if item in wanted else item for item in state["items"]
        ]
    }


def _undescribed(options: DuelOptions, asked: Sequence[AskResult[Any]]) -> Duel:
    failures = [one.failure for one in asked if one.value is None]
    if not failures:
        return {}
    failed = to_report(failures)
    told = f"{options.describer} did not describe the images: {failed.reason}"
    return cast("Duel", failed_update(failure(failed.kind, told)))


async def answer(state: State, runtime: Runtime[Context]) -> State:
    """Put the request to the candidates and the baseline, each answer once."""
    context = runtime.context
    options = own_options(context, DuelOptions, NAME)
    sample = await context.store.get(Sample, state["sample"])
    items = [item for item in state["items"] if not item.get("failed")]
    own = {(one["model"], one.get("arm", ""), one.get("repeat", 0)) for one in items if not one.get("response")}
    others = {(options.baseline, "", one.get("repeat", 0)) for one in items if not one.get("baseline")}
    wanted = sorted(own | others)

    described_by = next((one["described"] for one in items if one.get("described")), "")

    async def one(model: str, arm: str, repeat: int) -> tuple[AskResult[Response], str]:
        if arm == TEXT:
            described = await context.store.get(Described, described_by)
            asked = await context.ask(answer_described(sample, described, repeat=repeat), model=model)
        else:
            asked = await context.ask(answer_request(sample, arm=arm, repeat=repeat), model=model)
        return asked, "" if asked.value is None else await context.store.put(asked.value)

    answers = dict(zip(wanted, await gathered(one(*place) for place in wanted), strict=True))

    def taken(item: Duel) -> Duel:
        if item.get("failed"):
            return item
        places = {
            "response": (item["model"], item.get("arm", ""), item.get("repeat", 0)),
            "baseline": (options.baseline, "", item.get("repeat", 0)),
        }
        failures: list[Failed] = []
        for name, place in places.items():
            if item.get(name):
                continue
            asked, id = answers[place]
            item = cast("Duel", {**with_calls(item, asked.calls), **({name: id} if id else {})})
            if asked.value is None:
                told = f"the baseline {place[0]} gave no answer: " if name == "baseline" else ""
                failures.append(failure(asked.failure.kind, told + asked.failure.reason))
        return cast("Duel", {**item, **(failed_update(to_report(failures)) if failures else {})})

    return {"items": [taken(item) for item in state["items"]]}


async def judge(state: State, runtime: Runtime[Context]) -> State:
    """Have the judge compare each answer with the baseline's, in every order that is asked for."""
    context = runtime.context
    options = own_options(context, DuelOptions, NAME)
    sample = await context.store.get(Sample, state["sample"])
    criteria = criteria_of(sample)

    async def one(item: Duel) -> Duel:
        texts = [(await context.store.get(Response, item[name])).text for name in ("response", "baseline")]
        empty = [name for name, text in zip(("model", "baseline"), texts, strict=True) if not text.strip()]
        if empty:
            return cast(
                "Duel", {**item, **failed_update(failure("unparsable", f"the answer of the {empty[0]} is empty"))}
            )
        asks = [_verdict(context, sample, criteria, item, texts, place) for place in options.places]
        if factuality_by(sample, options.factuality) != "none":
            asks += [_factuality(context, sample, criteria, item, texts, place) for place in options.places]
        judged = await gathered(asks)
        ids = [await context.store.put(one) for one, _ in judged]
        item = cast("Duel", with_calls(item, [key for _, calls in judged for key in calls]))
        item = {**item, "judgements": ids}
        failures = [failure(one.failure, one.reason) for one, _ in judged if one.failure is not None]
        if failures:
            return {**item, **failed_update(to_report(failures))}
        verdicts = [one.verdict for one, _ in judged if one.verdict is not None]
        return {**item, "score": REWARD * sum(verdicts) / len(verdicts)}

    return {"items": await each(state["items"], one, _unjudged)}


async def _verdict(
    context: Context, sample: Sample, criteria: CaseCriteria, item: Duel, texts: list[str], place: Place
) -> tuple[DuelJudgement, list[str]]:
    own, other = texts
    pair = (own, other) if place == "first" else (other, own)
    sees = own_options(context, DuelOptions, NAME).judge_sees == "image"
    asked = await context.ask(
        compare_responses(sample, criteria, pair, sees=sees, repeat=item.get("repeat", 0)), node="verdict"
    )
    said = {} if asked.value is None else {"verdict": asked.value if place == "first" else -asked.value}
    return _judgement("verdict", item, place, asked, said), asked.calls


async def _factuality(
    context: Context, sample: Sample, criteria: CaseCriteria, item: Duel, texts: list[str], place: Place
) -> tuple[DuelJudgement, list[str]]:
    own, other = texts
    pair = (own, other) if place == "first" else (other, own)
    sees = factuality_by(sample, own_options(context, DuelOptions, NAME).factuality) == "image"
    asked = await context.ask(
        score_factuality(sample, criteria, pair, sees=sees, repeat=item.get("repeat", 0)), node="factuality"
    )
    said: dict[str, float] = {}
    if asked.value is not None:
        first, second = asked.value
        model, baseline = (first, second) if place == "first" else (second, first)
        said = {"score": model, "baseline_score": baseline}
    return _judgement("factuality", item, place, asked, said), asked.calls


def _judgement(
    what: Literal["verdict", "factuality"], item: Duel, place: Place, asked: AskResult[Any], said: Mapping[str, float]
) -> DuelJudgement:
    failed = None if asked.value is not None else asked.failure
    return DuelJudgement.model_validate(
        {
            "asked": what,
            "place": place,
            "response": item["response"],
            "baseline": item["baseline"],
            "failure": failed.kind if failed else None,
            "reason": failed.reason if failed else "",
            "provenance": asked.provenance if failed is None else None,
            **said,
        }
    )


def _unjudged(item: Duel) -> bool:
    return unjudged(item) and bool(item.get("baseline")) and not item.get("judgements")


async def after_answer(state: State) -> Literal["judge", "__end__"]:
    """Judge what was answered on both sides, if anything was."""
    return "judge" if any(map(_unjudged, state["items"])) else "__end__"


def build() -> StateGraph[State, Context]:
    """Return the graph, not compiled."""
    graph = StateGraph(State, context_schema=Context)
    graph.add_node("describe", describe)
    graph.add_node("answer", answer)
    graph.add_node("judge", judge)
    graph.add_edge(START, "describe")
    graph.add_edge("describe", "answer")
    graph.add_conditional_edges("answer", after_answer)
    graph.add_edge("judge", END)
    return graph
