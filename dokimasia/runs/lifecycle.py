"""What every kind of run goes through: accepted as a row, at work, stopped or finished; told once, for all of them."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Mapping
from contextlib import asynccontextmanager
from typing import Any, Protocol, Self, TypeVar

import orjson

from dokimasia import __version__
from dokimasia.agents import PromptLibrary
from dokimasia.domain.call import ModelSpec
from dokimasia.domain.identity import Value
from dokimasia.domain.ports import Transport
from dokimasia.errors import CallFailed, Interrupted, NotFound
from dokimasia.gateway.budget import Budget
from dokimasia.runs.observer import Observer
from dokimasia.runs.services import Stop, Workshop, open_workshop
from dokimasia.settings import Settings
from dokimasia.storage.home import Home
from dokimasia.storage.results import record_event, reopen, result_failures
from dokimasia.storage.runs import Run, get_run, set_status
from dokimasia.storage.threads import live_threads

LIMITS = ("max_cost", "max_calls", "max_tokens")
"""Fields of a request that are those of one sitting: they decide nothing of what a run is."""


class Plan(Protocol):
    """What a run is by its content: hashed into its id, and counted on where the same is wanted anew."""

    @property
    def run_id(self) -> str:
        """The run's id."""
        ...

    @property
    def fresh(self) -> int:
        """How often the same was wanted anew."""
        ...

    def model_copy(self, *, update: Mapping[str, Any] | None = None) -> Self:
        """Return a copy with some fields changed."""
        ...


P = TypeVar("P", bound=Plan)
Q = TypeVar("Q", bound=Value)


def next_fresh(home: Home, plan: P) -> P:
    """Return the plan as a new run: counted on until the home has no such run."""
    while True:
        plan = plan.model_copy(update={"fresh": plan.fresh + 1})
        try:
            get_run(home, plan.run_id)
        except NotFound:
            return plan


def without_limits(request: Q) -> Q:
    """Return a request as a resume takes it up where nothing else is said: nothing limits what it may spend."""
    return request.model_copy(update=dict.fromkeys(LIMITS))


def run_row(
    plan: Plan,
    request: Value,
    *,
    graph: str,
    command: str,
    data_name: str,
    data_hash: str,
    seed: int,
    **options: Any,
) -> Run:
    """Return the row of an accepted run; plan and request, from which it can go on, are among its options."""
    kept = {"plan": plan, "request": request, **options}
    shown = {name: one.model_dump(mode="json") if isinstance(one, Value) else one for name, one in kept.items()}
    return Run(
        id=plan.run_id,
        graph=graph,
        command=command,
        data_name=data_name,
        data_hash=data_hash,
        options=orjson.loads(orjson.dumps(shown)),
        seed=seed,
        fresh=plan.fresh,
        version=__version__,
    )


@asynccontextmanager
async def at_work(
    home: Home,
    run: Run,
    specs: Mapping[str, ModelSpec],
    *,
    settings: Settings,
    budget: Budget,
    seed: int,
    observer: Observer,
    stop: Stop | None,
    transports: Mapping[str, Transport] | None,
    prompts: PromptLibrary | None,
) -> AsyncIterator[Workshop]:
    """Open what a run works with; it is `running` inside, and `interrupted` where the work is stopped.

    It is marked before anything of it is opened again, so that a run which dies in between does not pass for finished.
    Items that had failed for want of money are open again, and threads of items that are finished are swept.

    Raises:
        ConfigError: the key of a model is not in the environment.
        Interrupted: the work was asked to stop; what is finished is kept.
    """
    from dokimasia.storage.checkpoints import sweep_orphans

    try:
        async with open_workshop(
            home,
            settings,
            specs,
            budget=budget,
            seed=seed,
            observer=observer,
            stop=stop or Stop(),
            transports=transports,
            prompts=prompts,
        ) as workshop:
            await set_status(home, run.id, "running")
            await reopen(home, run.id, failures=("budget",))
            await sweep_orphans(workshop.saver, live_threads(home))
            yield workshop
    except (Interrupted, asyncio.CancelledError):
        await set_status(home, run.id, "interrupted")
        raise


async def unless_spent(work: Awaitable[None]) -> bool:
    """Do the work, and return whether it came to its end before the budget did.

    Raises:
        CallFailed: a call failed for another reason than the budget.
    """
    try:
        await work
    except CallFailed as failed:
        if failed.kind != "budget":
            raise
        return False
    return True


async def finish(home: Home, run: Run, *, complete: bool = True) -> Run:
    """Mark a run as done, or as interrupted where the budget left items open or `complete` is false; return its row."""
    open_items = result_failures(home, run.id).get("budget", 0)
    status = "done" if complete and not open_items else "interrupted"
    await record_event(home, run.id, "finished", {"status": status, "out_of_budget": open_items})
    await set_status(home, run.id, status)
    return get_run(home, run.id)
