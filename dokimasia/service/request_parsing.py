"""Requests read from JSON, with their files resolved first, and their JSON schemas for the OpenAPI description."""

import types
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from functools import cache
from pathlib import Path, PurePath
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin
from uuid import UUID

import orjson
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from dokimasia.domain.identity import JsonObject
from dokimasia.errors import Fault, InputError
from dokimasia.runs.method import AnyMethod
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
"""Fields that cannot be set over HTTP, and why or what to do instead."""

MESSAGES: Mapping[str, str] = {
    "greater_than_equal": "enter {ge:.12g} or more",
    "greater_than": "enter more than {gt:.12g}",
    "less_than_equal": "enter {le:.12g} or less",
    "less_than": "enter less than {lt:.12g}",
    "literal_error": "enter {expected}",
}
"""Messages about invalid values, by pydantic error type."""

_PLAIN = (str, int, float, bool, Decimal, datetime, date, time, timedelta, UUID, Enum)
_SHAPES: Mapping[type, str] = {
    PurePath: "text",
    str: "text",
    Mapping: "object",
    BaseModel: "object",
    Collection: "many",
}


Resolver = Callable[[str, str, Option], str]
"""Returns the path for a text, given the text, the field and its option."""


def settable_over_http(name: str, field: FieldInfo) -> bool:
    """Return whether a field can be set over HTTP: not excluded, no output, and its type tells which values are files."""
    return name not in NEVER and not option_of(field).written and files_are_decidable(field.annotation)


def files_are_decidable(kind: object) -> bool:
    """Return whether a type determines which of its values name files; other fields cannot be set over HTTP.

    Examples:
        >>> [files_are_decidable(kind) for kind in (dict[str, tuple[Path, ...] | None], str | Path, Any)]
        [True, False, False]
    """
    kind, _ = _unwrap(kind, PLAIN)
    arguments = [arg for arg in get_args(kind) if arg is not Ellipsis]
    if get_origin(kind) is Literal or kind is types.NoneType:
        return True
    if _is_union(kind):
        shapes = [_json_shape(arm) for arm in arguments]
        distinct = all(shapes.count(_json_shape(arm)) == 1 for arm in arguments if holds_path(arm))
        return distinct and all(map(files_are_decidable, arguments))
    if get_origin(kind) is not None:
        return _json_shape(kind) in ("many", "object") and all(map(files_are_decidable, arguments))
    if not isinstance(kind, type):
        return False
    if issubclass(kind, BaseModel):
        fields = kind.model_fields.values()
        return all(
            files_are_decidable(field.annotation) and isinstance(field.validation_alias, str | None) for field in fields
        )
    return issubclass(kind, (PurePath, *_PLAIN))


def _fields_of(kind: object) -> Mapping[str, FieldInfo]:
    """Return the fields of a model; none for any other type."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return kind.model_fields
    return {}


def holds_path(kind: object) -> bool:
    """Return whether a value of a type may contain the name of a file."""
    kind, _ = _unwrap(kind, PLAIN)
    if isinstance(kind, type) and get_origin(kind) is None:
        if issubclass(kind, BaseModel):
            return any(holds_path(field.annotation) for field in kind.model_fields.values())
        return issubclass(kind, PurePath)
    return get_origin(kind) is not Literal and any(map(holds_path, get_args(kind)))


def read_request(model: type[Q], sent: object, places: RequestFiles, *, stand_in: Path | None = None) -> Q:
    """Return a request sent as JSON, with all its files resolved.

    Args:
        model: the type of request.
        sent: the received plain JSON.
        places: the places where files may be.
        stand_in: takes the place of required files that were not sent, so that the rest can be checked.

    Raises:
        InputError: a field is unknown, of another type, or a file that may not be read; the message names all of them.
    """
    if not isinstance(sent, dict):
        raise InputError("the body is no JSON object")
    values = {name: value for name, value in sent.items() if not _keeps_default(model, name, value)}
    allowed: set[Path] = set()

    def resolve(text: str, where: str, option: Option) -> str:
        path = places.resolve(text, where, option)
        allowed.add(path)
        return str(path)

    faults: list[str] = []
    for name, value in values.items():
        field = model.model_fields.get(name)
        if field is None:
            continue
        try:
            values[name] = _resolve_field(name, field, value, resolve)
        except InputError as problem:
            faults.append(str(problem))
    if faults:
        raise InputError("; ".join(faults))
    if stand_in is not None:
        allowed.add(stand_in)
        for name, field in model.model_fields.items():
            if name not in values and field.is_required() and holds_path(field.annotation):
                values[name] = [str(stand_in)] if get_origin(field.annotation) is tuple else str(stand_in)
    request = validate_json(model, values)
    _check_paths(request, allowed)
    check_models(request)
    return request


def validate_json(model: type[B], sent: object) -> B:
    """Return plain JSON as a model, without converting numbers, texts or booleans to another type.

    Raises:
        InputError: fields are wrong; the message names all of them.
    """
    if not isinstance(sent, dict):
        raise InputError("the body is no JSON object")
    fields = model.model_fields
    faults = [
        f"{name}: the value is of another type than the schema says"
        for name, value in sent.items()
        if name in fields and not _has_exact_types(fields[name].annotation, value)
    ]
    try:
        instance = model.model_validate_json(orjson.dumps(sent))
    except ValidationError as error:
        for details in error.errors(include_url=False, include_input=False):
            faults.append(str(Fault.of(details)._replace(message=_error_message(details, fields))))
        raise InputError("; ".join(faults)) from None
    if faults:
        raise InputError("; ".join(faults))
    return instance


def _error_message(details: ErrorDetails, fields: Mapping[str, FieldInfo]) -> str:
    """Return the message for an invalid value: from `MESSAGES` if there is one, else pydantic's."""
    fault = Fault.of(details)
    field = fields.get(fault.field.partition(".")[0])
    form = option_of(field).metavar if field else None
    if fault.kind == "string_pattern_mismatch" and form:
        return f"write it in the form {form.replace('|', ' or ')}"
    if fault.kind in MESSAGES:
        return MESSAGES[fault.kind].format(**details.get("ctx", {}))
    return fault.message


