"""Test doubles that record their calls: gateways without a model, and a transport that counts, stops, delays and fails."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable

from dokimasia.domain.call import CallResult, ChatReply, ModelCall, ModelReply, ModelSpec, call_key
from dokimasia.domain.ports import BlobStore, Transport
from dokimasia.domain.question import Aid
from dokimasia.errors import CallFailed

Reply = str | ModelReply | CallFailed
"""The result of a double: a reply, a text (a complete chat reply), or a failure, which is raised."""


class Crash(BaseException):
    """Simulates the death of the process: unlike an `Exception` of a transport, it is not the failure
    of a single call.
    """


class FunctionGateway:
    """A gateway that answers with a function of the call. It has no ledger, so the same call twice is two calls.

    Example::

        async def test_the_candidate_is_asked_once():
            gateway = FunctionGateway(lambda call: "A red bus.")
            answer = await gateway.ask(call, label="candidate")
            assert answer.reply.text == "A red bus."
            assert gateway.calls == [call]

    Attributes:
        calls: the calls, in order.
        labels: the labels of the calls, in order.
    """

    def __init__(self, fn: Callable[[ModelCall], Reply | Awaitable[Reply]]) -> None:
        """Answer every call with `fn`, which may be a coroutine function."""
        self._fn = fn
        self.calls: list[ModelCall] = []
        self.labels: list[str] = []

    async def ask(self, call: ModelCall, *, label: str = "", aid: Aid | None = None) -> CallResult:
        """Return the function's reply to the call.

        Raises:
            CallFailed: if that is what the function returns.
        """
        self.calls.append(call)
        self.labels.append(label)
        reply = self._fn(call)
        if isinstance(reply, Awaitable):
            reply = await reply
        if isinstance(reply, CallFailed):
            raise reply
        return CallResult(key=call_key(call), reply=_as_reply(reply))


class ScriptedGateway(FunctionGateway):
    """A gateway that returns its replies in order, whatever the call.

    Example::

        gateway = ScriptedGateway(["not a rating", "Rating: [[7]]"])   # the second answers the repair
        await judge(gateway, sample)
        gateway.assert_used_up()
    """

    def __init__(self, replies: Iterable[Reply]) -> None:
        """Return these replies, one per call."""
        self._replies = list(replies)
        super().__init__(self._next)

    def _next(self, call: ModelCall) -> Reply:
        number = len(self.calls)
        if number > len(self._replies):
            raise AssertionError(
                f"the script has {len(self._replies)} replies, but call {number} came: {call.kind} to {call.model.name}"
            )
        return self._replies[number - 1]

    def assert_used_up(self) -> None:
        """Raise AssertionError if replies remain."""
        if unused := len(self._replies) - len(self.calls):
            raise AssertionError(f"{unused} of {len(self._replies)} scripted replies were not asked for")


class CountingTransport:
    """A transport around another transport or a function that records calls and can stop, delay and fail them.

    Example::

        stop = Stop()
        transport = CountingTransport(SimTransport(), stop=stop.ask, stop_after=5)
        with pytest.raises(Interrupted):
            await evaluate(request, settings=settings, stop=stop, transports={"sim": transport})
        assert transport.by_model["sim/judge"] <= 5

    Attributes:
        sent: the calls that were sent, in order.
        done: the calls that returned a reply, in the order of their replies.
        open: number of calls in flight.
        most_open: largest number of calls in flight at once.
        closed: whether the transport was closed.
    """

    def __init__(
        self,
        inner: Transport | Callable[[ModelCall], str | ModelReply],
        *,
        stop: Callable[[], object] | None = None,
        stop_after: int | None = None,
        hold: Callable[[ModelCall], Awaitable[object] | None] | None = None,
        fail: Callable[[ModelCall], BaseException | None] | None = None,
        change: Callable[[ModelCall, ModelReply], ModelReply] | None = None,
    ) -> None:
        """Send through `inner`, or answer with it if it is a function of the call (a text is a chat reply).

        A call passes the stages in the order of the arguments and yields to other work at least once.

        Args:
            inner: the transport or function that answers.
            stop: called once, after `stop_after` calls were sent; these still return.
            stop_after: number of calls, 1 or more.
            hold: an awaitable that a call waits for before it continues, if any.
            fail: an exception that a call raises instead of returning, if any: a `TransportError`, or a `Crash`, which
                ends the run (any other exception fails the call, as it would with a real transport).
            change: replaces the reply.
        """
        self._inner = inner
        self._stop, self._stop_after = stop, stop_after
        self._hold, self._fail, self._change = hold, fail, change
        self.sent: list[ModelCall] = []
        self.done: list[ModelCall] = []
        self.open = self.most_open = 0
        self.closed = False

    @property
    def by_model(self) -> Counter[str]:
        """Number of calls sent to each model, by its displayed name."""
        return Counter(call.model.name for call in self.sent)

    async def send(self, call: ModelCall, spec: ModelSpec, *, api_key: str | None, blobs: BlobStore) -> ModelReply:
        """Record the call and return its reply.

        Raises:
            TransportError: raised by the inner transport or by `fail`.
        """
        self.sent.append(call)
        if self._stop is not None and len(self.sent) == self._stop_after:
            self._stop()
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        try:
            await asyncio.sleep(0)
            if self._hold is not None and (gate := self._hold(call)) is not None:
                await gate
            if self._fail is not None and (problem := self._fail(call)) is not None:
                raise problem
            if callable(self._inner):
                reply = _as_reply(self._inner(call))
            else:
                reply = await self._inner.send(call, spec, api_key=api_key, blobs=blobs)
            if self._change is not None:
                reply = self._change(call, reply)
            self.done.append(call)
            return reply
        finally:
            self.open -= 1

    async def aclose(self) -> None:
        """Close the inner transport."""
        self.closed = True
        if not callable(self._inner):
            await self._inner.aclose()


def _as_reply(reply: str | ModelReply) -> ModelReply:
    if isinstance(reply, str):
        return ChatReply(text=reply, finish_reason="stop")
    return reply
