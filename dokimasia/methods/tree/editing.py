# pyright: standard
# networkx has no types; values read from a tree are typed right away.
"""Changes of capability trees by people: edits, imports, restored versions, deletion; and export of trees."""

import csv
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pydantic import Field

from dokimasia.algorithms.taxonomy import add, attributes_of, carry, copy_of, fold, leaves
from dokimasia.algorithms.trees.changes import edits_by_hand, with_absorbed
from dokimasia.algorithms.trees.checks import check_tree
from dokimasia.algorithms.trees.formats import (
    from_csv,
    from_graphml,
    from_json,
    from_yaml,
    to_csv,
    to_graphml,
    to_json,
    to_mermaid,
    to_version,
    to_yaml,
)
from dokimasia.algorithms.trees.places import in_order, leaf_mapping, place_of
from dokimasia.domain.capability import LAYERS, ROOT, CapabilityPath, TreeEdit
from dokimasia.domain.growth import Phase, Placement, TreeCriterion
from dokimasia.domain.identity import Value
from dokimasia.errors import DataError, DecidedMeanwhile, InputError
from dokimasia.methods.tree.stored_trees import EditShown, LoadedTree, edit_shown, load_tree
from dokimasia.report.fields import Count
from dokimasia.report.figures import several
from dokimasia.runs.persistence import delete_whole_run
from dokimasia.storage.home import Home
from dokimasia.storage.runs import list_runs
from dokimasia.storage.trees.versions import (
    StoredVersion,
    create_tree,
    delete_tree,
    keep_criteria,
    list_trees,
    put_version,
    resolve_tree,
    tree_criteria,
    versions,
)

if TYPE_CHECKING:
    from dokimasia.algorithms.taxonomy import Tree

ChangeKind = Literal["rename", "move", "merge", "split", "add", "prune"]
Format = Literal["yaml", "json", "csv", "graphml", "mermaid"]
ENDINGS: Mapping[str, Format] = {
    ".yaml": "yaml",
    ".yml": "yaml",
    ".json": "json",
    ".csv": "csv",
    ".graphml": "graphml",
    ".mmd": "mermaid",
    ".mermaid": "mermaid",
}
_WRITERS = {"json": to_json, "csv": to_csv, "graphml": to_graphml, "mermaid": to_mermaid}
_READERS = {"yaml": from_yaml, "json": from_json, "csv": from_csv, "graphml": from_graphml}
MOST_BYTES = 256 * 1024 * 1024
MOST_NAMED = 6
UNPLACED = frozenset({"", "-", "none", "unplaced"})


class TreeChange(Value):
    """One change of a tree, and why.

    `node` is the id of the node that is changed, such as `<Perception><Attributes><Colour>`. What `into` says: rename, its
    new name; move, the id of the node that it is to hang below; merge, the id of the node that takes its criteria; split,
    the name of the new sibling that gets `criteria`, or the id of a leaf that is there; add, the name of a new node below
    `node`; prune, nothing: its criteria go to its sibling with most of them.
    """

    kind: ChangeKind
    node: str = Field(min_length=1, max_length=1000)
    into: str = Field(default="", max_length=1000)
    criteria: tuple[str, ...] = ()
    reason: str = Field(min_length=1, max_length=500)


class StoredTree(Value):
    """The version of a tree that a change led to, and its edits."""

    tree: str
    position: int
    version: str
    new: bool = Field(description="whether it differs from the version before")
    edits: tuple[EditShown, ...]


class RestoredTree(StoredTree):
    """The version that has an earlier one's nodes again."""

    restored: int = Field(description="position of the earlier version")


class DeletedTree(Value):
    """A deleted tree: how many versions it had, and the growths that went with it."""

    tree: str
    versions: Count
    runs: tuple[str, ...]


