"""What stands in the place of an interval that cannot hold its level, from the rows to the reader."""

import re
from functools import partial
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


def test_figures_at_the_ceiling_have_gaffkes_interval() -> None:
    """A mean at the ceiling has an interval that says which it is; the usual one does not, and keeps its JSON."""
    ceiling = mean_with_interval(SCORES, IMAGES, seed=0, bounds=(1.0, 5.0))
    assert ceiling is not None
    assert (ceiling.interval_method, ceiling.no_interval) == ("gaffke", None)
    assert as_json(ceiling) == {"mean": 4.916667, "low": 3.871729, "high": 4.997892, "interval_method": "gaffke"}
    spread_out = mean_with_interval([1.0, 2.0, 3.0, 4.0, 5.0] * 3, range(15), seed=0, bounds=(1.0, 5.0))
    assert spread_out is not None
    assert as_json(spread_out).keys() == {"mean", "low", "high"}


def test_paired_differences_of_similar_models_have_an_interval() -> None:
    """One difference among 12 pairs has an interval around it, which does not decide the test."""
    comparison = paired_difference([0.0] * 11 + [1.0], IMAGES, widest=4.0, seed=0)
    assert comparison.difference is not None
    assert comparison.difference.interval_method == "gaffke"
    assert comparison.difference.low is not None
    assert comparison.difference.low < 0 < comparison.difference.mean
    assert comparison.p_value == 1.0


def test_an_unusual_interval_says_so() -> None:
    """A sentence has the words behind the ends; a table has a raised number, and under it a note, once."""
    one = Interval(mean=4.9, low=3.8, high=5.0, interval_method="gaffke")
    usual = Interval(mean=3.0, low=2.0, high=4.0)
    assert plain(figures.interval(one)) == "3.80 – 5.00, allowing for unseen images"
    assert figures.bracketed(one, "{:.1f}".format) == " [3.8, 5.0, allowing for unseen images]"
    assert plain(figures.interval(usual)) == "2.00 – 4.00"
    columns = [Column("model", numeric=False), Column("score"), Column("limits")]
    rows: list[list[Cell]] = [
        ["a", figures.measured(one), figures.interval(one)],
        ["b", figures.measured(usual), figures.interval(usual)],
    ]
    lines = _printed(Table(columns, rows, "Scores"))
    assert {"a 4.90 [4, 5 ¹] 3.80 – 5.00 ¹", "b 3.00 [2, 4] 2.00 – 4.00"} <= set(lines)
    assert (
        sum(
            line.startswith("¹ too few images differ from the median for the usual interval (images with")
            for line in lines
        )
        == 1
    )


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
    assert lines.count(f"¹ no interval: too few distinct images ({REASON})") == 1
    alone: list[list[Cell]] = [["model 0", figures.interval(none), ""], ["model 1", "", ""]]
    lines = _printed(Table(columns, alone, "Scores"))
    assert {"model 0 none ¹", f"¹ no interval: too few distinct images ({REASON})"} <= set(lines)


def test_reasons_that_differ_in_their_figures_are_one_note() -> None:
    """Terminal, page and Markdown have one note under the table for cells that lack an interval for the same reason."""
    reasons = [REASON, REASON.replace("12", "9").replace("1.0", "0.4"), "one cluster"]
    cells = [figures.interval(figures.Ends(None, None, reason)) for reason in reasons]
    table = Table([Column("model", numeric=False), Column("")], [["model", cell] for cell in cells], "Scores")
    note = (
        "¹ no interval: too few distinct images (9 to 12 clusters at the ceiling: the effective number that differ from the "
        "median is 0.4 to 1.0, at least 1.5 are needed)"
    )
    lines = _printed(table)
    assert [line for line in lines if "none" in line] == ["model none ¹", "model none ¹", "model none ²"]
    assert lines.count(note) == lines.count("² no interval: one cluster") == 1
    page = "\n".join(drawing.draw_blocks([table], drawing.Charts(), browser=str))
    assert page.count(f'<p class="note">{note}</p>') == page.count("(9 to 12 clusters") == 1
    assert page.count("no interval") == 2


def test_in_a_sentence_the_reason_is_a_few_words() -> None:
    """A sentence says that there are too few distinct images; the page has the details in the title of these words."""
    assert shortened(REASON) == TOO_FEW
    cell = figures.interval(figures.Ends(None, None, REASON))
    said = Paragraph(("It scores 4.80 of 5 (", cell, "; p = 1.000)."))
    text = "It scores 4.80 of 5 (no interval: too few distinct images; p = 1.000)."
    out = StringIO()
    draw_blocks(Console(file=out, width=150), [said])
    assert out.getvalue().strip() == text
    (page,) = drawing.draw_blocks([said], drawing.Charts(), browser=str)
    assert f'<abbr title="{REASON}">too few distinct images</abbr>' in page
    assert re.sub("<[^>]*>", "", page) == text


def _printed(table: Table) -> list[str]:
    """Return what a terminal shows of a table, line by line with single spaces."""
    out = StringIO()
    draw_blocks(Console(file=out, width=180), [table])
    return [" ".join(line.split()) for line in out.getvalue().splitlines()]


def test_diagnoses_mark_by_the_test_where_the_interval_is_not_the_usual_one() -> None:
    """A cell carries its interval's method into text; without the usual interval the corrected p-value marks alone."""
    cell = mean_of([100.0] * 11 + [80.0], IMAGES, bounds=(0.0, 100.0), seed=0)
    assert cell.interval_method == "gaffke"
    column = AssetColumn(name="score", unit="points of 100", kind="score")
    assert figure_text(cell, column).endswith(", allowing for unseen images]")
    apart = Figure(value=-3.0, low=-20.0, high=15.0, interval_method="gaffke")
    mark = partial(mark_of, down="worse", up="better")
    assert mark(apart, 0.001) == "worse"
    assert mark(Figure(value=3.0, no_interval=REASON), 0.001) == "better"
    assert mark(apart, 0.2) == mark(Figure(value=-3.0, low=-9.0, high=1.0), 0.001) == "unclear"
    assert mark(apart, None) == ""
    gap = difference_of(Figure(value=3.0, no_interval=REASON), Figure(value=50.0, low=40.0, high=60.0))
    assert gap.no_interval == REASON
    assert not {"no_interval", "interval_method"} & Figure(value=50.0, low=40.0, high=60.0).model_dump().keys()


def test_a_reliability_gap_that_one_sample_makes_has_gaffkes_interval() -> None:
    """Of 12 images one fails its gate: the gap has an interval, and not that of a jackknife that saw one image."""
    samples = [_judged(name, failed=name == IMAGES[0]) for name in IMAGES]
    gap = gated_scores(samples, seed=0).reliability_gap
    assert gap is not None
    assert gap.interval_method == "gaffke"
    assert gap.low is not None
    assert gap.high is not None
    assert gap.low < 0 < gap.mean < gap.high


def _judged(cluster: str, *, failed: bool) -> Judged:
    hits = [not failed, True, True, True]
    gate = 0.0 if failed else 100.0
    return Judged(cluster, "ui", (4, 1), [gate], [gate], [100.0], (hits, [True]))
