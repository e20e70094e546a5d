"""How far scores move when the same is asked again: the spread over repeats, and each repeat's mean."""

from collections.abc import Mapping
from typing import Any

from dokimasia.report import figures
from dokimasia.report.blocks import Block, Cell, Chart, Column, Paragraph, Section, Span, Table
from dokimasia.report.charts import repeats_chart
from dokimasia.report.data import ReportData


def section(data: ReportData) -> Section | None:
    """Return the spread over repeats; None where nothing was repeated."""
    models: Mapping[str, Any] = data.summary["models"]
    most = max((len(repeats) for repeats in data.repeats.values()), default=0)
    if most < 2:
        return None
    ranked = [name for name in data.ranked() if name in data.repeats]
    rows: list[list[Cell]] = [
        [
            Span(name, "strong"),
            _spread(models[name]["spread"], figures.pointer("models", name, "spread")),
            *(figures.score(mean, tone="") for mean in _means(data, name, most)),
        ]
        for name in ranked
    ]
    columns = (
        Column("model", numeric=False),
        Column("spread", meaning="mean over samples of the standard deviation over scored repeats, in points"),
        *(Column(f"repeat {number}") for number in range(1, most + 1)),
    )
    means = {name: _means(data, name, most) for name in ranked}
    blocks: list[Block] = [
        Chart(
            repeats_chart(means, title="mean score of each repeat, 1 to 5"), "The mean score of each repeat, by model"
        ),
        Table(columns, rows, "Spread over repeats, and the mean of each repeat"),
        Paragraph(
            "The spread is the standard deviation of a sample's score over its repeats, averaged over samples. It holds "
            "the model's chance and the judge's together. A repeat's mean is over the answers scored in it.",
            "note",
        ),
    ]
    return Section("repeats", "Spread over repeats", blocks, menu="Repeats")


def _means(data: ReportData, name: str, most: int) -> list[float | None]:
    by_repeat = {one["repeat"]: one["mean"] for one in data.repeats[name]}
    return [by_repeat.get(number) for number in range(most)]


def _spread(value: float | None, place: str) -> Span:
    return figures.NOTHING if value is None else Span(f"{value:.2f}", "strong", place, value)
