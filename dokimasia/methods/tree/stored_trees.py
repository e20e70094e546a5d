"""Stored capability trees: finding a version by name or run, lists of trees and versions, comparison of versions."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from dokimasia.algorithms.taxonomy import leaves
from dokimasia.algorithms.trees.checks import diff
from dokimasia.algorithms.trees.formats import from_version
from dokimasia.algorithms.trees.growth import count_unplaced
from dokimasia.algorithms.trees.places import in_order, mapping_of, members_below, place_of
from dokimasia.domain.capability import ROOT, CapabilityPath, EditKind, TreeEdit, TreeVersion
from dokimasia.domain.growth import Phase, PhaseReport, Placement, TreeCriterion
from dokimasia.domain.identity import Value
from dokimasia.errors import NotFound
from dokimasia.methods.evaluation import METHOD as EVALUATION
from dokimasia.methods.tree.request import NAME, tree_of
from dokimasia.report.fields import Count, Counts
from dokimasia.runs.method import SampleGroup
from dokimasia.storage.home import Home
from dokimasia.storage.naming import of_method, resolve_run
from dokimasia.storage.runs import Run, get_run
from dokimasia.storage.trees.lookup import criteria_by_sample, knows_run
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
"""Phases after which all placeable criteria are on a leaf."""

Grouping = Literal["category", "capability", "leaf"]
"""Groups criteria by the data's own category, by their category in the tree, or by their leaf."""

MOST_STEPS = 10_000


@dataclass(frozen=True, slots=True)
class LoadedTree:
    """A version of a tree: its row, nodes and graph, and its criteria with their placements."""

    stored: StoredVersion
    version: TreeVersion
    tree: "Tree"
    placements: tuple[Placement, ...]
    criteria: Mapping[str, TreeCriterion]

    @property
    def name(self) -> str:
        """The version's displayed name, `NAME@POSITION`."""
        return f"{self.stored.tree}@{self.stored.position}"

    @property
    def texts(self) -> dict[str, str]:
        """Text of each criterion."""
        return {key: criterion.text for key, criterion in self.criteria.items()}

    @property
    def unplaced(self) -> dict[str, int]:
        """Number of criteria without a leaf, by kind of failure."""
        return count_unplaced(self.placements)


class ListedTree(Value):
    """A tree as lists show it, with the size of its newest version."""

    tree: str
    source: str = Field(description="the run or file that its criteria came from; empty for a tree from a file")
    versions: Count
    phase: Phase | None = Field(description="what made the newest version; null without one")
    capabilities: Count
    criteria: Count
    created_at: str


class ListedVersion(Value):
    """A version of a tree as lists show it."""

    position: int
    id: str
    phase: Phase
    by: str
    capabilities: Count
    criteria: Count
    edits: Counts = Field(description="by kind")
    unplaced: Counts = Field(description="criteria without a leaf, by kind of failure")
    created_at: str


class TreeHistory(Value):
    """A tree's versions, in order."""

    tree: str
    versions: tuple[ListedVersion, ...]


class VersionSize(Value):
    """A version and its size."""

    tree: str
    position: int
    id: str
    phase: Phase
    capabilities: Count
    criteria: Count


class EditShown(Value):
    """An edit of a tree, with the model and prompt of a judge's."""

    kind: EditKind
    node: str
    into: str | None
    reason: str
    by: Literal["judge", "rule", "person"]
    criteria: tuple[str, ...]
    model: str | None
    prompt: str | None


class EditedVersion(Value):
    """The id of the version that an edit made."""

    version: str


class VersionEdit(EditShown, EditedVersion):
    """An edit, with the version that it made."""


class TreeComparison(Value):
    """The differences between two versions, as `algorithms.trees.checks.TreeDiff`, and the edits from one to the other."""

    first: VersionSize
    second: VersionSize
    added: tuple[str, ...]
    removed: tuple[str, ...]
    merged: dict[str, str]
    moved: dict[str, tuple[str | None, str | None]]
    support: dict[str, tuple[int, int]]
    edits: tuple[VersionEdit, ...] | None = Field(description="null if the second does not descend from the first")


