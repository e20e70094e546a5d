# pyright: standard
# networkx ships no types; what is read from a tree here is given its type at once.
"""The capability tree for other programs: stored nodes, JSON, CSV, GraphML, and Mermaid to look at; equal trees, equal text."""

import csv
import io
import json
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from dokimasia.algorithms.taxonomy import hang, new_tree
from dokimasia.algorithms.trees.places import place_of
from dokimasia.domain.capability import DEEPEST, ROOT, CapabilityPath, Level, TreeNode, TreeVersion
from dokimasia.errors import DataError

if TYPE_CHECKING:
    from dokimasia.algorithms.taxonomy import Tree

FORMAT = "dokimasia-tree/1"
COLUMNS = ("id", "layer", "parent", "name", "support", "members", "absorbed")


def to_nodes(tree: "Tree") -> tuple[TreeNode, ...]:
    """Return the tree's nodes as they are stored, sorted by id.

    Examples
    --------
    >>> len(to_nodes(new_tree(["A"])))
    2
    """
    return tuple(
        TreeNode(
            id=node,
            support=tree.nodes[node]["support"],
            members=tuple(sorted(tree.nodes[node]["members"])),
            absorbed=tuple(sorted(tree.nodes[node]["absorbed"])),
        )
        for node in sorted(tree)
    )


def from_nodes(nodes: Iterable[TreeNode], categories: Sequence[str], level: Level | None = None) -> "Tree":
    """Return the tree of stored nodes; each hangs below the path above its own, which is added where it is missing.

    Where nothing says at which level a tree is, it is at that of parents if parents hold criteria and no capability is
    there.

    Raises
    ------
    DataError
        If an id is no path, stands twice, or its category is none of `categories`.

    Examples
    --------
    >>> tree = from_nodes([TreeNode(id="<A><B><C>", members=("x",), support=1)], ["A"])
    >>> sorted(tree), from_nodes(to_nodes(tree), ["A"]).nodes["<A><B><C>"]["members"]
    (['<A>', '<A><B>', '<A><B><C>', 'root'], frozenset({'x'}))
    """
    try:
        tree = new_tree(categories)
    except ValueError as error:
        raise DataError(f"the tree's categories cannot be used: {error}") from error
    seen: set[str] = set()
    for node in nodes:
        if node.id in seen:
            raise DataError(f"the node {node.id} stands twice in the tree: merge the two")
        seen.add(node.id)
        if node.id != ROOT:
            path = _path(node.id, f"node {node.id}")
            if str(path) != node.id:
                raise DataError(f"the node {node.id} is spelled {path}")
            if f"<{path.category}>" not in tree:
                raise DataError(f"<{path.category}> is none of the tree's categories")
            hang(tree, path)
        tree.nodes[node.id].update(
            support=node.support, members=frozenset(node.members), absorbed=tuple(sorted(node.absorbed))
        )
    tree.graph["level"] = level or _level(tree)
    return tree


def to_version(tree: "Tree", *, before: str | None = None, edits: Iterable[Any] = ()) -> TreeVersion:
    """Return the tree as a version to be stored, with the version that it grew from and the edits that led to it."""
    return TreeVersion(
        categories=tuple(tree.graph["categories"]),
        level=tree.graph.get("level", "capability"),
        nodes=to_nodes(tree),
        before=before,
        edits=tuple(edits),
    )


def from_version(version: TreeVersion) -> "Tree":
    """Return the tree of a stored version.

    Raises
    ------
    DataError
        As `from_nodes`.
    """
    return from_nodes(version.nodes, version.categories, version.level)


def to_json(tree: "Tree") -> str:
    """Return the tree as JSON: `format`, `categories`, and `nodes` with the fields of `TreeNode`.

    Examples
    --------
    >>> from_json(to_json(new_tree(["A", "B"]))).graph["categories"]
    ('A', 'B')
    """
    nodes = [node.model_dump(mode="json") for node in to_nodes(tree)]
    whole = {"format": FORMAT, "categories": list(tree.graph["categories"]), "nodes": nodes}
    return json.dumps(whole, ensure_ascii=False, indent=1) + "\n"


def from_json(text: str) -> "Tree":
    """Return the tree that `to_json` wrote.

    Raises
    ------
    DataError
        If the text is no such JSON.
    """
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(f"the tree is no JSON: {error}") from error
    if not isinstance(whole, dict) or whole.get("format") != FORMAT:
        raise DataError(f'the JSON is no capability tree: its field "format" is not "{FORMAT}"')
    categories, rows = whole.get("categories"), whole.get("nodes")
    if not isinstance(rows, list) or not isinstance(categories, list) or not _strings(categories):
        raise DataError('the tree\'s JSON needs "categories", a list of names, and "nodes", a list of objects')
    return from_nodes([_node(row, f"node {at}") for at, row in enumerate(rows, start=1)], categories)


