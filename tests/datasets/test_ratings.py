"""Ratings are read from JSON lines and CSV, and what cannot be used is named with its line."""

from pathlib import Path

import pytest

from dokimasia.datasets.annotations import RatedModel, read_ratings
from dokimasia.errors import DataError


def test_both_formats_say_the_same(tmp_path: Path) -> None:
    """JSON lines and CSV with a header give the same ratings."""
    lines, table = tmp_path / "r.jsonl", tmp_path / "r.csv"
    lines.write_text('{"model": "a", "rating": 1300}\n\n{"model": "b", "rating": 1200.5}\n')
    table.write_text("model,rating\na,1300\nb,1200.5\n")
    assert read_ratings(lines) == read_ratings(table) == [RatedModel("a", 1300), RatedModel("b", 1200.5)]
    table.write_text("\ufeffmodel,id,rating\na,s1,2\n")
    assert read_ratings(table) == [RatedModel("a", 2, "s1")]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("not json\n", "line 1: not JSON"),
        ("[1]\n", "line 1: not an object"),
        ('{"rating": 1}\n', "line 1: model is missing"),
        ('{"model": "a", "rating": "high"}\n', "line 1: the rating 'high' is not a finite number"),
        ('{"model": "a", "rating": true}\n', "not a finite number"),
        ('{"model": "a", "rating": 1}\n{"model": "a", "rating": 2}\n', "line 2: a is rated in line 1 already"),
        ('{"model": "a", "rating": 1}\n{"model": "a", "id": "s", "rating": 2}\n', "some rows have an id"),
        ('{"model": "a", "id": 4, "rating": 1}\n', "the id 4 is not text"),
        ("\n", "no rating in it"),
    ],
)
def test_what_cannot_be_used_is_named(tmp_path: Path, text: str, reason: str) -> None:
    """Every fault names file and line."""
    path = tmp_path / "r.jsonl"
    path.write_text(text)
    with pytest.raises(DataError, match=reason):
        read_ratings(path)
    with pytest.raises(DataError, match="cannot be read"):
        read_ratings(tmp_path / "missing.jsonl")
