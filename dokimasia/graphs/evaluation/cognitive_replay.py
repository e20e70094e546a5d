"""Cognitive replay: a judge writes the reference chain of a sample and draws atomic criteria from it (ATOM, section 3.1).

    write_chain ─► check_chain ─► (judge_chain) ─► extract_criteria ─► judge_criteria ─► end
        ▲               │ contradicts   │
        └───────────────┴───────────────┘

A chain whose answer contradicts the reference is requested once more; then the sample fails as `reference_contradicted`
(with `published` the chain is kept at once, and the outcome says so). A criteria set that breaks rules is sent back
once with the broken rules; then weights are rescaled, and criteria that still break a rule are dropped. A judge then
examines the set once more (an addition to the paper: with `published`, only weights are repaired and nothing is
examined). The state holds ids and short strings only. A chain from an earlier attempt enters at `check_chain`, or at
`extract_criteria` if its answer already agreed with the reference; criteria for another examination enter at
`judge_criteria`.
"""

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Command

from dokimasia.agents import Ask, evaluation, failure
from dokimasia.algorithms.criteria import (
    Broken,
    check_criteria,
    counted,
    rescale_weights,
    with_alternatives,
    with_final,
)
from dokimasia.algorithms.second_look import (
    CriteriaFault,
    accepted,
    faults_found,
    sent_back,
    to_send_back,
    without_faulty,
)
from dokimasia.algorithms.text.answers import accepted_answer
from dokimasia.domain.call import CallKeys
from dokimasia.domain.criterion import CONTRADICTED, PUBLISHED_COUNT, CriteriaSet, Criterion, ReferenceChain
from dokimasia.domain.judgement import Failed, Rejected
from dokimasia.domain.ports import ValueStore
from dokimasia.domain.sample import Sample
from dokimasia.graphs.context import Context, keep_looks
from dokimasia.graphs.versions import COGNITIVE_REPLAY, VERSIONS

NAME = COGNITIVE_REPLAY
VERSION = VERSIONS[NAME]
CHECKPOINTED = True

LEAVE_THE_OTHERS = "Leave the words of the other criteria as they are, and change weights so that all sum to 10 again."
"""The text after the faults of criteria that are sent back."""


class State(TypedDict, total=False):
    """Ids of values in the store, and the progress of the work.

    `contradicted`: a chain contradicted the reference; `rejected` is the id of that chain while it is sent back.
    `agreed` says what established that the chain's answer agrees with the reference (a rule's name, `judge`, or `no
    reference`), or that it was kept despite a contradiction (`CONTRADICTED`). `chain_at` is the position in `calls`,
    from 1, of the call that wrote the chain. `criteria` is the id of the set, replaced after the second look; `drawing`
    is the id of the `CallKeys` of both steps, whose calls are too many for the state. `attempt` counts the retries
    after failures; each attempt is a separate draw. `looks` are ids of the solver's looks with tools. `failed` is the
    kind of failure that ended the graph (empty: none), `why` the id of the stored `Failed` with its reason: a
    checkpointed state holds 512 bytes, and a reason may be longer. With `chain_only` the graph ends once the chain's
    answer agrees.
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


async def replay_fields(state: Mapping[str, Any], store: ValueStore) -> dict[str, object]:
    """Return the outcome of a finished replay as fields of its result row, with the ids of chain, criteria and calls."""
    calls = tuple(state.get("calls", ()))
    if drawing := state.get("drawing"):
        calls += (await store.get(CallKeys, drawing)).calls
    fields: dict[str, object] = {"chain_id": state.get("chain") or None, "calls": calls}
    if state.get("failed"):
        failure_value = await store.get(Failed, state["why"])
        return {**fields, "outcome": "failed", "failure": failure_value.kind, "reason": failure_value.reason}
    fields |= {"outcome": "made", "criteria_id": state.get("criteria")}
    if state.get("agreed") == CONTRADICTED:
        chain = await store.get(ReferenceChain, state["chain"])
        fields["reason"] = f"the judge's chain contradicts the reference answer; its answer: {chain.answer}"[:500]
    return fields


async def write_chain(state: State, runtime: Runtime[Context]) -> State:
    """Ask the solver for the chain, or send back a chain that contradicts the reference."""
    context = runtime.context
    sample = await context.store.get(Sample, state["sample"])
    rejected_id = state.get("rejected")
    reply = await context.ask(
        evaluation.write_chain(sample),
        node="write_chain",
        attempt=state.get("attempt"),
        rejected=await context.store.get(Rejected, rejected_id) if rejected_id else None,
    )
    update: State = {"calls": reply.calls, "rejected": "", "looks": await keep_looks(context, reply.looks)}
    if reply.value is None:
        return {**update, **await _failure_update(reply.failure, context)}
    chain_at = len(state.get("calls", ())) + len(reply.calls)
    return {**update, "chain": await context.store.put(reply.value), "chain_at": chain_at}


async def check_chain(state: State, runtime: Runtime[Context]) -> State:
    """Compare the chain's final answer with the reference by rule (exact, number, choice), or leave it to the judge."""
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
    """Ask the judge whether the chain's final answer is equivalent to the reference."""
    context = runtime.context
    sample = await context.store.get(Sample, state["sample"])
    chain = await context.store.get(ReferenceChain, state["chain"])
    reply = await context.ask(
        evaluation.judge_equivalence(sample, chain.answer), node="judge_chain", attempt=state.get("attempt")
    )
    update: State = {"calls": reply.calls}
    if reply.value is None:
        return {**update, **await _failure_update(reply.failure, context)}
    if reply.value:
        return {**update, "agreed": "judge"}
    return {**update, **await _contradicted(state, context, chain)}


