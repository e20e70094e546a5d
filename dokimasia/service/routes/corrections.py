"""What people correct by hand in a finished evaluation: listed, and said."""

from http import HTTPStatus
from typing import Annotated

from pydantic import BaseModel, Field

from dokimasia.methods.evaluation.correcting import CorrectionTarget, correct_now
from dokimasia.service.describing import takes
from dokimasia.service.routes.answering import After, Limit, Listed, counted_page, json_router, sent_as
from dokimasia.service.state import Reader, Reviewer, TheService
from dokimasia.storage.people.corrections import Correction, correction_events

router = json_router("results")


class Change(BaseModel):
    """One thing that a correction changes: from what the judge said."""

    what: str = Field(description="`answer`, or `criterion` with its number")
    from_: str | int | None = Field(alias="from", description="the judge's; of a criterion 0 for not stated")
    to: str | int | None


class CorrectionShown(BaseModel):
    """What a person said of one answer, or where `item` is empty of a whole sample, which is left out."""

    sample: str
    item: str = Field(description="of the answer; empty where the sample is left out")
    who: str
    at: str = Field(description="when, in UTC")
    reason: str
    undo: bool = Field(description="whether it takes back what stood before")
    changes: list[Change]
    number: int = Field(ge=1, description="counts what was said of the same thing")


class CorrectionsShown(Listed):
    """A page of all that people corrected in a run, in the order in which they did; of the same thing the last one counts."""

    corrections: list[CorrectionShown]


@router.get("/runs/{run}/corrections")
def corrections(
    service: TheService, person: Reader, run: str, limit: Limit = 50, after: After = None
) -> CorrectionsShown:
    """List what people corrected by hand in a run, what was taken back, too."""
    every = correction_events(service.home, service.run(run).id)
    shown, later = counted_page(every, limit=limit, after=after)
    return CorrectionsShown(total=len(every), next=later, corrections=[_shown(one) for one in shown])


@router.post("/runs/{run}/corrections", status_code=HTTPStatus.CREATED, openapi_extra=takes(CorrectionTarget))
def correct(
    service: TheService, person: Reviewer, run: str, body: Annotated[CorrectionTarget, sent_as(CorrectionTarget)]
) -> CorrectionShown:
    """Correct an answer of a finished evaluation by hand, or leave a sample out; the judge's reply stays as it is."""
    return _shown(correct_now(service.home, service.run(run), body, who=person.name))


def _shown(one: Correction) -> CorrectionShown:
    return CorrectionShown.model_validate(one.shown())
