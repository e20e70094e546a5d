"""A call that another process asks and sends: here it is a key, a model and a forecast, and its content stays there."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol

from dokimasia.domain.call import ModelCall, ModelRef, ModelReply, ModelSpec, Usage
from dokimasia.domain.ports import BlobStore, Transport
from dokimasia.errors import TransportError
from dokimasia.gateway.allowance import report_headers


class Sent(NamedTuple):
    """What came of a request that another process sent: a reply or a failure, the headers of rate limits, and what the
    ledger keeps of the request (`folded`, the ledger's own)."""

    outcome: ModelReply | TransportError
    headers: Sequence[Mapping[str, str]]
    folded: Any = None


class Bearer(Protocol):
    """A process that has calls."""

    @property
    def lost(self) -> bool:
        """Whether it is gone."""
        ...

    async def send(self, key: str) -> Sent:
        """Have one of its calls sent once."""
        ...


@dataclass(eq=False)
class Carried:
    """One call that other processes have.

    `bearers` are those who asked it; `reply` is what came back, from `sender`.
    """

    kind: Literal["chat", "embedding", "image_edit"]
    model: ModelRef
    key: str
    forecast: Usage
    bearers: list[Bearer] = field(default_factory=list[Bearer])
    sender: Bearer | None = None
    reply: ModelReply | None = None
    folded: Any = None


class Carrying:
    """A transport that has carried calls sent by those who have them, and sends any other itself."""

    def __init__(self, own: Transport) -> None:
        self._own = own

    async def send(self, call: ModelCall, spec: ModelSpec, *, api_key: str | None, blobs: BlobStore) -> ModelReply:
        """Return what came back.

        Raises:
            TransportError: also where the process that sent it was lost, and perhaps its reply with it.
        """
        if not isinstance(call, Carried):
            return await self._own.send(call, spec, api_key=api_key, blobs=blobs)
        sender = next((one for one in call.bearers if not one.lost), None)
        if sender is None:
            raise TransportError("unknown", "the worker that asked was lost", retryable=False)
        sent = await sender.send(call.key)
        for headers in sent.headers:
            report_headers(headers)
        if isinstance(sent.outcome, TransportError):
            raise sent.outcome
        call.sender, call.reply, call.folded = sender, sent.outcome, sent.folded
        return sent.outcome

    async def aclose(self) -> None:
        """Close the transport."""
        await self._own.aclose()
