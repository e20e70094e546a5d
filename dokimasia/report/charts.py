"""Plotly figures: intervals, categories, repeats, costs, heat maps and scatter plots, in colours for both themes."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from dokimasia.domain.identity import JsonObject
from dokimasia.report.labels import TICK, label, short_labels, ticks

PALETTE = ("#3f7fd9", "#d9782d", "#2f9e6e", "#b25cc4", "#cf4a4a", "#1f9aa8", "#8a7a1f", "#7d8590")
"""Colours with enough contrast on white and near-black; they repeat after the last."""

GREY = "#8a8f98"
WITH_INTERVAL = "%{text}<br><b>%{x:.2f}</b>  95 % %{customdata[0]} to %{customdata[1]}"
WITHOUT_INTERVAL = "%{text}<br><b>%{x:.2f}</b>  no interval"
BAR_HEIGHT = 34
FRAME = 84
SCALE = [1.0, 5.0]

Figure = JsonObject
"""A Plotly figure, or a part of one."""

Colour = tuple[int, int, int]
"""Red, green and blue, 0 to 255."""

KEYED: Figure = {
    "showlegend": True,
    "legend": {"orientation": "h", "y": 1, "yanchor": "bottom", "x": 0},
    "margin": {"t": 36, "r": 24, "b": 48, "l": 8},
}
"""A layout with a legend above the chart."""


class Point(NamedTuple):
    """A measured mean with its interval (None without one); `bounds` are the range left open by failures, if any."""

    label: str
    mean: float
    low: float | None
    high: float | None
    bounds: tuple[float, float] | None = None
    hollow: bool = False


def intervals_said(points: Iterable[Point]) -> str:
    """Return the part of a chart's caption on which of its points have intervals."""
    with_interval = [point.low is not None and point.high is not None for point in points]
    if not any(with_interval):
        return "without intervals, for which there are too few data"
    if all(with_interval):
        return "with 95 % intervals"
    return "with 95 % intervals where there are any"


def interval_chart(points: Sequence[Point], *, title: str, scale: Sequence[float] | None, zero: bool = False) -> Figure:
    """Return a chart with a row per point: mean as a dot, interval as a bar, bounds as a dotted line.

    A point without interval is a hollow dot without a bar.

    Args:
        points: the points, from top to bottom.
        title: title of the axis, with its unit.
        scale: ends of the axis; None fits the axis to the points.
        zero: whether to mark 0 by a line.
    """
    lines = [
        _line(point.bounds, (label(point.label), label(point.label)), line={"width": 2, "dash": "dot", "color": GREY})
        for point in points
        if point.bounds is not None
    ]
    traces = [
        {
            **_measured(group, {"thickness": 3, "width": 6, "color": PALETTE[0]}),
            "y": [label(point.label) for point in group],
            "text": [label(point.label) for point in group],
            "marker": {
                "size": 11,
                "color": PALETTE[0],
                "symbol": ["circle-open" if point.hollow or point.low is None else "circle" for point in group],
                "line": {"width": 2, "color": PALETTE[0]},
            },
            "hovertemplate": f"{hover}<extra></extra>",
        }
        for group, hover in _by_interval(points)
    ]
    return {"data": traces, "layout": _layout([point.label for point in points], title, scale, shapes=lines, zero=zero)}


def grouped_chart(series: Mapping[str, Sequence[Point | None]], groups: Sequence[str], *, title: str) -> Figure:
    """Return a chart with the groups from top to bottom; in each group, every series has a dot with its interval."""
    rows = len(groups)
    step = 0.7 / max(1, len(series))
    traces: list[Figure] = []
    keys = short_labels(list(series))
    for number, (name, points) in enumerate(series.items()):
        offset = (number - (len(series) - 1) / 2) * step
        placed = [(index + offset, point) for index, point in enumerate(points) if point is not None]
        colour = PALETTE[number % len(PALETTE)]
        traces.append(
            {
                **_measured([point for _, point in placed], {"thickness": 1.6, "width": 0, "color": colour}),
                "name": keys[number],
                "y": [round(place, 4) for place, _ in placed],
                "marker": {"size": 8, "color": colour},
                "text": [label(point.label) for _, point in placed],
                "hovertemplate": f"{WITH_INTERVAL}<extra>{label(name)}</extra>",
            }
        )
    layout = _layout([], title, SCALE)
    layout["yaxis"] |= {
        "type": "linear",
        "autorange": False,
        "tickvals": list(range(rows)),
        "ticktext": short_labels(groups),
        "range": [rows - 0.5, -0.5],
        "showgrid": False,
    }
    layout["shapes"] = [
        _line((0, 1), (index - 0.5, index - 0.5), xref="paper", line={"width": 1, "color": GREY}, opacity=0.35)
        for index in range(1, rows)
    ]
    return {"data": traces, "layout": layout | KEYED | {"height": FRAME + 40 + rows * max(30, 15 * len(series))}}


