"""The dimensions of error that can be planted, read once from the YAML files in `perturbation/`,
their only definition.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, JsonValue, TypeAdapter

from dokimasia.domain.blindspots import AXES, ErrorDimension, Task
from dokimasia.domain.identity import digest
from dokimasia.domain.perturbation import Dimension
from dokimasia.prompts.composing import LOADER

_FOLDER = Path(__file__).parent / "perturbation"


class _Group(BaseModel):
    group: str
    title: str
    axes: tuple[str, ...]
    dimensions: tuple[dict[str, JsonValue], ...]


class _TaskDimensions(BaseModel):
    groups: tuple[_Group, ...]
    neutral: dict[str, JsonValue]


@cache
def dimensions() -> Mapping[str, Dimension]:
    """Return the dimensions for auditing rubrics by name, in the order of the file."""
    return {dimension.name: dimension for dimension in map(Dimension.model_validate, _read("dimensions.yaml"))}


def dimensions_id() -> str:
    """Return the content id of all dimensions, for the identity of a run that plants errors."""
    return digest("dimensions", [dimension.model_dump(mode="json") for dimension in dimensions().values()])[:16]


@cache
def error_dimensions(task: Task) -> Mapping[str, ErrorDimension]:
    """Return the dimensions for probing judges of a task by name, in the order of the file; `score_neutral` last."""
    of_task = _error_material()[task]
    found: list[ErrorDimension] = []
    for group in of_task.groups:
        shared = {"group": group.group, "axes": group.axes, "task": task}
        found += [ErrorDimension.model_validate({**dimension, **shared}) for dimension in group.dimensions]
    found.append(ErrorDimension.model_validate({**of_task.neutral, "axes": AXES[task], "task": task}))
    return {dimension.name: dimension for dimension in found}


@cache
def error_groups(task: Task) -> Mapping[str, str]:
    """Return the published titles of the groups of a task's dimensions by short name, in the order of the file."""
    return {group.group: group.title for group in _error_material()[task].groups}


def error_dimensions_id(task: Task) -> str:
    """Return the content id of a task's dimensions, for the identity of a run that perturbs or probes."""
    return digest(
        "error_dimensions", [dimension.model_dump(mode="json") for dimension in error_dimensions(task).values()]
    )[:16]


@cache
def _error_material() -> Mapping[Task, _TaskDimensions]:
    return TypeAdapter(dict[Task, _TaskDimensions]).validate_python(_read("blindspots.yaml"))


@cache
def _read(name: str) -> Any:
    return yaml.load((_FOLDER / name).read_text(encoding="utf-8"), LOADER)