async def edit_tree(home: Home, tree: str, change: TreeChange, *, version: int, person: str) -> StoredTree:
    """Change a tree and store the result as its newest version.

    Args:
        home: open for writing.
        tree: name of the tree.
        change: the change, and the reason for it.
        version: position of the version that the person saw; if there is a newer one, nothing is changed.
        person: name of the person.

    Raises:
        NotFound: there is no such tree.
        DecidedMeanwhile: there is a newer version.
        InputError: there is no such node, or the change is impossible.
        DataError: the result would not be a valid tree; the message says why.
    """
    base, edited_tree = _changed_tree(home, tree, change, version)
    edits = edits_by_hand(base.tree, edited_tree, reason=" ".join(change.reason.split()))
    graph = with_absorbed(edited_tree, edits, base.tree)
    return await _store_version(home, base.stored.tree, graph, base, edits, phase="edit", made_by=person)


def check_tree_change(home: Home, tree: str, change: TreeChange, *, version: int) -> None:
    """Check that a change of a tree is possible, and change nothing.

    Raises:
        NotFound: see `edit_tree`.
        DecidedMeanwhile: see `edit_tree`.
        InputError: see `edit_tree`.
        DataError: see `edit_tree`.
    """
    _changed_tree(home, tree, change, version)


def _changed_tree(home: Home, tree: str, change: TreeChange, version: int) -> "tuple[LoadedTree, Tree]":
    """Return the newest version of a tree, and its nodes after a change."""
    base = load_tree(home, tree)
    name = base.stored.tree
    if version != base.stored.position:
        raise DecidedMeanwhile(
            f"this is an edit of {name}@{version}, but {base.name} is newer, and would be undone: look at {base.name} and "
            "edit that. Nothing was changed."
        )
    try:
        edited_tree = _apply_change(base.tree, change)
    except ValueError as error:
        raise InputError(f"{base.name}: {error}. Nothing was changed.") from None
    _raise_if_invalid(
        f"{base.name} after this {change.kind}",
        check_tree(edited_tree, categories=base.version.categories, criteria=leaf_mapping(base.tree)),
    )
    return base, edited_tree


def _apply_change(tree: "Tree", change: TreeChange) -> "Tree":
    """Return the changed tree.

    Raises:
        ValueError: the change is impossible; the message says why.
    """
    node = _existing(tree, change.node)
    place = place_of(node)
    if change.kind == "add":
        return _add_node(tree, node, change.into)
    if node == ROOT:
        raise ValueError("the root stays as it is")
    if place.layer < 2:
        raise ValueError(f"{node} is one of the fixed categories, which stays as it is")
    if change.kind == "rename":
        return _renamed(tree, node, _sibling(node, change.into))
    if change.kind == "move":
        parent = _existing(tree, change.into)
        if place_of(parent).layer != place.layer - 1:
            raise ValueError(
                f"{parent} is a {_layer(parent)}, and a {_layer(node)} hangs below a {LAYERS[place.layer - 1]}"
            )
        return _renamed(tree, node, f"{parent}<{place.name}>")
    if change.kind == "merge":
        return _merged(tree, node, _existing(tree, change.into))
    if change.kind == "split":
        return _split(tree, node, change)
    return _pruned(tree, node)


def _existing(tree: "Tree", node: str) -> str:
    if node not in tree:
        raise ValueError(f"there is no node {node or 'without a name'}")
    return node


def _layer(node: str) -> str:
    return LAYERS[place_of(node).layer]


def _sibling(node: str, name: str) -> str:
    parent = place_of(node).parent or ROOT
    return str(CapabilityPath.parse(parent).child(name))


def _add_node(tree: "Tree", parent: str, name: str) -> "Tree":
    if parent == ROOT:
        raise ValueError("the categories are fixed: add a node below one of them")
    path = CapabilityPath.parse(parent).child(name)
    if str(path) in tree:
        raise ValueError(f"there is a node {path} already")
    return add(tree, path)


def _renamed(tree: "Tree", node: str, to: str) -> "Tree":
    if to == node:
        raise ValueError(f"{node} is there already: nothing is changed")
    if to in tree:
        raise ValueError(f"there is a node {to} already: merge the two instead")
    renamed = copy_of(tree)
    carry(renamed, node, to)
    return renamed


