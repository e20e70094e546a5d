"""The tree that is grown on: which version of it, what already has a place there, and whether this growth made it."""

from dokimasia.domain.capability import DEEPEST
from dokimasia.domain.growth import Placement
from dokimasia.errors import InputError, NotFound
from dokimasia.methods.tree.request import NAME, GrowthPlan
from dokimasia.storage.home import Home
from dokimasia.storage.runs import Run, get_run, list_runs
from dokimasia.storage.trees.versions import StoredVersion, get_version, mappings, resolve_tree, versions


def version_to_grow(home: Home, name: str) -> StoredVersion:
    """Return the version that a growth on a tree begins with: the newest that no unfinished growth made.

    Raises:
        NotFound: there is no such tree.
        InputError: it has no such version.
    """
    tree = resolve_tree(home, name).tree
    if tree != name:
        raise NotFound(f"--onto takes a tree's name, such as {tree}; {name!r} is none")
    unfinished = {run.id for run in list_runs(home) if run.status != "done"}
    for version in reversed(versions(home, tree)):
        if version.run_id not in unfinished:
            return version
    raise InputError(
        f"the tree {tree!r} is not grown yet: finish it with dokimasia resume {versions(home, tree)[-1].run_id}"
    )


def maker_of(home: Home, version: StoredVersion) -> Run | None:
    """Return the growth that made a version; None where a person did, or where its run was deleted."""
    try:
        run = get_run(home, version.run_id) if version.run_id else None
    except NotFound:
        return None
    return run if run is not None and run.method == NAME else None


def placed_before(home: Home, plan: GrowthPlan, tree: str) -> dict[str, Placement]:
    """Return the criteria that have a leaf in the version that is grown on, with whose word that is where it is known."""
    if not plan.onto:
        return {}
    placed = {
        criterion: Placement(criterion, node.id)
        for node in get_version(home, plan.onto).nodes
        if node.id.count("<") == DEEPEST
        for criterion in node.members
    }
    for one in mappings(home, plan.onto, tree=tree):
        if one.criterion in placed and placed[one.criterion].leaf == one.leaf:
            placed[one.criterion] = one
    return placed
