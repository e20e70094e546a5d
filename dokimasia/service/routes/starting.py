"""Routes for methods, and for starting, resuming and forking their runs, which enter the queue."""

import inspect
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field, JsonValue
from starlette.concurrency import run_in_threadpool

from dokimasia.domain.identity import JsonObject
from dokimasia.domain.judgement import FailureKind
from dokimasia.errors import ConfigError, Interrupted, NotFound
from dokimasia.operations import runs
from dokimasia.operations.operation import RequestRefused
from dokimasia.operations.runs import RunBegun, begun
from dokimasia.runs.catalogue import OWN, method_named, plugin_methods
from dokimasia.runs.figure_models import figures_schema
from dokimasia.runs.forking import ForkRequest
from dokimasia.runs.method import AnyMethod
from dokimasia.runs.outcome import RETRYABLE
from dokimasia.runs.requests import Invocation, PromptFolders
from dokimasia.service.problems import may_answer
from dokimasia.service.request_parsing import Q, example_of, invocation_schema, json_body, read_request, request_schema
from dokimasia.service.routing import Starting, add_operation, json_router, read_json_body
from dokimasia.service.state import Reader
from dokimasia.service.uploads import RequestFiles
from dokimasia.storage.runs import AT_WORK, Run, now

methods_router = json_router("methods")


class MethodShown(BaseModel):
    """A method: its name, the name of its runs, its command, and its request."""

    name: str
    title: str
    command: str = Field(description="its verb on the command line")
    about: str
    request: JsonObject = Field(description="JSON schema of what POST /api/runs/{name} takes")
    example: JsonObject
    forms: list[str] = Field(description="forms of other programs in which its runs are exported")
    scale: list[float] | None = Field(description="lowest and highest score of a row")
    no_fork: str | None = Field(description="what to do instead where its runs are not forked")
    no_diff: str | None = Field(description="what to do instead where two of its runs are not compared")
    no_retry: str | None = Field(description="what to do instead where its failures cannot be asked anew")


class MethodDetail(MethodShown):
    """A method with the schema of its figures."""

    figures: JsonObject | None = Field(description="JSON schema of a run's figures; null where none is published")


class Methods(BaseModel):
    """The methods in the order of use, then those of plug-ins."""

    methods: list[MethodShown]
    unusable: dict[str, str] = Field(description="plug-ins that cannot be used, and why")


@methods_router.get("/methods")
def methods(person: Reader) -> Methods:
    """List the methods, including those of plug-ins, with their requests."""
    shown_methods: list[MethodShown] = []
    unusable: dict[str, str] = {}
    for name in (*OWN, *plugin_methods()):
        try:
            shown_methods.append(_method_shown(method_named(name)))
        except ConfigError as problem:
            unusable[name] = str(problem)
    return Methods(methods=shown_methods, unusable=unusable)


@methods_router.get("/methods/{name}")
def one_method(person: Reader, name: str) -> MethodDetail:
    """Show a method with the schema of its figures."""
    method = known_method(name)
    return MethodDetail(
        **_method_shown(method).model_dump(), figures=None if method.shape is None else figures_schema(method)
    )


def known_method(name: str) -> AnyMethod:
    """Return a method by name.

    Raises:
        NotFound: there is no such method, or its plug-in cannot be used.
    """
    try:
        return method_named(name)
    except ConfigError as problem:
        names = ", ".join((*OWN, *plugin_methods()))
        raise NotFound(
            str(problem) if name in plugin_methods() else f"no method {name[:80]!r}; there are {names}"
        ) from None


def _method_shown(method: AnyMethod) -> MethodShown:
    return MethodShown(
        name=method.name,
        title=method.title,
        command=method.request.VERB,
        about=inspect.cleandoc(method.request.__doc__ or ""),
        request=request_schema(method),
        example=example_of(method.request),
        forms=list(method.export.forms),
        scale=None if method.scores.scale is None else list(method.scores.scale),
        no_fork=method.reruns.no_fork,
        no_diff=method.scores.no_diff,
        no_retry=method.reruns.no_retry,
    )


DryRun = Annotated[
    bool, Query(description="Begin nothing: return the run's id, what it would ask and cost, and its prompts.")
]
UNAVAILABLE = may_answer(503)


class RunPreview(BaseModel):
    """The id, calls and cost that a run would have; `--dry-run --json` prints the same."""

    model_config = ConfigDict(extra="allow")

    run: str = Field(description="the id that the run would have")
    samples: int
    calls: int
    cost: float | None = Field(description="in US dollars; null where a price is unknown")
    models: JsonObject
    notes: list[str]


class GoneOn(Invocation):
    """Options of a resumed run: limits, and prompts that replace its own."""

    prompts: PromptFolders = ()


class Retried(GoneOn):
    """Options of a retried run, and the kinds of failure to retry; by default all that can be retried."""

    kinds: tuple[FailureKind, ...] = Field(default=(), max_length=20, description=f"of {', '.join(RETRYABLE)}")


def runs_router() -> APIRouter:
    """Return the router of runs, with a route for each usable method that starts its runs."""
    router = json_router("runs")
    for name in (*OWN, *plugin_methods()):
        try:
            _add(router, method_named(name))
        except ConfigError:
            continue  # GET /api/methods reports the fault of the plug-in

    router.add_api_route("/runs/{method}", _begin_any, methods=["POST"], include_in_schema=False, response_model=None)
    add_operation(router, runs.cancel)
    for endpoint, model in ((resume, GoneOn), (retry, Retried)):
        router.add_api_route(
            f"/runs/{{run}}/{endpoint.__name__}",
            endpoint,
            methods=["POST"],
            openapi_extra=json_body(invocation_schema(model), required=False),
            responses=UNAVAILABLE,
        )
    router.add_api_route(
        "/runs/{run}/fork",
        fork,
        methods=["POST"],
        status_code=HTTPStatus.CREATED,
        openapi_extra=json_body({**invocation_schema(ForkRequest), "examples": [{"judge": "sim/judge-noisy"}]}),
        responses=_replies("it was there already, or it is a dry run"),
    )
    return router


