"""Verbs for trees and their versions: list, compare, restore, export, import, delete, and the stability of growths."""

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.markup import escape

from dokimasia.cli.backend import Backend, with_backend
from dokimasia.cli.requests import made, request_options
from dokimasia.cli.shared import common, console, json_option, print_json, say
from dokimasia.cli.tree.show import counted, plain_table
from dokimasia.domain.wording import percentage
from dokimasia.methods.tree.request import GrowthRequest
from dokimasia.report.fields import as_json as plain
from dokimasia.report.figures import several

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from dokimasia.methods.tree.agreement import MappingComparison, Spread, TreeStability
    from dokimasia.methods.tree.editing import Format
    from dokimasia.methods.tree.stored_trees import ListedTree, TreeComparison, TreeHistory
    from dokimasia.report.fields import Rate
    from dokimasia.settings import Settings


MOST, SHORT = 30, 12
"""The maximum number of listed changes of each kind, and the number of shown digits of a version's id."""


@click.command("list")
@click.argument("tree", required=False)
@json_option
@with_backend
def list_(backend: Backend, tree: str | None, as_json: bool) -> None:
    """List all trees of the home, or the versions of TREE in the order in which they came about."""
    from dokimasia import operations
    from dokimasia.methods.tree.stored_trees import ListedTree

    if tree is not None:
        history = backend.call(operations.trees.versions, tree=tree)
        if as_json:
            print_json(history)
        else:
            console().print(_table_of_versions(history))
        return
    rows = backend.entries(operations.trees.trees, lambda page: page.trees)
    trees = [ListedTree.model_validate(row) for row in rows]
    if as_json:
        print_json({"trees": trees})
    elif trees:
        console().print(_table_of_trees(trees))
    else:
        console().print("no trees yet: dokimasia tree grow RUN --judge NAME")


def _table_of_versions(history: "TreeHistory") -> "Table":
    table = plain_table()
    for name in ("version", "id", "made by", "capabilities", "criteria", "edits"):
        table.add_column(name, justify="right" if name in {"version", "capabilities", "criteria"} else "left")
    for version in history.versions:
        name, author = f"{history.tree}@{version.position}", f"{version.phase} · {version.by}"
        numbers = str(version.capabilities), f"{version.criteria:,}"
        table.add_row(name, version.id[:SHORT], escape(author), *numbers, counted(version.edits) or "–")
    return table


def _table_of_trees(trees: Sequence["ListedTree"]) -> "Table":
    table = plain_table()
    for name in ("tree", "grown from", "versions", "last", "capabilities", "criteria", "began"):
        table.add_column(name, justify="right" if name in {"versions", "capabilities", "criteria"} else "left")
    for tree in trees:
        numbers = str(tree.capabilities), f"{tree.criteria:,}"
        began = tree.created_at[:16].replace("T", " ")
        source = escape(tree.source) or "a file"
        table.add_row(escape(tree.tree), source, str(tree.versions), tree.phase or "–", *numbers, began)
    return table


@click.command("diff")
@click.argument("first")
@click.argument("second")
@click.option("--top", type=click.IntRange(0), default=MOST, show_default=True, help="List so many of each.")
@json_option
@with_backend
def diff(backend: Backend, first: str, second: str, top: int, as_json: bool) -> None:
    """Show what changed from the version FIRST to the version SECOND.

    A version is NAME@NUMBER, a tree's name (its newest), or the beginning of its id; a number alone is a version of the
    other one's tree.
    """
    from dokimasia import operations

    tree = second if first.isdecimal() else first
    comparison = backend.call(operations.trees.diff, tree=tree, first=first, second=second)
    if as_json:
        print_json(comparison)
    else:
        _print_diff(comparison, top)


