"""Pages that start a run: choose a method, fill in its form, preview the data, estimate the cost."""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from itertools import islice
from pathlib import Path
from typing import Annotated, NamedTuple

from fastapi import APIRouter, Query, Request
from fastapi.responses import RedirectResponse, Response
from pydantic import Field, JsonValue
from starlette.concurrency import run_in_threadpool

from dokimasia.datasets import Problem, open_dataset
from dokimasia.domain.sample import Sample
from dokimasia.domain.wording import has_or_have
from dokimasia.errors import ConfigError, InputError
from dokimasia.report.figures import several
from dokimasia.report.thumbnails import SHARE, Picture, picture
from dokimasia.runs.catalogue import OWN, method_named, plugin_methods
from dokimasia.runs.estimate import Estimate, ModelEstimate
from dokimasia.runs.method import AnyMethod
from dokimasia.runs.preview import check_keys
from dokimasia.runs.requests import option_of
from dokimasia.runs.samples import bring_reader
from dokimasia.service.drawing import page
from dokimasia.service.forms import (
    FieldGroup,
    defaults_of,
    groups_of,
    parse_form,
    split_faults,
    texts_from_request,
    texts_of,
    values_of,
)
from dokimasia.service.request_parsing import read_request
from dokimasia.service.routes.starting import known_method
from dokimasia.service.state import Reader, Service, Starter, TheService
from dokimasia.service.suggestions import SIMULATED_SIGHT, suggestions_of
from dokimasia.service.uploads import RUN, RequestFiles
from dokimasia.storage.content.blobs import MemoryBlobs
from dokimasia.storage.naming import resolve_run
from dokimasia.storage.runs import list_runs

router = APIRouter()

SHOWN_SAMPLES = 6
SHOWN_FAULTS = 50
SHOWN_LINES = 10
CHOSEN = "data_file"
"""The field of the buttons by which one data file of an upload is chosen."""

NO_IMAGE = "there is no image file"
IMAGES = (
    "Upload a ZIP with the data and these images, at the paths by which the data names them; where it names them without "
    "folders, the data and the images chosen together do as well."
)
"""The advice that is shown if images are missing."""


class ListedMethod(NamedTuple):
    """A method to choose, and how many runs of the home it has made."""

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


