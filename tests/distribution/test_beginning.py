"""When workers begin: with the first walk that one of them may take, once, and not where a run has none left."""

import asyncio
from pathlib import Path

import orjson
import pytest
from structlog.testing import capture_logs

from dokimasia.errors import ConfigError, DokimasiaError, Interrupted
from dokimasia.people.checks import decide, waiting_questions
from dokimasia.runs.lifecycle import resume
from dokimasia.runs.observer import SilentObserver
from dokimasia.runs.reachability import Stop
from dokimasia.storage.home import Home
from dokimasia.storage.runs import set_status
from tests.distribution.conftest import Actor, FakeCluster
from tests.distribution.test_bad_days import FAR, Sending, newest, sending
from tests.runs.conftest import Finished, Prepared
from tests.runs.kinds import KINDS, make

__all__ = ["sending"]

EVALUATE = KINDS["evaluate"]


class Watching(SilentObserver):
    """Keeps what it is told of workers that are started."""

    def __init__(self) -> None:
        """Begin."""
        self.told: list[int] = []

    def starting(self, workers: int, address: str | None) -> None:
        """Keep it."""
        self.told.append(workers)


async def test_what_is_left_to_finish_needs_no_worker(
    world: Path, prepared: Prepared, finished: Finished, workers: FakeCluster
) -> None:
    """A run whose items are all finished ends without Ray; one with walks says when it starts workers and when they are there."""
    _, whole = finished(EVALUATE)
    settings, first, second = prepared(EVALUATE), Watching(), Watching()
    done = await make(settings, world, EVALUATE, services={"observer": first}, **FAR)
    assert (first.told, workers.entered, workers.hired) == ([2, 0], 1, 2)
    with Home.open(settings.home, write=True) as home:
        await set_status(home, done.run, "interrupted")
    workers.entered = 0
    again = await resume(newest(settings), settings=settings, changes=FAR, observer=second)
    assert orjson.dumps(again.summary) == orjson.dumps(whole.summary)
    assert (second.told, workers.entered, workers.hired) == ([], 0, 2)


async def test_a_run_that_waits_still_needs_no_worker(world: Path, prepared: Prepared, workers: FakeCluster) -> None:
    """Resumed without a new answer a run says that it waits and starts no workers; with one it goes on with them."""
    settings = prepared(EVALUATE)
    first = await make(settings, world, EVALUATE, judge="human/ana", limit=2, **FAR)
    assert (first.end, workers.hired) == ("waiting", 2)
    watching = Watching()
    again = await resume(newest(settings), settings=settings, changes=FAR, observer=watching)
    assert ((again.end, again.why), watching.told, workers.hired) == (("waiting", first.why), [], 2)
    with Home.open(settings.home, write=True):  # held by another, so that the answer is left as a file
        with Home.open(settings.home, write=False) as reader:
            question = waiting_questions(reader, run=first.run)[0].item
        decide(question, "reply", text="<reasoning>One.</reasoning><answer>1</answer>", who="ana", settings=settings)
    await resume(newest(settings), settings=settings, changes=FAR, observer=watching)
    assert (watching.told, workers.hired) == ([2, 0], 4)


async def test_a_run_goes_on_with_the_workers_that_a_cluster_has_room_for(
    world: Path,
    prepared: Prepared,
    finished: Finished,
    workers: FakeCluster,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Those that cannot begin are waited for a while, then it is said why, and the others do the work."""
    _, whole = finished(EVALUATE)
    monkeypatch.setattr("dokimasia.distribution.engine.ROOM", 0.05)
    hire, asked = workers.start_worker, list[int]()

    async def crowded() -> Actor:
        asked.append(1)
        return await (hire() if len(asked) == 1 else asyncio.Event().wait())

    monkeypatch.setattr(workers, "start_worker", crowded)
    watching = Watching()
    with capture_logs() as told:
        done = await make(prepared(EVALUATE), world, EVALUATE, services={"observer": watching}, **FAR)
    assert orjson.dumps(done.summary) == orjson.dumps(whole.summary)
    assert (len(asked), workers.hired, watching.told) == (2, 1, [2, 0])
    [said] = [one for one in told if one["event"] == "workers have not begun yet"]
    assert (said["begun"], said["waiting"], said["room"]) == (1, 1, "0 of 1 CPUs are free")


@pytest.mark.parametrize(
    ("problem", "raised", "said"),
    [
        (ConfigError("there is no Ray on this machine: too slow"), ConfigError, "^there is no Ray on this machine"),
        (OSError("no space left"), DokimasiaError, "^workers cannot be started: OSError: no space left"),
    ],
    ids=["ray", "disk"],
)
async def test_a_start_that_fails_ends_the_run(
    problem: Exception,
    raised: type[DokimasiaError],
    said: str,
    world: Path,
    prepared: Prepared,
    finished: Finished,
    workers: FakeCluster,
    sending: Sending,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Walks that wait for the same start all end with what it failed of; nothing is sent, and the run can go on."""
    _, whole = finished(EVALUATE)
    settings, transport, tries = prepared(EVALUATE), sending(), list[int]()

    async def begin() -> None:
        tries.append(1)
        await asyncio.sleep(0.05)
        raise problem

    with monkeypatch.context() as patched:
        patched.setattr(workers, "begin", begin)
        with pytest.raises(raised, match=said):
            await make(settings, world, EVALUATE, **FAR)
    assert (len(tries), transport.sent, newest(settings).status) == (1, [], "failed")
    done = await resume(newest(settings), settings=settings, changes=FAR)
    assert orjson.dumps(done.summary) == orjson.dumps(whole.summary)


async def test_a_run_that_is_stopped_while_workers_start_ends_at_once(
    world: Path, prepared: Prepared, workers: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever stops a run while its workers start does not wait for them; it can be gone on with."""
    settings, stop, watching = prepared(EVALUATE), Stop(), Watching()

    async def begin() -> None:
        stop.ask()
        await asyncio.Event().wait()

    monkeypatch.setattr(workers, "begin", begin)
    with pytest.raises(Interrupted):
        await make(settings, world, EVALUATE, services={"observer": watching, "stop": stop}, **FAR)
    assert (newest(settings).status, watching.told, workers.hired) == ("interrupted", [2, 0], 0)
