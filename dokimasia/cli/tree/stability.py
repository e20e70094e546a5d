"""`dokimasia tree stability`: several trees from other samples of the same criteria, and how far they agree."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import click
from rich.markup import escape

from dokimasia.cli.backend import Backend, with_backend
from dokimasia.cli.requests import made, request_options
from dokimasia.cli.shared import console, json_option, print_json, say
from dokimasia.cli.tree.show import plain_table
from dokimasia.methods.tree.request import GrowthRequest
from dokimasia.report.figures import several

if TYPE_CHECKING:
    from dokimasia.methods.tree.stability import Spread, TreeStability

FEWEST = 2


@click.command(
    "stability",
    help="Grow several trees from other samples of the criteria of RUN, or of a file, and say how far they agree.\n\n"
    "Each tree is a growth like any other, with the next seed: the same command continues what was interrupted, or prints "
    "the comparison. --name begins the trees' names.",
)
@request_options(GrowthRequest, leave_out=("onto",))
@click.option("--trees", type=click.IntRange(FEWEST, 50), default=3, show_default=True, help="How many trees.")
@click.option("--dry-run", is_flag=True, help="Print the estimate for all trees; ask nothing.")
@json_option
@with_backend
def stability(backend: Backend, asked: Mapping[str, object], trees: int, dry_run: bool, as_json: bool) -> int:
    """Grow trees one after the other, and compare every two of them."""
    from dokimasia.cli.running import exit_code
    from dokimasia.errors import ConfigError
    from dokimasia.methods.tree.stability import tree_stability
    from dokimasia.runs.catalogue import method_named
    from dokimasia.storage.home import Home

    backend.only_here("tree stability")
    method = method_named("tree")
    request = made(GrowthRequest, asked)
    preview = backend.preview(method, request)
    samples = int(preview["samples"])
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
        grown.append((str((result.summary or {})["tree"]), seed))
    with Home.open(backend.settings.home, write=False) as home:
        figures = tree_stability(home, grown)
    if as_json:
        print_json(figures)
    else:
        _print(figures)
    return 0


def _print(figures: "TreeStability") -> None:
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
            f"{pair.categories:.1%}",
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
    return tuple(f"{number:.1%}" for number in (spread.mean, spread.sd, spread.least, spread.greatest))
