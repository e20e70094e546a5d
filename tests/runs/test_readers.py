"""A plug-in's reader is brought in by the file's extension, and only where the package has none."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from dokimasia.datasets import READERS, Problem, Row
from dokimasia.datasets.spreadsheets import read_tsv
from dokimasia.domain.sample import Sample
from dokimasia.runs.requests import DataRequest
from dokimasia.runs.samples import read_data
from dokimasia.storage.memory import MemoryBlobs


def read_cards(path: Path) -> Iterator[Row | Problem]:
    """Read a question a line."""
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        yield Row(number, {"id": str(number), "prompt": line})


def test_a_plugin_reads_its_extension(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An evaluation reads what an installed plug-in can read; a plug-in called tsv changes nothing."""
    loaded: list[str] = []

    def load(kind: str, name: str) -> object:
        loaded.append(f"{kind}/{name}")
        return read_cards

    monkeypatch.setattr("dokimasia.runs.samples.entry_points_of", lambda kind: {"cards": [], "tsv": []})
    monkeypatch.setattr("dokimasia.runs.samples.load", load)
    path = tmp_path / "data.cards"
    path.write_text("Who?\nWhat?")
    table = tmp_path / "data.tsv"
    table.write_text("index\tquestion\n1\tWhy?")
    samples: list[Sample] = []
    others: list[Sample] = []
    try:
        problems = read_data(DataRequest(data=path), MemoryBlobs(), samples.append)
        read_data(DataRequest(data=table), MemoryBlobs(), others.append)
    finally:
        READERS.pop(".cards", None)
    assert [sample.prompt for sample in samples] == ["Who?", "What?"]
    assert (problems, [other.prompt for other in others]) == ((), ["Why?"])
    assert loaded == ["datasets/cards"]
    assert READERS[".tsv"] is read_tsv
