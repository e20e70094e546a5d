"""Probing: a judge evaluates gold and perturbed answers to one sample (FOCUS), and a reader checks its justifications.

    refer ─► judge ─► read ─► end

One execution handles any number of calls about one sample to one judge. Its inputs are ids and primitives:

- `sample`: the sample's id. - `judge`: the judge's displayed name; required if a call has no judgement yet. - `writer`:
the displayed name of a model that answers the sample's request again, under draw number `draw`. The answer is
  the reference of every call of the evaluator `reference` that names none; without a writer, these use the gold answer.
- `calls`: the judgements to make; see `Call`. A call with a judgement is not judged again, and the justification of a call
  with a reader is read. So an execution may write a reference, judge, read, or do all three.

The output is the same calls, each with the ids of its `judgement` (`AxisScores`, or `AxisChoices` for a pair) and of what
the reader `noticed` (`Noticed`), the keys of its `calls`, its `looks`, and kind and reason of a failure. A failed reading
leaves the judgement in place. The graph is linear and runs without checkpoints: after a crash the ledger and the result
rows restore its state.
"""

from typing import Literal, TypedDict, cast

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from dokimasia.agents.blindspots import (
    Judged,
    compare_answers,
    read_justification,
    score_answer,
    task_of,
    write_reference,
)
from dokimasia.domain.blindspots import AxisChoices, AxisScores, Evaluator, Noticed, Perturbed, paradigm_of
from dokimasia.domain.identity import Value, digest
from dokimasia.domain.judgement import Response
from dokimasia.domain.sample import ImageRef, Sample
from dokimasia.graphs.context import Context, Failure, failed_update, keep_looks
from dokimasia.graphs.reasking import update_items
from dokimasia.graphs.versions import VERSIONS

NAME = "probing"
VERSION = VERSIONS[NAME]

Which = Literal["gold", "perturbed"]


class Call(Failure, TypedDict, total=False):
    """One judgement.

    `item` is the id of the `Perturbed`, and `evaluator` one of the nine. `first` says which of its answers is judged,
    and `second` which one comes second in a pair (both may be gold, for a retest). `repeat` is the draw. `reference`
    is, for the evaluator `reference`, the id of the `Response` or `ImageRef` to use instead of the gold answer.
    `reader` is the displayed name of the model that reads the justification and says whether it names the error
    inserted into the perturbed answer or, with `any_error`, any error. `unread` has kind and reason of a failed
    reading.
    """

    item: str
    evaluator: Evaluator
    first: Which
    second: Which
    repeat: int
    reference: str
    reader: str
    any_error: bool
    judgement: str
    noticed: str
    unread: Failure
    calls: list[str]
    looks: list[str]


class State(TypedDict, total=False):
    """One sample, one judge, and the calls; see the module. `reference` is the id of the writer's answer."""

    sample: str
    judge: str
    writer: str
    draw: int
    reference: str
    unwritten: Failure
    written: list[str]
    calls: list[Call]


async def refer(state: State, runtime: Runtime[Context]) -> State:
    """Have the writer answer the request again; `written` holds the ids of its calls."""
    context = runtime.context
    sample = await context.store.get(Sample, state["sample"])
    reply = await context.ask(write_reference(sample, repeat=state.get("draw", 0)), model=state["writer"])
    if reply.value is None:
        return {"unwritten": failed_update(reply.failure), "written": reply.calls}
    return {"reference": await context.store.put(reply.value), "written": reply.calls}


async def judge(state: State, runtime: Runtime[Context]) -> State:
    """Ask the judge about every call that has no judgement yet."""
    context = runtime.context
    sample = await context.store.get(Sample, state["sample"])

    async def judge_call(call: Call) -> Call:
        evaluator, repeat = call["evaluator"], call.get("repeat", 0)
        reference_id = call.get("reference") or state.get("reference", "")
        if evaluator == "reference" and not reference_id and state.get("unwritten"):
            return cast("Call", {**call, **state["unwritten"]})
        item = await context.store.get(Perturbed, call["item"])
        first, second = _answer(item, call["first"]), _answer(item, call.get("second", "gold"))
        pairwise = paradigm_of(evaluator) == "pairwise"
        if pairwise:
            comparison = compare_answers(sample, evaluator, first, second, repeat=repeat)
            reply = await context.ask(comparison, model=state["judge"])
        else:
            reference = await _reference(context, item, reference_id) if evaluator == "reference" else None
            scoring = score_answer(sample, evaluator, first, reference=reference, repeat=repeat)
            reply = await context.ask(scoring, model=state["judge"])
        call = _with_calls(call, reply.calls)
        if reply.looks:
            call = {**call, "looks": await keep_looks(context, reply.looks)}
        if reply.value is None:
            return {**call, **failed_update(reply.failure)}
        fields = {
            "sample": item.sample,
            "evaluator": evaluator,
            "justification": reply.value.justification,
            "provenance": reply.provenance,
        }
        judgement: Value
        if pairwise:
            fields |= {"first": answer_id(first), "second": answer_id(second), "choices": reply.value.values}
            judgement = AxisChoices.model_validate(fields)
        else:
            judgement = AxisScores.model_validate({**fields, "judged": answer_id(first), "scores": reply.value.values})
        return {**call, "judgement": await context.store.put(judgement)}

    return {"calls": await update_items(state["calls"], judge_call, _unjudged)}


