"""A diagnosis's tables as PNG pictures, drawn offline: bars and dots with intervals, radars, heat maps, stacked ranks."""

import io
import math
import textwrap
from collections.abc import Sequence
from typing import Any, NamedTuple

from PIL import Image, ImageDraw, ImageFont

from dokimasia.domain.diagnosis.tables import Asset, AssetColumn, AssetRow, Figure
from dokimasia.methods.diagnosis.blocks.charts import COLOURS, SPOKES, WEAK, mixed
from dokimasia.methods.diagnosis.cells import value_of
from dokimasia.methods.diagnosis.measured import OWN_INTERVAL
from dokimasia.report.charts import PALETTE
from dokimasia.report.labels import shortened_names

SCALE = 2
"""Pixels for one point of the design."""

WIDTH, LEFT, ROW, TOP, FOOT = 900, 300, 26, 92, 54
INK, MUTED, LINE, PAPER = "#1d2733", "#66707c", "#dfe3e8", "#ffffff"
BELOW, PLAIN = "#e0a95c", "#6f9fe3"
LOW, MIDDLE, HIGH = (221, 116, 46), (236, 238, 241), (47, 111, 206)
"""Colours of a score of 0, 50 and 100."""

MOST_ROWS = 160
_WRITTEN = str.maketrans("\u2013\u2014\u2212\u00d7", "---x")
"""Signs that the built-in font lacks, as they are drawn."""

SIMULATED = "simulated models: this says nothing about any real model"


class _Page(NamedTuple):
    """A picture being drawn, in points."""

    image: Image.Image
    draw: ImageDraw.ImageDraw
    width: int
    height: int

    def text(self, x: float, y: float, words: str, *, size: int = 13, colour: str = INK, anchor: str = "lm") -> None:
        font = ImageFont.load_default(size * SCALE)
        self.draw.text((x * SCALE, y * SCALE), words.translate(_WRITTEN), font=font, fill=colour, anchor=anchor)

    def note(self, x: float, y: float, words: str, *, size: int = 11, anchor: str = "lm") -> None:
        self.text(x, y, words, size=size, colour=MUTED, anchor=anchor)

    def name(self, words: str, y: float, *, colour: str = INK) -> None:
        self.text(LEFT - 12, y, words, size=12, colour=colour, anchor="rm")

    def line(self, points: Sequence[tuple[float, float]], colour: Any, *, width: float = 1) -> None:
        self.draw.line([(x * SCALE, y * SCALE) for x, y in points], fill=colour, width=max(1, round(width * SCALE)))

    def box(self, x0: float, y0: float, x1: float, y1: float, colour: Any) -> None:
        self.draw.rectangle((x0 * SCALE, y0 * SCALE, x1 * SCALE, y1 * SCALE), fill=colour)

    def dot(self, x: float, y: float, radius: float, colour: str) -> None:
        self.draw.ellipse(
            ((x - radius) * SCALE, (y - radius) * SCALE, (x + radius) * SCALE, (y + radius) * SCALE), fill=colour
        )


def picture_of(asset: Asset, *, simulated: bool = False) -> bytes | None:
    """Return an asset as a PNG; None where there is nothing to draw. Equal assets give equal bytes.

    Args:
        asset: any table of a diagnosis.
        simulated: whether its models are simulated, which the picture then says.
    """
    if not asset.rows:
        return None
    scores = [at for at, column in enumerate(asset.columns) if column.kind == "score"]
    if asset.family == "radar" and len(asset.rows) in SPOKES:
        page = _radar(asset, scores)
    elif asset.family in ("heatmap", "radar", "categories"):
        page = _heat_map(asset, scores)
    elif asset.family == "ranks":
        page = _stacked(asset, [at for at, column in enumerate(asset.columns) if column.kind == "share"])
    else:
        estimated = (at for at in range(len(asset.columns)) if any(row.cells[at].estimated for row in asset.rows))
        at = next(estimated, None)
        if at is None:
            return None
        page = _bars(asset, at)
    page.text(24, 26, _cut(asset.title, 90), size=19)
    for number, words in enumerate(textwrap.wrap(asset.sentence.replace(OWN_INTERVAL, ""), 136)[:2]):
        page.note(24, 48 + 15 * number, words)
    if simulated:
        page.text(page.width - 24, page.height - 14, SIMULATED, size=11, colour=WEAK, anchor="rm")
    page.note(24, page.height - 14, asset.id)
    out = io.BytesIO()
    page.image.save(out, format="PNG", optimize=True)
    return out.getvalue()


