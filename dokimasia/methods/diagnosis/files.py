"""Export of a diagnosis: every table as CSV and PNG, drawn without a browser, and all tables as one JSON file."""

import io
import math
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import orjson
from PIL import Image, ImageDraw, ImageFont
from pydantic import JsonValue

from dokimasia.domain.diagnosis.tables import Asset, AssetColumn, ColumnKind, Diagnosis, Figure
from dokimasia.domain.wording import percentage
from dokimasia.methods.diagnosis.charts import COLOURS, MEANINGS, PLAIN, SPOKES, WEAK
from dokimasia.methods.diagnosis.evidence_data import OWN_INTERVAL, numbered
from dokimasia.report.charts import PALETTE, Colour, mixed
from dokimasia.report.labels import shortened_names
from dokimasia.runs.reading.exporting import csv_text, make_folder, write_whole

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")

SCALE = 2
"""Pixels per point."""

WIDTH, LEFT, ROW, TOP, FOOT = 900, 300, 26, 92, 54
INK, MUTED, LINE, PAPER = "#1d2733", "#66707c", "#dfe3e8", "#ffffff"
LOW, MIDDLE, HIGH = (221, 116, 46), (236, 238, 241), (47, 111, 206)
"""Colours of a score of 0, 50 and 100."""

MOST_ROWS = 160
_WITH_GLYPHS = str.maketrans("\u2013\u2014\u2212\u00d7", "---x")
"""Replacements for characters that the built-in font lacks."""

SIMULATED = "simulated models: this says nothing about any real model"


def export_diagnosis(diagnosis: Diagnosis, folder: Path, *, further: Sequence[Asset] = ()) -> list[Path]:
    """Write all tables of a diagnosis into a folder, and return the sorted files; equal diagnoses give equal bytes.

    Args:
        diagnosis: the tables.
        folder: target folder, created if needed; existing files are replaced.
        further: additional tables, such as changes since another run.

    Raises:
        InputError: the folder cannot be written.
    """
    extended = diagnosis.model_copy(update={"assets": (*diagnosis.assets, *further)})
    figures = extended.model_dump(mode="json")
    return write_tables(folder, "diagnosis", figures, extended.assets, simulated=bool(diagnosis.simulated))


def write_tables(
    folder: Path, name: str, figures: Mapping[str, JsonValue], assets: Iterable[Asset], *, simulated: bool
) -> list[Path]:
    """Write tables as CSV and PNG and all figures as one JSON file into a folder, and return the sorted files.

    Args:
        folder: target folder, created if needed.
        name: name of the JSON file.
        figures: content of the JSON file.
        assets: the tables.
        simulated: whether pictures note that models are simulated.

    Raises:
        InputError: the folder cannot be written.
    """
    make_folder(folder)
    paths = [folder / f"{name}.json"]
    write_whole(paths[0], orjson.dumps(figures, option=orjson.OPT_INDENT_2) + b"\n")
    names: set[str] = set()
    for asset in assets:
        stem = file_name(asset.id, names)
        paths.append(folder / f"{stem}.csv")
        write_whole(paths[-1], table_csv(asset))
        picture = picture_of(asset, simulated=simulated)
        if picture is not None:
            paths.append(folder / f"{stem}.png")
            write_whole(paths[-1], picture)
    return sorted(paths)


def table_csv(asset: Asset) -> bytes:
    """Return a table as CSV in UTF-8; the ends of its interval, or the reason for lacking one, follow each estimate."""
    estimated = _estimated_columns(asset)
    header = ["row"]
    for column, has_interval in zip(asset.columns, estimated, strict=True):
        header.append(f"{column.name} ({column.unit})" if column.unit else column.name)
        if has_interval:
            header += [f"{column.name}, low", f"{column.name}, high", f"{column.name}, why no interval"]
    rows: list[list[object]] = [[*header, "n", "asked", "coverage", "mark", "model", "node"]]
    for number, row in enumerate(asset.rows, start=1):
        cells: list[object] = [number]
        for cell, has_interval in zip(row.cells, estimated, strict=True):
            cells.append(cell.value)
            if has_interval:
                cells += [cell.low, cell.high, cell.no_interval]
        cells += [row.n, row.held, row.coverage, row.mark, row.model, row.node]
        rows.append(cells)
    return csv_text(rows)


def file_name(id: str, used: set[str]) -> str:
    """Return a unique file name for an asset: its id without special characters."""
    base = _UNSAFE.sub("-", id).strip("-.")[:120] or "asset"
    name = next(candidate for candidate in numbered(base) if candidate.casefold() not in used)
    used.add(name.casefold())
    return name


