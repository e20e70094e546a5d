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
    for measure, measured in figures["measures"].items():
        low, high = measured["scale"]
        adjudicated = f", {measured['adjudicated']} adjudicated" if measured["adjudicated"] else ""
        yield (
            f"[bold]{measure}[/bold], {low} to {high}: {measured['annotations']} annotations of {measured['n']} by "
            f"{several(len(figures['annotators']), 'person', 'people')} (coverage {percent(measured['coverage'])}){adjudicated}"
        )
        yield _held_against(measured)
        if measured["absent"]:
            yield f"[dim]People with each other: none, {measured['absent']}[/dim]"
        else:
            yield _between(measured)
        yield _means(measured)


def _held_against(measured: Mapping[str, Any]) -> Table:
    table = grid("who", "what", "n", "MAE", "consistent (at most 1 away)", "Cohen's kappa, quadratic")
    for name, row in measured["judges"].items():
        _rows(table, name, "judge, with people", row)
    if measured["together"] is not None:
        _rows(table, "people", "each with the mean of the others", measured["together"])
        for name, row in measured["people"].items():
            _rows(table, name, "with the mean of the others", {**row, "by_model": {}})
    return table


def _rows(table: Table, name: str, label: str, row: Mapping[str, Any]) -> None:
    for model, model_row in {"": row, **row["by_model"]}.items():
        near = model_row["consistency"]
        table.add_row(
            escape(name) if not model else "",
            f"[dim]{escape(model)}[/dim]" if model else label,
            str(model_row["n"]),
            NOTHING if model_row["mae"] is None else f"{model_row['mae']['mean']:.2f}{_ends(model_row['mae'])}",
            NOTHING if near["share"] is None else f"{near['share']:.1%}{_ends(near, percent=True)}",
            coefficient(model_row["kappa"]),
        )


def _between(measured: Mapping[str, Any]) -> Table:
    table = grid("people with each other", "n", "agreement")
    for pair in measured["pairs"]:
        same = f", the same {pair['same']} times" if pair["n"] else ""
        table.add_row(escape(" and ".join(pair["people"])), str(pair["n"]), f"kappa {coefficient(pair['kappa'])}{same}")
    chance = measured["chance_corrected"]
    for name, title in COEFFICIENTS.items():
        table.add_row(title, str(chance["n"]), coefficient(chance[name]))
    return table


def _means(measured: Mapping[str, Any]) -> Table:
    table = grid("category", "n", "mean of people")
    for name, rating in {**measured["by_category"], "all": measured["ratings"]}.items():
        mean = rating["mean"]
        table.add_row(escape(name), str(rating["n"]), NOTHING if mean is None else f"{mean['mean']:.2f}{_ends(mean)}")
    return table


def coefficient(estimate: Mapping[str, Any]) -> str:
    """Return a coefficient with its interval, or why it has no value."""
    if estimate["value"] is None:
        return f"[dim]none: {escape(estimate['no_value'])}[/dim]"
    return f"{estimate['value']:.2f}{_ends(estimate)}".replace("-", MINUS)


def percent(value: float | None) -> str:
    """Return a share in percent."""
    return NOTHING if value is None else f"{value:.0%}"


def _ends(estimate: Mapping[str, Any], *, percent: bool = False) -> str:
    return escape(bracketed(estimate, lambda end: f"{end:.0%}" if percent else f"{end:.2f}"))
