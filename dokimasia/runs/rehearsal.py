"""Requests accepted with an estimate that leaves out what the ledger has: their stages are rehearsed with its replies alone."""

import asyncio
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple, TypeVar, cast

from dokimasia.datasets import pinned
from dokimasia.domain.call import CallResult, Chat, ModelCall, ModelSpec
from dokimasia.domain.judgement import OPEN_KINDS
from dokimasia.domain.question import Aid
from dokimasia.domain.sample import ImageRef, Sample
from dokimasia.domain.wording import is_or_are
from dokimasia.errors import CallFailed, InputError, StorageError
from dokimasia.log import logger
from dokimasia.report.figures import in_words
from dokimasia.runs.estimate import UNSEEN, Estimate
from dokimasia.runs.figures import simulated_names
from dokimasia.runs.ledger_gateway import LedgerGateway, has_calls
from dokimasia.runs.method import AnyMethod, Method
from dokimasia.runs.observer import SilentObserver
from dokimasia.runs.persistence import next_fresh, run_row
from dokimasia.runs.plans import RunPlan, run_id
from dokimasia.runs.requests import DataRequest, RunRequest
from dokimasia.runs.samples import read_data
from dokimasia.runs.session import FOLLOWED, Accepted, Session
from dokimasia.storage.connection import Row
from dokimasia.storage.content.blobs import FileBlobs, MemoryBlobs
from dokimasia.storage.home import Home
from dokimasia.storage.lookup import find_values
from dokimasia.storage.runs import Run, SqliteValueStore, add_samples, create_run, get_run

if TYPE_CHECKING:
    from dokimasia.gateway.gateway import ModelGateway

Q = TypeVar("Q", bound=RunRequest)
P = TypeVar("P", bound=RunPlan)
T = TypeVar("T")

MOST_CALLS = 20_000
"""The most calls that one estimate looks up in the ledger."""

PARTLY_FOLLOWED = (
    "what the ledger has of this run could be looked through in part only: it asks and costs at most what stands here"
)


class Rehearsal(NamedTuple):
    """What came of a rehearsal: the calls that the ledger has, by model, and whether it has all that the run asks.

    `broken` says that it ended before all stages were done for a reason other than a missing reply, `by_sample` that all units
    of its work were samples.
    """

    answered: Mapping[str, int]
    complete: bool
    broken: bool
    by_sample: bool


async def accept_with_estimate(method: Method[Q, P], request: Q, session: Session) -> Accepted[P]:
    """Return the accepted request; its estimate leaves out what the ledger has.

    Raises:
        InputError: the data, the configuration or the options cannot be used, or the run would have too many items.
    """
    if isinstance(request, DataRequest) and session.source_run is None:
        data = await asyncio.to_thread(pinned, request.data)
        request = request.model_copy(update={"data": data})
    accepted = await method.accept_checked(request, session)
    accepted = replace(accepted, request=accepted.request or request)
    estimate = await followed_estimate(method, request, session, accepted)
    notes = await asyncio.to_thread(lambda: (*estimate.notes, *_unseen(request, session, accepted)))
    return replace(accepted, estimate=estimate.model_copy(update={"notes": notes}))


async def accept_again(
    method: AnyMethod, plan: RunPlan, request: RunRequest, session: Session, run: Run
) -> Accepted[RunPlan]:
    """Return what an accepted run would be accepted as now: its estimate is of what is left, as a dry run counts it.

    The samples are those that are stored. Where the run cannot be accepted again, for example because a file that it was
    asked with is gone, its estimate is the one that was made at its beginning, and says so.
    """
    session = replace(session, source_run=run, dry=True, sampling=request.sampling_settings)
    try:
        accepted = await method.accept(request, session)
        why = "its models or options are no longer the same"
    except (InputError, StorageError) as problem:
        accepted, why = None, str(problem)
    if accepted is None or run.fresh or run_id(method, accepted.plan) != run.id:
        stored = Estimate.of_run(run)
        notes = (*stored.notes, f"calls and cost as at the beginning of the run; what is left cannot be counted: {why}")
        return Accepted(plan=plan, estimate=stored.model_copy(update={"notes": notes}), request=request)
    estimate = await followed_estimate(method, request, replace(session, source_run=None), accepted)
    return replace(accepted, estimate=estimate, request=request)


