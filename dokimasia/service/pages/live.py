"""A run at work: how far it is, what fails, what it spends, and its graphs with counts at each node."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from dokimasia.runs.catalogue import method_of
from dokimasia.service.drawing import page, templates
from dokimasia.service.layout import lay_out
from dokimasia.service.state import Reader, TheService
from dokimasia.storage.naming import Label, labels

router = APIRouter()


@router.get("/runs/{run}/live")
async def live(request: Request, service: TheService, person: Reader, run: str) -> Response:
    """Show a run at work; asked by htmx, only the part that another page takes in."""
    found = await run_in_threadpool(service.run, run)
    part = "hx-request" in request.headers
    if found.id != run:
        return RedirectResponse(f"/runs/{found.id}/live", 303)
    log = await service.events.log(found)

    def draw() -> HTMLResponse:
        label = labels(service.home).get(found.id, Label())
        method = method_of(found)
        return page(
            request,
            "live_part.html" if part else "live.html",
            run=found,
            label=label,
            retries=method.retry is None,
            may_run="run" in person.scopes,
            own=not part,
            workers=service.workers,
            standing=log.picture,
        )

    return await run_in_threadpool(draw)


@router.get("/runs/{run}/live/graph")
async def graph(service: TheService, person: Reader, run: str, name: Annotated[str, Query(max_length=200)]) -> Response:
    """Return the picture of one graph of a run, once it is known."""
    found = await run_in_threadpool(service.run, run)
    picture = (await service.events.log(found)).picture["graphs"].get(name)
    if picture is None:
        return HTMLResponse("", 404)
    return HTMLResponse(templates().get_template("live_graph.html").render(name=name, layout=lay_out(picture)))
