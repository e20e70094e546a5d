"""Doubles of the gateway's neighbours and a loopback server that speaks the chat-completions format with planted faults."""

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pytest
from aiohttp import web

from dokimasia.datasets.images import read_image
from dokimasia.domain.call import CallResult, Chat, Message, ModelCall, ModelRef, ModelReply, ModelSpec, Sampling
from dokimasia.domain.ports import Transport
from dokimasia.domain.sample import ImageRef, TextPart
from dokimasia.errors import StorageError
from dokimasia.gateway.direct.transport import DirectTransport
from dokimasia.gateway.litellm.transport import LiteLLMTransport

KEY = "sk-loopback-0123456789abcdef"

WAYS: dict[str, tuple[Callable[[], Transport], str]] = {
    "litellm-openai": (partial(LiteLLMTransport, read_image=read_image), "openai/m"),
    "litellm-hosted_vllm": (partial(LiteLLMTransport, read_image=read_image), "hosted_vllm/m"),
    "direct": (partial(DirectTransport, read_image=read_image), "hosted_vllm/m"),
}
"""Every way over HTTP: a transport and a model. LiteLLM takes a way of its own for each of the two providers."""


@dataclass
class MemoryLedger:
    """A ledger in memory that remembers what it was told."""

    entries: dict[str, CallResult] = field(default_factory=dict)
    attempts: list[dict[str, Any]] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    commit_gate: asyncio.Event | None = None

    async def get(self, key: str) -> CallResult | None:
        """Return a committed answer as cached."""
        await asyncio.sleep(0)
        return self.entries.get(key)

    async def commit(
        self,
        key: str,
        call: ModelCall,
        reply: ModelReply,
        *,
        cost: float | None,
        label: str,
        latency: float | None = None,
    ) -> None:
        """Keep a reply, after the gate if there is one."""
        if self.commit_gate is not None:
            await self.commit_gate.wait()
        stored = type(reply).model_validate_json(reply.model_dump_json())
        self.entries.setdefault(key, CallResult(key=key, reply=stored, cost=cost, cached=True))
        self.labels.append(label)

    async def attempt(
        self, key: str, call: ModelCall, *, kind: str, status: int | None, message: str, label: str
    ) -> None:
        """Remember a failed try."""
        self.attempts.append({"key": key, "kind": kind, "status": status, "message": message, "label": label})

    @property
    def kinds(self) -> list[str]:
        """Kinds of the failed tries, in order."""
        return [attempt["kind"] for attempt in self.attempts]

    def everything(self) -> str:
        """All text that the ledger holds."""
        entries = [answer.model_dump_json() for answer in self.entries.values()]
        return json.dumps([entries, self.attempts])


@dataclass
class MemoryBlobs:
    """Blobs in memory; `reads` counts how often one was fetched."""

    data: dict[str, bytes] = field(default_factory=dict)
    reads: int = 0

    def put_image(self, data: bytes, ref: ImageRef) -> None:
        """Keep the bytes."""
        self.data[ref.sha256] = data

    def get(self, sha256: str) -> bytes:
        """Return the bytes."""
        self.reads += 1
        if sha256 not in self.data:
            raise StorageError(f"no blob {sha256}")
        return self.data[sha256]

    def add(self, data: bytes) -> ImageRef:
        """Keep the bytes as a PNG of unknown size and return its reference."""
        ref = ImageRef(sha256=hashlib.sha256(data).hexdigest(), media_type="image/png", width=8, height=8)
        self.put_image(data, ref)
        return ref


@dataclass
class FakeTime:
    """A clock that only moves when someone sleeps."""

    now: float = 0.0
    slept: list[float] = field(default_factory=list)

    def clock(self) -> float:
        """Return the seconds."""
        return self.now

    async def sleep(self, seconds: float) -> None:
        """Let that much time pass at once."""
        self.slept.append(seconds)
        self.now += seconds
        await asyncio.sleep(0)


