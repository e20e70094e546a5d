"""What an endpoint really answered to LiteLLM's request, and its own words read in place of LiteLLM's account of them."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

from dokimasia.domain.call import Chat, Embedding, ModelReply
from dokimasia.gateway.direct.errors import of_body, of_error_inside, of_status
from dokimasia.gateway.direct.replies import chat_reply, embedding_reply, read_object
from dokimasia.gateway.failures import MAX_REPLY_BYTES, too_long


class Received(NamedTuple):
    """A response as it came: the body is decoded, and None where it was too long."""

    status: int
    headers: Mapping[str, str]
    body: bytes | None
    url: str


_received: ContextVar[list[Received] | None] = ContextVar("dokimasia_litellm_received", default=None)


@contextmanager
def receiving() -> Iterator[list[Received]]:
    """Collect the responses to what is sent in here, whatever LiteLLM makes of them."""
    responses: list[Received] = []
    token = _received.set(responses)
    try:
        yield responses
    finally:
        _received.reset(token)


def note(response: Received) -> None:
    """Hand a response to whoever collects them; called by the client."""
    responses = _received.get()
    if responses is not None:
        responses.append(response)


def own_reading(received: Received, call: Chat | Embedding, *, api_key: str | None, failed: bool) -> ModelReply | None:
    """Return the reply that a response holds, read as the direct transport reads it.

    None where only LiteLLM can tell: the response is an error that it classifies, or of a provider's own form, or it holds
    what LiteLLM asked for by itself (a tool in place of a schema).

    Args:
        received: the last response to the call.
        call: what was asked.
        api_key: taken out of every message.
        failed: whether LiteLLM could not read the response.

    Raises:
        TransportError: as the direct transport does: too long, a redirect, an error inside, an envelope that is none.
    """
    status, headers, body, url = received
    if body is None:
        raise too_long(MAX_REPLY_BYTES, status)
    if 300 <= status < 400:
        raise of_status(status, headers, body, url=url, api_key=api_key)
    if not 200 <= status < 300:
        return None
    data = read_object(body)
    if data is None:
        if failed:
            raise of_body(status, body, api_key=api_key)
        return None
    if error := data.get("error"):
        raise of_error_inside(error, status, headers, body, api_key=api_key)
    if isinstance(call, Embedding):
        return embedding_reply(data) if _holds_vectors(data) else None
    if "choices" not in data or _is_completion_of_text(data["choices"]):
        return None
    reply = chat_reply(data)
    return None if reply.tool_calls and not call.tools else reply


def _holds_vectors(data: dict[str, Any]) -> bool:
    items = data.get("data")
    return isinstance(items, list) and all(isinstance(item, dict) and "embedding" in item for item in items)


def _is_completion_of_text(choices: Any) -> bool:
    """Whether these are choices of the older format, which have a text in place of a message."""
    first = choices[0] if isinstance(choices, list) and choices else None
    return isinstance(first, dict) and "message" not in first and isinstance(first.get("text"), str)
