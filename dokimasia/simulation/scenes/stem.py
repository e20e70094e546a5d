"""Science and geometry: a circuit in series, a triangle beside a shaded grid, and a row of measuring beakers."""

import math

from dokimasia.simulation import capabilities as can
from dokimasia.simulation.scene import SceneQuestion
from dokimasia.simulation.scenes.draft import (
    LETTERS,
    TONES,
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
from dokimasia.simulation.scenes.drawing import (
    COLOURS,
    FAINT,
    INK,
    PAPER,
    SHADE,
    Canvas,
    PixelPoint,
    Pixels,
    inset,
    tint,
)

_SIDES = MeasureWording(
    single="side",
    ask="Which length has {}?",
    say="The length of {name} is {value}.",
    show="{} cm".format,
    read=can.LEGEND,
    degrees=("longest", "shortest", "longer"),
)
_GRID: Pixels = (420, 140, 600, 320)


def _corners(left: int, right: int) -> tuple[PixelPoint, PixelPoint, PixelPoint]:
    """Return the triangle's corners (left, right, top) for the angles at its base, as large as its region allows."""
    reach = 1 / math.tan(math.radians(left)) + 1 / math.tan(math.radians(right))
    high = min(250.0, 270 / reach)
    x0 = 70 + (270 - high * reach) / 2
    return (x0, 390), (x0 + high * reach, 390), (x0 + high / math.tan(math.radians(left)), 390 - high)


def _triangle(d: SceneDraft) -> Composition:
    rng = d.rng
    while True:
        left, right, base = rng.randrange(36, 82), rng.randrange(36, 82), rng.randrange(18, 46)
        top = 180 - left - right
        sines = [math.sin(math.radians(angle)) for angle in (top, left, right)]
        lengths = [base, round(base * sines[1] / sines[0]), round(base * sines[2] / sines[0])]
        gaps = [abs(a - b) for a, b in ((lengths[0], lengths[1]), (lengths[0], lengths[2]), (lengths[1], lengths[2]))]
        if min(gaps) >= 3 and abs(left - right) >= 3 and top >= 40:
            break
    names = sorted(rng.sample(LETTERS, 3))
    rng.shuffle(names)
    low, low2, high = names
    tones = rng.sample(TONES, 2)
    rows, columns = rng.sample(range(3, 7), 2)
    shaded = rng.randrange(3, rows * columns - 2)
    spots = _corners(left, right)
    places = ("lower left corner", "lower right corner", "top corner")
    for n, (name, corner) in enumerate(zip(names, places, strict=True)):
        d.fact(f"corner{n}", corner, "letter", name, _beside(spots, n))
    d.fact("angle0", low, "angle", f"{left}°", (spots[0][0] + 24, 362, spots[0][0] + 74, 388))
    d.fact("angle1", low2, "angle", f"{right}°", (spots[1][0] - 74, 362, spots[1][0] - 24, 388))
    d.fact("angle2", high, "angle", "unknown", _unknown(spots))
    edges = [(low + low2, spots[0], spots[1], lengths[0], (0, 22)), (low2 + high, spots[1], spots[2], lengths[1], (40, -12)),
             (low + high, spots[0], spots[2], lengths[2], (-40, -12))]  # fmt: skip
    items: list[MeasuredItem] = []
    for n, (name, a, b, length, (dx, dy)) in enumerate(edges):
        x, y = (a[0] + b[0]) / 2 + dx, (a[1] + b[1]) / 2 + dy
        d.fact(f"side{n}", name, "length", f"{length} cm", (x - 36, y - 13, x + 36, y + 13))
        items.append(MeasuredItem(name, length, f"side{n}"))
    d.fact("triangle", "triangle", "colour", tones[0], (spots[0][0], spots[2][1], spots[1][0], 390))
    d.fact("grid", "grid", "colour of shaded squares", tones[1], _GRID)
    d.fact("rows", "grid", "rows", str(rows), _GRID)
    d.fact("columns", "grid", "columns", str(columns), _GRID)
    d.fact("shaded", "grid", "shaded squares", str(shaded), _GRID)
    questions = _triangle_questions(d, names, (left, right, top), items, rows * columns)
    return f"a triangle {low}{low2}{high} beside a grid", questions


def _unknown(spots: tuple[PixelPoint, PixelPoint, PixelPoint]) -> Pixels:
    x = spots[2][0] + 0.36 * ((spots[0][0] + spots[1][0]) / 2 - spots[2][0])
    y = spots[2][1] + 0.36 * (390 - spots[2][1])
    return (x - 12, y - 14, x + 12, y + 14)


def _beside(spots: tuple[PixelPoint, PixelPoint, PixelPoint], n: int) -> Pixels:
    x, y = spots[n]
    return ((x - 38, y, x - 8, y + 32), (x + 8, y, x + 38, y + 32), (x - 15, y - 36, x + 15, y - 4))[n]


def _triangle_questions(d: SceneDraft, names: list[str], angles: tuple[int, int, int], items: list[MeasuredItem], squares: int
                        ) -> list[SceneQuestion]:  # fmt: skip
    low, low2, high = names
    fill = d.word("triangle", "Which colour fills the triangle?", "The triangle is filled with {}.", TONES, can.COLOUR)
    fill = fill._replace(at=None)
    shade = d.word("grid", "Which colour have the shaded squares?", "The shaded squares of the grid are {}.", TONES,
                   can.COLOUR)  # fmt: skip
    peak = d.named("Which letter marks the corner at the top?", "The corner at the top is marked {}.", high, names,
                   can.TEXT)  # fmt: skip
    peak = peak._replace(wrong=d.others([*names, "Y"], high))
    first = d.measured(f"How large is the angle at {low}?", f"The angle at {low} measures {{}}.", angles[0], "{}°",
                       can.NUMBER)  # fmt: skip
    second = d.measured(f"How large is the angle at {low2}?", f"The angle at {low2} measures {{}}.", angles[1], "{}°",
                        can.NUMBER)  # fmt: skip
    facing = items[1]
    opposite = Clue(f"Which side lies opposite to the corner {low}?",
                    f"Opposite to the corner {low} lies the side {{}}.", facing.label, (items[0].label, items[2].label),
                    can.POSITION, facing.at)  # fmt: skip
    counts = [
        d.count("rows", "How many rows has the grid?", "The grid has this number of rows: {}."),
        d.count("columns", "How many columns has the grid?", "The grid has this number of columns: {}."),
        d.count("shaded", "How many squares of the grid are shaded?", "The number of shaded squares is {}.",
                can.COUNTING_SELECTED),
    ]  # fmt: skip
    long = reading_clue(d, _SIDES, facing)
    lengths = long.wrong
    return [
        ask_kind(d, "drawing", "geometric figure", "which colour fills the triangle, and which shades the grid?", fill, shade),
        d.pose("count", "How many squares of the grid are shaded?", counts),
        d.pose("relate", f"Which side lies opposite to the corner {low}, and how long is it?", (peak, opposite, long),
               answer=f"{facing.label}, {long.truth}",
               wrong=[f"{items[0].label}, {long.truth}", f"{facing.label}, {lengths[0]}", f"{items[2].label}, {lengths[1]}"]),
        d.read_out(f"How large is the angle at {low}, how long is {facing.label}, and which corner is at the top?",
                   first, long, peak),
        compare_pair(d, _SIDES, items),
        _third_angle(d, high, angles[2], first, second) if d.rng.random() < 0.5
        else _unshaded(d, counts, squares),
    ]  # fmt: skip


def _third_angle(d: SceneDraft, high: str, angle: int, first: Clue, second: Clue) -> SceneQuestion:
    clues = [
        first,
        second,
        Clue("To what do all angles of a triangle add up?", "All angles of a triangle add up to {}.", "180°",
             ("90°", "270°", "360°"), can.GEOMETRY),
        d.measured(f"How large must the angle at {high} be?", f"So the angle at {high} must measure {{}}.", angle,
                   "{}°", can.DIFFERENCE),
    ]  # fmt: skip
    return d.pose("infer", f"How large is the unknown angle at {high}?", clues)


def _unshaded(d: SceneDraft, counts: list[Clue], squares: int) -> SceneQuestion:
    clues = [
        d.counted("How many squares has the grid altogether?", "Altogether the grid has {} squares.", squares,
                  can.PRODUCT, "grid"),
        counts[-1],
        d.counted("How many squares of the grid stay without shading?", "Left without shading stay {} squares.",
                  squares - int(counts[-1].truth), can.DIFFERENCE),
    ]  # fmt: skip
    return d.pose("infer", "How many squares of the grid would still have to be shaded to fill it?", clues)


def _paint_triangle(c: Canvas, s: SceneReader) -> None:
    c.rect((8, 8, 632, 472), PAPER, line=FAINT)
    spots = _corners(s.number("angle0"), s.number("angle1"))
    c.poly(list(spots), tint(COLOURS[s.value("triangle")], 0.45), width=4)
    for n, (x, y) in enumerate(spots):
        c.oval((x - 4, y - 4, x + 4, y + 4), INK)
        c.text(s.at(f"corner{n}"), s.value(f"corner{n}"), size=24, align="centre")
    for n in range(3):
        c.text(s.at(f"angle{n}"), "?" if n == 2 else s.value(f"angle{n}"), size=18, align="centre")
        c.rect(s.at(f"side{n}"), PAPER, line=None, radius=5)
        c.text(s.at(f"side{n}"), s.value(f"side{n}"), size=18, align="centre")
    rows, columns, shaded = (s.number(id) for id in ("rows", "columns", "shaded"))
    x0, y0, x1, y1 = s.at("grid")
    wide, high = (x1 - x0) / columns, (y1 - y0) / rows
    marked = set(s.rng.sample(range(rows * columns), shaded))
    for n in range(rows * columns):
        left, top = x0 + (n % columns) * wide, y0 + (n // columns) * high
        c.rect((left, top, left + wide, top + high), COLOURS[s.value("grid")] if n in marked else (255, 255, 255))


TRIANGLE = SceneLayout("triangle", _triangle, _paint_triangle)
"""The layout."""


# --- the circuit -----------------------------------------------------------------------------------------------------

_RESISTORS = MeasureWording(
    single="resistor",
    ask="Which resistance has {}?",
    say="The resistance of {name} is {value}.",
    show="{} ohm".format,
    read=can.LEGEND,
    degrees=("greatest", "smallest", "greater"),
)


def _circuit(d: SceneDraft) -> Composition:
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
    items = [MeasuredItem(labels[at], values[at], f"part{at}.value") for at in range(n)]
    at = rng.randrange(n)
    power = d.number("battery", "Which voltage does the battery give?", "The battery gives {}.", can.NUMBER)
    key = Clue("In which state is the switch?", "The switch is {}.", switch,
               ("open" if closed else "closed", "missing"), can.STATE, "switch")  # fmt: skip
    tone = d.word(f"part{at}.tone", f"Which colour has the resistor {labels[at]}?",
                  f"The colour of the resistor {labels[at]} is {{}}.", TONES, can.COLOUR)  # fmt: skip
    glow = Clue("In which state is the lamp?", "The lamp is {}.", lamp, ("dark" if closed else "lit", "broken"),
                can.STATE, "lamp")  # fmt: skip
    questions = [
        ask_kind(d, "drawing", "circuit diagram", "in which state is its switch, and in which its lamp?", key, glow),
        count_above(d, _RESISTORS, items),
        relate_next(d, _RESISTORS, items),
        d.read_out(f"Which voltage does the battery give, and what are resistance and colour of {labels[at]}?", power,
                   reading_clue(d, _RESISTORS, items[at]), tone),
        compare_pair(d, _RESISTORS, items),
        _ohm(d, sum(values), power, key, current if closed else 0) if rng.random() < 0.7
        else infer_sum(d, _RESISTORS, items),
    ]  # fmt: skip
    return f"a circuit with {n} resistors in series", questions


def _ohm(d: SceneDraft, total: int, power: Clue, key: Clue, current: int) -> SceneQuestion:
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


def _paint_circuit(c: Canvas, s: SceneReader) -> None:
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

_LEVELS = MeasureWording(
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


def _beakers(d: SceneDraft) -> Composition:
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
    items = [MeasuredItem(labels[at], levels[at], f"glass{at}.level") for at in range(n)]
    first, second = rng.sample(range(n), 2)
    tone, tone2 = (
        d.word(f"glass{i}.tone", f"Which colour has the liquid in {labels[i]}?", f"The liquid in {labels[i]} is {{}}.",
               TONES, can.COLOUR)
        for i in (first, second)
    )  # fmt: skip
    heat = d.number("heat", "Which temperature is written beside the thermometer?", "The temperature written is {}.",
                    can.NUMBER)  # fmt: skip
    questions = [
        ask_kind(d, "drawing", "row of beakers",
                 f"and which colours have the liquids in {labels[first]} and in {labels[second]}?", tone, tone2),
        count_above(d, _LEVELS, items),
        relate_next(d, _LEVELS, items),
        d.read_out(f"Which temperature is shown, how full is {labels[first]}, and which colour has its liquid?", heat,
                   reading_clue(d, _LEVELS, items[first]), tone),
        compare_pair(d, _LEVELS, items),
        _pour(d, items[first], items[second]) if rng.random() < 0.5 else infer_sum(d, _LEVELS, items),
    ]  # fmt: skip
    return f"{n} beakers with coloured liquids", questions


def _pour(d: SceneDraft, poured: MeasuredItem, receiving: MeasuredItem) -> SceneQuestion:
    total = poured.value + receiving.value
    if total == 100:
        truth, wrong = "it is just full", ("10 ml spill", "there is room for 10 ml", "20 ml spill")
    else:
        size, forms = abs(total - 100), ("{} ml spill", "there is room for {} ml")
        form, opposite = forms if total > 100 else forms[::-1]
        truth, wrong = form.format(size), (opposite.format(size), form.format(size + 15), opposite.format(size + 10))
    clues = [
        reading_clue(d, _LEVELS, poured),
        reading_clue(d, _LEVELS, receiving),
        d.measured("How much liquid is that together?", "Poured together, the liquid measures {}.", total, "{} ml",
                   can.ADDITION, step=5),
        Clue("What comes of the pouring, since each beaker holds as much as its scale shows?",
             "What comes of the pouring is that {}.", truth, wrong, can.LIMIT),
    ]  # fmt: skip
    pouring = f"If {poured.label} is poured into {receiving.label}, how much spills, or how much room is left?"
    text = f"A beaker holds 100 ml. {pouring}"
    return d.pose("infer", text, clues)


def _paint_beakers(c: Canvas, s: SceneReader) -> None:
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


LAYOUTS: tuple[SceneLayout, ...] = (
    SceneLayout("circuit", _circuit, _paint_circuit),
    TRIANGLE,
    SceneLayout("beakers", _beakers, _paint_beakers),
)
"""The layouts of science and geometry."""
