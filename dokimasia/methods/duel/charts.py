"""The Plotly figure of duels: verdicts as diverging bars, worse to the left of the middle and better to the right."""

from collections.abc import Mapping

from dokimasia.report.charts import BAR_HEIGHT, FRAME, Figure
from dokimasia.report.labels import label, ticks

VERDICTS = {
    "much_better": "much better",
    "better": "better",
    "tie": "equal",
    "worse": "worse",
    "much_worse": "much worse",
}
"""What each count is called, best first."""

COLOURS = {
    "much_better": "#1b7f4d",
    "better": "#8ccfa8",
    "tie": "#c9c9c9",
    "worse": "#f0a58f",
    "much_worse": "#b53a2b",
}
OUTWARD = (("tie", 0.5), ("better", 1.0), ("much_better", 1.0), ("tie", -0.5), ("worse", -1.0), ("much_worse", -1.0))
"""What is stacked from the middle outwards, to the right and to the left; half of the equal ones lie on either side."""


def verdict_chart(models: Mapping[str, Mapping[str, int]]) -> Figure:
    """Return a bar a model, in percent of its valid verdicts.

    Args:
        models: by name, how many verdicts fell which way, and how many are `valid`.
    """
    shown = [name for name, counts in models.items() if counts["valid"]]
    names = [label(name) for name in shown]
    known = [counts for counts in models.values() if counts["valid"]]
    traces: list[Figure] = [
        {
            "type": "bar",
            "orientation": "h",
            "name": VERDICTS[key],
            "legendgroup": key,
            "showlegend": not (key == "tie" and side < 0),
            "y": names,
            "text": names,
            "textposition": "none",
            "x": [round(100 * side * counts[key] / counts["valid"], 3) for counts in known],
            "customdata": [[counts[key], round(100 * counts[key] / counts["valid"], 1)] for counts in known],
            "hovertemplate": f"%{{text}}: {VERDICTS[key]} <b>%{{customdata[0]}}</b> (%{{customdata[1]}} %)<extra></extra>",
            "marker": {"color": COLOURS[key]},
            "legendrank": 1000 - list(VERDICTS).index(key),
        }
        for key, side in OUTWARD
    ]
    return {
        "data": traces,
        "layout": {
            "barmode": "relative",
            "height": FRAME + BAR_HEIGHT * max(1, len(names)) + 40,
            "margin": {"t": 40, "r": 24, "b": 48, "l": 8},
            "showlegend": True,
            "legend": {"orientation": "h", "y": 1, "yanchor": "bottom", "x": 0, "traceorder": "normal"},
            "hovermode": "closest",
            "xaxis": {
                "title": {
                    "text": "percent of valid verdicts, from the middle of the equal ones",
                    "standoff": 8,
                    "font": {"size": 13},
                },
                "range": [-100, 100],
                "zeroline": True,
                "automargin": True,
                "fixedrange": True,
                "tickvals": [-100, -50, 0, 50, 100],
                "ticktext": ["100", "50", "0", "50", "100"],
            },
            "yaxis": {
                "type": "category",
                "autorange": "reversed",
                "automargin": True,
                "fixedrange": True,
                "ticksuffix": "  ",
                **ticks(shown),
            },
        },
    }
