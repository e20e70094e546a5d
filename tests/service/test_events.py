"""What happens in a run: the log, the picture that it comes to, and the streams of it."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dokimasia.gateway.events import GatewayEvent
from dokimasia.graphs.steps import GraphOutline
from dokimasia.log import Redactor
from dokimasia.methods.evaluation import EvaluationRequest
from dokimasia.service import event_log as logs
from dokimasia.service import run_events
from dokimasia.service.app import serve
from dokimasia.service.engine import RunEngine
from dokimasia.service.event_log import (
    EventData,
    EventType,
    FailureCount,
    FailureEvent,
    LimitEvent,
    Log,
    PlannedEvent,
    RunPicture,
    SnapshotEvent,
    StatusEvent,
    fold,
)
from dokimasia.service.guard import Limits
from dokimasia.service.run_events import Events
from dokimasia.service.state import Service
from dokimasia.settings import load_settings
from dokimasia.simulation.serving.transport import SimTransport
from dokimasia.simulation.world import write_world
from dokimasia.storage.home import Home
from dokimasia.storage.results import events as stored
from dokimasia.storage.runs import Run, create_run, get_run, set_status
from tests.processes import PATIENCE
from tests.report.conftest import Finished
from tests.service.conftest import Idle, asking, service_over
from tests.service.waiting import Waits

TYPES: dict[str, Any] = {
    "snapshot": SnapshotEvent,
    "status": StatusEvent,
    "ended": StatusEvent,
    "planned": PlannedEvent,
    "graph": GraphOutline,
    "limit": LimitEvent,
    "failure": FailureEvent,
}


def told(number: int) -> dict[EventType, EventData]:
    """Data of an event of each type that differ from those of any other."""
    return {
        "status": StatusEvent(status="running", at=str(number)),
        "ended": StatusEvent(status="done", at=str(number)),
        "planned": PlannedEvent(
            samples=1,
            calls=number,
            answered=0,
            cost=None,
            models={},
            notes=(),
            failures={"refused": FailureCount(count=2)},
            budget={},
            spent_before={},
        ),
        "starting": {"workers": number},
        "graph": GraphOutline(name=f"g{number % 2}", nodes=("a", f"b{number}")),
        "steps": {"g": {"a": {"ended": number}}},
        "progress": {"done": number},
        "limit": LimitEvent(endpoint="e", limit=number, reason="r", at="t"),
        "failure": FailureEvent(kind="unparsable", model="m", item=str(number), reason="r"),
    }


def folded(picture: RunPicture, type: Any, data: Any) -> RunPicture:
    """A picture after an event that was sent as JSON."""
    return fold(picture, type, TYPES[type].model_validate(data) if type in TYPES else data)


def read(body: str) -> list[tuple[int, str, Any]]:
    """The events of a stream: id, type, data."""
    parts = [
        dict(line.split(": ", 1) for line in part.splitlines()) for part in body.split("\n\n") if "event: " in part
    ]
    return [(int(part["id"]), part["event"], json.loads(part["data"])) for part in parts]


@settings(deadline=None)
@given(
    st.lists(st.sampled_from(sorted(told(0))), max_size=60),
    st.lists(st.integers(0, 60), max_size=6),
    st.integers(1, 5),
)
def test_a_reader_who_comes_again_ends_with_the_same_picture(types: list[Any], breaks: list[int], kept: int) -> None:
    """Wherever a reader is cut off, and however few events are kept, its picture is that of the log in the end."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(logs, "KEPT", kept)
        log = Log(now=lambda: 7)
        pictures: list[tuple[int | None, RunPicture]] = [(None, RunPicture()), (0, RunPicture())]
        for number, type in enumerate(types, 1):
            log.add(type, told(number)[type])
            if number in breaks:
                pictures = [_read(log, position, picture) for position, picture in pictures]
        for position, picture in pictures:
            assert _read(log, position, picture)[1] == log.picture


def _read(log: Log, position: int | None, picture: RunPicture) -> tuple[int, RunPicture]:
    sent = log.after(position)
    for event in sent:
        picture = folded(picture, event.type, json.loads(event.wire.split(b"data: ")[1]))
    assert [event.id for event in sent] == sorted(event.id for event in sent)
    return sent[-1].id if sent else position or log.last, picture


def test_failures_limits_and_statuses_are_sent_one_by_one_and_of_progress_the_last() -> None:
    """A reader that is slow loses no failure, and is spared what is out of date."""
    log = Log()
    begun = log.last
    for number in range(40):
        log.add("failure", told(number)["failure"])
        log.add("progress", {"done": number})
    sent = log.after(begun)
    assert [event.data.item for event in sent if isinstance(event.data, FailureEvent)] == list(map(str, range(40)))
    assert [event.data for event in sent if event.type == "progress"] == [{"done": 39}]


