"""The engine of the service: accepts, previews, resumes, forks, cancels and deletes runs in one open home."""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from functools import partial

from pydantic import JsonValue

from dokimasia.domain.call import ModelSpec
from dokimasia.domain.judgement import FailureKind
from dokimasia.domain.ports import Transport
from dokimasia.errors import NotFound
from dokimasia.gateway.budget import Budget
from dokimasia.runs.catalogue import method_named, method_of
from dokimasia.runs.forking import ForkRequest, PreparedFork, keep_fork, prepare_fork
from dokimasia.runs.lifecycle import models_to_reach, prepare_resume, preview_resume
from dokimasia.runs.observer import Observer, SilentObserver
from dokimasia.runs.outcome import check_measures, retryable
from dokimasia.runs.persistence import delete_whole_run, keep_limits, persist_run, run_row
from dokimasia.runs.preview import preview, require_keys
from dokimasia.runs.requests import Invocation, RunRequest
from dokimasia.runs.services import check_prices
from dokimasia.runs.session import Session
from dokimasia.service.allowances import Allowances
from dokimasia.service.queue import Queue, checked_changes
from dokimasia.service.request_parsing import check_models
from dokimasia.settings import Settings
from dokimasia.storage.home import Home
from dokimasia.storage.naming import name_run
from dokimasia.storage.results import count_failed
from dokimasia.storage.runs import Run, get_run

WIDTH = 4
"""The maximum number of runs at work at the same time."""

ACCEPTED_AT_ONCE = 2
"""The maximum number of requests read and checked at the same time, since a large data file keeps a processor busy."""


PREVIEWED_AT_ONCE = 2
"""The maximum number of dry runs at the same time; they wait for each other, and hold up no run that is started."""


