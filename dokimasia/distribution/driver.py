"""The driver's side of a worker: everything that involves the home, spending, limits, people and events."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import cast
from weakref import WeakValueDictionary

from dokimasia.distribution.cluster import Cluster
from dokimasia.domain.call import CallResult, ModelCall, ModelReply, ModelSpec, Usage
from dokimasia.domain.ports import BlobStore, Reducer
from dokimasia.domain.question import Aid
from dokimasia.domain.sample import ImageRef
from dokimasia.gateway.gateway import ModelGateway
from dokimasia.gateway.remote_call import CallKind, RemoteCall, RemoteCaller
from dokimasia.graphs.steps import GraphOutline, Step, Steps
from dokimasia.storage.checkpoints import KEPT_ELSEWHERE, Saver
from dokimasia.storage.content.folding import Folded
from dokimasia.storage.ledger import SqliteLedger
from dokimasia.storage.runs import ValueRows


class RemoteCallLedger(SqliteLedger):
    """A ledger that stores the request of a worker's call in the worker's encoding."""

    def folded(self, call: ModelCall) -> Folded:
        """Return a call's request in its stored form."""
        if isinstance(call, RemoteCall):
            return call.folded
        return super().folded(call)


@dataclass(frozen=True, slots=True)
class DriverPorts:
    """The driver's ports that serve the workers of a run."""

    gateway: ModelGateway
    rows: ValueRows
    saver: Saver
    blobs: BlobStore
    reduce: Reducer
    specs: Mapping[str, ModelSpec]
    steps: Steps | None


class DriverHandler:
    """Serves the workers of one run."""

    def __init__(self, ports: DriverPorts, cluster: Cluster) -> None:
        self._ports = ports
        self._cluster = cluster
        self._carried: WeakValueDictionary[str, RemoteCall] = WeakValueDictionary()  # entries in use by a flight stay
        self._served: dict[str, Callable[..., Awaitable[object]]] = {
            "carried": self._ask,
            "whole": self._whole,
            "get": ports.rows.get,
            "put": ports.rows.put,
            "saver": self._saver,
            "image": self._image,
            "keep_image": self._keep_image,
            "reduce": ports.reduce,
            "drawn": self._drawn,
            "stepped": self._stepped,
        }

    async def serve(self, bearer: RemoteCaller, name: str, arguments: tuple[object, ...]) -> object:
        """Answer a worker's request."""
        if name == "carried":
            arguments = (bearer, *arguments)
        return await self._served[name](*arguments)

    async def _ask(
        self, bearer: RemoteCaller, kind: CallKind, name: str, key: str, forecast: Usage, label: str
    ) -> tuple[float | None, bool, ModelReply | None]:
        """Return cost, whether the reply was cached, and the reply (None if this worker sent the call itself)."""
        call = self._carried.get(key)
        if call is None:
            call = self._carried[key] = RemoteCall(kind, self._ports.specs[name].ref, key, forecast)
        call.bearers.append(bearer)
        try:
            answer = await self._ports.gateway.ask(cast("ModelCall", call), label=label)
            is_sender = answer.reply is call.reply and call.sender is bearer
            return answer.cost, answer.cached, None if is_sender else answer.reply
        finally:
            call.bearers.remove(bearer)

    async def _whole(self, call: ModelCall, label: str, aid: Aid | None) -> CallResult:
        return await self._ports.gateway.ask(call, label=label, aid=aid)

    async def _saver(self, method: str, *arguments: object) -> object:
        if method not in KEPT_ELSEWHERE:
            raise ValueError(f"a worker asks for {method!r}")
        return await getattr(self._ports.saver, method)(*arguments)

    async def _image(self, sha256: str) -> list[object]:
        return [await asyncio.to_thread(self._cluster.image, sha256, self._ports.blobs)]

    async def _keep_image(self, data: bytes, ref: ImageRef) -> None:
        await asyncio.to_thread(self._ports.blobs.put_image, data, ref)

    async def _drawn(self, picture: GraphOutline) -> None:
        if self._ports.steps is not None:
            self._ports.steps.drawn(picture)

    async def _stepped(self, graph: str, node: str, item: str, step: Step) -> None:
        if self._ports.steps is not None:
            self._ports.steps.stepped(graph, node, item, step)
