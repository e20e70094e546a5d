"""A file with thirty different faults has each of them named by line in one pass of `dokimasia data check`."""

import base64
import json
import re
from pathlib import Path
from typing import Any

import pytest

from dokimasia.cli.main import run

from .conftest import encoded
from .test_bad_images import megapixels
from .test_images import animated, png_header

PNG = base64.b64encode(encoded(size=(16, 16))).decode()


def text(data: bytes) -> str:
    """Return bytes in base64."""
    return base64.b64encode(data).decode()


def line(id: object = "s", **fields: object) -> str:
    """Return a line of JSON with a prompt."""
    return json.dumps({"id": id, "prompt": "What?", **fields})


JSONL: list[tuple[str | bytes, str]] = [
    ("{", "broken JSON"),
    ("[1, 2]", "not a JSON object"),
    (b'{"id": "\xff", "prompt": "?"}', "not UTF-8"),
    ('{"id": "n", "prompt": "?", "v": NaN}', "NaN is not a JSON value"),
    ('{"id": "n", "prompt": "?", "v": 1e999}', "too large"),
    ('{"id": "n", "id": "m", "prompt": "?"}', "stands twice"),
    (json.dumps({"prompt": "?"}), "'id' is missing"),
    (line("good-0"), "already stands on line 1"),
    (json.dumps({"id": "p"}), "'prompt' is missing"),
    (line("q", prompt=" "), "'prompt' is empty"),
    (line("r", prompt=[1]), "'prompt' is not a string"),
    (line("a", choices="A, B"), "'choices' is not a list"),
    (line("b", choices=[str(n) for n in range(27)]), "holds 27 options"),
    (line("c", category={}), "'category' is not a string"),
    (line("d", reference_answer=[]), "'reference_answer' is not a string"),
    (line("e", meta=[]), "'meta' is not an object"),
    (line("f", meta={"x": 1}, x=2), "stands both in 'meta'"),
    (line("g", image="a.png", images=["a.png"]), "both 'image' and 'images'"),
    (line("h", images="a.png"), "'images' a list of strings"),
    (line("i", image=""), "an empty string"),
    (line("j", image="none.png"), "no image file 'none.png'"),
    (line("k", image="https://example.org/a.png"), "is a URL and is not fetched"),
    (line("l", image="data:image/png,x"), "not of the form"),
    (line("m", image="data:image/tiff;base64,AAAA"), "declares image/tiff"),
    (line("o", image=f"data:image/jpeg;base64,{PNG}"), "declared as JPEG"),
    (line("t", image=PNG[:60] + "!" + PNG[60:]), "not valid base64"),
    (line("u", image=text(encoded(size=(64, 64))[:-40])), "damaged or cut off"),
    (line("v", image=text(animated("GIF"))), "animated"),
    (line("w", image=text(megapixels(10_000, 6_000))), "10000 x 6000 pixels"),
    (line("x", image=text(png_header(30_000, 30_000))), "too many pixels|pixels, more than"),
]

HEADER = ("index", "question", "A", "B", "C", "answer", "image", "image_path")


def row(id: str = "s", **cells: str) -> str:
    """Return a row of a TSV with a question and two options."""
    given = {"index": id, "question": "What?", "A": "x", "B": "y", "answer": "A", **cells}
    return "\t".join(given.get(name, "") for name in HEADER)


TSV: list[tuple[str | bytes, str]] = [
    (row("a1") + "\tmore", "9 cells where the header has 8"),
    ("a2\tWhat?", "2 cells where the header has 8"),
    ("only words", "1 cells"),
    (row("a3", question='"So" it is'), "something follows a closing quote"),
    (row("a4").encode() + b"\xff", "not UTF-8"),
    (row(""), "'index' is missing"),
    (row("good-0"), "already stands on line 2"),
    (row("a5", question=""), "'question' is missing"),
    (row("a6", B="", C="z"), "an option C but none B"),
    (row("a7", A=""), "an option B but none A"),
    (row("a8", answer="C"), "'answer' is C"),
    (row("a9", image="none.png"), "no image file 'none.png'"),
    (row("b0", image="a9"), "is that of line 14, which cannot be used"),
    (row("b1", image="12345"), "no earlier row with an image has that index"),
    (row("b2", image="https://example.org/a.png"), "is a URL and is not fetched"),
    (row("b3", image="data:image/png,x" + "x" * 60), "not of the form"),
    (row("b4", image="data:image/tiff;base64," + "A" * 80), "declares image/tiff"),
    (row("b5", image=f"data:image/jpeg;base64,{PNG}"), "declared as JPEG"),
    (row("b6", image=PNG[:60] + "!" + PNG[60:]), "not valid base64"),
    (row("b7", image=text(encoded(size=(64, 64))[:-40])), "damaged or cut off"),
    (row("b8", image=text(encoded("JPEG", size=(64, 64))[:-40])), "damaged or cut off"),
    (row("b9", image=text(animated("GIF"))), "animated"),
    (row("c0", image=text(megapixels(10_000, 6_000))), "10000 x 6000 pixels"),
    (row("c1", image=text(png_header(30_000, 30_000))), "too many pixels|pixels, more than"),
    (row("c2", image_path="none.jpg"), "no image file 'none.jpg'"),
    (row("c3", image_path="['a.png', 'none.gif']"), "no image file 'none.gif'"),
    (row("c4", image_path="disguised.jpg"), "named JPEG but its content is PNG"),
    (row("c5", image_path="drawing.svg"), "an SVG drawing"),
    (row("c6", image_path="nothing.png"), "is empty"),
    (row("c7", question='"open'), "never closed"),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a good image and three bad ones."""
    (tmp_path / "a.png").write_bytes(encoded())
    (tmp_path / "disguised.jpg").write_bytes(encoded())
    (tmp_path / "drawing.svg").write_text("<svg/>")
    (tmp_path / "nothing.png").write_bytes(b"")
    return tmp_path


@pytest.mark.parametrize("name", ["jsonl", "tsv"])
def test_each_of_thirty_faults_is_named(folder: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Thirty bad lines among good ones: each is named by its line with its own reason, and no good one is."""
    faults = JSONL if name == "jsonl" else TSV
    good = line if name == "jsonl" else row
    assert len(faults) == len(dict(faults)) == 30
    lines: list[str | bytes] = [good("good-0")] if name == "jsonl" else ["\t".join(HEADER), good("good-0")]
    expected: dict[int, str] = {}
    for number, (bad, reason) in enumerate(faults, start=1):
        lines.append(bad)
        expected[len(lines)] = reason
        if number > 20:
            lines.append(good(f"good-{number}"))
    path = folder / f"data.{name}"
    path.write_bytes(b"\n".join(one if isinstance(one, bytes) else one.encode() for one in lines) + b"\n")

    assert run(["data", "check", str(path), "--json"]) == 2
    report: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert [problem["line"] for problem in report["problems"]] == list(expected)
    for problem in report["problems"]:
        assert problem["message"].startswith(f"{path}, line {problem['line']}")
        assert re.search(expected[problem["line"]], problem["message"]), problem["message"]
    assert report["samples"] == 11
    assert report["bad_lines"] == sum(report["problem_kinds"].values()) == 30

    assert run(["data", "check", str(path)]) == 2
    printed = capsys.readouterr().out
    assert all(f"{path}, line {number}" in printed for number in expected)
    assert "30 problems on 30 lines" in printed
    assert "11 valid samples" in printed
