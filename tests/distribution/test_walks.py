"""Runs whose graphs are walked by workers: the same bytes, money, limits and calls as in one process."""

from pathlib import Path

import orjson
import pytest

from dokimasia.runs.reading.exporting import encode, export_rows
from dokimasia.settings import Settings
from dokimasia.storage.home import Home
from dokimasia.storage.runs import get_run
from tests.distribution.conftest import FakeCluster
from tests.runs.conftest import Finished, Prepared
from tests.runs.kinds import KINDS, OTHER_REQUESTS, Kind, make

DRIVEN = {"tree", "diagnosis"}
"""Kinds of run whose walks are all the driver's."""

BY_TWO = [
    pytest.param(kind, 2, id=f"{kind.id}-2", marks=pytest.mark.full if kind.id in OTHER_REQUESTS else ())
    for kind in KINDS.values()
]
CASES = [*BY_TWO, *(pytest.param(KINDS["evaluate"], count, id=f"evaluate-{count}") for count in (1, 4))]


async def exported(settings: Settings, run: str) -> bytes:
    """What an export holds of a run."""
    with Home.open(settings.home, write=False) as home:
        return encode(await export_rows(home, get_run(home, run)), "jsonl")


@pytest.mark.parametrize(("kind", "count"), CASES)
async def test_workers_come_to_the_same_bytes(
    kind: Kind, count: int, world: Path, prepared: Prepared, finished: Finished, workers: FakeCluster
) -> None:
    """Walked by one, two or four workers, a run of every kind comes to the bytes that one process comes to.

    Where no worker may take a walk, neither Ray nor a worker is started.
    """
    alone, whole = finished(kind)
    settings = prepared(kind)
    done = await make(settings, world, kind, workers=count, engine="ray")
    assert (workers.hired, workers.entered) == ((0, 0) if kind.id in DRIVEN else (count, 1))
    assert done.run == whole.run
    assert orjson.dumps(done.summary) == orjson.dumps(whole.summary)
    assert await exported(settings, done.run) == await exported(alone, whole.run)
