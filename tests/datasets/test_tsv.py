"""A VLMEvalKit TSV becomes the samples that it means, and every problem is named by the line where its row begins."""

import base64
import csv
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dokimasia.datasets import check, open_dataset, read_jsonl
from dokimasia.datasets.lines import Problem
from dokimasia.domain.identity import value_id
from dokimasia.domain.sample import Sample
from dokimasia.errors import DataError, NotFound

from .conftest import Blobs, encoded

pytestmark = pytest.mark.quick

PNG = base64.b64encode(encoded(size=(16, 16))).decode()
JPEG = base64.b64encode(encoded("JPEG", size=(16, 16))).decode()
Write = Callable[..., Path]


@pytest.fixture
def tsv(tmp_path: Path) -> Write:
    """Return a function that writes a TSV of rows of cells beside `a.png`, with or without quoting of its own."""
    (tmp_path / "a.png").write_bytes(encoded())

    def write(*rows: tuple[str, ...] | str | bytes, end: bytes = b"\n", start: bytes = b"") -> Path:
        lines = [
            row if isinstance(row, bytes) else (row if isinstance(row, str) else "\t".join(row)).encode()
            for row in rows
        ]
        path = tmp_path / "data.tsv"
        path.write_bytes(start + b"".join(line + end for line in lines))
        return path

    return write


def samples(path: Path, **options: Any) -> list[Sample]:
    """Return the samples of a file that has nothing wrong."""
    found = list(open_dataset(path, **options))
    assert all(isinstance(one, Sample) for one in found), found
    return [one for one in found if isinstance(one, Sample)]


def test_a_row_with_options(tsv: Write) -> None:
    """Options become choices, the answer's letter its option's text, the hint stands before the question, the rest is meta."""
    path = tsv(
        ("index", "question", "hint", "A", "B", "C", "D", "answer", "category", "l2-category", "split", "image"),
        ("1", "Which?", "Look.", "red", "blue", "", "", "B", "attribute", "colour", "dev", PNG),
        ("2", "Who?", "", "Ann", "Bob", "Cid", "Dan", "A", "", "", "", PNG),
    )
    one, two = samples(path)
    assert one.prompt == "Hint: Look.\nQuestion: Which?"
    assert (one.choices, one.reference_answer, one.category) == (("red", "blue"), "blue", "attribute")
    assert one.meta == {"l2-category": "colour", "split": "dev"}
    assert (two.prompt, two.choices, two.reference_answer) == ("Who?", ("Ann", "Bob", "Cid", "Dan"), "Ann")
    assert (two.category, two.meta) == (None, {})
    assert one.images == two.images


def test_an_answer_without_options_stays(tsv: Write) -> None:
    """A letter is an answer like any other where there is no option to choose; several letters stay as they are."""
    path = tsv(
        ("index", "question", "A", "B", "answer"),
        ("1", "Which letter?", "", "", "B"),
        ("2", "Which ones?", "x", "y", "A, B"),
        ("3", "Which one?", "x", "y", "y"),
    )
    assert [sample.reference_answer for sample in samples(path)] == ["B", "A, B", "y"]


def test_images_of_every_kind(tsv: Write, blobs: Blobs) -> None:
    """Base64, data URIs, lists in JSON or as a Python literal, paths, and rows that refer to earlier ones."""
    path = tsv(
        ("index", "question", "image", "image_path"),
        ("10", "?", PNG, "kept.png"),
        ("11", "?", f"['{PNG}', '{JPEG}']", "['x.png', 'y.jpg']"),
        ("12", "?", f'"[""{JPEG}"", ""{PNG}""]"', ""),
        ("13", "?", "11", ""),
        ("14", "?", "13", ""),
        ("15", "?", "", "a.png"),
        ("16", "?", "", "['a.png', 'a.png']"),
        ("17", "?", "a.png", ""),
        ("18", "?", "", ""),
        ("19", "?", f"data:image/png;base64,{PNG}", ""),
    )
    found = samples(path, blobs=blobs)
    png, jpeg = found[0].images[0], found[1].images[1]
    file = found[5].images[0]
    assert [sample.images for sample in found] == [
        (png,),
        (png, jpeg),
        (jpeg, png),
        (png, jpeg),
        (png, jpeg),
        (file,),
        (file, file),
        (file,),
        (),
        (png,),
    ]
    assert set(blobs.kept) == {png.sha256, jpeg.sha256, file.sha256}
    assert found[0].meta == {}


def test_image_path_is_no_part_of_a_sample(tsv: Write, tmp_path: Path) -> None:
    """Where `image` is used, `image_path` changes nothing: the row is the same sample as a line of JSON with the image."""
    table = tsv(("index", "question", "image", "image_path"), ("10", "?", PNG, "kept.png"))
    lines = tmp_path / "same.jsonl"
    lines.write_text(json.dumps({"id": "10", "prompt": "?", "image": PNG}))
    first, second = samples(table), list(read_jsonl(lines))
    assert value_id(first[0]) == value_id(second[0])


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("start", [b"", b"\xef\xbb\xbf"])
def test_quotes_line_breaks_and_line_ends(tsv: Write, end: bytes, start: bytes) -> None:
    """Quoted cells hold tabs, line breaks and quotes; blank lines and a byte order mark change nothing."""
    cell = b'"He said ""Stop"",\tthen' + end + b'went.\xe2\x80\xa8"'
    path = tsv("index\tquestion", b"1\t" + cell, "", b'2\tsaid "so"', b'"3"\t"plain"', end=end, start=start)
    assert [sample.prompt for sample in samples(path)] == [
        'He said "Stop",\tthen\nwent.\u2028',
        'said "so"',
        "plain",
    ]


