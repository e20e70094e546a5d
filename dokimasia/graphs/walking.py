"""Where items meet graphs: one walk, and the port behind which it is done in this process or in another."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from langgraph.checkpoint.base import BaseCheckpointSaver

from dokimasia.graphs import drive
from dokimasia.graphs.context import Context
from dokimasia.graphs.drive import GraphFile
from dokimasia.graphs.steps import Steps
from dokimasia.graphs.watched import at_item


@dataclass(frozen=True, slots=True)
class Walk:
    """One walk of an item through a graph.

    Attributes:
        graph: the graph's file.
        inputs: what it begins with: ids and small primitives.
        item: whose steps are told.
        context: what its nodes are given.
        thread: under which its steps are kept, so that it goes on from the last; empty: it is walked straight.
    """

    graph: GraphFile
    inputs: Mapping[str, Any]
    item: str
    context: Context
    thread: str = ""


class Engine(Protocol):
    """Walks items through graphs."""

    @property
    def processes(self) -> int:
        """In how many processes it walks."""
        ...

    async def walk(self, walk: Walk) -> dict[str, Any]:
        """Return the final state: ids and small primitives.

        Raises:
            CallFailed: a call failed in a way that the graph has no end for.
            Interrupted: the work was asked to stop.
        """
        ...


class Here:
    """Walks in this process and event loop; each graph is compiled once."""

    processes = 1

    def __init__(self, saver: BaseCheckpointSaver[str], steps: Steps | None = None) -> None:
        """Keep steps in a saver, and tell them to `steps` where somebody listens."""
        self._saver = saver
        self._steps = steps
        self._graphs: dict[tuple[str, bool], Any] = {}

    async def walk(self, walk: Walk) -> dict[str, Any]:
        """Return the final state of a walk."""
        graph = self._compiled(walk.graph, kept=bool(walk.thread))
        with at_item(walk.item):
            if not walk.thread:
                return await drive.run(graph, walk.inputs, context=walk.context)
            return await drive.start_or_resume(graph, walk.inputs, context=walk.context, thread=walk.thread)

    def _compiled(self, graph: GraphFile, *, kept: bool) -> Any:
        place = (graph.NAME, kept)
        if place not in self._graphs:
            self._graphs[place] = drive.compiled(graph, self._saver if kept else None, steps=self._steps)
        return self._graphs[place]
