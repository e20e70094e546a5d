"""A small planted world, settings with a home of its own, and requests on them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dokimasia.methods.evaluation import EvaluationRequest
from dokimasia.settings import Settings, load_settings
from dokimasia.simulation.world import write_world

SAMPLES = 14


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data file of fourteen questions of the planted world."""
    path = tmp_path_factory.mktemp("world") / "world.jsonl"
    write_world(path, SAMPLES, 3)
    return path


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings with an empty home."""
    return load_settings(home=tmp_path / "home", cwd=tmp_path, env={})


@pytest.fixture
def request_of(world: Path) -> Callable[..., EvaluationRequest]:
    """Makes requests on the world, judged by the noisy judge."""

    def make(**changes: Any) -> EvaluationRequest:
        fields = {"data": world, "judge": "sim/judge-noisy", "models": ("sim/strong", "sim/weak"), **changes}
        return EvaluationRequest.model_validate(fields)

    return make
