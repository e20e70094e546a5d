"""Distributions are drawn as they are: captions by length, samples by number of rubrics, models by how far draws move them."""

from types import SimpleNamespace
from typing import cast

from dokimasia.domain.rubric import Rubric, RubricSet, Stream
from dokimasia.methods.audit.report import FEWEST_FOR_SHAPE, violins_chart
from dokimasia.methods.rubrics.figures import RubricsFigures, set_figures
from dokimasia.methods.rubrics.report import distributions
from dokimasia.report.blocks import Chart, Table, plain
from dokimasia.report.data import ReportData


def made(words: int, must_right: int, easy_wrong: int) -> RubricSet:
    """A set of so many rubrics on a caption of so many words."""
    streams: list[Stream] = [*("must_right" for _ in range(must_right)), *("easy_wrong" for _ in range(easy_wrong))]
    rubrics = tuple(Rubric(stream=one, statement="The response must x.", polarity="positive") for one in streams)
    return RubricSet(sample_id="s", caption="word " * words, rubrics=rubrics)


def data_of(*sets: RubricSet) -> ReportData:
    """What a report has of such sets."""
    figures = RubricsFigures.model_construct(**set_figures(sets))
    return cast("ReportData", SimpleNamespace(figures_as=lambda model: figures))


def test_captions_and_rubrics_are_drawn_by_number() -> None:
    """Captions stand in steps of a hundred words, samples by number of rubrics, with the empty steps between."""
    drawn = distributions(data_of(made(120, 3, 2), made(180, 3, 5), made(340, 4, 5)))
    assert drawn is not None
    charts = [block for block in drawn.blocks if isinstance(block, Chart)]
    tables = [block for block in drawn.blocks if isinstance(block, Table)]
    words, streams = charts[0].figure["data"], charts[1].figure["data"]
    assert (words[0]["x"], words[0]["y"]) == (["100 – 199", "200 – 299", "300 – 399"], [2, 0, 1])
    assert [one["name"] for one in streams] == ["all rubrics", "must-right", "easy-wrong"]
    assert dict(zip(streams[2]["x"], streams[2]["y"], strict=True)) == {"2": 1, "3": 0, "4": 0, "5": 2}
    assert charts[1].figure["layout"]["xaxis"]["categoryarray"] == [str(number) for number in range(2, 10)]
    bars = [[plain(cell) for cell in row] for row in tables[0].rows]
    assert [row[:2] for row in bars] == [["100 – 199", "2"], ["200 – 299", "0"], ["300 – 399", "1"]]
    assert [len(row[2]) for row in bars] == [24, 0, 12]
    assert tables[0].columns[2].only == "terminal"
    assert [table.columns[1].title for table in tables[1:]] == ["samples"] * 4
    domains = [[plain(cell) for cell in row][:2] for row in tables[-1].rows]
    assert domains == [["unknown", "3"]]
    assert charts[-1].figure["data"][0]["y"] == [3]
    assert distributions(data_of()) is None


def test_a_violin_is_as_wide_as_models_are_many() -> None:
    """Each share of rubrics has the shape of its models' deviations, the quartiles, the median and every model; few have dots."""
    values = {20.0: {str(n): 1.0 + n / 10 for n in range(9)}, 40.0: {str(n): 0.5 for n in range(9)}}
    figure = violins_chart(values, x="x", y="y")
    shapes = [one for one in figure["data"] if one.get("fill") == "toself"]
    assert len(shapes) == 1  # nine equal values have no shape
    left, right = min(shapes[0]["x"]), max(shapes[0]["x"])
    assert left + right == 40
    at = shapes[0]["x"].index(right)
    assert abs(shapes[0]["y"][at] - 1.4) < 0.2
    assert min(shapes[0]["y"]) >= 0
    (mean,) = [one for one in figure["data"] if one["name"] == "mean"]
    assert [round(one, 6) for one in mean["y"]] == [1.4, 0.5]
    (box,) = [one for one in figure["data"] if one["name"] == "median and quartiles"]
    assert [round(one, 6) for one in box["y"]] == [1.4, 0.5]
    few = {20.0: {str(n): float(n) for n in range(FEWEST_FOR_SHAPE - 1)}}
    assert not [one for one in violins_chart(few, x="x", y="y")["data"] if one.get("fill")]
