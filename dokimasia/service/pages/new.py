"""Pages that start a run: choose a method, fill in its form, preview the data, estimate the cost."""

from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Annotated, NamedTuple, TypeVar

from fastapi import APIRouter, Query, Request
from fastapi.responses import RedirectResponse, Response
from pydantic import Field, JsonValue
from starlette.concurrency import run_in_threadpool

from dokimasia.errors import ConfigError, InputError, NotFound
from dokimasia.runs.catalogue import OWN, method_named, plugin_methods
from dokimasia.runs.estimate import Estimate, ModelEstimate
from dokimasia.runs.method import AnyMethod
from dokimasia.runs.preview import check_keys
from dokimasia.runs.requests import RunRequest, option_of
from dokimasia.service.data_preview import IMAGES, DataPreview, preview_data
from dokimasia.service.drawing import page
from dokimasia.service.forms import (
    FieldGroup,
    defaults_of,
    find_faults,
    groups_of,
    labels_of,
    parse_form,
    texts_from_request,
    texts_of,
    values_of,
)
from dokimasia.service.request_parsing import example_of, leaves, read_request
from dokimasia.service.routes.starting import known_method
from dokimasia.service.state import Reader, Service, Starter, TheService
from dokimasia.service.suggestions import SIMULATED_SIGHT, fault_of_model, suggestions_of
from dokimasia.service.uploads import RUN, RequestFiles
from dokimasia.service.wording import as_on_pages, paragraphs_on_page
from dokimasia.storage.naming import check_name, resolve_run
from dokimasia.storage.runs import list_runs
from dokimasia.storage.trees.versions import resolve_tree

router = APIRouter()

MISSING_FILE = Path("/dev/null/data.jsonl")
"""Takes the place of data that a form lacks, so that the rest of it can be checked; it cannot exist."""

CHOSEN = "data_file"
"""The field of the buttons that choose one data file of an upload."""

NO_IMAGE = "there is no image file"

SIMULATED_EXAMPLES = ("sim/strong", "sim/weak", "sim/steady")
OTHER_EXAMPLE = "sim/judge-noisy"
"""Simulated models that replace missing or wrong models while the rest of a form is checked:
several, and a single one.
"""

Q = TypeVar("Q", bound=RunRequest)


class ListedMethod(NamedTuple):
    """A method to choose, and the number of its runs in the home."""

    name: str
    help: str
    verb: str
    used: int


class PreviewedRun(Estimate, extra="ignore"):
    """A run that a form describes: its estimate and prompts, and the message about missing keys."""

    run: str
    status: str = ""
    prompts: dict[str, JsonValue]
    missing: str = ""
    bound: ModelEstimate = Field(default=ModelEstimate(cost=0.0), validation_alias="undecided")
    spared: int = Field(default=0, validation_alias="in_ledger")


@dataclass(kw_only=True)
class FormReply:
    """The additions to a form on a page: faults by field, other problems, and the results of its buttons."""

    faults: Mapping[str, str] = field(default_factory=dict)
    problem: str = ""
    estimate: PreviewedRun | None = None
    command: str = ""
    data: DataPreview | None = None
    choices: Sequence[str] = ()


@router.get("/new")
def choose(request: Request, service: TheService, person: Reader) -> Response:
    """List the methods, those most used in this home first."""
    run_counts = Counter(run.method for run in list_runs(service.home))
    methods = [ListedMethod(name, entry.help, entry.verb, run_counts[name]) for name, entry in OWN.items()]
    for name in plugin_methods():
        about = "This plug-in cannot be used here."
        with suppress(ConfigError):
            about = (method_named(name).request.__doc__ or name).strip().splitlines()[0]
        methods.append(ListedMethod(name, about, name, run_counts[name]))
    methods.sort(key=lambda method: -method.used)
    return page(request, "new.html", methods=methods)


@router.get("/new/{method}")
def blank(
    request: Request,
    service: TheService,
    person: Starter,
    method: str,
    origin: Annotated[str, Query(alias="from", max_length=200)] = "",
) -> Response:
    """Show a method's form with its defaults or, with `from`, with the request of another run."""
    definition = known_method(method)
    groups = groups_of(definition.request, definition.scores.unmeasured)
    values = {**defaults_of(groups), **_newest_to_continue(service, definition)}
    reply = FormReply()
    if origin:
        run = resolve_run(service.home, origin)
        places = RequestFiles(service.home, service.data_root)
        values = {
            name: tuple(places.request_name(text, run) for text in texts)
            for name, texts in texts_from_request(groups, run.request).items()
        }
        values |= {"name": (), "fresh": ()}
        reply.faults = _missing_files(places, groups, values)
    prefilled = {name: tuple(request.query_params.getlist(name)) for name in values if name in request.query_params}
    return _form(request, service, definition, groups, {**values, **prefilled}, reply, status=HTTPStatus.OK)