def repeats_chart(means: Mapping[str, Sequence[float | None]], *, title: str) -> Figure:
    """Return a chart with a row per model, and a dot for the mean of each repeat."""
    pairs = [
        (label(name), value, repeat)
        for name, values in means.items()
        for repeat, value in enumerate(values)
        if value is not None
    ]
    trace = {
        "type": "scatter",
        "mode": "markers",
        "x": [value for _, value, _ in pairs],
        "y": [name for name, _, _ in pairs],
        "marker": {"size": 11, "color": PALETTE[0], "opacity": 0.65},
        "text": [name for name, _, _ in pairs],
        "customdata": [f"repeat {repeat + 1}" for _, _, repeat in pairs],
        "hovertemplate": "%{text}<br><b>%{x:.2f}</b><extra>%{customdata}</extra>",
    }
    return {"data": [trace], "layout": _layout(list(means), title, SCALE)}


def paired_chart(
    pairs: Mapping[str, tuple[float, float]], names: tuple[str, str], *, title: str, scale: Sequence[float] = SCALE
) -> Figure:
    """Return a chart with a row per model: two dots joined by a line, the second one hollow."""
    rows = [label(name) for name in pairs]
    traces = [
        {
            "type": "scatter",
            "mode": "markers",
            "name": names[side],
            "x": [pair[side] for pair in pairs.values()],
            "y": rows,
            "text": rows,
            "marker": {"size": 12, "color": PALETTE[0], "symbol": symbol, "line": {"width": 2, "color": PALETTE[0]}},
            "hovertemplate": "%{text}<br><b>%{x:.2f}</b><extra>" + names[side] + "</extra>",
        }
        for side, symbol in ((0, "circle"), (1, "circle-open"))
    ]
    lines = [
        _line(pair, (row, row), line={"width": 2, "color": PALETTE[0]})
        for row, pair in zip(rows, pairs.values(), strict=True)
    ]
    layout = _layout(list(pairs), title, scale, shapes=lines)
    return {"data": traces, "layout": layout | KEYED | {"height": layout["height"] + 24}}


def cost_chart(points: Mapping[str, tuple[float, float]], *, title: str) -> Figure:
    """Return the chart of mean scores over costs per scored sample in US dollars: a labelled dot per model.

    `points` are cost and score by model. Models whose dots overlap share a label, with a line per model.
    """
    groups = _close(points)
    most = max((cost for cost, _ in points.values()), default=0.0)
    placed = [(name, points[name], group) for group in groups for name in group]
    short = dict(zip(points, short_labels(list(points), 24), strict=True))
    trace = {
        "type": "scatter",
        "mode": "markers+text",
        "x": [cost for _, (cost, _), _ in placed],
        "y": [score for _, (_, score), _ in placed],
        "text": [
            "<br>".join(short[member] for member in group) if name == group[0] else "" for name, _, group in placed
        ],
        "hovertext": [label(name) for name, _, _ in placed],
        "textposition": [f"middle {'left' if 2 * cost > most else 'right'}" for _, (cost, _), _ in placed],
        "cliponaxis": False,
        "marker": {"size": 11, "color": PALETTE[0]},
        "hovertemplate": "%{hovertext}<br>$%{x:.6f} a scored sample, score <b>%{y:.2f}</b><extra></extra>",
    }
    layout = _layout([], title, None)
    layout["xaxis"] |= {"rangemode": "tozero", "tickprefix": "$"}
    layout["yaxis"] |= {"type": "linear", "autorange": True, "title": {"text": "mean score", "font": {"size": 13}}}
    return {"data": [trace], "layout": layout | {"height": 320}}


def _close(points: Mapping[str, tuple[float, float]]) -> list[list[str]]:
    """Return the names in groups whose dots, or labels, would overlap."""
    costs, scores = [cost for cost, _ in points.values()], [score for _, score in points.values()]
    across = 0.05 * max(costs, default=0.0)
    down = 0.06 * (max(scores, default=0.0) - min(scores, default=0.0))
    groups: list[list[str]] = []
    for name, (cost, score) in points.items():
        overlapping = next((group for group in groups if _near(points[group[0]], (cost, score), across, down)), None)
        if overlapping is None:
            groups.append([name])
        else:
            overlapping.append(name)
    return groups