def to_csv(tree: "Tree") -> str:
    """Return the tree as CSV, a node a row, anchors in their order first; `members` and `absorbed` are JSON lists.

    Examples
    --------
    >>> to_csv(new_tree(["A"])).splitlines()[2]
    '<A>,1,root,A,0,[],[]'
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    stored = {node.id: node for node in to_nodes(tree)}
    anchors = [f"<{name}>" for name in tree.graph["categories"]]
    for node in [ROOT, *anchors, *sorted(stored.keys() - {ROOT, *anchors})]:
        one = stored[node]
        layer, name, above = place_of(node)
        writer.writerow([node, layer, above or "", name, one.support, _list(one.members), _list(one.absorbed)])
    return text.getvalue()


def from_csv(text: str) -> "Tree":
    """Return the tree that `to_csv` wrote; of the columns only `id` is needed, the others may be missing.

    Raises
    ------
    DataError
        If a row cannot be read; the message names its line.
    """
    reader = csv.DictReader(io.StringIO(text.lstrip("\ufeff")))
    if "id" not in (reader.fieldnames or ()):
        raise DataError("the tree's CSV has no column 'id' in its first line")
    nodes: list[TreeNode] = []
    categories: dict[str, None] = {}
    try:
        for row in reader:
            where = f"line {reader.line_num}"
            fields: dict[str, Any] = {"id": row["id"]}
            for column, read in _READERS.items():
                if row.get(column):
                    fields[column] = _read(read, row[column], column, where)
            node = _node(fields, where)
            if node.id != ROOT:
                categories[_path(node.id, where).category] = None
            nodes.append(node)
    except csv.Error as error:
        raise DataError(f"the tree's CSV cannot be read at line {reader.line_num}: {error}") from error
    return from_nodes(nodes, list(categories))


def to_graphml(tree: "Tree") -> str:
    """Return the tree as GraphML (Gephi, yEd, Cytoscape); `members` and `absorbed` are JSON lists in a string."""
    import networkx as nx

    graph = nx.DiGraph(format=FORMAT, categories=_list(tree.graph["categories"]))
    for node in to_nodes(tree):
        place = place_of(node.id)
        graph.add_node(
            node.id,
            label=place.name,
            layer=place.layer,
            support=node.support,
            members=_list(node.members),
            absorbed=_list(node.absorbed),
        )
    graph.add_edges_from(sorted(tree.edges))
    return "\n".join(nx.generate_graphml(graph, named_key_ids=True)) + "\n"


def from_graphml(text: str) -> "Tree":
    """Return the graph that `to_graphml` wrote, its edges as they stand there: `check_tree` says if it is a tree.

    Raises
    ------
    DataError
        If the text is no such GraphML.
    """
    import networkx as nx

    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise DataError("the GraphML declares a document type or entities, which are not read")
    try:
        read = nx.parse_graphml(text)
        names = json.loads(read.graph["categories"])
        if not isinstance(read, nx.DiGraph) or isinstance(read, nx.MultiDiGraph) or not _strings(names):
            raise ValueError("its edges have no direction or stand twice, or its categories are no list of names")
        graph = nx.DiGraph(categories=tuple(names))
        for node in sorted(read):
            here = read.nodes[node]
            lists = {field: json.loads(here.get(field, "[]")) for field in ("members", "absorbed")}
            one = _node({"id": node, "support": here.get("support", 0), **lists}, f"node {node}")
            graph.add_node(
                node, layer=here["layer"], support=one.support, members=frozenset(one.members), absorbed=one.absorbed
            )
    except (KeyError, ValueError, TypeError, SyntaxError, nx.NetworkXError) as error:
        raise DataError(f"the text is no GraphML of a capability tree: {error}") from error
    graph.add_edges_from(read.edges())
    graph.graph["level"] = _level(graph)
    return graph


def to_mermaid(tree: "Tree") -> str:
    """Return the tree as a Mermaid flow chart, each node with what it holds.

    Examples
    --------
    >>> print(to_mermaid(new_tree(["A"])), end="")
    flowchart LR
      n0["root"]
      n1["A"]
      n0 --> n1
    """
    order = [ROOT, *sorted(node for node in tree if node != ROOT)]
    number = {node: f"n{at}" for at, node in enumerate(order)}
    lines = ["flowchart LR"]
    for node in order:
        safe = "".join(f"#{ord(sign)};" if sign in '"#&;`[](){}|\\' else sign for sign in place_of(node).name)
        count = tree.nodes[node]["support"]
        lines.append(f'  {number[node]}["{safe}{f": {count}" if count else ""}"]')
    lines += [f"  {number[above]} --> {number[node]}" for above, node in sorted(tree.edges)]
    return "\n".join(lines) + "\n"


def _level(tree: "Tree") -> Level:
    """Return the level of a tree by what it holds."""
    depths = {node: str(node).count("<") for node in tree}
    holding = any(depth == DEEPEST - 1 and tree.nodes[node]["members"] for node, depth in depths.items())
    return "parent" if holding and max(depths.values()) == DEEPEST - 1 else "capability"


def _path(node: str, where: str) -> CapabilityPath:
    try:
        return CapabilityPath.parse(node)
    except ValueError as error:
        raise DataError(f"{where} of the tree: {error}") from error


def _node(fields: Any, where: str) -> TreeNode:
    try:
        return TreeNode.model_validate(fields)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"])) or "it"
        raise DataError(f"{where} of the tree cannot be used: {field}: {first['msg']}") from error


def _read(read: Callable[[str], Any], text: str, column: str, where: str) -> Any:
    try:
        return read(text)
    except ValueError as error:
        raise DataError(f"{where} of the tree: the column '{column}' holds '{text[:40]}'") from error


def _list(values: Iterable[str]) -> str:
    return json.dumps(list(values), ensure_ascii=False)


def _strings(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, str) for one in value)


_READERS: dict[str, Callable[[str], Any]] = {"support": int, "members": json.loads, "absorbed": json.loads}
