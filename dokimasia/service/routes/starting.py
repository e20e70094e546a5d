"""The methods there are, and runs of them begun, gone on with and forked: what is asked goes into the queue."""

import inspect
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field
from starlette.concurrency import run_in_threadpool

from dokimasia.domain.judgement import FailureKind
from dokimasia.errors import ConfigError, InputError, Interrupted, NotFound
from dokimasia.operations import runs
from dokimasia.operations.operation import RequestRefused
from dokimasia.operations.runs import RunBegun, begun
from dokimasia.runs.catalogue import OWN, method_named, plugin_methods
from dokimasia.runs.figure_models import published
from dokimasia.runs.forking import ForkRequest
from dokimasia.runs.method import Method
from dokimasia.runs.outcome import RETRYABLE
from dokimasia.runs.requests import Invocation, PromptFolders
from dokimasia.service.problems import may_answer
from dokimasia.service.request_parsing import Q, invocation_schema, json_body, read_request, request_schema
from dokimasia.service.routing import Starting, add_operation, json_router, read_json_body
from dokimasia.service.state import Reader
from dokimasia.service.uploads import RequestFiles
from dokimasia.storage.runs import AT_WORK, Run, now

methods_router = json_router("methods")


class MethodShown(BaseModel):
    """A method: its name, what one of its runs is called, the command that asks for one, and what it takes."""

    name: str
    title: str
    command: str = Field(description="its verb on the command line")
    about: str
    request: dict[str, Any] = Field(description="JSON schema of what POST /api/runs/{name} takes")
    example: dict[str, Any]
    forms: list[str] = Field(description="forms of other programs in which its runs are exported")
    scale: list[float] | None = Field(description="lowest and highest score of a row")
    no_fork: str | None = Field(description="what to do instead where its runs are not forked")
    no_diff: str | None = Field(description="what to do instead where two of its runs are not compared")
    no_retry: str | None = Field(description="what to do instead where its failures cannot be asked anew")


class MethodDetail(MethodShown):
    """A method with the shape of its figures."""

    figures: dict[str, Any] | None = Field(description="JSON schema of a run's figures; null where none is published")


class Methods(BaseModel):
    """The methods in the order of use, then those of plug-ins."""

    methods: list[MethodShown]
    unusable: dict[str, str] = Field(description="plug-ins that cannot be used, and why")


@methods_router.get("/methods")
def methods(person: Reader) -> Methods:
    """List the methods, those of plug-ins among them, with what each takes."""
    found: list[MethodShown] = []
    unusable: dict[str, str] = {}
    for name in (*OWN, *plugin_methods()):
        try:
            found.append(_method_shown(method_named(name)))
        except ConfigError as problem:
            unusable[name] = str(problem)
    return Methods(methods=found, unusable=unusable)


@methods_router.get("/methods/{name}")
def one_method(person: Reader, name: str) -> MethodDetail:
    """Show a method with the shape of its figures."""
    method = known_method(name)
    return MethodDetail(
        **_method_shown(method).model_dump(), figures=None if method.shape is None else published(method)
    )


def known_method(name: str) -> Method[Any, Any]:
    """Return a method by name.

    Raises:
        NotFound: there is none of that name, or the plug-in that brings it cannot be used.
    """
    try:
        return method_named(name)
    except ConfigError as problem:
        names = ", ".join((*OWN, *plugin_methods()))
        raise NotFound(
            str(problem) if name in plugin_methods() else f"no method {name[:80]!r}; there are {names}"
        ) from None


def _method_shown(method: Method[Any, Any]) -> MethodShown:
    asked = request_schema(method)
    return MethodShown(
        name=method.name,
        title=method.title,
        command=method.request.VERB,
        about=inspect.cleandoc(method.request.__doc__ or ""),
        request=asked,
        example=asked["examples"][0],
        forms=list(method.forms),
        scale=None if method.scale is None else list(method.scale),
        no_fork=method.fork if isinstance(method.fork, str) else None,
        no_diff=method.diff,
        no_retry=method.retry,
    )


DryRun = Annotated[
    bool, Query(description="Begin nothing: return the run's id, what it would ask and cost, and its prompts.")
]
UNAVAILABLE = may_answer(503)


class RunPreview(BaseModel):
    """What a run would be, ask and cost; `--dry-run --json` prints the same."""

    model_config = ConfigDict(extra="allow")

    run: str = Field(description="the id that the run would have")
    samples: int
    calls: int
    cost: float | None = Field(description="in US dollars; null where a price is unknown")
    models: dict[str, Any]
    notes: list[str]


class GoneOn(Invocation):
    """What holds for a run that goes on: limits, and prompts in the place of those that it has."""

    prompts: PromptFolders = ()


