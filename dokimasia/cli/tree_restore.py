"""`dokimasia tree restore`: an earlier version of a capability tree made its newest again."""

from typing import TYPE_CHECKING

import click

from dokimasia.cli.shared import common, json_option, print_json

if TYPE_CHECKING:
    from dokimasia.settings import Settings


@click.command()
@click.argument("version")
@json_option
@common
def command(settings: "Settings", version: str, as_json: bool) -> None:
    """Make VERSION (NAME@NUMBER, or the beginning of its id) the newest of its tree; the history stays."""
    import asyncio

    from dokimasia.methods.tree.files import restore_version
    from dokimasia.storage.home import Home

    with Home.open(settings.home, write=True, create=False) as home:
        kept = asyncio.run(restore_version(home, version))
    if as_json:
        print_json(kept)
    else:
        click.echo(
            f"{kept['tree']}@{kept['position']} is {kept['tree']}@{kept['restored']} again ({len(kept['edits'])} edits)"
        )
