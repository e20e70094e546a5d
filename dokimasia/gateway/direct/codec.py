"""Requests encoded for OpenAI-compatible endpoints, and their replies and errors decoded."""

import base64
import io
import json
from collections.abc import Mapping
from functools import lru_cache
from http.client import responses
from typing import TYPE_CHECKING, Any
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
"""First parts of model names that stand for a server which speaks the format natively, as LiteLLM spells them."""

OLLAMA_PREFIXES = frozenset(("ollama", "ollama_chat"))
"""The same for a server that speaks the format only under `/v1`, and another one beside it."""

_PATHS = {"chat": "/chat/completions", "embedding": "/embeddings", "image_edit": "/images/edits"}


def bare_model(model: str) -> str:
    """Return the name that the endpoint knows a model by: the LiteLLM name without its provider.

    Only the first part goes, and only if it is a known prefix: `hosted_vllm/Qwen/Qwen2.5-VL-7B-Instruct` and
    `Qwen/Qwen2.5-VL-7B-Instruct` are the same model to the endpoint.
    """
    prefix, slash, rest = model.partition("/")
    return rest if slash and rest and prefix in NATIVE_PREFIXES | OLLAMA_PREFIXES else model


@lru_cache(maxsize=256)
def address(api_base: str, kind: str) -> str:
    """Return where a call of that kind goes (`chat`, `embedding` or `image_edit`).

    Raises:
        ValueError: the base is no plain HTTP address.
    """
    wrong = "api_base is not an address such as http://127.0.0.1:8000/v1"
    try:
        parts = urlsplit(api_base)
        port = parts.port
    except ValueError:  # a port, or a host in brackets, that is none
        raise ValueError(wrong) from None
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        raise ValueError(wrong)
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise ValueError("api_base holds a user name, password, query or fragment; give the key by api_key_env")
    return api_base.rstrip("/").removesuffix(_PATHS["chat"]) + _PATHS[kind]


def headers(api_key: str | None) -> dict[str, str]:
    """Return the headers that carry the key; none for an endpoint without one.

    Raises:
        TransportError: `auth`: the key holds what no header can carry.
    """
    if api_key is None:
        return {}
    if not (api_key.isascii() and api_key.isprintable()):
        message = "the API key holds characters that no HTTP header can carry; look at the variable that holds it"
        raise TransportError("auth", message, retryable=False)
    return {"Authorization": f"Bearer {api_key}"}


def image_json(data: bytes, media_type: str) -> bytes:
    """Return an image as the JSON bytes of a message's part."""
    # Written by hand, since nothing in it needs an escape: through orjson its text would be made, read and copied once more.
    parts = media_type.encode(), base64.b64encode(data)
    return b'{"type":"image_url","image_url":{"url":"data:%s;base64,%s"}}' % parts


def chat_body(call: Chat, spec: ModelSpec, images: Mapping[str, bytes]) -> bytes:
    """Return the body of a chat request.

    `extra_body` in `Sampling.extra`, which LiteLLM's users know, is laid open: its fields go into the body.

    Args:
        call: what is asked.
        spec: how the model is reached.
        images: the JSON of every image in the messages (`image_json`), by its hash.

    Raises:
        TransportError: `bad_request`: a text or a parameter has no form in JSON.
    """
    fields = chat_fields(call, spec)
    more = fields.pop("extra_body", None)
    if isinstance(more, dict):
        fields = {name: value for name, value in more.items() if name not in NOT_EXTRA} | fields
    parts = {sha256: orjson.Fragment(json) for sha256, json in images.items()}
    return _dump(
        {"model": bare_model(call.model.model), "messages": chat_messages(call.messages, parts), **fields},
        call.model.name,
    )


def embedding_body(call: Embedding) -> bytes:
    """Return the body of an embedding request.

    Raises:
        TransportError: `bad_request`: a text has no form in JSON.
    """
    body = {"model": bare_model(call.model.model), "input": list(call.texts), "encoding_format": "float"}
    return _dump(body, call.model.name)


