"""Structured data: a bar chart, a chart of two lines, a pie chart and a table, all with their values written in."""

from random import Random
from typing import NamedTuple

from dokimasia.simulation import capabilities as can
from dokimasia.simulation.scene import SceneQuestion
from dokimasia.simulation.scenes.draft import (
    WHITE,
    Clue,
    Composition,
    MeasuredItem,
    MeasureWording,
    SceneDraft,
    SceneLayout,
    SceneReader,
    ask_kind,
    compare_pair,
    count_above,
    infer_sum,
    reading_clue,
    relate_next,
    spread,
)
from dokimasia.simulation.scenes.drawing import COLOURS, FAINT, INK, SHADE, Canvas, Pixels, inset, on_circle, tint

_MONTHS: tuple[str, ...] = ("January", "February", "March", "April", "May", "June", "July")


class _Theme(NamedTuple):
    title: str
    unit: str
    labels: tuple[str, ...]


_CITIES: tuple[str, ...] = ("Lisbon", "Oslo", "Turin", "Ghent", "Cork", "Basel", "Split", "Porto")
_FRUITS: tuple[str, ...] = ("Apples", "Pears", "Plums", "Cherries", "Figs", "Grapes", "Melons")
_TEAMS: tuple[str, ...] = ("Falcons", "Otters", "Lynxes", "Herons", "Badgers", "Martens", "Wolves")
_THEMES = (
    _Theme("Visitors by city", "thousand", _CITIES),
    _Theme("Harvest by fruit", "tonnes", _FRUITS),
    _Theme("Points by team", "points", _TEAMS),
    _Theme("Rain by city", "mm", _CITIES),
    _Theme("Sales by fruit", "crates", _FRUITS),
    _Theme("Goals by team", "goals", _TEAMS),
    _Theme("Bicycles by city", "hundred", _CITIES),
)


def _wording(single: str, name: str, unit: str) -> MeasureWording:
    return MeasureWording(
        single=single,
        name=name,
        ask="Which value does {} have?",
        say="The value of {name} is {value}.",
        show=f"{{}} {unit}".format,
        read=can.GAUGE,
    )


def _series(
    d: SceneDraft, w: MeasureWording, items: list[MeasuredItem], chart: str, clues: tuple[Clue, Clue], third: str
) -> list[SceneQuestion]:
    first_item, second_item = d.rng.sample(items, 2)
    first, second = w.called(first_item.label), w.called(second_item.label)
    return [
        ask_kind(d, "figure", chart, f"what is its title, and {third}?", *clues),
        count_above(d, w, items),
        relate_next(d, w, items),
        d.read_out(f"What is the title, and which values do {first} and {second} have?", clues[0], reading_clue(d, w, first_item),
                   reading_clue(d, w, second_item)),
        compare_pair(d, w, items),
        infer_sum(d, w, items),
    ]  # fmt: skip


_UNIT = "in which unit or form are its values"


def _title(d: SceneDraft, titles: list[str]) -> Clue:
    return d.word("title", "What title does the figure bear?", "The figure is entitled {}.", titles, can.TOPIC)


def _heading(d: SceneDraft) -> tuple[Clue, Clue]:
    title = _title(d, [theme.title for theme in _THEMES])
    units = [theme.unit for theme in _THEMES]
    unit = d.word("unit", "In which unit are the values given?", "The unit of the values is {}.", units, can.LEGEND)
    return title, unit


def _titled(d: SceneDraft, title: str, unit: str) -> None:
    d.fact("title", "figure", "title", title, (60, 12, 580, 48))
    d.fact("unit", "figure", "unit", unit, (60, 48, 580, 70))


def _paint_heading(c: Canvas, s: SceneReader) -> None:
    c.rect((8, 8, 632, 472), WHITE, line=FAINT)
    c.text(s.at("title"), s.value("title"), size=28, align="centre")
    c.text(s.at("unit"), f"values in {s.value('unit')}", size=16, line=SHADE, align="centre")


# --- bars -------------------------------------------------------------------------------------------------------------

_BASE, _TOP = 420, 100


def _height(value: int) -> float:
    return (_BASE - _TOP - 30) * value / 100


