"""A triangle with lengths and angles beside a grid of shaded squares."""

import math

from dokimasia.simulation import capabilities as can
from dokimasia.simulation.scene import Question
from dokimasia.simulation.scenes.draft import Clue, Draft
from dokimasia.simulation.scenes.drawing import COLOURS, FAINT, INK, PAPER, Canvas, Pixels, Point, tint
from dokimasia.simulation.scenes.layout import Composed, Layout, Sight
from dokimasia.simulation.scenes.phrasing import Item, Wording, compare_pair, reading
from dokimasia.simulation.scenes.stock import LETTERS, TONES, describe

_SIDES = Wording(
    single="side",
    ask="Which length has {}?",
    say="The length of {name} is {value}.",
    show="{} cm".format,
    read=can.LEGEND,
    degrees=("longest", "shortest", "longer"),
)
_GRID: Pixels = (420, 140, 600, 320)


def _corners(left: int, right: int) -> tuple[Point, Point, Point]:
    """Return the triangle's corners (left, right, top) for the angles at its base, as large as its region allows."""
    reach = 1 / math.tan(math.radians(left)) + 1 / math.tan(math.radians(right))
    high = min(250.0, 270 / reach)
    x0 = 70 + (270 - high * reach) / 2
    return (x0, 390), (x0 + high * reach, 390), (x0 + high / math.tan(math.radians(left)), 390 - high)


def _triangle(d: Draft) -> Composed:
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
    for n, (name, place) in enumerate(zip(names, places, strict=True)):
        d.fact(f"corner{n}", place, "letter", name, _beside(spots, n))
    d.fact("angle0", low, "angle", f"{left}°", (spots[0][0] + 24, 362, spots[0][0] + 74, 388))
    d.fact("angle1", low2, "angle", f"{right}°", (spots[1][0] - 74, 362, spots[1][0] - 24, 388))
    d.fact("angle2", high, "angle", "unknown", _unknown(spots))
    edges = [(low + low2, spots[0], spots[1], lengths[0], (0, 22)), (low2 + high, spots[1], spots[2], lengths[1], (40, -12)),
             (low + high, spots[0], spots[2], lengths[2], (-40, -12))]  # fmt: skip
    items: list[Item] = []
    for n, (name, a, b, length, (dx, dy)) in enumerate(edges):
        x, y = (a[0] + b[0]) / 2 + dx, (a[1] + b[1]) / 2 + dy
        d.fact(f"side{n}", name, "length", f"{length} cm", (x - 36, y - 13, x + 36, y + 13))
        items.append(Item(name, length, f"side{n}"))
    d.fact("triangle", "triangle", "colour", tones[0], (spots[0][0], spots[2][1], spots[1][0], 390))
    d.fact("grid", "grid", "colour of shaded squares", tones[1], _GRID)
    d.fact("rows", "grid", "rows", str(rows), _GRID)
    d.fact("columns", "grid", "columns", str(columns), _GRID)
    d.fact("shaded", "grid", "shaded squares", str(shaded), _GRID)
    questions = _triangle_questions(d, names, (left, right, top), items, rows * columns)
    return f"a triangle {low}{low2}{high} beside a grid", questions


def _unknown(spots: tuple[Point, Point, Point]) -> Pixels:
    x = spots[2][0] + 0.36 * ((spots[0][0] + spots[1][0]) / 2 - spots[2][0])
    y = spots[2][1] + 0.36 * (390 - spots[2][1])
    return (x - 12, y - 14, x + 12, y + 14)


def _beside(spots: tuple[Point, Point, Point], n: int) -> Pixels:
    x, y = spots[n]
    return ((x - 38, y, x - 8, y + 32), (x + 8, y, x + 38, y + 32), (x - 15, y - 36, x + 15, y - 4))[n]


def _triangle_questions(d: Draft, names: list[str], angles: tuple[int, int, int], items: list[Item], squares: int
                        ) -> list[Question]:  # fmt: skip
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
    long = reading(d, _SIDES, facing)
    lengths = long.wrong
    return [
        describe(d, "drawing", "geometric figure", "which colour fills the triangle, and which shades the grid?", fill, shade),
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


def _third_angle(d: Draft, high: str, angle: int, first: Clue, second: Clue) -> Question:
    clues = [
        first,
        second,
        Clue("To what do all angles of a triangle add up?", "All angles of a triangle add up to {}.", "180°",
             ("90°", "270°", "360°"), can.GEOMETRY),
        d.measured(f"How large must the angle at {high} be?", f"So the angle at {high} must measure {{}}.", angle,
                   "{}°", can.DIFFERENCE),
    ]  # fmt: skip
    return d.pose("infer", f"How large is the unknown angle at {high}?", clues)


def _unshaded(d: Draft, counts: list[Clue], squares: int) -> Question:
    clues = [
        d.counted("How many squares has the grid altogether?", "Altogether the grid has {} squares.", squares,
                  can.PRODUCT, "grid"),
        counts[-1],
        d.counted("How many squares of the grid stay without shading?", "Left without shading stay {} squares.",
                  squares - int(counts[-1].truth), can.DIFFERENCE),
    ]  # fmt: skip
    return d.pose("infer", "How many squares of the grid would still have to be shaded to fill it?", clues)


def _paint_triangle(c: Canvas, s: Sight) -> None:
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


TRIANGLE = Layout("triangle", _triangle, _paint_triangle)
"""The layout."""
