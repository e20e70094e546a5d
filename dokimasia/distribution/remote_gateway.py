"""A worker's gateway, store and images: each asks the driver over the channel."""

import asyncio
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from dokimasia.distribution.channel import Channel
from dokimasia.domain.call import CallResult, Chat, ImageEdit, ModelCall, ModelReply, ModelSpec, call_key
from dokimasia.domain.identity import JsonObject, Value
from dokimasia.domain.ports import Transport
from dokimasia.domain.question import Aid
from dokimasia.domain.sample import ImageRef
from dokimasia.errors import CallFailed, StorageError, ToolFailure, TransportError
from dokimasia.gateway.images import with_reduced_images
from dokimasia.gateway.pricing import estimate_usage
from dokimasia.gateway.rate_limit_headers import HeaderListener
from dokimasia.gateway.remote_call import RemoteReply
from dokimasia.gateway.routes import chosen_transport_name
from dokimasia.gateway.sending import send_once
from dokimasia.gateway.traffic import Lane, lane_of
from dokimasia.graphs.steps import GraphOutline, Step
from dokimasia.storage.content.folding import Folded, KnownTexts, folded
from dokimasia.storage.content.packing import packed
from dokimasia.storage.content.recent import Recent
from dokimasia.storage.values import packed_row

CACHE_BYTES = 64 * 1024 * 1024
"""Bytes of fetched images that a worker caches."""


class RemoteRows:
    """Rows of values, stored by the driver."""

    place = "the driver's home"

    def __init__(self, line: Channel) -> None:
        self._line = line

    async def put(self, type_: type[Value], row: Mapping[str, object]) -> None:
        """Store a row; it is committed on return."""
        await self._line.ask("put", type_, packed_row(type_, row))

    async def get(self, type_: type[Value], id: str) -> JsonObject | None:
        """Return a row, or None."""
        return await self._line.ask("get", type_, id)


class RemoteSteps:
    """Reports the steps of graphs to the driver."""

    def __init__(self, line: Channel) -> None:
        self._line = line

    def drawn(self, picture: GraphOutline) -> None:
        """Report that a graph is about to run for the first time."""
        self._line.notify("drawn", picture)

    def stepped(self, graph: str, node: str, item: str, what: Step) -> None:
        """Report the step of a node for an item."""
        self._line.notify("stepped", graph, node, item, what)


class RemoteBlobs:
    """The home's images: each is fetched once and cached while there is room.

    In the event loop call `fetch` before `get`; in other threads `get` fetches images itself, and blocks.
    """

    def __init__(self, line: Channel) -> None:
        self._line = line
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._recent: Recent[str, bytes] = Recent(CACHE_BYTES)
        self._fetching: dict[str, asyncio.Task[bytes]] = {}
        self._made: list[tuple[bytes, ImageRef]] = []

    async def fetch(self, hashes: Iterable[str]) -> None:
        """Fetch images from the driver."""
        for sha256 in hashes:
            if self._recent.get(sha256) is None:
                await self._fetched(sha256)

    def get(self, sha256: str) -> bytes:
        """Return the bytes.

        Raises:
            StorageError: the home has no such image, or the event loop did not fetch it before.
        """
        cached = self._recent.get(sha256)
        if cached is not None:
            return cached
        if threading.get_ident() == self._thread:
            raise StorageError(f"image {sha256} was not fetched before it was read")
        return asyncio.run_coroutine_threadsafe(self._fetched(sha256), self._loop).result()

    def put_image(self, data: bytes, ref: ImageRef) -> None:
        """Store the bytes in the home: on return if called in another thread, in the event loop only after `settle`."""
        self._recent.put(ref.sha256, bytes(data), len(data))
        if threading.get_ident() == self._thread:
            self._made.append((bytes(data), ref))
        else:
            asyncio.run_coroutine_threadsafe(self._line.ask("keep_image", bytes(data), ref), self._loop).result()

    async def settle(self) -> None:
        """Wait until all stored images are in the home."""
        while self._made:
            await self._line.ask("keep_image", *self._made.pop())

    async def _fetched(self, sha256: str) -> bytes:
        fetching = self._fetching.get(sha256)
        if fetching is None:
            fetching = self._fetching[sha256] = asyncio.create_task(self._fetch(sha256))
            fetching.add_done_callback(lambda _: self._fetching.pop(sha256, None))
        return await asyncio.shield(fetching)

    async def _fetch(self, sha256: str) -> bytes:
        answer = await self._line.ask("image", sha256)
        data: bytes = answer if isinstance(answer, bytes) else await answer[0]
        self._recent.put(sha256, data, len(data))
        return data


def images_of(call: ModelCall) -> list[str]:
    """Return the hashes of the images that a call shows."""
    if isinstance(call, ImageEdit):
        if call.image is None:
            return []
        return [call.image.sha256]
    if isinstance(call, Chat):
        return list(dict.fromkeys(image.sha256 for image in call.images))
    return []


@dataclass(frozen=True)
class RemoteModelAccess:
    """A worker's access to models."""

    spec: ModelSpec
    transport: Transport
    api_key: str | None
    on_headers: HeaderListener


@dataclass(eq=False)
class _OwnCall:
    """A call made at this worker: its number of askers, its reply, and the names of its texts."""

    call: ModelCall
    askers: int = 0
    reply: ModelReply | None = None
    texts: tuple[str, ...] = ()


