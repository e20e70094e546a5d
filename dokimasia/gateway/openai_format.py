"""The OpenAI format: chat messages, image edits, and the metadata that endpoints report with a reply."""

import asyncio
import base64
import binascii
import math
import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from pydantic import JsonValue

from dokimasia.domain.call import (
    MOST_TOKENS,
    Chat,
    EmbeddingReply,
    FinishReason,
    ImageEdit,
    ImageEditReply,
    Message,
    ModelSpec,
    Usage,
)
from dokimasia.domain.identity import JsonObject
from dokimasia.domain.ports import BlobStore, ImageReader
from dokimasia.errors import DataError, TransportError
from dokimasia.gateway.failures import LONGEST_MESSAGE, LONGEST_SAID, broken, cut, scrub

_OWN_WORDS: dict[str, FinishReason] = {
    "stop": "stop",
    "length": "length",
    "content_filter": "content_filter",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
}
"""The format's own finish reasons."""

_OTHER_WORDS: dict[str, FinishReason] = {
    **dict.fromkeys(("STOP", "stop_sequence", "end_turn", "eos", "eos_token", "COMPLETE"), "stop"),
    **dict.fromkeys(("max_tokens", "MAX_TOKENS", "max_output_tokens", "model_context_window_exceeded"), "length"),
    **dict.fromkeys(("content_filtered", "SAFETY", "RECITATION", "refusal", "guardrail_intervened"), "content_filter"),
    "tool_use": "tool_calls",
}
"""Finish reasons of other formats that some endpoints return."""

LONGEST_WORD = 100
"""The maximum number of characters of an endpoint's own finish reason."""

LONGEST_NAME = 200
"""The maximum number of characters of an endpoint's name for a model."""

NATIVE_STOPS = frozenset(word for word, reason in (_OWN_WORDS | _OTHER_WORDS).items() if reason == "stop")


def finish_of(word: object) -> tuple[FinishReason, str | None]:
    """Return the finish reason, and the endpoint's own word if it is not one of the format's.

    An unknown or missing word is `unknown`.
    """
    if word is None:
        return "unknown", None
    text = storable(word)[:LONGEST_WORD]
    if text in _OWN_WORDS:
        return _OWN_WORDS[text], None
    return _OTHER_WORDS.get(text, "unknown"), text


def version_of(name: object, requested: str) -> str | None:
    """Return the endpoint's name for the model that replied; None if it is missing, or repeats the requested name.

    LiteLLM repeats it if the endpoint does not report one.
    """
    text = storable(name)[:LONGEST_NAME] if isinstance(name, str) else ""
    if text and not f"/{requested}".endswith(f"/{text}"):
        return text
    return None


_DETAILS = ("prompt_tokens_details", "input_tokens_details")
_READ = ("cached_tokens", "cache_read_input_tokens", "cached_content_token_count", "prompt_cache_hit_tokens")
_WRITTEN = ("cache_creation_input_tokens", "cache_creation_tokens", "cache_write_tokens")
"""Names used by providers for input read from their prompt cache, or written to it."""


def usage_of(prompt_tokens: object, completion_tokens: object, reported: Mapping[str, object] | None = None) -> Usage:
    """Return the reported tokens, up to `MOST_TOKENS`. No prompt has 0 tokens, so a 0 there means *not reported*.

    Args:
        prompt_tokens: the input, including tokens from a prompt cache.
        completion_tokens: the output.
        reported: the whole report, with providers' counts of cached input.
    """
    into, out = _count(prompt_tokens), _count(completion_tokens)
    if not into:
        return Usage(output_tokens=out or None)
    details = [reported] if reported else []
    details += [detail for name in _DETAILS if reported and isinstance(detail := reported.get(name), Mapping)]
    read, written = _largest(details, _READ), _largest(details, _WRITTEN)
    of_cache = (read or 0) + (written or 0)
    if of_cache > into:  # counted separately
        into += of_cache
    return Usage(input_tokens=into, output_tokens=out, cached_tokens=read, cache_write_tokens=written)


def _largest(reports: Iterable[Mapping[str, object]], names: Iterable[str]) -> int | None:
    """Return the largest count under any of these names, since a report may have 0 under names it does not use."""
    counts = [_count(report.get(name)) for report in reports for name in names]
    return max((count for count in counts if count is not None), default=None)


