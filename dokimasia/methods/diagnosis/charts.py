"""Plotly figures of a diagnosis: bar charts of leaves with marks, radars, the heat map, and stacked ranks."""

from collections.abc import Mapping, Sequence

from dokimasia.domain.diagnosis.tables import Asset, Figure
from dokimasia.domain.wording import percentage
from dokimasia.methods.diagnosis.cells import value_of
from dokimasia.report.charts import KEYED, PALETTE, Colour, heat_trace, mixed, names_axis, titled_axis
from dokimasia.report.charts import Figure as Chart
from dokimasia.report.footnotes import shortened
from dokimasia.report.labels import label, short_labels, ticks

WEAK, STRONG, PLAIN = "#cf4a4a", "#2f9e6e", "#3f7fd9"
COLOURS = {"weak": WEAK, "worse": WEAK, "strong": STRONG, "better": STRONG}
MEANINGS = {
    "significantly below the model's mean": WEAK,
    "significantly above": STRONG,
    "not significant, or not tested": PLAIN,
}
"""Meanings of the colours in bar charts of leaves."""

SPOKES = range(3, 41)
"""Permitted numbers of leaves in a radar chart."""

SCALE = [[0.0, "#dd742e"], [0.5, "#c4c7cc"], [1.0, "#6ba0ea"]]
ROW = 24

RANKS: tuple[Colour, Colour, Colour] = ((47, 111, 206), (196, 199, 204), (221, 116, 46))
"""Colours of the first rank, the middle and the last."""


def leaf_bars(asset: Asset, opens: Mapping[int, str]) -> Mapping[str, object]:
    """Return the trace properties for a model's bar chart of leaves, with coloured marks and intervals as error bars.

    Args:
        asset: a table `leaves/MODEL`.
        opens: id of the evidence that a click opens, by row (from 1).
    """
    rows = {number: row for number, row in enumerate(asset.rows, start=1) if row.cells[1].value is not None}
    scores = {number: value_of(row.cells[1], 0) for number, row in rows.items()}
    total = sum(row.n for row in rows.values())
    overall = sum(row.n * scores[number] for number, row in rows.items()) / max(1, total)
    names = [label(str(row.cells[0].value)) for row in rows.values()]
    upper: list[float] = []
    lower: list[float] = []
    colours: list[str] = []
    details: list[list[str]] = []
    for number, row in rows.items():
        cell, score = row.cells[1], scores[number]
        upper.append(0 if cell.high is None else round(cell.high - score, 6))
        lower.append(0 if cell.low is None else round(score - cell.low, 6))
        side = "below" if score < overall else "not below"
        colours.append(COLOURS.get(row.mark, PLAIN))
        details.append(
            [
                _interval(cell),
                f"{row.n} of {row.held}",
                f"{side} the model's mean of {overall:.1f} · {row.mark or 'not tested'}",
                opens.get(number, ""),
            ]
        )
    return {
        "y": names,
        "text": names,
        "textposition": "none",
        "x": [row.cells[1].value for row in rows.values()],
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": upper,
            "arrayminus": lower,
            "thickness": 1.4,
            "width": 4,
            "color": "#7d8590",
        },
        "marker": {"color": colours, "opacity": 0.72},
        "customdata": details,
    }


def bars_figure(trace: Mapping[str, object], rows: int, leaves: Sequence[str]) -> Chart:
    """Return the bar chart of leaves with its first trace; `leaves` are those of all traces."""
    layout = _layout(96 + ROW * max(1, rows), "score by criterion, points of 100", leaves) | {
        "showlegend": True,
        "barmode": "overlay",
        "legend": KEYED["legend"],
        "margin": {"t": 44, "r": 24, "b": 44, "l": 8},
    }
    keys = [
        {"type": "bar", "orientation": "h", "name": name, "x": [None], "y": [None], "marker": {"color": colour}}
        for name, colour in MEANINGS.items()
    ]
    return {
        "data": [
            {
                "type": "bar",
                "orientation": "h",
                "hovertemplate": "%{text}<br><b>%{x:.1f}</b>  95 % %{customdata[0]}<br>%{customdata[1]} criteria · "
                "%{customdata[2]}<extra></extra>",
                "showlegend": False,
                **trace,
            },
            *keys,
        ],
        "layout": layout,
    }


