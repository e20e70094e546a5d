"""Predictions as VLMEvalKit writes them, a file a model, are answers: matched by id, of the model that the file is of."""

import json
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from dokimasia.datasets import GivenResponse, dataset_of_predictions, name_and_file, named_file, read_responses
from dokimasia.datasets.responses import CUT_OFF
from dokimasia.errors import ConfigError, DataError, NotFound

TEXT = '=A harbour,\twith "boats".\nO harbour!'
ROWS: list[dict[str, Any]] = [
    {"index": 1, "question": "?", "prediction": TEXT},
    {"index": 2, "question": "?", "prediction": 12},
    {"index": 3, "question": "?", "prediction": None},
]
GIVEN = [GivenResponse("1", "GPT4o", TEXT, 0), GivenResponse("2", "GPT4o", "12", 0), GivenResponse("3", "GPT4o", "", 0)]


def workbook(path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    """Write rows as a workbook."""
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(list(rows[0]))
    for row in rows:
        book.active.append(list(row.values()))
    book.save(path)
    return path


def table(path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    """Write rows as a TSV."""

    def cell(value: Any) -> str:
        text = "" if value is None else str(value)
        return '"' + text.replace('"', '""') + '"' if set(text) & set('\t\n"') else text

    path.write_text("\n".join("\t".join(map(cell, line)) for line in (rows[0].keys(), *(row.values() for row in rows))))
    return path


def objects(path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    """Write rows as a list of objects."""
    path.write_text(json.dumps(rows))
    return path


def columns(path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    """Write rows as an object of columns, each by row, as pandas does."""
    path.write_text(json.dumps({name: {str(n): row[name] for n, row in enumerate(rows)} for name in rows[0]}))
    return path


WRITERS = {"xlsx": workbook, "tsv": table, "json": objects}


@pytest.mark.parametrize(("ending", "write"), [*WRITERS.items(), ("json", columns)])
def test_predictions_are_read(tmp_path: Path, ending: str, write: Any) -> None:
    """Index and prediction are id and answer in every form, an empty prediction is an empty answer."""
    assert list(read_responses(write(tmp_path / f"GPT4o_Creation_MMBench.{ending}", ROWS))) == GIVEN


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("InternVL2_5-78B_Creation_MMBench.json", "InternVL2_5-78B"),
        ("GPT4o_MMVet.json", "GPT4o"),
        ("openai%2Fgpt=predictions.json", "openai/gpt"),
        ("mine=GPT4o_MMVet.json", "mine"),
    ],
)
def test_the_model_is_named(tmp_path: Path, name: str, model: str) -> None:
    """Without a column `model` the file says whose predictions it holds, or what stands before its name does."""
    objects(tmp_path / name.rpartition("=")[2], ROWS)
    assert {one.model for one in read_responses(tmp_path / name)} == {model}


@pytest.mark.parametrize("beside", [True, False])
def test_a_data_set_with_underscores_is_known_by_its_file(tmp_path: Path, beside: bool) -> None:
    """The TSV beside the predictions, or the data set that is answered, says where the model's name ends."""
    path = workbook(tmp_path / "GPT4o_0806_MMBench_DEV_EN.xlsx", ROWS)
    with pytest.raises(DataError, match="name it: --responses NAME="):
        list(read_responses(path))
    if beside:
        table(tmp_path / "DEV_EN.tsv", ROWS)
        table(tmp_path / "MMBench_DEV_EN.tsv", ROWS)
    assert {answer.model for answer in read_responses(path, "" if beside else "MMBench_DEV_EN")} == {"GPT4o_0806"}


def test_predictions_lead_to_their_questions(tmp_path: Path) -> None:
    """Only a file with predictions, and a TSV beside it that has its name's end, has a data set."""
    questions = table(tmp_path / "MMBench_DEV_EN.tsv", [{"index": 1, "question": "?", "image_path": "a.png"}])
    predictions = workbook(tmp_path / "GPT4o_MMBench_DEV_EN.xlsx", ROWS)
    other = workbook(tmp_path / "more_MMBench_DEV_EN.xlsx", [{"id": 1, "question": "?"}])
    assert dataset_of_predictions(predictions) == questions
    assert [dataset_of_predictions(path) for path in (questions, other, tmp_path)] == [None, None, None]
    questions.unlink()
    assert dataset_of_predictions(predictions) is None


@pytest.mark.parametrize(("ending", "write"), WRITERS.items())
def test_ids_are_found_in_any_case(tmp_path: Path, ending: str, write: Any) -> None:
    """`ID` is the id of predictions that have no `index`, which comes first."""
    rows = [{"ID": "a", "prediction": "x"}]
    assert [row.sample_id for row in read_responses(write(tmp_path / f"M_V.{ending}", rows))] == ["a"]
    both = [{"id": "a", "index": 7, "prediction": "x"}]
    assert [row.sample_id for row in read_responses(write(tmp_path / f"M_V.{ending}", both))] == ["7"]


def test_a_column_model_comes_first(tmp_path: Path) -> None:
    """Rows say themselves of which model they are; another name given with the file is refused."""
    path = objects(tmp_path / "GPT4o_MMVet.json", [{"model": "own", **row} for row in ROWS])
    assert {one.model for one in read_responses(path)} == {"own"}
    with pytest.raises(DataError, match="entry 1: it is own's answer, and not other's"):
        list(read_responses(path.with_name(f"other={path.name}")))


def test_names_of_json_lines_can_be_given(tmp_path: Path) -> None:
    """`NAME=FILE` names the model of answers in every form."""
    path = tmp_path / "answers.jsonl"
    path.write_text(json.dumps({"id": "1", "response": "A cat."}))
    assert list(read_responses(named_file(f"gpt={path}"))) == [GivenResponse("1", "gpt", "A cat.", 0)]


def test_a_name_and_its_file_are_one_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was given is absolute, keeps its name, means the same when it is given again, and a real file comes first."""
    monkeypatch.chdir(tmp_path)
    once = named_file("openai/gpt 4=data/x.xlsx")
    assert once == tmp_path / "data" / "openai%2Fgpt 4=x.xlsx"
    assert name_and_file(once) == ("openai/gpt 4", tmp_path / "data" / "x.xlsx")
    assert name_and_file(named_file("openai%2Fgpt 4=data/x.xlsx")) == name_and_file(once)
    real = tmp_path / "a=b.json"
    real.write_text("[]")
    assert named_file("a=b.json") == real
    assert name_and_file(real) == (None, real)


@pytest.mark.parametrize("ending", WRITERS)
def test_two_predictions_of_one_id_are_refused(tmp_path: Path, ending: str) -> None:
    """The second place and the first are named."""
    path = WRITERS[ending](tmp_path / f"m_d.{ending}", [ROWS[0], ROWS[1], ROWS[1]])
    with pytest.raises(DataError, match=r"m_d\.\w+, \w+ \d: m already answers sample '2', repeat 0, on \w+ \d"):
        list(read_responses(path))


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([{"index": 1, "answer": "x"}], "line 1: the header has no column 'prediction'"),
        ([{"number": 1, "prediction": "x"}], "line 1: the header has no column 'index'"),
        ([{"index": None, "prediction": "x"}], "line 2: the field 'id' is missing"),
    ],
)
def test_what_is_missing_is_named(tmp_path: Path, rows: list[dict[str, Any]], reason: str) -> None:
    """A table without one of the two columns, or a row without an id, is an error with its place."""
    with pytest.raises(DataError, match=reason):
        list(read_responses(table(tmp_path / "m_d.tsv", rows)))


@pytest.mark.parametrize("name", ["predictions.json", "Model_Some_Data.json", "_Creation_MMBench.json"])
def test_a_model_is_not_guessed(tmp_path: Path, name: str) -> None:
    """A file's name that does not clearly say the model needs NAME=FILE."""
    with pytest.raises(DataError, match="--responses NAME="):
        list(read_responses(objects(tmp_path / name, ROWS)))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("m_d.json", b"{"),
        ("m_d.json", b"3"),
        ("m_d.json", b'{"index": 3}'),
        ("m_d.json", b"[3]"),
        ("m_d.json", b"\xff"),
        ("m_d.json", b"[]"),
        ("m_d.tsv", b"index\tprediction\n1\tx\ty"),
        ("m_d.tsv", b""),
        ("m_d.xlsx", b"index,prediction"),
        ("m_d.xlsx", b""),
    ],
)
def test_what_is_no_such_file_is_refused(tmp_path: Path, name: str, content: bytes) -> None:
    """A damaged file is a data error that names it."""
    if name.endswith("xlsx"):
        pytest.importorskip("openpyxl")
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(DataError, match=name):
        list(read_responses(path))


