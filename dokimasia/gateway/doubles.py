"""Gateways without a model, for tests: replies by script or by a function, every call recorded."""

from collections.abc import Awaitable, Callable, Iterable

from dokimasia.domain.call import Answer, ChatReply, ModelCall, ModelReply, call_key
from dokimasia.errors import CallFailed

Reply = str | ModelReply | CallFailed
"""What a double gives: a reply, a text (a chat reply that ended by itself), or a failure, which is raised."""


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

    async def ask(self, call: ModelCall, *, label: str = "") -> Answer:
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
        if isinstance(reply, str):
            reply = ChatReply(text=reply, finish_reason="stop")
        return Answer(key=call_key(call), reply=reply)


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
