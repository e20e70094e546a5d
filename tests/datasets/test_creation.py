"""Creation-MMBench's table and the same cases as JSON lines are read as one: criteria, task, category, images, reference."""

import base64
import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from dokimasia.datasets import Problem, check, open_dataset
from dokimasia.datasets.creation import CATEGORIES, MAX_CRITERIA, category_of, composed_query
from dokimasia.domain.sample import Sample
from tests.datasets.conftest import encoded

COLUMNS = (
    "index",
    "question",
    "task_name",
    "role",
    "background",
    "instruction",
    "requirement",
    "ground_truth",
    "source",
    "criteria",
    "image_path",
    "reference_answer_by_gpt4o",
    "image",
)
IMAGES = [encoded(size=(4, width)) for width in range(3, 12)]
BASE64 = [base64.b64encode(image).decode() for image in IMAGES]
CASE: dict[str, Any] = {
    "index": "17",
    "question": "You are a poet.\nWrite on the harbour.",
    "task_name": "landscape_to_poem",
    "role": "poet",
    "ground_truth": "The harbour of Piraeus.",
    "criteria": "{'Subjective Criteria': 'It\\'s vivid.\\nIt rhymes.', 'Visual Factuality Criteria': 'Two boats.'}",
    "image_path": "['17_0.png', '17_1.png']",
    "reference_answer_by_gpt4o": "O harbour!",
    "image": str(BASE64[:2]),
}


def table(path: Path, *cases: dict[str, Any], columns: tuple[str, ...] = COLUMNS) -> Path:
    """Write a TSV as pandas does."""
    text = io.StringIO()
    rows = csv.writer(text, delimiter="\t", lineterminator="\n")
    rows.writerows([columns, *[[case.get(name, "") for name in columns] for case in cases]])
    path.write_text(text.getvalue())
    return path


def read(path: Path) -> list[Sample]:
    """Return the samples of a file without a problem."""
    found = list(open_dataset(path))
    assert all(isinstance(one, Sample) for one in found), found
    return [one for one in found if isinstance(one, Sample)]


def test_a_case_is_read(tmp_path: Path) -> None:
    """Query, criteria by kind, task, ground truth, reference answer, and the category that the task has."""
    (sample,) = read(table(tmp_path / "c.tsv", CASE))
    assert (sample.id, sample.prompt, sample.category) == ("17", CASE["question"], "Literary Writing")
    assert sample.reference_answer == "O harbour!"
    assert sample.meta["criteria"] == {"subjective": "It's vivid.\nIt rhymes.", "factuality": "Two boats."}
    assert (sample.meta["task_name"], sample.meta["ground_truth"]) == ("landscape_to_poem", "The harbour of Piraeus.")
    assert len(sample.images) == 2
    assert "reference_answer_by_gpt4o" not in sample.meta


@pytest.mark.parametrize(
    ("criteria", "meant"),
    [
        ("{'subjective': 'Vivid.'}", {"subjective": "Vivid."}),
        ('{"General Subjective": "Vivid.", "objective": "Boats."}', {"subjective": "Vivid.", "factuality": "Boats."}),
        (
            "{'SUBJECTIVE': 'Vivid.', 'a': 'Boats.', 'b': 'Sky.'}",
            {"subjective": "Vivid.", "factuality": "Boats.\n\nSky."},
        ),
        ("{'subjective': 'Vivid.', 'factuality': '\\\\'}", {"subjective": "Vivid."}),
        ("{'subjective': ['Vivid.', 'Short.']}", {"subjective": "Vivid.\nShort."}),
        ("It is vivid (and short).", {"subjective": "It is vivid (and short)."}),
        ("'It is vivid.'", {"subjective": "It is vivid."}),
        ("1. Vivid.\n2. Short.", {"subjective": "1. Vivid.\n2. Short."}),
    ],
)
def test_criteria_are_read_as_a_literal(tmp_path: Path, criteria: str, meant: dict[str, str]) -> None:
    """Keys with 'subjective' are subjective, all others factuality, a plain text is subjective; a blank is left out."""
    (sample,) = read(table(tmp_path / "c.tsv", CASE | {"criteria": criteria}))
    assert sample.meta["criteria"] == meant


