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
        InputError: an unfinished run still needs it, such as a fork that takes outcomes over.
        NotFound: there is no such run.
        StorageError: it could not be written.
    """
    # a finished run holds all that it took from others
    waiting = sorted(run.id for run in list_runs(home) if run.status != "done" and run_id in _needs(run))
    if waiting:
        raise InputError(
            f"run {run_id} is needed by {', '.join(waiting)}, which is unfinished; resume or delete that first"
        )
    deleted = await delete_run(home, run_id)
    if home.checkpoints.is_file():
        async with open_saver(home) as saver:
            await sweep_orphans(saver, live_threads(home))
    return deleted


def _needs(run: Run) -> list[Any]:
    """Return the runs that one cannot go on without."""
    needs: Any = run.options.get("needs")
    return list(needs or ())
