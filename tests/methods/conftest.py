"""What the tests of methods share: a small planted world, settings with a home of their own, and requests on them."""

import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from dokimasia.methods.evaluation import EvaluationRequest, evaluate
from dokimasia.runs.lifecycle import RunResult
from dokimasia.settings import Settings, load_settings
from dokimasia.simulation.world import write_world

SAMPLES = 14

Finished = Callable[[EvaluationRequest], Awaitable[RunResult]]


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


@pytest.fixture(scope="session")
def kept_homes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, RunResult]]:
    """Homes with one finished run each, by its request; see `finished`."""
    return {}


@pytest.fixture
def finished(
    settings: Settings,
    kept_homes: dict[str, tuple[Path, RunResult]],
    tmp_path_factory: pytest.TempPathFactory,
) -> Finished:
    """Puts a finished run of a request on simulated models into the test's empty home: made once, then copied."""

    async def copied(request: EvaluationRequest) -> RunResult:
        name = request.model_dump_json()
        if name not in kept_homes:
            home = tmp_path_factory.mktemp("kept") / "home"
            kept_homes[name] = home, await evaluate(request, settings=Settings(home=home))
        home, result = kept_homes[name]
        shutil.copytree(home, settings.home)
        return result

    return copied
