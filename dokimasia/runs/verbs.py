"""Python functions of methods, one for each verb: made from the method's request, with a signature that `help` shows."""

import inspect
import operator
import textwrap
from collections.abc import Awaitable, Callable, Mapping
from functools import reduce, wraps
from pathlib import Path
from types import UnionType
from typing import Annotated, Generic, Literal, Protocol, TypeVar, Union, get_args, get_origin

from pydantic import ValidationError
from pydantic.fields import FieldInfo

from dokimasia.domain.identity import JsonObject
from dokimasia.domain.wording import nearest
from dokimasia.errors import InputError, faults_of
from dokimasia.graphs.blocking import block_on
from dokimasia.prompts import PromptLibrary
from dokimasia.runs.lifecycle import RunResult, run
from dokimasia.runs.method import Method
from dokimasia.runs.plans import RunPlan
from dokimasia.runs.requests import Invocation, RunRequest, fields_in_order, kind_of, option_of
from dokimasia.runs.wording import arguments_of, errors_in_python

Q = TypeVar("Q", bound=RunRequest)
P = TypeVar("P", bound=RunPlan)
Asked = TypeVar("Asked", bound=Invocation)
Q_contra = TypeVar("Q_contra", bound=RunRequest, contravariant=True)
R_co = TypeVar("R_co", covariant=True)

SERVICES = {
    name: parameter
    for name, parameter in inspect.signature(run).parameters.items()
    if parameter.kind is inspect.Parameter.KEYWORD_ONLY and name != "prompts"
}
"""The parameters of a verb apart from the fields of its request."""

SERVICES_HELP = """\
settings: home, configuration and keys; read from the environment by default.
observer: receives the progress.
stop: lets other code ask the run to stop.
transports: transports that replace the package's own, by name.
chat_models: LangChain chat models by the names under which the request names them.
given: what the method takes beside its request.
home: a folder, or a home that is open for writing, which the caller closes."""


class Verb(Protocol, Generic[Q_contra]):
    """A verb: takes a request, or its fields by name, and services; returns the run's result."""

    def __call__(self, request: Q_contra | None = None, **fields: object) -> Awaitable[RunResult]:
        """Run the request."""
        ...


class SyncVerb(Protocol, Generic[R_co]):
    """A verb for callers without an event loop."""

    def __call__(self, *arguments: object, **fields: object) -> R_co:
        """Do the work and return what the verb returns."""
        ...


def verb(method: Method[Q, P], name: str) -> Verb[Q]:
    """Return the Python function of a method.

    It takes a request, or the request's fields by keyword, and the services of `dokimasia.runs.lifecycle.run`.

    Args:
        method: the method.
        name: the function's name.
    """

    arguments = {"--home": "home", **arguments_of(method.request)}

    async def call(request: Q | None = None, **fields: object) -> RunResult:
        services: JsonObject = {key: fields.pop(key) for key in tuple(fields) if key in SERVICES}
        if isinstance(fields.get("prompts"), PromptLibrary):
            services["prompts"] = fields.pop("prompts")
        with errors_in_python(arguments):
            if request is None:
                request = request_of(method.request, name, fields)
            elif fields:
                raise InputError(f"{name}: {', '.join(fields)}: give a request, or its fields by name, and not both")
            return await run(method, request, **services)

    describe(call, method.request, name)
    return call


def request_of(request: type[Asked], name: str, fields: Mapping[str, object]) -> Asked:
    """Return a request with these fields; paths become absolute, and lists of names or of `NAME=VALUE` any list or
    mapping.

    Args:
        request: the type of the request.
        name: the function that takes the fields, for the error's message.
        fields: the fields by name.

    Raises:
        InputError: a field is missing, unknown, or cannot be used; the message names all that are wrong.
    """
    known_fields = request.model_fields
    strangers = [field for field in fields if field not in known_fields]
    if strangers:
        hints = "".join(nearest(field, known_fields) for field in strangers) or f"; it takes: {', '.join(known_fields)}"
        raise InputError(f"{name} takes no {', '.join(strangers)}{hints}")
    try:
        return request.model_validate({field: _read(known_fields[field], value) for field, value in fields.items()})
    except ValidationError as error:
        raise InputError(f"{name}: {faults_of(error)}") from None


