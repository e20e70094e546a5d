"""A run is diagnosed under its tree or its categories, the tables are kept, exported, traced to atoms, and compared."""

import csv
from collections.abc import Callable
from pathlib import Path

import pytest

from dokimasia.algorithms.taxonomy import add
from dokimasia.algorithms.trees.formats import to_yaml
from dokimasia.domain.diagnosis.tables import Diagnosis
from dokimasia.errors import InputError, NotFound
from dokimasia.methods.diagnosis.evidence import evidence, report_diagnosis
from dokimasia.methods.diagnosis.evidence_data import category_tree, gather
from dokimasia.methods.diagnosis.files import export_diagnosis, picture_of
from dokimasia.methods.diagnosis.tables import (
    EVENT,
    compare_diagnoses,
    diagnose,
    diagnosis_of,
    store_diagnosis,
    stored_diagnosis,
)
from dokimasia.methods.evaluation import EvaluationRequest, evaluate
from dokimasia.methods.tree import grow_tree, load_tree
from dokimasia.methods.tree.editing import import_tree
from dokimasia.settings import Settings
from dokimasia.simulation.serving.faults import parse_faults
from dokimasia.simulation.serving.transport import SimTransport
from dokimasia.storage.home import Home
from dokimasia.storage.results import events
from dokimasia.storage.runs import get_run
from tests.methods.conftest import Finished

Requests = Callable[..., EvaluationRequest]


async def test_without_a_tree_the_categories_take_its_place_and_a_tree_is_offered(
    settings: Settings, request_of: Requests, finished: Finished
) -> None:
    """The note names the command that grows one; the leaves are the data's own categories."""
    run = (await finished(request_of())).run
    with Home.open(settings.home, write=False) as home:
        found = diagnose(home, get_run(home, run))
        with pytest.raises(NotFound):
            diagnose(home, get_run(home, run), tree="absent")
    assert found.grouping == "category"
    assert f"dokimasia tree grow {run}" in found.notes[0]
    categories = next(one for one in found.assets if one.family == "leaves")
    assert len(categories.rows) >= 3
    assert found.simulated
    radar = found.asset("radar/categories")
    assert radar is not None
    assert len(radar.rows) == len(categories.rows)


async def test_a_diagnosis_is_kept_once_and_reads_back_as_it_was(
    settings: Settings, request_of: Requests, finished: Finished
) -> None:
    """Equal tables are kept once, as a value and an event; what is read back is equal to the byte."""
    run = (await finished(request_of())).run
    with Home.open(settings.home, write=True) as home:
        stored = get_run(home, run)
        assert stored_diagnosis(home, stored) is None
        first = diagnose(home, stored)
        assert await store_diagnosis(home, stored, first)
        assert not await store_diagnosis(home, stored, diagnose(home, stored))
        assert len(events(home, run, kind=EVENT)) == 1
        again = stored_diagnosis(home, stored)
    assert again == first
    assert again is not None
    assert again.model_dump_json() == first.model_dump_json()


async def test_from_a_tree_down_to_the_atoms_and_a_tree_changed_since(
    settings: Settings, request_of: Requests, finished: Finished
) -> None:
    """A row, a leaf and a model lead to their atoms; when the tree changes, the report says that the mapping is old."""
    run = (await finished(request_of())).run
    tree = (await grow_tree(judge="sim/judge", run=run, settings=settings)).summary["tree"]
    with Home.open(settings.home, write=True) as home:
        stored = get_run(home, run)
        gathered = gather(home, stored)
        found = diagnosis_of(stored, gathered)
        assert (found.grouping, found.tree) == ("tree", tree)
        leaves = next(one for one in found.assets if one.family == "leaves")
        row = leaves.rows[0]
        behind = evidence(home, stored, gathered, found, f"{leaves.id}:1", limit=100)
        assert behind.scored == row.n
        assert {one.leaf for one in behind.shown} == {row.node}
        assert {one.model for one in behind.shown} == {leaves.model}
        points = [one.points for one in behind.shown if one.points is not None]
        assert points == sorted(points)
        assert sum(points) / len(points) == pytest.approx(row.cells[1].value, abs=1e-6)
        first = behind.shown[0]
        assert first.question
        assert first.ground_truth
        assert first.answer
        assert home.blobs.file(first.images[0].sha256).exists()
        by_leaf = evidence(home, stored, gathered, found, row.node)
        assert by_leaf.atoms == len(found.models) * row.held
        by_model = evidence(home, stored, gathered, found, found.models[0])
        assert by_model.atoms > by_leaf.atoms
        for wrong in ("absent", f"{leaves.id}:0", f"{leaves.id}:999", "nodes/absent:1"):
            with pytest.raises(NotFound):
                evidence(home, stored, gathered, found, wrong)
        await store_diagnosis(home, stored, found)
        report = report_diagnosis(home, stored)
    assert report is not None
    assert report["evidence"]
    edited = settings.home / "edited.yaml"
    with Home.open(settings.home, write=True) as home:
        newest = load_tree(home, tree)
        edited.write_text(to_yaml(add(newest.tree, f"{row.node[: row.node.rindex('<')]}<Never Asked>")))
        await import_tree(home, edited, tree=tree)
        now = diagnose(home, stored)
        stale = report_diagnosis(home, stored)
    assert any("out of date" in note and newest.name in note and "Never Asked" in note for note in now.notes)
    assert stale is not None
    assert any("out of date" in note and found.tree in note for note in stale["notes"])


