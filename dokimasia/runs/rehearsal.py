"""Accept requests with an estimate that excludes calls in the ledger, found by rehearsing the stages with its replies."""

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
"""The maximum number of calls that an estimate looks up in the ledger."""

PARTLY_FOLLOWED = (
    "what the ledger has of this run could be looked through in part only: it asks and costs at most what stands here"
)


class Rehearsal(NamedTuple):
    """The outcome of a rehearsal: calls found in the ledger, by model, and whether the ledger has all calls of the run.

    `broken` is true if the rehearsal ended early for a reason other than a missing reply, `by_sample` if all units of work
    were samples.
    """

    answered: Mapping[str, int]
    complete: bool
    broken: bool
    by_sample: bool


async def accept_with_estimate(method: Method[Q, P], request: Q, session: Session) -> Accepted[P]:
    """Return the accepted request, with an estimate that excludes calls in the ledger.

    Raises:
        InputError: the data, the configuration or the options are unusable, or the run would have too many items.
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
    """Accept an accepted run again, with an estimate of the remaining calls, counted as in a dry run.

    The samples are the stored ones. If the run cannot be accepted again, for example because a file of its request is gone,
    return the estimate from its beginning, with a note that says so.
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
    """Yield a note if a run asks simulated models about pictures from outside their world."""
    simulated = simulated_names(accepted.plan.models.values())
    examples = [sample for sample in (accepted.first, *accepted.samples[:1]) if sample is not None and sample.images]
    if not simulated or not examples:
        return
    from dokimasia.simulation.picture import read_metadata

    pictures = _first_pictures(request, session, examples[0])
    if pictures and not any(map(read_metadata, pictures)):
        yield (
            f"{in_words(simulated)} {is_or_are(len(simulated))} {UNSEEN}, only in those that `dokimasia sim make` paints: "
            "these figures mean nothing; name real models with --judge and --models"
        )


def _first_pictures(request: RunRequest, session: Session, sample: Sample) -> list[bytes]:
    """Return the pictures of a run's first sample; a dry run stores none, so read those of the first line of its data."""
    if not session.dry or session.source_run is not None:
        return [session.opened.blobs.get(image.sha256) for image in sample.images]
    if not isinstance(request, DataRequest):
        return []
    blobs, first = MemoryBlobs(), list[Sample]()
    prompt = request.prompt or "–"
    try:
        shortened = request.model_copy(update={"limit": 1, "subsample": None, "prompt": prompt})
        read_data(shortened, blobs, first.append, need_prompt=False)
    except InputError:  # the run skips a faulty first line
        return []
    return [blobs.get(image.sha256) for line in first for image in line.images]


