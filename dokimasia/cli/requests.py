"""Command-line options made from the fields of a request: name, help, type, range and default."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args, get_origin

import click
from pydantic import ValidationError
from pydantic.fields import FieldInfo

from dokimasia.cli.shared import prepared
from dokimasia.domain.hub import SCHEME, as_data_path, hub_name
from dokimasia.runs.requests import (
    NOBODY,
    Invocation,
    Option,
    RunRequest,
    bounds_of,
    fields_in_order,
    flags_of,
    kind_of,
    option_of,
)

R = TypeVar("R")
Q = TypeVar("Q", bound=Invocation)


def request_options(
    request: type[RunRequest],
    *,
    leave_out: tuple[str, ...] = (),
    optional: tuple[str, ...] = (),
    lifted: tuple[str, ...] = (),
    named: tuple[str, ...] = (),
) -> Callable[[Callable[..., R]], Callable[..., R]]:
    """Add a request's arguments and options to a command, which receives their values as a mapping `asked`.

    Args:
        request: the request.
        leave_out: fields that are not options of the command.
        optional: fields that the request requires but the command does not.
        lifted: numeric fields that also accept the word `none`.
        named: fields that the command also receives as separate parameters.
    """
    fields = [(name, field) for name, field in fields_in_order(request) if name not in leave_out]
    fields = [(name, field) for name, field in fields if not option_of(field).hidden]

    def decorate(function: Callable[..., R]) -> Callable[..., R]:
        def collect(**asked: object) -> dict[str, object]:
            return {"asked": asked, **{name: asked[name] for name in named}}

        verb = prepared(function, collect, *(name for name, _ in fields))
        for name, field in reversed(fields):
            required = field.is_required() and name not in optional
            verb = parameter(name, field, required=required, lifted=name in lifted)(verb)
        return verb

    return decorate


def parameter(
    name: str, field: FieldInfo, *, required: bool, lifted: bool = False
) -> Callable[[Callable[..., R]], Callable[..., R]]:
    """Return the Click decorator that adds a field to a command."""
    option = option_of(field)
    kind = kind_of(field)
    if option.argument:
        many = -1 if option.several else 1
        return click.argument(
            name, type=_click_type(kind, field, option), required=required, nargs=many, metavar=option.metavar
        )
    flags = flags_of(name, field)
    shared: dict[str, Any] = {"help": field.description, "required": required, "metavar": option.metavar}
    default = None if field.is_required() else field.get_default(call_default_factory=True)
    if kind is bool:
        flags = (f"{flags[0]}/--no-{flags[0].removeprefix('--')}",) if default else flags
        return click.option(*flags, name, is_flag=True, default=default, help=field.description)
    if option.repeated:
        return click.option(*flags, name, multiple=True, **shared)
    if get_origin(kind) is tuple:
        default_text = ",".join(default) if default else ""
        return click.option(*flags, name, default=None if required else default_text, **shared)
    shown_default = default is not None
    type_ = DOLLARS if name == "max_cost" else _click_type(kind, field, option)
    return click.option(
        *flags,
        name,
        type=NumberOrNone(type_) if lifted else type_,
        default=default,
        show_default=shown_default,
        **shared,
    )


class NumberOrNone(click.ParamType):
    """A parameter type for a number, or the word `none`, which removes a limit."""

    name = f"number|{NOBODY}"

    def __init__(self, number: click.ParamType) -> None:
        """Create the type from the type of its numbers."""
        self._number = number

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> object:
        """Return the number, or the word `none`."""
        if value == NOBODY:
            return NOBODY
        try:
            return self._number.convert(value, param, ctx)
        except click.BadParameter as problem:
            self.fail(f"{problem.message.rstrip('.')}; give a number, or {NOBODY} to lift the limit", param, ctx)


class Dollars(click.FloatRange):
    """A parameter type for an amount of US dollars."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the amount."""
        try:
            amount = float(value)
        except ValueError:
            self.fail(f"{value!r} is not a number of US dollars", param, ctx)
        if amount < 0:
            self.fail(f"{value} is not an amount of US dollars: 0 or more", param, ctx)
        return super().convert(value, param, ctx)


DOLLARS = Dollars(0, 1e9)


class DataPath(click.Path):
    """A parameter type for the path of a data set, or its name at the Hugging Face Hub."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path, or a name of the Hub, whose parts are checked, unchanged."""
        if not isinstance(value, str) or not value.startswith(SCHEME):
            return super().convert(value, param, ctx)
        path = as_data_path(value)
        hub_name(path)
        return path


def made(request: type[Q], asked: Mapping[str, object], **more: object) -> Q:
    """Return the request described by the arguments of a command.

    Raises:
        click.UsageError: they do not form a valid request; the message names the option.
    """
    fields = request.model_fields
    values = {name: _value(fields[name], value) for name, value in asked.items()}
    try:
        return request.model_validate({**values, **more})
    except ValidationError as error:
        first = error.errors()[0]
        value, name = first["input"], ".".join(map(str, first["loc"][:1]))
        flag = flags_of(name, fields[name])[0]
        if value is None and fields[name].is_required():
            raise click.UsageError(f"{flag} is missing. {fields[name].description}") from None
        if first["type"] == "too_short":
            raise click.UsageError(f"{flag} names none; name one or more, separated by commas") from None
        if first["type"] == "string_pattern_mismatch":
            expected = " or ".join((option_of(fields[name]).metavar or "another form").split("|"))
            raise click.UsageError(f"{flag}: {value!r} cannot be read; write {expected}") from None
        raise click.UsageError(f"{flag}: {first['msg'].removeprefix('Value error, ')}") from None


def _value(field: FieldInfo, value: object) -> object:
    option = option_of(field)
    if option.read is not None and value is not None:
        return option.read(value)
    if get_origin(kind_of(field)) is tuple and isinstance(value, str):
        if field.default is None and value in {"", NOBODY}:
            return () if value else None
        return tuple(name.strip() for name in value.split(",") if name.strip())
    if isinstance(value, Path):
        return value.absolute()
    return value


def _click_type(kind: object, field: FieldInfo, option: Option) -> click.ParamType:
    if get_origin(kind) is Literal:
        return click.Choice([str(arg) for arg in get_args(kind)])
    if option.hub:
        return DataPath(exists=option.exists, dir_okay=not option.file, path_type=Path)
    if kind is Path:
        return click.Path(exists=option.exists, dir_okay=not option.file, path_type=Path)
    if kind in (int, float):
        bounds = bounds_of(field)
        low, high = bounds.get("ge", bounds.get("gt")), bounds.get("le", bounds.get("lt"))
        if low is None and high is None:
            if kind is int:
                return click.INT
            return click.FLOAT
        range_type = click.IntRange if kind is int else click.FloatRange
        return range_type(low, high, min_open="gt" in bounds, max_open="lt" in bounds)
    return click.STRING
