"""Structured coding: a judge who knows neither score nor model says of each atom of an answer which mode is seen in it, or none.

    assign ─► end

One answer a walk; it is straight and asks once (and once more where the reply cannot be used), so it needs no checkpoint.
"""

from typing import TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from dokimasia.agents.modes import assign_modes
from dokimasia.domain.failure_modes import AnswerAtoms, Coding, ModeList
from dokimasia.domain.identity import unit_interval
from dokimasia.graphs.context import Context, Failure, failed_update
from dokimasia.graphs.modes.mode_making import shown_of
from dokimasia.graphs.versions import VERSIONS

NAME = "mode_coding"
VERSION = VERSIONS[NAME]


class State(Failure, TypedDict, total=False):
    """`answer` and `modes` are ids; `numbers` the atoms to be assigned, `coder` who does it, `second` whether once more.

    `codings` are ids by atom, and `unread` says by atom why there is none, where the rest of a reply could be used.
    """

    answer: str
    modes: str
    numbers: list[int]
    coder: str
    second: bool
    codings: dict[str, str]
    unread: dict[str, str]
    calls: list[str]


async def assign(state: State, runtime: Runtime[Context]) -> State:
    """Have the atoms assigned, met and failed ones mixed; a second coder has atoms and modes in another order."""
    context, second = runtime.context, state.get("second", False)
    answer = await context.store.get(AnswerAtoms, state["answer"])
    modes = list((await context.store.get(ModeList, state["modes"])).modes)
    drawn = ("coding", context.seed, int(second), answer.response)
    numbers = sorted(state["numbers"], key=lambda one: unit_interval(*drawn, one))
    shown = [*reversed(modes)] if second else modes
    what = assign_modes(await shown_of(context, answer, numbers), shown, repeat=int(second))
    asked = await context.ask(what, model=state["coder"])
    if asked.value is None or asked.provenance is None:
        return {"calls": asked.calls, **failed_update(asked.failure)}
    codings: dict[str, str] = {}
    unread: dict[str, str] = {}
    for place, (number, seen) in enumerate(zip(numbers, asked.value.points, strict=True), start=1):
        if seen is None:
            unread[str(number)] = asked.value.problems.get(place, "its line cannot be used")
            continue
        coding = Coding(
            response=answer.response,
            criterion=number,
            mode=None if seen.mode is None else shown[seen.mode - 1].name,
            quote=seen.quote,
            provenance=asked.provenance,
        )
        codings[str(number)] = await context.store.put(coding)
    return {"codings": codings, "unread": unread, "calls": asked.calls}


def build() -> StateGraph[State, Context]:
    """Return the graph, not compiled."""
    graph = StateGraph(State, context_schema=Context)
    graph.add_node("assign", assign)
    graph.add_edge(START, "assign")
    graph.add_edge("assign", END)
    return graph
