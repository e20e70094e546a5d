"""Capability trees of a home, read: versions by name, trees and their history listed, two versions held side by side."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dokimasia.algorithms.taxonomy import leaves
from dokimasia.algorithms.trees.checks import diff
from dokimasia.algorithms.trees.formats import from_version
from dokimasia.algorithms.trees.growth import count_unplaced
from dokimasia.domain.capability import TreeEdit, TreeVersion
from dokimasia.domain.growth import Placement, TreeCriterion
from dokimasia.errors import NotFound
from dokimasia.methods.evaluation import METHOD as EVALUATION
from dokimasia.methods.tree.request import NAME, tree_of
from dokimasia.storage.home import Home
from dokimasia.storage.naming import of_method, resolve_run
from dokimasia.storage.runs import Run, get_run
from dokimasia.storage.trees.lookup import knows_run
from dokimasia.storage.trees.versions import (
    StoredVersion,
    get_version,
    list_trees,
    mappings,
    resolve_tree,
    tree_criteria,
    versions,
)

if TYPE_CHECKING:
    from dokimasia.algorithms.taxonomy import Tree

MAPPED = frozenset({"map", "edit", "restore", "import"})
"""Phases whose versions hold all criteria that could be placed."""

MOST_STEPS = 10_000


@dataclass(frozen=True, slots=True)
class LoadedTree:
    """A version of a tree with all that it knows: its place, itself, the graph, where its criteria are, and what they say."""

    stored: StoredVersion
    version: TreeVersion
    tree: "Tree"
    placements: tuple[Placement, ...]
    criteria: Mapping[str, TreeCriterion]

    @property
    def name(self) -> str:
        """How a person calls the version: `NAME@POSITION`."""
        return f"{self.stored.tree}@{self.stored.position}"

    @property
    def unplaced(self) -> dict[str, int]:
        """How many criteria have no leaf, by the kind of failure."""
        return count_unplaced(self.placements)


def load_tree(home: Home, text: str, *, version: str | None = None) -> LoadedTree:
    """Return the version that a text means (see `storage.trees.resolve_tree`), whole.

    Args:
        home: where it is.
        text: a tree's name, `NAME@POSITION`, the beginning of a version's id or of a run's, or `last`.
        version: another version of the same tree: its position, or the beginning of its id.

    Raises:
        NotFound: there is none, or more than one.
    """
    stored = resolve_tree(home, text)
    if version is None:
        return load_stored(home, stored)
    if version.isdecimal():
        return load_tree(home, f"{stored.tree}@{version}")
    found = [one for one in versions(home, stored.tree) if one.id.startswith(version)]
    if len(found) != 1:
        raise NotFound(f"the tree {stored.tree!r} has {len(found) or 'no'} versions whose id begins with {version!r}")
    return load_stored(home, found[0])


def tree_of_run(home: Home, run: Run, named: str | None = None) -> LoadedTree:
    """Return the tree that a run's criteria are mapped to.

    Args:
        home: where both are.
        run: an evaluation.
        named: which tree or version; by default the newest mapped version of the newest tree that was grown from the
            run, else of one that knows some of the run's criteria, such as a fork's.

    Raises:
        NotFound: there is none; the message says how to grow one.
    """
    if named is not None:
        return load_tree(home, named)
    stored = find_tree_of_run(home, run)
    if stored is None:
        raise NotFound(
            f"no tree holds the criteria of run {run.id}: grow one with dokimasia tree grow {run.id}, or name one "
            "with --tree"
        )
    return load_stored(home, stored)


def evaluation_of(home: Home, text: str, *, done: bool = False) -> tuple[Run, str | None]:
    """Return the evaluation that a text means, and its tree's name where the text means the growth of a tree.

    Args:
        home: where it is.
        text: the beginning of the id of an evaluation, or of a growth from one; `last` is the newest evaluation, with
            `done` the newest that is finished.

    Raises:
        NotFound: there is no such run, or a growth from no run of this home.
    """
    run = resolve_run(home, text, of_method(EVALUATION.name, done=done))
    if run.method != NAME:
        return run, None
    tree = tree_of(run)
    source = source_run(home, tree)
    if source is None:
        raise NotFound(f"run {run.id} grew the tree {tree!r} from criteria that are of no run of this home: name a run")
    return source, tree


def source_run(home: Home, tree: str) -> Run | None:
    """Return the run that a tree was grown from, None where it was grown from anything else."""
    source = next((one.source for one in list_trees(home) if one.name == tree), "")
    try:
        return get_run(home, source) if source else None
    except NotFound:
        return None


def find_tree_of_run(home: Home, run: Run) -> StoredVersion | None:
    """Return the newest mapped version of the tree that fits a run best, None without one."""
    trees = list_trees(home)
    own = [one.name for one in trees if one.source == run.id]
    others = [one.name for one in trees if one.name not in own and knows_run(home, one.name, run.id)]
    for name in (*own, *others):
        mapped = [one for one in versions(home, name) if one.phase in MAPPED]
        if mapped:
            return mapped[-1]
    return None


def list_of_trees(home: Home) -> list[dict[str, Any]]:
    """Return all trees, the newest first, ready for JSON."""
    rows: list[dict[str, Any]] = []
    for one in list_trees(home):
        known = versions(home, one.name)
        sizes = _sizes(get_version(home, known[-1].id)) if known else {"capabilities": 0, "criteria": 0}
        rows.append(
            {
                "tree": one.name,
                "source": one.source,
                "versions": len(known),
                "phase": known[-1].phase if known else None,
                **sizes,
                "created_at": one.created_at,
            }
        )
    return rows


def list_of_versions(home: Home, text: str) -> dict[str, Any]:
    """Return a tree's versions in order, ready for JSON.

    Raises:
        NotFound: there is no such tree.
    """
    tree = resolve_tree(home, text).tree
    rows: list[dict[str, Any]] = []
    for one in versions(home, tree):
        version = get_version(home, one.id)
        rows.append(
            {
                "position": one.position,
                "id": one.id,
                "phase": one.phase,
                "by": one.made_by,
                **_sizes(version),
                "edits": dict(sorted(Counter(edit.kind for edit in version.edits).items())),
                "unplaced": one.report.get("unplaced", {}),
                "created_at": one.created_at,
            }
        )
    return {"tree": tree, "versions": rows}


def compare_versions(home: Home, first: str, second: str) -> dict[str, Any]:
    """Return what changed from one version to another, and the edits that led there, ready for JSON.

    Args:
        home: where both are.
        first: as `load_tree` takes it; a number is a version of the second's tree.
        second: as `load_tree` takes it; a number is a version of the first's tree.

    Returns:
        first and second {tree, position, id, phase, capabilities, criteria}, added, removed, merged, moved, support (as
        `algorithms.trees.checks.TreeDiff`), edits [{version, kind, node, into, reason, by, model, prompt, criteria}] from
        the first to the second, None where the second did not come from the first.

    Raises:
        NotFound: one of them is not there.
    """
    named = next((text for text in (first, second) if not text.isdecimal()), "last")
    tree = resolve_tree(home, named).tree
    one, other = (load_tree(home, f"{tree}@{text}" if text.isdecimal() else text) for text in (first, second))
    change = diff(one.tree, other.tree)
    return {
        "first": _facts(one),
        "second": _facts(other),
        "added": list(change.added),
        "removed": list(change.removed),
        "merged": change.merged,
        "moved": {key: list(places) for key, places in change.moved.items()},
        "support": {key: list(sizes) for key, sizes in change.support.items()},
        "edits": _edits_from(home, one, other),
    }


def edit_row(edit: TreeEdit) -> dict[str, Any]:
    """Return an edit as it is reported."""
    whose = edit.provenance
    return {
        **edit.model_dump(mode="json", exclude={"provenance"}),
        "model": whose.model if whose else None,
        "prompt": f"{whose.prompt}@{whose.prompt_version}" if whose else None,
    }


def load_stored(home: Home, stored: StoredVersion) -> LoadedTree:
    """Return a version whole."""
    version = get_version(home, stored.id)
    return LoadedTree(
        stored=stored,
        version=version,
        tree=from_version(version),
        placements=tuple(mappings(home, stored.id, tree=stored.tree)),
        criteria={one.key: one for one in tree_criteria(home, stored.tree)},
    )


def _facts(one: LoadedTree) -> dict[str, Any]:
    stored = one.stored
    place = {"tree": stored.tree, "position": stored.position, "id": stored.id, "phase": stored.phase}
    return place | _sizes(one.version)


def _sizes(version: TreeVersion) -> dict[str, int]:
    return {
        "capabilities": len(leaves(from_version(version))),
        "criteria": sum(len(node.members) for node in version.nodes),
    }


def _edits_from(home: Home, first: LoadedTree, second: LoadedTree) -> list[dict[str, Any]] | None:
    """Return the edits between a version and a later one in order; None where it is none of its ancestors."""
    steps: list[list[dict[str, Any]]] = []
    at: str | None = second.stored.id
    for _ in range(MOST_STEPS):
        if at == first.stored.id:
            return [edit for step in reversed(steps) for edit in step]
        if at is None:
            return None
        version = get_version(home, at)
        steps.append([{"version": at, **edit_row(edit)} for edit in version.edits])
        at = version.before
    return None
