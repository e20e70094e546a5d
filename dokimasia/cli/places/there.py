"""A service: elsewhere, or the one that holds a home of this machine; what verbs ask goes over HTTP."""

import io
import re
import signal
import sys
import threading
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from dokimasia.cli.places import Done, Exported, Told
from dokimasia.cli.places.checks import ChecksThere
from dokimasia.cli.places.trees import TreesThere
from dokimasia.cli.shared import carrying, console, refuse_remote, say
from dokimasia.client import Client, ClientRun, Event
from dokimasia.domain.decision import Action, CheckItem, Decision
from dokimasia.domain.passport import Passport
from dokimasia.errors import DecidedMeanwhile, DokimasiaError, Interrupted, NotFound, Unreachable
from dokimasia.gateway.events import GatewayEvent
from dokimasia.log import printable, unguarded
from dokimasia.report.fields import RunFigures, as_json
from dokimasia.report.figures import several
from dokimasia.runs.catalogue import method_named
from dokimasia.runs.estimate import Estimate, ModelEstimate
from dokimasia.runs.forking import ForkRequest
from dokimasia.runs.method import Method
from dokimasia.runs.observer import Progress
from dokimasia.runs.outcome import check_cancellable
from dokimasia.runs.requests import LIMITS, Invocation, RunRequest
from dokimasia.settings import Settings
from dokimasia.storage.naming import LAST, Usable
from dokimasia.storage.runs import Run

if TYPE_CHECKING:
    from dokimasia.methods.evaluation.correcting import CorrectionTarget

_COLOURS = re.compile(r"(\x1b\[[0-9;]*m)")
_PROGRESS = ("items", "done", "restored", "failures", "waiting_items", "unpaid_items")
_LIMITS = ("max_failures", "min_score", "min_accuracy")


