"""What can be told of a graph while it is walked: its picture once, and each step at a node; loads no LangGraph."""

from typing import Literal, Protocol

from pydantic import Field

from dokimasia.domain.identity import Value

Step = Literal["began", "ended", "failed", "stopped"]
"""What becomes of a node at an item: `failed` where it raised, or says in the state that the item failed; `stopped` where
the run was asked to stop, a person has to answer first, or the budget did not reach it."""

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
    """Is told the steps of a run's graphs; none of its methods may raise or take long."""

    def drawn(self, picture: GraphOutline) -> None:
        """A graph is about to be walked for the first time."""
        ...

    def stepped(self, graph: str, node: str, item: str, what: Step) -> None:
        """Something became of a node at an item."""
        ...
