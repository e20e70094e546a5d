"""Rubric making: must-right and easy-wrong rubrics from a golden caption (PerceptionRubrics, section 3.3.2).

    classify ─► write_must_right ─► answer_pool ─► mine_easy_wrong ─► try_out ─► check ─► cross_check ─► measure ─► end
                                                                                  ▲ │ rules are broken, or
                                                                           repair ┘◄┘ rubrics test nothing

Rubrics that break a rule are repaired once, and in the same call those that test nothing (according to the trial) are
replaced. Rubrics that still break a rule are dropped with the reason, as are those that two members of the panel find
faulty. The power of the set is then measured on texts that were not used to select it. A panel member whose call fails
does not count as dissenting; only pool models that answered count. Every step is checkpointed; the state holds ids.
Under the protocol `published` there is no trial, easy-wrong rubrics come from the pool's errors alone and without
limit, and a must-right rubric may forbid something; the measurement is the same.
"""

import itertools
import operator
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from dokimasia.agents import rubrics
from dokimasia.agents.candidate import answer_question
from dokimasia.agents.density import classify_domain
from dokimasia.algorithms.rubric_checks import rubric_problems
from dokimasia.domain.judgement import Response
from dokimasia.domain.rubric import (
    DISSENTS,
    CheckedRubric,
    DroppedRubric,
    PanelVerdict,
    Rubric,
    RubricDraft,
    RubricOptions,
    RubricSet,
    RubricSource,
    Stream,
    WrittenRubric,
)
from dokimasia.domain.sample import Sample
from dokimasia.errors import ConfigError
from dokimasia.graphs.context import Context, Failure, failed_update, own_options
from dokimasia.graphs.reasking import first_open, gather_all
from dokimasia.graphs.rubrics import validation
from dokimasia.graphs.versions import VERSIONS

NAME = "rubric_making"
VERSION = VERSIONS[NAME]
CHECKPOINTED = True
NEEDS_PROMPT = False

POOL_DRAW = 500_000
"""The draw number of the pool's answers, so that no audit judges a response that a rubric was mined from."""


class State(Failure, TypedDict, total=False):
    """Ids of the sample, its source, the pool's responses, the draft, and the rubric set (`made`, and measured: `result`).

    `answered` and `unheard` are models' names; `mended`: the single repair has been made.
    """

    sample: str
    source: str
    responses: list[str]
    answered: list[str]
    unheard: list[str]
    draft: str
    mended: bool
    made: str
    result: list[str]
    calls: Annotated[list[str], operator.add]


async def classify(state: State, runtime: Runtime[Context]) -> State:
    """Load the sample's golden caption and domain; ask the judge for a domain that is missing from the data."""
    context = runtime.context
    sample = await context.store.get(Sample, state["sample"])
    id = _options(context).sources.get(sample.id)
    if id is None:
        raise ConfigError(f"sample {sample.id!r} has no golden caption among the sources of this run")
    source = await context.store.get(RubricSource, id)
    if source.domain is not None:
        return {"source": id, "calls": []}
    reply = await context.ask(classify_domain(sample), node="classify")
    if reply.value is None:
        return {"calls": reply.calls, **failed_update(reply.failure)}
    source = source.model_copy(update={"domain": reply.value})
    return {"source": await context.store.put(source), "calls": reply.calls}


async def write_must_right(state: State, runtime: Runtime[Context]) -> State:
    """Have the judge write must-right rubrics from image and golden caption, with the domain's prompt."""
    context = runtime.context
    sample = await context.store.get(Sample, state["sample"])
    source = await context.store.get(RubricSource, state["source"])
    if source.domain is None:
        raise ValueError("the domain is known once it was asked for")
    ask = rubrics.write_must_right(sample, source.caption, source.domain)
    reply = await context.ask(ask, node="write_must_right")
    if reply.value is None:
        return {"calls": reply.calls, **failed_update(reply.failure)}
    draft = RubricDraft(
        rubrics=tuple(_as_rubric("must_right", rubric) for rubric in reply.value), provenance=(reply.provenance,)
    )
    return {"draft": await context.store.put(draft), "calls": reply.calls}


