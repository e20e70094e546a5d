"""A taxonomy grown inside somebody else's LangGraph, from criteria that their chat model (here a fake) writes."""

import asyncio
from typing import Any, TypedDict

from langchain_core.language_models import GenericFakeChatModel
from langgraph.graph import START, StateGraph

from dokimasia import as_runnable
from dokimasia.simulation.world import make_world

TASKS = {question.id: [step.question for step in question.steps] for _, question in make_world(8, 0)}


class State(TypedDict, total=False):
    criteria: list[tuple[str, str]]
    version: Any
    placements: list[Any]


async def main() -> None:
    writer = GenericFakeChatModel(messages=iter(["\n".join(criteria) for criteria in TASKS.values()]))

    async def write(state: State) -> State:
        pairs: list[tuple[str, str]] = []
        for task in TASKS:
            reply = await writer.ainvoke(f"What does the task {task} demand? One question a line.")
            pairs += [(line, task) for line in reply.text.splitlines()]
        return {"criteria": pairs}

    graph = StateGraph(State).add_sequence(
        [("write", write), ("grow", as_runnable("taxonomy_growth", judge="sim/judge"))]
    )
    state = await graph.add_edge(START, "write").compile().ainvoke({})
    print(f"{len(state['placements'])} criteria in a tree of {len(state['version'].nodes)} nodes:")
    print(", ".join(sorted({place.leaf.rpartition("/")[2] for place in state["placements"] if place.leaf})))


asyncio.run(main())
