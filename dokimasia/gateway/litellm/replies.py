"""Replies as returned by LiteLLM, and as received below it."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

from pydantic import BaseModel

from dokimasia.domain.call import (
    Chat,
    ChatReply,
    Embedding,
    EmbeddingReply,
    FinishReason,
    ImageEdit,
    ModelCall,
    ModelReply,
    ToolCall,
    Usage,
)
from dokimasia.domain.identity import JsonObject
from dokimasia.errors import TransportError
from dokimasia.gateway.direct.codec import (
    body_error,
    chat_reply,
    embedding_reply,
    inner_error,
    read_object,
    read_refusal,
    status_error,
)
from dokimasia.gateway.failures import MAX_REPLY_BYTES, broken, too_long
from dokimasia.gateway.openai_format import (
    NATIVE_STOPS,
    ImageReply,
    embedding_of,
    finish_of,
    sent_image,
    storable,
    usage_of,
    version_of,
)


class Received(NamedTuple):
    """A response as received: the body is decoded, and None if it was too long."""

    status: int
    headers: Mapping[str, str]
    body: bytes | None
    url: str


class ReceivedResponses:
    """The responses to one call, of which the last counts, read as by the direct transport.

    Attributes:
        last: the last response.
        outcome: its outcome, with an edited image as its bytes; None if only LiteLLM can determine it: an error that
            LiteLLM classifies, a provider's own format, or the result of a change made by LiteLLM (a tool in place of a
            schema).
    """

    def __init__(self, call: ModelCall, *, api_key: str | None) -> None:
        """Read the responses to the call; the key is removed from every message."""
        self._call = call
        self._api_key = api_key
        self.last: Received | None = None
        self.outcome: ModelReply | ImageReply | TransportError | None = None

    def take(self, received: Received) -> bool:
        """Accept a response; return whether its outcome is known, so that its body is no longer needed."""
        self.last = received
        try:
            self.outcome = self._read(received)
        except TransportError as failure:
            self.outcome = failure
        return self.outcome is not None

    def unreadable(self) -> TransportError | None:
        """Return the outcome of the last response if it is not a JSON object and LiteLLM could not read it either."""
        if self.last is None or self.last.body is None or not 200 <= self.last.status < 300:
            return None
        if read_object(self.last.body) is not None:
            return None
        return body_error(self.last.status, self.last.body, api_key=self._api_key)

    def _read(self, received: Received) -> ModelReply | ImageReply | None:
        status, headers, body, url = received
        if body is None:
            raise too_long(MAX_REPLY_BYTES, status)
        edits = isinstance(self._call, ImageEdit)
        if edits and (refused := read_refusal(status, body, self._api_key)) is not None:
            return refused
        if 300 <= status < 400:
            raise status_error(status, headers, body, url=url, api_key=self._api_key)
        data = read_object(body) if 200 <= status < 300 else None
        if data is None:
            return None
        if error := data.get("error"):
            raise inner_error(error, status, headers, body, api_key=self._api_key)
        if edits:
            if "data" in data:
                return sent_image(data)
            return None
        if isinstance(self._call, Embedding):
            if _holds_vectors(data):
                return embedding_reply(data)
            return None
        if "choices" not in data or _is_completion_of_text(data.get("choices")):
            return None
        reply = chat_reply(data, self._call.model.model)
        if reply.tool_calls and isinstance(self._call, Chat) and not self._call.tools:
            return None
        return reply


_reading: ContextVar[ReceivedResponses | None] = ContextVar("dokimasia_litellm_reading", default=None)


@contextmanager
def reading(responses: ReceivedResponses) -> Iterator[None]:
    """Make it accept the responses to requests sent within the block."""
    token = _reading.set(responses)
    try:
        yield
    finally:
        _reading.reset(token)


def take(received: Received) -> bool:
    """Pass a response to the reader of this call; called by the client. Return whether its outcome is known."""
    responses = _reading.get()
    return responses is not None and responses.take(received)


def take_failure(failure: TransportError) -> bool:
    """Pass a failure to get any response to the reader of this call; return whether there is a reader."""
    responses = _reading.get()
    if responses is not None:
        responses.last, responses.outcome = None, failure
    return responses is not None


def _holds_vectors(data: JsonObject) -> bool:
    items = data.get("data")
    return isinstance(items, list) and all(isinstance(item, dict) and "embedding" in item for item in items)


def _is_completion_of_text(choices: object) -> bool:
    """Return whether these are choices of the older format, with a text in place of a message."""
    first = choices[0] if isinstance(choices, list) and choices else None
    return isinstance(first, dict) and "message" not in first and isinstance(first.get("text"), str)


def chat_reply_of(response: object, requested: str) -> ChatReply:
    """Return a chat completion as a reply; `requested` is the model name in the request.

    Raises:
        TransportError: `empty_choices` or `broken_envelope`.
    """
    choices = getattr(response, "choices", None)
    if not choices:
        raise broken("empty_choices")
    choice = choices[0]
    message = getattr(choice, "message", None)
    content = getattr(message, "content", None)
    if message is None or not (content is None or isinstance(content, str)):
        raise broken()
    finish_reason, native = _finish(choice)
    tools = getattr(message, "tool_calls", None) or ()
    usage = read_usage(response)
    if usage.output_tokens == 0 and (content or tools):  # not reported: a reply with content has tokens
        usage = usage.model_copy(update={"output_tokens": None})
    return ChatReply(
        text=storable(content),
        finish_reason=finish_reason,
        native_finish_reason=None if native is None else storable(native),
        refusal=_refusal(message),
        tool_calls=tuple(_tool_call(tool) for tool in tools),
        usage=usage,
        version=version_of(getattr(response, "model", None), requested),
    )


def embedding_reply_of(response: object) -> EmbeddingReply:
    """Return an embedding response as a reply, its vectors in the order of the texts.

    Raises:
        TransportError: `broken_envelope`.
    """
    items = getattr(response, "data", None) or ()
    return embedding_of(((item.get("index"), item["embedding"]) for item in items), read_usage(response))


def edited_image(response: Any) -> ImageReply:
    """Return the edited or generated image.

    Raises:
        TransportError: `broken_envelope`, or `unsupported` if there is only an address.
    """
    return sent_image(response.model_dump())


def read_usage(response: object) -> Usage:
    """Return the tokens that the provider reported; LiteLLM reports missing ones as 0."""
    usage = getattr(response, "usage", None)
    reported = usage.model_dump() if isinstance(usage, BaseModel) else {}
    return usage_of(getattr(usage, "prompt_tokens", None), getattr(usage, "completion_tokens", None), reported)


def _finish(choice: object) -> tuple[FinishReason, str | None]:
    mapped, _ = finish_of(getattr(choice, "finish_reason", None))
    fields = getattr(choice, "provider_specific_fields", None)
    native = fields.get("native_finish_reason") if isinstance(fields, dict) else None
    if native is None:
        return mapped, None
    if mapped == "stop" and str(native) not in NATIVE_STOPS:
        return "unknown", str(native)
    return mapped, str(native)


def _refusal(message: object) -> str | None:
    refusal = getattr(message, "refusal", None)
    if not refusal:
        fields = getattr(message, "provider_specific_fields", None)
        refusal = fields.get("refusal") if isinstance(fields, dict) else None
    if isinstance(refusal, str) and refusal:
        return storable(refusal)
    return None


def _tool_call(tool: object) -> ToolCall:
    function = getattr(tool, "function", None)
    return ToolCall(
        id=storable(getattr(tool, "id", None)),
        name=storable(getattr(function, "name", None)),
        arguments=storable(getattr(function, "arguments", None)),
    )
