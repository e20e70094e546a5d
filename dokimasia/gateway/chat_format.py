"""A chat call in the OpenAI chat-completions format, as plain data that both transports send."""

import re
from collections.abc import Mapping
from typing import Any

from pydantic import JsonValue

from dokimasia.domain.call import Chat, Message, ModelSpec

NOT_EXTRA = frozenset(
    ("model", "messages", "stream", "api_base", "api_key", "timeout", "num_retries", "max_retries", "drop_params")
)
"""Names that `Sampling.extra` cannot set: what the call says already, and what the gateway owns."""


def chat_messages(messages: tuple[Message, ...], image_urls: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the messages as plain data, parts in order.

    Args:
        messages: what is said.
        image_urls: what stands for the `image_url` part of every image in the messages, by the image's hash.
    """
    return [_message(message, image_urls) for message in messages]


def chat_fields(call: Chat, spec: ModelSpec) -> dict[str, Any]:
    """Return the request's fields beside model and messages: sampling, the repeat index as `seed`, schema and tools.

    The schema goes along where the model's configuration says that its endpoint takes one. What the call says itself
    wins over `Sampling.extra`.
    """
    sampling = call.sampling
    chosen = {
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "max_tokens": sampling.max_tokens,
        "reasoning_effort": sampling.reasoning_effort,
    }
    fields: dict[str, Any] = {name: value for name, value in sampling.extra.items() if name not in NOT_EXTRA}
    fields |= {name: value for name, value in chosen.items() if value is not None}
    fields["seed"] = call.repeat
    if call.output_schema is not None and "json_schema" in spec.capabilities:
        fields["response_format"] = response_format(call.output_schema)
    if call.tools:
        fields["tools"] = [{"type": "function", "function": tool.model_dump(mode="json")} for tool in call.tools]
    return fields


def response_format(schema: dict[str, JsonValue]) -> dict[str, Any]:
    """Return the `response_format` of a JSON schema; strict where the schema is closed as strict mode demands."""
    name = re.sub(r"[^A-Za-z0-9_-]+", "_", str(schema.get("title") or "reply"))[:64]
    return {"type": "json_schema", "json_schema": {"name": name, "schema": schema, "strict": _is_closed(schema)}}


def _message(message: Message, image_urls: Mapping[str, Any]) -> dict[str, Any]:
    written: dict[str, Any] = {"role": message.role, "content": _content(message, image_urls)}
    if message.tool_call_id is not None:
        written["tool_call_id"] = message.tool_call_id
    if message.tool_calls:
        written["content"] = written["content"] or None
        written["tool_calls"] = [
            {"id": tool.id, "type": "function", "function": {"name": tool.name, "arguments": tool.arguments}}
            for tool in message.tool_calls
        ]
    return written


def _content(message: Message, image_urls: Mapping[str, Any]) -> str | list[Any]:
    if not message.images:
        return message.text
    return [
        image_urls[part.sha256] if part.kind == "image" else {"type": "text", "text": part.text}
        for part in message.parts
    ]


def _is_closed(schema: JsonValue) -> bool:
    """Whether every object in the schema requires all of its properties and allows no others."""
    if isinstance(schema, list):
        return all(_is_closed(item) for item in schema)
    if not isinstance(schema, dict):
        return True
    if schema.get("type") == "object" or "properties" in schema:
        properties, required = schema.get("properties"), schema.get("required")
        if not isinstance(properties, dict) or not isinstance(required, list):
            return False
        if schema.get("additionalProperties") is not False or set(properties) != {str(name) for name in required}:
            return False
    return all(_is_closed(value) for value in schema.values())
