"""Storing an accepted run, checking it before it continues, and deleting it."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import orjson
from pydantic import JsonValue

from dokimasia.domain.identity import Value, value_id
from dokimasia.errors import ConfigError, InputError, NotFound
from dokimasia.runs.figures import limits_of
from dokimasia.runs.kept_figures import forget_figures
from dokimasia.runs.method import AnyMethod, Method
from dokimasia.runs.plans import RunPlan, VersionedMethod, run_id
from dokimasia.runs.requests import DataRequest, Invocation, RunRequest
from dokimasia.runs.services import check_prices, check_workers, is_at_work, share_services
from dokimasia.runs.session import Accepted, hash_of
from dokimasia.storage.deletion import Deleted, delete_run
from dokimasia.storage.home import Home
from dokimasia.storage.naming import check_name
from dokimasia.storage.runs import (
    Run,
    SqliteValueStore,
    add_samples,
    count_samples,
    create_run,
    get_run,
    list_runs,
    note_run,
    place_samples,
    run_samples,
)
from dokimasia.storage.threads import live_threads
from dokimasia.version import __version__

Q = TypeVar("Q", bound=RunRequest)
P = TypeVar("P", bound=RunPlan)


async def persist_run(
    method: Method[Q, P], home: Home, request: Q, accepted: Accepted[P], *, command: str = "", **more: object
) -> tuple[Run, bool]:
    """Store an accepted run: its row with plan and request, its samples and values.

    Returns the row, and whether the run is new.

    Args:
        method: the method.
        home: open for writing.
        request: the request.
        accepted: the accepted request.
        command: the command that repeats it; by default the request's.
        more: further options of the run's row.

    Raises:
        InputError: the name is taken by another run.
        ConfigError: `max_cost` is given and a model's price is unknown, or a new run's workers cannot be started.
    """
    plan = accepted.plan
    check_prices({name: plan.models[name] for name in accepted.estimate.models}, max_cost=request.max_cost)
    store = SqliteValueStore(home)
    for value in accepted.values:
        await store.put(value)
    while True:
        plan = next_fresh(method, home, plan) if request.fresh else plan
        new_row = await asyncio.to_thread(run_row, method, plan, request, accepted, command=command, **more)
        if not request.force:
            check_name(home, new_row.id, request.name)
        if not home.all("SELECT 1 FROM runs WHERE id = ?", (new_row.id,)):
            await asyncio.to_thread(check_workers, request)
        row, new = await create_run(home, new_row)
        if new or not request.fresh:
            break  # otherwise a concurrent request took the number
    count = len(accepted.samples) or len(accepted.places)
    if new or count_samples(home, row.id) != count:
        await add_samples(home, row.id, accepted.samples)
        await place_samples(home, row.id, accepted.places)
    if accepted.keep is not None:
        await accepted.keep(home, row)
        row = get_run(home, row.id)
    return row, new


def run_row(
    method: Method[Q, P], plan: P, request: Q, accepted: Accepted[P], *, command: str = "", **more: object
) -> Run:
    """Return the row of an accepted run; its options store the plan and the request, which a resume reads."""
    places = [(place.sample_id, place.value_id) for place in accepted.places]
    stored_as = accepted.request or request
    options: dict[str, object] = {
        "plan": plan,
        "request": stored_as,
        "estimate": accepted.estimate.model_dump(mode="json", exclude={"answered"}),
        "samples": hash_of(places or [(sample.id, value_id(sample)) for sample in accepted.samples]),
        "versions": {"method": method.version, **method.graphs_of(plan)},
        "skipped": list(accepted.skipped),
        "needs": list(accepted.needs),
        **accepted.notes,
        **more,
    }
    as_json = {
        name: value.model_dump(mode="json") if isinstance(value, Value) else value for name, value in options.items()
    }
    return Run(
        id=run_id(method, plan),
        method=method.name,
        command=command or stored_as.command,
        data_name=accepted.data_name or (stored_as.data.name if isinstance(stored_as, DataRequest) else ""),
        data_hash=accepted.data_hash or getattr(accepted.plan, "data", ""),
        options=orjson.loads(orjson.dumps(as_json)),
        seed=plan.seed,
        fresh=plan.fresh,
        version=__version__,
    )


def next_fresh(method: VersionedMethod, home: Home, plan: P) -> P:
    """Return the plan with the first `fresh` count that has no run in the home."""
    while True:
        plan = plan.model_copy(update={"fresh": plan.fresh + 1})
        try:
            get_run(home, run_id(method, plan))
        except NotFound:
            return plan


async def keep_limits(home: Home, run: Run, request: Invocation) -> Run:
    """Store a request's limits on spending with its run if they differ from before; return the run."""
    if limits_of(run) == request.spending_limits:
        return run
    await note_run(home, run, {"request": {**run.request, **request.spending_limits}})
    return get_run(home, run.id)


