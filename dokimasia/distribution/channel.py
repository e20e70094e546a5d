"""Messages between a driver and a worker: requests and answers, exchanged in batches."""

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, NamedTuple

from dokimasia.errors import DokimasiaError

Serve = Callable[[str, tuple[object, ...]], Awaitable[object]]
"""Returns the answer to a request of the other side, given its name and arguments."""

BATCH_SIZE = 64
"""The maximum number of messages in a batch, so that neither side waits behind all messages of the other."""


class ChannelRequest(NamedTuple):
    """A request of the other side; a negative number: no answer is expected."""

    number: int
    name: str
    arguments: tuple[object, ...]


class Drop(NamedTuple):
    """The request with this number was cancelled."""

    number: int


class Answer(NamedTuple):
    """The answer to the request with this number."""

    number: int
    content: object


class ChannelFailure(NamedTuple):
    """The error of the request with this number."""

    number: int
    error: Exception


ChannelMessage = ChannelRequest | Drop | Answer | ChannelFailure


class ChannelClosed(Exception):
    """The other side is gone, and open requests will not be answered."""


class Channel:
    """One end of a connection, on which both sides may send requests.

    Outgoing messages wait for `outgoing`, incoming ones are passed to `receive`. Use a channel in one event loop only.
    """

    def __init__(self, serve: Serve) -> None:
        self._serve = serve
        self._numbers = itertools.count(1)
        self._said: list[ChannelMessage] = []
        self._asked: dict[int, asyncio.Future[object]] = {}
        self._serving: dict[int, asyncio.Task[None]] = {}
        self._something = asyncio.Event()
        self._spoilt: Exception | None = None
        self.lost = False

    @property
    def waiting(self) -> int:
        """The number of requests without an answer."""
        return len(self._asked)

    @property
    def failed(self) -> bool:
        """Whether this side has failed and no longer answers requests."""
        return self._spoilt is not None

    async def ask(self, name: str, *arguments: object) -> Any:
        """Return the other side's answer; a request that is cancelled on this side is dropped on the other.

        Raises:
            ChannelClosed: the other side is gone.
        """
        if self.lost:
            raise ChannelClosed
        number = next(self._numbers)
        answer = self._asked[number] = asyncio.get_running_loop().create_future()
        self._enqueue(ChannelRequest(number, name, arguments))
        try:
            return await answer
        except asyncio.CancelledError:
            if not self.lost:
                self._enqueue(Drop(number))
            raise
        finally:
            del self._asked[number]

    def notify(self, name: str, *arguments: object) -> None:
        """Send a message without expecting an answer."""
        self._enqueue(ChannelRequest(-next(self._numbers), name, arguments))

    async def outgoing(self, wait: float) -> list[ChannelMessage]:
        """Return the next batch of outgoing messages, waiting up to `wait` seconds for the first.

        Raises:
            Exception: the exception passed to `fail`.
        """
        if not self._said and self._spoilt is None:
            self._something.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await self._something.wait()
        if self._spoilt is not None:
            raise self._spoilt
        batch, self._said = self._said[:BATCH_SIZE], self._said[BATCH_SIZE:]
        return batch

    def receive(self, words: list[ChannelMessage]) -> None:
        """Process messages of the other side, in order."""
        for word in words:
            number = word.number
            if isinstance(word, ChannelRequest):
                task = asyncio.create_task(self._answer(word))
                self._serving[number] = task
                task.add_done_callback(lambda _, number=number: self._serving.pop(number, None))
            elif isinstance(word, Drop):
                if (serving := self._serving.get(number)) is not None:
                    serving.cancel()
            elif (answer := self._asked.get(number)) is not None and not answer.done():
                if isinstance(word, Answer):
                    answer.set_result(word.content)
                else:
                    answer.set_exception(word.error)

    def fail(self, problem: Exception) -> None:
        """Stop answering requests; the next call of `outgoing` raises `problem`."""
        self._spoilt = problem
        self._something.set()

    async def close(self) -> None:
        """Close the channel after the other side is gone: fail open requests and stop serving."""
        self.lost = True
        for answer in self._asked.values():
            if not answer.done():
                answer.set_exception(ChannelClosed())
        serving = list(self._serving.values())
        for task in serving:
            task.cancel()
        await asyncio.gather(*serving, return_exceptions=True)

    def _enqueue(self, word: ChannelMessage) -> None:
        self._said.append(word)
        self._something.set()

    async def _answer(self, request: ChannelRequest) -> None:
        number = request.number
        try:
            answer = Answer(number, await self._serve(request.name, request.arguments))
        except asyncio.CancelledError:
            return
        except DokimasiaError as error:
            answer = ChannelFailure(number, error)
        except Exception as error:  # any exception is returned to the other side as text, since it may not be picklable
            answer = ChannelFailure(number, RuntimeError(f"{type(error).__name__}: {error}"))
        if number > 0 and not self.lost:
            self._enqueue(answer)
