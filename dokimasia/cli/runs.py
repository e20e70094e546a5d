"""`dokimasia runs`: list the runs of a home; `runs name` renames one, `cancel` stops one, `delete` deletes one."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click
from rich.padding import Padding
from rich.text import Text

from dokimasia.cli.backend import Backend, with_backend
from dokimasia.cli.shared import console, json_option, print_json, say
from dokimasia.domain.wording import shortened
from dokimasia.report.figures import cost_text, in_words, several
from dokimasia.runs.catalogue import OWN, plugin_methods

if TYPE_CHECKING:
    from dokimasia.operations.runs import RunShown

COLOURS = {
    "queued": "cyan",
    "running": "yellow",
    "waiting": "magenta",
    "done": "green",
    "interrupted": "red",
    "failed": "red",
}

MOST_MODELS = 8
"""The maximum number of a run's models named in the table."""


@click.group(invoke_without_command=True)
@click.option("--tag", "tags", multiple=True, metavar="TAG", help="Only runs that have this tag (each of several).")
@click.option("--method", metavar="METHOD", help="Only runs of this method, such as duel.")
@json_option
@with_backend
@click.pass_context
def command(context: click.Context, backend: Backend, tags: tuple[str, ...], method: str | None, as_json: bool) -> None:
    """List the runs, the newest first; rename, cancel or delete a run with a subcommand."""
    if context.invoked_subcommand is not None:
        if any(context.params.values()):
            raise click.UsageError(f"write the options after {context.invoked_subcommand!r}", context)
        return
    from dokimasia import operations

    runs = backend.entries(operations.runs.list_of_runs, lambda page: page.runs, tag=list(tags) or None, method=method)
    if method and not runs and method not in (method_names := (*OWN, *plugin_methods())):
        raise click.UsageError(f"no method {method!r}; there are {', '.join(method_names)}", context)
    if as_json:
        print_json(runs)
        return
    method_text = f" of the method {method}" if method else ""
    tag_text = f" with the tag {' and '.join(tags)}" if tags else ""
    if runs:
        _print_runs(runs)
    else:
        console().print(f"no runs{method_text + tag_text or ' yet'} in {backend.named}")
    for run in runs:
        if run.why:
            click.echo(f"run {run.id}: {run.why}")


SPENT_NOTE = (
    "spent: every call that was sent; `show RUN` counts the calls that results rest on, given-up ones left out."
)
CUT_OFF_NOTE = (
    "Cut off: calls that were given up in flight, without a reply or an error; under a limit such a call counts at its "
    "estimated cost."
)
"""The notes below the list of runs, the second where calls of a run were cut off."""


def _print_runs(runs: "Sequence[RunShown]") -> None:
    """Print a line for each run, and below it the command that requests the same."""
    titles = ["run", "names and tags", "status", "started", "spent"]
    rows: list[list[str]] = []
    for run in runs:
        questions = f" for {several(run.open_questions, 'question')}" if run.status == "waiting" else ""
        tags = f"[{', '.join(run.tags)}]" if run.tags else ""
        names = ", ".join(name for name in (run.name, *run.other_names) if name)
        started = run.created_at[:16].replace("T", " ")
        spent = cost_text(None if run.spent.unknown_cost else run.spent.cost, run.spent.cost)
        if _cut_off(run):
            spent = f"{spent} ({several(_cut_off(run), 'call')} cut off)"
        rows.append([run.id, f"{names} {tags}".strip(), f"{run.status}{questions}", started, spent])
    widths = [max(map(len, cells)) for cells in zip(titles, *rows, strict=True)]
    out = console()
    out.print("   ".join(title.ljust(width) for title, width in zip(titles, widths, strict=True)), style="bold")
    for run, row in zip(runs, rows, strict=True):
        line = Text()
        for title, cell, width in zip(titles, row, widths, strict=True):
            line.append(cell, COLOURS[run.status] if title == "status" else "").append(" " * (width - len(cell) + 3))
        line.rstrip()
        out.print(line)
        out.print(Padding(Text(_what(run), "dim"), (0, 0, 0, 4), expand=False))
    out.print(SPENT_NOTE, style="dim", soft_wrap=True)
    if any(map(_cut_off, runs)):
        out.print(CUT_OFF_NOTE, style="dim", soft_wrap=True)


