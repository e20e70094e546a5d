"""What the making of rubrics is asked, and what decides its results."""

from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import Field

from dokimasia.domain.call import ModelSpec
from dokimasia.domain.density import DOMAINS
from dokimasia.domain.options import GraphOptions, Protocol
from dokimasia.domain.review import DESCRIBE_REQUEST
from dokimasia.domain.rubric import RubricOptions
from dokimasia.runs.plans import JudgedPlan
from dokimasia.runs.requests import DataRequest, Judge, Models, Option, run_or_file

PROMPTS = (
    *(f"must_right_{domain}" for domain in DOMAINS),
    "candidate_plain",
    "domain",
    "easy_wrong",
    "perturbation",
    "repair",
    "rubric_assessment",
    "rubric_cross_check",
    "rubric_repair",
)


class RubricRequest(DataRequest):
    """Make rubrics from the golden captions of SOURCE: a review's run, or a data file with captions.

    A data file's lines have `id`, `image`, and the caption as `caption` or `reference_answer`. With --export alone (no
    --judge), SOURCE is a run that made rubrics, and they are written as they stand after people's checks. The same command
    continues an interrupted run, or prints what came of it.
    """

    VERB: ClassVar[str] = "rubrics"

    data: Annotated[Path, Option(argument=True, metavar="SOURCE", read=run_or_file, continues="review")]
    judge: Judge = Field(description="Who writes the rubrics: a name from dokimasia.toml or any LiteLLM name.")
    pool: Models = Field(description="Models, separated by commas, whose errors easy-wrong rubrics are mined from.")
    panel: Annotated[tuple[str, ...] | None, Option(models=True)] = Field(
        default=None, description="Who cross-checks every rubric (default: the review's panel); none: nobody."
    )
    prompt: Annotated[str | None, Option()] = Field(
        default=None, description="What the pool is asked, in place of what the review asked."
    )
    protocol: Protocol = Field(
        default="ours",
        description="published: as in the paper, without this project's departures (see docs/departures.md).",
    )
    export: Annotated[Path | None, Option(metavar="FILE", file=True, written=True)] = Field(
        default=None, description="Also write the rubrics to this file, as JSON lines."
    )

    @property
    def makes_home(self) -> bool:
        """A file of captions makes the home that it needs; a review has one."""
        return self.data.exists()


class RubricPlan(JudgedPlan):
    """A run that makes rubrics, by its content; `sources` are the captions' ids by the sample's name.

    `dimensions` is the content id of the dimensions in which errors are planted.
    """

    pool: tuple[ModelSpec, ...]
    panel: tuple[ModelSpec, ...] = ()
    sources: dict[str, str]
    request: str = DESCRIBE_REQUEST
    protocol: Protocol = "ours"
    dimensions: str = ""

    @property
    def options(self) -> GraphOptions:
        """The plan as the graph needs it."""
        return RubricOptions(
            judge=self.judge.ref.name,
            models=self.models,
            pool=tuple(spec.ref.name for spec in self.pool),
            panel=tuple(spec.ref.name for spec in self.panel),
            sources=dict(self.sources),
            published=self.protocol == "published",
        )