class There:
    """Runs of a service.

    Args:
        settings: its address and token.
        where: the options by which another command finds the same place; by default the address.
    """

    remote = True

    def __init__(self, settings: Settings, *, where: str = "") -> None:
        self.settings = settings
        self.where = where or f" --server {settings.server}"
        self.client = Client(settings.server, settings.server_token)
        if context := click.get_current_context(silent=True):
            context.call_on_close(self.client.close)
        self._detached = False
        self._checks = ChecksThere(self)

    @property
    def trees(self) -> TreesThere:
        """Its trees."""
        return TreesThere(self.client)

    @property
    def checks(self) -> ChecksThere:
        """What people decide on in its runs."""
        return self._checks

    @property
    def named(self) -> str:
        """What the place is called in a sentence."""
        return f"the home of {self.settings.server}"

    def only_here(self, what: str) -> None:
        """Refuse, by a `click.UsageError`, what is done on a home of this machine alone."""
        refuse_remote(what)

    def detach(self) -> None:
        """Leave the runs that are begun to the service."""
        self._detached = True

    def find(self, run: str, usable: Usable | None = None) -> Run:
        """Return the run that a user means, as a list says it."""
        if run != LAST or usable is None:
            return _row(self.client.find(run).shown)
        runs = [_row(one.shown) for one in self.client.runs()]
        found = next((one for one in runs if usable(one)), runs[0] if runs else None)
        return found or _row(self.client.find(run).shown)

    def preview(self, method: Method[Any, Any], request: RunRequest) -> dict[str, Any]:
        """Return what a run would be, ask and cost."""
        return self.client.preview_of(method.name, request)

    def check_keys(self, shown: Mapping[str, Any]) -> None:
        """Refuse nothing: keys are the service's."""

    def run(self, method: Method[Any, Any], request: RunRequest) -> Done:
        """Do what a request asks, to its end."""
        return self._followed(lambda: self.client.begin(method.name, request), request)

    def resume(self, run: Run, changes: Mapping[str, Any], retry: Sequence[str]) -> Done:
        """Go on with a run, to its end."""
        limits = {one: value for one, value in changes.items() if value not in (None, False, ()) or one in LIMITS}
        found = ClientRun(self.client, run.model_dump())
        begin = (lambda: found.retry(retry, **limits)) if retry else (lambda: found.resume(**limits))
        return self._followed(begin, Invocation.model_validate({name: changes.get(name) for name in _LIMITS}))

    def fork_preview(self, run: Run, request: ForkRequest) -> dict[str, Any]:
        """Return what a fork would be, ask and cost."""
        return ClientRun(self.client, run.model_dump()).fork_preview(**_given(request))

    def fork(self, run: Run, request: ForkRequest) -> Done:
        """Do a run again with changes, to its end."""
        parent = ClientRun(self.client, run.model_dump())
        return self._followed(lambda: parent.fork(**_given(request)), request)

    def after(self, method: Method[Any, Any], run: str, request: RunRequest) -> Sequence[str]:
        """Return nothing: a service writes no files here, and says all in the run's report."""
        return ()

    def view(self, run: str, *, figures: RunFigures | None = None) -> Mapping[str, Any]:
        """Return a run's figures, with its items where it shows any."""
        found = self.client.find(run)
        view = as_json(found.shown["figures"] if figures is None else figures)
        if found.shown["items_shown"]:
            view["items"] = list(found.items())
        return view

    def sample(self, run: str, sample: str, *, raw: bool) -> Mapping[str, Any]:
        """Return one sample of a run whole."""
        return self.client.find(run).sample(sample, raw=raw)

    def draw(self, run: str, *, figures: RunFigures | None = None, planted: Mapping[str, Any] | None = None) -> None:
        """Print the sections of a run's report that a terminal shows, as the service draws them."""
        out = console()
        colour = bool(out.is_terminal and out.color_system)
        drawn = self.client.find(run).report("terminal", width=max(40, min(out.width, 500)), colour=colour)
        _print(carrying(drawn.decode()), colour=colour)

    def export(self, run: Run, format: str) -> Exported:
        """Return a run's rows in a format."""
        reply = self.client.connection.request("GET", f"/api/runs/{run.id}/export", query={"format": format})
        rows = int(reply.headers.get("dokimasia-rows", "0"))
        return Exported(reply.content, rows, method_named(run.method).row_name)

    def form(self, run: Run, form: str) -> Mapping[str, bytes]:
        """Return a run's files in the form of another program, by name."""
        with zipfile.ZipFile(io.BytesIO(ClientRun(self.client, run.model_dump()).export(form))) as archive:
            return {one: archive.read(one) for one in archive.namelist()}

    def report(self, run: Run, format: str, samples: int) -> Told:
        """Return a report on a run."""
        query = {"format": format, "samples": samples}
        reply = self.client.connection.request("GET", f"/api/runs/{run.id}/report", query=query)
        shown, of = (reply.headers.get(f"dokimasia-{name}", "") for name in ("shown", "samples"))
        return Told(reply.content, int(shown or 0), int(of or 0))

    def compare(self, first: str, second: str, *, say: Callable[[str], None], **how: Any) -> dict[str, Any]:
        """Return how two runs differ."""
        models = how.pop("models", None)
        found = self.client.diff(first, second, models=",".join(models) if models else None, **how)
        for text, name in ((first, "first"), (second, "second")):
            if text == LAST:
                row = self.client.find(found[name]["run"]).shown
                say(f"last: run {row['id']} of {row['created_at'][:19].replace('T', ' ')}, {row['command']}")
        return found

    def standing(self, run: str) -> dict[str, Any]:
        """Return how all stands that people decide on in a run; NotFound where they decide on nothing."""
        from dokimasia.methods.checks import nothing_to_check, waits

        figures = self.client.agreement(self.find(run, waits).id)
        if not figures["items"]:
            raise nothing_to_check(figures["run"])
        return figures

    def decide(
        self,
        item: CheckItem,
        action: Action,
        *,
        who: str,
        text: str = "",
        shown: str = "",
        seen: int | None = None,
    ) -> Decision | None:
        """Keep what a person decided on an item."""
        known = {"second": item.kind != "question"} if seen is None else {"seen": seen}
        with Client(self.settings.server, self.settings.server_token, who=who) as client:
            try:
                told = client.decide(item.run, item.id, action, text=text, **known)
            except DecidedMeanwhile as problem:  # what its last words say of a request is of no use in a terminal
                raise DecidedMeanwhile(str(problem).partition(": send it")[0]) from None
        made = [one for one in map(Decision.model_validate, told["decisions"]) if one.who == who]
        return made[-1] if made else None

    def correct(self, run: str, wanted: "CorrectionTarget", *, who: str) -> Mapping[str, Any]:
        """Keep what a person corrected by hand in a run, and return it."""
        with Client(self.settings.server, self.settings.server_token, who=who) as client:
            return client.find(run).correct(**wanted.model_dump(mode="json", exclude_defaults=True))

    def runs(self, tags: Sequence[str], *, method: str | None = None) -> list[dict[str, Any]]:
        """Return the runs that have all of these tags, of one method where it is named, the newest first."""
        return [one.shown for one in self.client.runs(tags=tags, method=method)]

    def models(self, names: Sequence[str], *, simulated: bool) -> list[dict[str, Any]]:
        """Return what is known of the configured models, or of those of them and of the simulated that are named.

        Raises:
            NotFound: the service has no model of a name.
        """
        listed = [
            {name: value for name, value in one.items() if (name, value) != ("about", None)}
            for one in self.client.models(simulated=simulated or bool(names))
        ]
        found = {one["name"]: one for one in listed}
        unknown = [name for name in names if name not in found]
        if unknown:
            raise NotFound(
                f"no model is called {unknown[0]!r} in {self.named}; `dokimasia models{self.where} --simulated` lists all"
            )
        return [found[name] for name in dict.fromkeys(names)] if names else listed

    def passport(self, judge: str, runs: Sequence[str], *, seed: int) -> Passport:
        """Return what probes measured of a judge: these, or all that asked it."""
        return Passport.model_validate(self.client.passport(judge, runs=runs, seed=seed))

    def rename(self, run: str, name: str) -> str:
        """Call a run otherwise, and return its id."""
        return self.client.find(run).call(name).id

    def resting(self, run: str) -> tuple[Run, Sequence[tuple[str, str]], tuple[int, int]]:
        """Return a run that is to be deleted, the runs that rest on it, and its numbers of results and samples."""
        found = self.client.find(run)
        shown = self.client.connection.get(f"/api/runs/{found.id}/resting")
        resting = [(one["id"], one["command"]) for one in shown["runs"]]
        return _row(found.shown), resting, (shown["results"], shown["samples"])

    def cancel(self, run: str, *, at_once: bool) -> dict[str, Any]:
        """Stop a run, or take it out of the queue, and return how it stands."""
        found = self.client.find(run)
        check_cancellable(_row(found.shown))
        return dict(found.cancel(at_once=at_once).shown)

    def delete(self, run: Run) -> dict[str, Any]:
        """Delete a run, and return what went."""
        return ClientRun(self.client, run.model_dump()).delete(force=True)

    def _followed(self, begin: Callable[[], ClientRun], request: Invocation) -> Done:
        """Begin a run and show how far it is until it ends; Ctrl-C stops it, twice at once."""
        from dokimasia.cli.progress import ProgressLine

        with ProgressLine() as line:
            run = begin()
            line.method = run.method
            if self._detached:
                click.echo(run.id)
                say(f"left to the service; its results: dokimasia show {run.id}{self.where}")
                raise click.exceptions.Exit(0)
            if run.shown["status"] not in ("queued", "running"):
                ended = run.ended(request.model_dump())
            else:
                shown = _Shown(line, run.id)
                with _stopping(run) as asked:
                    try:
                        ended = run.wait(shown, limits=request.model_dump(), lost=shown.lost)
                    except Unreachable as gone:
                        again = f"dokimasia resume {run.id}{self.where}"
                        raise Unreachable(
                            f"{gone}; run {run.id} goes on when it is back, to be watched by: {again}"
                        ) from None
                if asked.is_set() and ended.status == "interrupted":
                    raise Interrupted(
                        f"interrupted; everything finished is kept. Go on with: dokimasia resume {run.id}{self.where}"
                    )
        say(line.paid())
        if ended.end == "failed":
            raise DokimasiaError(f"run {run.id} failed: {ended.why}" if ended.why else f"run {run.id} failed")
        if ended.end == "interrupted":
            raise Interrupted(
                f"run {run.id} was stopped; everything finished is kept. "
                f"Go on with: dokimasia resume {run.id}{self.where}"
            )
        return Done(ended.run, ended.end, ended.why)  # pyright: ignore[reportArgumentType]


