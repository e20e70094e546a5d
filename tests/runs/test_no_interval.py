"""What stands in the place of an interval that cannot hold its level, from the rows to the reader."""

import re
from io import StringIO

from rich.console import Console

from dokimasia.algorithms.diagnosis.asset_tables import figure_text
from dokimasia.domain.diagnosis.tables import AssetColumn, Figure
from dokimasia.methods.audit.figures import Judged, gated_scores
from dokimasia.methods.diagnosis.cells import difference_of, mark_of, mean_of
from dokimasia.report import drawing, figures
from dokimasia.report.blocks import Cell, Column, Paragraph, Table, plain
from dokimasia.report.charts import Point, interval_chart
from dokimasia.report.fields import Interval, as_json
from dokimasia.report.footnotes import TOO_FEW, shortened
from dokimasia.report.terminal import draw_blocks
from dokimasia.runs.measures import mean_with_interval, paired_difference

SCORES = [5.0] * 11 + [4.0]
IMAGES = [f"image {at}" for at in range(12)]
REASON = "12 clusters at the ceiling: the effective number that differ from the median is 1.0, at least 1.5 are needed"


def test_figures_have_the_reason_and_no_limits() -> None:
    """A mean at the ceiling has no limits and says why; the published schema takes it so, and one with limits as ever."""
    ceiling = mean_with_interval(SCORES, IMAGES, seed=0, bounds=(1.0, 5.0))
    assert ceiling == Interval(mean=4.916667, low=None, high=None, no_interval=REASON)
    spread_out = mean_with_interval([1.0, 2.0, 3.0, 4.0, 5.0] * 3, range(15), seed=0, bounds=(1.0, 5.0))
    assert spread_out is not None
    assert spread_out.no_interval is None
    assert "no_interval" not in as_json(spread_out)


def test_paired_differences_keep_their_test() -> None:
    """Where differences have no interval their p-value stands: exact sign flips need no spread."""
    comparison = paired_difference([0.0] * 11 + [1.0], IMAGES, widest=4.0, seed=0)
    assert comparison.difference is not None
    assert (
        comparison.difference.no_interval
        == "12 clusters nearly alike: the effective number that differ from the median is 1.0, at least 1.5 are needed"
    )
    assert comparison.p_value == 1.0


def test_the_reason_stands_where_the_interval_would() -> None:
    """Tables, bars and charts of page, Markdown and terminal have the reason in the interval's place."""
    one = Interval(mean=4.9, low=None, high=None, no_interval=REASON)
    assert figures.interval(one) == figures.no_interval(one)
    assert figures.no_interval(one).text == f"no interval: {REASON}"
    assert figures.bracketed(one, "{:.1f}".format) == f" [no interval: {REASON}]"
    assert figures.bracketed(figures.Ends(None, None), "{:.1f}".format) == ""
    assert figures.limits_text(figures.Ends(1.0, 2.0), "{:.1f}".format) == "1.0–2.0"
    assert "━" not in plain(figures.bar(one))
    trace = interval_chart([Point("model", 4.9, None, None)], title="score", scale=(1, 5))["data"][0]
    assert "error_x" not in trace
    assert trace["marker"]["symbol"] == ["circle-open"]
    assert "no interval" in trace["hovertemplate"]


def test_a_terminal_has_the_reasons_under_the_table() -> None:
    """A raised number stands in the cells, and under the table its reason, once, also where one cell alone has it."""
    none = Interval(mean=4.9, low=None, high=None, no_interval=REASON)
    given = Interval(mean=3.0, low=2.0, high=4.0)
    columns = [Column("model", numeric=False), Column("score"), Column("without the image")]
    cells = [figures.interval(none), figures.measured(none), figures.interval(given)]
    rows: list[list[Cell]] = [[f"model {at}", cell, cell] for at, cell in enumerate(cells)]
    lines = _printed(Table(columns, rows, "Scores"))
    assert {"model 0 none ¹ none ¹", "model 1 4.90 [none ¹] 4.90 [none ¹]"} <= set(lines)
    assert lines.count(f"¹ no interval: too few different images ({REASON})") == 1
    alone: list[list[Cell]] = [["model 0", figures.interval(none), ""], ["model 1", "", ""]]
    lines = _printed(Table(columns, alone, "Scores"))
    assert {"model 0 none ¹", f"¹ no interval: too few different images ({REASON})"} <= set(lines)


