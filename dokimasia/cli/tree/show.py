"""`dokimasia tree show`: a capability tree in the terminal, with its criteria and a model's scores as bars."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click
from rich import box
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from dokimasia.cli.backend import Backend, with_backend
from dokimasia.cli.shared import console, json_option, print_json
from dokimasia.report.figures import several
from dokimasia.report.footnotes import Footnotes

if TYPE_CHECKING:
    from rich.console import Console

    from dokimasia.operations.trees import NodeScore, ScoredTree, TreeNode


NAME_WIDTH = 24
"""The minimum terminal columns for the names of nodes."""

BAR, REST, BAR_WIDTH = "━", "·", 20
LOW, HIGH = 50.0, 75.0
"""Scores, 0 to 100: bars are red below the first and green from the second, which equal 3 and 4 points of 5."""


@click.command("show")
@click.argument("tree", default="last")
@click.option("--version", help="Another version of the tree: its number, or the beginning of its id.")
@click.option("--depth", type=click.IntRange(1, 3), default=3, show_default=True, help="Number of layers to show.")
@click.option("--run", help="Show the scores of this run (default: the one that the tree was grown from).")
@click.option("--model", "models", multiple=True, metavar="M", help="Show this model's scores; can be repeated.")
@click.option("--all", "everything", is_flag=True, help="Show nodes without criteria, too.")
@json_option
@with_backend
def show(
    backend: Backend,
    tree: str,
    version: str | None,
    depth: int,
    run: str | None,
    models: tuple[str, ...],
    everything: bool,
    as_json: bool,
) -> None:
    """Show TREE: its name, NAME@VERSION, the beginning of a version's or a run's id, or `last`."""
    from dokimasia import operations

    tree_shown = backend.call(
        operations.trees.one_tree, tree=tree, version=version, run=run, model=list(models) or None, depth=depth
    )
    if as_json:
        print_json(tree_shown)
    else:
        print_tree(tree_shown, models, everything=everything, where=backend.where)


def begun(simulated: Sequence[str]) -> "Console":
    """Return a console, after printing a note if models are simulated."""
    from dokimasia.report.data import SIMULATED_NOTE

    out = console()
    if simulated:
        out.print(f"[yellow]{SIMULATED_NOTE}[/yellow]")
    return out


def plain_table(**options: Any) -> Table:
    """Return an empty table in the style of the `tree` verbs."""
    return Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1), **options)


def counted(kinds: Mapping[str, int]) -> str:
    """Return counts by kind as text."""
    return ", ".join(f"{count} {kind}" for kind, count in kinds.items())


def print_tree(tree_shown: "ScoredTree", models: Sequence[str] = (), *, where: str, everything: bool = False) -> None:
    """Print a tree with the criteria at its nodes, and the scores of its models if any are named.

    `where` are the options for another command to find the same home or service.
    """
    out = begun(tree_shown.simulated)
    counts = tree_shown.counts
    leaves = f"{counts.capabilities} capabilities" if counts.capabilities else f"{counts.parents} parents"
    out.print(
        f"[bold]{escape(tree_shown.tree)}[/bold] · version {tree_shown.position} ({tree_shown.phase}) · "
        f"{leaves} · {several(counts.criteria, 'criterion', 'criteria')}"
    )
    if tree_shown.unplaced:
        out.print(f"[red]without a place: {escape(counted(tree_shown.unplaced))}[/red]")
    nodes = [node for node in tree_shown.nodes if everything or node.below or node.layer <= 1]
    models_shown = tree_shown.models if models else ()
    footnotes = Footnotes()
    out.print(_table(nodes, models_shown, footnotes))
    for line in footnotes.lines():
        out.print(Text(line, style="dim"))
    if models_shown:
        out.print(
            "[dim]score: mean of the criteria at and below a node, 0 to 100, with its 95 % interval, clustered by images; "
            "many nodes are shown, and some differ by chance alone: see dokimasia tree weaknesses[/dim]"
        )
    elif tree_shown.models:
        verb = f"dokimasia tree show {tree_shown.tree} --model NAME{where}"
        out.print(f"[dim]scores: {escape(verb)}, of {escape(', '.join(tree_shown.models))}[/dim]", soft_wrap=True)


def _table(nodes: Sequence["TreeNode"], models: Sequence[str], footnotes: Footnotes) -> Table:
    table = plain_table()
    table.add_column("capability", overflow="fold", ratio=1 if len(models) < 2 else None, min_width=NAME_WIDTH)
    table.add_column("criteria", justify="right", no_wrap=True)
    largest = max((node.below for node in nodes if node.layer == 1), default=0)
    if not models:
        table.add_column("", no_wrap=True, min_width=BAR_WIDTH)
    for name in models:
        table.add_column(name, justify="right", overflow="fold")
        table.add_column("95 %", justify="center")
        if len(models) == 1:
            table.add_column("0                100", no_wrap=True, min_width=BAR_WIDTH)
    for node, guide in zip(nodes, guides(nodes), strict=True):
        cells: list[Any] = [_name(node, guide), f"{node.below:,}"]
        if not models:
            cells.append(_support_bar(node, largest))
        for name in models:
            cells += _score(node.scores.get(name), footnotes, bar=len(models) == 1)
        table.add_row(*cells)
    return table


def guides(nodes: Sequence["TreeNode"]) -> list[str]:
    """Return the tree-drawing characters before each node; each node comes before its children."""
    last_of: dict[str | None, str] = {node.parent: node.id for node in nodes}
    lines: dict[str | None, str] = {}
    drawn_guides: list[str] = []
    for node in nodes:
        prefix = lines.get(node.parent, "")
        is_last = last_of[node.parent] == node.id
        if node.layer <= 1:
            drawn_guides.append("")
            lines[node.id] = ""
            continue
        drawn_guides.append(prefix + ("└─ " if is_last else "├─ "))
        lines[node.id] = prefix + ("   " if is_last else "│  ")
    return drawn_guides


def _name(node: "TreeNode", guide: str) -> Text:
    style = "bold" if node.layer <= 1 else ""
    return Text(guide, style="dim").append("all" if node.layer == 0 else node.name, style=f"not dim {style}".strip())


def _support_bar(node: "TreeNode", most: int) -> Text:
    if not most or node.layer == 0:
        return Text("")
    length = round(node.below / most * BAR_WIDTH)
    return Text(BAR * max(length, 1 if node.below else 0), style="cyan" if node.layer == 1 else "dim cyan")


def _score(score: "NodeScore | None", footnotes: Footnotes, *, bar: bool) -> list[Any]:
    if score is None or score.mean is None:
        return ["–", "", *([""] if bar else [])]
    from dokimasia.report.figures import limits_text

    mean, colour = score.mean, "yellow"
    if mean < LOW:
        colour = "red"
    elif mean >= HIGH:
        colour = "green"
    cells: list[Any] = [Text(f"{mean:.1f}", style="bold"), footnotes.mark(limits_text(score, "{:.0f}".format))]
    if bar:
        length = round(mean / 100 * BAR_WIDTH)
        cells.append(Text(BAR * length, style=colour).append(REST * (BAR_WIDTH - length), style="bright_black"))
    return cells
