"""How long golden captions are and how many rubrics samples have, as charts and bars (PerceptionRubrics, Figures 5 and 11)."""

from collections.abc import Iterator, Mapping

from dokimasia.methods.rubrics.figures import STEP
from dokimasia.report.blocks import Block, Cell, Chart, Column, Section, Span, Table
from dokimasia.report.charts import KEYED, PALETTE, Figure
from dokimasia.report.data import ReportData
from dokimasia.report.labels import label

WIDEST = 24
"""Characters of the longest bar on a terminal."""

STREAMS = {"rubrics": "all rubrics", "must_right": "must-right", "easy_wrong": "easy-wrong"}


def section(data: ReportData) -> Section | None:
    """Return the distributions; None without a set."""
    summary = data.summary
    if not summary["sets"]:
        return None
    blocks: list[Block] = []
    words = summary["caption_words"]
    if words["by_length"]:
        named = {f"{at} – {int(at) + STEP - 1}": count for at, count in words["by_length"].items()}
        said = f"Golden captions by length in words: mean {words['mean']:.0f}, median {words['median']:.0f}"
        blocks.append(Chart(histogram({"captions": named}, x="words"), said))
        blocks.append(Table(_columns("words", "captions"), list(_bars(named)), said))
    counted = {title: _filled(summary["distribution"][name]) for name, title in STREAMS.items()}
    blocks.append(
        Chart(histogram(counted, x="rubrics of a sample"), "Samples by number of rubrics, of each stream and in all")
    )
    for title, counts in counted.items():
        blocks.append(Table(_columns(title, "samples"), list(_bars(counts)), f"Samples by number of rubrics: {title}"))
    return Section("distributions", "Captions and rubrics by number", blocks, menu="Distributions")


def histogram(series: Mapping[str, Mapping[str, int]], *, x: str) -> Figure:
    """Return upright bars: how many there are of each, in the order given, beside each other for several series."""
    places = list(dict.fromkeys(place for counts in series.values() for place in counts))
    if len(series) > 1:
        places.sort(key=int)
    traces = [
        {
            "type": "bar",
            "name": label(name),
            "x": list(counts),
            "y": list(counts.values()),
            "marker": {"color": PALETTE[number % len(PALETTE)]},
            "hovertemplate": "%{x}: <b>%{y}</b>" + f"<extra>{label(name)}</extra>",
        }
        for number, (name, counts) in enumerate(series.items())
    ]
    axis = {"automargin": True, "fixedrange": True, "title": {"text": x, "font": {"size": 13}}}
    layout: Figure = {
        "height": 320,
        "margin": {"t": 24, "r": 24, "b": 48, "l": 8},
        "bargap": 0.1,
        "xaxis": axis | {"type": "category", "categoryorder": "array", "categoryarray": places},
        "yaxis": {"automargin": True, "fixedrange": True, "rangemode": "tozero"},
        "showlegend": False,
    }
    return {"data": traces, "layout": layout | KEYED if len(series) > 1 else layout}


def _filled(counts: Mapping[str, int]) -> dict[str, int]:
    """Return counts by number, with the numbers between that nothing has."""
    known = [int(number) for number in counts]
    return {str(number): counts.get(str(number), 0) for number in range(min(known), max(known) + 1)} if known else {}


def _columns(what: str, counted: str) -> list[Column]:
    return [Column(what, numeric=False), Column(counted), Column("", numeric=False, only="terminal")]


def _bars(counts: Mapping[str, int]) -> Iterator[list[Cell]]:
    most = max(counts.values(), default=0)
    for name, count in counts.items():
        length = max(round(WIDEST * count / most), 1) if count else 0
        yield [name, f"{count:,}", Span("\N{FULL BLOCK}" * length, "cited")]
