"""Making a sample's rubrics from its golden caption: two streams, a trial, the rules, one mending, the panel (section 3.3.2).

    classify ─► write_must_right ─► answer_pool ─► mine_easy_wrong ─► try_out ─► check ─► cross_check ─► measure ─► end
                                                                                  ▲ │ rules are broken, or
                                                                           repair ┘◄┘ rubrics test nothing

What the rules find is mended once, and what the trial finds to test nothing is replaced in the same call; what breaks a
rule after that is dropped with the reason, and so is a rubric with which two members of the panel find a fault. What the
set catches is then measured on texts that had no part in choosing it. A member that fails is not heard, which is no
dissent; of a pool those who answered count. Every step is checkpointed; the state holds ids. Under the protocol
`published` nothing is tried, and a must-right rubric may forbid; what is caught is measured all the same.
"""

import itertools
import operator
from typing import Annotated, Any, Literal, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from dokimasia.agents import AskResult, rubrics
from dokimasia.agents.candidate import answer_question
from dokimasia.agents.density import classify_domain
from dokimasia.domain.judgement import Provenance, Response
from dokimasia.domain.rubric import (
    RubricDraft,
    RubricOptions,
    RubricSet,
    RubricSource,
)
from dokimasia.domain.sample import Sample
from dokimasia.errors import ConfigError
from dokimasia.graphs.context import Context, Failure, failed_update, own_options
from dokimasia.graphs.reasking import first_open, gathered
from dokimasia.graphs.rubrics import trying
from dokimasia.graphs.rubrics.settling import as_rubric, faults, kept_by_rules, mended, settled
from dokimasia.graphs.versions import VERSIONS

NAME = "rubric_making"
VERSION = VERSIONS[NAME]
CHECKPOINTED = True
NEEDS_PROMPT = False

POOL_DRAW = 500_000
"""The draw under which a pool answers, so that no audit meets the very response that a rubric was mined from."""


class State(Failure, TypedDict, total=False):
    """Ids of the sample, its source, the pool's responses, the draft, and the set, first as it was made (`made`).

    `answered` and `unheard` are names, `mended` is a flag.
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
    """Take the sample's golden caption and domain, or ask the judge for the domain where the data name none."""
    context = runtime.context
    sample = await context.store.get(Sample, state["sample"])
    id = _options(context).sources.get(sample.id)
    if id is None:
        raise ConfigError(f"sample {sample.id!r} has no golden caption among the sources of this run")
    source = await context.store.get(RubricSource, id)
    if source.domain is not None:
        return {"source": id, "calls": []}
    asked = await context.ask(classify_domain(sample), node="classify")
    if asked.value is None:
        return {"calls": asked.calls, **failed_update(asked.failure)}
    return {
        "source": await context.store.put(source.model_copy(update={"domain": asked.value})),
        "calls": asked.calls,
    }


async def write_must_right(state: State, runtime: Runtime[Context]) -> State:
    """Have the judge write the must-right rubrics by the domain's prompt, from image and golden caption."""
    context = runtime.context
    sample = await context.store.get(Sample, state["sample"])
    source = await context.store.get(RubricSource, state["source"])
    domain = source.domain
    if domain is None:
        raise ValueError("the domain is known once it was asked for")
    asked = await context.ask(rubrics.write_must_right(sample, source.caption, domain), node="write_must_right")
    if asked.value is None:
        return {"calls": asked.calls, **failed_update(asked.failure)}
    draft = RubricDraft(
        rubrics=tuple(as_rubric("must_right", one) for one in asked.value), provenance=_provenance(asked)
    )
    return {"draft": await context.store.put(draft), "calls": asked.calls}


