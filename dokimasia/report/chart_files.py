"""Charts of a report as files, drawn by Matplotlib (the extra `charts`) instead of Plotly, without a browser."""

import html
import io
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, TypedDict, TypeVar, cast, get_args

from dokimasia.domain.identity import JsonObject
from dokimasia.errors import ConfigError
from dokimasia.report.blocks import Block, Chart, Fold, Only, Section
from dokimasia.report.charts import GREY, PALETTE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.projections.polar import PolarAxes
    from matplotlib.typing import ColorType, RcKeyType

T = TypeVar("T")

ChartFormat = Literal["svg", "pdf", "png"]
CHART_FORMATS: tuple[ChartFormat, ...] = get_args(ChartFormat)

WIDTH, PIXELS, DOTS = 8.0, 90.0, 200
"""Width in inches, Plotly's pixels in an inch, and dots per inch of a PNG."""
CAPTION = 96
"""The number of characters of a line of a caption."""
DRAWN = frozenset({"scatter", "bar", "heatmap", "scatterpolar"})
"""Kinds of traces that can be drawn; a chart with any other is left out."""

_TAG = re.compile(r"<[^>]*>")
_UNSAFE = re.compile(r"[^A-Za-z0-9]+")
_DASHES = {"dot": ":", "dash": "--", "dashdot": "-."}
_ALIGNMENT = {
    "top": ("bottom", 6),
    "middle": ("center", 0),
    "bottom": ("top", -6),
    "left": ("right", -7),
    "center": ("center", 0),
    "right": ("left", 7),
}
"""The edge of a text that touches its point, and the points between them, by the side of the text."""
_STYLE: dict["RcKeyType", object] = {
    "svg.hashsalt": "dokimasia",
    "pdf.fonttype": 42,
    "text.parse_math": False,
    "axes.formatter.useoffset": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10,
    "axes.labelsize": 10,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "legend.fontsize": 9,
    "legend.frameon": False,
}
_METADATA: dict[ChartFormat, dict[str, str | None]] = {
    "svg": {"Date": None},
    "pdf": {"CreationDate": None},
    "png": {"Software": None},
}


class _BarLook(TypedDict, total=False):
    """The look of bars, as arguments of Matplotlib's `bar`."""

    color: "ColorType | Sequence[ColorType]"
    alpha: float | None
    label: str | None
    ecolor: "ColorType"
    capsize: float


def chart_files(sections: Iterable[Section], format: ChartFormat) -> tuple[dict[str, bytes], list[str]]:
    """Return the charts of a report as files by name, such as `02-scores.svg`, and the captions of those not drawn.

    A chart with several views has a file for each. Equal sections give equal bytes.

    Raises:
        ConfigError: Matplotlib is not installed.
    """
    files: dict[str, bytes] = {}
    left_out: list[str] = []
    for number, section in enumerate(sections, start=1):
        views = [view for chart in _charts(section.blocks) for view in _views(chart)]
        for place, (name, chart) in enumerate(views, start=1):
            if not drawable(chart):
                left_out.append(chart.about)
                continue
            parts = [f"{number:02}", section.id]
            if len(views) > 1:
                parts.append(str(place))
            stem = _UNSAFE.sub("-", "-".join([*parts, name])).strip("-")[:120]
            files[f"{stem}.{format}"] = draw_chart(chart, format)
    return files, left_out


def drawable(chart: Chart) -> bool:
    """Return whether all traces of a chart can be drawn."""
    return all(trace.get("type", "scatter") in DRAWN for trace in chart.figure["data"])


def draw_chart(chart: Chart, format: ChartFormat) -> bytes:
    """Return a chart as a picture with its caption; its first view, if it has several.

    Raises:
        ConfigError: Matplotlib is not installed.
    """
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError as missing:
        raise ConfigError("charts as files need Matplotlib: pip install 'dokimasia[charts]'") from missing
    traces: list[JsonObject] = chart.figure["data"]
    layout: JsonObject = chart.figure["layout"]
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(WIDTH, max(2.0, layout.get("height", 340) / PIXELS)), layout="constrained")
        if any(trace.get("type") == "scatterpolar" for trace in traces):
            _draw_polar(cast("PolarAxes", figure.add_subplot(projection="polar")), traces, layout)
        else:
            _Drawing(figure.add_subplot(), traces, layout).draw()
        figure.suptitle(textwrap.fill(chart.about, CAPTION), fontsize=10, x=0.01, ha="left")
        out = io.BytesIO()
        figure.savefig(out, format=format, dpi=DOTS, metadata=_METADATA[format], bbox_inches="tight")
    return out.getvalue()


