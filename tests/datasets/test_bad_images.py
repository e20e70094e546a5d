"""Images on a bad day: in every format each bad one is named, and the odd but good ones are evaluated."""

import base64
import io
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

from dokimasia.datasets import check
from dokimasia.errors import DataError
from dokimasia.methods.evaluation import EvaluationRequest, evaluate
from dokimasia.settings import load_settings

from .conftest import encoded
from .test_images import animated, png_header
from .writing import write_jsonl, write_parquet, write_tsv


def megapixels(width: int, height: int) -> bytes:
    """Return a whole PNG of that many pixels, a bit each."""
    target = io.BytesIO()
    Image.new("1", (width, height)).save(target, "PNG")
    return target.getvalue()


def rotated() -> bytes:
    """Return a JPEG that is to be shown turned by a quarter."""
    exif = Image.Exif()
    exif[0x0112] = 6
    return encoded("JPEG", size=(8, 2), exif=exif)


SVG = b"<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>"
BAD: dict[str, tuple[bytes, str]] = {
    "sixty.png": (megapixels(10_000, 6_000), "10000 x 6000 pixels, more than the 50,000,000"),
    "bomb.png": (png_header(30_000, 30_000), "too many pixels|pixels, more than"),
    "disguised.jpg": (encoded("WEBP"), "named JPEG but its content is WEBP"),
    "moving.gif": (animated("GIF"), r"animated \(2 frames\)"),
    "drawing.svg": (SVG, "an SVG drawing|no PNG, JPEG, WebP or GIF"),
    "cut.png": (encoded(size=(64, 64))[:-40], "damaged or cut off"),
    "cut.jpg": (encoded("JPEG", size=(64, 64))[:-40], "damaged or cut off"),
    "nothing.png": (b"", "is empty"),
}
GOOD: dict[str, bytes] = {
    "cmyk.jpg": encoded("JPEG", mode="CMYK"),
    "rotated.jpg": rotated(),
    "pixel.png": encoded(size=(1, 1)),
}
IMAGES = {**{name: data for name, (data, _) in BAD.items()}, **GOOD}


def by_path_jsonl(folder: Path) -> Path:
    """JSON lines that name files."""
    lines = [f'{{"id": "{name}", "prompt": "What?", "image": "files/{name}"}}' for name in sorted(IMAGES)]
    (folder / "data.jsonl").write_text("\n".join(lines))
    return folder / "data.jsonl"


def by_path_tsv(folder: Path) -> Path:
    """A TSV that names files."""
    lines = [f"{name}\tWhat?\tfiles/{name}" for name in sorted(IMAGES)]
    (folder / "data.tsv").write_text("\n".join(["index\tquestion\timage_path", *lines]))
    return folder / "data.tsv"


def by_content_parquet(folder: Path) -> Path:
    """Parquet with the files' bytes and names."""
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    rows = [{"id": name, "prompt": "What?", "image": {"bytes": IMAGES[name], "path": name}} for name in sorted(IMAGES)]
    parquet.write_table(pyarrow.Table.from_pylist(rows), folder / "data.parquet")
    return folder / "data.parquet"


def as_folder(folder: Path) -> Path:
    """The folder of the files itself."""
    return folder / "files"


FORMATS = {"jsonl": by_path_jsonl, "tsv": by_path_tsv, "parquet": by_content_parquet, "folder": as_folder}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with the images in `files`."""
    (tmp_path / "files").mkdir()
    for name, data in IMAGES.items():
        (tmp_path / "files" / name).write_bytes(data)
    return tmp_path


@pytest.mark.parametrize("make", FORMATS.values(), ids=FORMATS)
def test_each_bad_image_is_named_in_one_pass(folder: Path, make: Callable[[Path], Path]) -> None:
    """Every bad image is a problem at its place, with its reason; the odd but good ones are samples."""
    path = make(folder)
    report = check(path, prompt="What?")
    assert report.samples == len(GOOD)
    assert {problem.id for problem in report.problems} == set(BAD)
    first = 2 if path.suffix == ".tsv" else 1
    for problem in report.problems:
        assert problem.id is not None
        assert problem.line == sorted(IMAGES).index(problem.id) + first
        assert re.search(BAD[problem.id][1], problem.message), problem.message
        assert problem.message.startswith(str(path))


@pytest.mark.parametrize("make", FORMATS.values(), ids=FORMATS)
async def test_evaluate_refuses_them_or_leaves_them_out(folder: Path, make: Callable[[Path], Path]) -> None:
    """An evaluation fails with every bad image named before anything is sent; told to skip, it scores the others."""
    settings = load_settings(home=folder / "home", cwd=folder, env={})
    request = EvaluationRequest(data=make(folder), judge="sim/judge-noisy", models=("sim/weak",), prompt="What?")
    with pytest.raises(DataError) as caught:
        await evaluate(request, settings=settings)
    assert all(name in str(caught.value) for name in BAD)
    result = await evaluate(request.model_copy(update={"on_bad_sample": "skip"}), settings=settings)
    assert result.complete
    assert (result.summary["samples"], len(result.summary["skipped"])) == (len(GOOD), len(BAD))
    assert result.summary["models"]["sim/weak"]["n"] == len(GOOD)


@pytest.mark.parametrize("write", [write_jsonl, write_tsv, write_parquet])
def test_bad_bytes_without_a_name(tmp_path: Path, write: Callable[..., Path]) -> None:
    """Embedded without file names, the same images are judged by content alone."""
    whole = {name: data for name, data in IMAGES.items() if name not in ("nothing.png", "drawing.svg")}
    rows = [{"id": name, "prompt": "What?", "images": [data]} for name, data in whole.items()]
    path = write(tmp_path / f"data.{write.__name__.removeprefix('write_')}", rows)
    report = check(path)
    assert {problem.id for problem in report.problems} == set(whole) - set(GOOD) - {"disguised.jpg"}


@pytest.mark.parametrize("data", [b"", SVG], ids=["zero bytes", "svg"])
def test_no_image_in_base64(tmp_path: Path, data: bytes) -> None:
    """Base64 of nothing, or of a drawing, is no image."""
    value = base64.b64encode(data).decode()
    (tmp_path / "data.jsonl").write_text(f'{{"id": "1", "prompt": "?", "image": "data:image/png;base64,{value}"}}')
    (tmp_path / "data.tsv").write_text(f"index\tquestion\timage\n1\t?\tdata:image/png;base64,{value}")
    for name in ("data.jsonl", "data.tsv"):
        report = check(tmp_path / name)
        assert report.samples == 0
        assert report.problems[0].kind in {"image-empty", "image-format"}
