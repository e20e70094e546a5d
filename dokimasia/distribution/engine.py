"""The engine that executes graphs on workers: assigns graphs, exchanges messages and replaces workers that died."""

import asyncio
import pickle
from collections.abc import AsyncIterator, Callable, Collection, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from types import ModuleType
from typing import Any

from dokimasia.distribution.channel import BATCH_SIZE, Channel, ChannelClosed, ChannelMessage
from dokimasia.distribution.cluster import Cluster, cluster
from dokimasia.distribution.driver import DriverHandler, DriverPorts
from dokimasia.distribution.failures import WorkerDied
from dokimasia.distribution.worker import WorkerActor
from dokimasia.distribution.worker_config import GraphTask, TransportFactory, WorkerConfig, key_pair, seal
from dokimasia.domain.options import GraphOptions
from dokimasia.errors import ConfigError, DokimasiaError, TransportError
from dokimasia.gateway.limiter import Turn
from dokimasia.gateway.remote_call import RemoteCall, RemoteReply
from dokimasia.graphs.context import Context
from dokimasia.graphs.executor import Executor, GraphRun
from dokimasia.log import logger
from dokimasia.prompts import PromptLibrary

DEATHS = 3
"""The number of consecutive deaths, beyond the number of workers, without a finished item, after
which the run stops.
"""

ROOM = 30.0
"""Seconds after which a run continues with the started workers, and a warning explains why others have not started."""

GATHER = 0.005
"""Seconds between batches; each batch costs the driver half a millisecond, whatever its size."""

WaitForStart = Callable[[Coroutine[object, None, None]], Coroutine[object, None, None]]
"""Waits for slow work, or cancels it."""

LOST = "the worker that sent it was lost, and perhaps its reply with it"


class WorkerProxy:
    """The driver's end of one worker."""

    def __init__(self, actor: WorkerActor, desk: DriverHandler) -> None:
        self.actor = actor
        self.line = Channel(lambda name, arguments: desk.serve(self, name, arguments))
        self._option_numbers: dict[bytes, int] = {}
        self._ahead: dict[str, RemoteCall] = {}

    @property
    def lost(self) -> bool:
        """Whether the worker is gone."""
        return self.line.lost

    async def send(self, key: str) -> RemoteReply:
        """Have the worker send a call, or return its result if it was sent ahead.

        A lost worker may have started one call ahead for each call in flight; the outcome of these is unknown.
        """
        lost = TransportError("unknown", LOST, retryable=True)
        if self.lost:
            return RemoteReply(lost, ())
        try:
            return await self.line.ask("send", key)
        except ChannelClosed:
            return RemoteReply(lost, (), next=next(iter(self._ahead), ""))

    def allow(self, call: RemoteCall, turn: Turn) -> None:
        """Allow the worker to send a call before its turn."""
        self._ahead[call.key] = call
        turn.add_done_callback(lambda _: self._ahead.pop(call.key, None))
        self.line.notify("ahead", call.key)

    def ahead(self, key: str) -> RemoteCall | None:
        """Return a call that the worker has sent ahead and whose turn has not come at the driver, or None."""
        return self._ahead.pop(key, None)

    def forbid(self, call: RemoteCall) -> None:
        """Tell the worker not to send a call ahead."""
        self.line.notify("recall", call.key)

    async def recall(self, call: RemoteCall) -> bool:
        """Tell the worker not to send a call ahead; return whether it had not started it."""
        try:
            return await self.line.ask("recall", call.key)
        except ChannelClosed:
            return call.key in self._ahead

    async def execute(self, walk: GraphRun) -> dict[str, Any]:
        """Execute a graph on the worker.

        Raises:
            ChannelClosed: the worker is gone.
        """
        context = walk.context
        graph = walk.graph.__name__ if isinstance(walk.graph, ModuleType) else walk.graph
        options, open_failures = self._options(context.options), context.open_failures
        collects = open_failures is not None
        task = GraphTask(graph, walk.inputs, walk.item, walk.thread, options, context.seed, context.attempt, collects)
        state, worker_failures = await self.line.ask("walk", task)
        if open_failures is not None:
            open_failures.extend(worker_failures)
        return state

    def _options(self, options: GraphOptions) -> int:
        """Return the number of these options; the worker receives the options themselves once."""
        pickled = pickle.dumps(options)
        if pickled not in self._option_numbers:
            self._option_numbers[pickled] = len(self._option_numbers)
            self.line.notify("options", self._option_numbers[pickled], options)
        return self._option_numbers[pickled]


