"""Judgements of files: every notation, both forms, failures that are no values, and figures that hold by hand."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

import dokimasia
from dokimasia.cli.main import run
from dokimasia.errors import ConfigError, DataError
from dokimasia.people.judgements import judgement_figures, read_judgements
from dokimasia.people.judgements.values import read_ranking, read_score, read_verdict
from dokimasia.report.fields import as_json


@pytest.mark.parametrize(
    ("text", "label", "value"),
    [
        ("[[A>B]]", "first", 1),
        ("[[B>>A]]", "second", -2),
        ("A<<B", "second", -2),
        ("A&gt;B", "first", 1),
        ("[[A=B]]", "tie", 0),
        ("[[A=B=Good]]", "tie", 0),
        ("[[A=B=Bad]]", "both bad", 0),
        ("[[C]]", "tie", 0),
        ("leftvote", "first", 1),
        ("bothbad_vote", "both bad", 0),
        ("tie (bothbad)", "both bad", 0),
        ("model_b", "second", -1),
        ("Output (a)", "first", 1),
        ("output_2", "second", -1),
        ("right much better", "second", -2),
        ("8 6", "first", 1),
        ("6.5, 8\nBecause the second is shorter.", "second", -1),
        ("The first is clearer.\nMy verdict is: [[A>>B]]", "first", 2),
        (1, "first", 1),
        ("2", "second", -1),
        (0, "tie", 0),
        (1.25, "first", 0.5),
        (1.5, "tie", 0),
    ],
)
def test_verdicts_are_read_in_common_notations(text: object, label: str, value: float) -> None:
    """Words, relations, places, grades from 1 to 2, two scores and whole replies give the same verdicts."""
    reading = read_verdict(text, numbers="places")
    assert (reading.label, reading.value) == (label, value)


@pytest.mark.parametrize("text", [None, "", True, "garbage", "[[1]]", 3, 0.5, "A", "[[A>A]]", ["A"], "none", "N/A"])
def test_what_is_no_verdict_is_a_failure(text: object) -> None:
    """Anything else has no value, and a reason."""
    reading = read_verdict(text, numbers="places")
    if text == "A":
        assert reading.value == 1
        return
    assert reading.value is None
    assert reading.failure


def test_steps_scores_and_rankings_are_read() -> None:
    """A number can be a step, a score stands in brackets or not, and a ranking is a list, an object or text."""
    assert read_verdict(2, numbers="steps").value == 2
    assert read_verdict("-1", numbers="steps").label == "second"
    assert read_verdict("mia", numbers="places", names=("leo", "mia")).label == "second"
    assert read_score(" [[7.5]] ").value == 7.5
    assert read_score("good").failure
    assert read_ranking("x > y = z") == {"x": 0, "y": -1, "z": -1}
    assert read_ranking([["x"], ["y", "z"]]) == {"x": 0, "y": -1, "z": -1}
    assert read_ranking({"x": 2, "y": "3"}) == {"x": 2, "y": 3}
    assert read_ranking(["x", "x"]) is None


def _write(path: Path, rows: list[dict[str, object]]) -> Path:
    text = "\n".join(json.dumps(row) for row in rows)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text if path.suffix == ".jsonl" else json.dumps(rows), encoding="utf-8")
    return path


WIDE: list[dict[str, object]] = [
    {"item": "1", "ann": "A", "ben": "A", "cho": "B", "judge": "A", "gold": "A"},
    {"item": "2", "ann": "B", "ben": "B", "cho": "B", "judge": "no idea", "gold": "B"},
    {"item": "3", "ann": "tie", "ben": None, "cho": "A", "judge": "B", "gold": "A"},
]


@pytest.mark.parametrize("name", ["file.jsonl", "file.json", "file.jsonl.gz", "file.csv"])
def test_wide_and_long_form_say_the_same(tmp_path: Path, name: str) -> None:
    """A column for each judge or a line for each judgement: the same judgements, in any format."""
    wide = tmp_path / name
    if name.endswith(".csv"):
        lines = [",".join(str(value or "") for value in row.values()) for row in WIDE]
        wide.write_text("\n".join([",".join(WIDE[0]), *lines]), encoding="utf-8")
    else:
        _write(wide, WIDE)
    long_rows = [
        {"id": row["item"], "annotator": who, "value": row[who], "gold": row["gold"]}
        for row in WIDE
        for who in ("ann", "ben", "cho", "judge")
    ]
    long_file = _write(tmp_path / "long.jsonl", long_rows)
    first = read_judgements([wide], people=["ann", "ben", "cho"], judges=["judge"])
    second = read_judgements([long_file], judges=["judge"])
    assert first._replace(files=()) == second._replace(files=())
    assert first.judges["judge"]["2"].both.failure == "'no idea' is no verdict"
    assert "3" not in first.people["ben"]


def test_figures_leave_out_and_count_what_is_missing(tmp_path: Path) -> None:
    """A failure is left out with its count, bounds say what it leaves open, and a split of people is no reference."""
    figures = judgement_figures(
        read_judgements([_write(tmp_path / "wide.jsonl", WIDE)], people=["ann", "ben", "cho"], judges=["judge"])
    )
    judge = figures.judges["judge"]
    assert (judge.judged, judge.failed) == (3, 1)
    assert judge.gold is not None
    assert judge.gold.same is not None
    assert judge.gold.same.bounds is not None
    assert (judge.gold.n, judge.gold.same.k, judge.gold.left_out) == (2, 1, {"failed": 1})
    assert (judge.gold.same.bounds.low, judge.gold.same.bounds.high) == pytest.approx((1 / 3, 2 / 3), abs=1e-6)
    assert judge.people is not None
    assert (judge.people.n, judge.people.left_out) == (1, {"failed": 1, "split": 1})
    assert judge.ceiling is not None
    assert judge.ceiling.n == 5
    assert judge.replacement is not None
    assert judge.replacement.winning_rate is None
    assert figures.together is not None
    assert figures.together.n == 3


def test_both_orders_are_put_together(tmp_path: Path) -> None:
    """Different verdicts in the two orders are a tie together, and count as not consistent."""
    rows: list[dict[str, object]] = [
        {"item": 1, "value": "A", "swapped": "A", "gold": "A"},
        {"item": 2, "value": "A", "swapped": "B", "gold": "A"},
        {"item": 3, "value": "B", "swapped": "?", "gold": "A"},
        {"item": 4, "value": "B", "swapped": "B", "gold": "A"},
    ]
    file = _write(tmp_path / "judge.jsonl", rows)
    orders = judgement_figures(read_judgements([file])).judges["judge"].orders
    assert orders is not None
    assert (orders.n, orders.straight.k, orders.straight.n, orders.swapped.k, orders.swapped.n) == (4, 2, 4, 1, 3)
    assert (orders.consistent.k, orders.consistent.n, orders.consistent_and_right.k) == (2, 3, 1)
    turned = judgement_figures(read_judgements([file], by_place=True)).judges["judge"].orders
    assert turned is not None
    assert (turned.swapped.k, turned.consistent.k) == (2, 1)


def test_battles_and_rankings_become_pairs_of_names(tmp_path: Path) -> None:
    """A verdict on two named responses is turned to one order of names, and a ranking gives all its pairs."""
    battles: list[dict[str, object]] = [
        {"item": 1, "first": "mia", "second": "leo", "judge": "J", "verdict": "A"},
        {"item": 1, "first": "leo", "second": "mia", "judge": "J", "verdict": "B"},
        {"item": 2, "first": "zoe", "second": "leo", "judge": "J", "verdict": "leo"},
    ]
    read = read_judgements([_write(tmp_path / "battles.jsonl", battles)], judges=["J"])
    judged = read.judges["J"]
    assert read.battles == {"1: leo | mia": ("leo", "mia"), "2: leo | zoe": ("leo", "zoe")}
    assert judged["1: leo | mia"].straight == judged["1: leo | mia"].swapped
    assert judged["1: leo | mia"].both.label == "second"
    assert judged["2: leo | zoe"].both.label == "first"
    rankings: list[dict[str, object]] = [{"item": 1, "judge": "J", "ranking": [["a"], ["b", "c"]]}]
    read = read_judgements([_write(tmp_path / "rankings.jsonl", rankings)], judges=["J"])
    assert read.kind == "rankings"
    assert {item: one.both.label for item, one in read.judges["J"].items()} == {
        "1: a | b": "first", "1: a | c": "first", "1: b | c": "tie"
    }  # fmt: skip
    assert set(read.clusters.values()) == {"1"}


def test_mistakes_in_a_file_are_named(tmp_path: Path) -> None:
    """A column that is nowhere, a judgement that stands twice, and numbers that can mean two things are refused."""
    file = _write(tmp_path / "f.jsonl", [{"idx": 1, "vote": 1}, {"idx": 1, "vote": 0}])
    with pytest.raises(ConfigError, match=r"--map item=COLUMN.*idx, vote"):
        read_judgements([file])
    with pytest.raises(ConfigError, match="no line has anything in 'veto'"):
        read_judgements([file], columns={"item": "idx", "value": "veto"})
    with pytest.raises(DataError, match=r"line 2: f judges '1' at .*line 1 already"):
        read_judgements([file], columns={"item": "idx", "value": "vote"})
    with pytest.raises(ConfigError, match="--numbers"):
        read_judgements([file], columns={"item": "#", "value": "vote"}, kind="pairs")
    broken = tmp_path / "broken.jsonl"
    broken.write_text('{"item": 1, "value": 2}\n{"item"', encoding="utf-8")
    with pytest.raises(DataError, match="line 2: broken JSON"):
        read_judgements([broken])


def test_scores_have_categories_only_where_they_are_whole(tmp_path: Path) -> None:
    """Whole scores give accuracy and kappa; others correlations and alpha alone, and the reason."""
    rows: list[dict[str, object]] = [{"item": n, "ann": n % 5, "ben": (n + n // 7) % 5, "j": n % 5} for n in range(40)]
    figures = judgement_figures(
        read_judgements([_write(tmp_path / "s.jsonl", rows)], people=["ann", "ben"], judges=["j"])
    )
    judge = figures.judges["j"]
    assert figures.kind == "scores"
    assert judge.people is not None
    assert judge.people.same is not None
    assert judge.people.kappa_weighted.value is not None
    assert judge.replacement is not None
    assert judge.ceiling is not None
    assert judge.replacement.people["ann"].judge_as_good == 1
    assert judge.ceiling.alignment == "distance"
    assert judge.ceiling.judge.mean <= judge.ceiling.people.mean
    assert judge.replacement.warning.startswith("there are two people")
    halves = [{**row, "j": n % 5 + 0.25} for n, row in enumerate(rows)]
    figures = judgement_figures(
        read_judgements([_write(tmp_path / "h.jsonl", halves)], people=["ann", "ben"], judges=["j"])
    )
    people = figures.judges["j"].people
    assert people is not None
    assert people.same is None
    assert "whole numbers" in (people.kappa.no_value or "")
    assert people.pearson.value is not None


def test_sparse_battles_rate_models_adjusted_for_place_and_length(tmp_path: Path) -> None:
    """Not every pair meets; who is shown first gains what was planted, and ratings without it are closer to the truth."""
    generator = np.random.default_rng(4)
    strengths = {"ann": 0.8, "ben": 0.3, "cho": 0.0, "dia": -0.4, "eva": -0.7}
    rows: list[dict[str, object]] = []
    for number in range(600):
        at = int(generator.integers(4))
        names = [*strengths][at : at + 2]
        first, second = names if generator.random() < 0.5 else reversed(names)
        lengths = generator.integers(20, 200, size=2)
        lean = strengths[first] - strengths[second] + 0.6 + 0.9 * (lengths[0] - lengths[1]) / lengths.sum()
        wins = np.exp([lean / 2, -0.7, -lean / 2])
        verdict = str(generator.choice(["A", "tie", "B"], p=wins / wins.sum()))
        rows.append({
            "item": number, "first": first, "second": second, "judge": "J", "verdict": verdict,
            "first_length": int(lengths[0]), "second_length": int(lengths[1]),
        })  # fmt: skip
    rows.append({**rows[0], "item": 600, "verdict": "no idea"})
    figures = judgement_figures(read_judgements([_write(tmp_path / "battles.jsonl", rows)], judges=["J"]))
    rated = figures.ratings["J"]
    assert (rated.n, rated.failed, list(rated.models)) == (600, 1, list(strengths))
    points = 400 / np.log(10)
    for name, planted in (("place", 0.6 * points), ("length", 0.9 / 3 * points)):
        effect = rated.effects[name]
        assert effect.low is not None
        assert effect.high is not None
        assert effect.low < planted < effect.high
    for name, strength in strengths.items():
        adjusted = rated.models[name].adjusted
        assert adjusted is not None
        assert adjusted.low is not None
        assert adjusted.high is not None
        assert adjusted.low < 1000 + strength * points < adjusted.high


def test_battles_that_say_nothing_of_place_are_not_adjusted_for_it(tmp_path: Path) -> None:
    """Without a pair in both orders, and without lengths, the figures say what they are not adjusted for."""
    rows: list[dict[str, object]] = [
        {"item": n, "first": "a", "second": "b", "judge": "J", "verdict": "A" if n % 3 else "B"} for n in range(9)
    ]
    rated = judgement_figures(read_judgements([_write(tmp_path / "battles.jsonl", rows)], judges=["J"])).ratings["J"]
    assert set(rated.not_adjusted) == {"place", "length"}
    assert rated.models["a"].adjusted is None
    assert rated.models["a"].rating is not None


def test_the_command_prints_what_python_returns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The terminal has accuracy, people and failures; JSON is that of the function; a column that is nowhere ends with 2."""
    file = str(_write(tmp_path / "wide.jsonl", WIDE))
    roles = ["--people", "ann,ben,cho", "--judges", "judge"]
    assert run(["annotate", "judgements", file, *roles]) == 0
    printed = capsys.readouterr().out
    for words in (
        "judge: 1 of 3 judgements failed: 'no idea' is no verdict (1)",
        "33.33 %",
        "1 failed, 1 split",
        "human ceiling",
    ):
        assert words in printed
    assert run(["annotate", "judgements", file, *roles, "--json"]) == 0
    figures = dokimasia.compare_judgements_sync([file], people=["ann", "ben", "cho"], judges=["judge"])
    assert json.loads(capsys.readouterr().out) == as_json(figures)
    assert run(["annotate", "judgements", file, "--map", "value=veto"]) == 2
    assert "'veto'" in capsys.readouterr().err
