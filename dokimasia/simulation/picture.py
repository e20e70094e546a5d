"""Scenes as PNG pictures with their facts in a metadata chunk, and reading of that chunk."""

import io
import struct
import zlib
from collections.abc import Mapping

import orjson
from PIL import Image
from pydantic import JsonValue, TypeAdapter

from dokimasia.errors import NotFound
from dokimasia.simulation.scene import Scene
from dokimasia.simulation.scenes import LAYOUTS
from dokimasia.simulation.scenes.layouts import paint_scene
from dokimasia.simulation.scenes.sorts import read_sorts

KEYWORD = b"dokimasia-scene"
"""Keyword of the PNG text chunk with a scene: JSON with `id`, `box` and `scene`."""

MAX_TEXT = 1 << 20
"""Maximum number of bytes of the chunk's decompressed text."""

_BOX = TypeAdapter(tuple[float, float, float, float])
_HEADER_SIZE = 33
"""Number of bytes of a PNG's signature and header."""

_UNREADABLE = (
    OSError,
    SyntaxError,
    ValueError,
    struct.error,
    zlib.error,
    Image.DecompressionBombError,
    Image.DecompressionBombWarning,
)

Sighting = tuple[Scene, tuple[float, float, float, float]]
"""A scene, and the displayed part of its picture as fractions (x0, y0, x1, y1) of the whole."""


def draw_scene(scene: Scene) -> bytes:
    """Return a scene as PNG bytes with its facts in the metadata; equal scenes give equal bytes.

    Raises:
        NotFound: the scene's domain has no layout of that name.
    """
    if scene.layout not in LAYOUTS[scene.domain]:
        raise NotFound(
            f"scene {scene.id}: the domain {scene.domain} has no layout {scene.layout!r}; make scenes with make_scene"
        )
    return embed_scene(paint_scene(scene, read_sorts()[scene.layout]), scene)


def embed_scene(png: bytes, scene: Scene, box: tuple[float, float, float, float] = (0.0, 0.0, 1.0, 1.0)) -> bytes:
    """Return the PNG with the scene in its metadata; `box` is the displayed part of the scene."""
    unsaid = set() if scene.disputed else {"disputed"}
    return with_metadata(
        png, {"id": scene.id, "box": list(box), "scene": scene.model_dump(mode="json", exclude=unsaid)}
    )


def with_metadata(png: bytes, body: Mapping[str, JsonValue]) -> bytes:
    """Return the PNG with a metadata chunk after the header.

    The text is stored uncompressed, so that its bytes do not depend on the compressor's version.
    """
    payload = KEYWORD + b"\0\0\0\0\0" + orjson.dumps(body)
    chunk = struct.pack(">I", len(payload)) + b"iTXt" + payload + struct.pack(">I", zlib.crc32(b"iTXt" + payload))
    return png[:_HEADER_SIZE] + chunk + png[_HEADER_SIZE:]


def read_scene(png: bytes) -> Sighting | None:
    """Return the scene in an image's metadata, and the displayed part; None for any other image.

    Never raises, whatever the bytes are: a damaged, oversized or forged chunk means None.
    """
    body = read_metadata(png)
    return None if body is None else _parse(body)


def read_metadata(png: bytes) -> dict[str, JsonValue] | None:
    """Return the content of an image's metadata chunk, unchecked; None if there is none that can be read."""
    try:
        with Image.open(io.BytesIO(png), formats=("PNG",)) as image:
            text = image.info.get(KEYWORD.decode())
        body = orjson.loads(str(text)) if isinstance(text, str) and len(text) <= MAX_TEXT else None
    except _UNREADABLE:
        return None
    return body if isinstance(body, dict) else None


def _parse(body: Mapping[str, JsonValue]) -> Sighting | None:
    try:
        scene = Scene.model_validate(body.get("scene"), strict=False)
        box = _BOX.validate_python(body.get("box"))
    except ValueError:
        return None
    x0, y0, x1, y1 = box
    if scene.id != body.get("id") or not (0 <= x0 < x1 <= 1 and 0 <= y0 < y1 <= 1):
        return None
    return scene, box
