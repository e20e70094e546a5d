"""A capability tree deleted whole: its versions and criteria, and the runs that grew it."""

from typing import Any

from dokimasia.errors import InputError
from dokimasia.runs.persistence import delete_whole_run
from dokimasia.storage.home import Home
from dokimasia.storage.runs import list_runs
from dokimasia.storage.trees.versions import delete_tree, resolve_tree, versions


async def delete_whole_tree(home: Home, text: str) -> dict[str, Any]:
    """Delete a tree with the growths that made its versions; the ledger stays, so that growing it again asks nothing.

    Args:
        home: open for writing.
        text: the tree, as `storage.trees.versions.resolve_tree` takes it.

    Returns:
        tree, versions (how many there were), runs (the growths that went with it).

    Raises:
        NotFound: there is no such tree.
        InputError: an unfinished run still needs it.
    """
    tree = resolve_tree(home, text).tree
    known = versions(home, tree)
    ids, grown = {one.id for one in known}, {one.run_id for one in known} - {""}
    runs = list_runs(home)
    waiting = sorted(run.id for run in runs if run.status != "done" and (run.id in grown or _names(run.options, ids)))
    if waiting:
        raise InputError(
            f"the tree {tree!r} is needed by {', '.join(waiting)}, unfinished; resume or delete that first"
        )
    growths = sorted(run.id for run in runs if run.id in grown)
    for run in growths:
        await delete_whole_run(home, run)
    await delete_tree(home, tree)
    return {"tree": tree, "versions": len(known), "runs": growths}


def _names(value: Any, ids: set[str]) -> bool:
    """Whether one of these ids stands anywhere in a run's options."""
    if isinstance(value, dict):
        return any(_names(one, ids) for one in value.values())
    if isinstance(value, list | tuple):
        return any(_names(one, ids) for one in value)
    return isinstance(value, str) and value in ids
