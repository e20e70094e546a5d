"""The dimensions of error that can be planted, read once from the YAML files in `perturbation/`,
their only definition.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from dokimasia.domain.blindspots import AXES, ErrorDimension, Task
from dokimasia.domain.identity import digest
from dokimasia.domain.perturbation import Dimension
from dokimasia.prompts.composing import LOADER

_FOLDER = Path(__file__).parent / "perturbation"


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
    of_task = _read("blindspots.yaml")[task]
    rows = [
        dimension | {"group": group["group"], "axes": group["axes"]}
        for group in of_task["groups"]
        for dimension in group["dimensions"]
    ]
    rows.append(of_task["neutral"] | {"axes": AXES[task]})
    return {row["name"]: ErrorDimension.model_validate(row | {"task": task}) for row in rows}


@cache
def error_groups(task: Task) -> Mapping[str, str]:
    """Return the published titles of the groups of a task's dimensions by short name, in the order of the file."""
    return {group["group"]: group["title"] for group in _read("blindspots.yaml")[task]["groups"]}


def error_dimensions_id(task: Task) -> str:
    """Return the content id of a task's dimensions, for the identity of a run that perturbs or probes."""
    return digest(
        "error_dimensions", [dimension.model_dump(mode="json") for dimension in error_dimensions(task).values()]
    )[:16]


@cache
def _read(name: str) -> Any:
    return yaml.load((_FOLDER / name).read_text(encoding="utf-8"), LOADER)
