"""Images put by threads of their own: all are kept before anything refers to them, and a failure is told."""

import hashlib
import threading
from pathlib import Path

import pytest

from dokimasia.domain.sample import ImageRef
from dokimasia.errors import StorageError
from dokimasia.storage.content import putting
from dokimasia.storage.content.blobs import FileBlobs, MemoryBlobs
from dokimasia.storage.content.putting import BackgroundWriter


def image(number: int, size: int = 1000) -> tuple[bytes, ImageRef]:
    """Return bytes and what refers to them."""
    data = number.to_bytes(4, "big") * (size // 4)
    return data, ImageRef(sha256=hashlib.sha256(data).hexdigest(), media_type="image/png", width=1, height=1)


def test_all_is_kept_when_it_has_settled(tmp_path: Path) -> None:
    """After `settle`, and after the block, every image lies in the store under its hash."""
    blobs, made = FileBlobs(tmp_path), [image(number) for number in range(50)]
    with BackgroundWriter(blobs) as aside:
        for data, ref in made[:25]:
            aside.put_image(data, ref)
        aside.settle()
        assert all(blobs.file(ref.sha256).read_bytes() == data for data, ref in made[:25])
        for data, ref in made[25:]:
            aside.put_image(data, ref)
        assert aside.get(made[-1][1].sha256) == made[-1][0]
    assert all(blobs.file(ref.sha256).read_bytes() == data for data, ref in made)


def test_an_image_that_cannot_be_kept_is_told() -> None:
    """What a thread of its own could not put is raised where the work settles, and leaves no thread behind."""
    before = threading.active_count()
    (data, _), (_, other) = image(1), image(2)
    with pytest.raises(StorageError, match="another hash"), BackgroundWriter(MemoryBlobs()) as aside:
        aside.put_image(data, other)
    assert threading.active_count() == before


def test_what_waits_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """With too many bytes waiting, whoever puts waits for the oldest."""
    monkeypatch.setattr(putting, "WAITING_BYTES", 5_000)
    gate, waited = threading.Event(), threading.Event()

    class Slow(MemoryBlobs):
        def put_image(self, data: bytes, ref: ImageRef) -> None:
            gate.wait(10)
            super().put_image(data, ref)

    blobs = Slow()

    def put_all() -> None:
        with BackgroundWriter(blobs) as aside:
            for number in range(20):
                aside.put_image(*image(number))
                if number == 5:
                    waited.set()

    thread = threading.Thread(target=put_all)
    thread.start()
    assert waited.wait(10)
    thread.join(0.2)
    assert thread.is_alive()
    gate.set()
    thread.join(10)
    assert not thread.is_alive()
    assert all(blobs.get(ref.sha256) == data for data, ref in map(image, range(20)))
