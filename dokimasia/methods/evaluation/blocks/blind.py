"""The blind arm: how much of a score survives when the candidate answers without the image."""

from collections.abc import Mapping
from typing import Any

from dokimasia.report import figures
from dokimasia.report.blocks import Block, Cell, Chart, Column, Paragraph, Section, Span, Table
from dokimasia.report.charts import paired_chart
from dokimasia.report.data import ReportData

COLUMNS = (
    Column("model", numeric=False),
    Column("with the image", meaning="mean over all its scored samples"),
    Column("without", meaning="mean over all its scored samples"),
    Column("share that survives", meaning="of the score above the floor of 1, on samples scored in both"),
    Column("lost", meaning="with minus without, in points"),
    Column("95 % interval"),
    Column("samples", meaning="scored in both arms"),
)


def section(data: ReportData) -> Section | None:
    """Return what survives without the image; None where there is no such arm."""
    blind: Mapping[str, Any] = data.summary.get("blind", {})
    if not blind:
        return None
    models: Mapping[str, Any] = data.summary["models"]
    names = [name for name in data.ranked() if name in blind]
    pairs = {
        name: (models[name]["score"]["mean"], models[f"{name}#blind"]["score"]["mean"])
        for name in names
        if models[name]["score"] is not None and models[f"{name}#blind"]["score"] is not None
    }
    blocks: list[Block] = []
    if pairs:
        chart = paired_chart(pairs, ("with the image", "without"), title="mean score, 1 to 5")
        blocks.append(Chart(chart, "Mean scores with and without the image, by model"))
    note = "A large share that survives means that the data do not need sight of the image to be solved."
    rows = [_row(models, blind, name) for name in names]
    blocks += [Table(COLUMNS, rows, "Scores with and without the image"), Paragraph(note, "note")]
    return Section("blind", "Without the image", blocks, menu="Blind arm")


def _row(models: Mapping[str, Any], blind: Mapping[str, Any], name: str) -> list[Cell]:
    place = figures.pointer("blind", name)
    one, gap = blind[name], blind[name]["difference"]
    means = [
        figures.score(
            models[arm]["score"] and models[arm]["score"]["mean"], figures.pointer("models", arm, "score", "mean")
        )
        for arm in (name, f"{name}#blind")
    ]
    lost = (
        figures.NOTHING
        if gap is None
        else Span(figures.signed_text(gap["mean"]), "", f"{place}/difference/mean", gap["mean"])
    )
    return [
        Span(name, "strong"),
        *means,
        figures.share(one["share"], f"{place}/share"),
        lost,
        figures.interval(gap, f"{place}/difference", signed=True),
        figures.count(one["n"], f"{place}/n"),
    ]