class _Canvas(NamedTuple):
    """A picture being drawn, in points."""

    image: Image.Image
    draw: ImageDraw.ImageDraw
    width: int
    height: int

    def text(self, x: float, y: float, words: str, *, size: int = 13, colour: str = INK, anchor: str = "lm") -> None:
        font = ImageFont.load_default(size * SCALE)
        self.draw.text((x * SCALE, y * SCALE), words.translate(_WITH_GLYPHS), font=font, fill=colour, anchor=anchor)

    def note(self, x: float, y: float, words: str, *, size: int = 11, anchor: str = "lm") -> None:
        self.text(x, y, words, size=size, colour=MUTED, anchor=anchor)

    def name(self, words: str, y: float, *, colour: str = INK) -> None:
        self.text(LEFT - 12, y, words, size=12, colour=colour, anchor="rm")

    def line(self, points: Sequence[tuple[float, float]], colour: Colour | str, *, width: float = 1) -> None:
        self.draw.line([(x * SCALE, y * SCALE) for x, y in points], fill=colour, width=max(1, round(width * SCALE)))

    def box(self, x0: float, y0: float, x1: float, y1: float, colour: Colour | str) -> None:
        self.draw.rectangle((x0 * SCALE, y0 * SCALE, x1 * SCALE, y1 * SCALE), fill=colour)

    def dot(self, x: float, y: float, radius: float, colour: str) -> None:
        self.draw.ellipse(
            ((x - radius) * SCALE, (y - radius) * SCALE, (x + radius) * SCALE, (y + radius) * SCALE), fill=colour
        )


def picture_of(asset: Asset, *, simulated: bool = False) -> bytes | None:
    """Return an asset as a PNG; None if there is nothing to draw. Equal assets give equal bytes.

    Args:
        asset: any table of a diagnosis.
        simulated: whether the picture notes that models are simulated.
    """
    if not asset.rows:
        return None
    scores = _columns_of_kind(asset, "score")
    if asset.family == "radar" and len(asset.rows) in SPOKES:
        canvas = _radar(asset, scores)
    elif asset.family in ("heatmap", "radar", "categories"):
        canvas = _heat_map(asset, scores)
    elif asset.family == "ranks":
        canvas = _stacked(asset, _columns_of_kind(asset, "share"))
    else:
        estimated = _estimated_columns(asset)
        if not any(estimated):
            return None
        canvas = _bars(asset, estimated.index(True))
    titles = textwrap.wrap(_printable(asset.title), 86)
    lines = textwrap.wrap(asset.sentence.replace(OWN_INTERVAL, ""), 136)
    below_titles = 24 * max(0, len(titles) - 1)
    canvas = _with_room(canvas, below_titles + 15 * max(0, len(lines) - 2))
    for number, words in enumerate(titles):
        canvas.text(24, 26 + 24 * number, words, size=19)
    for number, words in enumerate(lines):
        canvas.note(24, 48 + below_titles + 15 * number, words)
    if simulated:
        canvas.text(canvas.width - 24, canvas.height - 14, SIMULATED, size=11, colour=WEAK, anchor="rm")
    canvas.note(24, canvas.height - 14, asset.id)
    buffer = io.BytesIO()
    canvas.image.save(buffer, format="PNG", optimize=True)
    return buffer.getvalue()


def _columns_of_kind(asset: Asset, kind: ColumnKind) -> list[int]:
    return [number for number, column in enumerate(asset.columns) if column.kind == kind]


def _estimated_columns(asset: Asset) -> list[bool]:
    """Return, for each column, whether any cell has an interval or a reason for a missing one."""
    return [any(row.cells[number].estimated for row in asset.rows) for number in range(len(asset.columns))]


