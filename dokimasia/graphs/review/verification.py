"""Verification by a person: an item is held until somebody has decided on it (PerceptionRubrics, section 3.3.1).

    wait ─► settle ─► end
     ‖ interrupt: a person's decision

The item is a row before the thread begins, and the decision is a row before the thread goes on; the state holds their
ids. So a thread that is lost is begun anew from the rows, and nothing is asked of anybody twice.
"""

from typing import Any, TypedDict

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command, interrupt

from dokimasia.domain.decision import STATES, Action, Decision, State
from dokimasia.graphs.versions import VERSIONS

NAME = "verification"
VERSION = VERSIONS[NAME]
CHECKPOINTED = True


class ItemVerification(TypedDict, total=False):
    """Ids of the item and of the decision on it, what was decided, and how the item stands by it."""

    item: str
    decision: str
    action: Action
    verdict: State


Graph = CompiledStateGraph[Any, Any]


async def wait(state: ItemVerification) -> ItemVerification:
    """Hold the item until the thread is resumed with a decision that is a row already."""
    answer = interrupt({"item": state["item"]})
    return {"decision": answer["decision"], "action": answer["action"]}


async def settle(state: ItemVerification) -> ItemVerification:
    """Say how the item stands."""
    return {"verdict": STATES[state["action"]]}


def build() -> StateGraph[ItemVerification, Any]:
    """Return the graph, not compiled."""
    graph = StateGraph(ItemVerification)
    graph.add_node("wait", wait)
    graph.add_node("settle", settle)
    graph.add_edge(START, "wait")
    graph.add_edge("wait", "settle")
    graph.add_edge("settle", END)
    return graph


def compiled(saver: BaseCheckpointSaver[str]) -> Graph:
    """Return the graph with a saver, without which nothing can wait."""
    return build().compile(checkpointer=saver, name=NAME)


def thread_id(run: str, item: str) -> str:
    """Return an item's thread: run, item, graph and version."""
    return f"{run}/check/{item}/{NAME}@{VERSION}"


async def hold(graph: Graph, item: str, thread: str) -> bool:
    """Bring a thread to where it waits for a person; return whether it waits, and has not gone on already."""
    config = _config(thread)
    state = await graph.aget_state(config)
    if state.created_at is None or (state.tasks and not state.interrupts):
        begin = {"item": item} if state.created_at is None else None
        await graph.ainvoke(begin, config, durability="sync")
        state = await graph.aget_state(config)
    return bool(state.interrupts)


async def go_on(graph: Graph, item: str, decision: Decision, thread: str) -> State:
    """Resume a thread with a decision, beginning it first where it was lost; return how the item stands by it."""
    if await hold(graph, item, thread):
        answer = {"decision": decision.id, "action": decision.action}
        await graph.ainvoke(Command(resume=answer), _config(thread), durability="sync")
    state = await graph.aget_state(_config(thread))
    return state.values["verdict"]


def _config(thread: str) -> RunnableConfig:
    return {"configurable": {"thread_id": thread}}