def _merged(tree: "Tree", node: str, into: str) -> "Tree":
    if node == into:
        raise ValueError(f"{node} cannot be merged with itself")
    if _layer(node) != _layer(into):
        raise ValueError(f"{node} is a {_layer(node)}, {into} a {_layer(into)}: merge two of one layer")
    merged = copy_of(tree)
    carry(merged, node, into)
    return merged


def _split(tree: "Tree", node: str, change: TreeChange) -> "Tree":
    mapping = leaf_mapping(tree)
    if node not in leaves(tree):
        raise ValueError(f"{node} is a {_layer(node)}, and only leaves hold criteria that can be split off")
    if not change.criteria:
        raise ValueError("no criterion is named")
    outsiders = [criterion for criterion in change.criteria if mapping.get(criterion) != node]
    if outsiders:
        raise ValueError(f"{node} does not hold the criteria {', '.join(outsiders)}")
    target = change.into if change.into in tree else _sibling(node, change.into)
    if target == node:
        raise ValueError(f"{node} holds these criteria already")
    tree_with_target = tree if target in tree else add(tree, target)
    if target not in leaves(tree_with_target):
        raise ValueError(f"{target} is no leaf, and only leaves hold criteria")
    divided, keys = copy_of(tree_with_target), frozenset(change.criteria)
    remaining, joined = (
        attributes_of(divided, node).members - keys,
        attributes_of(divided, target).members | keys,
    )
    members = {node: remaining, target: joined}
    for leaf, criteria in members.items():
        divided.nodes[leaf].update(members=criteria, support=len(criteria))
    return divided


def _pruned(tree: "Tree", node: str) -> "Tree":
    pruned = copy_of(tree)
    if node not in leaves(tree):
        descendants = [candidate for candidate in map(str, in_order(tree)) if candidate.startswith(node)]
        if any(attributes_of(tree, descendant).members for descendant in descendants):
            raise ValueError(f"{node} has criteria below it: move or merge what hangs below it first")
        pruned.remove_nodes_from(descendants)
        return pruned
    siblings = [str(child) for child in tree.successors(place_of(node).parent) if child != node]
    if not siblings:
        if attributes_of(tree, node).members:
            raise ValueError(f"{node} has no sibling to take its criteria: merge it with another leaf instead")
        pruned.remove_node(node)
        return pruned
    heir = min(siblings, key=lambda sibling: (-attributes_of(tree, sibling).support, sibling))
    fold(pruned, heir, node)
    return pruned


def export_tree(loaded: LoadedTree, format: Format) -> str:
    """Return a version of a tree as text in a format; equal versions give equal text."""
    if format == "yaml":
        return to_yaml(loaded.tree, name=loaded.stored.tree, version=loaded.stored.position, texts=loaded.texts)
    return _WRITERS[format](loaded.tree)


def format_of(path: Path | None, name: Format | None) -> Format:
    """Return the format of a file: the requested one, else that of its extension, else YAML."""
    return name or ENDINGS.get(path.suffix.lower() if path else "", "yaml")