def _unseen(request: RunRequest, session: Session, accepted: Accepted[RunPlan]) -> Iterator[str]:
    """Yield a note if a run asks simulated models about pictures that are not of their world."""
    simulated = simulated_names(accepted.plan.models.values())
    samples = [sample for sample in (accepted.first, *accepted.samples[:1]) if sample is not None and sample.images]
    if not simulated or not samples:
        return
    from dokimasia.simulation.picture import read_metadata

    pictures = _first_pictures(request, session, samples[0])
    if pictures and not any(map(read_metadata, pictures)):
        yield (
            f"{in_words(simulated)} {is_or_are(len(simulated))} {UNSEEN}, only in those that `dokimasia sim make` paints: "
            "these figures mean nothing; name real models with --judge and --models"
        )


def _first_pictures(request: RunRequest, session: Session, sample: Sample) -> list[bytes]:
    """Return the pictures of a run's first sample; a dry run, which keeps no pictures, reads those of its data's first line."""
    if not session.dry or session.source_run is not None:
        return [session.opened.blobs.get(image.sha256) for image in sample.images]
    if not isinstance(request, DataRequest):
        return []
    blobs, first = MemoryBlobs(), list[Sample]()
    prompt = request.prompt or "–"
    try:
        shortened = request.model_copy(update={"limit": 1, "subsample": None, "prompt": prompt})
        read_data(shortened, blobs, first.append, need_prompt=False)
    except InputError:  # a faulty first line, which is left out of the run
        return []
    return [blobs.get(image.sha256) for line in first for image in line.images]


async def followed_estimate(
    method: AnyMethod, request: RunRequest, session: Session, accepted: Accepted[RunPlan]
) -> Estimate:
    """Return the estimate of an accepted request without the calls that the ledger has.

    A finished run has nothing left. Otherwise the method counts the calls that the ledger lacks, or its stages are rehearsed,
    over at most twice `FOLLOWED` samples. After a rehearsal, all that depends on a missing reply counts in full, and the calls
    that are left are taken to be the dearer ones of a model.
    """
    estimate, home = accepted.estimate, session.home
    if home is None or session.source_run is not None or not has_calls(home):
        return estimate
    done = not request.fresh and _is_done(home, run_id(method, accepted.plan))
    if accepted.missing_calls is not None:
        missing = {} if done else await accepted.missing_calls(home)
        return estimate.following(missing, samples=len(accepted.spread))
    if not estimate.calls:
        return estimate
    if done:
        return estimate.without({}, samples=estimate.samples, complete=True).exact(asks=True)
    samples = _samples(home, accepted)
    if accepted.places and not samples:
        return estimate
    rehearsal = await _rehearse(method, request, session, accepted, samples)
    if rehearsal.broken and not rehearsal.answered:
        return estimate
    count = max(len(accepted.samples), len(accepted.places), len(samples))
    return _without_answered(estimate, rehearsal, rehearsed=len(samples), samples=count)


def _without_answered(estimate: Estimate, rehearsal: Rehearsal, *, rehearsed: int, samples: int) -> Estimate:
    """Return an estimate without the calls that the ledger has, as counted over the rehearsed ones of a run's samples."""
    scale = 1.0
    if rehearsed and rehearsal.by_sample and not rehearsal.broken:
        scale = samples / rehearsed
    answered = {model: int(calls * scale) for model, calls in rehearsal.answered.items()}
    followed = estimate.samples if rehearsed == samples else rehearsed
    estimate = estimate.without(answered, samples=followed, complete=rehearsal.complete)
    if rehearsal.broken:
        return estimate.model_copy(update={"notes": (*estimate.notes, PARTLY_FOLLOWED)})
    may_ask_more = bool(estimate.people)  # an answer of a person may lead to further calls
    if rehearsal.complete and followed == estimate.samples and not may_ask_more:
        return estimate.exact(asks=bool(rehearsal.answered))
    return estimate


