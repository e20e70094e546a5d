"""The backend of a service, on another machine or holding a home of this one; everything goes over HTTP."""

import re
import signal
import sys
import tempfile
import threading
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from dokimasia import operations
from dokimasia.cli.outcomes import CheckScreen, DueItems, ItemOnScreen, RunOutcome, edited_in, person_named
from dokimasia.cli.shared import console, refuse_remote, say, with_target_flags
from dokimasia.client import Client, ClientRun, Event
from dokimasia.domain.decision import RATED, Action, ChangeReason, CheckItem, Decision
from dokimasia.domain.identity import JsonObject, Value
from dokimasia.errors import DecidedMeanwhile, DokimasiaError, InputError, NotFound, Unreachable
from dokimasia.gateway.events import GatewayEvent, GatewayStats
from dokimasia.log import printable, unguarded
from dokimasia.operations.operation import ListPage
from dokimasia.report.fields import RunFigures, as_json
from dokimasia.report.figures import several
from dokimasia.runs.estimate import Estimate
from dokimasia.runs.forking import ForkRequest
from dokimasia.runs.method import AnyMethod
from dokimasia.runs.observer import Progress
from dokimasia.runs.requests import LIMITS, Invocation, RunRequest
from dokimasia.settings import Settings
from dokimasia.storage.decisions import draft_file
from dokimasia.storage.naming import LAST, Usable
from dokimasia.storage.runs import Run, now

if TYPE_CHECKING:
    from dokimasia.cli.running import ProgressLine
    from dokimasia.endpoints.models import ModelListed
    from dokimasia.operations.runs import RunShown
    from dokimasia.people.checks.figures import StandingFigures
    from dokimasia.people.checks.filled import ImportResult

P = TypeVar("P", bound=ListPage)
E = TypeVar("E")
R = TypeVar("R")
V = TypeVar("V", bound=Value)

_COLOURS = re.compile(r"(\x1b\[[0-9;]*m)")
_PROGRESS = ("items", "done", "restored", "failures", "waiting_items", "unpaid_items")


