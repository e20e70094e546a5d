"""A peer review as a node of somebody else's LangGraph, with LangChain chat models as the panel (here a fake)."""

import asyncio
import sys
from pathlib import Path
from typing import Any, TypedDict

from langchain_core.language_models import GenericFakeChatModel
from langgraph.graph import START, StateGraph

from dokimasia import MemoryBlobs, Sample, as_runnable
from dokimasia.datasets import read_jsonl
from dokimasia.simulation.world import write_described

TEXT = "A red cup stands on a table."
KEPT = "<analysis><candidate_1_critique>Right.</candidate_1_critique></analysis><ranking>1</ranking><keep>1</keep>"


class State(TypedDict, total=False):
    sample: Sample
    verdict: str
    result: list[Any]


async def main(folder: Path) -> None:
    write_described(folder / "scenes.jsonl", 1, 0)
    blobs = MemoryBlobs()
    [sample] = read_jsonl(folder / "scenes.jsonl", blobs=blobs, need_prompt=False)
    panel = dict.fromkeys(["first", "second"], GenericFakeChatModel(messages=iter([TEXT, TEXT, KEPT, KEPT])))
    review = as_runnable("peer_review", chat_models=panel, options={"panel": tuple(panel)}, blobs=blobs)
    graph = StateGraph(State).add_node("review", review).add_edge(START, "review")
    steps: Any = graph.compile().astream({"sample": sample}, stream_mode="updates", subgraphs=True)
    async for place, step in steps:
        print("inside" if place else "outside", *step)
        if "review" in step:
            print(step["review"]["verdict"], "-", step["review"]["result"][1].text)


asyncio.run(main(Path(sys.argv[1])))
