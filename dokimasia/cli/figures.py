"""Figures of JSON as words on a terminal: shares, means and differences with their intervals, and a run's heading."""

from collections.abc import Mapping
from typing import Any

from rich.markup import escape

from dokimasia.report.data import SIMULATED_NOTE


def heading(out: Any, summary: Mapping[str, Any], title: str) -> None:
    """Print what a run is, first that its models are simulated where they are, then what is open or was left out."""
    if summary["simulated"]:
        out.print(f"[yellow]{SIMULATED_NOTE}[/yellow]")
    state = "" if summary["status"] == "done" else f" · [bold red]{summary['status']}[/bold red]"
    out.print(f"[bold]{escape(title)}[/bold]{state}")
    if summary["open_items"]:
        out.print(
            f"[red]{summary['open_items']} items have no result yet: the figures speak of a part of the data[/red]"
        )
    if summary["skipped"]:
        out.print(f"[red]{len(summary['skipped'])} problems of the data file; such samples were left out:[/red]")
        for message in summary["skipped"][:20]:
            out.print(f"  {escape(message)}", style="dim")


def share_text(one: Mapping[str, Any]) -> str:
    """Return a share of `analysis.rates.share` as `12 of 30, 40 % [23, 59]`."""
    if one["share"] is None:
        return f"{one['k']} of {one['n']}"
    return f"{one['k']} of {one['n']}, {one['share']:.0%} [{100 * one['low']:.0f}, {100 * one['high']:.0f}]"


def mean_text(one: Mapping[str, float] | None) -> str:
    """Return a mean as `6.40 [5.90, 6.90]`."""
    return "–" if one is None else f"{one['mean']:.2f} [{one['low']:.2f}, {one['high']:.2f}]"


def difference_text(one: Mapping[str, Any]) -> str:
    """Return a difference of rates as `+0.12 [-0.03, +0.27]`."""
    if one["difference"] is None:
        return "–"
    return f"{one['difference']:+.2f} [{one['low']:+.2f}, {one['high']:+.2f}]"


def share_interval_text(one: Mapping[str, Any]) -> str:
    """Return a share that may be below 0 as `+12 % [-3, 27]`."""
    if one["share"] is None:
        return "–"
    return f"{one['share']:+.0%} [{100 * one['low']:.0f}, {100 * one['high']:.0f}]"


def rate_text(rate: float | None) -> str:
    """Return a rate in percent."""
    return "–" if rate is None else f"{rate:.0%}"
