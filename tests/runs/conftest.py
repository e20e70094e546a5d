"""A planted world, and for each kind of run a home with what it rests on, or with one finished, copied for every test."""

import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from dokimasia.runs.lifecycle import RunResult
from dokimasia.settings import Settings, load_settings
from tests.runs.kinds import KINDS, Kind, made, write_data
from tests.sharing import made_by_one, shared_folder

Prepared = Callable[..., Settings]
"""Takes a kind and a name for the home."""
Finished = Callable[..., tuple[Settings, RunResult]]


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data file of seven questions of the planted world, one a domain, with responses, rankings and perturbations beside it."""
    folder = shared_folder(tmp_path_factory, "kinds") / "world"

    def write(folder: Path) -> None:
        folder.mkdir()
        write_data(folder / "world.jsonl")

    made_by_one(folder, write)
    return folder / "world.jsonl"


class Homes:
    """A home for each kind of run, with one that is finished and what it rests on; one worker makes each, all copy it."""

    def __init__(self, world: Path, folder: Path) -> None:
        """Begin without any."""
        self._world, self._folder = world, folder

    def prepared(self, kind: Kind, path: Path) -> Settings:
        """Put a home at a path that has what a kind of run rests on, and none of the kind; return its settings."""
        if kind.on:
            self.finished(KINDS[kind.on], path)
        return _settings(path)

    def finished(self, kind: Kind, path: Path) -> tuple[Settings, RunResult]:
        """Put a home with a finished run of the kind at a path; return its settings and what came of the run."""
        home = self._folder / kind.id

        def make(home: Path) -> RunResult:
            settings = self.prepared(kind, home)
            with ThreadPoolExecutor(1) as aside:  # a test may have a loop of its own
                return aside.submit(made, settings, self._world, kind).result()

        result = made_by_one(home, make)
        shutil.copytree(home, path)
        return _settings(path), result


def _settings(home: Path) -> Settings:
    config = home.with_suffix(".toml")
    config.write_text("[defaults]\nmax_concurrency = 2\n")
    return load_settings(config=config, home=home, env={})


@pytest.fixture(scope="session")
def homes(world: Path, tmp_path_factory: pytest.TempPathFactory) -> Homes:
    """The homes of all kinds."""
    return Homes(world, shared_folder(tmp_path_factory, "kinds"))


@pytest.fixture
def prepared(homes: Homes, tmp_path: Path) -> Prepared:
    """Settings with a home of the test's own that has what a kind of run rests on."""
    return lambda kind, name="home": homes.prepared(kind, tmp_path / name)


@pytest.fixture
def finished(homes: Homes, tmp_path: Path) -> Finished:
    """Settings with a home of the test's own that has a finished run of a kind, and what came of that."""
    return lambda kind, name="finished": homes.finished(kind, tmp_path / name)
