"""The actions on a run's page: rename, stop, resume, retry, fork, delete."""

from collections.abc import Collection, Mapping
from typing import Annotated, NamedTuple

from fastapi import APIRouter, Form, Request
from fastapi.responses import RedirectResponse, Response
from pydantic import JsonValue, TypeAdapter, ValidationError
from starlette.concurrency import run_in_threadpool

from dokimasia.domain.ports import Spending
from dokimasia.errors import ConfigError, InputError, list_faults
from dokimasia.runs.catalogue import method_of
from dokimasia.runs.forking import ForkRequest
from dokimasia.runs.method import AnyMethod
from dokimasia.runs.outcome import retryable
from dokimasia.runs.persistence import dependent_runs as dependent_runs
from dokimasia.runs.requests import LIMITS, RunLabel
from dokimasia.service.drawing import page
from dokimasia.service.forms import (
    FieldGroup,
    change_groups,
    defaults_of,
    find_faults,
    labels_of,
    parse_form,
    texts_of,
    values_of,
)
from dokimasia.service.pages.results import models_of
from dokimasia.service.pages.samples import name_of
from dokimasia.service.request_parsing import Q, read_request
from dokimasia.service.routes.starting import GoneOn, changes_in
from dokimasia.service.state import Service, Starter, TheService
from dokimasia.service.suggestions import fault_of_model, suggestions_of
from dokimasia.service.uploads import RequestFiles
from dokimasia.service.wording import as_on_pages
from dokimasia.storage.deletion import run_size
from dokimasia.storage.naming import name_run, set_tags
from dokimasia.storage.runs import Run
from dokimasia.storage.spending import spent_by

router = APIRouter(prefix="/runs/{run}")

_LABEL = TypeAdapter[str](RunLabel)


class Replacement(NamedTuple):
    """A model of a run, the field of the request that names it, and its replacement; empty for none."""

    field: str
    model: str
    new: str


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
    """Resume a run, with any limits and prompts changed in the form."""
    form = await texts_of(request)
    row = service.run(run)
    changes = await _changes_of_form(service, row, form, "resume")
    return _redirect_to(await service.runner.resume(row, changes=changes, payer=person.payer))


@router.post("/retry")
async def retry(request: Request, service: TheService, person: Starter, run: str) -> Response:
    """Retry failures of the ticked kinds, with any limits and prompts changed in the form."""
    form = await texts_of(request)
    kinds = form.get("kinds")
    if not kinds:
        raise ConfigError("no kind of failure is selected: select what to retry")
    row = service.run(run)
    changes = await _changes_of_form(service, row, form, "retry")
    retried = retryable(",".join(kinds))
    return _redirect_to(await service.runner.resume(row, changes=changes, retry=retried, payer=person.payer))


@router.get("/fork")
def ask_to_fork(request: Request, service: TheService, person: Starter, run: str) -> Response:
    """Show the form in which a fork's changes are entered."""
    return _fork_form(request, service, service.run(run), {})


@router.post("/fork")
async def fork(request: Request, service: TheService, person: Starter, run: str) -> Response:
    """Fork a run with other models or prompts; an unusable form is shown again, with its faults."""
    form = await texts_of(request)
    row = service.run(run)
    groups = change_groups(ForkRequest, form="fork", named=True)
    values = values_of(groups, form)
    _, faults = parse_form(groups, values)

    def sentence(problem: InputError) -> str:
        return service.redact(RequestFiles(service.home, service.data_root).shortened(str(problem)))

    async def check(left_out: Collection[str]) -> str:
        rest = {name: texts for name, texts in form.items() if name not in left_out}
        try:
            await service.runner.preview_fork(row, await _fork_request(service, rest, groups))
        except InputError as problem:
            return sentence(problem)
        return ""

    try:
        if faults:
            problem = await find_faults(groups, values, faults, await check(faults), check)
        else:
            fork_request = await _fork_request(service, form, groups)
            return _redirect_to(await service.runner.fork(row, fork_request, payer=person.payer))
    except InputError as refused:
        problem = await find_faults(groups, values, faults, sentence(refused), check)
    return await run_in_threadpool(_fork_form, request, service, row, form, faults, problem)


async def _fork_request(service: Service, form: Mapping[str, list[str]], groups: list[FieldGroup]) -> ForkRequest:
    judge = ""
    models: dict[str, str] = {}
    for old, new in zip(form.get("old", ()), form.get("new", ()), strict=False):
        field, _, name = old.partition(":")
        if field == "judge":
            judge = new.strip()
        elif new.strip():
            models[name] = new.strip()
    extra = {"node": form.get("node", [""])[0].strip(), "judge": judge, "models": models}
    return await _request_of_form(
        service, ForkRequest, form, groups, {name: value for name, value in extra.items() if value}
    )


