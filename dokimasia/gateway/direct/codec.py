"""Codec for OpenAI-compatible endpoints: encodes requests, decodes replies and errors."""

import base64
import io
import json
from collections.abc import Mapping
from functools import lru_cache
from http.client import responses
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import orjson

from dokimasia.domain.call import (
    Chat,
    ChatReply,
    Embedding,
    EmbeddingReply,
    ImageEdit,
    ImageEditReply,
    ModelSpec,
    ToolCall,
    Usage,
)
from dokimasia.domain.identity import JsonObject
from dokimasia.errors import TransportError
from dokimasia.gateway.failures import (
    LONGEST_MESSAGE,
    LONGEST_SAID,
    broken,
    cut,
    kind_of_body,
    message_of_body,
    retry_after,
    scrub,
    verdict_of_code,
    verdict_of_status,
)
from dokimasia.gateway.openai_format import (
    NOT_EXTRA,
    chat_fields,
    chat_messages,
    edit_fields,
    embedding_of,
    finish_of,
    refusal_of,
    storable,
    usage_of,
    version_of,
)

if TYPE_CHECKING:
    from aiohttp import FormData

NATIVE_PREFIXES = frozenset(
    (
        "openai",
        "openai_like",
        "custom_openai",
        "hosted_vllm",
        "vllm",
        "sglang",
        "lm_studio",
        "llamafile",
        "llama_cpp",
        "xinference",
    )
)
"""The first parts of model names, as spelled by LiteLLM, for servers that natively support the format."""

OLLAMA_PREFIXES = frozenset(("ollama", "ollama_chat"))
"""The same for a server that supports the format only under `/v1`, and another one elsewhere."""

_PATHS = {
    "chat": "/chat/completions",
    "embedding": "/embeddings",
    "image_edit": "/images/edits",
    "image_generation": "/images/generations",
}


def bare_model(model: str) -> str:
    """Return the endpoint's own name for a model: the LiteLLM name without its provider.

    Only a known prefix is removed: `hosted_vllm/Qwen/Qwen2.5-VL-7B-Instruct` and
    `Qwen/Qwen2.5-VL-7B-Instruct` name the same model.
    """
    prefix, slash, name = model.partition("/")
    if slash and name and prefix in NATIVE_PREFIXES | OLLAMA_PREFIXES:
        return name
    return model


@lru_cache(maxsize=256)
def address(api_base: str, kind: str) -> str:
    """Return the URL for a kind of call (`chat`, `embedding`, `image_edit` or `image_generation`).

    Raises:
        ValueError: the base is not a plain HTTP address.
    """
    wrong = "api_base is not an address such as http://127.0.0.1:8000/v1"
    try:
        parts = urlsplit(api_base)
        port = parts.port
    except ValueError:  # an invalid port, or an invalid host in brackets
        raise ValueError(wrong) from None
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        raise ValueError(wrong)
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise ValueError("api_base holds a user name, password, query or fragment; give the key by api_key_env")
    return api_base.rstrip("/").removesuffix(_PATHS["chat"]) + _PATHS[kind]


def headers(api_key: str | None) -> dict[str, str]:
    """Return the headers that carry the key; empty for an endpoint without a key.

    Raises:
        TransportError: `auth`: the key contains characters that a header cannot carry.
    """
    if api_key is None:
        return {}
    if not (api_key.isascii() and api_key.isprintable()):
        message = "the API key holds characters that no HTTP header can carry; look at the variable that holds it"
        raise TransportError("auth", message, retryable=False)
    return {"Authorization": f"Bearer {api_key}"}


def image_json(data: bytes, media_type: str) -> bytes:
    """Return an image as the JSON bytes of a message part."""
    # Written by hand, because nothing in it needs escaping: orjson would encode and copy the text again.
    parts = media_type.encode(), base64.b64encode(data)
    return b'{"type":"image_url","image_url":{"url":"data:%s;base64,%s"}}' % parts


def chat_body(call: Chat, spec: ModelSpec, images: Mapping[str, bytes]) -> bytes:
    """Return the body of a chat request.

    It includes the fields of `extra_body` in `Sampling.extra`, as in LiteLLM.

    Args:
        call: the request.
        spec: the model's configuration.
        images: the JSON of every image in the messages (`image_json`), by its hash.

    Raises:
        TransportError: `bad_request`: a text or a parameter cannot be written as JSON.
    """
    fields = chat_fields(call, spec)
    extra_body = fields.pop("extra_body", None)
    if isinstance(extra_body, dict):
        fields = {name: value for name, value in extra_body.items() if name not in NOT_EXTRA} | fields
    parts = {sha256: orjson.Fragment(json) for sha256, json in images.items()}
    return _dump(
        {"model": bare_model(call.model.model), "messages": chat_messages(call.messages, parts), **fields},
        call.model.name,
    )