def _read(field: FieldInfo, value: object) -> object:
    """Return a field's value as the command line would read it; a run's result is replaced by its run."""
    read = option_of(field).read
    if isinstance(value, RunResult):
        value = value.run
    elif isinstance(value, list | tuple):
        value = [part.run if isinstance(part, RunResult) else part for part in value]
    if value is None:
        return None
    if kind_of(field) is Path:
        path = Path(str(value))
        if read is None:
            return path.absolute()
        return read(path)
    if get_origin(kind_of(field)) is tuple and isinstance(value, str | Path):
        value = (value,)
    elif get_origin(kind_of(field)) is tuple and isinstance(value, Mapping):
        value = [f"{name}={part}" for name, part in value.items()]
    texts = isinstance(value, list | tuple) and all(isinstance(part, str | Path) for part in value)
    if texts and read is not None:
        return read(value)
    return value


def sync(function: Callable[..., Awaitable[R_co]]) -> SyncVerb[R_co]:
    """Return a verb for callers without an event loop; in a loop it raises `LoopRunning` with what to write instead."""
    name = f"{function.__name__}_sync"

    @wraps(function)
    def call(*arguments: object, **fields: object) -> R_co:
        return block_on(
            lambda: function(*arguments, **fields), called=name, instead=f"`await {function.__name__}(...)`"
        )

    call.__name__ = call.__qualname__ = name
    own = (function.__doc__ or "").strip()
    call.__doc__ = f"{own.partition(chr(10))[0]}\n\nLike `{function.__name__}`, for callers without an event loop.\n"
    return call


def describe(function: Callable[..., object], request: type[RunRequest], name: str, *, first: str = "") -> None:
    """Set a verb's name, signature and documentation.

    Args:
        function: the verb.
        request: the type of its request.
        name: its name.
        first: its positional argument, as `name: description`; by default a request.
    """
    function.__name__ = function.__qualname__ = name
    only, positional = inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD
    argument = first or f"request: a `{request.__name__}`; without one its fields are given by name."
    leading = inspect.Parameter(argument.partition(":")[0], positional, default=None)
    parameters: dict[str, inspect.Parameter] = {}
    lines: list[str] = []
    for field, info in sorted(fields_in_order(request), key=lambda pair: not pair[1].is_required()):
        default = inspect.Parameter.empty if info.is_required() else info.get_default(call_default_factory=True)
        parameters[field] = inspect.Parameter(field, only, default=default, annotation=_plain(info.annotation))
        lines.append(f"{field}: {info.description or _words(field)}")
    for service, parameter in SERVICES.items():
        parameters.setdefault(service, parameter)
    function.__signature__ = inspect.Signature(  # pyright: ignore[reportFunctionMemberAccess]
        [leading, *parameters.values()], return_annotation=RunResult
    )
    described = textwrap.indent("\n".join((*lines, SERVICES_HELP)), "    ")
    about = inspect.cleandoc(request.__doc__ or "")
    function.__doc__ = (
        f"{about}\n\nReturns a `RunResult`; an interrupted run continues, and a finished one is read from the store.\n\n"
        f"Args:\n    {argument}\n{described}\n\n"
        "Raises:\n    InputError: a field, the data or the configuration cannot be used; nothing was sent.\n"
        "    HomeLocked: another process writes to the home.\n"
        "    Interrupted: the run was asked to stop; what is finished is kept.\n"
    )


def _plain(annotation: object) -> object:
    """Return a type without `Annotated` marks, as `help` should show it."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _plain(inner[0])
    if origin is None or origin is Literal:
        return annotation
    plain = tuple(map(_plain, inner))
    if origin in (Union, UnionType):
        return reduce(operator.or_, plain)
    return origin[plain]


def _words(field: str) -> str:
    return f"the {field.replace('_', ' ')}."