def _bars(d: SceneDraft) -> Composition:
    rng = d.rng
    theme, n = rng.choice(_THEMES), rng.choice((5, 6, 7))
    labels, values = rng.sample(theme.labels, n), spread(rng, n, 15, 98)
    _titled(d, theme.title, theme.unit)
    wide = 530 / n
    for at, (label, value) in enumerate(zip(labels, values, strict=True)):
        left, top = 76 + at * wide, _BASE - _height(value)
        bar = (left + 8, top - 26, left + wide - 8, _BASE)
        d.fact(f"bar{at}.label", f"bar {at + 1}", "label", label, (left, _BASE + 4, left + wide, _BASE + 32))
        d.fact(f"bar{at}.value", label, "value", str(value), bar)
    items = [MeasuredItem(labels[at], values[at], f"bar{at}.value") for at in range(n)]
    clues = _heading(d)
    words = _wording("bar", "the bar for {}", theme.unit)
    return f"a bar chart: {theme.title}", _series(d, words, items, "bar chart", clues, _UNIT)


def _axes(c: Canvas) -> None:
    for value in range(0, 101, 20):
        y = _BASE - _height(value)
        c.line([(72, y), (610, y)], line=FAINT, width=1)
        c.text((24, y - 10, 64, y + 10), str(value), size=14, line=SHADE, align="right")
    c.line([(72, _TOP), (72, _BASE), (610, _BASE)])


def _paint_bars(c: Canvas, s: SceneReader) -> None:
    _paint_heading(c, s)
    _axes(c)
    tone = s.rng.choice([COLOURS[name] for name in ("red", "orange", "green", "blue", "purple")])
    for id in s.under("bar"):
        x0, y0, x1, y1 = s.at(id)
        if id.endswith("label"):
            c.text(inset(s.at(id), 3), s.value(id), size=16, align="centre")
        else:
            top = _BASE - _height(s.number(id))
            c.rect((x0, top, x1, y1), tint(tone, 0.2), line=INK)
            c.text((x0, y0, x1, top), s.value(id), size=17, align="centre")


# --- lines ------------------------------------------------------------------------------------------------------------

_PAIRS = (("Tea", "Coffee"), ("Trains", "Buses"), ("Rent", "Food"), ("Gas", "Water"), ("Novels", "Poems"))


def _lines(d: SceneDraft) -> Composition:
    rng = d.rng
    unit = rng.choice(("litres", "boxes", "units", "points"))
    n, pair = rng.choice((5, 6)), list(rng.choice(_PAIRS))
    rng.shuffle(pair)
    start = rng.randrange(len(_MONTHS) - n + 1)
    months = _MONTHS[start : start + n]
    colours = rng.sample(("red", "orange", "green", "blue", "purple"), 2)
    bands = (spread(rng, n, 60, 95), spread(rng, n, 15, 47))
    title = f"{pair[0]} and {pair[1].lower()} by month"
    _titled(d, title, unit)
    for at, (name, colour) in enumerate(zip(pair, colours, strict=True)):
        d.fact(f"legend{at}", name, "colour", colour, (150 + 190 * at, 74, 320 + 190 * at, 98))
    wide = 530 / n
    for at, month in enumerate(months):
        left = 76 + at * wide
        d.fact(f"month{at}", f"column {at + 1}", "label", month, (left, _BASE + 4, left + wide, _BASE + 32))
    for at, (name, values) in enumerate(zip(pair, bands, strict=True)):
        for column, (month, value) in enumerate(zip(months, values, strict=True)):
            x, y = 76 + (column + 0.5) * wide, _BASE - _height(value)
            d.fact(f"line{at}.{column}", f"{name} in {month}", "value", str(value), (x - 24, y - 28, x + 24, y + 7))
    pick = rng.randrange(2)
    items = [MeasuredItem(months[column], bands[pick][column], f"line{pick}.{column}") for column in range(n)]
    name = pair[pick].lower()
    words = _wording("month", f"{name} in {{}}", unit)._replace(plural=f"months of {name}")
    topics = [f"{a} and {b.lower()} by month" for a, b in _PAIRS if a not in pair]
    head = _title(d, topics)
    line = d.word(f"legend{pick}", f"In which colour is {name} drawn?", f"The line of {name} is drawn in {{}}.",
                  tuple(COLOURS), can.LEGEND)  # fmt: skip
    questions = _series(d, words, items, "line chart", (head, line), f"in which colour is {name} drawn")
    return f"a line chart: {title}", questions


