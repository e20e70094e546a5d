"""Write the reference of figures from the published schemas: for every method a table of fields, types and meanings."""

from collections.abc import Iterator, Mapping
from typing import Any

from commands import cell

from dokimasia.runs.figure_models import figures_schema, methods_with_schema

Schema = Mapping[str, Any]


def reference() -> str:
    """Return the page's Markdown: each method with the parts of its figures, then the parts that several methods have."""
    schemas = {one.name: figures_schema(one) for one in methods_with_schema()}
    parts: dict[str, Schema] = {}
    owners: dict[str, list[str]] = {}
    for method, schema in schemas.items():
        for name, part in schema.get("$defs", {}).items():
            if parts.setdefault(name, part) != part:
                raise ValueError(f"two methods have a part {name} that are not the same: rename one")
            owners.setdefault(name, []).append(method)
    lines: list[str] = []
    for method, schema in schemas.items():
        lines += [f"## {method} {{ #{method} }}", "", *_fields(schema)]
        for name in [name for name in schema.get("$defs", {}) if owners[name] == [method]]:
            lines += _part(name, parts[name])
    lines += ["## Shared parts { #shared }", ""]
    for name in sorted(name for name, methods in owners.items() if len(methods) > 1):
        lines += _part(name, parts[name])
    return "\n".join(lines)


def _part(name: str, schema: Schema) -> Iterator[str]:
    yield from (f"### {name} {{ #{name} }}", "", *_fields(schema))


def _fields(schema: Schema) -> Iterator[str]:
    yield from (" ".join(schema.get("description", "").split()), "", "| field | type | meaning |", "|---|---|---|")
    for name, field in schema["properties"].items():
        meaning = cell(field.get("description", ""))
        absent = "" if name in schema.get("required", ()) else " (may be absent)"
        yield f"| `{name}` | {typed(field)}{absent} | {meaning} |"
    yield ""


def typed(field: Schema) -> str:
    """Return what a field holds, in words; a part is a link to its table."""
    if "$ref" in field:
        name = field["$ref"].rpartition("/")[2]
        return f"[{name}](#{name})"
    if "anyOf" in field:
        return " or ".join(typed(one) for one in field["anyOf"])
    if "enum" in field:
        return _choice(field)
    if "prefixItems" in field:
        return f"list of {' and '.join(map(typed, field['prefixItems']))}"
    if field.get("type") == "array":
        return f"list of {typed(field['items'])}"
    if field.get("type") == "object":
        values = field.get("additionalProperties")
        keys = f" ({_choice(field['propertyNames'])})" if "enum" in field.get("propertyNames", ()) else ""
        return f"by name{keys}: {typed(values)}" if isinstance(values, Mapping) else "object"
    low, high = field.get("minimum"), field.get("maximum")
    limits = "" if low is None else f" ≥ {low:g}" if high is None else f" {low:g} to {high:g}"
    return f"{field['type']}{limits}"


def _choice(field: Schema) -> str:
    return ", ".join(f"`{one}`" if one else "empty" for one in field["enum"])
