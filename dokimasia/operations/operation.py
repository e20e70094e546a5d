"""Declares operations: HTTP method, path, the right that is needed, and what an operation reads and returns."""

import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from dokimasia.domain.identity import Value
from dokimasia.errors import InputError, NotFound
from dokimasia.log import Redactor
from dokimasia.report.fields import as_json
from dokimasia.runs.catalogue import method_of
from dokimasia.settings import Settings
from dokimasia.storage.home import Home
from dokimasia.storage.naming import resolve_run
from dokimasia.storage.runs import AT_WORK, Run, get_run
from dokimasia.storage.threads import queue

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])

Right = Literal["read", "run", "review"]
"""`read` sees everything, `run` begins, stops and deletes runs and uploads data, `review` decides what waits for people."""

MOST = 500
"""Entries of one page of a list."""

_PLACEHOLDER = re.compile(r"\{(\w+)(?::path)?\}")


class Parameter:
    """Bounds and description of a parameter, as the OpenAPI description shows them."""

    def __init__(self, **schema: Any) -> None:
        self.schema = schema


LIMIT = Parameter(ge=1, le=MOST, description="How many entries at most.")
AFTER = Parameter(max_length=4000, description="Go on after the page before, by its `next`; without it from the start.")
Limit = Annotated[int, LIMIT]
After = Annotated[str | None, AFTER]


class RequestRefused(Exception):
    """A request that is refused for another reason than what it asks of a run, with the HTTP status of the refusal."""

    def __init__(self, status: int, detail: str, *, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.headers = dict(headers or {})


class Body(BaseModel):
    """Base of what is sent to a route: a field that it does not know is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ListPage(BaseModel):
    """Base of a page of a list: how many entries there are in all, and what `after` is for the next page (null: the last)."""

    total: int = Field(ge=0)
    next: str | None = None


@dataclass(frozen=True, slots=True)
class FileReply:
    """A file that an operation returns; with a name it is saved, and no browser runs anything of it.

    `title` names for people what it holds; it is not sent.
    """

    data: bytes
    media_type: str
    name: str = ""
    title: str = ""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(kw_only=True)
class OperationContext:
    """What an operation works with: the home of this process, and who asks.

    Attributes:
        settings: configuration and keys.
        home: open for writing where the operation changes something.
        person: under whose name is decided; empty where everything may be seen.
        self_named: whether they say who they are, so that they may speak for others, too.
        redact: applied to texts that leave.
        data_root: the folder below which a service lets requests name files.
    """

    settings: Settings
    home: Home
    person: str = ""
    self_named: bool = True
    redact: Callable[[str], str] = field(default_factory=Redactor, repr=False)
    data_root: Path | None = None
    served = False
    """Whether a service does it, which others share."""

    def run(self, name: str) -> Run:
        """Return a run by its name, the beginning of its id, or `last`.

        Raises:
            NotFound: there is none.
        """
        return resolve_run(self.home, name)

    @contextmanager
    def files(self) -> Iterator[Callable[[str, str], Path]]:
        """Yield a function that returns the path of a file from its name and the field that names it."""
        yield lambda text, field: Path(text)

    def cache(self, *runs: Run) -> None:
        """Allow the response to be cached until something changes; it shows rows of these runs."""

    def figures(self, run: Run) -> dict[str, Any]:
        """Return a run's figures."""
        return method_of(run).json_figures(self.home, run)

    async def cancel(self, run: Run, *, at_once: bool = False) -> Run:
        """Take a run out of the queue that the next service would go on with, and return its row."""
        from dokimasia.runs.outcome import remove_from_queue

        before = next((entry.before for entry in queue(self.home) if entry.id == run.id), None)
        if before is not None or run.status in (*AT_WORK, "waiting"):
            await remove_from_queue(self.home, run, before or "", self.settings)
        return get_run(self.home, run.id)

    async def delete(self, run: Run) -> None:
        """Delete a run that is not at work."""
        from dokimasia.runs.persistence import delete_whole_run

        await delete_whole_run(self.home, run.id)


@dataclass(frozen=True, kw_only=True)
class Operation:
    """How an operation is reached over HTTP.

    Attributes:
        function: takes a `OperationContext`, then its parameters: those in the path, a `body`, and those of the query.
        verb: the HTTP method.
        path: below `/api`.
        tag: under which the OpenAPI description lists it.
        right: that whoever asks needs.
        status: of the reply.
        slow: whether it may take long, so that few are carried out at once.
        conflict: whether an input error is a conflict with what is there.
        files: media types of the file that it returns.
        file: what the file is.
        replies: further statuses that it may answer with.
        creates: whether it makes a home where there is none.
        figures: whether it returns figures, which the OpenAPI description leaves open.
        local: parameters that a service does not take.
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

    def request(self, arguments: Mapping[str, Any]) -> tuple[str, dict[str, Any], Any]:
        """Return the path, the query and the body of the HTTP request with these arguments.

        Raises:
            NotFound: what stands in the path is no name.
        """
        query = {name: value for name, value in arguments.items() if name not in self.local}
        body = query.pop("body", None)
        if isinstance(body, BaseModel):
            body = body.model_dump(mode="json", exclude_defaults=True)

        def filled(placeholder: re.Match[str]) -> str:
            text = str(query.pop(placeholder[1]))
            if not text.strip() or text in (".", ".."):
                raise NotFound(f"{text!r} is no name of a run")
            return quote(text, safe="")

        return f"/api{_PLACEHOLDER.sub(filled, self.path)}", query, body

    def read_reply(self, sent: Any) -> Any:
        """Return what the operation returned, from the JSON of its route."""
        return TypeAdapter(inspect.signature(self.function).return_annotation).validate_python(sent)


def reply_json(reply: BaseModel) -> dict[str, Any]:
    """Return what an operation returned as plain JSON; figures leave out fields that have nothing but their default to say."""
    return as_json(reply) if isinstance(reply, Value) else reply.model_dump(mode="json", by_alias=True)


_OPERATIONS: dict[Callable[..., Any], Operation] = {}


def operation(verb: str, path: str, *, tag: str, **how: Any) -> Callable[[F], F]:
    """Declare a function to be an operation; `how` are further fields of `Operation`."""

    def declare(function: F) -> F:
        _OPERATIONS[function] = Operation(function=function, verb=verb, path=path, tag=tag, **how)
        return function

    return declare


def operation_of(function: Callable[..., Any]) -> Operation:
    """Return how a function that was declared to be an operation is reached."""
    return _OPERATIONS[function]


def operations_in(module: str) -> list[Operation]:
    """Return the operations of a module, in the order in which they are declared."""
    return [operation for function, operation in _OPERATIONS.items() if function.__module__ == module]


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
        begin = next((at for at, entry in enumerate(entries, 1) if key(entry) == after), 0)
        if not begin:
            raise InputError(f"after: the list has no entry {after[:80]!r} (any more): begin again without `after`")
    page = entries[begin : begin + limit]
    has_more = begin + limit < len(entries)
    return page, key(page[-1]) if page and has_more else None


def counted_page(entries: Sequence[T], *, limit: int, after: str | None) -> tuple[Sequence[T], str | None]:
    """Return the entries of a page of a list without names, whose pages go by position.

    Raises:
        InputError: `after` is no position of the list.
    """
    if after is not None and not (
        after.isascii() and after.isdigit() and len(after) < 10 and int(after) <= len(entries)
    ):
        raise InputError(f"after: {after[:80]!r} is no `next` of a page of this list")
    begin = int(after or 0)
    end = begin + limit
    return entries[begin:end], str(end) if end < len(entries) else None
