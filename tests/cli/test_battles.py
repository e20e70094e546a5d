"""`dokimasia arena --battles`: battles that exist are rated without data, judge, home or call."""

import json
from pathlib import Path

import numpy as np
import pytest

from dokimasia.cli.main import run
from dokimasia.people.judgements import judgement_figures, read_judgements
from dokimasia.report.fields import as_json

pytestmark = pytest.mark.quick

STRENGTH = {"ada": 2.0, "bob": 0.8, "cyd": 0.0, "dee": -1.2}
COLUMNS = "first=model_a,second=model_b,value=winner"


@pytest.fixture
def battles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of battles in which ada never meets dee, with a vote that cannot be read."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    lines: list[dict[str, object]] = []
    for number in range(300):
        first, second = map(str, rng.permutation([*STRENGTH])[:2])
        if {first, second} == {"ada", "dee"}:
            continue
        odds = 1 / (1 + np.exp(STRENGTH[second] - STRENGTH[first] - 0.4))  # who is shown first gains
        winner = "tie" if rng.random() < 0.1 else "model_a" if rng.random() < odds else "model_b"
        lines.append({"model_a": first, "model_b": second, "winner": winner, "n_a": 100 + number % 7, "n_b": 100})
    lines.append({"model_a": "ada", "model_b": "bob", "winner": "banana", "n_a": 1, "n_b": 1})
    path = tmp_path / "battles.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_sparse_battles_rank_models_with_intervals(battles: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The order is the planted one, ranks and ratings have intervals, and what cannot be read is counted."""
    assert run(["arena", "--battles", str(battles), "--map", COLUMNS, "--json"]) == 0
    (rated,) = json.loads(capsys.readouterr().out).values()
    assert [*rated["models"]] == ["ada", "bob", "cyd", "dee"]
    assert rated["failed"] == 1
    assert sum(model["battles"] for model in rated["models"].values()) == 2 * rated["n"]
    for position, model in enumerate(rated["models"].values(), 1):
        best, worst = model["rank_interval"]
        assert best <= position <= worst
        assert model["rating"]["low"] < model["rating"]["mean"] < model["rating"]["high"]
    assert rated["models"]["ada"]["rank_interval"] != [1, 4]
    assert rated["effects"]["place"]["low"] > 0
    assert not Path(".dokimasia").exists()


def test_lengths_adjust_where_the_file_has_them(battles: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without the columns the output says what it is not adjusted for; with them the effect is a figure."""
    assert run(["arena", "--battles", str(battles), "--map", COLUMNS]) == 0
    printed = capsys.readouterr().out
    assert "rank" in printed
    assert "not adjusted for length" in printed
    lengths = f"{COLUMNS},first_length=n_a,second_length=n_b"
    assert run(["arena", f"--battles={battles}", "--map", lengths, "--json"]) == 0
    (rated,) = json.loads(capsys.readouterr().out).values()
    assert "length" in rated["effects"]
    assert "length" not in rated["not_adjusted"]


def test_the_ratings_are_those_of_judgements(battles: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`annotate judgements` rates the same file alike."""
    assert run(["arena", "--battles", str(battles), "--map", COLUMNS, "--json"]) == 0
    columns = dict(part.split("=") for part in COLUMNS.split(","))
    figures = judgement_figures(read_judgements([battles], columns={"item": "#", **columns}, kind="pairs"))
    assert json.loads(capsys.readouterr().out) == {name: as_json(rated) for name, rated in figures.ratings.items()}


def test_what_names_no_models_says_the_way_out(battles: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file without names of models is refused with the columns to name; an arena of data still wants its data."""
    assert run(["arena", "--battles", str(battles), "--map", "value=winner"]) == 2
    assert "--map first=model_a,second=model_b,value=winner" in capsys.readouterr().err
    assert run(["arena", "--battles", "missing.jsonl"]) == 2
    assert run(["arena", "--judge", "sim/judge"]) == 2
