"""What a run's page does with it: call it otherwise, stop, resume, ask anew, fork, delete."""

from typing import Annotated

from fastapi import APIRouter, Form, Request
from fastapi.responses import RedirectResponse, Response
from pydantic import TypeAdapter, ValidationError

from dokimasia.errors import ConfigError
from dokimasia.runs.deleting import resting_on
from dokimasia.runs.forking import ForkRequest
from dokimasia.runs.requests import Called
from dokimasia.runs.retrying import retryable
from dokimasia.service.drawing import page
from dokimasia.service.state import Starter, TheService
from dokimasia.storage.deletion import run_size
from dokimasia.storage.naming import Label, labels, name_run, set_tags
from dokimasia.storage.runs import Run

router = APIRouter(prefix="/runs/{run}")

_CALLED = TypeAdapter[str](Called)


@router.post("/called")
async def call(
    service: TheService, person: Starter, run: str, name: Annotated[str, Form()] = "", tags: Annotated[str, Form()] = ""
) -> Response:
    """Give a run a name, and tags in the place of those that it has."""
    found = service.run(run)
    wanted = [_called("tags", one.strip()) for one in tags.split(",") if one.strip()]
    await name_run(service.home, found.id, _called("name", name.strip()) if name.strip() else None, ())
    await set_tags(service.home, found.id, wanted)
    return _to(found)


@router.post("/cancel")
async def cancel(service: TheService, person: Starter, run: str) -> Response:
    """Stop a run once the calls in flight are committed."""
    return _to(await service.runner.cancel(service.run(run)))


@router.post("/resume")
async def resume(service: TheService, person: Starter, run: str) -> Response:
    """Go on with a run."""
    return _to(await service.runner.resume(service.run(run)))


@router.post("/retry")
async def retry(
    service: TheService, person: Starter, run: str, kinds: Annotated[list[str] | None, Form()] = None
) -> Response:
    """Ask anew what failed in these ways."""
    if not kinds:
        raise ConfigError("no kind of failure is ticked: tick what is to be asked anew")
    return _to(await service.runner.resume(service.run(run), retry=retryable(",".join(kinds))))


@router.post("/fork")
async def fork(
    service: TheService,
    person: Starter,
    run: str,
    old: Annotated[list[str] | None, Form()] = None,
    new: Annotated[list[str] | None, Form()] = None,
    node: Annotated[str, Form()] = "",
) -> Response:
    """Do a run again with other models in the places of its own."""
    judge: str | None = None
    models: dict[str, str] = {}
    for was, given in zip(old or (), new or (), strict=False):
        field, _, name = was.partition(":")
        if not given.strip():
            continue
        if field == "judge":
            judge = given.strip()
        else:
            models[name] = given.strip()
    asked = ForkRequest(node=node.strip() or None, judge=judge, models=models)
    return _to(await service.runner.fork(service.run(run), asked))


@router.get("/delete")
def ask_to_delete(request: Request, service: TheService, person: Starter, run: str) -> Response:
    """Show what goes with a run before it is deleted."""
    found = service.run(run)
    label = labels(service.home).get(found.id, Label())
    resting = resting_on(service.home, found.id)
    size = run_size(service.home, found.id)
    return page(request, "delete.html", run=found, label=label, resting=resting, size=size)


@router.post("/delete")
async def delete(service: TheService, person: Starter, run: str) -> Response:
    """Delete a run."""
    await service.runner.delete(service.run(run))
    return RedirectResponse("/", 303)


def _to(run: Run) -> Response:
    return RedirectResponse(f"/runs/{run.id}", 303)


def _called(field: str, text: str) -> str:
    try:
        return _CALLED.validate_python(text)
    except ValidationError as error:
        raise ConfigError(f"{field}: {error.errors()[0]['msg'].removeprefix('Value error, ')}") from None
