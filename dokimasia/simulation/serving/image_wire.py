"""OpenAI's format of image edits: from a request's form to a call and its image, from an edited image to a body."""

import base64
import hashlib
from collections.abc import Mapping
from typing import Any

import orjson
from aiohttp import web

from dokimasia.domain.call import ImageEdit, Usage
from dokimasia.simulation.serving.wire import CREATED, asked_model, bad, describe_image

_NAMES = ("image", "image[]")
_NOT_EXTRA = frozenset((*_NAMES, "model", "prompt", "seed", "response_format", "n", "user", "stream", "mask"))


async def read_form(request: web.Request) -> dict[str, Any]:
    """Return the fields of a form, a file as its bytes; two files of one name are a list."""
    fields: dict[str, Any] = {}
    for name, value in (await request.post()).items():
        held = value
        if isinstance(value, web.FileField):
            with value.file as file:
                held = file.read()
        fields[name] = [fields[name], held] if name in fields else held
    return fields


def read_image_edit(fields: Mapping[str, Any]) -> tuple[ImageEdit, bytes]:
    """Return a form as a call, with the bytes of its image; a missing seed is repeat 0.

    Raises:
        TransportError: of kind `bad_request`, saying which field is wrong.
    """
    model = asked_model(fields)
    images = [fields[name] for name in _NAMES if name in fields]
    if len(images) != 1 or not isinstance(images[0], bytes):
        raise bad("image: one file is required; simulated models edit one image at a time")
    if not isinstance(fields.get("prompt"), str) or not fields["prompt"]:
        raise bad("prompt: a text is required")
    if fields.get("response_format", "b64_json") != "b64_json":
        raise bad("response_format: simulated models send the image itself; ask for b64_json")
    if fields.get("mask") is not None or fields.get("n", "1") != "1":
        raise bad("mask, n: simulated models take no mask and make one image")
    seed = fields.get("seed", "0")
    if not isinstance(seed, str) or not seed.isdecimal() or len(seed) > 18:
        raise bad("seed: a whole number from 0")
    sha256 = hashlib.sha256(images[0]).hexdigest()
    return ImageEdit(
        model=model,
        image=describe_image(images[0], sha256, "image"),
        instruction=fields["prompt"],
        extra={name: value for name, value in fields.items() if name not in _NOT_EXTRA and isinstance(value, str)},
        repeat=int(seed),
    ), images[0]


def edited_body(png: bytes, usage: Usage | None) -> bytes:
    """Return the body of a reply with an edited image; without its usage where that is None."""
    body: dict[str, Any] = {"created": CREATED, "data": [{"b64_json": base64.b64encode(png).decode()}]}
    if usage is not None:
        used = {"input_tokens": usage.input_tokens or 0, "output_tokens": usage.output_tokens or 0}
        body["usage"] = {**used, "total_tokens": sum(used.values())}
    return orjson.dumps(body)
