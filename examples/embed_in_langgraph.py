"""Use self-correction inside a LangGraph graph of your own, which keeps its own state, context and checkpoints.

Run it with a folder of its own: python examples/embed_in_langgraph.py FOLDER
"""

import asyncio
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypedDict

from langchain_core.runnables import Runnable
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.runtime import Runtime

from dokimasia import CriteriaSet, Criterion, MemoryBlobs, Refined, Sample, memory_context, refinement_runnable
from dokimasia.agents.candidate import answer_question
from dokimasia.datasets import read_jsonl
from dokimasia.simulation.world import make_world, write_world

MODEL, JUDGE = "sim/weak", "sim/judge"


class State(TypedDict, total=False):
    """The state of the outer graph: small and plain, as its checkpoints want it."""

    number: int
    answer: str
    verdict: str


@dataclass
class Own:
    """The outer graph's context: whatever its own nodes need. The runnable brings the rest along by itself."""

    samples: list[Sample]
    criteria: list[CriteriaSet]
    answer: Any
    refine: Runnable[dict[str, Any], Refined]


async def ask(state: State, runtime: Runtime[Own]) -> State:
    """Have the model answer the question."""
    return {"answer": await runtime.context.answer(runtime.context.samples[state["number"]])}


async def mend(state: State, runtime: Runtime[Own]) -> State:
    """Let it mend its answer, by a graph inside this one."""
    own = runtime.context
    done = await own.refine.ainvoke(
        {
            "sample": own.samples[state["number"]],
            "criteria": own.criteria[state["number"]],
            "response": state["answer"],
            "model": MODEL,
        }
    )
    verdict = "unknown" if done.final is None else done.final.verdict
    return {"answer": done.response.text if done.response else state["answer"], "verdict": verdict}


async def answered(state: State) -> Literal["mend", "__end__"]:
    """Mend what there is to mend."""
    return "mend" if state["answer"] else "__end__"


async def main(folder: Path) -> None:
    """Walk three questions through the outer graph, each on a thread of its own."""
    write_world(folder / "world.jsonl", 3, 0)
    blobs = MemoryBlobs()
    samples = list(read_jsonl(folder / "world.jsonl", blobs=blobs))
    criteria = [
        CriteriaSet(
            criteria=tuple(
                Criterion(question=step.question, ground_truth=step.statement, weight=step.weight)
                for step in question.steps
            )
        )
        for _, question in make_world(3, 0)
    ]
    builder = StateGraph(State, context_schema=Own)
    builder.add_node("ask", ask)
    builder.add_node("mend", mend)
    builder.add_edge(START, "ask")
    builder.add_conditional_edges("ask", answered)
    outer = builder.compile(checkpointer=InMemorySaver())
    async with memory_context(judge=JUDGE, models=(MODEL,), blobs=blobs) as context:

        async def answer(sample: Sample) -> str:
            asked = await context.ask(answer_question(sample), model=MODEL)
            return asked.value.text if asked.value else ""

        own = Own(samples, criteria, answer, refinement_runnable(context, arm="self", rounds=2))
        for number, sample in enumerate(samples):
            config: Any = {"configurable": {"thread_id": sample.id}}
            state = await outer.ainvoke({"number": number}, config, context=own)
            print(f"{sample.id}: {state.get('verdict', 'no answer')}: {state['answer'].splitlines()[-1:]}")


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(".dokimasia/example")
    target.mkdir(parents=True, exist_ok=True)
    asyncio.run(main(target))
