"""Mean scores with their intervals, and the bounds that failures leave open."""

from collections.abc import Mapping
from typing import Any

from dokimasia.report import figures
from dokimasia.report.blocks import Block, Cell, Chart, Column, Only, Paragraph, Section, Span, Table
from dokimasia.report.charts import SCALE, Point, interval_chart
from dokimasia.report.data import ReportData

TITLE = "mean score, 1 to 5"


def section(data: ReportData) -> Section:
    """Return the scores of all models, best first."""
    models: Mapping[str, Any] = data.summary["models"]
    ranked = data.ranked()
    blind = data.blind_arms
    points = [_point(name, models[name], hollow=name in blind) for name in ranked if models[name]["score"] is not None]
    failing = any(model["n_scored"] < model["n"] for model in models.values())
    blocks: list[Block] = []
    if points:
        blocks.append(
            Chart(
                interval_chart(points, title=TITLE, scale=SCALE),
                f"Mean scores with 95 % intervals of {len(points)} models, best first"
                + ("; dotted: what failures leave open" if failing else ""),
            )
        )
    columns = [
        Column("model", numeric=False),
        Column("score", meaning="mean over scored samples, 1 to 5, higher is better"),
        Column("95 % interval", meaning="bootstrap, clustered by samples that share an image"),
        figures.BAR,
        *(figures.PLANTED if data.planted is not None else ()),
        Column("of 100", meaning="(score − 1) / 4 × 100", only="page"),
        Column("scored"),
        *([Column("bounds", meaning="if every failed sample had scored 1, or 5", only="page")] if failing else []),
        Column("failed", numeric=False, only="terminal"),
        Column("calls", only="terminal"),
        Column("cost", only="terminal"),
    ]
    rows = []
    for name in ranked:
        model, place = models[name], figures.pointer("models", name)
        score = model["score"]
        rows.append(
            [
                Span(name, "strong"),
                figures.score(score and score["mean"], f"{place}/score/mean"),
                figures.interval(score, f"{place}/score"),
                figures.bar(score),
                *(_planted(data.planted.get(name), score) if data.planted is not None else ()),
                figures.NOTHING if score is None else f"{(score['mean'] - 1) * 25:.1f}",
                figures.scored_of(model, place),
                *([figures.interval(model["bounds"], f"{place}/bounds")] if failing else []),
                figures.failures(model["failures"], f"{place}/failures"),
                figures.count(model["calls"], f"{place}/calls"),
                figures.cost(model["cost"], f"{place}/cost"),
            ]
        )
    blocks.append(Table(columns, rows, "Scores by model"))
    how = (
        "A judge scores each criterion of a sample from 1 to 5; an answer's score is their mean by weight, a sample's the "
        "mean over its scored repeats, a model's the mean over its scored samples. "
    )
    intervals = (
        "Intervals are 95 % bootstrap intervals clustered by samples that share an image: they speak of other samples from "
        "where these came from, not of another judge, prompt or set of criteria."
    )
    made = f"Scores 1 to 5, higher is better. {data.summary['preparation']['calls']:,} calls of the judge made the criteria. "
    blocks += [
        Only("page", (Paragraph(how + intervals, "note"),)),
        Only("terminal", (Paragraph(made + intervals, "note"),)),
    ]
    return Section("scores", "Scores", blocks)


def _point(name: str, model: Mapping[str, Any], *, hollow: bool) -> Point:
    score, bounds = model["score"], model["bounds"]
    open_ends = (bounds["low"], bounds["high"]) if model["n_scored"] < model["n"] else None
    return Point(name, score["mean"], score["low"], score["high"], open_ends, hollow=hollow)


def _planted(expected: float | None, score: Mapping[str, float] | None) -> list[Cell]:
    return figures.within(expected, *((score["low"], score["high"]) if score else (None, None)))