def _cut_off(run: "RunShown") -> int:
    """Return how many calls of a run were given up in flight; 0 while it is at work, when a reply may still come."""
    if run.status in ("queued", "running"):
        return 0
    return run.spent.cut_off


def _what(run: "RunShown") -> str:
    """Return a run's command, and below it the run's models if the command does not name all of them."""
    if all(name in run.command for name in run.models):
        return run.command
    return f"{run.command}\nmodels: {shortened(run.models, MOST_MODELS)}"


@command.command("name")
@click.argument("run")
@click.argument("name")
@click.option("--force", is_flag=True, help="Take the name from the run that has it.")
@with_backend
def rename(backend: Backend, run: str, name: str, force: bool) -> None:
    """Rename RUN. With --force, another run that has the name loses it (and is reported)."""
    from dokimasia import operations
    from dokimasia.runs.requests import check_label

    try:
        new_name = check_label(name)
    except ValueError as problem:
        raise click.UsageError(str(problem)) from None
    run_named = backend.call(operations.runs.call_otherwise, run=run, body={"name": new_name, "force": force})
    also = f", and still found as {in_words(run_named.other_names)}" if run_named.other_names else ""
    click.echo(f"run {run_named.id} is called {new_name!r}{also}")


@command.command()
@click.argument("run")
@click.option("--at-once", is_flag=True, help="Give up its calls in flight, too.")
@json_option
@with_backend
def cancel(backend: Backend, run: str, at_once: bool, as_json: bool) -> None:
    """Stop RUN (the beginning of its id will do), or take it out of the queue of the service, also while that is down.

    What is finished is kept. It does not go on by itself; `dokimasia resume` goes on with it.
    """
    from dokimasia import operations
    from dokimasia.runs.outcome import check_cancellable

    row = backend.find(run)
    check_cancellable(row)
    now = backend.call(operations.runs.cancel, run=row.id, at_once=at_once or None)
    if as_json:
        print_json(now)
    elif now.status == "running":
        click.echo(f"run {now.id} is being stopped: its calls in flight are answered and committed first")
    else:
        click.echo(f"run {now.id} is {now.status}, and does not go on by itself")


@command.command()
@click.argument("run")
@click.option("--yes", is_flag=True, help="Do not ask; needed where there is no terminal to ask on.")
@json_option
@with_backend
def delete(backend: Backend, run: str, yes: bool, as_json: bool) -> None:
    """Delete RUN (the beginning of its id will do): its results, its events and its place in the list.

    The ledger, the images and the values stay, since other runs may share them: the same run, evaluated again, costs
    nothing.
    """
    from dokimasia import operations

    row = backend.find(run)
    size = backend.call(operations.finished.resting, run=row.id)
    for other in size.runs:
        say(f"run {other.id} rests on it: {other.command}")
    if size.runs:
        say(f"what these show of it goes with it, and comes back with the same command: {row.command}")
    if not yes:
        if not sys.stdin.isatty():
            raise click.UsageError(f"no terminal to ask for confirmation; add --yes to delete run {row.id}")
        counts = f"{several(size.results, 'result')} of {several(size.samples, 'sample')}"
        click.echo(f"run {row.id}: {row.command}\n{counts}", err=True)
        click.confirm("delete it?", abort=True, err=True)
    deleted = backend.call(operations.runs.delete, run=row.id, force=True)
    if as_json:
        print_json(deleted)
    else:
        click.echo(
            f"deleted run {deleted.run}: {several(deleted.results, 'result')} of "
            f"{several(deleted.samples, 'sample')}. The ledger keeps its calls: evaluated again, it costs nothing"
        )
