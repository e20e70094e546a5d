"""`dokimasia tree agreement`: how far two mappings of the same criteria agree, of judges, versions or a person."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from dokimasia.cli.shared import common, console, json_option, print_json

if TYPE_CHECKING:
    from dokimasia.settings import Settings


@click.command()
@click.argument("first")
@click.argument("second")
@json_option
@common
def command(settings: "Settings", first: str, second: str, as_json: bool) -> None:
    """Compare where FIRST and SECOND place the criteria that both have.

    Each is a version (NAME@NUMBER, a tree's name, or the beginning of its id) or a person's CSV file with the columns
    criterion and leaf.
    """
    from dokimasia.errors import InputError
    from dokimasia.methods.tree.agreement import mapping_comparison
    from dokimasia.methods.tree.files import mapping_from
    from dokimasia.storage.home import Home

    with Home.open(settings.home, write=False) as home:
        one, ours, sample_of = mapping_from(home, first)
        other, theirs, more = mapping_from(home, second)
    try:
        compared = mapping_comparison(ours, theirs, {**more, **sample_of})
    except ValueError as error:
        raise InputError(f"{one} and {other} have no criterion in common: nothing can be compared") from error
    found = {"first": one, "second": other, **compared}
    if as_json:
        print_json(found)
    else:
        _print(found)


def _print(found: Mapping[str, Any]) -> None:
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    out = console()
    out.print(
        f"[bold]{escape(found['first'])}[/bold] and [bold]{escape(found['second'])}[/bold]: {found['n']:,} criteria in both"
        + (f", {found['only_first']:,} in the first alone" if found["only_first"] else "")
        + (f", {found['only_second']:,} in the second alone" if found["only_second"] else "")
    )
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1), show_header=False)
    for justify in ("left", "right", "left"):
        table.add_column(justify=justify)
    hit, kappa, groups = found["hit_rate"], found["kappa"], found["groups"]
    table.add_row(
        "the same leaf", f"{hit['share']:.1%}", f"95 % {hit['low']:.1%} – {hit['high']:.1%}, clustered by samples"
    )
    if kappa is None:
        table.add_row("Cohen's kappa", "–", "all is one and the same leaf")
    else:
        limits = "" if kappa["low"] is None else f"95 % {kappa['low']:.3f} – {kappa['high']:.3f}"
        table.add_row("Cohen's kappa", f"{kappa['value']:.3f}", limits)
    table.add_row("the same parent", f"{found['by_layer']['parents']:.1%}", "")
    table.add_row("the same category", f"{found['by_layer']['categories']:.1%}", "")
    table.add_row("adjusted Rand index", f"{groups['adjusted_rand']:.3f}", "whatever the leaves are called")
    unplaced = found["unplaced"]
    if unplaced["first"] or unplaced["second"]:
        table.add_row("without a leaf", f"{unplaced['first']} / {unplaced['second']}", "in the first / in the second")
    out.print(table)
    out.print(
        "[dim]hit rate and kappa compare leaves by name, as two mappings to one tree do; for trees that were grown apart "
        "read the adjusted Rand index (1: the same groups, 0: chance)[/dim]"
    )
    if found["disagreements"]:
        out.print("[bold]where they differ most[/bold]")
        for one in found["disagreements"]:
            out.print(
                escape(f"{one['n']:>4}  {one['first'] or '(none)'} → {one['second'] or '(none)'}  ({one['example']})")
            )
