"""What a perturbing is asked, and what decides its results."""

from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import Field

from dokimasia.domain.blindspots import Task
from dokimasia.domain.call import ModelSpec
from dokimasia.domain.perturbation import PerturbOptions
from dokimasia.runs.plans import DataPlan, OutsideIdentity
from dokimasia.runs.requests import MOST_SAMPLES, NOBODY, DataRequest, Option

GOLD = "gold"


class PerturbRequest(DataRequest):
    """Make the right answers to DATA worse in named dimensions of error, to probe judges with them.

    A line of DATA has an image and a prompt. Image-to-text: the right (gold) answer is the line's field `gold`; where there
    is none, --gold-writer writes it and the checker checks it; without a writer it is the reference answer. Text-to-image:
    the prompt is what the image was made by, and the image is the gold one.

    The perturber may say that a dimension does not apply to a sample, which is counted and no failure. The same command
    continues an interrupted run, or prints what came of it.
    """

    VERB: ClassVar[str] = "perturb"

    perturber: Annotated[str | None, Option(models=True)] = Field(
        default=None, description="Who perturbs: a name from dokimasia.toml or any LiteLLM name."
    )
    task: Task = Field(default="image-to-text", description="What the answers are: a text on an image, or an image.")
    dimensions: Annotated[tuple[str, ...], Option(metavar="NAME,...")] = Field(
        default=(), description="Dimensions by name, or groups such as VG; by default all, and score_neutral."
    )
    per: int | None = Field(
        default=None,
        ge=1,
        le=MOST_SAMPLES,
        description="Ask for so many samples of each dimension (default: all), drawn evenly.",
    )
    gold_field: str = Field(default=GOLD, min_length=1, description="The field of a line that holds the gold answer.")
    gold_writer: Annotated[str | None, Option(models=True)] = Field(
        default=None, description="Who writes the gold answers that the data do not have; the checker checks them."
    )
    checker: Annotated[str | None, Option(models=True)] = Field(
        default=None,
        description=f"Who says of each change which dimension it is of (default: the perturber; {NOBODY}: nobody).",
    )
    editor: Annotated[str | None, Option(models=True)] = Field(
        default=None, description="text-to-image: the image model that edits the gold image as the perturber says."
    )
    edited: Annotated[Path | None, Option(metavar="FILE", exists=True, file=True)] = Field(
        default=None,
        description="text-to-image: edited images that exist, in place of models: JSON lines of id, dimension, image.",
    )


class PerturbPlan(DataPlan):
    """A perturbing by its content.

    `definitions` is the content id of the task's dimensions. `asked` are the dimensions that each sample is to be perturbed
    in, and `golds` the ids of its gold answers that the data gave, by the sample's name; `gold` hashes these. `too_short`
    counts gold answers by the dimension that they have too few words for. `edited` is a hash of the images that a file brings.
    """

    task: Task
    dimensions: tuple[str, ...]
    definitions: str
    per: int | None = None
    perturber: ModelSpec | None = None
    gold_writer: ModelSpec | None = None
    checker: ModelSpec | None = None
    editor: ModelSpec | None = None
    gold: str = ""
    edited: str | None = None
    asked: Annotated[dict[str, tuple[str, ...]], OutsideIdentity]
    golds: Annotated[dict[str, str], OutsideIdentity]
    too_short: Annotated[dict[str, int], OutsideIdentity]

    @property
    def judge_name(self) -> str:
        """The perturber's shown name; empty where the items are brought."""
        return _name(self.perturber)

    @property
    def options(self) -> PerturbOptions:
        """The plan as the graphs need it."""
        return PerturbOptions(
            judge=self.judge_name,
            models=self.models,
            writer=_name(self.gold_writer),
            checker=_name(self.checker),
            editor=_name(self.editor),
        )


def _name(spec: ModelSpec | None) -> str:
    return "" if spec is None else spec.ref.name