def _add(router: APIRouter, method: AnyMethod) -> None:
    async def begin(
        context: Starting, request: Request, response: Response, dry_run: DryRun = False
    ) -> RunBegun | RunPreview:
        return await _begin(method, context, request, response, dry_run=dry_run)

    router.add_api_route(
        f"/runs/{method.name}",
        begin,
        methods=["POST"],
        status_code=HTTPStatus.CREATED,
        name=f"begin_{method.name}",
        summary=f"Begin {method.title}",
        description=f"{' '.join((method.request.__doc__ or '').split())} The same request again is the same run.",
        openapi_extra=json_body(request_schema(method)),
        responses=_replies("the run was there already, or it is a dry run"),
    )


def _replies(description: str) -> dict[int | str, JsonObject]:
    return {200: {"model": RunBegun | RunPreview, "description": description}, **UNAVAILABLE}


async def _begin_any(
    context: Starting, request: Request, response: Response, method: str, dry_run: DryRun = False
) -> RunBegun | RunPreview:
    """Start a run of a method that was installed after the service started, or name the methods."""
    return await _begin(known_method(method), context, request, response, dry_run=dry_run)


async def _begin(
    method: AnyMethod, context: Starting, request: Request, response: Response, *, dry_run: bool
) -> RunBegun | RunPreview:
    with request_files(context) as places:
        body = await read_body(method.request, request, places)
        if dry_run:
            response.status_code = HTTPStatus.OK
            return RunPreview.model_validate(await context.service.runner.preview(method.name, body))
        return await _submit(
            context, response, lambda: context.service.runner.submit(method.name, body, payer=context.payer)
        )


async def resume(context: Starting, request: Request, run: str, dry_run: DryRun = False) -> RunBegun | RunPreview:
    """Continue an unfinished run; no finished call is sent again."""
    with request_files(context) as places:
        body = await read_body(GoneOn, request, places, optional=True)
        row = _require_changeable(context.run(run), body)
        if dry_run:
            preview = await context.service.runner.preview_resume(row, changes=changes_in(body))
            return RunPreview.model_validate(preview)
        return begun(context, await context.service.runner.resume(row, changes=changes_in(body), payer=context.payer))


async def retry(context: Starting, request: Request, run: str, dry_run: DryRun = False) -> RunBegun | RunPreview:
    """Retry the failed items of a run; every earlier outcome is kept on record."""
    with request_files(context) as places:
        body = await read_body(Retried, request, places, optional=True)
        row = context.run(run)
        if row.status in AT_WORK:
            raise RequestRefused(HTTPStatus.CONFLICT, f"run {row.id} is {row.status}: ask anew when it has ended")
        kinds = body.kinds or RETRYABLE
        if dry_run:
            preview = await context.service.runner.preview_resume(row, changes=changes_in(body), retry=kinds)
            return RunPreview.model_validate(preview)
        return begun(
            context,
            await context.service.runner.resume(row, changes=changes_in(body), retry=kinds, payer=context.payer),
        )


async def fork(
    context: Starting, request: Request, response: Response, run: str, dry_run: DryRun = False
) -> RunBegun | RunPreview:
    """Repeat a finished run with another judge, model or prompt, as a run of its own."""
    with request_files(context) as places:
        body = await read_body(ForkRequest, request, places)
        row = context.run(run)
        if dry_run:
            response.status_code = HTTPStatus.OK
            return RunPreview.model_validate(await context.service.runner.preview_fork(row, body))
        return await _submit(context, response, lambda: context.service.runner.fork(row, body, payer=context.payer))


async def _submit(context: Starting, response: Response, put: Callable[[], Awaitable[Run]]) -> RunBegun:
    """Put a run into the queue; the status of the response says whether it is new."""
    began = now()
    run = await put()
    response.status_code = HTTPStatus.CREATED if run.created_at >= began else HTTPStatus.OK
    response.headers["location"] = f"/api/runs/{run.id}"
    return begun(context, run)


async def read_body(model: type[Q], request: Request, places: RequestFiles, *, optional: bool = False) -> Q:
    value = await read_json_body(request, optional=optional)
    return await run_in_threadpool(read_request, model, value, places)


def _require_changeable(run: Run, changes: GoneOn) -> Run:
    if run.status in AT_WORK and changes.model_fields_set:
        raise RequestRefused(
            HTTPStatus.CONFLICT,
            f"run {run.id} is {run.status}: its limits can be changed when it has ended, or is stopped",
        )
    return run


def changes_in(changes: GoneOn) -> dict[str, JsonValue]:
    """Return the changes to a run's request."""
    return {name: getattr(changes, name) for name in changes.model_fields_set - {"kinds"}}


@contextmanager
def request_files(context: Starting) -> Iterator[RequestFiles]:
    """Yield the places where files may be; errors name files as the caller did."""
    try:
        with RequestFiles(context.home, context.data_root).named_as_sent() as places:
            yield places
    except Interrupted as problem:
        raise RequestRefused(HTTPStatus.SERVICE_UNAVAILABLE, str(problem)) from None
