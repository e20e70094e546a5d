"""Reading of the planted world's data, which are YAML files next to the modules."""

from importlib.resources import files
from typing import TypeVar

import yaml
from pydantic import TypeAdapter

Data = TypeVar("Data")


def read_data(name: str, kind: type[Data]) -> Data:
    """Return the content of a file in this package as values of a type; `name` is its path within the package."""
    text = files("dokimasia.simulation").joinpath(name).read_text(encoding="utf-8")
    content = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return TypeAdapter(kind).validate_python(content, strict=False)
