"""For tests: gateways without a model, and a transport that counts, stops, holds back and fails; every call recorded."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable

from dokimasia.domain.call import CallResult, ChatReply, ModelCall, ModelReply, ModelSpec, call_key
from dokimasia.domain.ports import BlobStore, Transport
from dokimasia.domain.question import Aid
from dokimasia.errors import CallFailed

Reply = str | ModelReply | CallFailed
"""What a double gives: a reply, a text (a chat reply that ended by itself), or a failure, which is raised."""


class Crash(BaseException):
    """What stands for the end of the process: other than any `Exception` of a transport, it is not one call's failure."""


class FunctionGateway:
    """A gateway that answers by a function of the call; it keeps no ledger, so the same call twice is two calls.

    Example::

        async def test_the_candidate_is_asked_once():
            gateway = FunctionGateway(lambda call: "A red bus.")
            answer = await gateway.ask(call, label="candidate")
            assert answer.reply.text == "A red bus."
            assert gateway.calls == [call]

    Attributes:
        calls: what was asked, in order.
        labels: who asked, in order.
    """

    def __init__(self, fn: Callable[[ModelCall], Reply | Awaitable[Reply]]) -> None:
        """Answer every call by `fn`, which may be a coroutine function."""
        self._fn = fn
        self.calls: list[ModelCall] = []
        self.labels: list[str] = []

    async def ask(self, call: ModelCall, *, label: str = "", aid: Aid | None = None) -> CallResult:
        """Return what the function says to the call.

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
    """A gateway that gives its replies in order, whatever it is asked.

    Example::

        gateway = ScriptedGateway(["not a rating", "Rating: [[7]]"])   # the second answers the repair
        await judge(gateway, sample)
        gateway.assert_used_up()
    """

    def __init__(self, replies: Iterable[Reply]) -> None:
        """Give these replies, one a call."""
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
        """Raise AssertionError if replies are left over."""
        if left := len(self._replies) - len(self.calls):
            raise AssertionError(f"{left} of {len(self._replies)} scripted replies were not asked for")


class CountingTransport:
    """A transport around another one, or around a function, that keeps what is sent and can stop, hold back and fail.

    Example::

        stop = Stop()
        transport = CountingTransport(SimTransport(), stop=stop.ask, stop_after=5)
        with pytest.raises(Interrupted):
            await evaluate(request, settings=settings, stop=stop, transports={"sim": transport})
        assert transport.by_model["sim/judge"] <= 5

    Attributes:
        sent: the calls that were sent, in order.
        done: those of them that came back with a reply, in the order of their replies.
        open: how many are under way.
        most_open: how many were under way at once at most.
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
        """Send through `inner`, or answer by it if it is a function of the call (a text is a chat reply).

        A call passes the stages in the order of the arguments, and lets other work have its turn at least once.

        Args:
            inner: what answers.
            stop: asked once, when `stop_after` calls were sent; they still come back.
            stop_after: how many calls that is, 1 or more.
            hold: what a call waits for before it goes on, if anything.
            fail: what a call raises in place of an answer, if anything: a `TransportError`, or a `Crash`, which ends the run
                (any other exception fails the call, as it would with a real transport).
            change: makes another reply of the one that came back.
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
        """How many calls were sent to each model, by the name that it is shown as."""
        return Counter(call.model.name for call in self.sent)

    async def send(self, call: ModelCall, spec: ModelSpec, *, api_key: str | None, blobs: BlobStore) -> ModelReply:
        """Keep the call and have it answered.

        Raises:
            TransportError: the inner transport's, or what `fail` says.
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
    return ChatReply(text=reply, finish_reason="stop") if isinstance(reply, str) else reply
