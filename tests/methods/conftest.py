"""What the tests of methods share: a small planted world, and settings with a home of their own."""

from pathlib import Path

import pytest

from dokimasia.settings import Settings, load_settings
from dokimasia.simulation.world import write_world
from tests.runner.conftest import finished, kept_homes, request_of

__all__ = ["finished", "kept_homes", "request_of", "settings", "world"]

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
