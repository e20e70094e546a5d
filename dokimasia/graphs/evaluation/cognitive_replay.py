"""Cognitive replay: a judge writes the reference chain of a sample and draws atomic criteria from it (ATOM, section 3.1).

::

    write_chain ─► check_chain ─► (judge_chain) ─► extract_criteria ─► end
        ▲  │ repair     │ contradicts   │             ▲  │ repair
        └──┘            └───────────────┴─► write_chain  └──┘

A reply that cannot be read is sent back once; a chain whose answer contradicts the reference is asked for once more,
then the sample fails as `reference_contradicted`; a criteria set that breaks a rule is sent back once with the broken
rules named, then weights alone may be rescaled. The state holds ids and small words only. A chain that exists from an
earlier attempt enters at `check_chain`, or, where a judge already agreed with it, at `extract_criteria`.
"""

import operator
from collections.abc import Sequence
from typing import Annotated, Literal, TypedDict

from langgraph.graph import START, StateGraph
from langgraph.runtime import Runtime

from dokimasia.agents import extract_criteria as ask_for_criteria
from dokimasia.agents import failure
from dokimasia.agents import judge_equivalence as ask_whether_same
from dokimasia.agents import write_chain as ask_for_chain
from dokimasia.algorithms.criteria import check_criteria, rescale_weights
from dokimasia.algorithms.text.answers import same_answer
from dokimasia.domain.criterion import WEIGHT_TOTAL, CriteriaSet, Criterion, ReferenceChain
from dokimasia.domain.judgement import Failed, Rejected
from dokimasia.domain.sample import Sample
from dokimasia.graphs.context import Context, keep_looks
from dokimasia.graphs.versions import COGNITIVE_REPLAY, VERSIONS

NAME = COGNITIVE_REPLAY
VERSION = VERSIONS[NAME]
CHECKPOINTED = True


class State(TypedDict, total=False):
    """Ids of values in the store, and where the work stands.

    `rejected` is the id of a reply that goes back with the next ask; `agreed` is how the chain's answer was found to
    agree with the reference (a rule's name, `judge`, or `no reference`). `chain_at` is the place in `calls`,
    from 1, of the call that wrote the chain; the one that wrote the criteria is the last, since nothing comes after it.
    `attempt` counts how often the item failed and was asked anew; each attempt is a draw of its own. `looks` are what
    the solver looked at with its tools. `failed` is the kind of failure that ended it (empty: none), `why` the id of the
    `Failed` with its reason, which may be long.
    """

    failed: str
    why: str
    sample: str
    attempt: int
    chain: str
    chain_at: int
    criteria: str
    rejected: str
    contradicted: bool
    agreed: str
    calls: Annotated[list[str], operator.add]
    looks: Annotated[list[str], operator.add]


async def write_chain(state: State, runtime: Runtime[Context]) -> State:
    """Ask the solver for the chain, sending back the last reply where there is one to mend."""
    context = runtime.context
    asked = await ask_for_chain(
        await context.store.get(Sample, state["sample"]),
        gateway=context.gateway,
        judge=context.judge_of("write_chain"),
        attempt=state.get("attempt", 0),
        rejected=await _rejected(state, context),
        library=context.prompts,
        looking=context.looking,
    )
    update: State = {"calls": asked.calls, "rejected": "", "looks": await keep_looks(context, asked.looks)}
    if asked.value is not None:
        place = len(state.get("calls", ())) + len(asked.calls)
        return {**update, "chain": await context.store.put(asked.value), "chain_at": place}
    return {**update, **await _mend_or_fail(asked.rejected, asked.failure, state, context)}


async def check_chain(state: State, runtime: Runtime[Context]) -> State:
    """Hold the chain's final answer against the reference by rule: exact, number, choice; else a judge must say."""
    context = runtime.context
    sample = await context.store.get(Sample, state["sample"])
    if sample.reference_answer is None:
        return {"agreed": "no reference"}
    chain = await context.store.get(ReferenceChain, state["chain"])
    match = same_answer(chain.answer, sample.reference_answer, sample.choices)
    if match.verdict == "unsure":
        return {"agreed": ""}
    if match.verdict == "same":
        return {"agreed": match.rule}
    return await _contradicted(state, context, sample, chain)


async def judge_chain(state: State, runtime: Runtime[Context]) -> State:
    """Ask the judge whether the chain's final answer says the same as the reference."""
    context = runtime.context
    sample = await context.store.get(Sample, state["sample"])
    chain = await context.store.get(ReferenceChain, state["chain"])
    asked = await ask_whether_same(
        sample,
        chain.answer,
        gateway=context.gateway,
        judge=context.judge_of("judge_chain"),
        attempt=state.get("attempt", 0),
        rejected=await _rejected(state, context),
        library=context.prompts,
    )
    update: State = {"calls": asked.calls, "rejected": ""}
    if asked.value is True:
        return {**update, "agreed": "judge"}
    if asked.value is False:
        return {**update, **await _contradicted(state, context, sample, chain)}
    return {**update, **await _mend_or_fail(asked.rejected, asked.failure, state, context)}