class RemoteGateway:
    """Implements `dokimasia.domain.ports.Gateway` at a worker.

    The driver gets only a call's key, model and usage forecast, and its content if the driver itself sends it. A reply is
    kept until the driver acknowledges it. A call that only waits for a slot is sent ahead as soon as another call to the
    same endpoint is answered, in that call's slot. A worker that has lost contact with the driver sends nothing.
    """

    def __init__(
        self,
        line: Channel,
        blobs: RemoteBlobs,
        *,
        specs: Mapping[str, ModelSpec],
        driver_models: frozenset[str],
        transports: Mapping[str, Transport],
        api_keys: Mapping[str, str],
        clean: Callable[[str], str],
        trusted: Callable[[], bool] = lambda: True,
    ) -> None:
        self._line = line
        self._blobs = blobs
        self._specs = specs
        self._far = driver_models
        self._transports = transports
        self._api_keys = api_keys
        self._clean = clean
        self._trusted = trusted
        self._ways: dict[str, RemoteModelAccess] = {}
        self._own: dict[str, _OwnCall] = {}
        self._ahead: defaultdict[Lane, dict[str, None]] = defaultdict(dict)
        self._sending: dict[str, asyncio.Task[RemoteReply]] = {}
        self._texts = KnownTexts()

    async def ask(self, call: ModelCall, *, label: str = "", aid: Aid | None = None) -> CallResult:
        """Return the reply to a call, as `ModelGateway.ask` does at the driver."""
        name = call.model.name
        spec = self._specs.get(name)
        if spec is None or spec.ref != call.model or name in self._far:
            return await self._line.ask("whole", call, label, aid)
        if spec.max_image_side is not None and isinstance(call, Chat):
            call = await self._reduced(call, spec.max_image_side)
        key = call_key(call)
        own_call = self._own.setdefault(key, _OwnCall(call))
        own_call.askers += 1
        try:
            cost, cached, reply = await self._line.ask("carried", call.kind, name, key, estimate_usage(call), label)
            if (
                reply is None and own_call.reply is None
            ):  # other askers got the reply and are gone: the ledger has it now
                _, cached, reply = await self._line.ask("carried", call.kind, name, key, estimate_usage(call), label)
            elif reply is None:
                reply = own_call.reply
                self._texts.keep(own_call.texts)
            return CallResult.model_construct(key=key, reply=reply, cost=cost, cached=cached)
        finally:
            own_call.askers -= 1
            if not own_call.askers:
                del self._own[key]

    async def send(self, key: str) -> RemoteReply:
        """Send a call of this worker once and return its result; the reply is kept for its askers.

        A call that was sent ahead is not sent again.
        """
        self.recall(key)
        own_call = self._own.get(key)
        if key not in self._sending:
            if own_call is None:
                return RemoteReply(TransportError("unknown", "nobody asks for it there any more", retryable=True), ())
            self._begin(key, own_call)
        try:
            return await self._sending[key]
        finally:
            self._sending.pop(key, None)

    def ahead(self, key: str) -> None:
        """Send a call of this worker as soon as another to the same endpoint is answered."""
        own_call = self._own.get(key)
        if own_call is not None and key not in self._sending:
            self._ahead[self._lane(own_call.call)][key] = None

    def recall(self, key: str) -> bool:
        """Cancel sending a call ahead; return False if it has been sent."""
        for waiting in self._ahead.values():
            waiting.pop(key, None)
        return key not in self._sending

    def _begin(self, key: str, own_call: _OwnCall) -> None:
        task = self._sending[key] = asyncio.create_task(self._sent(own_call))
        task.add_done_callback(lambda done: done.cancelled() or done.exception())  # retrieved, in case nobody awaits it

    def _begin_next(self, call: ModelCall) -> str:
        """Start sending the next call in the slot of an answered call, and return its key."""
        waiting = self._ahead[self._lane(call)]
        while waiting and self._trusted():
            key = next(iter(waiting))
            del waiting[key]
            if (own_call := self._own.get(key)) is not None and key not in self._sending:
                self._begin(key, own_call)
                return key
        return ""

    async def _sent(self, own_call: _OwnCall) -> RemoteReply:
        call, headers = own_call.call, list[Mapping[str, str]]()
        await self._blobs.fetch(images_of(call))
        if not self._trusted():
            return RemoteReply(
                TransportError("unknown", "its worker was out of the driver's reach", retryable=True), ()
            )
        way = replace(self._way(call.model.name), on_headers=lambda received: headers.append(dict(received)))
        outcome = await send_once(call, way, blobs=self._blobs, clean=self._clean)
        following = "" if isinstance(outcome, TransportError) else self._begin_next(call)
        await self._blobs.settle()
        if isinstance(outcome, TransportError):
            return RemoteReply(outcome, headers)
        request = folded(call)
        own_call.reply, own_call.texts = outcome, tuple(request.texts)
        new = {name: packed(text) for name, text in self._texts.new(request.texts).items()}
        return RemoteReply(outcome, headers, Folded(request.request, new), following)

    async def aclose(self) -> None:
        """Cancel requests in flight and close every transport."""
        sending = list(self._sending.values())
        for task in sending:
            task.cancel()
        await asyncio.gather(*sending, return_exceptions=True)
        for transport in self._transports.values():
            await transport.aclose()

    async def _reduced(self, call: Chat, side: int) -> Chat:
        async def reduce(image: ImageRef, side: int) -> ImageRef:
            return await self._line.ask("reduce", image, side)

        try:
            return await with_reduced_images(call, side, reduce)
        except ToolFailure as problem:
            raise CallFailed("api_error", f"{call.model.name}: an image cannot be made smaller: {problem}") from problem

    def _lane(self, call: ModelCall) -> Lane:
        return lane_of(self._specs[call.model.name], self._api_keys.get(call.model.name))

    def _way(self, name: str) -> RemoteModelAccess:
        if name not in self._ways:
            spec = self._specs[name]
            transport = self._transports[chosen_transport_name(spec, self._transports)]
            self._ways[name] = RemoteModelAccess(spec, transport, self._api_keys.get(name), lambda _: None)
        return self._ways[name]
