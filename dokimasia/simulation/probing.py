"""How a simulated model answers a check of what it can do: it looks at the picture, keeps to a schema, calls a tool."""

import io
from collections.abc import Mapping

import orjson
from PIL import Image

from dokimasia.domain.call import Chat, ChatReply, ToolCall
from dokimasia.simulation.draws import Draws
from dokimasia.simulation.structured import fitting

_BANDS = 3
_COLOURS = {
    "red": (255, 0, 0),
    "green": (0, 128, 0),
    "blue": (0, 0, 255),
    "yellow": (255, 255, 0),
    "black": (0, 0, 0),
    "white": (255, 255, 255),
    "grey": (128, 128, 128),
    "orange": (255, 165, 0),
    "purple": (128, 0, 128),
}


def answer_probe(call: Chat, task: str, images: Mapping[str, bytes], draws: Draws) -> ChatReply:
    """Return the reply to a check: the first tool's call where tools are offered, else a value that fits the schema
    where there is one, else the colours of the picture from left to right.

    Args:
        call: the request.
        task: what is asked, from which numbers are taken.
        images: bytes by SHA-256 of the images that the request names.
        draws: the request's draws.
    """
    if call.tools:
        tool = call.tools[0]
        arguments = orjson.dumps(fitting(tool.parameters, task)).decode()
        asked = ToolCall(id=f"call_{draws.key[:12]}", name=tool.name, arguments=arguments)
        return ChatReply(text="", finish_reason="tool_calls", native_finish_reason="tool_calls", tool_calls=(asked,))
    if call.output_schema is not None:
        return _said(orjson.dumps(fitting(call.output_schema, task)).decode())
    seen = [image for message in call.messages for image in message.images]
    if not seen:
        return _said("I cannot see any picture here.")
    return _said(f"From left to right: {', '.join(colours(images[seen[0].sha256]))}.")


def colours(data: bytes) -> list[str]:
    """Return the names of the colours that fill the left, the middle and the right third of a picture."""
    with Image.open(io.BytesIO(data)) as opened:
        picture = opened.convert("RGB")
    width, height = picture.size
    thirds = [(width * number // _BANDS, -(-width * (number + 1) // _BANDS)) for number in range(_BANDS)]
    return [_main_colour(picture.crop((left, 0, right, height))) for left, right in thirds]


def _main_colour(part: Image.Image) -> str:
    """Return the name that is nearest to the most common colour of a part of a picture."""
    counted = part.getcolors(part.width * part.height) or []
    _, pixel = max(counted, key=lambda one: one[0])
    assert isinstance(pixel, tuple)
    return min(_COLOURS, key=lambda name: sum((a - b) ** 2 for a, b in zip(_COLOURS[name], pixel, strict=True)))


def _said(text: str) -> ChatReply:
    return ChatReply(text=text, finish_reason="stop", native_finish_reason="stop")
