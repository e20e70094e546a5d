"""OpenAI's formats of chats, embeddings and image edits: conversion of requests to calls with images, and replies to
bodies.
"""

import base64
import binascii
import hashlib
import io
import warnings
from collections.abc import Mapping

import orjson
from aiohttp import web
from PIL import Image, UnidentifiedImageError
from pydantic import JsonValue, ValidationError

from dokimasia.domain.call import (
    Chat,
    ChatReply,
    Embedding,
    EmbeddingReply,
    ImageEdit,
    Message,
    ModelRef,
    Sampling,
    ToolCall,
    ToolSpec,
    Usage,
)
from dokimasia.domain.sample import ImageRef, Part, TextPart
from dokimasia.errors import TransportError, list_faults
from dokimasia.simulation.draws import bare_name

CREATED = 1_700_000_000
"""The timestamp of every reply and model, so that equal requests get equal bytes."""

_MEMORY = 4096
_MEDIA = {"PNG": "image/png", "JPEG": "image/jpeg", "WEBP": "image/webp", "GIF": "image/gif"}
_SAMPLING = ("temperature", "top_p", "reasoning_effort")
_OTHER_FIELDS = (
    "model messages seed stream stream_options n user response_format tools tool_choice parallel_tool_calls metadata "
    "store max_tokens max_completion_tokens service_tier logprobs"
)
_ROLES = ("system", "developer", "user", "assistant", "tool")
_NOT_SAMPLING = frozenset(_OTHER_FIELDS.split())
_known_images: dict[str, ImageRef] = {}


def read_request(body: bytes) -> tuple[Chat, dict[str, bytes]]:
    """Return a request's body as a call, with the bytes of its images by SHA-256; a missing seed is repeat 0.

    Raises:
        TransportError: of kind `bad_request`; the message names the wrong field.
    """
    data, model = _read_fields(body)
    if data.get("stream"):
        raise bad_request("stream: simulated models do not stream; leave it out or send false")
    if data.get("n") not in (None, 1):
        raise bad_request("n: one choice a request")
    messages = data.get("messages")
    if not isinstance(messages, list) or not messages:
        raise bad_request("messages: a list of at least one message is required")
    images: dict[str, bytes] = {}
    sampling = {name: data.get(name) for name in _SAMPLING}
    limit = data.get("max_completion_tokens")
    if limit is None:
        limit = data.get("max_tokens")
    extra = {name: value for name, value in data.items() if name not in _NOT_SAMPLING and name not in _SAMPLING}
    try:
        fields = {
            "model": model,
            "messages": tuple(_message(message, f"messages[{at}]", images) for at, message in enumerate(messages)),
            "sampling": Sampling.model_validate({**sampling, "max_tokens": limit, "extra": extra}),
            "output_schema": _schema(data.get("response_format")),
            "tools": _tools(data.get("tools")),
            "repeat": data.get("seed") or 0,
        }
        return Chat.model_validate(fields), images
    except ValidationError as error:
        raise bad_request(str(list_faults(error)[0])) from None


def read_embedding(body: bytes) -> Embedding:
    """Return a request for vectors as a call.

    Raises:
        TransportError: of kind `bad_request`; the message names the wrong field.
    """
    data, model = _read_fields(body)
    texts = data.get("input")
    texts = [texts] if isinstance(texts, str) else texts
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
        raise bad_request("input: a text or a list of at least one text is required")
    if data.get("encoding_format", "float") != "float":
        raise bad_request("encoding_format: simulated models give numbers; ask for float")
    return Embedding(model=model, texts=tuple(texts))


def _read_fields(body: bytes) -> tuple[dict[str, object], ModelRef]:
    """Return the fields of a request's body, and the simulated model it names."""
    try:
        data = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise bad_request(f"the body is not JSON: {error}") from None
    return data, requested_model(data)


def requested_model(data: object) -> ModelRef:
    """Return the simulated model named in the fields of a request.

    Raises:
        TransportError: of kind `bad_request`: they name none.
    """
    model = data.get("model") if isinstance(data, dict) else None
    if not isinstance(model, str) or not model:
        raise bad_request("model: a string is required")
    name = bare_name(model)
    return ModelRef(name=name, model=name)


def vectors(call: Embedding, reply: EmbeddingReply) -> dict[str, object]:
    """Return the body of a reply with vectors."""
    used = reply.usage.input_tokens or 0
    return {
        "object": "list",
        "model": call.model.model,
        "data": [
            {"object": "embedding", "index": at, "embedding": list(vector)} for at, vector in enumerate(reply.vectors)
        ],
        "usage": {"prompt_tokens": used, "total_tokens": used},
    }


