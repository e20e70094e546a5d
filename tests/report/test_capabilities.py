"""The capability tree in the report: weak nodes, the tree as a table, then its picture with a choice of models."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import plotly.graph_objects as go
import pytest

from dokimasia.algorithms.taxonomy import add_all, assign, new_tree
from dokimasia.methods.tree import members_below
from dokimasia.methods.tree.node_scores import MeasuredRun, model_findings, tree_view
from dokimasia.methods.tree.report import colour, section
from dokimasia.report.blocks import Chart, Table, plain
from dokimasia.report.data import Added, ReportData
from dokimasia.report.document import render_document
from dokimasia.report.fields import as_json
from dokimasia.report.page import render_page
from tests.planted_trees import plant_tree
from tests.report.chromium import SCHEMES, opened, until
from tests.report.conftest import ATTACKS, Finished

NAMES = ["`Code` & *stars*", "quote \" '", "a|b [link](x)", "%{label} ${x}", "javascript:alert(1)", "&lt;b&gt;"]


@pytest.fixture(scope="module")
def with_tree(small: Finished, tmp_path_factory: pytest.TempPathFactory) -> Finished:
    """The small demo in a home of its own, with the planted tree."""
    home = tmp_path_factory.mktemp("tree") / "home"
    shutil.copytree(small.home, home)
    plant_tree(home, small.run, 21, 1, min_support=2)
    return Finished(home, small.run)


def hostile_tree(models: list[str]) -> dict[str, Any]:
    """A tree of names that attack, criteria whose texts do, and a model without scores."""
    leaves = [f"<A><{name}><{name}>" for name in NAMES]
    leaf_of = {f"c{number}": leaf for number, leaf in enumerate(leaves * 8)}
    tree = assign(add_all(new_tree(["A", "B"]), leaves), leaf_of)
    scores = {name: {one: 10.0 if leaf == leaves[0] else 90.0 for one, leaf in leaf_of.items()} for name in models[:1]}
    measured = MeasuredRun(scores, {name: dict.fromkeys(leaf_of, "refused") for name in models[1:]}, {})
    return {
        "tree": "<script>window.pwned = 5</script>",
        "version": 1,
        "unplaced": {"unplaced": 2},
        **as_json(tree_view(tree, measured, models=models)),
        "findings": {name: as_json(model_findings(tree, measured, name, seed=0)) for name in models},
        "examples": {node: list(ATTACKS[:3]) for node in members_below(tree)},
    }


def test_without_a_tree_there_is_no_section(small: Finished) -> None:
    """A run whose criteria are mapped to no tree says nothing of capabilities."""
    assert small.data().addition("tree") is None
    assert section(small.data()) is None


def test_table_first_picture_second(with_tree: Finished) -> None:
    """All nodes with criteria stand in the table with every model's score; the picture shows the same nodes."""
    data = with_tree.data()
    made = section(data)
    assert made is not None
    tables = [block for block in made.blocks if isinstance(block, Table)]
    (chart,) = [block for block in made.blocks if isinstance(block, Chart)]
    assert made.blocks.index(tables[-1]) < made.blocks.index(chart)
    tree = data.addition("tree")
    nodes = [node for node in tree["nodes"] if node["below"]]
    assert len(tables[-1].rows) == len(nodes) == len(chart.figure["data"][0]["ids"])
    assert [column.title for column in tables[-1].columns][2:] == data.ranked() == list(chart.variants)
    root = tree["nodes"][0]["scores"][data.ranked()[0]]
    assert plain(tables[-1].rows[0][2]).startswith(f"{root['mean']:.1f}")
    trace = chart.figure["data"][0]
    for variant in chart.variants.values():
        assert go.Figure({"data": [trace | variant], "layout": chart.figure["layout"]}).data
        assert len(variant["marker"]["colors"]) == len(nodes)
    assert "## Capabilities" in render_document(data)
    assert render_page(data) == render_page(with_tree.data())


def test_colours_run_from_orange_over_grey_to_blue() -> None:
    """The ends and the middle of the scale have the colours that the caption names; beyond them nothing changes."""
    assert (colour(0), colour(50), colour(100)) == ("#dd742e", "#c4c7cc", "#2f6fce")
    assert (colour(-3), colour(120)) == (colour(0), colour(100))


@pytest.mark.parametrize("scheme", SCHEMES)
def test_in_the_browser(with_tree: Finished, tmp_path: Path, scheme: Literal["light", "dark"]) -> None:
    """The treemap is drawn without an error, another model's colours are a choice away, and a click enters a node."""
    page_file = tmp_path / "report.html"
    page_file.write_text(render_page(with_tree.data()))
    with opened(page_file, scheme=scheme) as seen:
        page = seen.page
        tiles = "#capabilities .plot .surface"
        colours = f"Array.from(document.querySelectorAll('{tiles}')).map(one => one.style.fill)"
        before = page.evaluate(colours)
        assert len(before) > 15
        names = page.eval_on_selector_all("#capabilities select option", "all => all.map(one => one.value)")
        assert sorted(names) == ["sim/strong", "sim/weak"]
        page.select_option("#capabilities select", names[1])
        assert page.evaluate(colours) != before
        page.locator("#capabilities .plot").scroll_into_view_if_needed()
        label = page.locator("#capabilities .plot .slicetext", has_text="Perception").first.bounding_box()
        assert label is not None
        page.mouse.click(label["x"] + label["width"] / 2, label["y"] + label["height"] / 2)
        until(page, f"document.querySelectorAll('{tiles}').length < {len(before)}")
        assert page.evaluate("document.documentElement.scrollWidth") <= 1280
        assert (seen.errors, seen.requests) == ([], [])


def test_hostile_names_and_criteria(small: Finished, tmp_path: Path) -> None:
    """Names and criteria that look like markup stand for themselves in the page, in the picture and in Markdown."""
    plain_data: ReportData = small.data()
    data = replace(plain_data, added={"tree": Added(hostile_tree(plain_data.ranked()), section)})
    page_file = tmp_path / "report.html"
    page_file.write_text(render_page(data))
    with opened(page_file) as seen:
        page = seen.page
        assert page.evaluate("window.pwned") is None
        assert page.locator("#capabilities a, #capabilities img, #capabilities iframe").count() == 0
        text = page.inner_text("#capabilities")
        for name in NAMES:
            assert name in text
        assert "2 criteria could not be assigned to the tree" in text
        assert "<script>window.pwned = 5</script>" in text
        page.locator("#capabilities .plot").hover()
        page.wait_for_selector("#capabilities .plot .hoverlayer .hovertext")
        assert (seen.errors, seen.requests) == ([], [])
        assert page.evaluate("window.pwned") is None
    document = render_document(data)
    assert "<script>" not in document.partition("## Capabilities")[2].partition("\n## ")[0]


def test_the_embedded_charts_are_json(with_tree: Finished, tmp_path: Path) -> None:
    """What the page draws from is plain JSON with a variant a model."""
    page_file = tmp_path / "report.html"
    page_file.write_text(render_page(with_tree.data()))
    with opened(page_file, scripts=False) as seen:
        charts = json.loads(seen.page.locator("#charts").text_content() or "")
        (tree,) = [chart for chart in charts.values() if "variants" in chart]
        assert set(tree["variants"]) == {"sim/strong", "sim/weak"}
        assert not seen.page.locator("#capabilities select").is_visible()
