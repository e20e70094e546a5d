"""`dokimasia runs`: list the runs of a home."""

from typing import TYPE_CHECKING

import click

from dokimasia.cli.shared import common, console, json_option, print_json

if TYPE_CHECKING:
    from dokimasia.settings import Settings


@click.command()
@json_option
@common
def command(settings: "Settings", as_json: bool) -> None:
    """List the runs, the newest first."""
    from rich import box
    from rich.table import Table

    from dokimasia.storage.home import Home
    from dokimasia.storage.runs import list_runs

    with Home.open(settings.home, write=False) as home:
        runs = list_runs(home)
    if as_json:
        fields = {"id", "graph", "command", "data_name", "seed", "fresh", "status", "created_at", "updated_at"}
        print_json([run.model_dump(mode="json", include=fields) for run in runs])
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("run", "status", "started", "what"):
        table.add_column(name, overflow="fold")
    colours = {"done": "green", "running": "yellow", "interrupted": "red"}
    for run in runs:
        colour = colours[run.status]
        status = f"[{colour}]{run.status}[/{colour}]"
        table.add_row(run.id, status, run.created_at[:19].replace("T", " "), run.command)
    console().print(table if runs else f"no runs yet in {settings.home}")