def _print_diff(comparison: "TreeComparison", top: int) -> None:
    out = console()
    for name, version in (("first", comparison.first), ("second", comparison.second)):
        out.print(
            f"[bold]{name:<6}[/bold] {escape(version.tree)}@{version.position} · {version.phase} · "
            f"{several(version.capabilities, 'capability', 'capabilities')} · "
            f"{several(version.criteria, 'criterion', 'criteria')}"
        )
    moved = comparison.moved
    changes = [
        ("added", "green", [f"+ {node}" for node in comparison.added]),
        ("removed", "red", [f"− {node}" for node in comparison.removed]),
        ("merged", "yellow", [f"{node} → {into}" for node, into in comparison.merged.items()]),
        ("moved criteria", "cyan", _moves(moved)),
        ("support", "dim", [f"{leaf}: {old} → {new}" for leaf, (old, new) in comparison.support.items()]),
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
        _print_rest(out, len(lines) - top)
    edits = comparison.edits
    if edits is None:
        out.print("\n[dim]the second did not come from the first: there are no edits between them[/dim]")
    elif edits:
        out.print(f"\n[bold]edits[/bold] ({len(edits)})")
        for edit in edits[:top]:
            into = f" → {edit.into}" if edit.into else ""
            author = edit.model or edit.by
            why = f": {edit.reason}" if edit.reason else ""
            criteria_note = f" [{several(len(edit.criteria), 'criterion', 'criteria')}]" if edit.criteria else ""
            out.print(
                f"{edit.kind:<6} {escape(edit.node + into)} [dim]{escape(f'({author}){why}{criteria_note}')}[/dim]"
            )
        _print_rest(out, len(edits) - top)


def _print_rest(out: "Console", count: int) -> None:
    if count > 0:
        out.print(f"[dim]and {count} more; --top N lists them[/dim]")


def _moves(moved: Mapping[str, tuple[str | None, str | None]]) -> list[str]:
    """Return the numbers of moved criteria by their old and new leaf, as lines."""
    counts = Counter((old or "(none)", new or "(none)") for old, new in moved.values())
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [f"{count:>4}  {old} → {new}" for (old, new), count in ranked]


@click.command("agreement")
@click.argument("first")
@click.argument("second", nargs=-1, required=True)
@json_option
@common
def agreement(settings: "Settings", first: str, second: tuple[str, ...], as_json: bool) -> None:
    """Compare where FIRST and SECOND place the criteria that both have.

    Each is a version (NAME@NUMBER, a tree's name, or the beginning of its id) or a person's CSV file with the columns
    criterion and leaf; a leaf is a path, or its name alone where no other leaf has that name. With several SECOND, such as
    the mappings of several judges, each is compared with FIRST, and their hit rates stand beside each other by category.
    """
    from dokimasia.errors import InputError
    from dokimasia.methods.tree.agreement import mapping_comparison
    from dokimasia.methods.tree.editing import mapping_from
    from dokimasia.storage.home import Home

    with Home.open(settings.home, write=False) as home:
        first_mapping = mapping_from(home, first)
        others = [mapping_from(home, name) for name in second]
    comparisons: list[tuple[str, MappingComparison]] = []
    for other in others:
        leaves = first_mapping.in_paths_of(other), other.in_paths_of(first_mapping)
        try:
            compared = mapping_comparison(*leaves, {**other.cluster_of, **first_mapping.cluster_of})
        except ValueError as error:
            raise InputError(
                f"{first_mapping.name} and {other.name} have no criterion in common: nothing can be compared"
            ) from error
        comparisons.append((other.name, compared))
    if as_json:
        rows = [{"first": first_mapping.name, "second": name, **plain(compared)} for name, compared in comparisons]
        print_json(rows[0] if len(rows) == 1 else {"first": first_mapping.name, "compared": rows})
        return
    if len(comparisons) == 1:
        _print_agreement(first_mapping.name, *comparisons[0])
    _print_hit_rates(first_mapping.name, comparisons)


def _print_hit_rates(first: str, comparisons: "Sequence[tuple[str, MappingComparison]]") -> None:
    """Print the hit rate by category, with a column for each compared mapping (ATOM, Figure 7)."""
    table = plain_table(title="hit rate by category", title_justify="left", title_style="bold")
    table.add_column(f"category in {escape(first)}", overflow="fold")
    categories: set[str] = set()
    for second, comparison in comparisons:
        table.add_column(escape(second), justify="right")
        categories.update(comparison.by_category)
    for category in sorted(categories):
        rates = (comparison.by_category.get(category) for _, comparison in comparisons)
        table.add_row(escape(category), *("–" if rate is None else _hit_rate(rate, rate.n) for rate in rates))
    table.add_row("all", *(_hit_rate(comparison.hit_rate, comparison.n) for _, comparison in comparisons))
    console().print(table)


def _hit_rate(rate: "Rate", n: int) -> str:
    from dokimasia.report.figures import percent_bracketed

    return f"{percentage(rate.share, 1)}[dim]{escape(percent_bracketed(rate))} of {n}[/dim]"


def _print_agreement(first: str, second: str, comparison: "MappingComparison") -> None:
    from dokimasia.report.figures import limits_text, percent_limits

    out = console()
    out.print(
        f"[bold]{escape(first)}[/bold] and [bold]{escape(second)}[/bold]: "
        f"{several(comparison.n, 'criterion', 'criteria')} in both"
        + (f", {comparison.only_first:,} in the first alone" if comparison.only_first else "")
        + (f", {comparison.only_second:,} in the second alone" if comparison.only_second else "")
    )
    table = plain_table(show_header=False)
    for justify in ("left", "right", "left"):
        table.add_column(justify=justify)
    hit, kappa, groups = comparison.hit_rate, comparison.kappa, comparison.groups
    limits = percent_limits(hit, " – ")
    limits = limits if hit.low is None else f"95 % interval {limits} %, clustered by images"
    table.add_row("the same leaf", percentage(hit.share, 1), limits)
    if kappa is None:
        table.add_row("Cohen's kappa", "–", "all is one and the same leaf")
    else:
        limits = limits_text(kappa, "{:.3f}".format, " – ")
        limits = limits if kappa.low is None else f"95 % interval {limits}"
        table.add_row("Cohen's kappa", f"{kappa.value:.3f}", limits)
    table.add_row("the same parent", percentage(comparison.by_layer.parents, 1), "")
    table.add_row("the same category", percentage(comparison.by_layer.categories, 1), "")
    table.add_row("adjusted Rand index", f"{groups.adjusted_rand:.3f}", "whatever the leaves are called")
    unplaced = comparison.unplaced
    if unplaced.first or unplaced.second:
        table.add_row("without a leaf", f"{unplaced.first} / {unplaced.second}", "in the first / in the second")
    out.print(table)
    out.print(
        "[dim]hit rate and kappa compare leaves by name, as two mappings to one tree do; for trees that were grown apart "
        "read the adjusted Rand index (1: the same groups, 0: chance)[/dim]"
    )
    if comparison.disagreements:
        out.print("[bold]where they differ most[/bold]")
        for pair in comparison.disagreements:
            leaves = f"{pair.first or '(none)'} → {pair.second or '(none)'}"
            out.print(escape(f"{pair.n:>4}  {leaves}  ({pair.example})"))


@click.command("restore")
@click.argument("version")
@json_option
@with_backend
def restore(backend: Backend, version: str, as_json: bool) -> None:
    """Make VERSION (NAME@NUMBER, or the beginning of its id) the newest of its tree; the history stays."""
    from dokimasia import operations

    tree, separator, position = version.rpartition("@")
    body = {"version": position if separator else version}
    restored = backend.call(operations.trees.restore, tree=tree if separator else version, body=body)
    if as_json:
        print_json(restored)
    else:
        click.echo(
            f"{restored.tree}@{restored.position} is {restored.tree}@{restored.restored} again "
            f"({len(restored.edits)} edits)"
        )


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
@with_backend
def export(backend: Backend, tree: str, version: str | None, name: "Format | None", output: Path | None) -> None:
    """Write TREE as YAML (to be edited and imported), JSON, CSV, GraphML or a Mermaid chart; equal trees, equal bytes."""
    from dokimasia import operations
    from dokimasia.methods.tree.editing import format_of
    from dokimasia.runs.reading.exporting import write_whole

    exported = backend.call(operations.trees.export, tree=tree, version=version, format=format_of(output, name))
    if output is None:
        sys.stdout.buffer.write(exported.data)
        sys.stdout.buffer.flush()
    else:
        write_whole(output, exported.data)
        click.echo(f"wrote {exported.title or tree} to {output}", err=True)


@click.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--tree",
    metavar="NAME",
    help="The tree that it is a version of (default: the one that a YAML names, or the file's).",
)
@click.option("--new", is_flag=True, help="Begin a new tree with it.")
@json_option
@with_backend
def import_(backend: Backend, file: Path, tree: str | None, new: bool, as_json: bool) -> None:
    """Take FILE (YAML, JSON, CSV or GraphML) in as the newest version of a tree that is there, or with --new as a new one.

    Checked are the four layers, the fixed categories, cycles, names that stand twice, that every criterion that was mapped
    still has its one capability and its text, and that nothing newer is undone. What was changed by hand is kept as edits.
    """
    from dokimasia import operations

    imported = backend.call(operations.trees.take_in, body={"file": backend.upload(file), "tree": tree, "new": new})
    if as_json:
        print_json(imported)
        return
    name = f"{imported.tree}@{imported.position}"
    if not imported.new:
        click.echo(f"{file} is the same as {name}: nothing to keep")
        return
    kinds = sorted(Counter(edit.kind for edit in imported.edits).items())
    edits = ", ".join(f"{count} {kind}" for kind, count in kinds)
    click.echo(f"kept {name}" + (f": {edits}" if edits else ""))
    if imported.position > 1:
        click.echo(f"what changed: dokimasia tree diff {imported.position - 1} {name}")


