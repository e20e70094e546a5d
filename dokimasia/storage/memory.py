"""Implementations of storage ports in memory, for programs without a home and for tests."""

from collections.abc import Iterable
from typing import NamedTuple, TypeVar, cast

from dokimasia.domain.call import CallResult, ModelCall, ModelReply
from dokimasia.domain.identity import Value, value_id
from dokimasia.errors import NotFound, StorageError
from dokimasia.storage.content.blobs import MemoryBlobs
from dokimasia.storage.ledger import CallFigures

__all__ = ["MemoryAttempt", "MemoryBlobs", "MemoryLedger", "MemoryStore"]

V = TypeVar("V", bound=Value)


class MemoryAttempt(NamedTuple):
    """An attempt without a reply."""

    key: str
    kind: str
    status: int | None
    message: str
    label: str


class MemoryStore:
    """A `ValueStore` in memory."""

    def __init__(self) -> None:
        self._values: dict[str, Value] = {}

    async def put(self, value: Value) -> str:
        """Store the value and return its id; equal values are stored once."""
        id = value_id(value)
        self._values.setdefault(id, value)
        return id

    async def get(self, type_: type[V], id: str) -> V:
        """Return the value with that id and type.

        Raises:
            StorageError: there is none.
        """
        value = self._values.get(id)
        if type(value) is not type_:
            raise StorageError(f"the store has no {type_.stored_name()} {id}.")
        return cast("V", value)


class MemoryLedger:
    """A `Ledger` in memory with the same rules."""

    def __init__(self) -> None:
        self._calls: dict[str, tuple[ModelCall, ModelReply, float | None, str]] = {}
        self.attempts: list[MemoryAttempt] = []

    async def get(self, key: str) -> CallResult | None:
        """Return the stored result, or None."""
        entry = self._calls.get(key)
        if entry is None:
            return None
        return CallResult(key=key, reply=entry[1], cost=entry[2], cached=True)

    async def commit(
        self,
        key: str,
        call: ModelCall,
        reply: ModelReply,
        *,
        cost: float | None,
        label: str,
        latency: float | None = None,
    ) -> None:
        """Store the reply; an existing entry is unchanged."""
        self._calls.setdefault(key, (call, reply, cost, label))

    async def attempt(
        self, key: str, call: ModelCall, *, kind: str, status: int | None, message: str, label: str
    ) -> None:
        """Record an attempt without a reply."""
        self.attempts.append(MemoryAttempt(key, kind, status, message, label))

    def calls_for(self, keys: Iterable[str]) -> dict[str, CallFigures]:
        """Return the usage of calls by key; unknown keys are left out."""
        calls = {key: self._calls[key] for key in keys if key in self._calls}
        return {
            key: CallFigures(reply.usage.input_tokens, reply.usage.output_tokens, cost, label, call.model.model)
            for key, (call, reply, cost, label) in calls.items()
        }

    def rebuild(self, key: str) -> tuple[ModelCall, ModelReply]:
        """Return a call and its reply.

        Raises:
            NotFound: the ledger has no such call.
        """
        if key not in self._calls:
            raise NotFound(f"the ledger has no call {key}.")
        call, reply, _, _ = self._calls[key]
        return call, reply
