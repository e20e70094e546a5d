"""Straight graphs: their nodes are called one after the other, with the outcome of LangGraph's own loop."""

import importlib
import inspect
import pkgutil
from types import ModuleType
from typing import Any, Literal, NamedTuple, TypedDict, cast

import pytest
from langgraph.channels import LastValue
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphRecursionError
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Command

import dokimasia.graphs
from dokimasia.graphs import drive
from dokimasia.graphs.context import Context
from dokimasia.graphs.drive import GraphFile
from dokimasia.graphs.executor import GraphRun, LocalExecutor
from tests.graphs.test_watched import Heard

pytestmark = pytest.mark.quick


class State(TypedDict, total=False):
    """What a node is given and adds to."""

    seen: list[str]
    left: int


async def count(state: State, runtime: Runtime[Context]) -> Command[Literal["count", "end"]]:
    """Lead to itself as often as the state says."""
    left = state.get("left", 0)
    update: State = {"seen": [*state.get("seen", []), f"{runtime.context}"], "left": left - 1}
    return Command(update=update, goto="count" if left > 1 else "end")


async def end(state: State, runtime: Runtime[Context]) -> State:
    """Add a word."""
    return {"seen": [*state["seen"], "end"]}


class Counted(NamedTuple):
    """The graph of these two nodes."""

    NAME: str = "counted"
    VERSION: int = 1
    STRAIGHT: bool = True

    def build(self) -> StateGraph[State, Context]:
        """Return the graph, not compiled."""
        built = StateGraph(State, context_schema=Context)
        built.add_node("count", count)
        built.add_node("end", end)
        built.add_edge(START, "count")
        built.add_edge("end", END)
        return built


def graph() -> Any:
    return Counted().build().compile()


@pytest.mark.parametrize("left", [0, 1, 3])
async def test_a_straight_walk_ends_as_langgraph_would(left: int) -> None:
    """Edges and commands lead through the same nodes to the same state; what is no part of the state is left out."""
    context = cast("Context", "context")
    inputs = {"left": left, "other": 1}
    walked = await drive.walk_straight(graph(), inputs, context=context)
    assert walked == await drive.run(graph(), inputs, context=context)
    assert walked["seen"] == ["context"] * max(1, left) + ["end"]


async def test_its_steps_are_reported() -> None:
    """Whoever listens is told of each step, at its item, as of LangGraph's own."""
    heard = Heard()
    executor = LocalExecutor(InMemorySaver(), heard)
    walk = GraphRun(cast("GraphFile", Counted()), {"left": 2}, "item", cast("Context", "context"))
    assert (await executor.execute(walk))["left"] == 0
    assert [picture.name for picture in heard.pictures] == ["counted"]
    steps = [(node, what) for node in ("count", "count", "end") for what in ("began", "ended")]
    assert heard.told == [("counted", node, "item", what) for node, what in steps]


async def test_a_walk_without_end_is_stopped() -> None:
    """Nodes that lead to themselves for ever are stopped at the same number of steps."""
    with pytest.raises(GraphRecursionError):
        await drive.walk_straight(graph(), {"left": 1000}, context=cast("Context", "context"))


def straight_modules() -> list[ModuleType]:
    names = [module.name for module in pkgutil.walk_packages(dokimasia.graphs.__path__, "dokimasia.graphs.")]
    return [module for module in map(importlib.import_module, names) if getattr(module, "STRAIGHT", False)]


@pytest.mark.parametrize("module", straight_modules(), ids=lambda module: module.NAME)
def test_what_is_called_straight_is(module: Any) -> None:
    """It has no router, no reducer, one way from each node, and every node takes its context from the runtime."""
    built = module.build()
    assert not built.branches
    assert not built.waiting_edges
    assert len(dict(built.edges)) == len(built.edges)
    assert {type(channel) for channel in built.channels.values()} == {LastValue}
    for name, node in built.nodes.items():
        assert "runtime" in inspect.signature(node.runnable.afunc).parameters, name
        assert not (node.ends and name in dict(built.edges)), "a command, or an edge"
