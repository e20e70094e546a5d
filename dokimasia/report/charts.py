"""Plotly figures: intervals, paired differences, categories, repeats, the blind arm, cost; colours follow the page's theme."""

import html
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

PALETTE = ("#3f7fd9", "#d9782d", "#2f9e6e", "#b25cc4", "#cf4a4a", "#1f9aa8", "#8a7a1f", "#7d8590")
"""Colours that stand out from white and from near-black alike; after the last the first comes again."""

BAR_HEIGHT = 34
FRAME = 84
SCALE = [1.0, 5.0]

Figure = dict[str, Any]


class Point(NamedTuple):
    """A measured mean with its interval; `bounds` are what failures leave open, None without failures."""

    label: str
    mean: float
    low: float
    high: float
    bounds: tuple[float, float] | None = None
    hollow: bool = False


def label(text: str, most: int = 40) -> str:
    """Return text as Plotly draws it literally: its own markup is taken from it, and what is too long is cut."""
    return html.escape(text if len(text) <= most else f"{text[: most - 1]}…", quote=False)


def interval_chart(points: Sequence[Point], *, title: str, scale: Sequence[float] | None, zero: bool = False) -> Figure:
    """Return one row a point: the mean as a dot, its interval as a bar, the bounds of the failures as a thin line.

    Args:
        points: from top to bottom.
        title: of the axis, with its unit.
        scale: the axis' ends; None fits them to the points.
        zero: whether a line marks 0.
    """
    names = [label(point.label) for point in points]
    lines = [
        {
            "type": "line",
            "x0": point.bounds[0],
            "x1": point.bounds[1],
            "y0": name,
            "y1": name,
            "line": {"width": 2, "dash": "dot", "color": "#8a8f98"},
            "layer": "between",
        }
        for name, point in zip(names, points, strict=True)
        if point.bounds is not None
    ]
    trace = {
        "type": "scatter",
        "mode": "markers",
        "x": [point.mean for point in points],
        "y": names,
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": [_gap(point.high - point.mean) for point in points],
            "arrayminus": [_gap(point.mean - point.low) for point in points],
            "thickness": 3,
            "width": 6,
            "color": PALETTE[0],
        },
        "marker": {
            "size": 11,
            "color": PALETTE[0],
            "symbol": ["circle-open" if point.hollow else "circle" for point in points],
            "line": {"width": 2, "color": PALETTE[0]},
        },
        "customdata": [[f"{point.low:.2f}", f"{point.high:.2f}"] for point in points],
        "hovertemplate": "%{y}<br><b>%{x:.2f}</b>  95 %% %{customdata[0]} to %{customdata[1]}<extra></extra>".replace(
            "%%", "%"
        ),
    }
    return {"data": [trace], "layout": _layout(names, title, scale, shapes=lines, zero=zero)}


def grouped_chart(series: Mapping[str, Sequence[Point | None]], groups: Sequence[str], *, title: str) -> Figure:
    """Return the groups from top to bottom, in each one dot with its interval a series, in the series' colour."""
    rows = len(groups)
    step = 0.7 / max(1, len(series))
    traces: list[Figure] = []
    for number, (name, points) in enumerate(series.items()):
        offset = (number - (len(series) - 1) / 2) * step
        kept = [(index + offset, point) for index, point in enumerate(points) if point is not None]
        colour = PALETTE[number % len(PALETTE)]
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": label(name),
                "x": [point.mean for _, point in kept],
                "y": [round(place, 4) for place, _ in kept],
                "error_x": {
                    "type": "data",
                    "symmetric": False,
                    "array": [_gap(point.high - point.mean) for _, point in kept],
                    "arrayminus": [_gap(point.mean - point.low) for _, point in kept],
                    "thickness": 1.6,
                    "width": 0,
                    "color": colour,
                },
                "marker": {"size": 8, "color": colour},
                "text": [label(point.label) for _, point in kept],
                "customdata": [[f"{point.low:.2f}", f"{point.high:.2f}"] for _, point in kept],
                "hovertemplate": "%{text}<br><b>%{x:.2f}</b>  95 % %{customdata[0]} to %{customdata[1]}"
                f"<extra>{label(name)}</extra>",
            }
        )
    layout = _layout([], title, SCALE)
    layout["yaxis"] |= {
        "type": "linear",
        "autorange": False,
        "tickvals": list(range(rows)),
        "ticktext": [label(group) for group in groups],
        "range": [rows - 0.5, -0.5],
        "showgrid": False,
    }
    layout["shapes"] = [
        {
            "type": "line",
            "xref": "paper",
            "x0": 0,
            "x1": 1,
            "y0": index - 0.5,
            "y1": index - 0.5,
            "line": {"width": 1, "color": "#8a8f98"},
            "opacity": 0.35,
            "layer": "between",
        }
        for index in range(1, rows)
    ]
    layout |= {
        "height": FRAME + 40 + rows * max(30, 15 * len(series)),
        "showlegend": True,
        "legend": {"orientation": "h", "y": 1, "yanchor": "bottom", "x": 0},
        "margin": {"t": 36, "r": 24, "b": 48, "l": 8},
    }
    return {"data": traces, "layout": layout}