def _bars(asset: Asset, column_number: int) -> _Canvas:
    """Draw a column as bars (scores, shares) or dots (differences) with intervals, one per row."""
    rows = asset.rows[:MOST_ROWS]
    canvas = _new(WIDTH, TOP + ROW * len(rows) + FOOT)
    column = asset.columns[column_number]
    low, high = _span(column, [row.cells[column_number] for row in rows])
    right, bottom = WIDTH - 120, TOP + ROW * len(rows)

    def x_of(value: float) -> float:
        return LEFT + (min(max(value, low), high) - low) / (high - low) * (right - LEFT)

    for value in _ticks(low, high):
        canvas.line([(x_of(value), TOP - 4), (x_of(value), bottom)], LINE)
        canvas.note(x_of(value), bottom + 12, f"{value:g}", anchor="mm")
    if asset.family == "leaves":
        _draw_meanings(canvas, bottom)
    unit = f", {column.unit}" if column.unit else ""
    canvas.note((LEFT + right) / 2, bottom + 27, f"{column.name}{unit}", anchor="mm")
    mean = _mean(asset, column_number)
    if mean is not None:
        canvas.line([(x_of(mean), TOP - 4), (x_of(mean), bottom)], MUTED, width=1.5)
        canvas.note(x_of(mean), TOP - 10, f"mean {mean:.1f}", size=10, anchor="mm")
    if low < 0 < high:
        canvas.line([(x_of(0.0), TOP - 4), (x_of(0.0), bottom)], MUTED, width=1.5)
    as_bars = column.kind in ("score", "share") and low >= 0
    for number, (row, name) in enumerate(zip(rows, _row_names(asset, 42), strict=True)):
        y = TOP + ROW * (number + 0.5)
        figure = row.cells[column_number]
        colour = COLOURS.get(row.mark, PLAIN)
        canvas.name(name, y, colour=colour if row.mark in COLOURS else INK)
        if not isinstance(figure.value, int | float):
            canvas.note(LEFT + 6, y, "nothing measured")
            continue
        if as_bars:
            canvas.box(LEFT, y - 7, max(LEFT + 1, x_of(figure.value)), y + 7, colour)
        else:
            canvas.dot(x_of(figure.value), y, 5, colour)
        if figure.low is not None and figure.high is not None:
            _draw_interval(canvas, x_of(figure.low), x_of(figure.high), y)
        canvas.note(right + 10, y, _number(column, figure.value))
    if len(asset.rows) > len(rows):
        canvas.note(24, bottom + 27, f"the first {len(rows)} of {len(asset.rows)} rows")
    return canvas


def _draw_meanings(canvas: _Canvas, bottom: float) -> None:
    """Draw what the colours of leaves mean, below the chart."""
    across = float(LEFT)
    for meaning, colour in MEANINGS.items():
        canvas.box(across, bottom + 37, across + 10, bottom + 47, colour)
        canvas.note(across + 15, bottom + 42, meaning, size=10)
        across += 40 + 5.2 * len(meaning)


def _draw_interval(canvas: _Canvas, low: float, high: float, y: float) -> None:
    """Draw an interval as a line between two ends."""
    canvas.line([(low, y), (high, y)], INK, width=1.2)
    for end in (low, high):
        canvas.line([(end, y - 4), (end, y + 4)], INK, width=1.2)


