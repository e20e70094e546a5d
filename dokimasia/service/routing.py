"""Routes made from operations: parameters, body, right and reply are those that the operation declares."""

import inspect
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from http import HTTPStatus
from pathlib import Path
from typing import Annotated, Any, cast, get_origin

import fastapi
import orjson
from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.routing import APIRoute
from pydantic import BaseModel

from dokimasia.errors import InputError, NotFound
from dokimasia.operations.operation import (
    AFTER,
    LIMIT,
    FileReply,
    Operation,
    OperationContext,
    Parameter,
    RequestRefused,
    operation_of,
)
from dokimasia.runs.requests import PLAIN
from dokimasia.service.guard import Caller
from dokimasia.service.problems import may_answer
from dokimasia.service.request_parsing import json_body, validate_json
from dokimasia.service.response_cache import keep
from dokimasia.service.results import figures_of
from dokimasia.service.state import IN_TURN, Needs, Service, service_of
from dokimasia.service.uploads import RequestFiles
from dokimasia.storage.runs import Run

JSON = "application/json"
READ_AS_DATA = frozenset({JSON, "application/yaml"})
"""Media types of files that readers of the description take for data, and not for text."""

Limit = Annotated[int, Query(**LIMIT.schema)]
After = Annotated[str | None, Query(**AFTER.schema)]

NEVER_RUN = {"content-security-policy": "default-src 'none'; sandbox"}
"""Headers of a file: a browser that shows it runs nothing of it."""


@dataclass(kw_only=True)
class ServiceContext(OperationContext):
    """What an operation works with in a service: its home and queue, and the request that asks for it."""

    served = True
    service: Service = field(repr=False)
    request: Request = field(repr=False)

    @contextmanager
    def files(self) -> Iterator[Callable[[str, str], Path]]:
        """Give what finds an upload, or a file below the data root; what goes wrong names files as whoever asks knows them."""
        places = RequestFiles(self.home, self.data_root)
        try:
            yield lambda text, name: places.named(text, name, PLAIN)
        except InputError as problem:
            problem.args = (places.shortened(str(problem)),)
            raise

    def cache(self, *runs: Run) -> None:
        """Have the answer given again until something changes, to the same person."""
        keep(self.request, *runs)

    def figures(self, run: Run) -> dict[str, Any]:
        """Return a run's figures, worked out once for each state that the home is in."""
        return figures_of(self.service, run)

    async def cancel(self, run: Run, *, at_once: bool = False) -> Run:
        """Stop a run, or take it out of the queue, and return its row."""
        return await self.service.runner.cancel(run, at_once=at_once)

    async def delete(self, run: Run) -> None:
        """Delete a run that is not in the queue.

        Raises:
            Refused: it is, or an unfinished run still needs it.
        """
        try:
            await self.service.runner.delete(run)
        except NotFound:
            raise
        except InputError as needed:
            raise RequestRefused(HTTPStatus.CONFLICT, str(needed)) from None


def context_of(needs: Needs) -> Any:
    """Return the dependency of a route that works with a `ServiceContext`, and that whoever lacks a right may not ask."""

    def context(request: Request, person: Annotated[Caller, Depends(needs)]) -> ServiceContext:
        service = service_of(request)
        return ServiceContext(
            settings=service.settings,
            home=service.home,
            person=person.name,
            self_named=person.self_named,
            redact=service.redact,
            data_root=service.data_root,
            service=service,
            request=request,
        )

    return Depends(context)


Reading = Annotated[ServiceContext, context_of(Needs("read"))]
Starting = Annotated[ServiceContext, context_of(Needs("run"))]
Reviewing = Annotated[ServiceContext, context_of(Needs("review"))]
CONTEXTS = {"read": Reading, "run": Starting, "review": Reviewing}
"""By the right that is needed: what a route is given."""


