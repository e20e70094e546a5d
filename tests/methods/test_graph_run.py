"""A graph of somebody else's over a data set: continued, limited, checkpointed, and its mistakes named."""

import asyncio
import operator
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any, TypedDict, cast

import pytest
from langgraph.graph import START, StateGraph
from langgraph.runtime import Runtime

from dokimasia.agents.candidate import answer_question
from dokimasia.domain.sample import Sample
from dokimasia.errors import ConfigError
from dokimasia.graphs.context import Context, Failure, failed_update
from dokimasia.graphs.drive import GraphFile
from dokimasia.methods.graph import GraphRequest, run_graph
from dokimasia.methods.graph import items as graph_items
from dokimasia.runs.lifecycle import resume
from dokimasia.runs.services import Stop
from dokimasia.settings import Settings
from dokimasia.simulation.serving.transport import SimTransport
from dokimasia.storage.home import Home
from dokimasia.storage.results import results
from dokimasia.storage.runs import Run, get_run

pytestmark = pytest.mark.quick


class State(Failure, TypedDict, total=False):
    """A sample and, where models are named, a model; both answers' ids at the end."""

    sample: str
    model: str
    first: str
    result: list[str]
    score: float
    calls: Annotated[list[str], operator.add]


async def answer_twice(state: State, runtime: Runtime[Context], *, repeat: int) -> State:
    context = runtime.context
    sample = await context.store.get(Sample, state["sample"])
    asked = await context.ask(answer_question(sample, repeat=repeat), model=state.get("model") or context.options.judge)
    calls = [asked.call] if asked.call else []
    if asked.value is None:
        return {"calls": calls, **failed_update(asked.failure)}
    id = await context.store.put(asked.value)
    return {"calls": calls, "first": id} if repeat == 0 else {"calls": calls, "result": [state["first"], id]}


async def first(state: State, runtime: Runtime[Context]) -> State:
    return await answer_twice(state, runtime, repeat=0)


async def second(state: State, runtime: Runtime[Context]) -> State:
    return await answer_twice(state, runtime, repeat=1)


def build() -> StateGraph[State, Context]:
    graph = StateGraph(State, context_schema=Context)
    graph.add_node("first", first)
    graph.add_node("second", second)
    graph.add_edge(START, "first")
    graph.add_conditional_edges("first", lambda state: "__end__" if state.get("failed") else "second")
    return graph


def graph_file(**changes: Any) -> GraphFile:
    """The graph as a module would offer it."""
    return cast(
        "GraphFile", SimpleNamespace(**{"NAME": "twice", "VERSION": 1, "State": State, "build": build, **changes})
    )


def broken(update: Mapping[str, Any] | Exception) -> GraphFile:
    """A graph of one node, which returns an update or raises."""

    async def node(state: State, runtime: Runtime[Context]) -> State:
        if isinstance(update, Exception):
            raise update
        return cast("State", update)

    def make() -> StateGraph[State, Context]:
        graph = StateGraph(State, context_schema=Context)
        graph.add_node("node", node)
        graph.add_edge(START, "node")
        return graph

    return graph_file(build=make)


async def whichever(state: State, runtime: Runtime[Context]) -> State:
    """Keep what answers there are, and say nothing of those that failed."""
    context = runtime.context
    sample = await context.store.get(Sample, state["sample"])
    asked = [await context.ask(answer_question(sample, repeat=each), model=state.get("model") or "") for each in (0, 1)]
    kept = [await context.store.put(one.value) for one in asked if one.value is not None]
    return {"calls": [one.call for one in asked if one.call], "result": kept, "score": float(len(kept))}


def careless() -> StateGraph[State, Context]:
    graph = StateGraph(State, context_schema=Context)
    graph.add_node("whichever", whichever)
    graph.add_edge(START, "whichever")
    return graph


def request_on(world: Path, **changes: Any) -> GraphRequest:
    fields = {"graph": "twice", "data": world, "judge": "sim/steady", "models": ("sim/strong", "sim/weak"), **changes}
    return GraphRequest.model_validate(fields)


def run_of(settings: Settings, id: str) -> Run:
    with Home.open(settings.home, write=False) as home:
        return get_run(home, id)


class Counting(SimTransport):
    """The simulated transport, counting what is sent and stopping a run after so many calls."""

    def __init__(self, *, stop: Stop | None = None, after: int = 10**9) -> None:
        super().__init__()
        self.sent: list[str] = []
        self._stop, self._after = stop, after

    async def send(self, call: Any, spec: Any, **rest: Any) -> Any:
        self.sent.append(call.model_dump_json())
        if self._stop is not None and len(self.sent) >= self._after:
            self._stop.ask()
        await asyncio.sleep(0.002)
        return await super().send(call, spec, **rest)


