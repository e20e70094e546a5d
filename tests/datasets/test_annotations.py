"""Annotations of several people are read from JSON lines and CSV, and what cannot be used is named with file and line."""

import json
from pathlib import Path
from typing import Any

import pytest

from dokimasia.datasets.annotations import read_annotations
from dokimasia.domain.annotation import Annotation, AnnotationUnit
from dokimasia.errors import DataError, NotFound

GOOD: dict[str, Any] = {"id": "a", "model": "m", "annotator": "anna", "value": 3}


def written(folder: Path, *rows: object, name: str = "said.jsonl") -> Path:
    """Write rows as JSON lines, or texts as they stand."""
    path = folder / name
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    return path


def test_both_formats_say_the_same(tmp_path: Path) -> None:
    """JSON lines and a spreadsheet's CSV, with commas or semicolons, give equal annotations."""
    lines = written(tmp_path, GOOD, {"id": "a", "criterion": 2, "measure": "accuracy", "annotator": "ben", "value": 1})
    comma = "id,model,criterion,measure,annotator,value\na,m,,,anna,3\na,,2,accuracy,ben,1"
    tables = [
        written(tmp_path, text, name=name)
        for text, name in ((comma, "one.csv"), ("\ufeff" + comma.replace(",", ";"), "other.CSV"))
    ]
    first = read_annotations(lines)
    assert first[0].unit == AnnotationUnit("a", "score", "m")
    assert first[1].unit == AnnotationUnit("a", "accuracy", criterion=2)
    for path in tables:
        assert [one._replace(line=0) for one in read_annotations(path)] == [one._replace(line=0) for one in first]


def test_a_verdict_is_the_model_s(tmp_path: Path) -> None:
    """With a baseline the value is a verdict from 2 to -2, and a sample's number may be its name."""
    (one,) = read_annotations(written(tmp_path, {**GOOD, "id": 7, "baseline": "b", "value": "-2"}))
    assert one == Annotation(AnnotationUnit("7", "verdict", "m", "b"), "anna", -2.0, line=1)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"annotator": None}, "the field 'annotator' is missing"),
        ({"id": " "}, "the field 'id' is missing"),
        ({"value": None}, "the field 'value' is missing"),
        ({"value": "8,5"}, "'8,5' is not a number"),
        ({"value": "8/10 - 9/10"}, "is not a number"),
        ({"value": True}, "is not a number"),
        ({"value": "NaN"}, "is not a number"),
        ({"baseline": "b", "value": 3}, "the verdict 3 lies outside -2 to 2"),
        ({"baseline": "m", "value": 1}, "compared with itself"),
        ({"model": None, "baseline": "b"}, "a baseline and no model"),
        ({"criterion": 0}, "not a whole number from 1"),
        ({"criterion": 1}, "the field 'measure' is missing"),
        ({"criterion": 1, "measure": "accuracy", "value": 4}, "the accuracy 4 lies outside 1 to 3"),
        ({"adjudicates": "perhaps"}, "neither true nor false"),
        ({"model": ["m"]}, "the field 'model' is not a string"),
    ],
)
def test_what_cannot_be_used_is_named(tmp_path: Path, row: dict[str, Any], said: str) -> None:
    """Each fault is named with file and line."""
    path = written(tmp_path, {**GOOD, "id": "before"}, {**GOOD, **row})
    with pytest.raises(DataError, match=r"said\.jsonl, line 2: ") as refused:
        read_annotations(path)
    assert said in str(refused.value)


def test_every_fault_is_named_at_once(tmp_path: Path) -> None:
    """Duplicates name the first line, unknown samples say so, and all are told together."""
    path = written(tmp_path, GOOD, GOOD, {**GOOD, "id": "b"}, "{")
    with pytest.raises(DataError) as refused:
        read_annotations(path, known=lambda unit: None if unit.id == "a" else f"no sample {unit.id}")
    told = str(refused.value).splitlines()
    assert "anna has rated 'a', m, score on line 1 already" in told[0]
    assert "line 3: no sample b" in told[1]
    assert "line 4: broken JSON" in told[2]


def test_files_without_a_rating(tmp_path: Path) -> None:
    """A missing file, an empty one, a heading alone, and a table that is none are refused."""
    with pytest.raises(NotFound):
        read_annotations(tmp_path / "none.csv")
    for text, name in (("", "a.jsonl"), ("id,annotator,value", "b.csv"), ("id,id\n1,2", "c.csv"), ('id\n"x', "d.csv")):
        with pytest.raises(DataError):
            read_annotations(written(tmp_path, text, name=name))
    with pytest.raises(DataError, match="more cells than the 3"):
        read_annotations(written(tmp_path, "id,annotator,value\na,anna,1,2", name="e.csv"))
