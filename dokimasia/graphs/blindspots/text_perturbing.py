"""Text perturbing: a model makes a gold answer worse in one dimension, and a checker says what was changed (FOCUS, 2.3).

    perturb ─► check ─► end

A dimension that the answer has nothing of is no failure. What the checker says against a change is kept beside it: people
decide. Straight, so it runs without checkpoints: the ledger carries it over any crash.
"""

import operator
from typing import Annotated, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from dokimasia.agents.perturbation import check_change, error_dimensions, perturb_answer
from dokimasia.domain.blindspots import Perturbed, Task
from dokimasia.domain.perturbation import ChangeCheck, GoldAnswer, NotApplicable, PerturbOptions
from dokimasia.domain.sample import Sample
from dokimasia.graphs.context import Context, Failure, failed_update, own_options
from dokimasia.graphs.versions import VERSIONS

NAME = "text_perturbing"
VERSION = VERSIONS[NAME]
TASK: Task = "image-to-text"


class State(Failure, TypedDict, total=False):
    """Ids of the sample, of the gold answer and of what was made; `dimension` is a name.

    `result` holds the id of a `Perturbed` and, where somebody checked it, of a `ChangeCheck`; or of a `NotApplicable`.
    """

    sample: str
    gold: str
    dimension: str
    made: str
    result: list[str]
    calls: Annotated[list[str], operator.add]


async def perturb(state: State, runtime: Runtime[Context]) -> State:
    """Have the answer perturbed; one that is too short for the dimension is not asked about."""
    context = runtime.context
    sample = await context.store.get(Sample, state["sample"])
    gold = await context.store.get(GoldAnswer, state["gold"])
    dimension = error_dimensions(TASK)[state["dimension"]]
    about = {"sample": sample.digest, "dimension": dimension.name}
    if gold.word_count < dimension.least_words:
        why = f"the gold answer has {gold.word_count} of at least {dimension.least_words} words"
        return {"result": [await context.store.put(NotApplicable(**about, why=why, too_short=True))]}
    asked = await context.ask(perturb_answer(sample, gold.text, dimension))
    if asked.value is None:
        return {"calls": asked.calls, **failed_update(asked.failure)}
    if asked.value.none:
        none = NotApplicable(**about, why=asked.value.none, provenance=asked.provenance)
        return {"calls": asked.calls, "result": [await context.store.put(none)]}
    made = Perturbed(
        **about,
        sample_id=sample.id,
        task=TASK,
        gold=gold.text,
        perturbed=asked.value.text,
        description=asked.value.description,
        by=context.options.judge,
    )
    id = await context.store.put(made)
    return {"calls": asked.calls, "made": id, "result": [id]}


async def check(state: State, runtime: Runtime[Context]) -> State:
    """Have the change checked; a checker that gives no reply of use leaves the item unchecked."""
    context = runtime.context
    options = own_options(context, PerturbOptions, NAME)
    sample = await context.store.get(Sample, state["sample"])
    made = await context.store.get(Perturbed, state["made"])
    among = list(error_dimensions(TASK).values())
    asked = await context.ask(check_change(sample, made.gold, made.perturbed, among), model=options.checker)
    if asked.value is None or asked.provenance is None:
        return {"calls": asked.calls}
    kind, also, worse, why = asked.value
    said = ChangeCheck(of=state["made"], kind=kind, also=also, worse=worse, why=why, provenance=asked.provenance)
    return {"calls": asked.calls, "result": [state["made"], await context.store.put(said)]}


async def _to_be_checked(state: State, runtime: Runtime[Context]) -> str:
    checked = own_options(runtime.context, PerturbOptions, NAME).checker
    return "check" if state.get("made") and checked else END


def build() -> StateGraph[State, Context]:
    """Return the graph, not compiled."""
    graph = StateGraph(State, context_schema=Context)
    graph.add_node("perturb", perturb)
    graph.add_node("check", check)
    graph.add_edge(START, "perturb")
    graph.add_conditional_edges("perturb", _to_be_checked, ["check", END])
    graph.add_edge("check", END)
    return graph