def _charts(blocks: Iterable[Block]) -> Iterator[Chart]:
    for block in blocks:
        if isinstance(block, Chart):
            yield block
        elif isinstance(block, Fold) or (isinstance(block, Only) and block.place == "page"):
            yield from _charts(block.blocks)


def _views(chart: Chart) -> Iterator[tuple[str, Chart]]:
    if not chart.variants:
        yield "", chart
    for name, changes in chart.variants.items():
        first, *others = chart.figure["data"]
        figure = {**chart.figure, "data": [{**first, **changes}, *others]}
        yield name, replace(chart, figure=figure, about=f"{chart.about.rstrip('.')}: {name}", variants={})


def _text(label: object) -> str:
    """Return a Plotly label as plain text."""
    return html.unescape(_TAG.sub("", str(label).replace("<br>", "\n")))


class _Places:
    """The positions of values on an axis: numbers as they are, categories numbered in order."""

    def __init__(self, values: Iterable[object], layout: JsonObject) -> None:
        self.layout = layout
        categories = list(layout.get("categoryarray", ()))
        if layout.get("type") == "category":
            categories += layout.get("tickvals", ())
        names = [value for value in (*categories, *values) if isinstance(value, str)]
        self.names = list(dict.fromkeys(names))
        self._numbers = {name: float(number) for number, name in enumerate(self.names)}

    def of(self, value: object) -> float:
        """Return the position of a value; NaN for a missing one."""
        if isinstance(value, str):
            return self._numbers[value]
        if isinstance(value, int | float):
            return float(value)
        return float("nan")

    def all(self, values: Iterable[object]) -> list[float]:
        """Return the positions of values."""
        return [self.of(value) for value in values]

    def dress(self, axis: "Axis", limit: Callable[..., object], *, grid: bool) -> None:
        """Set the title, ticks and range of an axis; `limit` is called to set the range."""
        layout = self.layout
        axis.set_label_text(_text(layout.get("title", {}).get("text", "")))
        if self.names:
            short = dict(zip(layout.get("tickvals", ()), layout.get("ticktext", ()), strict=True))
            axis.set_ticks(self.all(self.names), [_text(short.get(name, name)) for name in self.names])
            limit(-0.5, len(self.names) - 0.5)
        elif "tickvals" in layout:
            ticks = layout["tickvals"]
            axis.set_ticks(ticks, [_text(text) for text in layout.get("ticktext", ticks)])
        elif layout.get("tickformat") == ".0%":
            axis.set_major_formatter(lambda value, _: f"{100 * value:.0f} %")
        elif (affixes := (layout.get("tickprefix", ""), layout.get("ticksuffix", "").rstrip())) != ("", ""):
            axis.set_major_formatter(lambda value, _: f"{affixes[0]}{value:g}{affixes[1]}")
        if "range" in layout:
            limit(*layout["range"])
        elif layout.get("rangemode") == "tozero":
            limit(0)
        if grid and not self.names:
            axis.grid(visible=True, color=GREY, alpha=0.25, linewidth=0.6)


