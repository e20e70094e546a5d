"""Tables for people: the results of an evaluation, a run list, as Rich renders them."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

BAR = "━"
BAR_WIDTH = 16
MANY = 6


def evaluation_table(summary: Mapping[str, Any], planted: Mapping[str, float] | None = None) -> Table:
    """Return one row a model: score with interval, coverage, failures, calls and cost, best first.

    `planted` adds the expected score of simulated models beside the measured one, and whether the interval contains it.
    """
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
    table.add_column("model", overflow="fold", min_width=14)
    table.add_column("score", justify="right", no_wrap=True)
    table.add_column("95 % interval", justify="center", no_wrap=True)
    table.add_column("1             5", no_wrap=True, min_width=BAR_WIDTH)
    if planted is not None:
        table.add_column("planted", justify="right", no_wrap=True)
        table.add_column("within", justify="center", no_wrap=True)
    table.add_column("scored", justify="right", no_wrap=True)
    table.add_column("failed", overflow="fold")
    table.add_column("calls", justify="right", no_wrap=True)
    table.add_column("cost", justify="right", no_wrap=True)
    models = summary["models"]
    for name in sorted(models, key=lambda one: -(models[one]["score"] or {"mean": 0})["mean"]):
        table.add_row(*_row(name, models[name], planted))
    return table


def category_table(summary: Mapping[str, Any]) -> Table | None:
    """Return models by categories: mean score, interval and n in each cell; None where the data has no categories."""
    models: Mapping[str, Any] = summary["models"]
    categories = sorted({category for model in models.values() for category in model["by_category"]})
    if not categories:
        return None
    table = Table(
        box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1), caption="mean, 95 % interval (n)", caption_justify="left"
    )
    table.add_column("by category", overflow="fold", min_width=14)
    for category in categories:
        table.add_column(category, justify="right", no_wrap=len(categories) <= MANY)
    for name in sorted(models, key=lambda one: -(models[one]["score"] or {"mean": 0})["mean"]):
        cells = [models[name]["by_category"].get(category) for category in categories]
        table.add_row(name, *(_cell(cell) for cell in cells))
    return table


def blind_lines(summary: Mapping[str, Any]) -> list[str]:
    """Return a sentence a model on what survives without the image."""
    lines: list[str] = []
    for name, one in summary.get("blind", {}).items():
        if one["share"] is None:
            lines.append(f"{name}: nothing to compare with the blind arm")
        else:
            lines.append(f"{name}: {one['share']:.0%} of its score above the floor survives without the image")
    return lines


def cost_text(cost: float | None) -> str:
    """Return a cost in US dollars for people; unknown is said to be unknown."""
    return "unknown" if cost is None else f"${cost:,.4f}" if cost < 1 else f"${cost:,.2f}"


def _row(name: str, model: Mapping[str, Any], planted: Mapping[str, float] | None) -> Sequence[Text | str]:
    score = model["score"]
    cells: list[Text | str] = [name]
    if score is None:
        cells += ["–", "–", ""]
    else:
        cells += [Text(f"{score['mean']:.2f}", style="bold"), f"{score['low']:.2f} – {score['high']:.2f}", _bar(score)]
    if planted is not None:
        expected = planted.get(name)
        if expected is None or score is None:
            cells += ["–", "–"]
        else:
            inside = score["low"] <= expected <= score["high"]
            cells += [f"{expected:.2f}", Text("yes", style="green") if inside else Text("NO", style="bold red")]
    failures = ", ".join(f"{count} {kind}" for kind, count in model["failures"].items())
    cells += [
        f"{model['n_scored']}/{model['n']}",
        Text(failures, style="red") if failures else "–",
        str(model["calls"]),
        cost_text(model["cost"]),
    ]
    return cells


def _cell(measured: Mapping[str, Any] | None) -> Text | str:
    if measured is None or measured["score"] is None:
        return "–"
    score = measured["score"]
    cell = Text(f"{score['mean']:.2f}", style="bold")
    return cell.append(f"\n{score['low']:.1f}–{score['high']:.1f} ({measured['n_scored']})", style="not bold dim")


def _bar(score: Mapping[str, float]) -> Text:
    """The interval and the mean on the scale from 1 to 5."""

    def column(value: float) -> int:
        return min(BAR_WIDTH - 1, max(0, round((value - 1) / 4 * (BAR_WIDTH - 1))))

    low, mean, high = column(score["low"]), column(score["mean"]), column(score["high"])
    bar = Text()
    for position in range(BAR_WIDTH):
        if position == mean:
            bar.append("●", style="bold cyan")
        elif low <= position <= high:
            bar.append(BAR, style="cyan")
        else:
            bar.append("·", style="dim")
    return bar
