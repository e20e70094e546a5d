"""The pages of a judge's check: a form to start it, its run at work, and the verdict."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request
from fastapi.responses import RedirectResponse, Response
from pydantic import JsonValue
from starlette.concurrency import run_in_threadpool

from dokimasia.errors import InputError
from dokimasia.operations.finished import end
from dokimasia.operations.judge_checks import PLANTED, UNMEASURED, JudgeCheckRequest
from dokimasia.operations.passports import one_judge_check
from dokimasia.people.passports import check_blocks
from dokimasia.report.drawing import Charts
from dokimasia.service.drawing import drawn, page
from dokimasia.service.forms import (
    FieldGroup,
    defaults_of,
    find_faults,
    groups_of,
    labels_of,
    parse_form,
    texts_of,
    values_of,
)
from dokimasia.service.pages.new import checker_of, message_of, taken_name, unknown_models
from dokimasia.service.pages.samples import name_of
from dokimasia.service.request_parsing import read_request
from dokimasia.service.routes.checking import CheckPreview, CheckStep, next_step, preview_check
from dokimasia.service.routing import Reading, Starting
from dokimasia.service.state import Reader, Service, Starter, TheService
from dokimasia.service.suggestions import suggestions_of
from dokimasia.service.uploads import RequestFiles
from dokimasia.service.wording import as_on_pages, paragraphs_on_page
from dokimasia.storage.runs import AT_WORK

router = APIRouter()

SHOWN_FIRST = ("perturber", "reference", "labels", "evaluators")
"""Options that most checks need."""

FormValues = Mapping[str, Sequence[str]]


def _groups() -> list[FieldGroup]:
    """Return the form of a check: the judge, the data and the planter of errors first, the rest folded."""
    first, options, *others = groups_of(JudgeCheckRequest, UNMEASURED)
    moved = tuple(control for control in options.controls if control.name in SHOWN_FIRST)
    rest = tuple(control for control in options.controls if control not in moved)
    return [replace(first, controls=(*first.controls, *moved)), replace(options, controls=rest), *others]


def _values_in(request: Request, groups: Sequence[FieldGroup]) -> dict[str, tuple[str, ...]]:
    """Return the form's values: those in the address, and defaults for the others."""
    query = request.query_params
    return {name: tuple(query.getlist(name)) if name in query else texts for name, texts in defaults_of(groups).items()}


@router.get("/judge-checks")
def blank(request: Request, service: TheService, person: Reader) -> Response:
    """Show the form of a check, filled in from the address."""
    groups = _groups()
    return _form(request, service, groups, _values_in(request, groups))


@router.post("/judge-checks")
async def filled(request: Request, service: TheService, person: Starter, context: Starting) -> Response:
    """Estimate a check, or carry it one step further; errors are shown next to their fields."""
    groups = _groups()
    texts = await texts_of(request)
    values = values_of(groups, texts)
    fields, faults = parse_form(groups, values)
    places = RequestFiles(service.home, service.data_root)
    faults |= await run_in_threadpool(unknown_models, service, groups, fields)
    preview: CheckPreview | None = None
    problem = ""
    previewed = CheckPreview(planting=None, probing=None)

    async def preview_rest(check_request: JudgeCheckRequest) -> None:
        nonlocal previewed
        previewed = await preview_check(service, check_request)

    check = checker_of(service, JudgeCheckRequest, groups, fields, places, preview_rest)
    try:
        if faults:
            problem = await find_faults(groups, values, faults, await check(faults), check)
        else:
            check_request = await run_in_threadpool(read_request, JudgeCheckRequest, fields, places)
            estimates = texts.get("do") == ["estimate"]
            if estimates or check_request.name:
                previewed = await preview_check(service, check_request)
                faults |= _taken_names(service, groups, fields, previewed)
            if estimates:
                preview = previewed
            elif not faults:
                return _step_taken(await next_step(context, check_request, person), check_request, values)
    except InputError as fault:
        problem = await find_faults(groups, values, faults, message_of(service, places, fault), check)
    if "name" not in faults:
        faults |= _taken_names(service, groups, fields, previewed)
    return await run_in_threadpool(_form, request, service, groups, values, faults, problem, preview)