@click.command("delete")
@click.argument("tree")
@click.option("--yes", is_flag=True, help="Do not ask; needed where there is no terminal to ask on.")
@json_option
@with_backend
def delete(backend: Backend, tree: str, yes: bool, as_json: bool) -> None:
    """Delete TREE with all its versions and the growths that made them.

    The ledger stays, so that the same growth asks its judge nothing anew. A tree that an unfinished run needs stays, too.
    """
    from dokimasia import operations

    if not yes:
        history = backend.call(operations.trees.versions, tree=tree)
        name, count = history.tree, len(history.versions)
        if not sys.stdin.isatty():
            raise click.UsageError(f"no terminal to ask for confirmation; add --yes to delete the tree {name!r}")
        click.echo(f"tree {name}: {several(count, 'version')}", err=True)
        click.confirm("delete it?", abort=True, err=True)
    deleted = backend.call(operations.trees.delete, tree=tree)
    if as_json:
        print_json(deleted)
        return
    runs = f", and its growth {', '.join(deleted.runs)}" if deleted.runs else ""
    click.echo(f"deleted the tree {deleted.tree}: {deleted.versions} versions{runs}")


@click.command(
    "stability",
    help="Grow several trees from other samples of the criteria of RUN, or of a file, and say how far they agree.\n\n"
    "Each tree is a growth like any other, with the next seed: the same command continues what was interrupted, or prints "
    "the comparison. --name begins the trees' names.",
)
@request_options(GrowthRequest, leave_out=("onto",))
@click.option("--trees", type=click.IntRange(2, 50), default=3, show_default=True, help="Number of trees.")
@click.option("--dry-run", is_flag=True, help="Print the cost estimate for all trees without sending anything.")
@json_option
@with_backend
def stability(backend: Backend, asked: Mapping[str, object], trees: int, dry_run: bool, as_json: bool) -> int:
    """Grow trees one after the other, and compare every two of them."""
    from dokimasia.cli.drawing import PreviewShown
    from dokimasia.cli.running import exit_code
    from dokimasia.errors import ConfigError
    from dokimasia.methods.tree.agreement import tree_stability
    from dokimasia.methods.tree.figures import TreeFigures
    from dokimasia.runs.catalogue import method_named
    from dokimasia.storage.home import Home

    backend.only_here("tree stability")
    method = method_named("tree")
    request = made(GrowthRequest, asked)
    preview = backend.preview(method, request)
    samples = PreviewShown.model_validate(preview).samples
    if not 0 < request.subsample < samples:
        raise ConfigError(
            f"each tree would grow from all {several(samples, 'sample')}, so that nothing could differ: name fewer with "
            f"--subsample, such as --subsample {max(1, samples // 2)}"
        )
    if dry_run:
        estimate = {name: preview[name] for name in ("samples", "calls", "cost") if name in preview}
        say(f"each of {trees} trees: {', '.join(f'{name} {value}' for name, value in estimate.items())}")
        return 0
    grown: list[tuple[str, int]] = []
    for seed in range(request.seed, request.seed + trees):
        name = None if request.name is None else f"{request.name}-{seed}"
        result = backend.run(method, request.model_copy(update={"seed": seed, "name": name}))
        if code := exit_code(result, backend.where):
            return code
        grown.append((TreeFigures.model_validate(result.summary).tree, seed))
    with Home.open(backend.settings.home, write=False) as home:
        figures = tree_stability(home, grown)
    if as_json:
        print_json(figures)
    else:
        _print_stability(figures)
    return 0


