"""`dokimasia runs`: list the runs of a home; `runs name`: call one otherwise; `runs delete`: remove one."""

import sys
from typing import TYPE_CHECKING

import click
from rich.markup import escape

from dokimasia.cli.shared import common, console, grid, json_option, print_json, say
from dokimasia.report.figures import several

if TYPE_CHECKING:
    from dokimasia.settings import Settings

COLOURS = {
    "queued": "cyan",
    "running": "yellow",
    "waiting": "magenta",
    "done": "green",
    "interrupted": "red",
    "failed": "red",
}


@click.group(invoke_without_command=True)
@click.option("--tag", "tags", multiple=True, metavar="TAG", help="Only runs that have this tag (each of several).")
@json_option
@common
@click.pass_context
def command(context: click.Context, settings: "Settings", tags: tuple[str, ...], as_json: bool) -> None:
    """List the runs, the newest first; with name, call one otherwise; with delete, remove one."""
    if context.invoked_subcommand is not None:
        if any(context.params.values()):
            raise click.UsageError(f"write the options after {context.invoked_subcommand!r}", context)
        return
    from dokimasia.runs.reading.listing import described, listed, waiting_questions
    from dokimasia.storage.home import Home

    with Home.open(settings.home, write=False) as home:
        runs, waiting = listed(home, tags=tags), waiting_questions(home)
    if as_json:
        print_json([described(run, label, questions=waiting[run.id]) for run, label in runs])
        return
    named = [name for name in ("name", "tags") if any(getattr(label, name) for _, label in runs)]
    table = grid("run", *named, "status", "started", "what")
    for run, label in runs:
        colour = COLOURS[run.status]
        asked = f" for {several(waiting[run.id], 'question')}" if run.status == "waiting" else ""
        status = f"[{colour}]{run.status}[/{colour}]{asked}"
        labelled = {"name": label.name, "tags": ", ".join(label.tags)}
        started = run.created_at[:19].replace("T", " ")
        table.add_row(run.id, *(labelled[name] for name in named), status, started, escape(run.command))
    console().print(
        table if runs else f"no runs{' with the tag ' + ' and '.join(tags) if tags else ' yet'} in {settings.home}"
    )


@command.command("name")
@click.argument("run")
@click.argument("name")
@common
def rename(settings: "Settings", run: str, name: str) -> None:
    """Call RUN by NAME; another run that has the name loses it, and is named."""
    import asyncio

    from dokimasia.runs.requests import called
    from dokimasia.storage.home import Home
    from dokimasia.storage.naming import name_run, resolve_run

    try:
        wanted = called(name)
    except ValueError as problem:
        raise click.UsageError(str(problem)) from None
    with Home.open(settings.home, write=True, create=False) as home:
        found = resolve_run(home, run)
        asyncio.run(name_run(home, found.id, wanted, ()))
    click.echo(f"run {found.id} is called {wanted!r}")


@command.command()
@click.argument("run")
@click.option("--yes", is_flag=True, help="Do not ask; needed where there is no terminal to ask on.")
@json_option
@common
def delete(settings: "Settings", run: str, yes: bool, as_json: bool) -> None:
    """Delete RUN (the beginning of its id will do): its results, its events and its place in the list.

    The ledger, the images and the values stay, since other runs may share them: the same run, evaluated again, costs
    nothing.
    """
    import asyncio

    from dokimasia.runs.deleting import delete_whole_run, resting_on
    from dokimasia.storage.deletion import run_size
    from dokimasia.storage.home import Home
    from dokimasia.storage.naming import resolve_run

    with Home.open(settings.home, write=True, create=False) as home:
        found = resolve_run(home, run)
        resting = resting_on(home, found.id)
        for one in resting:
            say(f"run {one.id} rests on it: {one.command}")
        if resting:
            say(f"what these show of it goes with it, and comes back with the same command: {found.command}")
        if not yes:
            if not sys.stdin.isatty():
                raise click.UsageError(f"nobody is there to ask: add --yes to delete run {found.id}")
            size = run_size(home, found.id)
            click.echo(
                f"run {found.id}: {found.command}\n{several(size.results, 'result')} of {several(size.samples, 'sample')}",
                err=True,
            )
            click.confirm("delete it?", abort=True, err=True)
        deleted = asyncio.run(delete_whole_run(home, found.id))
    if as_json:
        print_json(deleted.model_dump(mode="json"))
    else:
        click.echo(
            f"deleted run {deleted.run}: {several(deleted.results, 'result')} of {several(deleted.samples, 'sample')}. "
            "The ledger keeps its calls: evaluated again, it costs nothing"
        )