@pytest.mark.parametrize(
    ("criteria", "reason"),
    [
        ("{'subjective': open('/etc/passwd').read()}", "calls a function"),
        ("__import__('os').system('true')", "calls a function"),
        ("{'subjective': f'{1+1}'}", "no literal of texts"),
        ("{'subjective': name}", "no literal of texts"),
        ("{'subjective': 'x'", "no literal of texts"),
        ("{'subjective': 3}", "are no text"),
        ("{1: 'x'}", "are no text"),
        ("{" * 5_000, "no literal of texts"),
        ("{'subjective': '" + "x" * MAX_CRITERIA + "'}", "characters"),
    ],
)
def test_nothing_in_the_criteria_is_evaluated(tmp_path: Path, criteria: str, reason: str) -> None:
    """Criteria that are more than texts are an error that names file and line, and the other cases are read."""
    path = table(tmp_path / "c.tsv", CASE | {"index": "1", "criteria": criteria}, CASE | {"index": "2"})
    bad, good = open_dataset(path)
    assert isinstance(bad, Problem)
    assert bad.message.startswith(f"{path}, line 2 (id '1')")
    assert reason in bad.message
    assert isinstance(good, Sample)


def test_json_lines_come_to_the_same(tmp_path: Path) -> None:
    """Criteria as an object or as a string, and images as a list, give the same sample as the table."""
    (wanted,) = read(table(tmp_path / "c.tsv", CASE))
    for number, criteria in enumerate((CASE["criteria"], {"subjective": "It's vivid.\nIt rhymes.", "x": "Two boats."})):
        line = {**CASE, "id": CASE["index"], "prompt": CASE["question"], "criteria": criteria, "images": BASE64[:2]}
        path = tmp_path / f"{number}.jsonl"
        path.write_text(json.dumps({name: line[name] for name in line.keys() - {"index", "question", "image"}}))
        assert read(path) == [wanted]


def test_images_stand_with_their_case(tmp_path: Path) -> None:
    """One to nine images a case, in base64 or by path, are those of its own row whatever the order of the rows."""
    for number, image in enumerate(IMAGES):
        (tmp_path / f"{number}.png").write_bytes(image)
    cases = [
        CASE | {"index": str(n), "image": str(BASE64[:n]), "image_path": str([f"{one}.png" for one in range(n)])}
        for n in range(1, 10)
    ]
    by_path = [case | {"image": ""} for case in cases]
    one = {sample.id: sample.images for sample in read(table(tmp_path / "a.tsv", *cases))}
    other = {sample.id: sample.images for sample in read(table(tmp_path / "b.tsv", *reversed(by_path)))}
    assert one == other
    assert [len(one[str(n)]) for n in range(1, 10)] == list(range(1, 10))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"image": "", "image_path": "['there.png', 'nowhere.png']"}, "no image file 'nowhere.png'"),
        ({"image": str([BASE64[0], ""])}, "image 2 of 2 is empty"),
        ({"image": str(BASE64[:1])}, "'image' holds 1 and 'image_path' names 2"),
        ({"image": str([BASE64[0], BASE64[1][:90]])}, "damaged"),
    ],
)
def test_a_missing_image_costs_its_own_case(tmp_path: Path, change: dict[str, str], reason: str) -> None:
    """The case that lacks an image is refused by id and line, the rest go on."""
    (tmp_path / "there.png").write_bytes(IMAGES[0])
    path = table(tmp_path / "c.tsv", CASE | {"index": "1"}, CASE | {"index": "2"} | change, CASE | {"index": "3"})
    found = list(open_dataset(path))
    assert [one.id for one in found] == ["1", "2", "3"]
    assert [type(one) for one in found] == [Sample, Problem, Sample]
    assert isinstance(found[1], Problem)
    assert reason in found[1].message
    assert found[1].line == 4, "each case takes two lines"


