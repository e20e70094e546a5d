# pyright: standard
# networkx and PyYAML ship no types; what is read here is given its type at once.
"""The capability tree as YAML to be edited by hand: categories, parents, capabilities, each with its criteria."""

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from dokimasia.algorithms.trees.node_link import FORMAT, from_nodes
from dokimasia.domain.capability import DEEPEST, MOST_SUPPORT, ROOT, CapabilityPath, TreeNode, plain_name
from dokimasia.errors import DataError

if TYPE_CHECKING:
    from dokimasia.algorithms.taxonomy import Tree

_BELOW = ("categories", "parents", "capabilities")
"""The field that holds a node's children, by the node's layer."""

_DEEPEST_NESTING = 20
_ONE_LINE = 1_000_000
_LONG_NUMBER = re.compile(r"[-+0-9_:.]{40,}")
"""What YAML may take for a number (of base 60, with colons) and work on for as long as the square of its length."""

_FIELDS = ("support", "criteria", "absorbed")
_HEADING = """\
# A capability tree: categories > parents > capabilities. The categories are fixed.
# Rename or move what you like; every criterion has to stay below exactly one capability, with its text as it is.
# `tree` and `version` say what this is an edit of. `absorbed` lists what was merged into a node, so that it can be found again.
"""


def to_yaml(tree: "Tree", *, name: str = "", version: int = 0, texts: Mapping[str, str] | None = None) -> str:
    """Return the tree as YAML, categories in their order and the rest sorted by name.

    Parameters
    ----------
    tree : networkx.DiGraph
        A capability tree.
    name, version : str, int
        What the file is of, written where a name is given.
    texts : mapping of str to str, optional
        By criterion its text, which then stands beside it.

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

    of = {"tree": name, "version": version} if name else {}
    whole = {"format": FORMAT, **of, **_written(tree, ROOT, 0, texts or {})}
    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    return _HEADING + yaml.dump(
        whole,
        Dumper=dumper,
        sort_keys=False,
        allow_unicode=True,
        default_flow_style=False if texts else None,
        width=_ONE_LINE if texts else 120,
    )


def from_yaml(text: str) -> "Tree":
    """Return the tree that `to_yaml` wrote and somebody may have edited; `check_tree` says what is left to mend.

    What the file says that it is of stands in the graph's `name` and `version`, the criteria's texts in its `texts`; each
    is empty where the file says nothing.

    Raises
    ------
    DataError
        If the text is no such YAML, a name stands twice in one place, or a node is deeper than a capability. The message
        names the place.
    """
    import yaml

    reader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        _check(yaml.parse(text, Loader=reader))
        whole = yaml.load(text, Loader=reader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise DataError(f"the tree is no YAML: {' '.join(str(error).split())}") from error
    if not isinstance(whole, dict) or whole.get("format") != FORMAT:
        raise DataError(f"the YAML is no capability tree: its field 'format' is not '{FORMAT}'")
    categories = whole.get(_BELOW[0])
    if not isinstance(categories, dict) or not categories:
        raise DataError("the tree's YAML has no 'categories'")
    name, version = whole.get("tree", ""), whole.get("version", 0)
    if not isinstance(name, str) or type(version) is not int:
        raise DataError("the tree's YAML names its 'tree' by a text and its 'version' by a whole number")
    nodes: list[TreeNode] = []
    texts: dict[str, str] = {}
    _read({key: value for key, value in whole.items() if key not in ("format", "tree", "version")}, (), nodes, texts)
    tree = from_nodes(nodes, [_name(one, ()) for one in categories])
    tree.graph |= {"name": name, "version": version, "texts": texts}
    return tree


def _check(events: Iterable[Any]) -> None:
    """Refuse what reading would overwrite silently (a name that stands twice), repeat without end, or not survive."""
    import yaml

    open_names: list[set[str] | None] = []
    expects_name: list[bool] = []
    for event in events:
        line = f"line {event.start_mark.line + 1}"
        if isinstance(event, yaml.AliasEvent):
            raise DataError(f"{line}: the tree's YAML may not refer to itself (&, *)")
        if isinstance(event, yaml.CollectionEndEvent):
            open_names.pop()
            expects_name.pop()
            continue
        if not isinstance(event, yaml.NodeEvent):
            continue
        if isinstance(event, yaml.ScalarEvent) and event.implicit[0] and _LONG_NUMBER.fullmatch(event.value):
            raise DataError(f"{line}: a number of {len(event.value):,} signs; a text needs quotation marks")
        names = open_names[-1] if open_names else None
        if names is not None:
            if expects_name[-1]:
                if not isinstance(event, yaml.ScalarEvent):
                    raise DataError(f"{line}: a list or mapping stands where a name belongs")
                if event.value in names:
                    raise DataError(f"{line}: the name '{event.value}' stands twice in one place")
                names.add(event.value)
            expects_name[-1] = not expects_name[-1]
        if isinstance(event, yaml.CollectionStartEvent):
            open_names.append(set() if isinstance(event, yaml.MappingStartEvent) else None)
            expects_name.append(True)
        if len(open_names) > _DEEPEST_NESTING:
            raise DataError(f"{line}: the YAML is nested more deeply than a tree can be")


def _written(tree: "Tree", node: str, layer: int, texts: Mapping[str, str]) -> dict[str, Any]:
    """Return a node's fields and children."""
    here = tree.nodes[node]
    members = sorted(here["members"])
    written: dict[str, Any] = {}
    if here["support"] != len(members):
        written["support"] = here["support"]
    if members:
        written["criteria"] = {one: texts.get(one, "") for one in members} if texts else members
    if here["absorbed"]:
        written["absorbed"] = sorted(here["absorbed"])
    children = sorted(tree.successors(node)) if layer else [f"<{name}>" for name in tree.graph["categories"]]
    if children and layer < DEEPEST:
        written[_BELOW[layer]] = {
            CapabilityPath.parse(child).name: _written(tree, child, layer + 1, texts) for child in children
        }
    return written