def _bars(asset: Asset, at: int) -> _Page:
    """Draw the chosen column as bars (scores, shares) or dots (differences) with intervals, a row each."""
    rows = asset.rows[:MOST_ROWS]
    page = _new(WIDTH, TOP + ROW * len(rows) + FOOT)
    column = asset.columns[at]
    low, high = _span(column, [row.cells[at] for row in rows])
    right, bottom = WIDTH - 120, TOP + ROW * len(rows)

    def place(value: float) -> float:
        return LEFT + (min(max(value, low), high) - low) / (high - low) * (right - LEFT)

    for step in range(5):
        value = low + (high - low) * step / 4
        page.line([(place(value), TOP - 4), (place(value), bottom)], LINE)
        page.note(place(value), bottom + 12, f"{value:g}" if high - low > 1 else f"{value:.2g}", anchor="mm")
    unit = f", {column.unit}" if column.unit else ""
    page.note((LEFT + right) / 2, bottom + 27, f"{column.name}{unit}", anchor="mm")
    mean = _mean(asset, at)
    if mean is not None:
        page.line([(place(mean), TOP - 4), (place(mean), bottom)], MUTED, width=1.5)
        page.note(place(mean), TOP - 10, f"mean {mean:.1f}", size=10, anchor="mm")
    zero = place(0.0) if low < 0 < high else LEFT
    if low < 0 < high:
        page.line([(zero, TOP - 4), (zero, bottom)], MUTED, width=1.5)
    names = _names([_row_name(asset, row) for row in rows], 42)
    for number, row in enumerate(rows):
        y = TOP + ROW * (number + 0.5)
        figure = row.cells[at]
        below = mean is not None and value_of(figure, mean) < mean
        colour = COLOURS.get(row.mark, BELOW if below else PLAIN)
        page.name(names[number], y, colour=colour if row.mark in COLOURS else INK)
        if not isinstance(figure.value, int | float):
            page.note(LEFT + 6, y, "nothing measured")
            continue
        if column.kind in ("score", "share") and low >= 0:
            page.box(LEFT, y - 7, max(LEFT + 1, place(figure.value)), y + 7, colour)
        else:
            page.dot(place(figure.value), y, 5, colour)
        if figure.low is not None and figure.high is not None:
            page.line([(place(figure.low), y), (place(figure.high), y)], INK, width=1.2)
            for end in (figure.low, figure.high):
                page.line([(place(end), y - 4), (place(end), y + 4)], INK, width=1.2)
        page.note(right + 10, y, _number(column, figure.value))
    if len(asset.rows) > len(rows):
        page.note(LEFT, bottom + 42, f"the first {len(rows)} of {len(asset.rows)} rows")
    return page


