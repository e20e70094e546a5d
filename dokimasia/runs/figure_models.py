"""The typed fields that the figures of every run begin with, and the published schema of a method's figures.

A field with a default is omitted if it has nothing to state; every other field is always present, null or not.
"""

from contextlib import suppress
from typing import Annotated

from pydantic import Field

from dokimasia.domain.identity import JsonObject, Value
from dokimasia.errors import ConfigError, NotFound
from dokimasia.report.fields import Count, PassportUsed
from dokimasia.runs.catalogue import OWN, method_named, own_method, plugin_methods
from dokimasia.runs.method import AnyMethod
from dokimasia.storage.runs import RunStatus

Seed = Annotated[int, Field(ge=0, description="of draws and intervals")]
Judge = Annotated[str, Field(description="the judge's name")]
Skipped = Annotated[
    tuple[str, ...], Field(description="samples and answers that were left out, each with its problems")
]
OpenItems = Annotated[Count, Field(description="items without a result yet; 0 for a finished run")]


class Heading(Value):
    """What the figures of every run begin with."""

    run: str = Field(description="the run's id")
    status: RunStatus
    simulated: tuple[str, ...] = Field(description="names of its models that are simulated")


class DataFigures(Heading):
    """What the figures of every run over a data set say."""

    seed: Seed
    skipped: Skipped
    open_items: OpenItems
    passports: tuple[PassportUsed, ...] = Field(
        default=(), description="of its judges, where passports were given; else absent"
    )


class JudgedFigures(DataFigures):
    """What the figures of every run over a data set with one judge say; `heading` fills it in from a `JudgedPlan`."""

    judge: Judge


def methods_with_schema() -> list[AnyMethod]:
    """Return the methods whose figures have a published schema, in the order of use; plug-ins that cannot be used have none."""
    methods = [own_method(name) for name in OWN]
    for name in plugin_methods():
        with suppress(ConfigError):
            methods.append(method_named(name))
    return [method for method in methods if method.shape is not None]


def figures_schema(method: AnyMethod) -> JsonObject:
    """Return the JSON schema of a method's `--json` output.

    Raises:
        NotFound: the method does not declare the shape of its figures.
    """
    if method.shape is None:
        raise NotFound(f"the method {method.name!r} says nothing of the shape of its figures")
    schema = method.shape().model_json_schema()
    if method.results.items_shown:
        schema["properties"]["items"] = {
            "type": "array",
            "items": {"type": "object"},
            "description": "the items of the run that have a result",
        }
        schema["required"].append("items")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
