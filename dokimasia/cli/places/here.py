"""The home on this machine: read as it lies; written by this process, or by the service that holds it."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import click

from dokimasia.cli.places import Done, Exported, Told
from dokimasia.cli.places.checks import ChecksHere
from dokimasia.cli.places.trees import TreesHere
from dokimasia.cli.shared import carrying, console, home_options, reading, redact
from dokimasia.domain.decision import Action, CheckItem, Decision
from dokimasia.errors import DecidedMeanwhile
from dokimasia.report.fields import RunFigures, as_json
from dokimasia.runs.catalogue import method_of
from dokimasia.runs.forking import ForkRequest
from dokimasia.runs.method import Method
from dokimasia.runs.requests import Invocation, RunRequest
from dokimasia.settings import Settings
from dokimasia.storage.home import Home
from dokimasia.storage.naming import LAST, Usable, other_than, resolve_run
from dokimasia.storage.runs import Run, get_run

if TYPE_CHECKING:
    from dokimasia.cli.places.there import There
    from dokimasia.domain.passport import Passport
    from dokimasia.methods.evaluation.correcting import CorrectionTarget

R = TypeVar("R")


class Here:
    """Runs in a home of this machine."""

    remote = False

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._detached = False
        self._checks = ChecksHere(self)

    def detach(self) -> None:
        """Leave runs to the service that holds the home.

        Raises:
            click.UsageError: there is none.
        """
        if self.holder() is None:
            raise click.UsageError(
                "--detach leaves a run to a service: name one with --server, or begin one with `dokimasia serve`"
            )
        self._detached = True

    @property
    def where(self) -> str:
        """The options by which another command finds the same home and configuration."""
        return home_options(self.settings)

    @property
    def trees(self) -> TreesHere:
        """Its trees."""
        return TreesHere(self)

    @property
    def checks(self) -> ChecksHere:
        """What people decide on in its runs."""
        return self._checks

    @property
    def named(self) -> str:
        """What the place is called in a sentence."""
        return str(self.settings.home)

    def only_here(self, what: str) -> None:
        """Refuse nothing: this is here."""

    def find(self, run: str, usable: Usable | None = None) -> Run:
        """Return the run that a user means."""
        with reading(self.settings, run, usable) as (_, found):
            return found

    def preview(self, method: Method[Any, Any], request: RunRequest) -> dict[str, Any]:
        """Return what a run would be, ask and cost."""
        from dokimasia.runs.preview import preview

        return preview(method, request, settings=self.settings)

    def check_keys(self, shown: Mapping[str, Any]) -> None:
        """Refuse a preview where a key is missing that the run would need."""
        from dokimasia.runs.preview import check_keys

        check_keys(self.settings, shown)

    def run(self, method: Method[Any, Any], request: RunRequest) -> Done:
        """Do what a request asks, to its end."""
        from dokimasia.client.files import without_written
        from dokimasia.runs.lifecycle import run

        work = partial(run, method, request)
        return self._done(work, lambda there: there.run(method, without_written(request)), request, method=method.name)

    def resume(self, run: Run, changes: Mapping[str, Any], retry: Sequence[str]) -> Done:
        """Go on with a run, to its end."""
        from dokimasia.runs.lifecycle import resume
        from dokimasia.runs.outcome import retryable

        kinds = retryable(",".join(retry)) if retry else ()
        work = partial(resume, run, changes=changes, retry=kinds)
        far = Invocation(**{name: changes[name] for name in ("workers", "engine", "address") if name in changes})
        return self._done(work, lambda there: there.resume(run, changes, retry), far, method=run.method)

    def fork_preview(self, run: Run, request: ForkRequest) -> dict[str, Any]:
        """Return what a fork would be, ask and cost."""
        from dokimasia.runs.forking import prepare_fork

        with reading(self.settings, run.id) as (home, parent):
            return asyncio.run(prepare_fork(home, parent, request, settings=self.settings)).preview

    def fork(self, run: Run, request: ForkRequest) -> Done:
        """Do a run again with changes, to its end."""
        from dokimasia.runs.forking import fork

        work = partial(fork, run, request)
        return self._done(work, lambda there: there.fork(run, request), request, method=run.method)

    def _done(
        self, work: Callable[..., Any], through: "Callable[[There], Done]", far: Invocation, *, method: str
    ) -> Done:
        from dokimasia.cli.running import run_to_end

        if there := self.holder():
            return through(there)
        options = far.worker_flags  # what cannot be meant is refused before anything is kept
        result = run_to_end(work, self.settings, method=method, far=options)
        return Done(result.run, result.end, result.why, result.summary)

    def holder(self) -> "There | None":
        """Return the service that holds the home, if one does and takes commands of this user."""
        from dokimasia.client.holding import service_holding

        access = service_holding(self.settings.home)
        if access is None:
            return None
        from dokimasia.cli.places.there import There

        held = replace(self.settings, server=access.url, server_token=access.token)
        there = There(held, where=self.where)
        if self._detached:
            there.detach()
        return there

    def after(self, method: Method[Any, Any], run: str, request: RunRequest) -> Sequence[str]:
        """Do what a method does once a run is done, and return what is to be said of it."""
        if method.after is None:
            return ()
        with reading(self.settings, run) as (home, found):
            return list(method.after(home, get_run(home, found.id), request))

    def view(self, run: str, *, figures: RunFigures | None = None) -> Mapping[str, Any]:
        """Return a run's figures, with its items where it shows any."""
        with reading(self.settings, run) as (home, found):
            method = method_of(found)
            view = as_json(method.figures(home, found) if figures is None else figures)
            if method.items is not None and method.items_shown:
                view["items"] = list(method.items(home, found, None))
            return view

    def sample(self, run: str, sample: str, *, raw: bool) -> Mapping[str, Any]:
        """Return one sample of a run whole."""
        from dokimasia.runs.reading.inspection import sample_of_run

        with reading(self.settings, run) as (home, found):
            return asyncio.run(sample_of_run(home, found, sample, raw=raw))

    def draw(self, run: str, *, figures: RunFigures | None = None, planted: Mapping[str, Any] | None = None) -> None:
        """Print the sections of a run's report that a terminal shows."""
        from dokimasia.report.terminal import draw_run
        from dokimasia.runs.reading.reporting import run_data

        with reading(self.settings, run) as (home, found):
            data = replace(run_data(home, found, figures), planted=planted)
            draw_run(console(), data, redact=lambda text: carrying(redact(text)))

    def export(self, run: Run, format: Any) -> Exported:
        """Return a run's rows in a format."""
        from dokimasia.runs.reading.exporting import encode, export_rows

        with reading(self.settings, run.id) as (home, found):
            rows = asyncio.run(export_rows(home, found))
        return Exported(encode(rows, format), len(rows.rows), method_of(found).row_name)

    def form(self, run: Run, form: str) -> Mapping[str, bytes]:
        """Return a run's files in the form of another program, by name."""
        from dokimasia.runs.reading.exporting import form_of

        with reading(self.settings, run.id) as (home, found):
            return form_of(home, found, form)

    def report(self, run: Run, format: Any, samples: int) -> Told:
        """Return a report on a run."""
        from dokimasia.runs.reading.reporting import render, report_data

        with reading(self.settings, run.id) as (home, found):
            data = asyncio.run(report_data(home, found, samples=samples, redact=redact))
        return Told(render(data, format), data.selection.shown, data.selection.total)

    def compare(self, first: str, second: str, *, say: Callable[[str], None], **how: Any) -> dict[str, Any]:
        """Return how two runs differ."""
        from dokimasia.runs.reading.comparison import compare_runs

        def compared(run: Run) -> bool:
            return method_of(run).diff is None

        with reading(self.settings, first, compared) as (home, run):
            other = resolve_run(home, second, compared if how.get("models") else other_than(run))
            if first == second == LAST and run.id != other.id:
                run, other = other, run
            for text, named in ((first, run), (second, other)):
                if text == LAST:
                    say(f"last: run {named.id} of {named.created_at[:19].replace('T', ' ')}, {named.command}")
            return compare_runs(home, run, other, **how)

    def standing(self, run: str) -> dict[str, Any]:
        """Return how all stands that people decide on in a run."""
        from dokimasia.methods.checks import open_for_people
        from dokimasia.methods.checks.standing import standing_figures

        every = open_for_people(self.settings, run)
        with Home.open(self.settings.home, write=False) as home:
            return standing_figures(home, every[0].item.run, every)

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
        """Keep what a person decided on an item; None where it is left for the process that holds the home."""
        from dokimasia.methods.checks import decide, keep_draft
        from dokimasia.storage.decisions import standing
        from dokimasia.storage.people.questions import get_question

        if there := self.holder():
            there.decide(item, action, who=who, text=text, seen=seen)
        else:
            with Home.open(self.settings.home, write=False) as home:
                before = (get_question(home, item.id).reply or "") if action == "undo" else ""
                try:
                    made = decide(item, action, who=who, text=text, shown=shown, seen=seen, settings=self.settings)
                except DecidedMeanwhile:
                    if text:
                        keep_draft(home, item.id, who, text)
                    raise
                if before:
                    keep_draft(home, item.id, who, before)
            return made
        with Home.open(self.settings.home, write=False) as home:
            made = [one for one in standing(home, item.id).decisions if one.who == who]
        return made[-1] if made else None

    def correct(self, run: str, wanted: "CorrectionTarget", *, who: str) -> Mapping[str, Any]:
        """Keep what a person corrected by hand in a run, and return it."""
        from dokimasia.methods.evaluation.correcting import correct_now

        if there := self.holder():
            return there.correct(run, wanted, who=who)
        with Home.open(self.settings.home, write=True, create=False) as home:
            return correct_now(home, resolve_run(home, run), wanted, who=who).shown()

    def runs(self, tags: Sequence[str], *, method: str | None = None) -> list[dict[str, Any]]:
        """Return the runs that have all of these tags, of one method where it is named, the newest first."""
        from dokimasia.runs.reading.inspection import described, end_reasons, listed, waiting_questions

        with Home.open(self.settings.home, write=False) as home:
            waiting = waiting_questions(home)
            found = listed(home, tags=tuple(tags), wanted=lambda run: method is None or run.method == method)
            why = end_reasons(home, (run for run, _ in found))
            return [described(run, label, questions=waiting[run.id], why=why.get(run.id, "")) for run, label in found]

    def models(self, names: Sequence[str], *, simulated: bool) -> list[dict[str, Any]]:
        """Return what is known of the configured models, or of those that are named."""
        from dokimasia.endpoints.models import chosen_models, list_models

        return list_models(self.settings, chosen_models(self.settings, names, simulated=simulated))

    def passport(self, judge: str, runs: Sequence[str], *, seed: int) -> "Passport":
        """Return what probes measured of a judge: these, or all that asked it."""
        from dokimasia.methods.passports.measuring import passport_of
        from dokimasia.methods.passports.probed import material_of

        with Home.open(self.settings.home, write=False) as home:
            return passport_of(material_of(home, judge, tuple(runs), seed=seed))

    def rename(self, run: str, name: str) -> str:
        """Call a run otherwise, and return its id."""
        from dokimasia.storage.naming import name_run

        if there := self.holder():
            return there.rename(run, name)
        with Home.open(self.settings.home, write=True, create=False) as home:
            found = resolve_run(home, run)
            asyncio.run(name_run(home, found.id, name, ()))
        return found.id

    def cancel(self, run: str, *, at_once: bool) -> dict[str, Any]:
        """Stop a run, or take it out of the queue that the next service would go on with, and return how it stands."""
        from dokimasia.runs.outcome import check_cancellable, take_out
        from dokimasia.runs.reading.inspection import described_now
        from dokimasia.storage.runs import AT_WORK
        from dokimasia.storage.threads import queue

        if there := self.holder():
            return there.cancel(run, at_once=at_once)
        with Home.open(self.settings.home, write=True, create=False) as home:
            found = resolve_run(home, run)
            check_cancellable(found)
            before = next((one.before for one in queue(home) if one.id == found.id), None)
            if before is not None or found.status in (*AT_WORK, "waiting"):
                asyncio.run(take_out(home, found, before or "", self.settings))
            return described_now(home, get_run(home, found.id))

    def resting(self, run: str) -> tuple[Run, Sequence[tuple[str, str]], tuple[int, int]]:
        """Return a run that is to be deleted, the runs that rest on it, and its numbers of results and samples."""
        from dokimasia.runs.persistence import dependent_runs
        from dokimasia.storage.deletion import run_size

        with reading(self.settings, run) as (home, found):
            size = run_size(home, found.id)
            resting = [(one.id, one.command) for one in dependent_runs(home, found.id)]
            return found, resting, (size.results, size.samples)

    def delete(self, run: Run) -> dict[str, Any]:
        """Delete a run, and return what went."""
        from dokimasia.runs.persistence import delete_whole_run

        if there := self.holder():
            return there.delete(run)
        with Home.open(self.settings.home, write=True, create=False) as home:
            return asyncio.run(delete_whole_run(home, run.id)).model_dump(mode="json")
