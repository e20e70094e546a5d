"""Scores by the data's own categories: a table tinted by score, and a chart with the intervals."""

from collections.abc import Mapping
from typing import Any

from dokimasia.report import figures
from dokimasia.report.blocks import Block, Cell, Chart, Column, Paragraph, Section, Span, Table
from dokimasia.report.charts import Point, grouped_chart, intervals_said
from dokimasia.report.data import ReportData

MOST_DRAWN = 150
MOST_ACROSS = 7


def section(data: ReportData) -> Section | None:
    """Return the scores by category; None where the data have none."""
    models: Mapping[str, Any] = data.summary["models"]
    categories = sorted({name for model in models.values() for name in model["by_category"]})
    if not categories:
        return None
    ranked = data.ranked()
    judged = data.judged
    blocks: list[Block] = []
    if judged and len(categories) * len(ranked) <= MOST_DRAWN:
        series = {name: [_point(models[name], category) for category in categories] for name in ranked}
        drawn = [point for points in series.values() for point in points if point is not None]
        blocks.append(
            Chart(
                grouped_chart(series, categories, title="mean score, 1 to 5"),
                f"Mean scores {intervals_said(drawn)} by {figures.several(len(categories), 'category', 'categories')} "
                f"and {figures.several(len(ranked), 'model')}",
            )
        )
    blocks.append(_table(models, ranked, categories, judged=judged))
    said = "Mean, 95 % interval and number of scored samples"
    if not judged:
        said = "Strict accuracy with 95 % intervals, and up to what if all undecided answers were right"
    blocks.append(
        Paragraph(
            f"{said}. A category has fewer samples than the whole, so its "
            "intervals are wider; with many categories some will differ by chance alone.",
            "note",
        )
    )
    title = "Scores by category" if judged else "Strict accuracy by category"
    return Section("categories", title, blocks, menu="Categories")


def _table(models: Mapping[str, Any], ranked: list[str], categories: list[str], *, judged: bool) -> Table:
    """Models across, or categories across where these are few: the shorter side, so that the table stays narrow."""
    about = "Scores by category" if judged else "Strict accuracy by category"
    if len(categories) <= MOST_ACROSS or len(categories) <= len(ranked):
        columns = [Column("model", numeric=False), *(Column(category) for category in categories)]
        rows = [
            [Span(name, "strong"), *(_cell(models, name, one, judged=judged) for one in categories)] for name in ranked
        ]
    else:
        columns = [Column("category", numeric=False), *(Column(name) for name in ranked)]
        rows = [
            [Span(one, "strong"), *(_cell(models, name, one, judged=judged) for name in ranked)] for one in categories
        ]
    return Table(columns, rows, about)


def _cell(models: Mapping[str, Any], name: str, category: str, *, judged: bool) -> Cell:
    measured = models[name]["by_category"].get(category)
    if measured is None:
        return figures.NOTHING
    place = figures.pointer("models", name, "by_category", category)
    score, accuracy = measured["score"], measured["strict_accuracy"]
    if not judged:
        return figures.NOTHING if accuracy is None else figures.strict_of(accuracy, f"{place}/strict_accuracy")
    if score is None:
        return figures.NOTHING
    limits: list[Span] = [figures.no_interval(score)]
    if score["low"] is not None:
        low, high = (Span(f"{score[end]:.1f}", "muted", f"{place}/score/{end}", score[end]) for end in ("low", "high"))
        limits = [low, Span("–", "muted"), high]
    return (
        figures.score(score["mean"], f"{place}/score/mean", tinted=True),
        Span(" ", "muted"),
        *limits,
        Span(" (", "muted"),
        figures.count(measured["n_scored"], f"{place}/n_scored", tone="muted"),
        Span(")", "muted"),
    )


def _point(model: Mapping[str, Any], category: str) -> Point | None:
    measured = model["by_category"].get(category)
    if measured is None or measured["score"] is None:
        return None
    score = measured["score"]
    return Point(category, score["mean"], score["low"], score["high"])