def _heat_map(asset: Asset, scores: Sequence[int]) -> _Page:
    rows = asset.rows[:MOST_ROWS]
    cell = max(64, min(130, (WIDTH - LEFT - 40) // max(1, len(scores))))
    page = _new(max(WIDTH, LEFT + cell * len(scores) + 40), TOP + 30 + ROW * len(rows) + FOOT)
    names = _names([_row_name(asset, row) for row in rows], 42)
    heads = _names([asset.columns[at].name for at in scores], cell // 7)
    for number, head in enumerate(heads):
        page.text(LEFT + cell * (number + 0.5), TOP + 14, head, size=12, anchor="mm")
    for down, row in enumerate(rows):
        y = TOP + 30 + ROW * down
        page.name(names[down], y + ROW / 2)
        for across, at in enumerate(scores):
            figure, x = row.cells[at], LEFT + cell * across
            if not isinstance(figure.value, int | float):
                page.note(x + cell / 2, y + ROW / 2, "–", size=12, anchor="mm")
                continue
            page.box(x + 1, y + 1, x + cell - 1, y + ROW - 1, _heat(figure.value))
            page.text(x + cell / 2, y + ROW / 2, f"{figure.value:.0f}", size=12, anchor="mm")
    return page


def _radar(asset: Asset, scores: Sequence[int]) -> _Page:
    """Draw leaves as spokes, a closed line a model; where a model has no score at a leaf, its line stops short."""
    page = _new(WIDTH, 720)
    cx, cy, radius, spokes = WIDTH / 2, TOP + 310, 220, len(asset.rows)

    def place(at: int, value: float) -> tuple[float, float]:
        angle = 2 * math.pi * at / spokes - math.pi / 2
        return cx + radius * value / 100 * math.cos(angle), cy + radius * value / 100 * math.sin(angle)

    for ring in (25, 50, 75, 100):
        page.line([place(at % spokes, ring) for at in range(spokes + 1)], LINE)
        page.note(cx + 3, cy - radius * ring / 100, str(ring), size=10, anchor="lb")
    for at, name in enumerate(_names([_row_name(asset, row) for row in asset.rows], 28)):
        page.line([(cx, cy), place(at, 100)], LINE)
        x, y = place(at, 108)
        side = "mm" if abs(x - cx) < 20 else "lm" if x > cx else "rm"
        page.text(x, y, name, size=11, anchor=side)
    keys = _names([asset.columns[column].name for column in scores], 30)
    for number, column in enumerate(scores):
        colour = PALETTE[number % len(PALETTE)]
        values = [row.cells[column].value for row in asset.rows]
        points = [place(at, value) for at, value in enumerate(values) if isinstance(value, int | float)]
        page.line([*points, points[0]] if len(points) == spokes else points, colour, width=2) if points else None
        for x, y in points:
            page.dot(x, y, 3, colour)
        page.box(24, TOP + 10 + 20 * number, 36, TOP + 20 + 20 * number, colour)
        page.text(44, TOP + 15 + 20 * number, keys[number], size=12)
    return page


def _stacked(asset: Asset, shares: Sequence[int]) -> _Page:
    rows = asset.rows[:MOST_ROWS]
    page = _new(WIDTH, TOP + 24 + ROW * len(rows) + FOOT)
    right = WIDTH - 40
    for number, at in enumerate(shares):
        x = LEFT + number * (right - LEFT) / len(shares)
        page.box(x, TOP, x + 10, TOP + 10, _shade(number, len(shares)))
        page.note(x + 15, TOP + 5, asset.columns[at].name)
    names = _names([_row_name(asset, row) for row in rows], 42)
    for down, row in enumerate(rows):
        y, x = TOP + 24 + ROW * down, float(LEFT)
        page.name(names[down], y + ROW / 2)
        for number, at in enumerate(shares):
            share = row.cells[at].value
            if isinstance(share, int | float) and share > 0:
                end = x + share * (right - LEFT)
                page.box(x, y + 3, end, y + ROW - 3, _shade(number, len(shares)))
                if end - x > 34:
                    page.text((x + end) / 2, y + ROW / 2, f"{share:.0%}", size=11, anchor="mm")
                x = end
    return page


def _mean(asset: Asset, at: int) -> float | None:
    """Return a model's mean over all criteria of its leaves; None for other tables."""
    if asset.family != "leaves":
        return None
    known = [(row.n, value) for row in asset.rows if isinstance(value := row.cells[at].value, int | float)]
    total = sum(n for n, _ in known)
    return sum(n * value for n, value in known) / total if total else None


def _span(column: AssetColumn, figures: Sequence[Figure]) -> tuple[float, float]:
    """Return the ends of the axis."""
    if column.kind == "share":
        return 0.0, 1.0
    if column.kind == "score" and "100" in column.unit:
        return 0.0, 100.0
    if column.kind == "score" and column.better == "higher":
        return 1.0, 5.0
    ends = [end for one in figures for end in (one.low, one.high, one.value) if isinstance(end, int | float)]
    low, high = min([*ends, 0.0]), max([*ends, 0.0])
    if low == high:
        return -1.0, 1.0
    return (-max(-low, high), max(-low, high)) if low < 0 else (low, high)


def _row_name(asset: Asset, row: AssetRow) -> str:
    names = [str(cell.value) for cell, column in zip(row.cells, asset.columns, strict=True) if column.kind == "name"]
    return " · ".join(name for name in names if name)


def _number(column: AssetColumn, value: float) -> str:
    if column.kind == "share":
        return f"{value:.0%}"
    return f"{value:+.1f}" if column.kind == "difference" else f"{value:.1f}"


def _heat(value: float) -> str:
    return mixed(min(2.0, max(0.0, value / 50)), LOW, MIDDLE, HIGH)


def _shade(number: int, count: int) -> str:
    return _heat(100 - 100 * number / max(1, count - 1))


def _new(width: int, height: int) -> _Page:
    image = Image.new("RGB", (width * SCALE, height * SCALE), PAPER)
    return _Page(image, ImageDraw.Draw(image), width, height)


def _names(names: Sequence[str], most: int) -> list[str]:
    """Return names of which each is told from all others, as long as there is room for."""
    return shortened_names([_printable(name) for name in names], most)


def _printable(text: str) -> str:
    return "".join(sign if sign.isprintable() else " " for sign in text)


def _cut(text: str, most: int) -> str:
    plain = _printable(text)
    return plain if len(plain) <= most else f"{plain[: most - 1]}…"