def _missing_files(
    places: RequestFiles, groups: list[FieldGroup], values: Mapping[str, Sequence[str]]
) -> dict[str, str]:
    """Return a message for each field of a duplicated run whose file cannot be named or no longer exists."""
    faults: dict[str, str] = {}
    for control in (control for group in groups for control in group.controls if control.file):
        for text in values.get(control.name, ()):
            if not text.startswith((RUN, "/")):
                continue
            try:
                places.file(text, control.name)
            except InputError as problem:
                faults[control.name] = places.shortened(str(problem)).removeprefix(f"{control.name}: ")
    return faults


def _newest_to_continue(service: Service, method: AnyMethod) -> dict[str, tuple[str, ...]]:
    """Return the newest finished run for each required field that continues runs of another method."""
    continued = {
        name: option_of(field).continues
        for name, field in method.request.model_fields.items()
        if field.is_required() and option_of(field).continues
    }
    runs = list_runs(service.home) if continued else []
    newest: dict[str, tuple[str, ...]] = {}
    for name, kind in continued.items():
        run = next((run for run in runs if run.method == kind and run.status == "done"), None)
        if run is not None:
            newest[name] = (run.id,)
    return newest


@router.post("/new/{method}")
async def filled(request: Request, service: TheService, person: Starter, method: str) -> Response:
    """Preview the data, estimate the cost, or start the run, by the button; errors are shown next to their fields."""
    definition = known_method(method)
    groups = groups_of(definition.request, definition.scores.unmeasured)
    texts = await texts_of(request)
    values = values_of(groups, texts)
    action = texts.get("do", ["start"])[0]
    if data_file := texts.get(CHOSEN):
        values["data"], action = (data_file[0],), "data"
    fields, faults = parse_form(groups, values)
    places = RequestFiles(service.home, service.data_root)
    reply = FormReply(faults=faults, choices=places.uploads.choices(str(fields.get("data", ""))))
    if action == "data":
        reply.data = await run_in_threadpool(_preview_data, fields, places, labels_of(groups))
        reply.faults = {name: fault for name, fault in faults.items() if values[name]}
        return await run_in_threadpool(_form, request, service, definition, groups, values, reply)
    faults |= await run_in_threadpool(unknown_models, service, groups, fields)

    described = ""

    async def preview(checked_request: RunRequest) -> None:
        nonlocal described
        described = str((await service.runner.preview(definition.name, checked_request)).get("run", ""))

    check = checker_of(service, definition.request, groups, fields, places, preview)
    try:
        if faults:
            reply.problem = await find_faults(groups, values, faults, await check(faults), check)
        else:
            checked_request = await run_in_threadpool(read_request, definition.request, fields, places)
            if action == "start":
                run = await service.runner.submit(definition.name, checked_request, payer=person.payer)
                return RedirectResponse(f"/runs/{run.id}", 303)
            reply.estimate = _estimate(
                await service.runner.preview(definition.name, checked_request), service, labels_of(groups)
            )
            described = reply.estimate.run
            reply.command = places.shortened(checked_request.as_command(called=True))
    except InputError as problem:
        reply.problem = await find_faults(groups, values, faults, message_of(service, places, problem), check)
    if "name" not in faults:
        faults |= taken_name(service, groups, fields, run=described)
    if faults or reply.problem:  # which may have hidden what is wrong with a tree
        for name, fault in (await run_in_threadpool(_unknown_trees, service, groups, fields)).items():
            faults.setdefault(name, fault)
    return await run_in_threadpool(_form, request, service, definition, groups, values, reply)


def checker_of(
    service: Service,
    request: type[Q],
    groups: Sequence[FieldGroup],
    fields: Mapping[str, JsonValue],
    places: RequestFiles,
    preview: Callable[[Q], Awaitable[object]],
) -> Callable[[Collection[str]], Awaitable[str]]:
    """Return the check that `find_faults` needs, which returns the message about a form without some fields; empty if
    none.

    Where the data are left out, whatever can be checked before they are read still is.

    Args:
        service: the service.
        request: the type of request.
        groups: its form.
        fields: the entered values, as JSON.
        places: the places where files may be.
        preview: estimates the request, which reads its data.
    """

    async def check(left_out: Collection[str]) -> str:
        try:
            sent = _without_fields(request, groups, fields, left_out)
            await preview(await run_in_threadpool(read_request, request, sent, places, stand_in=MISSING_FILE))
        except InputError as problem:
            message = message_of(service, places, problem)
            return "; ".join(fault for fault in message.split("; ") if str(MISSING_FILE) not in fault)
        return ""

    return check


