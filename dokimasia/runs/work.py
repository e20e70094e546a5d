"""A run at work: stages, items and their result rows, many samples at once."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from math import isfinite
from typing import Any, Generic, TypeVar, get_args

from dokimasia.domain.identity import JsonObject, value_id
from dokimasia.domain.judgement import OPEN_KINDS, Failed, FailureKind
from dokimasia.domain.sample import Sample
from dokimasia.errors import CallFailed, ConfigError, DokimasiaError
from dokimasia.graphs.context import Context, failed_update
from dokimasia.graphs.drive import GraphFile
from dokimasia.graphs.executor import GraphRun, reduced_gc
from dokimasia.graphs.reasking import raise_worst, to_report
from dokimasia.log import logger
from dokimasia.plugins import describe_error
from dokimasia.runs.observer import Observer, Progress
from dokimasia.runs.plans import RunPlan
from dokimasia.runs.services import Services
from dokimasia.runs.session import Session
from dokimasia.storage.checkpoints import delete_thread
from dokimasia.storage.results import ResultRow, get_result, has_results, record_results, result_failures
from dokimasia.storage.retries import Retry, retries
from dokimasia.storage.runs import Run, count_samples, load_samples
from dokimasia.storage.threads import Thread, close_thread, open_thread

P = TypeVar("P", bound=RunPlan)
U = TypeVar("U")
T = TypeVar("T")

KINDS = get_args(FailureKind)

BATCH = 32
"""The number of a unit's items that are created and walked together."""

MAX_CONCURRENT_ITEMS = 512
"""The approximate number of items at work, of units with more than `BATCH`; more if an endpoint takes more calls."""


@dataclass(frozen=True, slots=True)
class Stage(Generic[U]):
    """Work whose units may be done in any order.

    Attributes:
        units: the units of work, read as needed.
        do: processes a unit.
        items: the number of result rows of all units, stored ones included.
        width: the number of units in flight at once, within `IN_FLIGHT`; by default the most calls that any endpoint
            takes.
        endpoint_idles: returns whether the units in flight wait for one endpoint while another could take more.
    """

    units: Iterable[U]
    do: Callable[[U], Awaitable[None]]
    items: int
    width: int | None = None
    endpoint_idles: Callable[[], bool] | None = None


@dataclass(frozen=True, slots=True)
class Item:
    """An item that a `graph_stage` walks through its graph to one result row.

    Attributes:
        name: unique in its run.
        inputs: the graph's inputs, apart from the sample.
        model: the model that the item is about, by which figures and reports group its row; empty if it is about none
            or several. By default the input `model`, if there is one.
    """

    name: str
    inputs: Mapping[str, object] = field(default_factory=dict[str, object])
    model: str = ""

    def __post_init__(self) -> None:
        """Take the model from the inputs."""
        if not self.model:
            object.__setattr__(self, "model", str(self.inputs.get("model") or ""))


def sample_item(sample: Sample) -> list[Item]:
    """Return the only item of a sample."""
    return [Item(f"image/{sample.id}")]


