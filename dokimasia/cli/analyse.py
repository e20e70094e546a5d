"""`dokimasia analyse`: what an audit's figures say: gaps, domains, consistency, agreement, length, judges, coverage."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dokimasia.cli.shared import common, console, json_option, print_json, redact

if TYPE_CHECKING:
    from dokimasia.settings import Settings

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command()
@click.argument("run")
@click.option("--ratings", type=FILE, help="Outside ratings: JSON lines or CSV of model, rating and, a response's, id.")
@click.option("--against", metavar="RUN2", help="An audit of the same rubrics by another judge.")
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Also write a report with charts: FILE.html without network, or FILE.md.",
)
@json_option
@common
def command(
    settings: "Settings", run: str, ratings: Path | None, against: str | None, output: Path | None, as_json: bool
) -> None:
    """Analyse the audit RUN: each analysis as numbers and one sentence, and with -o as a chart.

    Told are the reliability gap, where gates fail, whether the two streams go together, the agreement with outside
    ratings with and without the gate, length bias, what another judge says, and what fewer rubrics would say.
    """
    from dokimasia.methods.audit.analysing import analyse
    from dokimasia.storage.home import Home
    from dokimasia.storage.runs import resolve_run

    with Home.open(settings.home, write=False) as home:
        found = resolve_run(home, run)
        other = resolve_run(home, against) if against else None
        figures = analyse(home, found, ratings=ratings, against=other)
    if output is not None:
        from dokimasia.methods.audit.report import write_audit_report

        write_audit_report(found, figures, output=output, redact=redact)
    if as_json:
        print_json(figures)
    else:
        _print(figures)
    if output is not None:
        click.echo(f"wrote {output}", err=True)


def _print(figures: Mapping[str, Any]) -> None:
    from rich.markup import escape

    from dokimasia.cli.audit_view import print_audit

    out = console()
    print_audit(out, figures)
    for name, found in figures["analyses"].items():
        out.print(f"\n[bold]{name.replace('_', ' ')}[/bold]  {escape(redact(found['says']))}")
        table = _TABLES[name](found)
        if table is not None:
            out.print(table)


def _table(*columns: str) -> Any:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
    for number, name in enumerate(columns):
        table.add_column(name, justify="right" if number else "left", overflow="fold")
    return table


def _gap(found: Mapping[str, Any]) -> Any:
    table = _table("model", "must-right item", "gate pass", "gap", "95 % interval")
    for name, one in sorted(found["models"].items(), key=lambda pair: pair[1]["gap"]["mean"]):
        gap = one["gap"]
        table.add_row(
            name,
            f"{one['item']:.2f}",
            f"{one['gate']:.2f}",
            f"{gap['mean']:.2f}",
            f"{gap['low']:.1f} to {gap['high']:.1f}",
        )
    return table


def _failures(found: Mapping[str, Any]) -> Any:
    table = _table("domain", "responses", "gates failed", "rate", "95 % interval", "share of failures")
    for domain, one in found["all"].items():
        rate = one["rate"]
        cells = ("–", "–") if rate is None else (f"{rate['mean']:.1f} %", f"{rate['low']:.0f} to {rate['high']:.0f}")
        share = "–" if one["share"] is None else f"{one['share']:.0%}"
        table.add_row(domain, str(one["n"]), str(one["failed"]), *cells, share)
    return table


def _consistency(found: Mapping[str, Any]) -> Any:
    if found["r_squared"] is None:
        return None
    table = _table("R²", "95 % interval", "models")
    interval = "–" if found["low"] is None else f"{found['low']:.3f} to {found['high']:.3f}"
    table.add_row(f"{found['r_squared']:.4f}", interval, str(found["n"]))
    return table


def _agreement(found: Mapping[str, Any]) -> Any:
    table = _table("score", "Pearson", "Spearman", "Kendall")
    titles = {"gated": "with the gate", "ungated": "without the gate", "plain": "share of all rubrics"}
    for key, title in titles.items():
        table.add_row(title, *(_correlation(found[key][name]) for name in ("pearson", "spearman", "kendall")))
    return table


def _length(found: Mapping[str, Any]) -> Any:
    table = _table("model", "responses", "mean words", "r", "95 % interval", "p")
    for name, one in found["models"].items():
        r, p = ("–", "–") if one["r"] is None else (f"{one['r']:+.3f}", f"{one['p']:.3g}")
        interval = "–" if one["low"] is None else f"{one['low']:+.2f} to {one['high']:+.2f}"
        table.add_row(name, str(one["n"]), f"{one['words']:.0f}", r, interval, p)
    return table


def _judges(found: Mapping[str, Any]) -> Any:
    first, second = found["judges"]
    table = _table("model", first, second, "shift", "95 % interval", "spread over repeats")
    for name in found["order"][0]:
        one = found["models"][name]
        shift = one["shift"]
        spreads = " / ".join("–" if value is None else f"{value:.2f}" for value in one["spread"])
        means = [f"{value:.2f}" for value in one["means"]]
        table.add_row(name, *means, f"{shift['mean']:+.2f}", f"{shift['low']:+.1f} to {shift['high']:+.1f}", spreads)
    return table


def _coverage(found: Mapping[str, Any]) -> Any:
    table = _table("rubrics used", "deviation over draws", "mean shift")
    for share, one in found["shares"].items():
        if one["deviation"] is not None:
            table.add_row(f"{share} %", f"{one['deviation']:.2f}", f"{one['shift']:+.2f}")
    return table


def _correlation(one: Mapping[str, float] | None) -> str:
    if one is None:
        return "–"
    interval = "" if one["low"] is None else f" [{one['low']:.2f}, {one['high']:.2f}]"
    return f"{one['value']:.3f}{interval}"


_TABLES: dict[str, Callable[[Mapping[str, Any]], Any]] = {
    "reliability_gap": _gap,
    "failures_by_domain": _failures,
    "consistency": _consistency,
    "agreement": _agreement,
    "length_bias": _length,
    "two_judges": _judges,
    "coverage": _coverage,
}
