"""One request of a call, sent once: a reply with a usable envelope, or a failure without a key in it, and nothing else."""

import asyncio
from typing import Protocol

from dokimasia.domain.call import ModelCall, ModelReply, ModelSpec
from dokimasia.domain.ports import BlobStore, Transport
from dokimasia.errors import DokimasiaError, TransportError
from dokimasia.gateway.allowance import Listener, listening
from dokimasia.gateway.envelope import Redact, check_envelope, clean_reply, shorten
from dokimasia.gateway.limiter import Report
from dokimasia.gateway.reported import storable


class ModelAccess(Protocol):
    """How a model is reached."""

    @property
    def spec(self) -> ModelSpec: ...
    @property
    def transport(self) -> Transport: ...
    @property
    def api_key(self) -> str | None: ...
    @property
    def heard(self) -> Listener:
        """Told the headers of what comes back."""
        ...


async def send_once(
    call: ModelCall, way: ModelAccess, *, blobs: BlobStore, clean: Redact
) -> ModelReply | TransportError:
    """Send the call once and return what came of it, cleaned by `clean` of every key.

    Whatever a transport raises that nobody expected is this call's failure, of the kind `unknown`, and no other's.

    Raises:
        DokimasiaError: what is wrong is ours to keep and not the endpoint's, such as an image that is not stored.
    """
    failure: TransportError | None = None
    try:
        with listening(way.heard):
            async with asyncio.timeout(way.spec.timeout):
                reply = await way.transport.send(call, way.spec, api_key=way.api_key, blobs=blobs)
        failure = check_envelope(call, reply)
        if failure is None:
            return clean_reply(reply, clean)
    except TransportError as error:
        failure = error
    except TimeoutError:
        failure = TransportError("timeout", f"no reply within {way.spec.timeout:g} s", retryable=True)
    except DokimasiaError:
        raise
    except Exception as error:  # a transport's bug, or a reply that it was not made for
        said = f"the transport failed in an unforeseen way: {type(error).__name__}: {storable(error)}"
        failure = TransportError("unknown", said, retryable=True)
    # A new error, made outside the handlers: it carries neither a cause nor a traceback that could hold a key.
    # It is cleaned before it is shortened: a cut must not leave half a key that no rule recognises.
    return TransportError(
        failure.kind,
        shorten(clean(storable(failure))),
        retryable=failure.retryable,
        status=failure.status,
        retry_after=failure.retry_after,
    )


def report_of(result: ModelReply | TransportError) -> Report:
    """Return what the limiter is told of a request's outcome."""
    if not isinstance(result, TransportError):
        return "ok"
    return "limited" if result.kind == "rate_limit" and result.retryable else "failed"
