"""The small requests that show what a model can do, and what each reply says of it: three to a model that chats, and one to an
image model."""

import hashlib
import io
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import orjson
from pydantic import JsonValue

from dokimasia.domain.call import Capability, Chat, ChatReply, ImageEdit, ImageEditReply, ModelSpec, ToolSpec
from dokimasia.domain.identity import unit_interval
from dokimasia.domain.profile import CapabilityFinding
from dokimasia.domain.sample import ImageRef
from dokimasia.errors import UnparsableReply
from dokimasia.parsing.json_finder import find_json
from dokimasia.parsing.reply import short, spoken
from dokimasia.prompts import render
from dokimasia.simulation.draws import bare_name
from dokimasia.simulation.image_edits import EDITORS

MAX_TOKENS = 1024
"""Tokens that one reply may have: far more than the tasks need, so that a model that thinks first comes to its answer."""

COLOURS = {
    "red": (220, 20, 20),
    "green": (20, 140, 20),
    "blue": (20, 40, 220),
    "yellow": (250, 230, 20),
    "black": (0, 0, 0),
    "white": (255, 255, 255),
}
WIDTH = 192
EDITED_WIDTH = 512
"""Pixels of a picture that is to be edited: image models refuse small ones."""

BANDS = 3

_COLOUR = re.compile(r"\b(" + "|".join(COLOURS) + r")\b", re.IGNORECASE)
_TOOL = "keep_number"


@dataclass(frozen=True)
class EndpointProbe:
    """One request: which capability it tests, the call, and what reads its reply; `image` are the bytes it shows."""

    capability: Capability
    call: Chat | ImageEdit
    read: Callable[[Any], CapabilityFinding]
    image: tuple[ImageRef, bytes] | None = None


def probes(spec: ModelSpec, code: str) -> tuple[EndpointProbe, ...]:
    """Return the requests to a model: an image, an output schema, a tool; to an image model an image to be edited.

    Args:
        spec: how the model is reached and sampled; its token limit is replaced by a small one.
        code: tells one check from any other. It stands in the prompts, so that no earlier reply answers them, and
            decides colours and numbers, so that no guess does.
    """
    if spec.edits_images or bare_name(spec.ref.model) in EDITORS:
        return (_edit_probe(spec, code),)
    return (_image_probe(spec, code), _schema_probe(spec, code), _tool_probe(spec, code))


def bands(code: str) -> tuple[str, ...]:
    """Return three different colours by the code; the first is never red, which is how a blind guess begins."""
    free = [name for name in COLOURS if name != "red"]
    chosen: list[str] = []
    for number in range(BANDS):
        chosen.append(free.pop(int(unit_interval("band", code, number) * len(free))))
        if number == 0:
            free.append("red")
    return tuple(chosen)


