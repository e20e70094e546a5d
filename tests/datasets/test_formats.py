"""The reader is chosen by what a data set is, contradictions are named, and others can bring readers."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from dokimasia.datasets import READERS, Problem, Row, format_of, open_dataset, register_reader
from dokimasia.domain.sample import Sample
from dokimasia.errors import ConfigError, DataError, NotFound

from .conftest import encoded

LINE = json.dumps({"id": "1", "prompt": "?"})
TABLE = "index\tquestion\n1\t?\n"


@pytest.fixture(autouse=True)
def readers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Readers that a test registers are gone after it."""
    monkeypatch.setattr("dokimasia.datasets.formats.READERS", READERS.copy())


@pytest.mark.parametrize(
    ("name", "text", "format"),
    [
        ("data.jsonl", LINE, "jsonl"),
        ("data.JSONL", LINE, "jsonl"),
        ("data.ndjson", LINE, "ndjson"),
        ("data.tsv", TABLE, "tsv"),
        ("data.tsv", TABLE.replace("index", '"index"'), "tsv"),
        ("data.txt", "\ufeff" + TABLE, "tsv"),
        ("data.json", LINE, "jsonl"),
        ("data", LINE, "jsonl"),
        ("data.jsonl", "", "jsonl"),
        ("data.jsonl", "broken", "jsonl"),
        (".", "", "folder"),
    ],
)
def test_formats(tmp_path: Path, name: str, text: str, format: str) -> None:
    """The extension says how to read, and content where there is no telling extension."""
    path = tmp_path / name
    if name != ".":
        path.write_text(text)
    assert format_of(path).name == format


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("data.tsv", LINE.encode(), r"named as a VLMEvalKit TSV but its content is JSON lines; rename it to \.jsonl"),
        ("data.jsonl", TABLE.encode(), r"named as JSON lines but its content is a VLMEvalKit TSV"),
        ("data.jsonl", b"PAR1....", r"its content is Parquet"),
        ("data.json", b"[{}]", "is a JSON array; write one object a line"),
        ("data.txt", b"index,question\n1,?", r"separated by commas; name it \.csv"),
        ("data.gz", gzip.compress(b"x", mtime=0), "is compressed"),
        ("data.sheet", b"PK\x03\x04", "workbook"),
        ("a.png", encoded(), "is an image.*give the folder"),
        (
            "data.bin",
            b"\0\1\2",
            r"no format that can be read.*\(\.jsonl\).*\(\.tsv\).*\(\.csv\).*\(\.xlsx.*\(\.parquet.*folder of images",
        ),
        ("data", b"", "no format that can be read"),
    ],
)
def test_contradictions_and_other_files(tmp_path: Path, name: str, data: bytes, reason: str) -> None:
    """A file that is something else is named as what it is, with the formats that there are."""
    (tmp_path / name).write_bytes(data)
    with pytest.raises(DataError, match=reason):
        format_of(tmp_path / name)


def test_a_missing_file(tmp_path: Path) -> None:
    """What is not there is not found."""
    with pytest.raises(NotFound):
        open_dataset(tmp_path / "none.tsv")


def read_mine(path: Path) -> Iterator[Row | Problem]:
    """Read lines of id and question with a slash between."""
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        id, slash, question = line.partition("/")
        if slash:
            yield Row(number, {"id": id, "prompt": question})
        else:
            yield Problem(number, None, f"{path}, line {number}: no slash", "syntax")


def test_a_reader_of_ones_own(tmp_path: Path) -> None:
    """A registered reader gives rows; ids, fields and images are checked as for every format."""
    path = tmp_path / "data.MINE"
    path.write_text("1/What?\nno\n1/Who?\n/Why?\n")
    with pytest.raises(DataError):
        format_of(path)
    register_reader(".Mine", read_mine)
    found = list(open_dataset(path))
    assert [type(one) for one in found] == [Sample, Problem, Problem, Problem]
    assert [one.kind for one in found if isinstance(one, Problem)] == ["syntax", "duplicate-id", "id"]


def test_a_reader_is_not_replaced_in_silence(tmp_path: Path) -> None:
    """An extension that is taken needs replace; the same reader twice is no matter; no extension is refused."""
    register_reader(".mine", read_mine)
    register_reader(".mine", read_mine)
    with pytest.raises(ConfigError, match="have a reader already"):
        register_reader(".tsv", read_mine)
    register_reader(".tsv", read_mine, replace=True)
    with pytest.raises(ConfigError, match="not a file extension"):
        register_reader("mine", read_mine)


def test_the_reader_in_the_documentation_works(tmp_path: Path) -> None:
    """The example of docs/data.md reads what it says."""
    document = Path(__file__).parents[2] / "docs" / "data.md"
    code = document.read_text().split("```python\n")[1].split("```")[0]
    exec(compile(code, str(document), "exec"), {"__name__": "example"})
    (tmp_path / "7.png").write_bytes(encoded())
    path = tmp_path / "data.cards"
    path.write_text("7/What is it?\nnothing\n")
    sample, problem = open_dataset(path)
    assert isinstance(sample, Sample)
    assert (sample.id, len(sample.images)) == ("7", 1)
    assert isinstance(problem, Problem)
