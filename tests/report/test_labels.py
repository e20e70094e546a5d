"""Names in charts that begin alike: each has a row of its own, and a label that tells it from all others."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import orjson
import plotly.graph_objects as go
import pytest

import dokimasia
from dokimasia.domain.diagnosis.tables import Asset, AssetColumn, AssetRow, ColumnKind
from dokimasia.domain.diagnosis.tables import Figure as Cell
from dokimasia.methods.audit.report import share_chart
from dokimasia.methods.diagnosis.charts import bars_figure, heat_map, leaf_bars, radar, stacked_ranks
from dokimasia.methods.duel.figures import Verdicts
from dokimasia.methods.duel.report import verdict_chart
from dokimasia.methods.judging.report import accuracy_map, cost_and_accuracy
from dokimasia.methods.probe.figures import ProbeShare
from dokimasia.methods.probe.report import budgets_chart, groups_chart
from dokimasia.report.charts import (
    Figure,
    Point,
    cost_chart,
    grouped_chart,
    heat_chart,
    interval_chart,
    paired_chart,
    repeats_chart,
    scatter_chart,
)
from dokimasia.report.comparison import SHORT
from dokimasia.report.fields import Interval
from dokimasia.report.labels import shortened_names
from tests.report.chromium import opened

BEGIN = "meta-llama-4-maverick-multimodal-preview-17B-"
NAMES = [
    f"{BEGIN}{end}" for end in ("128E-Instruct", "128E-Instruct-FP8", "128E-Instruct-INT4", "128E-Base", "16E-Base")
]
PLACES = {name: (float(number), float(number)) for number, name in enumerate(NAMES)}
MEAN = Interval(mean=0.5, low=None, high=None)
SHARE = ProbeShare(share=0.5, low=None, high=None, n=1, n_scored=1, coverage=1.0, bounds=None)


def asset(names: Sequence[str], columns: Sequence[str], kind: ColumnKind = "score") -> Asset:
    """A table of a diagnosis with a row and a column a name."""
    heads = [AssetColumn(name="leaf", kind="name"), *(AssetColumn(name=name, kind=kind) for name in columns)]
    rows: list[AssetRow] = []
    for name in names:
        cells = (Cell(value=name), *(Cell(value=1.0) for _ in columns))
        rows.append(AssetRow(key=name, cells=cells, n=1, held=1))
    return Asset(id="a", title="", sentence="", columns=tuple(heads), rows=tuple(rows))


COUNTS = {"valid": 2, "much_better": 1, "better": 1, "tie": 0, "worse": 0, "much_worse": 0}
CHARTS: Mapping[str, Callable[[], Figure]] = {
    "intervals": lambda: interval_chart([Point(name, 3, 2, 4) for name in NAMES], title="t", scale=None),
    "groups": lambda: grouped_chart({name: [Point(name, 3, 2, 4)] * 5 for name in NAMES}, NAMES, title="t"),
    "repeats": lambda: repeats_chart({name: [1.0, 2.0] for name in NAMES}, title="t"),
    "pairs": lambda: paired_chart(PLACES, ("with", "without"), title="t"),
    "heat": lambda: heat_chart(NAMES, NAMES, [[1.0] * 5] * 5, hover="%{y} %{x} %{z}"),
    "verdicts": lambda: verdict_chart(dict.fromkeys(NAMES, Verdicts(**COUNTS, failed=0, one_order=0, open=0))),
    "judging": lambda: accuracy_map({name: dict.fromkeys(NAMES, 0.5) for name in NAMES}),
    "shares": lambda: share_chart({name: dict.fromkeys(NAMES, 0.2) for name in NAMES}, title="t"),
    "probe": lambda: groups_chart({name: dict.fromkeys(NAMES, MEAN) for name in NAMES}, title="t"),
    "leaves": lambda: bars_figure(leaf_bars(asset(NAMES, ["m"]), {}), 5, NAMES),
    "map": lambda: heat_map(asset(NAMES, NAMES)),
    "ranks": lambda: stacked_ranks(asset(NAMES, ["1st"], "share")),
}
"""Charts with a category a name, on either axis or on both."""


@pytest.mark.parametrize("name", CHARTS)
def test_names_that_begin_alike_are_categories_of_their_own(name: str) -> None:
    """Five names that share 45 characters are five places, and five labels that are short enough to be read."""
    figure = CHARTS[name]()
    assert go.Figure(figure).data
    axes = [figure["layout"][axis] for axis in ("xaxis", "yaxis") if "ticktext" in figure["layout"].get(axis, {})]
    axes = [axis for axis in axes if "FP8" in " ".join(axis["ticktext"])]
    assert axes
    for axis in axes:
        assert len(set(axis["tickvals"])) == len(set(axis["ticktext"])) == 5
        assert max(map(len, axis["ticktext"])) <= 40
        assert axis["ticktext"][1].endswith("FP8")
    if name != "groups":
        places = {one for trace in figure["data"] for one in (*trace["x"], *trace["y"]) if isinstance(one, str)}
        assert set(NAMES) <= places


@pytest.mark.parametrize(
    "figure",
    [
        scatter_chart(PLACES, x="x", y="y"),
        cost_chart({name: (float(at), 3.0 - at) for at, name in enumerate(NAMES)}, title="t"),
        cost_and_accuracy([("j", name, 1.0, 0.5) for name in NAMES], unit="$"),
        cost_and_accuracy([(name, "m", 1.0, 0.5) for name in NAMES], unit="$"),
        budgets_chart({name: {"low": SHARE} for name in NAMES}, title="t"),
        radar(asset(NAMES, NAMES)),
    ],
)
def test_dots_and_keys_of_names_that_begin_alike_are_told_apart(figure: Figure) -> None:
    """Labels beside dots, names in the key and spokes are five different ones."""
    assert go.Figure(figure).data
    traces = figure["data"]
    keys = [trace["name"] for trace in traces if "name" in trace]
    dots = [text for trace in traces if trace["mode"] == "markers+text" for text in trace["text"] if text]
    assert 5 in (len(set(keys)), len(set("<br>".join(dots).split("<br>"))))
    if "polar" in figure["layout"]:
        assert len(set(figure["layout"]["polar"]["angularaxis"]["ticktext"])) == 5


def test_shortened_names_are_different_whatever_they_share() -> None:
    """Names that differ at the beginning, in the middle or at the end stay different; of a difference each side does."""
    for place in (0, 30, 59):
        names = [f"{'x' * place}{sign}{'y' * (60 - place)}" for sign in "abcde"]
        assert len(set(shortened_names(names, 24))) == 5
    less = [f"{NAMES[0]} − {other}" for other in NAMES[1:]]
    assert len(set(shortened_names(less))) == 4
    assert max(map(len, shortened_names(less))) < 60
    assert shortened_names(["short", "short", "longer"], 40) == ["short", "short", "longer"]
    assert shortened_names([], 40) == []
    first, second = shortened_names([BEGIN * 3 + "a", BEGIN * 3 + "b"], SHORT)
    assert first != second


@pytest.mark.parametrize("width", [400, pytest.param(1280, marks=pytest.mark.full)])
def test_each_name_has_its_row_in_the_browser(tmp_path: Path, width: int) -> None:
    """In a browser every axis, and the circle of a radar, shows five different labels, on narrow windows too."""
    figures = {**{name: make() for name, make in CHARTS.items()}, "radar": radar(asset(NAMES, ["m"]))}
    library = Path(dokimasia.__file__).parent / "report" / "plotly.js"
    places = "".join(f'<div id="{name}"></div>' for name in figures)
    drawn = "".join(
        f'Plotly.newPlot("{name}", {orjson.dumps(one["data"]).decode()}, {orjson.dumps(one["layout"]).decode()});'
        for name, one in figures.items()
    )
    page = tmp_path / "charts.html"
    page.write_text(f'<meta charset="utf-8">{places}<script src="{library.as_uri()}"></script><script>{drawn}</script>')
    with opened(page, size=(width, 800)) as seen:
        for name in figures:
            ticks = "text" if name != "radar" else ".angularaxistick text"
            texts = seen.page.locator(f"#{name} {ticks}").all_text_contents()
            assert len({one for one in texts if re.search("(Instruct|FP8|INT4|Base)", one)}) >= 5, name
