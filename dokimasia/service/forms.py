"""A form made from a method's request: its fields say label, hint, type, range and default, as they do for the command line."""

import re
import sys
import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any, Literal, Union, cast, get_args, get_origin

import orjson
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from starlette.requests import Request

from dokimasia.runs.method import Method
from dokimasia.runs.requests import Invocation, Option, RunRequest, fields_in_order, option_of, run_or_file
from dokimasia.service.request_parsing import given_over_http, holds_path

Kind = Literal["text", "long", "number", "choice", "box", "several", "list", "object"]
"""`several` is a field of its own for each value, `list` values with commas between them, `object` lines of NAME=VALUES."""

LATER = ("prompts", "keep_checkpoints", "fresh", "seed")
"""Fields of every request that few people change."""

SAID: Mapping[str, str] = {
    "data": "A data set: JSON lines, a VLMEvalKit TSV, Parquet, or a folder of images.",
    "run": "A run of this home, by its name, the beginning of its id, or `last`.",
    "graph": "A graph that an installed plug-in brings.",
    "prompts": "A folder whose prompts take the place of those of the same name.",
}
"""What is said of fields that the command line says by their place alone."""


RULES: Mapping[str, str] = {
    "models": " A person is human/NAME.",
    "labels": " Letters, digits, dots, dashes and underscores, no blanks.",
}
"""What is said beside models and beside names of runs."""

_COMMAS = ", separated by commas"


@dataclass(frozen=True, slots=True)
class InputField:
    """A field of a form.

    Attributes:
        name: the field of the request.
        kind: how it is given.
        required: it cannot be left out.
        hint: what it means.
        flag: how the command line calls it.
        default: what stands there at first, as text; a box's is "on" or empty.
        choices: of a choice.
        low, high, whole: a number's range, and whether it is a whole one.
        offers: the list of suggestions that belongs to it, by its name.
        file: it names files, which can be uploaded.
        parts: of an object, what the numbers of a line are called.
        form: the form that it stands in, where a page has several.
    """

    name: str
    kind: Kind
    required: bool
    hint: str
    flag: str
    default: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    whole: bool = True
    offers: str = ""
    file: bool = False
    parts: tuple[str, ...] = ()
    form: str = ""

    @property
    def id(self) -> str:
        """What the field is called within its page."""
        return f"{self.form}-{self.name}" if self.form else self.name

    @property
    def label(self) -> str:
        """What the field is called on the page."""
        words = self.name.replace("_", " ")
        return f"{words[0].upper()}{words[1:]}"


@dataclass(frozen=True, slots=True)
class FieldGroup:
    """Fields that stand together; those that few people change are folded."""

    title: str
    controls: tuple[InputField, ...]
    folded: bool = True


def groups_of(method: Method[Any, Any]) -> list[FieldGroup]:
    """Return a method's form: what is needed and who is asked first, then what can be changed, then limits and names."""
    request: type[RunRequest] = method.request
    fields = {
        name: field
        for name, field in fields_in_order(request)
        if given_over_http(name, field) and not option_of(field).hidden and name not in method.unmeasured
    }
    controls = {name: _control(name, field) for name, field in fields.items()}
    first = [
        name
        for name, field in fields.items()
        if field.is_required() or option_of(field).argument or name in ("judge", "models", "responses")
    ]
    first.sort(key=lambda name: (not option_of(fields[name]).argument, not fields[name].is_required()))
    limits = [name for name in Invocation.model_fields if name in fields and not option_of(fields[name]).label]
    names = [name for name in fields if option_of(fields[name]).label]
    later = [name for name in LATER if name in fields]
    rest = [name for name in fields if name not in {*first, *limits, *names, *later}]
    parts = (("", first), ("Options", rest), ("Name and tags", names), ("Limits", limits), ("Seed and prompts", later))
    return [FieldGroup(title, tuple(controls[name] for name in part), bool(title)) for title, part in parts if part]


def changes_of(request: type[Invocation], *, form: str, named: bool = False) -> list[FieldGroup]:
    """Return the form of what can be changed of a run that is there: its limits, prompts and, where `named`, its name."""
    fields = {name: field for name, field in request.model_fields.items() if given_over_http(name, field)}
    labels = [name for name, field in fields.items() if option_of(field).label and named]
    limits = [name for name in Invocation.model_fields if name in fields and not option_of(fields[name]).label]
    parts = (("Prompts", ["prompts"]), ("Limits", limits), ("Name and tags", labels))
    return [
        FieldGroup(title, tuple(replace(_control(name, fields[name]), form=form) for name in part))
        for title, part in parts
        if part
    ]


