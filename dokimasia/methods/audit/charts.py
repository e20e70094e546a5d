"""Plotly figures of an audit: a line through models, lines over shares of rubrics, bars of domains."""

from collections.abc import Mapping, Sequence

from dokimasia.report.charts import PALETTE, Figure, label

_AXIS = {"automargin": True, "fixedrange": True, "zeroline": False}
_LEGEND: Figure = {"showlegend": True, "legend": {"orientation": "h", "y": 1, "yanchor": "bottom", "x": 0}}


def scatter_chart(points: Mapping[str, tuple[float, float]], *, x: str, y: str, line: bool = False) -> Figure:
    """Return one labelled dot a model; with `line`, the straight line of least squares through them.

    Args:
        points: where each stands.
        x: title of the axis to the right.
        y: title of the axis upwards.
        line: whether the line is drawn.
    """
    xs, ys = [one[0] for one in points.values()], [one[1] for one in points.values()]
    traces: list[Figure] = [
        {
            "type": "scatter",
            "mode": "markers+text",
            "x": xs,
            "y": ys,
            "text": [label(name, 24) for name in points],
            "textposition": "top center",
            "cliponaxis": False,
            "marker": {"size": 11, "color": PALETTE[0]},
            "hovertemplate": "%{text}<br>%{x:.2f}, <b>%{y:.2f}</b><extra></extra>",
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
    return {"data": traces, "layout": _layout(x, y)}


def lines_chart(series: Mapping[str, Sequence[float]], at: Sequence[float], *, x: str, y: str) -> Figure:
    """Return one line a series over the same places."""
    traces: list[Figure] = [
        {
            "type": "scatter",
            "mode": "lines+markers",
            "name": label(name),
            "x": list(at),
            "y": list(values),
            "line": {"width": 2, "color": PALETTE[number % len(PALETTE)]},
            "marker": {"size": 8},
            "hovertemplate": "%{x:g}: <b>%{y:.2f}</b>" + f"<extra>{label(name)}</extra>",
        }
        for number, (name, values) in enumerate(series.items())
    ]
    layout = _layout(x, y) | _LEGEND
    return {"data": traces, "layout": layout}


def share_chart(shares: Mapping[str, Mapping[str, float]], *, title: str) -> Figure:
    """Return one bar a model that is divided among domains, in percent.

    Args:
        shares: by model, each domain's part from 0 to 1.
        title: of the axis.
    """
    domains = sorted({domain for parts in shares.values() for domain in parts})
    names = [label(name) for name in shares]
    traces: list[Figure] = [
        {
            "type": "bar",
            "orientation": "h",
            "name": label(domain),
            "y": names,
            "x": [100 * parts.get(domain, 0.0) for parts in shares.values()],
            "marker": {"color": PALETTE[number % len(PALETTE)]},
            "hovertemplate": "%{y}: <b>%{x:.0f} %</b>" + f"<extra>{label(domain)}</extra>",
        }
        for number, domain in enumerate(domains)
    ]
    layout = _layout(title, "") | {
        **_LEGEND,
        "barmode": "stack",
        "height": 120 + 34 * len(names),
    }
    layout["yaxis"] = {**_AXIS, "type": "category", "autorange": "reversed", "ticksuffix": "  "}
    return {"data": traces, "layout": layout}


def _least_squares(xs: Sequence[float], ys: Sequence[float]) -> tuple[list[float], list[float]] | None:
    """Return the ends of the line, or None where the points stand above one another."""
    n = len(xs)
    mean_x, mean_y = sum(xs) / n, sum(ys) / n
    spread = sum((one - mean_x) ** 2 for one in xs)
    if n < 2 or spread == 0:
        return None
    slope = sum((a - mean_x) * (b - mean_y) for a, b in zip(xs, ys, strict=True)) / spread
    ends = [min(xs), max(xs)]
    return ends, [round(mean_y + slope * (end - mean_x), 6) for end in ends]


def _layout(x: str, y: str) -> Figure:
    return {
        "height": 340,
        "margin": {"t": 36, "r": 32, "b": 48, "l": 8},
        "xaxis": {**_AXIS, "title": {"text": x, "standoff": 8, "font": {"size": 13}}},
        "yaxis": {**_AXIS, "title": {"text": y, "font": {"size": 13}}},
        "showlegend": False,
        "hovermode": "closest",
    }
