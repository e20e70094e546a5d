"""Plotly figures of a probe: failures by group and paradigm, by dimension and evaluator, and by reasoning effort."""

from collections.abc import Mapping, Sequence
from typing import Any

from dokimasia.report.charts import KEYED, PALETTE, Figure
from dokimasia.report.labels import label, short_labels, ticks
from dokimasia.report.scatter import AXIS, plain_layout

Measured = Mapping[str, Any] | None

PERCENT = {"range": [0, 102], "ticksuffix": " %"}
_SHOWN = "<b>%{y:.0f} %</b>  95 % %{customdata[0]} to %{customdata[1]}"


def groups_chart(cells: Mapping[str, Mapping[str, Measured]], *, title: str) -> Figure:
    """Return groups of errors across, a bar a paradigm in each, with its interval; in percent, low is good.

    Args:
        cells: by group and paradigm the share with its interval, None where there is none.
        title: of the axis upwards.
    """
    paradigms = list(dict.fromkeys(name for one in cells.values() for name in one))
    traces: list[Figure] = []
    for number, paradigm in enumerate(paradigms):
        known = [(group, found) for group, one in cells.items() if (found := one.get(paradigm)) is not None]
        traces.append(
            {
                "type": "bar",
                "name": label(paradigm),
                "x": [label(group) for group, _ in known],
                **_upwards([found for _, found in known]),
                "marker": {"color": PALETTE[number % len(PALETTE)]},
                "hovertemplate": f"%{{x}}<br>{_SHOWN}<extra>{label(paradigm)}</extra>",
            }
        )
    layout: Figure = plain_layout("", title) | KEYED | {"barmode": "group", "height": 360}
    layout["yaxis"] |= PERCENT
    layout["xaxis"] |= {"type": "category", **ticks(list(cells))}
    return {"data": traces, "layout": layout}


def budgets_chart(lines: Mapping[str, Mapping[str, Mapping[str, Any]]], *, title: str) -> Figure:
    """Return reasoning efforts across, a line a judge and evaluator, each point with its interval; in percent, low is good."""
    keys = short_labels(list(lines))
    traces: list[Figure] = []
    for number, (name, points) in enumerate(lines.items()):
        known = [(budget, one) for budget, one in points.items() if one["share"] is not None]
        traces.append(
            {
                "type": "scatter",
                "mode": "lines+markers",
                "name": keys[number],
                "x": [label(budget) for budget, _ in known],
                **_upwards([{"mean": one["share"], **one} for _, one in known]),
                "line": {"width": 2, "color": PALETTE[number % len(PALETTE)]},
                "marker": {"size": 9, "color": PALETTE[number % len(PALETTE)]},
                "hovertemplate": f"%{{x}}<br>{_SHOWN}<extra>{label(name)}</extra>",
            }
        )
    layout: Figure = plain_layout("reasoning effort", title) | KEYED | {"height": 360}
    layout["xaxis"] = {**AXIS, "type": "category", "title": {"text": "reasoning effort", "font": {"size": 13}}}
    layout["yaxis"] |= PERCENT
    return {"data": traces, "layout": layout}


def _upwards(found: Sequence[Mapping[str, Any]]) -> Figure:
    """Return heights in percent with their intervals; what has none has no bar and says so."""

    def reach(one: Mapping[str, Any], end: str) -> float:
        return 0.0 if one[end] is None else round(100 * abs(one[end] - one["mean"]), 3)

    return {
        "y": [round(100 * one["mean"], 3) for one in found],
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": [reach(one, "high") for one in found],
            "arrayminus": [reach(one, "low") for one in found],
            "thickness": 1.4,
            "width": 3,
        },
        "customdata": [
            ["none" if one[end] is None else f"{100 * one[end]:.0f}" for end in ("low", "high")] for one in found
        ],
    }