def embedding_of(items: Iterable[tuple[Any, Any]], usage: Usage) -> EmbeddingReply:
    """Return vectors as a reply in the order of the texts.

    Args:
        items: index (None: its position) and numbers of each vector.
        usage: the reported usage; an embedding has no output tokens, so the input alone makes it known.

    Raises:
        TransportError: `broken_envelope`: there are no vectors, or one is missing, duplicated or not numeric.
    """
    vectors: dict[int, tuple[float, ...]] = {}
    try:
        for position, (index, numbers) in enumerate(items):
            vectors[position if index is None else int(index)] = tuple(float(number) for number in numbers)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        vectors.clear()
    if not all(math.isfinite(number) for vector in vectors.values() for number in vector):
        vectors.clear()
    if not vectors or sorted(vectors) != list(range(len(vectors))):
        message = "the endpoint returned no readable vectors"
        raise TransportError("broken_envelope", message, retryable=True, status=200)
    return EmbeddingReply(
        vectors=tuple(vectors[index] for index in sorted(vectors)),
        usage=usage.model_copy(update={"output_tokens": 0}) if usage.input_tokens is not None else Usage(),
    )


def storable(value: object) -> str:
    """Return text that can be stored: lone surrogates, which UTF-8 cannot encode, become replacement characters."""
    try:
        text = str(value or "")
    except (ValueError, RecursionError):  # a number with thousands of digits, nested lists
        return "\ufffd"
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _count(value: object) -> int | None:
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    if 0 <= value <= MOST_TOKENS:
        return value
    return None


NOT_EXTRA = frozenset(
    ("model", "messages", "stream", "api_base", "api_key", "timeout", "num_retries", "max_retries", "drop_params")
)
"""Names that `Sampling.extra` cannot set, since the call sets them already or the gateway controls them."""


def chat_messages(messages: tuple[Message, ...], image_urls: Mapping[str, object]) -> list[JsonObject]:
    """Return the messages as plain data, parts in order.

    Args:
        messages: the messages.
        image_urls: the `image_url` part of every image in the messages, by the image's hash.
    """
    return [_message(message, image_urls) for message in messages]


def chat_fields(call: Chat, spec: ModelSpec) -> JsonObject:
    """Return the request's fields other than model and messages: sampling, the repeat index as `seed`, schema and
    tools.

    The schema is sent if the model's configuration states that its endpoint accepts one. Settings of the call take
    precedence over `Sampling.extra`.
    """
    sampling = call.sampling
    chosen = {
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "max_tokens": sampling.max_tokens,
        "reasoning_effort": sampling.reasoning_effort,
    }
    fields: JsonObject = {name: value for name, value in sampling.extra.items() if name not in NOT_EXTRA}
    fields |= {name: value for name, value in chosen.items() if value is not None}
    fields["seed"] = call.repeat
    if call.output_schema is not None and "json_schema" in spec.capabilities:
        fields["response_format"] = response_format(call.output_schema)
    if call.tools:
        fields["tools"] = [{"type": "function", "function": tool.model_dump(mode="json")} for tool in call.tools]
    return fields


def response_format(schema: dict[str, JsonValue]) -> JsonObject:
    """Return the `response_format` of a JSON schema; strict if the schema is closed as strict mode demands."""
    name = re.sub(r"[^A-Za-z0-9_-]+", "_", str(schema.get("title") or "reply"))[:64]
    return {"type": "json_schema", "json_schema": {"name": name, "schema": schema, "strict": _is_closed(schema)}}


def _message(message: Message, image_urls: Mapping[str, object]) -> JsonObject:
    body: JsonObject = {"role": message.role, "content": _content(message, image_urls)}
    if message.tool_call_id is not None:
        body["tool_call_id"] = message.tool_call_id
    if message.tool_calls:
        body["content"] = body["content"] or None
        body["tool_calls"] = [
            {"id": tool.id, "type": "function", "function": {"name": tool.name, "arguments": tool.arguments}}
            for tool in message.tool_calls
        ]
    return body


def _content(message: Message, image_urls: Mapping[str, object]) -> str | list[object]:
    if not message.images:
        return message.text
    return [
        image_urls[part.sha256] if part.kind == "image" else {"type": "text", "text": part.text}
        for part in message.parts
    ]


def _is_closed(schema: JsonValue) -> bool:
    """Return whether every object in the schema requires all of its properties and allows no others."""
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


OPENAI_HOSTS = (".openai.com", ".azure.com")
"""Suffixes of hosts that refuse unknown parameters."""

_OPENAI_PREFIXES = ("openai", "azure", "azure_ai")
_ALWAYS_INLINE = re.compile(r"(?:chatgpt|gpt)-image")
"""Models that always return the image inline, and refuse the parameter for it."""

_OWN = frozenset((*NOT_EXTRA, "prompt", "image", "image[]", "mask", "n", "seed", "extra_body"))
"""Names that the call's `extra` cannot set."""

_REFUSALS = frozenset(("moderation_blocked", "content_policy_violation", "content_filter", "contentfilter"))
_REFUSED = re.compile(r"(?i)\bsafety system\b|\bcontent[ _]policy\b|\bcontent[ _]filter(?:ed)?\b")
_REFUSING_STATUSES = frozenset((400, 403, 422))


