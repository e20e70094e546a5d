"""`dokimasia tree diff`: what changed from one version of a capability tree to another, and why."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from dokimasia.cli.shared import common, console, json_option, print_json

if TYPE_CHECKING:
    from dokimasia.settings import Settings

MOST = 30


@click.command()
@click.argument("first")
@click.argument("second")
@click.option("--top", type=click.IntRange(0), default=MOST, show_default=True, help="List so many of each.")
@json_option
@common
def command(settings: "Settings", first: str, second: str, top: int, as_json: bool) -> None:
    """Show what changed from the version FIRST to the version SECOND.

    A version is NAME@NUMBER, a tree's name (its newest), or the beginning of its id; a number alone is a version of the
    other one's tree.
    """
    from dokimasia.methods.tree.trees import compare_versions
    from dokimasia.storage.home import Home

    with Home.open(settings.home, write=False) as home:
        found = compare_versions(home, first, second)
    if as_json:
        print_json(found)
    else:
        _print(found, top)


def _print(found: Mapping[str, Any], top: int) -> None:
    from rich.markup import escape

    out = console()
    for name in ("first", "second"):
        one = found[name]
        out.print(
            f"[bold]{name:<6}[/bold] {escape(one['tree'])}@{one['position']} · {one['phase']} · "
            f"{one['capabilities']} capabilities · {one['criteria']:,} criteria"
        )
    moved = found["moved"]
    changes = [
        ("added", "green", [f"+ {node}" for node in found["added"]]),
        ("removed", "red", [f"− {node}" for node in found["removed"]]),
        ("merged", "yellow", [f"{node} → {into}" for node, into in found["merged"].items()]),
        ("moved criteria", "cyan", _moves(moved)),
        ("support", "dim", [f"{leaf}: {old} → {new}" for leaf, (old, new) in found["support"].items()]),
    ]
    if not any(lines for _, _, lines in changes):
        out.print("the two are the same")
    for title, style, lines in changes:
        if not lines:
            continue
        total = f"{len(moved):,}" if title == "moved criteria" else str(len(lines))
        out.print(f"\n[bold]{title}[/bold] ({total})")
        for line in lines[:top]:
            out.print(escape(line), style=style)
        if len(lines) > top:
            out.print(f"[dim]and {len(lines) - top} more; --top N lists them[/dim]")
    edits = found["edits"]
    if edits is None:
        out.print("\n[dim]the second did not come from the first: there are no edits between them[/dim]")
    elif edits:
        out.print(f"\n[bold]edits[/bold] ({len(edits)})")
        for edit in edits[:top]:
            into = f" → {edit['into']}" if edit["into"] else ""
            who = edit["model"] or edit["by"]
            why = f": {edit['reason']}" if edit["reason"] else ""
            behind = f" [{len(edit['criteria'])} criteria]" if edit["criteria"] else ""
            out.print(f"{edit['kind']:<6} {escape(edit['node'] + into)} [dim]{escape(f'({who}){why}{behind}')}[/dim]")
        if len(edits) > top:
            out.print(f"[dim]and {len(edits) - top} more; --top N lists them[/dim]")


def _moves(moved: Mapping[str, Any]) -> list[str]:
    """Return criteria that moved, counted by where from and where to."""
    counts: dict[tuple[str, str], int] = {}
    for old, new in moved.values():
        counts[old or "(none)", new or "(none)"] = counts.get((old or "(none)", new or "(none)"), 0) + 1
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [f"{count:>4}  {old} → {new}" for (old, new), count in ranked]