def embedding_body(call: Embedding) -> bytes:
    """Return the body of an embedding request.

    Raises:
        TransportError: `bad_request`: a text cannot be written as JSON.
    """
    body = {"model": bare_model(call.model.model), "input": list(call.texts), "encoding_format": "float"}
    return _dump(body, call.model.name)


def generation_body(call: ImageEdit, spec: ModelSpec) -> bytes:
    """Return the body of a request for a new image.

    Raises:
        TransportError: `bad_request`: a text or a parameter cannot be written as JSON.
    """
    fields = {"model": bare_model(call.model.model), "prompt": call.instruction, **edit_fields(call, spec)}
    return _dump(fields, call.model.name)


def edit_form(call: ImageEdit, spec: ModelSpec, image: bytes) -> "FormData":
    """Return the form fields of an image edit; values in the call's `extra` other than texts are written as JSON."""
    from aiohttp import FormData

    form = FormData()
    for name, value in {
        "model": bare_model(call.model.model),
        "prompt": call.instruction,
        **edit_fields(call, spec),
    }.items():
        form.add_field(name, value if isinstance(value, str) else orjson.dumps(value).decode())
    media_type = "image/png" if call.image is None else call.image.media_type
    form.add_field("image", io.BytesIO(image), filename=f"image.{media_type[6:]}", content_type=media_type)
    return form


def _dump(body: JsonObject, name: str) -> bytes:
    failure: str
    try:
        return orjson.dumps(body)
    except TypeError as error:  # a lone surrogate, or an integer of more than 64 bits
        failure = str(error)
    raise TransportError("bad_request", f"{name}: the request cannot be written as JSON: {failure}", retryable=False)


_TEXT_PARTS = frozenset(("text", "output_text"))


def read_object(body: bytes) -> JsonObject | None:
    """Return the JSON object in a body, or None if there is none.

    Invalid UTF-8 and lone surrogates (models write both) are replaced by replacement characters.
    """
    try:
        data: object = orjson.loads(body)
    except orjson.JSONDecodeError:
        try:
            data = json.loads(body.decode("utf-8-sig", "replace"), parse_int=_integer)
        except (ValueError, RecursionError):
            return None
    return data if isinstance(data, dict) else None


def chat_reply(data: JsonObject, requested: str) -> ChatReply:
    """Return a chat completion as a reply; `requested` is the model name in the request.

    The content is a text, null, or a list of parts whose texts are joined. A missing or unrecognised finish reason is
    `unknown`; so is missing or implausible usage.

    Raises:
        TransportError: `empty_choices`, or `broken_envelope` if the message does not have this form.
    """
    choices = data.get("choices")
    if choices is None or choices == []:
        raise broken("empty_choices")
    choice = choices[0] if isinstance(choices, list) else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        raise broken()
    text, refusal = _content(message.get("content"))
    stated_refusal = message.get("refusal")
    finish_reason, native = finish_of(choice.get("finish_reason"))
    tools = message.get("tool_calls") or ()
    if not isinstance(tools, list | tuple):
        raise broken()
    return ChatReply(
        text=storable(text),
        finish_reason=finish_reason,
        native_finish_reason=native,
        refusal=storable(stated_refusal) if isinstance(stated_refusal, str) and stated_refusal else refusal,
        tool_calls=tuple(_tool_call(tool) for tool in tools),
        usage=_usage(data),
        version=version_of(data.get("model"), requested),
    )


def embedding_reply(data: JsonObject) -> EmbeddingReply:
    """Return an embedding response as a reply, with the vectors in the order of the texts.

    Raises:
        TransportError: `broken_envelope`.
    """
    items = data.get("data")
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise broken()
    return embedding_of(((item.get("index"), item.get("embedding")) for item in items), _usage(data))


def _integer(digits: str) -> int | None:
    """Return a JSON integer; None for one with more digits than Python parses."""
    if len(digits) <= 4000:
        return int(digits)
    return None


def _content(content: object) -> tuple[str, str | None]:
    """Return the text and the refusal in a message's content; parts of other kinds (thoughts) are left out."""
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