def test_memory_is_bounded_and_what_is_not_kept_is_in_the_snapshot(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a hundred failures the last ten are kept one by one; the snapshot before them counts the others."""
    monkeypatch.setattr(logs, "KEPT", 10)
    log = Log()
    first = log.add("failure", told(0)["failure"]).id
    for number in range(1, 100):
        log.add("failure", told(number)["failure"])
    sent = log.after(first)
    assert [event.type for event in sent] == ["snapshot"] + ["failure"] * 10
    snapshot = sent[0].data
    assert isinstance(snapshot, SnapshotEvent)
    assert snapshot.picture.failures["unparsable"].count == 90
    assert "not kept one by one" in snapshot.reason
    assert log.after(log.last + 5)[0].type == "snapshot"


async def test_a_finished_run_is_told_and_its_stream_ends(small: Finished, client: httpx.AsyncClient) -> None:
    """The stream of a finished run is a snapshot and its end; after that id, its end alone."""
    reply = await client.get(f"/api/runs/{small.run}/events")
    assert reply.headers["content-type"].startswith("text/event-stream")
    (id, _, data), (_, type, ended) = read(reply.text)
    assert data["picture"]["planned"]["samples"] == 21
    assert (type, ended["status"]) == ("ended", "done")
    again = await client.get(f"/api/runs/{small.run}/events", headers={"last-event-id": str(id)})
    assert [type for _, type, _ in read(again.text)] == ["ended"]
    old = await client.get(f"/api/runs/{small.run}/events", headers={"last-event-id": "5"})
    assert [type for _, type, _ in read(old.text)] == ["snapshot", "ended"]
    assert (await client.get("/api/runs/nothing/events")).status_code == 404
    assert (await client.get(f"/api/runs/{small.run}/events?after=-1")).status_code == 422


async def test_no_more_streams_are_open_than_may_be(small: Finished) -> None:
    """One stream too many is refused with the time to come again, and so is any while the service ends."""
    with service_over(small.home, limits=Limits(streams=0)) as service:
        async with asking(service) as client:
            reply = await client.get(f"/api/runs/{small.run}/events")
            assert (reply.status_code, reply.headers["retry-after"]) == (503, "10")
            service.events.drain()
            reply = await client.get(f"/api/runs/{small.run}/events")
    assert "about to end" in reply.json()["detail"]


class Held(SimTransport):
    """Simulated models that answer when they may."""

    def __init__(self) -> None:
        super().__init__()
        self.may = asyncio.Event()

    async def send(self, *arguments: Any, **named: Any) -> Any:
        await self.may.wait()
        return await super().send(*arguments, **named)


@asynccontextmanager
async def working(home: Path, transport: Any, *, port: int = 0) -> AsyncIterator[tuple[Service, RunEngine, str]]:
    """A service with a queue of runs, at an address."""
    chosen = load_settings(home=home, cwd=home.parent, env={})
    with Home.open(home, write=True) as opened:
        events = Events(opened)
        async with RunEngine(chosen, opened, observers=events.observer_of, transports={"sim": transport}) as engine:
            service = Service(settings=chosen, home=opened, runner=engine, events=events)
            url: asyncio.Future[str] = asyncio.get_running_loop().create_future()
            stop = asyncio.Event()
            serving = asyncio.create_task(serve(service, port=port, ready=url.set_result, stop=stop))
            try:
                yield service, engine, await url
            finally:
                stop.set()
                await serving
                if isinstance(transport, Held):  # calls in flight are answered once the queue is being closed
                    asyncio.get_running_loop().call_later(0.5, transport.may.set)


def request(folder: Path, **more: Any) -> EvaluationRequest:
    """An evaluation of nine questions, some items of which fail."""
    write_world(folder / "world.jsonl", 9, 1)
    return EvaluationRequest(data=folder / "world.jsonl", judge="sim/judge", models=("sim/strong", "sim/weak"), **more)


async def follow(url: str, **headers: str) -> str:
    """All that a stream sends until it ends."""
    async with httpx.AsyncClient(timeout=PATIENCE) as client:
        return (await client.get(url, headers=headers)).text


async def test_a_run_is_followed_from_the_queue_to_its_end(tmp_path: Path) -> None:
    """Who watches is told the status, the plan, graphs with counts at each node, progress, and how it ended."""
    held = Held()
    async with working(tmp_path / "home", held) as (service, engine, url):
        run = await engine.submit("evaluate", request(tmp_path))
        following = asyncio.create_task(follow(f"{url}/api/runs/{run.id}/events"))
        late = asyncio.create_task(follow(f"{url}/api/runs/{run.id}/events?after=0"))
        while service.events.streams < 2:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        held.may.set()
        told = read(await following)
        folded_picture = other = RunPicture()
        for _, type, data in told:
            folded_picture = folded(folded_picture, type, data)
        for _, type, data in read(await late):
            other = folded(other, type, data)
        assert folded_picture == other == (await service.events.log(run)).picture
        picture = other.model_dump(mode="json")
        assert [type for _, type, _ in told][-1] == "ended"
        assert picture["ended"]["end"] == "complete"
        assert [one["status"] for one in picture["history"]] == ["queued", "running", "done"]
        assert picture["progress"]["done"] == picture["progress"]["items"] == 27
        assert picture["planned"]["calls"] >= picture["progress"]["answered"] > 0
        assert picture["steps"]["checkpoint_scoring"]["score"]["ended"] == 9
        assert picture["graphs"]["checkpoint_scoring"]["nodes"] == ["__start__", "answer", "score", "__end__"]
        before = read(await follow(f"{url}/api/runs/{run.id}/events"))
    async with working(tmp_path / "home", held) as (service, engine, url):
        after = read(await follow(f"{url}/api/runs/{run.id}/events"))
        again = read(await follow(f"{url}/api/runs/{run.id}/events", **{"last-event-id": str(before[-1][0])}))
    assert after[0][2]["picture"] == before[0][2]["picture"]
    assert after[0][0] > before[0][0]
    assert again[0][2]["picture"] == picture


async def test_no_secret_is_told(tmp_path: Path) -> None:
    """A key in a failure's reason, in a limit's or in the sentence of an end is in no event, and in nothing that is kept."""
    secret = "s3cret-of-a-provider"
    with Home.open(tmp_path / "home", write=True) as home:
        await create_run(home, Run(id="r", method="evaluate", options={"estimate": {"samples": 0, "models": {}}}))
        events = Events(home, Redactor([secret]))
        observer, log = events.observer_of(get_run(home, "r")), await events.log(get_run(home, "r"))
        observer.failed("item", "model", "api_error", f"401 for {secret}")
        observer.happened(GatewayEvent(kind="limit", endpoint="e", limit=1, reason=f"refused {secret}"))
        observer.became("failed", why=f"the key {secret} is wrong")
        told = b"".join(event.wire for event in log.after(0))
        await home.write(lambda connection: None)  # what was handed to the writer before is committed then
        kept = stored(home, "r", kind="watched")
    assert told.count(b"[redacted]") >= 3
    assert secret.encode() not in told
    assert kept
    assert secret not in str(kept)


async def test_a_reader_who_goes_away_is_forgotten_and_a_draining_service_ends_streams(tmp_path: Path) -> None:
    """A closed stream is no open one, and what is open when the service is about to end is ended without an `ended`."""
    held = Held()
    async with working(tmp_path / "home", held) as (service, engine, url):
        run = await engine.submit("evaluate", request(tmp_path))
        address = f"{url}/api/runs/{run.id}/events"
        async with httpx.AsyncClient(timeout=PATIENCE) as client, client.stream("GET", address) as reply:
            async for line in reply.aiter_lines():
                if line.startswith("event: snapshot"):
                    break
            assert service.events.streams == 1
        async with asyncio.timeout(PATIENCE):
            while service.events.streams:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        following = asyncio.create_task(follow(address))
        while not service.events.streams:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        service.events.drain()
        told = read(await following)
    assert told[0][1] == "snapshot"
    assert "ended" not in [type for _, type, _ in told]


async def test_the_end_of_a_run_that_nobody_tells_of_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stream of a run that waits for people ends where the run is stopped, or deleted, behind its back."""
    monkeypatch.setattr(run_events, "HEARTBEAT", 0.05)
    monkeypatch.setattr(run_events, "REFRESH_INTERVAL", 0.0)
    estimate: Any = {"estimate": {"samples": 0, "models": {}}}
    with Home.open(tmp_path / "home", write=True) as home:
        await create_run(home, Run(id="r", method="evaluate", status="waiting", options=estimate))
        chosen = load_settings(home=tmp_path / "home", cwd=tmp_path, env={})
        service = Service(settings=chosen, home=home, runner=Idle())
        async with asking(service) as client:
            following = asyncio.create_task(client.get("/api/runs/r/events"))
            while not service.events.streams:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            await set_status(home, "r", "interrupted")
            told = read((await following).text)
    assert [(type, data.get("status")) for _, type, data in told[1:]] == [
        ("status", "interrupted"),
        ("ended", "interrupted"),
    ]


async def test_a_waiting_run_that_is_cancelled_ends_its_streams_at_once(waiting: Waits) -> None:
    """Who watches a run that waits for people is told its end when it is cancelled, and not at the next heartbeat."""
    run = waiting.runs["questions"]
    settings = load_settings(home=waiting.home, cwd=waiting.home.parent, env={})
    with Home.open(waiting.home, write=True) as home:
        events = Events(home)
        async with RunEngine(settings, home, observers=events.observer_of) as engine:
            log = await events.log(get_run(home, run))
            assert not log.over
            assert (await engine.cancel(get_run(home, run))).status == "interrupted"
            assert log.over
            assert log.picture.run_status == "interrupted"
