"""A request read from JSON, its files resolved before anything reads them; and its JSON schema for the OpenAPI description."""

import types
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from functools import cache
from pathlib import Path, PurePath
from typing import Annotated, Any, Literal, TypeVar, Union, cast, get_args, get_origin
from uuid import UUID

import orjson
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from dokimasia.errors import InputError
from dokimasia.runs.method import Method
from dokimasia.runs.requests import PLAIN, Invocation, Option, option_of
from dokimasia.service.uploads import RequestFiles

Q = TypeVar("Q", bound=Invocation)
B = TypeVar("B", bound=BaseModel)

NEVER: Mapping[str, str] = {
    "workers": "how many processes walk a run is for whoever starts the service to say",
    "engine": "where a run is walked is for whoever starts the service to say",
    "address": "which cluster workers join is for whoever starts the service to say",
    "allow_fetch": "no image is fetched by its URL: upload the images with the data",
    "allow_outside": "images lie in the folder of the data: upload them with it",
}
"""Fields that cannot be given over HTTP, and what to do instead."""

SAID: Mapping[str, str] = {
    "greater_than_equal": "it must be {ge:.12g} or more",
    "greater_than": "it must be more than {gt:.12g}",
    "less_than_equal": "it must be {le:.12g} or less",
    "less_than": "it must be less than {lt:.12g}",
    "literal_error": "it must be {expected}",
}
"""What is said of values that a field does not take, by the kind of fault."""

_PLAIN = (str, int, float, bool, Decimal, datetime, date, time, timedelta, UUID, Enum)
_SORTS: Mapping[type, str] = {PurePath: "text", str: "text", Mapping: "object", BaseModel: "object", Collection: "many"}


Put = Callable[[str, str, Option], str]
"""Returns the path that a text means: the text, the field, and how the field is given."""


def given_over_http(name: str, field: FieldInfo) -> bool:
    """Whether a field can be given over HTTP: it is none that never is or that is written to, and its type is decided."""
    return name not in NEVER and not option_of(field).written and decided(field.annotation)


def decided(kind: Any) -> bool:
    """Whether a type says of each of its values whether it names a file; a field whose type does not is refused.

    Examples:
        >>> decided(dict[str, tuple[Path, ...] | None]), decided(str | Path), decided(Any)
        (True, False, False)
    """
    kind, _ = _bare(kind, PLAIN)
    inside = [arg for arg in get_args(kind) if arg is not Ellipsis]
    if get_origin(kind) is Literal or kind is types.NoneType:
        return True
    if _is_union(kind):
        sorts = [_sort(one) for one in inside]
        alone = all(sorts.count(_sort(one)) == 1 for one in inside if holds_path(one))
        return alone and all(map(decided, inside))
    if get_origin(kind) is not None:
        return _sort(kind) in ("many", "object") and all(map(decided, inside))
    if not isinstance(kind, type):
        return False
    if issubclass(kind, BaseModel):
        fields = kind.model_fields.values()
        return all(decided(field.annotation) and isinstance(field.validation_alias, str | None) for field in fields)
    return issubclass(kind, (PurePath, *_PLAIN))


def holds_path(kind: Any) -> bool:
    """Whether a value of a type may name a file anywhere in it."""
    kind, _ = _bare(kind, PLAIN)
    if isinstance(kind, type) and get_origin(kind) is None:
        if issubclass(kind, BaseModel):
            return any(holds_path(field.annotation) for field in kind.model_fields.values())
        return issubclass(kind, PurePath)
    return get_origin(kind) is not Literal and any(map(holds_path, get_args(kind)))


def read_asked(model: type[Q], sent: Any, places: RequestFiles) -> Q:
    """Return the request that was sent as JSON, with every file that it names resolved.

    Args:
        model: what can be asked.
        sent: what was sent, as plain JSON.
        places: where files may lie.

    Raises:
        InputError: naming each field that is wrong: unknown, of another type, or a file that may not be read.
    """
    if not isinstance(sent, dict):
        raise InputError("the body is no JSON object")
    given = {
        name: value for name, value in cast("dict[str, Any]", sent).items() if not _left_as_it_is(model, name, value)
    }
    allowed: set[Path] = set()

    def put(text: str, where: str, how: Option) -> str:
        path = places.named(text, where, how)
        allowed.add(path)
        return str(path)

    faults: list[str] = []
    for name, value in given.items():
        field = model.model_fields.get(name)
        if field is None:
            continue
        try:
            given[name] = _given(name, field, value, put)
        except InputError as problem:
            faults.append(str(problem))
    if faults:
        raise InputError("; ".join(faults))
    asked = checked(model, given)
    _check_paths(asked, allowed)
    check_models(asked)
    return asked