def load_tree(home: Home, text: str, *, version: str | None = None) -> LoadedTree:
    """Return the version that a text refers to (see `storage.trees.versions.resolve_tree`).

    Args:
        home: the home.
        text: a tree's name, `NAME@POSITION`, the beginning of a version's id or of a run's, or `last`.
        version: another version of the same tree, by position or the beginning of its id.

    Raises:
        NotFound: no version matches, or more than one.
    """
    tree = resolve_tree(home, text)
    if version is None:
        return load_stored(home, tree)
    if version.isdecimal():
        return load_tree(home, f"{tree.tree}@{version}")
    matches = [candidate for candidate in versions(home, tree.tree) if candidate.id.startswith(version)]
    if len(matches) != 1:
        raise NotFound(f"the tree {tree.tree!r} has {len(matches) or 'no'} versions whose id begins with {version!r}")
    return load_stored(home, matches[0])


def tree_of_run(home: Home, run: Run, tree: str | None = None) -> LoadedTree:
    """Return the tree that a run's criteria are mapped to.

    Args:
        home: the home.
        run: an evaluation.
        tree: tree or version; by default the newest mapped version of the newest tree grown from the run, or else of a
            tree that has some of the run's criteria (such as that of a fork's parent).

    Raises:
        NotFound: there is no such tree; the message says how to grow one.
    """
    if tree is not None:
        return load_tree(home, tree)
    version = find_tree_of_run(home, run)
    if version is None:
        raise NotFound(
            f"no tree holds the criteria of run {run.id}: grow one with dokimasia tree grow {run.id}, or name one "
            "with --tree"
        )
    return load_stored(home, version)


def evaluation_of(home: Home, text: str, *, done: bool = False) -> tuple[Run, str | None]:
    """Return the evaluation that a text refers to, and the tree's name if the text refers to a growth.

    Args:
        home: the home.
        text: the beginning of the id of an evaluation or of a growth from one; `last` is the newest evaluation.
        done: let `last` be the newest finished evaluation.

    Raises:
        NotFound: there is no such run, or the growth used no run of this home.
    """
    run = resolve_run(home, text, of_method(EVALUATION.name, done=done))
    if run.method != NAME:
        return run, None
    tree = tree_of(run)
    source = source_run(home, tree)
    if source is None:
        raise NotFound(f"run {run.id} grew the tree {tree!r} from criteria that are of no run of this home: name a run")
    return source, tree


def criteria_groups(home: Home, run: Run, by: Grouping, tree: str | None = None) -> dict[str, str] | None:
    """Return each criterion's group in a tree, by key; None to group by the data's categories.

    Raises:
        NotFound: no tree holds the run's criteria, or no tree has that name.
    """
    if by == "category":
        return None
    places = mapping_of(tree_of_run(home, run, tree).tree)
    if by == "leaf":
        return places
    return {key: CapabilityPath.parse(leaf).category for key, leaf in places.items()}


def source_run(home: Home, tree: str) -> Run | None:
    """Return the run that a tree was grown from; None if its criteria came from elsewhere."""
    source = next((version.source for version in list_trees(home) if version.name == tree), "")
    try:
        if source:
            return get_run(home, source)
        return None
    except NotFound:
        return None


def find_tree_of_run(home: Home, run: Run) -> StoredVersion | None:
    """Return the newest mapped version of the tree that best fits a run; None without such a tree."""
    trees = list_trees(home)
    grown_from_run = [tree.name for tree in trees if tree.source == run.id]
    sharing = [tree.name for tree in trees if tree.name not in grown_from_run and knows_run(home, tree.name, run.id)]
    for name in (*grown_from_run, *sharing):
        for version in reversed(versions(home, name)):
            if version.phase in MAPPED:
                return version
    return None


def sample_groups(home: Home, run: Run) -> Mapping[str, SampleGroup]:
    """Return a run's samples by the nodes that hold their criteria, from the root down; empty without a tree."""
    tree_version = find_tree_of_run(home, run)
    if tree_version is None:
        return {}
    tree = load_stored(home, tree_version).tree
    criteria_below, samples_of = members_below(tree), criteria_by_sample(home, run.id)
    groups: dict[str, SampleGroup] = {}
    for node in in_order(tree):
        keys = frozenset(key for key in criteria_below[node] if key in samples_of)
        if node == ROOT or not keys:
            continue
        place = place_of(node)
        members = frozenset((sample, "") for key in keys for sample in samples_of[key])
        groups[node] = SampleGroup(place.name, place.layer - 1, members, keys)
    return groups


