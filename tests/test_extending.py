"""The document on extending the package: every file in it is written, every command in it is run."""

import csv
import importlib
import json
import re
import runpy
import shlex
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from dokimasia.cli.main import run
from dokimasia.datasets import READERS
from dokimasia.methods.evaluation import METHOD
from dokimasia.plugins import listing
from dokimasia.runs import DataPlan, RunPlan
from dokimasia.runs.figures import is_simulated
from dokimasia.storage.home import Home
from dokimasia.storage.runs import Run, list_runs, run_samples
from tests.distributions import install

DOCUMENT = Path(__file__).parent.parent / "docs" / "extending.md"
FILES = dict(re.findall(r'^```\w+ title="([^"]+)"\n(.*?)^```$', DOCUMENT.read_text(), re.DOTALL | re.MULTILINE))
COMMANDS = [
    shlex.split(line)[1:]
    for block in re.findall(r"^```sh\n(.*?)^```$", DOCUMENT.read_text(), re.DOTALL | re.MULTILINE)
    for line in block.splitlines()
]


@pytest.fixture
def acme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The document's package, installed, in the working folder."""
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for folder in {path.parent for path in (tmp_path / "acme_checks").rglob("*") if path.is_file()}:
        (folder / "__init__.py").touch()
    project = tomllib.loads(FILES["pyproject.toml"])["project"]
    install(tmp_path, monkeypatch, project["entry-points"], name=project["name"])
    monkeypatch.chdir(tmp_path)
    readers = dict(READERS)
    yield tmp_path
    READERS.clear()
    READERS.update(readers)
    for name in [one for one in sys.modules if one.split(".")[0] == "acme_checks"]:
        del sys.modules[name]
    importlib.invalidate_caches()


def runs(folder: Path) -> list[Run]:
    """The runs so far, the newest first."""
    if not (folder / ".dokimasia").exists():
        return []
    with Home.open(folder / ".dokimasia", write=False) as home:
        return list_runs(home)


def test_the_document_shows_one_of_each() -> None:
    """A method in at most 120 lines, a graph, a prompt, a reader, a transport, their package, and commands that use them all."""
    assert {"pyproject.toml", "run_it.py", "questions.csv"} < set(FILES)
    assert sum(name.startswith("acme_checks/") for name in FILES) == 7
    assert len(FILES["acme_checks/majority.py"].splitlines()) <= 120
    verbs = {"plugins", "majority", "graph", "evaluate", "fork", "data", "show", "report", "export"}
    assert {command[0] for command in COMMANDS} >= verbs


def test_every_plugin_of_the_document_can_be_used(acme: Path) -> None:
    """The package's five plug-ins are found, and nothing is wrong with any."""
    mine = [plugin for plugin in listing() if plugin.distribution == "acme-checks"]
    assert [plugin.kind for plugin in mine] == ["methods", "graphs", "prompts", "datasets", "transports"]
    assert [plugin.problem for plugin in mine] == [None] * 5


