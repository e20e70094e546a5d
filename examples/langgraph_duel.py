"""A duel as a node of somebody else's LangGraph: their chat model (here a fake) against a baseline, in both orders."""

import asyncio
import sys
from pathlib import Path
from typing import Any, TypedDict

from langchain_core.language_models import GenericFakeChatModel
from langgraph.graph import START, StateGraph

from dokimasia import MemoryBlobs, Sample, as_runnable
from dokimasia.datasets import read_jsonl
from dokimasia.simulation.world import write_creative


class State(TypedDict):
    sample: Sample
    items: list[Any]


async def main(folder: Path) -> None:
    write_creative(folder / "cases.jsonl", 1, 0)
    blobs = MemoryBlobs()
    [sample] = read_jsonl(folder / "cases.jsonl", blobs=blobs)
    mine = GenericFakeChatModel(messages=iter(["Once upon a time a red cup stood on a table, and nobody moved it."]))
    options = {"baseline": "sim/weak"}
    duel = as_runnable("duel", judge="sim/judge", chat_models={"mine": mine}, options=options, blobs=blobs)
    graph = StateGraph(State)
    graph.add_node("duel", duel)
    graph.add_edge(START, "duel")
    state = await graph.compile().ainvoke({"sample": sample, "items": [{"model": "mine"}]})
    for item in state["items"]:
        verdicts = [judgement.verdict for judgement in item["judgements"] if judgement.asked == "verdict"]
        print(f"{item['model']}: reward {item['score']:+.0f}, verdicts in both orders {verdicts}")


asyncio.run(main(Path(sys.argv[1])))
