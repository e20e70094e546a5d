"""A run deleted whole: its rows at once, then the checkpoints that its threads left."""

from collections.abc import Mapping
from typing import Any, cast

from dokimasia.errors import InputError
from dokimasia.runs.services import is_at_work, sharing
from dokimasia.storage.checkpoints import sweep_orphans
from dokimasia.storage.deletion import Deleted, delete_run
from dokimasia.storage.home import Home
from dokimasia.storage.runs import Run, list_runs
from dokimasia.storage.threads import live_threads


async def delete_whole_run(home: Home, run_id: str) -> Deleted:
    """Delete a run and return what went with it; the ledger, images and shared values stay.

    Killed between the two steps, it leaves checkpoints that belong to nothing, which the next run sweeps.

    Raises:
        InputError: it is at work, or an unfinished run still needs it, such as a fork that takes outcomes over.
        NotFound: there is no such run.
        StorageError: it could not be written.
    """
    if is_at_work(home, run_id):
        raise InputError(f"run {run_id} is at work; stop it first, then delete it")
    # a finished run holds all that it took from others
    waiting = sorted(run.id for run in list_runs(home) if run.status != "done" and run_id in _needs(run))
    if waiting:
        raise InputError(
            f"run {run_id} is needed by {', '.join(waiting)}, which is unfinished; resume or delete that first"
        )
    deleted = await delete_run(home, run_id)
    if home.checkpoints.is_file():
        async with sharing(home) as shared:
            await sweep_orphans(await shared.saver(), live_threads(home))
    return deleted


def resting_on(home: Home, run_id: str) -> list[Run]:
    """Return the runs that were made from a run, the newest first: what they read of it when they are shown goes with it."""
    naming = {id for (id,) in home.all("SELECT id FROM runs WHERE instr(options, ?)", (run_id,))} - {run_id}
    return [run for run in list_runs(home) if run.id in naming and _names(run.options, run_id)] if naming else []


def _names(value: Any, run_id: str) -> bool:
    """Whether what a run was accepted with names a run anywhere."""
    if isinstance(value, Mapping):
        return any(_names(one, run_id) for one in cast("Mapping[str, Any]", value).values())
    if isinstance(value, list):
        return any(_names(one, run_id) for one in cast("list[Any]", value))
    return value == run_id


def _needs(run: Run) -> list[Any]:
    """Return the runs that one cannot go on without."""
    needs: Any = run.options.get("needs")
    return list(needs or ())