async def answer_pool(state: State, runtime: Runtime[Context]) -> State:
    """Send the request to every model of the pool; failed ones are left out, and if all fail, the sample fails."""
    context = runtime.context
    options = _options(context)
    sample = await context.store.get(Sample, state["sample"])
    ask = answer_question(sample, repeat=POOL_DRAW, plain=True)
    replies = await gather_all(context.ask(ask, model=name) for name in options.pool)
    calls = [call for reply in replies for call in reply.calls]
    failures = [reply.failure for reply in replies if reply.failed is not None]
    open_failure = first_open(failures)
    if open_failure is not None or len(failures) == len(replies):
        return {"calls": calls, **failed_update(open_failure or failures[0])}
    update: State = {"responses": [], "answered": [], "unheard": [], "calls": calls}
    for name, reply in zip(options.pool, replies, strict=True):
        if reply.value is None:
            update["unheard"].append(name)
        else:
            update["responses"].append(await context.store.put(reply.value))
            update["answered"].append(name)
    return update


async def mine_easy_wrong(state: State, runtime: Runtime[Context]) -> State:
    """Have the judge turn the pool's errors, and those of a careless describer, into easy-wrong rubrics."""
    context = runtime.context
    source = await context.store.get(RubricSource, state["source"])
    draft = await context.store.get(RubricDraft, state["draft"])
    responses = [await context.store.get(Response, id) for id in state.get("responses", [])]
    ask = rubrics.mine_easy_wrong(
        source.caption,
        [response.text for response in responses],
        draft.rubrics,
        published=context.options.published,
    )
    reply = await context.ask(ask, node="mine_easy_wrong")
    if reply.value is None:
        return {"calls": reply.calls, **failed_update(reply.failure)}
    mined: list[Rubric] = []
    for rubric in reply.value:
        support = tuple(state["answered"][number - 1] for number in rubric.responses)
        mined.append(_as_rubric("easy_wrong", rubric).model_copy(update={"support": support}))
    provenance = (*draft.provenance, reply.provenance)
    draft = draft.model_copy(update={"rubrics": (*draft.rubrics, *mined), "provenance": provenance})
    return {"draft": await context.store.put(draft), "calls": reply.calls}


async def try_out(state: State, runtime: Runtime[Context]) -> State:
    """Try every rubric on half of the pool, and on the golden caption with an inserted error of the rubric's kind."""
    context = runtime.context
    draft = await context.store.get(RubricDraft, state["draft"])
    if context.options.published or not draft.rubrics:
        return {}
    sample = await context.store.get(Sample, state["sample"])
    source = await context.store.get(RubricSource, state["source"])
    half = await _half_of_pool(state, context, sample, chosen_by=True)
    trial = await validation.try_rubrics(context, sample, source.caption, draft.rubrics, half)
    if trial.calls.open_failure is not None:
        return {"calls": trial.calls.calls, **failed_update(trial.calls.open_failure)}
    provenance = (*draft.provenance, *trial.calls.provenance)
    draft = draft.model_copy(update={"idle": trial.idle, "shown": trial.captions, "provenance": provenance})
    return {"draft": await context.store.put(draft), "calls": trial.calls.calls}


async def check(state: State, runtime: Runtime[Context]) -> State:
    """After the one repair, drop the rubrics that still break a rule, with the reason."""
    context = runtime.context
    if not state.get("mended"):
        return {}
    draft = await context.store.get(RubricDraft, state["draft"])
    draft = _without_rule_breakers(draft, silent_gate=context.options.published)
    return {"draft": await context.store.put(draft)}


async def repair(state: State, runtime: Runtime[Context]) -> State:
    """Send rubrics that break a rule or test nothing back to the judge once; if its reply fails, they are unchanged."""
    context = runtime.context
    draft = await context.store.get(RubricDraft, state["draft"])
    problems = _problems(draft, silent_gate=context.options.published)
    if not problems:
        return {"mended": True}
    sample = await context.store.get(Sample, state["sample"])
    source = await context.store.get(RubricSource, state["source"])
    half = await _half_of_pool(state, context, sample, chosen_by=True)
    ask = rubrics.repair_rubrics(
        draft.rubrics,
        source.caption,
        problems,
        replaced=[position + 1 for position in draft.idle],
        responses=list(half.values()),
    )
    reply = await context.ask(ask, node="repair")
    if reply.value is None:
        if reply.failure.open:
            return {"calls": reply.calls, **failed_update(reply.failure)}
        return {"mended": True, "calls": reply.calls}
    draft = _repair_draft(draft, problems, reply.value, list(half))
    draft = draft.model_copy(update={"provenance": (*draft.provenance, reply.provenance)})
    return {"draft": await context.store.put(draft), "mended": True, "calls": reply.calls}


