"""The dimensions of error that can be planted: read once from `perturbation/dimensions.yaml`, which alone defines them."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import yaml

from dokimasia.domain.identity import digest
from dokimasia.domain.perturbation import Dimension

_FILE = Path(__file__).parent / "perturbation" / "dimensions.yaml"


@cache
def dimensions() -> Mapping[str, Dimension]:
    """Return the dimensions by name, in the order of the file."""
    read = [Dimension.model_validate(one) for one in yaml.safe_load(_FILE.read_text(encoding="utf-8"))]
    return {one.name: one for one in read}


def dimensions_id() -> str:
    """Return the content id of all dimensions, for the identity of a run that plants errors."""
    return digest("dimensions", [one.model_dump(mode="json") for one in dimensions().values()])[:16]