class _Shown:
    """Tells a progress line what the events of a run say."""

    def __init__(self, line: Any, run: str) -> None:
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
                self._line.planned(self._run, _estimate(event.data))
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
            known = {name: event.data[name] for name in _PROGRESS if name in event.data}
            self._line.progressed(Progress(**known, stats=_stats(event.data)))
        elif event.kind == "limit":
            self._line.happened(
                GatewayEvent(kind="limit", endpoint=event.data["endpoint"], reason=event.data["reason"])
            )

    def lost(self, why: str) -> None:
        """Say once that the service does not answer."""
        if not self._lost:
            self._lost = why
            say(f"{why}; trying again")


@contextmanager
def _stopping(run: ClientRun) -> Iterator[threading.Event]:
    """Have Ctrl-C stop a run, the first time once the calls in flight are committed, the second time at once."""
    asked, times = threading.Event(), 0

    def interrupt(*_: object) -> None:
        nonlocal times
        times += 1
        if times > 2:
            raise KeyboardInterrupt
        asked.set()
        at_once = times == 2
        say("\nstopping the run at once" if at_once else "\nfinishing the calls in flight; Ctrl-C again stops at once")
        threading.Thread(target=_cancelled, args=(run, at_once), daemon=True).start()

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield asked
    finally:
        signal.signal(signal.SIGINT, before)


