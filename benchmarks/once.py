"""A graph as a plug-in brings one: it puts the sample's question to the model once."""

from langgraph.graph import START, StateGraph
from langgraph.runtime import Runtime

from dokimasia.agents.candidate import answer_question
from dokimasia.domain.sample import Sample
from dokimasia.graphs.context import Context, Failure, failed_update

NAME, VERSION = "once", 1


class State(Failure, total=False):
    """The ids of a sample and of the answer to it."""

    sample: str
    model: str
    result: str
    calls: list[str]


async def answer(state: State, runtime: Runtime[Context]) -> State:
    """Put the question to the model."""
    context = runtime.context
    sample = await context.store.get(Sample, state["sample"])
    asked = await context.ask(answer_question(sample), model=state["model"])
    if asked.value is None:
        return {"calls": asked.calls, **failed_update(asked.failure)}
    return {"calls": asked.calls, "result": await context.store.put(asked.value)}


def build() -> StateGraph[State, Context]:
    """Return the graph."""
    graph = StateGraph(State, context_schema=Context)
    graph.add_node("answer", answer)
    graph.add_edge(START, "answer")
    return graph