def _paint_lines(c: Canvas, s: SceneReader) -> None:
    _paint_heading(c, s)
    _axes(c)
    for id in s.under("month"):
        c.text(inset(s.at(id), 3), s.value(id), size=16, align="centre")
    for legend in s.under("legend"):
        tone = COLOURS[s.value(legend)]
        x0, y0, x1, y1 = s.at(legend)
        c.line([(x0 + 6, (y0 + y1) / 2), (x0 + 46, (y0 + y1) / 2)], line=tone, width=5)
        c.text((x0 + 56, y0, x1, y1), s.subject(legend), size=17)
        ids = s.under(f"line{legend[-1]}.")
        points = [((s.at(id)[0] + s.at(id)[2]) / 2, s.at(id)[3] - 7) for id in ids]
        c.line(points, line=tone, width=4)
        for id, (x, y) in zip(ids, points, strict=True):
            c.oval((x - 6, y - 6, x + 6, y + 6), tone)
            x0, y0, x1, _ = s.at(id)
            c.rect((x - 14, y0, x + 14, y0 + 20), WHITE, line=None)
            c.text((x0, y0, x1, y0 + 20), s.value(id), size=16, align="centre")


# --- the pie ----------------------------------------------------------------------------------------------------------

_ROUND: Pixels = (36, 100, 386, 450)


def _shares(rng: Random, n: int) -> list[int]:
    while True:
        values = spread(rng, n - 1, 8, 40)
        rest = 100 - sum(values)
        if rest >= 8 and all(abs(rest - v) >= 3 for v in values):
            return [*values, rest]


def _tag(start: float, share: int) -> Pixels:
    x, y = on_circle(_ROUND, start + 1.8 * share, 0.72)
    return (x - 24, y - 13, x + 24, y + 13)


def _pie(d: SceneDraft) -> Composition:
    rng = d.rng
    theme, n = rng.choice(_THEMES), rng.choice((4, 5))
    labels, shares = rng.sample(theme.labels, n), _shares(rng, n)
    colours = rng.sample(("red", "orange", "yellow", "green", "blue", "purple", "pink"), n)
    title = "Shares: " + theme.title.lower()
    _titled(d, title, "percent")
    start = -90.0
    for at, (label, share, colour) in enumerate(zip(labels, shares, colours, strict=True)):
        top = 150 + at * 52
        d.fact(f"slice{at}.label", f"entry {at + 1} of the legend", "label", label, (456, top, 610, top + 36))
        d.fact(f"slice{at}.colour", label, "colour", colour, (414, top, 448, top + 36))
        d.fact(f"slice{at}.share", label, "share", f"{share}%", _tag(start, share))
        start += 3.6 * share
    items = [MeasuredItem(labels[at], shares[at], f"slice{at}.share") for at in range(n)]
    words = _wording("slice", "the slice of {}", "")._replace(
        show="{}%".format,
        degrees=("largest", "smallest", "larger"),
        first="at the top of the legend",
        after="directly below",
    )
    head = _title(d, ["Shares: " + t.title.lower() for t in _THEMES])
    at = rng.randrange(n)
    tone = d.word(f"slice{at}.colour", f"Which colour stands for {labels[at]}?",
                  f"The colour that stands for {labels[at]} is {{}}.", tuple(COLOURS), can.LEGEND)  # fmt: skip
    questions = _series(d, words, items, "pie chart", (head, tone), f"which colour stands for {labels[at]}")
    if rng.random() < 0.5:
        questions[5] = _rest(d, words, items)
    return f"a pie chart: {title}", questions


