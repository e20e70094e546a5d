"""A planted world, and for each kind of run a home with what it rests on, copied for every test."""

import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from dokimasia.settings import Settings, load_settings
from dokimasia.simulation.world import write_world
from tests.runs.kinds import KINDS, SAMPLES, made

Prepare = Callable[[str, Path], Settings]


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data file of seven questions of the planted world, one a domain."""
    path = tmp_path_factory.mktemp("world") / "world.jsonl"
    write_world(path, SAMPLES, 3)
    return path


@pytest.fixture(scope="session")
def prepare(world: Path, tmp_path_factory: pytest.TempPathFactory) -> Prepare:
    """Puts a home with the runs that a kind rests on at a path; each is made once."""
    homes: dict[str, Path] = {}

    def at(name: str, path: Path) -> Settings:
        on = KINDS[name].on
        if on and on not in homes:
            homes[on] = tmp_path_factory.mktemp(on) / "home"
            with ThreadPoolExecutor(1) as aside:  # a test may have a loop of its own
                aside.submit(made, Settings(home=homes[on]), world, KINDS[on]).result()
        if on:
            shutil.copytree(homes[on], path)
        config = path.with_suffix(".toml")
        config.write_text("[defaults]\nmax_concurrency = 2\n")
        return load_settings(config=config, home=path, env={})

    return at
