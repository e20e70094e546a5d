"""Graphs laid out as pictures."""

import importlib
import pkgutil
from typing import Any

import pytest

import dokimasia.graphs
from dokimasia.graphs import drive
from dokimasia.graphs.steps import END, START, GraphOutline
from dokimasia.graphs.watched import picture
from dokimasia.service.pages.live import GraphLayout, lay_out

GRAPHS: dict[str, Any] = {
    module.NAME: module
    for one in pkgutil.walk_packages(dokimasia.graphs.__path__, "dokimasia.graphs.")
    for module in [importlib.import_module(one.name)]
    if hasattr(module, "NAME") and hasattr(module, "build")
}


def laid(name: str) -> tuple[GraphOutline, GraphLayout]:
    """A graph of the package, laid out."""
    drawn = picture(drive.compiled(GRAPHS[name]))
    return drawn, lay_out(drawn)


@pytest.mark.parametrize("name", sorted(GRAPHS))
def test_every_graph_has_a_picture_without_overlaps(name: str) -> None:
    """Each node of each graph of the package has a place of its own inside the picture, the start above and the end below."""
    drawn, layout = laid(name)
    boxes = {node.name: node for node in layout.nodes}
    assert set(boxes) == set(drawn.nodes)
    for one in layout.nodes:
        assert min(one.x, one.y) >= 0
        assert one.x + one.width <= layout.width
        assert one.y + one.height <= layout.height
        for other in layout.nodes:
            beside = one.x + one.width <= other.x or other.x + other.width <= one.x
            assert one is other or beside or one.y + one.height <= other.y or other.y + other.height <= one.y
        assert boxes[START].y <= one.y <= boxes[END].y


def test_a_way_back_goes_round_at_the_left_and_each_node_stands_below_what_leads_to_it() -> None:
    """In the replay that writes a chain and checks it, checking stands below writing, and its way back is drawn."""
    drawn, layout = laid("cognitive_replay")
    boxes = {node.name: node for node in layout.nodes}
    assert boxes["write_chain"].y < boxes["check_chain"].y < boxes["extract_criteria"].y < boxes["judge_criteria"].y
    assert len(layout.ways) == len([one for one in drawn.edges if one.target != END]) + 1