async def test_every_sample_is_walked_through_for_every_model(settings: Settings, world: Path) -> None:
    """Each item has a row with its values and calls, and the same run again asks nothing."""
    result = await run_graph(request_on(world), given=graph_file(), settings=settings)
    assert result.complete
    assert result.summary["models"]["sim/weak"] == {"n": 14, "made": 14, "scored": 0, "failures": {}}
    assert result.summary["open_items"] == 0
    with Home.open(settings.home, write=False) as home:
        items = list(graph_items(home, get_run(home, result.run)))
    assert len(items) == 28
    assert all([value["type"] for value in item["values"]] == ["Response", "Response"] for item in items)
    assert all(item["values"][0]["value"]["text"] for item in items)
    assert sum(len(item["calls"]) for item in items) == result.summary["calls"] == 56
    transport = Counting()
    again = await run_graph(request_on(world), given=graph_file(), settings=settings, transports={"sim": transport})
    assert again == result
    assert transport.sent == []


async def test_without_models_a_sample_is_one_item(settings: Settings, world: Path) -> None:
    """Where no model is named the graph has the judge alone."""
    result = await run_graph(request_on(world, models=(), limit=3), given=graph_file(), settings=settings)
    assert result.summary["models"] == {"": {"n": 3, "made": 3, "scored": 0, "failures": {}}}


async def test_what_was_made_on_part_of_the_money_is_no_result(settings: Settings, world: Path) -> None:
    """A node that goes on without what the budget refused leaves its item open; a resume makes it whole."""
    file = graph_file(build=careless)
    short = await run_graph(request_on(world, max_calls=5), given=file, settings=settings)
    assert not short.complete
    assert run_of(settings, short.run).status == "interrupted"
    whole = await run_graph(request_on(world), given=file, settings=settings)
    assert (whole.run, whole.complete) == (short.run, True)
    with Home.open(settings.home, write=False) as home:
        assert {row.score for row in results(home, whole.run)} == {2.0}


async def test_what_a_graph_says_is_kept(settings: Settings, world: Path) -> None:
    """A score is a score, a failure is a failure of its kind with its reason."""
    scored = await run_graph(request_on(world, limit=2), given=broken({"score": 0.5}), settings=settings)
    assert scored.summary["models"]["sim/weak"]["scored"] == 2
    refusing = broken({"failed": "refused", "reason": "no"})
    failed = await run_graph(request_on(world, limit=3), given=refusing, settings=settings)
    assert failed.summary["models"]["sim/weak"] == {"n": 3, "made": 0, "scored": 0, "failures": {"refused": 3}}


async def test_a_graphs_mistakes_are_named(settings: Settings, world: Path) -> None:
    """A node that raises, or an unknown kind of failure, ends the run with the graph and the sample named."""
    with pytest.raises(
        ConfigError, match=r"the graph 'twice' broke at sample '.*': KeyError: 'colour' .*Mend it and resume"
    ):
        await run_graph(request_on(world), given=broken(KeyError("colour")), settings=settings)
    with pytest.raises(
        ConfigError, match=r"ended at sample '.*' with failed='bad luck'; the kinds of failure are unparsable"
    ):
        await run_graph(request_on(world, limit=1), given=broken({"failed": "bad luck"}), settings=settings)


async def test_another_version_is_not_continued(settings: Settings, world: Path) -> None:
    """A run of another version of the graph is refused with both versions."""
    part = await run_graph(request_on(world, max_calls=9), given=graph_file(), settings=settings)
    with pytest.raises(ConfigError, match="version 1 of the graph 'twice', which is at version 2 now"):
        await resume(run_of(settings, part.run), given=graph_file(VERSION=2), settings=settings)


async def test_a_graph_brings_prompts_of_its_own(settings: Settings, world: Path, tmp_path: Path) -> None:
    """Prompts of a graph's own folder are part of the run's identity, and a change of one makes another run."""
    (tmp_path / "own").mkdir()
    file = tmp_path / "own" / "haiku.md"
    text = "---\nname: haiku\nversion: 1\noutput: text\ninputs: {question: required}\nsource: own\n---\n## user\n{{question}}\n"
    file.write_text(text)
    graph = graph_file(PROMPTS=tmp_path / "own")
    one = await run_graph(request_on(world, limit=1), given=graph, settings=settings)
    file.write_text(text.replace("version: 1", "version: 2"))
    two = await run_graph(request_on(world, limit=1), given=graph, settings=settings)
    assert one.run != two.run
