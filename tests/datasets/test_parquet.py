"""Parquet tables become samples: Hugging Face image columns, lists, and tables in our own or the usual names."""

import datetime
import decimal
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from dokimasia.datasets import check, open_dataset
from dokimasia.datasets.lines import Problem
from dokimasia.domain.sample import Sample
from dokimasia.errors import ConfigError, DataError

from .conftest import Blobs, encoded

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

PNG, JPEG = encoded(size=(8, 8)), encoded("JPEG", size=(8, 8))


def write(path: Path, rows: list[dict[str, Any]], *, features: Any = None, schema: Any = None) -> Path:
    """Write rows as a table, with Hugging Face's description of its features if there is one."""
    table = pyarrow.Table.from_pylist(rows, schema=schema)
    if features is not None:
        table = table.replace_schema_metadata({"huggingface": json.dumps({"info": {"features": features}})})
    parquet.write_table(table, path)
    return path


def read(path: Path, **options: Any) -> list[Sample]:
    """Return the samples of a table that has nothing wrong."""
    found = list(open_dataset(path, **options))
    assert all(isinstance(one, Sample) for one in found), found
    return [one for one in found if isinstance(one, Sample)]


def test_our_own_names(tmp_path: Path, blobs: Blobs) -> None:
    """A table with the fields of JSON lines gives the same samples as the lines do, unset fields as absent."""
    (tmp_path / "a.png").write_bytes(PNG)
    rows = [
        {"id": "1", "prompt": "?", "reference_answer": "A", "choices": ["x", "y"], "meta": {"n": 1, "s": None}},
        {"id": "2", "prompt": "!", "images": ["a.png", "a.png"], "category": "c", "level": 2.5},
    ]
    (tmp_path / "data.jsonl").write_text("\n".join(json.dumps(row) for row in rows).replace(', "s": null', ""))
    keys = {key: None for row in rows for key in row}
    path = write(tmp_path / "data.parquet", [{**keys, **row} for row in rows])
    assert read(path, blobs=blobs) == read(tmp_path / "data.jsonl")
    assert check(path).fingerprint == check(tmp_path / "data.jsonl").fingerprint


@pytest.mark.parametrize(
    ("value", "count"),
    [
        ({"bytes": PNG, "path": None}, 1),
        ({"bytes": PNG, "path": "cat.png"}, 1),
        ({"bytes": None, "path": "a.png"}, 1),
        (PNG, 1),
        ("a.png", 1),
        ([{"bytes": PNG, "path": None}, {"bytes": JPEG, "path": "b.jpg"}], 2),
        ([PNG, JPEG], 2),
        (["a.png", "a.png"], 2),
    ],
)
def test_images_of_every_kind(tmp_path: Path, value: Any, count: int) -> None:
    """Bytes, paths, Hugging Face's struct of both, and lists of each are images."""
    (tmp_path / "a.png").write_bytes(PNG)
    (sample,) = read(write(tmp_path / "data.parquet", [{"id": "1", "prompt": "?", "image": value}]))
    assert len(sample.images) == count
    assert sample.images[0].media_type == "image/png"


def test_declared_image_columns(tmp_path: Path) -> None:
    """Columns that the metadata calls images are the images; a column called image beside them is meta."""
    row = {"pid": 7, "question": "?", "image": "images/1.jpg", "decoded_image": {"bytes": JPEG, "path": "1.jpg"}}
    features = {"decoded_image": {"_type": "Image"}, "question": {"_type": "Value", "dtype": "string"}}
    (sample,) = read(write(tmp_path / "data.parquet", [row], features=features))
    assert (sample.id, len(sample.images)) == ("1", 1)
    assert sample.meta == {"pid": 7, "image": "images/1.jpg"}


def test_numbered_image_columns(tmp_path: Path) -> None:
    """image_1, image_2, ... are the images in the order of their numbers; those that are unset are none."""
    row = {"id": "1", "question": "?", "image_10": JPEG, "image_2": PNG, "image_1": None, "options": "['a', \"b\"]"}
    (sample,) = read(write(tmp_path / "data.parquet", [{**row, "answer": "B"}]))
    assert [image.media_type for image in sample.images] == ["image/png", "image/jpeg"]
    assert (sample.choices, sample.reference_answer) == (("a", "b"), "b")


