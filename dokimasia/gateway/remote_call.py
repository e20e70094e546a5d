"""A call made and sent by another process: here it is a key, a model and a forecast; its content stays there."""

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
    """The result of a request sent by another process: a reply or a failure, the headers of rate limits, the ledger's
    form of the request (`folded`), and the key of the call that was started in its place.
    """

    outcome: ModelReply | TransportError
    headers: Sequence[Mapping[str, str]]
    folded: Any = None
    next: str = ""


class RemoteCaller(Protocol):
    """A process that makes calls."""

    @property
    def lost(self) -> bool:
        """Whether the process is gone."""
        ...

    async def send(self, key: str) -> RemoteReply:
        """Send one of its calls once, or return the result if it was sent ahead."""
        ...

    def allow(self, call: "RemoteCall", turn: Turn) -> None:
        """Allow it to send a call ahead, in place of one of its answered calls, until the call's turn comes."""
        ...

    def ahead(self, key: str) -> "RemoteCall | None":
        """Return the call with this key that it was allowed to send ahead and has started, but that has no place yet."""
        ...

    def forbid(self, call: "RemoteCall") -> None:
        """Revoke the permission to send a call ahead, unless it has started."""
        ...

    async def recall(self, call: "RemoteCall") -> bool:
        """Revoke the permission, and return whether the call had not started."""
        ...


@dataclass(eq=False)
class RemoteCall:
    """A call made by other processes.

    `bearers` are the processes that made it; `reply` is the result from `sender`.

    While it waits for its `turn` at the endpoint, and the turn is near, one of the bearers is `allowed` to send it
    ahead: as soon as another of its calls there is answered, and in the place of that call. The driver learns of it
    with that answer, and passes the place on (`next`). So no place is idle while messages travel.
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
        """Let a bearer send it ahead, since its turn is near."""
        self.turn, self.begun = turn, False
        self.allowed = next((bearer for bearer in self.bearers if not bearer.lost), None)
        if self.allowed is not None:
            self.allowed.allow(self, turn)

    @property
    def perhaps_begun(self) -> bool:
        """Whether it has started, or may have without a message having arrived yet."""
        return self.allowed is not None and (self.begun or not self.allowed.lost)

    def forbid(self) -> None:
        """Make it wait for its turn, unless it has started."""
        if self.allowed is not None:
            self.allowed.forbid(self)

    async def recall(self) -> None:
        """Revoke the permission to send it ahead, unless it has started."""
        if self.allowed is not None and await self.allowed.recall(self) and not self.begun:
            self.allowed = None

    def take_next(self) -> Turn | None:
        """Return the turn of the call that was started in its place, which now has a place."""
        following, self.next = self.next, None
        if following is None or following.turn is None or following.turn.done():
            return None
        following.begun = True
        return following.turn


class RemoteCallTransport:
    """A transport that has remote calls sent by their processes, and sends any other itself."""

    def __init__(self, own: Transport) -> None:
        self._own = own

    async def send(self, call: ModelCall, spec: ModelSpec, *, api_key: str | None, blobs: BlobStore) -> ModelReply:
        """Return the reply.

        Raises:
            TransportError: also if the sending process was lost, perhaps with its reply.
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
