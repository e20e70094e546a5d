"""What a run's page does with it: call it otherwise, stop, resume, ask anew, fork, delete."""

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Form, Request
from fastapi.responses import RedirectResponse, Response
from pydantic import TypeAdapter, ValidationError
from starlette.concurrency import run_in_threadpool

from dokimasia.errors import ConfigError, InputError
from dokimasia.runs.forking import ForkRequest
from dokimasia.runs.outcome import retryable
from dokimasia.runs.persistence import dependent_runs as resting_on
from dokimasia.runs.requests import LIMITS, Called
from dokimasia.service.drawing import page
from dokimasia.service.forms import FieldGroup, change_groups, parse_form, texts_of, values_of
from dokimasia.service.request_parsing import Q, read_request
from dokimasia.service.routes.starting import GoneOn, changes_in
from dokimasia.service.state import Service, Starter, TheService
from dokimasia.service.uploads import RequestFiles
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
    wanted = [_called("tags", part.strip()) for part in tags.split(",") if part.strip()]
    await name_run(service.home, found.id, _called("name", name.strip()) if name.strip() else None, ())
    await set_tags(service.home, found.id, wanted)
    return _to(found)


@router.post("/cancel")
async def cancel(service: TheService, person: Starter, run: str) -> Response:
    """Stop a run once the calls in flight are committed."""
    return _to(await service.runner.cancel(service.run(run)))


@router.post("/resume")
async def resume(request: Request, service: TheService, person: Starter, run: str) -> Response:
    """Go on with a run, with other limits and prompts where some are given."""
    form = await texts_of(request)
    asked = await _asked(service, GoneOn, form, change_groups(GoneOn, form="resume"), _lifted(form))
    return _to(await service.runner.resume(service.run(run), changes=changes_in(asked)))


@router.post("/retry")
async def retry(request: Request, service: TheService, person: Starter, run: str) -> Response:
    """Ask anew what failed in these ways, with other limits and prompts where some are given."""
    form = await texts_of(request)
    kinds = form.get("kinds")
    if not kinds:
        raise ConfigError("no kind of failure is ticked: tick what is to be asked anew")
    asked = await _asked(service, GoneOn, form, change_groups(GoneOn, form="retry"), _lifted(form))
    retried = retryable(",".join(kinds))
    return _to(await service.runner.resume(service.run(run), changes=changes_in(asked), retry=retried))


@router.post("/fork")
async def fork(request: Request, service: TheService, person: Starter, run: str) -> Response:
    """Do a run again with other models or prompts in the places of its own."""
    form = await texts_of(request)
    more: dict[str, Any] = {"node": form.get("node", [""])[0].strip()}
    models: dict[str, str] = {}
    for was, given in zip(form.get("old", ()), form.get("new", ()), strict=False):
        field, _, name = was.partition(":")
        if field == "judge":
            more["judge"] = given.strip()
        elif given.strip():
            models[name] = given.strip()
    more = {name: one for name, one in {**more, "models": models}.items() if one}
    asked = await _asked(service, ForkRequest, form, change_groups(ForkRequest, form="fork", named=True), more)
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


async def _asked(
    service: Service,
    model: type[Q],
    form: Mapping[str, list[str]],
    groups: list[FieldGroup],
    more: Mapping[str, Any] = {},
) -> Q:
    """Return what a form asks, checked as a request of a program is, its files resolved."""
    asked, faults = parse_form(groups, values_of(groups, form))
    if faults:
        raise ConfigError("; ".join(f"{name}: {fault}" for name, fault in faults.items()))
    places = RequestFiles(service.home, service.data_root)
    try:
        return await run_in_threadpool(read_request, model, {**asked, **more}, places)
    except InputError as problem:
        problem.args = (places.shortened(str(problem)),)
        raise


def _lifted(form: Mapping[str, list[str]]) -> dict[str, None]:
    """Return the limits on spending that are ticked to be lifted."""
    return {name: None for name in LIMITS if name in form.get("lift", ())}


def _to(run: Run) -> Response:
    return RedirectResponse(f"/runs/{run.id}", 303)


def _called(field: str, text: str) -> str:
    try:
        return _CALLED.validate_python(text)
    except ValidationError as error:
        raise ConfigError(f"{field}: {error.errors()[0]['msg'].removeprefix('Value error, ')}") from None
