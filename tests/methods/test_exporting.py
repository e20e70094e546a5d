"""Exports: one row an answer, the same bytes every time, whole or not at all, and harmless in a spreadsheet."""

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import orjson
import pytest

from dokimasia.datasets.tables import workbook_rows
from dokimasia.errors import ConfigError, InputError
from dokimasia.methods.evaluation import EvaluationRequest, evaluate
from dokimasia.methods.evaluation.figures import COLUMNS as OWN
from dokimasia.runs.method import Export
from dokimasia.runs.reading.exporting import (
    FIRST,
    FORMATS,
    LAST,
    Format,
    encode,
    export_pages,
    export_rows,
    format_of,
    write_export,
    write_whole,
)
from dokimasia.settings import Settings
from dokimasia.simulation.serving.faults import parse_faults
from dokimasia.simulation.serving.transport import SimTransport
from dokimasia.storage.home import Home
from dokimasia.storage.runs import get_run

pytestmark = pytest.mark.quick

Requests = Callable[..., EvaluationRequest]
COLUMNS = {**FIRST, **OWN, **LAST}


async def exported(
    settings: Settings, request: EvaluationRequest, faults: str = ""
) -> tuple[Any, list[dict[str, Any]]]:
    transport = SimTransport(faults=parse_faults(faults))
    result = await evaluate(request, settings=settings, transports={"sim": transport})
    with Home.open(settings.home, write=False) as home:
        return result, (await export_rows(home, get_run(home, result.run))).rows


def row_of(**values: Any) -> dict[str, Any]:
    return {**dict.fromkeys(COLUMNS), **values}


async def test_every_answer_is_a_row_that_adds_up(settings: Settings, request_of: Requests) -> None:
    """Scored and failed answers are all there; scores, calls and cost add up to the run's own figures."""
    result, rows = await exported(settings, request_of(repeats=2), "refusal=0.2,content_filter=0.1,missing_usage=0.2")
    assert len(rows) == 14 * 2 * 2
    assert any(row["outcome"] == "failed" for row in rows)
    for row in rows:
        assert list(row) == list(dict.fromkeys(row))
        assert set(row) == set(COLUMNS)
        assert (row["outcome"] == "scored") == (row["score"] is not None) == (row["criteria_scores"] is not None)
        assert (row["outcome"] == "failed") == (row["failure"] is not None)
        assert row["judge"] == "sim/judge-noisy"
        assert row["simulated"] is True
        if row["outcome"] == "scored":
            weighted = sum(s * w for s, w in zip(row["criteria_scores"], row["weights"], strict=True))
            assert row["score"] == pytest.approx(weighted / sum(row["weights"]))
            assert row["response"]
            assert row["prompt"] == "checkpoints"
        assert row["calls"] == len(row["call_keys"])
    assert any(row["input_tokens"] is None for row in rows)
    for name, model in result.summary["models"].items():
        mine = [row for row in rows if row["model"] == name]
        assert len({key for row in mine for key in row["call_keys"]}) == model["calls"]
        failures: dict[str, int] = {}
        for row in mine:
            if row["failure"]:
                failures[row["failure"]] = failures.get(row["failure"], 0) + 1
        assert failures == model["failed_answers"]


@pytest.mark.parametrize("format", FORMATS)
async def test_the_same_run_gives_the_same_bytes(
    settings: Settings, request_of: Requests, tmp_path: Path, format: Format
) -> None:
    """Two homes, evaluated at different times, export the same bytes."""
    _, first = await exported(settings, request_of(limit=4))
    _, second = await exported(Settings(home=tmp_path / "elsewhere"), request_of(limit=4))
    assert encode(Export(COLUMNS, first), format) == encode(Export(COLUMNS, second), format)


async def test_all_formats_hold_the_same_rows(settings: Settings, request_of: Requests, tmp_path: Path) -> None:
    """JSON lines and Parquet are exact; CSV has a header and quotes what needs it."""
    from pyarrow import parquet

    _, rows = await exported(settings, request_of(limit=4), "refusal=0.2")
    lines = [orjson.loads(line) for line in encode(Export(COLUMNS, rows), "jsonl").splitlines()]
    assert lines == rows
    assert list(lines[0]) == list(COLUMNS)
    path = tmp_path / "run.parquet"
    write_whole(path, encode(Export(COLUMNS, rows), "parquet"))
    table = parquet.read_table(path)
    assert table.column_names == list(COLUMNS)
    assert table.to_pylist() == [{name: row[name] for name in COLUMNS} for row in rows]
    read = list(csv.DictReader(io.StringIO(encode(Export(COLUMNS, rows), "csv").decode(), newline="")))
    assert [one["response"] for one in read] == [row["response"] or "" for row in rows]
    assert [one["score"] for one in read] == ["" if row["score"] is None else str(row["score"]) for row in rows]
    assert [orjson.loads(one["call_keys"]) for one in read] == [row["call_keys"] for row in rows]


