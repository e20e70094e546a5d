"""Gold answers: a model answers a sample's request, and a checker says whether the answer is right (FOCUS, section 2.1).

    write ─► check ─► end

An answer that is found wrong is kept with what is wrong in it, and no perturbation is made from it. Straight, so it runs
without checkpoints: the ledger carries it over any crash.
"""

import operator
from typing import Annotated, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from dokimasia.agents.perturbation import check_gold, write_gold
from dokimasia.domain.perturbation import GoldAnswer, PerturbOptions
from dokimasia.domain.sample import Sample
from dokimasia.graphs.context import Context, Failure, failed_update, own_options
from dokimasia.graphs.versions import VERSIONS

NAME = "gold_writing"
VERSION = VERSIONS[NAME]


class State(Failure, TypedDict, total=False):
    """Ids of the sample, of the answer as it was written, and of the answer with what was said of it (`result`)."""

    sample: str
    written: str
    result: str
    calls: Annotated[list[str], operator.add]


async def write(state: State, runtime: Runtime[Context]) -> State:
    """Have the answer written."""
    context = runtime.context
    options = own_options(context, PerturbOptions, NAME)
    sample = await context.store.get(Sample, state["sample"])
    asked = await context.ask(write_gold(sample), model=options.writer)
    if asked.value is None:
        return {"calls": asked.calls, **failed_update(asked.failure)}
    gold = GoldAnswer(sample=sample.digest, text=asked.value, by=options.writer, provenance=asked.provenance)
    return {"calls": asked.calls, "written": await context.store.put(gold)}


async def check(state: State, runtime: Runtime[Context]) -> State:
    """Have it checked."""
    context = runtime.context
    options = own_options(context, PerturbOptions, NAME)
    sample = await context.store.get(Sample, state["sample"])
    gold = await context.store.get(GoldAnswer, state["written"])
    asked = await context.ask(check_gold(sample, gold.text), model=options.checker)
    if asked.value is None:
        return {"calls": asked.calls, **failed_update(asked.failure)}
    words, why = asked.value
    said = gold.model_copy(update={"right": not words, "words": words, "why": why, "checked": asked.provenance})
    return {"calls": asked.calls, "result": await context.store.put(said)}


async def _to_be_checked(state: State, runtime: Runtime[Context]) -> str:
    return "check" if state.get("written") else END


def build() -> StateGraph[State, Context]:
    """Return the graph, not compiled."""
    graph = StateGraph(State, context_schema=Context)
    graph.add_node("write", write)
    graph.add_node("check", check)
    graph.add_edge(START, "write")
    graph.add_conditional_edges("write", _to_be_checked, ["check", END])
    graph.add_edge("check", END)
    return graph