def _keeps_default(model: type[Invocation], name: str, value: object) -> bool:
    """Return whether a field that cannot be set over HTTP has its default, as in a complete request."""
    field = model.model_fields.get(name)
    return (
        field is not None and not field.is_required() and value == field.default and not settable_over_http(name, field)
    )


def _resolve_field(name: str, field: FieldInfo, value: object, resolve: Resolver) -> object:
    if name in NEVER:
        raise InputError(f"{name}: cannot be asked of a service: {NEVER[name]}")
    if not files_are_decidable(field.annotation):
        raise InputError(f"{name}: cannot be given over HTTP: its type does not say whether it names a file")
    return _resolve_files(field.annotation, value, name, option_of(field), resolve)


def _has_exact_types(kind: object, value: object) -> bool:
    """Return whether plain JSON has no number or boolean that validation would convert to another type."""
    kind, _ = _unwrap(kind, PLAIN)
    arguments = [arg for arg in get_args(kind) if arg is not Ellipsis]
    if _is_union(kind):
        return any(_has_exact_types(arm, value) for arm in arguments)
    if isinstance(value, list):
        return not arguments or all(any(_has_exact_types(arm, element) for arm in arguments) for element in value)
    if isinstance(value, dict):
        if get_origin(kind) is not None:
            return all(_has_exact_types(arguments[-1], member) for member in value.values())
        fields = _fields_of(kind)
        return all(
            _has_exact_types(fields[name].annotation, member) for name, member in value.items() if name in fields
        )
    if kind is int and isinstance(value, float):
        return value.is_integer()
    if kind in (bool, int, float, str, types.NoneType):
        return type(value) is kind or (kind is float and type(value) is int)
    return True


def _resolve_files(kind: object, value: object, where: str, option: Option, resolve: Resolver) -> object:
    """Return plain JSON with the names of files replaced by their paths."""
    kind, option = _unwrap(kind, option)
    if value is None or not holds_path(kind):
        return value
    arguments = get_args(kind)
    if _is_union(kind):
        shape = "many"
        if isinstance(value, str):
            shape = "text"
        elif isinstance(value, dict):
            shape = "object"
        arms = [
            arm
            for arm in arguments
            if holds_path(arm) and _json_shape(arm) in (shape, "many" if shape == "text" else "")
        ]
        arms.sort(key=lambda arm: _json_shape(arm) != shape)
        if arms:
            return _resolve_files(arms[0], value, where, option, resolve)
        return value
    if _json_shape(kind) == "text":
        if isinstance(value, str):
            return resolve(value, where, option)
        return value
    if _json_shape(kind) == "many":
        if isinstance(value, str):  # some fields accept a single value in place of a list
            return _resolve_files(arguments[0], value, where, option, resolve)
        if not isinstance(value, list):
            return value
        kinds = arguments
        if len(arguments) != len(value) or Ellipsis in arguments:
            kinds = [arguments[0]] * len(value)
        pairs = enumerate(zip(kinds, value, strict=True))
        return [
            _resolve_files(element_type, element, f"{where}.{index}", option, resolve)
            for index, (element_type, element) in pairs
        ]
    if not isinstance(value, dict):
        return value
    if get_origin(kind) is not None:
        name_type, value_type = arguments
        return {
            _resolve_files(name_type, name, f"{where}.{name}", option, resolve): _resolve_files(
                value_type, member, f"{where}.{name}", option, resolve
            )
            for name, member in value.items()
        }
    fields = {key: field for name, field in _fields_of(kind).items() for key in (name, field.validation_alias or name)}
    resolved = dict(value)
    for name, member in value.items():
        if field := fields.get(name):
            resolved[name] = _resolve_files(field.annotation, member, f"{where}.{name}", option_of(field), resolve)
    return resolved


