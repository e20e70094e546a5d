"""A run at work: stages, items and their result rows, many samples at once."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import Any, Generic, TypeVar, get_args

from dokimasia.domain.identity import value_id
from dokimasia.domain.judgement import OPEN_KINDS, Failed, FailureKind
from dokimasia.domain.sample import Sample
from dokimasia.errors import CallFailed, ConfigError, DokimasiaError
from dokimasia.graphs.context import Context, failed_update
from dokimasia.graphs.drive import GraphFile
from dokimasia.graphs.executor import GraphRun, reduced_gc
from dokimasia.graphs.reasking import raise_worst, to_report
from dokimasia.log import logger
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

PART = 32
"""So many items of one unit are made and walked together."""

AT_ONCE = 512
"""About so many items are under way together of units that have more than `PART`; more where an endpoint takes more calls."""


@dataclass(frozen=True, slots=True)
class Stage(Generic[U]):
    """Work whose units may be done in any order.

    Attributes:
        units: what is done; read as far as the work has come.
        do: does one unit.
        items: how many result rows they come to, those that are there already included.
        width: how many units are in flight at once, by default as many as the widest endpoint takes calls.
        uneven: says whether those in flight wait for one endpoint while another could take more.
    """

    units: Iterable[U]
    do: Callable[[U], Awaitable[None]]
    items: int
    width: int | None = None
    uneven: Callable[[], bool] | None = None


@dataclass(frozen=True, slots=True)
class Item:
    """One walk through a graph, and the one result row that it ends in.

    `name` is unique in its run; `inputs` are the graph's, beside the sample; `model` says whose it is, where it is one's.
    """

    name: str
    inputs: Mapping[str, object] = field(default_factory=dict[str, object])
    model: str = ""


def one_item(sample: Sample) -> list[Item]:
    """Return the only item of a sample."""
    return [Item(f"image/{sample.id}")]


@dataclass(eq=False, repr=False)
class Job(Generic[P]):
    """A run at work.

    Attributes:
        kind: the default kind of its result rows; a method may write rows of other kinds.
        session: what it was accepted with.
        run: its row.
        plan: what it is.
        request: what was asked in this invocation.
        services: gateway, store and checkpoints.
        observer: told how far it is.
        home: where it is kept.
        given: what a program handed in beside the request.
        progress: how far it is.
        retries: by item, the latest attempt at what had failed before.
        held_open: whether the run stays unfinished although its stages are done, since a person has to do something.
    """

    kind: str
    session: Session
    run: Run
    plan: P
    request: Any
    services: Services
    observer: Observer
    held_open: bool = False

    def __post_init__(self) -> None:
        """Take up the run."""
        self.home, self.given = self.session.opened, self.session.given
        self.progress = Progress(samples=count_samples(self.home, self.run.id))
        self.retries: dict[str, Retry] = retries(self.home, self.run.id)
        self._begun = has_results(self.home, self.run.id)
        self._threads: dict[str, str] = {}
        self._keep: bool = self.request.keep_checkpoints

    @cached_property
    def context(self) -> Context:
        """What the graphs are given."""
        plan: Any = self.plan
        services, library = self.services, self.session.library
        return Context(services.gateway, services.store, plan.options, plan.seed, library, self.home.blobs)

    @property
    def width(self) -> int:
        """The most calls that any endpoint of the plan takes at once."""
        return max((spec.max_concurrency for spec in self.plan.models.values()), default=1)

    @property
    def left_open(self) -> bool:
        """Whether items are open, since the budget was used up or people have not answered yet."""
        return any(kind in OPEN_KINDS for kind in result_failures(self.home, self.run.id))

    def samples(self) -> Iterator[Sample]:
        """Yield the run's samples, in order."""
        return load_samples(self.home, self.run.id)

    def report(self) -> None:
        """Tell the observer how far it is."""
        self.progress.stats = self.services.gateway.stats()
        self.observer.progressed(self.progress)

    def do(self, stage: Stage[Any]) -> Awaitable[None]:
        """Do a stage; await what is returned.

        Raises:
            Interrupted: the run was asked to stop; everything finished is committed.
            CallFailed: a call failed that no row can carry, such as for want of budget.
        """
        self.progress.items += stage.items
        self.progress.samples_done = 0
        width = self.width if stage.width is None else stage.width
        return work_through(
            iter(stage.units),
            stage.do,
            width=width,
            report=self.report,
            uneven=stage.uneven,
            processes=self.services.engine.processes,
        )

    async def in_parts(self, items: Iterable[T], do: Callable[[list[T]], Awaitable[None]]) -> None:
        """Do the items of a unit `PART` at a time, each made when it is its turn.

        Units of more than one part take turns, so that some `AT_ONCE` of their items are under way together and the event
        loop, which begins with each of them without a pause, stays free for others.
        """
        stream = iter(items)
        part, later = list(islice(stream, PART)), list(islice(stream, PART))
        if not later:
            await do(part)
            return
        while part:
            async with self._turns:
                await do(part)
            await asyncio.sleep(0)
            part, later = later, list(islice(stream, PART))

    @cached_property
    def _turns(self) -> asyncio.Semaphore:
        return asyncio.Semaphore(max(AT_ONCE, 2 * self.width) // PART)

    def finished(self, item: str) -> ResultRow | None:
        """Return an item's result from before, counted as restored, or None where it is still to be done."""
        row = get_result(self.home, self.run.id, item) if self._begun else None
        if row is not None:
            self.progress.restored += row.failure not in OPEN_KINDS
            self.progress.count(row.failure)
        return row

    def attempt(self, item: str) -> int:
        """Return how often an item failed before and is asked anew."""
        retry = self.retries.get(item)
        return 0 if retry is None else retry.attempt

    async def walk(
        self, graph: GraphFile, inputs: Mapping[str, object], item: str, *, context: Context | None = None
    ) -> dict[str, Any]:
        """Walk an item through a graph and return the final state.

        An item that failed before is asked under its next attempt, unless a `context` is given. A graph that is
        `CHECKPOINTED` goes on from its last step; any other is walked straight, since ledger and rows
        carry it, unless the request keeps all steps. The thread is closed when the item's row is committed.
        """
        if context is None:
            attempt = self.attempt(item)
            context = self.context.at_attempt(attempt) if attempt else self.context
        thread = ""
        if self._keep or getattr(graph, "CHECKPOINTED", False):
            version = str(graph.VERSION)
            thread = f"{self.run.id}/{item}/{graph.NAME}@{version}"
            row = Thread(thread_id=thread, run_id=self.run.id, item=item, graph=graph.NAME, graph_version=version)
            await open_thread(self.home, row)
            self._threads[item] = thread
        return await self.services.engine.execute(GraphRun(graph, inputs, item, context, thread))

    async def finish(self, *rows: ResultRow) -> None:
        """Commit results, count them, and close the threads that they came from."""
        await record_results(self.home, rows)
        for row in rows:
            self.progress.count(row.failure)
            if row.failure is not None and row.failure not in OPEN_KINDS:
                logger(__name__).info("item failed", item=row.item, kind=row.failure, reason=row.reason)
                self.observer.failed(row.item, row.model, row.failure, row.reason or "")
            await self.close(row.item)

    async def close(self, item: str) -> None:
        """Close an item's thread, whose result is committed; steps that the request keeps stay."""
        thread = self._threads.pop(item, None)
        if thread is not None and not self._keep:
            await delete_thread(self.services.saver, thread)
            await close_thread(self.home, thread)

    def row(self, sample: Sample | None, item: str, **fields: Any) -> ResultRow:
        """Return a result row of this run, of a sample where it belongs to one."""
        names = {"sample_id": ""} if sample is None else {"sample_id": sample.id, "sample_digest": sample.digest}
        return ResultRow(**{"run_id": self.run.id, "item": item, "kind": self.kind, **names, **fields})

    def each(
        self, graph: GraphFile, items: Callable[[Sample], Iterable[Item]] = one_item, *, per_sample: int = 1
    ) -> Stage[Sample]:
        """Return the stage in which every sample's items are walked through a graph, each to one row.

        The graph is given `sample`, and of the item its `inputs`; it ends with `result` (the id of what it made, or a list
        of ids) or with `failed` (a kind of failure) and `reason`; a `score` and `calls` (ledger keys) are kept.
        """

        async def do(sample: Sample) -> None:
            for number, item in enumerate(items(sample)):
                if number % PART == 0:
                    await asyncio.sleep(0)  # on a resume all may be finished, and nothing else awaits
                if self.finished(item.name) is None:
                    await self.finish(await self._walk_to_row(graph, sample, item))
            self.progress.samples_done += 1

        return Stage(self.samples(), do, items=self.progress.samples * per_sample)

    async def _walk_to_row(self, graph: GraphFile, sample: Sample, item: Item) -> ResultRow:
        refused: list[Failed] = []
        context = replace(self.context.at_attempt(self.attempt(item.name)), refused=refused)
        try:
            state = await self.walk(graph, {"sample": value_id(sample), **item.inputs}, item.name, context=context)
            if refused and state.get("failed") not in OPEN_KINDS:  # made without what was still to be asked: no result
                state = {"calls": state.get("calls"), **failed_update(to_report(refused))}
        except CallFailed as failed:
            state = {"failed": failed.kind, "reason": failed.reason}
        except DokimasiaError:
            raise
        except Exception as error:  # whatever a stranger's node does, the user learns where
            text = " ".join(str(error).split())[:300]
            raise ConfigError(
                f"the graph {graph.NAME!r} broke at sample {sample.id!r}: {type(error).__name__}: {text}. Mend it and "
                "resume; what is finished is kept"
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
        return self.row(sample, item.name, **fields, **ending(state))


def ending(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return how a walk ended, as fields of its row: `failed` with the reason, `scored`, or `made`."""
    if state.get("failed"):
        return {"outcome": "failed", "failure": state["failed"], "reason": str(state.get("reason", ""))[:500]}
    score = state.get("score")
    return {"outcome": "made"} if score is None else {"outcome": "scored", "score": float(score)}


async def one_stage(stage: Stage[Any]) -> AsyncIterator[Stage[Any]]:
    """Yield the only stage of a run."""
    yield stage


IN_FLIGHT = (8, 256)
"""At least so many samples are in flight, and at most so many in each process, so that memory stays bounded and no slow
endpoint starves others."""

MOST = 1024
"""So many samples may be in flight in each process while a slow endpoint holds up others; then they wait for it."""

TICK = 0.5


async def work_through(
    units: Iterator[U],
    do: Callable[[U], Awaitable[None]],
    *,
    width: int,
    report: Callable[[], None],
    uneven: Callable[[], bool] | None = None,
    processes: int = 1,
) -> None:
    """Process each unit, about `width` at a time; end with the first problem once the units in flight have ended.

    Args:
        units: the units of work, in order; read as needed.
        do: processes a unit.
        width: how many at a time, within `IN_FLIGHT` a process.
        report: called twice a second and at the end.
        uneven: says whether those in flight wait for one endpoint while another could take more: then more units are
            begun, up to `MOST` a process in flight, so that the slowest endpoint does not idle the others.
        processes: by how many processes they are worked.

    Raises:
        Interrupted: a unit was interrupted, and nothing worse happened.
    """
    problems: list[BaseException] = []
    width, most = min(max(width, IN_FLIGHT[0]), IN_FLIGHT[1] * processes), MOST * processes

    async def worker(*, stays: bool) -> None:
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
            if not stays:
                return

    with reduced_gc():
        async with reporting(report):
            crowd = set[asyncio.Task[None]]()
            for _ in range(width):
                crowd.add(asyncio.create_task(worker(stays=True)))
            try:
                while crowd:
                    _, crowd = await asyncio.wait(crowd, timeout=None if uneven is None else TICK)
                    if crowd and uneven is not None and not problems and uneven():
                        extra = min(width, most - len(crowd))
                        crowd |= {asyncio.create_task(worker(stays=False)) for _ in range(extra)}
            finally:
                for task in crowd:
                    task.cancel()
                await asyncio.gather(*crowd, return_exceptions=True)
    raise_worst(problems)


@asynccontextmanager
async def reporting(report: Callable[[], None]) -> AsyncIterator[None]:
    """Report twice a second while something works, and once at its end."""

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
