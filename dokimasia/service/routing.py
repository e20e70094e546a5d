"""FastAPI routes made from operations, with their declared parameters, body, right and reply."""

import inspect
import os
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from http import HTTPStatus
from pathlib import Path
from typing import Annotated, get_origin

import fastapi
import orjson
from fastapi import APIRouter, Depends, Query, Request, Response, params
from fastapi.datastructures import Default
from fastapi.responses import JSONResponse, StreamingResponse
from fastapi.routing import APIRoute
from pydantic import BaseModel

from dokimasia.domain.call import ModelSpec
from dokimasia.domain.identity import JsonObject
from dokimasia.errors import InputError, NotFound
from dokimasia.gateway.budget import Budget
from dokimasia.operations.operation import (
    AFTER,
    LIMIT,
    FileReply,
    Operation,
    OperationContext,
    Parameter,
    RequestRefused,
    operation_of,
    reply_json,
)
from dokimasia.runs.requests import PLAIN
from dokimasia.service.guard import Caller
from dokimasia.service.problems import may_answer
from dokimasia.service.request_parsing import json_body, leaves, validate_json
from dokimasia.service.response_cache import keep
from dokimasia.service.results import figures_of
from dokimasia.service.state import IN_TURN, Needs, Service, service_of
from dokimasia.service.uploads import RequestFiles
from dokimasia.settings import Settings
from dokimasia.storage.runs import Run

JSON = "application/json"
READ_AS_DATA = frozenset({JSON, "application/yaml"})
"""Media types that readers of the OpenAPI description treat as data, not text."""

Limit = Annotated[int, Query(**LIMIT.schema)]
After = Annotated[str | None, Query(**AFTER.schema)]

NEVER_RUN = {"content-security-policy": "default-src 'none'; sandbox"}
"""Headers of a file reply that keep a browser from running scripts in it."""


@dataclass(kw_only=True)
class ServiceContext(OperationContext):
    """The context of an operation in a service: its home and queue, and the HTTP request."""

    served = True
    service: Service = field(repr=False)
    request: Request = field(repr=False)

    @contextmanager
    def files(self) -> Iterator[Callable[[str, str], Path]]:
        """Yield a function that finds uploads and files below the data root; errors name files as the caller did."""
        with RequestFiles(self.home, self.data_root).named_as_sent() as places:
            yield lambda text, name: places.resolve(text, name, PLAIN)

    @property
    def payer(self) -> str:
        """The holder of the request's token, whose allowance its runs count against; empty without a token."""
        if self.self_named:
            return ""
        return self.person

    def cache(self, *runs: Run) -> None:
        """Cache the response for the same person until the home changes."""
        keep(self.request, *runs)

    def figures(self, run: Run) -> JsonObject:
        """Return a run's figures, cached for each state of the home."""
        return figures_of(self.service, run)

    def budgets_for(self, models: Mapping[str, ModelSpec]) -> Sequence[Budget]:
        """Return the budgets of the service and of the token's holder.

        Raises:
            ConfigError: a model is not permitted, its price is unknown and spending is limited, or nothing is left to
                spend.
        """
        return self.service.runner.budgets_for(models, self.payer)

    async def cancel(self, run: Run, *, at_once: bool = False) -> Run:
        """Stop a run, or remove it from the queue, and return its row."""
        return await self.service.runner.cancel(run, at_once=at_once)

    def configure(self, settings: Settings) -> None:
        """Have the service, its queue and its redaction use other settings from now on."""
        super().configure(settings)
        self.service.configure(settings)

    async def delete(self, run: Run) -> None:
        """Delete a run that is not in the queue.

        Raises:
            RequestRefused: it is in the queue, or an unfinished run needs it.
        """
        try:
            await self.service.runner.delete(run)
        except NotFound:
            raise
        except InputError as problem:
            raise RequestRefused(HTTPStatus.CONFLICT, str(problem)) from None


def context_of(needs: Needs) -> params.Depends:
    """Return the dependency of a route that needs a `ServiceContext` and a right."""

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
Operating = Annotated[ServiceContext, context_of(Needs("operate"))]
CONTEXTS = {"read": Reading, "run": Starting, "review": Reviewing, "operate": Operating}
"""Types of context by the required right."""


