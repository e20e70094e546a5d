"""`dokimasia tree export` and `import`: a capability tree as a file, and back from one that a person wrote or edited."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dokimasia.cli.places.placing import placed
from dokimasia.cli.shared import json_option, print_json

if TYPE_CHECKING:
    from dokimasia.cli.places import Place
    from dokimasia.methods.tree.reading.files import Format


@click.command("export")
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
@placed
def export(place: "Place", tree: str, version: str | None, name: "Format | None", output: Path | None) -> None:
    """Write TREE as YAML (to be edited and imported), JSON, CSV, GraphML or a Mermaid chart; equal trees, equal bytes."""
    import sys

    from dokimasia.methods.tree.reading.files import format_of
    from dokimasia.runs.reading.exporting import write_whole

    named, data = place.trees.export(tree, version, format_of(output, name))
    if output is None:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    else:
        write_whole(output, data)
        click.echo(f"wrote {named} to {output}", err=True)


@click.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--tree",
    metavar="NAME",
    help="The tree that it is a version of (default: the one that a YAML names, or the file's).",
)
@click.option("--new", is_flag=True, help="Begin a new tree with it.")
@json_option
@placed
def import_(place: "Place", file: Path, tree: str | None, new: bool, as_json: bool) -> None:
    """Take FILE (YAML, JSON, CSV or GraphML) in as the newest version of a tree that is there, or with --new as a new one.

    Checked are the four layers, the fixed categories, cycles, names that stand twice, that every criterion that was mapped
    still has its one capability and its text, and that nothing newer is undone. What was changed by hand is kept as edits.
    """
    kept = place.trees.take_in(file, tree, new=new)
    if as_json:
        print_json(kept)
        return
    name = f"{kept['tree']}@{kept['position']}"
    if not kept["new"]:
        click.echo(f"{file} is the same as {name}: nothing to keep")
        return
    kinds = sorted(Counter(edit["kind"] for edit in kept["edits"]).items())
    edits = ", ".join(f"{count} {kind}" for kind, count in kinds)
    click.echo(f"kept {name}" + (f": {edits}" if edits else ""))
    if kept["position"] > 1:
        click.echo(f"what changed: dokimasia tree diff {kept['position'] - 1} {name}")
