"""What a run of any graph over a data set is: the graph by name and version, data, models, prompts, hashed into its id."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field

from dokimasia.domain.call import ModelSpec
from dokimasia.domain.identity import Value, digest, value_id
from dokimasia.domain.options import GraphOptions
from dokimasia.domain.sample import Sample
from dokimasia.errors import ConfigError
from dokimasia.graphs.drive import GraphFile
from dokimasia.methods.evaluation.plan import RUN_ID_LENGTH, model_identity
from dokimasia.prompts import PromptLibrary, default_library
from dokimasia.runs.samples import DataRequest
from dokimasia.runs.services import with_known_price
from dokimasia.settings import Settings, resolve_model

KIND = "graph"
"""What a run's options say of a run of this kind."""


class GraphRequest(DataRequest):
    """What the user asks of a run of a graph: the graph by name, a judge, and, one work item each, models by name."""

    graph: str
    judge: str
    models: tuple[str, ...] = ()


class GraphPlan(Value):
    """A run of a graph by its content: graph and version, data, judge, models, prompts, seed."""

    graph: str
    version: int
    data: str
    judge: ModelSpec
    models: tuple[ModelSpec, ...] = ()
    limit: int | None = None
    seed: int = 0
    prompts: dict[str, str] = Field(default_factory=dict)
    fresh: int = 0

    @property
    def options(self) -> GraphOptions:
        """The plan as the graph needs it."""
        models = {spec.ref.name: spec for spec in (*self.models, self.judge)}
        return GraphOptions(judge=self.judge.ref.name, models=models)

    @property
    def run_id(self) -> str:
        """The run's id: 16 hexadecimal digits over everything that decides its results."""
        identity = {
            "command": "run",
            "graph": self.graph,
            "version": self.version,
            "data": self.data,
            "judge": model_identity(self.judge),
            "models": [model_identity(spec) for spec in self.models],
            "limit": self.limit,
            "seed": self.seed,
            "prompts": dict(self.prompts),
            "fresh": self.fresh,
        }
        return digest("run", identity)[:RUN_ID_LENGTH]

    def items(self, sample_id: str) -> Iterator["GraphItem"]:
        """The work items of one sample: one a model, or one where no model is named."""
        for name in [spec.ref.name for spec in self.models] or [""]:
            yield GraphItem(sample_id, name)


@dataclass(frozen=True, slots=True)
class GraphItem:
    """One walk through the graph: a sample and, where models are named, one of them."""

    sample_id: str
    model: str

    @property
    def name(self) -> str:
        """The item's name, unique in its run."""
        return f"graph/{self.sample_id}/{self.model}"


def plan_of(
    request: GraphRequest, graph: GraphFile, settings: Settings, samples: list[Sample], prompts: PromptLibrary
) -> GraphPlan:
    """Return the plan of a request over the samples that were read for it.

    Raises:
        ConfigError: a model is not known, or named twice.
    """
    names = list(request.models)
    if len(set(names)) < len(names):
        raise ConfigError(f"a model is named twice in --models: {', '.join(sorted(names))}")
    return GraphPlan(
        graph=graph.NAME,
        version=graph.VERSION,
        data=digest("data", [[sample.id, value_id(sample)] for sample in samples]),
        judge=with_known_price(resolve_model(settings, request.judge)),
        models=tuple(with_known_price(resolve_model(settings, name)) for name in names),
        limit=request.limit,
        seed=request.seed,
        prompts=dict(prompts.identity()),
    )


def prompts_of(graph: GraphFile, folders: tuple[Path, ...]) -> PromptLibrary:
    """Return the prompts that a graph may ask by: the package's, those of its own folder `PROMPTS`, and the user's.

    Raises:
        ConfigError: a prompt cannot be used; the message names its file.
    """
    own: Any = getattr(graph, "PROMPTS", None)
    library = default_library() if own is None else default_library().overridden(Path(own), more=True)
    return library.overridden(*folders)
