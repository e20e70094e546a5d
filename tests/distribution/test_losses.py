"""Workers that are stopped or run out of memory, a line that loses and doubles, a full disk: nothing is lost or counted twice."""

import asyncio
import random
import re
import sqlite3
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import orjson
import pytest

from dokimasia.distribution import worker_config
from dokimasia.distribution.failures import WorkerDied, failure_of
from dokimasia.domain.call import ModelCall, call_key
from dokimasia.errors import ConfigError, DokimasiaError, StorageError
from dokimasia.runs.lifecycle import resume
from dokimasia.storage.writer import Writer
from tests.distribution.conftest import Actor, FakeCluster
from tests.distribution.test_bad_days import FAR, Sending, committed, newest, sending
from tests.runs.conftest import Finished, Prepared
from tests.runs.kinds import KINDS, make

__all__ = ["sending"]

EVALUATE = KINDS["evaluate"]


def lost_by(error: Exception, *, cause: Exception | None = None) -> DokimasiaError:
    """What the cluster makes of an error of Ray's, raised where a worker is called."""
    exceptions = pytest.importorskip("ray.exceptions")
    raised = exceptions.RayTaskError("take", "traceback", cause) if cause is not None else error
    return failure_of(raised, SimpleNamespace(exceptions=exceptions))


def test_what_ray_says_of_a_lost_worker_is_said_in_our_words() -> None:
    """Each way in which Ray loses a worker is a death, with its reason and, where memory is it, what to do."""
    exceptions = pytest.importorskip("ray.exceptions")
    memory = exceptions.OutOfMemoryError("1 worker(s) were killed: 8.30GB used / 23.54GB limit (0.35)")
    gone = exceptions.RayActorError(None, "dead because its worker process has died. Worker exit type: SYSTEM_ERROR")
    for error, said in (
        (lost_by(memory), r"node ran out of memory.*8.30GB used / 23.54GB.*max_concurrency"),
        (lost_by(gone), r"ended from outside.*memory.*max_concurrency"),
        (lost_by(exceptions.NodeDiedError("the node is gone")), "NodeDiedError: the node is gone"),
        (lost_by(memory, cause=MemoryError()), r"ran out of memory: .*max_concurrency"),
        (lost_by(ConnectionError("the client is not connected")), "ConnectionError: the client is not connected"),
    ):
        assert isinstance(error, WorkerDied)
        assert re.search(said, str(error)), str(error)
        assert not error.away
    away = lost_by(exceptions.ActorUnavailableError("no route", None))
    assert isinstance(away, WorkerDied)
    assert away.away
    assert isinstance(lost_by(memory, cause=KeyError("x")), ConfigError)
    own = ConfigError("ours")
    assert lost_by(memory, cause=own) is own


@pytest.mark.parametrize("stops", [False, True])
async def test_workers_that_run_out_of_memory_are_replaced(
    *, stops: bool, world: Path, prepared: Prepared, finished: Finished, workers: FakeCluster, sending: Sending
) -> None:
    """A worker out of memory is replaced; where all run out of it and nothing is finished, the run stops and names it."""
    _, whole = finished(EVALUATE)
    starved: list[ModelCall] = []

    def starve(call: ModelCall) -> None:
        if len(transport.done) >= 10 and (stops or not starved):
            starved.append(call)
            workers.living[0].run_out_of_memory()

    transport = sending(hold=starve)
    settings = prepared(EVALUATE)
    if stops:
        with pytest.raises(DokimasiaError, match=r"5 workers died.*out of memory: fewer workers.*then resume"):
            await make(settings, world, EVALUATE, **FAR)
        assert newest(settings).status == "failed"
        sending()
        done = await resume(newest(settings), settings=settings, changes=FAR)
    else:
        done = await make(settings, world, EVALUATE, **FAR)
        assert workers.hired == 3
    assert orjson.dumps(done.summary) == orjson.dumps(whole.summary)


async def test_a_stopped_worker_sends_nothing_when_it_goes_on(
    steady: None,
    world: Path,
    prepared: Prepared,
    finished: Finished,
    workers: FakeCluster,
    sending: Sending,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A worker that is stopped is taken for dead; what it was told meanwhile and hears when it goes on, it does not do."""
    _, whole = finished(EVALUATE)
    monkeypatch.setattr(worker_config, "PATIENCE", 2.0)
    stopped: list[Actor] = []

    async def stop(call: ModelCall) -> None:
        await asyncio.sleep(0.02)
        if len(transport.done) >= 10 and not stopped:
            stopped.append(workers.living[0])
            stopped[0].stop()

    transport = sending(hold=stop)
    running = asyncio.ensure_future(make(prepared(EVALUATE), world, EVALUATE, **FAR))
    while workers.hired < 3 and not running.done():  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    stopped[0].go_on()
    done = await running
    assert (workers.hired, stopped[0] in workers.living) == (3, False)
    assert orjson.dumps(done.summary) == orjson.dumps(whole.summary)
    sent = Counter(call_key(call) for call in transport.sent)
    twice = sum(sent.values()) - len(sent)
    assert twice <= transport.most_open


async def test_what_is_lost_or_doubled_on_the_way_counts_once(
    world: Path, prepared: Prepared, finished: Finished, workers: FakeCluster, sending: Sending
) -> None:
    """Over a line that loses, delays and doubles what is said, both ways, the bytes are the same and no call is sent twice."""
    _, whole = finished(EVALUATE)
    workers.bad, transport = random.Random(3), sending()
    done = await make(prepared(EVALUATE), world, EVALUATE, **FAR)
    assert orjson.dumps(done.summary) == orjson.dumps(whole.summary)
    assert workers.hired == 2
    keys = [call_key(call) for call in transport.sent]
    assert len(keys) == len(set(keys))


async def test_a_full_disk_of_the_driver_is_said_and_gone_on_from(
    world: Path,
    prepared: Prepared,
    finished: Finished,
    workers: FakeCluster,
    sending: Sending,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where the driver's disk is full the run ends and says so; with space again no committed call is sent again."""
    _, whole = finished(EVALUATE)
    settings, writers = prepared(EVALUATE), list[Writer]()

    class Kept(Writer):
        def __init__(self, *holds: Any, **named: Any) -> None:
            super().__init__(*holds, **named)
            writers.append(self)

    def fill(connection: sqlite3.Connection) -> None:
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count={pages}")

    async def full(call: ModelCall) -> None:
        await asyncio.sleep(0.005)
        if len(committed(settings)) >= 9:  # what came back is committed a little later
            await writers[-1].run(fill)

    monkeypatch.setattr("dokimasia.storage.home.Writer", Kept)
    sending(hold=full)
    with pytest.raises(StorageError, match="no space left"):
        await make(settings, world, EVALUATE, **FAR)
    assert workers.hired == 2
    before, last = committed(settings), sending()
    done = await resume(newest(settings), settings=settings, changes=FAR)
    assert orjson.dumps(done.summary) == orjson.dumps(whole.summary)
    assert len(before) >= 9
    assert not before & {call_key(call) for call in last.sent}