class ImageReply(NamedTuple):
    """The image in a reply, as unchecked bytes, and the reported tokens."""

    data: bytes
    usage: Usage


def edit_fields(call: ImageEdit, spec: ModelSpec) -> JsonObject:
    """Return a request's fields other than model, image and prompt: the call's `extra`, the reply's form, the repeat
    index.

    The image is requested inline, since an address is never fetched; providers of other formats are not asked for that.
    The repeat index is sent as `seed`, but not to OpenAI's and Azure's own hosts, which refuse unknown fields.
    """
    fields = {name: value for name, value in call.extra.items() if name not in _OWN}
    at_openai = _at_openai(spec)
    if (at_openai or spec.api_base is not None) and not _ALWAYS_INLINE.match(call.model.model.rpartition("/")[2]):
        fields.setdefault("response_format", "b64_json")
    if not at_openai:
        fields["seed"] = call.repeat
    return fields


def sent_image(data: Mapping[str, object]) -> ImageReply:
    """Return the image in a reply's body.

    Raises:
        TransportError: `broken_envelope`: there is no readable image; `unsupported`: there is only an address.
    """
    items = data.get("data")
    first = items[0] if isinstance(items, list) and items else None
    if not isinstance(first, Mapping):
        raise broken()
    encoded, url = first.get("b64_json"), first.get("url")
    if not encoded and isinstance(url, str) and url.startswith("data:") and ";base64," in url[:100]:
        encoded = url.partition(",")[2]
    if not encoded and url:
        message = (
            "the endpoint answered with the address of an image in place of the image, and an address is never fetched; "
            'have it send the image itself (response_format = "b64_json")'
        )
        raise TransportError("unsupported", message, retryable=False, status=200)
    if not isinstance(encoded, str) or not encoded:
        raise broken()
    plain = encoded.partition(",")[2] if encoded.startswith("data:") else encoded
    try:
        image = base64.b64decode("".join(plain.split()), validate=True)
    except (binascii.Error, ValueError):
        raise broken() from None
    return ImageReply(image, _usage(data.get("usage")))


def refusal_of(status: int, error: object, api_key: str | None) -> ImageEditReply | None:
    """Return an error as the provider's refusal to edit the image; None for any other error.

    Args:
        status: the HTTP status.
        error: the `error` in the body.
        api_key: the key that was sent, removed from the message.
    """
    if not isinstance(error, Mapping) or not (status in _REFUSING_STATUSES or 200 <= status < 300):
        return None
    message = error.get("message")
    message = scrub(message, api_key) if isinstance(message, str) else ""
    codes = {str(error.get(name)).casefold() for name in ("code", "type")}
    if not (codes & _REFUSALS or _REFUSED.search(message[:LONGEST_SAID])):
        return None
    words = cut(" ".join(storable(message).split()), LONGEST_MESSAGE)
    return ImageEditReply(refusal=words or "the provider's content policy")


async def stored_edit(sent: ImageReply, *, read_image: ImageReader | None, blobs: BlobStore) -> ImageEditReply:
    """Check an image like any other, store it among the blobs and return the reply.

    Raises:
        TransportError: `broken_envelope`: it is damaged; `unsupported`: its format is not allowed, it has too many
            bytes or pixels, or there is no checker.
        StorageError: it cannot be stored.
    """
    if read_image is None:
        message = "edited images need what reads them: make the transport with read_image=..."
        raise TransportError("unsupported", message, retryable=False)

    def keep() -> ImageEditReply:
        image = read_image(sent.data, "the endpoint's reply")
        blobs.put_image(sent.data, image)
        return ImageEditReply(image=image, usage=sent.usage)

    failure: TransportError
    try:
        return await asyncio.to_thread(keep)
    except DataError as problem:
        damaged = getattr(problem, "kind", "") in ("image-damaged", "image-empty")
        kind = "broken_envelope" if damaged else "unsupported"
        failure = TransportError(kind, cut(str(problem), LONGEST_MESSAGE), retryable=damaged, status=200)
    raise failure


def _at_openai(spec: ModelSpec) -> bool:
    if spec.api_base is not None:
        return f".{urlsplit(spec.api_base).hostname or ''}".endswith(OPENAI_HOSTS)
    prefix, slash, _ = spec.ref.model.partition("/")
    return not slash or prefix in _OPENAI_PREFIXES


def _usage(reported: object) -> Usage:
    """Return the tokens by their names for images, or by those for chats, which some servers use."""
    if not isinstance(reported, Mapping):
        return Usage()
    names = (
        ("input_tokens", "output_tokens") if reported.get("input_tokens") else ("prompt_tokens", "completion_tokens")
    )
    return usage_of(reported.get(names[0]), reported.get(names[1]), reported)
