"""Gates: a run beside its baseline on the command line, in Python and over HTTP, with files for continuous integration."""

import json
import math
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from dokimasia import gate
from dokimasia.algorithms.statistics.clusters import Floats
from dokimasia.cli.main import run
from dokimasia.errors import InputError
from dokimasia.report.blocks import Paragraph, plain
from dokimasia.report.gate import gate_blocks, junit
from dokimasia.runs.reading.gate import decide
from dokimasia.settings import load_settings
from dokimasia.simulation.world import write_world
from tests.service.conftest import asking, service_over

STRONG, WEAK = "sim/strong", "sim/weak"
MODELS = f"{STRONG},{WEAK}"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with two runs over the same data, and one over other data."""
    folder = tmp_path_factory.mktemp("gates")
    home = folder / "home"
    for name, seed in (("data", 1), ("other", 2)):
        write_world(folder / name / f"{name}.jsonl", 24, seed)

    def evaluate(data: str, name: str, *more: str, judge: str = "sim/judge") -> None:
        path = str(folder / data / f"{data}.jsonl")
        judged = ("--judge", judge) if judge else ()
        words = ["evaluate", path, *judged, "--models", MODELS, "--name", name, *more]
        assert run([*words, "--home", str(home), "--json"]) == 0

    evaluate("data", "main")
    evaluate("data", "candidate", "--seed", "1")
    evaluate("data", "part", "--limit", "20")
    evaluate("data", "rules", "--seed", "2", judge="")
    evaluate("other", "elsewhere")
    return home


def gated(capfd: pytest.CaptureFixture[str], home: Path, *arguments: str) -> tuple[int, str, str]:
    """The exit code, output and errors of a gate."""
    capfd.readouterr()
    code = run(["gate", *arguments, "--home", str(home)])
    out, err = capfd.readouterr()
    return code, out, err


def test_a_worse_model_fails_the_gate_and_a_better_one_passes(
    home: Path, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Exit codes are 3 for a drop and 0 for none; the files say what the terminal says."""
    files = {kind: tmp_path / f"gate.{kind}" for kind in ("xml", "md")}
    written = ("--junit", str(files["xml"]), "--markdown", str(files["md"]))
    code, text, _ = gated(
        capfd, home, "candidate", "--baseline", "main", "--max-drop", "5%", "--models", MODELS, *written
    )
    assert code == 3
    assert "Drop: strict accuracy fell by more than 5 percentage points" in " ".join(text.split())
    suite = ElementTree.fromstring(files["xml"].read_text(encoding="utf-8"))
    (failure,) = suite.iter("failure")
    assert (suite.get("tests"), suite.get("failures"), failure.get("type")) == ("1", "1", "drop")
    assert f"| **{STRONG} → {WEAK}** | drop |" in files["md"].read_text(encoding="utf-8")
    better = ("--models", f"{WEAK},{STRONG}", *written)
    code, text, _ = gated(capfd, home, "candidate", "--baseline", "main", "--max-drop", "5", *better)
    assert code == 0
    assert "No drop: no model's strict accuracy fell" in " ".join(text.split())
    assert not list(ElementTree.fromstring(files["xml"].read_text(encoding="utf-8")).iter("failure"))