@pytest.mark.parametrize("column", ["index", "question", "task_name", "criteria", "reference_answer_by_gpt4o"])
def test_a_missing_column_is_named(tmp_path: Path, column: str) -> None:
    """A table that lacks one of the columns is refused at its header."""
    columns = tuple(name for name in COLUMNS if name not in (column, "role"))
    problem = check(table(tmp_path / "c.tsv", CASE, columns=columns)).problems[0]
    assert problem.line == 1
    assert f"no column {column!r}" in problem.message


def test_a_table_without_images_is_refused(tmp_path: Path) -> None:
    """Cases on images are not asked blind because a column is missing."""
    columns = tuple(name for name in COLUMNS if not name.startswith("image"))
    assert "no column 'image'" in check(table(tmp_path / "c.tsv", CASE, columns=columns)).problems[0].message


def test_the_tasks_have_their_categories() -> None:
    """The 51 tasks are 8, 18, 19 and 6; a category of the data comes first, an unknown task has none."""
    assert [len(tasks) for tasks in CATEGORIES.values()] == [8, 18, 19, 6]
    assert len({task for tasks in CATEGORIES.values() for task in tasks}) == 51
    assert category_of("UI design analysis and optimization") == "Professional Functional Writing"
    assert category_of("my own task") is None


def test_a_category_of_the_data_comes_first(tmp_path: Path) -> None:
    """Only where the data give no category is it that of the task."""
    path = table(tmp_path / "c.tsv", CASE | {"category": "mine"}, columns=(*COLUMNS, "category"))
    assert [sample.category for sample in read(path)] == ["mine"]


def test_other_data_keep_their_criteria(tmp_path: Path) -> None:
    """A field `criteria` of data that are no creative cases stays as it is."""
    path = tmp_path / "own.jsonl"
    path.write_text(json.dumps({"id": "1", "prompt": "?", "criteria": "f(x)"}))
    assert read(path)[0].meta == {"criteria": "f(x)"}


@pytest.mark.parametrize("name", ["criteria", "task_name", "ground_truth"])
def test_what_duels_read_is_checked_with_the_data(tmp_path: Path, name: str) -> None:
    """Criteria, a task or a ground truth that are no texts are a problem with file and line, where the data are read."""
    rows = [{"id": str(n), "prompt": "?", "meta": {"criteria": "Be brief."}} for n in (1, 2)]
    rows[1]["meta"] = {"criteria": "Be brief.", name: 7}
    path = tmp_path / "own.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    problems = check(path).problems
    assert [(one.line, one.id) for one in problems] == [(2, "2")]
    assert f"own.jsonl, line 2 (id '2'): meta.{name} is neither a text" in problems[0].message


def test_a_fault_of_criteria_names_no_line_of_its_own(tmp_path: Path) -> None:
    """What is wrong with the literal of a cell is said without a file or a line that nobody wrote."""
    problems = check(table(tmp_path / "c.tsv", CASE | {"criteria": "{'subjective': 'a"})).problems
    assert "is no literal of texts (" in problems[0].message
    assert "<unknown>" not in problems[0].message


def test_an_empty_image_of_several_is_named_by_its_number(tmp_path: Path) -> None:
    """Of a list of images the one that is empty is named by its number."""
    path = tmp_path / "own.jsonl"
    path.write_text(json.dumps({"id": "1", "prompt": "?", "images": ["a.png", "", "b.png"]}))
    assert "image 2 of 3 is empty" in check(path).problems[0].message


PARTS = {
    "role": "a museum guide.",
    "background": "The hall opened last week.",
    "instruction": "Write a short talk",
    "requirement": "At most 100 words.",
}


