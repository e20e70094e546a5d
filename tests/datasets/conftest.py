"""Images and a blob store for the data set tests."""

import io
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

from dokimasia.domain.sample import ImageRef


class Blobs:
    """A blob store in memory."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}

    def put_image(self, data: bytes, ref: ImageRef) -> None:
        """Keep the bytes."""
        self.kept[ref.sha256] = data

    def get(self, sha256: str) -> bytes:
        """Return the bytes."""
        return self.kept[sha256]


def encoded(format: str = "PNG", *, size: tuple[int, int] = (4, 3), mode: str = "RGB", **options: object) -> bytes:
    """Return the bytes of an image with some structure in it."""
    image = Image.linear_gradient("L").resize(size).convert(mode)
    target = io.BytesIO()
    image.save(target, format, **options)
    return target.getvalue()


@pytest.fixture
def blobs() -> Blobs:
    """Return an empty blob store."""
    return Blobs()


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that writes lines (bytes or text) to a data file beside `a.png`."""
    (tmp_path / "a.png").write_bytes(encoded())

    def write_lines(*lines: str | bytes) -> Path:
        path = tmp_path / "data.jsonl"
        path.write_bytes(b"\n".join(line if isinstance(line, bytes) else line.encode() for line in lines))
        return path

    return write_lines
