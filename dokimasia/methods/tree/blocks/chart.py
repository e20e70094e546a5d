"""The capability tree as a treemap: areas by criteria, colours by a model's score, to be entered by a click."""

from collections.abc import Mapping, Sequence
from typing import Any

from dokimasia.report.charts import Figure
from dokimasia.report.figures import limits_text
from dokimasia.report.labels import short_labels

HEIGHT = 620
NOT_SCORED = "#8a8f98"
LOW, MIDDLE, HIGH = (221, 116, 46), (196, 199, 204), (47, 111, 206)
"""Colours of 0, 50 and 100."""

EXAMPLE = 96
NAME = 60
"""Characters of an example, and of a node's name."""


def tree_chart(nodes: Sequence[Mapping[str, Any]], examples: Mapping[str, Sequence[str]]) -> Figure:
    """Return the nodes of a tree as a treemap; its colours come from `coloured_by`.

    Args:
        nodes: as `dokimasia.methods.tree.reading.view.tree_view` has them, the root first; those without criteria are left out.
        examples: by node, a few criteria that it holds.
    """
    drawn = [node for node in nodes if node["below"]]
    short = short_labels([str(node["name"]) for node in drawn], NAME)
    trace = {
        "type": "treemap",
        "ids": [node["id"] for node in drawn],
        "labels": ["all" if node["parent"] is None else name for node, name in zip(drawn, short, strict=True)],
        "parents": [node["parent"] or "" for node in drawn],
        "values": [node["below"] for node in drawn],
        "branchvalues": "total",
        "sort": False,
        "customdata": [
            ["".join(f"<br>· {short_labels([text], EXAMPLE)[0]}" for text in examples.get(node["id"], ()))]
            for node in drawn
        ],
        "texttemplate": "%{label}<br>%{text}",
        "hovertemplate": "<b>%{label}</b><br>%{text}<br>%{value} criteria%{customdata[0]}<extra></extra>",
        "pathbar": {"visible": True, "thickness": 26},
        "tiling": {"pad": 2},
    }
    layout = {
        "height": HEIGHT,
        "margin": {"t": 34, "r": 0, "b": 0, "l": 0},
        "uniformtext": {"minsize": 10, "mode": "hide"},
        "uirevision": "tree",
    }
    return {"data": [trace], "layout": layout}


def coloured_by(nodes: Sequence[Mapping[str, Any]], model: str) -> dict[str, Any]:
    """Return the properties of the treemap's trace that show a model's scores."""
    scores = [node["scores"].get(model) for node in nodes if node["below"]]
    colours = [NOT_SCORED if one is None or one["mean"] is None else colour(one["mean"]) for one in scores]
    return {
        "text": [_text(one) for one in scores],
        "textfont": {"size": 13, "color": [ink(one) for one in colours]},
        "marker": {"colors": colours, "pad": {"t": 24, "l": 4, "r": 4, "b": 4}, "line": {"width": 1.5}},
    }


def colour(score: float) -> str:
    """Return the colour of a score from 0 to 100."""
    share = min(1.0, max(0.0, score / 100))
    start, end, way = (LOW, MIDDLE, share * 2) if share < 0.5 else (MIDDLE, HIGH, share * 2 - 1)
    return "#" + "".join(f"{round(a + (b - a) * way):02x}" for a, b in zip(start, end, strict=True))


def ink(ground: str) -> str:
    """Return black or white, whichever stands out more."""
    parts = [int(ground[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    light = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "#14171c" if (light + 0.05) / 0.058 >= 1.05 / (light + 0.05) else "#ffffff"


def _text(score: Mapping[str, Any] | None) -> str:
    if score is None:
        return "not asked"
    if score["mean"] is None:
        return "no score"
    return f"{score['mean']:.0f} ({limits_text(score, '{:.0f}'.format)})"
