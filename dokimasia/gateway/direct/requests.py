"""From a call to a request of the OpenAI format: address, headers, and a body in which images are bytes already."""

import base64
import io
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import orjson

from dokimasia.domain.call import Chat, Embedding, ImageEdit, ModelSpec
from dokimasia.errors import TransportError
from dokimasia.gateway.chat_format import NOT_EXTRA, chat_fields, chat_messages
from dokimasia.gateway.image_edits import edit_fields

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
