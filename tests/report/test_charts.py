"""Every chart is a figure that Plotly knows, whatever its labels contain."""

from typing import Any

import plotly.graph_objects as go

from dokimasia.report.blocks import Block, Chart, Fold
from dokimasia.report.charts import Point, cost_chart, grouped_chart, interval_chart, paired_chart, repeats_chart
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
