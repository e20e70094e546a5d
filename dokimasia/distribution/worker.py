"""A worker: a process that executes graphs and sends calls, and stores nothing."""

import asyncio
import importlib
import inspect
import os
import platform
import time
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from dokimasia.distribution.channel import Channel, ChannelMessage
from dokimasia.distribution.failures import WorkerDied
from dokimasia.distribution.remote_gateway import RemoteBlobs, RemoteGateway, RemoteRows, RemoteSteps
from dokimasia.distribution.worker_config import GraphTask, Handshake, WorkerConfig, key_pair, unseal
from dokimasia.domain.judgement import Failed
from dokimasia.domain.options import GraphOptions
from dokimasia.gateway.direct import transport
from dokimasia.gateway.sending import Redact, redactor
from dokimasia.graphs.context import Context
from dokimasia.graphs.executor import GraphRun, LocalExecutor, reduced_gc
from dokimasia.log import Redactor, configure
from dokimasia.settings import worker_keys
from dokimasia.storage.checkpoints import RemoteSaver
from dokimasia.storage.runs import SqliteValueStore
from dokimasia.version import source_version

if TYPE_CHECKING:
    from nacl.public import PrivateKey

T = TypeVar("T", covariant=True)

LOADED = (transport,)
"""Modules loaded before a run begins, so that its first calls need not wait for them."""

WAIT = 5.0
"""Seconds after which a worker without messages returns an empty batch, so that it is not taken for dead."""

TRUST = 0.75
"""Share of `patience` without contact after which a worker (for example after a pause of its process) sends no more calls,
since the driver may have given them to other workers."""


class Worker:
    """The Ray actor; serves one run at a time in Ray's event loop.

    `give` and `take` carry the channel's messages in numbered batches, so that a batch that is sent again after
    a loss counts once.
    """

    def __init__(self) -> None:
        self._run: _WorkerRun | None = None
        self._pair: PrivateKey | None = None

    async def hello(self) -> Handshake:
        """Return the identity of this process."""
        return Handshake(source_version(), os.getpid(), platform.node())

    async def key(self) -> bytes:
        """Return the public key with which the driver seals the next API keys."""
        pair = self._pair = key_pair()
        return bytes(pair.public_key)

    async def begin(self, orders: WorkerConfig, sealed: bytes | None = None) -> list[str]:
        """Start a run; return the key variables missing in this process's environment, if no keys were sent."""
        pair, self._pair = self._pair, None
        sent = None if sealed is None else unseal(sealed, pair)
        keys, secrets, missing = worker_keys(orders.specs, sent)
        redact = Redactor(secrets, patterns=False)
        configure(level="warning", redact=Redactor(secrets))
        self._run = _WorkerRun(orders, keys, redactor(keys.values(), redact))
        return missing

    async def give(self, number: int, words: list[ChannelMessage]) -> None:
        """Receive a batch from the driver."""
        run = self._run
        if run is not None and run.note_contact() and number > run.given:
            run.given = number
            run.line.receive(words)

    async def take(self, acknowledged: int) -> tuple[int, list[ChannelMessage]]:
        """Return the next batch; a batch that is not acknowledged is returned again."""
        run = self._run
        if run is None:
            await asyncio.sleep(WAIT)
            return acknowledged, []
        run.note_contact()
        if run.taken[0] <= acknowledged:
            run.taken = (acknowledged + 1, await run.line.outgoing(min(WAIT, run.patience / 4)))
        return run.taken

    async def end(self) -> None:
        """End the run."""
        run, self._run = self._run, None
        if run is not None:
            await run.end()


class RemoteMethod(Protocol[T]):
    """A method of an actor."""

    def remote(self, *arguments: object) -> Awaitable[T]:
        """Call it, and return its answer to come."""
        ...


class WorkerActor(Protocol):
    """A `Worker` as the driver calls it."""

    hello: RemoteMethod[Handshake]
    key: RemoteMethod[bytes]
    begin: RemoteMethod[list[str]]
    give: RemoteMethod[None]
    take: RemoteMethod[tuple[int, list[ChannelMessage]]]
    end: RemoteMethod[None]


class _WorkerRun:
    """A run at a worker."""

    def __init__(self, orders: WorkerConfig, keys: dict[str, str], clean: Redact) -> None:
        self.patience = orders.patience
        self._heard = time.monotonic()
        self.given = 0
        self.taken: tuple[int, list[ChannelMessage]] = (0, [])
        self.line = Channel(self._serve)
        self._orders = orders
        self._blobs = RemoteBlobs(self.line)
        self._store = SqliteValueStore(RemoteRows(self.line))
        self._options: dict[int, GraphOptions] = {}
        called_here = {name: spec for name, spec in orders.specs.items() if name not in orders.driver_models}
        self.gateway = RemoteGateway(
            self.line,
            self._blobs,
            specs=orders.specs,
            driver_models=orders.driver_models,
            transports=orders.opening(called_here, orders.library),
            api_keys=keys,
            clean=clean,
            trusted=self._in_contact,
        )
        self._served: dict[str, Callable[..., object]] = {
            "send": self.gateway.send,
            "ahead": self.gateway.ahead,
            "recall": self.gateway.recall,
            "walk": self._walk,
            "options": self._options.__setitem__,
        }
        saver = RemoteSaver(lambda method, *arguments: self.line.ask("saver", method, *arguments))
        self._stack = ExitStack()
        self._stack.enter_context(reduced_gc())
        self._local = LocalExecutor(saver, RemoteSteps(self.line) if orders.watched else None)

    async def end(self) -> None:
        """End the run: cancel its tasks and close its transports."""
        await self.line.close()
        await self.gateway.aclose()
        self._stack.close()

    def note_contact(self) -> bool:
        """Record contact with the driver; return whether it came in time."""
        if not self._in_contact():
            self.line.fail(WorkerDied("a worker was out of reach for too long, or stopped"))
        self._heard = time.monotonic()
        return not self.line.failed

    def _in_contact(self) -> bool:
        return not self.line.failed and time.monotonic() - self._heard < TRUST * self.patience

    async def _serve(self, name: str, arguments: tuple[object, ...]) -> object:
        """Answer the driver; out of memory, fail the channel, so that the worker counts as lost and not the item as failed."""
        try:
            answer = self._served[name](*arguments)
            if inspect.isawaitable(answer):
                return await answer
            return answer
        except MemoryError as error:
            self.line.fail(error)
            await asyncio.Event().wait()

    async def _walk(self, task: GraphTask) -> tuple[dict[str, Any], list[Failed] | None]:
        """Execute a graph; return its final state and the failures of open requests."""
        graph: Any = importlib.import_module(task.graph) if isinstance(task.graph, str) else task.graph
        options, open_failures = self._options[task.options], [] if task.open else None
        context = Context(
            self.gateway,
            self._store,
            options,
            task.seed,
            self._orders.library,
            self._blobs,
            attempt=task.attempt,
            open_failures=open_failures,
        )
        return await self._local.execute(GraphRun(graph, task.inputs, task.item, context, task.thread)), open_failures
