"""Logic and puzzles: a row of figures to go on with, a matrix with a gap, and balances that tell what weighs what."""

from collections.abc import Sequence
from random import Random

from dokimasia.simulation import capabilities as can
from dokimasia.simulation.scene import Fact, Question
from dokimasia.simulation.scenes.balance import BALANCE
from dokimasia.simulation.scenes.drawing import (
    COLOURS,
    FAINT,
    PAPER,
    SHADE,
    Canvas,
    Pixels,
    box_of,
    union,
)
from dokimasia.simulation.scenes.layout import Layout, Plan, Sight, fact
from dokimasia.simulation.scenes.phrasing import (
    Clue,
    Item,
    Wording,
    article,
    compare_pair,
    count_above,
    counted,
    describe,
    infer_sum,
    measured,
    named,
    near,
    pose,
    read_out,
    reading,
    relate_next,
)
from dokimasia.simulation.scenes.stock import LETTERS, SHAPES, TONES, WHITE, genre, shape

# --- the sequence ----------------------------------------------------------------------------------------------------

_NUMBERS = Wording(
    single="figure",
    many="figures",
    name="the figure over {}",
    ask="Which number stands in {}?",
    say="The number in {name} is {value}.",
    show=str,
    read=can.NUMBER,
    most="highest in number",
    least="lowest in number",
    more="higher in number",
)


def _sequence(rng: Random, scene: str) -> Plan:
    n = 6
    letters, step, start = rng.sample(LETTERS, n), rng.choice((3, 4, 5, 6, 7, 8, 9)), rng.randrange(13, 40)
    rising = rng.random() < 0.6
    numbers = [start + step * (i if rising else n - i) for i in range(n + 1)]
    shapes, tones = rng.sample(SHAPES, rng.choice((2, 3))), rng.sample(TONES, rng.choice((2, 3, 4)))
    rows = [(shapes[i % len(shapes)], tones[i % len(tones)]) for i in range(n + 1)]
    facts: list[Fact] = []
    items: list[Item] = []
    for at in range(n):
        left = 22 + at * 86
        glass = (left, 180, left + 76, 256)
        facts.append(fact(f"figure{at}.shape", letters[at], "shape", rows[at][0], glass))
        facts.append(fact(f"figure{at}.tone", letters[at], "colour", rows[at][1], glass))
        facts.append(fact(f"figure{at}.number", letters[at], "number", str(numbers[at]), (left, 180, left + 76, 256)))
        facts.append(fact(f"figure{at}.letter", f"figure {at + 1}", "letter", letters[at], (left, 276, left + 76, 312)))
        items.append(Item(letters[at], numbers[at], facts[-2].box))
    facts.append(fact("gap", "last place", "shows", "a question mark", (540, 180, 616, 256)))
    at = rng.randrange(n)
    where = _NUMBERS.name.format(letters[at])
    kind = named(rng, f"Which shape has {where}?", f"The shape of {where} is the {{}}.", rows[at][0], SHAPES, can.SHAPE,
                 items[at].box)  # fmt: skip
    tone = named(rng, f"Which colour has {where}?", f"The colour of {where} is {{}}.", rows[at][1], TONES, can.COLOUR,
                 items[at].box)  # fmt: skip
    one, other, third = rng.sample(items, 3)
    by = f"{'+' if rising else '-'}{step}"
    questions = [
        describe(rng, scene, f"What kind of puzzle is this, and which shape and colour has {where}?",
                 genre(rng, "puzzle", "sequence of figures"), kind, tone),
        _shape_count(rng, scene, rows[:n], items) if rng.random() < 0.6 else count_above(rng, scene, _NUMBERS, items),
        relate_next(rng, scene, _NUMBERS, items),
        read_out(rng, scene, f"Which numbers stand over {one.label}, over {other.label} and over {third.label}?",
                 *(reading(rng, _NUMBERS, item) for item in (one, other, third))),
        compare_pair(rng, scene, _NUMBERS, items),
        _next(rng, scene, rows[n], numbers[n], by) if rng.random() < 0.75 else infer_sum(rng, scene, _NUMBERS, items),
    ]  # fmt: skip
    return Plan("a sequence of figures to go on with", facts, questions)


def _shape_count(rng: Random, scene: str, rows: Sequence[tuple[str, str]], items: list[Item]) -> Question:
    shape = rng.choice([row[0] for row in rows])
    found = [item for item, row in zip(items, rows, strict=True) if row[0] == shape]
    absent = rng.choice([s for s in SHAPES if s not in [row[0] for row in rows]])
    clues = [
        counted(rng, "How many figures are drawn, leaving out the question mark?", "Drawn are {} figures.", len(rows)),
        Clue(f"Where in the row is {article(absent)} to be seen?", f"As to {article(absent)}, it is seen {{}}.", "nowhere",
             ("at the beginning", "in the middle"), can.ABSENCE),
        counted(rng, f"How many figures have the shape of {article(shape)}?",
                f"The number of figures with the shape of {article(shape)} is {{}}.", len(found), can.COUNTING_SELECTED,
                union([item.box for item in found])),
    ]  # fmt: skip
    text = f"How many of the figures have the shape of {article(shape)}?"
    return pose(rng, scene, "count", text, clues=clues, answer=str(len(found)), wrong=clues[-1].wrong)


