"""Reporting of a graph's steps: nodes are wrapped before compilation, but only if there is a listener."""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, cast

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.errors import GraphBubbleUp
from langgraph.graph import StateGraph
from langgraph.graph.state import CompiledStateGraph

from dokimasia.domain.judgement import OPEN_KINDS
from dokimasia.errors import Interrupted
from dokimasia.graphs.context import Context
from dokimasia.graphs.steps import Edge, GraphOutline, Step, Steps

_ITEM: ContextVar[str] = ContextVar("item", default="")
_STOPS = (Interrupted, asyncio.CancelledError, GraphBubbleUp)


class _ReportingNode(Runnable[Any, Any]):
    """A node that reports when the wrapped node begins and how it ends."""

    def __init__(self, node: Runnable[Any, Any], graph: str, name: str, steps: Steps) -> None:
        self._node = node
        self._graph = graph
        self.name = name
        self._steps = steps

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Run the node and report it."""
        with self._reporting() as results:
            results.append(self._node.invoke(input, config, **kwargs))
        return results[0]

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Run the node and report it."""
        with self._reporting() as results:
            results.append(await self._node.ainvoke(input, config, **kwargs))
        return results[0]

    @contextmanager
    def _reporting(self) -> Iterator[list[Any]]:
        results: list[Any] = []
        step: Step = "failed"
        self._report("began")
        try:
            yield results
            update = results[0]
            failure = cast("Mapping[str, Any]", update).get("failed") if isinstance(update, Mapping) else None
            if not failure:
                step = "ended"
            elif failure in OPEN_KINDS:
                step = "stopped"
        except _STOPS:
            step = "stopped"
            raise
        finally:
            self._report(step)

    def _report(self, step: Step) -> None:
        self._steps.stepped(self._graph, self.name or "", _ITEM.get(), step)


def watch(graph: StateGraph[Any, Context], name: str, steps: Steps) -> None:
    """Wrap the nodes of an uncompiled graph, so that its steps are reported under `name`."""
    for node, spec in graph.nodes.items():
        spec.runnable = cast("Any", _ReportingNode(cast("Runnable[Any, Any]", spec.runnable), name, node, steps))


@contextmanager
def at_item(item: str) -> Iterator[None]:
    """Attribute the steps taken inside to an item."""
    token = _ITEM.set(item)
    try:
        yield
    finally:
        _ITEM.reset(token)


def picture(graph: CompiledStateGraph[Any, Context]) -> GraphOutline:
    """Return a graph's nodes and edges."""
    drawing = graph.get_graph()
    edges = (Edge(source=edge.source, target=edge.target, taken_if=edge.conditional) for edge in drawing.edges)
    return GraphOutline(name=graph.name or "", nodes=tuple(drawing.nodes), edges=tuple(dict.fromkeys(edges)))
