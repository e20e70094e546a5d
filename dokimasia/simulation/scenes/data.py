"""Structured data: a bar chart, a chart of two lines, a pie chart and a table, all with their values printed."""

from collections.abc import Mapping
from random import Random
from typing import NamedTuple

from dokimasia.simulation.scene import SceneQuestion
from dokimasia.simulation.scenes.draft import Clue, Compose, Composition, Measures, SceneDraft, spread
from dokimasia.simulation.scenes.drawing import COLOUR_NAMES, Pixels, on_circle

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


def _series(d: SceneDraft, m: Measures, clues: tuple[Clue, Clue], third: str) -> list[SceneQuestion]:
    first_item, second_item = m.pair()
    first, second = m.called(first_item.label), m.called(second_item.label)
    return [
        d.ask_kind(f"what is its title, and {third}?", *clues),
        m.count_above(),
        m.relate_next(),
        d.read_out(f"What is the title, and which values do {first} and {second} have?", clues[0], m.reading(first_item),
                   m.reading(second_item)),
        m.compare_pair(),
        m.infer_sum(),
    ]  # fmt: skip


_UNIT = "in which unit or form are its values"


def _heading(d: SceneDraft) -> tuple[Clue, Clue]:
    title = d.word("title", [theme.title for theme in _THEMES])
    return title, d.word("unit", [theme.unit for theme in _THEMES])


_BASE, _TOP = 420, 100


def _height(value: int) -> float:
    return (_BASE - _TOP - 30) * value / 100


def _bars(d: SceneDraft) -> Composition:
    rng = d.rng
    theme, n = rng.choice(_THEMES), rng.choice((5, 6, 7))
    labels, values = rng.sample(theme.labels, n), spread(rng, n, 15, 98)
    d.state(title=theme.title, unit=theme.unit)
    wide = 530 / n
    for at, (label, value) in enumerate(zip(labels, values, strict=True)):
        left, top = 76 + at * wide, _BASE - _height(value)
        d.fact(f"bar{at}.label", label, at=(left, _BASE + 4, left + wide, _BASE + 32))
        d.fact(f"bar{at}.value", value, label, (left + 8, top - 26, left + wide - 8, _BASE))
    m = d.measures(labels, values, "bar{}.value", unit=theme.unit)
    return f"a bar chart: {theme.title}", _series(d, m, _heading(d), _UNIT)


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
    d.state(title=title, unit=unit)
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
    name = pair[pick].lower()
    m = d.measures(months, bands[pick], f"line{pick}.{{}}", line=name, unit=unit)
    head = d.word("title", [f"{a} and {b.lower()} by month" for a, b in _PAIRS if a not in pair])
    line = d.word(f"legend{pick}", COLOUR_NAMES, line=name)
    return f"a line chart: {title}", _series(d, m, (head, line), f"in which colour is {name} drawn")


_ROUND: Pixels = (36, 100, 386, 450)


def _shares(rng: Random, n: int) -> list[int]:
    while True:
        values = spread(rng, n - 1, 8, 40)
        rest = 100 - sum(values)
        if rest >= 8 and all(abs(rest - v) >= 3 for v in values):
            return [*values, rest]


def _pie(d: SceneDraft) -> Composition:
    rng = d.rng
    theme, n = rng.choice(_THEMES), rng.choice((4, 5))
    labels, shares = rng.sample(theme.labels, n), _shares(rng, n)
    colours = rng.sample(("red", "orange", "yellow", "green", "blue", "purple", "pink"), n)
    titles = {theme: f"Shares: {theme.title.lower()}" for theme in _THEMES}
    d.state(title=titles[theme], unit="percent")
    start = -90.0
    for at, (label, share, colour) in enumerate(zip(labels, shares, colours, strict=True)):
        d.fact(f"slice{at}.label", label)
        d.fact(f"slice{at}.colour", colour, label)
        x, y = on_circle(_ROUND, start + 1.8 * share, 0.72)
        d.fact(f"slice{at}.share", f"{share}%", label, (x - 24, y - 13, x + 24, y + 13))
        start += 3.6 * share
    m = d.measures(labels, shares, "slice{}.share")
    head = d.word("title", list(titles.values()))
    at = rng.randrange(n)
    tone = d.word(f"slice{at}.colour", COLOUR_NAMES, label=labels[at])
    questions = _series(d, m, (head, tone), f"which colour stands for {labels[at]}")
    if rng.random() < 0.5:
        questions[5] = _rest(d, m)
    return f"a pie chart: {titles[theme]}", questions


def _rest(d: SceneDraft, m: Measures) -> SceneQuestion:
    first, second = m.pair()
    both = first.value + second.value
    clues = [m.reading(first), m.reading(second), m.clue("both", both), m.clue("others", 100 - both)]
    text = f"Which share do all slices other than {first.label} and {second.label} have together?"
    return d.pose("infer", text, clues)


_YEARS: tuple[str, ...] = ("2019", "2020", "2021", "2022", "2023", "2024")


def _table(d: SceneDraft) -> Composition:
    rng = d.rng
    theme, n = rng.choice(_THEMES), rng.choice((4, 5))
    labels, years = rng.sample(theme.labels, n), sorted(rng.sample(_YEARS, 3))
    columns = [spread(rng, n, 15, 98) for _ in years]
    d.state(title=theme.title, unit=theme.unit)
    for column, year in enumerate(years):
        d.fact(f"year{column}", year)
    for row, label in enumerate(labels):
        d.fact(f"row{row}", label)
        for column, year in enumerate(years):
            d.fact(f"cell{row}{column}", columns[column][row], f"{label} in {year}")
    pick = rng.randrange(3)
    m = d.measures(labels, columns[pick], f"cell{{}}{pick}", unit=theme.unit, year=years[pick])
    return f"a table: {theme.title}", _series(d, m, _heading(d), _UNIT)


LAYOUTS: Mapping[str, Compose] = {"bars": _bars, "lines": _lines, "pie": _pie, "table": _table}
"""The composers of figures, by sort."""