def test_reasons_that_differ_in_their_figures_are_one_note() -> None:
    """Terminal, page and Markdown have one note under the table for cells that lack an interval for the same reason."""
    reasons = [REASON, REASON.replace("12", "9").replace("1.0", "0.4"), "one cluster"]
    cells = [figures.interval(figures.Ends(None, None, reason)) for reason in reasons]
    table = Table([Column("model", numeric=False), Column("")], [["model", cell] for cell in cells], "Scores")
    note = (
        "¹ no interval: too few different images (9 to 12 clusters at the ceiling: the effective number that differ from the "
        "median is 0.4 to 1.0, at least 1.5 are needed)"
    )
    lines = _printed(table)
    assert [line for line in lines if "none" in line] == ["model none ¹", "model none ¹", "model none ²"]
    assert lines.count(note) == lines.count("² no interval: one cluster") == 1
    page = "\n".join(drawing.draw_blocks([table], drawing.Charts(), browser=str))
    assert page.count(f'<p class="note">{note}</p>') == page.count("(9 to 12 clusters") == 1
    assert page.count("no interval") == 2


def test_in_a_sentence_the_reason_is_a_few_words() -> None:
    """A sentence says that there are too few different images; the page has the details in the title of these words."""
    comparison = paired_difference([0.0] * 11 + [1.0], IMAGES, widest=4.0, seed=0)
    assert comparison.difference is not None
    assert shortened(comparison.difference.no_interval or "") == TOO_FEW
    cell = figures.interval(figures.Ends(None, None, REASON))
    said = Paragraph(("It scores 4.80 of 5 (", cell, "; p = 1.000)."))
    text = "It scores 4.80 of 5 (no interval: too few different images; p = 1.000)."
    out = StringIO()
    draw_blocks(Console(file=out, width=150), [said])
    assert out.getvalue().strip() == text
    (page,) = drawing.draw_blocks([said], drawing.Charts(), browser=str)
    assert f'<abbr title="{REASON}">too few different images</abbr>' in page
    assert re.sub("<[^>]*>", "", page) == text


def _printed(table: Table) -> list[str]:
    """Return what a terminal shows of a table, line by line with single spaces."""
    out = StringIO()
    draw_blocks(Console(file=out, width=180), [table])
    return [" ".join(line.split()) for line in out.getvalue().splitlines()]


def test_diagnoses_mark_nothing_without_an_interval() -> None:
    """A diagnosis's cell carries the reason into text, into differences, and marks nothing by it."""
    cell = mean_of([100.0] * 11 + [80.0], IMAGES, bounds=(0.0, 100.0), seed=0)
    assert (cell.low, cell.high) == (None, None)
    assert cell.estimated
    column = AssetColumn(name="score", unit="points of 100", kind="score")
    assert figure_text(cell, column).endswith(f"[no interval: {cell.no_interval}]")
    gap = difference_of(cell, Figure(value=50.0, low=40.0, high=60.0))
    assert gap.no_interval == cell.no_interval
    assert mark_of(gap, 0.001, down="worse", up="better") == "unclear"
    assert "no_interval" not in Figure(value=50.0, low=40.0, high=60.0).model_dump()


def test_a_reliability_gap_that_one_sample_makes_has_no_interval() -> None:
    """Of 12 images one fails its gate: the gap has its reason, and no interval of a jackknife that saw one image."""
    samples = [_judged(name, failed=name == IMAGES[0]) for name in IMAGES]
    gap = gated_scores(samples, seed=0).reliability_gap
    assert gap is not None
    assert (gap.no_interval or "").startswith("12 clusters nearly alike")


def _judged(cluster: str, *, failed: bool) -> Judged:
    hits = [not failed, True, True, True]
    gate = 0.0 if failed else 100.0
    return Judged(cluster, "ui", (4, 1), [gate], [gate], [100.0], (hits, [True]))