def list_of_trees(home: Home) -> list[ListedTree]:
    """Return all trees, the newest first."""
    rows: list[ListedTree] = []
    for tree in list_trees(home):
        history = versions(home, tree.name)
        sizes = _sizes(get_version(home, history[-1].id)) if history else {"capabilities": 0, "criteria": 0}
        rows.append(
            ListedTree(
                tree=tree.name,
                source=tree.source,
                versions=len(history),
                phase=history[-1].phase if history else None,
                **sizes,
                created_at=tree.created_at,
            )
        )
    return rows


def list_of_versions(home: Home, text: str) -> TreeHistory:
    """Return a tree's versions in order.

    Raises:
        NotFound: there is no such tree.
    """
    tree = resolve_tree(home, text).tree
    rows: list[ListedVersion] = []
    for row in versions(home, tree):
        version = get_version(home, row.id)
        kinds: Counter[str] = Counter(edit.kind for edit in version.edits)
        rows.append(
            ListedVersion(
                position=row.position,
                id=row.id,
                phase=row.phase,
                by=row.made_by,
                **_sizes(version),
                edits=dict(sorted(kinds.items())),
                unplaced=PhaseReport.model_validate(row.report).unplaced if row.report else {},
                created_at=row.created_at,
            )
        )
    return TreeHistory(tree=tree, versions=tuple(rows))


def compare_versions(home: Home, first: str, second: str) -> TreeComparison:
    """Return the differences between two versions, and the edits from one to the other.

    Args:
        home: the home.
        first: as in `load_tree`; a number is a version of the second's tree.
        second: as in `load_tree`; a number is a version of the first's tree.

    Raises:
        NotFound: one of the versions does not exist.
    """
    name = next((text for text in (first, second) if not text.isdecimal()), "last")
    tree = resolve_tree(home, name).tree
    before, after = (load_tree(home, f"{tree}@{text}" if text.isdecimal() else text) for text in (first, second))
    change = diff(before.tree, after.tree)
    return TreeComparison(
        first=_version_size(before),
        second=_version_size(after),
        **change._asdict(),
        edits=_edits_between(home, before, after),
    )


def edit_shown(edit: TreeEdit) -> EditShown:
    """Return an edit for display; a judge's edit has its model and prompt."""
    provenance = edit.provenance
    return EditShown(
        kind=edit.kind,
        node=edit.node,
        into=edit.into,
        reason=edit.reason,
        by=edit.by,
        criteria=edit.criteria,
        model=provenance.model if provenance else None,
        prompt=f"{provenance.prompt}@{provenance.prompt_version}" if provenance else None,
    )


def load_stored(home: Home, stored: StoredVersion) -> LoadedTree:
    """Return a stored version with its graph, placements and criteria."""
    version = get_version(home, stored.id)
    return LoadedTree(
        stored=stored,
        version=version,
        tree=from_version(version),
        placements=tuple(mappings(home, stored.id, tree=stored.tree)),
        criteria={criterion.key: criterion for criterion in tree_criteria(home, stored.tree)},
    )


def _version_size(loaded: LoadedTree) -> VersionSize:
    row = loaded.stored
    return VersionSize(tree=row.tree, position=row.position, id=row.id, phase=row.phase, **_sizes(loaded.version))


def _sizes(version: TreeVersion) -> dict[str, int]:
    return {
        "capabilities": len(leaves(from_version(version))),
        "criteria": sum(len(node.members) for node in version.nodes),
    }


def _edits_between(home: Home, first: LoadedTree, second: LoadedTree) -> tuple[VersionEdit, ...] | None:
    """Return the edits from a version to a later one, in order; None if it is not an ancestor."""
    newest_first: list[list[VersionEdit]] = []
    id: str | None = second.stored.id
    while id is not None and len(newest_first) < MOST_STEPS:
        if id == first.stored.id:
            return tuple(chain.from_iterable(reversed(newest_first)))
        version = get_version(home, id)
        newest_first.append([VersionEdit(version=id, **dict(edit_shown(edit))) for edit in version.edits])
        id = version.before
    return None
