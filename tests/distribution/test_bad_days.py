"""What workers do to money, limits, calls and keys when they die, are refused, or are asked the same at once."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from dokimasia.cli.main import run as command
from dokimasia.distribution.cluster import Cluster
from dokimasia.distribution.failures import WorkerDied
from dokimasia.distribution.worker_config import Handshake
from dokimasia.domain.call import ModelCall, call_key
from dokimasia.errors import ConfigError, DokimasiaError, TransportError
from dokimasia.gateway.doubles import CountingTransport
from dokimasia.gateway.events import GatewayEvent
from dokimasia.runs.lifecycle import resume
from dokimasia.runs.observer import SilentObserver
from dokimasia.settings import Settings, load_settings
from dokimasia.simulation.serving.transport import SimTransport
from dokimasia.storage.home import Home
from dokimasia.storage.runs import Run, list_runs
from tests.distribution.conftest import FakeCluster
from tests.runs.conftest import Finished, Prepared
from tests.runs.kinds import KINDS, make

EVALUATE = KINDS["evaluate"]
FAR = {"workers": 2, "engine": "ray"}
CURRENT: list[CountingTransport] = []


def opening(specs: object, library: object = None) -> dict[str, Any]:
    """The ways to models that workers of these tests open: all count together."""
    return {"sim": CURRENT[-1]}


Sending = Callable[..., CountingTransport]


@pytest.fixture
def sending(monkeypatch: pytest.MonkeyPatch) -> Sending:
    """Has workers send through a transport that counts."""

    def set_up(**stages: Any) -> CountingTransport:
        monkeypatch.setattr("dokimasia.runs.services.transports_for_models", opening)
        CURRENT.append(CountingTransport(SimTransport(), **stages))
        return CURRENT[-1]

    return set_up


def a_moment(call: ModelCall) -> Awaitable[None]:
    """A reply that takes a little."""
    return asyncio.sleep(0.005)


def committed(settings: Settings) -> set[str]:
    """The keys of the calls that the ledger holds."""
    with Home.open(settings.home, write=False) as home:
        return {key for (key,) in home.all("SELECT key FROM calls")}


def newest(settings: Settings) -> Run:
    """The run of the home."""
    with Home.open(settings.home, write=False) as home:
        return list_runs(home)[0]


async def test_dying_workers_lose_nothing(
    world: Path, prepared: Prepared, finished: Finished, workers: FakeCluster, sending: Sending
) -> None:
    """Workers that are killed again and again lose the calls in flight: no committed call is sent again."""
    _, whole = finished(EVALUATE)
    settings, seen = prepared(EVALUATE), list[tuple[int, set[str]]]()

    async def kill(call: ModelCall) -> None:
        await asyncio.sleep(0.005)
        if len(transport.done) % 10 == 5 and workers.living and len(seen) < 6:
            seen.append((len(transport.sent), committed(settings)))
            workers.living[0].kill_soon()

    transport = sending(hold=kill)
    done = await make(settings, world, EVALUATE, **FAR)
    assert len(seen) >= 4
    assert workers.hired == 2 + len(seen)
    assert orjson.dumps(done.summary) == orjson.dumps(whole.summary)
    for sent, kept in seen:
        assert not kept & {call_key(call) for call in transport.sent[sent:]}


@pytest.mark.parametrize(("deaths", "stops"), [(3, False), (99, True)])
async def test_a_worker_that_dies_as_it_begins_is_replaced(
    deaths: int,
    stops: bool,
    world: Path,
    prepared: Prepared,
    finished: Finished,
    workers: FakeCluster,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Workers that die before they have begun are replaced a few times; when they keep dying, the run stops and says so."""
    _, whole = finished(EVALUATE)
    hire = workers.start_worker

    async def dying() -> Any:
        if workers.hired < deaths:
            workers.hired += 1
            raise WorkerDied("killed as it began")
        return await hire()

    monkeypatch.setattr(workers, "start_worker", dying)
    if stops:
        with pytest.raises(DokimasiaError, match=r"5 workers died one after the other.*killed as it began"):
            await make(prepared(EVALUATE), world, EVALUATE, **FAR)
        return
    done = await make(prepared(EVALUATE), world, EVALUATE, **FAR)
    assert orjson.dumps(done.summary) == orjson.dumps(whole.summary)
    assert workers.hired == deaths + 2


async def test_a_driver_that_stops_is_gone_on_with_by_any_number(
    world: Path, prepared: Prepared, finished: Finished, workers: FakeCluster, sending: Sending
) -> None:
    """A driver that dies leaves what is committed; four workers, then none, go on to the same figures."""
    _, whole = finished(EVALUATE)
    settings = prepared(EVALUATE)
    for count, after in ((2, 12), (4, 30)):
        transport = sending(hold=a_moment)
        work = make(settings, world, EVALUATE, workers=count, engine="ray")
        running = asyncio.ensure_future(work)
        while len(transport.done) < after and not running.done():  # noqa: ASYNC110
            await asyncio.sleep(0.001)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        assert newest(settings).status == "interrupted"
    before, last = committed(settings), sending()
    done = await resume(newest(settings), settings=settings, transports={"sim": last})
    assert orjson.dumps(done.summary) == orjson.dumps(whole.summary)
    assert not before & {call_key(call) for call in last.sent}


async def test_the_budget_is_that_of_all_workers(
    world: Path, prepared: Prepared, finished: Finished, workers: FakeCluster, sending: Sending
) -> None:
    """However many workers ask, no more calls leave than may, and a resume that lifts the limit completes what is left."""
    _, whole = finished(EVALUATE)
    settings, transport = prepared(EVALUATE), sending(hold=a_moment)
    spent = await make(settings, world, EVALUATE, workers=4, engine="ray", max_calls=9)
    assert (spent.complete, len(transport.sent)) == (False, 9)
    lifted = {**FAR, "max_calls": None}
    done = await resume(newest(settings), settings=settings, changes=lifted)
    assert orjson.dumps(done.summary) == orjson.dumps(whole.summary)


