"""Logic and puzzles: a row of figures to go on with, a matrix with a gap, and balances that tell what weighs what."""

from dokimasia.domain.criterion import Box
from dokimasia.simulation import capabilities as can
from dokimasia.simulation.scene import Question
from dokimasia.simulation.scenes.balance import BALANCE
from dokimasia.simulation.scenes.draft import Clue, Draft, by_how_much, in_words
from dokimasia.simulation.scenes.drawing import COLOURS, FAINT, PAPER, SHADE, Canvas, Pixels
from dokimasia.simulation.scenes.layout import Composed, Layout, Sight
from dokimasia.simulation.scenes.phrasing import (
    Item,
    Wording,
    article,
    coloured,
    compare_pair,
    count_above,
    infer_sum,
    reading,
    relate_next,
)
from dokimasia.simulation.scenes.stock import LETTERS, SHAPES, TONES, WHITE, describe, shape

# --- the sequence ----------------------------------------------------------------------------------------------------

_NUMBERS = Wording(
    single="figure",
    name="the figure over {}",
    ask="Which number stands in {}?",
    say="The number in {name} is {value}.",
    show=str,
    read=can.NUMBER,
    degrees=("highest in number", "lowest in number", "higher in number"),
)


def _sequence(d: Draft) -> Composed:
    rng = d.rng
    n = 6
    letters, step, start = rng.sample(LETTERS, n), rng.choice((3, 4, 5, 6, 7, 8, 9)), rng.randrange(13, 40)
    rising = rng.random() < 0.6
    numbers = [start + step * (i if rising else n - i) for i in range(n + 1)]
    shapes, tones = rng.sample(SHAPES, rng.choice((2, 3))), rng.sample(TONES, rng.choice((2, 3, 4)))
    rows = [(shapes[i % len(shapes)], tones[i % len(tones)]) for i in range(n + 1)]
    for at in range(n):
        left = 22 + at * 86
        glass = (left, 180, left + 76, 256)
        d.fact(f"figure{at}.shape", letters[at], "shape", rows[at][0], glass)
        d.fact(f"figure{at}.tone", letters[at], "colour", rows[at][1], glass)
        d.fact(f"figure{at}.number", letters[at], "number", str(numbers[at]), (left, 180, left + 76, 256))
        d.fact(f"figure{at}.letter", f"figure {at + 1}", "letter", letters[at], (left, 276, left + 76, 312))
    items = [Item(letters[at], numbers[at], f"figure{at}.number") for at in range(n)]
    d.fact("gap", "last place", "shows", "a question mark", (540, 180, 616, 256))
    at = rng.randrange(n)
    where = _NUMBERS.called(letters[at])
    kind = d.word(f"figure{at}.shape", f"Which shape has {where}?", f"The shape of {where} is the {{}}.", SHAPES,
                  can.SHAPE)  # fmt: skip
    tone = d.word(f"figure{at}.tone", f"Which colour has {where}?", f"The colour of {where} is {{}}.", TONES,
                  can.COLOUR)  # fmt: skip
    one, other, third = rng.sample(items, 3)
    by = f"{'+' if rising else '-'}{step}"
    questions = [
        describe(d, "puzzle", "sequence of figures", f"and which shape and colour has {where}?", kind, tone),
        _shape_count(d, [row[0] for row in rows[:n]]) if rng.random() < 0.6 else count_above(d, _NUMBERS, items),
        relate_next(d, _NUMBERS, items),
        d.read_out(f"Which numbers stand over {one.label}, over {other.label} and over {third.label}?",
                   *(reading(d, _NUMBERS, item) for item in (one, other, third))),
        compare_pair(d, _NUMBERS, items),
        _next(d, rows[n], numbers[n], by) if rng.random() < 0.75 else infer_sum(d, _NUMBERS, items),
    ]  # fmt: skip
    return "a sequence of figures to go on with", questions


