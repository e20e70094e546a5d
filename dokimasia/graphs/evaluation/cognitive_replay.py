"""Cognitive replay: a judge writes the reference chain of a sample and draws atomic criteria from it (ATOM, section 3.1).

    write_chain ─► check_chain ─► (judge_chain) ─► extract_criteria ─► judge_criteria ─► end
        ▲               │ contradicts   │
        └───────────────┴───────────────┘

A chain whose answer contradicts the reference is asked for once more, then the sample fails as
`reference_contradicted`; a criteria set that breaks a rule is sent back once with the broken rules named, then weights
are rescaled and criteria that still break one are left out. Then a judge takes a second look at it (ours; not as
published, where weights alone may be mended and nobody looks again). The state holds ids and small words only. A chain
that exists from an earlier attempt enters at `check_chain`, or, where a judge already agreed with it, at
`extract_criteria`; criteria that are to be looked at anew enter at `judge_criteria`.
"""

import operator
from typing import Annotated, Literal, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Command

from dokimasia.agents import evaluation, failure
from dokimasia.algorithms.criteria import counted
from dokimasia.algorithms.text.answers import accepted_answer
from dokimasia.domain.call import CallKeys
from dokimasia.domain.criterion import CriteriaSet, ReferenceChain
from dokimasia.domain.judgement import Failed, Rejected
from dokimasia.domain.sample import Sample
from dokimasia.graphs.context import Context, keep_looks
from dokimasia.graphs.evaluation.drawing import draw_criteria, settled
from dokimasia.graphs.evaluation.second_look import look_again
from dokimasia.graphs.versions import COGNITIVE_REPLAY, VERSIONS

NAME = COGNITIVE_REPLAY
VERSION = VERSIONS[NAME]
CHECKPOINTED = True


class State(TypedDict, total=False):
    """Ids of values in the store, and where the work stands.

    `contradicted` says that a chain contradicted the reference, and `rejected` is the id of that chain while it goes
    back; `agreed` is how the chain's answer was found to agree with the reference (a rule's name, `judge`, or
    `no reference`). `chain_at` is the place in `calls`, from 1, of the call that wrote the chain. `criteria` are as
    they were drawn until the second look is taken; `drawing` is the id of the `CallKeys` of both steps, whose calls are
    more than the state has room for.
    `attempt` counts how often the item failed and was asked anew; each attempt is a draw of its own. `looks` are what
    the solver looked at with its tools. `failed` is the kind of failure that ended it (empty: none), `why` the id of the
    `Failed` with its reason, which may be long. With `chain_only` it ends once the chain is agreed with.
    """

    failed: str
    why: str
    sample: str
    attempt: int
    chain: str
    chain_at: int
    drawing: str
    criteria: str
    rejected: str
    contradicted: bool
    agreed: str
    calls: Annotated[list[str], operator.add]
    looks: Annotated[list[str], operator.add]
    chain_only: bool


async def write_chain(state: State, runtime: Runtime[Context]) -> State:
    """Ask the solver for the chain, sending back the one that contradicts the reference where there is one."""
    context = runtime.context
    sample = await context.store.get(Sample, state["sample"])
    back = state.get("rejected")
    asked = await context.ask(
        evaluation.write_chain(sample),
        node="write_chain",
        attempt=state.get("attempt"),
        rejected=await context.store.get(Rejected, back) if back else None,
    )
    update: State = {"calls": asked.calls, "rejected": "", "looks": await keep_looks(context, asked.looks)}
    if asked.value is None:
        return {**update, **await _failed(asked.failure, context)}
    place = len(state.get("calls", ())) + len(asked.calls)
    return {**update, "chain": await context.store.put(asked.value), "chain_at": place}


async def check_chain(state: State, runtime: Runtime[Context]) -> State:
    """Hold the chain's final answer against the reference by rule: exact, number, choice; else a judge must say."""
    context = runtime.context
    sample = await context.store.get(Sample, state["sample"])
    if not sample.accepted:
        return {"agreed": "no reference"}
    chain = await context.store.get(ReferenceChain, state["chain"])
    match = accepted_answer(
        chain.answer,
        sample.accepted,
        sample.choices,
        tolerance=context.options.tolerance,
        question=sample.prompt,
        contains=False,
    )
    if match.verdict == "unsure":
        return {"agreed": ""}
    if match.verdict == "same":
        return {"agreed": match.rule}
    return await _contradicted(state, context, chain)


async def judge_chain(state: State, runtime: Runtime[Context]) -> State:
    """Ask the judge whether the chain's final answer says the same as the reference."""
    context = runtime.context
    sample = await context.store.get(Sample, state["sample"])
    chain = await context.store.get(ReferenceChain, state["chain"])
    asked = await context.ask(
        evaluation.judge_equivalence(sample, chain.answer), node="judge_chain", attempt=state.get("attempt")
    )
    update: State = {"calls": asked.calls}
    if asked.value is None:
        return {**update, **await _failed(asked.failure, context)}
    if asked.value:
        return {**update, "agreed": "judge"}
    return {**update, **await _contradicted(state, context, chain)}