def repeats_chart(means: Mapping[str, Sequence[float | None]], *, title: str) -> Figure:
    """Return one row a model with a dot for the mean of each of its repeats."""
    names = [label(name) for name in means]
    pairs = [
        (name, value, repeat)
        for name, values in zip(names, means.values(), strict=True)
        for repeat, value in enumerate(values)
        if value is not None
    ]
    trace = {
        "type": "scatter",
        "mode": "markers",
        "x": [value for _, value, _ in pairs],
        "y": [name for name, _, _ in pairs],
        "marker": {"size": 11, "color": PALETTE[0], "opacity": 0.65},
        "text": [f"repeat {repeat + 1}" for _, _, repeat in pairs],
        "hovertemplate": "%{y}<br><b>%{x:.2f}</b><extra>%{text}</extra>",
    }
    return {"data": [trace], "layout": _layout(names, title, SCALE)}


def paired_chart(pairs: Mapping[str, tuple[float, float]], names: tuple[str, str], *, title: str) -> Figure:
    """Return one row a model: two dots joined by a line, the second one hollow."""
    rows = [label(name) for name in pairs]
    traces = [
        {
            "type": "scatter",
            "mode": "markers",
            "name": names[side],
            "x": [pair[side] for pair in pairs.values()],
            "y": rows,
            "marker": {"size": 12, "color": PALETTE[0], "symbol": symbol, "line": {"width": 2, "color": PALETTE[0]}},
            "hovertemplate": "%{y}<br><b>%{x:.2f}</b><extra>" + names[side] + "</extra>",
        }
        for side, symbol in ((0, "circle"), (1, "circle-open"))
    ]
    lines = [
        {
            "type": "line",
            "x0": pair[0],
            "x1": pair[1],
            "y0": row,
            "y1": row,
            "line": {"width": 2, "color": PALETTE[0]},
            "layer": "between",
        }
        for row, pair in zip(rows, pairs.values(), strict=True)
    ]
    layout = _layout(rows, title, SCALE, shapes=lines)
    layout |= {
        "height": layout["height"] + 24,
        "showlegend": True,
        "legend": {"orientation": "h", "y": 1, "yanchor": "bottom", "x": 0},
        "margin": {"t": 36, "r": 24, "b": 48, "l": 8},
    }
    return {"data": traces, "layout": layout}


def cost_chart(points: Mapping[str, tuple[float, float]], *, title: str) -> Figure:
    """Return mean scores (second) over costs in US dollars a scored sample (first), one labelled dot a model."""
    trace = {
        "type": "scatter",
        "mode": "markers+text",
        "x": [cost for cost, _ in points.values()],
        "y": [score for _, score in points.values()],
        "text": [label(name, 24) for name in points],
        "textposition": "middle left",
        "cliponaxis": False,
        "marker": {"size": 11, "color": PALETTE[0]},
        "hovertemplate": "%{text}<br>$%{x:.6f} a scored sample, score <b>%{y:.2f}</b><extra></extra>",
    }
    layout = _layout([], title, None)
    layout["xaxis"] |= {"rangemode": "tozero", "tickprefix": "$"}
    layout["yaxis"] |= {"type": "linear", "autorange": True, "title": {"text": "mean score", "font": {"size": 13}}}
    return {"data": [trace], "layout": layout | {"height": 320}}


def _layout(
    names: Sequence[str],
    title: str,
    scale: Sequence[float] | None,
    *,
    shapes: Sequence[Figure] = (),
    zero: bool = False,
) -> Figure:
    axis: Figure = {
        "title": {"text": title, "standoff": 8, "font": {"size": 13}},
        "zeroline": zero,
        "automargin": True,
        "fixedrange": True,
    }
    if scale is not None:
        span = scale[1] - scale[0]
        axis["range"] = [scale[0] - 0.02 * span, scale[1] + 0.02 * span]
    return {
        "height": FRAME + BAR_HEIGHT * max(1, len(names)),
        "margin": {"t": 12, "r": 24, "b": 48, "l": 8},
        "xaxis": axis,
        "yaxis": {
            "type": "category",
            "categoryorder": "array",
            "categoryarray": list(names),
            "autorange": "reversed",
            "automargin": True,
            "fixedrange": True,
            "ticksuffix": "  ",
            "zeroline": False,
        },
        "shapes": list(shapes),
        "showlegend": False,
        "hovermode": "closest",
    }


def _gap(value: float) -> float:
    return round(max(0.0, value), 6)
