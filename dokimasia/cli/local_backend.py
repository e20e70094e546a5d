"""The backend of a home on this machine: read directly; changed by this process, or by the service that holds it."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click
from pydantic import BaseModel, ValidationError

from dokimasia.cli.outcomes import CheckScreen, DueItems, ItemOnScreen, RunOutcome, edited_in, person_named
from dokimasia.cli.shared import console, home_options, reading, redact, with_target_flags
from dokimasia.domain.decision import Action, ChangeReason, CheckItem, Decision, Standing
from dokimasia.domain.identity import JsonObject
from dokimasia.domain.judgement import FailureKind
from dokimasia.errors import DecidedMeanwhile, HomeLocked, InputError, NotFound, StorageError, faults_of
from dokimasia.operations.operation import ListPage, OperationContext, operation_of
from dokimasia.report.fields import RunFigures, as_json
from dokimasia.runs.catalogue import method_of
from dokimasia.runs.forking import ForkRequest
from dokimasia.runs.method import AnyMethod
from dokimasia.runs.reading.inspection import items_of_run
from dokimasia.runs.requests import Invocation, RunRequest
from dokimasia.settings import Settings
from dokimasia.storage.decisions import clear_draft, draft_file
from dokimasia.storage.home import Home
from dokimasia.storage.lock import WriterLock, access_to
from dokimasia.storage.naming import Usable
from dokimasia.storage.runs import Run, get_run, now

if TYPE_CHECKING:
    from dokimasia.cli.remote_backend import RemoteBackend
    from dokimasia.endpoints.models import ModelListed
    from dokimasia.people.checks.figures import StandingFigures
    from dokimasia.people.checks.filled import ImportResult
    from dokimasia.runs.lifecycle import RunResult

P = TypeVar("P", bound=ListPage)
E = TypeVar("E")
R = TypeVar("R")

WHOLE = 2**31
"""A page limit that fits a whole list on one page."""


class LocalBackend:
    """Carries out operations and runs in a home of this machine; if a service holds the home, it makes the changes."""

    remote = False

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.detached = False
        self._standings: dict[str, Standing] = {}

    @property
    def where(self) -> str:
        """The options for another command to find the same home and configuration, with a leading space."""
        return home_options(self.settings)

    @property
    def named(self) -> str:
        """The name of the home in messages."""
        return str(self.settings.home)

    def only_here(self, what: str) -> None:
        """Refuse nothing, since the home is on this machine."""

    def detach(self) -> None:
        """Leave runs to the service that holds the home.

        Raises:
            click.UsageError: no service holds it.
        """
        if self.holder() is None:
            raise click.UsageError(
                "--detach leaves a run to a service: name one with --server, or begin one with `dokimasia serve`"
            )
        self.detached = True

    def holder(self) -> "RemoteBackend | None":
        """Return the service that holds the home, if one accepts commands of this user.

        Files left by a killed service do not count: only a live process holds the lock.
        """
        access = access_to(self.settings.home)
        if access is None:
            return None
        try:
            WriterLock.acquire(self.settings.home / "lock").release()
            return None
        except HomeLocked as problem:
            if problem.service != access.url:
                return None
        except StorageError:  # the next write reports it
            return None
        from dokimasia.cli.remote_backend import RemoteBackend

        settings = replace(self.settings, server=access.url, server_token=access.token)
        service = RemoteBackend(settings, where=self.where)
        if self.detached:
            service.detach()
        return service

    def call(self, function: Callable[..., Awaitable[R] | R], *, who: str = "", **arguments: object) -> R:
        """Carry out an operation on behalf of `who`, and return its reply."""
        operation = operation_of(function)
        if operation.changes and (service := self.holder()):
            return service.call(function, who=who, **arguments)
        if (body := arguments.get("body")) is not None:
            arguments |= {"body": _body(function, body)}
        with Home.open(self.settings.home, write=operation.changes, create=operation.creates) as home:
            context = OperationContext(settings=self.settings, home=home, person=who, redact=redact)
            result = operation.function(context, **arguments)
            if inspect.iscoroutine(result):
                return asyncio.run(result)
            return result

    def entries(
        self, function: Callable[..., P], entries_of: Callable[[P], Sequence[E]], *, who: str = "", **arguments: object
    ) -> list[E]:
        """Return the entries of all pages of a list."""
        return list(entries_of(self.call(function, who=who, limit=WHOLE, **arguments)))

    def upload(self, path: Path) -> str:
        """Return a file's name for an operation, uploading the file to the service that holds the home."""
        service = self.holder()
        if service is None:
            return str(path)
        return service.upload(path)

    def find(self, run: str, usable: Usable | None = None) -> Run:
        """Return the run that a user means; `last` is the newest of those that are usable."""
        with reading(self.settings, run, usable) as (_, row):
            return row

    def preview(self, method: AnyMethod, request: RunRequest) -> JsonObject:
        """Return the id, calls, cost and prompts of a prospective run."""
        from dokimasia.runs.preview import preview

        return preview(method, request, settings=self.settings)

    def check_keys(self, preview: JsonObject) -> None:
        """Raise `ConfigError` if a key that the run would need is not set."""
        from dokimasia.runs.preview import check_keys

        check_keys(self.settings, preview)

    def run(self, method: AnyMethod, request: RunRequest) -> RunOutcome:
        """Run a request to its end."""
        from dokimasia.cli.running import run_to_end
        from dokimasia.client.files import without_written
        from dokimasia.runs.lifecycle import run

        if service := self.holder():
            return service.run(method, without_written(request))
        flags = request.worker_flags  # invalid combinations are refused before anything is stored
        return _outcome(
            run_to_end(partial(run, method, request), self.settings, method=method.name, worker_flags=flags)
        )

    def resume(
        self, run: Run, changes: Mapping[str, object], *, prompts: Sequence[Path], retry: Sequence[FailureKind]
    ) -> RunOutcome:
        """Resume a run and carry it out to its end."""
        from dokimasia.cli.running import run_to_end
        from dokimasia.runs.lifecycle import resume

        if service := self.holder():
            return service.resume(run, changes, prompts=prompts, retry=retry)
        flags = Invocation.model_validate(changes).worker_flags
        work = partial(resume, run, changes=_resumed(changes, prompts), retry=retry)
        return _outcome(run_to_end(work, self.settings, method=run.method, worker_flags=flags))

    def resume_preview(
        self, run: Run, changes: Mapping[str, object], *, prompts: Sequence[Path], retry: Sequence[FailureKind]
    ) -> JsonObject:
        """Return the remaining calls and cost of a run."""
        from dokimasia.runs.lifecycle import preview_resume

        with reading(self.settings, run.id) as (home, row):
            work = preview_resume(home, row, settings=self.settings, changes=_resumed(changes, prompts), retry=retry)
            return asyncio.run(work)

    def fork_preview(self, run: Run, request: ForkRequest) -> JsonObject:
        """Return the id, steps, calls and cost of a prospective fork."""
        from dokimasia.runs.forking import prepare_fork

        with reading(self.settings, run.id) as (home, parent):
            return asyncio.run(prepare_fork(home, parent, request, settings=self.settings)).preview

    def fork(self, run: Run, request: ForkRequest) -> RunOutcome:
        """Fork a run and carry the new run out to its end."""
        from dokimasia.cli.running import run_to_end
        from dokimasia.runs.forking import fork

        if service := self.holder():
            return service.fork(run, request)
        work = partial(fork, run, request)
        return _outcome(run_to_end(work, self.settings, method=run.method, worker_flags=request.worker_flags))

    def after(self, method: AnyMethod, run: str, request: RunRequest) -> Sequence[str]:
        """Carry out the method's last step on this machine, such as writing files, and return the lines to print."""
        if method.after is None:
            return ()
        with reading(self.settings, run) as (home, row):
            return list(method.after(home, get_run(home, row.id), request))

    def view(self, run: str, *, figures: RunFigures | None = None) -> JsonObject:
        """Return a run's figures as JSON, with its items if its method shows them."""
        with reading(self.settings, run) as (home, row):
            method = method_of(row)
            view = as_json(method.figures(home, row) if figures is None else figures)
            if method.results.items_shown:
                view["items"] = list(items_of_run(home, row))
            return view

    def draw(
        self,
        run: str,
        *,
        full: bool = False,
        models: Collection[str] = (),
        figures: RunFigures | None = None,
        planted: Mapping[str, object] | None = None,
    ) -> None:
        """Print a run's conclusion and its first table; with `full`, all sections; with `models`, only rows about these."""
        from dokimasia.report.terminal import draw_run
        from dokimasia.runs.reading.reporting import run_data

        with reading(self.settings, run) as (home, row):
            data = replace(run_data(home, row, figures), planted=planted)
            draw_run(console(), data, redact=lambda text: with_target_flags(redact(text)), full=full, models=models)

    def models(self, names: Sequence[str], *, simulated: bool) -> "list[ModelListed]":
        """Return the configured or named models, with the environment variables of their keys."""
        from dokimasia.endpoints.models import chosen_models, list_models

        return list_models(self.settings, chosen_models(self.settings, names, simulated=simulated))

    def standing(self, run: str) -> "StandingFigures":
        """Return the states of a run's items for people, and people's agreement."""
        from dokimasia.people.checks import open_for_people
        from dokimasia.people.checks.figures import standing_figures

        standings = open_for_people(self.settings, run)
        with Home.open(self.settings.home, write=False) as home:
            return standing_figures(home, standings[0].item.run, standings)

    def reviewer(self, run: str, who: str | None) -> str:
        """Return the name under which decisions are stored: `who`, or the name of the user of this machine."""
        return person_named(who)

    def due_items(self, run: str, *, who: str, second: bool) -> DueItems:
        """Return the items that a person can decide in a run."""
        from dokimasia.people.checks import is_due, open_for_people
        from dokimasia.people.checks.figures import check_figures

        standings = open_for_people(self.settings, run)
        self._standings = {standing.item.id: standing for standing in standings}
        items = [standing.item.id for standing in standings if is_due(standing, who, second=second)]
        return DueItems(standings[0].item.run, items, check_figures(standings).asked)

    def show_item(self, run: str, item: str, *, who: str) -> CheckScreen:
        """Return an item as shown to a person; record that a question was shown, unless the home is locked."""
        from dokimasia.people.checks import show_question, shown_item
        from dokimasia.storage.decisions import standing

        item_standing = self._standings[item]
        if item_standing.item.kind == "question":
            with (
                suppress(HomeLocked),
                Home.open(self.settings.home, write=True, create=False, command="dokimasia decide") as home,
            ):
                asyncio.run(show_question(home, item))  # in a locked home, the time is stored with the answer
        with Home.open(self.settings.home, write=False) as home:
            with suppress(NotFound):  # a home held by another process may not have its row yet
                item_standing = standing(home, item)
            unfinished = draft_file(self.settings.home, item, who).is_file()
            shown = ItemOnScreen.model_validate(shown_item(home, item_standing, who))
            return CheckScreen(item_standing.item, shown, unfinished, now())

    def image(self, sha256: str) -> bytes:
        """Return the bytes of an image; empty if it is missing."""
        with Home.open(self.settings.home, write=False) as home:
            if home.blobs.file(sha256).is_file():
                return home.blobs.get(sha256)
            return b""

    def edit_text(self, item: CheckItem, begin: str, *, who: str) -> str:
        """Open a text in $EDITOR and return it; its file is in the home, so that saved text survives a closed terminal."""
        return edited_in(draft_file(self.settings.home, item.id, who), begin)

    def forget_text(self, item: CheckItem, *, who: str) -> None:
        """Delete a person's unfinished text."""
        clear_draft(self.settings.home, item.id, who)

    def check_files(self, run: str, name: str, *, who: str, others: bool) -> Mapping[str, bytes]:
        """Return the files for checking all items of a run offline; the first has this name."""
        from dokimasia.people.checks import open_for_people
        from dokimasia.people.checks.files import check_files

        standings = open_for_people(self.settings, run)
        with Home.open(self.settings.home, write=False) as home:
            return check_files(home, standings, name, who=who, others=others)

    def take_in_checks(self, run: str, file: Path, *, who: str) -> "ImportResult":
        """Import the decisions of a file."""
        from dokimasia.people.checks.filled import import_checks

        if service := self.holder():
            return service.take_in_checks(run, file, who=who)
        return import_checks(self.settings, run, file, who=who)

    def decide(
        self,
        item: CheckItem,
        action: Action,
        *,
        who: str,
        text: str = "",
        shown: str = "",
        seen: int | None = None,
        reasons: Sequence[ChangeReason] = (),
    ) -> Decision | None:
        """Store and return a person's decision on an item; None if it is left to the process that holds the home.

        Raises:
            DecidedMeanwhile: there are more decisions on it than the person had `seen`; the person's text is kept
                unfinished.
        """
        from dokimasia.people.checks import decide, keep_draft
        from dokimasia.storage.decisions import standing
        from dokimasia.storage.people.questions import get_question

        if service := self.holder():
            service.decide(item, action, who=who, text=text, seen=seen, reasons=reasons)
            with Home.open(self.settings.home, write=False) as home:
                own_decisions = [decision for decision in standing(home, item.id).decisions if decision.who == who]
            if own_decisions:
                return own_decisions[-1]
            return None
        with Home.open(self.settings.home, write=False) as home:
            earlier_reply = (get_question(home, item.id).reply or "") if action == "undo" else ""
            try:
                decision = decide(
                    item,
                    action,
                    who=who,
                    text=text,
                    shown=shown,
                    seen=seen,
                    reasons=reasons,
                    settings=self.settings,
                )
            except DecidedMeanwhile:
                if text:
                    keep_draft(home, item.id, who, text)
                raise
            if earlier_reply:
                keep_draft(home, item.id, who, earlier_reply)
        return decision


def _outcome(result: "RunResult") -> RunOutcome:
    return RunOutcome(result.run, result.end, result.why, result.summary)


def _resumed(changes: Mapping[str, object], prompts: Sequence[Path]) -> dict[str, object]:
    """Return the changes to a resumed run's request: it is not fresh, and keeps its prompts unless others are named."""
    resumed: dict[str, object] = {**changes, "fresh": False}
    if prompts:
        resumed["prompts"] = prompts
    return resumed


def _body(function: Callable[..., object], values: object) -> BaseModel:
    """Return the body of an operation.

    Raises:
        InputError: it cannot be used.
    """
    model: type[BaseModel] = inspect.signature(function).parameters["body"].annotation
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise InputError(faults_of(error)) from None
