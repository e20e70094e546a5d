"""A call that another process asks and sends: here it is a key, a model and a forecast, and its content stays there."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol

from dokimasia.domain.call import ModelCall, ModelRef, ModelReply, ModelSpec, Usage
from dokimasia.domain.ports import BlobStore, Transport
from dokimasia.errors import TransportError
from dokimasia.gateway.limiter import Turn
from dokimasia.gateway.rate_limit_headers import report_headers

CallKind = Literal["chat", "embedding", "image_edit"]


class RemoteReply(NamedTuple):
    """What came of a request that another process sent: a reply or a failure, the headers of rate limits, what the
    ledger keeps of the request (`folded`, the ledger's own), and the key of the call that was begun in its place."""

    outcome: ModelReply | TransportError
    headers: Sequence[Mapping[str, str]]
    folded: Any = None
    next: str = ""


class RemoteCaller(Protocol):
    """A process that has calls."""

    @property
    def lost(self) -> bool:
        """Whether it is gone."""
        ...

    async def send(self, key: str) -> RemoteReply:
        """Have one of its calls sent once, or take what came of it where it was sent ahead."""
        ...

    def allow(self, call: "RemoteCall", turn: Turn) -> None:
        """Allow it to send a call ahead, in the place of a call of its own that is answered, until it is its turn."""
        ...

    def ahead(self, key: str) -> "RemoteCall | None":
        """Return a call that it was allowed to send ahead and that has no place yet, which is known to be begun now."""
        ...

    def forbid(self, call: "RemoteCall") -> None:
        """Say that a call is not to be sent ahead, unless it is begun."""
        ...

    async def recall(self, call: "RemoteCall") -> bool:
        """Do that, and return whether it was not begun."""
        ...


@dataclass(eq=False)
class RemoteCall:
    """One call that other processes have.

    `bearers` are those who asked it; `reply` is what came back, from `sender`.

    While it waits for its `turn` at the endpoint, and that is near, one of them is `allowed` to send it ahead: as
    soon as another call of its own there is answered, and in the place of that. The driver learns of it with that answer,
    and hands the place on (`next`). So a place is not empty for as long as words travel.
    """

    kind: CallKind
    model: ModelRef
    key: str
    forecast: Usage
    bearers: list[RemoteCaller] = field(default_factory=list[RemoteCaller])
    sender: RemoteCaller | None = None
    reply: ModelReply | None = None
    folded: Any = None
    turn: Turn | None = None
    allowed: RemoteCaller | None = None
    begun: bool = False
    next: "RemoteCall | None" = None

    def near(self, turn: Turn) -> None:
        """Have a bearer send it ahead, since its turn is near."""
        self.turn, self.begun = turn, False
        self.allowed = next((bearer for bearer in self.bearers if not bearer.lost), None)
        if self.allowed is not None:
            self.allowed.allow(self, turn)

    @property
    def perhaps_begun(self) -> bool:
        """Whether it is begun, or may be without a word having come yet."""
        return self.allowed is not None and (self.begun or not self.allowed.lost)

    def forbid(self) -> None:
        """Have it wait for its turn, unless it is begun."""
        if self.allowed is not None:
            self.allowed.forbid(self)

    async def recall(self) -> None:
        """Take back that it may be sent ahead, unless it is begun."""
        if self.allowed is not None and await self.allowed.recall(self) and not self.begun:
            self.allowed = None

    def take_next(self) -> Turn | None:
        """Return the turn of the call that was begun in its place, which has one from now on."""
        following, self.next = self.next, None
        if following is None or following.turn is None or following.turn.done():
            return None
        following.begun = True
        return following.turn


class RemoteCallTransport:
    """A transport that has carried calls sent by those who have them, and sends any other itself."""

    def __init__(self, own: Transport) -> None:
        self._own = own

    async def send(self, call: ModelCall, spec: ModelSpec, *, api_key: str | None, blobs: BlobStore) -> ModelReply:
        """Return what came back.

        Raises:
            TransportError: also where the process that sent it was lost, and perhaps its reply with it.
        """
        if not isinstance(call, RemoteCall):
            return await self._own.send(call, spec, api_key=api_key, blobs=blobs)
        sender = call.allowed
        if sender is None or (sender.lost and not call.begun):
            sender = next((bearer for bearer in call.bearers if not bearer.lost), None)
        call.turn = call.allowed = None
        call.begun = False
        if sender is None:
            raise TransportError("unknown", "the worker that asked was lost", retryable=False)
        sent = await sender.send(call.key)
        call.next = sender.ahead(sent.next)
        for headers in sent.headers:
            report_headers(headers)
        if isinstance(sent.outcome, TransportError):
            raise sent.outcome
        call.sender, call.reply, call.folded = sender, sent.outcome, sent.folded
        return sent.outcome

    async def aclose(self) -> None:
        """Close the transport."""
        await self._own.aclose()
