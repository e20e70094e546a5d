"""Science and geometry: a circuit in series, a triangle beside a shaded grid, and a row of measuring beakers."""

import math
from collections.abc import Mapping

from dokimasia.simulation import capabilities as can
from dokimasia.simulation.scene import SceneQuestion
from dokimasia.simulation.scenes.draft import (
    LETTERS,
    TONES,
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
from dokimasia.simulation.scenes.drawing import (
    PixelPoint,
    Pixels,
)

_SIDES = MeasureWording(
    single="side",
    ask="Which length has {}?",
    say="The length of {name} is {value}.",
    show="{} cm".format,
    read=can.LEGEND,
    degrees=("longest", "shortest", "longer"),
)


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
        d.fact(f"corner{n}", name, corner, _beside(spots, n))
    d.fact("angle0", f"{left}°", low, (spots[0][0] + 24, 362, spots[0][0] + 74, 388))
    d.fact("angle1", f"{right}°", low2, (spots[1][0] - 74, 362, spots[1][0] - 24, 388))
    d.fact("angle2", "unknown", high, _unknown(spots))
    edges = [(low + low2, spots[0], spots[1], lengths[0], (0, 22)), (low2 + high, spots[1], spots[2], lengths[1], (40, -12)),
             (low + high, spots[0], spots[2], lengths[2], (-40, -12))]  # fmt: skip
    items: list[MeasuredItem] = []
    for n, (name, a, b, length, (dx, dy)) in enumerate(edges):
        x, y = (a[0] + b[0]) / 2 + dx, (a[1] + b[1]) / 2 + dy
        d.fact(f"side{n}", f"{length} cm", name, (x - 36, y - 13, x + 36, y + 13))
        items.append(MeasuredItem(name, length, f"side{n}"))
    d.fact("triangle", tones[0], at=(spots[0][0], spots[2][1], spots[1][0], 390))
    d.fact("grid", tones[1])
    d.fact("rows", rows)
    d.fact("columns", columns)
    d.fact("shaded", shaded)
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
    d.fact("battery", f"{volts} V")
    d.fact("switch", switch)
    d.fact("lamp", lamp)
    for at in range(n):
        left = 110 + at * (460 // n)
        x1 = left + 460 // n - 26
        d.fact(f"part{at}.label", labels[at], at=(left, 50, x1, 76))
        d.fact(f"part{at}.tone", tones[at], labels[at], (left, 78, x1, 118))
        d.fact(f"part{at}.value", f"{values[at]} ohm", labels[at], (left, 122, x1, 148))
    items = measured_items(labels, values, "part{}.value")
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


def _beakers(d: SceneDraft) -> Composition:
    rng = d.rng
    n = rng.choice((4, 5))
    labels, tones, levels = rng.sample(LETTERS, n), rng.sample(TONES, n), spread(rng, n, 15, 95, step=5, gap=2)
    degrees = rng.randrange(18, 79)
    d.fact("heat", f"{degrees} °C")
    for at in range(n):
        left = 36 + at * (590 // n)
        x1 = left + 590 // n - 34
        glass = (left, _RIM - 10, x1, _FLOOR + 4)
        d.fact(f"glass{at}.label", labels[at], at=(left, 402, x1, 440))
        d.fact(f"glass{at}.tone", tones[at], labels[at], glass)
        d.fact(f"glass{at}.level", f"{levels[at]} ml", labels[at], glass)
    items = measured_items(labels, levels, "glass{}.level")
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


LAYOUTS: Mapping[str, Compose] = {"circuit": _circuit, "triangle": _triangle, "beakers": _beakers}
"""How drawings of science and geometry are composed, by their sort."""