def _next(rng: Random, scene: str, row: tuple[str, str], number: int, by: str) -> Question:
    sign = by[0]
    steps = (*(f"{sign}{n}" for n in near(rng, int(by[1:]), 2, low=1)), ("-" if sign == "+" else "+") + by[1:])
    clues = [
        Clue("By which step do the numbers change from figure to figure?", "From figure to figure the numbers change by {}.",
             by, steps, can.RULE),
        measured(rng, "Which number must stand in the last place?", "The last place needs the number {}.", number, "{}",
                 can.CONTINUATION),
        named(rng, "Which shape must stand in the last place?", "The shape that the last place needs is the {}.", row[0],
              SHAPES, can.CONTINUATION),
        named(rng, "Which colour must the figure in the last place have?", "The colour that the last place needs is {}.",
              row[1], TONES, can.CONTINUATION),
    ]  # fmt: skip
    answer = f"a {row[1]} {row[0]} with {number}".replace("a orange", "an orange")
    wrong = [
        article(f"{row[1]} {clues[2].wrong[0]} with {number}"),
        article(f"{clues[3].wrong[0]} {row[0]} with {number}"),
        article(f"{row[1]} {row[0]} with {clues[1].wrong[0]}"),
    ]
    text = "Which figure belongs in the place of the question mark? Name its colour, its shape and its number."
    return pose(rng, scene, "infer", text, clues=clues, answer=answer, wrong=wrong)


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


def _matrix(rng: Random, scene: str) -> Plan:
    shapes, tones, letters = rng.sample(SHAPES, 3), rng.sample(TONES, 3), rng.sample(LETTERS, 3)
    shift, caption = rng.choice((1, 2)), f"Puzzle {rng.randrange(12, 99)}"
    gap = (rng.randrange(3), rng.randrange(3))
    cells = {
        (r, k): (shapes[r], tones[k], 1 + (r * shift + k) % 3) for r in range(3) for k in range(3)
    }  # fmt: skip
    facts = [fact("caption", "puzzle", "caption", caption, (150, 16, 552, 56))]
    for row, letter in enumerate(letters):
        _, y0, _, y1 = _cell(row, 0)
        facts.append(fact(f"letter{row}", f"row {row + 1}", "letter", letter, (90, y0, 140, y1)))
    for (row, column), (form, tone, many) in cells.items():
        if (row, column) != gap:
            name, at, id = _CELL[row][column], _cell(row, column), f"cell{row}{column}"
            facts.append(fact(f"{id}.shape", name, "shape", form, at))
            facts.append(fact(f"{id}.tone", name, "colour", tone, at))
            facts.append(fact(f"{id}.many", name, "number of figures", str(many), at))
    filled = [key for key in cells if key != gap]
    place = rng.choice(filled)
    name, box = _CELL[place[0]][place[1]], box_of(_cell(*place))
    kind = named(rng, f"Which shape stands in the {name} cell?", f"The shape in the {name} cell is the {{}}.",
                 cells[place][0], SHAPES, can.SHAPE, box)  # fmt: skip
    tone = named(rng, f"Which colour have the figures in the {name} cell?", f"The colour in the {name} cell is {{}}.",
                 cells[place][1], TONES, can.COLOUR, box)  # fmt: skip
    title = measured(rng, "Which caption does the puzzle bear?", "The caption reads {}.", int(caption.split()[1]), "Puzzle {}",
                     can.TEXT, box_of((150, 16, 552, 56)))  # fmt: skip
    title = title._replace(ask="What is written over the matrix?")
    rows = [
        named(rng, f"Which letter marks the {where} row?", f"The letter of the {where} row is {{}}.", letters[n],
              [*letters, "Y"], can.TEXT, box_of((90, 64 + n * 132, 140, 190 + n * 132)))
        for n, where in ((0, "top"), (2, "bottom"))
    ]  # fmt: skip
    questions = [
        describe(rng, scene, f"What kind of puzzle is this, and which shape and colour stand in the {name} cell?",
                 genre(rng, "puzzle", "matrix with a gap"), kind, tone),
        _figures(rng, scene, cells, filled, shapes, letters),
        _below(rng, scene, cells, filled),
        read_out(rng, scene, "What is written over the matrix, and which letters mark its top and its bottom row?", title, *rows),
        _rows_compared(rng, scene, cells, filled, shapes),
        _gap(rng, scene, cells[gap]),
    ]  # fmt: skip
    return Plan("a matrix with a gap", facts, questions)


_Cells = dict[tuple[int, int], tuple[str, str, int]]
_Keys = list[tuple[int, int]]


