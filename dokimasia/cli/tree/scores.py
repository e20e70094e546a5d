"""`dokimasia tree validity` and `weaknesses`: whether a tree predicts scores, and where a model is weak on it."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.markup import escape

from dokimasia.cli.backend import Backend, with_backend
from dokimasia.cli.shared import json_option, print_json, redact
from dokimasia.cli.tree.show import begun, counted, plain_table
from dokimasia.domain.wording import percentage
from dokimasia.report.figures import several

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from dokimasia.operations.trees import (
        EvidentFinding,
        EvidentWeaknesses,
        GroupingValidity,
        ModelWeaknesses,
        PredictionErrors,
        TreeValidity,
        WeaknessFinding,
    )


@click.command("validity")
@click.argument("run")
@click.option("--tree", metavar="TREE", help="Another tree or version than the run's own.")
@click.option("--model", "models", multiple=True, metavar="M", help="Pool only these models' scores (default: all).")
@click.option("--against", multiple=True, metavar="NAME=FILE", help="Compare with a CSV file of criterion and leaf.")
@click.option("--no-baselines", is_flag=True, help="Leave out the groupings that need no model.")
@click.option("--permutations", type=click.IntRange(1), default=200, show_default=True, help="Of the null.")
@click.option("--resamples", type=click.IntRange(0), default=100, show_default=True, help="Halves of the samples.")
@click.option("--seed", type=click.IntRange(0), help="Seed of permutations and resamples (default: that of RUN).")
@json_option
@with_backend
def validity(
    backend: Backend,
    run: str,
    tree: str | None,
    models: tuple[str, ...],
    against: tuple[str, ...],
    no_baselines: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Show how well the leaves of RUN's tree predict scores: ATOM's Table 3, with a null and the image left out.

    A criterion's score is predicted by a model's mean over all other criteria (MAE_G), and over the others of its leaf
    (MAE_I); their difference is the gain. Printed as published, and leaving out criteria of the same sample.
    """
    from dokimasia import operations

    files = dict(_name_and_path(text) for text in against)
    if files:
        backend.only_here("dokimasia tree validity --against")
    reply = backend.call(
        operations.trees.validity,
        run=run,
        tree=tree,
        model=list(models) or None,
        against=files or None,
        baselines=not no_baselines,
        **options,
    )
    if as_json:
        print_json(reply)
    else:
        _print_validity(reply)


def _name_and_path(text: str) -> tuple[str, Path]:
    name, _, path = text.rpartition("=")
    return (name or Path(path).stem), Path(path)


def _print_validity(validity: "TreeValidity") -> None:
    out = begun(validity.simulated)
    out.print(
        f"{_of(validity)} · {validity.criteria:,} scored criteria "
        f"of {several(len(validity.models), 'model')}: {escape(', '.join(validity.models))}"
    )
    taxonomies = validity.taxonomies
    out.print(
        _table(
            "as published (each criterion left out alone)",
            [(taxonomy, taxonomy.published) for taxonomy in taxonomies],
        )
    )
    out.print(
        _table(
            "leaving out all criteria of the same image",
            [(taxonomy, taxonomy.leave_image_out) for taxonomy in taxonomies],
        )
    )
    for taxonomy in taxonomies:
        out.print(f"[dim]{escape(taxonomy.name)}: {escape(taxonomy.about)}[/dim]")
    for reason in dict.fromkeys(_reasons(taxonomies)):
        out.print(escape(reason))
    out.print(
        "[dim]MAE_I, MAE_G: error when predicting by the other criteria of the leaf, and by all others, in points of 100; "
        f"Δ = MAE_G − MAE_I, {validity.direction}, higher is better. null: 99th percentile of Δ when whole images exchange "
        f"their leaves ({validity.permutations} times), and the p-value. halves: 5th to 95th percentile of Δ in "
        f"{validity.resamples} random halves of the images; above: the share of them in which this one is better than "
        "the tree.[/dim]"
    )


def _reasons(rows: Sequence["GroupingValidity"]) -> Iterator[str]:
    """Yield, for each grouping without a p-value, the reason."""
    for row in rows:
        null = row.leave_image_out.null
        if null is not None and null.reason:
            yield f"{row.name}: {null.reason}"


def _of(validity: "TreeValidity | ModelWeaknesses | EvidentWeaknesses") -> str:
    """Return the run and the tree version of figures as text."""
    state = "" if validity.status == "done" else f" · [bold red]{validity.status}[/bold red]"
    return f"run {validity.run}{state} · {escape(validity.tree)}@{validity.position}"


def _table(title: str, rows: Sequence[tuple["GroupingValidity", "PredictionErrors"]]) -> "Table":
    table = plain_table(title=title, title_justify="left", title_style="bold")
    table.add_column("taxonomy", overflow="fold")
    for name in ("leaves", "pairs", "MAE_I", "MAE_G", "Δ", "null 99 %", "p", "halves", "above"):
        table.add_column(name, justify="right", no_wrap=True)
    for row, errors in rows:
        null, stability = errors.null, errors.stability
        name = escape(row.name)
        if errors.delta is None:
            table.add_row(name, str(row.leaves), str(errors.n), *["–"] * 7)
            continue
        p_value = None if null is None else null.p_value
        significant = p_value is not None and p_value <= 0.05
        style = "bold green" if significant and errors.delta > 0 else "bold"
        table.add_row(
            name,
            str(row.leaves),
            f"{errors.n:,}",
            f"{errors.mae_intra:.2f}",
            f"{errors.mae_global:.2f}",
            f"[{style}]{errors.delta:+.2f}[/{style}]",
            "–" if null is None or null.p99 is None else f"{null.p99:+.2f}",
            "–" if p_value is None else f"{p_value:.3f}",
            "–" if stability is None else f"{stability.low:+.2f} – {stability.high:+.2f}",
            "–" if stability is None else percentage(stability.above_first),
        )
    return table