@dataclass(eq=False, repr=False)
class Job(Generic[P]):
    """A run at work.

    Attributes:
        session: the session it was accepted with.
        run: the run's row.
        plan: the run's plan.
        request: the request of this invocation.
        services: gateway, store and checkpoints.
        observer: receives the progress.
        home: where the run is stored.
        given: objects that a program passed with the request.
        progress: the numbers of done and open items.
        retries: the latest attempt at each item that had failed before, by item.
        held_open: whether the run stays unfinished after its stages, because a person has to act.
    """

    session: Session
    run: Run
    plan: P
    request: Any
    services: Services
    observer: Observer
    held_open: bool = False

    def __post_init__(self) -> None:
        """Read the run's progress and retries from the home."""
        self.home, self.given = self.session.opened, self.session.given
        self.progress = Progress(samples=count_samples(self.home, self.run.id))
        self.retries: dict[str, Retry] = retries(self.home, self.run.id)
        self._begun = has_results(self.home, self.run.id)
        self._threads: dict[str, str] = {}
        self._keep: bool = self.request.keep_checkpoints

    @cached_property
    def context(self) -> Context:
        """The context of the run's graphs."""
        plan = self.plan
        services, library = self.services, self.session.library
        return Context(services.gateway, services.store, plan.options, plan.seed, library, self.home.blobs)

    @property
    def width(self) -> int:
        """The most calls that any endpoint of the plan takes at once."""
        return max((spec.max_concurrency for spec in self.plan.models.values()), default=1)

    @property
    def left_open(self) -> bool:
        """Whether items are open because the budget was exhausted or people have not answered yet."""
        return any(kind in OPEN_KINDS for kind in result_failures(self.home, self.run.id))

    def samples(self) -> Iterator[Sample]:
        """Yield the run's samples, in order."""
        return load_samples(self.home, self.run.id)

    def report(self) -> None:
        """Pass the progress to the observer."""
        self.progress.stats = self.services.gateway.stats()
        self.observer.progressed(self.progress)

    def do(self, stage: Stage[Any]) -> Awaitable[None]:
        """Return an awaitable that processes a stage.

        Raises:
            Interrupted: the run was asked to stop; everything finished is committed.
            CallFailed: a call that belongs to no row failed, for example because the budget is spent.
        """
        self.progress.items += stage.items
        self.progress.samples_done = 0
        width = self.width if stage.width is None else stage.width
        return work_through(
            iter(stage.units),
            stage.do,
            width=width,
            report=self.report,
            endpoint_idles=stage.endpoint_idles,
            processes=self.services.executor.processes,
        )

    async def in_batches(self, items: Iterable[T], do: Callable[[list[T]], Awaitable[None]]) -> None:
        """Process a unit's items in batches of `BATCH`, each created when its turn comes.

        Units of more than one batch take turns, so that about `MAX_CONCURRENT_ITEMS` of their items are at work
        together. Starting all at once would block the event loop.
        """
        stream = iter(items)
        batch, following = list(islice(stream, BATCH)), list(islice(stream, BATCH))
        if not following:
            await do(batch)
            return
        while batch:
            async with self._batch_slots:
                await do(batch)
            await asyncio.sleep(0)
            batch, following = following, list(islice(stream, BATCH))

    @cached_property
    def _batch_slots(self) -> asyncio.Semaphore:
        return asyncio.Semaphore(max(MAX_CONCURRENT_ITEMS, 2 * self.width) // BATCH)

    def stored_row(self, item: str) -> ResultRow | None:
        """Return an item's stored result and count it as restored; None if the item is still to be processed."""
        row = get_result(self.home, self.run.id, item) if self._begun else None
        if row is not None:
            self.progress.restored += row.failure not in OPEN_KINDS
            self.progress.count(row.failure)
        return row

    def attempt(self, item: str) -> int:
        """Return the number of an item's retries: 0 for one that did not fail before."""
        retry = self.retries.get(item)
        if retry is None:
            return 0
        return retry.attempt

    async def walk(
        self, graph: GraphFile, inputs: Mapping[str, object], name: str, *, context: Context | None = None
    ) -> JsonObject:
        """Walk through a graph and return the final state.

        A graph that is `CHECKPOINTED` continues after its last step. Any other starts over, and the ledger answers its
        finished calls; its steps are stored only if the request keeps them. The thread of a walk named after an item is
        closed when the item's row is committed.

        Args:
            graph: the graph.
            inputs: its inputs.
            name: the item's name, or another name that is unique in the run if several items are walked together.
            context: the context to walk in. By default the run's, at the item's next attempt if it failed before; a
                graph whose inputs name the attempt needs the run's unchanged context.
        """
        if context is None:
            attempt = self.attempt(name)
            context = self.context.at_attempt(attempt) if attempt else self.context
        thread = ""
        if self._keep or getattr(graph, "CHECKPOINTED", False):
            version = str(graph.VERSION)
            thread = f"{self.run.id}/{name}/{graph.NAME}@{version}"
            row = Thread(thread_id=thread, run_id=self.run.id, item=name, graph=graph.NAME, graph_version=version)
            await open_thread(self.home, row)
            self._threads[name] = thread
        return await self.services.executor.execute(GraphRun(graph, inputs, name, context, thread))

    async def commit(self, *rows: ResultRow) -> int:
        """Commit result rows, count them, and close their items' threads; return how many items had no row before."""
        count = await record_results(self.home, rows)
        for row in rows:
            self.progress.count(row.failure)
            if row.failure is not None and row.failure not in OPEN_KINDS:
                logger(__name__).info("item failed", item=row.item, kind=row.failure, reason=row.reason)
                self.observer.failed(row.item, row.model, row.failure, row.reason or "")
            await self.close(row.item)
        return count

    async def close(self, item: str) -> None:
        """Close the thread of an item with a committed result, and delete its steps unless the request keeps them."""
        thread = self._threads.pop(item, None)
        if thread is not None and not self._keep:
            await delete_thread(self.services.saver, thread)
            await close_thread(self.home, thread)

    def row(self, sample: Sample | None, item: str, **fields: object) -> ResultRow:
        """Return a result row of this run, by default of the method's own kind; `sample` is None if the item belongs to no
        sample."""
        names = {"sample_id": ""} if sample is None else {"sample_id": sample.id, "sample_digest": sample.digest}
        row = {"run_id": self.run.id, "item": item, "kind": self.run.method, **names, **fields}
        return ResultRow.model_validate(row)

    def graph_stage(
        self, graph: GraphFile, items: Callable[[Sample], Iterable[Item]] = sample_item, *, per_sample: int = 1
    ) -> Stage[Sample]:
        """Return the stage that walks each item of every sample through a graph to one row.

        The graph's inputs are `sample` and the item's `inputs`. Its final state has `result` (the id of the value that
        it made, or a list of ids), or `failed` (a kind of failure) and `reason`; `score` and `calls` (ledger keys) are
        stored.

        Args:
            graph: the graph.
            items: returns a sample's items; by default one.
            per_sample: the number of items of a sample, for the progress.

        Raises:
            ConfigError: the method does not name the graph, in this version, in its `graphs`. The stage also raises it
                if two items have the same name.
        """
        if self.run.versions.get(graph.NAME) != graph.VERSION:
            raise ConfigError(
                f"the graph {graph.NAME!r} of version {graph.VERSION} is not a graph of the method {self.run.method!r}: name "
                f"it in the method's graphs={{{graph.NAME!r}: {graph.VERSION}}}, by which a resume knows it"
            )

        async def do(sample: Sample) -> None:
            names = set[str]()
            for number, item in enumerate(items(sample)):
                if number % BATCH == 0:
                    await asyncio.sleep(0)  # on a resume all items may be finished, and nothing else awaits
                row = self.stored_row(item.name)
                is_new = item.name not in names and (row is None or row.sample_id == sample.id)
                if row is None and is_new:
                    is_new = await self.commit(await self._walk_to_row(graph, sample, item)) == 1
                if not is_new:
                    raise ConfigError(
                        f"two items of the run are called {item.name!r}, the later one at sample {sample.id!r}: name items by "
                        "their sample and all that tells them apart, such as the model"
                    )
                names.add(item.name)
            self.progress.samples_done += 1

        return Stage(self.samples(), do, items=self.progress.samples * per_sample)

    async def _walk_to_row(self, graph: GraphFile, sample: Sample, item: Item) -> ResultRow:
        open_failures: list[Failed] = []
        context = replace(self.context.at_attempt(self.attempt(item.name)), open_failures=open_failures)
        try:
            state = await self.walk(graph, {"sample": value_id(sample), **item.inputs}, item.name, context=context)
            if (
                open_failures and state.get("failed") not in OPEN_KINDS
            ):  # made without calls that are still open: no result
                state = {"calls": state.get("calls"), **failed_update(to_report(open_failures))}
        except CallFailed as failed:
            state = {"failed": failed.kind, "reason": failed.reason}
        except DokimasiaError:
            raise
        except Exception as error:  # a plug-in's node may raise anything; the message names graph and sample
            raise ConfigError(
                f"the graph {graph.NAME!r} broke at sample {sample.id!r}: {describe_error(error)}. Mend it and resume; what "
                "is finished is kept"
            ) from error
        result = state.get("result") or ()
        values = (result,) if isinstance(result, str) else tuple(result)
        fields: dict[str, object] = {"model": item.model, "value_ids": values, "calls": tuple(state.get("calls") or ())}
        failed = state.get("failed")
        if failed and failed not in KINDS:
            raise ConfigError(
                f"the graph {graph.NAME!r} ended at sample {sample.id!r} with failed={failed!r}; the kinds of failure are "
                f"{', '.join(KINDS)}"
            )
        score = state.get("score")
        if not failed and score is not None and not _is_number(score):
            raise ConfigError(
                f"the graph {graph.NAME!r} ended at sample {sample.id!r} with score={str(score)[:100]!r}, which is no number"
            )
        return self.row(sample, item.name, **fields, **outcome_fields(state))


def _is_number(value: object) -> bool:
    """Return whether a value is a finite number; booleans are not, so that no verdict silently becomes a score."""
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


def outcome_fields(state: Mapping[str, Any]) -> JsonObject:
    """Return the outcome of a walk as fields of its row: `failed` with kind and reason, `scored`, or `made`."""
    if state.get("failed"):
        return {"outcome": "failed", "failure": state["failed"], "reason": str(state.get("reason", ""))[:500]}
    score = state.get("score")
    if score is None:
        return {"outcome": "made"}
    return {"outcome": "scored", "score": float(score)}


async def single_stage(stage: Stage[U]) -> AsyncIterator[Stage[U]]:
    """Yield one stage: the `stages` of a run with a single stage."""
    yield stage


IN_FLIGHT = (8, 256)
"""The fewest samples in flight, and the most in each process, which bounds memory without starving endpoints."""

MAX_IN_FLIGHT = 1024
"""The most samples in flight in each process; beyond it, others wait even for a slow endpoint."""

TICK = 0.5


async def work_through(
    units: Iterator[U],
    do: Callable[[U], Awaitable[None]],
    *,
    width: int,
    report: Callable[[], None],
    endpoint_idles: Callable[[], bool] | None = None,
    processes: int = 1,
) -> None:
    """Process each unit, about `width` at a time; stop at the first problem once the units in flight have ended.

    Args:
        units: the units of work, in order; read as needed.
        do: processes a unit.
        width: the number of units at a time, limited to `IN_FLIGHT` for each process.
        report: called twice a second and at the end.
        endpoint_idles: returns whether the units in flight wait for one endpoint while another could take more. Then
            more units start, up to `MAX_IN_FLIGHT` in flight for each process, so that the slowest endpoint does not
            idle the others.
        processes: the number of working processes.

    Raises:
        Interrupted: a unit was interrupted, and nothing worse happened.
    """
    problems: list[BaseException] = []
    width, most = min(max(width, IN_FLIGHT[0]), IN_FLIGHT[1] * processes), MAX_IN_FLIGHT * processes

    async def work_on(units: Iterable[U]) -> None:
        for unit in units:
            if problems:
                return
            try:
                await do(unit)
            except BaseException as problem:
                problems.append(problem)
                if isinstance(problem, asyncio.CancelledError):
                    raise
                return

    with reduced_gc():
        async with reporting(report):
            workers = set[asyncio.Task[None]]()
            for _ in range(width):
                workers.add(asyncio.create_task(work_on(units)))
            try:
                while workers:
                    _, workers = await asyncio.wait(workers, timeout=None if endpoint_idles is None else TICK)
                    if workers and endpoint_idles is not None and not problems and endpoint_idles():
                        for _ in range(min(width, most - len(workers))):
                            workers.add(asyncio.create_task(work_on(islice(units, 1))))  # a worker for one unit
            finally:
                for task in workers:
                    task.cancel()
                await asyncio.gather(*workers, return_exceptions=True)
    raise_worst(problems)


@asynccontextmanager
async def reporting(report: Callable[[], None]) -> AsyncIterator[None]:
    """Report twice a second while the block runs, and once at its end."""

    async def tick() -> None:
        while True:
            await asyncio.sleep(TICK)
            report()

    ticking = asyncio.create_task(tick())
    try:
        yield
    finally:
        ticking.cancel()
        with suppress(asyncio.CancelledError):
            await ticking
        report()
