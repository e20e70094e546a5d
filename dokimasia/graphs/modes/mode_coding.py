"""Structured coding: a judge, blind to score and model, assigns one failure mode or none to each atom of an answer.

    assign ─► end

One execution handles one answer with one request (repeated once if the reply is unusable), so it needs no checkpoints.
"""

from typing import TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from dokimasia.agents.modes import assign_modes
from dokimasia.domain.failure_modes import AnswerAtoms, Coding, ModeList
from dokimasia.domain.identity import unit_interval
from dokimasia.graphs.context import Context, Failure, failed_update
from dokimasia.graphs.modes.mode_making import points_of
from dokimasia.graphs.versions import VERSIONS

NAME = "mode_coding"
VERSION = VERSIONS[NAME]


class State(Failure, TypedDict, total=False):
    """Ids of the answer and of the list of modes, the numbers of the atoms, and the coder's shown name.

    `second` marks the second coding. `codings` are ids by atom; `unread` gives by atom the reason why there is none, if the
    rest of the reply could be used.
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
    """Have the coder assign modes to the atoms, in a random order; the second coding draws both orders anew."""
    context, second = runtime.context, state.get("second", False)
    answer = await context.store.get(AnswerAtoms, state["answer"])
    modes = list((await context.store.get(ModeList, state["modes"])).modes)
    if second:
        modes.reverse()
    draw = ("coding", context.seed, int(second), answer.response)
    numbers = sorted(state["numbers"], key=lambda number: unit_interval(*draw, number))
    role = assign_modes(await points_of(context, answer, numbers), modes, repeat=int(second))
    reply = await context.ask(role, model=state["coder"])
    if reply.value is None:
        return {"calls": reply.calls, **failed_update(reply.failure)}
    codings: dict[str, str] = {}
    unread: dict[str, str] = {}
    for line, (number, point) in enumerate(zip(numbers, reply.value.points, strict=True), start=1):
        if point is None:
            unread[str(number)] = reply.value.problems.get(line, "its line cannot be used")
            continue
        coding = Coding(
            response=answer.response,
            criterion=number,
            mode=None if point.mode is None else modes[point.mode - 1].name,
            quote=point.quote,
            provenance=reply.provenance,
        )
        codings[str(number)] = await context.store.put(coding)
    return {"codings": codings, "unread": unread, "calls": reply.calls}


def build() -> StateGraph[State, Context]:
    """Return the uncompiled graph."""
    graph = StateGraph(State, context_schema=Context)
    graph.add_node("assign", assign)
    graph.add_edge(START, "assign")
    graph.add_edge("assign", END)
    return graph