def _read(fields: Any, names: tuple[str, ...], nodes: list[TreeNode], texts: dict[str, str]) -> None:
    """Read a node and all below it, and the texts of its criteria."""
    layer = len(names)
    node = "".join(f"<{name}>" for name in names) or ROOT
    if fields is None:
        fields = {}
    if not isinstance(fields, Mapping):
        raise DataError(f"{node} is no mapping of fields to values")
    below = _BELOW[layer] if layer < DEEPEST else None
    allowed = [*_FIELDS, *([below] if below else [])]
    for field in fields:
        if field not in allowed:
            deeper = f": a capability has no layer below it ({field})" if field in _BELOW and not below else ""
            raise DataError(f"{node} has the field '{field}'{deeper}, not one of {', '.join(allowed)}")
    if isinstance(said := fields.get("criteria"), Mapping):
        if not all(isinstance(one, str) for pair in said.items() for one in pair):
            raise DataError(f"{node}: 'criteria' holds what is no text (a number or a date needs quotation marks)")
        texts.update(said)
        fields = {**fields, "criteria": list(said)}
    criteria, absorbed = _texts(fields, "criteria", node), _texts(fields, "absorbed", node)
    support = fields.get("support", len(criteria))
    if type(support) is not int or not 0 <= support <= MOST_SUPPORT:
        raise DataError(f"{node}: the support is no whole number from 0 to {MOST_SUPPORT:,}")
    nodes.append(TreeNode(id=node, support=support, members=criteria, absorbed=absorbed))
    children = fields.get(below) if below else None
    if children is None:
        return
    if not isinstance(children, Mapping):
        raise DataError(f"{node}: '{below}' is no mapping of names to nodes")
    for name, child in children.items():
        _read(child, (*names, _name(name, names)), nodes, texts)


def _name(name: Any, above: tuple[str, ...]) -> str:
    where = "".join(f"<{one}>" for one in above) or ROOT
    if not isinstance(name, str):
        raise DataError(f"the name {name!r} below {where} is no text: put it in quotation marks")
    try:
        return plain_name(name)
    except ValueError as error:
        raise DataError(f"below {where}: {error}") from error


def _texts(fields: Mapping[str, Any], field: str, node: str) -> tuple[str, ...]:
    values = fields.get(field) or []
    if not isinstance(values, list) or not all(isinstance(one, str) for one in values):
        raise DataError(f"{node}: '{field}' is no list of texts (a number or a date needs quotation marks)")
    if len(set(values)) != len(values):
        raise DataError(f"{node}: '{field}' names the same thing twice")
    return tuple(values)
