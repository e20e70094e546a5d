"""Plotly figures of models in a plane: one labelled dot a model, and the line of least squares."""

from collections.abc import Mapping, Sequence

from dokimasia.report.charts import PALETTE, Figure
from dokimasia.report.labels import label, short_labels

AXIS = {"automargin": True, "fixedrange": True, "zeroline": False}


def scatter_chart(points: Mapping[str, tuple[float, float]], *, x: str, y: str, line: bool = False) -> Figure:
    """Return one labelled dot a model; with `line`, the straight line of least squares through them.

    Args:
        points: where each stands.
        x: title of the axis to the right.
        y: title of the axis upwards.
        line: whether the line is drawn.
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


def _least_squares(xs: Sequence[float], ys: Sequence[float]) -> tuple[list[float], list[float]] | None:
    """Return the ends of the line, or None where the points stand above one another."""
    n = len(xs)
    mean_x, mean_y = sum(xs) / n, sum(ys) / n
    spread = sum((x - mean_x) ** 2 for x in xs)
    if n < 2 or spread == 0:
        return None
    slope = sum((a - mean_x) * (b - mean_y) for a, b in zip(xs, ys, strict=True)) / spread
    ends = [min(xs), max(xs)]
    return ends, [round(mean_y + slope * (end - mean_x), 6) for end in ends]


def plain_layout(x: str, y: str) -> Figure:
    """Return the layout of a figure with two axes by their titles."""
    return {
        "height": 340,
        "margin": {"t": 36, "r": 32, "b": 48, "l": 8},
        "xaxis": {**AXIS, "title": {"text": x, "standoff": 8, "font": {"size": 13}}},
        "yaxis": {**AXIS, "title": {"text": y, "font": {"size": 13}}},
        "showlegend": False,
        "hovermode": "closest",
    }
