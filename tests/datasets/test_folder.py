"""A folder of images becomes one sample an image, in the order of the paths, and nothing in it goes missing."""

import os
from pathlib import Path

import pytest

from dokimasia.datasets import check, open_dataset
from dokimasia.domain.sample import Sample
from dokimasia.errors import DataError

from .conftest import Blobs, encoded


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """Return a folder of four images, two of them in sub-folders, beside what file managers leave behind."""
    folder = tmp_path / "photos"
    for name, format in (("b.png", "PNG"), ("a.JPG", "JPEG"), ("cats/big/x.webp", "WEBP"), ("cats/c.gif", "GIF")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(encoded(format))
    for name in (".DS_Store", ".hidden/x.png", "Thumbs.db", "cats/desktop.ini"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(b"\0")
    return folder


def test_one_sample_an_image(photos: Path, blobs: Blobs) -> None:
    """Ids are the paths in the folder, sorted; the sub-folder is the category; the prompt is the same for all."""
    found = list(open_dataset(photos, blobs=blobs, prompt="What is it?"))
    assert all(isinstance(one, Sample) for one in found)
    samples = [one for one in found if isinstance(one, Sample)]
    assert [(sample.id, sample.category) for sample in samples] == [
        ("a.JPG", None),
        ("b.png", None),
        ("cats/big/x.webp", "cats/big"),
        ("cats/c.gif", "cats"),
    ]
    assert {sample.prompt for sample in samples} == {"What is it?"}
    assert {sample.images[0].sha256 for sample in samples} == set(blobs.kept)
    assert all(sample.meta == {} for sample in samples)


def test_a_folder_asks_nothing_by_itself(photos: Path) -> None:
    """Without a prompt there is one error that says how to give it, and none where no prompt is needed."""
    with pytest.raises(DataError, match="give the question for all with --prompt"):
        open_dataset(photos)
    assert len(list(open_dataset(photos, need_prompt=False))) == 4


def test_everything_that_is_no_image_is_named(photos: Path) -> None:
    """Texts, drawings and photographs of other formats are problems; an image without an extension is an image."""
    (photos / "notes.txt").write_text("notes")
    (photos / "cats" / "y.heic").write_bytes(b"\0\0\0\x18ftypheic" + b"\0" * 20)
    (photos / "z.png").write_bytes(b"")
    (photos / "zz").write_bytes(encoded())
    (photos / "zzz.png").write_bytes(encoded("JPEG"))
    report = check(photos, prompt="?")
    assert report.samples == 5
    assert [(problem.id, problem.kind) for problem in report.problems] == [
        ("cats/y.heic", "image-format"),
        ("notes.txt", "image-format"),
        ("z.png", "image-empty"),
        ("zzz.png", "image-disguised"),
    ]
    assert all(str(photos) in problem.message and problem.id in problem.message for problem in report.problems)


def test_a_name_that_is_not_utf8(photos: Path) -> None:
    """A file whose name cannot be written down as text is named in escapes."""
    (photos / os.fsdecode(b"\xff.png")).write_bytes(encoded())
    (problem,) = check(photos, prompt="?").problems
    assert "the name is not UTF-8" in problem.message
    problem.message.encode()


def test_a_name_that_looks_like_something_else(photos: Path) -> None:
    """An image that is called like a data URI is read as the file that it is."""
    (photos / "data:image").write_bytes(encoded())
    report = check(photos, prompt="?")
    assert (report.samples, report.problems) == (5, ())


def test_an_empty_folder_is_a_problem(tmp_path: Path) -> None:
    """A folder without images is no data."""
    assert [problem.kind for problem in check(tmp_path, prompt="?").problems] == ["empty"]
