"""Plotly figures of a diagnosis: bars of leaves with what is marked, radars, the heat map, stacked ranks."""

from collections.abc import Mapping, Sequence
from typing import Any

from dokimasia.report.charts import PALETTE, Figure
from dokimasia.report.footnotes import shortened
from dokimasia.report.labels import label, short_labels, ticks

WEAK, STRONG, BELOW, PLAIN = "#cf4a4a", "#2f9e6e", "#d9972d", "#3f7fd9"
COLOURS = {"weak": WEAK, "worse": WEAK, "strong": STRONG, "better": STRONG}
SPOKES = range(3, 41)
"""How many leaves a radar may have."""

SCALE = [[0.0, "#dd742e"], [0.5, "#c4c7cc"], [1.0, "#6ba0ea"]]
ROW = 24

Colour = tuple[int, int, int]
"""Red, green and blue, 0 to 255."""

RANKS: tuple[Colour, Colour, Colour] = ((47, 111, 206), (196, 199, 204), (221, 116, 46))
"""Colours of the first rank, the middle and the last."""

Asset = Mapping[str, Any]
"""A table of a diagnosis as plain data (`domain.diagnosis.tables.Asset`)."""


def leaf_bars(asset: Asset, opens: Mapping[int, str]) -> Mapping[str, Any]:
    """Return the properties of the bar chart's trace for one model's leaves: marked ones coloured, intervals as bars.

    Args:
        asset: a table `leaves/MODEL`.
        opens: by row (from 1), the id of the evidence that a click opens.
    """
    rows = [(at, row) for at, row in enumerate(asset["rows"], start=1) if row["cells"][1]["value"] is not None]
    means = [row["cells"][1] for _, row in rows]
    overall = sum(row["n"] * row["cells"][1]["value"] for _, row in rows) / max(1, sum(row["n"] for _, row in rows))
    below = [mean["value"] < overall for mean in means]
    return {
        "y": [label(str(row["cells"][0]["value"])) for _, row in rows],
        "text": [label(str(row["cells"][0]["value"])) for _, row in rows],
        "textposition": "none",
        "x": [mean["value"] for mean in means],
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": [0 if mean["high"] is None else round(mean["high"] - mean["value"], 6) for mean in means],
            "arrayminus": [0 if mean["low"] is None else round(mean["value"] - mean["low"], 6) for mean in means],
            "thickness": 1.4,
            "width": 4,
            "color": "#7d8590",
        },
        "marker": {
            "color": [
                COLOURS.get(row["mark"], BELOW if under else PLAIN) for (_, row), under in zip(rows, below, strict=True)
            ],
            "opacity": 0.72,
        },
        "customdata": [
            [
                _interval(mean),
                f"{row['n']} of {row['held']}",
                f"{'below' if under else 'not below'} the model's mean of {overall:.1f} · {row['mark'] or 'not tested'}",
                opens.get(at, ""),
            ]
            for (at, row), mean, under in zip(rows, means, below, strict=True)
        ],
    }


def bars_figure(trace: Mapping[str, Any], rows: int, leaves: Sequence[str]) -> Figure:
    """Return the frame of the bar chart of leaves around its first trace; `leaves` are those of all its traces."""
    layout = _layout(64 + ROW * max(1, rows), "score, points of 100")
    layout["yaxis"] |= ticks(leaves)
    return {
        "data": [
            {
                "type": "bar",
                "orientation": "h",
                "hovertemplate": "%{text}<br><b>%{x:.1f}</b>  95 % %{customdata[0]}<br>%{customdata[1]} criteria · "
                "%{customdata[2]}<extra></extra>",
                **trace,
            }
        ],
        "layout": layout,
    }


def heat_map(asset: Asset) -> Figure:
    """Return leaves down, models across, coloured by score."""
    models = [column["name"] for column in asset["columns"][1:]]
    rows = asset["rows"]
    layout = _layout(90 + ROW * max(1, len(rows)), "")
    layout["xaxis"] = {"side": "top", "fixedrange": True, "automargin": True, "type": "category", **ticks(models, 24)}
    layout["yaxis"] |= ticks(_leaves(asset))
    return {
        "data": [
            {
                "type": "heatmap",
                "x": [label(model) for model in models],
                "y": [label(str(row["cells"][0]["value"])) for row in rows],
                "z": [[cell["value"] for cell in row["cells"][1:]] for row in rows],
                "customdata": [[[_interval(cell)] for cell in row["cells"][1:]] for row in rows],
                "zmin": 0,
                "zmax": 100,
                "xgap": 2,
                "ygap": 2,
                "colorscale": SCALE,
                "showscale": False,
                "texttemplate": "%{z:.0f}",
                "textfont": {"color": "#14171c"},
                "hoverongaps": False,
                "hovertemplate": "%{y}<br>%{x}: <b>%{z:.1f}</b>  95 % %{customdata[0]}<extra></extra>",
            }
        ],
        "layout": layout,
    }


