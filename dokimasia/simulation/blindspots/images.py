"""Pictures that were edited: what an edit planted in them stands in their metadata, and is read out of them again.

A judge that is sent a picture tells by `faults_of` in which dimensions it is at fault. Edits that take nothing from a
picture leave it without a fault.
"""

import hashlib
import io
from collections.abc import Mapping
from typing import Any, NamedTuple

from PIL import Image
from pydantic import ValidationError

from dokimasia.domain.blindspots import NEUTRAL
from dokimasia.domain.criterion import Box
from dokimasia.domain.sample import ImageRef
from dokimasia.simulation.blindspots.brushes import paint
from dokimasia.simulation.blindspots.instructions import Instruction, in_words
from dokimasia.simulation.blindspots.spots import spots_of
from dokimasia.simulation.picture import annotate, read_body

_MOST = 50
_WHOLE: Mapping[str, Any] = {"box": [0.0, 0.0, 1.0, 1.0]}


class Edit(NamedTuple):
    """One edit of a picture: the dimension of the error that it planted, where in the whole scene, and in what words.

    `box` is None where the edit is all over the picture.
    """

    dimension: str
    box: Box | None = None
    words: str = ""


def faults_of(picture: bytes) -> tuple[str, ...]:
    """Return the dimensions that a picture is at fault in, each once and in order; none for a picture nobody edited.

    Never raises, whatever the bytes are.
    """
    return tuple(dict.fromkeys(edit.dimension for edit in edits_of(picture) if edit.dimension != NEUTRAL))


def edits_of(picture: bytes) -> tuple[Edit, ...]:
    """Return the edits of a picture, in order, those that planted no fault among them. Never raises."""
    listed = (read_body(picture) or {}).get("edits")
    if not isinstance(listed, list):
        return ()
    return tuple(edit for one in listed[:_MOST] if (edit := _read(one)) is not None)


def edited(picture: bytes, instruction: Instruction, *, seed: int = 0) -> bytes | None:
    """Return a picture as a PNG edited as an instruction says; None where it names what is not in the picture.

    Equal pictures, instructions and seeds give equal bytes. The scene and all earlier edits go along.
    """
    spots = spots_of(picture)
    with Image.open(io.BytesIO(picture)) as opened:
        image = opened.convert("RGB")
    done = paint(image, instruction, spots, seed=seed)
    if done is None:
        return None
    return marked(done.image, picture, [Edit(instruction.dimension, done.box, in_words(instruction))])


def marked(image: Image.Image, picture: bytes, edits: list[Edit]) -> bytes:
    """Return an image as PNG bytes that say what the picture said that it was made from, and which edits came to it."""
    body = {**_WHOLE, **(read_body(picture) or {})}
    rows = [_row(edit) for edit in (*edits_of(picture), *edits)]
    written = io.BytesIO()
    image.save(written, "PNG", compress_level=4)
    return annotate(written.getvalue(), {**body, "edits": rows} if rows else body)


def reference(png: bytes) -> ImageRef:
    """Return a reference to a PNG."""
    with Image.open(io.BytesIO(png), formats=("PNG",)) as image:
        width, height = image.size
    return ImageRef(sha256=hashlib.sha256(png).hexdigest(), media_type="image/png", width=width, height=height)


def _row(edit: Edit) -> dict[str, Any]:
    box = None if edit.box is None else [edit.box.x0, edit.box.y0, edit.box.x1, edit.box.y1]
    return {"dimension": edit.dimension, "box": box, "words": edit.words}


def _read(row: Any) -> Edit | None:
    if not isinstance(row, dict) or not isinstance(row.get("dimension"), str):
        return None
    box = None
    try:
        if row.get("box") is not None:
            box = Box(**dict(zip(("x0", "y0", "x1", "y1"), row["box"], strict=True)))
    except (ValidationError, ValueError, TypeError):
        return None
    return Edit(row["dimension"], box, str(row.get("words", "")))
