"""Answers that exist already are read, and what is wrong with them is named."""

import json
from pathlib import Path

import pytest

from dokimasia.datasets import GivenResponse, read_responses
from dokimasia.errors import DataError, NotFound

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


def test_no_file_and_no_answer(tmp_path: Path) -> None:
    """A missing and an empty file are errors."""
    with pytest.raises(NotFound, match="answers"):
        list(read_responses(tmp_path / "answers.jsonl"))
    with pytest.raises(DataError, match="no response"):
        list(read_responses(written(tmp_path)))