def _heat_map(asset: Asset, scores: Sequence[int]) -> _Canvas:
    rows = asset.rows[:MOST_ROWS]
    cell = max(64, min(130, (WIDTH - LEFT - 40) // max(1, len(scores))))
    canvas = _new(max(WIDTH, LEFT + cell * len(scores) + 40), TOP + 30 + ROW * len(rows) + FOOT)
    names = _row_names(asset, 42)
    heads = _names([asset.columns[number].name for number in scores], cell // 7)
    for across, head in enumerate(heads):
        canvas.text(LEFT + cell * (across + 0.5), TOP + 14, head, size=12, anchor="mm")
    for down, row in enumerate(rows):
        y = TOP + 30 + ROW * down
        canvas.name(names[down], y + ROW / 2)
        for across, number in enumerate(scores):
            figure, x = row.cells[number], LEFT + cell * across
            if not isinstance(figure.value, int | float):
                canvas.note(x + cell / 2, y + ROW / 2, "–", size=12, anchor="mm")
                continue
            canvas.box(x + 1, y + 1, x + cell - 1, y + ROW - 1, _heat(figure.value))
            canvas.text(x + cell / 2, y + ROW / 2, f"{figure.value:.0f}", size=12, anchor="mm")
    return canvas


def _radar(asset: Asset, scores: Sequence[int]) -> _Canvas:
    """Draw a radar chart: a spoke per leaf, a line per model; the line has a gap where a model has no score."""
    canvas = _new(WIDTH, 720)
    cx, cy, radius, spokes = WIDTH / 2, TOP + 310, 220, len(asset.rows)

    def point(spoke: int, value: float) -> tuple[float, float]:
        angle = 2 * math.pi * spoke / spokes - math.pi / 2
        return cx + radius * value / 100 * math.cos(angle), cy + radius * value / 100 * math.sin(angle)

    for ring in (25, 50, 75, 100):
        canvas.line([point(spoke % spokes, ring) for spoke in range(spokes + 1)], LINE)
        canvas.note(cx + 3, cy - radius * ring / 100, str(ring), size=10, anchor="lb")
    for spoke, name in enumerate(_row_names(asset, 28)):
        canvas.line([(cx, cy), point(spoke, 100)], LINE)
        x, y = point(spoke, 108)
        side = "lm" if x > cx else "rm"
        if abs(x - cx) < 20:
            side = "mm"
        canvas.text(x, y, name, size=11, anchor=side)
    keys = _names([asset.columns[column].name for column in scores], 30)
    for number, column in enumerate(scores):
        colour = PALETTE[number % len(PALETTE)]
        values = [row.cells[column].value for row in asset.rows]
        points = [point(spoke, value) for spoke, value in enumerate(values) if isinstance(value, int | float)]
        if len(points) == spokes:
            canvas.line([*points, points[0]], colour, width=2)
        elif points:
            canvas.line(points, colour, width=2)
        for x, y in points:
            canvas.dot(x, y, 3, colour)
        canvas.box(24, TOP + 10 + 20 * number, 36, TOP + 20 + 20 * number, colour)
        canvas.text(44, TOP + 15 + 20 * number, keys[number], size=12)
    return canvas


def _stacked(asset: Asset, shares: Sequence[int]) -> _Canvas:
    rows = asset.rows[:MOST_ROWS]
    canvas = _new(WIDTH, TOP + 24 + ROW * len(rows) + FOOT)
    right = WIDTH - 40
    for rank, number in enumerate(shares):
        x = LEFT + rank * (right - LEFT) / len(shares)
        canvas.box(x, TOP, x + 10, TOP + 10, _shade(rank, len(shares)))
        canvas.note(x + 15, TOP + 5, asset.columns[number].name)
    names = _row_names(asset, 42)
    for down, row in enumerate(rows):
        y, x = TOP + 24 + ROW * down, float(LEFT)
        canvas.name(names[down], y + ROW / 2)
        for rank, number in enumerate(shares):
            share = row.cells[number].value
            if isinstance(share, int | float) and share > 0:
                end = x + share * (right - LEFT)
                canvas.box(x, y + 3, end, y + ROW - 3, _shade(rank, len(shares)))
                if end - x > 34:
                    canvas.text((x + end) / 2, y + ROW / 2, percentage(share), size=11, anchor="mm")
                x = end
    return canvas


def _mean(asset: Asset, column_number: int) -> float | None:
    """Return a model's mean over all criteria of its leaves; None for other kinds of tables."""
    if asset.family != "leaves":
        return None
    total, weighted = 0, 0.0
    for row in asset.rows:
        value = row.cells[column_number].value
        if isinstance(value, int | float):
            total += row.n
            weighted += row.n * value
    return weighted / total if total else None


def _span(column: AssetColumn, figures: Sequence[Figure]) -> tuple[float, float]:
    """Return the ends of the axis."""
    if column.kind == "share":
        return 0.0, 1.0
    if column.kind == "score" and "100" in column.unit:
        return 0.0, 100.0
    if column.kind == "score" and column.better == "higher":
        return 1.0, 5.0
    ends = [0.0]
    for figure in figures:
        ends += [end for end in (figure.low, figure.high, figure.value) if isinstance(end, int | float)]
    low, high = min(ends), max(ends)
    if low == high:
        return -1.0, 1.0
    if low < 0:
        return -max(-low, high), max(-low, high)
    return low, high


def _ticks(low: float, high: float) -> list[float]:
    """Return three to seven round numbers from one end of an axis to the other: multiples of 1, 2, 2.5 or 5 times 10^k."""
    rough = (high - low) / 4
    power = 10.0 ** math.floor(math.log10(rough))
    step = min((factor * power for factor in (1, 2, 2.5, 5, 10)), key=lambda candidate: abs(candidate - rough))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(number * step, 10) for number in range(first, last + 1)]


def _row_names(asset: Asset, most: int) -> list[str]:
    """Return the names of the displayed rows, shortened to the available width."""
    columns = _columns_of_kind(asset, "name")
    names: list[str] = []
    for row in asset.rows[:MOST_ROWS]:
        parts = [str(row.cells[number].value) for number in columns]
        names.append(" · ".join(filter(None, parts)))
    return _names(names, most)


def _number(column: AssetColumn, value: float) -> str:
    if column.kind == "share":
        return percentage(value)
    if column.kind == "difference":
        return f"{value:+.1f}"
    return f"{value:.1f}"


def _heat(value: float) -> str:
    return mixed(min(2.0, max(0.0, value / 50)), LOW, MIDDLE, HIGH)


def _shade(number: int, count: int) -> str:
    return _heat(100 - 100 * number / max(1, count - 1))


def _new(width: int, height: int) -> _Canvas:
    image = Image.new("RGB", (width * SCALE, height * SCALE), PAPER)
    return _Canvas(image, ImageDraw.Draw(image), width, height)


def _with_room(canvas: _Canvas, points: int) -> _Canvas:
    """Return a canvas with additional room at its top."""
    if not points:
        return canvas
    higher = _new(canvas.width, canvas.height + points)
    higher.image.paste(canvas.image, (0, points * SCALE))
    return higher


def _names(names: Sequence[str], most: int) -> list[str]:
    """Return names shortened to the available width; different names stay different."""
    return shortened_names([_printable(name) for name in names], most)


def _printable(text: str) -> str:
    return "".join(character if character.isprintable() else " " for character in text)