def _fork_form(
    request: Request,
    service: Service,
    run: Run,
    form: Mapping[str, list[str]],
    faults: Mapping[str, str] = {},
    problem: str = "",
) -> Response:
    """Return the form of a fork with the entered texts and their faults.

    A fault that mentions a step or a model is shown next to the list of steps or that model.
    """
    method = method_of(run)
    groups = change_groups(ForkRequest, form="fork", named=True, leave_out=method.scores.unmeasured)
    entered = dict(zip(form.get("old", ()), form.get("new", ()), strict=False))
    replacements = [
        Replacement(field, name, entered.get(f"{field}:{name}", ""))
        for field, names in models_of(method, run).items()
        for name in names
    ]
    wrong = {
        change.model: fault_of_model(service, change.new) or problem
        for change in replacements
        if change.new and (f"{change.new!r}" in problem or fault_of_model(service, change.new))
    }
    step = form.get("node", [""])[0]
    steps = method.reruns.fork_steps()
    problem = as_on_pages(problem, {"--from": "Re-run from", "--judge": "Replace judge", "--models": "Replace model"})
    unnamed = bool(steps) and not step and bool(faults or problem)
    at_step = unnamed or (bool(steps) and not wrong and "“Re-run from”" in problem)
    return page(
        request,
        "fork.html",
        status=422 if faults or problem else 200,
        run=run,
        called=name_of(service.home, run),
        method=method,
        steps=steps,
        step=step,
        step_fault="Choose the step to re-run from." if unnamed else problem if at_step else "",
        replacements=replacements,
        model_faults=wrong,
        problem="" if wrong or at_step else problem,
        faults=faults,
        groups=groups,
        values={**defaults_of(groups), **values_of(groups, form)} if form else defaults_of(groups),
        offers=suggestions_of(service),
        data_root=service.data_root is not None,
        refusal=_fork_refusal(method, run),
    )


def _fork_refusal(method: AnyMethod, run: Run) -> str:
    """Return why a run cannot be forked; empty if it can."""
    if method.reruns.no_fork is not None:
        return f"{method.title[0].upper()}{method.title[1:]} cannot be forked: {as_on_pages(method.reruns.no_fork)}"
    if run.status == "done":
        return ""
    return "Only a finished run can be forked."


@router.get("/delete")
def ask_to_delete(request: Request, service: TheService, person: Starter, run: str) -> Response:
    """Show what would be deleted with a run."""
    row = service.run(run)
    called = name_of(service.home, row)
    resting = dependent_runs(service.home, row.id)
    size = run_size(service.home, row.id)
    return page(request, "delete.html", run=row, called=called, resting=resting, size=size)


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


async def _changes_of_form(
    service: Service, run: Run, form: Mapping[str, list[str]], verb: str
) -> dict[str, JsonValue]:
    """Return the changes to a run's request in a form; errors name its fields."""
    groups = change_groups(GoneOn, form=verb)
    try:
        changes = changes_in(await _request_of_form(service, GoneOn, form, groups, _lifted(form)))
        _check_unspent(spent_by(service.home, run.id), changes)
    except InputError as problem:
        raise ConfigError(as_on_pages(str(problem), labels_of(groups))) from None
    return changes


def _check_unspent(spent: Spending, changes: Mapping[str, JsonValue]) -> None:
    """Check that new limits leave something to spend.

    Raises:
        ConfigError: as much as a limit is spent already; the message names all such limits.
    """
    faults: list[str] = []
    for name, amount in zip(LIMITS, (spent.cost, spent.calls, spent.tokens), strict=True):
        limit = changes.get(name)
        if isinstance(limit, int | float) and limit <= amount > 0:
            number = f"{amount:.4g}" if name == "max_cost" else f"{amount}"
            unit = "$" if name == "max_cost" else ""
            verb = "is" if unit or amount == 1 else "are"
            faults.append(f"{name}: {unit}{number} {verb} spent already: enter more than {number}")
    if faults:
        raise ConfigError("; ".join(faults))


def _lifted(form: Mapping[str, list[str]]) -> dict[str, None]:
    """Return the spending limits ticked for removal, each as None."""
    return {name: None for name in LIMITS if name in form.get("lift", ())}


def _redirect_to(run: Run) -> Response:
    return RedirectResponse(f"/runs/{run.id}", 303)


def _valid_label(field: str, text: str) -> str:
    try:
        return _LABEL.validate_python(text)
    except ValidationError as error:
        raise ConfigError(f"{field}: {list_faults(error)[0].message}") from None
