"""Reference outputs are the same from one recording to the next, and a difference is reported by name."""

from pathlib import Path

from benchmarks.reference.__main__ import differences, digests_of, record


def test_a_kind_is_recorded_to_the_same_bytes(tmp_path: Path) -> None:
    """Two recordings of one kind of run hold the same outputs, the keys of its calls among them."""
    for name in ("first", "second"):
        record(tmp_path / name, ["filter"], surface=False, processes=1)
    first, second = digests_of(tmp_path / "first"), digests_of(tmp_path / "second")
    assert differences(first, second, ["filter"], surface=False) == []
    assert len((tmp_path / "first" / "filter" / "calls.txt").read_text().splitlines()) == 3
    assert '"kept"' in (tmp_path / "first" / "filter" / "figures.json").read_text()


def test_each_difference_is_named() -> None:
    """An output that differs, is new or is missing has a line; kinds that were not recorded are left out."""
    ours, theirs = {"a/x": "1", "a/y": "2", "b/z": "3"}, {"a/x": "2", "a/w": "2"}
    expected = ["missing  a/w", "differs  a/x", "new      a/y"]
    assert differences(ours, theirs, ["a"], surface=False) == expected
