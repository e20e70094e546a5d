"""Deletion of a capability tree with its versions, its criteria and the runs that grew it."""

from typing import Any

from dokimasia.domain.identity import Value
from dokimasia.errors import InputError
from dokimasia.report.fields import Count
from dokimasia.runs.persistence import delete_whole_run
from dokimasia.storage.home import Home
from dokimasia.storage.runs import list_runs
from dokimasia.storage.trees.versions import delete_tree, resolve_tree, versions


class DeletedTree(Value):
    """A deleted tree: how many versions it had, and the growths that went with it."""

    tree: str
    versions: Count
    runs: tuple[str, ...]


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