async def extract_criteria(state: State, runtime: Runtime[Context]) -> Command[Literal["judge_criteria", "__end__"]]:
    """Ask the extractor for criteria, and send back a set that breaks a rule, unless a reply was already sent back."""
    context = runtime.context
    published = context.options.published
    sample = await context.store.get(Sample, state["sample"])
    chain = await context.store.get(ReferenceChain, state["chain"])
    count = None if published else counted(context.options.criteria_count)
    role = evaluation.extract_criteria(sample, chain, count=count)
    draw = await draw_criteria(
        role, sample, chain.answer, context, node="extract_criteria", attempt=state.get("attempt")
    )
    update: State = {"drawing": await context.store.put(CallKeys(calls=draw.calls))}
    if draw.criteria is None:
        problem = draw.failed or failure("unparsable", "no criteria")
        return Command(update={**update, **await _failure_update(problem, context)}, goto="__end__")
    if published:
        criteria = await context.store.put(settled(draw.criteria, sample))
        return Command(update={**update, "criteria": criteria}, goto="__end__")
    return Command(update={**update, "criteria": await context.store.put(draw.criteria)}, goto="judge_criteria")


async def judge_criteria(state: State, runtime: Runtime[Context]) -> State:
    """Have a judge take a second look at the criteria, and correct or drop faulty ones."""
    context = runtime.context
    sample = await context.store.get(Sample, state["sample"])
    chain = await context.store.get(ReferenceChain, state["chain"])
    criteria = await context.store.get(CriteriaSet, state["criteria"])
    look = await second_look(sample, chain, criteria, context, attempt=state.get("attempt"))
    calls: tuple[str, ...] = ()
    if state.get("drawing"):
        calls = (await context.store.get(CallKeys, state["drawing"])).calls
    update: State = {"drawing": await context.store.put(CallKeys(calls=(*calls, *look.calls)))}
    if look.criteria is None:
        return {**update, **await _failure_update(look.failure, context)}
    return {**update, "criteria": await context.store.put(settled(look.criteria, sample))}


async def first_step(state: State) -> Literal["write_chain", "check_chain", "extract_criteria", "judge_criteria"]:
    """Return the first step that an earlier attempt has not completed."""
    if not state.get("chain"):
        return "write_chain"
    if state.get("criteria"):
        return "judge_criteria"
    if state.get("agreed"):
        return "extract_criteria"
    return "check_chain"


async def after_chain(state: State) -> Literal["check_chain", "__end__"]:
    """Return `check_chain`, or the end after a failure."""
    if state.get("failed"):
        return "__end__"
    return "check_chain"


async def after_check(state: State) -> Literal["write_chain", "judge_chain", "extract_criteria", "__end__"]:
    """Return the next step: request the chain again, ask the judge, extract criteria, or end."""
    if state.get("failed"):
        return "__end__"
    if state.get("rejected"):
        return "write_chain"
    if not state.get("agreed"):
        return "judge_chain"
    if state.get("chain_only"):
        return "__end__"
    return "extract_criteria"