async def import_tree(home: Home, path: Path, *, tree: str | None = None, new: bool = False) -> StoredTree:
    """Import a tree that a person wrote or edited as the newest version of a tree; differences are stored as edits.

    An existing tree keeps its anchors, the texts of its criteria, and every mapped criterion. Criteria that the file
    leaves on their leaf stay mapped by the judge; those that it moves are mapped by the person.

    Args:
        home: open for writing.
        path: file in YAML, JSON, CSV or GraphML, according to its extension.
        tree: the tree to add a version to; by default the one named in the file (YAML), or else the file's name.
        new: create a new tree; otherwise the tree must exist.

    Raises:
        InputError: the tree does not exist (with `new`: it exists already), or the file is an edit of an older version.
        DataError: the file cannot be read or is not a valid tree; the message says why.
    """
    graph = _read_tree_file(path)
    file_name = graph.graph.pop("name", "")
    version = graph.graph.pop("version", 0)
    texts: dict[str, str] = graph.graph.pop("texts", {})
    name = tree or file_name or path.stem
    _check_name(home, path, name, new=new)
    base = None if new else load_tree(home, name)
    members = leaf_mapping(graph)
    criteria = base.criteria if base else _criteria_of_trees(home, members)
    problems = check_tree(
        graph,
        categories=base.version.categories if base else None,
        criteria=leaf_mapping(base.tree) if base else {},
    )
    if base is not None:
        foreign = sorted(key for key in members if key not in criteria)
        if foreign:
            problems.append(
                f"{several(len(foreign), 'criterion', 'criteria')} not of the tree {name!r}: "
                f"{', '.join(foreign[:MOST_NAMED])}"
            )
    changed_keys = sorted(key for key, text in texts.items() if key in criteria and criteria[key].text != text)
    if changed_keys:
        problems.append(
            f"{several(len(changed_keys), 'criterion', 'criteria')} with another text than was asked: "
            f"{', '.join(changed_keys[:MOST_NAMED])}"
        )
    _raise_if_invalid(str(path), problems)
    if base is None:
        await create_tree(home, name, source="")
        own_criteria = (criteria.get(key) or TreeCriterion(key, texts.get(key, ""), key) for key in sorted(members))
        await keep_criteria(home, name, own_criteria)
        return await _store_version(home, name, graph, base, (), phase="import")
    edits = edits_by_hand(base.tree, graph, reason=f"edited by hand in {path.name}")
    newest = base.stored.position
    if edits and name == file_name and version not in (0, newest):
        raise InputError(
            f"{path} is an edit of {name}@{version}, but {base.name} is newer, and would be undone: export that and edit "
            f"it, or write `version: {newest}` in the file if it is to stand in its place. Nothing was changed."
        )
    return await _store_version(home, name, with_absorbed(graph, edits, base.tree), base, edits, phase="import")


def _raise_if_invalid(source: str, problems: Sequence[str]) -> None:
    """Raise `DataError` if there are problems; the message names the source and the problems."""
    if problems:
        remainder = f"; and {len(problems) - MOST_NAMED} more" if len(problems) > MOST_NAMED else ""
        raise DataError(
            f"{source} holds no valid tree: {'; '.join(problems[:MOST_NAMED])}{remainder}. Nothing was changed."
        )


def _check_name(home: Home, path: Path, name: str, *, new: bool) -> None:
    """Check that the tree exists or, if it is to be new, that it does not."""
    exists = bool(versions(home, name))
    if exists and new:
        raise InputError(
            f"{path}: there is a tree {name!r} already; name the new one with --tree NAME, or leave out --new"
        )
    if not exists and not new:
        names = ", ".join(tree.name for tree in list_trees(home)[:MOST_NAMED]) or "none"
        raise InputError(
            f"{path}: there is no tree {name!r} to take it in as a version of; name one with --tree (there are: {names}), "
            "or begin a new tree with --new"
        )


async def restore_version(home: Home, text: str, *, person: str = "person") -> RestoredTree:
    """Store an earlier version again as the newest of its tree; later versions stay in the history.

    Raises:
        NotFound: there is no such version.
        InputError: the version is already the newest.
    """
    earlier = load_tree(home, text)
    tree, position = earlier.stored.tree, earlier.stored.position
    newest = load_tree(home, tree)
    if newest.stored.id == earlier.stored.id:
        raise InputError(
            f"{earlier.name} is the newest version already; dokimasia tree list {tree} lists them, and {tree}@1 names the "
            "first"
        )
    edits = edits_by_hand(newest.tree, earlier.tree, reason=f"restored version {position}")
    change = await _store_version(
        home, tree, earlier.tree, newest, edits, phase="restore", made_by=person, placements=earlier.placements
    )
    return RestoredTree(**dict(change), restored=position)


