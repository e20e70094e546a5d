"""LiteLLM's reply objects as domain values, with what it glosses over put right."""

from typing import Any

from dokimasia.domain.call import ChatReply, EmbeddingReply, FinishReason, ToolCall, Usage
from dokimasia.gateway.failures import broken
from dokimasia.gateway.image_edits import EditedImage, sent_image
from dokimasia.gateway.reported import NATIVE_STOPS, embedding_of, finish_of, storable, usage_of, version_of


def chat_reply(response: Any, asked: str) -> ChatReply:
    """Return a chat completion as a reply; `asked` is the name that the model was asked for by.

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
    tools: Any = getattr(message, "tool_calls", None) or ()
    usage = read_usage(response)
    if usage.output_tokens == 0 and (content or tools):  # not reported: a reply that says something has tokens
        usage = usage.model_copy(update={"output_tokens": None})
    return ChatReply(
        text=storable(content),
        finish_reason=finish_reason,
        native_finish_reason=None if native is None else storable(native),
        refusal=_refusal(message),
        tool_calls=tuple(_tool_call(tool) for tool in tools),
        usage=usage,
        version=version_of(getattr(response, "model", None), asked),
    )


def embedding_reply(response: Any) -> EmbeddingReply:
    """Return an embedding response as a reply, its vectors in the order of the texts.

    Raises:
        TransportError: `broken_envelope`.
    """
    items: Any = getattr(response, "data", None) or ()
    return embedding_of(((item.get("index"), item["embedding"]) for item in items), read_usage(response))


def edited_image(response: Any) -> EditedImage:
    """Return the image of an edit.

    Raises:
        TransportError: `broken_envelope`, or `unsupported` where there is but an address.
    """
    return sent_image(response.model_dump())


def read_usage(response: Any) -> Usage:
    """Return the tokens that the provider reported; LiteLLM reports missing ones as 0."""
    usage = getattr(response, "usage", None)
    return usage_of(getattr(usage, "prompt_tokens", None), getattr(usage, "completion_tokens", None))


def _finish(choice: Any) -> tuple[FinishReason, str | None]:
    mapped, _ = finish_of(getattr(choice, "finish_reason", None))
    fields = getattr(choice, "provider_specific_fields", None)
    native = fields.get("native_finish_reason") if isinstance(fields, dict) else None
    if native is None:
        return mapped, None
    if mapped == "stop" and str(native) not in NATIVE_STOPS:
        return "unknown", str(native)
    return mapped, str(native)


def _refusal(message: Any) -> str | None:
    refusal = getattr(message, "refusal", None)
    if not refusal:
        fields = getattr(message, "provider_specific_fields", None)
        refusal = fields.get("refusal") if isinstance(fields, dict) else None
    return storable(refusal) if isinstance(refusal, str) and refusal else None


def _tool_call(tool: Any) -> ToolCall:
    function = getattr(tool, "function", None)
    return ToolCall(
        id=storable(getattr(tool, "id", None)),
        name=storable(getattr(function, "name", None)),
        arguments=storable(getattr(function, "arguments", None)),
    )