async def texts_of(request: Request) -> dict[str, list[str]]:
    """Return the texts that were sent in a form, by field; files are none."""
    async with request.form() as form:  # and what it holds of files is let go
        texts = {name: [one for one in form.getlist(name) if isinstance(one, str)] for name in form}
    return {name: some for name, some in texts.items() if some}


def values_of(groups: Sequence[FieldGroup], form: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """Return what was written into a form, by field; of several fields of one name those that are not empty."""
    return {
        control.name: tuple(text for text in form.get(control.name, ()) if text.strip() or control.kind != "several")
        for group in groups
        for control in group.controls
    }


def defaults_of(groups: Sequence[FieldGroup]) -> dict[str, tuple[str, ...]]:
    """Return what stands in a form at first, by field."""
    return {control.name: control.default for group in groups for control in group.controls}


def written(groups: Sequence[FieldGroup], request: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Return a request, as plain JSON, as it is written into a form."""
    return {
        control.name: _texts(control, request[control.name]) if request.get(control.name) is not None else ()
        for group in groups
        for control in group.controls
    }


def sent(groups: Sequence[FieldGroup], values: Mapping[str, Sequence[str]]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return what was written as the request's JSON, and by field what is wrong with it; an empty field is left out."""
    asked: dict[str, Any] = {}
    faults: dict[str, str] = {}
    for control in (one for group in groups for one in group.controls):
        given = [text.strip() for text in values.get(control.name, ())]
        try:
            value = _value(control, [text for text in given if text])
        except ValueError as fault:
            faults[control.name] = str(fault)
            continue
        if value is not None:
            asked[control.name] = value
        elif control.required:
            faults[control.name] = f"{control.flag or control.name} is needed"
    return asked, faults


def split_faults(
    groups: Sequence[FieldGroup], sentence: str, values: Mapping[str, Sequence[str]]
) -> tuple[dict[str, str], str]:
    """Return what a sentence says of single fields, by name, and what it says of none; it may name several at once.

    A field is named as requests do (`limit: ...`), as the command line does (`--limit ...`), or by what was written into it
    (`there is no model 'x'`), where one field alone holds it.
    """
    known = {control.name: control for group in groups for control in group.controls}
    names = "|".join(sorted(map(re.escape, known), key=len, reverse=True))
    by_field: dict[str, str] = {}
    parts = re.split(rf"(?:^|; )(?=(?:{names})(?:\.[^:; ]+)*: )", sentence)
    rest = [part for part in parts if part]
    for part in list(rest):
        if found := re.match(rf"({names})(?:\.[^:; ]+)*: ", part):
            by_field[found[1]] = part[found.end() :]
            rest.remove(part)
    if rest and (flag := re.match(r"(--?[a-z-]+)\b", rest[0])):
        named = next((one.name for one in known.values() if one.flag == flag[1]), None)
        if named is not None:
            by_field[named] = rest.pop(0)
    if len(rest) == 1:
        quoted = set(re.findall(r"'([^']+)'", rest[0]))
        holding = [name for name in known if quoted & {text.strip() for text in values.get(name, ())}]
        if len(holding) == 1:
            by_field[holding[0]] = rest.pop(0)
    return by_field, "; ".join(rest)


def _control(name: str, field: FieldInfo) -> InputField:
    how, kind = option_of(field), _kind(field)
    default = None if field.is_required() else field.get_default(call_default_factory=True)
    flag = (
        "" if how.argument else next((one for one in how.flags if one.startswith("--")), f"--{name.replace('_', '-')}")
    )
    bounds = {at: getattr(one, at) for one in field.metadata for at in ("ge", "gt", "le", "lt") if hasattr(one, at)}
    shape = _shape(name, kind, how)
    control = InputField(
        name=name,
        kind=shape,
        required=field.is_required(),
        hint=_hint(name, field, how).replace(_COMMAS, "" if shape == "several" else _COMMAS),
        flag=flag,
        choices=tuple(map(str, get_args(kind))) if shape == "choice" else (),
        low=bounds.get("ge", bounds.get("gt")),
        high=bounds.get("le", bounds.get("lt")),
        whole=kind is int,
        offers=_offers(name, how),
        file=holds_path(kind),
        parts=_parts(kind),
    )
    return control if default is None else replace(control, default=_texts(control, _plain(default)))


def _hint(name: str, field: FieldInfo, how: Option) -> str:
    """Return what a field means, with the rule that its value keeps where the type alone says it."""
    said = field.description or SAID.get(name, "")
    more = RULES["models"] if how.models else RULES["labels"] if how.label else ""
    return f"{said}{more}"


def _parts(kind: Any) -> tuple[str, ...]:
    """Return what the fields of an object's values are called."""
    inside = get_args(kind)[-1] if get_origin(kind) is dict else None
    return tuple(inside.model_fields) if isinstance(inside, type) and issubclass(inside, BaseModel) else ()


def _kind(field: FieldInfo) -> Any:
    """Return a field's type without None and without what only annotates it."""
    kind: Any = field.annotation
    if get_origin(kind) in (Union, types.UnionType):
        kind = next(arg for arg in get_args(kind) if arg is not types.NoneType)
    return kind.__origin__ if hasattr(kind, "__metadata__") else kind


def _shape(name: str, kind: Any, how: Option) -> Kind:
    origin = get_origin(kind)
    if kind is bool:
        return "box"
    if origin is Literal:
        return "choice"
    if kind in (int, float):
        return "number"
    if origin is tuple:
        return "several" if how.models or holds_path(kind) else "list"
    if origin is dict or (isinstance(kind, type) and issubclass(kind, BaseModel)):
        return "object"
    return "long" if name == "prompt" else "text"


def _offers(name: str, how: Option) -> str:
    if how.models:
        return "models"
    if how.read is run_or_file:
        return "runs-and-files"
    if name in ("run", "graph"):
        return f"{name}s"
    return "trees" if how.metavar == "TREE" else ""


def _plain(value: Any) -> Any:
    """Return a default as plain JSON."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in cast("Mapping[Any, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in cast("Sequence[Any]", value)]
    return str(value) if isinstance(value, PurePath) else value


def _texts(control: InputField, value: Any) -> tuple[str, ...]:
    """Return a value of plain JSON as it is written into a field."""
    if control.kind == "box":
        return ("on",) if value else ()
    if control.kind == "several":
        return (value,) if isinstance(value, str) else tuple(map(str, value))
    if control.kind == "list":
        return (", ".join(map(str, value)),) if value else ()
    if control.kind == "object":
        return ("\n".join(_lines(value)),) if value else ()
    if isinstance(value, float) and value.is_integer():
        return (str(int(value)),)
    return (str(value),) if value != "" else ()


def _lines(value: Mapping[str, Any]) -> Iterator[str]:
    for name, one in value.items():
        inside = list(cast("Mapping[str, Any]", one).values()) if isinstance(one, Mapping) else [one]
        yield f"{name}={','.join(map(str, inside))}"


def _value(control: InputField, given: Sequence[str]) -> Any:
    """Return what was written into a field as plain JSON; None where nothing was.

    Raises:
        ValueError: it cannot be read; the message is a sentence.
    """
    if control.kind == "box":
        return bool(given) if bool(given) != bool(control.default) else None
    if not given:
        return None
    if control.kind == "several":
        return list(given)
    if control.kind == "list":
        return [part.strip() for part in ",".join(given).split(",") if part.strip()]
    if control.kind == "object":
        return _object(control, given[0])
    if control.kind == "number":
        return _number(control, given[0])
    return given[0]


def _number(control: InputField, text: str) -> int | float:
    try:
        number = int(text) if control.whole else float(text)
    except ValueError:
        kind = "whole number" if control.whole else "number"
        raise ValueError(f"{text[:80]!r} is no {kind}") from None
    if control.whole and abs(number) > sys.maxsize:
        raise ValueError(f"{text[:80]!r} is too large")
    return number


def _object(control: InputField, text: str) -> Any:
    """Return what stands in lines of `NAME=VALUE,VALUE`, or in JSON, as plain JSON."""
    if text.startswith("{"):
        try:
            return orjson.loads(text)
        except orjson.JSONDecodeError as error:
            raise ValueError(f"this is no JSON: {error}") from None
    found: dict[str, Any] = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        name, _, values = line.partition("=")
        try:
            found[name.strip()] = dict(zip(control.parts, map(float, values.split(",")), strict=True))
        except ValueError:
            form = ",".join(part.upper() for part in control.parts)
            raise ValueError(f"{line[:80]!r}: write NAME={form} with a number for each") from None
    return found
