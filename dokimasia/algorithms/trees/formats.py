# pyright: standard
# networkx and PyYAML ship no types; values read are annotated at once.
"""Reading and writing capability trees as stored nodes, JSON, YAML, CSV and GraphML; and writing Mermaid diagrams.

Equal trees give equal text. All formats are read into stored nodes (`StoredNode`), except GraphML, which keeps its edges.
"""

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence

from pydantic import ValidationError

from dokimasia.algorithms.taxonomy import Tree, attributes_of, categories_of, hang, new_tree
from dokimasia.algorithms.trees.places import place_of
from dokimasia.domain.capability import (
    DEEPEST,
    MOST_SUPPORT,
    ROOT,
    CapabilityPath,
    Level,
    StoredNode,
    TreeEdit,
    TreeVersion,
    plain_name,
)
from dokimasia.domain.user_yaml import read_user_yaml
from dokimasia.domain.wording import guarded
from dokimasia.errors import DataError, list_faults

FORMAT = "dokimasia-tree/1"
_MERMAID_SIGNS = {ord(sign): f"#{ord(sign)};" for sign in '"#&;`[](){}|\\'}

COLUMNS = ("id", "layer", "parent", "name", "support", "members", "absorbed")
_BELOW = ("categories", "parents", "capabilities")
"""The field that holds a node's children, by the node's layer."""

_ONE_LINE = 1_000_000

_FIELDS = ("support", "criteria", "absorbed")
_HEADING = """\
# A capability tree: categories > parents > capabilities. The categories are fixed.
# Rename or move what you like; every criterion has to stay below exactly one capability, with its text as it is.
# `tree` and `version` say what this is an edit of. `absorbed` lists what was merged into a node, so that it can be found again.
"""


def to_nodes(tree: Tree) -> tuple[StoredNode, ...]:
    """Return the tree's nodes in their stored form, sorted by id.

    Examples
    --------
    >>> len(to_nodes(new_tree(["A"])))
    2
    """
    nodes: list[StoredNode] = []
    for node in sorted(tree):
        _, support, members, absorbed = attributes_of(tree, node)
        nodes.append(
            StoredNode(id=node, support=support, members=tuple(sorted(members)), absorbed=tuple(sorted(absorbed)))
        )
    return tuple(nodes)


def from_nodes(nodes: Iterable[StoredNode], categories: Sequence[str], level: Level | None = None) -> Tree:
    """Return the tree of stored nodes; missing parents are added.

    Without a level, the tree is at the level of parents if parents hold criteria and there are no capabilities.

    Raises
    ------
    DataError
        If an id is not a path or occurs twice, or its category is not one of `categories`.

    Examples
    --------
    >>> tree = from_nodes([StoredNode(id="<A><B><C>", members=("x",), support=1)], ["A"])
    >>> sorted(tree), from_nodes(to_nodes(tree), ["A"]).nodes["<A><B><C>"]["members"]
    (['<A>', '<A><B>', '<A><B><C>', 'root'], frozenset({'x'}))
    """
    try:
        tree = new_tree(categories)
    except ValueError as error:
        raise DataError(f"the tree's categories cannot be used: {error}") from error
    ids: set[str] = set()
    for node in nodes:
        if node.id in ids:
            raise DataError(f"the node {node.id} stands twice in the tree: merge the two")
        ids.add(node.id)
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


def to_version(tree: Tree, *, before: str | None = None, edits: Iterable[TreeEdit] = ()) -> TreeVersion:
    """Return the tree as a version to store, with the version it grew from and the edits that led to it."""
    return TreeVersion(
        categories=categories_of(tree),
        level=tree.graph.get("level", "capability"),
        nodes=to_nodes(tree),
        before=before,
        edits=tuple(edits),
    )


def from_version(version: TreeVersion) -> Tree:
    """Return the tree of a stored version.

    Raises
    ------
    DataError
        As `from_nodes`.
    """
    return from_nodes(version.nodes, version.categories, version.level)


