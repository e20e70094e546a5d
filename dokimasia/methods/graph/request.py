"""What a run of a plug-in's graph is asked, and what decides its results."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import Field

from dokimasia.domain.call import ModelSpec
from dokimasia.plugins import load
from dokimasia.prompts import PromptLibrary, default_library
from dokimasia.runs.plans import JudgedPlan
from dokimasia.runs.requests import SHARED_HELP, DataRequest, Judge, Models, Option

if TYPE_CHECKING:
    from dokimasia.graphs.drive import GraphFile


class GraphRequest(DataRequest):
    """Walk the samples of DATA through GRAPH, a graph that an installed plug-in brings (dokimasia plugins lists them).

    The same command continues an interrupted run, or prints what came of it.
    """

    VERB: ClassVar[str] = "run"

    graph: Annotated[str, Option(argument=True)]
    judge: Judge = Field(description=SHARED_HELP["judge"])
    models: Models = Field(
        default=(), description="Models, separated by commas: each sample is walked through once for each."
    )


class GraphPlan(JudgedPlan):
    """A run of a graph by its content: graph and version, data, judge, models, prompts, seed."""

    graph: str
    version: int
    walked: tuple[ModelSpec, ...] = ()


def graph_of(name: str, given: Any) -> "GraphFile":
    """Return the graph that a program handed in, else the one that a plug-in brings under the name.

    Raises:
        ConfigError: there is none, or it cannot be used.
    """
    return load("graphs", name) if given is None else given


def library_of_graph(request: GraphRequest, given: Any) -> PromptLibrary:
    """Return the prompts that a graph may ask by: the package's, those of its own folder `PROMPTS`, and the user's.

    Raises:
        ConfigError: a prompt cannot be used; the message names its file.
    """
    own: Any = getattr(graph_of(request.graph, given), "PROMPTS", None)
    library = default_library() if own is None else default_library().overridden(Path(own), more=True)
    return library.overridden(*request.prompts)