class Retried(GoneOn):
    """What holds for a run whose failures are asked anew, and which kinds of failure; by default all that can be."""

    kinds: tuple[FailureKind, ...] = Field(default=(), max_length=20, description=f"of {', '.join(RETRYABLE)}")


def runs_router() -> APIRouter:
    """Return the routes: for each method that can be used one that begins its runs, described by what it takes."""
    router = json_router("runs")
    for name in (*OWN, *plugin_methods()):
        try:
            _add(router, method_named(name))
        except ConfigError:
            continue  # GET /api/methods says what is wrong with the plug-in

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


def _add(router: APIRouter, method: Method[Any, Any]) -> None:
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


def _replies(known: str) -> dict[int | str, dict[str, Any]]:
    return {200: {"model": RunBegun | RunPreview, "description": known}, **UNAVAILABLE}


async def _begin_any(
    context: Starting, request: Request, response: Response, method: str, dry_run: DryRun = False
) -> RunBegun | RunPreview:
    """Begin a run of a method that was installed since the service began, or say which methods there are."""
    return await _begin(known_method(method), context, request, response, dry_run=dry_run)


async def _begin(
    method: Method[Any, Any], context: Starting, request: Request, response: Response, *, dry_run: bool
) -> RunBegun | RunPreview:
    with _files_named(context) as places:
        asked = await _asked(method.request, request, places)
        if dry_run:
            response.status_code = HTTPStatus.OK
            return RunPreview.model_validate(await context.service.runner.preview(method.name, asked))
        return await _put(context, response, lambda: context.service.runner.submit(method.name, asked))


async def resume(context: Starting, request: Request, run: str) -> RunBegun:
    """Go on with a run that is not finished; no finished call is sent again."""
    with _files_named(context) as places:
        asked = await _asked(GoneOn, request, places, optional=True)
        found = _at_rest(context.run(run), asked)
        return begun(context, await context.service.runner.resume(found, changes=changes_in(asked)))


async def retry(context: Starting, request: Request, run: str) -> RunBegun:
    """Ask anew what failed in a run; every earlier outcome is kept on record."""
    with _files_named(context) as places:
        asked = await _asked(Retried, request, places, optional=True)
        found = context.run(run)
        if found.status in AT_WORK:
            raise RequestRefused(HTTPStatus.CONFLICT, f"run {found.id} is {found.status}: ask anew when it has ended")
        kinds = asked.kinds or RETRYABLE
        return begun(context, await context.service.runner.resume(found, changes=changes_in(asked), retry=kinds))


async def fork(
    context: Starting, request: Request, response: Response, run: str, dry_run: DryRun = False
) -> RunBegun | RunPreview:
    """Do a finished run again with another judge, model or prompt, as a run of its own."""
    with _files_named(context) as places:
        asked = await _asked(ForkRequest, request, places)
        found = context.run(run)
        if dry_run:
            response.status_code = HTTPStatus.OK
            return RunPreview.model_validate(await context.service.runner.preview_fork(found, asked))
        return await _put(context, response, lambda: context.service.runner.fork(found, asked))


async def _put(context: Starting, response: Response, put: Callable[[], Awaitable[Run]]) -> RunBegun:
    """Put a run into the queue; the status of the reply says whether it is new."""
    began = now()
    run = await put()
    response.status_code = HTTPStatus.CREATED if run.created_at >= began else HTTPStatus.OK
    response.headers["location"] = f"/api/runs/{run.id}"
    return begun(context, run)


async def _asked(model: type[Q], request: Request, places: RequestFiles, *, optional: bool = False) -> Q:
    sent = await read_json_body(request, optional=optional)
    return await run_in_threadpool(read_request, model, sent, places)


def _at_rest(run: Run, asked: GoneOn) -> Run:
    if run.status in AT_WORK and asked.model_fields_set:
        raise RequestRefused(
            HTTPStatus.CONFLICT,
            f"run {run.id} is {run.status}: its limits can be changed when it has ended, or is stopped",
        )
    return run


def changes_in(asked: GoneOn) -> dict[str, Any]:
    """Return what is changed of a run's request."""
    return {name: getattr(asked, name) for name in asked.model_fields_set - {"kinds"}}


@contextmanager
def _files_named(context: Starting) -> Iterator[RequestFiles]:
    """Give where files may lie, and say what goes wrong with the names by which whoever asks knows the files."""
    places = RequestFiles(context.home, context.data_root)
    try:
        yield places
    except Interrupted as problem:
        raise RequestRefused(HTTPStatus.SERVICE_UNAVAILABLE, str(problem)) from None
    except InputError as problem:
        problem.args = (places.shortened(str(problem)),)
        raise