def _cancelled(run: ClientRun, at_once: bool) -> None:
    try:
        run.cancel(at_once=at_once)
    except DokimasiaError as problem:
        say(f"the run could not be stopped: {problem}")


def _print(text: str, *, colour: bool) -> None:
    """Print what a service drew: nothing of it but colours controls the terminal."""
    pieces = _COLOURS.split(text) if colour else [text]
    out = unguarded(sys.stdout)
    out.write("".join(one if colour and _COLOURS.fullmatch(one) else printable(one) for one in pieces))
    out.flush()


def _row(shown: Mapping[str, Any]) -> Run:
    """Return a run as a list says it, as its row; what a list does not say is empty."""
    return Run.model_validate({name: shown[name] for name in Run.model_fields if name in shown})


def _given(request: ForkRequest) -> dict[str, Any]:
    return {name: getattr(request, name) for name in type(request).model_fields if getattr(request, name)}


def _estimate(told: Mapping[str, Any]) -> Estimate:
    """Return the estimate that an event tells."""
    models = {name: ModelEstimate(calls=one["calls"], cost=one["cost"]) for name, one in told.get("models", {}).items()}
    return Estimate(
        samples=told["samples"], models=models, notes=tuple(told.get("notes", ())), answered=told.get("answered", 0)
    )


def _stats(told: Mapping[str, Any]) -> Any:
    from dokimasia.gateway.events import GatewayStats

    return GatewayStats.model_validate({name: one for name, one in told.items() if name in GatewayStats.model_fields})