async def answer_pool(state: State, runtime: Runtime[Context]) -> State:
    """Put the request to every member of the pool; those who fail are left out, and all failing fails the sample."""
    context = runtime.context
    options = _options(context)
    sample = await context.store.get(Sample, state["sample"])
    what = answer_question(sample, repeat=POOL_DRAW, plain=True)
    asked = await gathered(context.ask(what, model=name) for name in options.pool)
    calls = [call for one in asked for call in one.calls]
    answered = [(name, one.value) for name, one in zip(options.pool, asked, strict=True) if one.value is not None]
    failures = [one.failure for one in asked if one.failed is not None]
    spent = first_open(failures)
    if spent is not None or not answered:
        return {"calls": calls, **failed_update(spent or failures[0])}
    return {
        "responses": [await context.store.put(response) for _, response in answered],
        "answered": [name for name, _ in answered],
        "unheard": [name for name, one in zip(options.pool, asked, strict=True) if one.value is None],
        "calls": calls,
    }


async def mine_easy_wrong(state: State, runtime: Runtime[Context]) -> State:
    """Have the judge turn the pool's errors against the golden caption into easy-wrong rubrics."""
    context = runtime.context
    source = await context.store.get(RubricSource, state["source"])
    draft = await context.store.get(RubricDraft, state["draft"])
    responses = [await context.store.get(Response, id) for id in state["responses"]]
    what = rubrics.mine_easy_wrong(source.caption, [response.text for response in responses])
    asked = await context.ask(what, node="mine_easy_wrong")
    if asked.value is None:
        return {"calls": asked.calls, **failed_update(asked.failure)}
    names = state["answered"]
    mined = [
        as_rubric("easy_wrong", one).model_copy(
            update={"support": tuple(names[number - 1] for number in one.responses)}
        )
        for one in asked.value
    ]
    provenance = (*draft.provenance, *_provenance(asked))
    draft = draft.model_copy(update={"rubrics": (*draft.rubrics, *mined), "provenance": provenance})
    return {"draft": await context.store.put(draft), "calls": asked.calls}


async def try_out(state: State, runtime: Runtime[Context]) -> State:
    """Try every rubric on one half of the pool, and on the golden caption with an error of its own kind planted in it."""
    context = runtime.context
    draft = await context.store.get(RubricDraft, state["draft"])
    if context.options.published or not draft.rubrics:
        return {}
    sample = await context.store.get(Sample, state["sample"])
    source = await context.store.get(RubricSource, state["source"])
    half = await _responses(state, context, sample, chosen_by=True)
    idle, shown, heard = await trying.try_rubrics(context, sample, source.caption, draft.rubrics, half)
    if heard.spent is not None:
        return {"calls": heard.calls, **failed_update(heard.spent)}
    provenance = (*draft.provenance, *heard.provenance)
    draft = draft.model_copy(update={"idle": idle, "shown": shown, "provenance": provenance})
    return {"draft": await context.store.put(draft), "calls": heard.calls}


async def check(state: State, runtime: Runtime[Context]) -> State:
    """Hold the set against its rules; after the one mending, drop what still breaks them, with the reason."""
    context = runtime.context
    if not state.get("mended"):
        return {}
    draft = await context.store.get(RubricDraft, state["draft"])
    draft = kept_by_rules(draft, silent_gate=context.options.published)
    return {"draft": await context.store.put(draft)}


async def repair(state: State, runtime: Runtime[Context]) -> State:
    """Send what breaks a rule or tests nothing back to the judge, once; a judge that fails at it leaves it as it is."""
    context = runtime.context
    draft = await context.store.get(RubricDraft, state["draft"])
    texts = faults(draft, silent_gate=context.options.published)
    if not texts:
        return {"mended": True}
    sample = await context.store.get(Sample, state["sample"])
    source = await context.store.get(RubricSource, state["source"])
    half = await _responses(state, context, sample, chosen_by=True)
    what = rubrics.repair_rubrics(
        draft.rubrics,
        source.caption,
        texts,
        replaced=[place + 1 for place in draft.idle],
        responses=list(half.values()),
    )
    asked = await context.ask(what, node="repair")
    if asked.value is None:
        if asked.failure.open:
            return {"calls": asked.calls, **failed_update(asked.failure)}
        return {"mended": True, "calls": asked.calls}
    draft = mended(draft, texts, asked.value, list(half))
    draft = draft.model_copy(update={"provenance": (*draft.provenance, *_provenance(asked))})
    return {"draft": await context.store.put(draft), "mended": True, "calls": asked.calls}


