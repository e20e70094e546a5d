"""Every chart is a figure that Plotly knows, whatever its labels contain."""

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
import pytest

import dokimasia
from dokimasia.methods.diagnosis.charts import SCALE
from dokimasia.methods.judging.report import COLOURS as ORDERED
from dokimasia.report.blocks import Block, Chart, Fold
from dokimasia.report.charts import (
    CELL_INK,
    DIVERGING_COLOURS,
    FAILURE_COLOURS,
    SHARE_COLOURS,
    Point,
    cost_chart,
    grouped_chart,
    interval_chart,
    intervals_said,
    paired_chart,
    repeats_chart,
)
from dokimasia.report.sections import sections_of
from tests.report.conftest import Finished


def charts(blocks: Any) -> list[Chart]:
    """The charts among blocks, folded ones too."""
    found: list[Chart] = []
    block: Block
    for block in blocks:
        if isinstance(block, Chart):
            found.append(block)
        elif isinstance(block, Fold):
            found += charts(block.blocks)
    return found


def test_the_reports_charts_are_valid(full: Finished) -> None:
    """Plotly takes each chart of a report, every attribute known to it."""
    found = [chart for section in sections_of(full.data()) for chart in charts(section.blocks)]
    assert len(found) == 5
    for chart in found:
        assert go.Figure(chart.figure).data
        assert chart.about


def test_each_kind_of_chart_is_valid() -> None:
    """Plotly takes each kind, with what failures leave open and with nothing to draw."""
    point = Point("<b>m</b>", 3.0, 2.5, 3.4, bounds=(2.0, 4.0), hollow=True)
    for figure in (
        interval_chart([point], title="t", scale=[1, 5], zero=True),
        interval_chart([], title="t", scale=None),
        grouped_chart({"a": [point, None], "b": [None, None]}, ["x", "y"], title="t"),
        repeats_chart({"a": [1.0, None, 2.0]}, title="t"),
        paired_chart({"a": (3.0, 2.0)}, ("with", "without"), title="t"),
        cost_chart({"a": (0.001, 3.0), "b": (0.002, 4.0)}, title="t"),
    ):
        assert go.Figure(figure).layout.height
    assert "&lt;b&gt;m&lt;/b&gt;" in str(interval_chart([point], title="t", scale=None))


def test_an_interval_never_reaches_backwards() -> None:
    """A mean at an interval's end, or past it by rounding, draws no negative bar."""
    bars = interval_chart([Point("a", 5.0, 4.2, 4.999999)], title="t", scale=None)["data"][0]["error_x"]
    assert bars["array"] == [0.0]
    assert bars["arrayminus"] == [0.8]


def test_a_caption_promises_the_intervals_that_are_drawn(full: Finished, small: Finished) -> None:
    """A caption speaks of intervals where there are any, and says so where some, or all, of its points have none."""
    with_one, without = Point("a", 3.0, 2.0, 4.0), Point("b", 3.0, None, None)
    assert intervals_said([with_one]) == "with 95 % intervals"
    assert intervals_said([with_one, without]) == "with 95 % intervals where there are any"
    assert intervals_said([without]).startswith("without intervals")
    for run in (full, small):
        for chart in (chart for section in sections_of(run.data()) for chart in charts(section.blocks)):
            bars = any("error_x" in trace or "error_y" in trace for trace in chart.figure["data"])
            assert bars == ("with 95 % intervals" in chart.about), chart.about


def test_what_has_no_interval_has_no_bar() -> None:
    """A mean without an interval is a hollow dot of its own trace, and no bar of width zero stands for what is not known."""
    points = [Point("a", 5.0, None, None), Point("b", 3.0, 2.0, 4.0), Point("c", 1.0, None, None)]
    figure = interval_chart(points, title="gain", scale=None, zero=True)
    known, unknown = figure["data"]
    assert (known["y"], known["marker"]["symbol"]) == (["b"], ["circle"])
    assert known["error_x"]["array"] == [1.0]
    assert (unknown["y"], unknown["marker"]["symbol"]) == (["a", "c"], ["circle-open"] * 2)
    assert "error_x" not in unknown
    assert "no interval" in unknown["hovertemplate"]
    assert figure["layout"]["yaxis"]["categoryarray"] == ["a", "b", "c"]


def test_equal_points_of_the_cost_chart_are_labelled_together() -> None:
    """Models of one cost and score have one label of a line each, and every dot says on hovering whose it is."""
    points = {"a": (0.001, 3.0), "b": (0.001, 3.0), "c": (0.002, 4.0), "d": (0.00201, 4.01), "e": (0.0001, 2.0)}
    figure = cost_chart(points, title="t")
    trace = go.Figure(figure).data[0]
    assert [text for text in trace.text if text] == ["a<br>b", "c<br>d", "e"]
    assert sorted(zip(trace.hovertext, zip(trace.x, trace.y, strict=True), strict=True)) == sorted(points.items())
    sides = dict(zip(trace.hovertext, trace.textposition, strict=True))
    assert (sides["e"], sides["c"]) == ("middle right", "middle left")


def test_the_pages_library_draws_every_kind_of_trace() -> None:
    """The part of Plotly in a page is made from an entry that names every type of trace that a figure of ours has."""
    package = Path(dokimasia.__file__).parent
    entry = (package / "report" / "charts.entry.js").read_text()
    kept = {"scatter", *re.findall(r'require\("plotly\.js/lib/(\w+)"\)', entry)}
    named = {
        one
        for path in package.rglob("*.py")
        if "plotly" in (text := path.read_text()).lower() or "chart" in path.name
        for one in re.findall(r'"type": "(\w+)"', text)
    }
    used = named & set(go.Figure()._data_validator.class_strs_map)
    assert {"scatter", "bar", "heatmap", "treemap", "scatterpolar"} <= used <= kept
    library = (package / "report" / "plotly.js").read_text()
    assert all(f'name:"{one}"' in library for one in kept - {"core"})
    assert len(library) < 1_500_000


def luminance(parts: list[float]) -> float:
    """How light a colour is, as the guidelines on contrast reckon it; parts are 0 to 255."""
    red, green, blue = [one / 255 / 12.92 if one <= 10 else ((one / 255 + 0.055) / 1.055) ** 2.4 for one in parts]
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def parts_of(colour: str) -> list[float]:
    """Red, green and blue of a colour in hexadecimal digits."""
    return [int(colour[at : at + 2], 16) for at in (1, 3, 5)]


@pytest.mark.parametrize("scale", [DIVERGING_COLOURS, SHARE_COLOURS, FAILURE_COLOURS, SCALE, ORDERED])
def test_figures_stand_out_from_every_cell_of_a_heat_map(scale: list[list[Any]]) -> None:
    """Figures have a contrast of 5 and more with every colour between the ends of a scale."""
    dark = luminance(parts_of(CELL_INK)) + 0.05
    for (_, one), (_, other) in pairwise(scale):
        for step in range(11):
            mixed = [a + (b - a) * step / 10 for a, b in zip(parts_of(one), parts_of(other), strict=True)]
            assert (luminance(mixed) + 0.05) / dark >= 5, (one, other, step)
