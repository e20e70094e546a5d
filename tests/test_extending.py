"""The document on extending the package: every file in it is written, every command in it is run."""

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
    assert sum(name.startswith("acme_checks/") for name in FILES) == 5
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


def test_an_item_is_about_the_model_of_its_inputs() -> None:
    """The model of an item is the input of that name, unless it is given."""
    from dokimasia.runs import Item

    assert [item.model for item in (Item("a"), Item("b", {"model": "m"}), Item("c", {"model": "m"}, "n"))] == [
        "",
        "m",
        "n",
    ]
