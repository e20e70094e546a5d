"""Charts as files: every chart of a run is drawn, the same bytes every time, with whole captions and plain ticks."""

import io
import re
from pathlib import Path

import pytest
from PIL import Image

from dokimasia.cli.main import run
from dokimasia.report.blocks import Chart, Fold, Section
from dokimasia.report.chart_files import CHART_FORMATS, chart_files, draw_chart, drawable
from dokimasia.report.charts import Point, grouped_chart, heat_chart, interval_chart, scatter_chart
from dokimasia.report.sections import sections_of
from dokimasia.simulation.world import write_world
from tests.report.conftest import Finished
from tests.report.test_charts import charts

pytest.importorskip("matplotlib")

POINTS = [Point("a $x$ & <b>", 3.353361, 2.9, 3.8, (2.5, 4.0)), Point("b_1", 4.0, None, None)]
CAPTION = "Mean scores of each model, a caption of many words that is longer than one line and is not cut " * 2


@pytest.mark.parametrize("format", CHART_FORMATS)
def test_a_chart_has_the_same_bytes_every_time(format: str) -> None:
    """No date, no random id and no version is in a file."""
    chart = Chart(interval_chart(POINTS, title="score", scale=[1, 5]), CAPTION)
    first = draw_chart(chart, format)  # pyright: ignore[reportArgumentType]
    assert first == draw_chart(chart, format)  # pyright: ignore[reportArgumentType]
    assert b"Date" not in first


def test_names_are_literal_captions_whole_and_ticks_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing in a name is markup or a formula, and no tick has more than two decimals."""
    from dokimasia.report import chart_files as module

    monkeypatch.setitem(module._STYLE, "svg.fonttype", "none")
    chart = Chart(interval_chart(POINTS, title="score", scale=[1, 5]), CAPTION)
    texts = re.findall(r"<text[^>]*>([^<]*)", draw_chart(chart, "svg").decode())
    assert "a $x$ &amp; &lt;b&gt;" in texts
    assert " ".join(text.strip() for text in texts).count("is not cut") == 2
    assert not [text for text in texts if re.fullmatch(r".*\d\.\d{3,}.*", text)]


def test_the_kinds_of_charts_are_drawn() -> None:
    """Groups, cells, clouds and folded charts are pictures; a view each of a chart with several; a treemap is left out."""
    grouped = Chart(grouped_chart({"a": [POINTS[0], None], "b": [POINTS[1]] * 2}, ["x", "y"], title="t"), "groups")
    cells = Chart(heat_chart(["r", "s"], ["c"], [[20.0], [None]], hover=""), "cells")
    cloud = scatter_chart({"a": (1, 2), "b": (2, 4)}, x="x", y="y", line=True)
    views = Chart(cloud, "views", variants={"one": {"x": [1, 2]}, "two": {"x": [3, 4]}})
    tree = Chart({"data": [{"type": "treemap"}], "layout": {}}, "a tree")
    files, left_out = chart_files([Section("s", "S", [grouped, cells, Fold("f", [views]), tree])], "png")
    assert list(files) == ["01-s-1.png", "01-s-2.png", "01-s-3-one.png", "01-s-4-two.png"]
    assert left_out == ["a tree"]
    for data in files.values():
        assert Image.open(io.BytesIO(data)).width > 800


def test_every_chart_of_a_run_with_every_section_is_drawn(full: Finished) -> None:
    """No chart but a treemap is left out."""
    sections = sections_of(full.data())
    files, left_out = chart_files(sections, "svg")
    every = [chart for section in sections for chart in charts(section.blocks)]
    assert left_out == [chart.about for chart in every if not drawable(chart)]
    assert len(files) >= len(every) - len(left_out)


def test_the_command_writes_a_folder(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """`charts` names files by section."""
    write_world(tmp_path / "world.jsonl", 8, 1)
    home = ["--home", str(tmp_path / "home")]
    words = ["evaluate", str(tmp_path / "world.jsonl"), "--judge", "sim/judge", "--models", "sim/strong,sim/weak"]
    assert run([*words, "--json", *home]) == 0
    assert run(["charts", "last", "-o", str(tmp_path / "charts"), "--format", "pdf", *home]) == 0
    written = sorted((tmp_path / "charts").iterdir())
    assert written
    assert all(path.read_bytes().startswith(b"%PDF") for path in written)
    assert "wrote" in capfd.readouterr().err