@pytest.mark.parametrize("name", ["m_d.xlsx", "m_d.json", "m_d.tsv", "a=b.jsonl"])
def test_a_file_that_is_not_there(tmp_path: Path, name: str) -> None:
    """A missing file is not found, in every form."""
    if name.endswith("xlsx"):
        pytest.importorskip("openpyxl")
    with pytest.raises(NotFound, match="no data file"):
        list(read_responses(tmp_path / name))


def test_a_workbook_needs_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without openpyxl the error names the extra, and other forms."""
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(ConfigError, match=r"dokimasia\[excel\].*TSV or JSON"):
        list(read_responses(tmp_path / "m_d.xlsx"))


def test_a_workbook_that_is_something_else(tmp_path: Path) -> None:
    """An archive that holds no workbook is refused."""
    pytest.importorskip("openpyxl")
    path = tmp_path / "m_d.xlsx"
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("x", "y")
    with pytest.raises(DataError, match="not a readable workbook"):
        list(read_responses(path))


def test_a_text_that_a_workbook_cut_off_is_refused(tmp_path: Path) -> None:
    """A prediction as long as a cell can be is not judged as if it were whole."""
    path = workbook(tmp_path / "m_d.xlsx", [{"index": 1, "prediction": "x" * CUT_OFF}])
    with pytest.raises(DataError, match="row 2: the prediction has 32,767 characters"):
        list(read_responses(path))
