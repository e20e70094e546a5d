"""Workers for tests: in this process, over lines that pickle what is said, and processes of one Ray for the session."""

import asyncio
import importlib.util
import os
import pickle
import random
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from dokimasia.distribution import cluster as clusters
from dokimasia.distribution import engine, worker_config
from dokimasia.distribution.cluster import Cluster
from dokimasia.distribution.failures import LESS, WorkerDied
from dokimasia.distribution.worker import Worker
from dokimasia.domain.ports import BlobStore
from tests.runs.conftest import finished, homes, prepared, world

__all__ = ["finished", "homes", "prepared", "world"]


class Actor:
    """A worker in this process; what goes to it and comes from it is copied as between processes."""

    def __init__(self, forbidden: Callable[[], bytes]) -> None:
        """Begin."""
        self._worker = Worker()
        self._gone = asyncio.Event()
        self._starved = False
        self._awake = asyncio.Event()
        self._awake.set()
        self._forbidden = forbidden
        self._dying: asyncio.Task[None] | None = None

    def __getattr__(self, name: str) -> Any:
        """Return what Ray gives for an actor's method."""
        return Method(self, name)

    async def called(self, name: str, holds: tuple[Any, ...]) -> Any:
        """Return what the worker answers, as long as it lives."""
        said = pickle.dumps(holds)
        assert not self._forbidden() or self._forbidden() not in said, "a key travelled"
        copied = pickle.loads(said)
        await self._awake.wait()
        if self._starved:
            raise WorkerDied(f"a worker ran out of memory: {LESS}")
        answer = asyncio.ensure_future(getattr(self._worker, name)(*copied))
        gone = asyncio.ensure_future(self._gone.wait())
        await asyncio.wait([answer, gone], return_when=asyncio.FIRST_COMPLETED)
        gone.cancel()
        if self._gone.is_set():
            answer.cancel()
            raise WorkerDied("killed")
        return pickle.loads(pickle.dumps(answer.result()))

    def stop(self) -> None:
        """Hear nothing, not even that it is killed, until it goes on."""
        self._awake.clear()

    def go_on(self) -> None:
        """Hear what was said meanwhile."""
        self._awake.set()

    def run_out_of_memory(self) -> None:
        """Have no memory for anything from now on."""
        self._starved = True

    def kill_soon(self) -> None:
        """Be killed by somebody else."""
        self._dying = self._dying or asyncio.ensure_future(self.die())

    async def die(self) -> None:
        """Be killed: nothing that it does goes on."""
        await self._awake.wait()
        self._gone.set()
        await self._worker.end()


class Method:
    """An actor's method."""

    def __init__(self, actor: Actor, name: str) -> None:
        """Name it."""
        self._actor, self._name = actor, name

    def remote(self, *holds: Any) -> Any:
        """Call it."""
        return self._actor.called(self._name, holds)


class FakeCluster:
    """Hires workers in this process."""

    def __init__(self) -> None:
        """Begin with none."""
        self.living: list[Actor] = []
        self.hired = self.entered = 0
        self._begun = False
        self.forbidden = b""
        self.bad: random.Random | None = None
        """What is lost, delayed and doubled on the way to workers and back, by chance."""

    @asynccontextmanager
    async def joined(self) -> AsyncIterator["FakeCluster"]:
        """Be held by one more user."""
        yield self

    async def begin(self) -> None:
        """Have Ray started, once."""
        self.entered += not self._begun
        self._begun = True

    async def start_worker(self) -> Actor:
        """Return a new worker."""
        self.hired += 1
        self.living.append(Actor(lambda: self.forbidden))
        return self.living[-1]

    def describe_capacity(self) -> str:
        """Say that there is none."""
        return "0 of 1 CPUs are free"

    def release(self, worker: Actor) -> None:
        """Let it go."""
        self.living.remove(worker)

    def kill(self, worker: Actor) -> None:
        """End it."""
        if worker in self.living:
            self.living.remove(worker)
            worker.kill_soon()

    async def call(self, answer: Any, *, patience: float = 0) -> Any:
        """Return what it answers, if it does so in time."""
        try:  # shielded, since what was said to a worker reaches it also where nobody waits for its answer any more
            async with asyncio.timeout(worker_config.PATIENCE):
                return await asyncio.shield(asyncio.ensure_future(answer))
        except TimeoutError:
            raise WorkerDied("silent") from None

    async def call_reliably(self, call: Callable[[], Any]) -> Any:
        """Return what it answers."""
        while self.bad is not None and (luck := self.bad.random()) < 0.4:
            await asyncio.sleep(0.01 * self.bad.random())
            if luck < 0.2:  # it arrived, and the answer is lost; else it never arrived
                await self.call(call())
                if luck < 0.1:  # and arrives twice
                    await self.call(call())
        return await self.call(call())

    def put_object(self, value: Any) -> Any:
        """Return what stands for a value."""
        return value

    def image(self, sha256: str, blobs: BlobStore) -> Any:
        """Return an image as it would travel."""
        return Travelling(blobs.get(sha256))


class Travelling:
    """Bytes that are waited for where they arrive."""

    def __init__(self, data: bytes) -> None:
        """Hold them."""
        self._data = data

    def __await__(self) -> Any:
        """Return them."""
        yield from ()
        return self._data


class Steady:
    """A clock on which no more than half a second passes between two looks: who stands still with all others is not silent."""

    def __init__(self) -> None:
        """Begin."""
        self._last = time.monotonic()
        self._now = 0.0

    def monotonic(self) -> float:
        """What it is now."""
        last, self._last = self._last, time.monotonic()
        self._now += min(0.5, self._last - last)
        return self._now


@pytest.fixture
async def steady(monkeypatch: pytest.MonkeyPatch) -> None:
    """Driver and workers of this process go by such a clock, so that a machine that stalls loses none of them."""
    clock = Steady()
    monkeypatch.setattr(asyncio.get_running_loop(), "time", clock.monotonic)
    monkeypatch.setattr("dokimasia.distribution.worker.time", clock)


@pytest.fixture
def workers(monkeypatch: pytest.MonkeyPatch) -> FakeCluster:
    """Workers in this process in place of Ray's."""
    made = FakeCluster()

    monkeypatch.setattr(engine, "cluster", lambda address: made.joined())
    monkeypatch.setattr("dokimasia.distribution.worker.configure", lambda **_: None)
    return made


@pytest.fixture(scope="session")
def ray() -> Iterator[Cluster]:
    """Ray, started once for the session, whose workers serve one run after the other."""
    if importlib.util.find_spec("ray") is None:
        pytest.skip("the extra dokimasia[ray] is not installed")
    held = Cluster(os.environ.get("DOKIMASIA_TEST_RAY"))
    held.users = 1
    held.start()
    clusters._cluster = held
    yield held
    clusters._cluster = None
    held.stop()


def holding(folder: Path, text: str) -> list[Path]:
    """The files below a folder in which a text stands."""
    return [path for path in folder.rglob("*") if path.is_file() and text.encode() in path.read_bytes()]


def processes_of(folder: Path) -> list[int]:
    """The processes that a Ray in a folder has started, and that live."""
    found: list[int] = []
    for line in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            if f"{folder}".encode() in line.read_bytes():
                found.append(int(line.parent.name))
    return found
