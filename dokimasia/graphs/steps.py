"""The events of a graph's execution: its outline once, and each step at a node; does not import LangGraph."""

from typing import Literal, Protocol

from pydantic import Field

from dokimasia.domain.identity import Value

Step = Literal["began", "ended", "failed", "stopped"]
"""The progress of a node at an item: `failed` if it raised or its update says that the item failed; `stopped` if the
run was told to stop, a person has to answer first, or the budget is exhausted."""

START, END = "__start__", "__end__"


class Edge(Value):
    """A way from one node to another; `taken_if` where a router decides whether it is taken."""

    source: str
    target: str
    taken_if: bool = False


class GraphOutline(Value):
    """A graph's nodes in the order in which they were added, `START` and `END` among them, and its edges."""

    name: str
    nodes: tuple[str, ...] = Field(min_length=1)
    edges: tuple[Edge, ...] = ()


class Steps(Protocol):
    """Listener to the steps of a run's graphs; its methods must not raise or block."""

    def drawn(self, picture: GraphOutline) -> None:
        """Called before a graph is executed for the first time."""
        ...

    def stepped(self, graph: str, node: str, item: str, what: Step) -> None:
        """Called when a node begins or ends for an item."""
        ...