def taken_name(
    service: Service, groups: Sequence[FieldGroup], fields: Mapping[str, JsonValue], *, run: str, suffix: str = ""
) -> dict[str, str]:
    """Return the fault of the field `name` if another run has the name that a form gives, by field.

    Args:
        service: the service.
        groups: the form.
        fields: the entered values, as JSON.
        run: the id of the run that the form describes; empty while its faults leave it unknown.
        suffix: what is added to the name.
    """
    name = fields.get("name")
    if not isinstance(name, str) or not name or fields.get("force"):
        return {}
    try:
        check_name(service.home, run, name + suffix)
    except InputError as problem:
        return {"name": as_on_pages(str(problem), labels_of(groups))}
    return {}


def message_of(service: Service, places: RequestFiles, problem: InputError) -> str:
    """Return the message of an error without secrets and paths, and with advice if images are missing."""
    sentence = service.redact(places.shortened(str(problem))).replace(str(service.home.path), "this service")
    if NO_IMAGE in sentence:
        return f"{sentence}\n{IMAGES}"
    return sentence


def unknown_models(service: Service, groups: Sequence[FieldGroup], request: Mapping[str, JsonValue]) -> dict[str, str]:
    """Return the faults of the models that a form names, by field; models in files of responses are not checked."""
    faults: dict[str, str] = {}
    for control in (control for group in groups for control in group.controls if control.offers == "models"):
        if control.name != "models" or not request.get("responses"):
            names = map(str, leaves(request.get(control.name, ())))
            if sentences := list(filter(None, (fault_of_model(service, name) for name in dict.fromkeys(names)))):
                faults[control.name] = "\n".join(sentences)
    return faults


def _unknown_trees(service: Service, groups: Sequence[FieldGroup], request: Mapping[str, JsonValue]) -> dict[str, str]:
    """Return the faults of the trees that a form names, by field."""
    faults: dict[str, str] = {}
    for control in (control for group in groups for control in group.controls if control.offers == "trees"):
        if name := request.get(control.name):
            try:
                resolve_tree(service.home, str(name))
            except NotFound as problem:
                sentence = str(problem).replace(str(service.home.path), "this service")
                faults[control.name] = as_on_pages(sentence, labels_of(groups))
    return faults


def _without_fields(
    request: type[RunRequest], groups: Sequence[FieldGroup], fields: Mapping[str, JsonValue], left_out: Collection[str]
) -> dict[str, object]:
    """Return a request without some fields, with simulated models in place of models, to check the rest."""
    sent: dict[str, object] = {name: value for name, value in fields.items() if name not in left_out}
    example = example_of(request)
    for control in (control for group in groups for control in group.controls if control.offers == "models"):
        if control.name in left_out and control.kind in ("several", "list"):
            sent[control.name] = list(SIMULATED_EXAMPLES)
        elif control.name in left_out:
            sent[control.name] = example.get(control.name, OTHER_EXAMPLE)
    return sent


def _form(
    request: Request,
    service: Service,
    method: AnyMethod,
    groups: list[FieldGroup],
    values: Mapping[str, tuple[str, ...]],
    reply: FormReply,
    *,
    status: int = 0,
) -> Response:
    labels = labels_of(groups)
    first, *others = paragraphs_on_page(method.request.__doc__ or "", labels)
    if method.name in OWN:
        first, others = OWN[method.name].help, [first, *others]
    return page(
        request,
        "new_run.html",
        vars(reply),
        status=status or (422 if reply.faults or reply.problem else 200),
        method=method,
        about=first,
        more=others,
        groups=groups,
        values=values,
        offers=suggestions_of(service),
        data_root=service.data_root is not None,
        images=IMAGES,
        sight=SIMULATED_SIGHT
        if any(control.offers == "models" for group in groups for control in group.controls)
        else "",
    )


def _preview_data(request: Mapping[str, JsonValue], places: RequestFiles, labels: Mapping[str, str]) -> DataPreview:
    """Return a preview of the data that a form names: the first samples and faults, or why it is not a data set."""
    data = str(request.get("data") or "")
    if not data:
        return DataPreview("Name a data set first, or upload one.")
    limit = request.get("limit")
    return preview_data(
        places,
        data,
        labels,
        prompt=str(request.get("prompt") or ""),
        columns=[str(text) for text in leaves(request.get("columns", []))],
        limit=limit if isinstance(limit, int) else None,
    )


def _estimate(preview: Mapping[str, object], service: Service, labels: Mapping[str, str]) -> PreviewedRun:
    missing = ""
    try:
        check_keys(service.settings, preview)
    except ConfigError as problem:
        missing = as_on_pages(str(problem))
    previewed = PreviewedRun.model_validate({**preview, "missing": missing})
    return previewed.model_copy(update={"notes": tuple(as_on_pages(note, labels) for note in previewed.notes)})
