"""A run deleted whole: its rows at once, then the checkpoints that its threads left."""

from typing import Any

from dokimasia.errors import InputError
from dokimasia.storage.checkpoints import open_saver, sweep_orphans
from dokimasia.storage.deletion import Deleted, delete_run
from dokimasia.storage.home import Home
from dokimasia.storage.runs import Run, list_runs
from dokimasia.storage.threads import live_threads


async def delete_whole_run(home: Home, run_id: str) -> Deleted:
    """Delete a run and return what went with it; the ledger, images and shared values stay.

    Killed between the two steps, it leaves checkpoints that belong to nothing, which the next run sweeps.

    Raises:
        InputError: an unfinished fork still needs what it takes over from the run.
        NotFound: there is no such run.
        StorageError: it could not be written.
    """
    waiting = _unfinished_forks(home, run_id)
    if waiting:
        raise InputError(
            f"run {run_id} is needed by {', '.join(waiting)}, forked from it and unfinished; resume or delete that first"
        )
    deleted = await delete_run(home, run_id)
    if home.checkpoints.is_file():
        async with open_saver(home) as saver:
            await sweep_orphans(saver, live_threads(home))
    return deleted


def _unfinished_forks(home: Home, run_id: str) -> list[str]:
    """Return the runs that branched off this one and are not done; a finished fork holds all that it took over."""
    return sorted(run.id for run in list_runs(home) if run.status != "done" and _parent(run) == run_id)


def _parent(run: Run) -> str | None:
    plan: Any = run.options.get("plan") or {}
    fork = plan.get("fork") or {}
    return fork.get("parent")