class RunEngine:
    """Runs in one open home, which the caller closes. Methods raise the errors that the command line would print.

    A request is accepted or refused immediately; a refused one leaves no run, though its samples may be stored. The run
    starts when its turn comes (`dokimasia.service.queue.Queue`). Use an engine in one event loop, as an asynchronous context
    manager, or with `start` and `close`.
    """

    def __init__(
        self,
        settings: Settings,
        home: Home,
        *,
        width: int = WIDTH,
        observers: Callable[[Run], Observer] = lambda run: SilentObserver(),
        transports: Mapping[str, Transport] | None = None,
        remote_workers: Invocation | None = None,
        allowances: Allowances | None = None,
    ) -> None:
        """Create an engine, which does nothing before `start`.

        Args:
            settings: configuration and keys.
            home: open for writing.
            width: the maximum number of runs at work at the same time.
            observers: creates the observer of a run each time it enters the queue.
            transports: transports that replace the package's own; the caller closes them.
            remote_workers: its `workers`, `engine` and `address` select the processes that execute graphs; by default
                this one.
            allowances: limits on spending and models, of all runs and of each token's holder; by default none.
        """
        self._allowances = allowances or Allowances()
        self._settings = settings
        self._home = home
        self._transports = dict(transports or {})
        self._accepting = asyncio.Semaphore(ACCEPTED_AT_ONCE)
        self._previewing = asyncio.Semaphore(PREVIEWED_AT_ONCE)
        self.queue = Queue(
            settings,
            home,
            width=width,
            observers=observers,
            transports=self._transports,
            remote_workers=remote_workers,
            allowances=self._allowances,
        )

    async def __aenter__(self) -> "RunEngine":
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def configure(self, settings: Settings) -> None:
        """Use other settings for the runs that are accepted, resumed or started from now on."""
        self._settings = settings
        self.queue.configure(settings)

    async def start(self) -> None:
        """Start the queue, with the runs that the previous process left queued or at work."""
        await self.queue.start()

    async def close(self, *, patience: float | None = None) -> None:
        """Finish and commit the calls in flight, for at most `patience` seconds. Runs continue after a restart."""
        await self.queue.close(patience=patience)

    async def submit(self, method: str, request: RunRequest, *, given: object = None, payer: str = "") -> Run:
        """Accept a run and put it into the queue; a run that is queued, at work or done is returned unchanged.

        `payer` is the token's holder, whose allowance the run counts against; empty for none.

        Raises:
            InputError: the data, the configuration or the options cannot be used; no run is stored.
        """
        self.queue.check()
        definition = method_named(method)
        check_measures(definition, request)
        library = definition.library(request, given)
        session = Session(self._settings, self._home, library, given=given, transports=tuple(self._transports))
        work = partial(definition.accept_checked, request, session)
        async with self._accepting:
            # In a thread with its own loop: parts of it block, and a large data file takes seconds.
            accepted = await asyncio.to_thread(lambda: asyncio.run(work()))
            row = await asyncio.to_thread(run_row, definition, accepted.plan, request, accepted)
            await self._check_new(row, request, payer)
            row, new = await persist_run(definition, self._home, request, accepted)
        return await self._enqueue(row, request, new=new, given=given, payer=payer)

    async def preview(self, method: str, request: RunRequest) -> dict[str, object]:
        """Return a run's id, its estimate and its prompts; nothing is stored or sent.

        Raises:
            InputError: see `submit`.
        """
        async with self._previewing:
            previewed = await asyncio.to_thread(preview, method_named(method), request, settings=self._settings)
        self._check_previewed(previewed)
        return previewed

    def _check_previewed(self, previewed: Mapping[str, object]) -> None:
        """Refuse a preview of a run that a start would refuse for its models; a run that is done asks none.

        Raises:
            ConfigError: a model is not permitted.
        """
        models = previewed.get("models")
        if isinstance(models, Mapping) and previewed.get("status") != "done":
            self._allowances.check_models(self._settings, [str(name) for name in models])

    async def resume(
        self,
        run: Run,
        *,
        changes: Mapping[str, JsonValue] | None = None,
        retry: Sequence[str] = (),
        payer: str = "",
    ) -> Run:
        """Put an unfinished run into the queue, or with `retry` a finished run with such failures.

        Args:
            run: the run.
            changes: fields of its request to change this time; spending limits are stored, None for no limit.
            retry: kinds of failure whose items are repeated.
            payer: see `submit`.

        Raises:
            InputError: it cannot continue, for example with other prompts, or not with these changes while it is
                queued.
        """
        self.queue.check()
        await self.queue.wait_until_settled(run.id)
        run, changes = get_run(self._home, run.id), changes or {}
        kinds = retryable(",".join(retry)) if retry else ()
        if kinds or changes:
            self.queue.require_outside(run.id)
        method, _, request, _ = await asyncio.to_thread(
            lambda: prepare_resume(run, changes=checked_changes(run, changes), retry=kinds)
        )
        check_measures(method, request)
        if run.status == "done" and not count_failed(self._home, run.id, kinds):
            return run
        await self._check_keys(run, request, kinds, payer)
        also = tuple(changes.keys() - request.invocation.keys())
        return await self._enqueue(run, request, retry=kinds, also=also, payer=payer)

    async def preview_resume(
        self, run: Run, *, changes: Mapping[str, JsonValue], retry: Sequence[str] = ()
    ) -> dict[str, object]:
        """Return the remaining calls and costs of a run; nothing is stored or sent.

        Raises:
            InputError: see `resume`.
        """
        run = get_run(self._home, run.id)
        kinds = retryable(",".join(retry)) if retry else ()
        async with self._previewing:
            checked = await asyncio.to_thread(checked_changes, run, changes)
            previewed = await preview_resume(self._home, run, settings=self._settings, changes=checked, retry=kinds)
        self._check_previewed(previewed)
        return previewed

    async def fork(self, run: Run, request: ForkRequest, *, payer: str = "") -> Run:
        """Put a fork of a run, which repeats it with changes, into the queue; `payer`: see `submit`.

        Raises:
            InputError: nothing changes, the run is unfinished, or its method cannot be forked.
        """
        self.queue.check()
        check_models(request)
        run, transports = get_run(self._home, run.id), tuple(self._transports)
        async with self._accepting:
            prepared = await self._prepare_fork(run, request, transports)
            changed_request = prepared.request
            await self._check_new(
                run_row(prepared.method, prepared.accepted.plan, changed_request, prepared.accepted),
                changed_request,
                payer,
            )
            row, new = await keep_fork(self._home, run, request, prepared)
        return await self._enqueue(row, changed_request, new=new, payer=payer)

    async def preview_fork(self, run: Run, request: ForkRequest) -> dict[str, object]:
        """Return what a fork would change, reuse, ask and cost; nothing is stored or sent.

        Raises:
            InputError: see `fork`.
        """
        async with self._previewing:
            previewed = (await self._prepare_fork(run, request)).preview
        self._check_previewed(previewed)
        return previewed

    async def _prepare_fork(self, run: Run, request: ForkRequest, transports: Collection[str] = ()) -> PreparedFork:
        """Prepare a fork in a thread with its own loop, as for a new request."""
        work = partial(prepare_fork, self._home, run, request, settings=self._settings, transports=transports)
        return await asyncio.to_thread(lambda: asyncio.run(work()))

    async def cancel(self, run: Run, *, at_once: bool = False) -> Run:
        """Stop a run once the calls in flight are committed, or at once. It does not continue by itself.

        Returns its row when it has stopped, or its current row after some seconds.
        """
        await self.queue.cancel(run.id, at_once=at_once)
        return get_run(self._home, run.id)

    async def delete(self, run: Run) -> Run:
        """Delete a run that is not in the queue, and return its last row.

        Raises:
            InputError: it is in the queue, or an unfinished run needs it.
        """
        await self.queue.wait_until_settled(run.id)
        run = get_run(self._home, run.id)
        self.queue.require_outside(run.id)
        await delete_whole_run(self._home, run.id)
        return run

    async def ended(self, run: Run) -> Run:
        """Wait until a run is neither in the queue nor at work, and return its row."""
        await self.queue.ended(run.id)
        return get_run(self._home, run.id)

    async def _enqueue(
        self,
        run: Run,
        request: RunRequest,
        *,
        new: bool = False,
        retry: Sequence[FailureKind] = (),
        also: Sequence[str] = (),
        given: object = None,
        payer: str = "",
    ) -> Run:
        await self.queue.wait_until_settled(run.id)
        await name_run(self._home, run.id, request.name, request.tags, force=request.force)
        if run.status == "done" and not retry:
            return run
        if run.id not in self.queue:
            run = await keep_limits(self._home, get_run(self._home, run.id), request)
        return await self.queue.put(run, request, new=new, retry=retry, also=also, given=given, payer=payer)

    def budgets_for(self, models: Mapping[str, ModelSpec], payer: str) -> Sequence[Budget]:
        """Return the budgets that a payer's calls to models must fit in.

        Raises:
            ConfigError: a model is not permitted, its price is unknown and spending is limited, or nothing is left to
                spend.
        """
        self._allowances.check_models(self._settings, models)
        self._allowances.check(self._home, payer)
        if self._allowances.limited:
            check_prices(models, max_cost=0.0)
        return self._allowances.budgets(self._home, payer)

    async def _check_new(self, row: Run, request: RunRequest, payer: str) -> None:
        """Check the keys that a new run needs, unless it is already done or queued."""
        with suppress(NotFound):
            if not request.fresh and (get_run(self._home, row.id).status == "done" or row.id in self.queue):
                return
        await self._check_keys(row, request, (), payer)

    async def _check_keys(self, run: Run, request: RunRequest, retry: Sequence[FailureKind], payer: str) -> None:
        """Refuse a run with a model that lacks a key in the environment: its own, or that of its provider.

        Raises:
            ConfigError: the message names every model without a key.
        """
        _, models = models_to_reach(method_of(run), self._home, run, request, settings=self._settings, retry=retry)
        self.budgets_for(models, payer)
        await asyncio.to_thread(
            require_keys,
            self._settings,
            models,
            request,
            asked=models,
            transports=tuple(self._transports),
            way_out=": set it where the service runs, or choose other models",
        )
