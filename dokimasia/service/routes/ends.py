"""How a run ended, held against what is wanted of it, as an exit code says; and what goes with it where it is deleted."""

from typing import Annotated, Literal

from fastapi import Query
from pydantic import BaseModel, Field

from dokimasia.runs.catalogue import method_of
from dokimasia.runs.outcome import ENDED, SPENT, judge, pending_people
from dokimasia.runs.persistence import dependent_runs
from dokimasia.runs.requests import Invocation
from dokimasia.service.routes.answering import json_router
from dokimasia.service.state import Reader, TheService
from dokimasia.storage.deletion import run_size
from dokimasia.storage.results import events
from dokimasia.storage.runs import RunStatus

router = json_router("runs")

EndShown = Literal["", "complete", "failures", "spending", "below", "waiting", "interrupted", "failed"]


class RunEnd(BaseModel):
    """How a run stands, and how it ended."""

    run: str
    status: RunStatus
    end: EndShown = Field(description="empty while it is queued or at work")
    why: str = Field(description="a sentence where that is not as it was wanted")


class Resting(BaseModel):
    """A run that was made from another."""

    id: str
    command: str


class RunSize(BaseModel):
    """What goes where a run is deleted: its results, and what other runs show of it."""

    run: str
    results: int
    samples: int
    runs: list[Resting] = Field(description="the runs that rest on it, the newest first")


@router.get("/runs/{run}/resting")
def resting(service: TheService, person: Reader, run: str) -> RunSize:
    """Say what would go if a run were deleted."""
    found = service.run(run)
    size = run_size(service.home, found.id)
    rest = [Resting(id=one.id, command=one.command) for one in dependent_runs(service.home, found.id)]
    return RunSize(run=found.id, results=size.results, samples=size.samples, runs=rest)


@router.get("/runs/{run}/end")
def end(
    service: TheService,
    person: Reader,
    run: str,
    max_failures: Annotated[str | None, Query(pattern=r"^([0-9]{1,9}|[0-9]{1,3}(\.[0-9]{1,6})?%)$")] = None,
    min_score: Annotated[float | None, Query(ge=-1e9, le=1e9)] = None,
    min_accuracy: Annotated[float | None, Query(ge=0, le=1)] = None,
) -> RunEnd:
    """Say how a run ended, and why that is not as it was wanted, as the command that asks for it does at its end."""
    home, found = service.home, service.run(run)
    if found.status in ("queued", "running"):
        return RunEnd(run=found.id, status=found.status, end="", why="")
    if found.status == "waiting":
        return RunEnd(run=found.id, status=found.status, end="waiting", why=pending_people(home, found))
    if found.status == "done":
        method = method_of(found)
        wanted = Invocation(max_failures=max_failures, min_score=min_score, min_accuracy=min_accuracy)
        ended, why = judge(method, home, found, wanted, method.json_figures(home, found))
        return RunEnd(run=found.id, status=found.status, end=ended, why=why)
    last = events(home, found.id, kind=ENDED)
    noted = last[-1].data if last else {"end": found.status, "why": ""}
    known: EndShown = "spending" if noted["end"] == "spending" else found.status
    return RunEnd(
        run=found.id, status=found.status, end=known, why=str(noted["why"]) or (SPENT if known == "spending" else "")
    )
