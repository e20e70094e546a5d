"""`annotate` and `criteria quality` as a user runs them: handed out, filled in, taken in, compared, and misused."""

import json
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dokimasia.cli.main import run
from dokimasia.simulation.people import PEOPLE, rating_of
from dokimasia.simulation.truths.judges import planted_quality
from dokimasia.simulation.world import make_world, write_creative, write_world

SIDES = ("left much better", "left better", "equal", "right better", "right much better")
NAMES = ",".join(person.name for person in PEOPLE[:3])


@pytest.fixture(scope="session")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a home that holds an evaluation, whose judge draws criteria that nobody needs, and duels."""
    folder = tmp_path_factory.mktemp("judged")
    write_world(folder / "world.jsonl", 21, 5)
    write_creative(folder / "creative.jsonl", 12, 3)
    home = ["--home", str(folder / "home")]
    models = ["--models", "sim/strong,sim/weak"]
    evaluate = ["evaluate", str(folder / "world.jsonl"), "--judge", "sim/judge-inventive", "--protocol", "published"]
    assert run([*evaluate, *models, *home]) == 0
    duel = [
        "duel",
        str(folder / "creative.jsonl"),
        "--judge",
        "sim/judge",
        "--baseline",
        "sim/steady",
        "--name",
        "duels",
    ]
    assert run([*duel, *models, *home]) == 0
    return folder


@pytest.fixture
def place(judged: Path, tmp_path: Path) -> Path:
    """A folder of one's own with a copy of the home."""
    shutil.copytree(judged / "home", tmp_path / "home")
    return tmp_path


def form_of(folder: Path, who: str) -> Iterator[dict[str, Any]]:
    """Yield what an annotator is shown."""
    yield from map(json.loads, (folder / who / "items.jsonl").read_text().splitlines())


def saved(folder: Path, who: str, rows: list[dict[str, Any]]) -> str:
    """Write a filled form as the page saves it."""
    path = folder / f"{who}.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def test_pairs_of_duels_from_the_draw_to_the_agreement(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Pairs are handed out blind with the judge's criteria, read back, differed on, decided and compared with the judge."""
    home = ["--home", str(place / "home")]
    forms, said_file, all_file = place / "forms", str(place / "said.jsonl"), str(place / "all.jsonl")
    assert run(["annotate", "draw", "duels", "--annotators", NAMES, "--per", "2", "-o", str(forms), *home]) == 0
    page = (forms / "anna" / "annotate.html").read_text()
    assert not any(name in page for name in ("sim/", "steady", "weak"))
    assert "data:image/png;base64," in page
    assert "http://" not in page
    assert "https://" not in page
    filled: list[str] = []
    for who in NAMES.split(","):
        rows = list(form_of(forms, who))
        assert all(row["aid"] for row in rows)
        choices = [random.Random(row["left"] + row["right"] + who).choice(SIDES) for row in rows]
        filled.append(
            saved(place, who, [{"item": row["item"], "verdict": one} for row, one in zip(rows, choices, strict=True)])
        )
    assert run(["annotate", "read", str(place / "forms.key.jsonl"), *filled, "-o", said_file, *home]) == 0
    assert "not filled in" not in capsys.readouterr().err
    differ, decisions = place / "differ.jsonl", place / "decided.jsonl"
    assert run(["annotate", "disagreements", said_file, "--more-than", "2", "-o", str(differ), *home]) == 0
    rows = [json.loads(line) for line in differ.read_text().splitlines()]
    assert rows
    only = [
        "annotate",
        "draw",
        "duels",
        "--annotators",
        "dora",
        "--only",
        str(differ),
        "-o",
        str(place / "again"),
        *home,
    ]
    assert run(only) == 0
    assert len(list(form_of(place / "again", "dora"))) == len(rows)
    decisions.write_text("".join(json.dumps({**row, "annotator": "dora", "value": 0}) + "\n" for row in rows))
    assert run(["annotate", "adjudicate", said_file, str(decisions), "-o", all_file, *home]) == 0
    capsys.readouterr()
    assert run(["annotate", "agreement", all_file, "--run", "duels", "--json", *home]) == 0
    figures = json.loads(capsys.readouterr().out)
    found = figures["measures"]["verdict"]
    assert figures["annotators"] == NAMES.split(",")
    assert (figures["adjudicators"], found["adjudicated"]) == (["dora"], len(rows))
    assert set(found["judges"]) == {"sim/judge", "sim/judge, one order"}
    assert set(found["judges"]["sim/judge"]["by_model"]) == {"sim/strong", "sim/weak"}
    assert found["judges"]["sim/judge"]["n"] == found["n"]
    kept = [json.loads(line) for line in Path(all_file).read_text().splitlines()]
    assert set(found["by_category"]) == {row["category"] for row in kept}
    assert run(["annotate", "agreement", all_file, "--run", "duels", *home]) == 0
    told = capsys.readouterr().out
    for words in (
        "Simulated models: these figures",
        "Krippendorff's alpha, ordinal",
        "mean of the others",
        "one order",
    ):
        assert words in " ".join(told.split())


