"""Stopping a run: on request, when a model cannot be reached, or when its home is gone."""

import asyncio
from collections.abc import Awaitable
from typing import Any, TypeVar

from dokimasia.domain.call import CallResult, ModelCall
from dokimasia.domain.question import Aid
from dokimasia.errors import CallFailed, DokimasiaError, Interrupted, StorageError, TransportError, Unreachable
from dokimasia.gateway.gateway import ModelGateway
from dokimasia.storage.home import Home
from dokimasia.storage.runs import RunStatus

T = TypeVar("T")

FAILURES_TO_STOP = 3
"""The number of consecutive failed calls to a model after which it counts as unreachable."""

CHECK_INTERVAL = 0.5
"""Seconds between two checks of the home, and of the models still being called."""

_HOPELESS = frozenset(("auth", "connection"))
"""Kinds of failure caused by the key, the name or the address rather than the request."""


class Stop:
    """A request to stop a run, which finishes the calls in flight, saves, and raises `Interrupted` or the given
    problem.

    `leaves` is the run's status afterwards: `queued` if it will be continued.
    """

    def __init__(self) -> None:
        self._asked = asyncio.Event()
        self.leaves: RunStatus = "interrupted"
        self.at_once = False
        self.problem: DokimasiaError | None = None

    def ask(self, *, at_once: bool = False) -> None:
        """Ask the run to stop, from its event loop; `at_once` also abandons the calls in flight on cancellation."""
        self.at_once = self.at_once or at_once
        self._asked.set()

    def fail(self, problem: DokimasiaError, *, at_once: bool = False) -> None:
        """Ask the run to stop and to end with this problem; the first problem counts."""
        self.problem = self.problem or problem
        self.at_once = self.at_once or at_once
        self._asked.set()

    @property
    def asked(self) -> bool:
        """Whether the run was asked to stop."""
        return self._asked.is_set()

    async def wait(self) -> None:
        """Wait until the run is asked to stop."""
        await self._asked.wait()


class FailFastGateway(ModelGateway):
    """A gateway that stops a run if a model cannot be reached because of its key, name or address.

    Such a failed call is held back, without a result, until the model answers another call, which shows that it is
    reachable. The run stops once `FAILURES_TO_STOP` calls are held, or only held calls remain.
    """

    def __init__(self, stop: Stop, *, goes_on: bool = False, **options: Any) -> None:
        """Create the gateway; with `goes_on` it never holds calls back. `options` are those of `ModelGateway`."""
        super().__init__(**options)
        self._stop, self._goes_on = stop, goes_on
        self._asking = self._asked = 0
        self._answered: set[str] = set()
        self._held: dict[str, list[asyncio.Future[None]]] = {}

    async def ask(self, call: ModelCall, *, label: str = "", aid: Aid | None = None) -> CallResult:
        """Return the call's answer as `ModelGateway.ask` does.

        Raises:
            Interrupted: also if the model cannot be reached.
        """
        name = call.model.name
        self._asking += 1
        self._asked += 1
        try:
            answer = await super().ask(call, label=label, aid=aid)
            if not answer.cached:
                self._answered.add(name)
                self._release(name)
            return answer
        except CallFailed as failed:
            if not self._goes_on and self._hopeless(name, failed.last):
                await self._hold(name, failed.reason)
            raise
        finally:
            self._asking -= 1

    def _hopeless(self, name: str, last: TransportError | None) -> bool:
        """Return whether a failure would affect every call, such as an exhausted account; 403 and 404 count only for a
        model that has never answered, since some providers refuse single prompts with them.
        """
        if last is None:
            return False
        if last.kind == "not_found" or last.status == 403:
            return name not in self._answered
        return last.kind in _HOPELESS or (last.kind == "rate_limit" and not last.retryable)

    async def _hold(self, name: str, reason: str) -> None:
        """Wait until the model has answered another call.

        Raises:
            Interrupted: the run stops.
        """
        waiters = self._held.setdefault(name, [])
        waiters.append(asyncio.get_running_loop().create_future())
        problem = Unreachable(
            f"{name} cannot be reached: {reason.removeprefix(f'{name}: ').rstrip('.')}. Fix this and rerun the same "
            "command; finished work is kept (--max-failures 100% continues without it)"
        )
        if len(waiters) >= FAILURES_TO_STOP:
            self._stop.fail(problem)
        waiting, calls = waiters[-1], -1
        while not (waiting.done() or self._stop.asked):
            if self._asked == calls and self._asking <= sum(map(len, self._held.values())):
                self._stop.fail(problem)
            calls = self._asked
            await asyncio.wait([waiting], timeout=CHECK_INTERVAL)
        if self._stop.asked:
            raise Interrupted(f"{name}: stopped before the call was answered")

    def _release(self, name: str) -> None:
        for waiter in self._held.pop(name, ()):
            if not waiter.done():
                waiter.set_result(None)


async def unless_stopped(stop: Stop, work: Awaitable[T]) -> T:
    """Return the result of long work without model calls, cancelling it when the run is asked to stop.

    Raises:
        Interrupted: the run was asked to stop.
    """
    stopping, working = asyncio.ensure_future(stop.wait()), asyncio.ensure_future(work)
    try:
        await asyncio.wait([stopping, working], return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise Interrupted("stopped before the work had begun")
        return working.result()
    finally:
        for task in (stopping, working):
            task.cancel()
        await asyncio.gather(stopping, working, return_exceptions=True)


async def watch_home(home: Home, stop: Stop) -> None:
    """Stop the run within a second after its home is deleted or moved, since paid replies could not be stored."""
    while True:
        await asyncio.sleep(CHECK_INTERVAL)
        if not home.in_place:
            stop.fail(home_gone(home), at_once=True)
            return


def home_gone(home: Home) -> StorageError:
    """Return the error for a home that was deleted or moved during a run."""
    return StorageError(
        f"{home.path} was deleted or moved while the run was under way: the run has stopped, and no further call is sent. "
        "Put it back and resume, or give the command again, which begins anew"
    )