def _rest(d: SceneDraft, w: MeasureWording, items: list[MeasuredItem]) -> SceneQuestion:
    first_item, second_item = d.rng.sample(items, 2)
    both = first_item.value + second_item.value
    clues = [
        reading_clue(d, w, first_item),
        reading_clue(d, w, second_item),
        w.clue(d, "Which share do both slices have together?", "Both slices together have a share of {}.", both,
               can.ADDITION),
        w.clue(d, "Which share is left for all the other slices?", "All the other slices are left with {}.", 100 - both,
               can.DIFFERENCE),
    ]  # fmt: skip
    return d.pose(
        "infer",
        f"Which share do all slices other than {first_item.label} and {second_item.label} have together?",
        clues,
    )


def _paint_pie(c: Canvas, s: SceneReader) -> None:
    _paint_heading(c, s)
    x0, y0, x1, y1 = inset(_ROUND, 4)
    ids = [id for id in s.under("slice") if id.endswith("share")]
    start = -90.0
    for id in ids:
        tone = COLOURS[s.value(id.replace("share", "colour"))]
        sweep = 3.6 * s.number(id)
        c.wedge((x0, y0, x1, y1), start, start + sweep, tone)
        start += sweep
    for id in ids:
        c.rect(s.at(id), WHITE, line=SHADE, width=1, radius=6)
        c.text(s.at(id), s.value(id), size=17, align="centre")
    for id in s.under("slice"):
        if id.endswith("colour"):
            c.rect(inset(s.at(id), 4), COLOURS[s.value(id)])
        elif id.endswith("label"):
            c.text(s.at(id), s.value(id), size=20)


# --- the table --------------------------------------------------------------------------------------------------------

_YEARS: tuple[str, ...] = ("2019", "2020", "2021", "2022", "2023", "2024")


def _table(d: SceneDraft) -> Composition:
    rng = d.rng
    theme, n = rng.choice(_THEMES), rng.choice((4, 5))
    labels, years = rng.sample(theme.labels, n), sorted(rng.sample(_YEARS, 3))
    columns = [spread(rng, n, 15, 98) for _ in years]
    _titled(d, theme.title, theme.unit)
    for column, year in enumerate(years):
        left = 200 + column * 136
        d.fact(f"year{column}", f"column {column + 1}", "heading", year, (left, 88, left + 130, 130))
    for row, label in enumerate(labels):
        top = 140 + row * 62
        d.fact(f"row{row}", f"row {row + 1}", "heading", label, (40, top, 190, top + 54))
        for column, year in enumerate(years):
            left = 200 + column * 136
            cell = (left, top, left + 130, top + 54)
            d.fact(f"cell{row}{column}", f"{label} in {year}", "value", str(columns[column][row]), cell)
    pick = rng.randrange(3)
    items = [MeasuredItem(labels[row], columns[pick][row], f"cell{row}{pick}") for row in range(n)]
    clues = _heading(d)
    words = _wording("row", f"the row of {{}} in {years[pick]}", theme.unit)._replace(
        plural=f"rows in the column of {years[pick]}",
        read=can.FIELD,
        first="at the top of the table",
        after="directly below",
    )
    return f"a table: {theme.title}", _series(d, words, items, "table", clues, _UNIT)


def _paint_table(c: Canvas, s: SceneReader) -> None:
    _paint_heading(c, s)
    tone = s.rng.choice(((38, 98, 196), (34, 120, 96), (140, 70, 40), (90, 70, 150)))
    c.rect((32, 86, 608, 132), tone, line=None)
    for id in s.under("year"):
        c.text(s.at(id), s.value(id), size=20, line=WHITE, align="centre")
    for n, id in enumerate(s.under("row")):
        x0, y0, _, y1 = s.at(id)
        c.rect((32, y0, 608, y1 + 8), tint(tone, 0.9 if n % 2 else 0.97), line=FAINT, width=1)
        c.text((x0 + 6, y0, 190, y1), s.value(id), size=20)
    for id in s.under("cell"):
        c.text(s.at(id), s.value(id), size=21, align="centre")


LAYOUTS: tuple[SceneLayout, ...] = (
    SceneLayout("bars", _bars, _paint_bars),
    SceneLayout("lines", _lines, _paint_lines),
    SceneLayout("pie", _pie, _paint_pie),
    SceneLayout("table", _table, _paint_table),
)
"""The layouts of structured data."""
