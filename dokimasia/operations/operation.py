"""Declaration of operations: HTTP method, path, required right, parameters and reply."""

import inspect
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Annotated, Any, Literal, TypeVar, cast
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from dokimasia.domain.call import ModelSpec
from dokimasia.domain.identity import JsonObject, Value
from dokimasia.errors import InputError, NotFound
from dokimasia.gateway.budget import Budget
from dokimasia.log import Redactor
from dokimasia.report.fields import as_json
from dokimasia.runs.catalogue import method_of
from dokimasia.settings import Settings
from dokimasia.storage.home import Home
from dokimasia.storage.naming import resolve_run
from dokimasia.storage.runs import AT_WORK, Run, get_run
from dokimasia.storage.threads import queue

T = TypeVar("T")
R = TypeVar("R")
F = TypeVar("F", bound=Callable[..., object])

Right = Literal["read", "run", "review", "operate"]
"""`read`: see everything; `run`: start, stop and delete runs, and upload data; `review`: decide items that wait for people;
`operate`: add, change, remove and check the models that runs may ask."""

MOST = 500
"""The maximum number of entries on a page of a list."""

_PLACEHOLDER = re.compile(r"\{(\w+)(?::path)?\}")


class Parameter:
    """Bounds and description of a parameter, as in the OpenAPI description."""

    def __init__(self, **schema: Any) -> None:
        self.schema = schema


LIMIT = Parameter(ge=1, le=MOST, description="How many entries at most.")
AFTER = Parameter(max_length=4000, description="Go on after the page before, by its `next`; without it from the start.")
Limit = Annotated[int, LIMIT]
After = Annotated[str | None, AFTER]


