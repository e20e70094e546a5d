"""The sunburst of a tree: labels that tell nodes apart, and numbers where there is no room for labels."""

from dokimasia.methods.tree.node_scores import TreeNode
from dokimasia.service.pages.trees import RINGS, arcs

BEGINNING = "Identification of "


def node(name: str, layer: int, below: int, parent: str = "root") -> TreeNode:
    """A node as the figures of a tree have it."""
    id = f"{parent}/{name}" if layer else "root"
    return TreeNode(id=id, name=name, layer=layer, below=below, parent=parent, scores={}, support=0, absorbed=0)


def test_no_two_names_are_cut_alike() -> None:
    """Names that begin alike are told apart by their second line."""
    category = node("Perception", 1, 40)
    names = [f"{BEGINNING}colours", f"{BEGINNING}shapes", f"{BEGINNING}{'very ' * 6}small things", "Counting"]
    names.append(f"{BEGINNING}{'rather ' * 5}small things")
    nodes = [node("", 0, 40), category]
    nodes += [node(name, 2, 8, category.id) for name in names]
    labels = {one.title.partition(":")[0]: one.label for one in arcs(nodes, "")}
    assert labels["Counting"] == ("Counting",)
    assert labels[names[0]] == ("Identification", "of colours")
    assert labels[names[1]] == ("Identification", "of shapes")
    assert all(len(line) * 7 < RINGS[1][1] - RINGS[1][0] for label in labels.values() for line in label)


def test_a_name_is_cut_only_where_its_arc_has_no_room_for_two_lines() -> None:
    """A long name stands in two lines; on an arc of one line it is cut, at its end or in its middle.

    It has no label where another one would be cut to the same.
    """
    nodes = [node("", 0, 100), node("Perception", 1, 100)]
    nodes += [node(name, 2, 46, "root/Perception") for name in ("Spatial Understanding", "Purpose Understanding")]
    alike = [f"{BEGINNING}{word * 5} small things" for word in ("very", "rather")]
    nodes += [node(name, 2, 1, "root/Perception") for name in (f"{BEGINNING}colours", f"{BEGINNING}shapes", *alike)]
    labels = {one.title.partition(":")[0]: one.label for one in arcs(nodes, "")}
    assert labels["Spatial Understanding"] == ("Spatial", "Understanding")
    assert labels[f"{BEGINNING}colours"][0].endswith("colours")
    assert labels[f"{BEGINNING}shapes"][0].endswith("shapes")
    assert [len(labels[f"{BEGINNING}{name}"]) for name in ("colours", "shapes")] == [1, 1]
    assert [labels[name] for name in alike] == [(), ()]


def test_categories_are_numbered_in_the_order_of_the_outline() -> None:
    """A category has the number of its row, and none is drawn where its arc has no room; other nodes have none."""
    nodes = [node("", 0, 100)]
    nodes += [node(name, 1, below) for name, below in (("A", 60), ("none", 0), ("B", 1), ("C", 39))]
    nodes.append(node("D", 2, 39, "root/C"))
    assert [one.number for one in arcs(nodes, "")] == [1, 0, 4, 0]
