"""Ports: protocols through which rooms use each other without importing each other."""

from concurrent.futures import Future
from typing import NamedTuple, Protocol, TypeVar

from dokimasia.domain.call import CallResult, Chat, ModelCall, ModelReply, ModelSpec
from dokimasia.domain.identity import Value
from dokimasia.domain.question import Aid
from dokimasia.domain.sample import ImageRef

V = TypeVar("V", bound=Value)


class BlobStore(Protocol):
    """Image bytes by content hash."""

    def put_image(self, data: bytes, ref: ImageRef) -> None:
        """Store the bytes under `ref.sha256`; storing the same bytes again changes nothing."""
        ...

    def get(self, sha256: str) -> bytes:
        """Return the bytes.

        Raises:
            StorageError: the blob is missing or its bytes no longer have that hash.
        """
        ...


class Reducer(Protocol):
    """Reduces images, each once per side length."""

    async def __call__(self, image: ImageRef, side: int) -> ImageRef:
        """Return the image reduced to a longer side of that many pixels; it is stored among the blobs.

        Raises:
            ToolFailure: the image cannot be read.
            StorageError: the image is not among the blobs, or the reduced image cannot be stored.
        """
        ...


class ImageReader(Protocol):
    """Reads an image's bytes, after checking that they are a complete image of an allowed format and size."""

    def __call__(self, data: bytes, where: str) -> ImageRef:
        """Return the image's reference.

        Raises:
            DataError: the bytes are not such an image; the message begins with `where`.
        """
        ...


class Transport(Protocol):
    """A way to reach a model: sends one request, once, and never retries."""

    async def send(self, call: ModelCall, spec: ModelSpec, *, api_key: str | None, blobs: BlobStore) -> ModelReply:
        """Send the call and return its reply after reading the envelope.

        Raises:
            TransportError: no usable envelope; it has a `kind`, whether a retry can help, and the wait the endpoint
                requested.
        """
        ...

    async def aclose(self) -> None:
        """Close all connections; the transport is not used again."""
        ...


class Ledger(Protocol):
    """Completed calls by key: each was paid for once and is never sent again."""

    async def get(self, key: str) -> CallResult | None:
        """Return the committed answer (with `cached=True`), or None."""
        ...

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
        """Store the reply, durably on return. An existing entry is unchanged.

        `latency` is the seconds from the request that brought the reply to that reply (None: unknown).
        """
        ...

    async def attempt(
        self, key: str, call: ModelCall, *, kind: str, status: int | None, message: str, label: str
    ) -> None:
        """Record an attempt without a reply; it is never served."""
        ...


class Spending(NamedTuple):
    """Requests sent, tokens, and cost in US dollars; unreported usage counts at its estimate.

    `cut_off` counts the requests, of `calls`, that ended without a reply or an error, as at a kill, or are still in flight.
    """

    calls: int = 0
    tokens: int = 0
    cost: float = 0.0
    cut_off: int = 0


class SpendingRecorder(Protocol):
    """Stores the spending of a run."""

    def __call__(self, spending: Spending) -> Future[None]:
        """Queue the amount to be stored; the future is done once it is durable.

        Raises:
            StorageError: nothing can be stored any longer.
        """
        ...


class People(Protocol):
    """Stores questions to people until they are answered."""

    async def ask(self, key: str, call: Chat, *, label: str, aid: Aid) -> CallResult | None:
        """Return the person's reply after storing it in the ledger; without a reply store the question durably and
        return None."""
        ...


class Gateway(Protocol):
    """Access to models."""

    async def ask(self, call: ModelCall, *, label: str = "", aid: Aid | None = None) -> CallResult:
        """Return the reply to a call, from the ledger if cached; `label` names the calling agent.

        `aid` accompanies only calls to people.

        Raises:
            CallFailed: no reply was obtained (`api_error`, `context_overflow`), the budget does not allow the call
                (`budget`), or a person has not answered yet (`waiting`).
        """
        ...


class ValueStore(Protocol):
    """Domain values by content id."""

    async def put(self, value: Value) -> str:
        """Store the value and return its id (`value_id`); equal values are stored once."""
        ...

    async def get(self, type_: type[V], id: str) -> V:
        """Return the value with that id and type.

        Raises:
            StorageError: there is no such value.
        """
        ...