async def cross_check(state: State, runtime: Runtime[Context]) -> State:
    """Have every member of the panel check every rubric, and build the set of the accepted ones."""
    context = runtime.context
    options = _options(context)
    source = await context.store.get(RubricSource, state["source"])
    draft = await context.store.get(RubricDraft, state["draft"])
    panel = options.panel if draft.rubrics else ()
    ask = rubrics.cross_check(draft.rubrics, source.caption)
    replies = await gather_all(context.ask(ask, model=name) for name in panel)
    calls = [call for reply in replies for call in reply.calls]
    open_failure = first_open(reply.failed for reply in replies)
    if open_failure is not None:
        return {"calls": calls, **failed_update(open_failure)}
    checks: dict[str, Sequence[CheckedRubric]] = {}
    unheard = list(state.get("unheard", ()))
    provenance = list(draft.provenance)
    for name, reply in zip(panel, replies, strict=True):
        if reply.value is None:
            unheard.append(name)
        else:
            provenance.append(reply.provenance)
            checks[name] = reply.value
    rubrics_with_verdicts, dropped_rubrics = _panel_decision(draft, checks)
    rubric_set = RubricSet(
        **dict(source),
        rubrics=tuple(rubric for rubric, _ in rubrics_with_verdicts),
        verdicts=tuple(verdicts for _, verdicts in rubrics_with_verdicts),
        dropped=(*draft.dropped, *dropped_rubrics),
        pool=tuple(state["answered"]),
        panel=tuple(checks),
        unheard=tuple(dict.fromkeys(unheard)),
        provenance=tuple(provenance),
    )
    return {"made": await context.store.put(rubric_set), "calls": calls}


async def measure(state: State, runtime: Runtime[Context]) -> State:
    """Measure the power of the set, on inserted errors and responses that were not used to select it."""
    context = runtime.context
    rubric_set = await context.store.get(RubricSet, state["made"])
    if not rubric_set.rubrics:
        return {"result": [state["made"]]}
    sample = await context.store.get(Sample, state["sample"])
    draft = await context.store.get(RubricDraft, state["draft"])
    half = await _half_of_pool(state, context, sample, chosen_by=False)
    trials, trial_calls = await validation.measure(context, sample, rubric_set, half, draft.shown)
    if trial_calls.open_failure is not None:
        return {"calls": trial_calls.calls, **failed_update(trial_calls.open_failure)}
    provenance = (*rubric_set.provenance, *trial_calls.provenance)
    rubric_set = rubric_set.model_copy(update={"tried": trials, "provenance": provenance})
    return {"result": [await context.store.put(rubric_set)], "calls": trial_calls.calls}


async def unless_failed(state: State) -> Literal["go", "stop"]:
    """Return `stop` if the sample failed, else `go`."""
    return "stop" if state.get("failed") else "go"


async def after_check(state: State) -> Literal["repair", "cross_check"]:
    """Return `repair` once, then `cross_check`."""
    if state.get("mended"):
        return "cross_check"
    return "repair"


def build() -> StateGraph[State, Context]:
    """Return the uncompiled graph."""
    graph = StateGraph(State, context_schema=Context)
    for node in (
        classify,
        write_must_right,
        answer_pool,
        mine_easy_wrong,
        try_out,
        check,
        repair,
        cross_check,
        measure,
    ):
        graph.add_node(node)
    graph.add_edge(START, "classify")
    edges = [
        *itertools.pairwise(("classify", "write_must_right", "answer_pool", "mine_easy_wrong", "try_out", "check")),
        ("repair", "check"),
        ("cross_check", "measure"),
    ]
    for before, after in edges:
        graph.add_conditional_edges(before, unless_failed, {"go": after, "stop": END})
    graph.add_conditional_edges("check", after_check)
    graph.add_edge("measure", END)
    return graph


def _options(context: Context) -> RubricOptions:
    return own_options(context, RubricOptions, "the making of rubrics")


async def _half_of_pool(state: State, context: Context, sample: Sample, *, chosen_by: bool) -> dict[str, str]:
    """Return the texts by model of one half of the pool: the half that rubrics are tried on, or the other."""
    tried_on, measured_on = validation.halves(state["answered"], sample.id, context.seed)
    texts: dict[str, str] = {}
    for position in tried_on if chosen_by else measured_on:
        response = await context.store.get(Response, state["responses"][position])
        texts[state["answered"][position]] = response.text
    return texts


