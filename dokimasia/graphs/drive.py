"""Compile graphs, and run them without checkpoints."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, cast

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.errors import GraphRecursionError
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Command

from dokimasia.domain.identity import JsonObject
from dokimasia.graphs.context import Context
from dokimasia.graphs.evaluation import checkpoint_scoring, cognitive_replay
from dokimasia.graphs.steps import Steps
from dokimasia.graphs.watched import picture, watch

CompiledGraph = CompiledStateGraph[Any, Context]

RECURSION_LIMIT = 60
"""Maximum number of steps of a thread; every cycle in the graphs is bounded well below it."""


class GraphFile(Protocol):
    """A module that defines a graph: its name, the version of its nodes and state, and the function that builds it.

    With `CHECKPOINTED = True`, every step is stored, so that a resume continues in the middle of a walk. With `STRAIGHT
    = True`, the graph has neither routers nor reducers, and its nodes take `runtime`: a walk without checkpoints calls
    them one after the other (see `walk_straight`).
    """

    @property
    def NAME(self) -> str: ...
    @property
    def VERSION(self) -> int: ...

    def build(self) -> StateGraph[Any, Context]:
        """Return the uncompiled graph."""
        ...


@dataclass(frozen=True, slots=True)
class Graph:
    """A graph without a module: its name, the version of its nodes and state, and the function that builds it."""

    NAME: str
    VERSION: int
    build: Callable[[], StateGraph[Any, Context]]


GRAPHS: dict[str, GraphFile] = {
    module.NAME: cast("GraphFile", module) for module in (cognitive_replay, checkpoint_scoring)
}


def compiled(
    graph: GraphFile, saver: BaseCheckpointSaver[str] | None = None, *, steps: Steps | None = None
) -> CompiledGraph:
    """Return the compiled graph of a graph file, including a plug-in's.

    With a saver, threads can be resumed. With `steps`, the graph's picture and each step are reported to it; otherwise
    the graph is compiled exactly as its file builds it.
    """
    built = graph.build()
    if steps is None:
        return built.compile(checkpointer=saver, name=graph.NAME)
    watch(built, graph.NAME, steps)
    compiled_graph = built.compile(checkpointer=saver, name=graph.NAME)
    steps.drawn(picture(compiled_graph))
    return compiled_graph


async def run(graph: CompiledGraph, inputs: Mapping[str, Any], *, context: Context) -> dict[str, Any]:
    """Run a graph without checkpoints, and return its final state."""
    config: RunnableConfig = {"recursion_limit": RECURSION_LIMIT}
    state: dict[str, Any] = {}
    # `ainvoke` would also collect each step's additions to look for interrupts, which these graphs never raise.
    async for values in graph.astream(dict(inputs), config, context=context, stream_mode="values"):
        state = values
    return state


async def walk_straight(graph: CompiledGraph, inputs: Mapping[str, object], *, context: Context) -> JsonObject:
    """Call the nodes of a straight graph one after the other, as `run` would, and return the final state.

    A step of LangGraph's loop prepares for branches, checkpoints and streams, which takes longer than the work of a
    node whose calls wait for models. The next node is given by the edge, or by the `goto` of the command that a node
    returns.

    Raises:
        GraphRecursionError: it takes more than `RECURSION_LIMIT` steps.
    """
    builder, runtime = graph.builder, Runtime(context=context)
    following = dict(builder.edges)
    state: JsonObject = {name: value for name, value in inputs.items() if name in builder.channels}
    node = following[START]
    for _ in range(RECURSION_LIMIT):
        if node == END:
            return state
        runnable = cast("Runnable[JsonObject, object]", builder.nodes[node].runnable)
        update = await runnable.ainvoke(dict(state), {}, runtime=runtime)
        node = following.get(node, END)
        if isinstance(update, Command):
            node, update = cast("str", update.goto), cast("object", update.update)
        state |= cast("JsonObject | None", update) or {}
    raise GraphRecursionError(f"{graph.name} takes more than {RECURSION_LIMIT} steps")
