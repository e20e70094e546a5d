"""Errors of Python functions worded for Python: with arguments instead of command-line options."""

import inspect
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial, wraps
from typing import TypeVar, cast

from pydantic import BaseModel

from dokimasia.errors import DokimasiaError
from dokimasia.runs.requests import flags_of

F = TypeVar("F", bound=Callable[..., Awaitable[object]])

_WORDS = re.compile(
    r"""
    (?P<command> `[^`]*` | \bdokimasia\ [a-z][^`);,]* )
  | (?<![\w-]) (?P<flag> --[a-z][a-z-]*[a-z] | -o\b )
    (?: [ ](?P<value> [A-Z]+=[\w.-]+\w | (?:[a-z]+=)?[A-Z][A-Z0-9]*(?:[=,+][A-Z0-9]+)*\b | \d[\d.]*%? ) )?
    """,
    re.VERBOSE,
)
"""A command, which is left unchanged, or an option with its value, if any."""


def in_python(text: str, arguments: Mapping[str, str]) -> str:
    """Return a text with the options of a command replaced by the arguments of a Python function.

    Commands in the text stay, since they do the same in a terminal, and so do options that the function lacks.

    Args:
        text: the text.
        arguments: the arguments by option.

    Examples:
        >>> arguments = {"--judge": "judge", "--show-image": "show_image"}
        >>> in_python("name a judge with --judge J, or leave --show-image out", arguments)
        'name a judge with judge=J, or leave `show_image` out'
        >>> in_python("name it with --map score=COLUMN; see `dokimasia export --help`", {"--map": "columns"})
        'name it with columns={"score": COLUMN}; see `dokimasia export --help`'
    """

    def argument(flag: str, value: str) -> str:
        if flag in arguments:
            return _with_value(arguments[flag], value)
        switch = flag.replace("--no-", "--", 1)
        if switch in arguments:
            return f"{arguments[switch]}=False"
        return ""

    return reword_options(text, argument)


def reword_options(text: str, words: Callable[[str, str], str]) -> str:
    """Return a text with the options outside of commands replaced.

    Args:
        text: the text.
        words: returns the words for an option and its value, which may be empty; empty words leave the option
            unchanged.
    """

    def reworded(match: re.Match[str]) -> str:
        if match["flag"] is None:
            return match[0]
        return words(match["flag"], match["value"] or "") or match[0]

    return _WORDS.sub(reworded, text)


def _with_value(argument: str, value: str) -> str:
    """Return an argument with its value as a program writes them."""
    if not value:
        return f"`{argument}`"
    key, equals, part = value.partition("=")
    if equals and key.islower():
        return f'{argument}={{"{key}": {part}}}'
    if value.endswith("%"):
        return f'{argument}="{value}"'
    return f"{argument}={value}"


def arguments_of(request: type[BaseModel]) -> dict[str, str]:
    """Return the fields of a request by their command-line options."""
    arguments: dict[str, str] = {}
    for name, field in request.model_fields.items():
        arguments |= dict.fromkeys(flags_of(name, field), name)
    return arguments


@contextmanager
def errors_in_python(arguments: Mapping[str, str]) -> Iterator[None]:
    """Reword errors that leave the block, with arguments of a Python function in place of options.

    Args:
        arguments: the arguments by option.
    """
    try:
        yield
    except DokimasiaError as error:
        error.args = tuple(map(partial(_reworded, arguments), error.args))
        raise


def _reworded(arguments: Mapping[str, str], part: object) -> object:
    if isinstance(part, str):
        return in_python(part, arguments)
    return part


def python_verb(request: type[BaseModel] | None = None, /, **options: str) -> Callable[[F], F]:
    """Return a decorator of a verb whose errors then name its arguments in place of options.

    Args:
        request: the type of the request whose fields the verb takes too.
        options: the options of arguments with another name, such as `columns="--map"`.
    """

    def decorate(function: F) -> F:
        names = inspect.signature(function).parameters
        arguments = {options.get(name, f"--{name.replace('_', '-')}"): name for name in names}
        if request is not None:
            arguments |= arguments_of(request)
        arguments |= {flag: name for name, flag in options.items()}

        @wraps(function)
        async def call(*positional: object, **keywords: object) -> object:
            with errors_in_python(arguments):
                return await function(*positional, **keywords)

        return cast("F", call)

    return decorate
