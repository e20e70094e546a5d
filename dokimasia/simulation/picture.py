"""Scenes as PNG pictures with their facts in a metadata chunk, and reading of that chunk."""

import struct
import zlib
from collections.abc import Mapping

import orjson
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

_MAX_CHUNKS = 4096
_BOX = TypeAdapter(tuple[float, float, float, float])
_SIGNATURE = b"\x89PNG\r\n\x1a\n"

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
    header = len(_SIGNATURE) + 25
    return png[:header] + chunk + png[header:]


def read_scene(png: bytes) -> Sighting | None:
    """Return the scene in an image's metadata, and the displayed part; None for any other image.

    Never raises, whatever the bytes are: a damaged, oversized or forged chunk means None.
    """
    body = read_metadata(png)
    return None if body is None else _parse(body)


def read_metadata(png: bytes) -> dict[str, JsonValue] | None:
    """Return the content of an image's metadata chunk, unchecked; None if there is none that can be read."""
    text = _find_text(png)
    try:
        body = None if text is None else orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    return body if isinstance(body, dict) else None


def _find_text(png: bytes) -> bytes | None:
    if not png.startswith(_SIGNATURE):
        return None
    at = len(_SIGNATURE)
    for _ in range(_MAX_CHUNKS):
        if at + 12 > len(png):
            return None
        (length,) = struct.unpack_from(">I", png, at)
        kind, end = png[at + 4 : at + 8], at + 8 + length
        if kind == b"IEND" or end + 4 > len(png):
            return None
        if kind in (b"tEXt", b"zTXt", b"iTXt") and png.startswith(KEYWORD + b"\0", at + 8):
            payload = png[at + 8 : end]
            if zlib.crc32(kind + payload) != struct.unpack_from(">I", png, end)[0]:
                return None
            return _text_of(kind, payload[len(KEYWORD) + 1 :])
        at = end + 4
    return None


def _text_of(kind: bytes, rest: bytes) -> bytes | None:
    compressed = kind == b"zTXt"
    if kind == b"zTXt":
        rest = rest[1:]
    elif kind == b"iTXt":
        compressed = rest[:1] == b"\1"
        parts = rest[2:].split(b"\0", 2)
        if len(parts) != 3:
            return None
        rest = parts[2]
    if not compressed:
        return rest if len(rest) <= MAX_TEXT else None
    try:
        reader = zlib.decompressobj()
        text = reader.decompress(rest, MAX_TEXT)
    except zlib.error:
        return None
    return text if reader.eof else None


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