class RemoteBackend:
    """Carries out operations and runs on a service.

    Args:
        settings: its address and token.
        where: the options for another command to find the same service; by default the address.
    """

    remote = True

    def __init__(self, settings: Settings, *, where: str = "") -> None:
        self.settings = settings
        self.where = where or f" --server {settings.server}"
        self.client = Client(settings.server, settings.server_token)
        if context := click.get_current_context(silent=True):
            context.call_on_close(self.client.close)
        self.detached = False
        self._drafts: dict[str, str] = {}

    @property
    def named(self) -> str:
        """The name of its home in messages."""
        return f"the home of {self.settings.server}"

    def only_here(self, what: str) -> None:
        """Raise `click.UsageError` for a command that works only on a home of this machine."""
        refuse_remote(what)

    def detach(self) -> None:
        """Leave runs to the service once they are started."""
        self.detached = True

    def call(self, function: Callable[..., Awaitable[R] | R], *, who: str = "", **arguments: object) -> R:
        """Have the service carry out an operation, on behalf of `who` if it accepts that, and return its reply."""
        with self._client_of(who) as client:
            return client.reply(function, **arguments)

    def entries(
        self, function: Callable[..., P], entries_of: Callable[[P], Sequence[E]], *, who: str = "", **arguments: object
    ) -> list[E]:
        """Return the entries of all pages of a list."""
        with self._client_of(who) as client:
            return [entry for page in client.replies(function, **arguments) for entry in entries_of(page)]

    def upload(self, path: Path) -> str:
        """Upload a file unless the service has it, and return its name for an operation."""
        return self.client.upload(path)

    def find(self, run: str, usable: Usable | None = None) -> Run:
        """Return the run that a user means, with the fields of lists; `last` is the newest usable one."""
        if run != LAST or usable is None:
            return _row(self.call(operations.runs.one_run, run=run))
        runs = [_row(entry) for entry in self.entries(operations.runs.list_of_runs, lambda page: page.runs)]
        newest = next((run for run in runs if usable(run)), runs[0] if runs else None)
        return newest or _row(self.call(operations.runs.one_run, run=run))

    def preview(self, method: AnyMethod, request: RunRequest) -> JsonObject:
        """Return the id, calls, cost and prompts of a prospective run."""
        return self.client.preview_of(method.name, request)

    def check_keys(self, preview: JsonObject) -> None:
        """Do nothing: the service has the keys."""

    def run(self, method: AnyMethod, request: RunRequest) -> RunOutcome:
        """Run a request to its end."""
        return self._follow(lambda: self.client.begin(method.name, request), request)

    def resume(
        self, run: Run, changes: Mapping[str, object], *, prompts: Sequence[Path], retry: Sequence[str]
    ) -> RunOutcome:
        """Resume a run and follow it to its end."""
        limits = _limits(changes)
        client_run = ClientRun(self.client, run.model_dump())

        def begin() -> ClientRun:
            if retry:
                return client_run.retry(retry, prompts=prompts, **limits)
            return client_run.resume(prompts=prompts, **limits)

        return self._follow(begin, Invocation.model_validate(changes))

    def resume_preview(
        self, run: Run, changes: Mapping[str, object], *, prompts: Sequence[Path], retry: Sequence[str]
    ) -> JsonObject:
        """Return the remaining calls and cost of a run."""
        client_run = ClientRun(self.client, run.model_dump())
        return client_run.resume_preview(retry=retry, prompts=prompts, **_limits(changes))

    def fork_preview(self, run: Run, request: ForkRequest) -> JsonObject:
        """Return the id, steps, calls and cost of a prospective fork."""
        return ClientRun(self.client, run.model_dump()).fork_preview(**_set_fields(request))

    def fork(self, run: Run, request: ForkRequest) -> RunOutcome:
        """Fork a run and follow the new run to its end."""
        parent = ClientRun(self.client, run.model_dump())
        return self._follow(lambda: parent.fork(**_set_fields(request)), request)

    def after(self, method: AnyMethod, run: str, request: RunRequest) -> Sequence[str]:
        """Return no lines: a service writes no files on this machine, and the run's report has everything."""
        return ()

    def view(self, run: str, *, figures: RunFigures | None = None) -> JsonObject:
        """Return a run's figures as JSON, with its items if its method shows them."""
        detail = self.call(operations.runs.one_run, run=run)
        view = as_json(detail.figures if figures is None else figures)
        if detail.items_shown:
            view["items"] = self.entries(operations.results.items, lambda page: page.items, run=detail.id)
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
        """Print what a local backend's `draw` prints, as drawn by the service."""
        out = console()
        colour = bool(out.is_terminal and out.color_system)
        width = max(40, min(out.width, 500))
        reply = self.call(
            operations.results.report,
            run=run,
            format="terminal",
            width=width,
            colour=colour,
            full=full,
            model=list(models) or None,
        )
        _print(with_target_flags(reply.data.decode()), colour=colour)

    def models(self, names: Sequence[str], *, simulated: bool) -> "list[ModelListed]":
        """Return the configured models of the service, or the named ones among them and the simulated models.

        Raises:
            NotFound: the service has no model with such a name.
        """
        from dokimasia.endpoints.models import ModelListed

        all_models = [
            ModelListed.model_validate(
                {name: value for name, value in model.items() if (name, value) != ("about", None)}
            )
            for model in self.client.models(simulated=simulated or bool(names))
        ]
        models = {model.name: model for model in all_models}
        unknown = [name for name in names if name not in models]
        if unknown:
            raise NotFound(
                f"no model is called {unknown[0]!r} in {self.named}; `dokimasia models{self.where} --simulated` lists all"
            )
        if names:
            return [models[name] for name in dict.fromkeys(names)]
        return all_models

    def standing(self, run: str) -> "StandingFigures":
        """Return the states of a run's items for people, and people's agreement.

        Raises:
            NotFound: the run has no such items.
        """
        from dokimasia.people.checks import nothing_to_check

        figures = self.call(operations.reviews.agreement, run=self._reviewed_run(run))
        if not figures.items:
            raise nothing_to_check(figures.run)
        return figures

    def reviewer(self, run: str, who: str | None) -> str:
        """Return the name under which the service stores decisions.

        Raises:
            InputError: the token belongs to another person than `who`.
        """
        name = person_named(who)
        reviewer = self.call(operations.reviews.one_review, who=name, run=self._reviewed_run(run), limit=1).person
        if who and reviewer != name:
            raise InputError(
                f"the token is {reviewer}'s, and decides as {reviewer} alone: leave --who out, or use {who}'s token"
            )
        return reviewer

    def due_items(self, run: str, *, who: str, second: bool) -> DueItems:
        """Return the items that a person can decide in a run.

        Raises:
            NotFound: the run has no items for people.
        """
        figures = self.standing(run)
        pending = self.entries(
            operations.reviews.one_review,
            lambda page: page.items,
            who=who,
            run=figures.run,
            due=True,
            second=second or None,
        )
        items = [entry.item for entry in pending if entry.kind not in RATED]
        return DueItems(figures.run, items, figures.asked)

    def show_item(self, run: str, item: str, *, who: str) -> CheckScreen:
        """Return an item as shown to a person; the service records that a question was shown."""
        item_shown = self.call(operations.reviews.one_item, who=who, run=run, item=item)
        self._drafts.pop(item, None)
        if item_shown.draft is not None:
            self._drafts[item] = item_shown.draft
        unfinished = item_shown.draft is not None
        shown = ItemOnScreen.model_validate(item_shown.shown)
        return CheckScreen(CheckItem.model_validate(item_shown.item), shown, unfinished, now())

    def image(self, sha256: str) -> bytes:
        """Return the bytes of an image; empty if it is missing."""
        try:
            return self.client.image(sha256)
        except NotFound:
            return b""

    def edit_text(self, item: CheckItem, begin: str, *, who: str) -> str:
        """Open a text in $EDITOR, and store the saved text as a draft on the service.

        Raises:
            Unreachable: the service does not answer; the message names a local file with the text.
        """
        draft = self._drafts.get(item.id, begin)
        with tempfile.TemporaryDirectory(prefix="dokimasia-check-") as folder:
            text = edited_in(draft_file(Path(folder), item.id, who), draft)
        if text == draft:
            return text
        self._drafts[item.id] = text
        try:
            self._keep_draft(item, text, who)
        except Unreachable as problem:
            with tempfile.NamedTemporaryFile("w", suffix=f"-{item.id}.txt", delete=False, encoding="utf-8") as backup:
                backup.write(text)
            raise Unreachable(f"{problem}; your text lies in {backup.name}") from None
        return text

    def forget_text(self, item: CheckItem, *, who: str) -> None:
        """Delete a person's unfinished text."""
        self._drafts.pop(item.id, None)
        self._keep_draft(item, "", who)

    def check_files(self, run: str, name: str, *, who: str, others: bool) -> Mapping[str, bytes]:
        """Return the files for checking all items of a run offline; the first has this name."""
        reply = self.call(operations.reviews.files, who=who, run=self._reviewed_run(run), name=name, others=others)
        files = operations.results.unzipped(reply.data)
        return {file: files[file] for file in sorted(files, key=lambda file: file != name)}

    def take_in_checks(self, run: str, file: Path, *, who: str) -> "ImportResult":
        """Import the decisions of a file into the service, without the file's display fields."""
        from dokimasia.people.checks.filled import ImportResult, read_checks

        lines = [line.model_dump(mode="json", exclude_defaults=True) for line in read_checks(file)]
        body = {"name": str(file), "lines": lines}
        imported = self.call(operations.reviews.take_in, who=who, run=self._reviewed_run(run), body=body)
        return ImportResult(imported.decided, imported.known, 0, imported.empty)

    def _keep_draft(self, item: CheckItem, text: str, who: str) -> None:
        self.call(operations.reviews.draft, who=who, run=item.run, item=item.id, body={"text": text})

    @contextmanager
    def _client_of(self, who: str) -> Iterator[Client]:
        """Yield a client that acts on behalf of `who`, or of nobody."""
        if not who:
            yield self.client
            return
        with Client(self.settings.server, self.settings.server_token, who=who) as client:
            yield client

    def _reviewed_run(self, run: str) -> str:
        """Return the id of a run with items for people."""
        from dokimasia.people.checks import waits

        return self.find(run, waits).id

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
        """Store and return a person's decision on an item."""
        precondition = {"second": item.kind != "question"} if seen is None else {"seen": seen}
        body = {"action": action, "text": text, "reasons": [*reasons], **precondition}
        try:
            item_shown = self.call(operations.reviews.decide, who=who, run=item.run, item=item.id, body=body)
        except DecidedMeanwhile as problem:  # its final advice is about HTTP requests
            raise DecidedMeanwhile(str(problem).partition(": send it")[0]) from None
        own_decisions = [decision for decision in item_shown.decisions if decision.who == who]
        if own_decisions:
            return own_decisions[-1]
        return None

    def _follow(self, begin: Callable[[], ClientRun], request: Invocation) -> RunOutcome:
        """Start a run and show its progress until it ends; Ctrl-C stops it, a second Ctrl-C at once."""
        from dokimasia.cli.running import ProgressLine, run_interrupted

        with ProgressLine() as line:
            run = begin()
            line.method = run.method
            if self.detached:
                click.echo(run.id)
                say(f"left to the service; its results: dokimasia show {run.id}{self.where}")
                raise click.exceptions.Exit(0)
            if run.shown["status"] not in ("queued", "running"):
                ended = run.ended(request.model_dump())
            else:
                printer = _EventPrinter(line, run.id)
                with _stop_on_interrupt(run) as stop_asked:
                    try:
                        ended = run.wait(printer, limits=request.model_dump(), lost=printer.lost)
                    except Unreachable as problem:
                        command = f"dokimasia resume {run.id}{self.where}"
                        raise Unreachable(
                            f"{problem}; run {run.id} goes on when it is back, to be watched by: {command}"
                        ) from None
                if stop_asked.is_set() and ended.status == "interrupted":
                    if line.standing is not None:
                        say(line.paid())
                    raise run_interrupted(run.shown.get("name") or run.id, self.where, line.standing)
        say(line.paid())
        if ended.end == "failed":
            raise DokimasiaError(f"run {run.id} failed: {ended.why}" if ended.why else f"run {run.id} failed")
        if ended.end == "interrupted":
            raise run_interrupted(run.shown.get("name") or run.id, self.where, line.standing)
        return RunOutcome(ended.run, ended.end, ended.why)  # pyright: ignore[reportArgumentType]


