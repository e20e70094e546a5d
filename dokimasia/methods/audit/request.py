"""What an audit is asked, what decides its results, and its work items."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, ClassVar

from pydantic import Field

from dokimasia.agents.candidate import BLIND
from dokimasia.domain.call import ModelSpec
from dokimasia.domain.options import GraphOptions
from dokimasia.runs.plans import AnyOrder, JudgedPlan, Outside
from dokimasia.runs.requests import SHARED_HELP, DataRequest, Judge, Models, Option, RunOrFile


class AuditRequest(DataRequest):
    """Audit models on the images of DATA by gated rubrics: one failed must-right rubric and the description scores nothing.

    A line of DATA needs only `id` and `image`; rubrics are found by the sample's name, else by its image. A file of
    rubrics needs no other run. The same command continues an interrupted audit, or prints its results.
    """

    VERB: ClassVar[str] = "audit"

    rubrics: RunOrFile = Field(description="A run that made rubrics, or a file of them.")
    models: Models = Field(description="The models to audit, separated by commas.")
    judge: Judge = Field(description=SHARED_HELP["judge"])
    repeats: int = Field(default=1, ge=1, description=SHARED_HELP["repeats"])
    no_image: bool = Field(default=False, description="Also ask every model without the image (arm NAME#blind).")
    show_image: bool = Field(default=False, description="Show the judge the image, too.")
    prompt: Annotated[str | None, Option()] = Field(
        default=None, description="What the models are asked, in place of a full description."
    )


class AuditPlan(JudgedPlan):
    """An audit by its content; `rubrics` hashes what the rubric sets demand, `sets` are their ids by the sample's name."""

    rubrics: str
    sets: Annotated[dict[str, str], Outside]
    candidates: Annotated[tuple[ModelSpec, ...], AnyOrder]
    repeats: int = 1
    no_image: bool = False
    show_image: bool = False

    @property
    def options(self) -> GraphOptions:
        """The plan as the graph needs it."""
        return GraphOptions(judge=self.judge.ref.name, models=self.models, show_image=self.show_image)

    @property
    def arms(self) -> tuple[str, ...]:
        """The arms of every candidate: with the image, and with `no_image` also without."""
        return ("", BLIND) if self.no_image else ("",)

    def items(self, sample_id: str) -> Iterator["AuditItem"]:
        """The answers that are asked and assessed for one sample, in a fixed order."""
        for candidate in self.candidates:
            for arm in self.arms:
                for repeat in range(self.repeats):
                    yield AuditItem(sample_id, candidate.ref.name, arm, repeat)


@dataclass(frozen=True, slots=True)
class AuditItem:
    """One answer of one candidate to one sample, to be assessed."""

    sample_id: str
    model: str
    arm: str
    repeat: int

    @property
    def name(self) -> str:
        """The item's name, unique in its run."""
        return f"audit/{self.sample_id}/{self.model}/{self.arm}/{self.repeat}"