def _shape_count(d: Draft, shapes: list[str]) -> Question:
    shape = d.rng.choice(shapes)
    found = [f"figure{at}.shape" for at, one in enumerate(shapes) if one == shape]
    absent = d.rng.choice([s for s in SHAPES if s not in shapes])
    clues = [
        d.counted("How many figures are drawn, leaving out the question mark?", "Drawn are {} figures.", len(shapes)),
        Clue(f"Where in the row is {article(absent)} to be seen?", f"As to {article(absent)}, it is seen {{}}.",
             "nowhere", ("at the beginning", "in the middle"), can.ABSENCE),
        d.counted(f"How many figures have the shape of {article(shape)}?",
                  f"The number of figures with the shape of {article(shape)} is {{}}.", len(found),
                  can.COUNTING_SELECTED, d.box(*found)),
    ]  # fmt: skip
    return d.pose("count", f"How many of the figures have the shape of {article(shape)}?", clues)


def _next(d: Draft, row: tuple[str, str], number: int, by: str) -> Question:
    sign = by[0]
    steps = (*(f"{sign}{n}" for n in d.near(int(by[1:]), 2, low=1)), ("-" if sign == "+" else "+") + by[1:])
    clues = [
        Clue("By which step do the numbers change from figure to figure?",
             "From figure to figure the numbers change by {}.", by, steps, can.RULE),
        d.measured("Which number must stand in the last place?", "The last place needs the number {}.", number, "{}",
                   can.CONTINUATION),
        d.named("Which shape must stand in the last place?", "The shape that the last place needs is the {}.", row[0],
                SHAPES, can.CONTINUATION),
        d.named("Which colour must the figure in the last place have?", "The colour that the last place needs is {}.",
                row[1], TONES, can.CONTINUATION),
    ]  # fmt: skip
    text = "Which figure belongs in the place of the question mark? Name its colour, its shape and its number."
    said = in_words(lambda kind, tone, n: f"{coloured(tone, kind)} with {n}", clues[2], clues[3], clues[1])
    return d.pose("infer", text, clues, *said)


def _paint_sequence(c: Canvas, s: Sight) -> None:
    c.rect((8, 8, 632, 472), WHITE, line=FAINT)
    c.text((40, 70, 600, 116), "Which figure comes next?", size=30, line=SHADE, align="centre")
    for id in s.under("figure"):
        at = s.at(id)
        if id.endswith("shape"):
            shape(c, s.value(id), at, COLOURS[s.value(id.replace("shape", "tone"))])
        elif id.endswith("number"):
            x, y = (
                (at[0] + at[2]) / 2,
                (at[1] + at[3]) / 2 + (8 if s.value(id.replace("number", "shape")) == "triangle" else 2),
            )
            c.rect((x - 17, y - 12, x + 17, y + 12), WHITE, line=None, radius=6)
            c.text((x - 17, y - 12, x + 17, y + 12), s.value(id), size=19, align="centre")
        elif id.endswith("letter"):
            c.text(at, s.value(id), size=26, align="centre")
    c.rect(s.at("gap"), None, line=SHADE)
    c.text(s.at("gap"), "?", size=44, line=SHADE, align="centre")


# --- the matrix ------------------------------------------------------------------------------------------------------

_CELL = (("upper left", "upper middle", "upper right"), ("middle left", "central", "middle right"),
         ("lower left", "lower middle", "lower right"))  # fmt: skip


def _cell(row: int, column: int) -> Pixels:
    return (150 + column * 136, 64 + row * 132, 280 + column * 136, 190 + row * 132)