class _EventPrinter:
    """Shows the events of a run on a progress line."""

    def __init__(self, line: "ProgressLine", run: str) -> None:
        self._line = line
        self._run = run
        self._planned = False
        self._lost = ""

    def __call__(self, event: Event) -> None:
        if self._lost:
            self._lost = ""
            say("the service is back")
        if event.kind == "snapshot":
            picture = event.data["picture"]
            if (picture.get("status") or {}).get("status") == "running":
                for kind in ("planned", "starting", "progress"):
                    if picture.get(kind):
                        self(Event(kind, event.id, picture[kind]))
        elif event.kind == "planned":
            if not self._planned:
                self._planned = True
                self._line.planned(self._run, _read(Estimate, {"models": {}, **event.data}))
            self._line.before = event.data.get("spent_before", {}).get("cost", 0.0)
        elif event.kind == "starting":
            if count := event.data["workers"]:
                self._line.starts = True
                say(
                    f"the service starts {several(count, 'worker')}, which takes up to 30 seconds where it has none yet"
                )
            else:
                self._line.starting(0, None)
        elif event.kind == "progress":
            progress = {name: event.data[name] for name in _PROGRESS if name in event.data}
            self._line.progressed(Progress(**progress, stats=_read(GatewayStats, event.data)))
        elif event.kind == "limit":
            self._line.happened(
                GatewayEvent(kind="limit", endpoint=event.data["endpoint"], reason=event.data["reason"])
            )

    def lost(self, why: str) -> None:
        """Report once that the service does not answer."""
        if not self._lost:
            self._lost = why
            say(f"{why}; trying again")


