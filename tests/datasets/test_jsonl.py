"""JSONL data becomes samples, and every problem is named by file and line."""

import base64
import json
from pathlib import Path

import pytest

from dokimasia.datasets import check, read_jsonl, scan
from dokimasia.domain.sample import Sample
from dokimasia.errors import DataError, NotFound

from .conftest import encoded

pytestmark = pytest.mark.quick

PNG = base64.b64encode(encoded()).decode()


def line(id: object = "s", **fields: object) -> str:
    """Return a line of a data file with a prompt."""
    return json.dumps({"id": id, "prompt": "What?", **fields})


def test_a_full_sample(write, blobs) -> None:
    """All fields find their place, unknown ones go to meta, and the image's bytes are kept."""
    path = write(
        line(
            image="a.png",
            reference_answer="A cat",
            choices=["A cat", "A dog"],
            category="conv",
            meta={"a": 1},
            difficulty=2.5,
            tags=["x", None],
        )
    )
    (sample,) = read_jsonl(path, blobs=blobs)
    assert sample == Sample(
        id="s",
        images=sample.images,
        prompt="What?",
        reference_answer="A cat",
        choices=("A cat", "A dog"),
        category="conv",
        meta={"a": 1, "difficulty": 2.5, "tags": ["x", None]},
    )
    assert blobs.kept == {sample.images[0].sha256: encoded()}


@pytest.mark.parametrize(
    "value", [f"data:image/png;base64,{PNG}", f"DATA:image/PNG;charset=x;base64,{PNG}", PNG, PNG.rstrip("="), "a.png"]
)
def test_every_source_gives_the_same_image(write, blobs, value: str) -> None:
    """Data URI, bare base64 and file come to the same content."""
    samples = list(read_jsonl(write(line("1", image=value), line("2", images=[value, "a.png"])), blobs=blobs))
    assert {image.sha256 for sample in samples for image in sample.images} == set(blobs.kept)
    assert [len(sample.images) for sample in samples] == [1, 2]


def test_an_existing_file_comes_before_base64(write, blobs, tmp_path: Path) -> None:
    """A file whose name looks like base64 is read as a file."""
    name = base64.b64encode(encoded()[:9]).decode()
    (tmp_path / name).write_bytes(encoded("GIF"))
    (sample,) = read_jsonl(write(line(image=name)), blobs=blobs)
    assert sample.images[0].media_type == "image/gif"


def test_byte_order_mark_blank_lines_and_line_ends(write) -> None:
    """A byte order mark, blank lines, Windows line ends and a missing last one change nothing."""
    path = write(b"\xef\xbb\xbf" + line("1").encode() + b"\r", "", "   \r", line("2").replace("What?", "Quoi\u2028?"))
    assert [sample.id for sample in read_jsonl(path, blobs=None)] == ["1", "2"]


def test_whole_numbers_serve_as_text(write) -> None:
    """An id or reference answer that is a whole number is its digits; null and blank are as if absent."""
    path = write(line(7, reference_answer=42), line("8", reference_answer="", category=None, image=None))
    first, second = read_jsonl(path, blobs=None)
    assert (first.id, first.reference_answer) == ("7", "42")
    assert (second.reference_answer, second.category, second.images) == (None, None, ())


