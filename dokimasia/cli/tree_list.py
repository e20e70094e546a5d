"""`dokimasia tree list`: the capability trees of a home, or the versions of one."""

from typing import TYPE_CHECKING

import click

from dokimasia.cli.shared import common, console, json_option, print_json

if TYPE_CHECKING:
    from dokimasia.settings import Settings


@click.command()
@click.argument("tree", required=False)
@json_option
@common
def command(settings: "Settings", tree: str | None, as_json: bool) -> None:
    """List all trees of the home, or the versions of TREE in the order in which they came about."""
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    from dokimasia.methods.tree.trees import SHORT, list_of_trees, list_of_versions
    from dokimasia.storage.home import Home

    with Home.open(settings.home, write=False) as home:
        trees = list_of_trees(home) if tree is None else []
        history = list_of_versions(home, tree) if tree is not None else None
    out, table = console(), Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
    if history is not None:
        if as_json:
            print_json(history)
            return
        for name in ("version", "id", "made by", "capabilities", "criteria", "edits"):
            table.add_column(name, justify="right" if name in {"version", "capabilities", "criteria"} else "left")
        for one in history["versions"]:
            edits = ", ".join(f"{count} {kind}" for kind, count in one["edits"].items())
            who = f"{one['phase']} · {one['by']}"
            numbers = str(one["capabilities"]), f"{one['criteria']:,}"
            table.add_row(
                f"{history['tree']}@{one['position']}", one["id"][:SHORT], escape(who), *numbers, edits or "–"
            )
        out.print(table)
        return
    if as_json:
        print_json({"trees": trees})
        return
    if not trees:
        out.print("no trees yet: dokimasia tree grow RUN --judge NAME")
        return
    for name in ("tree", "grown from", "versions", "last", "capabilities", "criteria", "began"):
        table.add_column(name, justify="right" if name in {"versions", "capabilities", "criteria"} else "left")
    for one in trees:
        numbers = str(one["capabilities"]), f"{one['criteria']:,}"
        began = one["created_at"][:16].replace("T", " ")
        source = escape(one["source"]) or "a file"
        table.add_row(escape(one["tree"]), source, str(one["versions"]), one["phase"] or "–", *numbers, began)
    out.print(table)