def radar(asset: Asset) -> Figure:
    """Return leaves as spokes and a closed line a model; a model is shown or hidden by a click on its name."""
    leaves = [label(name) for name in _leaves(asset)]
    keys = short_labels([column["name"] for column in asset["columns"]])
    traces = [_around(asset, leaves, number, keys[number]) for number in range(1, len(asset["columns"]))]
    return {
        "data": traces,
        "layout": {
            "height": 520,
            "margin": {"t": 40, "r": 60, "b": 40, "l": 60},
            "showlegend": True,
            "legend": {"orientation": "h", "y": -0.08},
            "polar": {
                "radialaxis": {"range": [0, 100], "tickvals": [25, 50, 75, 100], "angle": 90, "tickangle": 90},
                "angularaxis": {"direction": "clockwise", "rotation": 90, **ticks(_leaves(asset), 26)},
            },
            "hovermode": "closest",
        },
    }


def stacked_ranks(asset: Asset) -> Figure:
    """Return a bar a model, made of the shares of samples at each rank."""
    shares = [at for at, column in enumerate(asset["columns"]) if column["kind"] == "share"]
    rows = asset["rows"]
    layout = _layout(110 + 30 * len(rows), "share of samples")
    layout |= {
        "barmode": "stack",
        "showlegend": True,
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
    }
    layout["yaxis"] |= ticks(_leaves(asset))
    layout["xaxis"] |= {"range": [0, 1], "tickformat": ".0%"}
    layout["legend"] |= {"traceorder": "normal"}
    return {
        "data": [
            {
                "type": "bar",
                "orientation": "h",
                "name": asset["columns"][at]["name"],
                "y": [label(name) for name in _leaves(asset)],
                "text": [label(name) for name in _leaves(asset)],
                "textposition": "none",
                "x": [row["cells"][at]["value"] for row in rows],
                "customdata": [[_interval(row["cells"][at], share=True)] for row in rows],
                "marker": {"color": mixed(2 * number / max(1, len(shares) - 1), *RANKS)},
                "hovertemplate": "%{text}<br>"
                + asset["columns"][at]["name"]
                + ": <b>%{x:.0%}</b>  95 % %{customdata[0]}<extra></extra>",
            }
            for number, at in enumerate(shares)
        ],
        "layout": layout,
    }


def _leaves(asset: Asset) -> list[str]:
    """Return what the rows are called."""
    return [str(row["cells"][0]["value"]) for row in asset["rows"]]


def _around(asset: Asset, leaves: Sequence[str], number: int, name: str) -> dict[str, Any]:
    cells = [row["cells"][number] for row in asset["rows"]]
    return {
        "type": "scatterpolar",
        "mode": "lines+markers",
        "name": name,
        "text": [*leaves, leaves[0]],
        "r": [cell["value"] for cell in (*cells, cells[0])],
        "theta": [*leaves, leaves[0]],
        "customdata": [[_interval(cell)] for cell in (*cells, cells[0])],
        "line": {"color": PALETTE[(number - 1) % len(PALETTE)], "width": 2},
        "marker": {"size": 6},
        "connectgaps": False,
        "hovertemplate": "%{text}<br><b>%{r:.1f}</b>  95 % %{customdata[0]}<extra>"
        + label(asset["columns"][number]["name"])
        + "</extra>",
    }


def _interval(cell: Mapping[str, Any], *, share: bool = False) -> str:
    if cell["low"] is None or cell["high"] is None:
        return f"none: {shortened(cell['no_interval'])}" if cell.get("no_interval") else "unknown"
    return f"{cell['low']:.0%} to {cell['high']:.0%}" if share else f"{cell['low']:.1f} to {cell['high']:.1f}"


def mixed(at: float, first: Colour, second: Colour, third: Colour) -> str:
    """Return the colour at a place from 0 (the first) over 1 (the second) to 2 (the third)."""
    low, high, share = (first, second, at) if at < 1 else (second, third, at - 1)
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in zip(low, high, strict=True))


def _layout(height: int, title: str) -> Figure:
    return {
        "height": height,
        "margin": {"t": 16, "r": 24, "b": 44, "l": 8},
        "xaxis": {
            "title": {"text": title, "standoff": 8, "font": {"size": 13}},
            "range": [0, 100],
            "fixedrange": True,
            "automargin": True,
            "zeroline": False,
        },
        "yaxis": {
            "type": "category",
            "autorange": "reversed",
            "automargin": True,
            "fixedrange": True,
            "ticksuffix": "  ",
        },
        "showlegend": False,
        "hovermode": "closest",
    }