def heat_map(asset: Asset) -> Chart:
    """Return the heat map of scores: a row per leaf, a column per model."""
    models = [column.name for column in asset.columns[1:]]
    layout = _layout(90 + ROW * max(1, len(asset.rows)), "", _names(asset))
    axis = {"side": "top", "fixedrange": True, "automargin": True, "type": "category", **ticks(models, 24)}
    layout |= {"xaxis": axis}
    values = [[cell.value for cell in row.cells[1:]] for row in asset.rows]
    trace = heat_trace(_names(asset), models, values, SCALE) | {
        "customdata": [[[_interval(cell)] for cell in row.cells[1:]] for row in asset.rows],
        "texttemplate": "%{z:.0f}",
        "hovertemplate": "%{y}<br>%{x}: <b>%{z:.1f}</b>  95 % %{customdata[0]}<extra></extra>",
    }
    return {"data": [trace], "layout": layout}


def radar(asset: Asset) -> Chart:
    """Return the radar chart: a spoke per leaf, a line per model; clicking a model's name shows or hides it."""
    leaves = [label(name) for name in _names(asset)]
    keys = short_labels([column.name for column in asset.columns])
    traces: list[dict[str, object]] = []
    for number, column in enumerate(asset.columns[1:], start=1):
        cells = [row.cells[number] for row in (*asset.rows, asset.rows[0])]
        traces.append(
            {
                "type": "scatterpolar",
                "mode": "lines+markers",
                "name": keys[number],
                "text": [*leaves, leaves[0]],
                "r": [cell.value for cell in cells],
                "theta": [*leaves, leaves[0]],
                "customdata": [[_interval(cell)] for cell in cells],
                "line": {"color": PALETTE[(number - 1) % len(PALETTE)], "width": 2},
                "marker": {"size": 6},
                "connectgaps": False,
                "hovertemplate": "%{text}<br><b>%{r:.1f}</b>  95 % %{customdata[0]}<extra>"
                + label(column.name)
                + "</extra>",
            }
        )
    return {
        "data": traces,
        "layout": {
            "height": 520,
            "margin": {"t": 40, "r": 60, "b": 40, "l": 60},
            "showlegend": True,
            "legend": {"orientation": "h", "y": -0.08},
            "polar": {
                "radialaxis": {"range": [0, 100], "tickvals": [25, 50, 75, 100], "angle": 90, "tickangle": 90},
                "angularaxis": {"direction": "clockwise", "rotation": 90, **ticks(_names(asset), 26)},
            },
            "hovermode": "closest",
        },
    }


def stacked_ranks(asset: Asset) -> Chart:
    """Return the bar chart of ranks: for each model, the shares of samples at each rank, stacked."""
    shares = [number for number, column in enumerate(asset.columns) if column.kind == "share"]
    names = [label(name) for name in _names(asset)]
    height = 110 + 30 * len(asset.rows)
    layout = _layout(height, "share of samples", _names(asset), range=[0, 1], tickformat=".0%")
    layout |= {
        "barmode": "stack",
        "showlegend": True,
        "legend": {**KEYED["legend"], "y": 1.02, "traceorder": "normal"},
    }
    traces: list[dict[str, object]] = []
    for rank, number in enumerate(shares):
        title = asset.columns[number].name
        cells = [row.cells[number] for row in asset.rows]
        traces.append(
            {
                "type": "bar",
                "orientation": "h",
                "name": title,
                "y": names,
                "text": names,
                "textposition": "none",
                "x": [cell.value for cell in cells],
                "customdata": [[_interval(cell, percent=True)] for cell in cells],
                "marker": {"color": mixed(2 * rank / max(1, len(shares) - 1), *RANKS)},
                "hovertemplate": "%{text}<br>" + title + ": <b>%{x:.0%}</b>  95 % %{customdata[0]}<extra></extra>",
            }
        )
    return {"data": traces, "layout": layout}


def _names(asset: Asset) -> list[str]:
    """Return the names of the rows."""
    return [str(row.cells[0].value) for row in asset.rows]


def _interval(cell: Figure, *, percent: bool = False) -> str:
    if cell.low is None or cell.high is None:
        if cell.no_interval:
            return f"none: {shortened(cell.no_interval)}"
        return "unknown"
    if percent:
        return f"{percentage(cell.low)} to {percentage(cell.high)}"
    return f"{cell.low:.1f} to {cell.high:.1f}"


def _layout(height: int, title: str, names: Sequence[str], **scale: object) -> Chart:
    """Return the layout of a chart with a row for each name; `scale` changes the other axis."""
    return {
        "height": height,
        "margin": {"t": 16, "r": 24, "b": 44, "l": 8},
        "xaxis": {**titled_axis(title), "range": [0, 100], **scale},
        "yaxis": names_axis(names),
        "showlegend": False,
        "hovermode": "closest",
    }
