"""What a diagnosis in words is asked, and what decides its results."""

from typing import Annotated, ClassVar

from pydantic import Field

from dokimasia.domain.call import ModelSpec
from dokimasia.domain.options import GraphOptions
from dokimasia.runs.plans import RunPlan
from dokimasia.runs.requests import MOST_SEED, Judge, Option, RunRequest

NAME = "diagnosis"
"""What the method is called."""

WRITING = ("diagnosis_across", "diagnosis_report", "diagnosis_salient", "repair")
"""The prompts that reports are written by."""


class WordsRequest(RunRequest):
    """Have a judge put the tables of RUN (the beginning of its id, or `last`) into words, with every figure printed.

    The same command continues an interrupted writing, or prints the reports.
    """

    VERB: ClassVar[str] = "diagnose --write"

    run: Annotated[str, Option(argument=True, continues="evaluate")]
    judge: Judge = Field(description="Who writes, or matches: a name from dokimasia.toml or any LiteLLM name.")
    tree: Annotated[str | None, Option(metavar="TREE")] = Field(
        default=None, description="Another tree or version than the run's own."
    )
    seed: int | None = Field(  # pyright: ignore[reportIncompatibleVariableOverride]
        default=None, ge=0, le=MOST_SEED, description="Seed of intervals and tests (default: that of RUN)."
    )


class WordsPlan(RunPlan):
    """A diagnosis in words by its content: the evaluation, its tables (an id) and who writes."""

    source: str
    diagnosis: str
    judge: ModelSpec

    @property
    def judge_name(self) -> str:
        """The judge's shown name."""
        return self.judge.ref.name

    @property
    def options(self) -> GraphOptions:
        """The plan as the graph needs it."""
        return GraphOptions(judge=self.judge.ref.name, models=self.models)
