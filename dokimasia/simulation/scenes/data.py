"""Structured data: a bar chart, a chart of two lines, a pie chart and a table, all with their values written in."""

from collections.abc import Mapping
from random import Random
from typing import NamedTuple

from dokimasia.simulation import capabilities as can
from dokimasia.simulation.scene import SceneQuestion
from dokimasia.simulation.scenes.draft import (
    Clue,
    Compose,
    Composition,
    MeasuredItem,
    MeasureWording,
    SceneDraft,
    ask_kind,
    compare_pair,
    count_above,
    infer_sum,
    measured_items,
    reading_clue,
    relate_next,
    spread,
)
from dokimasia.simulation.scenes.drawing import COLOURS, Pixels, on_circle

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
    d.fact("title", title)
    d.fact("unit", unit)


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
        d.fact(f"bar{at}.label", label, at=(left, _BASE + 4, left + wide, _BASE + 32))
        d.fact(f"bar{at}.value", value, label, (left + 8, top - 26, left + wide - 8, _BASE))
    items = measured_items(labels, values, "bar{}.value")
    clues = _heading(d)
    words = _wording("bar", "the bar for {}", theme.unit)
    return f"a bar chart: {theme.title}", _series(d, words, items, "bar chart", clues, _UNIT)


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
        d.fact(f"legend{at}", colour, name)
    wide = 530 / n
    for at, month in enumerate(months):
        left = 76 + at * wide
        d.fact(f"month{at}", month, at=(left, _BASE + 4, left + wide, _BASE + 32))
    for at, (name, values) in enumerate(zip(pair, bands, strict=True)):
        for column, (month, value) in enumerate(zip(months, values, strict=True)):
            x, y = 76 + (column + 0.5) * wide, _BASE - _height(value)
            d.fact(f"line{at}.{column}", value, f"{name} in {month}", (x - 24, y - 28, x + 24, y + 7))
    pick = rng.randrange(2)
    items = measured_items(months, bands[pick], f"line{pick}.{{}}")
    name = pair[pick].lower()
    words = _wording("month", f"{name} in {{}}", unit)._replace(plural=f"months of {name}")
    topics = [f"{a} and {b.lower()} by month" for a, b in _PAIRS if a not in pair]
    head = _title(d, topics)
    line = d.word(f"legend{pick}", f"In which colour is {name} drawn?", f"The line of {name} is drawn in {{}}.",
                  tuple(COLOURS), can.LEGEND)  # fmt: skip
    questions = _series(d, words, items, "line chart", (head, line), f"in which colour is {name} drawn")
    return f"a line chart: {title}", questions


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
        d.fact(f"slice{at}.label", label)
        d.fact(f"slice{at}.colour", colour, label)
        d.fact(f"slice{at}.share", f"{share}%", label, _tag(start, share))
        start += 3.6 * share
    items = measured_items(labels, shares, "slice{}.share")
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


_YEARS: tuple[str, ...] = ("2019", "2020", "2021", "2022", "2023", "2024")


def _table(d: SceneDraft) -> Composition:
    rng = d.rng
    theme, n = rng.choice(_THEMES), rng.choice((4, 5))
    labels, years = rng.sample(theme.labels, n), sorted(rng.sample(_YEARS, 3))
    columns = [spread(rng, n, 15, 98) for _ in years]
    _titled(d, theme.title, theme.unit)
    for column, year in enumerate(years):
        d.fact(f"year{column}", year)
    for row, label in enumerate(labels):
        d.fact(f"row{row}", label)
        for column, year in enumerate(years):
            d.fact(f"cell{row}{column}", columns[column][row], f"{label} in {year}")
    pick = rng.randrange(3)
    items = measured_items(labels, columns[pick], f"cell{{}}{pick}")
    clues = _heading(d)
    words = _wording("row", f"the row of {{}} in {years[pick]}", theme.unit)._replace(
        plural=f"rows in the column of {years[pick]}",
        read=can.FIELD,
        first="at the top of the table",
        after="directly below",
    )
    return f"a table: {theme.title}", _series(d, words, items, "table", clues, _UNIT)


LAYOUTS: Mapping[str, Compose] = {"bars": _bars, "lines": _lines, "pie": _pie, "table": _table}
"""How figures are composed, by their sort."""