@click.command("weaknesses")
@click.argument("run")
@click.option("--model", required=True, metavar="M", help="Whose scores (NAME#blind: without the image).")
@click.option("--tree", metavar="TREE", help="Another tree or version than the run's own.")
@click.option(
    "--method",
    type=click.Choice(["fdr", "evaltree"]),
    default="fdr",
    show_default=True,
    help="fdr: nodes that differ from the rest, corrected for many; evaltree: the published descent.",
)
@click.option(
    "--threshold",
    type=click.FloatRange(0, 1),
    help="evaltree: the share of solved criteria (4 of 5 and above) to stay below (default: the model's own).",
)
@click.option(
    "--min-support", type=click.IntRange(1), default=5, show_default=True, help="fdr: fewest scored criteria."
)
@click.option(
    "--fdr", "limit", type=click.FloatRange(0, 1), default=0.05, show_default=True, help="Share of false findings."
)
@click.option("--examples", type=click.IntRange(0), default=3, show_default=True, help="Criteria listed for each node.")
@click.option("--seed", type=click.IntRange(0), help="Seed of intervals and tests (default: that of RUN).")
@json_option
@with_backend
def weaknesses(backend: Backend, run: str, model: str, tree: str | None, as_json: bool, **options: Any) -> None:
    """Show where a model of RUN is weak and strong on the capability tree.

    A node is compared with all the model's other criteria: its difference must be more than chance brings when the
    capabilities of whole images are exchanged, corrected for all nodes looked at.
    """
    from dokimasia import operations

    reply = backend.call(operations.trees.weaknesses, run=run, model=model, tree=tree, **options)
    if as_json:
        print_json(reply)
    else:
        _print_weaknesses(reply)


def _print_weaknesses(weaknesses: "ModelWeaknesses | EvidentWeaknesses") -> None:
    out, overall = begun(weaknesses.simulated), weaknesses.overall
    mean = "no score" if overall.mean is None else f"mean {overall.mean:.1f} of 100"
    failed = "".join(f", {count} {kind}" for kind, count in overall.failures.items())
    out.print(
        f"[bold]{escape(weaknesses.model)}[/bold] · {_of(weaknesses)} · "
        f"{mean} on {overall.n:,} of {overall.held:,} criteria{escape(failed)}"
    )
    if weaknesses.unplaced:
        out.print(f"[red]without a place in the tree: {escape(counted(weaknesses.unplaced))}[/red]")
    if weaknesses.method == "fdr" and weaknesses.reason:
        out.print(f"none of {weaknesses.looked_at} nodes was tested: {escape(weaknesses.reason)}")
        return
    for kind, colour, findings in (("weak", "red", weaknesses.weak), ("strong", "green", weaknesses.strong)):
        if not findings:
            out.print(f"\nno [bold]{kind}[/bold] node among {weaknesses.looked_at} looked at")
            continue
        out.print(f"\n[bold {colour}]{kind}[/bold {colour}]")
        for finding in findings:
            _print_node(finding, out, colour)
    if weaknesses.method == "fdr" and weaknesses.kept_leaves:
        out.print(f"[dim]{weaknesses.kept_leaves}[/dim]")
    out.print(f"[dim]{_legend(weaknesses)}[/dim]")


def _print_node(row: "WeaknessFinding | EvidentFinding", out: "Console", colour: str) -> None:
    from dokimasia.operations.trees import WeaknessFinding
    from dokimasia.report.figures import bracketed, rate_text, signed_text

    scored = f"{row.n}/{row.held}" if row.n < row.held else str(row.n)
    out.print(f"[{colour}]●[/{colour}] [bold]{escape(row.name)}[/bold] [dim]{escape(row.node)}[/dim]")
    if isinstance(row, WeaknessFinding):
        limits = escape(bracketed(row, "{:.1f}".format))
        out.print(
            f"  {row.mean:.1f}{limits}, {signed_text(row.difference, 1)} against the rest · "
            f"{scored} criteria of {row.samples} samples · adjusted p {row.q_value:.3g}"
        )
    else:
        out.print(f"  solves {row.solved} of {row.n}: {escape(rate_text(row.share, row))}")
    for example in row.examples:
        text = " ".join(redact(example.text or "").split())
        out.print(
            f"    [dim]{example.score:.0f}  {escape(example.sample)}: {escape(text)}[/dim]",
            overflow="ellipsis",
            no_wrap=True,
        )


def _legend(weaknesses: "ModelWeaknesses | EvidentWeaknesses") -> str:
    if weaknesses.method == "fdr":
        return (
            f"{weaknesses.looked_at} nodes with at least {weaknesses.min_support} scored criteria "
            "were looked at; of what is "
            f"listed at most {percentage(weaknesses.limit)} are expected to be false (Benjamini and Hochberg). Intervals: 95 %, "
            "clustered by images, each for itself."
        )
    own_share = "" if weaknesses.threshold_given else ", the model's own share"
    return (
        f"threshold {percentage(weaknesses.threshold)} of criteria solved "
        f"(score from {weaknesses.solved_from:.0f} on){own_share}; Clopper and "
        "Pearson 95 %, as published: criteria of one sample count as independent, and nothing corrects for many nodes."
    )