async def test_what_changed_between_two_runs_is_said_leaf_by_leaf(
    settings: Settings, request_of: Requests, finished: Finished
) -> None:
    """The same run again has no change; another judge's has the same samples; nothing in common is refused."""
    first = (await finished(request_of())).run
    second = (await evaluate(request_of(judge="sim/judge"), settings=settings)).run
    alone = (await evaluate(request_of(models=("sim/steady",)), settings=settings)).run
    with Home.open(settings.home, write=False) as home:
        runs = [get_run(home, one) for one in (first, second, alone)]
        found = compare_diagnoses(home, runs[0], runs[1])
        assert [one.id for one in found.assets] == ["changes/sim-strong", "changes/sim-weak"]
        assert found.shared == 14
        for one in found.assets:
            for row in one.rows:
                before, after, change = (cell.value for cell in row.cells[1:4])
                if isinstance(before, float) and isinstance(after, float):
                    assert change == pytest.approx(after - before, abs=1e-5)
        with pytest.raises(InputError, match="itself"):
            compare_diagnoses(home, runs[0], runs[0])
        with pytest.raises(InputError, match="no model"):
            compare_diagnoses(home, runs[0], runs[2])


async def test_the_export_is_the_same_to_the_byte_and_names_what_is_simulated(
    settings: Settings, request_of: Requests, tmp_path: Path, finished: Finished
) -> None:
    """Every table is a CSV, every one with rows to draw a PNG; two exports are equal."""
    run = (await finished(request_of(repeats=2))).run
    with Home.open(settings.home, write=False) as home:
        found = diagnose(home, get_run(home, run))
    one, other = (export_diagnosis(found, tmp_path / name) for name in ("one", "other"))
    assert [path.name for path in one] == [path.name for path in other]
    assert [path.read_bytes() for path in one] == [path.read_bytes() for path in other]
    assert len([path for path in one if path.suffix == ".csv"]) == len(found.assets)
    assert {"heatmap.png", "leaves-sim-weak.png", "ranks.png", "stability.png"} <= {path.name for path in one}
    assert Diagnosis.model_validate_json((tmp_path / "one" / "diagnosis.json").read_bytes()) == found
    header = (tmp_path / "one" / "leaves-sim-weak.csv").read_text().splitlines()[0]
    assert 'score (points of 100),"score, low","score, high","score, why no interval"' in header
    for path in one:
        if path.suffix == ".csv":
            for row in csv.DictReader(path.read_text().splitlines()):
                ends = [cell for name, cell in row.items() if name.endswith((", low", ", high"))]
                assert all(not end or float(end) is not None for end in ends), "a limit is a number, or empty"
    heat = found.asset("heatmap")
    assert heat is not None
    assert picture_of(heat) != picture_of(heat, simulated=True)


async def test_a_run_with_failures_only_has_nothing_to_diagnose(settings: Settings, request_of: Requests) -> None:
    """Where no criterion has a score the message says so; a part of failures is counted by kind."""
    partly = SimTransport(faults=parse_faults("malformed=0.3"))
    run = (await evaluate(request_of(models=("sim/weak",)), settings=settings, transports={"sim": partly})).run
    with Home.open(settings.home, write=False) as home:
        found = diagnose(home, get_run(home, run))
    table = found.asset("failures")
    assert table is not None
    assert len(table.rows) >= 2


def test_names_of_categories_that_no_node_can_have_are_made_fit() -> None:
    """Angle brackets, what does not show, and length are taken from a category's name; nothing is lost."""
    tree = category_tree({"a": "<b>", "c": "x" * 200, "d": "\x00", "e": "plain"})
    held = {one for node in tree for one in tree.nodes[node].get("members", ())}
    assert held == {"a", "c", "d", "e"}