def build() -> StateGraph[State, Context]:
    """Return the uncompiled graph."""
    graph = StateGraph(State, context_schema=Context)
    for node in (write_chain, check_chain, judge_chain, extract_criteria, judge_criteria):
        graph.add_node(node)
    graph.add_conditional_edges(START, first_step)
    graph.add_conditional_edges("write_chain", after_chain)
    graph.add_conditional_edges("check_chain", after_check)
    graph.add_conditional_edges("judge_chain", after_check)
    graph.add_edge("judge_criteria", END)
    return graph


async def _failure_update(problem: Failed, context: Context) -> State:
    return {"failed": problem.kind, "why": await context.store.put(problem)}


async def _contradicted(state: State, context: Context, chain: ReferenceChain) -> State:
    if context.options.published:
        return {"agreed": CONTRADICTED}
    if state.get("contradicted"):
        reason = f"the judge's chain contradicts the reference answer twice; its answer: {chain.answer}"
        return await _failure_update(failure("reference_contradicted", reason), context)
    problem = (
        "Its final answer contradicts the reference answer. Look at the image again. If something was overlooked, correct "
        "it, so that the reasoning leads to what the reference answer says. If the image still shows otherwise, that is "
        "an answer, too: send the same solution again, without a word of a reference answer."
    )
    text = f"<reasoning>\n{chain.reasoning}\n</reasoning>\n<answer>\n{chain.answer}\n</answer>"
    chain_at = state.get("chain_at", 0)
    rejection = Rejected(text=text, problem=problem, call=state["calls"][chain_at - 1] if chain_at else "")
    return {"contradicted": True, "chain": "", "rejected": await context.store.put(rejection)}


class CriteriaDraw(NamedTuple):
    """Drawn criteria or the failure, and the keys of the calls."""

    criteria: CriteriaSet | None
    failed: Failed | None
    calls: tuple[str, ...]


async def draw_criteria(
    role: Ask[Sequence[Criterion]],
    sample: Sample,
    answer: str,
    context: Context,
    *,
    node: str,
    attempt: int | None = None,
) -> CriteriaDraw:
    """Ask for criteria; a set that breaks rules is sent back once, then repaired by rule.

    A set is not sent back if a reply was already sent back.

    Args:
        role: the request for criteria.
        sample: the sample that the criteria belong to.
        answer: the final answer they lead to; empty if unknown.
        context: the item's context.
        node: the node whose judge is asked.
        attempt: the only attempt to use, instead of the context's.
    """
    published, count = context.options.published, context.options.criteria_count

    def broken(criteria: Sequence[Criterion] | None) -> list[Broken]:
        if criteria is None:
            return []
        return check_criteria(
            criteria, sample.prompt, count=PUBLISHED_COUNT if published else count, wording=not published
        )

    reply = await context.ask(role, node=node, attempt=attempt)
    problems = broken(reply.value)
    if reply.value is not None and problems and reply.sent_back is None:
        problem_list = "\n".join(f"- {problem.text}" for problem in problems)
        rejection = Rejected(text=evaluation.criteria_reply(reply.value), problem=problem_list, call=reply.call or "")
        second_reply = await context.ask(role, node=node, attempt=attempt, rejected=rejection)
        reply = reply.then(second_reply, sent_back=rejection)
        problems = broken(reply.value)
    calls = tuple(reply.calls)
    if reply.value is None:
        return CriteriaDraw(None, reply.failure, calls)
    if not problems:
        criteria = CriteriaSet(criteria=tuple(reply.value))
    elif published:
        criteria = _rescale(reply.value, broken)
    else:
        criteria = accepted(reply.value, sample.prompt, answer or reply.value[-1].ground_truth, count=count)
    if criteria is None:
        reason = "criteria break the rules: " + "; ".join(problem.text for problem in problems)
        return CriteriaDraw(None, failure("unparsable", reason), calls)
    final = with_final(criteria.criteria, answer, sample.choices)
    return CriteriaDraw(criteria.model_copy(update={"criteria": final}), None, calls)


def settled(criteria: CriteriaSet, sample: Sample) -> CriteriaSet:
    """Return the criteria for scoring, with all accepted answers named in the final criterion."""
    alternatives = with_alternatives(criteria.criteria, sample.accepted, sample.choices)
    return criteria.model_copy(update={"criteria": alternatives})