def draw_bands(colours: tuple[str, ...], width: int = WIDTH) -> tuple[ImageRef, bytes]:
    """Return a PNG of upright bands in these colours, from left to right, twice as wide as it is high."""
    from PIL import Image, ImageDraw

    height = max(1, width // 2)
    picture = Image.new("RGB", (width, height))
    pen = ImageDraw.Draw(picture)
    for number, colour in enumerate(colours):
        left, right = width * number // len(colours), width * (number + 1) // len(colours) - 1
        pen.rectangle((left, 0, right, height - 1), fill=COLOURS[colour])
    written = io.BytesIO()
    picture.save(written, "PNG")
    data = written.getvalue()
    sha256 = hashlib.sha256(data).hexdigest()
    return ImageRef(sha256=sha256, media_type="image/png", width=width, height=height), data


def _image_probe(spec: ModelSpec, code: str) -> EndpointProbe:
    expected = bands(code)
    image = draw_bands(expected, spec.max_image_side or WIDTH)
    task = (
        f"The picture shows three bands side by side. Name their colours from left to right, in three words. "
        f"The colours are among these: {', '.join(sorted(COLOURS))}."
    )

    def read(reply: ChatReply) -> CapabilityFinding:
        named = tuple(word.lower() for word in _COLOUR.findall(_text(reply)))
        if named[:BANDS] == expected:
            return CapabilityFinding(verdict="yes", note=f"named the bands {', '.join(expected)}")
        return _failed(reply, f"the bands were {', '.join(expected)}; it said {_quoted(reply)}")

    return EndpointProbe("vision", _call(spec, task, code, image[0]), read, image)


def _edit_probe(spec: ModelSpec, code: str) -> EndpointProbe:
    colours = bands(code)
    image = draw_bands(colours, spec.max_image_side or EDITED_WIDTH)
    wanted = next(name for name in COLOURS if name not in colours)
    call = ImageEdit(
        model=spec.ref,
        image=image[0],
        instruction=f"Turn the {colours[1]} band in the middle {wanted}, and leave the rest as it is. (Check {code}.)",
        extra=spec.sampling.extra,
    )

    def read(reply: ImageEditReply) -> CapabilityFinding:
        if reply.image is None:
            return CapabilityFinding(verdict="unknown", note=f"the edit was refused: {short(reply.refusal or '', 80)}")
        return CapabilityFinding(
            verdict="yes", note=f"sent back an image of {reply.image.width} x {reply.image.height} pixels"
        )

    return EndpointProbe("image_edit", call, read, image)


def _schema_probe(spec: ModelSpec, code: str) -> EndpointProbe:
    number, seal = _number(code), hashlib.sha256(code.encode()).hexdigest()[:6]
    properties: dict[str, JsonValue] = {
        "number": {"type": "integer"},
        "seal": {"type": "string", "enum": [seal]},
    }
    schema: dict[str, JsonValue] = {
        "title": "probe",
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }

    def fits(value: Any) -> bool:
        if not isinstance(value, dict):
            return False
        found = cast("dict[str, Any]", value)
        return found.keys() == properties.keys() and type(found["number"]) is int and found["seal"] == seal

    def read(reply: ChatReply) -> CapabilityFinding:
        if find_json(_text(reply), fits):
            return CapabilityFinding(verdict="yes", note="kept to a schema that only the request's schema field shows")
        return _failed(reply, f"took no notice of the schema; it said {_quoted(reply)}")

    call = _call(spec, f"Give back the number {number}.", code)
    return EndpointProbe("json_schema", call.model_copy(update={"output_schema": schema}), read)


def _tool_probe(spec: ModelSpec, code: str) -> EndpointProbe:
    number = _number(code)
    parameters: dict[str, JsonValue] = {
        "type": "object",
        "properties": {"number": {"type": "integer", "description": "the number to keep"}},
        "required": ["number"],
        "additionalProperties": False,
    }
    tool = ToolSpec(name=_TOOL, description="Keeps a whole number for later.", parameters=parameters)

    def read(reply: ChatReply) -> CapabilityFinding:
        for call in reply.tool_calls:
            try:
                arguments: Any = orjson.loads(call.arguments)
            except orjson.JSONDecodeError:
                return CapabilityFinding(
                    verdict="no", note=f"called {short(call.name)} with arguments that are no JSON"
                )
            if call.name == _TOOL and arguments == {"number": number}:
                return CapabilityFinding(verdict="yes", note="called the tool with the right arguments")
            return CapabilityFinding(verdict="no", note=f"called {short(call.name)} with {short(call.arguments, 80)}")
        return _failed(reply, f"called no tool; it said {_quoted(reply)}")

    call = _call(spec, f"Keep the number {number}: call the tool {_TOOL}, and say nothing else.", code)
    return EndpointProbe("tools", call.model_copy(update={"tools": (tool,)}), read)


def _call(spec: ModelSpec, task: str, code: str, image: ImageRef | None = None) -> Chat:
    rendered = render("probe", {"task": task, "code": code}, images=() if image is None else (image,))
    limit = min(spec.sampling.max_tokens or MAX_TOKENS, MAX_TOKENS)
    sampling = spec.sampling.model_copy(update={"max_tokens": limit})
    return Chat(model=spec.ref, messages=rendered.messages, sampling=sampling)


def _number(code: str) -> int:
    return 100 + int(unit_interval("number", code) * 900)


def _text(reply: ChatReply) -> str:
    try:
        return spoken(reply.text)
    except UnparsableReply:
        return ""


def _quoted(reply: ChatReply) -> str:
    text = short(_text(reply), 80)
    return f"'{text}'" if text else "nothing"


def _failed(reply: ChatReply, note: str) -> CapabilityFinding:
    """A reply that does not show the capability: a plain no, unless it was refused or cut off."""
    if reply.refusal is not None or reply.finish_reason == "content_filter":
        return CapabilityFinding(verdict="unknown", note="the reply was refused or filtered")
    if reply.finish_reason == "length":
        return CapabilityFinding(
            verdict="unknown", note="the reply was cut at its token limit before it came to the point"
        )
    return CapabilityFinding(verdict="no", note=note)
