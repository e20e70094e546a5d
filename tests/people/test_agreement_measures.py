"""`annotate agreement`: accuracy, correlations, kappa and alpha together, and what of a file is left out."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import kendalltau, pearsonr, spearmanr

from dokimasia.cli.main import run
from dokimasia.errors import DataError
from dokimasia.people.annotation import compare
from dokimasia.people.annotation.blocks import measure_blocks
from dokimasia.report.blocks import Paragraph, Table, plain

pytestmark = pytest.mark.quick

ITEMS = 24
PEOPLE = ("ann", "ben")


@pytest.fixture
def ratings(tmp_path: Path) -> tuple[Path, Path, dict[str, list[int]]]:
    """Ratings of two people, and of two judges from 1 to 5, of which one has none of the last item."""
    rng = np.random.default_rng(5)
    merit = rng.integers(1, 6, size=ITEMS)
    values = {
        name: np.clip(merit + rng.integers(-1, 2, size=ITEMS), 1, 5).tolist() for name in (*PEOPLE, "judge", "whole")
    }
    people, judge = tmp_path / "people.jsonl", tmp_path / "judge.jsonl"
    for path, names in ((people, PEOPLE), (judge, ("judge", "whole"))):
        lines = [
            {"id": f"s{item}", "model": "m", "annotator": name, "value": values[name][item]}
            for name in names
            for item in range(ITEMS - (name == "judge"))
        ]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return people, judge, values


def test_every_measure_stands_together_with_n_and_interval(ratings) -> None:
    """Correlations are those of a library, accuracy counts the nearest step, and what the judge lacks is counted."""
    people, judge, values = ratings
    measured = compare(None, people, judged=[judge]).measures["score"]
    compared = measured.judges["judge"].measures
    mean = np.mean([values[name][:-1] for name in PEOPLE], axis=0)
    by_judge = values["judge"][:-1]
    assert (compared.n, compared.left_out) == (ITEMS - 1, {"missing": 1})
    assert compared.pearson.value == pytest.approx(pearsonr(by_judge, mean).statistic, abs=1e-4)
    assert compared.spearman.value == pytest.approx(spearmanr(by_judge, mean).statistic, abs=1e-4)
    assert compared.kendall.value == pytest.approx(kendalltau(by_judge, mean).statistic, abs=1e-4)
    assert compared.same is not None
    exact = sum(value == step for value, step in zip(by_judge, mean, strict=True))
    assert exact <= compared.same.k <= sum(abs(value - step) <= 0.5 for value, step in zip(by_judge, mean, strict=True))
    for coefficient in (compared.pearson, compared.spearman, compared.kendall, compared.kappa_weighted, compared.alpha):
        assert coefficient.value is not None
        assert coefficient.low is not None
        assert coefficient.high is not None
        assert coefficient.low <= coefficient.value <= coefficient.high
    assert measured.people["ann"].measures.n == ITEMS
    assert measured.people["ann"].measures.pearson == measured.people["ben"].measures.pearson


def test_labels_of_right_and_wrong_leave_out_what_people_are_split_on(tmp_path: Path) -> None:
    """On a scale of 0 and 1 an answer on which as many say right as wrong is split, and is in no measure."""
    said = {"ann": [1, 1, 0, 0, 1, 0], "ben": [1, 1, 0, 0, 0, 0], "judge": [1, 1, 0, 1, 1, 0]}
    for name, people in (("people", PEOPLE), ("judge", ("judge",))):
        lines = [
            {"id": f"s{item}", "model": "m", "annotator": who, "value": said[who][item]}
            for who in people
            for item in range(6)
        ]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    figures = compare(None, tmp_path / "people.jsonl", judged=[tmp_path / "judge.jsonl"], scale=(0, 1))
    compared = figures.measures["score"].judges["judge"].measures
    assert (compared.n, compared.left_out) == (5, {"split": 1})
    assert compared.same is not None
    assert (compared.same.k, compared.same.n) == (4, 5)


def test_what_cannot_be_compared_is_left_out_and_counted(ratings, capsys: pytest.CaptureFixture[str]) -> None:
    """Lines without a value and of things that no judge was given leave the figures of the others as they are."""
    people, judge, _ = ratings
    before = compare(None, people, judged=[judge])
    assert "left_out" not in json.loads(before.model_dump_json(exclude_defaults=True))
    lines = people.read_text()
    extra = [
        {"id": "s0", "model": "m", "annotator": "cho", "value": None},
        {"id": "s0", "model": "m", "annotator": "dan"},
        {"id": "elsewhere", "model": "m", "annotator": "ann", "value": 3},
        {"id": "s0", "model": "other", "annotator": "ann", "value": 3},
    ]
    people.write_text(lines + "".join(json.dumps(line) + "\n" for line in extra))
    figures = compare(None, people, judged=[judge])
    assert figures.left_out == {
        "without a value": 2,
        "of a sample that no judge was given": 1,
        "of a model that no judge was given": 1,
    }
    assert figures.measures == before.measures
    told = [plain(block.text) for block in measure_blocks(figures) if isinstance(block, Paragraph)]
    assert any(text.startswith("Annotations left out: 2 without a value") for text in told)
    assert run(["annotate", "agreement", str(people), "--judged", str(judge)]) == 0
    printed = capsys.readouterr().out
    assert "annotations left out: 2 without a value" in printed
    assert {"Spearman", "alpha"} <= set(printed.split())


def test_a_file_of_other_things_is_refused(ratings, tmp_path: Path) -> None:
    """Where no judge was given any of the things, the file is the wrong one."""
    _, judge, _ = ratings
    other = tmp_path / "other.jsonl"
    other.write_text('{"id": "x", "model": "m", "annotator": "ann", "value": 3}\n')
    with pytest.raises(DataError, match="line 1: what they are held against has no sample 'x'; it is so of all 1"):
        compare(None, other, judged=[judge])


def test_the_page_has_the_same_measures(ratings) -> None:
    """The table for pages has a row for the judge and for each person."""
    people, judge, _ = ratings
    figures = compare(None, people, judged=[judge])
    tables = [block for block in measure_blocks(figures) if isinstance(block, Table)]
    (table,) = (one for one in tables if "correlations" in one.about)
    rows = {plain(row[0]): [plain(cell) for cell in row[1:3]] for row in table.rows}
    assert rows == {"judge": ["23", "1 missing"], "whole": ["24", "none"], "ann": ["24", "none"], "ben": ["24", "none"]}