async def extract_criteria(state: State, runtime: Runtime[Context]) -> Command[Literal["judge_criteria", "__end__"]]:
    """Ask the extractor for criteria, and send a set that breaks a rule back, unless a reply was sent back already."""
    context = runtime.context
    published = context.options.published
    sample = await context.store.get(Sample, state["sample"])
    chain = await context.store.get(ReferenceChain, state["chain"])
    count = None if published else counted(context.options.criteria_count)
    what = evaluation.extract_criteria(sample, chain, count=count)
    drawn = await draw_criteria(
        what, sample, chain.answer, context, node="extract_criteria", attempt=state.get("attempt")
    )
    update: State = {"drawing": await context.store.put(CallKeys(calls=drawn.calls))}
    if drawn.criteria is None:
        failed = drawn.failed or failure("unparsable", "no criteria")
        return Command(update={**update, **await _failed(failed, context)}, goto="__end__")
    if published:
        made = await context.store.put(settled(drawn.criteria, sample))
        return Command(update={**update, "criteria": made}, goto="__end__")
    return Command(update={**update, "criteria": await context.store.put(drawn.criteria)}, goto="judge_criteria")


async def judge_criteria(state: State, runtime: Runtime[Context]) -> State:
    """Have a judge take a second look at the criteria, and mend or leave out what is found to be wrong with them."""
    context = runtime.context
    sample = await context.store.get(Sample, state["sample"])
    chain = await context.store.get(ReferenceChain, state["chain"])
    drawn = await context.store.get(CriteriaSet, state["criteria"])
    looked = await look_again(sample, chain, drawn, context, attempt=state.get("attempt"))
    before = (await context.store.get(CallKeys, state["drawing"])).calls if state.get("drawing") else ()
    update: State = {"drawing": await context.store.put(CallKeys(calls=(*before, *looked.calls)))}
    if looked.criteria is None:
        return {**update, **await _failed(looked.failure, context)}
    return {**update, "criteria": await context.store.put(settled(looked.criteria, sample))}


async def first_step(state: State) -> Literal["write_chain", "check_chain", "extract_criteria", "judge_criteria"]:
    """What an earlier attempt achieved is not asked again."""
    if not state.get("chain"):
        return "write_chain"
    if state.get("criteria"):
        return "judge_criteria"
    return "extract_criteria" if state.get("agreed") else "check_chain"


async def after_chain(state: State) -> Literal["check_chain", "__end__"]:
    """Go on, or stop."""
    return "__end__" if state.get("failed") else "check_chain"


async def after_check(state: State) -> Literal["write_chain", "judge_chain", "extract_criteria", "__end__"]:
    """Ask for the chain once more, let a judge say, go on, or stop."""
    if state.get("failed"):
        return "__end__"
    if state.get("rejected"):
        return "write_chain"
    if not state.get("agreed"):
        return "judge_chain"
    return "__end__" if state.get("chain_only") else "extract_criteria"


def build() -> StateGraph[State, Context]:
    """Return the graph, not compiled."""
    graph = StateGraph(State, context_schema=Context)
    for node in (write_chain, check_chain, judge_chain, extract_criteria, judge_criteria):
        graph.add_node(node)
    graph.add_conditional_edges(START, first_step)
    graph.add_conditional_edges("write_chain", after_chain)
    graph.add_conditional_edges("check_chain", after_check)
    graph.add_conditional_edges("judge_chain", after_check)
    graph.add_edge("judge_criteria", END)
    return graph


async def _failed(failed: Failed, context: Context) -> State:
    return {"failed": failed.kind, "why": await context.store.put(failed)}


async def _contradicted(state: State, context: Context, chain: ReferenceChain) -> State:
    if state.get("contradicted"):
        reason = f"the judge's chain contradicts the reference answer twice; its answer: {chain.answer}"
        return await _failed(failure("reference_contradicted", reason), context)
    problem = (
        "Its final answer contradicts the reference answer. Look at the image again. If something was overlooked, correct "
        "it, so that the reasoning leads to what the reference answer says. If the image still shows otherwise, keep the "
        "answer, and say in the steps what speaks against the reference answer."
    )
    text = f"<reasoning>\n{chain.reasoning}\n</reasoning>\n<answer>\n{chain.answer}\n</answer>"
    place = state.get("chain_at", 0)
    rejected = Rejected(text=text, problem=problem, call=state["calls"][place - 1] if place else "")
    return {"contradicted": True, "chain": "", "rejected": await context.store.put(rejected)}
