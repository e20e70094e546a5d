"""A tree leaves for other programs and comes back the same; what was spoilt on the way is named."""

import csv
import io
import itertools
import random
import time

import networkx as nx
import pytest

from dokimasia.algorithms.taxonomy import add, add_all, assign, merge, new_tree, prune
from dokimasia.algorithms.trees.checks import check_tree
from dokimasia.algorithms.trees.formats import (
    FORMAT,
    from_csv,
    from_graphml,
    from_json,
    from_nodes,
    from_version,
    from_yaml,
    to_csv,
    to_graphml,
    to_json,
    to_mermaid,
    to_nodes,
    to_version,
    to_yaml,
)
from dokimasia.domain.capability import StoredNode, TreeVersion
from dokimasia.errors import DataError
from tests.hand_edits import rename

FORMS = {
    "json": (to_json, from_json),
    "csv": (to_csv, from_csv),
    "graphml": (to_graphml, from_graphml),
    "yaml": (to_yaml, from_yaml),
}


@pytest.fixture
def tree() -> nx.DiGraph:
    """A tree with awkward names and criteria, merged, pruned and renamed, with members on an inner node."""
    paths = [
        "<Yes><On><No>",
        "<Yes><On><1.5>",
        "<Yes><Caf\u00e9 & \u201cCo\u201d><a: b # c>",
        "<Null><x, y; \"z\"><[w] 'v'>",
        "<Null><Other><~>",
    ]
    leaf_of = {f's{at}#\u00e4, "{at}": {{x}}': paths[at % 3] for at in range(12)} | {
        "2024-01-01": paths[3],
        "7": paths[4],
    }
    tree = assign(add(add_all(new_tree(["Yes", "Null", "Empty"]), paths), "<Empty><Nothing>"), leaf_of)
    return rename(prune(merge(tree, paths[0], paths[1]), 2), "<Yes><On>", "Off")


@pytest.mark.parametrize("form", FORMS)
def test_a_tree_comes_back_the_same(tree: nx.DiGraph, form: str) -> None:
    """Nodes, edges, members, supports, what was absorbed and the anchors' order survive, and the text is reproducible."""
    write, read = FORMS[form]
    back = read(write(tree))
    assert to_nodes(back) == to_nodes(tree)
    assert sorted(back.edges) == sorted(tree.edges)
    assert back.graph["categories"] == tree.graph["categories"]
    assert {node: back.nodes[node] for node in back} == {node: tree.nodes[node] for node in tree}
    assert write(back) == write(tree)
    assert check_tree(back) == []


def test_the_order_of_growth_does_not_show() -> None:
    """Leaves that were added in another order are written the same in every form."""
    paths = [
        f"<{category}><P{parent}><L{leaf}>" for category, parent, leaf in itertools.product("AB", range(2), range(3))
    ]
    other = paths[:]
    random.Random(1).shuffle(other)
    one, two = add_all(new_tree("AB"), paths), add_all(new_tree("AB"), other)
    for write in (to_json, to_csv, to_graphml, to_yaml, to_mermaid):
        assert write(one) == write(two)


def test_a_version_restores_its_tree(tree: nx.DiGraph) -> None:
    """A stored version gives its tree back, also through JSON."""
    version = TreeVersion.model_validate_json(to_version(tree, before="abc").model_dump_json())
    assert to_nodes(from_version(version)) == to_nodes(tree)
    assert version.before == "abc"


def test_mermaid_draws_every_node(tree: nx.DiGraph) -> None:
    """The flow chart has a line a node and an edge, and no sign in a name that would end it."""
    drawn = to_mermaid(tree)
    assert drawn.count("-->") == tree.number_of_edges()
    assert len(drawn.splitlines()) == 1 + len(tree) + tree.number_of_edges()
    assert all(line.count('"') == 2 for line in drawn.splitlines() if "[" in line)


def test_yaml_can_be_edited(tree: nx.DiGraph) -> None:
    """A leaf moved and renamed by hand comes back in its new place; an orphaned criterion is found."""
    text = to_yaml(assign(add_all(new_tree("AB"), ["<A><P><X>", "<B><Q><Y>"]), {"1": "<A><P><X>", "2": "<B><Q><Y>"}))
    moved = from_yaml(text.replace("X:", "Counting:").replace("P:", "Enumeration:"))
    assert moved.nodes["<A><Enumeration><Counting>"]["members"] == {"1"}
    assert check_tree(moved, categories="AB", criteria=["1", "2"]) == []
    lost = from_yaml(text.replace("criteria: [1]", "").replace("criteria: ['1']", ""))
    assert check_tree(lost, categories="AB", criteria=["1", "2"]) == ["1 mapped criteria are held by no leaf: 1"]