def edit_form(call: ImageEdit, spec: ModelSpec, image: bytes) -> "FormData":
    """Return the form of an image edit; what is no text in the call's `extra` is written as JSON."""
    from aiohttp import FormData

    form = FormData()
    for name, value in {
        "model": bare_model(call.model.model),
        "prompt": call.instruction,
        **edit_fields(call, spec),
    }.items():
        form.add_field(name, value if isinstance(value, str) else orjson.dumps(value).decode())
    suffix = call.image.media_type.rpartition("/")[2]
    form.add_field("image", io.BytesIO(image), filename=f"image.{suffix}", content_type=call.image.media_type)
    return form


def _dump(body: dict[str, Any], name: str) -> bytes:
    failure: str
    try:
        return orjson.dumps(body)
    except TypeError as error:  # half a surrogate pair, or a whole number of more than 64 bits
        failure = str(error)
    raise TransportError("bad_request", f"{name}: the request cannot be written as JSON: {failure}", retryable=False)


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


def chat_reply(data: dict[str, Any], requested: str) -> ChatReply:
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


def of_status(status: int, headers: Mapping[str, str], body: bytes, *, url: str, api_key: str | None) -> TransportError:
    """Return what a response with a status outside of 2xx comes to: status and body are judged together."""
    if 300 <= status < 400:
        return _redirect(status, headers)
    text = body.decode("utf-8", "replace")
    kind, retryable = verdict_of_status(status, text[:LONGEST_SAID])
    message = f"the endpoint answered {status}{_reason(status)}: {_words(text, body, api_key)}".removesuffix(": ")
    if kind == "not_found" and "/v1/" not in urlsplit(url).path:
        message = f"{message} (asked at {url}; is /v1 missing in api_base?)"
    wait = retry_after(headers)
    return TransportError(kind, cut(message, LONGEST_MESSAGE), retryable=retryable, status=status, retry_after=wait)


def of_error_inside(
    error: Any, status: int, headers: Mapping[str, str], body: bytes, *, api_key: str | None
) -> TransportError:
    """Return what an `error` comes to that stands in the body of a reply with a good status."""
    text = body.decode("utf-8", "replace")
    code = error.get("code") if isinstance(error, dict) else None
    kind, retryable = verdict_of_code(code, text[:LONGEST_SAID])
    message = f"the endpoint answered {status} with an error inside: {_words(text, body, api_key)}"
    wait = retry_after(headers)
    return TransportError(kind, cut(message, LONGEST_MESSAGE), retryable=retryable, status=status, retry_after=wait)


def refusal_in(status: int, body: bytes, api_key: str | None) -> ImageEditReply | None:
    """Return the reply of a provider that refuses an image edit for its content policy; None for any other response."""
    error = (read_object(body) or {}).get("error")
    return None if error is None else refusal_of(status, error, api_key)


def of_body(status: int, body: bytes, *, api_key: str | None) -> TransportError:
    """Return what a body comes to that is no JSON object."""
    text = body.decode("utf-8", "replace")
    kind = kind_of_body(text[:LONGEST_SAID])
    return TransportError(kind, message_of_body(kind, text, api_key), retryable=True, status=status)


def of_exception(error: Exception, *, url: str, seconds: float) -> TransportError:
    """Return what an exception of the client comes to: the time is over, or there is no connection (any more)."""
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
        # The class alone: what some of aiohttp's errors say holds the request's headers, and those hold the key.
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
    """Return what the endpoint said of its error, in one line: its message where there is one, else the body."""
    data = read_object(body) or {}
    error = data.get("error") or data
    detail = (error.get("message") or error.get("detail")) if isinstance(error, dict) else error
    message = detail if isinstance(detail, str) else text
    return " ".join(scrub(message, api_key).split())


def _reason(status: int) -> str:
    return f" ({responses[status]})" if status in responses else ""
