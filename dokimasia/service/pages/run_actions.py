"""The actions on a run's page: rename, stop, resume, retry, fork, delete."""

from collections.abc import Mapping
from typing import Annotated

from fastapi import APIRouter, Form, Request
from fastapi.responses import RedirectResponse, Response
from pydantic import TypeAdapter, ValidationError
from starlette.concurrency import run_in_threadpool

from dokimasia.errors import ConfigError
from dokimasia.runs.forking import ForkRequest
from dokimasia.runs.outcome import retryable
from dokimasia.runs.persistence import dependent_runs as dependent_runs
from dokimasia.runs.requests import LIMITS, RunLabel
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

_LABEL = TypeAdapter[str](RunLabel)


@router.post("/called")
async def call(
    service: TheService, person: Starter, run: str, name: Annotated[str, Form()] = "", tags: Annotated[str, Form()] = ""
) -> Response:
    """Name a run, and replace its tags."""
    row = service.run(run)
    checked_tags = [_valid_label("tags", part.strip()) for part in tags.split(",") if part.strip()]
    await name_run(service.home, row.id, _valid_label("name", name.strip()) if name.strip() else None, ())
    await set_tags(service.home, row.id, checked_tags)
    return _redirect_to(row)


@router.post("/cancel")
async def cancel(service: TheService, person: Starter, run: str) -> Response:
    """Stop a run once the calls in flight are committed."""
    return _redirect_to(await service.runner.cancel(service.run(run)))


@router.post("/resume")
async def resume(request: Request, service: TheService, person: Starter, run: str) -> Response:
    """Resume a run, with any other limits and prompts that the form has."""
    form = await texts_of(request)
    changes = await _request_of_form(service, GoneOn, form, change_groups(GoneOn, form="resume"), _lifted(form))
    return _redirect_to(await service.runner.resume(service.run(run), changes=changes_in(changes), payer=person.payer))


@router.post("/retry")
async def retry(request: Request, service: TheService, person: Starter, run: str) -> Response:
    """Retry failures of the ticked kinds, with any other limits and prompts that the form has."""
    form = await texts_of(request)
    kinds = form.get("kinds")
    if not kinds:
        raise ConfigError("no kind of failure is ticked: tick what is to be asked anew")
    changes = await _request_of_form(service, GoneOn, form, change_groups(GoneOn, form="retry"), _lifted(form))
    retried = retryable(",".join(kinds))
    return _redirect_to(
        await service.runner.resume(service.run(run), changes=changes_in(changes), retry=retried, payer=person.payer)
    )


@router.post("/fork")
async def fork(request: Request, service: TheService, person: Starter, run: str) -> Response:
    """Fork a run with other models or prompts."""
    form = await texts_of(request)
    judge = ""
    models: dict[str, str] = {}
    for old, new in zip(form.get("old", ()), form.get("new", ()), strict=False):
        field, _, name = old.partition(":")
        if field == "judge":
            judge = new.strip()
        elif new.strip():
            models[name] = new.strip()
    extra = {"node": form.get("node", [""])[0].strip(), "judge": judge, "models": models}
    request_of_fork = await _request_of_form(
        service,
        ForkRequest,
        form,
        change_groups(ForkRequest, form="fork", named=True),
        {name: value for name, value in extra.items() if value},
    )
    return _redirect_to(await service.runner.fork(service.run(run), request_of_fork, payer=person.payer))


@router.get("/delete")
def ask_to_delete(request: Request, service: TheService, person: Starter, run: str) -> Response:
    """Show what would be deleted with a run."""
    row = service.run(run)
    label = labels(service.home).get(row.id, Label())
    resting = dependent_runs(service.home, row.id)
    size = run_size(service.home, row.id)
    return page(request, "delete.html", run=row, label=label, resting=resting, size=size)


@router.post("/delete")
async def delete(service: TheService, person: Starter, run: str) -> Response:
    """Delete a run."""
    await service.runner.delete(service.run(run))
    return RedirectResponse("/", 303)


async def _request_of_form(
    service: Service,
    model: type[Q],
    form: Mapping[str, list[str]],
    groups: list[FieldGroup],
    extra: Mapping[str, object] = {},
) -> Q:
    """Return the request of a form, validated as one sent as JSON, with its files resolved."""
    fields, faults = parse_form(groups, values_of(groups, form))
    if faults:
        raise ConfigError("; ".join(f"{name}: {fault}" for name, fault in faults.items()))
    with RequestFiles(service.home, service.data_root).named_as_sent() as places:
        return await run_in_threadpool(read_request, model, {**fields, **extra}, places)


def _lifted(form: Mapping[str, list[str]]) -> dict[str, None]:
    """Return the spending limits that are ticked to be removed, each as None."""
    return {name: None for name in LIMITS if name in form.get("lift", ())}


def _redirect_to(run: Run) -> Response:
    return RedirectResponse(f"/runs/{run.id}", 303)


def _valid_label(field: str, text: str) -> str:
    try:
        return _LABEL.validate_python(text)
    except ValidationError as error:
        raise ConfigError(f"{field}: {error.errors()[0]['msg'].removeprefix('Value error, ')}") from None
