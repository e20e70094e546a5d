"""Sets of captions are compared by what their files say, and by nothing that has to be guessed."""

import json
from pathlib import Path

import pytest

from dokimasia.cli.main import run
from dokimasia.datasets.captions import read_caption_set
from dokimasia.errors import DataError


def written(path: Path, *rows: dict[str, object]) -> Path:
    """A file of JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_a_set_has_its_images_words_domains_and_annotators(tmp_path: Path) -> None:
    """Captions stand in one of three fields, what is said of them in a field or in `meta`; lines without one do not count."""
    own = written(
        tmp_path / "own.jsonl",
        {"id": "1", "image": "a.png", "caption": "a red boat", "domain": "natural", "meta": {"source": "COCO"}},
        {"id": "2", "image": "a.png", "caption": "boats at a jetty", "category": "Natural scenes", "annotator": "ana"},
        {"id": "3", "image": "b.png", "reference_answer": "a chart of rainfall by month", "panel": ["A", "B"]},
        {"id": "4", "image": "c.png"},
    )
    found = read_caption_set(own)
    assert (found.name, found.captions, found.images) == ("own", 3, 2)
    assert (found.words_a_caption, found.median_words, found.longest) == (4.33, 4, 6)
    assert found.domains == {"natural scenes": 2}
    assert found.annotators == {"ana": 1, "A": 1, "B": 1}
    assert found.sources == {"COCO": 1}
    with pytest.raises(DataError, match="no caption in it"):
        read_caption_set(written(tmp_path / "none.jsonl", {"id": "1", "image": "a.png"}))


def test_sets_stand_side_by_side(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command prints a column a set, and the same as JSON."""
    first = written(tmp_path / "first.jsonl", {"id": "1", "image": "a.png", "caption": "a red boat"})
    second = written(tmp_path / "second.jsonl", {"id": "1", "images": ["x", "y"], "caption": "two maps of one town"})
    assert run(["data", "captions", str(first), str(second)]) == 0
    shown = capsys.readouterr().out
    assert "first" in shown
    assert "second" in shown
    assert "3.00" in shown
    assert run(["data", "captions", str(first), str(second), "--json"]) == 0
    sets = json.loads(capsys.readouterr().out)["sets"]
    assert [one["words_a_caption"] for one in sets] == [3.0, 5.0]
    assert [one["images"] for one in sets] == [1, 2]