async def followed_estimate(
    method: AnyMethod, request: RunRequest, session: Session, accepted: Accepted[RunPlan]
) -> Estimate:
    """Return the estimate of an accepted request without the calls in the ledger.

    A finished run has no remaining calls. Otherwise the method counts the calls missing from the ledger, or its stages are
    rehearsed, over at most twice `FOLLOWED` samples. After a rehearsal, everything that depends on a missing reply counts in
    full, and the remaining calls of a model are assumed to be its more expensive ones.
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
    """Return an estimate without the calls in the ledger, extrapolated from the rehearsed samples to all samples of the run."""
    scale = 1.0
    if rehearsed and rehearsal.by_sample and not rehearsal.broken:
        scale = samples / rehearsed
    answered = {model: int(calls * scale) for model, calls in rehearsal.answered.items()}
    followed = estimate.samples if rehearsed == samples else rehearsed
    estimate = estimate.without(answered, samples=followed, complete=rehearsal.complete)
    if rehearsal.broken:
        return estimate.model_copy(update={"notes": (*estimate.notes, PARTLY_FOLLOWED)})
    may_ask_more = bool(estimate.people)  # a person's answer may lead to more calls
    if rehearsal.complete and followed == estimate.samples and not may_ask_more:
        return estimate.exact(asks=bool(rehearsal.answered))
    return estimate


def _is_done(home: Home, run: str) -> bool:
    return home.one("SELECT 1 FROM runs WHERE id = ? AND status = 'done'", (run,)) is not None


def _samples(home: Home, accepted: Accepted[RunPlan]) -> list[Sample]:
    """Return all samples of a run if they are few, or an evenly spread selection; none if they are not stored."""
    if accepted.spread:
        names = {place.sample_id for place in accepted.places}
        return [sample for sample in accepted.spread if sample.id in names]
    if accepted.samples:
        return list(_spread(accepted.samples))
    ids = [place.value_id for place in _spread(accepted.places)]
    try:
        samples = find_values(home, Sample, ids)
    except StorageError:
        return []
    return [samples[id] for id in ids]


def _spread(items: Sequence[T]) -> Iterator[T]:
    return islice(items, 0, None, max(1, -(-len(items) // (2 * FOLLOWED))))


async def _rehearse(
    method: AnyMethod, request: RunRequest, session: Session, accepted: Accepted[RunPlan], samples: Sequence[Sample]
) -> Rehearsal:
    """Rehearse the stages of a run over some samples with the ledger's replies, in a home that is deleted afterwards.

    A step that a method cannot do without its home or its people ends the rehearsal; the estimate is an upper bound then.
    """
    home = session.opened
    gateway = RehearsalGateway(home, dict(accepted.plan.models))
    complete = broken = by_sample = False
    try:
        plan = next_fresh(method, home, accepted.plan) if request.fresh else accepted.plan
        row = run_row(method, plan, request, accepted)
        with TemporaryDirectory() as folder, Home.open(folder, write=True) as scratch:
            overlay = RehearsalHome(home, scratch, row.id)
            run = await _store_run(overlay, row, accepted, samples)
            by_sample = await _do_stages(method, request, replace(session, home=overlay), run, gateway)
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
    """Do the stages, up to a call without a reply that belongs to no row; return whether all units were samples."""
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
        except CallFailed as error:
            if error.kind not in OPEN_KINDS:
                raise
    return by_sample


class RehearsalGateway(LedgerGateway):
    """A gateway that answers from the ledger alone and records the calls found there.

    Attributes:
        answered: the model of each call found in the ledger, by key, without repair requests, which estimates exclude.
    """

    def __init__(self, home: Home, specs: dict[str, ModelSpec]) -> None:
        """Answer the calls of some models, by display name."""
        super().__init__(home, specs)
        self.answered: dict[str, str] = {}
        self._looked_up = 0

    async def ask(self, call: ModelCall, *, label: str = "", aid: Aid | None = None) -> CallResult:
        """Return the ledger's reply.

        Raises:
            CallFailed: the ledger has none; kind `budget`.
            StorageError: more than `MOST_CALLS` calls were looked up.
        """
        self._looked_up += 1
        if self._looked_up > MOST_CALLS:
            raise StorageError("too many calls to look up for an estimate")
        answer = await super().ask(call, label=label, aid=aid)
        if not call.model.person and not _is_repair(call):
            self.answered[answer.key] = call.model.name
        return answer


def _is_repair(call: ModelCall) -> bool:
    """Whether a call may be a repair request: its last message responds to a message of the model."""
    return isinstance(call, Chat) and len(call.messages) > 1 and call.messages[-2].role == "assistant"


class RehearsalHome(Home):
    """A home for a rehearsal, which reads another home and writes to a scratch home.

    Queries that name the run read the scratch home alone; all others read both, the other home first.

    Attributes:
        scratch: the scratch home, open for writing.
    """

    def __init__(self, base: Home, scratch: Home, run: str) -> None:
        """Read `base` without writing to it, and write to `scratch`; `run` is the id of the rehearsed run."""
        super().__init__(base.path, lock=None, writer=scratch.writer)
        self.blobs = _RehearsalBlobs(base.path / "blobs")
        self.scratch = scratch
        self._base, self._run = base, run

    def one(self, sql: str, parameters: Sequence[object] = ()) -> tuple[object, ...] | None:
        """Return the first row of a query, or None if there is none."""
        row = None if self._run in parameters else self._base.one(sql, parameters)
        if row is None:
            return self.scratch.one(sql, parameters)
        return row

    def all(self, sql: str, parameters: Sequence[object] = ()) -> list[tuple[object, ...]]:
        """Return all rows of a query."""
        rows = [] if self._run in parameters else self._base.all(sql, parameters)
        return rows + [row for row in self.scratch.all(sql, parameters) if row not in rows]

    def rows(self, sql: str, parameters: Sequence[object] = ()) -> list[Row]:
        """Return all rows of a query, with column names."""
        rows = [] if self._run in parameters else self._base.rows(sql, parameters)
        return rows + [row for row in self.scratch.rows(sql, parameters) if row not in rows]

    def all_among(self, sql: str, ids: Iterable[str], *parameters: object) -> Iterator[tuple[object, ...]]:
        """Return the rows of a query on many ids from both homes."""
        ids = list(ids)
        if self._run in parameters or self._run in ids:
            return self.scratch.all_among(sql, ids, *parameters)
        return chain(self._base.all_among(sql, ids, *parameters), self.scratch.all_among(sql, ids, *parameters))

    def rows_among(self, sql: str, ids: Iterable[str], *parameters: object) -> Iterator[Row]:
        """Return the rows of a query on many ids from both homes, with column names."""
        ids = list(ids)
        if self._run in parameters or self._run in ids:
            return self.scratch.rows_among(sql, ids, *parameters)
        return chain(self._base.rows_among(sql, ids, *parameters), self.scratch.rows_among(sql, ids, *parameters))


class _RehearsalBlobs(FileBlobs):
    """The images of a home, read only, and those of a rehearsal, in memory."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._new = MemoryBlobs()

    def put_image(self, data: bytes, ref: ImageRef) -> None:
        self._new.put_image(data, ref)

    def get(self, sha256: str) -> bytes:
        try:
            return self._new.get(sha256)
        except StorageError:
            return super().get(sha256)
