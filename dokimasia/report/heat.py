"""A Plotly figure: a table of percentages as a heat map, such as who wins against whom."""

from collections.abc import Sequence

from dokimasia.report.charts import BAR_HEIGHT, Figure
from dokimasia.report.labels import label, ticks

INK = "#14171c"
"""Of the figures in the cells: every colour below stands out from it."""

COLOURS = [[0.0, "#e2705f"], [0.25, "#f0a58f"], [0.5, "#f1f1ee"], [0.75, "#8ccfa8"], [1.0, "#46ab76"]]
SHARES = [[0.0, "#f4f6fa"], [1.0, "#6ba0ea"]]
FAILURES = [[0.0, "#f6f4f1"], [0.5, "#f0a58f"], [1.0, "#e2706a"]]
"""Of shares that are better low."""


def heat_chart(
    rows: Sequence[str],
    columns: Sequence[str],
    values: Sequence[Sequence[float | None]],
    *,
    hover: str,
    diverging: bool = False,
    failures: bool = False,
) -> Figure:
    """Return percentages as a heat map, rows from top to bottom; None is left blank.

    Args:
        rows: their names.
        columns: their names.
        values: 0 to 100, a row each.
        hover: what a cell's value is, with `%{y}`, `%{x}` and `%{z}` for row, column and value.
        diverging: whether 50 is the middle of two colours.
        failures: whether low is good.
    """
    return {
        "data": [
            {
                "type": "heatmap",
                "x": [label(name) for name in columns],
                "y": [label(name) for name in rows],
                "z": [list(row) for row in values],
                "zmin": 0,
                "zmax": 100,
                "xgap": 2,
                "ygap": 2,
                "colorscale": COLOURS if diverging else FAILURES if failures else SHARES,
                "showscale": False,
                "text": [["" if value is None else f"{value:.0f}" for value in row] for row in values],
                "texttemplate": "%{text}",
                "textfont": {"color": INK},
                "hoverongaps": False,
                "hovertemplate": f"{hover}<extra></extra>",
            }
        ],
        "layout": {
            "height": 110 + BAR_HEIGHT * max(1, len(rows)),
            "margin": {"t": 70, "r": 24, "b": 16, "l": 8},
            "showlegend": False,
            "hovermode": "closest",
            "xaxis": {"side": "top", "fixedrange": True, "automargin": True, "type": "category", **ticks(columns, 24)},
            "yaxis": {
                "autorange": "reversed",
                "automargin": True,
                "fixedrange": True,
                "type": "category",
                "ticksuffix": "  ",
                **ticks(rows, 32),
            },
        },
    }
