"""The density filter: a judge rates whether an image is dense enough to test perception (PerceptionRubrics, section 3.2).

    classify ─► rate ─► end

A sample whose domain is in the data skips `classify`. The graph is linear and runs without checkpoints: after a crash
the ledger answers repeated calls.
"""

import operator
from typing import Annotated, Literal, TypedDict, cast

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from dokimasia.agents.density import classify_domain, rate_density
from dokimasia.domain.density import DensityRating, Domain, FilterOptions, Threshold, domain_of
from dokimasia.domain.judgement import Provenance
from dokimasia.domain.sample import Sample
from dokimasia.errors import ConfigError
from dokimasia.graphs.context import Context, Failure, failed_update
from dokimasia.graphs.versions import VERSIONS

NAME = "density_filter"
VERSION = VERSIONS[NAME]
NEEDS_PROMPT = False


class State(Failure, TypedDict, total=False):
    """Ids of the sample and of the rating; `domain` is the short name of the sample's domain.

    `domain_call` is the id of the domain's provenance; it is empty if the domain is in the data.
    """

    sample: str
    domain: str
    domain_call: str
    result: list[str]
    calls: Annotated[list[str], operator.add]


async def classify(state: State, runtime: Runtime[Context]) -> State:
    """Set the domain from the sample's data, or ask the judge to classify the image."""
    context = runtime.context
    sample = await context.store.get(Sample, state["sample"])
    domain = domain_of(sample)
    if domain is not None:
        return {"domain": domain, "domain_call": ""}
    reply = await context.ask(classify_domain(sample), node="classify")
    if reply.value is None:
        return {"calls": reply.calls, **failed_update(reply.failure)}
    return {"calls": reply.calls, "domain": reply.value, "domain_call": await context.store.put(reply.provenance)}


async def rate(state: State, runtime: Runtime[Context]) -> State:
    """Ask the judge for both density ratings and compare them with the domain's threshold."""
    context = runtime.context
    options = context.options
    if not isinstance(options, FilterOptions):
        raise ConfigError("the density filter needs the options of a filter: Context(options=FilterOptions(...))")
    sample = await context.store.get(Sample, state["sample"])
    reply = await context.ask(rate_density(sample), node="rate")
    if reply.value is None:
        return {"calls": reply.calls, **failed_update(reply.failure)}
    domain = cast("Domain", state["domain"])
    threshold = options.thresholds.get(domain, Threshold())
    domain_call = state.get("domain_call")
    rating = DensityRating(
        sample=sample.digest,
        domain=domain,
        density=reply.value,
        threshold=threshold,
        kept=threshold.met_by(reply.value),
        provenance=reply.provenance,
        domain_provenance=await context.store.get(Provenance, domain_call) if domain_call else None,
    )
    return {"calls": reply.calls, "result": [await context.store.put(rating)]}


async def after_classifying(state: State) -> Literal["rate", "__end__"]:
    """Return `rate`, or the end after a failure."""
    if state.get("failed"):
        return "__end__"
    return "rate"


def build() -> StateGraph[State, Context]:
    """Return the uncompiled graph."""
    graph = StateGraph(State, context_schema=Context)
    graph.add_node("classify", classify)
    graph.add_node("rate", rate)
    graph.add_edge(START, "classify")
    graph.add_conditional_edges("classify", after_classifying)
    graph.add_edge("rate", END)
    return graph
