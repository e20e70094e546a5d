"""The steps of a graph are told to whoever listens, and to nobody else."""

import asyncio
from contextlib import suppress
from typing import Any, NamedTuple, TypedDict

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt

from dokimasia.errors import Interrupted
from dokimasia.gateway.doubles import ScriptedGateway
from dokimasia.graphs import drive
from dokimasia.graphs.context import Context
from dokimasia.graphs.executor import GraphRun, LocalExecutor
from dokimasia.graphs.steps import Edge, GraphOutline, Step
from dokimasia.graphs.watched import at_item
from dokimasia.storage.memory import MemoryStore
from tests.graphs.test_cognitive_replay import OPTIONS


class Heard:
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.pictures: list[GraphOutline] = []
        self.told: list[tuple[str, str, str, Step]] = []

    def drawn(self, picture: GraphOutline) -> None:
        """Keep a picture."""
        self.pictures.append(picture)

    def stepped(self, graph: str, node: str, item: str, what: Step) -> None:
        """Keep a step."""
        self.told.append((graph, node, item, what))


class State(TypedDict, total=False):
    """What the nodes below pass on."""

    done: list[str]
    failed: str


class Built(NamedTuple):
    """A graph of two nodes, the second of which is given."""

    second: Any
    NAME: str = "pair"
    VERSION: int = 1

    def build(self) -> StateGraph[State, Context]:
        """Return the graph."""

        async def first(state: State) -> State:
            await asyncio.sleep(0)
            return {"done": ["first"]}

        graph: StateGraph[State, Context] = StateGraph(State, context_schema=Context)
        graph.add_node("first", first)
        graph.add_node("second", self.second)
        graph.add_edge(START, "first")
        graph.add_conditional_edges("first", lambda state: "second", ["second", END])
        graph.add_edge("second", END)
        return graph


def context() -> Context:
    """A context that asks nothing."""
    return Context(ScriptedGateway([]), MemoryStore(), OPTIONS)


async def test_each_step_is_told_with_its_item() -> None:
    """Items that are walked at the same time are told apart; the picture comes first, and the state is as without it."""

    async def second(state: State) -> State:
        return {"done": [*state["done"], "second"]}

    heard = Heard()
    graph = drive.compiled(Built(second), steps=heard)

    async def walk(item: str) -> dict[str, Any]:
        with at_item(item):
            return await drive.run(graph, {}, context=context())

    states = await asyncio.gather(walk("a"), walk("b"))
    assert states == [await drive.run(drive.compiled(Built(second)), {}, context=context())] * 2
    way = [("first", "began"), ("first", "ended"), ("second", "began"), ("second", "ended")]
    for item in ("a", "b"):
        assert [(node, what) for graph, node, at, what in heard.told if at == item] == way
    assert heard.pictures == [
        GraphOutline(
            name="pair",
            nodes=("__start__", "first", "second", "__end__"),
            edges=(
                Edge(source="__start__", target="first"),
                Edge(source="first", target="__end__", taken_if=True),
                Edge(source="first", target="second", taken_if=True),
                Edge(source="second", target="__end__"),
            ),
        )
    ]


async def fails(state: State) -> State:
    """A node that says that its item failed."""
    return {"failed": "unparsable"}


async def raises(state: State) -> State:
    """A node that breaks."""
    raise ValueError("broken")


def breaks_in_a_thread(state: State) -> State:
    """A plain function that breaks, which LangGraph calls in a thread."""
    raise ValueError("broken")


async def waits(state: State) -> State:
    """A node that a person has to answer."""
    return {"done": [str(interrupt("?"))]}


async def waits_for_a_reply(state: State) -> State:
    """A node whose question a person has not answered yet."""
    return {"failed": "waiting"}


async def is_stopped(state: State) -> State:
    """A node whose run was asked to stop."""
    raise Interrupted("stopped")


@pytest.mark.parametrize(
    ("second", "what"),
    [
        (fails, "failed"),
        (raises, "failed"),
        (breaks_in_a_thread, "failed"),
        (waits, "stopped"),
        (waits_for_a_reply, "stopped"),
        (is_stopped, "stopped"),
    ],
)
async def test_how_a_step_ended_is_told(second: Any, what: Step) -> None:
    """A failure in the state or an error is `failed`; a person who is waited for and a run that is stopped are `stopped`."""
    heard = Heard()
    with suppress(ValueError, Interrupted):
        await LocalExecutor(InMemorySaver(), heard).execute(GraphRun(Built(second), {}, "item", context(), "t"))
    assert [told[3] for told in heard.told if told[1] == "second"] == ["began", what]


async def test_a_graph_that_nobody_listens_to_is_what_its_file_builds() -> None:
    """Without a listener no node is wrapped, so a run that nobody watches pays nothing."""
    plain, watched = drive.compiled(Built(fails)), drive.compiled(Built(fails), steps=Heard())
    assert plain.builder.nodes["second"].runnable.__class__.__module__.startswith("langgraph")
    assert watched.builder.nodes["second"].runnable.__class__.__module__ == "dokimasia.graphs.watched"
