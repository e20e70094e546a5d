"""`dokimasia tree import`: a capability tree from a file that a person wrote or edited, checked before it is kept."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from dokimasia.cli.shared import common, json_option, print_json

if TYPE_CHECKING:
    from dokimasia.settings import Settings


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--tree", metavar="NAME", help="The tree that it is a version of (default: the file's name).")
@json_option
@common
def command(settings: "Settings", file: Path, tree: str | None, as_json: bool) -> None:
    """Take FILE (YAML, JSON, CSV or GraphML) in as the newest version of a tree.

    Checked are the four layers, the fixed categories, cycles, names that stand twice, and that every criterion that was
    mapped still has its one capability. What was changed by hand is kept as edits.
    """
    import asyncio

    from dokimasia.methods.tree.files import import_tree
    from dokimasia.storage.home import Home

    with Home.open(settings.home, write=True) as home:
        kept = asyncio.run(import_tree(home, file, tree=tree))
    if as_json:
        print_json(kept)
        return
    name = f"{kept['tree']}@{kept['position']}"
    if not kept["new"]:
        click.echo(f"{file} is the same as {name}: nothing to keep")
        return
    kinds = [edit["kind"] for edit in kept["edits"]]
    edits = ", ".join(f"{kinds.count(kind)} {kind}" for kind in sorted(set(kinds)))
    click.echo(f"kept {name}" + (f": {edits}" if edits else ""))
    click.echo(
        f"what changed: dokimasia tree diff {kept['position'] - 1} {name}" if kept["position"] > 1 else "",
        nl=kept["position"] > 1,
    )
