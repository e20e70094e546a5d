"""Plotly figures of a comparison of judging methods: a heat map of judges and methods, and accuracy over what was used."""

from collections.abc import Mapping, Sequence

from dokimasia.report.charts import PALETTE, Figure
from dokimasia.report.labels import label, short_labels, ticks

COLOURS = [[0, "#d9782d"], [0.5, "#f4f1e8"], [1, "#6ba0ea"]]
"""From pairs ordered the wrong way to all right; a three-way guess lies near a third."""

_AXIS = {"automargin": True, "fixedrange": True, "zeroline": False}


def accuracy_map(shares: Mapping[str, Mapping[str, float | None]]) -> Figure:
    """Return judges down, methods across, coloured by accuracy in percent.

    Args:
        shares: by judge and method, 0 to 1; None where nothing was judged.
    """
    methods = list(dict.fromkeys(method for one in shares.values() for method in one))
    values = [
        [None if (share := one.get(method)) is None else round(100 * share, 1) for method in methods]
        for one in shares.values()
    ]
    trace: Figure = {
        "type": "heatmap",
        "x": [label(method) for method in methods],
        "y": [label(judge) for judge in shares],
        "z": values,
        "zmin": 0,
        "zmax": 100,
        "xgap": 2,
        "ygap": 2,
        "colorscale": COLOURS,
        "showscale": False,
        "texttemplate": "%{z:.1f}",
        "textfont": {"color": "#14171c"},
        "hoverongaps": False,
        "hovertemplate": "%{y}<br>%{x}: <b>%{z:.1f} %</b><extra></extra>",
    }
    layout = _layout(110 + 34 * len(shares))
    layout["xaxis"] = {**_AXIS, "side": "top", "type": "category", **ticks(methods, 28)}
    layout["yaxis"] = {
        **_AXIS,
        "type": "category",
        "autorange": "reversed",
        "ticksuffix": "  ",
        **ticks(list(shares), 28),
    }
    return {"data": [trace], "layout": layout}


def cost_and_accuracy(placed: Sequence[tuple[str, str, float, float]], *, unit: str) -> Figure:
    """Return accuracy over what was used, one labelled dot a judge and method, in the judge's colour.

    Args:
        placed: judge, method, what was used, accuracy from 0 to 1.
        unit: of what was used.
    """
    judges = list(dict.fromkeys(judge for judge, *_ in placed))
    keys = short_labels(judges)
    methods = [method for _, method, *_ in placed]
    short = dict(zip(methods, short_labels(methods, 24), strict=True))
    traces: list[Figure] = []
    for number, judge in enumerate(judges):
        own = sorted(((used, share, method) for one, method, used, share in placed if one == judge))
        traces.append(
            {
                "type": "scatter",
                "mode": "markers+text",
                "name": keys[number],
                "x": [used for used, _, _ in own],
                "y": [round(100 * share, 2) for _, share, _ in own],
                "text": [short[method] for _, _, method in own],
                "hovertext": [label(method) for _, _, method in own],
                "textposition": ["top center" if at % 2 else "bottom center" for at in range(len(own))],
                "cliponaxis": False,
                "marker": {"size": 10, "color": PALETTE[number % len(PALETTE)]},
                "hovertemplate": f"%{{hovertext}}<br>%{{x:,.6g}} {unit}, <b>%{{y:.1f}} %</b><extra>{label(judge)}</extra>",
            }
        )
    layout = _layout(360)
    layout["xaxis"] = {**_AXIS, "rangemode": "tozero", "title": {"text": unit, "standoff": 8, "font": {"size": 13}}}
    layout["yaxis"] = {**_AXIS, "title": {"text": "pairwise accuracy, percent", "font": {"size": 13}}}
    layout |= {"showlegend": len(judges) > 1, "legend": {"orientation": "h", "y": 1, "yanchor": "bottom", "x": 0}}
    return {"data": traces, "layout": layout}


def _layout(height: int) -> Figure:
    return {
        "height": height,
        "margin": {"t": 36, "r": 40, "b": 48, "l": 8},
        "showlegend": False,
        "hovermode": "closest",
    }