def completion(text: Any = "hello", **changes: Any) -> dict[str, Any]:
    """A chat completion as a provider writes it; changes go to the choice, and `usage=None` leaves the usage out."""
    usage = changes.pop("usage", {"prompt_tokens": 10, "completion_tokens": 3, "total_tokens": 13})
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"} | changes
    body = {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    return body if usage is None else body | {"usage": usage}


def failure(
    status: int, message: str = "planted", *, headers: dict[str, str] | None = None, **fields: Any
) -> web.Response:
    """An error as a provider writes it."""
    body = {"error": {"message": message, "type": "planted", **fields}}
    return web.json_response(body, status=status, headers=headers)


Act = Callable[[web.Request], Any]


async def _body(request: web.Request) -> dict[str, Any]:
    """A request's fields; a file in a form stands as its bytes, its name and its media type."""
    if request.content_type == "application/json":
        return await request.json()
    fields: dict[str, Any] = dict(await request.post())
    for name, value in fields.items():
        if isinstance(value, web.FileField):
            with value.file as file:
                fields[name] = file.read(), value.filename, value.content_type
    return fields


@dataclass
class FaultServer:
    """A chat-completions server: one planted act a request, then ordinary replies.

    An act is a reply's body, or a function of the request that returns a response (it may be a coroutine function).
    """

    url: str = ""
    acts: list[dict[str, Any] | Act] = field(default_factory=list)
    bodies: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    open: int = 0
    most_open: int = 0
    hold: asyncio.Event | None = None
    seen: asyncio.Event = field(default_factory=asyncio.Event)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Answer one request by the next act."""
        self.bodies.append(await _body(request))
        self.headers.append(dict(request.headers))
        act = self.acts.pop(0) if self.acts else completion()
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        self.seen.set()
        try:
            if self.hold is not None:
                await self.hold.wait()
            if isinstance(act, dict):
                return web.json_response(act)
            response = act(request)
            return await response if asyncio.iscoroutine(response) else response
        finally:
            self.open -= 1


@pytest.fixture
async def server() -> AsyncIterator[FaultServer]:
    """A running fault server."""
    faults = FaultServer()
    app = web.Application(client_max_size=64 * 1024 * 1024)
    app.router.add_post("/v1/{tail:.*}", faults.handle)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    faults.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    yield faults
    await runner.cleanup()


@dataclass
class Way:
    """One way to the loopback server: a transport's name, the transport, and the model that it is asked for."""

    name: str
    transport: Transport
    model: str


@pytest.fixture(params=list(WAYS))
async def way(request: Any) -> AsyncIterator[Way]:
    """Each way in turn; its transport is closed after the test."""
    make, model = WAYS[request.param]
    transport = make()
    yield Way(name=request.param.split("-")[0], transport=transport, model=model)
    await transport.aclose()


@pytest.fixture
def send(way: Way, server: FaultServer, blobs: MemoryBlobs) -> Any:
    """Sends a call to the loopback server on each way."""

    async def send(call: Any = None, *, api_key: str | None = KEY, **fields: Any) -> ModelReply:
        model = spec(**({"model": way.model, "api_base": server.url, "timeout": 60.0} | fields))
        call = (call or Acts.call()).model_copy(update={"model": model.ref})
        return await way.transport.send(call, model, api_key=api_key, blobs=blobs)

    return send


@pytest.fixture
def ledger() -> MemoryLedger:
    """An empty ledger."""
    return MemoryLedger()


@pytest.fixture
def blobs() -> MemoryBlobs:
    """An empty blob store."""
    return MemoryBlobs()


@pytest.fixture
def fake_time() -> FakeTime:
    """A clock at 0."""
    return FakeTime()


@pytest.fixture
def key() -> str:
    """The API key that must be found nowhere."""
    return KEY


@pytest.fixture
def acts() -> Any:
    """Builders of planted acts."""
    return Acts


class Acts:
    """Builders of planted acts and calls."""

    completion = staticmethod(completion)

    @staticmethod
    def failure(status: int, message: str = "planted", *, headers: dict[str, str] | None = None, **fields: Any) -> Act:
        """An error response."""
        return lambda _: failure(status, message, headers=headers, **fields)

    @staticmethod
    def raw(body: bytes, *, status: int = 200, content_type: str = "application/json") -> Act:
        """A response of these bytes."""
        return lambda _: web.Response(body=body, status=status, content_type=content_type)

    @staticmethod
    def reset(request: web.Request) -> web.Response:
        """Close the connection without a word."""
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    @staticmethod
    async def cut(request: web.Request) -> web.StreamResponse:
        """Promise a body, send its beginning, and close the connection."""
        response = web.StreamResponse(headers={"content-type": "application/json", "content-length": "1000"})
        await response.prepare(request)
        await response.write(b'{"id":"x","cho')
        assert request.transport is not None
        request.transport.abort()
        return response

    @staticmethod
    async def slow(_: web.Request) -> web.Response:
        """Answer after the tests' time limit."""
        await asyncio.sleep(600)
        return web.json_response(completion())

    @staticmethod
    def call(text: str = "How many?", *, images: tuple[ImageRef, ...] = (), name: str = "m", **fields: Any) -> Chat:
        """A chat call to the model of that name."""
        parts = (*images, TextPart(text=text))
        return Chat(model=spec(name).ref, messages=(Message(role="user", parts=parts),), **fields)

    @staticmethod
    def spec(name: str = "m", **fields: Any) -> ModelSpec:
        """How the model of that name is reached."""
        return spec(name, **fields)


def spec(name: str = "m", **fields: Any) -> ModelSpec:
    """A model's configuration; the transport is `fake` unless `fields` say otherwise."""
    ref = ModelRef(name=name, model=fields.pop("model", f"openai/{name}"), endpoint=fields.pop("endpoint", "loop"))
    return ModelSpec(ref=ref, **({"transport": "fake", "sampling": Sampling()} | fields))
