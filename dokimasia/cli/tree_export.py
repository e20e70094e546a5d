"""`dokimasia tree export`: a capability tree as a file, to be edited by hand or read by other programs."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from dokimasia.cli.shared import common

if TYPE_CHECKING:
    from dokimasia.settings import Settings


@click.command()
@click.argument("tree")
@click.option("--version", help="Another version of the tree: its number, or the beginning of its id.")
@click.option(
    "--format",
    "name",
    type=click.Choice(["yaml", "json", "csv", "graphml", "mermaid"]),
    help="Default: as the file's name ends, else yaml.",
)
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="Write here (default: standard output)."
)
@common
def command(settings: "Settings", tree: str, version: str | None, name: str | None, output: Path | None) -> None:
    """Write TREE as YAML (to be edited and imported), JSON, CSV, GraphML or a Mermaid chart; equal trees, equal bytes."""
    import sys

    from dokimasia.methods.tree.files import export_tree, format_of
    from dokimasia.methods.tree.trees import load_tree
    from dokimasia.runs.export_formats import write_whole
    from dokimasia.storage.home import Home

    with Home.open(settings.home, write=False) as home:
        loaded = load_tree(home, tree, version=version)
    data = export_tree(loaded, format_of(output, name)).encode()
    if output is None:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    else:
        write_whole(output, data)
        click.echo(f"wrote {loaded.name} to {output}", err=True)