def _near(first: tuple[float, float], second: tuple[float, float], across: float, down: float) -> bool:
    return abs(first[0] - second[0]) <= across and abs(first[1] - second[1]) <= down


def _layout(
    names: Sequence[str],
    title: str,
    scale: Sequence[float] | None,
    *,
    shapes: Sequence[Figure] = (),
    zero: bool = False,
) -> Figure:
    axis = titled_axis(title) | {"zeroline": zero}
    if scale is not None:
        span = scale[1] - scale[0]
        axis["range"] = [scale[0] - 0.02 * span, scale[1] + 0.02 * span]
    return {
        "height": FRAME + BAR_HEIGHT * max(1, len(names)),
        "margin": {"t": 12, "r": 24, "b": 48, "l": 8},
        "xaxis": axis,
        "yaxis": {
            "categoryorder": "array",
            "categoryarray": [label(name) for name in names],
            **names_axis(names),
            "zeroline": False,
        },
        "shapes": list(shapes),
        "showlegend": False,
        "hovermode": "closest",
    }


def names_axis(names: Sequence[str], most: int = TICK) -> Figure:
    """Return the vertical axis of a chart with a row for each name, labelled by at most this many characters."""
    return {
        "type": "category",
        "autorange": "reversed",
        "automargin": True,
        "fixedrange": True,
        "ticksuffix": "  ",
        **ticks(names, most),
    }


def _by_interval(points: Sequence[Point]) -> list[tuple[list[Point], str]]:
    """Return the points with an interval and those without, each with its hover text; empty groups are left out."""
    groups = [([], WITH_INTERVAL), ([], WITHOUT_INTERVAL)]
    for point in points:
        groups[point.low is None or point.high is None][0].append(point)
    return [group for group in groups if group[0]]


def _measured(points: Sequence[Point], bars: Figure) -> Figure:
    """Return the means of a trace of dots, with intervals as error bars if there are any."""
    if all(point.low is None or point.high is None for point in points):
        return {"type": "scatter", "mode": "markers", "x": [point.mean for point in points]}
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [point.mean for point in points],
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": [0 if point.high is None else round(max(0.0, point.high - point.mean), 6) for point in points],
            "arrayminus": [0 if point.low is None else round(max(0.0, point.mean - point.low), 6) for point in points],
            **bars,
        },
        "customdata": [
            ["none" if end is None else f"{end:.2f}" for end in (point.low, point.high)] for point in points
        ],
    }


def _line(across: tuple[float, float], down: tuple[str | float, str | float], **look: object) -> Figure:
    """Return a line drawn above the grid and below the dots."""
    return {"type": "line", "x0": across[0], "x1": across[1], "y0": down[0], "y1": down[1], "layer": "between", **look}


CELL_INK = "#14171c"
"""Text colour of cells; it has enough contrast on all colours below."""

DIVERGING_COLOURS = [[0.0, "#e2705f"], [0.25, "#f0a58f"], [0.5, "#f1f1ee"], [0.75, "#8ccfa8"], [1.0, "#46ab76"]]
SHARE_COLOURS = [[0.0, "#f4f6fa"], [1.0, "#6ba0ea"]]
FAILURE_COLOURS = [[0.0, "#f6f4f1"], [0.5, "#f0a58f"], [1.0, "#e2706a"]]
"""Colours of shares for which lower is better."""


def heat_chart(
    rows: Sequence[str],
    columns: Sequence[str],
    values: Sequence[Sequence[float | None]],
    *,
    hover: str,
    diverging: bool = False,
    failures: bool = False,
) -> Figure:
    """Return a heat map of percentages, with rows from top to bottom; None leaves a cell blank.

    Args:
        rows: names of the rows.
        columns: names of the columns.
        values: percentages from 0 to 100, by row.
        hover: hover text of a cell, with `%{y}`, `%{x}` and `%{z}` for row, column and value.
        diverging: whether to use two colours that meet at 50.
        failures: whether lower is better.
    """
    colours = SHARE_COLOURS
    if diverging or failures:
        colours = DIVERGING_COLOURS if diverging else FAILURE_COLOURS
    trace = heat_trace(rows, columns, values, colours) | {
        "text": [["" if value is None else f"{value:.0f}" for value in row] for row in values],
        "texttemplate": "%{text}",
        "hovertemplate": f"{hover}<extra></extra>",
    }
    return {
        "data": [trace],
        "layout": {
            "height": 110 + BAR_HEIGHT * max(1, len(rows)),
            "margin": {"t": 70, "r": 24, "b": 16, "l": 8},
            "showlegend": False,
            "hovermode": "closest",
            "xaxis": {"side": "top", "fixedrange": True, "automargin": True, "type": "category", **ticks(columns, 24)},
            "yaxis": names_axis(rows, 32),
        },
    }


