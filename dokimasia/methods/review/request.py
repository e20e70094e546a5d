"""What a peer review is asked, and what decides its results."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from dokimasia.domain.call import ModelSpec
from dokimasia.domain.options import GraphOptions, Protocol
from dokimasia.domain.review import DESCRIBE_REQUEST, MAX_CYCLES, ReviewOptions
from dokimasia.methods.passports import BLIND_BELOW, HELP, Passports
from dokimasia.runs.plans import DataPlan
from dokimasia.runs.requests import DataRequest, Models, Option

MOST_CYCLES = 100
"""The most cycles of review that can be asked for."""

Rule = Literal["unanimous", "majority"]


class ReviewRequest(DataRequest):
    """Have a panel describe every image of DATA, compare, rank, rewrite and vote, until all agree on one description.

    What is still divided after the last cycle is discarded. A line of DATA needs only `id` and `image`; a question that it
    has is not asked. Accepted descriptions are unverified until a person has checked them (dokimasia check). The same
    command continues an interrupted run, or prints what came of it.
    """

    VERB: ClassVar[str] = "review"

    panel: Models = Field(description="Two or more models, separated by commas; three different ones are usual.")
    cycles: int = Field(default=MAX_CYCLES, ge=1, le=MOST_CYCLES, description="Cycles of review at most.")
    accept: Rule = Field(
        default="unanimous",
        description="majority: after the last cycle more than half of the votes will do; every such caption is marked.",
    )
    prompt: Annotated[str | None, Option()] = Field(
        default=None, description="What descriptions are asked for, in place of a full description."
    )
    protocol: Protocol = Field(
        default="ours",
        description="published: as in the paper, without this project's departures (see docs/departures.md).",
    )
    passports: Passports = Field(default=(), description=HELP["passports"])
    blind_below: float = Field(default=BLIND_BELOW, ge=0, le=1, description=HELP["blind_below"])
    drop_blind: bool = Field(default=False, description=HELP["drop_blind"])


class ReviewPlan(DataPlan):
    """A review by its content."""

    panel: tuple[ModelSpec, ...]
    cycles: int = Field(default=MAX_CYCLES, ge=1)
    accept: Rule = "unanimous"
    request: str = DESCRIBE_REQUEST
    protocol: Protocol = "ours"

    @property
    def names(self) -> tuple[str, ...]:
        """The panel's members by their shown names, in order."""
        return tuple(spec.ref.name for spec in self.panel)

    @property
    def options(self) -> GraphOptions:
        """The plan as the graph needs it."""
        return ReviewOptions(
            judge=self.names[0],
            models=self.models,
            panel=self.names,
            cycles=self.cycles,
            accept=self.accept,
            request=self.request,
            published=self.protocol == "published",
        )
