"""Science and geometry: a series circuit, a triangle next to a shaded grid, and a row of measuring beakers."""

import math
from collections.abc import Mapping

from dokimasia.simulation.scene import SceneQuestion
from dokimasia.simulation.scenes.draft import (
    LETTERS,
    TONES,
    Clue,
    Compose,
    Composition,
    MeasuredItem,
    Measures,
    SceneDraft,
    spread,
)
from dokimasia.simulation.scenes.drawing import PixelPoint, Pixels


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
    for n, (name, a, b, length, (dx, dy)) in enumerate(edges):
        x, y = (a[0] + b[0]) / 2 + dx, (a[1] + b[1]) / 2 + dy
        d.fact(f"side{n}", f"{length} cm", name, (x - 36, y - 13, x + 36, y + 13))
    m = d.measures([edge[0] for edge in edges], lengths, "side{}")
    d.fact("triangle", tones[0], at=(spots[0][0], spots[2][1], spots[1][0], 390))
    d.state(grid=tones[1], rows=rows, columns=columns, shaded=shaded)
    questions = _triangle_questions(d, m, names, (left, right, top), rows * columns)
    return f"a triangle {low}{low2}{high} beside a grid", questions


def _unknown(spots: tuple[PixelPoint, PixelPoint, PixelPoint]) -> Pixels:
    x = spots[2][0] + 0.36 * ((spots[0][0] + spots[1][0]) / 2 - spots[2][0])
    y = spots[2][1] + 0.36 * (390 - spots[2][1])
    return (x - 12, y - 14, x + 12, y + 14)


def _beside(spots: tuple[PixelPoint, PixelPoint, PixelPoint], n: int) -> Pixels:
    x, y = spots[n]
    return ((x - 38, y, x - 8, y + 32), (x + 8, y, x + 38, y + 32), (x - 15, y - 36, x + 15, y - 4))[n]


def _triangle_questions(
    d: SceneDraft, m: Measures, names: list[str], angles: tuple[int, int, int], squares: int
) -> list[SceneQuestion]:
    low, low2, high = names
    fill = d.word("triangle", TONES)._replace(at=None)
    shade = d.word("grid", TONES)
    peak = d.named("peak", high, names)
    peak = peak._replace(wrong=d.others([*names, "Y"], high))
    first, second = d.measured("angle", angles[0], corner=low), d.measured("angle", angles[1], corner=low2)
    base, facing, beside = m.items
    opposite = d.clue("opposite", facing.label, (base.label, beside.label), facing.at, corner=low)
    counts = [d.count("rows"), d.count("columns"), d.count("shaded")]
    long = m.reading(facing)
    lengths = long.wrong
    return [
        d.ask_kind("which colour fills the triangle, and which shades the grid?", fill, shade),
        d.pose("count", "How many squares of the grid are shaded?", counts),
        d.pose("relate", f"Which side lies opposite to the corner {low}, and how long is it?", (peak, opposite, long),
               answer=f"{facing.label}, {long.truth}",
               wrong=[f"{base.label}, {long.truth}", f"{facing.label}, {lengths[0]}", f"{beside.label}, {lengths[1]}"]),
        d.read_out(f"How large is the angle at {low}, how long is {facing.label}, and which corner is at the top?",
                   first, long, peak),
        m.compare_pair(),
        _third_angle(d, high, angles[2], first, second) if d.rng.random() < 0.5
        else _unshaded(d, counts, squares),
    ]  # fmt: skip


def _third_angle(d: SceneDraft, high: str, angle: int, first: Clue, second: Clue) -> SceneQuestion:
    angle_sum = d.clue("angle_sum", "180°", ("90°", "270°", "360°"))
    clues = [first, second, angle_sum, d.measured("third_angle", angle, corner=high)]
    return d.pose("infer", f"How large is the unknown angle at {high}?", clues)


def _unshaded(d: SceneDraft, counts: list[Clue], squares: int) -> SceneQuestion:
    shaded = counts[-1]
    clues = [d.counted("squares", squares, "grid"), shaded, d.counted("unshaded", squares - int(shaded.truth))]
    return d.pose("infer", "How many squares of the grid would still have to be shaded to fill it?", clues)