def _rescale(
    criteria: Sequence[Criterion], broken: Callable[[Sequence[Criterion]], list[Broken]]
) -> CriteriaSet | None:
    """Return the criteria with weights rescaled to a sum of ten, if that corrects all their faults."""
    weights = rescale_weights([criterion.weight for criterion in criteria])
    rescaled = tuple(
        criterion.model_copy(update={"weight": weight}) for criterion, weight in zip(criteria, weights, strict=True)
    )
    if broken(rescaled):
        return None
    return CriteriaSet(criteria=rescaled, repaired=True)


class SecondLook(NamedTuple):
    """The result of a second look: the criteria set, or the failure that leaves a call open; and its calls."""

    criteria: CriteriaSet | None
    calls: list[str]
    failed: Failed | None = None

    @property
    def failure(self) -> Failed:
        """The failure of a look without a result.

        Raises:
            ValueError: the look has a result.
        """
        if self.failed is None:
            raise ValueError("this look brought a set, not a failure")
        return self.failed


async def second_look(
    sample: Sample, chain: ReferenceChain, drawn: CriteriaSet, context: Context, *, attempt: int | None
) -> SecondLook:
    """Return a set of criteria after a second look, with all faults recorded (an addition to the paper).

    One call is enough if there are no faults, or if the faulty criteria can be dropped without harm; else the set is
    sent back once with the faults, and the new set is examined, too. A failed look does not fail the sample: the set is
    unchanged, with `checked` false.
    """
    first = await _examine(sample, chain, drawn, context, attempt)
    if first.left_open is not None:
        return SecondLook(None, first.calls, first.left_open)
    if first.faults is None:
        return SecondLook(drawn, first.calls)
    if not to_send_back(first.faults):
        return SecondLook(_without_faults(sample, chain, drawn, first.faults, context), first.calls)
    count = context.options.criteria_count
    fault_list = "\n".join(f"- {fault.message}" for fault in first.faults)
    rejection = Rejected(
        text=evaluation.criteria_reply(drawn.criteria),
        problem=f"{fault_list}\n{LEAVE_THE_OTHERS}",
        call=first.calls[-1],
    )
    role = evaluation.extract_criteria(sample, chain, count=counted(count))
    reply = await context.ask(role, node="judge_criteria", attempt=attempt, rejected=rejection)
    calls = [*first.calls, *reply.calls]
    if reply.value is None and reply.failure.open:
        return SecondLook(None, calls, reply.failure)
    mended = None
    if reply.value is not None:
        mended = accepted(reply.value, sample.prompt, chain.answer, count=count)
    if mended is None:
        return SecondLook(_without_faults(sample, chain, drawn, first.faults, context), calls)
    second = await _examine(sample, chain, mended, context, attempt)
    calls += second.calls
    if second.left_open is not None:
        return SecondLook(None, calls, second.left_open)
    faults = second.faults or []
    history = sent_back(drawn.criteria, first.faults, mended.criteria, faults)
    mended = mended.model_copy(
        update={
            "criteria": with_final(mended.criteria, chain.answer, sample.choices),
            "repaired": drawn.repaired or mended.repaired,
            "faults": (*drawn.faults, *history, *mended.faults),
        }
    )
    return SecondLook(_without_faults(sample, chain, mended, faults, context), calls)


class _Examination(NamedTuple):
    """The faults that the judge found (None: the examination failed), its calls, and a failure that leaves a call open."""

    faults: list[CriteriaFault] | None
    calls: list[str]
    left_open: Failed | None = None


async def _examine(
    sample: Sample, chain: ReferenceChain, criteria: CriteriaSet, context: Context, attempt: int | None
) -> _Examination:
    role = evaluation.examine_criteria(sample, chain, criteria.criteria)
    reply = await context.ask(role, node="judge_criteria", attempt=attempt)
    if reply.value is None:
        return _Examination(None, reply.calls, reply.failure if reply.failure.open else None)
    most = context.options.criteria_count[1]
    return _Examination(faults_found(criteria.criteria, reply.value, most=most), reply.calls)


def _without_faults(
    sample: Sample, chain: ReferenceChain, criteria: CriteriaSet, faults: list[CriteriaFault], context: Context
) -> CriteriaSet:
    """Return a set without the criteria at fault."""
    least = context.options.criteria_count[0]
    remaining, record = without_faulty(
        criteria.criteria, faults, question=sample.prompt, answer=chain.answer, least=least
    )
    return criteria.model_copy(update={"criteria": remaining, "checked": True, "faults": (*criteria.faults, *record)})
