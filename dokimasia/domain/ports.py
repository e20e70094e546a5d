"""The seams: what the rooms may expect of each other without importing each other."""

from typing import Protocol, TypeVar

from dokimasia.domain.call import CallResult, Chat, ModelCall, ModelReply, ModelSpec
from dokimasia.domain.identity import Value
from dokimasia.domain.question import Aid
from dokimasia.domain.sample import ImageRef

V = TypeVar("V", bound=Value)


class BlobStore(Protocol):
    """Image bytes by content."""

    def put_image(self, data: bytes, ref: ImageRef) -> None:
        """Keep the bytes under `ref.sha256`; putting the same bytes again changes nothing."""
        ...

    def get(self, sha256: str) -> bytes:
        """Return the bytes.

        Raises:
            StorageError: if the blob is missing or its bytes no longer have that hash.
        """
        ...


class Reducer(Protocol):
    """Makes images smaller, each once for every side."""

    async def __call__(self, image: ImageRef, side: int) -> ImageRef:
        """Return the image with a longer side of so many pixels, which lies among the blobs.

        Raises:
            ToolFailure: the image cannot be read.
            StorageError: it is not among the blobs, or what was made cannot be kept.
        """
        ...


class ImageReader(Protocol):
    """Says what an image's bytes are, once it is sure that they are a whole image of an allowed format and size."""

    def __call__(self, data: bytes, where: str) -> ImageRef:
        """Return the image's reference.

        Raises:
            DataError: the bytes are no such image; the message begins with `where`.
        """
        ...


class Transport(Protocol):
    """One way to reach a model: it sends one request once, and never retries."""

    async def send(self, call: ModelCall, spec: ModelSpec, *, api_key: str | None, blobs: BlobStore) -> ModelReply:
        """Send the call and return its reply once the envelope is read.

        Raises:
            TransportError: no usable envelope: its `kind`, whether a retry can help, and the wait the endpoint asked for.
        """
        ...

    async def aclose(self) -> None:
        """Close connections; the transport is not used again."""
        ...


class Ledger(Protocol):
    """Completed calls by key: what is in it was paid for once and is never asked again."""

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
        """Return once the reply is durable; a key that is already there stays as it is.

        `latency` is the seconds from the request that brought the reply to that reply (None: unknown).
        """
        ...

    async def attempt(
        self, key: str, call: ModelCall, *, kind: str, status: int | None, message: str, label: str
    ) -> None:
        """Record a try that brought no reply. Recorded, never served."""
        ...


class People(Protocol):
    """Where questions to people are kept until they are answered."""

    async def ask(self, key: str, call: Chat, *, label: str, aid: Aid) -> CallResult | None:
        """Return what the person has answered, once it is in the ledger; without an answer keep the question, durably,
        and return None."""
        ...


class Gateway(Protocol):
    """The one way to a model."""

    async def ask(self, call: ModelCall, *, label: str = "", aid: Aid | None = None) -> CallResult:
        """Return the call's answer, from the ledger where it has one; `label` says who asks (an agent's name).

        `aid` goes along with a call to a person, and with no other.

        Raises:
            CallFailed: no reply could be had (`api_error`, `context_overflow`), may be paid for (`budget`), or is there
                yet, since a person is asked (`waiting`).
        """
        ...


class RunStore(Protocol):
    """Domain values by content id."""

    async def put(self, value: Value) -> str:
        """Keep the value and return its id (`value_id`); the same value twice is one."""
        ...

    async def get(self, type_: type[V], id: str) -> V:
        """Return the value of that type.

        Raises:
            StorageError: if there is none.
        """
        ...
