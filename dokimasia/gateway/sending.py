"""Sends one request of a call, once: returns a checked reply or a failure, both free of keys."""

import asyncio
from collections.abc import Callable, Iterable
from typing import Protocol, TypeVar

from dokimasia.domain.call import (
    MOST_TOKENS,
    ChatReply,
    Embedding,
    EmbeddingReply,
    ImageEditReply,
    ModelCall,
    ModelReply,
    ModelSpec,
)
from dokimasia.domain.identity import Value
from dokimasia.domain.ports import BlobStore, Transport
from dokimasia.errors import DokimasiaError, TransportError
from dokimasia.gateway.limiter import Report
from dokimasia.gateway.openai_format import storable
from dokimasia.gateway.rate_limit_headers import HeaderListener, listening_for_headers
from dokimasia.log import RespelledSecrets, forms_of

V = TypeVar("V", bound=Value)
Redact = Callable[[str], str]

SHORTEST_KEY = 8
"""The length below which a key (`none`, `EMPTY`) is an ordinary word and is not removed."""

MESSAGE_LENGTH = 400
"""The maximum number of characters of an error's message."""


def redactor(keys: Iterable[str], redact: Redact) -> Redact:
    """Return a function that replaces every given key in a text, in any of its forms, and then applies `redact`."""
    keys = list(keys)
    secrets = {form for key in keys if len(key) >= SHORTEST_KEY for form in forms_of(key)}
    respelled = RespelledSecrets(keys)
    forms = sorted(secrets, key=lambda form: (-len(form), form))

    def clean(text: str) -> str:
        for form in forms:
            text = text.replace(form, "[key]")
        return redact(respelled.replaced(text, "[key]"))

    return clean


def shorten(text: str) -> str:
    """Return an error's message on one line, cut with an ellipsis to at most `MESSAGE_LENGTH` characters."""
    line = " ".join(text[: 4 * MESSAGE_LENGTH].split())
    if len(line) <= MESSAGE_LENGTH:
        return line
    return line[: MESSAGE_LENGTH - 1] + "…"


def clean_reply(reply: ModelReply, clean: Redact) -> ModelReply:
    """Return the reply with keys removed from the endpoint's texts; the same object if nothing changes."""
    if isinstance(reply, ImageEditReply):
        return _cleaned(reply, clean, "refusal")
    if not isinstance(reply, ChatReply):
        return reply
    tools = tuple(_cleaned(tool, clean, "id", "name", "arguments") for tool in reply.tool_calls)
    cleaned = _cleaned(reply, clean, "text", "refusal", "native_finish_reason", "version")
    if tools == reply.tool_calls:
        return cleaned
    return cleaned.model_copy(update={"tool_calls": tools})


def _cleaned(value: V, clean: Redact, *names: str) -> V:
    texts = {name: text for name in names if (text := getattr(value, name)) is not None}
    changed = {name: cleaned for name, text in texts.items() if (cleaned := clean(text)) != text}
    if changed:
        return value.model_copy(update=changed)
    return value


def check_envelope(call: ModelCall, reply: ModelReply) -> TransportError | None:
    """Return the fault of a reply's envelope, or None: its kind, its usage, the number and lengths of its vectors."""
    if reply.kind != call.kind:
        return _broken(f"a reply of kind {reply.kind} to a call of kind {call.kind}")
    if max(reply.usage.input_tokens or 0, reply.usage.output_tokens or 0) > MOST_TOKENS:
        return _broken(f"a usage of more than {MOST_TOKENS} tokens")
    if isinstance(call, Embedding) and isinstance(reply, EmbeddingReply):
        if len(reply.vectors) != len(call.texts):
            return _broken(f"{len(reply.vectors)} vectors for {len(call.texts)} texts")
        if len({len(vector) for vector in reply.vectors}) != 1 or not reply.vectors[0]:
            return _broken("vectors that are empty or of different lengths")
    return None


def _broken(problem: str) -> TransportError:
    return TransportError("broken_envelope", f"the endpoint returned {problem}", retryable=True)


class ModelAccess(Protocol):
    """The properties of a model that sending a call needs."""

    @property
    def spec(self) -> ModelSpec: ...
    @property
    def transport(self) -> Transport: ...
    @property
    def api_key(self) -> str | None: ...
    @property
    def on_headers(self) -> HeaderListener:
        """Called with the headers of each reply."""
        ...


async def send_once(
    call: ModelCall, way: ModelAccess, *, blobs: BlobStore, clean: Redact
) -> ModelReply | TransportError:
    """Send the call once and return the reply or the failure, with every key removed by `clean`.

    An unexpected exception of a transport becomes this call's failure, of the kind `unknown`.

    Raises:
        DokimasiaError: the fault is this package's, e.g. a missing image.
    """
    failure: TransportError | None = None
    try:
        with listening_for_headers(way.on_headers):
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
    except Exception as error:  # a transport's bug, or an unexpected reply
        message = f"the transport failed in an unforeseen way: {type(error).__name__}: {storable(error)}"
        failure = TransportError("unknown", message, retryable=True)
    # A new error, created outside the handlers, has neither a cause nor a traceback that could contain a key.
    # It is cleaned before it is shortened, since a cut could leave half a key that no rule recognises.
    return TransportError(
        failure.kind,
        shorten(clean(storable(failure))),
        retryable=failure.retryable,
        status=failure.status,
        retry_after=failure.retry_after,
    )


def report_of(result: ModelReply | TransportError) -> Report:
    """Return the limiter's report of a request's outcome."""
    if not isinstance(result, TransportError):
        return "ok"
    if result.kind == "rate_limit" and result.retryable:
        return "limited"
    return "failed"