class _Redacted(APIRoute):
    """A route whose JSON holds no secret, whatever it was made from."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        answer = super().get_route_handler()

        async def redacted(request: Request) -> Response:
            response = await answer(request)
            if response.headers.get("content-type", "").startswith(JSON):
                body = bytes(response.body)
                shown = service_of(request).redact(body.decode()).encode()
                if shown != body:
                    response.body = shown
                    response.headers["content-length"] = str(len(shown))
            return response

        return redacted


def json_router(*tags: str | Enum) -> APIRouter:
    """Return a router whose routes answer JSON without secrets."""
    return APIRouter(tags=list(tags), route_class=_Redacted)


def add_operation(router: APIRouter, function: Callable[..., Any]) -> None:
    """Add the route of an operation."""
    declared = operation_of(function)
    how: dict[str, Any] = {}
    responses = may_answer(*declared.replies)
    if declared.files:
        how["response_class"] = Response
        responses |= file_reply(*declared.files, description=declared.file)
    body = inspect.signature(function).parameters.get("body")
    if body is not None:
        how["openapi_extra"] = json_body(body.annotation)
    router.add_api_route(
        declared.path,
        _endpoint(declared),
        methods=[declared.verb],
        status_code=declared.status,
        tags=[] if router.tags else [declared.tag],
        name=function.__name__,
        responses=responses,
        dependencies=[IN_TURN] if declared.slow else [],
        **how,
    )


def _endpoint(declared: Operation) -> Callable[..., Any]:
    """Return what FastAPI calls in an operation's place: in the event loop where the operation is asynchronous."""
    function = declared.function

    def answer(**arguments: Any) -> Any:
        with _conflicts(declared):
            found = function(**arguments)
        return _file_response(found) if isinstance(found, FileReply) else found

    async def answer_in_loop(**arguments: Any) -> Any:
        with _conflicts(declared):
            return await function(**arguments)

    endpoint = answer_in_loop if inspect.iscoroutinefunction(function) else answer
    signature = inspect.signature(function)
    parameters = [
        _http_parameter(declared, parameter)
        for name, parameter in signature.parameters.items()
        if name not in declared.local
    ]
    returned = Response if declared.files else signature.return_annotation
    endpoint.__doc__ = function.__doc__
    endpoint.__signature__ = inspect.Signature(parameters, return_annotation=returned)  # pyright: ignore[reportFunctionMemberAccess]
    return endpoint


def _http_parameter(declared: Operation, parameter: inspect.Parameter) -> inspect.Parameter:
    """Return a parameter of an operation as FastAPI reads it from a request."""
    annotation = parameter.annotation
    if parameter.name == "context":
        annotation = CONTEXTS[declared.right]
    elif parameter.name == "body":
        annotation = Annotated[annotation, body_of(annotation)]
    elif get_origin(annotation) is Annotated:
        kind, *notes = annotation.__origin__, *annotation.__metadata__
        place = fastapi.Path if f"{{{parameter.name}" in declared.path else Query
        for note in notes:
            if isinstance(note, Parameter):
                annotation = Annotated[kind, place(**note.schema)]
    return parameter.replace(annotation=annotation, kind=inspect.Parameter.KEYWORD_ONLY)


@contextmanager
def _conflicts(declared: Operation) -> Iterator[None]:
    """Answer 409 to an input error where the operation says that it is a conflict."""
    try:
        yield
    except NotFound:
        raise
    except InputError as needed:
        if not declared.conflict:
            raise
        raise RequestRefused(HTTPStatus.CONFLICT, str(needed)) from None


def _file_response(file: FileReply) -> Response:
    headers = dict(file.headers)
    if file.name:
        headers = {"content-disposition": f'attachment; filename="{file.name}"', **NEVER_RUN, **headers}
    return Response(file.data, media_type=file.media_type, headers=headers)


def file_reply(*media_types: str, description: str = "the file") -> dict[int | str, dict[str, Any]]:
    """Return how a route that answers with a file is described, for its `responses`."""
    content: dict[str, Any] = {}
    for name in media_types:
        content[name] = {} if name in READ_AS_DATA else {"schema": {"type": "string"}}
    return {200: {"description": description, "content": content}}


async def read_json_body(request: Request, *, optional: bool = False) -> Any:
    """Return the body of a request as plain JSON; with `optional` one without a body is an empty object.

    Raises:
        Refused: it is none, of another type, or holds a whole number that a home has no room for.
    """
    body = await request.body()
    if optional and not body:
        return {}
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != JSON:
        raise RequestRefused(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"the body is {kind[:80] or 'of no type'}: send it as {JSON}"
        )
    try:
        sent = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise RequestRefused(HTTPStatus.UNPROCESSABLE_ENTITY, f"the body is no JSON: {error}") from None
    if not all(-(2**63) <= number < 2**63 for number in _whole_numbers(sent)):
        raise RequestRefused(HTTPStatus.UNPROCESSABLE_ENTITY, "the body holds a whole number of more than 64 bits")
    return sent


def body_of(model: type[BaseModel]) -> Any:
    """Return the dependency of a route that takes a body of a model."""

    async def read(request: Request) -> Any:
        return validate_json(model, await read_json_body(request))

    return Depends(read)


def _whole_numbers(value: Any) -> Iterator[int]:
    if isinstance(value, Mapping):
        value = list(cast("Mapping[str, Any]", value).values())
    if isinstance(value, list):
        for inside in cast("list[Any]", value):
            yield from _whole_numbers(inside)
    elif type(value) is int:
        yield value