class _Drawing:
    """A chart being drawn on two axes."""

    def __init__(self, axes: "Axes", traces: Sequence[JsonObject], layout: JsonObject) -> None:
        self.axes, self.traces, self.layout = axes, traces, layout
        self.x = _Places((value for trace in traces for value in trace.get("x", ())), layout.get("xaxis", {}))
        self.y = _Places((value for trace in traces for value in trace.get("y", ())), layout.get("yaxis", {}))
        self._ends: dict[tuple[float, bool], float] = {}
        self._bars = [trace for trace in traces if trace.get("type") == "bar"]

    def draw(self) -> None:
        """Draw shapes, traces, axes and legend."""
        for shape in self.layout.get("shapes", ()):
            self._draw_shape(shape)
        for trace in self.traces:
            kind = trace.get("type", "scatter")
            if kind == "bar":
                self._draw_bars(trace)
            elif kind == "heatmap":
                self._draw_cells(trace)
            else:
                self._draw_points(trace)
        heat = any(trace.get("type") == "heatmap" for trace in self.traces)
        self.x.dress(self.axes.xaxis, self.axes.set_xlim, grid=not heat)
        self.y.dress(self.axes.yaxis, self.axes.set_ylim, grid=not heat)
        if self.layout.get("xaxis", {}).get("side") == "top":
            self.axes.xaxis.tick_top()
        if len(self.x.names) > 4 and max(map(len, self.x.names)) > 6:
            self.axes.tick_params("x", rotation=45)
        if self.layout.get("yaxis", {}).get("autorange") == "reversed":
            self.axes.invert_yaxis()
        if self.layout.get("xaxis", {}).get("zeroline"):
            self.axes.axvline(0, color=GREY, linewidth=1)
        if self.layout.get("showlegend"):
            _add_legend(self.axes)

    def _draw_points(self, trace: JsonObject) -> None:
        mode, marker = trace.get("mode", "lines+markers"), trace.get("marker", {})
        xs, ys = self.x.all(trace["x"]), self.y.all(trace["y"])
        colour = marker.get("color") or trace.get("line", {}).get("color") or PALETTE[0]
        label = _legend_name(trace)
        if trace.get("fill") == "toself":
            filling = trace.get("fillcolor", colour)
            self.axes.fill(xs, ys, color=_colour(filling), alpha=0.35, label=label, linewidth=0)
            label = None
        reach = {}
        for side in ("x", "y"):
            if bars := trace.get(f"error_{side}"):
                reach[f"{side}err"] = _reach(bars, len(xs))
        if reach:
            bar_colour = _colour((trace.get("error_x") or trace.get("error_y") or {}).get("color", colour))
            self.axes.errorbar(xs, ys, **reach, fmt="none", ecolor=bar_colour, elinewidth=1.8, capsize=2.5, zorder=2)
        if "lines" in mode:
            line = trace.get("line", {})
            style, width = _DASHES.get(line.get("dash", ""), "-"), 0.8 * line.get("width", 2)
            self.axes.plot(xs, ys, style, color=_colour(line.get("color", colour)), linewidth=width, label=label)
            label = None
        if "markers" in mode:
            self._draw_markers(xs, ys, marker, colour, label)
        if "text" in mode:
            places = _each(trace.get("textposition", "top center"), len(xs))
            for x, y, text, place in zip(xs, ys, _each(trace.get("text", ""), len(xs)), places, strict=True):
                (down, up), (across, right) = (_ALIGNMENT[side] for side in place.split())
                self.axes.annotate(
                    _text(text), (x, y), (right, up), textcoords="offset points", ha=across, va=down, fontsize=9
                )

    def _draw_markers(
        self,
        xs: Sequence[float],
        ys: Sequence[float],
        marker: JsonObject,
        colour: str | Sequence[str],
        label: str | None,
    ) -> None:
        colours = [_colour(edge) for edge in _each(colour, len(xs))]
        hollow = [str(symbol).endswith("-open") for symbol in _each(marker.get("symbol", "circle"), len(xs))]
        faces = ["white" if open_ else edge for edge, open_ in zip(colours, hollow, strict=True)]
        sizes = [(0.75 * float(size)) ** 2 for size in _each(marker.get("size", 8), len(xs))]
        self.axes.scatter(
            xs,
            ys,
            s=sizes,
            c=faces,
            edgecolors=colours,
            alpha=marker.get("opacity"),
            label=label,
            zorder=3,
            clip_on=False,
        )

    def _draw_bars(self, trace: JsonObject) -> None:
        flat = trace.get("orientation") == "h"
        axis, names, values, bars = self.x, trace["x"], trace["y"], trace.get("error_y")
        if flat:
            axis, names, values, bars = self.y, trace["y"], trace["x"], trace.get("error_x")
        containers = [
            (name, value) for name, value in zip(names, values, strict=True) if name is not None and value is not None
        ]
        places = axis.all(name for name, _ in containers)
        sizes = [float(value) for _, value in containers]
        mode, width = self.layout.get("barmode", "group"), 0.8
        starts = [0.0] * len(sizes)
        if mode == "group" and len(self._bars) > 1:
            width /= len(self._bars)
            shift = (self._bars.index(trace) - (len(self._bars) - 1) / 2) * width
            places = [place + shift for place in places]
        elif mode in ("stack", "relative"):
            for number, (place, size) in enumerate(zip(places, sizes, strict=True)):
                starts[number] = self._ends.get((place, size < 0), 0.0)
                self._ends[place, size < 0] = starts[number] + size
        marker = trace.get("marker", {})
        colours = [_colour(spec) for spec in _each(marker.get("color", PALETTE[0]), len(sizes))]
        look = _BarLook(
            color=colours or _colour(marker["color"]), alpha=marker.get("opacity"), label=_legend_name(trace)
        )
        reach = None
        if bars and sizes:
            look |= {"ecolor": _colour(bars.get("color", "#444444")), "capsize": 2.5}
            reach = _reach(bars, len(sizes))
        if flat:
            self.axes.barh(places, sizes, width, left=starts, xerr=reach, **look)
        else:
            self.axes.bar(places, sizes, width, bottom=starts, yerr=reach, **look)

    def _draw_cells(self, trace: JsonObject) -> None:
        from matplotlib.colors import LinearSegmentedColormap

        values = [[_number(value) for value in row] for row in trace["z"]]
        scale = [(place, _colour(colour)) for place, colour in trace["colorscale"]]
        colours = LinearSegmentedColormap.from_list("cells", scale)
        xs, ys = self.x.all(trace["x"]), self.y.all(trace["y"])
        self.axes.pcolormesh(
            xs,
            ys,
            values,
            cmap=colours,
            vmin=trace.get("zmin"),
            vmax=trace.get("zmax"),
            edgecolors="white",
            linewidth=1.5,
        )
        texts = trace.get("text")
        for at, row in enumerate(trace["z"]):
            for across, value in enumerate(row):
                if value is not None:
                    text = f"{value:.0f}"
                    if texts:
                        text = _text(texts[at][across])
                    self.axes.text(xs[across], ys[at], text, ha="center", va="center", fontsize=9)

    def _draw_shape(self, shape: JsonObject) -> None:
        line = shape.get("line", {})
        ends: Sequence[float] = [shape["x0"], shape["x1"]]
        if shape.get("xref") == "paper":
            transform = self.axes.get_yaxis_transform()
        else:
            ends, transform = self.x.all(ends), self.axes.transData
        self.axes.plot(
            ends,
            self.y.all([shape["y0"], shape["y1"]]),
            _DASHES.get(line.get("dash", ""), "-"),
            color=_colour(line.get("color", GREY)),
            linewidth=0.8 * line.get("width", 1),
            alpha=shape.get("opacity"),
            transform=transform,
            zorder=1,
        )