@dataclass
class DataPreview:
    """The first samples of a data set, and what is wrong with it.

    Attributes:
        problem: why it is not a data set.
        samples: the first samples, each with its pictures and its question.
        faults: messages about samples that cannot be used.
        missing: how many samples name an image that does not exist.
        unasked: the message about samples without a question.
    """

    problem: str = ""
    samples: list[tuple[Sample, list[Picture], str]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    missing: int = 0
    unasked: str = ""


@dataclass(kw_only=True)
class FormReply:
    """What a page shows with a form: faults by field, other problems, and what its buttons asked for."""

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
    groups = groups_of(definition.request, definition.unmeasured)
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
    """Return a message for each field of a duplicated run whose file cannot be named or is not there any more."""
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
    """Preview the data, estimate the cost, or start the run, depending on the button; errors are shown beside their fields."""
    definition = known_method(method)
    groups = groups_of(definition.request, definition.unmeasured)
    texts = await texts_of(request)
    values = values_of(groups, texts)
    action = texts.get("do", ["start"])[0]
    if data_file := texts.get(CHOSEN):
        values["data"], action = (data_file[0],), "data"
    fields, faults = parse_form(groups, values)
    places = RequestFiles(service.home, service.data_root)
    reply = FormReply(faults=faults, choices=places.uploads.choices(str(fields.get("data", ""))))
    if action == "data":
        reply.data = await run_in_threadpool(_preview_data, fields, places)
        reply.faults = {name: fault for name, fault in faults.items() if values[name]}
    else:
        try:
            checked_request = await run_in_threadpool(
                read_request, definition.request, _without(fields, faults), places
            )
            if faults:  # report other faults as well, as far as they show without these fields
                await service.runner.preview(definition.name, checked_request)
            elif action == "start":
                run = await service.runner.submit(definition.name, checked_request, payer=person.payer)
                return RedirectResponse(f"/runs/{run.id}", 303)
            else:
                reply.estimate = _estimate(await service.runner.preview(definition.name, checked_request), service)
                reply.command = places.shortened(checked_request.as_command(called=True))
        except InputError as problem:
            reply.faults, reply.problem = await _faults_by_field(
                service, definition, groups, fields, faults, values, str(problem), places
            )
    return await run_in_threadpool(_form, request, service, definition, groups, values, reply)


def _without(request: Mapping[str, JsonValue], faults: Mapping[str, str]) -> dict[str, JsonValue]:
    return {name: value for name, value in request.items() if name not in faults}


async def _faults_by_field(
    service: Service,
    method: AnyMethod,
    groups: list[FieldGroup],
    request: Mapping[str, JsonValue],
    faults: Mapping[str, str],
    values: Mapping[str, Sequence[str]],
    problem: str,
    places: RequestFiles,
) -> tuple[dict[str, str], str]:
    """Return the faults of a form by field, and the message about others: from its texts, its validation, and the data.

    Faults that need the whole request are looked for without the invalid fields; only those of single fields are returned.
    """
    sentence = service.redact(places.shortened(problem))
    by_field, general = split_faults(groups, f"{sentence}\n{IMAGES}" if NO_IMAGE in sentence else sentence, values)
    later: dict[str, str] = {}
    if by_field:
        try:
            partial_request = await run_in_threadpool(
                read_request, method.request, _without(request, {**faults, **by_field}), places
            )
            await service.runner.preview(method.name, partial_request)
        except InputError as more:
            later, _ = split_faults(groups, service.redact(places.shortened(str(more))), values)
    shown_faults = {name: sentence for name, sentence in later.items() if name in request}
    shown_faults |= {name: sentence for name, sentence in by_field.items() if name in request or not faults}
    return {**shown_faults, **faults}, "" if faults else general


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
    first, *paragraphs = (method.request.__doc__ or "").strip().split("\n\n")
    return page(
        request,
        "new_run.html",
        vars(reply),
        status=status or (422 if reply.faults or reply.problem else 200),
        method=method,
        about=" ".join(first.split()),
        more=[" ".join(paragraph.split()) for paragraph in paragraphs],
        groups=groups,
        values=values,
        offers=suggestions_of(service),
        data_root=service.data_root is not None,
        images=IMAGES,
        sight=SIMULATED_SIGHT
        if any(control.offers == "models" for group in groups for control in group.controls)
        else "",
    )


def _preview_data(request: Mapping[str, JsonValue], places: RequestFiles) -> DataPreview:
    """Return a preview of the data that a form names: the first samples and faults, or why it is not a data set."""
    blobs = MemoryBlobs()
    data = str(request.get("data") or "")
    if not data:
        return DataPreview("Name a data set first, or upload one.")
    preview = DataPreview()
    unasked: Counter[str] = Counter()
    problems: list[Problem] = []
    try:
        path: Path = places.file(data, "data")
        bring_reader(path)
        prompt = str(request.get("prompt") or "")
        dataset = open_dataset(path, blobs=blobs, need_prompt=False, prompt=prompt or "–", limit=SHOWN_SAMPLES)
        for sample in islice(dataset, SHOWN_FAULTS):
            if isinstance(sample, Problem):
                problems.append(sample)
                preview.missing += sample.kind == "image-missing"
                continue
            pictures = [
                picture(blobs.get(image.sha256), image.sha256, (image.width, image.height), share=SHARE // 4)
                for image in sample.images[:3]
            ]
            if not prompt and sample.prompt == "–":
                unasked.update(["", *sample.meta])
            prompt_shown = "" if sample.prompt == "–" else sample.prompt
            preview.samples.append((sample, pictures, prompt_shown))
        if (
            any(problem.line for problem in problems) and not preview.samples and not prompt
        ):  # lines without an id may lack a question, too
            read_again = islice(open_dataset(path, blobs=blobs, limit=SHOWN_SAMPLES), SHOWN_FAULTS)
            problems = [problem for problem in read_again if isinstance(problem, Problem)]
        preview.faults = list(map(places.shortened, _fault_messages(problems)))
    except InputError as problem:
        preview.problem = places.shortened(str(problem)).removeprefix("data: ")
    if unasked:
        preview.unasked = _missing_question_message(unasked.pop(""), sorted(unasked))
    return preview


def _fault_messages(problems: Sequence[Problem]) -> list[str]:
    """Return the messages about faults in data; a fault of several lines is reported once."""
    alike: dict[str, list[Problem]] = {}
    for problem in problems:
        alike.setdefault(str(problem.message).partition(": ")[2] if problem.line else str(problem.message), []).append(
            problem
        )
    return [
        str(first.message)
        + (f" The same is wrong with {_lines([problem.line for problem in others])}." if others else "")
        for first, *others in alike.values()
    ]


def _lines(numbers: Sequence[int]) -> str:
    first_numbers = ", ".join(map(str, numbers[:SHOWN_LINES]))
    rest = f" and {len(numbers) - SHOWN_LINES} more" if len(numbers) > SHOWN_LINES else ""
    return f"line{'' if len(numbers) == 1 else 's'} {first_numbers}{rest}"


def _missing_question_message(count: int, others: list[str]) -> str:
    """Return the message about samples without a question, with the names of their other fields."""
    hint = f" Among its other fields ({', '.join(others[:8])}) may be the question: call it prompt." if others else ""
    return (
        f"{several(count, 'sample')} {has_or_have(count)} no question.{hint} "
        "A question for all can be written into the field Prompt."
    )


def _estimate(preview: Mapping[str, object], service: Service) -> PreviewedRun:
    missing = ""
    try:
        check_keys(service.settings, preview)
    except ConfigError as problem:
        missing = str(problem)
    return PreviewedRun.model_validate({**preview, "missing": missing})