def to_json(tree: Tree) -> str:
    """Return the tree as JSON: `format`, `categories`, and `nodes` with the fields of `StoredNode`.

    Examples
    --------
    >>> from_json(to_json(new_tree(["A", "B"]))).graph["categories"]
    ('A', 'B')
    """
    nodes = [node.model_dump(mode="json") for node in to_nodes(tree)]
    document = {"format": FORMAT, "categories": list(categories_of(tree)), "nodes": nodes}
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def from_json(text: str) -> Tree:
    """Return the tree that `to_json` wrote.

    Raises
    ------
    DataError
        If the text is not such JSON.
    """
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(f"the tree is no JSON: {error}") from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise DataError(f'the JSON is no capability tree: its field "format" is not "{FORMAT}"')
    categories, rows = document.get("categories"), document.get("nodes")
    if not isinstance(rows, list) or not isinstance(categories, list) or not _strings(categories):
        raise DataError('the tree\'s JSON needs "categories", a list of names, and "nodes", a list of objects')
    return from_nodes([_node(row, f"node {number}") for number, row in enumerate(rows, start=1)], categories)


def to_csv(tree: Tree) -> str:
    """Return the tree as CSV, one node per row, anchors in their order first; `members` and `absorbed` are JSON lists.

    A `name` that a spreadsheet would evaluate as a formula is prefixed with an apostrophe; the `id` is exact.

    Examples
    --------
    >>> to_csv(new_tree(["A"])).splitlines()[2]
    '<A>,1,root,A,0,[],[]'
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    stored = {node.id: node for node in to_nodes(tree)}
    anchors = [f"<{name}>" for name in categories_of(tree)]
    for node in [ROOT, *anchors, *sorted(stored.keys() - {ROOT, *anchors})]:
        support, members, absorbed = stored[node].support, stored[node].members, stored[node].absorbed
        layer, name, parent = place_of(node)
        writer.writerow([node, layer, parent or "", guarded(name), support, _list(members), _list(absorbed)])
    return text.getvalue()


def from_csv(text: str) -> Tree:
    """Return the tree that `to_csv` wrote; only the column `id` is required.

    Raises
    ------
    DataError
        If a row cannot be read; the message names its line.
    """
    reader = csv.DictReader(io.StringIO(text.lstrip("\ufeff")))
    if "id" not in (reader.fieldnames or ()):
        raise DataError("the tree's CSV has no column 'id' in its first line")
    nodes: list[StoredNode] = []
    categories: dict[str, None] = {}
    try:
        for row in reader:
            where = f"line {reader.line_num}"
            fields: dict[str, object] = {"id": row["id"]}
            for column in ("support", "members", "absorbed"):
                cell = row.get(column) or ""
                try:
                    if cell:
                        fields[column] = int(cell) if column == "support" else json.loads(cell)
                except ValueError as error:
                    raise DataError(f"{where} of the tree: the column '{column}' holds '{cell[:40]}'") from error
            node = _node(fields, where)
            if node.id != ROOT:
                categories[_path(node.id, where).category] = None
            nodes.append(node)
    except csv.Error as error:
        raise DataError(f"the tree's CSV cannot be read at line {reader.line_num}: {error}") from error
    return from_nodes(nodes, list(categories))


def to_graphml(tree: Tree) -> str:
    """Return the tree as GraphML (Gephi, yEd, Cytoscape); `members` and `absorbed` are JSON lists in a string."""
    import networkx as nx

    graph = nx.DiGraph(format=FORMAT, categories=_list(categories_of(tree)))
    for node in to_nodes(tree):
        position = place_of(node.id)
        graph.add_node(
            node.id,
            label=position.name,
            layer=position.layer,
            support=node.support,
            members=_list(node.members),
            absorbed=_list(node.absorbed),
        )
    graph.add_edges_from(sorted(tree.edges))
    return "\n".join(nx.generate_graphml(graph, named_key_ids=True)) + "\n"


def from_graphml(text: str) -> Tree:
    """Return the graph that `to_graphml` wrote, with its edges as written; check it with `check_tree`.

    Raises
    ------
    DataError
        If the text is not such GraphML.
    """
    import networkx as nx

    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise DataError("the GraphML declares a document type or entities, which are not read")
    try:
        parsed = nx.parse_graphml(text)
        names = json.loads(parsed.graph["categories"])
        if not isinstance(parsed, nx.DiGraph) or isinstance(parsed, nx.MultiDiGraph) or not _strings(names):
            raise ValueError("its edges have no direction or stand twice, or its categories are no list of names")
        graph = nx.DiGraph(categories=tuple(names))
        for node in sorted(parsed):
            fields = parsed.nodes[node]
            members, absorbed = (json.loads(fields.get(field, "[]")) for field in ("members", "absorbed"))
            support = fields.get("support", 0)
            checked = _node({"id": node, "support": support, "members": members, "absorbed": absorbed}, f"node {node}")
            graph.add_node(
                node,
                layer=fields["layer"],
                support=checked.support,
                members=frozenset(checked.members),
                absorbed=checked.absorbed,
            )
    except (KeyError, ValueError, TypeError, SyntaxError, nx.NetworkXError) as error:
        raise DataError(f"the text is no GraphML of a capability tree: {error}") from error
    graph.add_edges_from(parsed.edges())
    graph.graph["level"] = _level(graph)
    return graph


def to_mermaid(tree: Tree) -> str:
    """Return the tree as a Mermaid flow chart, each node with its support.

    Examples
    --------
    >>> print(to_mermaid(new_tree(["A"])), end="")
    flowchart LR
      n0["root"]
      n1["A"]
      n0 --> n1
    """
    order = [ROOT, *sorted(node for node in tree if node != ROOT)]
    number = {node: f"n{position}" for position, node in enumerate(order)}
    lines = ["flowchart LR"]
    for node in order:
        label = place_of(node).name.translate(_MERMAID_SIGNS)
        if count := attributes_of(tree, node).support:
            label = f"{label}: {count}"
        lines.append(f'  {number[node]}["{label}"]')
    lines += [f"  {number[parent]} --> {number[node]}" for parent, node in sorted(tree.edges)]
    return "\n".join(lines) + "\n"


def to_yaml(tree: Tree, *, name: str = "", version: int = 0, texts: Mapping[str, str] | None = None) -> str:
    """Return the tree as YAML, categories in their order and the rest sorted by name.

    Parameters
    ----------
    tree : networkx.DiGraph
        A capability tree.
    name, version : str, int
        The tree's name and version, written if a name is given.
    texts : mapping of str to str, optional
        Criterion to its text, which is written next to it.

    Examples
    --------
    >>> from dokimasia.algorithms.taxonomy import add_all, assign, new_tree
    >>> tree = assign(add_all(new_tree(["A"]), ["<A><B><C>"]), {"x": "<A><B><C>"})
    >>> print("".join(to_yaml(tree).splitlines(keepends=True)[3:]), end="")
    format: dokimasia-tree/1
    categories:
      A:
        parents:
          B:
            capabilities:
              C:
                criteria: [x]
    """
    import yaml

    head = {"tree": name, "version": version} if name else {}
    document = {"format": FORMAT, **head, **_fields_of(tree, ROOT, 0, texts or {})}
    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    return _HEADING + yaml.dump(
        document,
        Dumper=dumper,
        sort_keys=False,
        allow_unicode=True,
        default_flow_style=False if texts else None,
        width=_ONE_LINE if texts else 120,
    )


def from_yaml(text: str) -> Tree:
    """Return a tree written by `to_yaml` and possibly edited; check it with `check_tree`.

    The graph's attributes `name` and `version` are those of the file, `texts` holds the criteria's texts; each is empty
    if missing from the file.

    Raises
    ------
    DataError
        If the text is not such YAML, a name occurs twice in one place, or a node is deeper than a capability. The message
        names the place.
    """
    document = read_user_yaml(text, "the tree")
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise DataError(f"the YAML is no capability tree: its field 'format' is not '{FORMAT}'")
    categories = document.get(_BELOW[0])
    if not isinstance(categories, dict) or not categories:
        raise DataError("the tree's YAML has no 'categories'")
    name, version = document.get("tree", ""), document.get("version", 0)
    if not isinstance(name, str) or type(version) is not int:
        raise DataError("the tree's YAML names its 'tree' by a text and its 'version' by a whole number")
    nodes: list[StoredNode] = []
    texts: dict[str, str] = {}
    root = {key: value for key, value in document.items() if key not in ("format", "tree", "version")}
    _read_node(root, (), nodes, texts)
    tree = from_nodes(nodes, [_name(category, ()) for category in categories])
    tree.graph |= {"name": name, "version": version, "texts": texts}
    return tree


def _fields_of(tree: Tree, node: str, layer: int, texts: Mapping[str, str]) -> dict[str, object]:
    """Return a node's fields and children."""
    attributes = attributes_of(tree, node)
    members = sorted(attributes.members)
    fields: dict[str, object] = {}
    if attributes.support != len(members):
        fields |= {"support": attributes.support}
    if members:
        fields |= {"criteria": {criterion: texts.get(criterion, "") for criterion in members} if texts else members}
    if attributes.absorbed:
        fields |= {"absorbed": sorted(attributes.absorbed)}
    children = sorted(tree.successors(node)) if layer else [f"<{name}>" for name in categories_of(tree)]
    if children and layer < DEEPEST:
        fields[_BELOW[layer]] = {place_of(child).name: _fields_of(tree, child, layer + 1, texts) for child in children}
    return fields