def checked(model: type[B], sent: Any) -> B:
    """Return plain JSON as a model, without taking a number, a text or a truth value for another type.

    Raises:
        InputError: naming each field that is wrong.
    """
    if not isinstance(sent, dict):
        raise InputError("the body is no JSON object")
    given, fields = cast("dict[str, Any]", sent), model.model_fields
    faults = [
        f"{name}: the value is of another type than the schema says"
        for name, value in given.items()
        if name in fields and not _exact(fields[name].annotation, value)
    ]
    try:
        made = model.model_validate_json(orjson.dumps(given))
    except ValidationError as error:
        for one in error.errors(include_url=False, include_input=False):
            where = f"{'.'.join(map(str, one['loc']))}: " if one["loc"] else ""
            faults.append(f"{where}{_said(one, fields)}")
        raise InputError("; ".join(faults)) from None
    if faults:
        raise InputError("; ".join(faults))
    return made


def _said(fault: Any, fields: Mapping[str, FieldInfo]) -> str:
    """Return what is wrong with a value, in a sentence of ours where there is one."""
    field = fields.get(str(fault["loc"][0])) if fault["loc"] else None
    form = option_of(field).metavar if field else None
    if fault["type"] == "string_pattern_mismatch" and form:
        return f"write it in the form {form.replace('|', ' or ')}"
    if fault["type"] in SAID:
        return SAID[fault["type"]].format(**fault["ctx"])
    return str(fault["msg"]).removeprefix("Value error, ")


def _left_as_it_is(model: type[Invocation], name: str, value: Any) -> bool:
    """Whether a field that cannot be given over HTTP has its default, as in a request that was written out whole."""
    field = model.model_fields.get(name)
    return field is not None and not field.is_required() and value == field.default and not given_over_http(name, field)


def _given(name: str, field: FieldInfo, value: Any, put: Put) -> Any:
    if name in NEVER:
        raise InputError(f"{name}: cannot be asked of a service: {NEVER[name]}")
    if not decided(field.annotation):
        raise InputError(f"{name}: cannot be given over HTTP: its type does not say whether it names a file")
    return _resolved(field.annotation, value, name, option_of(field), put)


def _exact(kind: Any, value: Any) -> bool:
    """Whether no number or truth value in plain JSON stands where another type is wanted, which would be taken for it."""
    kind, _ = _bare(kind, PLAIN)
    inside = [arg for arg in get_args(kind) if arg is not Ellipsis]
    if _is_union(kind):
        return any(_exact(one, value) for one in inside)
    if isinstance(value, list):
        return not inside or all(any(_exact(one, each) for one in inside) for each in cast("list[Any]", value))
    if isinstance(value, dict):
        named = cast("dict[str, Any]", value)
        if get_origin(kind) is not None:
            return all(_exact(inside[-1], one) for one in named.values())
        fields = kind.model_fields if isinstance(kind, type) and issubclass(kind, BaseModel) else {}
        return all(_exact(fields[name].annotation, one) for name, one in named.items() if name in fields)
    if kind is int and isinstance(value, float):
        return value.is_integer()
    if kind in (bool, int, float, str, types.NoneType):
        return type(value) is kind or (kind is float and type(value) is int)
    return True


def _resolved(kind: Any, value: Any, where: str, how: Option, put: Put) -> Any:
    """Return plain JSON with every text in the place of a file as its path."""
    kind, how = _bare(kind, how)
    if value is None or not holds_path(kind):
        return value
    inside = get_args(kind)
    if _is_union(kind):
        wanted = "text" if isinstance(value, str) else "object" if isinstance(value, dict) else "many"
        fitting = [
            one for one in inside if holds_path(one) and _sort(one) in (wanted, "many" if wanted == "text" else "")
        ]
        fitting.sort(key=lambda one: _sort(one) != wanted)
        return _resolved(fitting[0], value, where, how, put) if fitting else value
    if _sort(kind) == "text":
        return put(value, where, how) if isinstance(value, str) else value
    if _sort(kind) == "many":
        if isinstance(value, str):  # some fields take one where several may stand
            return _resolved(inside[0], value, where, how, put)
        if not isinstance(value, list):
            return value
        each = cast("list[Any]", value)
        kinds = inside if len(inside) == len(each) and Ellipsis not in inside else [inside[0]] * len(each)
        pairs = enumerate(zip(kinds, each, strict=True))
        return [_resolved(one, value, f"{where}.{at}", how, put) for at, (one, value) in pairs]
    if not isinstance(value, dict):
        return value
    named = cast("dict[str, Any]", value)
    if get_origin(kind) is not None:
        of_name, of_value = inside
        return {
            _resolved(of_name, name, f"{where}.{name}", how, put): _resolved(of_value, one, f"{where}.{name}", how, put)
            for name, one in named.items()
        }
    fields = {key: field for name, field in kind.model_fields.items() for key in (name, field.validation_alias or name)}
    return {
        name: _resolved(fields[name].annotation, one, f"{where}.{name}", option_of(fields[name]), put)
        if name in fields
        else one
        for name, one in named.items()
    }


def _check_paths(asked: Invocation, allowed: Collection[Path]) -> None:
    """Refuse a request in which a path stands that was not resolved, such as one that its own checks made."""
    for name, field in type(asked).model_fields.items():
        value = getattr(asked, name)
        default = None if field.is_required() else field.get_default(call_default_factory=True)
        if value != default and not set(_paths_in(value)) <= set(allowed):
            raise InputError(f"{name}: cannot be given over HTTP: it names a file that was not asked for")


