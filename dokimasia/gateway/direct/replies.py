"""A response's bytes as a domain reply: strict where an envelope must be, lenient where endpoints are known to differ."""

import json
from typing import Any

import orjson

from dokimasia.domain.call import ChatReply, EmbeddingReply, ToolCall, Usage
from dokimasia.gateway.failures import broken
from dokimasia.gateway.reported import embedding_of, finish_of, storable, usage_of, version_of

_TEXT_PARTS = frozenset(("text", "output_text"))


def read_object(body: bytes) -> dict[str, Any] | None:
    """Return the JSON object that a body holds, or None if it holds none.

    What is not UTF-8, and half a surrogate pair (models write both), is read with replacement marks later on.
    """
    try:
        data: Any = orjson.loads(body)
    except orjson.JSONDecodeError:
        try:
            data = json.loads(body.decode("utf-8-sig", "replace"), parse_int=_whole)
        except (ValueError, RecursionError):
            return None
    return data if isinstance(data, dict) else None


def chat_reply(data: dict[str, Any], asked: str) -> ChatReply:
    """Return a chat completion as a reply; `asked` is the name that the model was asked for by.

    The content is a text, a list of parts of which the texts are joined, or null. An unknown or missing reason for its
    end is `unknown`; usage that is missing or makes no sense is unknown.

    Raises:
        TransportError: `empty_choices`, or `broken_envelope` if there is no message of this form.
    """
    choices = data.get("choices")
    if choices is None or choices == []:
        raise broken("empty_choices")
    choice = choices[0] if isinstance(choices, list) else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        raise broken()
    text, refusal = _content(message.get("content"))
    said = message.get("refusal")
    finish_reason, native = finish_of(choice.get("finish_reason"))
    tools = message.get("tool_calls") or ()
    if not isinstance(tools, list | tuple):
        raise broken()
    return ChatReply(
        text=storable(text),
        finish_reason=finish_reason,
        native_finish_reason=native,
        refusal=storable(said) if isinstance(said, str) and said else refusal,
        tool_calls=tuple(_tool_call(tool) for tool in tools),
        usage=_usage(data),
        version=version_of(data.get("model"), asked),
    )


def embedding_reply(data: dict[str, Any]) -> EmbeddingReply:
    """Return an embedding response as a reply, its vectors in the order of the texts.

    Raises:
        TransportError: `broken_envelope`.
    """
    items = data.get("data")
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise broken()
    return embedding_of(((item.get("index"), item.get("embedding")) for item in items), _usage(data))


def _whole(digits: str) -> int | None:
    """Return a whole number of JSON; None for one of more digits than Python reads, which counts nothing."""
    return int(digits) if len(digits) <= 4000 else None


def _content(content: Any) -> tuple[str, str | None]:
    """Return the text and the refusal that a message's content holds; parts of other kinds (thoughts) are left out."""
    if content is None or isinstance(content, str):
        return content or "", None
    if not isinstance(content, list):
        raise broken()
    texts: list[str] = []
    refusal: str | None = None
    for part in content:
        if isinstance(part, str):
            texts.append(part)
        elif not isinstance(part, dict):
            raise broken()
        elif part.get("type") in _TEXT_PARTS:
            texts.append(str(part.get("text") or ""))
        elif part.get("type") == "refusal":
            refusal = storable(part.get("refusal")) or None
    return "".join(texts), refusal


def _tool_call(tool: Any) -> ToolCall:
    function = tool.get("function") if isinstance(tool, dict) else None
    if not isinstance(function, dict):
        raise broken()
    arguments = function.get("arguments")
    if isinstance(arguments, dict | list):  # some servers hand on what they have parsed
        arguments = json.dumps(arguments, ensure_ascii=False)
    return ToolCall(
        id=storable(tool.get("id")), name=storable(function.get("name")), arguments=storable(arguments or "")
    )


def _usage(data: dict[str, Any]) -> Usage:
    usage = data.get("usage")
    if not isinstance(usage, dict):
        return Usage()
    return usage_of(usage.get("prompt_tokens"), usage.get("completion_tokens"))
