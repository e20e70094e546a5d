"""Failures refined inside somebody else's LangGraph: their chat model (here a fake) answers, and mends its answer."""

import asyncio
from typing import Any, TypedDict

from langchain_core.language_models import GenericFakeChatModel
from langgraph.graph import START, StateGraph

from dokimasia import CriteriaSet, Criterion, Sample, as_runnable
from dokimasia.simulation.world import make_world


class State(TypedDict, total=False):
    sample: Sample
    criteria: CriteriaSet
    model: str
    response: Any
    final: Any


async def main() -> None:
    [(_, question)] = make_world(1, 0)
    sample = Sample(id=question.id, prompt=question.text, reference_answer=question.answer)
    steps = [Criterion(question=step.question, ground_truth=step.statement, weight=1) for step in question.steps]
    right = " ".join([*(step.statement for step in question.steps), f"Answer: {question.answer}"])
    mine = GenericFakeChatModel(messages=iter(["It is a zebra.", right]))

    async def answer(state: State) -> State:
        reply = await mine.ainvoke(state["sample"].prompt)
        return {"model": "mine", "response": reply.text}

    refine = as_runnable("refinement", judge="sim/judge", chat_models={"mine": mine})
    graph = StateGraph(State).add_sequence([("answer", answer), ("refine", refine)]).add_edge(START, "answer")
    state = await graph.compile().ainvoke({"sample": sample, "criteria": CriteriaSet(criteria=tuple(steps))})
    print(f"now {state['final'].verdict}: {state['response'].text}")


asyncio.run(main())