def _read_node(fields: object, names: tuple[str, ...], nodes: list[StoredNode], texts: dict[str, str]) -> None:
    """Read a node and its descendants, and the texts of their criteria."""
    layer = len(names)
    node = "".join(f"<{name}>" for name in names) or ROOT
    if fields is None:
        fields = {}
    if not isinstance(fields, Mapping):
        raise DataError(f"{node} is no mapping of fields to values")
    children_field = _BELOW[layer] if layer < DEEPEST else None
    allowed = [*_FIELDS, *([children_field] if children_field else [])]
    for field in fields:
        if field not in allowed:
            deeper = f": a capability has no layer below it ({field})" if field in _BELOW and not children_field else ""
            raise DataError(f"{node} has the field '{field}'{deeper}, not one of {', '.join(allowed)}")
    own_texts = fields.get("criteria")
    if isinstance(own_texts, Mapping):
        if not all(isinstance(text, str) for text in (*own_texts, *own_texts.values())):
            raise DataError(f"{node}: 'criteria' holds what is no text (a number or a date needs quotation marks)")
        texts.update(own_texts)
        fields = {**fields, "criteria": list(own_texts)}
    criteria, absorbed = _texts(fields, "criteria", node), _texts(fields, "absorbed", node)
    support = fields.get("support", len(criteria))
    if type(support) is not int or not 0 <= support <= MOST_SUPPORT:
        raise DataError(f"{node}: the support is no whole number from 0 to {MOST_SUPPORT:,}")
    nodes.append(StoredNode(id=node, support=support, members=criteria, absorbed=absorbed))
    children = fields.get(children_field) if children_field else None
    if children is None:
        return
    if not isinstance(children, Mapping):
        raise DataError(f"{node}: '{children_field}' is no mapping of names to nodes")
    for name, child in children.items():
        _read_node(child, (*names, _name(name, names)), nodes, texts)