def _paths_in(value: Any) -> Iterator[PurePath]:
    if isinstance(value, PurePath):
        yield value
    elif isinstance(value, BaseModel):
        for name in type(value).model_fields:
            yield from _paths_in(getattr(value, name))
    elif isinstance(value, Mapping):
        for pair in cast("Mapping[Any, Any]", value).items():
            yield from (path for one in pair for path in _paths_in(one))
    elif isinstance(value, list | tuple | set | frozenset):
        for one in cast("Collection[Any]", value):
            yield from _paths_in(one)


def check_models(asked: Invocation) -> None:
    """Refuse a model that is named by an address: whoever may ask must not lead requests, and keys with them, elsewhere."""
    for name, field in type(asked).model_fields.items():
        if option_of(field).models or name in ("judge", "models"):
            for text in _texts_in(getattr(asked, name)):
                if "://" in text:
                    raise InputError(
                        f"{name}: {text[:200]!r} is no name of a model: an address is configured in dokimasia.toml (api_base)"
                    )


def _texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from (one for pair in cast("Mapping[str, str]", value).items() for one in pair)
    elif isinstance(value, tuple):
        yield from (text for each in cast("tuple[Any, ...]", value) for text in _texts_in(each))


def _bare(kind: Any, how: Option) -> tuple[Any, Option]:
    """Return a type without what only annotates it, and how it is given, where an annotation says it."""
    while True:
        if get_origin(kind) is Annotated:
            kind, *notes = get_args(kind)
            how = next((note for note in notes if isinstance(note, Option)), how)
        elif hasattr(kind, "__supertype__"):
            kind = kind.__supertype__
        elif type(kind).__name__ == "TypeAliasType":
            kind = kind.__value__
        else:
            return kind, how


def _is_union(kind: Any) -> bool:
    return get_origin(kind) in (Union, types.UnionType)


def _sort(kind: Any) -> str:
    """Return what JSON has in the place of a value: a text, an object, many of something, or something else."""
    kind, _ = _bare(kind, PLAIN)
    plain = get_origin(kind) or kind
    if not isinstance(plain, type):
        return "text" if plain is Literal else "other"
    return next((name for base, name in _SORTS.items() if issubclass(plain, base)), "other")


FILE = "upload:NAME or upload:ID, or a path below the folder of --data-root"
_DEFS = "#/$defs/"


def request_schema(method: Method[Any, Any]) -> dict[str, Any]:
    """Return the schema of what a method can be asked over HTTP, with an example."""
    return {**asked_schema(method.request), "examples": [example_of(method)]}


@cache
def asked_schema(model: type[Invocation]) -> dict[str, Any]:
    """Return the schema of a request's fields that can be given over HTTP; one that names a file says how."""
    schema = inlined(model.model_json_schema(mode="validation"))
    fields = model.model_fields
    schema["properties"] = {
        name: _described(one, file=holds_path(fields[name].annotation))
        for name, one in schema["properties"].items()
        if given_over_http(name, fields[name])
    }
    return schema


def inlined(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema in which every reference stands as what it refers to; one to itself as anything."""
    kept: Mapping[str, Any] = schema.get("$defs", {})

    def whole(value: Any, within: tuple[str, ...]) -> Any:
        if isinstance(value, list):
            return [whole(one, within) for one in cast("list[Any]", value)]
        if not isinstance(value, dict):
            return value
        found = cast("dict[str, Any]", value)
        name = str(found.get("$ref", "")).removeprefix(_DEFS)
        if name in within:
            return {}
        if name:
            others = {key: one for key, one in found.items() if key != "$ref"}
            return {**whole(kept[name], (*within, name)), **whole(others, within)}
        return {key: whole(one, within) for key, one in found.items() if key != "$defs"}

    return whole(dict(schema), ())


def takes(schema: Mapping[str, Any] | type[BaseModel], *, required: bool = True) -> dict[str, Any]:
    """Return what the OpenAPI description says of a route that takes JSON of a schema, for its `openapi_extra`."""
    shown = inlined(schema.model_json_schema()) if isinstance(schema, type) else schema
    return {"requestBody": {"required": required, "content": {"application/json": {"schema": shown}}}}


def example_of(method: Method[Any, Any]) -> dict[str, Any]:
    """Return a request that a method takes, with simulated models."""
    found: dict[str, Any] = {}
    for name, field in method.request.model_fields.items():
        many = get_origin(field.annotation) is tuple
        if option_of(field).models and (field.is_required() or name in ("judge", "models")):
            found[name] = ["sim/strong", "sim/weak"] if many else "sim/judge"
        elif field.is_required() and holds_path(field.annotation):
            found[name] = ["upload:answers.jsonl"] if many else "upload:questions.jsonl"
        elif field.is_required():
            found[name] = "last"
    return found


def _described(schema: Mapping[str, Any], *, file: bool) -> dict[str, Any]:
    if not file:
        return dict(schema)
    said = str(schema.get("description", "")).strip()
    return {**schema, "description": f"{said} ({FILE})" if said else f"{FILE[0].upper()}{FILE[1:]}."}
