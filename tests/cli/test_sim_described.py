"""`dokimasia sim make --described`: data for review and filter, which need an id and an image only."""

from pathlib import Path

import orjson

from dokimasia.cli.main import run


def test_scenes_to_be_described_have_no_question(tmp_path: Path, capsys) -> None:
    """Rows have id, image and domain; the asked share is disputed; the same seed gives the same bytes."""
    files = [tmp_path / name / "data.jsonl" for name in ("a", "b")]
    for file in files:
        file.parent.mkdir()
        assert (
            run(["sim", "make", str(file), "--described", "--samples", "8", "--disputed", "0.25", "--seed", "3"]) == 0
        )
    assert "2 of them with a disputed fact" in capsys.readouterr().out
    assert files[0].read_bytes() == files[1].read_bytes()
    rows = [orjson.loads(line) for line in files[0].read_bytes().splitlines()]
    assert all(set(row) == {"id", "image", "domain", "meta"} for row in rows)
    assert all((files[0].parent / row["image"]).is_file() for row in rows)
    assert sum(row["meta"]["disputed"] for row in rows) == 2
    assert run(["data", "check", str(files[0]), "--prompt", "Describe this image."]) == 0
