"""Finished runs: corrections by hand, the end of a run, and what its deletion would remove."""

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from dokimasia.methods.evaluation.correcting import CorrectionTarget, correct_now
from dokimasia.operations.operation import After, Limit, ListPage, OperationContext, Parameter, counted_page, operation
from dokimasia.runs.catalogue import method_of
from dokimasia.runs.outcome import SPENT, last_end, outcome_of
from dokimasia.runs.outcome import pending_people as waited_for
from dokimasia.runs.requests import Invocation
from dokimasia.storage.deletion import run_size
from dokimasia.storage.people.corrections import correction_events
from dokimasia.storage.runs import RunStatus

EndShown = Literal["", "complete", "failures", "spending", "below", "waiting", "interrupted", "failed"]


class Change(BaseModel):
    """A change by a correction, with the judge's value."""

    what: str = Field(description="`answer`, or `criterion` with its number")
    from_: str | int | None = Field(alias="from", description="the judge's; of a criterion 0 for not stated")
    to: str | int | None


class CorrectionShown(BaseModel):
    """A person's correction of an answer or, if `item` is empty, of a whole sample, which is left out."""

    sample: str
    item: str = Field(description="of the answer; empty where the sample is left out")
    who: str
    at: str = Field(description="when, in UTC")
    reason: str
    undo: bool = Field(description="whether it takes back what stood before")
    changes: list[Change]
    number: int = Field(ge=1, description="counts what was said of the same thing")


class CorrectionsShown(ListPage):
    """A page of a run's corrections, in the order of their making; the last correction of the same thing counts."""

    corrections: list[CorrectionShown]


class RunEnd(BaseModel):
    """The status of a run, and how it ended."""

    run: str
    status: RunStatus
    end: EndShown = Field(description="empty while it is queued or at work")
    why: str = Field(description="a sentence where that is not as it was wanted")


class Resting(BaseModel):
    """A run that is based on another."""

    id: str
    command: str


class RunSize(BaseModel):
    """What the deletion of a run removes: its results, and what other runs show of it."""

    run: str
    results: int
    samples: int
    runs: list[Resting] = Field(description="the runs that rest on it, the newest first")


@operation("GET", "/runs/{run}/corrections", tag="results")
def corrections(context: OperationContext, run: str, limit: Limit = 50, after: After = None) -> CorrectionsShown:
    """List a run's corrections by hand, including those that were taken back."""
    all_events = correction_events(context.home, context.run(run).id)
    page, next_key = counted_page(all_events, limit=limit, after=after)
    entries = [CorrectionShown.model_validate(correction.shown()) for correction in page]
    return CorrectionsShown(total=len(all_events), next=next_key, corrections=entries)


@operation("POST", "/runs/{run}/corrections", tag="results", right="review", status=201)
def overrule(context: OperationContext, run: str, body: CorrectionTarget) -> CorrectionShown:
    """Overrule the judge on an answer of a finished evaluation, or leave a sample out; the judge's reply stays unchanged."""
    correction = correct_now(context.home, context.run(run), body, person=context.person)
    return CorrectionShown.model_validate(correction.shown())


@operation("GET", "/runs/{run}/resting", tag="runs")
def resting(context: OperationContext, run: str) -> RunSize:
    """Show what the deletion of a run would remove."""
    from dokimasia.runs.persistence import dependent_runs as resting_on

    row = context.run(run)
    size = run_size(context.home, row.id)
    runs = [Resting(id=other.id, command=other.command) for other in resting_on(context.home, row.id)]
    return RunSize(run=row.id, results=size.results, samples=size.samples, runs=runs)


@operation("GET", "/runs/{run}/end", tag="runs")
def end(
    context: OperationContext,
    run: str,
    max_failures: Annotated[str | None, Parameter(pattern=r"^([0-9]{1,9}|[0-9]{1,3}(\.[0-9]{1,6})?%)$")] = None,
    min_score: Annotated[float | None, Parameter(ge=-1e9, le=1e9)] = None,
    min_accuracy: Annotated[float | None, Parameter(ge=0, le=1)] = None,
) -> RunEnd:
    """Return how a run ended and why that is not as requested, if it is not, as its command reports it at the end."""
    home, row = context.home, context.run(run)

    def run_end(end: EndShown, why: str) -> RunEnd:
        return RunEnd(run=row.id, status=row.status, end=end, why=why)

    if row.status in ("queued", "running"):
        return run_end("", "")
    if row.status == "waiting":
        return run_end("waiting", waited_for(home, row))
    if row.status == "done":
        method = method_of(row)
        limits = Invocation(max_failures=max_failures, min_score=min_score, min_accuracy=min_accuracy)
        return run_end(*outcome_of(method, home, row, limits, method.json_figures(home, row)))
    ending = last_end(home, row)
    if ending.end == "spending":
        return run_end("spending", ending.why or SPENT)
    return run_end(row.status, ending.why)