def _as_rubric(stream: Stream, rubric: WrittenRubric) -> Rubric:
    """Return a judge's rubric without the responses that it names."""
    return Rubric(
        stream=stream,
        statement=rubric.statement,
        polarity=rubric.polarity,
        kind=rubric.kind,
        evidence=rubric.evidence,
    )


def _problems(draft: RubricDraft, *, silent_gate: bool) -> dict[int, list[str]]:
    """Return the problems of rubrics, by number from 1: broken rules, and reasons why they test nothing."""
    problems: dict[int, list[str]] = {}
    for problem in rubric_problems(draft.rubrics, silent_gate=silent_gate):
        problems.setdefault(problem.place + 1, []).append(problem.text)
    for position, reason in draft.idle.items():
        problems.setdefault(position + 1, []).append(f"it tests nothing: {reason}")
    return problems


def _repair_draft(
    draft: RubricDraft,
    problems: Mapping[int, Sequence[str]],
    replacements: Mapping[int, WrittenRubric | None],
    names: Sequence[str],
) -> RubricDraft:
    """Return the draft with the judge's repairs and replacements.

    Args:
        draft: the draft before the repair.
        problems: the problems, by the number of the rubric.
        replacements: the judge's new rubric for each, or None for an abandoned rubric.
        names: the models whose responses the judge saw, in their order.
    """
    rubrics: list[Rubric] = []
    dropped_rubrics = list(draft.dropped)
    for number, rubric in enumerate(draft.rubrics, start=1):
        if number not in replacements:
            rubrics.append(rubric)
            continue
        replacement, idle = replacements[number], number - 1 in draft.idle
        if replacement is None or idle:
            by = "trial" if idle else "rules"
            dropped_rubrics.append(DroppedRubric(rubric=rubric, reason="; ".join(problems[number]), by=by))
        if replacement is None:
            continue
        if idle:
            support = tuple(names[response - 1] for response in replacement.responses)
            changes = {"support": support, "replaced": True}
        else:
            changes = {"support": rubric.support, "repaired": True}
        rubrics.append(_as_rubric(rubric.stream, replacement).model_copy(update=changes))
    return draft.model_copy(update={"rubrics": tuple(rubrics), "dropped": tuple(dropped_rubrics), "idle": {}})


def _without_rule_breakers(draft: RubricDraft, *, silent_gate: bool) -> RubricDraft:
    """Return the draft without the rubrics that still break a rule, each dropped with the reason."""
    rubrics, dropped_rubrics = list(draft.rubrics), list(draft.dropped)
    problems = rubric_problems(rubrics, silent_gate=silent_gate)
    while problems:
        position = problems[-1].place
        reason = "; ".join(problem.text for problem in problems if problem.place == position)
        dropped_rubrics.append(DroppedRubric(rubric=rubrics.pop(position), reason=reason, by="rules"))
        problems = rubric_problems(rubrics, silent_gate=silent_gate)
    return draft.model_copy(update={"rubrics": tuple(rubrics), "dropped": tuple(dropped_rubrics)})


def _panel_decision(
    draft: RubricDraft, checks: Mapping[str, Sequence[CheckedRubric]]
) -> tuple[list[tuple[Rubric, tuple[PanelVerdict, ...]]], list[DroppedRubric]]:
    """Return accepted rubrics with their verdicts, and dropped ones: two members (or the only one) found a fault."""
    threshold = min(DISSENTS, max(1, len(checks)))
    rubrics_with_verdicts: list[tuple[Rubric, tuple[PanelVerdict, ...]]] = []
    dropped_rubrics: list[DroppedRubric] = []
    for position, rubric in enumerate(draft.rubrics):
        verdicts = tuple(
            PanelVerdict(member=name, **member_verdicts[position]._asdict()) for name, member_verdicts in checks.items()
        )
        dissents = [verdict for verdict in verdicts if verdict.dissents]
        if len(dissents) >= threshold:
            reason = "; ".join(f"{verdict.member}: {', '.join(verdict.faults)}" for verdict in dissents)
            dropped_rubrics.append(DroppedRubric(rubric=rubric, reason=reason, by="panel"))
        else:
            rubrics_with_verdicts.append((rubric, verdicts))
    return rubrics_with_verdicts, dropped_rubrics
