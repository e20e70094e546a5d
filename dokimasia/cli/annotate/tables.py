"""Agreement with people as tables on a terminal."""

from collections.abc import Iterator, Mapping
from typing import Any

from rich.markup import escape
from rich.table import Table

from dokimasia.cli.shared import grid
from dokimasia.people.annotation.blocks import COEFFICIENTS
from dokimasia.report.data import SIMULATED_NOTE
from dokimasia.report.figures import MINUS, bracketed, several

NOTHING = "–"


def tables(figures: Mapping[str, Any]) -> Iterator[Table | str]:
    """Yield what is printed of figures of agreement, measure by measure."""
    if figures["simulated"]:
        yield f"[yellow]{SIMULATED_NOTE} ({escape(', '.join(figures['simulated']))})[/yellow]"
    for measure, found in figures["measures"].items():
        low, high = found["scale"]
        adjudicated = f", {found['adjudicated']} adjudicated" if found["adjudicated"] else ""
        yield (
            f"[bold]{measure}[/bold], {low} to {high}: {found['annotations']} annotations of {found['n']} by "
            f"{several(len(figures['annotators']), 'person', 'people')} (coverage {percent(found['coverage'])}){adjudicated}"
        )
        yield _held_against(found)
        if found["absent"]:
            yield f"[dim]People with each other: none, {found['absent']}[/dim]"
        else:
            yield _between(found)
        yield _means(found)


def _held_against(found: Mapping[str, Any]) -> Table:
    table = grid("who", "what", "n", "MAE", "consistent (at most 1 away)", "Cohen's kappa, quadratic")
    for name, row in found["judges"].items():
        _rows(table, name, "judge, with people", row)
    if found["together"] is not None:
        _rows(table, "people", "each with the mean of the others", found["together"])
        for name, row in found["people"].items():
            _rows(table, name, "with the mean of the others", {**row, "by_model": {}})
    return table


def _rows(table: Table, name: str, what: str, row: Mapping[str, Any]) -> None:
    for model, one in {"": row, **row["by_model"]}.items():
        near = one["consistency"]
        table.add_row(
            escape(name) if not model else "",
            f"[dim]{escape(model)}[/dim]" if model else what,
            str(one["n"]),
            NOTHING if one["mae"] is None else f"{one['mae']['mean']:.2f}{_ends(one['mae'])}",
            NOTHING if near["share"] is None else f"{near['share']:.1%}{_ends(near, percent=True)}",
            coefficient(one["kappa"]),
        )


def _between(found: Mapping[str, Any]) -> Table:
    table = grid("people with each other", "n", "agreement")
    for pair in found["pairs"]:
        same = f", the same {pair['same']} times" if pair["n"] else ""
        table.add_row(escape(" and ".join(pair["people"])), str(pair["n"]), f"kappa {coefficient(pair['kappa'])}{same}")
    chance = found["chance_corrected"]
    for name, title in COEFFICIENTS.items():
        table.add_row(title, str(chance["n"]), coefficient(chance[name]))
    return table


def _means(found: Mapping[str, Any]) -> Table:
    table = grid("category", "n", "mean of people")
    for name, one in {**found["by_category"], "all": found["ratings"]}.items():
        mean = one["mean"]
        table.add_row(escape(name), str(one["n"]), NOTHING if mean is None else f"{mean['mean']:.2f}{_ends(mean)}")
    return table


def coefficient(one: Mapping[str, Any]) -> str:
    """Return a coefficient with its interval, or why it has no value."""
    if one["value"] is None:
        return f"[dim]none: {escape(one['no_value'])}[/dim]"
    return f"{one['value']:.2f}{_ends(one)}".replace("-", MINUS)


def percent(value: float | None) -> str:
    """Return a share in percent."""
    return NOTHING if value is None else f"{value:.0%}"


def _ends(one: Mapping[str, Any], *, percent: bool = False) -> str:
    return escape(bracketed(one, lambda end: f"{end:.0%}" if percent else f"{end:.2f}"))
