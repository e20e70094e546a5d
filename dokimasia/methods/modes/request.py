"""What an error analysis is asked, and what decides its results."""

from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import Field

from dokimasia.domain.call import ModelSpec
from dokimasia.domain.options import GraphOptions
from dokimasia.runs.plans import RunPlan
from dokimasia.runs.requests import MOST_SAMPLES, SHARED_HELP, Judge, Option, RunRequest

NAME = "modes"
"""What the method is called, and the kind of the rows that say which mode an atom was put under."""

MAKING = ("modes_note", "modes_sort", "modes_merge")
ASSIGNING = ("modes_assign",)


class ModesRequest(RunRequest):
    """Find the failure modes of RUN (the beginning of its id, or `last`): what goes wrong in its failed atoms, and how often.

    A judge notes what went wrong in the failed atoms of one half of the samples and sorts the notes into modes. Then failed
    atoms of the other half, and as many that were met, are put under one mode or none by a judge who is told no score and
    no model; a second coder does a part of them again. The same command continues an interrupted analysis, or prints
    what it came to.
    """

    VERB: ClassVar[str] = "modes"

    run: Annotated[str, Option(argument=True, continues="evaluate")]
    judge: Judge = Field(description=SHARED_HELP["judge"])
    coder: Annotated[str | None, Option(models=True)] = Field(
        default=None, description="Who codes a part of the atoms again (default: the judge, under another draw)."
    )
    models: tuple[str, ...] = Field(default=(), description="Only these models' answers, separated by commas.")
    modes: Annotated[Path | None, Option(metavar="FILE", exists=True, file=True)] = Field(
        default=None, description="Take the modes of this file (YAML or JSON, see --export) and make none."
    )
    export: Annotated[Path | None, Option(metavar="FILE", written=True)] = Field(
        default=None, description="Also write the modes as YAML (or JSON), to be edited and given to --modes."
    )
    limit: int = Field(
        default=300, ge=1, le=MOST_SAMPLES, description="Failed atoms of each half that are read, at most."
    )


class ModesPlan(RunPlan):
    """An error analysis by its content.

    `source` is the evaluation, `drawn` the atoms that are read (an id), `given` the modes that are taken in place of making
    any (an id; empty: they are made).
    """

    source: str
    drawn: str
    judge: ModelSpec
    coder: ModelSpec
    given: str = ""

    @property
    def judge_name(self) -> str:
        """The judge's shown name."""
        return self.judge.ref.name

    @property
    def options(self) -> GraphOptions:
        """The plan as the graphs need it."""
        return GraphOptions(judge=self.judge_name, models=self.models)