async def cross_check(state: State, runtime: Runtime[Context]) -> State:
    """Have every member of the panel check every rubric, and make the set of those that are left."""
    context = runtime.context
    options = _options(context)
    source = await context.store.get(RubricSource, state["source"])
    draft = await context.store.get(RubricDraft, state["draft"])
    panel = options.panel if draft.rubrics else ()
    what = rubrics.cross_check(draft.rubrics, source.caption)
    asked = await gathered(context.ask(what, model=name) for name in panel)
    calls = [call for one in asked for call in one.calls]
    spent = first_open(one.failed for one in asked)
    if spent is not None:
        return {"calls": calls, **failed_update(spent)}
    heard = {name: one.value for name, one in zip(panel, asked, strict=True) if one.value is not None}
    kept, dropped = settled(draft, heard)
    unheard = [*state.get("unheard", ()), *(name for name in panel if name not in heard)]
    made = RubricSet(
        **dict(source),
        rubrics=tuple(rubric for rubric, _ in kept),
        verdicts=tuple(said for _, said in kept),
        dropped=(*draft.dropped, *dropped),
        pool=tuple(state["answered"]),
        panel=tuple(heard),
        unheard=tuple(dict.fromkeys(unheard)),
        provenance=(*draft.provenance, *(one.provenance for one in asked if one.provenance is not None)),
    )
    return {"made": await context.store.put(made), "calls": calls}


async def measure(state: State, runtime: Runtime[Context]) -> State:
    """Measure what the set catches, on planted errors and responses that had no part in choosing it."""
    context = runtime.context
    made = await context.store.get(RubricSet, state["made"])
    if not made.rubrics:
        return {"result": [state["made"]]}
    sample = await context.store.get(Sample, state["sample"])
    draft = await context.store.get(RubricDraft, state["draft"])
    other = await _responses(state, context, sample, chosen_by=False)
    tried, heard = await trying.measure(context, sample, made, other, draft.shown)
    if heard.spent is not None:
        return {"calls": heard.calls, **failed_update(heard.spent)}
    made = made.model_copy(update={"tried": tried, "provenance": (*made.provenance, *heard.provenance)})
    return {"result": [await context.store.put(made)], "calls": heard.calls}


async def unless_failed(state: State) -> Literal["go", "stop"]:
    """Go on, unless the sample failed."""
    return "stop" if state.get("failed") else "go"


async def after_check(state: State) -> Literal["repair", "cross_check"]:
    """Mend once, then let the panel see what is left."""
    return "cross_check" if state.get("mended") else "repair"


def build() -> StateGraph[State, Context]:
    """Return the graph, not compiled."""
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
    ways = [
        *itertools.pairwise(("classify", "write_must_right", "answer_pool", "mine_easy_wrong", "try_out", "check")),
        ("repair", "check"),
        ("cross_check", "measure"),
    ]
    for before, after in ways:
        graph.add_conditional_edges(before, unless_failed, {"go": after, "stop": END})
    graph.add_conditional_edges("check", after_check)
    graph.add_edge("measure", END)
    return graph


def _options(context: Context) -> RubricOptions:
    return own_options(context, RubricOptions, "the making of rubrics")


async def _responses(state: State, context: Context, sample: Sample, *, chosen_by: bool) -> dict[str, str]:
    """Return the texts, by the name of their model, of the half of the pool that rubrics are tried on, or of the other."""
    half = trying.halves(state["answered"], sample.id, context.seed)[0 if chosen_by else 1]
    found = [await context.store.get(Response, state["responses"][place]) for place in half]
    return {state["answered"][place]: response.text for place, response in zip(half, found, strict=True)}


def _provenance(asked: AskResult[Any]) -> tuple[Provenance, ...]:
    return () if asked.provenance is None else (asked.provenance,)
