"""What a run that makes rubrics is: captions, a judge, a pool and a panel, hashed into its id."""

from collections.abc import Iterator

from dokimasia.domain.call import ModelSpec
from dokimasia.domain.density import DOMAINS
from dokimasia.domain.identity import digest
from dokimasia.domain.options import GraphOptions
from dokimasia.domain.review import DESCRIBE_REQUEST
from dokimasia.domain.rubric import RubricOptions
from dokimasia.methods.evaluation.plan import RUN_ID_LENGTH, model_identity
from dokimasia.methods.graph.images import ImageItem
from dokimasia.methods.graph.plan import GraphItem, GraphPlan
from dokimasia.runs.samples import DataRequest

KIND = "rubrics"
PROMPTS = (
    *(f"must_right_{domain}" for domain in DOMAINS),
    "candidate",
    "domain",
    "easy_wrong",
    "repair",
    "rubric_cross_check",
    "rubric_repair",
)


class RubricRequest(DataRequest):
    """What the user asks: a review's run or a file of captions, a judge, a pool, and a panel that cross-checks.

    `source` is a run's id, or empty: then `data` is a file whose lines have the caption as `reference_answer` or
    `caption`. `panel` None takes the review's own; without a review there is none. `prompt` is what the pool is asked in
    place of the review's request.
    """

    judge: str
    pool: tuple[str, ...]
    panel: tuple[str, ...] | None = None
    source: str = ""


class RubricPlan(GraphPlan):
    """A run that makes rubrics, by its content; `sources` are the captions' ids by the sample's name."""

    pool: tuple[ModelSpec, ...]
    panel: tuple[ModelSpec, ...] = ()
    sources: dict[str, str]
    request: str = DESCRIBE_REQUEST

    @property
    def options(self) -> GraphOptions:
        """The plan as the graph needs it."""
        return RubricOptions(
            judge=self.judge.ref.name,
            models={spec.ref.name: spec for spec in (*self.pool, *self.panel, self.judge)},
            pool=tuple(spec.ref.name for spec in self.pool),
            panel=tuple(spec.ref.name for spec in self.panel),
            sources=dict(self.sources),
        )

    @property
    def run_id(self) -> str:
        """The run's id: 16 hexadecimal digits over everything that decides its results."""
        identity = {
            "command": KIND,
            "version": self.version,
            "data": self.data,
            "judge": model_identity(self.judge),
            "pool": [model_identity(spec) for spec in self.pool],
            "panel": [model_identity(spec) for spec in self.panel],
            "sources": dict(sorted(self.sources.items())),
            "request": self.request,
            "seed": self.seed,
            "prompts": dict(self.prompts),
            "fresh": self.fresh,
        }
        return digest("run", identity)[:RUN_ID_LENGTH]

    def items(self, sample_id: str) -> Iterator[GraphItem]:
        """The one work item of a sample."""
        yield ImageItem(sample_id, "")