@pytest.mark.parametrize("format", FORMATS)
async def test_an_export_is_written_as_it_is_read(
    settings: Settings, request_of: Requests, monkeypatch: pytest.MonkeyPatch, format: Format
) -> None:
    """Written some rows at a time, a file has the bytes of the whole, and every row once."""
    result, rows = await exported(settings, request_of(limit=5, repeats=2), "refusal=0.2")
    monkeypatch.setattr("dokimasia.storage.results.PAGE", 9)
    with Home.open(settings.home, write=False) as home:
        run = get_run(home, result.run)
        columns, pages = export_pages(home, run)
        sizes = [len(page) async for page in pages]
        file = io.BytesIO()
        assert await write_export(home, run, format, file) == len(rows) == sum(sizes)
    assert len(sizes) > 1
    assert file.getvalue() == encode(Export(columns, rows), format)


def test_an_export_without_rows_has_its_columns() -> None:
    """Nothing to export is an empty table with its header, not an empty file."""
    assert encode(Export(COLUMNS, []), "jsonl") == b""
    assert encode(Export(COLUMNS, []), "csv").decode() == ",".join(COLUMNS) + "\n"
    assert encode(Export(COLUMNS, []), "parquet").startswith(b"PAR1")


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("=HYPERLINK(0)", "'=HYPERLINK(0)"),
        ("+1+cmd", "'+1+cmd"),
        ("-5", "-5"),
        ("+3.5e2", "+3.5e2"),
        ("-a", "'-a"),
        ("@sum", "'@sum"),
        ("\t=1", "'\t=1"),
        ('say "so", twice\nand "again"', 'say "so", twice\nand "again"'),
        ("a = b", "a = b"),
    ],
)
def test_no_answer_becomes_a_formula(text: str, cell: str) -> None:
    """A text that a spreadsheet would run gets an apostrophe in front; numbers and other texts stay as they are."""
    rows = [row_of(response=text)]
    (read,) = csv.DictReader(io.StringIO(encode(Export(COLUMNS, rows), "csv").decode(), newline=""))
    assert read["response"] == cell
    assert orjson.loads(encode(Export(COLUMNS, rows), "jsonl"))["response"] == text


def test_the_format_follows_the_name() -> None:
    """A format that is named counts; else the file's ending does; else it is JSON lines."""
    assert format_of("csv", Path("a.parquet")) == "csv"
    assert format_of(None, Path("a.PARQUET")) == "parquet"
    assert format_of(None, Path("a.txt")) == format_of(None, None) == "jsonl"


@pytest.mark.parametrize(("name", "ending"), [("excel", "xlsx"), ("csv", "xlsx"), (None, "xls"), ("xlsx", "ods")])
def test_no_text_is_written_under_the_ending_of_a_workbook(name: str | None, ending: str) -> None:
    """The refusal says which endings there are for a workbook and for CSV."""
    with pytest.raises(ConfigError, match=r"--format xlsx writes a workbook.*ends in \.csv"):
        format_of(name, Path(f"answers.{ending}"))
    assert format_of(None, Path("answers.xlsx")) == "xlsx"


async def test_a_workbook_holds_texts_as_texts_and_numbers_as_numbers(
    settings: Settings, request_of: Requests, tmp_path: Path
) -> None:
    """Read by the package's own reader, every cell is that of the row; nothing is a formula."""
    _, rows = await exported(settings, request_of(limit=4), "refusal=0.2")
    texts = ["=1+1", "  two\nlines & <tags>", "-5", "ä\U0001f600"]
    rows += [row_of(response=text, score=1.25, repeat=2, simulated=False, flags=["a", "b"]) for text in texts]
    path = tmp_path / "run.xlsx"
    write_whole(path, encode(Export(COLUMNS, rows), "xlsx"))
    header, *read = [values for _, values in workbook_rows(path, formulas=True)]
    assert list(header) == list(COLUMNS)
    assert len(read) == len(rows)
    for values, row in zip(read, rows, strict=True):
        for name, value in zip(COLUMNS, values, strict=True):
            expected = row[name]
            if isinstance(expected, list):
                expected = orjson.dumps(expected).decode()
            if expected == "":
                expected = None
            assert value == expected
            assert isinstance(expected, float) or type(value) is type(expected)
    with ZipFile(path) as archive:
        sheet = archive.read("xl/worksheets/sheet1.xml")
    assert b"<f>" not in sheet


def test_what_a_cell_cannot_hold_is_said() -> None:
    """A text that is too long names its row and other formats; a control character is written as spreadsheets write it."""
    with pytest.raises(InputError, match=r"row 2: a text has 32,768 characters.*CSV or JSON lines"):
        encode(Export(COLUMNS, [row_of(response="x" * 32_768)]), "xlsx")
    with ZipFile(io.BytesIO(encode(Export(COLUMNS, [row_of(response="a\x01b _x0041_")]), "xlsx"))) as archive:
        assert b">a_x0001_b _x005F_x0041_<" in archive.read("xl/worksheets/sheet1.xml")


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    """What cannot be written is an error that names the file, and leaves the old one and nothing half-written."""
    path = tmp_path / "out.csv"
    write_whole(path, b"old")
    write_whole(path, b"new")
    assert path.read_bytes() == b"new"
    assert [one.name for one in tmp_path.iterdir()] == ["out.csv"]
    with pytest.raises(InputError, match=r"nowhere/out\.csv cannot be written: the folder .*nowhere does not exist"):
        write_whole(tmp_path / "nowhere" / "out.csv", b"x")
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match="cannot be written"):
        write_whole(tmp_path / "folder", b"x")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["folder", "out.csv"]