def _taken_names(
    service: Service, groups: Sequence[FieldGroup], fields: Mapping[str, JsonValue], preview: CheckPreview
) -> dict[str, str]:
    """Return the fault of the name of a check if another run has it, or has that of its run that plants errors."""
    probing = "" if preview.probing is None else preview.probing.run
    if preview.planting is not None:
        faults = taken_name(service, groups, fields, run=preview.planting.run, suffix=PLANTED)
        if faults:
            return faults
    return taken_name(service, groups, fields, run=probing)


def _step_taken(step: CheckStep, check_request: JudgeCheckRequest, values: FormValues) -> Response:
    """Redirect to the verdict of a check, or to its run at work."""
    if step.run is not None:
        sent = {name: texts for name, texts in values.items() if texts}
        return RedirectResponse(f"/judge-checks/at-work?{urlencode({**sent, 'at': step.run.id}, doseq=True)}", 303)
    verdict = {
        "name": check_request.judge,
        "run": step.check.runs if step.check else (),
        "reference": check_request.reference or "",
        "seed": check_request.seed,
    }
    return RedirectResponse(f"/judge-checks/verdict?{urlencode(verdict, doseq=True)}", 303)


@router.get("/judge-checks/at-work")
def at_work(request: Request, person: Reader, context: Reading, at: Annotated[str, Query(max_length=200)]) -> Response:
    """Show the run at work for a check; once it is done, the check continues with the values of the address."""
    run = context.run(at)
    groups = _groups()
    values = _values_in(request, groups)
    changed = {name: texts for name, texts in values.items() if texts and texts != defaults_of(groups)[name]}
    return page(
        request,
        "judge_check_at_work.html",
        run=run,
        called=name_of(context.home, run),
        judge=" ".join(values["judge"]),
        working=run.status in (*AT_WORK, "waiting"),
        why="" if run.status in ("done", *AT_WORK, "waiting") else as_on_pages(end(context, run.id).why or run.status),
        values=changed,
        back=f"/judge-checks?{urlencode(changed, doseq=True)}",
    )


@router.get("/judge-checks/verdict")
def verdict(
    request: Request,
    person: Reader,
    context: Reading,
    name: Annotated[str, Query(max_length=500)],
    run: Annotated[list[str] | None, Query(max_length=50)] = None,
    reference: Annotated[str, Query(max_length=200)] = "",
    seed: Annotated[int, Query(ge=0, lt=2**63)] = 0,
) -> Response:
    """Show whether a judge is good enough by its probes, and why."""
    check = one_judge_check(context, name, run, reference, seed)
    charts = Charts()
    probes = [(probe, name_of(context.home, context.run(probe))) for probe in check.runs]
    blocks = drawn([*check_blocks(check)], charts, labels_of(_groups()))
    return page(request, "judge_check.html", charts=charts, check=check, probes=probes, blocks=blocks)


def _note_on_page(note: str, labels: Mapping[str, str]) -> str:
    """Return a note of an estimate worded for pages, with spaces in the names of kinds of error."""
    return re.sub("(?<=[a-z])_(?=[a-z])", " ", as_on_pages(note, labels))


def _form(
    request: Request,
    service: Service,
    groups: Sequence[FieldGroup],
    values: FormValues,
    faults: Mapping[str, str] | None = None,
    problem: str = "",
    preview: CheckPreview | None = None,
) -> Response:
    labels = labels_of(groups)
    first, *paragraphs = paragraphs_on_page(JudgeCheckRequest.__doc__ or "", labels)
    return page(
        request,
        "judge_check_new.html",
        status=422 if faults or problem else 200,
        about=first,
        more=paragraphs,
        groups=groups,
        values=values,
        faults=faults or {},
        problem=problem,
        preview=preview,
        on_page=partial(_note_on_page, labels=labels),
        offers=suggestions_of(service),
        data_root=service.data_root is not None,
    )
