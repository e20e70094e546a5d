"""The Ray cluster of this process, started on this machine or joined at an address, and its workers."""

import asyncio
import fcntl
import importlib
import importlib.util
import logging
import os
import shutil
import signal
import socket
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from types import ModuleType
from typing import IO, Any, TypeVar
from urllib.parse import urlsplit

from dokimasia.distribution import worker_config
from dokimasia.distribution.failures import WorkerDied, failure_of
from dokimasia.distribution.worker import Worker, WorkerActor
from dokimasia.domain.ports import BlobStore
from dokimasia.errors import ConfigError
from dokimasia.log import logger
from dokimasia.settings import prepare_ray
from dokimasia.storage.content.recent import Recent
from dokimasia.version import source_version

T = TypeVar("T")

PREFIX = "dokimasia-ray-"
_HELD = "held"


class Folder:
    """A new temporary folder, locked by this process."""

    def __init__(self) -> None:
        remove_left()
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX))
        new = self.path / f"{_HELD}.new"
        self._file: IO[bytes] = new.open("wb")
        fcntl.flock(self._file, fcntl.LOCK_EX)
        new.rename(self.path / _HELD)  # visible to other processes only once it is locked

    def remove(self) -> None:
        """Remove the folder after Ray has ended; kill a Ray agent that was still starting."""
        for process in Path("/proc").glob("[0-9]*/cmdline"):
            with suppress(OSError):
                if f"-dir={self.path}".encode() in process.read_bytes():
                    os.kill(int(process.parent.name), signal.SIGKILL)
        shutil.rmtree(self.path, ignore_errors=True)
        self._file.close()


def remove_left() -> None:
    """Remove folders whose drivers are gone; keep those of other users."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError), (folder / _HELD).open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)


OBJECT_STORE_BYTES = 256 * 1024 * 1024
"""Size of the object store of a Ray started by this process; further objects go to disk."""

IMAGE_BYTES = 128 * 1024 * 1024
"""Bytes of images kept for the workers in Ray's object store."""

TRIES = 3
"""Attempts to start Ray."""

LOOKING = 10.0
"""The timeout, in seconds, for a cluster's address to answer."""

BEGINNING = 300.0
"""The timeout, in seconds, for a worker to start, on a machine that may be busy or have to be booted."""

MISSING = "more than one worker needs Ray: install it with `pip install 'dokimasia[ray]'`, or leave --workers out"


