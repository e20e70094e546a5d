"""The verbs of a capability tree on a finished run: shown, exported, edited by hand, restored, compared with scores."""

import asyncio
import csv
import json
from collections import Counter
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import networkx as nx
import pytest

from dokimasia.algorithms.scoring import normalise
from dokimasia.cli.main import run
from dokimasia.domain.capability import CapabilityPath
from dokimasia.methods.evaluation import EvaluationRequest, evaluate
from dokimasia.settings import load_settings
from dokimasia.simulation.world import write_world
from tests.planted_trees import plant_tree

SAMPLES, SEED = 84, 6


class Planted(NamedTuple):
    """A finished run with a planted tree."""

    home: Path
    run: str


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Planted:
    """Eighty-four questions, three models of which one counts and reasons badly, and the tree that is planted."""
    folder = tmp_path_factory.mktemp("planted")
    write_world(folder / "world.jsonl", SAMPLES, SEED)
    settings = load_settings(home=folder / "home", cwd=folder, env={})
    asked = EvaluationRequest(
        data=folder / "world.jsonl", judge="sim/judge", models=("sim/strong", "sim/hasty"), seed=SEED
    )
    done = asyncio.run(evaluate(asked, settings=settings)).run
    plant_tree(folder / "home", done, SAMPLES, SEED)
    return Planted(folder / "home", done)


@pytest.fixture
def edited(planted: Planted, tmp_path: Path) -> Planted:
    """The same, in a home of its own that may be changed."""
    import shutil

    shutil.copytree(planted.home, tmp_path / "home")
    return Planted(tmp_path / "home", planted.run)