def test_a_last_line_without_an_end(tmp_path: Path) -> None:
    """The last row needs no line break."""
    path = tmp_path / "data.tsv"
    path.write_text("index\tquestion\n1\tWhat?")
    assert [sample.id for sample in samples(path)] == ["1"]


def test_a_cell_larger_than_the_csv_module_allows(tsv: Write) -> None:
    """A cell of a megabyte is read whole, quoted or not."""
    text = "x" * 2**20
    path = tsv(("index", "question"), ("1", text), ("2", f'"{text}"'))
    assert {len(sample.prompt) for sample in samples(path)} == {2**20}


HEADER = ("index", "question", "A", "B", "C", "answer", "category", "image", "image_path")
BAD = [
    (("1", "?", "x", "y", "", "A", "", ""), "8 cells where the header has 9 columns"),
    (("1", "?", "x", "y", "", "A", "", "", "", ""), "10 cells"),
    (("1", '"open', "x", "y", "", "A", "", "", ""), "never closed"),
    (("1", '"So" it is', "x", "y", "", "A", "", "", ""), "something follows a closing quote"),
    (b"1\t\xff\tx\ty\t\tA\t\t\t", "not UTF-8"),
    (("", "?", "x", "y", "", "A", "", "", ""), "the field 'index' is missing"),
    (("good", "?", "x", "y", "", "A", "", "", ""), "'good' already stands on line 2"),
    (("1", " ", "x", "y", "", "A", "", "", ""), "the field 'question' is missing"),
    (("1", "?", "x", "", "z", "A", "", "", ""), "an option C but none B"),
    (("1", "?", "", "y", "", "", "", "", ""), "an option B but none A"),
    (("1", "?", "x", "y", "", "C", "", "", ""), "'answer' is C, and there are 2 options"),
    (("1", "?", "x", "y", "", "A", "", "nowhere", ""), "no image file 'nowhere'.*no earlier row"),
    (("1", "?", "x", "y", "", "A", "", "after", ""), "no image file 'after'"),
    (("1", "?", "x", "y", "", "A", "", PNG[:80], ""), "damaged or cut off"),
    (("1", "?", "x", "y", "", "A", "", PNG[:60] + "!" + PNG[60:], ""), "not valid base64"),
    (("1", "?", "x", "y", "", "A", "", "https://example.org/a.png", ""), "is a URL and is not fetched"),
    (("1", "?", "x", "y", "", "A", "", "", "['a.png', 'b.png']"), "no image file 'b.png'"),
    (("1", "?", "x", "y", "", "A", "", "['a.png',", ""), "no image file"),
    (("1", "?", "x", "y", "", "A", "", "", "[['a.png']]"), "no image file"),
]


@pytest.mark.parametrize(("bad", "reason"), BAD, ids=[reason[:30] for _, reason in BAD])
def test_each_problem_is_named_by_file_and_line(tsv: Write, bad: tuple[str, ...] | bytes, reason: str) -> None:
    """A bad row on line 4, after a row of two lines, is reported as line 4, and the rows around it are read."""
    row = "\t".join(("good", '"two\nlines"', "x", "y", "", "A", "", PNG, ""))
    path = tsv(HEADER, row, bad, ("after", "?", "x", "y", "", "A", "", "good", ""))
    found = list(open_dataset(path))
    problems = [one for one in found if isinstance(one, Problem)]
    assert [problem.line for problem in problems] == [4]
    assert problems[0].message.startswith(f"{path}, line 4")
    assert re.search(reason, problems[0].message)
    assert [one.id for one in found if isinstance(one, Sample)] == ["good", "after"]


def test_everything_wrong_with_a_row_is_named(tsv: Write) -> None:
    """One row with five faults has five problems."""
    path = tsv(
        HEADER,
        ("1", "", "x", "", "z", "A", "", f"['nowhere', '{PNG[:80]}']", ""),
        ("1", "", "", "", "", "", "", "", ""),
    )
    report = check(path)
    assert [problem.kind for problem in report.problems if problem.line == 2] == [
        "choices",
        "prompt",
        "image-missing",
        "image-damaged",
    ]
    assert [problem.kind for problem in report.problems if problem.line == 3] == ["duplicate-id", "prompt"]


def test_a_reference_to_a_row_with_a_bad_image(tsv: Write) -> None:
    """A row whose images are those of a bad row is bad, and says which line is at fault."""
    path = tsv(("index", "question", "image"), ("1", "?", PNG[:80]), ("2", "?", "1"), ("3", "", PNG), ("4", "?", "3"))
    problems = [one for one in open_dataset(path) if isinstance(one, Problem)]
    assert [problem.line for problem in problems] == [2, 3, 4]
    assert "its image is that of line 2, which cannot be used" in problems[1].message
    assert problems[2].kind == "prompt"