def check_samples(home: Home, run: Run) -> None:
    """Check that all samples of a run are stored, since a process may have died while storing them.

    Raises:
        InputError: samples are missing.
    """
    stored = [(sample.sample_id, sample.value_id) for sample in run_samples(home, run.id)]
    if hash_of(stored) != run.options["samples"]:
        raise InputError(
            f"run {run.id} was stopped before all of its samples were kept ({len(stored)} are): give the command that began "
            "it once more, with the data file"
        )


def check_prompts(accepted: Mapping[str, str], now: Mapping[str, str], folders: Sequence[Path], run_id: str) -> None:
    """Check that a run's prompts (version and hash by name) have not changed since it was accepted.

    Raises:
        ConfigError: they have; the message names the changed prompts and the folders that were read.
    """
    changed = [name for name, version in sorted(accepted.items()) if now.get(name) != version]
    if not changed:
        return
    details = ", ".join(f"{name} was {accepted[name]}, is {now.get(name, 'missing')}" for name in changed)
    place = f" (read from {', '.join(map(str, folders))})" if folders else ""
    raise ConfigError(
        f"run {run_id} was accepted with other prompts{place}: {details}. Restore them, name the folder that has them "
        "with --prompts, or evaluate anew or fork; the ledger answers what did not change"
    )


def check_versions(method: AnyMethod, run: Run, plan: RunPlan) -> None:
    """Check that the versions of a run's method and graphs have not changed since it was accepted.

    Raises:
        ConfigError: they have; the message names the first that changed.
    """
    now: dict[str, int] = {"method": method.version, **method.graphs_of(plan)}
    for name, version in now.items():
        before = run.versions.get(name)
        if before != version:
            subject = f"the method {method.name!r}" if name == "method" else f"the graph {name!r}"
            raise ConfigError(
                f"run {run.id} was accepted with version {before} of {subject}, which is at version {version} now: "
                "give its command anew; the ledger answers what did not change"
            )


async def delete_whole_run(home: Home, run_id: str) -> Deleted:
    """Delete a run and return what was deleted with it; the ledger, images and shared values stay.

    If the process is killed part-way, checkpoints without a run remain, which the next run deletes.

    Raises:
        InputError: the run is at work, or an unfinished run needs it, such as a fork that reuses its outcomes.
        NotFound: there is no such run.
        StorageError: the home could not be written.
    """
    if is_at_work(home, run_id):
        raise InputError(f"run {run_id} is at work; stop it first, then delete it")
    # a finished run has copies of what it took from others
    waiting = sorted(run.id for run in list_runs(home) if run.status != "done" and run_id in run.texts("needs"))
    if waiting:
        raise InputError(
            f"run {run_id} is needed by {', '.join(waiting)}, which is unfinished; resume or delete that first"
        )
    deleted = await delete_run(home, run_id)
    forget_figures(home, run_id)
    if home.checkpoints.is_file():
        from dokimasia.storage.checkpoints import sweep_orphans  # imports LangGraph

        async with share_services(home) as shared:
            await sweep_orphans(await shared.saver(), live_threads(home))
    return deleted


def dependent_runs(home: Home, run_id: str) -> list[Run]:
    """Return the runs that refer to a run, newest first; deleting it removes what they show from it."""
    naming = {id for (id,) in home.all("SELECT id FROM runs WHERE instr(options, ?)", (run_id,))} - {run_id}
    if naming:
        return [run for run in list_runs(home) if run.id in naming and _names(run.options, run_id)]
    return []


def _names(value: JsonValue, run_id: str) -> bool:
    """Return whether a run's options mention another run anywhere."""
    if isinstance(value, dict):
        return any(_names(part, run_id) for part in value.values())
    if isinstance(value, list):
        return any(_names(part, run_id) for part in value)
    return value == run_id