class _Redacted(APIRoute):
    """A route whose JSON is redacted."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[object, object, Response]]:
        handler = super().get_route_handler()

        async def redacted(request: Request) -> Response:
            response = await handler(request)
            if response.headers.get("content-type", "").startswith(JSON):
                body = bytes(response.body)
                redacted_body = service_of(request).redact(body.decode()).encode()
                if redacted_body != body:
                    response.body = redacted_body
                    response.headers["content-length"] = str(len(redacted_body))
            return response

        return redacted


def json_router(*tags: str | Enum) -> APIRouter:
    """Return a router whose JSON is redacted."""
    return APIRouter(tags=list(tags), route_class=_Redacted)


def add_operation(router: APIRouter, function: Callable[..., object]) -> None:
    """Add the route of an operation."""
    operation = operation_of(function)
    responses = may_answer(*operation.replies)
    if operation.files:
        responses |= file_reply(*operation.files, description=operation.file)
    body = inspect.signature(function).parameters.get("body")
    router.add_api_route(
        operation.path,
        _endpoint(operation),
        methods=[operation.verb],
        status_code=operation.status,
        tags=[] if router.tags else [operation.tag],
        name=function.__name__,
        responses=responses,
        dependencies=[IN_TURN] if operation.slow else [],
        response_class=Response if operation.files else Default(JSONResponse),
        openapi_extra=None if body is None else json_body(body.annotation),
    )


def _endpoint(operation: Operation) -> Callable[..., object]:
    """Return the endpoint that FastAPI calls, asynchronous if the operation is."""
    function = operation.function

    def answer(**arguments: object) -> object:
        with _conflicts(operation):
            reply = function(**arguments)
        return _response(operation, reply)

    async def answer_in_loop(**arguments: object) -> object:
        with _conflicts(operation):
            reply = await function(**arguments)
        return _response(operation, reply)

    endpoint = answer_in_loop if inspect.iscoroutinefunction(function) else answer
    signature = inspect.signature(function)
    parameters = [
        _http_parameter(operation, parameter)
        for name, parameter in signature.parameters.items()
        if name not in operation.local
    ]
    return_type = signature.return_annotation
    if operation.files:
        return_type = Response
    elif operation.figures:
        return_type = JsonObject
    endpoint.__doc__ = function.__doc__
    endpoint.__signature__ = inspect.Signature(parameters, return_annotation=return_type)  # pyright: ignore[reportFunctionMemberAccess]
    return endpoint


def _http_parameter(operation: Operation, parameter: inspect.Parameter) -> inspect.Parameter:
    """Return a parameter of an operation with the annotation that FastAPI reads."""
    annotation = parameter.annotation
    if parameter.name == "context":
        annotation = CONTEXTS[operation.right]
    elif parameter.name == "body":
        annotation = Annotated[annotation, body_of(annotation)]
    elif get_origin(annotation) is Annotated:
        kind, *notes = annotation.__origin__, *annotation.__metadata__
        place = fastapi.Path if f"{{{parameter.name}" in operation.path else Query
        for note in notes:
            if isinstance(note, Parameter):
                annotation = Annotated[kind, place(**note.schema)]
    return parameter.replace(annotation=annotation, kind=inspect.Parameter.KEYWORD_ONLY)


@contextmanager
def _conflicts(operation: Operation) -> Iterator[None]:
    """Answer input errors with status 409 if the operation declares them as conflicts."""
    try:
        yield
    except NotFound:
        raise
    except InputError as problem:
        if not operation.conflict:
            raise
        raise RequestRefused(HTTPStatus.CONFLICT, str(problem)) from None


def _response(operation: Operation, reply: FileReply | BaseModel | JsonObject) -> Response | BaseModel | JsonObject:
    """Return an operation's reply in a form that FastAPI turns into a response."""
    if isinstance(reply, FileReply):
        return _file_response(reply)
    if operation.figures and isinstance(reply, BaseModel):
        return reply_json(reply)
    return reply


def _file_response(file: FileReply) -> Response:
    headers = dict(file.headers)
    if file.name:
        headers = {"content-disposition": f'attachment; filename="{file.name}"', **NEVER_RUN, **headers}
    if isinstance(file.content, bytes):
        return Response(file.content, media_type=file.media_type, headers=headers)
    headers["content-length"] = str(file.content.seek(0, os.SEEK_END))
    return StreamingResponse(file.parts(), media_type=file.media_type, headers=headers)


def file_reply(*media_types: str, description: str = "the file") -> dict[int | str, JsonObject]:
    """Return the `responses` of a route that answers with a file, for the OpenAPI description."""
    content: dict[str, JsonObject] = {}
    for name in media_types:
        content[name] = {} if name in READ_AS_DATA else {"schema": {"type": "string"}}
    return {200: {"description": description, "content": content}}


async def read_json_body(request: Request, *, optional: bool = False) -> object:
    """Return the body of a request as plain JSON; with `optional`, a missing body is an empty object.

    Raises:
        RequestRefused: the body is not JSON, has another media type, or contains an integer of more than 64 bits.
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
        value = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise RequestRefused(HTTPStatus.UNPROCESSABLE_ENTITY, f"the body is no JSON: {error}") from None
    if not all(-(2**63) <= leaf < 2**63 for leaf in leaves(value) if type(leaf) is int):
        raise RequestRefused(HTTPStatus.UNPROCESSABLE_ENTITY, "the body holds a whole number of more than 64 bits")
    return value


def body_of(model: type[BaseModel]) -> params.Depends:
    """Return the dependency of a route whose body is a model."""

    async def read(request: Request) -> BaseModel:
        return validate_json(model, await read_json_body(request))

    return Depends(read)