def lines(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_a_query_is_composed_of_its_parts(tmp_path: Path) -> None:
    """Role, background, instruction and requirement stand for a missing prompt, in this order; a prompt goes before them."""
    whole, short, own = read(
        lines(
            tmp_path / "c.jsonl",
            {"id": "whole", **PARTS},
            {"id": "short", "meta": {"role": "a poet", "instruction": "write on the sea"}},
            {"id": "own", "prompt": "As it is.", **PARTS},
        )
    )
    assert whole.prompt == (
        "Your role: a museum guide.\nThe hall opened last week.\n"
        "Your task: Write a short talk.\nKeep to these requirements:\nAt most 100 words."
    )
    assert short.prompt == "Your role: a poet.\nYour task: write on the sea."
    assert own.prompt == "As it is."
    assert whole.meta == PARTS


@pytest.mark.parametrize(
    ("role", "line"),
    [
        ("You are the night-shift supervisor.", "You are the night-shift supervisor."),
        ("Imagine you are a poet", "Imagine you are a poet."),
        ("I am a guide", "I am a guide."),
        ("Act as a guide", "Act as a guide."),
        ("Pretend to be a guide", "Pretend to be a guide."),
        ("A guide", "Your role: a guide."),
        ("Young poets", "Your role: Young poets."),
        ("As a chef", "Your role: chef."),
        ("I. Newton", "Your role: I. Newton."),
        ("Act coach", "Your role: Act coach."),
        ("Professional chef", "Your role: Professional chef."),
    ],
)
def test_a_role_that_is_a_sentence_stands_as_it_is(role: str, line: str) -> None:
    """What is put around the parts makes no sentence of two."""
    query = composed_query({"role": role, "instruction": "Help me write a post!", "requirement": "Be brief."})
    assert query == f"{line}\nYour task: Help me write a post!\nKeep to these requirements:\nBe brief."


def test_a_table_may_have_the_parts_in_place_of_the_question(tmp_path: Path) -> None:
    """A table of creative cases needs a question, or a role and an instruction."""
    case = {**CASE, "instruction": "write on the harbour"}
    (sample,) = read(table(tmp_path / "c.tsv", case, columns=tuple(name for name in COLUMNS if name != "question")))
    assert sample.prompt == "Your role: poet.\nYour task: write on the harbour."


def test_parts_without_an_instruction_are_no_query(tmp_path: Path) -> None:
    """A role alone asks for nothing."""
    report = check(lines(tmp_path / "c.jsonl", {"id": "a", "role": "a poet"}))
    assert "'prompt' is missing" in report.problems[0].message


def test_what_a_data_set_is_made_of(tmp_path: Path) -> None:
    """Lengths by class, and roles, instructions and types of images by frequency."""
    rows = [
        {"id": "a", "prompt": "word " * 30, "reference_answer": "word " * 1600, "role": "A poet", "image_type": "map"},
        {"id": "b", "prompt": "word " * 10, "role": "a poet.", "meta": {"image_types": ["map", "photograph"]}},
    ]
    found = check(lines(tmp_path / "c.jsonl", *rows)).statistics
    assert found.query_words is not None
    assert found.query_words._asdict() == {
        "n": 2,
        "mean": 20.0,
        "median": 20.0,
        "shortest": 10,
        "longest": 30,
        "classes": {"0-25": 1, "26-50": 1},
    }
    assert found.reference_words is not None
    assert found.reference_words.classes == {"over 1500": 1}
    assert found.roles == {"a poet": 2}
    assert (found.instructions, found.image_types) == ({}, {"map": 2, "photograph": 1})


def test_sub_categories_are_counted_below_their_domain(tmp_path: Path) -> None:
    """A sample without a domain is counted below its category, and one without a sub-category not at all."""
    rows = [
        {"id": "a", "prompt": "A?", "category": "charts", "meta": {"domain": "science", "subcategory": "biology"}},
        {"id": "b", "prompt": "B?", "category": "charts", "meta": {"sub_category": "pies"}},
        {"id": "c", "prompt": "C?", "category": "charts"},
        {"id": "d", "prompt": "D?", "meta": {"domain": "science", "subcategory": "biology"}},
    ]
    found = check(lines(tmp_path / "c.jsonl", *rows)).statistics
    assert found.sub_categories == {"science > biology": 2, "charts > pies": 1}