class Listening(SilentObserver):
    """Keeps what happened in the gateway."""

    def __init__(self) -> None:
        """Begin."""
        self.events: list[GatewayEvent] = []

    def happened(self, event: GatewayEvent) -> None:
        """Keep it."""
        self.events.append(event)


async def test_a_refusal_anywhere_backs_off_everywhere(
    world: Path, prepared: Prepared, workers: FakeCluster, sending: Sending
) -> None:
    """A 429 at one worker halves the limit of all of them, once, and the limit holds for all together."""
    refused: list[ModelCall] = []

    def refuse(call: ModelCall) -> BaseException | None:
        if transport.open < 2 or refused:
            return None
        refused.append(call)
        transport.most_open = 0
        return TransportError("rate_limit", "slow down", retryable=True, status=429)

    transport, told = sending(hold=a_moment, fail=refuse), Listening()
    done = await make(prepared(EVALUATE), world, EVALUATE, workers=4, engine="ray", services={"observer": told})
    assert done.complete
    assert next(one.limit for one in told.events if one.kind == "limit") == 1
    assert transport.most_open == 1
    assert len(refused) == 1


async def test_the_same_call_of_two_workers_is_one_request(
    tmp_path: Path, world: Path, workers: FakeCluster, sending: Sending
) -> None:
    """Samples of the same content under two names are walked by two workers, and each call is sent once."""
    twice = tmp_path / "twice.jsonl"
    lines = [orjson.loads(line) for line in world.read_bytes().splitlines()[:2]]
    copies = [{**line, "id": f"{line['id']}-again"} for line in lines]
    images = world.parent
    for line in (*lines, *copies):
        for name in ("image", "images"):
            if isinstance(line.get(name), str):
                line[name] = str(images / line[name])
    twice.write_bytes(b"\n".join(map(orjson.dumps, (*lines, *copies))))
    transport = sending(hold=a_moment)
    settings = load_settings(home=tmp_path / "home", env={})
    done = await make(settings, twice, EVALUATE, workers=2, engine="ray", allow_outside=True)
    assert done.complete
    keys = [call_key(call) for call in transport.sent]
    assert len(keys) == len(set(keys))


async def test_what_a_program_hands_in_is_asked_from_the_driver(
    world: Path, prepared: Prepared, finished: Finished, workers: FakeCluster
) -> None:
    """Transports of a program stay in its process: calls travel to them as a whole."""
    _, whole = finished(EVALUATE)
    own = CountingTransport(SimTransport())
    done = await make(prepared(EVALUATE), world, EVALUATE, services={"transports": {"sim": own}}, **FAR)
    assert orjson.dumps(done.summary) == orjson.dumps(whole.summary)
    assert len(own.sent) == len({call_key(call) for call in own.sent}) > 20


class Other:
    """A worker that says that it is of another version."""

    def __init__(self) -> None:
        """Begin."""
        self.killed = False

    def options(self, **_: Any) -> "Other":
        """Take options."""
        return self

    def remote(self, *_: Any) -> Any:
        """Be made, or say hello."""
        return self

    def __getattr__(self, name: str) -> Any:
        """Answer to every name."""
        return self

    def __await__(self) -> Any:
        """Say hello."""
        yield from ()
        return Handshake("other", 1, "node-7")


async def test_a_worker_of_another_version_is_refused() -> None:
    """A worker that runs other sources is given nothing, and the message names its machine."""
    cluster, worker = Cluster(None), Other()
    killed: list[Any] = []

    class Ray:
        """Makes the worker."""

        exceptions = type("exceptions", (), {"RayActorError": OSError, "RayTaskError": OSError})

        @staticmethod
        def remote(_: type) -> Any:
            """Make it."""
            return worker

        kill = staticmethod(killed.append)

    cluster._ray = Ray
    with pytest.raises(ConfigError, match="node-7 runs another version"):
        await cluster.start_worker()
    assert killed == [worker]


def test_without_the_extra_workers_are_refused(
    world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without Ray, more than one worker ends with exit code 2, and the message names the extra."""
    monkeypatch.setitem(sys.modules, "ray", None)
    asked = ["evaluate", str(world), "--judge", "sim/judge", "--models", "sim/weak", "--workers", "2"]
    assert command([*asked, "--home", str(tmp_path / "home")]) == 2
    assert "dokimasia[ray]" in capsys.readouterr().err
    assert command(["runs", "--json", "--home", str(tmp_path / "home")]) == 0
    assert orjson.loads(capsys.readouterr().out) == [], "and no run is left"


async def test_no_key_travels(
    world: Path, tmp_path: Path, workers: FakeCluster, sending: Sending, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Workers read keys from their environment: none is in what goes to them; a missing one is named before any call."""
    key = "sk-planted-0123456789abcdef"
    config = tmp_path / "dokimasia.toml"
    config.write_text('[models.judge]\nmodel = "sim/judge"\ntransport = "sim"\napi_key_env = "PLANTED_KEY"\n')
    settings = load_settings(config=config, home=tmp_path / "home", env={"PLANTED_KEY": key})
    transport = sending()
    with pytest.raises(ConfigError, match="lacks PLANTED_KEY"):
        await make(settings, world, EVALUATE, judge="judge", **FAR)
    assert transport.sent == []
    monkeypatch.setenv("PLANTED_KEY", key)
    workers.forbidden = key.encode()
    assert (await make(settings, world, EVALUATE, judge="judge", **FAR)).complete
    assert transport.sent
