"""A worker by itself: what it does when it was out of the driver's reach, and when its memory runs out."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from dokimasia.distribution.channel import Channel, ChannelRequest
from dokimasia.distribution.failures import WorkerDied
from dokimasia.distribution.remote_gateway import RemoteBlobs, RemoteGateway
from dokimasia.distribution.worker import Worker
from dokimasia.distribution.worker_config import WorkerConfig
from dokimasia.domain.call import ModelSpec, call_key
from dokimasia.errors import TransportError
from dokimasia.gateway.remote_call import RemoteReply
from dokimasia.prompts import PromptLibrary
from tests.distribution.test_asking import CALL, REF

pytestmark = pytest.mark.quick


@pytest.fixture
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers in this process leave its log alone."""
    monkeypatch.setattr("dokimasia.distribution.worker.configure", lambda **_: None)


def no_ways(specs: object, library: object) -> dict[str, Any]:
    """No way to any model."""
    return {}


async def begun(patience: float = 60.0) -> Worker:
    """A worker that has begun with a run."""
    worker = Worker()
    library = cast("PromptLibrary", None)
    await worker.begin(WorkerConfig(library, {}, frozenset(), watched=False, opening=no_ways, patience=patience))
    return worker


@pytest.mark.parametrize("first", ["give", "take"])
async def test_what_was_said_before_a_silence_is_not_done(
    first: str, quiet: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker that heard nothing for nearly as long as makes it dead takes in no word that comes then, and says so."""
    now = 0.0
    monkeypatch.setattr("dokimasia.distribution.worker.time", SimpleNamespace(monotonic=lambda: now))
    worker = await begun(patience=0.4)
    assert (await worker.take(0))[1] == []
    now = 0.4
    if first == "give":
        await worker.give(1, [ChannelRequest(1, "send", ("key",))])
    for _ in range(2):
        with pytest.raises(WorkerDied, match="out of reach"):
            await worker.take(1)


async def test_a_worker_that_is_heard_is_obeyed(quiet: None) -> None:
    """A worker that hears the driver in time answers what it is asked."""
    worker = await begun()
    await worker.give(1, [ChannelRequest(1, "send", ("key",))])
    ((number, sent),) = (await worker.take(0))[1]
    assert number == 1
    assert "nobody asks" in str(sent.outcome)


async def test_a_call_is_not_sent_by_a_worker_that_is_not_trusted() -> None:
    """A call that a worker was told to send, and has not sent when it loses the driver, stays unsent and can be sent anew."""
    heard: list[RemoteReply] = []

    class Driver:
        async def ask(self, *holds: Any) -> Any:
            heard.append(await gateway.send(call_key(CALL)))
            return 0.0, True, None

    gateway = RemoteGateway(
        cast("Channel", Driver()),
        cast("RemoteBlobs", Nothing()),
        specs={"m": ModelSpec(ref=REF)},
        driver_models=frozenset(),
        transports={},
        api_keys={},
        clean=str,
        trusted=lambda: False,
    )
    await gateway.ask(CALL)
    assert isinstance(heard[0].outcome, TransportError)
    assert heard[0].outcome.retryable


class Nothing:
    """No images."""

    async def fetch(self, hashes: object) -> None:
        """Have them."""


async def test_a_worker_without_memory_is_lost_and_not_its_item(quiet: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a worker's memory runs out it answers nothing more, so that its items are done by another."""

    async def hungry(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(RemoteGateway, "send", hungry)
    worker = await begun()
    await worker.give(1, [ChannelRequest(1, "send", ("key",))])
    with pytest.raises(MemoryError):
        await worker.take(0)