async def delete_whole_tree(home: Home, text: str) -> DeletedTree:
    """Delete a tree and the growths that made its versions.

    The ledger is kept, so growing the tree again makes no new calls.

    Args:
        home: open for writing.
        text: the tree, as in `storage.trees.versions.resolve_tree`.

    Raises:
        NotFound: there is no such tree.
        InputError: an unfinished run needs the tree.
    """
    tree = resolve_tree(home, text).tree
    stored_versions = versions(home, tree)
    ids = {version.id for version in stored_versions}
    makers = {version.run_id for version in stored_versions if version.run_id}
    runs = list_runs(home)
    dependent = [run for run in runs if run.id in makers or _contains_any(run.options, ids)]
    unfinished = sorted(run.id for run in dependent if run.status != "done")
    if unfinished:
        raise InputError(
            f"the tree {tree!r} is needed by {', '.join(unfinished)}, unfinished; resume or delete that first"
        )
    growths = sorted(run.id for run in runs if run.id in makers)
    for run in growths:
        await delete_whole_run(home, run)
    await delete_tree(home, tree)
    return DeletedTree(tree=tree, versions=len(stored_versions), runs=tuple(growths))


def _contains_any(value: Any, ids: set[str]) -> bool:
    """Return whether a run's options contain one of the ids."""
    if isinstance(value, dict):
        return any(_contains_any(entry, ids) for entry in value.values())
    if isinstance(value, list | tuple):
        return any(_contains_any(entry, ids) for entry in value)
    return isinstance(value, str) and value in ids


def read_mapping(path: Path) -> dict[str, str | None]:
    """Return a person's mapping from a CSV file with the columns `criterion` and `leaf`; an empty leaf means unplaced.

    Raises:
        DataError: the file cannot be read, a column is missing, or a criterion occurs twice; the message names the line.
    """
    reader = csv.DictReader(StringIO(_text(path), newline=""))
    names = [name.strip().casefold() for name in reader.fieldnames or ()]
    leaf = next((name for name in ("leaf", "group", "capability") if name in names), None)
    if "criterion" not in names or leaf is None:
        raise DataError(f"{path}: the first line has to name the columns 'criterion' and 'leaf'; it has {names}")
    reader.fieldnames = names
    mapping: dict[str, str | None] = {}
    try:
        for row in reader:
            key, value = (row.get("criterion") or "").strip(), (row.get(leaf) or "").strip()
            if not key:
                raise DataError(f"{path}, line {reader.line_num}: there is no criterion")
            if key in mapping:
                raise DataError(f"{path}, line {reader.line_num}: the criterion {key} stands twice")
            mapping[key] = None if value.casefold() in UNPLACED else value
    except csv.Error as error:
        raise DataError(f"{path}, line {reader.line_num}: {error}") from error
    if not mapping:
        raise DataError(f"{path} maps no criterion")
    return mapping


class NamedMapping(NamedTuple):
    """A mapping: its name, leaf by criterion, cluster by criterion, and the paths of all known leaves."""

    name: str
    leaf_of: dict[str, str | None]
    cluster_of: dict[str, str]
    leaves: frozenset[str]

    def in_paths_of(self, other: "NamedMapping") -> dict[str, str | None]:
        """Return the leaf by criterion, with bare names of the other mapping's leaves (`Counting`) expanded to paths.

        Names that resemble none of its leaves are unchanged, since users may name their own groups freely.

        Raises:
            InputError: a name matches several leaves, or is misspelt; the message names the candidates.
        """
        paths: dict[str, list[str]] = {}
        for leaf in sorted(other.leaves):
            paths.setdefault(CapabilityPath.parse(leaf).name.casefold(), []).append(leaf)
        leaf_of: dict[str, str | None] = {}
        for criterion, leaf in self.leaf_of.items():
            if leaf is None or leaf.startswith("<"):
                leaf_of[criterion] = leaf
                continue
            matches = paths.get(leaf.casefold(), [])
            if len(matches) > 1:
                raise InputError(
                    f"{self.name}, criterion {criterion}: {leaf!r} is the name of several leaves of {other.name}: write one "
                    f"of {', '.join(matches)}"
                )
            close = [] if matches else get_close_matches(leaf.casefold(), paths)
            if close:
                raise InputError(
                    f"{self.name}, criterion {criterion}: no leaf of {other.name} is called {leaf!r}; did you mean "
                    f"{' or '.join(path for name in close for path in paths[name])}?"
                )
            leaf_of[criterion] = matches[0] if matches else leaf
        return leaf_of