def _name(name: object, above: tuple[str, ...]) -> str:
    where = "".join(f"<{part}>" for part in above) or ROOT
    if not isinstance(name, str):
        raise DataError(f"the name {name!r} below {where} is no text: put it in quotation marks")
    try:
        return plain_name(name)
    except ValueError as error:
        raise DataError(f"below {where}: {error}") from error


def _texts(fields: Mapping[str, object], field: str, node: str) -> tuple[str, ...]:
    values = fields.get(field) or []
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise DataError(f"{node}: '{field}' is no list of texts (a number or a date needs quotation marks)")
    if len(set(values)) != len(values):
        raise DataError(f"{node}: '{field}' names the same thing twice")
    return tuple(values)


def _level(tree: Tree) -> Level:
    """Return the level of a tree, inferred from its content."""
    depths = {node: str(node).count("<") for node in tree}
    holding = any(depth == DEEPEST - 1 and attributes_of(tree, node).members for node, depth in depths.items())
    if holding and max(depths.values()) == DEEPEST - 1:
        return "parent"
    return "capability"


def _path(node: str, where: str) -> CapabilityPath:
    try:
        return CapabilityPath.parse(node)
    except ValueError as error:
        raise DataError(f"{where} of the tree: {error}") from error


def _node(fields: object, where: str) -> StoredNode:
    try:
        return StoredNode.model_validate(fields)
    except ValidationError as error:
        first = list_faults(error)[0]
        raise DataError(f"{where} of the tree cannot be used: {first.field or 'it'}: {first.message}") from error


def _list(values: Iterable[str]) -> str:
    return json.dumps(list(values), ensure_ascii=False)


def _strings(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(text, str) for text in value)
