"""Runs begun, stopped, gone on with and forked: what is asked goes into the queue, and the reply says where to look."""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field
from starlette.concurrency import run_in_threadpool

from dokimasia.domain.judgement import FailureKind
from dokimasia.errors import ConfigError, InputError, Interrupted
from dokimasia.runs.catalogue import OWN, method_named, plugin_methods
from dokimasia.runs.forking import ForkRequest
from dokimasia.runs.method import Method
from dokimasia.runs.outcome import RETRYABLE
from dokimasia.runs.requests import Invocation, PromptFolders
from dokimasia.service.asked import Q, read_asked
from dokimasia.service.describing import asked_schema, request_schema, takes
from dokimasia.service.paths import Places
from dokimasia.service.problems import Refused, may_answer
from dokimasia.service.routes.answering import json_router, json_sent
from dokimasia.service.routes.methods import known_method
from dokimasia.service.routes.replies import RunBegun, RunShown, begun, run_now
from dokimasia.service.state import Service, Starter, TheService
from dokimasia.storage.runs import AT_WORK, Run, now

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


def make_router() -> APIRouter:
    """Return the routes: for each method that can be used one that begins its runs, described by what it takes."""
    router = json_router("runs")
    for name in (*OWN, *plugin_methods()):
        try:
            _add(router, method_named(name))
        except ConfigError:
            continue  # GET /api/methods says what is wrong with the plug-in

    router.add_api_route("/runs/{method}", _begin_any, methods=["POST"], include_in_schema=False, response_model=None)
    for verb, endpoint, taken in (
        ("cancel", cancel, None),
        ("resume", resume, asked_schema(GoneOn)),
        ("retry", retry, asked_schema(Retried)),
    ):
        router.add_api_route(
            f"/runs/{{run}}/{verb}",
            endpoint,
            methods=["POST"],
            openapi_extra=None if taken is None else takes(taken, required=False),
            responses=UNAVAILABLE,
        )
    router.add_api_route(
        "/runs/{run}/fork",
        fork,
        methods=["POST"],
        status_code=HTTPStatus.CREATED,
        openapi_extra=takes({**asked_schema(ForkRequest), "examples": [{"judge": "sim/judge-noisy"}]}),
        responses=_replies("it was there already, or it is a dry run"),
    )
    return router


def _add(router: APIRouter, method: Method[Any, Any]) -> None:
    async def begin(
        service: TheService, person: Starter, request: Request, response: Response, dry_run: DryRun = False
    ) -> RunBegun | RunPreview:
        return await _begin(method, service, request, response, dry_run=dry_run)

    router.add_api_route(
        f"/runs/{method.name}",
        begin,
        methods=["POST"],
        status_code=HTTPStatus.CREATED,
        name=f"begin_{method.name}",
        summary=f"Begin {method.title}",
        description=f"{' '.join((method.request.__doc__ or '').split())} The same request again is the same run.",
        openapi_extra=takes(request_schema(method)),
        responses=_replies("the run was there already, or it is a dry run"),
    )


def _replies(known: str) -> dict[int | str, dict[str, Any]]:
    return {200: {"model": RunBegun | RunPreview, "description": known}, **UNAVAILABLE}


async def _begin_any(
    service: TheService, person: Starter, request: Request, response: Response, method: str, dry_run: DryRun = False
) -> RunBegun | RunPreview:
    """Begin a run of a method that was installed since the service began, or say which methods there are."""
    return await _begin(known_method(method), service, request, response, dry_run=dry_run)


async def _begin(
    method: Method[Any, Any], service: Service, request: Request, response: Response, *, dry_run: bool
) -> RunBegun | RunPreview:
    with _told(service) as places:
        asked = await _asked(method.request, request, places)
        if dry_run:
            response.status_code = HTTPStatus.OK
            return RunPreview.model_validate(await service.runner.preview(method.name, asked))
        return await _put(service, response, lambda: service.runner.submit(method.name, asked))


async def cancel(
    service: TheService,
    person: Starter,
    run: str,
    at_once: Annotated[bool, Query(description="Give up the calls in flight, too.")] = False,
) -> RunShown:
    """Stop a run once the calls in flight are committed; it does not go on by itself."""
    with _told(service):
        found = await service.runner.cancel(service.run(run), at_once=at_once)
    return run_now(service, found)


async def resume(service: TheService, person: Starter, request: Request, run: str) -> RunBegun:
    """Go on with a run that is not finished; no finished call is sent again."""
    with _told(service) as places:
        asked = await _asked(GoneOn, request, places, optional=True)
        found = _at_rest(service.run(run), asked)
        return begun(service, await service.runner.resume(found, changes=changes_in(asked)))


async def retry(service: TheService, person: Starter, request: Request, run: str) -> RunBegun:
    """Ask anew what failed in a run; every earlier outcome is kept on record."""
    with _told(service) as places:
        asked = await _asked(Retried, request, places, optional=True)
        found = service.run(run)
        if found.status in AT_WORK:
            raise Refused(HTTPStatus.CONFLICT, f"run {found.id} is {found.status}: ask anew when it has ended")
        kinds = asked.kinds or RETRYABLE
        return begun(service, await service.runner.resume(found, changes=changes_in(asked), retry=kinds))


async def fork(
    service: TheService, person: Starter, request: Request, response: Response, run: str, dry_run: DryRun = False
) -> RunBegun | RunPreview:
    """Do a finished run again with another judge, model or prompt, as a run of its own."""
    with _told(service) as places:
        asked = await _asked(ForkRequest, request, places)
        found = service.run(run)
        if dry_run:
            response.status_code = HTTPStatus.OK
            return RunPreview.model_validate(await service.runner.preview_fork(found, asked))
        return await _put(service, response, lambda: service.runner.fork(found, asked))


async def _put(service: Service, response: Response, put: Callable[[], Awaitable[Run]]) -> RunBegun:
    """Put a run into the queue; the status of the reply says whether it is new."""
    began = now()
    run = await put()
    response.status_code = HTTPStatus.CREATED if run.created_at >= began else HTTPStatus.OK
    response.headers["location"] = f"/api/runs/{run.id}"
    return begun(service, run)


async def _asked(model: type[Q], request: Request, places: Places, *, optional: bool = False) -> Q:
    sent = await json_sent(request, optional=optional)
    return await run_in_threadpool(read_asked, model, sent, places)


def _at_rest(run: Run, asked: GoneOn) -> Run:
    if run.status in AT_WORK and asked.model_fields_set:
        raise Refused(
            HTTPStatus.CONFLICT,
            f"run {run.id} is {run.status}: its limits can be changed when it has ended, or is stopped",
        )
    return run


def changes_in(asked: GoneOn) -> dict[str, Any]:
    """Return what is changed of a run's request."""
    return {name: getattr(asked, name) for name in asked.model_fields_set - {"kinds"}}


@contextmanager
def _told(service: Service) -> Iterator[Places]:
    """Give the places of files, and say what goes wrong with the names by which whoever asks knows the files."""
    places = Places(service.home, service.data_root)
    try:
        yield places
    except Interrupted as problem:
        raise Refused(HTTPStatus.SERVICE_UNAVAILABLE, str(problem)) from None
    except InputError as problem:
        problem.args = (places.shortened(str(problem)),)
        raise
