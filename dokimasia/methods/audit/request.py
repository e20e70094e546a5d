"""What an audit is asked, and what decides its results."""

from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import Field

from dokimasia.domain.call import ModelSpec
from dokimasia.domain.options import GraphOptions
from dokimasia.methods.passports import BLIND_BELOW, HELP, Passports
from dokimasia.runs.plans import AnswersPlan, JudgedPlan, OutsideIdentity
from dokimasia.runs.requests import MOST_REPEATS, SHARED_HELP, DataRequest, Models, Option, run_or_file
from dokimasia.runs.responses import ResponsesFiles


class AuditRequest(DataRequest):
    """Audit models on the images of DATA by gated rubrics: one failed must-right rubric and the description scores nothing.

    A line of DATA needs only `id` and `image`; rubrics are found by the sample's name, else by its image. A file of
    rubrics needs no other run. With --responses descriptions that exist are audited, and their models are not asked. The
    same command continues an interrupted audit, or prints its results.
    """

    VERB: ClassVar[str] = "audit"

    rubrics: Annotated[Path, Option(metavar="RUN|FILE", read=run_or_file, continues="rubrics")] = Field(
        description="A run that made rubrics, or a file of them."
    )
    models: Models = Field(default=(), description="The models to audit, separated by commas.")
    judge: Annotated[str | None, Option(models=True)] = Field(default=None, description=SHARED_HELP["judge"])
    repeats: int = Field(default=1, ge=1, le=MOST_REPEATS, description=SHARED_HELP["repeats"])
    no_image: bool = Field(default=False, description="Also ask every model without the image (arm NAME#blind).")
    show_image: bool = Field(default=False, description="Show the judge the image, too.")
    prompt: Annotated[str | None, Option()] = Field(
        default=None, description="What the models are asked, in place of a full description."
    )
    responses: ResponsesFiles = Field(default=(), description=f"Audit {SHARED_HELP['responses']}")
    passports: Passports = Field(default=(), description=HELP["passports"])
    blind_below: float = Field(default=BLIND_BELOW, ge=0, le=1, description=HELP["blind_below"])
    choose_judge: Models = Field(default=(), description=HELP["choose_judge"])


class AuditPlan(AnswersPlan, JudgedPlan):
    """An audit by its content; `rubrics` hashes what the rubric sets demand, `sets` are their ids by the sample's name."""

    KIND: ClassVar[str] = "audit"

    rubrics: str
    sets: Annotated[dict[str, str], OutsideIdentity]

    @property
    def models(self) -> dict[str, ModelSpec]:
        """Every model of the plan by its shown name; whose answers exist already may bear the judge's name."""
        if self.responses is None:
            return super().models
        return {spec.ref.name: spec for spec in (*self.candidates, self.judge)}

    @property
    def options(self) -> GraphOptions:
        """The plan as the graph needs it."""
        return GraphOptions(judge=self.judge.ref.name, models=self.models, show_image=self.show_image)
