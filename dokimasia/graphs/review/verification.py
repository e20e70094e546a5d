"""Human verification: an item waits until a person has decided on it (PerceptionRubrics, section 3.3.1).

    wait ─► settle ─► end
     ‖ interrupt: a person's decision

The item is stored before the thread begins, and the decision before the thread continues; the state holds their ids. A
lost thread is thus restarted from the stored rows, and no person is asked twice.
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
    """Ids of the item and of the decision on it, the action, and the item's resulting state."""

    item: str
    decision: str
    action: Action
    verdict: State


Graph = CompiledStateGraph[Any, Any]


async def wait(state: ItemVerification) -> ItemVerification:
    """Interrupt the thread until it is resumed with a stored decision."""
    answer = interrupt({"item": state["item"]})
    return {"decision": answer["decision"], "action": answer["action"]}


async def settle(state: ItemVerification) -> ItemVerification:
    """Set the item's state from the decision."""
    return {"verdict": STATES[state["action"]]}


def build() -> StateGraph[ItemVerification, Any]:
    """Return the uncompiled graph."""
    graph = StateGraph(ItemVerification)
    graph.add_node("wait", wait)
    graph.add_node("settle", settle)
    graph.add_edge(START, "wait")
    graph.add_edge("wait", "settle")
    graph.add_edge("settle", END)
    return graph


def compiled(saver: BaseCheckpointSaver[str]) -> Graph:
    """Return the compiled graph with a saver, which a waiting thread requires."""
    return build().compile(checkpointer=saver, name=NAME)


def thread_id(run: str, item: str) -> str:
    """Return the thread id of an item: run, item, graph and version."""
    return f"{run}/check/{item}/{NAME}@{VERSION}"


async def hold(graph: Graph, item: str, thread: str) -> bool:
    """Run a thread until it waits for a person; return False if it is already past that point."""
    config = _config(thread)
    state = await graph.aget_state(config)
    if state.created_at is None or (state.tasks and not state.interrupts):
        begin = {"item": item} if state.created_at is None else None
        await graph.ainvoke(begin, config, durability="sync")
        state = await graph.aget_state(config)
    return bool(state.interrupts)


async def go_on(graph: Graph, item: str, decision: Decision, thread: str) -> State:
    """Resume a thread with a decision, restarting it first if it was lost; return the item's resulting state."""
    if await hold(graph, item, thread):
        answer = {"decision": decision.id, "action": decision.action}
        await graph.ainvoke(Command(resume=answer), _config(thread), durability="sync")
    state = await graph.aget_state(_config(thread))
    return state.values["verdict"]


def _config(thread: str) -> RunnableConfig:
    return {"configurable": {"thread_id": thread}}