def _matrix(d: Draft) -> Composed:
    rng = d.rng
    shapes, tones, letters = rng.sample(SHAPES, 3), rng.sample(TONES, 3), rng.sample(LETTERS, 3)
    shift, number = rng.choice((1, 2)), rng.randrange(12, 99)
    gap = (rng.randrange(3), rng.randrange(3))
    cells = {(r, k): (shapes[r], tones[k], 1 + (r * shift + k) % 3) for r in range(3) for k in range(3)}
    d.fact("caption", "puzzle", "caption", f"Puzzle {number}", (150, 16, 552, 56))
    for row, letter in enumerate(letters):
        _, y0, _, y1 = _cell(row, 0)
        d.fact(f"letter{row}", f"row {row + 1}", "letter", letter, (90, y0, 140, y1))
    for (row, column), (form, tone, many) in cells.items():
        if (row, column) != gap:
            name, at, id = _CELL[row][column], _cell(row, column), f"cell{row}{column}"
            d.fact(f"{id}.shape", name, "shape", form, at)
            d.fact(f"{id}.tone", name, "colour", tone, at)
            d.fact(f"{id}.many", name, "number of figures", str(many), at)
    filled = [key for key in cells if key != gap]
    place = rng.choice(filled)
    name, id = _CELL[place[0]][place[1]], f"cell{place[0]}{place[1]}"
    kind = d.word(f"{id}.shape", f"Which shape stands in the {name} cell?",
                  f"The shape in the {name} cell is the {{}}.", SHAPES, can.SHAPE)  # fmt: skip
    tone = d.word(f"{id}.tone", f"Which colour have the figures in the {name} cell?",
                  f"The colour in the {name} cell is {{}}.", TONES, can.COLOUR)  # fmt: skip
    title = d.number("caption", "What is written over the matrix?", "The caption reads {}.", can.TEXT)
    rows = [
        d.word(f"letter{n}", f"Which letter marks the {where} row?", f"The letter of the {where} row is {{}}.",
               [*letters, "Y"], can.TEXT)
        for n, where in ((0, "top"), (2, "bottom"))
    ]  # fmt: skip
    questions = [
        describe(d, "puzzle", "matrix with a gap", f"and which shape and colour stand in the {name} cell?", kind, tone),
        _figures(d, cells, filled, shapes, letters),
        _below(d, cells, filled),
        d.read_out("What is written over the matrix, and which letters mark its top and its bottom row?", title, *rows),
        _rows_compared(d, cells, filled, shapes),
        _gap(d, cells[gap]),
    ]  # fmt: skip
    return "a matrix with a gap", questions


_Cells = dict[tuple[int, int], tuple[str, str, int]]
_Keys = list[tuple[int, int]]


def _area(d: Draft, keys: _Keys) -> Box:
    return d.box(*(f"cell{row}{column}.shape" for row, column in keys))


def _figures(d: Draft, cells: _Cells, filled: _Keys, shapes: list[str], letters: list[str]) -> Question:
    row = d.rng.randrange(3)
    inside = [key for key in filled if key[0] == row]
    total = sum(cells[key][2] for key in inside)
    area = _area(d, inside)
    absent = d.rng.choice([s for s in SHAPES if s not in shapes])
    clues = [
        d.counted(f"How many cells of row {letters[row]} are filled?",
                  f"In row {letters[row]}, the filled cells number {{}}.", len(inside), at=area),
        Clue(f"Where in the matrix is {article(absent)} to be seen?",
             f"As to {article(absent)}, the matrix has it {{}}.", "nowhere", ("in the top row", "in the bottom row"),
             can.ABSENCE),
        d.counted(f"How many single figures does row {letters[row]} hold?",
                  f"The single figures of row {letters[row]} number {{}}.", total, can.COUNTING_SELECTED, area),
    ]  # fmt: skip
    return d.pose("count", f"How many single figures are there in row {letters[row]}?", clues)


def _below(d: Draft, cells: _Cells, filled: _Keys) -> Question:
    above = d.rng.choice([key for key in filled if (key[0] + 1, key[1]) in filled])
    row, column = above[0] + 1, above[1]
    many = cells[row, column][2]
    name, id = _CELL[above[0]][above[1]], f"cell{row}{column}"
    clues = [
        d.word(f"{id}.shape", f"Which shape lies directly below the {name} cell?",
               f"The shape directly below the {name} cell is the {{}}.", SHAPES, can.POSITION),
        d.word(f"{id}.tone", f"Which colour lies directly below the {name} cell?",
               f"The colour directly below the {name} cell is {{}}.", TONES, can.COLOUR),
        d.count(f"{id}.many", f"How many figures lie directly below the {name} cell?",
                f"The number of figures directly below the {name} cell is {{}}."),
    ]  # fmt: skip
    clues[2] = clues[2]._replace(wrong=_other_numbers(many))
    text = f"What lies directly below the {name} cell? Name colour, shape and number."
    return d.pose("relate", text, clues, *in_words("{1} {0}, number {2}".format, *clues))


