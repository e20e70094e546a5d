"""`dokimasia runs`: list the runs of a home; `runs name` calls one otherwise, `cancel` stops one, `delete` removes one."""

import sys
from typing import TYPE_CHECKING

import click
from rich.markup import escape

from dokimasia.cli.places.placing import placed
from dokimasia.cli.shared import console, grid, json_option, print_json, say
from dokimasia.report.figures import several
from dokimasia.runs.catalogue import OWN, plugin_methods

if TYPE_CHECKING:
    from dokimasia.cli.places import Place

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
@click.option("--method", metavar="METHOD", help="Only runs of this method, such as duel.")
@json_option
@placed
@click.pass_context
def command(context: click.Context, place: "Place", tags: tuple[str, ...], method: str | None, as_json: bool) -> None:
    """List the runs, the newest first; with name, call one otherwise; with cancel, stop one; with delete, remove one."""
    if context.invoked_subcommand is not None:
        if any(context.params.values()):
            raise click.UsageError(f"write the options after {context.invoked_subcommand!r}", context)
        return
    runs = place.runs(tags, method=method)
    if method and not runs and method not in (known := (*OWN, *plugin_methods())):
        raise click.UsageError(f"no method {method!r}; there are {', '.join(known)}", context)
    if as_json:
        print_json(runs)
        return
    named = [name for name in ("name", "tags") if any(run[name] for run in runs)]
    table = grid("run", *named, "status", "started", "what")
    for run in runs:
        colour = COLOURS[run["status"]]
        asked = f" for {several(run['open_questions'], 'question')}" if run["status"] == "waiting" else ""
        status = f"[{colour}]{run['status']}[/{colour}]{asked}"
        labelled = {"name": run["name"], "tags": ", ".join(run["tags"])}
        started = run["created_at"][:19].replace("T", " ")
        table.add_row(run["id"], *(labelled[name] for name in named), status, started, escape(run["command"]))
    of = f" of the method {method}" if method else ""
    tagged = f" with the tag {' and '.join(tags)}" if tags else ""
    console().print(table if runs else f"no runs{of + tagged or ' yet'} in {place.named}")
    for run in runs:
        if run["why"]:
            click.echo(f"run {run['id']}: {run['why']}")


@command.command("name")
@click.argument("run")
@click.argument("name")
@placed
def rename(place: "Place", run: str, name: str) -> None:
    """Call RUN by NAME; another run that has the name loses it, and is named."""
    from dokimasia.runs.requests import called

    try:
        wanted = called(name)
    except ValueError as problem:
        raise click.UsageError(str(problem)) from None
    click.echo(f"run {place.rename(run, wanted)} is called {wanted!r}")


@command.command()
@click.argument("run")
@click.option("--at-once", is_flag=True, help="Give up its calls in flight, too.")
@json_option
@placed
def cancel(place: "Place", run: str, at_once: bool, as_json: bool) -> None:
    """Stop RUN (the beginning of its id will do), or take it out of the queue of the service, also while that is down.

    What is finished is kept. It does not go on by itself; `dokimasia resume` goes on with it.
    """
    now = place.cancel(run, at_once=at_once)
    if as_json:
        print_json(now)
    elif now["status"] == "running":
        click.echo(f"run {now['id']} is being stopped: its calls in flight are answered and committed first")
    else:
        click.echo(f"run {now['id']} is {now['status']}, and does not go on by itself")


@command.command()
@click.argument("run")
@click.option("--yes", is_flag=True, help="Do not ask; needed where there is no terminal to ask on.")
@json_option
@placed
def delete(place: "Place", run: str, yes: bool, as_json: bool) -> None:
    """Delete RUN (the beginning of its id will do): its results, its events and its place in the list.

    The ledger, the images and the values stay, since other runs may share them: the same run, evaluated again, costs
    nothing.
    """
    found, resting, (results, samples) = place.resting(run)
    for id, made_by in resting:
        say(f"run {id} rests on it: {made_by}")
    if resting:
        say(f"what these show of it goes with it, and comes back with the same command: {found.command}")
    if not yes:
        if not sys.stdin.isatty():
            raise click.UsageError(f"nobody is there to ask: add --yes to delete run {found.id}")
        click.echo(
            f"run {found.id}: {found.command}\n{several(results, 'result')} of {several(samples, 'sample')}", err=True
        )
        click.confirm("delete it?", abort=True, err=True)
    deleted = place.delete(found)
    if as_json:
        print_json(deleted)
    else:
        click.echo(
            f"deleted run {deleted['run']}: {several(deleted['results'], 'result')} of "
            f"{several(deleted['samples'], 'sample')}. The ledger keeps its calls: evaluated again, it costs nothing"
        )