async def read(state: State, runtime: Runtime[Context]) -> State:
    """Have the readers decide whether each justification to be read names an error."""
    context = runtime.context

    async def read_call(call: Call) -> Call:
        pairwise = paradigm_of(call["evaluator"]) == "pairwise"
        judgement = await context.store.get(AxisChoices if pairwise else AxisScores, call["judgement"])
        item = await context.store.get(Perturbed, call["item"])
        error = "" if call.get("any_error") else item.description
        reply = await context.ask(
            read_justification(judgement.justification, error=error, where=_where(item, call)), model=call["reader"]
        )
        call = _with_calls(call, reply.calls)
        if reply.value is None:
            return {**call, "unread": failed_update(reply.failure)}
        noticed = Noticed(judgement=call["judgement"], **reply.value._asdict(), provenance=reply.provenance)
        return {**call, "noticed": await context.store.put(noticed)}

    return {"calls": await update_items(state["calls"], read_call, _unread)}


def answer_id(answer: Judged) -> str:
    """Return the id of a judged answer: an image's SHA-256, or the content id of a text."""
    if isinstance(answer, str):
        return digest("answer", answer)
    return answer.sha256


def _answer(item: Perturbed, version: Which) -> Judged:
    if version == "gold":
        return item.gold_image or item.gold
    return item.perturbed_image or item.perturbed


async def _reference(context: Context, item: Perturbed, id: str) -> Judged:
    """Return the reference with the id, or the gold answer if the id is empty."""
    gold = _answer(item, "gold")
    if not id:
        return gold
    if task_of(gold) == "image-to-text":
        return (await context.store.get(Response, id)).text
    return await context.store.get(ImageRef, id)


def _where(item: Perturbed, call: Call) -> str:
    """Return the name of the perturbed answer in a pair, such as `response B`; empty without a pair."""
    order = (call["first"], call.get("second", ""))
    if not order[1] or "perturbed" not in order:
        return ""
    return f"{'response' if item.task == 'image-to-text' else 'image'} {'AB'[order.index('perturbed')]}"


def _with_calls(call: Call, keys: list[str]) -> Call:
    return {**call, "calls": [*call.get("calls", []), *keys]}


def _unjudged(call: Call) -> bool:
    return not call.get("judgement") and not call.get("failed")


def _unread(call: Call) -> bool:
    return bool(call.get("reader")) and bool(call.get("judgement")) and not call.get("noticed")


async def first_step(state: State) -> Literal["refer", "judge", "read", "__end__"]:
    """Return the first step that has work to do."""
    if state.get("writer") and not state.get("reference"):
        return "refer"
    return await after_reference(state)


async def after_reference(state: State) -> Literal["judge", "read", "__end__"]:
    """Return `judge` if a call has no judgement yet, else the step after it."""
    if any(map(_unjudged, state.get("calls", []))):
        return "judge"
    return await after_judging(state)


async def after_judging(state: State) -> Literal["read", "__end__"]:
    """Return `read` if there are justifications to read, else the end."""
    if any(map(_unread, state.get("calls", []))):
        return "read"
    return "__end__"


def build() -> StateGraph[State, Context]:
    """Return the uncompiled graph."""
    graph = StateGraph(State, context_schema=Context)
    graph.add_node("refer", refer)
    graph.add_node("judge", judge)
    graph.add_node("read", read)
    graph.add_conditional_edges(START, first_step)
    graph.add_conditional_edges("refer", after_reference)
    graph.add_conditional_edges("judge", after_judging)
    graph.add_edge("read", END)
    return graph
