"""A run of a plug-in's graph: its request, its plan, and its acceptance."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import Field

from dokimasia.domain.call import ModelSpec
from dokimasia.errors import ConfigError
from dokimasia.plugins import load
from dokimasia.prompts import PromptLibrary, default_library
from dokimasia.runs.estimate import Estimate
from dokimasia.runs.plans import JudgedPlan
from dokimasia.runs.requests import DataRequest, Judge, Models, Option
from dokimasia.runs.session import Accepted, Session
from dokimasia.storage.runs import Run

if TYPE_CHECKING:
    from dokimasia.graphs.drive import GraphFile


class GraphRequest(DataRequest):
    """Run the samples of DATA through GRAPH, a graph of an installed plug-in (dokimasia plugins lists them).

    The same command continues an interrupted run, or prints its results.
    """

    VERB: ClassVar[str] = "graph"

    graph: Annotated[str, Option(argument=True)]
    judge: Judge
    models: Models = Field(default=(), description="Models, separated by commas: each sample runs once for each.")


class GraphPlan(JudgedPlan):
    """The plan of a graph's run: graph and version, data, judge, models, prompts and seed."""

    graph: str
    version: int
    walked: tuple[ModelSpec, ...] = ()

    @property
    def names(self) -> list[str]:
        """The names of the models, each with its own items; one empty name without models."""
        return [spec.ref.name for spec in self.walked] or [""]


def graph_of(name: str, given: Any) -> "GraphFile":
    """Return the graph that a program passed, or the plug-in's graph of that name.

    Raises:
        ConfigError: there is no such graph, or it is unusable.
    """
    if given is None:
        return load("graphs", name)
    return given


def library_of_graph(request: GraphRequest, given: Any) -> PromptLibrary:
    """Return the prompts available to a graph: the package's, those of the graph's folder `PROMPTS`, and the user's.

    Raises:
        ConfigError: a prompt is unusable; the message names its file.
    """
    prompts: Any = getattr(graph_of(request.graph, given), "PROMPTS", None)
    library = default_library() if prompts is None else default_library().overridden(Path(prompts), more=True)
    return library.overridden(*request.prompts)


async def accept(request: GraphRequest, session: Session) -> Accepted[GraphPlan]:
    """Validate a request, and return its plan, its estimate and its samples."""
    graph = graph_of(request.graph, session.given)
    need_prompt = bool(getattr(graph, "NEEDS_PROMPT", True))
    data = await asyncio.to_thread(session.store_samples, request, need_prompt=need_prompt)
    plan = GraphPlan(
        graph=graph.NAME,
        version=graph.VERSION,
        data=data.hash,
        limit=request.limit,
        seed=request.seed,
        judge=session.model(request.judge),
        walked=session.models(request.models, "--models"),
        prompts=dict(session.library.identity()),
    )
    count = len(data.entries)
    return data.accepted(plan, Estimate(samples=count, items=count * len(plan.names), models={}))


def resumable(session: Session, run: Run, plan: GraphPlan, request: GraphRequest) -> None:
    """Check that the graph still has the version that the run was accepted with.

    Raises:
        ConfigError: the graph has another version.
    """
    graph = graph_of(plan.graph, session.given)
    if plan.version != graph.VERSION:
        raise ConfigError(
            f"run {run.id} was accepted with version {plan.version} of the graph {plan.graph!r}, which is at version "
            f"{graph.VERSION} now: run it anew; the ledger answers what did not change"
        )