def test_one_name_gates_this_model_alone(home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A single name filters: the model of the run beside the model of the same name in the baseline."""
    _, out, _ = gated(capfd, home, "candidate", "--baseline", "main", "--max-drop", "5", "--models", WEAK, "--json")
    models = json.loads(out)["models"]
    assert [(model["baseline_model"], model["model"]) for model in models] == [(WEAK, WEAK)]


def test_too_few_samples_cannot_tell(home: Path, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Where nothing changed, few samples do not show that nothing was lost: exit code 4, and how many would."""
    report = tmp_path / "gate.xml"
    arguments = ("candidate", "--baseline", "main", "--max-drop", "1%", "--junit", str(report), "--json")
    code, text, _ = gated(capfd, home, *arguments)
    figures = json.loads(text)
    assert (code, figures["verdict"], figures["direction"]) == (4, "cannot tell", "run minus baseline")
    assert figures["level"] == pytest.approx(0.975)
    for model in figures["models"]:
        assert model["samples_needed"] > model["n"] == model["n_baseline"] == 24
        assert model["difference"]["low"] <= -0.01
    failures = list(ElementTree.fromstring(report.read_text(encoding="utf-8")).iter("failure"))
    assert [failure.get("type") for failure in failures] == ["cannot tell"] * 2
    assert gated(capfd, home, *arguments, "--allow-undecided")[0] == 0
    suite = ElementTree.fromstring(report.read_text(encoding="utf-8"))
    assert (suite.get("failures"), suite.get("skipped")) == ("0", "2")


def test_the_help_documents_every_exit_code(capfd: pytest.CaptureFixture[str]) -> None:
    """The help lists the exit codes, one a line, with what each means."""
    assert run(["gate", "--help"]) == 0
    lines = [line.strip() for line in capfd.readouterr().out.splitlines()]
    assert [line[:2] for line in lines if line[:1].isdigit()] == ["0 ", "1 ", "2 ", "3 ", "4 "]


def test_a_run_without_some_samples_does_not_pass(home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Samples of the baseline that the run lacks are printed, and leave open what could hide among them."""
    arguments = ("part", "--baseline", "main", "--models", f"{WEAK},{STRONG}", "--max-drop", "5")
    code, text, _ = gated(capfd, home, *arguments)
    words = " ".join(text.split())
    assert "4 samples of the baseline without a value in both runs (4 not in the run)" in words
    figures = json.loads(gated(capfd, home, *arguments, "--json")[1])
    (model,) = figures["models"]
    assert (model["n"], model["n_baseline"], model["lost"]) == (20, 24, {"not in the run": 4})
    assert code == (0 if model["bounds"]["low"] > -0.05 < model["difference"]["low"] else 4)


def test_a_run_that_is_the_same_passes_under_both_names(home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Asked again under another name, a finished run is found by both names, and has no drop against itself."""
    data = str(home.parent / "data" / "data.jsonl")
    again = ["evaluate", data, "--judge", "sim/judge", "--models", MODELS, "--name", "again"]
    assert run([*again, "--home", str(home), "--json"]) == 0
    code, text, _ = gated(capfd, home, "again", "--baseline", "main", "--max-drop", "1")
    assert (code, "Both names are of one run" in text) == (0, True)
    assert run(["runs", "name", "again", "main", "--home", str(home)]) == 0


def test_mistakes_have_another_exit_code(home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Other data, another unit and an unknown run end with exit code 2 and say what is wrong."""
    for arguments, problem in (
        (("elsewhere", "--baseline", "main", "--max-drop", "2"), "no sample in common"),
        (("candidate", "--baseline", "main", "--max-drop", "two"), "no percentage from 0 to 100"),
        (("candidate", "--baseline", "main", "--max-drop", "nan"), "no percentage from 0 to 100"),
        (("candidate", "--baseline", "nothing", "--max-drop", "2"), "nothing"),
        (
            ("candidate", "--baseline", "main", "--max-drop", "2", "--models", "a,b,c"),
            "--models takes a model of both runs",
        ),
    ):
        code, text, errors = gated(capfd, home, *arguments)
        assert (code, text) == (2, "")
        assert problem in errors


async def test_python_and_http_give_the_same_figures(home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The function, the route and the command return one gate, of scores as of accuracy."""
    settings = load_settings(home=home, cwd=home.parent, env={})
    made = await gate("candidate", baseline="main", max_drop=2, measure="score", settings=settings)
    figures: dict[str, Any] = json.loads(made.model_dump_json())
    arguments = ("candidate", "--baseline", "main", "--max-drop", "2%", "--measure", "score", "--json")
    printed = json.loads(gated(capfd, home, *arguments)[1])
    assert (made.scale, made.margin) == ((1.0, 5.0), pytest.approx(0.08))
    with service_over(home) as service:
        async with asking(service) as client:
            query = "baseline=main&max_drop=2&measure=score"
            assert (await client.get(f"/api/runs/candidate/gate?{query}")).json() == printed
            assert (await client.get("/api/runs/candidate/gate?baseline=main&max_drop=101")).status_code == 422
    assert printed["models"][0]["mean"] == figures["models"][0]["mean"]
    with pytest.raises(InputError, match="no percentage from 0 to 100"):
        await gate("candidate", baseline="main", max_drop=300, settings=settings)


def test_failures_cannot_hide_a_drop() -> None:
    """Samples without a value now leave the gate open where they could hide a drop, and do not where they are few."""
    rng = np.random.default_rng(3)
    before = (rng.random(2000) < 0.7).astype(np.float64)
    images = list(range(2000))
    for failed, verdict in ((20, "no drop"), (100, "cannot tell")):
        after = before.copy()
        after[:failed] = math.nan
        decision = decide(before, after, images, margin=0.02, level=0.95, seed=0)
        assert (decision.verdict, decision.n) == (verdict, 2000 - failed)
        assert decision.bounds is not None
        assert decision.bounds.low == pytest.approx(-before[:failed].sum() / 2000)
    none = decide(before, np.full(2000, math.nan), images, margin=0.02, level=0.95, seed=0)
    assert (none.verdict, none.difference, none.samples_needed) == ("cannot tell", None, None)


def test_undecided_answers_leave_open_what_they_could_hide() -> None:
    """A drop is one, and none is none, only whatever undecided answers are."""
    images = list(range(400))
    before, after = np.ones(400), np.r_[np.zeros(100), np.ones(300)]
    dropped = decide(before, after, images, margin=0.05, level=0.95, seed=0)
    assert (dropped.verdict, dropped.outer, dropped.n_undecided) == ("drop", None, 0)
    undecided = decide(before, after, images, most=(before, np.ones(400)), margin=0.05, level=0.95, seed=0)
    assert (undecided.verdict, undecided.n_undecided) == ("cannot tell", 100)
    assert undecided.outer is not None
    assert undecided.outer.low < -0.25 < -0.05 < undecided.outer.high
    few = np.r_[np.ones(2), after[2:]]
    still = decide(before, after, images, most=(before, few), margin=0.05, level=0.95, seed=0)
    assert (still.verdict, still.n_undecided) == ("drop", 2)


@pytest.mark.parametrize("changed", [0, 2])
def test_the_number_of_samples_decides(changed: int) -> None:
    """A gate that cannot tell passes with the number of samples that it says, where answers keep changing as they did."""

    def pair(hundreds: int) -> tuple[Floats, Floats]:
        before = np.tile(np.r_[np.ones(60), np.zeros(40)], hundreds)
        after = before.reshape(hundreds, 100).copy()
        after[:, :changed] = 0.0
        after[:, 60 : 60 + changed] = 1.0
        return before, after.ravel()

    few = decide(*pair(1), list(range(100)), margin=0.02, level=0.95, seed=0)
    assert few.verdict == "cannot tell"
    assert few.samples_needed is not None
    hundreds = few.samples_needed // 100 + 1
    enough = decide(*pair(hundreds), list(range(100 * hundreds)), margin=0.02, level=0.95, seed=0)
    assert (enough.verdict, enough.samples_needed) == ("no drop", None)


async def test_the_conclusion_is_short_with_many_models(home: Path) -> None:
    """A gate over nine models says the worst first, in five sentences at most, and escapes names in XML."""
    made = await gate(
        "candidate", baseline="main", max_drop=50, settings=load_settings(home=home, cwd=home.parent, env={})
    )
    worst = made.models[0].model_copy(update={"model": 'a<b&"c"', "verdict": "drop"})
    many = made.model_copy(update={"models": (*([made.models[0]] * 8), worst), "verdict": "drop"})
    lead = next(block for block in gate_blocks(many) if isinstance(block, Paragraph) and block.kind == "lead")
    text = plain(lead.text)
    assert text.index("a<b") < text.index(": no drop.")
    assert "6 more models are in the table." in text
    names = [case.get("name") for case in ElementTree.fromstring(junit(many)).iter("testcase")]
    assert names[-1] == f'{STRONG} → a<b&"c"'


async def test_an_unchanged_measure_is_called_so_as_in_a_comparison(home: Path) -> None:
    """Where no sample differs, the gate says unchanged, as `diff` does, and gives the interval that others leave open."""
    settings = load_settings(home=home, cwd=home.parent, env={})
    made = await gate("main", baseline="main", max_drop=50, settings=settings)
    for model in made.models:
        assert model.n_changed == 0
    lead = next(block for block in gate_blocks(made) if isinstance(block, Paragraph) and block.kind == "lead")
    mean = f"{100 * (made.models[0].mean or 0):.1f}"
    assert f"{made.models[0].model}: strict accuracy is unchanged, {mean}, " in plain(lead.text)
    moved = decide(np.array([0.0, 1.0]), np.array([1.0, 0.0]), [0, 1], margin=0.5, level=0.95, seed=0)
    assert moved.n_changed == 2, "changes that cancel are changes"
    changed = made.models[0].model_copy(update={"n_changed": 2})
    lead = next(iter(gate_blocks(made.model_copy(update={"models": (changed,), "simulated": ()}))))
    assert isinstance(lead, Paragraph)
    assert f"{mean} → {mean}, " in plain(lead.text)