def completion(call: Chat, reply: ChatReply, key: str) -> dict[str, object]:
    """Return the body of a completed reply; `key` is the request's hash and becomes part of its id."""
    body: dict[str, object] = {
        "id": f"chatcmpl-{key}",
        "object": "chat.completion",
        "created": CREATED,
        "model": call.model.model,
        "choices": [
            {
                "index": 0,
                "message": _reply_message(reply),
                "logprobs": None,
                "finish_reason": reply.native_finish_reason or reply.finish_reason,
            }
        ],
    }
    sent, got = reply.usage.input_tokens, reply.usage.output_tokens
    if sent is not None and got is not None:
        usage: dict[str, object] = {"prompt_tokens": sent, "completion_tokens": got, "total_tokens": sent + got}
        if reply.usage.cached_tokens is not None:
            usage["prompt_tokens_details"] = {"cached_tokens": reply.usage.cached_tokens}
        body |= {"usage": usage}
    return body


def error_body(message: str, *, kind: str, code: str | None = None) -> bytes:
    """Return an error in OpenAI's form."""
    return orjson.dumps({"error": {"message": message, "type": kind, "param": None, "code": code}})


def model_list(names: Mapping[str, object]) -> bytes:
    """Return the body of the list of models."""
    models = [{"id": name, "object": "model", "created": CREATED, "owned_by": "dokimasia"} for name in names]
    return orjson.dumps({"object": "list", "data": models})


def _reply_message(reply: ChatReply) -> dict[str, object]:
    message: dict[str, object] = {"role": "assistant", "content": reply.text, "refusal": reply.refusal}
    if not reply.tool_calls:
        return message
    calls = [
        {"id": tool.id, "type": "function", "function": {"name": tool.name, "arguments": tool.arguments}}
        for tool in reply.tool_calls
    ]
    return {**message, "content": reply.text or None, "tool_calls": calls}


def _schema(response_format: object) -> dict[str, JsonValue] | None:
    """Return the JSON schema of a `response_format`, or None if there is none."""
    if not isinstance(response_format, dict) or response_format.get("type") != "json_schema":
        return None
    json_schema = response_format.get("json_schema")
    schema = json_schema.get("schema") if isinstance(json_schema, dict) else None
    if not isinstance(schema, dict):
        raise bad_request("response_format.json_schema.schema: an object is required")
    return schema


def _tools(offered: object) -> tuple[ToolSpec, ...]:
    """Return the functions among the offered `tools`."""
    if offered is None:
        return ()
    if not isinstance(offered, list):
        raise bad_request("tools: a list of functions")
    tools: list[ToolSpec] = []
    for number, tool in enumerate(offered):
        function = tool.get("function") if isinstance(tool, dict) else None
        if not isinstance(function, dict):
            raise bad_request(f"tools[{number}].function: an object is required")
        facts = {"name": function.get("name"), "description": function.get("description") or ""}
        tools.append(ToolSpec.model_validate({**facts, "parameters": function.get("parameters") or {}}))
    return tuple(tools)


def _message(message: object, where: str, images: dict[str, bytes]) -> Message:
    role = message.get("role") if isinstance(message, dict) else None
    if not isinstance(message, dict) or role not in _ROLES:
        raise bad_request(f"{where}.role: one of {', '.join(_ROLES)}")
    if (role == "tool") != isinstance(message.get("tool_call_id"), str):
        raise bad_request(f"{where}.role: a tool's message names its tool_call_id, and no other does")
    content = message.get("content")
    pieces = [{"type": "text", "text": content or ""}] if content is None or isinstance(content, str) else content
    if not isinstance(pieces, list):
        raise bad_request(f"{where}.content: a text or a list of parts")
    parts = tuple(_part(piece, f"{where}.content[{number}]", images) for number, piece in enumerate(pieces))
    calls = message.get("tool_calls")
    if calls is not None and not isinstance(calls, list):
        raise bad_request(f"{where}.tool_calls: a list")
    return Message(
        role="system" if role == "developer" else role,
        parts=parts,
        tool_calls=tuple(_tool_call(call, where) for call in calls or ()),
        tool_call_id=message.get("tool_call_id"),
    )


def _tool_call(call: object, where: str) -> ToolCall:
    fields = call if isinstance(call, dict) else {}
    function = fields.get("function")
    if not isinstance(function, dict):
        raise bad_request(f"{where}.tool_calls: objects with id and function")
    facts = {"id": fields.get("id"), "name": function.get("name"), "arguments": function.get("arguments")}
    return ToolCall.model_validate(facts)


def _part(piece: object, where: str, images: dict[str, bytes]) -> Part:
    fields = piece if isinstance(piece, dict) else {}
    kind, text = fields.get("type"), fields.get("text")
    if kind == "text" and isinstance(text, str):
        return TextPart(text=text)
    if kind == "image_url":
        image_url = fields.get("image_url")
        url = image_url.get("url") if isinstance(image_url, dict) else image_url
        if not isinstance(url, str) or not url.startswith("data:image/") or ";base64," not in url[:64]:
            raise bad_request(
                f"{where}.image_url: simulated models take images as data URIs (data:image/png;base64,...) only"
            )
        return _image(url[url.index(",") + 1 :], where, images)
    raise bad_request(f"{where}.type: text with its text, or image_url")