class Cluster:
    """A Ray cluster that this process starts or joins on demand. Use it through `cluster`."""

    def __init__(self, address: str | None) -> None:
        self.address = address
        self._ray: ModuleType  # once it is imported
        self._folder: Folder | None = None
        self._joined = False
        self._idle: list[WorkerActor] = []
        self._images: Recent[str, object] = Recent(IMAGE_BYTES)
        self._gate = threading.Lock()
        self._putting = threading.Lock()
        self.living: dict[int, WorkerActor] = {}
        self.users = 0

    async def begin(self) -> None:
        """Connect to the address, or start Ray on this machine without one, if not connected yet; takes seconds.

        Raises:
            ConfigError: Ray cannot be loaded, or there is no Ray at the address.
        """
        await asyncio.to_thread(self.start)
        _take_signals_back()

    def check(self) -> None:
        """Fail early if Ray cannot be reached, which Ray itself would report only after minutes.

        Raises:
            ConfigError: Ray is not installed, or nothing listens at the address.
        """
        if self._joined:
            return
        if importlib.util.find_spec("ray") is None:
            raise ConfigError(MISSING)
        if self.address == "auto":
            _check_address(_auto_address(), written_as="auto")
        elif self.address is not None:
            _check_address(self.address)

    def start(self) -> None:
        """Connect or start Ray, as `begin`, but blocking."""
        with self._gate:
            if not self._joined:
                self._start()

    def _start(self) -> None:
        if self.address is None:
            prepare_ray()  # before it is imported, when it reads its environment
        self._ray = ray = _loaded()
        if ray.is_initialized():
            return
        # Ray prints reports of nodes, such as a worker's death, on standard output; there is no setting to disable it.
        private: Any = importlib.import_module("ray._private.worker")
        private.listen_error_messages = lambda *_: None
        options: dict[str, object] = {"log_to_driver": False, "logging_level": "error", "configure_logging": False}
        if self.address is None:
            self._folder = Folder()
            options |= {
                "num_cpus": 0,
                "include_dashboard": False,
                "object_store_memory": OBJECT_STORE_BYTES,
                "_temp_dir": str(self._folder.path),
                "_node_ip_address": "127.0.0.1",
            }
        for attempts_left in reversed(range(TRIES)):
            if not self.users:  # the user was cancelled in the meantime
                return
            try:
                with _without_ctrl_c():
                    ray.init(self.address or "local", **options)
            except Exception as error:  # Ray raises many types of exceptions; on a busy machine a start may time out
                ray.shutdown()
                if attempts_left:
                    continue
                self._stop()
                message = " ".join(str(error).split())[:300]
                if self.address is None:
                    raise ConfigError(f"there is no Ray on this machine: {message}") from error
                raise ConfigError(
                    f"there is no Ray at {self.address}, or it does not let this process in: {message} (a cluster with "
                    "tokens takes RAY_AUTH_MODE=token and its token in this environment, too)"
                ) from error
            self._joined = True
            return

    def stop(self) -> None:
        """Disconnect, and stop a Ray that this process started."""
        with self._gate:
            self._stop()

    def _stop(self) -> None:
        self._images.clear()
        for worker in self._idle:
            self.kill(worker)
        self._idle.clear()
        if self._joined:
            self._joined = False
            self._ray.shutdown()
        if self._folder is not None:
            self._folder.remove()

    async def start_worker(self) -> WorkerActor:
        """Return an idle or new worker of this version.

        Raises:
            WorkerDied: the worker died before its handshake.
            ConfigError: the worker has another version.
        """
        while self._idle:
            worker = self._idle.pop()
            with suppress(WorkerDied):
                await self.call(worker.hello.remote())
                return worker
        needs = {"num_cpus": 0} if self._folder is not None else {"num_cpus": 1}
        options: dict[str, object] = {"max_restarts": 0, "max_concurrency": 8, "scheduling_strategy": "SPREAD", **needs}
        worker: WorkerActor = self._ray.remote(Worker).options(**options).remote()
        try:
            handshake = await self.call(worker.hello.remote(), patience=BEGINNING)
        except BaseException:  # also on cancellation: the worker would occupy a CPU that others wait for
            self.kill(worker)
            raise
        if handshake.version != source_version():
            self.kill(worker)
            raise ConfigError(
                f"the worker on {handshake.machine} runs another version of dokimasia ({handshake.version}; this is "
                f"{source_version()}): install the same on every node"
            )
        logger(__name__).info("worker began", machine=handshake.machine, pid=handshake.pid)
        self.living[handshake.pid] = worker
        return worker

    def describe_capacity(self) -> str:
        """Return a sentence on the cluster's free capacity for workers; blocking."""
        if self._folder is not None:
            return "this machine is slow to start them"
        free, total = (
            resources.get("CPU", 0.0) for resources in (self._ray.available_resources(), self._ray.cluster_resources())
        )
        return f"each takes one of the cluster's CPUs, of which {free:g} of {total:g} are free"

    def release(self, worker: WorkerActor) -> None:
        """Return a worker to the idle ones after its run has ended."""
        self._idle.append(worker)

    def kill(self, worker: WorkerActor) -> None:
        """Kill a worker's process."""
        self.living = {pid: other for pid, other in self.living.items() if other is not worker}
        with suppress(Exception):
            self._ray.kill(worker)

    async def call(self, answer: Awaitable[T], *, patience: float | None = None) -> T:
        """Return a worker's answer.

        Raises:
            WorkerDied: the worker is gone, or silent for too long.
            ConfigError: the answer is not that of a worker of this version.
        """
        patience = worker_config.PATIENCE if patience is None else patience
        if (self.address or "").startswith("ray://"):
            answer = _collected(answer)
        try:
            async with asyncio.timeout(patience):
                return await answer
        except TimeoutError:
            raise WorkerDied(f"a worker was silent for {patience:g} s") from None
        except self._ray.exceptions.RayError as error:
            raise failure_of(error, self._ray) from error

    async def call_reliably(self, call: Callable[[], Awaitable[T]]) -> T:
        """Return a worker's answer, calling again while the worker is temporarily unreachable.

        Raises:
            WorkerDied: the worker is gone, or silent for too long.
        """
        until = time.monotonic() + worker_config.PATIENCE
        while True:
            try:
                return await self.call(call())
            except WorkerDied as died:
                if not died.away or time.monotonic() > until:
                    raise
            await asyncio.sleep(0.5)

    def put_object(self, value: object) -> object:
        """Return an object reference for a value, which each node fetches only once for all its workers."""
        return self._ray.put(value)

    def image(self, sha256: str, blobs: BlobStore) -> object:
        """Return the object reference of an image, which each node fetches only once; blocking."""
        with self._putting:  # so that concurrent requests store an image once
            place = self._images.get(sha256)
            if place is None:
                data = blobs.get(sha256)
                place = self._ray.put(data)
                self._images.put(sha256, place, len(data))
        return place