def said(home: Planted, capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    """What a verb of the tree prints."""
    assert run(["tree", *words, "--home", str(home.home)]) == code
    caught = capsys.readouterr()
    return caught.out if code == 0 else caught.err


def told(home: Planted, capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    """What a verb of the tree prints as JSON."""
    return json.loads(said(home, capsys, *words, "--json"))


def test_a_tree_is_shown_with_scores(planted: Planted, capsys: pytest.CaptureFixture[str]) -> None:
    """The figures are those of the run's judgements; depth, version and models are as asked for."""
    found = told(planted, capsys, "show", planted.run)
    assert (found["tree"], found["position"], found["run"]) == ("planted", 3, planted.run)
    assert found["models"] == ["sim/hasty", "sim/strong"]
    root = found["nodes"][0]["scores"]["sim/strong"]
    assert root["n"] == found["counts"]["criteria"] == sum(one["support"] for one in found["nodes"])
    shown = told(planted, capsys, "show", "planted", "--version", "1", "--depth", "1", "--model", "hasty")
    assert {node["layer"] for node in shown["nodes"]} == {0, 1}
    assert shown["models"] == ["sim/hasty"]
    text = said(planted, capsys, "show", "planted@3", "--model", "sim/hasty")
    assert text.startswith("Simulated models")
    assert "├─ " in text
    assert "━" in text
    assert max(map(len, text.splitlines())) <= 120
    assert "no version 9" in said(planted, capsys, "show", "planted", "--version", "9", code=2)
    assert "'nobody'" in said(planted, capsys, "show", "planted", "--model", "nobody", code=2)


def test_scores_are_the_means_of_the_judgements(planted: Planted, capsys: pytest.CaptureFixture[str]) -> None:
    """A model's mean at the root of the tree before its pruning is the mean of all its criteria's scores in the export."""
    from dokimasia.runs.reading.exporting import export_rows
    from dokimasia.storage.home import Home
    from dokimasia.storage.naming import resolve_run

    async def rows() -> list[Any]:
        with Home.open(planted.home, write=False) as home:
            return (await export_rows(home, resolve_run(home, planted.run))).rows

    scores = [
        normalise(score)
        for row in asyncio.run(rows())
        if row["model"] == "sim/hasty"
        for score in row["criteria_scores"] or ()
    ]
    root = told(planted, capsys, "show", "planted@1", "--model", "sim/hasty")["nodes"][0]
    assert root["scores"]["sim/hasty"]["mean"] == pytest.approx(sum(scores) / len(scores), abs=1e-5)


def test_bars_differ_without_colour(planted: Planted, capsys: pytest.CaptureFixture[str]) -> None:
    """A score's bar is as long as the score in characters alone: what is missing to 100 is drawn by another sign."""
    figures = told(planted, capsys, "show", "planted", "--model", "sim/hasty")["nodes"]
    text = said(planted, capsys, "show", "planted", "--model", "sim/hasty")
    bars = [
        line for line in text.splitlines() if line.rstrip().endswith(("━", "·")) and ("━" in line or "····" in line)
    ]
    means = [one["scores"]["sim/hasty"]["mean"] for one in figures if one["below"]]
    assert [line.count("━") for line in bars] == [round(mean / 5) for mean in means]
    assert len({line.count("━") for line in bars}) > 1


def test_trees_and_versions_are_listed(planted: Planted, capsys: pytest.CaptureFixture[str]) -> None:
    """Both lists name what there is, newest tree first and first version first."""
    (tree,) = told(planted, capsys, "list")["trees"]
    assert (tree["tree"], tree["source"], tree["versions"]) == ("planted", planted.run, 3)
    phases = [one["phase"] for one in told(planted, capsys, "list", "planted")["versions"]]
    assert phases == ["merge", "prune", "map"]
    assert "planted@2" in said(planted, capsys, "list", "planted")
    assert "planted" in said(planted, capsys, "list")


def test_versions_are_compared(planted: Planted, capsys: pytest.CaptureFixture[str]) -> None:
    """What was pruned is told with the edit and its reason, from either end."""
    found = told(planted, capsys, "diff", "1", "planted")
    assert found["merged"]
    assert {edit["kind"] for edit in found["edits"]} == {"prune"}
    assert found["first"]["capabilities"] - found["second"]["capabilities"] == len(found["edits"])
    assert told(planted, capsys, "diff", "planted@3", "1")["edits"] is None
    assert "too little support" in said(planted, capsys, "diff", "planted@1", "planted@3")
    assert "the two are the same" in said(planted, capsys, "diff", "planted@3", "planted")


@pytest.mark.parametrize("ending", ["yaml", "json", "csv", "graphml"])
def test_what_is_exported_comes_back(
    planted: Planted, edited: Planted, tmp_path: Path, capsys: pytest.CaptureFixture[str], ending: str
) -> None:
    """Each format reads back as the same tree, so that importing it unedited keeps nothing; twice is the same bytes."""
    path = tmp_path / f"tree.{ending}"
    said(planted, capsys, "export", "planted", "--output", str(path))
    assert said(planted, capsys, "export", "planted", "--format", ending).encode() == path.read_bytes()
    kept = told(edited, capsys, "import", str(path), "--tree", "planted")
    assert (kept["new"], kept["position"]) == (False, 3)


def test_other_programs_read_the_exports(planted: Planted, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """networkx reads the GraphML, csv the CSV, and Mermaid is a flow chart of all nodes."""
    said(planted, capsys, "export", "planted", "-o", str(tmp_path / "tree.graphml"))
    graph = nx.read_graphml(tmp_path / "tree.graphml")
    rows = list(csv.DictReader(StringIO(said(planted, capsys, "export", "planted", "--format", "csv"))))
    chart = said(planted, capsys, "export", "planted", "--format", "mermaid")
    assert len(graph) == len(rows) == chart.count('["')


def test_a_person_edits_the_yaml(edited: Planted, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A leaf renamed in the YAML becomes an edit by a person; mappings and history stay, and it can be undone."""
    path = tmp_path / "mine.yaml"
    said(edited, capsys, "export", "planted", "-o", str(path))
    path.write_text(path.read_text().replace("Object Counting:", "Counting Things:"))
    kept = told(edited, capsys, "import", str(path), "--tree", "planted")
    (edit,) = kept["edits"]
    assert (edit["kind"], edit["by"]) == ("rename", "person")
    assert edit["into"].endswith("<Counting Things>")
    assert kept["position"] == 4
    before, after = (told(edited, capsys, "show", f"planted@{at}") for at in (3, 4))
    assert after["counts"] == before["counts"]
    assert after["unplaced"] == before["unplaced"]
    assert told(edited, capsys, "diff", "3", "planted")["edits"][0]["kind"] == "rename"
    restored = told(edited, capsys, "restore", "planted@3")
    assert (restored["position"], restored["restored"]) == (5, 3)
    assert told(edited, capsys, "show", "planted")["nodes"] == before["nodes"]
    assert "newest version already" in said(edited, capsys, "restore", "planted@5", code=2)


def spoiled(text: str, what: str) -> str:
    """A tree's YAML with one fault."""
    lines = text.splitlines()
    at = next(number for number, line in enumerate(lines) if line.strip() == "Object Counting:")
    if what == "criterion lost":
        return "\n".join(
            lines[:at] + [line for number, line in enumerate(lines[at:]) if not _of_leaf(lines[at:], number)]
        )
    if what == "five layers":
        indent = " " * (len(lines[at]) - len(lines[at].lstrip()) + 2)
        return "\n".join([*lines[: at + 1], f"{indent}capabilities: {{Deeper: {{}}}}", *lines[at + 1 :]])
    if what == "another category":
        return text.replace("  Perception:", "  Seeing:", 1)
    if what == "a name twice":
        return text.replace("Selective Counting:", "object counting:", 1)
    return text.replace("Selective Counting:", "Object Counting:", 1)


def _of_leaf(lines: list[str], number: int) -> bool:
    """Whether a line belongs to the first leaf of some lines."""
    depth = len(lines[0]) - len(lines[0].lstrip())
    ends = next(
        (at for at, line in enumerate(lines[1:], start=1) if len(line) - len(line.lstrip()) <= depth), len(lines)
    )
    return number < ends


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("criterion lost", "mapped criteria are held by no leaf"),
        ("five layers", "no layer below"),
        ("another category", "none of the fixed categories"),
        ("a name twice", "same name"),
        ("a key twice", "stands twice"),
    ],
)
def test_a_broken_tree_is_refused(
    edited: Planted, tmp_path: Path, capsys: pytest.CaptureFixture[str], what: str, message: str
) -> None:
    """Each fault is named with its file, the exit code says the mistake is the user's, and the tree stays as it was."""
    path = tmp_path / "mine.yaml"
    said(edited, capsys, "export", "planted", "-o", str(path))
    path.write_text(spoiled(path.read_text(), what))
    error = said(edited, capsys, "import", str(path), "--tree", "planted", code=2)
    assert message in error
    assert "mine.yaml" in error
    assert len(told(edited, capsys, "list", "planted")["versions"]) == 3


def test_a_cycle_and_an_orphan_are_refused(edited: Planted, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Edges that GraphML can hold and a tree cannot are found."""
    path = tmp_path / "tree.graphml"
    said(edited, capsys, "export", "planted", "-o", str(path))
    leaf = next(line for line in path.read_text().splitlines() if "<node id" in line and line.count("&lt;") == 3)
    node = leaf.split('"')[1]
    cyclic = path.read_text().replace("</graph>", f'<edge source="{node}" target="&lt;Perception&gt;" /></graph>')
    (tmp_path / "cycle.graphml").write_text(cyclic)
    assert "cycle" in said(edited, capsys, "import", str(tmp_path / "cycle.graphml"), "--tree", "planted", code=2)
    orphan = path.read_text().replace(
        "</graph>", '<node id="&lt;Perception&gt;&lt;Lost&gt;"><data key="layer">2</data></node></graph>'
    )
    (tmp_path / "orphan.graphml").write_text(orphan)
    assert "orphan" in said(edited, capsys, "import", str(tmp_path / "orphan.graphml"), "--tree", "planted", code=2)


def test_a_tree_of_ones_own(edited: Planted, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file becomes a new tree with --new; criteria that the home knows keep their texts."""
    exported = said(edited, capsys, "export", "planted")
    (tmp_path / "ours.yaml").write_text(exported)
    kept = told(edited, capsys, "import", str(tmp_path / "ours.yaml"), "--tree", "ours", "--new")
    assert (kept["tree"], kept["position"], kept["edits"]) == ("ours", 1, [])
    found = told(edited, capsys, "weaknesses", edited.run, "--model", "hasty", "--tree", "ours")
    assert all(one["text"] for row in found["weak"] for one in row["examples"])
    assert "a tree is read from" in said(edited, capsys, "import", str(Path(__file__)), code=2)


def test_a_yaml_is_of_the_tree_that_it_names(
    edited: Planted, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without --tree an exported YAML is a version of its own tree, and what is wrong with it is refused, not a new tree."""
    path = tmp_path / "t.yaml"
    said(edited, capsys, "export", "planted", "-o", str(path))
    whole = path.read_text()
    assert "\ntree: planted\nversion: 3\n" in whole
    path.write_text(spoiled(whole, "criterion lost"))
    assert "mapped criteria are held by no leaf" in said(edited, capsys, "import", str(path), code=2)
    path.write_text(whole.replace("Object Counting:", "Counting Things:"))
    assert told(edited, capsys, "import", str(path))["position"] == 4
    assert told(edited, capsys, "import", str(path))["new"] is False
    path.write_text(whole)
    error = said(edited, capsys, "import", str(path), code=2)
    assert "an edit of planted@3, but planted@4 is newer" in error
    path.write_text(whole.replace("version: 3", "version: 4"))
    assert told(edited, capsys, "import", str(path))["position"] == 5
    assert [one["tree"] for one in told(edited, capsys, "list")["trees"]] == ["planted"]


def test_a_new_tree_is_asked_for(edited: Planted, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file that names no tree of the home begins one with --new alone, and never under a name that is taken."""
    path = tmp_path / "t.json"
    said(edited, capsys, "export", "planted", "-o", str(path))
    error = said(edited, capsys, "import", str(path), code=2)
    assert "there is no tree 't'" in error
    assert "--new" in error
    assert len(told(edited, capsys, "list")["trees"]) == 1
    assert "a tree 'planted' already" in said(edited, capsys, "import", str(path), "--tree", "planted", "--new", code=2)
    assert told(edited, capsys, "import", str(path), "--new")["tree"] == "t"


def test_criteria_stand_with_their_texts(edited: Planted, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A person who edits the YAML reads what each criterion asks; a text that was changed is refused."""
    import yaml

    path = tmp_path / "t.yaml"
    said(edited, capsys, "export", "planted", "-o", str(path))
    parents = yaml.safe_load(path.read_text())["categories"]["Perception"]["parents"]
    criteria = [
        pair
        for parent in parents.values()
        for leaf in parent["capabilities"].values()
        for pair in leaf["criteria"].items()
    ]
    assert all(":" in key and text.endswith("?") for key, text in criteria)
    path.write_text(path.read_text().replace(criteria[0][1], "Is it so?", 1))
    error = said(edited, capsys, "import", str(path), code=2)
    assert "another text than was asked" in error


def test_a_tree_is_deleted(edited: Planted, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A tree goes with its versions, not without being asked for; the run that it was grown from stays."""
    assert "--yes" in said(edited, capsys, "delete", "planted", code=2)
    gone = told(edited, capsys, "delete", "planted", "--yes")
    assert (gone["tree"], gone["versions"]) == ("planted", 3)
    assert told(edited, capsys, "list")["trees"] == []
    assert "no tree" in said(edited, capsys, "show", "planted", code=2)
    assert run(["show", edited.run, "--json", "--home", str(edited.home)]) == 0
    capsys.readouterr()
    assert run(["verify", "--home", str(edited.home)]) == 0


def test_the_planted_weakness_is_named(planted: Planted, capsys: pytest.CaptureFixture[str]) -> None:
    """The model that counts and reasons badly is weak there and nowhere else; the strong one's world is quiet there."""
    found = told(planted, capsys, "weaknesses", planted.run, "--model", "sim/hasty")
    weak = [row["node"] for row in found["weak"]]
    assert weak
    assert all(node.startswith(("<Perception>", "<Reasoning>")) for node in weak), weak
    assert found == told(planted, capsys, "weaknesses", "last", "--model", "hasty")
    text = said(planted, capsys, "weaknesses", planted.run, "--model", "sim/hasty", "--examples", "1")
    assert "against the rest" in text
    assert "adjusted p" in text
    published = told(
        planted, capsys, "weaknesses", planted.run, "--model", "hasty", "--method", "evaltree", "--threshold", "0.45"
    )
    assert published["threshold"] == 0.45
    assert all(row["high"] < 0.45 for row in published["weak"])
    assert "solves" in said(planted, capsys, "weaknesses", planted.run, "--model", "hasty", "--method", "evaltree")
    error = said(planted, capsys, "weaknesses", planted.run, "--model", "hasty", "--threshold", "0.4", code=2)
    assert "--method evaltree" in error
    assert "no scores of 'nobody'" in said(planted, capsys, "weaknesses", planted.run, "--model", "nobody", code=2)


def test_validity_has_its_baselines(planted: Planted, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The table has the tree, the unpruned one, the baselines and a person's file, each twice with its null."""
    own = tmp_path / "own.csv"
    rows = csv.DictReader(StringIO(said(planted, capsys, "export", "planted@1", "--format", "csv")))
    lines = [(one, row["id"]) for row in rows for one in json.loads(row["members"])]
    own.write_text("criterion,leaf\n" + "".join(f'{one},"{leaf}"\n' for one, leaf in lines))
    options = ("--permutations", "50", "--resamples", "10", "--against", f"own={own}")
    found = told(planted, capsys, "validity", planted.run, *options)
    names = [row["name"] for row in found["taxonomies"]]
    assert names == ["tree", "unpruned", "hand-made", "generalist", "visual", "data-blind", "labels", "own"]
    by_name = {row["name"]: row for row in found["taxonomies"]}
    assert by_name["own"]["published"]["delta"] == by_name["unpruned"]["published"]["delta"]
    assert by_name["tree"]["published"]["delta"] > by_name["tree"]["published"]["null"]["p99"]
    assert found["models"] == ["sim/hasty", "sim/strong"]
    text = said(planted, capsys, "validity", planted.run, "--no-baselines", "--permutations", "20", "--resamples", "4")
    assert "as published" in text
    assert "leaving out" in text


def test_agreement_of_versions_and_of_a_person(
    planted: Planted, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two versions and a version and a file agree as they do; a file without its columns is refused."""
    found = told(planted, capsys, "agreement", "planted@1", "planted@3")
    assert 0.9 < found["hit_rate"]["share"] < 1
    assert found["kappa"]["value"] > 0.9
    rows = csv.DictReader(StringIO(said(planted, capsys, "export", "planted", "--format", "csv")))
    lines = [(one, row["id"]) for row in rows if row["layer"] == "3" for one in json.loads(row["members"])]
    person = tmp_path / "person.csv"
    person.write_text(
        "criterion,leaf\n" + "".join(f'{one},"{leaf}"\n' for one, leaf in lines[:-1]) + f"{lines[-1][0]},\n"
    )
    checked = told(planted, capsys, "agreement", "planted", str(person))
    assert checked["hit_rate"]["share"] == pytest.approx((len(lines) - 1) / len(lines), abs=1e-6)
    assert checked["unplaced"]["second"] == 1
    assert "Cohen's kappa" in said(planted, capsys, "agreement", "planted", str(person))
    side_by_side = ("agreement", str(person), "planted@1", "planted@3")
    assert [one["second"] for one in told(planted, capsys, *side_by_side)["compared"]] == ["planted@1", "planted@3"]
    table = said(planted, capsys, *side_by_side)
    assert "hit rate by category" in table
    assert "planted@1" in table
    (tmp_path / "bad.csv").write_text("a,b\n1,2\n")
    assert "'criterion' and 'leaf'" in said(planted, capsys, "agreement", "planted", str(tmp_path / "bad.csv"), code=2)


def test_leaves_are_compared_by_bare_names_where_these_are_unambiguous(
    planted: Planted, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file with bare names agrees as one with paths; of a name of two leaves, or a misspelt one, the candidates are named."""
    rows = csv.DictReader(StringIO(said(planted, capsys, "export", "planted", "--format", "csv")))
    lines = [(one, row["id"]) for row in rows if row["layer"] == "3" for one in json.loads(row["members"])]
    names = Counter(CapabilityPath.parse(leaf).name for leaf in {leaf for _, leaf in lines})
    assert set(names.values()) == {1}

    def written(file: str, leaves: Sequence[str]) -> str:
        path = tmp_path / file
        path.write_text(
            "criterion,leaf\n" + "".join(f'{one},"{leaf}"\n' for (one, _), leaf in zip(lines, leaves, strict=True))
        )
        return str(path)

    bare = [CapabilityPath.parse(leaf).name for _, leaf in lines]
    by_name = told(planted, capsys, "agreement", "planted", written("bare.csv", [name.upper() for name in bare]))
    assert by_name["hit_rate"]["share"] == 1
    assert told(planted, capsys, "agreement", str(tmp_path / "bare.csv"), "planted")["hit_rate"]["share"] == 1
    own = told(planted, capsys, "agreement", "planted", written("own.csv", ["my own group"] * len(lines)))
    assert own["hit_rate"]["share"] == 0, "groups of one's own are called as one likes"
    first = lines[0][1]
    misspelt = written("misspelt.csv", [bare[0] + "x", *bare[1:]])
    error = said(planted, capsys, "agreement", "planted", misspelt, code=2)
    assert f"misspelt.csv, criterion {lines[0][0]}: no leaf of planted@" in error
    assert f"did you mean {first}" in error
    twin = f"<Twin><Twin><{bare[0]}>"
    paths = written("paths.csv", [twin, first, *(leaf for _, leaf in lines[2:])])
    error = said(planted, capsys, "agreement", paths, str(tmp_path / "bare.csv"), code=2)
    assert "is the name of several leaves of paths.csv: write one of" in error
    assert twin in error
    assert first in error


def test_without_a_tree(planted: Planted, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is not there is said with what to do."""
    assert "no tree" in said(planted, capsys, "show", "elsewhere", code=2)
    assert "there is no home" in said(Planted(tmp_path / "empty", ""), capsys, "list", code=2)
