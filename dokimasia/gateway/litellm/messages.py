"""A call's messages, images and schema in the OpenAI chat format that LiteLLM takes."""

import base64
import re
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from pydantic import JsonValue

from dokimasia.domain.call import Message
from dokimasia.domain.sample import ImageRef

DEFAULT_CACHE_BYTES = 64 * 1024 * 1024


class DataUris:
    """Images as data URIs, encoded once; those used longest ago leave when more than `max_bytes` are held."""

    def __init__(self, max_bytes: int = DEFAULT_CACHE_BYTES) -> None:
        self._max_bytes = max_bytes
        self._held = 0
        self._uris: OrderedDict[tuple[str, str], str] = OrderedDict()

    def get(self, image: ImageRef) -> str | None:
        """Return the image's URI if it is held."""
        uri = self._uris.get((image.sha256, image.media_type))
        if uri is not None:
            self._uris.move_to_end((image.sha256, image.media_type))
        return uri

    def put(self, image: ImageRef, uri: str) -> None:
        """Hold the image's URI; one larger than the whole cache is not held."""
        key = (image.sha256, image.media_type)
        if key in self._uris or len(uri) > self._max_bytes:
            return
        self._uris[key] = uri
        self._held += len(uri)
        while self._held > self._max_bytes:
            _, oldest = self._uris.popitem(last=False)
            self._held -= len(oldest)


def data_uri(data: bytes, media_type: str) -> str:
    """Return the bytes, unchanged, as a base64 data URI."""
    return f"data:{media_type};base64,{base64.b64encode(data).decode('ascii')}"


def chat_messages(messages: tuple[Message, ...], uris: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the messages as plain data, parts in order.

    Args:
        messages: what is said.
        uris: the data URI of every image in the messages, by its hash.
    """
    return [{"role": message.role, "content": _content(message, uris)} for message in messages]


def _content(message: Message, uris: Mapping[str, str]) -> str | list[dict[str, Any]]:
    if not message.images:
        return message.text
    return [
        {"type": "image_url", "image_url": {"url": uris[part.sha256]}}
        if part.kind == "image"
        else {"type": "text", "text": part.text}
        for part in message.parts
    ]


def response_format(schema: dict[str, JsonValue]) -> dict[str, Any]:
    """Return the `response_format` of a JSON schema; strict where the schema is closed as strict mode demands."""
    name = re.sub(r"[^A-Za-z0-9_-]+", "_", str(schema.get("title") or "reply"))[:64]
    return {"type": "json_schema", "json_schema": {"name": name, "schema": schema, "strict": _is_closed(schema)}}


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
