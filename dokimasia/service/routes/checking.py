"""The route of a judge's check, and its steps: plant errors, ask the judge about them, return the verdict."""

from http import HTTPStatus
from pathlib import Path
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool

from dokimasia.errors import InputError
from dokimasia.operations.finished import end
from dokimasia.operations.judge_checks import LABELLER, PERTURB, PROBE, UNMEASURED, JudgeCheckRequest, no_verdict_yet
from dokimasia.operations.operation import RequestRefused
from dokimasia.operations.passports import one_judge_check
from dokimasia.operations.runs import RunBegun, begun
from dokimasia.people.checks.filled import read_checks, take_in_lines
from dokimasia.people.passports import JudgeCheck
from dokimasia.runs.requests import RunRequest
from dokimasia.service.guard import Caller
from dokimasia.service.request_parsing import invocation_schema, json_body
from dokimasia.service.routes.starting import UNAVAILABLE, DryRun, RunPreview, read_body, request_files
from dokimasia.service.routing import ServiceContext, Starting, json_router
from dokimasia.service.state import Needs, Service
from dokimasia.storage.runs import Run
from dokimasia.storage.usage import total_usage


class CheckStep(BaseModel):
    """The progress of a check: its run at work, or the verdict on the judge."""

    stage: Literal["planting", "probing", "checked"]
    run: RunBegun | None = Field(
        description="the run of this stage: ask again once it has ended; null where there is a verdict"
    )
    check: JudgeCheck | None = Field(description="the verdict with its reasons; null until both runs are done")


class CheckPreview(BaseModel):
    """The expected calls and cost of a check's runs."""

    planting: RunPreview | None = Field(description="null where the data are planted errors")
    probing: RunPreview | None = Field(description="null until the errors are planted")


def checks_router() -> APIRouter:
    """Return the router of checks."""
    router = json_router("passports")
    schema = invocation_schema(JudgeCheckRequest)
    properties = {name: field for name, field in schema["properties"].items() if name not in UNMEASURED}
    example = {"judge": "sim/judge-blind", "data": "upload:texts.jsonl", "perturber": "sim/judge"}
    router.add_api_route(
        "/judge-checks",
        check_judge,
        methods=["POST"],
        summary="Check a judge",
        description="Begins what is next of a check, planting errors or putting them to the judge, or says whether the judge is "
        "good enough. The same request again, once the run in the reply has ended, goes on; nothing is paid twice.",
        openapi_extra=json_body({**schema, "properties": properties, "examples": [example]}),
        responses=UNAVAILABLE,
    )
    return router


async def check_judge(
    context: Starting,
    request: Request,
    person: Annotated[Caller, Depends(Needs("run"))],
    dry_run: DryRun = False,
) -> CheckStep | CheckPreview:
    """Do the next step of a check, or return the expected calls and cost of its runs."""
    with request_files(context) as places:
        check_request = await read_body(JudgeCheckRequest, request, places)
        if dry_run:
            return await preview_check(context.service, check_request)
        return await next_step(context, check_request, person)


async def preview_check(service: Service, check_request: JudgeCheckRequest) -> CheckPreview:
    """Return the calls and cost of a check's runs; the probe's are known once its errors are planted."""
    planting: RunPreview | None = None
    planted: Path | None = check_request.data
    if (request := check_request.planting) is not None:
        preview = await service.runner.preview(PERTURB.name, request)
        planting = RunPreview.model_validate(preview)
        planted = Path(planting.run) if preview.get("status") == "done" else None
    probing: RunPreview | None = None
    if planted is not None:
        probing = RunPreview.model_validate(await service.runner.preview(PROBE.name, check_request.probing(planted)))
    return CheckPreview(planting=planting, probing=probing)


async def next_step(context: ServiceContext, check_request: JudgeCheckRequest, person: Caller) -> CheckStep:
    """Start the run that a check needs next, or return its verdict.

    Raises:
        InputError: the request cannot be used, or a run did not end as complete.
        RequestRefused: there are labels, and the caller may not decide.
    """
    for name in UNMEASURED:
        if name in check_request.model_fields_set:
            raise InputError(f"{name}: a check of a judge takes no such field")
    if check_request.labels is not None and "review" not in person.scopes:
        raise RequestRefused(
            HTTPStatus.FORBIDDEN,
            f"labels: they are stored as decisions of people, and the token of {person.name} lacks the scope 'review'",
        )
    runner = context.service.runner
    planted, spent = check_request.data, 0.0
    if (request := check_request.planting) is not None:
        run = await runner.submit(PERTURB.name, request, payer=context.payer)
        if await run_in_threadpool(_is_unfinished, context, run, request):
            return CheckStep(stage="planting", run=begun(context, run), check=None)
        planted, spent = Path(run.id), total_usage(context.home, run.id).cost or 0.0
    if check_request.labels is not None:
        await run_in_threadpool(_take_in, context, str(planted), check_request.labels, person)
    request = check_request.probing(planted, spent=spent)
    run = await runner.submit(PROBE.name, request, payer=context.payer)
    if await run_in_threadpool(_is_unfinished, context, run, request):
        return CheckStep(stage="probing", run=begun(context, run), check=None)
    reference = check_request.reference or ""
    check = await run_in_threadpool(
        one_judge_check, context, check_request.judge, [run.id], reference, check_request.seed
    )
    return CheckStep(stage="checked", run=None, check=check)


def _is_unfinished(context: ServiceContext, run: Run, request: RunRequest) -> bool:
    """Return whether a run is not done yet.

    Raises:
        InputError: it is done with more failures than the request allows.
    """
    if run.status != "done":
        return True
    ended = end(context, run.id, max_failures=request.max_failures)
    if ended.end != "complete":
        raise no_verdict_yet(run.id, ended.why or ended.end)
    return False


def _take_in(context: ServiceContext, run: str, labels: Path, person: Caller) -> None:
    who = LABELLER if person.self_named else person.name
    row = context.run(run)
    take_in_lines(context.home, row.id, read_checks(labels), labels.name, who=who, others=person.self_named)
