"""Plotly figures of an audit: violins over shares of rubrics, bars of domains."""

from collections.abc import Mapping, Sequence
from math import exp
from statistics import quantiles, stdev

from dokimasia.report.charts import PALETTE, Figure
from dokimasia.report.labels import label, short_labels, ticks
from dokimasia.report.scatter import AXIS, plain_layout

FEWEST_FOR_SHAPE = 5
"""Fewer models are dots: their shape would be the bandwidth's."""

HALF_WIDTH, STEPS = 8.0, 48
"""How far a violin reaches to each side, in the axis' unit, and how many pieces its sides have."""

_LEGEND: Figure = {"showlegend": True, "legend": {"orientation": "h", "y": 1, "yanchor": "bottom", "x": 0}}


def violins_chart(values: Mapping[float, Mapping[str, float]], *, x: str, y: str) -> Figure:
    """Return how models spread at each place: a shape as wide as they are many, quartiles, each model, and the mean's line.

    Fewer than five models, and models that are all equal, have no shape and stand as dots alone. Values are 0 or more.

    Args:
        values: by place to the right, each model's value.
        x: title of the axis to the right.
        y: title of the axis upwards.
    """
    traces: list[Figure] = []
    for at, models in values.items():
        outline = _outline(list(models.values()))
        if outline:
            sides = [(at + width, place) for place, width in outline]
            sides += [(at - width, place) for place, width in reversed(outline)]
            traces.append(
                {
                    "type": "scatter",
                    "mode": "lines",
                    "x": [round(across, 4) for across, _ in sides],
                    "y": [round(place, 4) for _, place in sides],
                    "name": "models",
                    "fill": "toself",
                    "opacity": 0.35,
                    "line": {"width": 1, "color": PALETTE[0]},
                    "hoverinfo": "skip",
                }
            )
    each = [(at, name, value) for at, models in values.items() for name, value in models.items()]
    traces.append(
        {
            "type": "scatter",
            "mode": "markers",
            "name": "each model",
            "x": [at for at, _, _ in each],
            "y": [value for _, _, value in each],
            "text": [label(name) for _, name, _ in each],
            "marker": {"size": 5, "color": PALETTE[0], "opacity": 0.6},
            "hovertemplate": "%{text}, %{x:g}: <b>%{y:.2f}</b><extra></extra>",
        }
    )
    known = {at: list(models.values()) for at, models in values.items() if models}
    middle = {at: quantiles(one, n=4, method="inclusive") if len(one) > 1 else one * 3 for at, one in known.items()}
    boxes = {at: (one[0], one[1], one[2]) for at, one in middle.items()}
    traces.append(
        {
            "type": "scatter",
            "mode": "markers",
            "name": "median and quartiles",
            "x": list(boxes),
            "y": [one[1] for one in boxes.values()],
            "error_y": {
                "type": "data",
                "symmetric": False,
                "array": [round(one[2] - one[1], 6) for one in boxes.values()],
                "arrayminus": [round(one[1] - one[0], 6) for one in boxes.values()],
                "thickness": 5,
                "width": 0,
                "color": PALETTE[1],
            },
            "marker": {"size": 9, "color": PALETTE[1]},
            "hovertemplate": "%{x:g}: median <b>%{y:.2f}</b><extra></extra>",
        }
    )
    traces.append(
        {
            "type": "scatter",
            "mode": "lines+markers",
            "name": "mean",
            "x": list(known),
            "y": [sum(one) / len(one) for one in known.values()],
            "line": {"width": 2, "dash": "dash", "color": PALETTE[2]},
            "hovertemplate": "%{x:g}: mean <b>%{y:.2f}</b><extra></extra>",
        }
    )
    for trace in traces:
        trace.setdefault("showlegend", trace["name"] != "models")
    return {"data": traces, "layout": plain_layout(x, y) | _LEGEND}


def share_chart(shares: Mapping[str, Mapping[str, float]], *, title: str) -> Figure:
    """Return one bar a model that is divided among domains, in percent.

    Args:
        shares: by model, each domain's part from 0 to 1.
        title: of the axis.
    """
    domains = sorted({domain for parts in shares.values() for domain in parts})
    names = [label(name) for name in shares]
    keys = short_labels(domains)
    traces: list[Figure] = [
        {
            "type": "bar",
            "orientation": "h",
            "name": keys[number],
            "y": names,
            "text": names,
            "textposition": "none",
            "x": [100 * parts.get(domain, 0.0) for parts in shares.values()],
            "marker": {"color": PALETTE[number % len(PALETTE)]},
            "hovertemplate": "%{text}: <b>%{x:.0f} %</b>" + f"<extra>{label(domain)}</extra>",
        }
        for number, domain in enumerate(domains)
    ]
    layout = plain_layout(title, "") | {
        **_LEGEND,
        "barmode": "stack",
        "height": 120 + 34 * len(names),
    }
    layout["yaxis"] = {**AXIS, "type": "category", "autorange": "reversed", "ticksuffix": "  ", **ticks(list(shares))}
    return {"data": traces, "layout": layout}


def _outline(values: Sequence[float]) -> list[tuple[float, float]]:
    """Return the half width of a violin at places from below upwards: a kernel density, Silverman's bandwidth."""
    if len(values) < FEWEST_FOR_SHAPE or not (spread := stdev(values)):
        return []
    width = 1.06 * spread * len(values) ** -0.2
    low, high = max(0.0, min(values) - 2 * width), max(values) + 2 * width
    places = [low + (high - low) * step / STEPS for step in range(STEPS + 1)]
    heights = [sum(exp(-(((place - one) / width) ** 2) / 2) for one in values) for place in places]
    return [(place, HALF_WIDTH * height / max(heights)) for place, height in zip(places, heights, strict=True)]