def _is_done(home: Home, run: str) -> bool:
    return home.one("SELECT 1 FROM runs WHERE id = ? AND status = 'done'", (run,)) is not None


def _samples(home: Home, accepted: Accepted[RunPlan]) -> list[Sample]:
    """Return some of a run's samples, evenly spread over all of them, or all if they are few; none if they are not stored."""
    if accepted.spread:
        names = {place.sample_id for place in accepted.places}
        return [sample for sample in accepted.spread if sample.id in names]
    if accepted.samples:
        return list(_spread(accepted.samples))
    ids = [place.value_id for place in _spread(accepted.places)]
    try:
        found = find_values(home, Sample, ids)
    except StorageError:
        return []
    return [found[id] for id in ids]


def _spread(items: Sequence[T]) -> Iterator[T]:
    return islice(items, 0, None, max(1, -(-len(items) // (2 * FOLLOWED))))


async def _rehearse(
    method: AnyMethod, request: RunRequest, session: Session, accepted: Accepted[RunPlan], samples: Sequence[Sample]
) -> Rehearsal:
    """Do the stages of a run over some samples with the ledger's replies; nothing that it makes is kept.

    Whatever a method cannot do without its home or its people ends the rehearsal: the estimate is a bound then.
    """
    home = session.opened
    gateway = RehearsalGateway(home, dict(accepted.plan.models))
    complete = broken = by_sample = False
    try:
        plan = next_fresh(method, home, accepted.plan) if request.fresh else accepted.plan
        row = run_row(method, plan, request, accepted)
        with TemporaryDirectory() as folder, Home.open(folder, write=True) as scratch:
            both = RehearsalHome(home, scratch, row.id)
            run = await _store_run(both, row, accepted, samples)
            by_sample = await _do_stages(method, request, replace(session, home=both), run, gateway)
            complete = not gateway.missing
    except Exception as error:
        logger(__name__).debug("ledger followed in part", method=method.name, error=type(error).__name__)
        broken = True
    return Rehearsal(Counter(gateway.answered.values()), complete, broken, by_sample)


async def _store_run(home: Home, row: Run, accepted: Accepted[RunPlan], samples: Sequence[Sample]) -> Run:
    """Store an accepted run with some of its samples, and return its row as stored."""
    await create_run(home, row)
    await add_samples(home, row.id, samples)
    store = SqliteValueStore(home)
    for value in accepted.values:
        await store.put(value)
    if accepted.keep is not None:
        await accepted.keep(home, row)
    return get_run(home, row.id)


async def _do_stages(
    method: AnyMethod, request: RunRequest, session: Session, run: Run, gateway: "RehearsalGateway"
) -> bool:
    """Do the stages up to a call that belongs to no row and has no reply; return whether all of their units are samples."""
    from dokimasia.graphs.executor import LocalExecutor
    from dokimasia.runs.services import Services
    from dokimasia.runs.work import Job
    from dokimasia.storage.checkpoints import open_saver
    from dokimasia.storage.people.asking import QueuedPeople

    home, (plan, _) = cast("RehearsalHome", session.opened), method.read(run)
    by_sample = True
    async with open_saver(home.scratch) as saver:
        services = Services(
            gateway=cast("ModelGateway", gateway),
            store=SqliteValueStore(home),
            saver=saver,
            specs=plan.models,
            people=QueuedPeople(home, run.id, plan.models),
            executor=LocalExecutor(saver),
        )
        job = Job(session, run, plan, request, services, SilentObserver())
        try:
            async for stage in method.stages(job):
                for unit in stage.units:
                    by_sample = by_sample and isinstance(unit, Sample)
                    await stage.do(unit)
        except CallFailed as failed:
            if failed.kind not in OPEN_KINDS:
                raise
    return by_sample


class RehearsalGateway(LedgerGateway):
    """Answers from the ledger alone, and remembers whom each call asked that the ledger has.

    Attributes:
        answered: the model of each call that the ledger has, by key; those that send an unusable reply back are no part of
            an estimate, and are left out.
    """

    def __init__(self, home: Home, specs: dict[str, ModelSpec]) -> None:
        """Answer the calls of these models, by shown name."""
        super().__init__(home, specs)
        self.answered: dict[str, str] = {}
        self._looked_up = 0

    async def ask(self, call: ModelCall, *, label: str = "", aid: Aid | None = None) -> CallResult:
        """Return the ledger's reply.

        Raises:
            CallFailed: kind `budget`: the ledger has none.
            StorageError: `MOST_CALLS` were looked up.
        """
        self._looked_up += 1
        if self._looked_up > MOST_CALLS:
            raise StorageError("too many calls to look up for an estimate")
        answer = await super().ask(call, label=label, aid=aid)
        if not call.model.person and not _is_repair(call):
            self.answered[answer.key] = call.model.name
        return answer


def _is_repair(call: ModelCall) -> bool:
    """Whether a call may send an unusable reply back: its last message answers one of the model's."""
    return isinstance(call, Chat) and len(call.messages) > 1 and call.messages[-2].role == "assistant"


class RehearsalHome(Home):
    """A home for a run that is rehearsed: it reads another home, and writes into one of its own.

    What names the run is read from its own home, all else from both, the other first.

    Attributes:
        scratch: its own home, open for writing.
    """

    def __init__(self, below: Home, scratch: Home, run: str) -> None:
        """Read `below`, which nothing is written into, and write to `scratch` about the run of that id."""
        super().__init__(below.path, lock=None, writer=scratch.writer)
        self.blobs = _BlobsBeside(below.path / "blobs")
        self.scratch = scratch
        self._below, self._run = below, run

    def one(self, sql: str, parameters: Sequence[object] = ()) -> tuple[object, ...] | None:
        """Return the first row of a query, or None if there is none."""
        row = None if self._run in parameters else self._below.one(sql, parameters)
        return self.scratch.one(sql, parameters) if row is None else row

    def all(self, sql: str, parameters: Sequence[object] = ()) -> list[tuple[object, ...]]:
        """Return all rows of a query."""
        rows = [] if self._run in parameters else self._below.all(sql, parameters)
        return rows + [row for row in self.scratch.all(sql, parameters) if row not in rows]

    def rows(self, sql: str, parameters: Sequence[object] = ()) -> list[Row]:
        """Return all rows of a query with the names of their columns."""
        rows = [] if self._run in parameters else self._below.rows(sql, parameters)
        return rows + [row for row in self.scratch.rows(sql, parameters) if row not in rows]

    def all_among(self, sql: str, ids: Iterable[str], *parameters: object) -> Iterator[tuple[object, ...]]:
        """Yield the rows of a query on many ids from either home."""
        ids = list(ids)
        if self._run in parameters or self._run in ids:
            return self.scratch.all_among(sql, ids, *parameters)
        return chain(self._below.all_among(sql, ids, *parameters), self.scratch.all_among(sql, ids, *parameters))

    def rows_among(self, sql: str, ids: Iterable[str], *parameters: object) -> Iterator[Row]:
        """Yield the rows of a query on many ids from either home, with the names of their columns."""
        ids = list(ids)
        if self._run in parameters or self._run in ids:
            return self.scratch.rows_among(sql, ids, *parameters)
        return chain(self._below.rows_among(sql, ids, *parameters), self.scratch.rows_among(sql, ids, *parameters))


class _BlobsBeside(FileBlobs):
    """The images of a home, which are only read, and in memory those that a rehearsal makes."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._made = MemoryBlobs()

    def put_image(self, data: bytes, ref: ImageRef) -> None:
        self._made.put_image(data, ref)

    def get(self, sha256: str) -> bytes:
        try:
            return self._made.get(sha256)
        except StorageError:
            return super().get(sha256)