def test_every_command_of_the_document_works(acme: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In the document's order, each command ends with exit code 0, and each run in it is complete."""
    printed: dict[str, str] = {}
    for command in COMMANDS:
        evaluations = [one for one in reversed(runs(acme)) if one.method == "evaluate"]
        arguments = [evaluations[0].id if word == "RUN" else word for word in command]
        assert run(arguments) == 0, (command, capsys.readouterr().err)
        printed[" ".join(command)] = capsys.readouterr().out
    kinds = [one.method for one in reversed(runs(acme))]
    assert kinds == ["graph", "majority", "majority", "evaluate", "evaluate", "evaluate", "evaluate", "evaluate"]
    assert {one.status for one in runs(acme)} == {"done"}
    first, strict, fork, table, floor = [one for one in reversed(runs(acme)) if one.method == "evaluate"]
    assert len({first.id, strict.id, fork.id, table.id, floor.id}) == 5
    origin = METHOD.read(fork)[0].fork
    assert origin is not None
    assert origin.parent == first.id
    assert "first-option" in printed[" ".join(COMMANDS[-1])]
    vote = next(one.id for one in reversed(runs(acme)) if one.method == "majority")
    assert run(["show", vote, "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert figures["scored"] > 0
    assert figures["right"] > figures["scored"] / 3
    with Home.open(acme / ".dokimasia", write=False) as home:
        sample = run_samples(home, vote)[0].sample_id
    assert run(["show", vote, "--sample", sample]) == 0
    assert "votes" in capsys.readouterr().out
    assert "agreement" in printed[" ".join(next(one for one in COMMANDS if one[0] == "graph"))]


def test_the_graph_runs_from_python(acme: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The document's script runs the graph without an entry point and prints what came of it."""
    assert run(["sim", "make", "world.jsonl", "--samples", "14", "--seed", "3"]) == 0
    capsys.readouterr()
    runpy.run_path(str(acme / "run_it.py"))
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("sim/")]
    assert [line.split()[:2] for line in lines] == [["sim/strong", "14"], ["sim/weak", "14"]]


def change_method(folder: Path, old: str, new: str) -> None:
    """Write the document's method anew with a mistake in it, and forget the module as it was."""
    path = folder / "acme_checks" / "majority.py"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    for name in [name for name in sys.modules if name.split(".")[0] == "acme_checks"]:
        del sys.modules[name]
    importlib.invalidate_caches()


VOTE = ["majority", "world.jsonl", "--models", "sim/strong,sim/weak"]
STAGE = 'yield job.graph_stage(Graph("majority", 1, build), lambda sample: [Item(f"majority/{sample.id}")])'
MISTAKES = {
    "items of one sample with one name": (
        STAGE,
        'yield job.graph_stage(Graph("majority", 1, build), lambda sample: [Item(sample.id), Item(sample.id)])',
        r"two items of the run are called '\S+', the later one at sample '\S+'",
    ),
    "items of two samples with one name": (
        STAGE,
        'yield job.graph_stage(Graph("majority", 1, build), lambda sample: [Item("majority")])',
        r"two items of the run are called 'majority'",
    ),
    "a graph of another version": ("graphs={", 'graphs={"majority": 2} if True else {', r"version 1 is not a graph of"),
    "a prompt that is nowhere": ('("candidate",)', '("candidates",)', r"there is no prompt called candidates"),
    "a score that is no number": (
        'ended["score"] = float(',
        'ended["score"] = "yes" or float(',
        r"the graph 'majority' ended at sample '\S+' with score='yes'",
    ),
    "a score that is not finite": (
        'ended["score"] = float(',
        'ended["score"] = float("nan") or float(',
        r"with score='nan'",
    ),
    "a verdict for a score": (
        'ended["score"] = float(',
        'ended["score"] = bool(',
        r"with score='(True|False)', which is no",
    ),
    "a node that raises": (
        "votes = {answer",
        "votes = state['sampel'] or {answer",
        r"broke at sample '\S+': KeyError: 'sampel' \[\S+majority.py, line \d+",
    ),
    "a verb of another name": (
        'VERB: ClassVar[str] = "majority"',
        'VERB: ClassVar[str] = "vote"',
        r"of acme-checks 1.0: the entry point is called 'majority' and the verb of its request 'vote'",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_in_a_method_is_named(acme: Path, capsys: pytest.CaptureFixture[str], mistake: str) -> None:
    """A method that would lose results, or cannot work, ends with exit code 2 and says what to change."""
    old, new, message = MISTAKES[mistake]
    change_method(acme, old, new)
    assert run(["sim", "make", "world.jsonl", "--samples", "4", "--seed", "3"]) == 0
    assert run(VOTE) == 2
    assert re.search(message, " ".join(capsys.readouterr().err.split())), mistake


def test_an_error_in_a_plugin_s_figures_names_the_plugin(acme: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What a hook of a method raises names its distribution, and the line of its code, and is no bug of the package."""
    change_method(acme, '"right": sum(scores)', '"right": sum(scored)')
    assert run(["sim", "make", "world.jsonl", "--samples", "4", "--seed", "3"]) == 0
    assert run(VOTE) == 1
    shown = " ".join(capsys.readouterr().err.split())
    assert re.search(r"of acme-checks 1.0 broke: NameError: name 'scored' is not defined \[\S+majority.py, line", shown)
    assert "report it" not in shown


def test_a_run_of_an_earlier_plan_says_what_it_lacks(acme: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A field that a plan has now, and a stored run has not, is named with the run and the way out."""
    assert run(["sim", "make", "world.jsonl", "--samples", "4", "--seed", "3"]) == 0
    assert run(VOTE) == 0
    change_method(acme, "    voters: tuple[ModelSpec, ...]\n", "    voters: tuple[ModelSpec, ...]\n    depth: int\n")
    capsys.readouterr()
    assert run(["show", "last"]) == 2
    shown = " ".join(capsys.readouterr().err.split())
    assert "cannot be read by this version of the method 'majority': MajorityPlan has depth: Field required" in shown


def test_a_method_runs_from_python(acme: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The document's script runs the method and prints its figures."""
    assert run(["sim", "make", "world.jsonl", "--samples", "14", "--seed", "3"]) == 0
    capsys.readouterr()
    runpy.run_path(str(acme / "run_majority.py"))
    assert re.fullmatch(r"\d+(\.\d+)? of \d+ right; complete: True\n", capsys.readouterr().out)


def test_the_test_of_the_document_passes(acme: Path, tmp_path: Path) -> None:
    """The document's test of a plug-in kills a run of its method and resumes it, without the package's configuration."""
    test = runpy.run_path(str(acme / "tests" / "test_majority.py"))["test_a_killed_run_pays_for_no_call_twice"]
    folder = tmp_path / "of_the_test"
    folder.mkdir()
    test(folder)


def test_a_method_publishes_the_model_of_its_figures(acme: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With the document's figures a vote has an interval, and `dokimasia schema` has their model."""
    block = re.search(r"^(    figures=lazy_function.*?)^\)$", DOCUMENT.read_text(), re.DOTALL | re.MULTILINE)
    assert block is not None
    change_method(acme, "    figures=figures,\n", block[1])
    change_method(
        acme, "from dokimasia.runs import calls_and", "from dokimasia.runs import lazy_function, lazy_value, calls_and"
    )
    assert run(["sim", "make", "world.jsonl", "--samples", "4", "--seed", "3"]) == 0
    assert run(VOTE) == 0
    capsys.readouterr()
    assert run(["show", "last", "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    right = figures["right"]
    assert figures["simulated"] == ["sim/strong", "sim/weak"]
    assert (figures["open_items"], right["n"], figures["failures"]) == (0, 4, {})
    assert right["low"] < right["share"] < right["high"] or right["share"] in (0.0, 1.0)
    assert run(["schema", "majority"]) == 0
    assert json.loads(capsys.readouterr().out)["title"] == "MajorityFigures"


def test_a_stage_can_walk_each_image_once(acme: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With the document's stages, several questions about one image come to one item."""
    change_method(acme, "    stages=stages,", '    stages=lazy_value("acme_checks.pictures", "stages")(),')
    change_method(acme, "\nMETHOD = Method(", "\nfrom dokimasia.runs import lazy_value\n\nMETHOD = Method(")
    assert run(["sim", "make", "world.jsonl", "--samples", "3", "--seed", "3"]) == 0
    asked = [json.loads(line) for line in Path("world.jsonl").read_text().splitlines()]
    again = [{**sample, "id": f"{sample['id']}-again"} for sample in asked]
    Path("world.jsonl").write_text("".join(json.dumps(sample) + "\n" for sample in (*asked, *again)))
    assert run(VOTE) == 0
    capsys.readouterr()
    assert run(["show", "last", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["n"] == len({json.dumps(sample["image"]) for sample in asked})
    assert runs(acme)[0].status == "done"


def test_an_export_has_what_an_item_made_as_objects(acme: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """JSON lines hold the values themselves; a table holds them as one JSON text."""
    assert run(["sim", "make", "world.jsonl", "--samples", "2", "--seed", "3"]) == 0
    assert run(VOTE) == 0
    assert run(["export", "last", "-o", "votes.jsonl"]) == 0
    assert run(["export", "last", "-o", "votes.csv"]) == 0
    made = [json.loads(line)["made"] for line in Path("votes.jsonl").read_text().splitlines()]
    with Path("votes.csv").open(newline="") as file:
        assert [json.loads(row["made"]) for row in csv.DictReader(file)] == made
    assert [(value["type"], set(value["value"])) for (value,) in made] == [("Vote", {"answer", "votes"})] * 2


def test_a_plan_refuses_a_field_that_every_plan_computes() -> None:
    """A field that would hide a property of plans is refused where its class is made, with its name."""
    with (
        pytest.warns(UserWarning, match="shadows"),
        pytest.raises(TypeError, match="no field of a plan can be called models"),
    ):
        type("VotePlan", (DataPlan,), {"__annotations__": {"models": tuple[str, ...]}})


def test_the_names_of_plans_are_documented() -> None:
    """The page names all that a plan computes from its fields."""
    (listed,) = re.findall(r"A plan computes (.*?) from its fields", DOCUMENT.read_text())
    computed = [name for name in vars(RunPlan) if not name.startswith(("_", "model_"))]
    assert re.findall(r"`(\w+)`", listed) == computed


def test_simulated_models_of_a_transport_are_known_by_name() -> None:
    """A name with `sim` before its last part is that of a simulated model."""
    names = ("sim/strong", "acme/sim/careful", "acme/sim", "acme/simple/careful")
    assert [is_simulated(name) for name in names] == [True, True, False, False]


def test_an_item_is_about_the_model_of_its_inputs() -> None:
    """The model of an item is the input of that name, unless it is given."""
    from dokimasia.runs import Item

    assert [item.model for item in (Item("a"), Item("b", {"model": "m"}), Item("c", {"model": "m"}, "n"))] == [
        "",
        "m",
        "n",
    ]