BAD = [
    ('{"id": 3.5, "prompt": "What?"}', "'id' is 3.5, neither text nor a whole number"),
    ("{", "broken JSON at character 2"),
    ("[" + line() + "]", "not a JSON object; one object a line"),
    ("[", "broken JSON.*one object a line"),
    ('"text"', "not a JSON object"),
    (b'{"id": "\xff"}', r"not UTF-8 \(byte 9"),
    ('{"id": "1", "prompt": "x", "v": NaN}', "NaN is not a JSON value"),
    ('{"id": "1", "prompt": "x", "v": 1e999}', "too large"),
    ('{"id": "1", "prompt": "x", "v": 99999999999999999999999}', "cannot be stored"),
    ('{"id": "1", "prompt": "\\ud800"}', "cannot be stored"),
    ('{"id": "1", "id": "2", "prompt": "x"}', "'id' stands twice"),
    ("[" * 100_000, "nested too deeply|broken JSON"),
    (json.dumps({"prompt": "x"}), "'id' is missing"),
    (line(""), "'id' is missing, empty"),
    (line(True), "'id' is missing, empty"),
    (json.dumps({"id": "1"}), "'prompt' is missing"),
    (line("1", prompt="  "), "'prompt' is empty"),
    (line("1", prompt=["x"]), "'prompt' is not a string"),
    (line("1", choices="A, B"), "'choices' is not a list of strings"),
    (line("1", choices=["A", 2]), "'choices' is not a list of strings"),
    (line("1", category=["x"]), "'category' is not a string"),
    (line("1", meta=[]), "'meta' is not an object"),
    (line("1", meta={"difficulty": 1}, difficulty=1), "'difficulty' stands both in 'meta' and beside"),
    (line("1", image="a.png", images=["a.png"]), "both 'image' and 'images'"),
    (line("1", image=["a.png"]), "'image' is a string"),
    (line("1", images="a.png"), "'images' a list of strings"),
    (line("1", image=""), "empty string"),
    (line("1", image="b.png"), "no image file 'b.png'"),
    (line("1", image="."), "no image file"),
    (line("1", image="a\0.png"), "no image file"),
    (line("1", image="x" * 5000), "no image file"),
    (line("1", image="text.png"), "is no image"),
    (line("1", image="disguised.jpg"), "named JPEG but its content is PNG"),
    (line("1", image="https://example.org/a.png"), "is a URL and is not fetched.*--allow-fetch"),
    (line("1", image="data:image/png,abc"), "not of the form"),
    (line("1", image="data:image/svg+xml;base64,AAAA"), r"declares image/svg\+xml"),
    (line("1", image=f"data:image/jpeg;base64,{PNG}"), "declared as JPEG but its content is PNG"),
    (line("1", image="data:image/png;base64,%%%"), "not valid base64"),
    (line("1", image=PNG[:40] + "!" + PNG[40:]), "not valid base64 to its end"),
    (line("1", image=PNG[: len(PNG) // 2]), "damaged or cut off"),
]


@pytest.mark.parametrize(("bad", "reason"), BAD, ids=[reason[:30] for _, reason in BAD])
def test_each_problem_is_named_by_file_and_line(write, tmp_path: Path, bad: str | bytes, reason: str) -> None:
    """A bad line 7 is reported as line 7 of that file, read by `fail`, passed over by `skip`."""
    (tmp_path / "text.png").write_text("no pixels")
    (tmp_path / "disguised.jpg").write_bytes(encoded("PNG"))
    path = write(line("good"), "", "", "", "", "", bad, line("after"))
    report = check(path)
    assert (report.samples, [problem.line for problem in report.problems]) == (2, [7])
    with pytest.raises(DataError, match=rf"data\.jsonl, line 7.*({reason})"):
        list(read_jsonl(path, blobs=None))
    assert [sample.id for sample in read_jsonl(path, blobs=None, on_bad="skip")] == ["good", "after"]


def test_an_image_outside_of_the_datas_folder_is_read_only_if_that_is_allowed(tmp_path: Path) -> None:
    """A path that leaves the folder by `..`, from the root or by a link is a problem, and none with allow_outside."""
    folder = tmp_path / "data"
    folder.mkdir()
    (tmp_path / "outside.png").write_bytes(encoded("PNG"))
    (folder / "inside.png").write_bytes(encoded("PNG"))
    (folder / "link.png").symlink_to(tmp_path / "outside.png")
    paths = [
        "../outside.png",
        str(tmp_path / "outside.png"),
        "link.png",
        "../data/inside.png",
        str(folder / "inside.png"),
    ]
    data = folder / "data.jsonl"
    data.write_text("\n".join(json.dumps({"id": str(i), "prompt": "p", "image": one}) for i, one in enumerate(paths)))
    problems = check(data).problems
    assert [(problem.line, problem.kind) for problem in problems] == [(line, "image-outside") for line in (1, 2, 3)]
    assert all("--allow-outside" in problem.message for problem in problems)
    assert check(data, allow_outside=True).samples == 5


def test_a_duplicate_id_names_both_lines(write) -> None:
    """The second of two equal ids is the problem, and the first line is named."""
    (problem,) = check(write(line("1"), line("2"), line("1"))).problems
    assert (problem.line, problem.id) == (3, "1")
    assert "already stands on line 1" in problem.message


def test_all_problems_are_named_at_once(write) -> None:
    """Failing names every bad line of the file, not only the first."""
    with pytest.raises(DataError) as caught:
        list(read_jsonl(write("{", line("1"), "{", *["["] * 30), blobs=None))
    text = str(caught.value)
    assert "line 1:" in text
    assert "line 3:" in text
    assert text.endswith("and 12 more")


def test_prompt_is_needed_only_where_asked(write) -> None:
    """A graph that needs no prompt reads samples without one."""
    (sample,) = read_jsonl(write('{"id": "1", "image": "a.png"}'), blobs=None, need_prompt=False)
    assert sample.prompt == ""
    with pytest.raises(DataError, match=r"'prompt' is missing[^\n]*\nfrom Python: .* need_prompt=False for images"):
        list(read_jsonl(write('{"id": "1", "image": "a.png"}'), blobs=None))


def test_limit_stops_reading(write) -> None:
    """After that many good samples nothing more is read, not even what is broken."""
    path = write(line("1"), line("2"), "{")
    assert [sample.id for sample in read_jsonl(path, blobs=None, limit=2)] == ["1", "2"]
    assert check(path, limit=2).problems == ()


@pytest.mark.parametrize("lines", [(), ("", " "), ("{",)])
def test_a_file_without_samples_is_a_problem(write, lines: tuple[str, ...]) -> None:
    """An empty file is no data, also where bad samples are skipped."""
    path = write(*lines)
    assert check(path).problems[-1].line == 0
    with pytest.raises(DataError, match="no usable sample"):
        list(read_jsonl(path, blobs=None, on_bad="skip"))


def test_other_encodings_are_named(write) -> None:
    """A UTF-16 file is told apart from broken JSON."""
    with pytest.raises(DataError, match="UTF-16; save it as UTF-8"):
        list(read_jsonl(write(line().encode("utf-16")), blobs=None))


def test_a_missing_file_and_a_folder(tmp_path: Path) -> None:
    """A data file that is not there is not found, a folder is no JSON lines."""
    with pytest.raises(NotFound, match="no data file"):
        check(tmp_path / "none.jsonl")
    with pytest.raises(DataError, match="cannot be read"):
        list(scan(tmp_path))


def test_fingerprint_follows_content(write) -> None:
    """The same samples have the same fingerprint, whatever the layout of the file; another answer another one."""
    first = check(write(line("1", image="a.png", meta={"b": 1, "a": 2}))).fingerprint
    again = check(write("", line("1", image=PNG, b=1, a=2))).fingerprint
    other = check(write(line("1", image="a.png", meta={"b": 1, "a": 2}, reference_answer="x"))).fingerprint
    assert first == again != other


def test_scan_yields_in_order(write) -> None:
    """Samples and problems come as the file has them, one at a time."""
    kinds = [type(found).__name__ for found in scan(write(line("1"), "{", line("2")))]
    assert kinds == ["Sample", "Problem", "Sample"]