def _figures(rng: Random, scene: str, cells: _Cells, filled: _Keys, shapes: list[str], letters: list[str]) -> Question:
    row = rng.randrange(3)
    inside = [key for key in filled if key[0] == row]
    total = sum(cells[key][2] for key in inside)
    area = union([box_of(_cell(*key)) for key in inside])
    absent = rng.choice([s for s in SHAPES if s not in shapes])
    clues = [
        counted(rng, f"How many cells of row {letters[row]} are filled?", f"In row {letters[row]}, the filled cells number {{}}.",
                len(inside), box=area),
        Clue(f"Where in the matrix is {article(absent)} to be seen?", f"As to {article(absent)}, the matrix has it {{}}.",
             "nowhere", ("in the top row", "in the bottom row"), can.ABSENCE),
        counted(rng, f"How many single figures does row {letters[row]} hold?",
                f"The single figures of row {letters[row]} number {{}}.", total, can.COUNTING_SELECTED, area),
    ]  # fmt: skip
    text = f"How many single figures are there in row {letters[row]}?"
    return pose(rng, scene, "count", text, clues=clues, answer=str(total), wrong=clues[-1].wrong)


def _below(rng: Random, scene: str, cells: _Cells, filled: _Keys) -> Question:
    above = rng.choice([key for key in filled if (key[0] + 1, key[1]) in filled])
    key = (above[0] + 1, above[1])
    shape, tone, many = cells[key]
    name, box = _CELL[above[0]][above[1]], box_of(_cell(*key))
    clues = [
        named(rng, f"Which shape lies directly below the {name} cell?", f"The shape directly below the {name} cell is the {{}}.",
              shape, SHAPES, can.POSITION, box),
        named(rng, f"Which colour lies directly below the {name} cell?", f"The colour directly below the {name} cell is {{}}.",
              tone, TONES, can.COLOUR, box),
        counted(rng, f"How many figures lie directly below the {name} cell?",
                f"The number of figures directly below the {name} cell is {{}}.", many, box=box),
    ]  # fmt: skip
    clues[2] = clues[2]._replace(wrong=tuple(str(n) for n in (1, 2, 3, 4) if n != many))
    truth = f"{tone} {shape}, number {many}"
    wrong = [f"{tone} {clues[0].wrong[0]}, number {many}", f"{clues[1].wrong[0]} {shape}, number {many}",
             f"{tone} {shape}, number {clues[2].wrong[0]}"]  # fmt: skip
    text = f"What lies directly below the {name} cell? Name colour, shape and number."
    return pose(rng, scene, "relate", text, clues=clues, answer=truth, wrong=wrong)


def _rows_compared(rng: Random, scene: str, cells: _Cells, filled: _Keys, shapes: list[str]) -> Question:
    tally = {s: sum(cells[key][2] for key in filled if cells[key][0] == s) for s in shapes}
    high, low = rng.choice([(a, b) for a in shapes for b in shapes if tally[a] > tally[b]])
    asked = [high, low]
    rng.shuffle(asked)
    gap = tally[high] - tally[low]
    gaps = [str(n) for n in near(rng, gap, low=1)]
    clues = [
        *(counted(rng, f"How many {s}s does the matrix hold?", f"The matrix holds this number of {s}s: {{}}.", tally[s],
                  can.COUNTING, union([box_of(_cell(*key)) for key in filled if cells[key][0] == s])) for s in asked),
        Clue("By how many do the compared shapes differ?", "The compared shapes differ by {}.", str(gap), tuple(gaps),
             can.DIFFERENCE),
        Clue("Which of the compared shapes is the more numerous?", "The more numerous of the compared shapes are the {}.",
             f"{high}s", (f"{low}s", "neither of them"), can.MAGNITUDE),
    ]  # fmt: skip
    text = f"Does the matrix hold more {asked[0]}s or more {asked[1]}s, and how many more?"
    wrong = [f"{low}s, {gap} more", f"{high}s, {gaps[0]} more", f"{low}s, {gaps[1]} more"]
    return pose(rng, scene, "compare", text, clues=clues, answer=f"{high}s, {gap} more", wrong=wrong)


def _gap(rng: Random, scene: str, cell: tuple[str, str, int]) -> Question:
    shape, tone, many = cell
    clues = [
        Clue("What do all cells of the same row share?", "All cells of the same row share their {}.", "shape",
             ("colour", "number of figures"), can.RULE),
        named(rng, "Which shape belongs in the gap?", "The shape that belongs in the gap is the {}.", shape, SHAPES,
              can.CONTINUATION),
        named(rng, "Which colour belongs in the gap?", "The colour that belongs in the gap is {}.", tone, TONES,
              can.CONTINUATION),
        Clue("How many figures belong in the gap, if every row and column shows each number once?",
             "The number of figures that belong in the gap is {}.", str(many),
             tuple(str(n) for n in (1, 2, 3, 4) if n != many), can.DEDUCTION),
    ]  # fmt: skip
    clues[3] = clues[3]._replace(ask="How many figures belong in the gap, if no row or column repeats a number?")
    truth = f"{tone} {shape}, number {many}"
    wrong = [f"{tone} {clues[1].wrong[0]}, number {many}", f"{clues[2].wrong[0]} {shape}, number {many}",
             f"{tone} {shape}, number {clues[3].wrong[0]}"]  # fmt: skip
    text = "What belongs in the gap of the matrix? Name colour, shape and number of the figures."
    return pose(rng, scene, "infer", text, clues=clues, answer=truth, wrong=wrong)


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