def _draw_polar(axes: "PolarAxes", traces: Sequence[JsonObject], layout: JsonObject) -> None:
    from math import pi

    names = list(dict.fromkeys(name for trace in traces for name in trace["theta"]))
    angles = {name: 2 * pi * number / len(names) for number, name in enumerate(names)}
    axes.set_theta_zero_location("N")
    axes.set_theta_direction(-1)
    for number, trace in enumerate(traces):
        radii = [_number(value) for value in trace["r"]]
        colour = _colour(trace.get("line", {}).get("color", PALETTE[number % len(PALETTE)]))
        axes.plot(
            [angles[name] for name in trace["theta"]],
            radii,
            "o-",
            color=colour,
            markersize=4,
            label=_text(trace["name"]),
        )
    polar = layout.get("polar", {})
    radial, angular = polar.get("radialaxis", {}), polar.get("angularaxis", {})
    axes.set_ylim(*radial.get("range", (0, 100)))
    if "tickvals" in radial:
        axes.set_yticks(radial["tickvals"])
    short = dict(zip(angular.get("tickvals", ()), angular.get("ticktext", ()), strict=True))
    axes.set_xticks(list(angles.values()), [_text(short.get(name, name)) for name in names])
    if layout.get("showlegend"):
        _add_legend(axes)


def _add_legend(axes: "Axes") -> None:
    handles, names = axes.get_legend_handles_labels()
    if handles:
        axes.legend(handles, names, loc="upper left", bbox_to_anchor=(1.0, 1.0))


def _number(value: float | None) -> float:
    """Return a value for Matplotlib: NaN for a missing one."""
    if value is None:
        return float("nan")
    return float(value)


def _legend_name(trace: JsonObject) -> str | None:
    """Return a trace's name in the legend; None if it is not listed there."""
    if trace.get("showlegend", True) and trace.get("name"):
        return _text(trace["name"])
    return None


def _reach(bars: JsonObject, count: int) -> list[list[float]]:
    """Return the lengths of error bars below and above."""
    up = [float(value or 0) for value in _each(bars.get("array", 0), count)]
    down = [float(value or 0) for value in _each(bars.get("arrayminus", up), count)]
    return [down, up]


def _each(value: T | Sequence[T], count: int) -> list[T]:
    """Return one value for each of `count` points."""
    if isinstance(value, list | tuple):
        return list(cast("Sequence[T]", value))[:count]
    return [cast("T", value)] * count


def _colour(colour: str) -> "ColorType":
    """Return a CSS colour in Matplotlib's form."""
    if not colour.startswith("rgb"):
        return colour
    red, green, blue, *alpha = map(float, colour[colour.index("(") + 1 : -1].split(","))
    opaque = (red / 255, green / 255, blue / 255)
    return (*opaque, alpha[0]) if alpha else opaque
