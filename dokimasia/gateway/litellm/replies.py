"""LiteLLM's reply objects as domain values, with what it glosses over put right."""

from typing import Any

from dokimasia.domain.call import ChatReply, EmbeddingReply, FinishReason, ToolCall, Usage
from dokimasia.errors import TransportError

_FINISH_REASONS: dict[str, FinishReason] = {
    "stop": "stop",
    "length": "length",
    "content_filter": "content_filter",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
}

_NATIVE_STOPS = frozenset(("stop", "STOP", "stop_sequence", "end_turn", "eos", "eos_token", "COMPLETE"))
"""The endpoints' own words for a reply that ended by itself. LiteLLM also calls errors and unknown words `stop`."""


def chat_reply(response: Any) -> ChatReply:
    """Return a chat completion as a reply.

    Raises:
        TransportError: `empty_choices` or `broken_envelope`.
    """
    choices = getattr(response, "choices", None)
    if not choices:
        raise TransportError("empty_choices", "the endpoint returned no choices", retryable=True)
    choice = choices[0]
    message = getattr(choice, "message", None)
    content = getattr(message, "content", None)
    if message is None or not (content is None or isinstance(content, str)):
        raise TransportError("broken_envelope", "the endpoint returned a choice without a message", retryable=True)
    finish_reason, native = _finish(choice)
    tools: Any = getattr(message, "tool_calls", None) or ()
    return ChatReply(
        text=_text(content),
        finish_reason=finish_reason,
        native_finish_reason=None if native is None else _text(native),
        refusal=_refusal(message),
        tool_calls=tuple(_tool_call(tool) for tool in tools),
        usage=read_usage(getattr(response, "usage", None)),
    )


def embedding_reply(response: Any) -> EmbeddingReply:
    """Return an embedding response as a reply, its vectors in the order of the texts.

    Raises:
        TransportError: `broken_envelope`.
    """
    vectors: dict[int, tuple[float, ...]] = {}
    try:
        items: Any = response.data or ()
        for position, item in enumerate(items):
            index = item["index"]
            vectors[position if index is None else int(index)] = tuple(float(number) for number in item["embedding"])
    except (KeyError, TypeError, ValueError, AttributeError):
        vectors.clear()
    if not vectors or sorted(vectors) != list(range(len(vectors))):
        raise TransportError("broken_envelope", "the endpoint returned no readable vectors", retryable=True)
    usage = read_usage(getattr(response, "usage", None))
    # An embedding has no output tokens, so the input alone makes its usage known.
    return EmbeddingReply(
        vectors=tuple(vectors[index] for index in sorted(vectors)),
        usage=usage.model_copy(update={"output_tokens": 0}) if usage.input_tokens is not None else Usage(),
    )


def read_usage(usage: Any) -> Usage:
    """Return the tokens that the provider reported. No prompt has 0 tokens: LiteLLM's 0 there means *not reported*."""
    into, out = _count(getattr(usage, "prompt_tokens", None)), _count(getattr(usage, "completion_tokens", None))
    if not into:
        return Usage(output_tokens=out or None)
    return Usage(input_tokens=into, output_tokens=out)


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _finish(choice: Any) -> tuple[FinishReason, str | None]:
    mapped = _FINISH_REASONS.get(str(getattr(choice, "finish_reason", None)), "unknown")
    fields = getattr(choice, "provider_specific_fields", None)
    native = fields.get("native_finish_reason") if isinstance(fields, dict) else None
    if native is None:
        return mapped, None
    if mapped == "stop" and str(native) not in _NATIVE_STOPS:
        return "unknown", str(native)
    return mapped, str(native)


def _refusal(message: Any) -> str | None:
    refusal = getattr(message, "refusal", None)
    if not refusal:
        fields = getattr(message, "provider_specific_fields", None)
        refusal = fields.get("refusal") if isinstance(fields, dict) else None
    return _text(refusal) if isinstance(refusal, str) and refusal else None


def _tool_call(tool: Any) -> ToolCall:
    function = getattr(tool, "function", None)
    return ToolCall(
        id=_text(getattr(tool, "id", None)),
        name=_text(getattr(function, "name", None)),
        arguments=_text(getattr(function, "arguments", None)),
    )


def _text(value: object) -> str:
    """Return text that can be stored: half a surrogate pair, which no UTF-8 can hold, becomes a replacement mark."""
    text = str(value or "")
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
