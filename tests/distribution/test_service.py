"""The service with workers: the queue's runs are walked by them, over one Ray, and stop, go on and end as in one process."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import orjson
import pytest

from dokimasia.distribution import cluster as clusters
from dokimasia.distribution.cluster import Cluster
from dokimasia.domain.call import call_key
from dokimasia.errors import ConfigError
from dokimasia.methods.evaluation import METHOD
from dokimasia.runs.observer import Progress, SilentObserver
from dokimasia.runs.requests import Invocation
from dokimasia.service.engine import RunEngine
from dokimasia.service.run_events import Events
from dokimasia.settings import Settings
from dokimasia.storage.home import Home
from dokimasia.storage.runs import Run, get_run
from tests.distribution.conftest import FakeCluster
from tests.distribution.test_bad_days import Sending, a_moment, committed, sending
from tests.runs.conftest import Finished, Prepared
from tests.runs.kinds import KINDS

__all__ = ["sending"]

EVALUATE = KINDS["evaluate"]
TWO = Invocation(workers=2, engine="ray")


class Told(SilentObserver):
    """Keeps what it is told of a run."""

    def __init__(self) -> None:
        """Begin."""
        self.states: list[str] = []
        self.done: list[int] = []

    def became(self, status: str, **_: str) -> None:
        """Keep how it stands."""
        self.states.append(status)

    def progressed(self, progress: Progress) -> None:
        """Keep how far it is."""
        self.done.append(progress.done)


@asynccontextmanager
async def serving(settings: Settings, far: Invocation = TWO, **more: Any) -> AsyncIterator[tuple[RunEngine, Home]]:
    """The engine of a service over a home."""
    with Home.open(settings.home, write=True) as home:
        async with RunEngine(settings, home, remote_workers=far, **more) as engine:
            yield engine, home


async def until(reached: Callable[[], bool]) -> None:
    """Wait until something holds."""
    while not reached():  # noqa: ASYNC110 - threads and workers make it so
        await asyncio.sleep(0.005)


def figures(home: Home, run: Run) -> bytes:
    """The figures of a run."""
    return orjson.dumps(METHOD.json_figures(home, get_run(home, run.id)))


async def test_runs_of_the_queue_are_walked_by_workers(
    world: Path, prepared: Prepared, finished: Finished, workers: FakeCluster
) -> None:
    """Two runs at once are walked by workers over one Ray, to the bytes of one process; who watches them is told the same."""
    _, whole = finished(EVALUATE)
    told: dict[str, Told] = {}

    def watch(run: Run) -> Told:
        return told.setdefault(run.id, Told())

    async with serving(prepared(EVALUATE), observers=watch) as (engine, home):
        runs = [await engine.submit(METHOD.name, EVALUATE.request(world, "", **more)) for more in ({}, {"seed": 5})]
        ends = [await engine.ended(run) for run in runs]
        assert [run.status for run in ends] == ["done", "done"]
        assert figures(home, runs[0]) == orjson.dumps(whole.summary)
    assert (workers.entered, workers.hired) == (1, 4)
    for one in told.values():
        assert (one.states[0], one.states[-1], one.done == sorted(one.done)) == ("queued", "done", True)


async def test_who_follows_a_run_is_told_of_its_workers(world: Path, prepared: Prepared, workers: FakeCluster) -> None:
    """The events of a run say that workers are waited for, and when no longer."""
    settings = prepared(EVALUATE)
    with Home.open(settings.home, write=True) as home:
        events = Events(home)
        async with RunEngine(settings, home, remote_workers=TWO, observers=events.observer_of) as engine:
            run = await engine.submit(METHOD.name, EVALUATE.request(world, ""))
            await engine.ended(run)
            log = await events.log(run)
    told = [(one.type, one.data) for one in log.after(0) if one.type in ("planned", "starting")]
    assert [kind for kind, _ in told] == ["planned", "starting", "starting"]
    assert [data["workers"] for _, data in told[1:]] == [2, 0]


async def test_a_run_is_cancelled_and_gone_on_with(
    world: Path, prepared: Prepared, finished: Finished, workers: FakeCluster, sending: Sending
) -> None:
    """A run walked by workers stops when it is cancelled, with what is in flight committed, and goes on when it is asked to."""
    _, whole = finished(EVALUATE)
    transport = sending(hold=a_moment)
    settings = prepared(EVALUATE)
    async with serving(settings) as (engine, home):
        run = await engine.submit(METHOD.name, EVALUATE.request(world, ""))
        await until(lambda: len(transport.done) >= 10)
        assert (await engine.cancel(run)).status == "interrupted"
        assert committed(settings) == {call_key(call) for call in transport.sent}
        await engine.resume(run)
        assert (await engine.ended(run)).status == "done"
        assert figures(home, run) == orjson.dumps(whole.summary)
    assert len(transport.sent) == len({call_key(call) for call in transport.sent})


@pytest.mark.parametrize("far", [TWO, Invocation()], ids=["workers", "none"])
async def test_runs_go_on_after_a_restart(
    far: Invocation, world: Path, prepared: Prepared, finished: Finished, workers: FakeCluster, sending: Sending
) -> None:
    """What workers had not finished when the service ended goes on when it is back, with workers or without."""
    _, whole = finished(EVALUATE)
    settings, transport = prepared(EVALUATE), sending(hold=a_moment)
    async with serving(settings) as (engine, home):
        run = await engine.submit(METHOD.name, EVALUATE.request(world, ""))
        await until(lambda: len(transport.done) >= 10)
    before, last = committed(settings), sending()
    async with serving(settings, far) as (engine, home):
        assert (await engine.ended(run)).status == "done"
        assert figures(home, run) == orjson.dumps(whole.summary)
    assert last.sent
    assert not before & {call_key(call) for call in last.sent}


async def test_a_service_without_ray_does_not_begin(prepared: Prepared, monkeypatch: pytest.MonkeyPatch) -> None:
    """A service that is to have workers and lacks Ray says so at its start, and not at its first run."""
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.setattr(clusters, "_cluster", None)
    with pytest.raises(ConfigError, match=r"dokimasia\[ray\]"):
        async with serving(prepared(EVALUATE), Invocation(workers=2)):
            pass
    assert clusters._cluster is None


@pytest.mark.full
async def test_processes_of_ray_walk_the_runs_of_a_service(
    world: Path, prepared: Prepared, finished: Finished, ray: Cluster
) -> None:
    """Runs of a service come to the same bytes by processes that Ray starts, which serve one run after the other."""
    _, whole = finished(EVALUATE)
    far = Invocation(workers=2, address=ray.address)
    async with serving(prepared(EVALUATE), far, width=1) as (engine, home):
        runs = [await engine.submit(METHOD.name, EVALUATE.request(world, "", **more)) for more in ({}, {"seed": 5})]
        assert [(await engine.ended(run)).status for run in runs] == ["done", "done"]
        assert figures(home, runs[0]) == orjson.dumps(whole.summary)
    assert len(ray.living) == 2