@pytest.mark.parametrize(
    ("answer", "choices", "reference"),
    [(1, ["x", "y"], "y"), ("B", ["x", "y"], "y"), (4, ["3", "4"], "4"), (0, ["0", "1"], "0"), (2.5, None, "2.5")],
)
def test_answers(tmp_path: Path, answer: Any, choices: Any, reference: str) -> None:
    """A number is an option's place from 0 unless only its text fits; a letter names an option."""
    path = write(tmp_path / "data.parquet", [{"id": "1", "question": "?", "answer": answer, "choices": choices}])
    assert read(path)[0].reference_answer == reference


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"answer": 1, "choices": ["1", "2"]}, "one option's text and another's number"),
        ({"answer": 5, "choices": ["x", "y"]}, "the 2 options count from 0"),
        ({"answer": "Z", "choices": ["x", "y"]}, "'answer' is Z"),
        ({"choices": [["x"]]}, "'choices' is not a list of strings"),
        ({"image": {"bytes": PNG[:60], "path": None}}, "damaged or cut off"),
        ({"image": {"bytes": PNG, "path": "a.jpg"}}, "named JPEG but its content is PNG"),
        ({"image": {"bytes": None, "path": "none.png"}}, "no image file 'none.png'"),
        ({"image": b""}, "is empty"),
        ({"image": 7}, "'images' a list of strings"),
        ({"question": None}, "the field 'question' is missing"),
        ({"id": " "}, "the field 'id' is missing"),
        ({"id": "0"}, "already stands on row 1"),
    ],
)
def test_each_problem_is_named_by_row(tmp_path: Path, row: dict[str, Any], reason: str) -> None:
    """What is wrong is named by file and row, counted from 1, and other rows are read."""
    base = {"id": "1", "question": "?"}
    rows: list[dict[str, Any]] = [{**base, "id": "0"}, {**base, **row}, {**base, "id": "2"}]
    keys = {key: None for one in rows for key in one}
    path = write(tmp_path / "data.parquet", [{**keys, **one} for one in rows])
    found = list(open_dataset(path))
    (problem,) = [one for one in found if isinstance(one, Problem)]
    assert problem.line == 2
    assert problem.message.startswith(f"{path}, row 2")
    assert reason in problem.message
    assert [one.id for one in found if isinstance(one, Sample)] == ["0", "2"]


def test_other_columns_become_meta(tmp_path: Path) -> None:
    """Dates, decimals, bytes and numbers that are none become what JSON can hold."""
    row = {
        "id": "1",
        "question": "?",
        "day": datetime.date(2024, 5, 1),
        "price": decimal.Decimal("1.50"),
        "audio": b"abc",
        "nan": float("nan"),
        "big": float("inf"),
        "nested": [{"a": 1}],
        "__index_level_0__": 3,
    }
    (sample,) = read(write(tmp_path / "data.parquet", [row]))
    audio = sample.meta.pop("audio")
    assert audio["bytes"] == 3
    assert sample.meta == {"day": "2024-05-01", "price": "1.50", "big": "inf", "nested": [{"a": 1}]}


def test_text_that_is_not_utf8(tmp_path: Path) -> None:
    """A cell with broken characters is a problem of its row alone."""
    array = pyarrow.array([b"good", b"\xff", b"fine"], pyarrow.binary()).view(pyarrow.string())
    table = pyarrow.table({"id": ["1", "2", "3"], "prompt": array})
    parquet.write_table(table, tmp_path / "data.parquet")
    report = check(tmp_path / "data.parquet")
    assert (report.samples, [(one.line, one.kind) for one in report.problems]) == (2, [(2, "encoding")])


def test_streaming_by_batch(tmp_path: Path) -> None:
    """More rows than a batch holds come in order, and reading stops at the limit."""
    rows = [{"id": str(number), "prompt": "?"} for number in range(100)]
    path = write(tmp_path / "data.parquet", rows)
    assert [sample.id for sample in read(path)] == [str(number) for number in range(100)]
    assert len(read(path, limit=20)) == 20


@pytest.mark.parametrize("cut", [0, 3, 40, -10])
def test_a_damaged_file(tmp_path: Path, cut: int) -> None:
    """A file that was cut off is one error that names it."""
    path = write(tmp_path / "data.parquet", [{"id": "1", "prompt": "?"}])
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(DataError, match=r"data\.parquet is not a Parquet file, or is damaged or cut off"):
        check(path)


def test_a_damaged_page(tmp_path: Path) -> None:
    """Damage in the middle ends reading with a problem that names the row, and loses no earlier group of rows."""
    rows = [{"id": str(number), "prompt": f"What is {number}?" * 9} for number in range(64)]
    path = tmp_path / "data.parquet"
    parquet.write_table(pyarrow.Table.from_pylist(rows), path, row_group_size=32, compression="zstd")
    second = parquet.ParquetFile(path).metadata.row_group(1).column(0)
    data = bytearray(path.read_bytes())
    start = second.dictionary_page_offset or second.data_page_offset
    data[start : start + second.total_compressed_size] = b"\xff" * second.total_compressed_size
    path.write_bytes(data)
    report = check(path)
    assert report.samples == 32
    assert [(one.line, "damaged" in one.message) for one in report.problems] == [(33, True)]


def test_without_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where pyarrow is missing the error says what to install."""
    path = write(tmp_path / "data.parquet", [{"id": "1", "prompt": "?"}])
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ConfigError, match=r"pip install dokimasia\[parquet\]"):
        check(path)
