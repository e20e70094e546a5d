"""Requests and bodies as JSON schemas for the OpenAPI description, each whole in its place, with an example."""

from collections.abc import Mapping
from typing import Any, cast, get_origin

from pydantic import BaseModel

from dokimasia.runs.method import Method
from dokimasia.runs.requests import Invocation, option_of
from dokimasia.service.asked import given_over_http, holds_path

FILE = "upload:NAME or upload:ID, or a path below the folder of --data-root"
_DEFS = "#/$defs/"


def request_schema(method: Method[Any, Any]) -> dict[str, Any]:
    """Return the schema of what a method can be asked over HTTP, with an example."""
    return {**asked_schema(method.request), "examples": [example_of(method)]}


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
