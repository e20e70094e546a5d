"""Accepted answers come from every format alike: a list of them, or MM-Vet's alternatives and parts in one text."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dokimasia.datasets import check, open_dataset
from dokimasia.datasets.lines import Problem
from dokimasia.domain.sample import Sample

ROWS: list[dict[str, Any]] = [
    {"id": "1", "prompt": "Price?", "reference_answers": ["13.6", "13.7"]},
    {"id": "2", "prompt": "Cars?", "reference_answer": "no or empty", "reference_answers": ["no", "empty"]},
    {"id": "3", "prompt": "Years?", "reference_answer": "2000<AND>2012"},
    {"id": "4", "prompt": "Wind?", "reference_answer": "north<OR>N"},
    {"id": "5", "prompt": "One?", "reference_answers": ["only"]},
]
ACCEPTED = [
    (("13.6",), ("13.7",)),
    (("no",), ("empty",)),
    (("2000", "2012"),),
    (("north",), ("N",)),
    (("only",),),
]


def as_jsonl(folder: Path) -> Path:
    path = folder / "data.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return path


def as_tsv(folder: Path) -> Path:
    path = folder / "data.tsv"
    lines = [["index", "question", "answer", "reference_answers"]]
    for row in ROWS:
        answers = json.dumps(row["reference_answers"]).replace('"', '""') if "reference_answers" in row else ""
        lines.append([row["id"], row["prompt"], row.get("reference_answer", ""), f'"{answers}"'])
    path.write_text("".join("\t".join(line) + "\n" for line in lines))
    return path


def as_parquet(folder: Path) -> Path:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    names = ("id", "prompt", "reference_answer", "reference_answers")
    path = folder / "data.parquet"
    parquet.write_table(pyarrow.Table.from_pylist([{name: row.get(name) for name in names} for row in ROWS]), path)
    return path


@pytest.mark.parametrize("write", [as_jsonl, as_tsv, as_parquet])
def test_accepted_answers_of_every_format(write: Callable[[Path], Path], tmp_path: Path) -> None:
    """A list stands beside a text or alone, a list of one is that answer, and every format gives the same samples."""
    samples = [one for one in open_dataset(write(tmp_path)) if isinstance(one, Sample)]
    assert [one.accepted for one in samples] == ACCEPTED
    assert [one.reference_answer for one in samples] == ["13.6", "no or empty", "2000<AND>2012", "north<OR>N", "only"]
    assert samples[4].reference_answers == ()
    assert all("reference_answers" not in one.meta for one in samples)
    assert check(write(tmp_path)).fingerprint == check(as_jsonl(tmp_path)).fingerprint
    assert check(write(tmp_path)).with_reference == 5


@pytest.mark.parametrize(
    ("value", "accepted"),
    [
        (["a", "a", "b"], (("a",), ("b",))),
        ([5, 6], (("5",), ("6",))),
        ([], ()),
        (None, ()),
    ],
)
def test_a_list_is_tidied(value: object, accepted: object, tmp_path: Path) -> None:
    """Doubles count once, whole numbers are their digits, and an empty list is as if it were not there."""
    path = tmp_path / "data.jsonl"
    path.write_text(json.dumps({"id": "x", "prompt": "?", "reference_answers": value}) + "\n")
    (found,) = open_dataset(path)
    assert isinstance(found, Sample)
    assert found.accepted == accepted


@pytest.mark.parametrize("value", ["13.6", [None], ["", "b"], [["a"]], [1.5], {"a": 1}])
def test_what_is_no_list_of_answers_is_named(value: object, tmp_path: Path) -> None:
    """The message names line, id and field."""
    path = tmp_path / "data.jsonl"
    path.write_text(json.dumps({"id": "x", "prompt": "?", "reference_answers": value}) + "\n")
    found = [one for one in open_dataset(path) if isinstance(one, Problem)]
    assert found[0].kind == "field"
    assert "line 1 (id 'x'): the field 'reference_answers' is not a list of strings" in found[0].message


def test_a_cell_that_is_no_list_is_one_answer(tmp_path: Path) -> None:
    """In a table a cell may hold one accepted answer as it stands, or a list as JSON or Python writes it."""
    path = tmp_path / "data.tsv"
    cells = {"1": "north", "2": "['north', 'N']", "3": "[north]"}
    rows = [f"{id}\tWind?\t{cell}\n" for id, cell in cells.items()]
    path.write_text("index\tquestion\treference_answers\n" + "".join(rows))
    found = [one for one in open_dataset(path) if isinstance(one, Sample)]
    assert [one.accepted for one in found] == [(("north",),), (("north",), ("N",)), (("[north]",),)]


def test_several_accepted_answers_need_be_no_options(tmp_path: Path) -> None:
    """Where several answers are accepted, it is no remark that the text of all of them is none of the options."""
    path = tmp_path / "data.jsonl"
    row = {"id": "x", "prompt": "?", "choices": ["left side", "right side"]}
    several = {
        **row,
        "id": "y",
        "reference_answers": ["left side", "the left one"],
        "reference_answer": "left, either way",
    }
    path.write_text("".join(json.dumps(one) + "\n" for one in ({**row, "reference_answer": "upside"}, several)))
    assert [(one.kind, one.ids) for one in check(path).remarks] == [("reference-no-option", ("x",))]
