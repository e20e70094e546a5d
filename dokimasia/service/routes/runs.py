"""The runs of the home: listed, one with its figures, called otherwise, deleted, two compared."""

from http import HTTPStatus
from typing import Annotated, Any

from fastapi import Query, Request
from pydantic import Field

from dokimasia.errors import InputError, NotFound
from dokimasia.runs.catalogue import method_of
from dokimasia.runs.persistence import dependent_runs
from dokimasia.runs.reading.comparison import compare_runs
from dokimasia.runs.reading.inspection import end_reasons, listed, waiting_questions
from dokimasia.runs.requests import Called
from dokimasia.service.describing import takes
from dokimasia.service.guarding.answers import keep
from dokimasia.service.problems import Refused
from dokimasia.service.results import figures_of
from dokimasia.service.routes.answering import After, Body, Limit, json_router, page_of, sent_as
from dokimasia.service.routes.replies import (
    Links,
    RunShown,
    RunsListed,
    RunSpent,
    estimate_of,
    links_of,
    run_now,
    shown_run,
    spent_of,
)
from dokimasia.service.state import IN_TURN, Reader, Starter, TheService
from dokimasia.storage.deletion import Deleted, run_size
from dokimasia.storage.naming import LAST, name_run, other_than, resolve_run, set_tags
from dokimasia.storage.runs import AT_WORK, Run, RunStatus

router = json_router("runs")

TWO = r"^[^,\s][^,]*,[^,\s][^,]*$"
"""Two names with a comma between them."""


class RunDetail(RunShown):
    """A run with its figures: the same that `dokimasia show RUN --json` prints."""

    title: str = Field(description="what a run of its method is called")
    spent: RunSpent
    estimate: dict[str, Any]
    figures: dict[str, Any] = Field(description="of the shape that GET /api/methods/{method} gives")
    items_shown: bool = Field(description="whether `dokimasia show RUN --json` prints its items, too")
    links: Links


class Renamed(Body):
    """What a run is to be called: a name, tags in the place of those that it has, or both."""

    name: Called | None = None
    tags: tuple[Called, ...] | None = Field(default=None, max_length=100)


@router.get("/runs")
def list_of_runs(
    request: Request,
    service: TheService,
    person: Reader,
    tag: Annotated[list[str] | None, Query(description="Only runs with each of these tags.", max_length=50)] = None,
    status: RunStatus | None = None,
    method: Annotated[str | None, Query(max_length=200)] = None,
    q: Annotated[
        str, Query(max_length=500, description="Only runs whose id, name, tags, command or data hold it.")
    ] = "",
    limit: Limit = 50,
    after: After = None,
) -> RunsListed:
    """List the runs, the newest first."""

    def wanted(run: Run) -> bool:
        return (status is None or run.status == status) and (method is None or run.method == method)

    keep(request)
    found = listed(service.home, tags=tuple(tag or ()), wanted=wanted, text=q)
    shown, later = page_of(found, lambda one: one[0].id, limit=limit, after=after)
    waiting, why = waiting_questions(service.home), end_reasons(service.home, (run for run, _ in shown))
    runs = [shown_run(run, label, questions=waiting[run.id], why=why.get(run.id, "")) for run, label in shown]
    return RunsListed(total=len(found), next=later, runs=runs)


@router.get("/runs/{run}")
def one_run(request: Request, service: TheService, person: Reader, run: str) -> RunDetail:
    """Show a run with its figures; RUN is its id, the beginning of it, its name, or `last`."""
    found = service.run(run)
    keep(request, found)
    method = method_of(found)
    return RunDetail(
        **run_now(service, found).model_dump(),
        title=method.title,
        spent=spent_of(service, found),
        estimate=estimate_of(found),
        figures=figures_of(service, found),
        items_shown=method.items is not None and method.items_shown,
        links=links_of(found.id),
    )


@router.patch("/runs/{run}", openapi_extra=takes(Renamed))
async def call_otherwise(
    service: TheService, person: Starter, run: str, body: Annotated[Renamed, sent_as(Renamed)]
) -> RunShown:
    """Give a run a name, which another run that has it loses, and tags in the place of those that it has."""
    found = service.run(run)
    if body.name is not None:
        await name_run(service.home, found.id, body.name, ())
    if body.tags is not None:
        await set_tags(service.home, found.id, body.tags)
    return run_now(service, service.run(found.id))


@router.delete("/runs/{run}")
async def delete(
    service: TheService,
    person: Starter,
    run: str,
    force: Annotated[bool, Query(description="Also where other runs were made from it.")] = False,
) -> Deleted:
    """Delete a run: its results, events and place in the list; the ledger, images and values stay."""
    found = service.run(run)
    if found.status in AT_WORK:
        raise Refused(
            HTTPStatus.CONFLICT, f"run {found.id} is {found.status}: stop it first (POST /api/runs/{found.id}/cancel)"
        )
    resting = dependent_runs(service.home, found.id)
    if resting and not force:
        ids = ", ".join(one.id for one in resting)
        raise Refused(
            HTTPStatus.CONFLICT,
            f"what {ids} shows of run {found.id} goes with it: delete it all the same with ?force=true",
        )
    size = run_size(service.home, found.id)
    try:
        await service.runner.delete(found)
    except NotFound:
        raise
    except InputError as needed:
        raise Refused(HTTPStatus.CONFLICT, str(needed)) from None
    return size


@router.get("/diff", dependencies=[IN_TURN])
def diff(
    request: Request,
    service: TheService,
    person: Reader,
    runs: Annotated[
        str,
        Query(
            pattern=TWO, max_length=500, description="Two runs with a comma between them: the second minus the first."
        ),
    ],
    models: Annotated[
        str | None, Query(pattern=TWO, max_length=500, description="A,B: compare A of the first with B of the second.")
    ] = None,
    top: Annotated[int, Query(ge=0, le=1000, description="List so many changed samples.")] = 10,
    seed: Annotated[
        int | None, Query(ge=0, lt=2**63, description="Of intervals and tests; by default the first's.")
    ] = None,
) -> dict[str, Any]:
    """Compare two runs on the samples that both have; `dokimasia diff FIRST SECOND --json` prints the same."""
    first, second = _two(runs)
    pair = None if models is None else _two(models)

    def compared(run: Run) -> bool:
        return method_of(run).diff is None

    run = resolve_run(service.home, first, compared)
    other = resolve_run(service.home, second, compared if pair else other_than(run))
    if first == second == LAST and run.id != other.id:
        run, other = other, run
    keep(request, run, other)
    return compare_runs(service.home, run, other, models=pair, top=top, seed=seed)


def _two(text: str) -> tuple[str, str]:
    first, _, second = text.partition(",")
    return first.strip(), second.strip()