def _print_stability(figures: "TreeStability") -> None:
    out = console()
    table = plain_table()
    for column in ("tree", "seed", "leaves", "mapped criteria"):
        table.add_column(column, justify="left" if column == "tree" else "right")
    for tree in figures.trees:
        table.add_row(escape(tree.tree), str(tree.seed), str(tree.leaves), f"{tree.mapped:,}")
    out.print(table)
    table = plain_table()
    for column in ("first", "second", "criteria", "adjusted Rand", "adjusted MI", "parents", "same category"):
        table.add_column(column, justify="left" if column in ("first", "second") else "right")
    for pair in figures.pairs:
        numbers = (pair.adjusted_rand, pair.adjusted_mutual_information, pair.parents)
        table.add_row(
            escape(pair.first),
            escape(pair.second),
            f"{pair.n:,}",
            *map("{:.3f}".format, numbers),
            percentage(pair.categories, 1),
        )
    out.print(table)
    table = plain_table()
    for column in ("share of criteria in", "mean", "sd", "least", "greatest"):
        table.add_column(column, justify="left" if column.startswith("share") else "right")
    for category, spread in figures.categories.items():
        table.add_row(escape(category), *_shares(spread))
    out.print(table)
    leaves, agreement = figures.leaves, figures.adjusted_rand
    out.print(
        f"{len(figures.trees)} trees of {leaves.least:g} to {leaves.greatest:g} leaves (mean {leaves.mean:.1f}, sd "
        f"{leaves.sd:.1f}); adjusted Rand index of two {agreement.mean:.3f} on average, {agreement.least:.3f} at the least "
        "(1: the same groups of criteria, 0: chance)"
    )


def _shares(spread: "Spread") -> tuple[str, ...]:
    return tuple(percentage(number, 1) for number in (spread.mean, spread.sd, spread.least, spread.greatest))
