"""Image files are whole, checked when read, and kept in memory within a bound."""

from collections.abc import Callable
from pathlib import Path

import pytest

from dokimasia.domain.call import ImageEdit, ImageEditReply, ModelRef, call_key
from dokimasia.domain.sample import ImageRef
from dokimasia.errors import StorageError
from dokimasia.runs.reading.verification import verify
from dokimasia.storage.content.blobs import FileBlobs
from dokimasia.storage.home import Home
from dokimasia.storage.ledger import SqliteLedger


def test_a_blob_lies_under_its_hash(tmp_path: Path, image: Callable[[bytes], ImageRef]) -> None:
    """The bytes lie unchanged in `ab/abc…`, and nothing temporary stays."""
    ref = image(b"picture")
    FileBlobs(tmp_path).put_image(b"picture", ref)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert files == [tmp_path / ref.sha256[:2] / ref.sha256]
    assert files[0].read_bytes() == b"picture"


def test_a_changed_blob_is_never_given_out(tmp_path: Path, image: Callable[[bytes], ImageRef]) -> None:
    """A file whose bytes were changed is an error that names it and says what to do."""
    ref = image(b"picture")
    FileBlobs(tmp_path).put_image(b"picture", ref)
    file = FileBlobs(tmp_path).file(ref.sha256)
    file.write_bytes(b"Picture")
    with pytest.raises(StorageError, match=f"{file} no longer holds.*delete it"):
        FileBlobs(tmp_path).get(ref.sha256)


def test_a_blob_cut_short_is_put_again(tmp_path: Path, image: Callable[[bytes], ImageRef]) -> None:
    """Putting bytes whose file has another length replaces the file."""
    ref = image(b"picture")
    FileBlobs(tmp_path).put_image(b"picture", ref)
    FileBlobs(tmp_path).file(ref.sha256).write_bytes(b"pic")
    FileBlobs(tmp_path).put_image(b"picture", ref)
    assert FileBlobs(tmp_path).get(ref.sha256) == b"picture"


def test_what_is_no_hash_reaches_no_file(tmp_path: Path) -> None:
    """A path in the place of a hash is refused."""
    (tmp_path / "secret").write_text("x")
    for text in ("../secret", "secret", "", "A" * 64, "a" * 63):
        with pytest.raises(StorageError, match="not the hash"):
            FileBlobs(tmp_path / "blobs").get(text)


def test_the_memory_is_bounded(tmp_path: Path, image: Callable[[bytes], ImageRef]) -> None:
    """Blobs beyond the bound are read from their files again, the least recently used first."""
    blobs = FileBlobs(tmp_path, cache_bytes=20)
    refs = [image(bytes([letter]) * 8) for letter in b"abc"]
    for letter, ref in zip(b"abc", refs, strict=True):
        blobs.put_image(bytes([letter]) * 8, ref)
    for path in tmp_path.rglob("*"):
        if path.is_file():
            path.unlink()
    assert blobs.get(refs[2].sha256) == b"c" * 8
    assert blobs.get(refs[1].sha256) == b"b" * 8
    with pytest.raises(StorageError, match=r"missing.*same data file"):
        blobs.get(refs[0].sha256)


def test_half_written_images_are_swept(tmp_path: Path, image: Callable[[bytes], ImageRef]) -> None:
    """What a killed writer left is removed when the home is next opened for writing, and whole blobs stay."""
    with Home.open(tmp_path, write=True) as home:
        home.blobs.put_image(b"picture", image(b"picture"))
    leftover = tmp_path / "blobs" / "tmp" / "half"
    leftover.write_bytes(b"pic")
    with Home.open(tmp_path, write=True) as home:
        assert not leftover.exists()
        assert home.blobs.get(image(b"picture").sha256) == b"picture"


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path, image: Callable[[bytes], ImageRef]) -> None:
    """An error of the file system names the file that was to be written."""
    (tmp_path / "blobs").write_text("a file in the way")
    with pytest.raises(StorageError, match="keeping an image"):
        FileBlobs(tmp_path / "blobs").put_image(b"picture", image(b"picture"))


async def test_an_edited_image_that_is_gone_is_found_out(tmp_path: Path, image: Callable[[bytes], ImageRef]) -> None:
    """The check of a home misses the image that a reply names, and says how it is edited anew; a refusal names none."""
    model = ModelRef(name="e", model="sim/editor", endpoint="sim")
    gold, edited = image(b"gold"), image(b"edited")
    with Home.open(tmp_path, write=True) as home:
        ledger = SqliteLedger(home)
        for text, reply in (("a", ImageEditReply(image=edited)), ("b", ImageEditReply(refusal="no"))):
            call = ImageEdit(model=model, image=gold, instruction=text)
            await ledger.commit(call_key(call), call, reply, cost=None, label="image_edit")
        home.blobs.put_image(b"edited", edited)
        assert not [wrong for part in verify(home).parts for wrong in part.wrong]
        home.blobs.file(edited.sha256).unlink()
        (wrong,) = [wrong for part in verify(home).parts for wrong in part.wrong]
    assert (wrong.where, wrong.key) == ("blobs", edited.sha256)
    assert "reply to an image edit names it" in wrong.what
    assert wrong.way_out.startswith("DELETE FROM calls")