class RequestRefused(Exception):
    """A refused request, with its HTTP status, for refusals that no error of this package fits."""

    def __init__(self, status: int, detail: str, *, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.headers = dict(headers or {})


class Body(BaseModel):
    """Base of request bodies; an unknown field is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ListPage(BaseModel):
    """Base of a page of a list, with the total number of entries and the `after` of the next page (null: the last)."""

    total: int = Field(ge=0)
    next: str | None = None


PART = 2**20
"""The number of bytes read at a time from a file that is not in memory."""


@dataclass(frozen=True, slots=True)
class FileReply:
    """A file that an operation returns. If it has a name, a browser saves it and runs no script in it.

    `content` is its bytes, or an open temporary file that `data` or `parts` reads once. `title` describes the content
    to people and is not sent.
    """

    content: bytes | IO[bytes]
    media_type: str
    name: str = ""
    title: str = ""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def data(self) -> bytes:
        """The whole content."""
        return b"".join(self.parts())

    def close(self) -> None:
        """Close the temporary file, if its content is in one."""
        if not isinstance(self.content, bytes):
            self.content.close()

    def parts(self) -> Iterator[bytes]:
        """Yield the content in parts of at most 1 MiB, or whole if it is in memory."""
        if isinstance(self.content, bytes):
            yield self.content
            return
        with self.content as file:
            file.seek(0)
            while part := file.read(PART):
                yield part


@dataclass(kw_only=True)
class OperationContext:
    """The context of an operation: the home that this process has open, and the caller.

    Attributes:
        settings: configuration and keys.
        home: open for writing if the operation changes something.
        person: the caller's name, under which decisions are stored; empty if the caller may see everything.
        self_named: whether the name is self-declared, so that the caller may also act for others.
        redact: removes secrets from texts that are returned.
        data_root: the folder that contains all files a request to a service may name.
    """

    settings: Settings
    home: Home
    person: str = ""
    self_named: bool = True
    redact: Callable[[str], str] = field(default_factory=Redactor, repr=False)
    data_root: Path | None = None
    served = False
    """Whether a service, which several people share, carries out the operation."""

    def run(self, name: str) -> Run:
        """Return a run by its name, the beginning of its id, or `last`.

        Raises:
            NotFound: there is no such run.
        """
        return resolve_run(self.home, name)

    @contextmanager
    def files(self) -> Iterator[Callable[[str, str], Path]]:
        """Yield a function that returns the path of a file, from its name and the field that names it."""
        yield lambda text, field: Path(text)

    def cache(self, *runs: Run) -> None:
        """Allow the response, which shows rows of these runs, to be cached until something changes."""

    def figures(self, run: Run) -> JsonObject:
        """Return a run's figures."""
        return method_of(run).json_figures(self.home, run)

    def budgets_for(self, models: Mapping[str, ModelSpec]) -> Sequence[Budget]:
        """Return the budgets, besides their own, that calls to models must fit in; none outside a service."""
        return ()

    async def cancel(self, run: Run, *, at_once: bool = False) -> Run:
        """Remove a run from the queue, so that the next service does not continue it, and return its row."""
        from dokimasia.runs.outcome import remove_from_queue

        earlier_status = next((entry.before for entry in queue(self.home) if entry.id == run.id), None)
        if earlier_status is not None or run.status in (*AT_WORK, "waiting"):
            await remove_from_queue(self.home, run, earlier_status or "", self.settings)
        return get_run(self.home, run.id)

    def configure(self, settings: Settings) -> None:
        """Use other settings from now on."""
        self.settings = settings

    async def delete(self, run: Run) -> None:
        """Delete a run that is not at work."""
        from dokimasia.runs.persistence import delete_whole_run

        await delete_whole_run(self.home, run.id)


@dataclass(frozen=True, kw_only=True)
class Operation:
    """How an operation is reached over HTTP.

    Attributes:
        function: takes an `OperationContext`, then path parameters, a `body`, and query parameters.
        verb: the HTTP method.
        path: below `/api`.
        tag: its tag in the OpenAPI description.
        right: the right that the caller needs.
        status: the HTTP status of a successful reply.
        slow: whether it may take long, so that only a few run at once.
        conflict: whether its input errors are conflicts with the state of the home (409).
        files: the media types of the file that it returns.
        file: a description of that file.
        replies: further HTTP statuses that it may return.
        creates: whether it creates a missing home.
        figures: whether it returns figures, whose schema the OpenAPI description leaves open.
        local: parameters that a service does not accept.
    """

    function: Callable[..., Any]
    verb: str
    path: str
    tag: str
    right: Right = "read"
    status: int = 200
    slow: bool = False
    conflict: bool = False
    files: Sequence[str] = ()
    file: str = "the file"
    replies: Sequence[int] = ()
    creates: bool = False
    figures: bool = False
    local: Sequence[str] = ()

    @property
    def changes(self) -> bool:
        """Whether it may change the home."""
        return self.verb != "GET"

    def request(self, arguments: Mapping[str, object]) -> tuple[str, dict[str, object], object]:
        """Return the path, the query and the body of the HTTP request with these arguments.

        Raises:
            NotFound: a name in the path is empty, `.` or `..`.
        """
        query = {name: value for name, value in arguments.items() if name not in self.local}
        body = query.pop("body", None)
        if isinstance(body, BaseModel):
            body = body.model_dump(mode="json", exclude_defaults=True)

        def fill(placeholder: re.Match[str]) -> str:
            text = str(query.pop(placeholder[1]))
            if not text.strip() or text in (".", ".."):
                raise NotFound(f"{text!r} is not the name of a run")
            return quote(text, safe="")

        return f"/api{_PLACEHOLDER.sub(fill, self.path)}", query, body


def read_reply(function: Callable[..., Awaitable[R] | R], sent: object) -> R:
    """Return the reply of an operation from the JSON, or the file, of its route."""
    if isinstance(sent, FileReply):
        return cast("R", sent)
    return TypeAdapter[R](inspect.signature(function).return_annotation).validate_python(sent)


def reply_json(reply: BaseModel) -> JsonObject:
    """Return an operation's reply as plain JSON; figures omit fields with their default, as in `as_json`."""
    if isinstance(reply, Value):
        return as_json(reply)
    return reply.model_dump(mode="json", by_alias=True)


_OPERATIONS: dict[Callable[..., object], Operation] = {}


def operation(verb: str, path: str, *, tag: str, **how: Any) -> Callable[[F], F]:
    """Return a decorator that declares a function as an operation; `how` are further fields of `Operation`."""

    def declare(function: F) -> F:
        _OPERATIONS[function] = Operation(function=function, verb=verb, path=path, tag=tag, **how)
        return function

    return declare


def operation_of(function: Callable[..., object]) -> Operation:
    """Return the operation that a function declares."""
    return _OPERATIONS[function]


def operations_in(module: str) -> list[Operation]:
    """Return the operations of a module, in order of declaration."""
    return [operation for function, operation in _OPERATIONS.items() if function.__module__ == module]


def page_of(
    entries: Sequence[T], key: Callable[[T], str], *, limit: int, after: str | None
) -> tuple[Sequence[T], str | None]:
    """Return the entries of a page, and the `after` of the next page; None on the last page.

    Args:
        entries: all entries of the list, in order.
        key: returns the unique key of an entry.
        limit: the maximum number of entries on the page.
        after: the key of the last entry of the previous page.

    Raises:
        InputError: the entry `after` does not exist, or no longer does.
    """
    start = 0
    if after is not None:
        start = next((position for position, entry in enumerate(entries, 1) if key(entry) == after), 0)
        if not start:
            raise InputError(f"after: the list has no entry {after[:80]!r} (any more): begin again without `after`")
    page = entries[start : start + limit]
    has_more = start + limit < len(entries)
    return page, key(page[-1]) if page and has_more else None


def counted_page(entries: Sequence[T], *, limit: int, after: str | None) -> tuple[Sequence[T], str | None]:
    """Return the entries of a page by position, as `page_of` does, for a list without keys.

    Raises:
        InputError: `after` is not a position in the list.
    """
    if after is not None and not (
        after.isascii() and after.isdigit() and len(after) < 10 and int(after) <= len(entries)
    ):
        raise InputError(f"after: {after[:80]!r} is no `next` of a page of this list")
    start = int(after or 0)
    end = start + limit
    return entries[start:end], str(end) if end < len(entries) else None