def heat_trace(
    rows: Sequence[str],
    columns: Sequence[str],
    values: Sequence[Sequence[object]],
    colours: Sequence[Sequence[object]],
) -> Figure:
    """Return the trace of a heat map of values from 0 to 100, without the texts of its cells; None leaves a cell blank."""
    return {
        "type": "heatmap",
        "x": [label(name) for name in columns],
        "y": [label(name) for name in rows],
        "z": [list(row) for row in values],
        "zmin": 0,
        "zmax": 100,
        "xgap": 2,
        "ygap": 2,
        "colorscale": colours,
        "showscale": False,
        "textfont": {"color": CELL_INK},
        "hoverongaps": False,
    }


AXIS = {"automargin": True, "fixedrange": True, "zeroline": False}


def titled_axis(title: str) -> Figure:
    """Return a horizontal axis with a title."""
    return {**AXIS, "title": {"text": title, "standoff": 8, "font": {"size": 13}}}


def scatter_chart(points: Mapping[str, tuple[float, float]], *, x: str, y: str, line: bool = False) -> Figure:
    """Return a scatter plot with a labelled dot per model; with `line`, also the line of least squares.

    Args:
        points: coordinates by model.
        x: title of the horizontal axis.
        y: title of the vertical axis.
        line: whether to draw the line.
    """
    xs, ys = [point[0] for point in points.values()], [point[1] for point in points.values()]
    traces: list[Figure] = [
        {
            "type": "scatter",
            "mode": "markers+text",
            "x": xs,
            "y": ys,
            "text": short_labels(list(points), 24),
            "hovertext": [label(name) for name in points],
            "textposition": "top center",
            "cliponaxis": False,
            "marker": {"size": 11, "color": PALETTE[0]},
            "hovertemplate": "%{hovertext}<br>%{x:.2f}, <b>%{y:.2f}</b><extra></extra>",
        }
    ]
    if line and (ends := _least_squares(xs, ys)) is not None:
        traces.append(
            {
                "type": "scatter",
                "mode": "lines",
                "x": ends[0],
                "y": ends[1],
                "line": {"width": 2, "dash": "dot", "color": PALETTE[1]},
                "hoverinfo": "skip",
            }
        )
    return {"data": traces, "layout": plain_layout(x, y)}


def cloud_chart(clouds: Mapping[str, Sequence[tuple[float, float]]], *, x: str, y: str) -> Figure:
    """Return a scatter plot with a small dot for each point, in the colour of its model.

    Args:
        clouds: coordinates by model.
        x: title of the horizontal axis.
        y: title of the vertical axis.
    """
    traces = [
        {
            "type": "scatter",
            "mode": "markers",
            "name": label(name),
            "x": [point[0] for point in points],
            "y": [point[1] for point in points],
            "marker": {"size": 6, "opacity": 0.6, "color": PALETTE[number % len(PALETTE)]},
            "hovertemplate": "%{x:.0f}, <b>%{y:.2f}</b><extra>" + label(name) + "</extra>",
        }
        for number, (name, points) in enumerate(clouds.items())
    ]
    return {"data": traces, "layout": plain_layout(x, y) | KEYED}


def _least_squares(xs: Sequence[float], ys: Sequence[float]) -> tuple[list[float], list[float]] | None:
    """Return the ends of the line of least squares; None if all points have the same x."""
    n = len(xs)
    mean_x, mean_y = sum(xs) / n, sum(ys) / n
    spread = sum((x - mean_x) ** 2 for x in xs)
    if n < 2 or spread == 0:
        return None
    slope = sum((a - mean_x) * (b - mean_y) for a, b in zip(xs, ys, strict=True)) / spread
    ends = [min(xs), max(xs)]
    return ends, [round(mean_y + slope * (end - mean_x), 6) for end in ends]


def mixed(position: float, first: Colour, second: Colour, third: Colour) -> str:
    """Return the colour at a position between three colours: 0 is the first, 1 the second, 2 the third."""
    low, high, share = first, second, position
    if position >= 1:
        low, high, share = second, third, position - 1
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in zip(low, high, strict=True))


def plain_layout(x: str, y: str) -> Figure:
    """Return the layout of a chart with two titled axes."""
    return {
        "height": 340,
        "margin": {"t": 36, "r": 32, "b": 48, "l": 8},
        "xaxis": titled_axis(x),
        "yaxis": {**AXIS, "title": {"text": y, "font": {"size": 13}}},
        "showlegend": False,
        "hovermode": "closest",
    }