def test_a_broken_character_inside_a_quoted_cell(tsv: Write) -> None:
    """The line that is not UTF-8 is named, and reading goes on behind the row that it belongs to."""
    path = tsv("index\tquestion", b'1\t"one\ntwo \xff\nthree"', "2\t?")
    found = list(open_dataset(path))
    assert [one.line for one in found if isinstance(one, Problem)] == [3]
    assert [one.id for one in found if isinstance(one, Sample)] == ["2"]


def test_an_open_quote_costs_its_own_row_only(tsv: Write) -> None:
    """Rows behind quotes that are never closed are read, however many of them there are."""
    path = tsv(("index", "question"), *[row for n in range(50) for row in ((f"g{n}", "?"), (f"b{n}", f'"open {n}'))])
    report = check(path)
    assert report.samples == 50
    assert [problem.line for problem in report.problems] == list(range(3, 102, 2))
    assert report.kinds == {"syntax": 50}


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        (("index", "question", "question"), "'question' stands twice"),
        (("number", "question"), "no column 'index'"),
        (("index", "text"), "none of the columns"),
    ],
)
def test_a_header_that_says_too_little(tsv: Write, header: tuple[str, ...], reason: str) -> None:
    """A header without what is needed is one problem, not one a row."""
    problem, nothing = check(tsv(header, tuple("x" for _ in header), tuple("y" for _ in header))).problems
    assert (problem.line, nothing.line) == (1, 0)
    assert reason in problem.message


def test_columns_of_other_names_are_mapped(tsv: Write, blobs: Blobs) -> None:
    """A mapping names columns of a TSV; templates fill in, the other fields keep VLMEvalKit's names."""
    path = tsv(
        ("pid", "ask", "context", "A", "B", "answer", "picture", "kind"),
        ("7", "Which?", "a map", "x", "y", "B", PNG, "k"),
    )
    mapping = {"id": "pid", "prompt": "{context}: {ask}", "image": "picture", "category": "kind"}
    (sample,) = samples(path, mapping=mapping, blobs=blobs)
    assert (sample.id, sample.prompt, sample.choices) == ("7", "a map: Which?", ("x", "y"))
    assert (sample.reference_answer, sample.category, len(sample.images)) == ("y", "k", 1)
    assert sample.meta == {"ask": "Which?", "context": "a map"}


def test_a_mapped_column_that_is_not_there(tsv: Write) -> None:
    """A mapping that names no column of the table is an error that lists the columns."""
    path = tsv(("index", "question"), ("1", "?"))
    with pytest.raises(DataError, match="has no column 'pid', which --map names; it has index, question"):
        list(open_dataset(path, mapping={"id": "pid"}))


def test_prompt_for_rows_without_question(tsv: Write) -> None:
    """A default prompt stands in where a row asks nothing, and only there."""
    path = tsv(("index", "question", "image"), ("1", "", PNG), ("2", "Who?", PNG))
    assert [sample.prompt for sample in samples(path, prompt="What is it?")] == ["What is it?", "Who?"]


def test_other_encodings_and_missing_files(tmp_path: Path) -> None:
    """UTF-16 is named as such; a file that is not there is not found."""
    path = tmp_path / "data.tsv"
    path.write_bytes("index\tquestion\n1\t?\n".encode("utf-16"))
    assert check(path).problems[0].kind == "encoding"
    with pytest.raises(NotFound):
        check(tmp_path / "none.tsv")


def test_reading_is_lazy(tsv: Write) -> None:
    """The first sample is there before the file's end is read."""
    path = tsv(("index", "question"), ("1", "?"), ("2", "?"))
    found = open_dataset(path)
    first = next(found)
    path.write_bytes(b"")
    assert isinstance(first, Sample)
    assert [sample.id for sample in samples(tsv(("index", "question"), ("1", "?"), "x\t?\ty"), limit=1)] == ["1"]


TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\0"), min_size=1).filter(str.strip)


@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=6, unique_by=lambda pair: pair[0]))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_the_csv_module_writes_is_read_back(tmp_path: Path, rows: list[tuple[str, str]]) -> None:
    """Any ids and questions, written as a TSV, come back as they are."""
    path = tmp_path / "data.tsv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter="\t", lineterminator="\n").writerows([("index", "question"), *rows])
    assert [(sample.id, sample.prompt) for sample in samples(path)] == rows


@given(st.lists(st.sampled_from([b"\t", b"\n", b"\r", b'"', b"1", b"x", b"\xff", b"\0", b"['", b"']"]), max_size=40))
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_are_samples_or_problems(tmp_path: Path, pieces: list[bytes]) -> None:
    """Whatever stands below a header, reading ends, in samples and in problems that name the file."""
    path = tmp_path / "data.tsv"
    path.write_bytes(b"index\tquestion\timage\n" + b"".join(pieces))
    found = list(open_dataset(path))
    assert found
    assert all(isinstance(one, Sample) or str(path) in one.message for one in found)