def _tool_call(tool: object) -> ToolCall:
    function = tool.get("function") if isinstance(tool, dict) else None
    if not isinstance(tool, dict) or not isinstance(function, dict):
        raise broken()
    arguments = function.get("arguments")
    if isinstance(arguments, dict | list):  # some servers return parsed arguments
        arguments = json.dumps(arguments, ensure_ascii=False)
    return ToolCall(
        id=storable(tool.get("id")), name=storable(function.get("name")), arguments=storable(arguments or "")
    )


def _usage(data: JsonObject) -> Usage:
    usage = data.get("usage")
    if not isinstance(usage, dict):
        return Usage()
    return usage_of(usage.get("prompt_tokens"), usage.get("completion_tokens"), usage)


def status_error(
    status: int, headers: Mapping[str, str], body: bytes, *, url: str, api_key: str | None
) -> TransportError:
    """Return the error for a response with a status outside 2xx, classified by status and body together."""
    if 300 <= status < 400:
        return _redirect(status, headers)
    text = body.decode("utf-8", "replace")
    kind, retryable = verdict_of_status(status, text[:LONGEST_SAID])
    message = f"the endpoint answered {status}{_reason(status)}: {_words(text, body, api_key)}".removesuffix(": ")
    if kind == "not_found" and "/v1/" not in urlsplit(url).path:
        message = f"{message} (asked at {url}; is /v1 missing in api_base?)"
    wait = retry_after(headers)
    return TransportError(kind, cut(message, LONGEST_MESSAGE), retryable=retryable, status=status, retry_after=wait)


def inner_error(
    error: object, status: int, headers: Mapping[str, str], body: bytes, *, api_key: str | None
) -> TransportError:
    """Return the error for an `error` object in the body of a reply with status 2xx."""
    text = body.decode("utf-8", "replace")
    code = error.get("code") if isinstance(error, dict) else None
    kind, retryable = verdict_of_code(code, text[:LONGEST_SAID])
    message = f"the endpoint answered {status} with an error inside: {_words(text, body, api_key)}"
    wait = retry_after(headers)
    return TransportError(kind, cut(message, LONGEST_MESSAGE), retryable=retryable, status=status, retry_after=wait)


def read_refusal(status: int, body: bytes, api_key: str | None) -> ImageEditReply | None:
    """Return the refusal of an image edit for the provider's content policy; None for any other response."""
    error = (read_object(body) or {}).get("error")
    if error is None:
        return None
    return refusal_of(status, error, api_key)


def body_error(status: int, body: bytes, *, api_key: str | None) -> TransportError:
    """Return the error for a body that is not a JSON object."""
    text = body.decode("utf-8", "replace")
    kind = kind_of_body(text[:LONGEST_SAID])
    return TransportError(kind, message_of_body(kind, text, api_key), retryable=True, status=status)


def exception_error(error: Exception, *, url: str, seconds: float) -> TransportError:
    """Return the error for an exception of the HTTP client: a timeout, or a failed or lost connection."""
    import aiohttp

    if isinstance(error, TimeoutError):
        return TransportError("timeout", f"no reply within {seconds:g} s", retryable=True)
    place = urlsplit(url).netloc
    if isinstance(error, aiohttp.ClientConnectorError):
        reason = error.os_error.strerror or type(error.os_error).__name__
        return TransportError("connection", f"no connection to {place}: {reason}"[:LONGEST_MESSAGE], retryable=True)
    if isinstance(error, aiohttp.ClientPayloadError):
        message = f"the connection to {place} broke in the middle of the reply"
    elif isinstance(error, aiohttp.ServerDisconnectedError):
        message = f"{place} closed the connection without a reply"
    else:
        # The class alone: the messages of some aiohttp errors contain the request's headers, which contain the key.
        message = f"the connection to {place} failed ({type(error).__name__})"
    return TransportError("connection", message, retryable=True)


def _redirect(status: int, headers: Mapping[str, str]) -> TransportError:
    target = urlsplit(headers.get("Location", ""))
    place = f"{target.scheme}://{target.hostname}" if target.scheme and target.hostname else "another address"
    message = (
        f"the endpoint answered {status}: it redirects to {place}, where no call goes; set api_base to what answers"
    )
    return TransportError("unsupported", cut(message, LONGEST_MESSAGE), retryable=False, status=status)


def _words(text: str, body: bytes, api_key: str | None) -> str:
    """Return the endpoint's error message on one line, or the body if there is no message."""
    data = read_object(body) or {}
    error = data.get("error") or data
    detail = (error.get("message") or error.get("detail")) if isinstance(error, dict) else error
    message = detail if isinstance(detail, str) else text
    return " ".join(scrub(message, api_key).split())


def _reason(status: int) -> str:
    if status in responses:
        return f" ({responses[status]})"
    return ""
