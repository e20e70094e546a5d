"""Data sets from a spreadsheet: CSV with commas or semicolons, workbooks, and images found by their file names."""

import io
import time
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import pytest
from PIL import Image

from dokimasia.datasets import Problem, open_dataset
from dokimasia.domain.sample import Sample
from dokimasia.errors import DataError

QUESTION = 'What is "2 + 2", in one word?\nThink.'


def picture(path: Path, colour: str = "red") -> None:
    """A small picture at a path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    out = io.BytesIO()
    Image.new("RGB", (8, 8), colour).save(out, "PNG")
    path.write_bytes(out.getvalue())


def read(path: Path) -> list[Sample]:
    """The samples of a file in which nothing is wrong."""
    found = list(open_dataset(path))
    assert not [one for one in found if isinstance(one, Problem)], found
    return [one for one in found if isinstance(one, Sample)]


@pytest.mark.parametrize("separator", [",", ";"])
def test_a_csv_of_a_spreadsheet_is_read(tmp_path: Path, separator: str) -> None:
    """A byte order mark, either separator, quoted cells of several lines, and columns that become meta."""
    cells = [
        ["id", "question", "answer", "category", "source"],
        ["a", '"' + QUESTION.replace('"', '""') + '"', "four", "sums", "me"],
    ]
    path = tmp_path / "data.csv"
    path.write_text("\ufeff" + "\r\n".join(separator.join(row) for row in cells), newline="")
    (sample,) = read(path)
    assert (sample.id, sample.prompt, sample.reference_text, sample.category) == ("a", QUESTION, "four", "sums")
    assert sample.meta == {"source": "me"}


def test_a_workbook_is_read_as_its_csv_is(tmp_path: Path) -> None:
    """The first sheet of a workbook gives the samples that the same table as CSV gives."""
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    rows = [
        ["id", "question", "A", "B", "answer"],
        [1, "Which?", "left", "right", "B"],
        [None] * 5,
        [2, "And?", 3, 4, "A"],
    ]
    for row in rows:
        book.active.append(row)
    book.save(tmp_path / "data.xlsx")
    (tmp_path / "data.csv").write_text("id,question,A,B,answer\n1,Which?,left,right,B\n2,And?,3,4,A\n")
    assert read(tmp_path / "data.xlsx") == read(tmp_path / "data.csv")


def workbook_of(path: Path, sheet: str) -> Path:
    """Write a workbook whose sheet is this XML; its packing is that of openpyxl."""
    openpyxl = pytest.importorskip("openpyxl")
    openpyxl.Workbook().save(path)
    with ZipFile(path) as packed:
        parts = {name: packed.read(name) for name in packed.namelist()}
    parts["xl/worksheets/sheet1.xml"] = sheet.encode()
    with ZipFile(path, "w", ZIP_DEFLATED) as packed:
        for name, part in parts.items():
            packed.writestr(name, part)
    return path


SHEET = '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">{}</worksheet>'
ID = '<row><c r="A1" t="inlineStr"><is><t>id</t></is></c></row>'
TOO_LARGE = "more than 1,048,576 rows or 20,000,000 cells, empty ones included, and is not read; save it as TSV"


@pytest.mark.parametrize(
    ("sheet", "message"),
    [
        ('<sheetData><row r="1000000000000"><c r="A1000000000000"><v>1</v></c></row></sheetData>', TOO_LARGE),
        ("<sheetData>" + ID + '<row><c r="XFD2"><v>1</v></c></row>' * 2_000 + "</sheetData>", TOO_LARGE),
        ("<sheetData>" + " " * 21_000_000 + "</sheetData>", "unpacked it has more than 20,000,000 bytes"),
    ],
    ids=["last row", "wide rows", "packed spaces"],
)
def test_a_small_file_that_stands_for_a_large_sheet_is_refused(tmp_path: Path, sheet: str, message: str) -> None:
    """A sheet is read up to as many rows as Excel has and a number of cells, whatever its numbers say."""
    path = workbook_of(tmp_path / "data.xlsx", SHEET.format(sheet))
    with pytest.raises(DataError, match=message):
        list(open_dataset(path))


def test_many_columns_are_read_in_time(tmp_path: Path) -> None:
    """The time grows with the number of columns, and not with its square."""
    names = ["id", "prompt", *(f"column{number}" for number in range(50_000))]
    path = tmp_path / "data.csv"
    path.write_text(",".join(names) + "\n" + ",".join(["1"] * len(names)) + "\n")
    began = time.process_time()
    (sample,) = read(path)
    assert (sample.id, time.process_time() - began < 5) == ("1", True)


@pytest.mark.parametrize("name", ["ID", "Id", "id"])
def test_an_id_is_found_in_any_case(tmp_path: Path, name: str) -> None:
    """A column `ID` is the id, and no part of `meta`."""
    path = tmp_path / "data.csv"
    path.write_text(f"{name},prompt,note\na,What?,x\n")
    (sample,) = read(path)
    assert (sample.id, sample.meta) == ("a", {"note": "x"})


def test_a_table_without_an_id_says_what_it_has(tmp_path: Path) -> None:
    """The message names the column that may be the id."""
    (tmp_path / "data.csv").write_text("key,question\n1,Which?\n")
    (fault, *_) = open_dataset(tmp_path / "data.csv")
    assert isinstance(fault, Problem)
    assert "did you mean id by 'key'?" in fault.message


def test_images_are_found_by_their_file_names(tmp_path: Path) -> None:
    """A path of another folder, also of Windows, finds the only image of that name in a folder of that name; of two, neither."""
    picture(tmp_path / "flat.png")
    picture(tmp_path / "deep" / "Pictures" / "Other.PNG", "blue")
    picture(tmp_path / "train" / "only.png")
    for folder in ("x", "y"):
        picture(tmp_path / folder / "twice.png")
    names = ["somewhere/flat.png", "C:\\\\pictures\\\\other.png", "z/twice.png", "val/only.png"]
    lines = [f'{{"id": "{at}", "image": "{name}", "prompt": "?"}}' for at, name in enumerate(names)]
    (tmp_path / "data.jsonl").write_text("\n".join(lines))
    first, second, *others = open_dataset(tmp_path / "data.jsonl")
    assert isinstance(first, Sample)
    assert isinstance(second, Sample)
    assert first.images[0].sha256 != second.images[0].sha256
    assert [other.kind for other in others if isinstance(other, Problem)] == ["image-missing"] * 2