class WorkerPool:
    """An `Engine` of several processes, started with the first graph they execute."""

    def __init__(
        self,
        cluster: Cluster,
        orders: WorkerConfig,
        ports: DriverPorts,
        local: Executor,
        count: int,
        keys: Mapping[str, str] | None,
        waiting: WaitForStart,
    ) -> None:
        self._cluster = cluster
        self._orders = orders
        self._orders_at_workers: object = None
        self._patience = orders.patience
        self._desk = DriverHandler(ports, cluster)
        self._gateway = ports.gateway
        self._local = local
        self._count = count
        self._keys = keys
        self._waiting = waiting
        self._beginning: asyncio.Task[None] | None = None
        self._posts: list[WorkerProxy] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._changed = asyncio.Event()
        self._deaths = 0
        self._problem: DokimasiaError | None = None

    @property
    def processes(self) -> int:
        """Number of workers."""
        return self._count

    async def execute(self, walk: GraphRun) -> dict[str, Any]:
        """Execute a graph and return its final state; if the worker dies, another one executes it.

        Raises:
            ConfigError: Ray is not available, or a worker cannot work: another version, or no key.
            DokimasiaError: workers keep dying, or none can be started.
        """
        context = walk.context
        if type(context) is not Context or context.gateway is not self._gateway:
            return await self._local.execute(walk)
        if self._beginning is None:
            self._beginning = asyncio.create_task(self._waiting(self._open()))
        await asyncio.shield(self._beginning)
        while True:
            post = await self._least_busy()
            try:
                state = await post.execute(walk)
            except ChannelClosed:
                continue
            self._deaths = 0
            return state

    async def close(self) -> None:
        """Release all workers, which may then serve another run."""
        tasks = [*self._tasks, *([] if self._beginning is None else [self._beginning])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.gather(*(self._dismiss(post) for post in self._posts))

    async def _open(self) -> None:
        """Start all workers."""
        try:
            await self._cluster.begin()
            self._orders_at_workers = self._cluster.put_object(self._orders)
            await self._wait_for_hires({self._begin(self._hire()) for _ in range(self._count)})
        except DokimasiaError:
            raise
        except Exception as error:  # such as a full disk, which graphs would report as their own failure
            raise DokimasiaError(f"workers cannot be started: {type(error).__name__}: {error}") from error

    async def _wait_for_hires(self, hires: set[asyncio.Task[None]]) -> None:
        """Wait for all workers, and after `ROOM` seconds for one: on a full cluster the others start later."""
        done, late = await asyncio.wait(hires, timeout=ROOM, return_when=asyncio.FIRST_EXCEPTION)
        if late and all(hire.exception() is None for hire in done):
            room = await asyncio.to_thread(self._cluster.describe_capacity)
            logger(__name__).warning("workers have not begun yet", begun=len(done), waiting=len(late), room=room)
        if not done:
            done, late = await asyncio.wait(late, return_when=asyncio.FIRST_COMPLETED)
        for hire in late:
            hire.add_done_callback(self._note_late_hire)
        for error in [hire.exception() for hire in done]:  # of all, since asyncio reports an exception nobody asks for
            if error is not None:
                raise error

    def _note_late_hire(self, hire: asyncio.Task[None]) -> None:
        if not hire.cancelled() and isinstance(error := hire.exception(), DokimasiaError):
            self._problem = error
            self._changed.set()

    async def _least_busy(self) -> WorkerProxy:
        """Return the worker with the fewest graphs."""
        while not self._posts:
            if self._problem is not None:
                raise self._problem
            self._changed.clear()
            await self._changed.wait()
        return min(self._posts, key=lambda post: post.line.waiting)

    async def _hire(self) -> None:
        """Start a worker; if it dies while starting, start another.

        Raises:
            DokimasiaError: workers keep dying, or a worker cannot work.
        """
        while True:
            try:
                return await self._start_worker()
            except WorkerDied as died:
                self._count_death(died)
            except DokimasiaError:
                raise
            except Exception as error:  # any exception of Ray if it cannot be reached itself
                self._count_death(error)

    def _count_death(self, problem: Exception | None) -> None:
        if self._problem is not None:  # another task has given up meanwhile: a run stops for a single reason
            raise self._problem
        self._deaths += 1
        message = str(problem) if isinstance(problem, DokimasiaError) else f"{type(problem).__name__}: {problem}"
        logger(__name__).warning("worker lost", why=message, deaths=self._deaths)
        if self._deaths >= self._count + DEATHS:
            self._problem = DokimasiaError(
                f"{self._deaths} workers died one after the other with nothing finished in between, the last one: "
                f"{message}. What is finished is kept: mend that, then resume"
            )
            raise self._problem from problem

    async def _start_worker(self) -> None:
        actor = await self._cluster.start_worker()
        sealed = None
        try:
            if self._keys is not None:
                sealed = seal(self._keys, await self._cluster.call(actor.key.remote()))
            missing = await self._cluster.call(actor.begin.remote(self._orders_at_workers, sealed))
        except BaseException:  # also if the run ends in the meantime, since nothing else would release the worker
            self._cluster.kill(actor)
            raise
        if missing:
            self._cluster.kill(actor)
            raise ConfigError(
                f"a worker's environment lacks {', '.join(missing)}: set what holds the keys on every node of the "
                'cluster, or have them sent: worker_keys = "sent" in dokimasia.toml'
            )
        post = WorkerProxy(actor, self._desk)
        self._posts.append(post)
        self._changed.set()
        self._begin(self._carry(post))

    async def _dismiss(self, post: WorkerProxy) -> None:
        await post.line.close()
        try:
            await self._cluster.call(post.actor.end.remote())
        except DokimasiaError:
            self._cluster.kill(post.actor)
        else:
            self._cluster.release(post.actor)

    def _begin(self, work: Coroutine[object, None, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _carry(self, post: WorkerProxy) -> None:
        """Exchange messages with a worker until it dies, then replace it."""
        tasks = [asyncio.create_task(self._send_batches(post)), asyncio.create_task(self._receive_batches(post))]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            ended = await asyncio.gather(*tasks, return_exceptions=True)
        self._posts.remove(post)
        self._cluster.kill(post.actor)
        await post.line.close()
        problem = next((ending for ending in ended if isinstance(ending, Exception)), None)
        try:
            self._count_death(problem)
            await self._hire()
        except DokimasiaError as error:
            self._problem = error
            self._changed.set()

    async def _send_batches(self, post: WorkerProxy) -> None:
        number = 0
        while True:
            if words := await post.line.outgoing(self._patience):
                number += 1
                await self._cluster.call_reliably(partial(post.actor.give.remote, number, words))
                await _gathered(words)

    async def _receive_batches(self, post: WorkerProxy) -> None:
        acknowledged = 0
        while True:
            number, words = await self._cluster.call_reliably(partial(post.actor.take.remote, acknowledged))
            if number > acknowledged:
                acknowledged = number
                post.line.receive(words)
                await _gathered(words)


async def _gathered(words: Sequence[ChannelMessage]) -> None:
    """Wait for messages of the next batch; after a full batch some are waiting already."""
    if len(words) < BATCH_SIZE:
        await asyncio.sleep(GATHER)


@asynccontextmanager
async def open_executor(
    count: int,
    address: str | None,
    *,
    library: PromptLibrary,
    driver_models: Collection[str],
    make_transports: TransportFactory,
    ports: DriverPorts,
    local: Executor,
    keys: Mapping[str, str] | None,
    waiting: WaitForStart,
) -> AsyncIterator[WorkerPool]:
    """Yield an executor of a run's graphs on a number of workers, released at the end.

    Args:
        count: the number of workers, which start with the first graph.
        address: the address of the Ray cluster; by default Ray runs on this machine.
        library: the prompts.
        driver_models: the models that the driver calls itself.
        make_transports: makes the transports of a worker; a function that exists in every version of the package.
        ports: the driver's ports that serve the workers.
        local: executes the graphs that cannot be sent.
        keys: by the names of models, sent to each worker encrypted; without them workers read their own environment.
        waiting: waits for the workers to start, and may cancel that.

    Raises:
        ConfigError: Ray is not installed or nothing listens at its address, or keys cannot be sealed.
    """
    if keys is not None:
        key_pair()
    orders = WorkerConfig(library, ports.specs, frozenset(driver_models), ports.steps is not None, make_transports)
    async with AsyncExitStack() as stack:
        ray = await stack.enter_async_context(cluster(address))
        engine = WorkerPool(ray, orders, ports, local, count, keys, waiting)
        stack.push_async_callback(engine.close)
        yield engine