HEAD = "format: dokimasia-tree/1\ncategories:\n  A:\n    parents:\n"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (HEAD + "      P: {}\n      P: {}\n", "line 6: the name 'P' stands twice"),
        (HEAD + "      P: {capabilities: {C: {capabilities: {D: {}}}}}\n", "no layer below"),
        (HEAD + "      P: {criterai: [a]}\n", "the field 'criterai'"),
        (HEAD + "      P: &p {capabilities: {C: {}}}\n      Q: *p\n", "may not refer to itself"),
        (HEAD + "      P: &p {capabilities: *p}\n", "may not refer to itself"),
        (HEAD + "      1: {}\n", "quotation marks"),
        (HEAD + "      P: {criteria: [1]}\n", "no list of texts"),
        (HEAD + "      P: {criteria: [a, a]}\n", "same thing twice"),
        (HEAD + "      P: {support: many}\n", "no whole number"),
        (HEAD + "      P: [a]\n", "no mapping"),
        (HEAD + "      'P <Q>': {}\n", "angle bracket"),
        (HEAD + "      P: {\n", "not valid YAML"),
        (HEAD + "      P: !!python/object/apply:os.getcwd []\n", "not valid YAML"),
        ("format: dokimasia-tree/1\n", "no 'categories'"),
        ("a list, maybe", "no capability tree"),
        ("", "no capability tree"),
        ("[" * 100_000, "nested"),
    ],
)
def test_spoilt_yaml_is_refused(text: str, reason: str) -> None:
    """Each spoilt place is named; nothing is overwritten or carried out."""
    with pytest.raises(DataError, match=reason):
        from_yaml(text)


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (from_json, "{"),
        (from_json, '{"format": "other"}'),
        (from_json, '{"format": "dokimasia-tree/1", "categories": ["A"], "nodes": [{"id": "<B>"}]}'),
        (from_json, '{"format": "dokimasia-tree/1", "categories": ["A"], "nodes": [{"id": "<A>"}, {"id": "<A>"}]}'),
        (from_json, '{"format": "dokimasia-tree/1", "categories": ["A"], "nodes": [{"id": "<A>", "support": -1}]}'),
        (from_json, '{"format": "dokimasia-tree/1", "categories": ["A"], "nodes": [{"id": "<A><B><C><D>"}]}'),
        (from_json, '{"format": "dokimasia-tree/1", "categories": [], "nodes": []}'),
        (from_json, "[" * 100_000),
        (from_csv, "path\n<A>\n"),
        (from_csv, "id,support\n<A>,many\n"),
        (from_csv, "id,members\n<A>,{\n"),
        (from_csv, "id\nroot\n"),
        (from_csv, "id\nA>B\n"),
        (from_graphml, "<graphml>"),
        (from_graphml, "<!DOCTYPE a><graphml/>"),
        (from_graphml, to_graphml(new_tree("A")).replace("layer", "depth")),
        (from_graphml, to_graphml(new_tree("A")).replace('edgedefault="directed"', 'edgedefault="undirected"')),
    ],
)
def test_spoilt_files_are_refused(read, text: str) -> None:
    """What is no tree in its form raises the user's error."""
    with pytest.raises(DataError):
        read(text)


def test_graphml_keeps_edges_as_they_stand() -> None:
    """A cycle drawn in another program comes back for the check to name."""
    text = to_graphml(add(new_tree("A"), "<A><B><C>"))
    edge = '<edge source="&lt;A&gt;&lt;B&gt;&lt;C&gt;" target="&lt;A&gt;" />'
    assert "cycle" in check_tree(from_graphml(text.replace("</graph>", edge + "</graph>")))[0]


def test_nodes_may_leave_out_those_above() -> None:
    """Stored leaves alone bring their parents with them."""
    tree = from_nodes([StoredNode(id="<A><B><C>")], ["A"])
    assert check_tree(tree) == []


@pytest.mark.parametrize("support", ["1" + "0" * 23, "1" * 30, f"{2**53}", ":".join(["1"] * 200_000), "9" * 5_000])
def test_a_number_that_no_tree_has_is_refused_at_once(support: str) -> None:
    """A support beyond what can be kept, and a number that takes long to read, are errors in every form of a tree."""
    text = f"format: {FORMAT}\ncategories:\n  A:\n    support: {support}\n"
    began = time.process_time()
    with pytest.raises(DataError):
        from_yaml(text)
    with pytest.raises(DataError):
        from_csv(f"id,support\n<A>,{support}\n")
    assert time.process_time() - began < 2


def test_no_name_of_a_node_becomes_a_formula_in_csv() -> None:
    """A name that a spreadsheet would compute has an apostrophe before it, and the tree that is read is the same."""
    tree = add_all(new_tree(["A"]), ["<A><B><=HYPERLINK(0)>", "<A><@sum><-5>"])
    names = [row["name"] for row in csv.DictReader(io.StringIO(to_csv(tree)))]
    assert {"'=HYPERLINK(0)", "'@sum", "-5", "A", "B"} <= set(names)
    assert not {"=HYPERLINK(0)", "@sum"} & set(names)
    assert to_nodes(from_csv(to_csv(tree))) == to_nodes(tree)