def _check_paths(request: Invocation, allowed: Collection[Path]) -> None:
    """Refuse a request with an unresolved path, such as one made by its validators."""
    for name, field in type(request).model_fields.items():
        value = getattr(request, name)
        default = None if field.is_required() else field.get_default(call_default_factory=True)
        paths = {leaf for leaf in leaves(value) if isinstance(leaf, PurePath)}
        if value != default and not paths <= set(allowed):
            raise InputError(f"{name}: cannot be given over HTTP: it names a file that was not asked for")


def leaves(value: object) -> Iterator[object]:
    """Yield the values within models, mappings and collections, at any depth; of a mapping also the keys."""
    if isinstance(value, BaseModel):
        value = dict(value)
    if isinstance(value, Mapping):
        for pair in value.items():
            yield from leaves(pair)
    elif isinstance(value, list | tuple | set | frozenset):
        for element in value:
            yield from leaves(element)
    else:
        yield value


def check_models(asked: Invocation) -> None:
    """Refuse models that name an address: a caller must not redirect requests, and keys with them."""
    for name, field in type(asked).model_fields.items():
        if option_of(field).models or name in ("judge", "models"):
            for text in leaves(getattr(asked, name)):
                if isinstance(text, str) and ":/" in text:
                    raise InputError(
                        f"{name}: {text[:200]!r} is no name of a model: an address is configured in dokimasia.toml (api_base)"
                    )


def _unwrap(kind: Any, option: Option) -> tuple[object, Option]:
    """Return a type without annotations, and its option if an annotation has one."""
    while True:
        if get_origin(kind) is Annotated:
            kind, *notes = get_args(kind)
            option = next((note for note in notes if isinstance(note, Option)), option)
        elif hasattr(kind, "__supertype__"):
            kind = kind.__supertype__
        elif type(kind).__name__ == "TypeAliasType":
            kind = kind.__value__
        else:
            return kind, option


def _is_union(kind: object) -> bool:
    return get_origin(kind) in (Union, types.UnionType)


def _json_shape(kind: object) -> str:
    """Return the shape of a type's values in JSON: text, object, many or other."""
    kind, _ = _unwrap(kind, PLAIN)
    plain = get_origin(kind) or kind
    if not isinstance(plain, type):
        if plain is Literal:
            return "text"
        return "other"
    return next((name for base, name in _SHAPES.items() if issubclass(plain, base)), "other")


FILE = "upload:NAME or upload:ID, or a path below the folder of --data-root"
_DEFS = "#/$defs/"


def request_schema(method: AnyMethod) -> JsonObject:
    """Return the schema of a method's request over HTTP, with an example."""
    return {**invocation_schema(method.request), "examples": [example_of(method.request)]}


@cache
def invocation_schema(model: type[Invocation]) -> JsonObject:
    """Return the schema of a request's fields that can be set over HTTP; fields for files describe how to name them."""
    schema = inline_references(model.model_json_schema(mode="validation"))
    fields = model.model_fields
    schema["properties"] = {
        name: _describe_property(property_schema, file=holds_path(fields[name].annotation))
        for name, property_schema in schema["properties"].items()
        if settable_over_http(name, fields[name])
    }
    return schema


def inline_references(schema: JsonObject) -> JsonObject:
    """Return a schema with all references replaced by their definitions; recursive ones become `{}`."""
    definitions = schema.get("$defs", {})

    def inline(value: object, within: tuple[str, ...]) -> Any:
        if isinstance(value, list):
            return [inline(element, within) for element in value]
        if not isinstance(value, dict):
            return value
        siblings = dict(value)
        name = str(siblings.pop("$ref", "")).removeprefix(_DEFS)
        if name in within:
            return {}
        if name:
            return {**inline(definitions[name], (*within, name)), **inline(siblings, within)}
        return {key: inline(child, within) for key, child in value.items() if key != "$defs"}

    return inline(schema, ())


def json_body(schema: JsonObject | type[BaseModel], *, required: bool = True) -> JsonObject:
    """Return the `openapi_extra` of a route whose body is JSON of a schema."""
    inlined_schema = inline_references(schema.model_json_schema()) if isinstance(schema, type) else schema
    return {"requestBody": {"required": required, "content": {"application/json": {"schema": inlined_schema}}}}


def example_of(request: type[Invocation]) -> dict[str, str | list[str]]:
    """Return an example of a request, with simulated models."""
    example: dict[str, str | list[str]] = {}
    for name, field in request.model_fields.items():
        many = get_origin(field.annotation) is tuple
        if option_of(field).models and (field.is_required() or name in ("judge", "models")):
            example[name] = ["sim/strong", "sim/weak"] if many else "sim/judge"
        elif field.is_required() and holds_path(field.annotation):
            example[name] = ["upload:answers.jsonl"] if many else "upload:questions.jsonl"
        elif field.is_required():
            example[name] = "last"
    return example


def _describe_property(schema: JsonObject, *, file: bool) -> JsonObject:
    if not file:
        return schema
    description = str(schema.get("description", "")).strip()
    return {**schema, "description": f"{description} ({FILE})" if description else f"{FILE[0].upper()}{FILE[1:]}."}