def test_criteria_with_planted_faults(place: Path, judged: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A faultless rater finds exactly the criteria that nobody needs; people get the same criteria and agree with it."""
    home = ["--home", str(place / "home")]
    ask = ["criteria", "quality", "last", "--rater", "sim/judge", "--per", "6", "--seed", "2", *home]
    assert run([*ask, "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert run(["show", figures["run"], *home]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert f"{figures['n']} criteria · judge sim/judge" in shown
    assert ("sim/judge rates criteria that it drew itself" in shown) is figures["own_criteria"]
    assert run([*ask, "--dry-run"]) == 0
    assert f"note: {figures['n']} criteria of " in " ".join(capsys.readouterr().out.split())
    own = [*ask[:4], "sim/judge-inventive", *ask[5:]]
    assert run([*own, "--dry-run"]) == 0
    assert "sim/judge-inventive rates criteria that it drew itself" in " ".join(capsys.readouterr().out.split())
    pairs = {question.text: (scene, question) for scene, question in make_world(21, 5)}
    forms = place / "forms"
    draw = ["annotate", "draw", figures["source"], "--criteria", "--per", "6", "--seed", "2", "--annotators", NAMES]
    assert run([*draw, "-o", str(forms), *home]) == 0
    filled: list[str] = []
    planted: list[tuple[int, int]] = []
    for person in PEOPLE[:3]:
        rows: list[dict[str, Any]] = []
        for row in form_of(forms, person.name):
            scene, question = pairs[row["question"]]
            truth = planted_quality(scene, question, row["criterion"], row["ground_truth"])
            planted.append(truth)
            values = [rating_of(person, true, 1, 3, row["criterion"], str(at)) for at, true in enumerate(truth)]
            rows.append({"item": row["item"], "accuracy": str(values[0]), "necessity": str(values[1])})
        filled.append(saved(place, person.name, rows))
    assert min(necessity for _, necessity in planted) == 1
    assert figures["n_rated"] == figures["n"] == len(planted) // 3
    mean = sum(necessity for _, necessity in planted) / len(planted)
    assert figures["necessity"]["mean"] == pytest.approx(mean, abs=1e-6)
    assert figures["accuracy"]["mean"] == 3
    assert all(one["n"] == min(6, one["of"]) for one in figures["groups"].values())
    file = str(place / "said.csv")
    assert run(["annotate", "read", str(place / "forms.key.jsonl"), *filled, "-o", file, *home]) == 0
    capsys.readouterr()
    assert run(["annotate", "agreement", file, "--run", figures["run"], "--json", *home]) == 0
    measures = json.loads(capsys.readouterr().out)["measures"]
    assert set(measures) == {"accuracy", "necessity"}
    necessity = measures["necessity"]
    assert necessity["judges"]["sim/judge"]["coverage"] == 1
    assert necessity["judges"]["sim/judge"]["mae"]["mean"] < necessity["together"]["mae"]["mean"]
    assert set(necessity["by_category"]) == set(figures["groups"])
    assert run(["show", figures["run"], *home]) == 0
    assert "Quality of the criteria" in capsys.readouterr().out


def test_scores_and_responses_of_files(place: Path, judged: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Single responses of a file are scored on a scale of one's own, and a judge's scores are brought onto it."""
    home = ["--home", str(place / "home")]
    answers = place / "answers.jsonl"
    world = [json.loads(line) for line in (judged / "world.jsonl").read_text().splitlines()]
    lines = [{"id": row["id"], "model": "sim/strong", "response": f"It is {row['id']}."} for row in world]
    answers.write_text("".join(json.dumps(line) + "\n" for line in lines))
    forms = place / "forms"
    draw = ["annotate", "draw", str(answers), "--annotators", "anna", "--scale", "0-10", "-o", str(forms), *home]
    assert run(draw) == 2
    assert "--data DATA" in capsys.readouterr().err
    assert run([*draw, "--data", str(judged / "world.jsonl")]) == 0
    assert f"read {answers}: 21 answers, 1 model\n" in capsys.readouterr().err
    rows = [{"item": row["item"], "score": "10"} for row in form_of(forms, "anna")]
    file = str(place / "said.jsonl")
    read = ["annotate", "read", str(place / "forms.key.jsonl"), saved(place, "anna", rows), "-o", file, *home]
    assert run(read) == 0
    assert run(["annotate", "agreement", file, "--run", "duels", *home]) == 2
    assert "line 1: what they are held against has no sample" in capsys.readouterr().err
    last = json_runs(home, capsys)
    assert run(["annotate", "agreement", file, "--run", last, "--json", *home]) == 0  # the file has the draw's scale
    output = capsys.readouterr()
    assert f"read {file}: 21 ratings, 1 person, 21 samples\n" in output.err
    found = json.loads(output.out)["measures"]["score"]
    assert found["absent"].startswith("one annotator")
    assert 0 < found["judges"]["sim/judge-inventive"]["mae"]["mean"] < 5


def json_runs(home: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """Return the id of the evaluation."""
    capsys.readouterr()
    assert run(["runs", "--json", *home]) == 0
    listed = json.loads(capsys.readouterr().out)
    every = listed if isinstance(listed, list) else listed["runs"]
    return next(one["run"] if "run" in one else one["id"] for one in every if one["method"] == "evaluate")


def test_misuse(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Options that do not go together, scales that are none, unknown models and runs without responses exit with 2."""
    home = ["--home", str(place / "home")]
    draw = ["annotate", "draw", "duels", "--annotators", "anna", "-o", str(place / "forms"), *home]
    unknown = place / "said.csv"
    unknown.write_text("id,model,baseline,annotator,value\ncreative-3-0000,sim/nobody,sim/steady,anna,1\n")
    for arguments, told in (
        ([*draw, "--criteria", "--models", "sim/weak"], "--criteria are rated by themselves"),
        ([*draw, "--by", "leaf"], "--by goes with --criteria"),
        ([*draw, "--scale", "5-1"], "no scale"),
        ([*draw, "--models", "sim/nobody"], "no pair of 'sim/nobody'"),
        ([*draw, "--criteria"], "has no criteria"),
        (["annotate", "agreement", str(unknown), "--run", "duels", *home], "said.csv, line 2: what they are held"),
    ):
        assert run(arguments) == 2, arguments
        assert told in " ".join(capsys.readouterr().err.split()), arguments
    line = "creative-3-{:04},sim/nobody,sim/steady,anna,1\n"
    unknown.write_text("id,model,baseline,annotator,value\n" + "".join(line.format(at) for at in range(30)))
    capsys.readouterr()
    assert run(["annotate", "agreement", str(unknown), "--run", "duels", *home]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert said.count("what they are held") == 1
    assert "it is so of all 30 annotations: is it the wrong run" in said


def test_criteria_are_drawn_over_a_tree(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By capability or leaf the groups are those of the run's tree; without one that holds the criteria it says what to do."""
    home = ["--home", str(place / "home")]
    capsys.readouterr()
    ask = ["criteria", "quality", "last", "--rater", "sim/judge", "--per", "1", "--json", *home]
    assert run([*ask, "--by", "leaf"]) == 2
    assert "grow one with dokimasia tree grow" in capsys.readouterr().err
    assert run(["tree", "grow", "last", "--judge", "sim/judge", "--name", "skills", *home]) == 0
    capsys.readouterr()
    assert run([*ask, "--by", "capability"]) == 0
    groups = json.loads(capsys.readouterr().out)["groups"]
    assert "Perception" in groups
    assert all(one["n"] == 1 <= one["of"] for one in groups.values())
    assert run([*ask, "--by", "leaf", "--tree", "skills"]) == 0
    leaves = json.loads(capsys.readouterr().out)["groups"]
    assert all(name.count("<") >= 2 for name in leaves)
    assert sum(one["of"] for one in leaves.values()) == sum(one["of"] for one in groups.values())


def test_a_single_decision_is_counted_in_the_singular(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What `adjudicate` says of its count fits the number."""
    row = {"id": "q", "model": "A"}
    said, decided = tmp_path / "said.jsonl", tmp_path / "decided.jsonl"
    said.write_text(
        "".join(json.dumps(row | {"annotator": who, "value": n}) + "\n" for who, n in (("anna", 1), ("ben", 5)))
    )
    decided.write_text(json.dumps(row | {"annotator": "carla", "value": 4}) + "\n")
    assert run(["annotate", "adjudicate", str(said), str(decided), "-o", str(tmp_path / "all.jsonl")]) == 0
    assert "1 decision taken in" in capsys.readouterr().err


def test_disagreements_on_right_or_wrong_are_listed_without_an_option(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """On a scale of 0 and 1 whoever differs is listed, and the line says how many and where."""
    row = {"id": "q", "model": "A", "measure": "score", "scale": "0-1"}
    said, differ = tmp_path / "said.jsonl", tmp_path / "differ.jsonl"
    said.write_text("".join(json.dumps(row | {"annotator": who, "value": n}) + "\n" for who, n in (("a", 0), ("b", 1))))
    assert run(["annotate", "disagreements", str(said), "-o", str(differ)]) == 0
    assert f"1 item on which people differ, written to {differ}" in " ".join(capsys.readouterr().err.split())
    assert len(differ.read_text().splitlines()) == 1
    assert run(["annotate", "disagreements", str(said), "--more-than", "1", "-o", str(differ)]) == 0
    assert "0 items on which people differ by more than 1, written" in " ".join(capsys.readouterr().err.split())


def test_kappa_of_pairs_says_that_its_weights_are_quadratic(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """On a scale of several steps each kappa with weights is called so; on right or wrong there are no weights."""
    said = tmp_path / "said.jsonl"
    for scale, values in (("1-5", (1, 2, 5, 4)), ("0-1", (0, 1, 1, 0))):
        rows = [
            {"id": f"q{number}", "model": "A", "measure": "score", "scale": scale, "annotator": who, "value": value}
            for number, value in enumerate(values)
            for who in ("anna", "ben")
        ]
        said.write_text("".join(json.dumps(row) + "\n" for row in rows))
        capsys.readouterr()
        assert run(["annotate", "agreement", str(said)]) == 0
        (pair,) = [line for line in capsys.readouterr().out.splitlines() if "anna and ben" in line]
        assert ("quadratic kappa" in pair) == (scale == "1-5")
        assert "kappa" in pair
