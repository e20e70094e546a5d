"""The first page: the runs, newest first, found by status, method, tag and text, and ticked to be compared."""

from collections.abc import Sequence
from typing import Annotated, Any, get_args

from fastapi import APIRouter, Query, Request
from fastapi.responses import RedirectResponse, Response

from dokimasia.runs.catalogue import OWN, plugin_methods
from dokimasia.runs.reading.inspection import listed
from dokimasia.service.drawing import page
from dokimasia.service.guarding.answers import keep
from dokimasia.service.headlines import headline
from dokimasia.service.state import IN_TURN, Reader, Service, TheService
from dokimasia.storage.naming import Label, labels
from dokimasia.storage.people.corrections import count_corrections
from dokimasia.storage.runs import AT_WORK, Run, RunStatus
from dokimasia.storage.usage import Reached, how_far

router = APIRouter()

PER_PAGE = 25


@router.get("/")
def start(
    request: Request,
    service: TheService,
    person: Reader,
    status: str = "",
    method: str = "",
    tag: Annotated[list[str] | None, Query()] = None,
    q: Annotated[str, Query(max_length=500)] = "",
    number: Annotated[int, Query(ge=1, alias="page")] = 1,
    compare: Annotated[list[str] | None, Query()] = None,
) -> Response:
    """List the runs that were asked for, a page of them at a time; with ticked ones, lead to their comparison."""
    if compare:
        return RedirectResponse(f"/compare?runs={','.join(compare)}", 303)
    tags = tuple(filter(None, tag or ()))
    every = listed(service.home, tags=tags, text=q)
    found = [
        one for one in every if (not status or one[0].status == status) and (not method or one[0].method == method)
    ]
    shown = found[(number - 1) * PER_PAGE : number * PER_PAGE]
    keep(request, *(run for run, _ in shown))
    return page(
        request,
        "start.html",
        rows=_rows(service, shown),
        found=len(found),
        any_run=bool(every or tags or q),
        number=number,
        pages=max(1, -(-len(found) // PER_PAGE)),
        sought={"status": status, "method": method, "tag": tags, "q": q},
        statuses=get_args(RunStatus),
        methods=(*OWN, *plugin_methods()),
        tags=sorted({one for label in labels(service.home).values() for one in label.tags}),
        ticked=compare is not None,
    )


@router.get("/runs")
def runs(request: Request, person: Reader) -> Response:
    """Lead to the list of runs, with what was asked for."""
    return RedirectResponse(str(request.url.replace(scheme="", netloc="", path="/")), 303)


@router.get("/runs/{run}/row", dependencies=[IN_TURN])
def row(request: Request, service: TheService, person: Reader, run: str) -> Response:
    """Return a run's row anew, with what takes a moment to work out."""
    found = service.run(run)
    label = labels(service.home).get(found.id, Label())
    (shown,) = _rows(service, [(found, label)], wait=True)
    return page(request, "run_row.html", row=shown)


def _rows(service: Service, runs: Sequence[tuple[Run, Label]], *, wait: bool = False) -> list[dict[str, Any]]:
    """Return what the list says of runs; with `wait` also figures that have to be worked out first."""
    far = how_far(service.home, [run.id for run, _ in runs])
    return [_row(service, run, label, far.get(run.id, Reached()), wait=wait) for run, label in runs]


def _row(service: Service, run: Run, label: Label, far: Reached, *, wait: bool) -> dict[str, Any]:
    key = ("headline", run.id, run.status, run.updated_at, far, count_corrections(service.home))
    shown = service.remembered.known(key)
    if shown is None and wait:
        shown = service.remembered.of(key, lambda: headline(service.home, run, far))
    return {
        "run": run,
        "label": label,
        "far": far,
        "asked": _asked(run),
        "headline": shown,
        "at_work": run.status in AT_WORK,
        "later": shown is None,
        "started": run.created_at[:16].replace("T", " "),
    }


def _asked(run: Run) -> list[str]:
    """Return the models of a run and the people in the place of one, by the names of its estimate, its judge last."""
    estimate: Any = run.options.get("estimate") or {}
    request: Any = run.options.get("request") or {}
    judge = request.get("judge")
    return sorted([*estimate.get("models", {}), *estimate.get("people", {})], key=lambda name: (name == judge, name))
