"""Answers that exist already are read, and what is wrong with them is named."""

import json
from pathlib import Path

import pytest

from dokimasia.datasets import GivenResponse, named_file, read_responses
from dokimasia.errors import DataError, NotFound
from dokimasia.runs.method import ColumnType, Export
from dokimasia.runs.reading.exporting import Format, encode

GOOD = {"id": "s1", "model": "m", "response": "A cat."}


def written(tmp_path: Path, *rows: object) -> Path:
    """Return a file of those rows."""
    path = tmp_path / "answers.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows))
    return path


def test_responses_are_read(tmp_path: Path) -> None:
    """Repeats count from 0, an empty answer is an answer, other fields are overlooked."""
    path = written(tmp_path, GOOD, {**GOOD, "repeat": 1, "response": "", "latency": 3}, {**GOOD, "id": 2})
    assert list(read_responses(path)) == [
        GivenResponse("s1", "m", "A cat.", 0),
        GivenResponse("s1", "m", "", 1),
        GivenResponse("2", "m", "A cat.", 0),
    ]


def test_an_export_is_a_file_of_responses(tmp_path: Path) -> None:
    """Of a run's export, failed answers without a text and answers of another arm are passed over."""
    failed = {**GOOD, "id": "s2", "response": None, "outcome": "failed"}
    path = written(tmp_path, {**GOOD, "arm": "", "outcome": "scored"}, failed, {**GOOD, "arm": "blind"})
    assert list(read_responses(path)) == [GivenResponse("s1", "m", "A cat.", 0)]


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (GOOD, "already answers sample 's1', repeat 0, on line 1"),
        ({**GOOD, "id": None}, "'id'"),
        ({**GOOD, "model": " "}, "'model'"),
        ({**GOOD, "response": None}, "'response'"),
        ({**GOOD, "repeat": -1}, "'repeat'"),
        ({**GOOD, "repeat": True}, "'repeat'"),
        ([GOOD], "not a JSON object"),
    ],
)
def test_bad_lines_are_named(tmp_path: Path, row: object, reason: str) -> None:
    """File and line stand in the message."""
    with pytest.raises(DataError, match=rf"answers\.jsonl, line 2: .*{reason}"):
        list(read_responses(written(tmp_path, GOOD, row)))


def test_answers_without_a_model_say_how_to_name_it(tmp_path: Path) -> None:
    """A file whose rows name no model is refused with the option that names it, and read with the name."""
    path = tmp_path / "answers.jsonl"
    path.write_text('{"id": "a", "response": "x"}\n')
    with pytest.raises(DataError, match=r"'model' is missing.*--responses NAME=answers\.jsonl"):
        list(read_responses(path))
    (answer,) = read_responses(named_file(f"mine={path}"))
    assert (answer.model, answer.text) == ("mine", "x")


def test_no_file_and_no_answer(tmp_path: Path) -> None:
    """A missing and an empty file are errors."""
    with pytest.raises(NotFound, match="answers"):
        list(read_responses(tmp_path / "answers.jsonl"))
    with pytest.raises(DataError, match="no response"):
        list(read_responses(written(tmp_path)))


TEXTS = ("=1+1", "'=a", "-5", "one\ntwo\r\nthree\rfour", 'he said "no", then went', "", "A cat.\t", "it's")


@pytest.mark.parametrize("format", ["jsonl", "csv", "parquet"])
def test_an_export_in_any_format_comes_back_as_it_was(tmp_path: Path, format: Format) -> None:
    """Answers are read by the file's extension, to the letter; failed ones and those of another arm are passed over."""
    columns: dict[str, ColumnType] = {
        "id": "text", "model": "text", "arm": "text", "repeat": "integer", "outcome": "text", "response": "text"
    }  # fmt: skip
    one = {"model": "m", "arm": "", "repeat": 0, "outcome": "scored"}
    rows = [{**one, "id": f"s{at}", "response": text} for at, text in enumerate(TEXTS)]
    rows += [
        {**one, "id": "s0", "response": "again", "repeat": 1},
        {**one, "id": "s1", "response": "b", "arm": "blind"},
    ]
    rows.append({**one, "id": "s9", "response": None, "outcome": "failed"})
    path = tmp_path / f"answers.{format}"
    path.write_bytes(encode(Export(columns, rows), format))
    assert [(given.sample_id, given.text, given.repeat) for given in read_responses(path)] == [
        *((f"s{at}", text, 0) for at, text in enumerate(TEXTS)),
        ("s0", "again", 1),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id,model\ns1,m\n", r"answers\.csv, line 2: the field 'response'"),
        ("id,model,response\ns1,m,a\ns2,m\n", r"answers\.csv, line 3: 2 cells where the header has 3 columns"),
        ("id,model,response,id\n", r"answers\.csv, line 1: the column 'id' stands twice"),
        ('id,model,response\ns1,m,"a\n', r"answers\.csv, line 2: a cell begins with a double quote"),
        ("id,model,response,repeat\ns1,m,a,x\n", r"answers\.csv, line 2: the field 'repeat'"),
        ('id,model,response\ns1,m,"a\nb"\ns1,m,c\n', r"line 4: m already answers sample 's1', repeat 0, on line 2"),
    ],
)
def test_bad_rows_of_a_table_are_named(tmp_path: Path, text: str, message: str) -> None:
    """In a table, too, file and line stand in the message; a row's line is the first of its lines."""
    path = tmp_path / "answers.csv"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        list(read_responses(path))


def test_semicolons_are_named(tmp_path: Path) -> None:
    """A table with semicolons, as spreadsheets of some countries write it, is refused with the columns that were found."""
    path = tmp_path / "answers.csv"
    path.write_text("id;model;response\ns1;m;A cat, and a dog.\n")
    with pytest.raises(DataError, match=r"line 1: one column, 'id;model;response', is found: a comma is expected"):
        list(read_responses(path))