def _circuit(d: SceneDraft) -> Composition:
    rng = d.rng
    n = rng.choice((4, 5))
    labels, values, tones = rng.sample(LETTERS, n), spread(rng, n, 7, 36), rng.sample(TONES, n)
    current, closed = rng.randrange(2, 6), rng.random() < 0.7
    switch, open_, lamp, dark = ("closed", "open", "lit", "dark") if closed else ("open", "closed", "dark", "lit")
    d.state(battery=f"{current * sum(values)} V", switch=switch, lamp=lamp)
    for at in range(n):
        left = 110 + at * (460 // n)
        x1 = left + 460 // n - 26
        d.fact(f"part{at}.label", labels[at], at=(left, 50, x1, 76))
        d.fact(f"part{at}.tone", tones[at], labels[at], (left, 78, x1, 118))
        d.fact(f"part{at}.value", f"{values[at]} ohm", labels[at], (left, 122, x1, 148))
    m = d.measures(labels, values, "part{}.value")
    at = rng.randrange(n)
    power = d.number("battery")
    key = d.clue("switch", switch, (open_, "missing"), "switch")
    tone = d.word(f"part{at}.tone", TONES, label=labels[at])
    glow = d.clue("lamp", lamp, (dark, "broken"), "lamp")
    questions = [
        d.ask_kind("in which state is its switch, and in which its lamp?", key, glow),
        m.count_above(),
        m.relate_next(),
        d.read_out(f"Which voltage does the battery give, and what are resistance and colour of {labels[at]}?", power,
                   m.reading(m.items[at]), tone),
        m.compare_pair(),
        _ohm(d, sum(values), power, key, current if closed else 0) if rng.random() < 0.7 else m.infer_sum(),
    ]  # fmt: skip
    return f"a circuit with {n} resistors in series", questions


def _ohm(d: SceneDraft, total: int, power: Clue, key: Clue, current: int) -> SceneQuestion:
    wrong = d.others(("0 A", "2 A", "3 A", "4 A", "5 A", "6 A"), f"{current} A")
    clues = [key, power, d.measured("resistance", total), d.clue("current", f"{current} A", wrong)]
    text = "Leaving out the lamp's own resistance, which current flows through the circuit as it is shown?"
    return d.pose("infer", text, clues)


_FLOOR, _RIM = 390, 110


def _beakers(d: SceneDraft) -> Composition:
    rng = d.rng
    n = rng.choice((4, 5))
    labels, tones, levels = rng.sample(LETTERS, n), rng.sample(TONES, n), spread(rng, n, 15, 95, step=5, gap=2)
    d.state(heat=f"{rng.randrange(18, 79)} °C")
    for at in range(n):
        left = 36 + at * (590 // n)
        x1 = left + 590 // n - 34
        glass = (left, _RIM - 10, x1, _FLOOR + 4)
        d.fact(f"glass{at}.label", labels[at], at=(left, 402, x1, 440))
        d.fact(f"glass{at}.tone", tones[at], labels[at], glass)
        d.fact(f"glass{at}.level", f"{levels[at]} ml", labels[at], glass)
    m = d.measures(labels, levels, "glass{}.level")
    first, second = rng.sample(range(n), 2)
    tone, tone2 = (d.word(f"glass{i}.tone", TONES, label=labels[i]) for i in (first, second))
    heat = d.number("heat")
    questions = [
        d.ask_kind(f"and which colours have the liquids in {labels[first]} and in {labels[second]}?", tone, tone2),
        m.count_above(),
        m.relate_next(),
        d.read_out(f"Which temperature is shown, how full is {labels[first]}, and which colour has its liquid?", heat,
                   m.reading(m.items[first]), tone),
        m.compare_pair(),
        _pour(d, m, m.items[first], m.items[second]) if rng.random() < 0.5 else m.infer_sum(),
    ]  # fmt: skip
    return f"{n} beakers with coloured liquids", questions


def _pour(d: SceneDraft, m: Measures, poured: MeasuredItem, receiving: MeasuredItem) -> SceneQuestion:
    total = poured.value + receiving.value
    if total == 100:
        truth, wrong = "it is just full", ("10 ml spill", "there is room for 10 ml", "20 ml spill")
    else:
        size, forms = abs(total - 100), ("{} ml spill", "there is room for {} ml")
        form, opposite = forms if total > 100 else forms[::-1]
        truth, wrong = form.format(size), (opposite.format(size), form.format(size + 15), opposite.format(size + 10))
    clues = [m.reading(poured), m.reading(receiving), m.clue("poured", total), d.clue("outcome", truth, wrong)]
    pouring = f"If {poured.label} is poured into {receiving.label}, how much spills, or how much room is left?"
    return d.pose("infer", f"A beaker holds 100 ml. {pouring}", clues)


LAYOUTS: Mapping[str, Compose] = {"circuit": _circuit, "triangle": _triangle, "beakers": _beakers}
"""The composers of science and geometry drawings, by sort."""