def mapping_from(home: Home, text: str) -> NamedMapping:
    """Return the mapping of a version or a CSV file.

    Raises:
        NotFound, DataError: there is no such version or file.
    """
    path = Path(text)
    if path.suffix.lower() == ".csv" and path.is_file():
        leaf_of = read_mapping(path)
        return NamedMapping(
            path.name, leaf_of, {}, frozenset(leaf for leaf in leaf_of.values() if leaf and _is_path(leaf))
        )
    loaded = load_tree(home, text)
    mapping: dict[str, str | None] = {placement.criterion: placement.leaf for placement in loaded.placements}
    mapping |= leaf_mapping(loaded.tree)
    clusters = {key: criterion.cluster or criterion.sample_id for key, criterion in loaded.criteria.items()}
    return NamedMapping(loaded.name, mapping, clusters, frozenset(leaves(loaded.tree)))


def _is_path(leaf: str) -> bool:
    try:
        return CapabilityPath.parse(leaf).layer > 0
    except ValueError:
        return False


async def _store_version(
    home: Home,
    name: str,
    graph: Any,
    base: LoadedTree | None,
    edits: Sequence[TreeEdit],
    *,
    phase: Phase,
    made_by: str = "person",
    placements: Sequence[Placement] | None = None,
) -> StoredTree:
    """Store a tree as a version; unchanged placements are the base's, all others are the person's."""
    if base is not None and not edits:
        return _stored_tree(base.stored, new=False)
    version = to_version(graph, before=base.stored.id if base else None, edits=edits)
    if placements is None:
        placements = base.placements if base else ()
    earlier = {placement.criterion: placement for placement in placements}
    mapping = leaf_mapping(graph)
    rows: list[Placement] = []
    for criterion, leaf in mapping.items():
        placement = earlier.get(criterion)
        if placement is None or placement.leaf != leaf:
            placement = Placement(criterion, leaf)
        rows.append(placement)
    rows += [placement for key, placement in earlier.items() if key not in mapping and placement.leaf is None]
    after = base.stored.position if base else None
    row = await put_version(home, name, version, phase=phase, made_by=made_by, placements=sorted(rows), after=after)
    return _stored_tree(row, edits, new=True)


def _stored_tree(row: StoredVersion, edits: Sequence[TreeEdit] = (), *, new: bool) -> StoredTree:
    return StoredTree(
        tree=row.tree,
        position=row.position,
        version=row.id,
        new=new,
        edits=tuple(edit_shown(edit) for edit in edits),
    )


def _criteria_of_trees(home: Home, members: Mapping[str, str]) -> dict[str, TreeCriterion]:
    """Return the criteria of all trees of the home."""
    criteria: dict[str, TreeCriterion] = {}
    for tree in list_trees(home):
        unknown = members.keys() - criteria.keys()
        if not unknown:
            break
        criteria |= {
            criterion.key: criterion for criterion in tree_criteria(home, tree.name) if criterion.key in unknown
        }
    return criteria


def _read_tree_file(path: Path) -> Any:
    format = ENDINGS.get(path.suffix.lower())
    if format is None or format not in _READERS:
        readable = ", ".join(sorted(ending for ending, name in ENDINGS.items() if name in _READERS))
        raise InputError(f"{path}: a tree is read from {readable}, by the file's ending")
    try:
        return _READERS[format](_text(path))
    except DataError as error:
        raise DataError(f"{path}: {error}") from error


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > MOST_BYTES:
            raise DataError(f"{path} is larger than {MOST_BYTES // 2**20} MiB: that is no file of a tree")
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is no UTF-8 text (byte {error.start})") from error