async def extract_criteria(state: State, runtime: Runtime[Context]) -> State:
    """Ask the extractor for criteria and hold them against the rules."""
    context = runtime.context
    sample = await context.store.get(Sample, state["sample"])
    asked = await ask_for_criteria(
        sample,
        await context.store.get(ReferenceChain, state["chain"]),
        gateway=context.gateway,
        judge=context.judge_of("extract_criteria"),
        attempt=state.get("attempt", 0),
        rejected=await _rejected(state, context),
        library=context.prompts,
    )
    update: State = {"calls": asked.calls, "rejected": ""}
    if asked.value is None:
        return {**update, **await _mend_or_fail(asked.rejected, asked.failure, state, context)}
    problems = check_criteria(asked.value, sample.prompt)
    accepted: CriteriaSet | None = None
    if not problems:
        accepted = CriteriaSet(criteria=tuple(asked.value))
    elif state.get("rejected"):
        accepted = _rescaled(asked.value, sample.prompt)
    if accepted is not None:
        return {**update, "criteria": await context.store.put(accepted)}
    text = "\n".join(f"- {problem}" for problem in problems)
    rejected = Rejected(text=_as_written(asked.value), problem=text, call=asked.call or "")
    failed = failure("unparsable", "criteria break the rules: " + "; ".join(problems))
    return {**update, **await _mend_or_fail(rejected, failed, state, context)}


async def first_step(state: State) -> Literal["write_chain", "check_chain", "extract_criteria"]:
    """What an earlier attempt achieved is not asked again."""
    if not state.get("chain"):
        return "write_chain"
    return "extract_criteria" if state.get("agreed") else "check_chain"


async def after_chain(state: State) -> Literal["write_chain", "check_chain", "__end__"]:
    """Repair, go on, or stop."""
    if state.get("failed"):
        return "__end__"
    return "write_chain" if state.get("rejected") else "check_chain"


async def after_check(state: State) -> Literal["write_chain", "judge_chain", "extract_criteria", "__end__"]:
    """Ask for the chain once more, let a judge say, go on, or stop."""
    if state.get("failed"):
        return "__end__"
    if state.get("rejected"):
        return "write_chain"
    return "extract_criteria" if state.get("agreed") else "judge_chain"


async def after_judging(state: State) -> Literal["write_chain", "judge_chain", "extract_criteria", "__end__"]:
    """Repair the verdict, ask for the chain once more, go on, or stop."""
    if state.get("failed"):
        return "__end__"
    if state.get("rejected"):
        return "write_chain" if not state.get("chain") else "judge_chain"
    return "extract_criteria"


async def after_extraction(state: State) -> Literal["extract_criteria", "__end__"]:
    """Send the criteria back once, or stop."""
    return "extract_criteria" if state.get("rejected") and not state.get("failed") else "__end__"


def build() -> StateGraph[State, Context]:
    """Return the graph, not compiled."""
    graph = StateGraph(State, context_schema=Context)
    graph.add_node("write_chain", write_chain)
    graph.add_node("check_chain", check_chain)
    graph.add_node("judge_chain", judge_chain)
    graph.add_node("extract_criteria", extract_criteria)
    graph.add_conditional_edges(START, first_step)
    graph.add_conditional_edges("write_chain", after_chain)
    graph.add_conditional_edges("check_chain", after_check)
    graph.add_conditional_edges("judge_chain", after_judging)
    graph.add_conditional_edges("extract_criteria", after_extraction)
    return graph


async def _rejected(state: State, context: Context) -> Rejected | None:
    id = state.get("rejected")
    return await context.store.get(Rejected, id) if id else None


async def _mend_or_fail(rejected: Rejected | None, failed: Failed, state: State, context: Context) -> State:
    """Send a bad reply back if this was the first ask; a second bad reply, or none at all, fails the sample."""
    if rejected is not None and not state.get("rejected"):
        return {"rejected": await context.store.put(rejected)}
    return await _failed(failed, context)


async def _failed(failed: Failed, context: Context) -> State:
    return {"failed": failed.kind, "why": await context.store.put(failed)}


async def _contradicted(state: State, context: Context, sample: Sample, chain: ReferenceChain) -> State:
    if state.get("contradicted"):
        reason = f"the judge's chain contradicts the reference answer twice; its answer: {chain.answer}"
        return await _failed(failure("reference_contradicted", reason), context)
    problem = (
        "Its final answer contradicts the reference answer. Look at the image again. The reasoning has to lead to "
        "what the reference answer says."
    )
    text = f"<reasoning>\n{chain.reasoning}\n</reasoning>\n<answer>\n{chain.answer}\n</answer>"
    place = state.get("chain_at", 0)
    rejected = Rejected(text=text, problem=problem, call=state["calls"][place - 1] if place else "")
    return {"contradicted": True, "chain": "", "rejected": await context.store.put(rejected)}


def _rescaled(criteria: Sequence[Criterion], question: str) -> CriteriaSet | None:
    """Return the criteria with weights rescaled to sum to ten, if that mends all that is wrong with them."""
    weights = rescale_weights([criterion.weight for criterion in criteria], WEIGHT_TOTAL)
    mended = tuple(c.model_copy(update={"weight": w}) for c, w in zip(criteria, weights, strict=True))
    return None if check_criteria(mended, question) else CriteriaSet(criteria=mended, repaired=True)


def _as_written(criteria: Sequence[Criterion]) -> str:
    rows = [criterion.model_dump_json() for criterion in criteria]
    return "[" + ",\n".join(rows) + "]"
