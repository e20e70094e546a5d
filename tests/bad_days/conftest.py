"""What bad days need: planted worlds of two sizes, homes of their own, and retries that do not wait."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from dokimasia.gateway import pace
from dokimasia.gateway.retry import RetryPolicy
from dokimasia.runs import services as workshop
from dokimasia.runs.reachability import FailFastGateway
from dokimasia.simulation.serving import faults
from dokimasia.simulation.world import write_world

SAMPLES = 84
"""Enough for every kind of fault to be met when all are mixed."""

Lines = Callable[[], str]


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data file of questions of the planted world, enough to meet every kind of fault."""
    path = tmp_path_factory.mktemp("world") / "world.jsonl"
    write_world(path, SAMPLES, 8)
    return path


@pytest.fixture(scope="session")
def small_world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data file of eight questions of the planted world."""
    path = tmp_path_factory.mktemp("small") / "world.jsonl"
    write_world(path, 8, 4)
    return path


@contextmanager
def no_waiting() -> Iterator[None]:
    """Within it, retries are as many as ever but a few milliseconds apart, no pace is learnt, huge replies have a megabyte."""
    policy = RetryPolicy(base=0.002, rate_limit_base=0.002, longest_asked=0.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(workshop, "FailFastGateway", partial(FailFastGateway, policy=policy))
        patch.setattr(pace, "LEAST_SEEN", math.inf)
        patch.setattr(faults, "HUGE_BYTES", 2**20)
        yield


@pytest.fixture
def one_error(capsys: pytest.CaptureFixture[str]) -> Lines:
    """Returns the one line of error that the program has printed, and that it is one."""

    def last() -> str:
        err = capsys.readouterr().err
        assert "Traceback" not in err
        lines = [line for line in err.splitlines() if line.startswith("error:")]
        assert len(lines) == 1, err
        return lines[0]

    return last
