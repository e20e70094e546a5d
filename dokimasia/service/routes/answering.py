"""How routes answer alike: JSON without secrets, one page of a list at a time, and files that no browser runs."""

from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from enum import Enum
from http import HTTPStatus
from typing import Annotated, Any, TypeVar, cast

import orjson
from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.routing import APIRoute
from pydantic import BaseModel, ConfigDict, Field

from dokimasia.errors import InputError
from dokimasia.service.asked import checked
from dokimasia.service.problems import Refused
from dokimasia.service.state import service_of

T = TypeVar("T")

JSON = "application/json"
READ_AS_DATA = frozenset({JSON, "application/yaml"})
"""Media types of files that readers of the description take for data, and not for text."""

MOST = 500
"""Entries of one page of a list."""

Limit = Annotated[int, Query(ge=1, le=MOST, description="How many entries at most.")]
After = Annotated[
    str | None,
    Query(max_length=4000, description="Go on after the page before, by its `next`; without it from the start."),
]

NEVER_RUN = {"content-security-policy": "default-src 'none'; sandbox"}
"""Headers of a file: a browser that shows it runs nothing of it."""


class Body(BaseModel):
    """Base of what is sent to a route: a field that it does not know is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Listed(BaseModel):
    """Base of a page of a list: how many entries there are in all, and what `after` is for the next page (null: the last)."""

    total: int = Field(ge=0)
    next: str | None = None


class _Redacted(APIRoute):
    """A route whose JSON holds no secret, whatever it was made from."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        answer = super().get_route_handler()

        async def redacted(request: Request) -> Response:
            response = await answer(request)
            if response.headers.get("content-type", "").startswith(JSON):
                body = bytes(response.body)
                told = service_of(request).redact(body.decode()).encode()
                if told != body:
                    response.body = told
                    response.headers["content-length"] = str(len(told))
            return response

        return redacted


def json_router(*tags: str | Enum) -> APIRouter:
    """Return a router whose routes answer JSON without secrets."""
    return APIRouter(tags=list(tags), route_class=_Redacted)


async def json_sent(request: Request, *, optional: bool = False) -> Any:
    """Return the body of a request as plain JSON; with `optional` one without a body is an empty object.

    Raises:
        Refused: it is none, of another type, or holds a whole number that a home has no room for.
    """
    body = await request.body()
    if optional and not body:
        return {}
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != JSON:
        raise Refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"the body is {kind[:80] or 'of no type'}: send it as {JSON}")
    try:
        sent = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise Refused(HTTPStatus.UNPROCESSABLE_ENTITY, f"the body is no JSON: {error}") from None
    if not all(-(2**63) <= one < 2**63 for one in _whole_numbers(sent)):
        raise Refused(HTTPStatus.UNPROCESSABLE_ENTITY, "the body holds a whole number of more than 64 bits")
    return sent


def sent_as(model: type[BaseModel]) -> Any:
    """Return the dependency of a route that takes a body of a model."""

    async def read(request: Request) -> Any:
        return checked(model, await json_sent(request))

    return Depends(read)


def _whole_numbers(value: Any) -> Iterator[int]:
    if isinstance(value, dict):
        value = list(cast("dict[str, Any]", value).values())
    if isinstance(value, list):
        for one in cast("list[Any]", value):
            yield from _whole_numbers(one)
    elif type(value) is int:
        yield value


def page_of(
    entries: Sequence[T], key: Callable[[T], str], *, limit: int, after: str | None
) -> tuple[Sequence[T], str | None]:
    """Return the entries of a page, and what names the next one.

    Args:
        entries: all of the list, in its order.
        key: what tells an entry from the others.
        limit: how many are wanted.
        after: the key of the last entry of the page before.

    Raises:
        InputError: there is no such entry (any more).
    """
    begin = 0
    if after is not None:
        begin = next((at for at, one in enumerate(entries, 1) if key(one) == after), 0)
        if not begin:
            raise InputError(f"after: the list has no entry {after[:80]!r} (any more): begin again without `after`")
    shown = entries[begin : begin + limit]
    return shown, key(shown[-1]) if shown and begin + limit < len(entries) else None


def counted_page(entries: Sequence[T], *, limit: int, after: str | None) -> tuple[Sequence[T], str | None]:
    """Return the entries of a page of a list without names, whose pages go by place.

    Raises:
        InputError: `after` is no place of the list.
    """
    if after is not None and not (
        after.isascii() and after.isdigit() and len(after) < 10 and int(after) <= len(entries)
    ):
        raise InputError(f"after: {after[:80]!r} is no `next` of a page of this list")
    begin = int(after or 0)
    end = begin + limit
    return entries[begin:end], str(end) if end < len(entries) else None


def file_answer(data: bytes, media_type: str, name: str, *, headers: Mapping[str, str] | None = None) -> Response:
    """Return a file to be saved under a name of plain characters."""
    shown = {"content-disposition": f'attachment; filename="{name}"', **NEVER_RUN, **(headers or {})}
    return Response(data, media_type=media_type, headers=shown)


def file_reply(*media_types: str, description: str = "the file") -> dict[int | str, dict[str, Any]]:
    """Return how a route that answers with a file is described, for its `responses`."""
    content: dict[str, Any] = {
        one: {} if one in READ_AS_DATA else {"schema": {"type": "string"}} for one in media_types
    }
    return {200: {"description": description, "content": content}}