def _other_numbers(many: int) -> tuple[str, ...]:
    return tuple(str(n) for n in (1, 2, 3, 4) if n != many)


def _rows_compared(d: Draft, cells: _Cells, filled: _Keys, shapes: list[str]) -> Question:
    tally = {s: sum(cells[key][2] for key in filled if cells[key][0] == s) for s in shapes}
    high, low = d.rng.choice([(a, b) for a in shapes for b in shapes if tally[a] > tally[b]])
    asked = [high, low]
    d.rng.shuffle(asked)
    gap = tally[high] - tally[low]
    gaps = [str(n) for n in d.near(gap, low=1)]
    clues = [
        *(d.counted(f"How many {s}s does the matrix hold?", f"The matrix holds this number of {s}s: {{}}.", tally[s],
                    can.COUNTING, _area(d, [key for key in filled if cells[key][0] == s])) for s in asked),
        Clue("By how many do the compared shapes differ?", "The compared shapes differ by {}.", str(gap), tuple(gaps),
             can.DIFFERENCE),
        Clue("Which of the compared shapes is the more numerous?",
             "The more numerous of the compared shapes are the {}.", f"{high}s", (f"{low}s", "neither of them"),
             can.MAGNITUDE),
    ]  # fmt: skip
    text = f"Does the matrix hold more {asked[0]}s or more {asked[1]}s, and how many more?"
    return d.pose("compare", text, clues, *by_how_much("{}s, {} more".format, high, low, str(gap), gaps))


def _gap(d: Draft, cell: tuple[str, str, int]) -> Question:
    shape, tone, many = cell
    clues = [
        Clue("What do all cells of the same row share?", "All cells of the same row share their {}.", "shape",
             ("colour", "number of figures"), can.RULE),
        d.named("Which shape belongs in the gap?", "The shape that belongs in the gap is the {}.", shape, SHAPES,
                can.CONTINUATION),
        d.named("Which colour belongs in the gap?", "The colour that belongs in the gap is {}.", tone, TONES,
                can.CONTINUATION),
        Clue("How many figures belong in the gap, if no row or column repeats a number?",
             "The number of figures that belong in the gap is {}.", str(many), _other_numbers(many), can.DEDUCTION),
    ]  # fmt: skip
    text = "What belongs in the gap of the matrix? Name colour, shape and number of the figures."
    return d.pose("infer", text, clues, *in_words("{1} {0}, number {2}".format, *clues[1:]))


def _paint_matrix(c: Canvas, s: Sight) -> None:
    c.rect((8, 8, 632, 472), PAPER, line=FAINT)
    c.text(s.at("caption"), s.value("caption"), size=28, align="centre")
    for id in s.under("letter"):
        c.text(s.at(id), s.value(id), size=30, align="centre")
    for row in range(3):
        for column in range(3):
            at, id = _cell(row, column), f"cell{row}{column}"
            c.rect(at, WHITE, width=3)
            if not s.under(id):
                c.text(at, "?", size=64, line=SHADE, align="centre")
                continue
            many, middle = s.number(f"{id}.many"), (at[1] + at[3]) / 2
            for n in range(many):
                x = at[0] + (at[2] - at[0]) * (n + 1) / (many + 1) + (n - (many - 1) / 2) * 8
                shape(
                    c,
                    s.value(f"{id}.shape"),
                    (x - 18, middle - 18, x + 18, middle + 18),
                    COLOURS[s.value(f"{id}.tone")],
                )


LAYOUTS: tuple[Layout, ...] = (
    Layout("sequence", _sequence, _paint_sequence),
    Layout("matrix", _matrix, _paint_matrix),
    BALANCE,
)
"""The layouts of logic and puzzles."""