@contextmanager
def _stop_on_interrupt(run: ClientRun) -> Iterator[threading.Event]:
    """Make Ctrl-C stop a run: the first after the calls in flight are committed, the second at once."""
    stop_asked, presses = threading.Event(), 0

    def interrupt(*_: object) -> None:
        nonlocal presses
        presses += 1
        if presses > 2:
            raise KeyboardInterrupt
        stop_asked.set()
        at_once = presses == 2
        say("\nstopping the run at once" if at_once else "\nfinishing the calls in flight; Ctrl-C again stops at once")
        threading.Thread(target=_cancel, args=(run, at_once), daemon=True).start()

    previous_handler = signal.signal(signal.SIGINT, interrupt)
    try:
        yield stop_asked
    finally:
        signal.signal(signal.SIGINT, previous_handler)


def _cancel(run: ClientRun, at_once: bool) -> None:
    try:
        run.cancel(at_once=at_once)
    except DokimasiaError as problem:
        say(f"the run could not be stopped: {problem}")


def _print(text: str, *, colour: bool) -> None:
    """Print a text drawn by a service; only its colours control the terminal."""
    pieces = _COLOURS.split(text) if colour else [text]
    out = unguarded(sys.stdout)
    out.write("".join(piece if colour and _COLOURS.fullmatch(piece) else printable(piece) for piece in pieces))
    out.flush()


def _row(shown: "RunShown") -> Run:
    """Return the row of a run from its entry in a list; fields missing from lists are empty."""
    return Run.model_validate(shown.model_dump(include=set(Run.model_fields)))


def _limits(changes: Mapping[str, object]) -> JsonObject:
    """Return the changes sent for a resumed run: the set ones, and removed limits."""
    return {name: value for name, value in changes.items() if value not in (None, ()) or name in LIMITS}


def _set_fields(request: ForkRequest) -> JsonObject:
    return {name: getattr(request, name) for name in type(request).model_fields if getattr(request, name)}


def _read(model: type[V], data: JsonObject) -> V:
    """Return the value with an event's fields, ignoring others."""
    return model.model_validate({name: data[name] for name in model.model_fields if name in data})