def _image(encoded: str, where: str, images: dict[str, bytes]) -> ImageRef:
    try:
        data = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        raise bad_request(f"{where}.image_url: not valid base64") from None
    sha256 = hashlib.sha256(data).hexdigest()
    if sha256 not in _known_images:
        if len(_known_images) >= _MEMORY:
            _known_images.clear()
        _known_images[sha256] = describe_image(data, sha256, f"{where}.image_url")
    images[sha256] = data
    return _known_images[sha256]


def describe_image(data: bytes, sha256: str, where: str) -> ImageRef:
    """Return the reference of an image's bytes; `where` names its place in the request.

    Raises:
        TransportError: of kind `bad_request`: they are not a readable image.
    """
    try:
        with (
            warnings.catch_warnings(action="error", category=Image.DecompressionBombWarning),
            Image.open(io.BytesIO(data), formats=tuple(_MEDIA)) as image,
        ):
            media_type = _MEDIA[image.format or ""]
            facts = {"sha256": sha256, "media_type": media_type, "width": image.width, "height": image.height}
            return ImageRef.model_validate(facts)
    except (UnidentifiedImageError, OSError, ValueError, Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise bad_request(f"{where}: not a PNG, JPEG, WebP or GIF that can be read") from None


def bad_request(message: str) -> TransportError:
    """Return the error of a request with a wrong field."""
    return TransportError("bad_request", message, retryable=False, status=400)


_IMAGE_FIELDS = ("image", "image[]")
_NOT_EXTRA = frozenset((*_IMAGE_FIELDS, "model", "prompt", "seed", "response_format", "n", "user", "stream", "mask"))


async def read_form(request: web.Request) -> dict[str, object]:
    """Return the fields of a form, a file as its bytes; two files of one name are a list."""
    fields: dict[str, object] = {}
    for name, value in (await request.post()).items():
        content = value
        if isinstance(value, web.FileField):
            with value.file as file:
                content = file.read()
        fields[name] = [fields[name], content] if name in fields else content
    return fields


def read_image_edit(fields: Mapping[str, object]) -> tuple[ImageEdit, bytes]:
    """Return a form as a call, with the bytes of its image; a missing seed is repeat 0.

    Raises:
        TransportError: of kind `bad_request`; the message names the wrong field.
    """
    model = requested_model(fields)
    images = [fields[name] for name in _IMAGE_FIELDS if name in fields]
    if len(images) != 1 or not isinstance(images[0], bytes):
        raise bad_request("image: one file is required; simulated models edit one image at a time")
    prompt = fields.get("prompt")
    if not isinstance(prompt, str) or not prompt:
        raise bad_request("prompt: a text is required")
    if fields.get("response_format", "b64_json") != "b64_json":
        raise bad_request("response_format: simulated models send the image itself; ask for b64_json")
    if fields.get("mask") is not None or fields.get("n", "1") != "1":
        raise bad_request("mask, n: simulated models take no mask and make one image")
    seed = fields.get("seed", "0")
    if not isinstance(seed, str) or not seed.isdecimal() or len(seed) > 18:
        raise bad_request("seed: a whole number from 0")
    sha256 = hashlib.sha256(images[0]).hexdigest()
    return ImageEdit(
        model=model,
        image=describe_image(images[0], sha256, "image"),
        instruction=prompt,
        extra={name: value for name, value in fields.items() if name not in _NOT_EXTRA and isinstance(value, str)},
        repeat=int(seed),
    ), images[0]


def read_image_generation(body: bytes) -> ImageEdit:
    """Return a request for a new image as a call; a missing seed is repeat 0.

    Raises:
        TransportError: of kind `bad_request`; the message names the wrong field.
    """
    data, model = _read_fields(body)
    prompt, seed = data.get("prompt"), data.get("seed", 0)
    if not isinstance(prompt, str) or not prompt:
        raise bad_request("prompt: a text is required")
    if data.get("response_format", "b64_json") != "b64_json":
        raise bad_request("response_format: simulated models send the image itself; ask for b64_json")
    if data.get("n", 1) != 1:
        raise bad_request("n: simulated models make one image")
    if not isinstance(seed, int) or seed < 0:
        raise bad_request("seed: a whole number from 0")
    extra: dict[str, JsonValue] = {}
    for name, value in data.items():
        if name not in _NOT_EXTRA and isinstance(value, str):
            extra[name] = value
    return ImageEdit(model=model, instruction=prompt, extra=extra, repeat=seed)


def edited_body(png: bytes, usage: Usage | None) -> bytes:
    """Return the body of a reply with an edited image, without usage if that is None."""
    body = {"created": CREATED, "data": [{"b64_json": base64.b64encode(png).decode()}]}
    if usage is not None:
        used = {"input_tokens": usage.input_tokens or 0, "output_tokens": usage.output_tokens or 0}
        body |= {"usage": {**used, "total_tokens": sum(used.values())}}
    return orjson.dumps(body)
