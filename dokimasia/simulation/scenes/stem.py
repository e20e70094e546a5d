"""Science and geometry: a circuit in series, a triangle beside a shaded grid, and a row of measuring beakers."""

from dokimasia.simulation import capabilities as can
from dokimasia.simulation.scene import Question
from dokimasia.simulation.scenes.draft import Clue, Draft
from dokimasia.simulation.scenes.drawing import COLOURS, FAINT, INK, SHADE, Canvas, inset, tint
from dokimasia.simulation.scenes.layout import Composed, Layout, Sight, spread
from dokimasia.simulation.scenes.phrasing import (
    Item,
    Wording,
    compare_pair,
    count_above,
    infer_sum,
    reading,
    relate_next,
)
from dokimasia.simulation.scenes.stock import LETTERS, TONES, describe
from dokimasia.simulation.scenes.triangle import TRIANGLE

# --- the circuit -----------------------------------------------------------------------------------------------------

_RESISTORS = Wording(
    single="resistor",
    ask="Which resistance has {}?",
    say="The resistance of {name} is {value}.",
    show="{} ohm".format,
    read=can.LEGEND,
    degrees=("greatest", "smallest", "greater"),
)


def _circuit(d: Draft) -> Composed:
    rng = d.rng
    n = rng.choice((4, 5))
    labels, values, tones = rng.sample(LETTERS, n), spread(rng, n, 7, 36), rng.sample(TONES, n)
    current, closed = rng.randrange(2, 6), rng.random() < 0.7
    volts = current * sum(values)
    switch, lamp = ("closed", "lit") if closed else ("open", "dark")
    d.fact("battery", "battery", "voltage", f"{volts} V", (30, 190, 170, 300))
    d.fact("switch", "switch", "state", switch, (170, 352, 300, 432))
    d.fact("lamp", "lamp", "state", lamp, (380, 352, 480, 440))
    for at in range(n):
        left = 110 + at * (460 // n)
        x1 = left + 460 // n - 26
        d.fact(f"part{at}.label", f"resistor {at + 1}", "label", labels[at], (left, 50, x1, 76))
        d.fact(f"part{at}.tone", labels[at], "colour", tones[at], (left, 78, x1, 118))
        d.fact(f"part{at}.value", labels[at], "resistance", f"{values[at]} ohm", (left, 122, x1, 148))
    items = [Item(labels[at], values[at], f"part{at}.value") for at in range(n)]
    at = rng.randrange(n)
    power = d.number("battery", "Which voltage does the battery give?", "The battery gives {}.", can.NUMBER)
    key = Clue("In which state is the switch?", "The switch is {}.", switch,
               ("open" if closed else "closed", "missing"), can.STATE, "switch")  # fmt: skip
    tone = d.word(f"part{at}.tone", f"Which colour has the resistor {labels[at]}?",
                  f"The colour of the resistor {labels[at]} is {{}}.", TONES, can.COLOUR)  # fmt: skip
    glow = Clue("In which state is the lamp?", "The lamp is {}.", lamp, ("dark" if closed else "lit", "broken"),
                can.STATE, "lamp")  # fmt: skip
    questions = [
        describe(d, "drawing", "circuit diagram", "in which state is its switch, and in which its lamp?", key, glow),
        count_above(d, _RESISTORS, items),
        relate_next(d, _RESISTORS, items),
        d.read_out(f"Which voltage does the battery give, and what are resistance and colour of {labels[at]}?", power,
                   reading(d, _RESISTORS, items[at]), tone),
        compare_pair(d, _RESISTORS, items),
        _ohm(d, sum(values), power, key, current if closed else 0) if rng.random() < 0.7
        else infer_sum(d, _RESISTORS, items),
    ]  # fmt: skip
    return f"a circuit with {n} resistors in series", questions


def _ohm(d: Draft, total: int, power: Clue, key: Clue, current: int) -> Question:
    wrong = d.others(("0 A", "2 A", "3 A", "4 A", "5 A", "6 A"), f"{current} A")
    clues = [
        key,
        power,
        d.measured("Which resistance do all parts in series have together?", "In series, all of them together have {}.",
                   total, "{} ohm", can.SCIENCE),
        Clue("Which current flows, by Ohm's law and the state of the switch?", "The current that flows is {}.",
             f"{current} A", wrong, can.SCIENCE),
    ]  # fmt: skip
    text = "Leaving out the lamp's own resistance, which current flows through the circuit as it is shown?"
    return d.pose("infer", text, clues)


def _paint_circuit(c: Canvas, s: Sight) -> None:
    c.rect((8, 8, 632, 472), (255, 255, 255), line=FAINT)
    c.line([(80, 98), (590, 98), (590, 396), (80, 396), (80, 98)], width=3)
    for id in s.under("part"):
        x0, y0, x1, y1 = s.at(id)
        if id.endswith("tone"):
            c.rect((x0 + 6, y0, x1 - 6, y1), COLOURS[s.value(id)], width=3)
        else:
            c.text(s.at(id), s.value(id), size=20, align="centre")
    x0, y0, x1, _ = s.at("battery")
    c.rect((60, 232, 100, 262), (255, 255, 255), line=None)
    c.line([(46, 236), (114, 236)], width=4)
    c.line([(62, 258), (98, 258)], width=8)
    c.rect((84, 268, 152, 294), (255, 255, 255), line=None)
    c.text((90, 268, 160, 294), s.value("battery"), size=20)
    c.text((x0 + 60, y0 + 12, x1, y0 + 36), "Battery", size=16, line=SHADE)
    x0, y0, x1, y1 = s.at("switch")
    c.rect((x0 + 30, 390, x1 - 30, 402), (255, 255, 255), line=None)
    c.line([(x0 + 30, 396), (x1 - 30, 396) if s.value("switch") == "closed" else (x1 - 40, 360)], width=5)
    for x in (x0 + 30, x1 - 30):
        c.oval((x - 6, 390, x + 6, 402), INK)
    c.text((x0, 408, x1, y1), "Switch", size=16, line=SHADE, align="centre")
    bulb = (404, 370, 456, 422)
    if s.value("lamp") == "lit":
        c.regular(inset(bulb, -18), 12, (255, 226, 90), inner=0.7)
    c.oval(bulb, (255, 240, 150) if s.value("lamp") == "lit" else (206, 208, 214), width=3)
    c.line([(412, 378), (448, 414)], width=3)
    c.line([(448, 378), (412, 414)], width=3)
    c.text((380, 440, 480, 464), "Lamp", size=16, line=SHADE, align="centre")


# --- beakers ---------------------------------------------------------------------------------------------------------

_LEVELS = Wording(
    single="beaker",
    ask="How much liquid is in {}?",
    say="The liquid in {name} measures {value}.",
    show="{} ml".format,
    read=can.GAUGE,
    degrees=("fullest", "emptiest", "fuller"),
    step=5,
)
_FLOOR, _RIM = 390, 110


def _level(value: int) -> float:
    return _FLOOR - (_FLOOR - _RIM) * value / 100


def _beakers(d: Draft) -> Composed:
    rng = d.rng
    n = rng.choice((4, 5))
    labels, tones, levels = rng.sample(LETTERS, n), rng.sample(TONES, n), spread(rng, n, 15, 95, step=5, gap=2)
    degrees = rng.randrange(18, 79)
    d.fact("heat", "thermometer", "temperature", f"{degrees} °C", (440, 16, 610, 70))
    for at in range(n):
        left = 36 + at * (590 // n)
        x1 = left + 590 // n - 34
        glass = (left, _RIM - 10, x1, _FLOOR + 4)
        d.fact(f"glass{at}.label", f"beaker {at + 1}", "label", labels[at], (left, 402, x1, 440))
        d.fact(f"glass{at}.tone", labels[at], "colour", tones[at], glass)
        d.fact(f"glass{at}.level", labels[at], "level", f"{levels[at]} ml", glass)
    items = [Item(labels[at], levels[at], f"glass{at}.level") for at in range(n)]
    one, other = rng.sample(range(n), 2)
    tone, tone2 = (
        d.word(f"glass{i}.tone", f"Which colour has the liquid in {labels[i]}?", f"The liquid in {labels[i]} is {{}}.",
               TONES, can.COLOUR)
        for i in (one, other)
    )  # fmt: skip
    heat = d.number("heat", "Which temperature is written beside the thermometer?", "The temperature written is {}.",
                    can.NUMBER)  # fmt: skip
    questions = [
        describe(d, "drawing", "row of beakers",
                 f"and which colours have the liquids in {labels[one]} and in {labels[other]}?", tone, tone2),
        count_above(d, _LEVELS, items),
        relate_next(d, _LEVELS, items),
        d.read_out(f"Which temperature is shown, how full is {labels[one]}, and which colour has its liquid?", heat,
                   reading(d, _LEVELS, items[one]), tone),
        compare_pair(d, _LEVELS, items),
        _pour(d, items[one], items[other]) if rng.random() < 0.5 else infer_sum(d, _LEVELS, items),
    ]  # fmt: skip
    return f"{n} beakers with coloured liquids", questions


def _pour(d: Draft, one: Item, other: Item) -> Question:
    total = one.value + other.value
    if total == 100:
        truth, wrong = "it is just full", ("10 ml spill", "there is room for 10 ml", "20 ml spill")
    else:
        size, forms = abs(total - 100), ("{} ml spill", "there is room for {} ml")
        form, opposite = forms if total > 100 else forms[::-1]
        truth, wrong = form.format(size), (opposite.format(size), form.format(size + 15), opposite.format(size + 10))
    clues = [
        reading(d, _LEVELS, one),
        reading(d, _LEVELS, other),
        d.measured("How much liquid is that together?", "Poured together, the liquid measures {}.", total, "{} ml",
                   can.ADDITION, step=5),
        Clue("What comes of the pouring, since each beaker holds as much as its scale shows?",
             "What comes of the pouring is that {}.", truth, wrong, can.LIMIT),
    ]  # fmt: skip
    text = f"A beaker holds 100 ml. If {one.label} is poured into {other.label}, how much spills, or how much room is left?"
    return d.pose("infer", text, clues)


def _paint_beakers(c: Canvas, s: Sight) -> None:
    c.rect((0, 0, 640, 480), (244, 247, 250), line=None)
    c.rect((0, 396, 640, 480), (214, 206, 196), line=None)
    x0, y0, x1, y1 = s.at("heat")
    c.rect((x0 + 4, y0 + 18, x1 - 76, y1 - 18), (255, 255, 255), radius=8)
    c.rect((x0 + 8, y0 + 23, x0 + 12 + 0.76 * s.number("heat"), y1 - 23), (206, 50, 50), line=None)
    c.oval((x0, y0 + 13, x0 + 28, y1 - 13), (206, 50, 50))
    c.text((x1 - 70, y0, x1, y1), s.value("heat"), size=20)
    for id in s.under("glass"):
        x0, _, x1, _ = s.at(id)
        if id.endswith("label"):
            c.text(s.at(id), s.value(id), size=28, align="centre")
        elif id.endswith("tone"):
            top = _level(s.number(id.replace("tone", "level")))
            c.rect((x0, top, x1, _FLOOR), tint(COLOURS[s.value(id)], 0.25), line=None)
            c.line([(x0, top), (x1, top)], width=3)
            c.line([(x0, _RIM - 8), (x0, _FLOOR), (x1, _FLOOR), (x1, _RIM - 8)], width=4)
            for value in range(5, 101, 5):
                y, long = _level(value), value % 10 == 0
                c.line([(x0, y), (x0 + (22 if long else 12), y)], width=2 if long else 1)
                if value % 20 == 0:
                    c.text((x0 + 27, y - 10, x0 + 66, y + 10), str(value), size=15)


LAYOUTS: tuple[Layout, ...] = (
    Layout("circuit", _circuit, _paint_circuit),
    TRIANGLE,
    Layout("beakers", _beakers, _paint_beakers),
)
"""The layouts of science and geometry."""