def _collected(answer: Awaitable[T]) -> asyncio.Future[T]:
    """Return a future for an answer of Ray's client, retrieved even after a cancellation to avoid a printed traceback."""

    async def collected() -> T:
        return await answer

    coming = asyncio.ensure_future(collected())
    coming.add_done_callback(lambda future: future.cancelled() or future.exception())
    return asyncio.shield(coming)


def _loaded() -> ModuleType:
    """Return the module `ray`.

    Raises:
        ConfigError: Ray is not installed.
    """
    try:
        import ray
    except ImportError as error:
        raise ConfigError(MISSING) from error
    logging.getLogger("ray").setLevel(logging.ERROR)
    return ray


def _auto_address() -> str:
    """Return the address that Ray uses for `auto`.

    Raises:
        ConfigError: no cluster is known on this machine.
    """
    _loaded()
    services = importlib.import_module("ray._private.services")
    try:
        return services.get_ray_address_from_environment("auto", None)
    except ConnectionError as error:
        raise ConfigError(
            "there is no Ray at auto: none runs on this machine; give the cluster's --address, or set RAY_ADDRESS"
        ) from error


def _check_address(address: str, *, written_as: str = "") -> None:
    """Check that something listens at the address of a cluster, since Ray itself would try for minutes.

    Raises:
        ConfigError: nothing listens, or the address is invalid; the message shows it with `written_as`, the user's spelling.
    """
    parts = urlsplit(address if "://" in address else f"//{address}")
    try:
        host, port = parts.hostname, parts.port
    except ValueError:  # not a port number
        host = port = None
    shown_address = f"{written_as} (here {address})" if written_as else address
    if not host or not port:
        raise ConfigError(f"--address {shown_address}: an address of Ray is auto, ray://HOST:PORT or HOST:PORT")
    try:
        socket.create_connection((host, port), timeout=LOOKING).close()
    except OSError as error:
        raise ConfigError(f"there is no Ray at {shown_address}: {error}") from error


@contextmanager
def _without_ctrl_c() -> Iterator[None]:
    """Block SIGINT in processes that this thread starts, since a terminal sends Ctrl-C to them as well."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _take_signals_back() -> None:
    """Restore this program's handler of SIGTERM, which Ray replaces by one that prints a stack trace."""
    handler = signal.getsignal(signal.SIGTERM)
    if threading.current_thread() is threading.main_thread() and handler is not None:
        signal.signal(signal.SIGTERM, handler)
        signal.siginterrupt(signal.SIGTERM, False)


_cluster: Cluster | None = None


@asynccontextmanager
async def cluster(address: str | None) -> AsyncIterator[Cluster]:
    """Yield the Ray cluster of this process; it is shared by nested users, and the last one disconnects.

    Raises:
        ConfigError: Ray is not installed, nothing listens at the address, or this process is connected to another.
    """
    global _cluster
    if _cluster is None:
        _cluster = Cluster(address)
    current = _cluster
    if current.address != address:
        raise ConfigError(f"this process works with the Ray at {current.address or 'this machine'} already")
    current.users += 1
    try:
        await asyncio.to_thread(current.check)
        yield current
    finally:
        current.users -= 1
        if not current.users:
            _cluster = None
            await asyncio.to_thread(current.stop)
