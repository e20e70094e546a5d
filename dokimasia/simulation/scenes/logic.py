"""Logic and puzzles: a row of figures to go on with, a matrix with a gap, and balances that tell what weighs what."""

from collections.abc import Mapping

from dokimasia.domain.criterion import Box
from dokimasia.simulation import capabilities as can
from dokimasia.simulation.scene import SceneQuestion
from dokimasia.simulation.scenes.draft import (
    LETTERS,
    TONES,
    Clue,
    Compose,
    Composition,
    MeasureWording,
    SceneDraft,
    article,
    ask_kind,
    by_how_much,
    coloured,
    compare_pair,
    count_above,
    infer_sum,
    measured_items,
    reading_clue,
    relate_next,
    say_all,
    who_has_more,
)
from dokimasia.simulation.scenes.drawing import SHAPES


def _balance(d: SceneDraft) -> Composition:
    rng = d.rng
    heavy, middle, light = rng.sample(d.words("bodies"), 3)
    tones = dict(zip((heavy, middle, light), rng.sample(TONES, 3), strict=True))
    a, b = rng.choice(((2, 2), (2, 3), (3, 2), (2, 4), (4, 2), (3, 3), (3, 4), (4, 3)))
    against = rng.choice([n for n in range(2, 7) if n != a * b])
    tilt = "left" if against < a * b else "right"
    letters, caption = rng.sample(LETTERS, 3), rng.randrange(12, 99)
    loads = [
        ((heavy, 1), (middle, a), "level"),
        ((middle, 1), (light, b), "level"),
        ((heavy, 1), (light, against), tilt),
    ]
    order = [0, 1, 2]
    rng.shuffle(order)
    weighings = [loads[n] for n in order]
    d.fact("caption", f"Weighing {caption}")
    for at, (left, right, state) in enumerate(weighings):
        for side, (body, many) in (("left", left), ("right", right)):
            d.fact(f"pan{at}{side}.body", body, letters[at])
            d.fact(f"pan{at}{side}.many", many, letters[at])
        d.fact(f"state{at}", state, letters[at])
        d.fact(f"letter{at}", letters[at])
    for body, tone in tones.items():
        d.fact(f"tone.{body}", tone, body)
    tilted = order.index(2)
    questions = _balance_questions(d, weighings, letters, tones, tilted)
    questions.append(_weigh(d, (heavy, middle, light), (a, b), [letters[order.index(n)] for n in (0, 1)]))
    return f"balances with {heavy}s, {middle}s and {light}s", questions


_Load = tuple[tuple[str, int], tuple[str, int], str]


def _balance_questions(d: SceneDraft, weighings: list[_Load], letters: list[str], tones: dict[str, str], tilted: int
                       ) -> list[SceneQuestion]:  # fmt: skip
    at = d.rng.randrange(3)
    (left, _), (_, many), _ = weighings[at]
    balance = f"balance {letters[at]}"
    body = d.word(f"pan{at}left.body", f"What lies in the left pan of {balance}?",
                  f"In the left pan of {balance} lies a {{}}.", d.words("bodies"), can.OBJECT)  # fmt: skip
    tone = d.named(f"Which colour has the body in the left pan of {balance}?", f"The left body of {balance} is {{}}.",
                   tones[left], TONES, can.COLOUR, f"pan{at}left.body")  # fmt: skip
    number = d.count(f"pan{at}right.many", f"How many bodies lie in the right pan of {balance}?",
                     f"The right pan of {balance} holds {{}} of them.")  # fmt: skip
    kind = d.word(f"pan{at}right.body", f"Of which kind are the bodies in the right pan of {balance}?",
                  f"The right pan of {balance} holds the kind {{}}.", d.words("bodies"), can.OBJECT)  # fmt: skip
    both = d.counted(f"How many bodies lie on {balance} altogether?", f"Altogether {balance} bears {{}} bodies.", many + 1,
                     can.ADDITION)  # fmt: skip
    state = weighings[tilted][2]
    skew = f"balance {letters[tilted]}"
    level = d.named("Which balance does not stand level?", "The balance that does not stand level is {}.",
                    letters[tilted], letters, can.STATE)  # fmt: skip
    side = Clue(f"Which side of {skew} hangs lower?", f"On {skew}, the lower side is the {{}}.", state,
                ("right" if state == "left" else "left", "neither"), can.POSITION)  # fmt: skip
    gist = Clue(f"Where does the heavier load of {skew} lie?", f"The heavier load of {skew} lies in the {{}}.",
                f"pan on the {state}", (f"pan on the {side.wrong[0]}", "middle"), can.SCIENCE)  # fmt: skip
    head = d.number("caption", "What is written over the balances?", "Over the balances stands {}.", can.TEXT)
    head = head._replace(at=None)
    ends = [
        d.named(f"Which letter stands under the balance at the {where}?",
                f"The letter of the balance at the {where} is {{}}.", letters[n], [*letters, "Y"], can.TEXT)
        for n, where in ((0, "far left"), (2, "far right"))
    ]  # fmt: skip
    first, second = d.rng.sample(range(3), 2)
    return [
        ask_kind(d, "puzzle", "set of balances", f"and which body of which colour lies in the left pan of {balance}?",
                 body, tone),
        d.pose("count", f"How many bodies lie on {balance} in both pans together?", (kind, number, both)),
        d.pose("relate", "Which balance does not stand level, and which of its sides hangs lower?", (level, side, gist),
               answer=f"{letters[tilted]}, the {state} side",
               wrong=[f"{letters[tilted]}, the {side.wrong[0]} side", f"{level.wrong[0]}, the {state} side",
                      f"{level.wrong[1]}, the {side.wrong[0]} side"]),
        d.read_out("What is written over the balances, and which letters have the first and the last of them?", head,
                   *ends),
        _pans(d, letters, first, second),
    ]  # fmt: skip


def _pans(d: SceneDraft, letters: list[str], first: int, second: int) -> SceneQuestion:
    names = [letters[first], letters[second]]
    clues = [
        d.count(f"pan{at}right.many", f"How many bodies does the right pan of balance {letters[at]} hold?",
                f"In the right pan of balance {letters[at]} the bodies number {{}}.")
        for at in (first, second)
    ]  # fmt: skip
    tally = [int(clue.truth) for clue in clues]
    verdict, wrong = who_has_more(names, tally)
    clues.append(d.counted("By how many bodies do the compared pans differ?", "The compared pans differ by {} bodies.",
                           abs(tally[0] - tally[1]), can.DIFFERENCE))  # fmt: skip
    clues.append(Clue("What follows for the compared pans?", "It follows that {}.", verdict, wrong, can.MAGNITUDE))
    text = f"Which right pan holds more bodies, that of balance {names[0]} or that of balance {names[1]}?"
    return d.pose("compare", text, clues)


def _weigh(d: SceneDraft, bodies: tuple[str, str, str], times: tuple[int, int], letters: list[str]) -> SceneQuestion:
    heavy, middle, light = bodies
    a, b = times
    clues = [
        d.counted(f"How many {middle}s weigh as much as a {heavy}, by balance {letters[0]}?",
                  f"A {heavy} weighs as much as this number of {middle}s: {{}}.", a),
        d.counted(f"How many {light}s weigh as much as a {middle}, by balance {letters[1]}?",
                  f"A {middle} weighs as much as this number of {light}s: {{}}.", b),
        Clue("By which operation do both equations lead to the answer?", "Both numbers are joined by {}.",
             "multiplication", ("addition", "subtraction", "division"), can.DEDUCTION),
        d.counted(f"How many {light}s weigh as much as a {heavy}?",
                  f"It follows that a {heavy} weighs as much as this number of {light}s: {{}}.", a * b, can.PRODUCT),
    ]  # fmt: skip
    return d.pose("infer", f"How many {light}s would it take to balance one {heavy} exactly?", clues)


_NUMBERS = MeasureWording(
    single="figure",
    name="the figure over {}",
    ask="Which number stands in {}?",
    say="The number in {name} is {value}.",
    show=str,
    read=can.NUMBER,
    degrees=("highest in number", "lowest in number", "higher in number"),
)


def _sequence(d: SceneDraft) -> Composition:
    rng = d.rng
    n = 6
    letters, step, start = rng.sample(LETTERS, n), rng.choice((3, 4, 5, 6, 7, 8, 9)), rng.randrange(13, 40)
    rising = rng.random() < 0.6
    numbers = [start + step * (i if rising else n - i) for i in range(n + 1)]
    shapes, tones = rng.sample(SHAPES, rng.choice((2, 3))), rng.sample(TONES, rng.choice((2, 3, 4)))
    rows = [(shapes[i % len(shapes)], tones[i % len(tones)]) for i in range(n + 1)]
    for at in range(n):
        d.fact(f"figure{at}.shape", rows[at][0], letters[at])
        d.fact(f"figure{at}.tone", rows[at][1], letters[at])
        d.fact(f"figure{at}.number", numbers[at], letters[at])
        d.fact(f"figure{at}.letter", letters[at])
    items = measured_items(letters, numbers[:n], "figure{}.number")
    d.fact("gap", "a question mark")
    at = rng.randrange(n)
    where = _NUMBERS.called(letters[at])
    kind = d.word(f"figure{at}.shape", f"Which shape has {where}?", f"The shape of {where} is the {{}}.", SHAPES,
                  can.SHAPE)  # fmt: skip
    tone = d.word(f"figure{at}.tone", f"Which colour has {where}?", f"The colour of {where} is {{}}.", TONES,
                  can.COLOUR)  # fmt: skip
    first, second, third = rng.sample(items, 3)
    by = f"{'+' if rising else '-'}{step}"
    questions = [
        ask_kind(d, "puzzle", "sequence of figures", f"and which shape and colour has {where}?", kind, tone),
        _shape_count(d, [row[0] for row in rows[:n]]) if rng.random() < 0.6 else count_above(d, _NUMBERS, items),
        relate_next(d, _NUMBERS, items),
        d.read_out(f"Which numbers stand over {first.label}, over {second.label} and over {third.label}?",
                   *(reading_clue(d, _NUMBERS, item) for item in (first, second, third))),
        compare_pair(d, _NUMBERS, items),
        _next(d, rows[n], numbers[n], by) if rng.random() < 0.75 else infer_sum(d, _NUMBERS, items),
    ]  # fmt: skip
    return "a sequence of figures to go on with", questions


def _shape_count(d: SceneDraft, shapes: list[str]) -> SceneQuestion:
    shape = d.rng.choice(shapes)
    ids = [f"figure{at}.shape" for at, name in enumerate(shapes) if name == shape]
    absent = d.absent(SHAPES, shapes)
    clues = [
        d.counted("How many figures are drawn, leaving out the question mark?", "Drawn are {} figures.", len(shapes)),
        Clue(f"Where in the row is {article(absent)} to be seen?", f"As to {article(absent)}, it is seen {{}}.",
             "nowhere", ("at the beginning", "in the middle"), can.ABSENCE),
        d.counted(f"How many figures have the shape of {article(shape)}?",
                  f"The number of figures with the shape of {article(shape)} is {{}}.", len(ids),
                  can.COUNTING_SELECTED, d.box(*ids)),
    ]  # fmt: skip
    return d.pose("count", f"How many of the figures have the shape of {article(shape)}?", clues)


def _next(d: SceneDraft, row: tuple[str, str], number: int, by: str) -> SceneQuestion:
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
    answers = say_all(lambda kind, tone, n: f"{coloured(tone, kind)} with {n}", clues[2], clues[3], clues[1])
    return d.pose("infer", text, clues, *answers)


_CELL = (("upper left", "upper middle", "upper right"), ("middle left", "central", "middle right"),
         ("lower left", "lower middle", "lower right"))  # fmt: skip


def _matrix(d: SceneDraft) -> Composition:
    rng = d.rng
    shapes, tones, letters = rng.sample(SHAPES, 3), rng.sample(TONES, 3), rng.sample(LETTERS, 3)
    shift, number = rng.choice((1, 2)), rng.randrange(12, 99)
    gap = (rng.randrange(3), rng.randrange(3))
    cells = {(r, k): (shapes[r], tones[k], 1 + (r * shift + k) % 3) for r in range(3) for k in range(3)}
    d.fact("caption", f"Puzzle {number}")
    for row, letter in enumerate(letters):
        d.fact(f"letter{row}", letter)
    for (row, column), (form, tone, many) in cells.items():
        if (row, column) != gap:
            name, id = _CELL[row][column], f"cell{row}{column}"
            d.fact(f"{id}.shape", form, name)
            d.fact(f"{id}.tone", tone, name)
            d.fact(f"{id}.many", many, name)
    filled_cells = [key for key in cells if key != gap]
    chosen_cell = rng.choice(filled_cells)
    name, id = _CELL[chosen_cell[0]][chosen_cell[1]], f"cell{chosen_cell[0]}{chosen_cell[1]}"
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
        ask_kind(d, "puzzle", "matrix with a gap", f"and which shape and colour stand in the {name} cell?", kind, tone),
        _figures(d, cells, filled_cells, shapes, letters),
        _below(d, cells, filled_cells),
        d.read_out("What is written over the matrix, and which letters mark its top and its bottom row?", title, *rows),
        _rows_compared(d, cells, filled_cells, shapes),
        _gap(d, cells[gap]),
    ]  # fmt: skip
    return "a matrix with a gap", questions


_Cells = dict[tuple[int, int], tuple[str, str, int]]
_Keys = list[tuple[int, int]]


def _area(d: SceneDraft, keys: _Keys) -> Box:
    return d.box(*(f"cell{row}{column}.shape" for row, column in keys))


def _figures(d: SceneDraft, cells: _Cells, filled_cells: _Keys, shapes: list[str], letters: list[str]) -> SceneQuestion:
    row = d.rng.randrange(3)
    inside = [key for key in filled_cells if key[0] == row]
    total = sum(cells[key][2] for key in inside)
    area = _area(d, inside)
    absent = d.absent(SHAPES, shapes)
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


def _below(d: SceneDraft, cells: _Cells, filled_cells: _Keys) -> SceneQuestion:
    above = d.rng.choice([key for key in filled_cells if (key[0] + 1, key[1]) in filled_cells])
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
    return d.pose("relate", text, clues, *say_all("{1} {0}, number {2}".format, *clues))


def _other_numbers(many: int) -> tuple[str, ...]:
    return tuple(str(n) for n in (1, 2, 3, 4) if n != many)


def _rows_compared(d: SceneDraft, cells: _Cells, filled_cells: _Keys, shapes: list[str]) -> SceneQuestion:
    tally = {s: sum(cells[key][2] for key in filled_cells if cells[key][0] == s) for s in shapes}
    high, low = d.unequal(tally)
    compared = [high, low]
    d.rng.shuffle(compared)
    gap = tally[high] - tally[low]
    gaps = list(map(str, d.near(gap, low=1)))
    clues = [
        *(d.counted(f"How many {s}s does the matrix hold?", f"The matrix holds this number of {s}s: {{}}.", tally[s],
                    can.COUNTING, _area(d, [key for key in filled_cells if cells[key][0] == s])) for s in compared),
        Clue("By how many do the compared shapes differ?", "The compared shapes differ by {}.", str(gap), tuple(gaps),
             can.DIFFERENCE),
        Clue("Which of the compared shapes is the more numerous?",
             "The more numerous of the compared shapes are the {}.", f"{high}s", (f"{low}s", "neither of them"),
             can.MAGNITUDE),
    ]  # fmt: skip
    text = f"Does the matrix hold more {compared[0]}s or more {compared[1]}s, and how many more?"
    return d.pose("compare", text, clues, *by_how_much("{}s, {} more".format, high, low, str(gap), gaps))


def _gap(d: SceneDraft, cell: tuple[str, str, int]) -> SceneQuestion:
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
    return d.pose("infer", text, clues, *say_all("{1} {0}, number {2}".format, *clues[1:]))


LAYOUTS: Mapping[str, Compose] = {"sequence": _sequence, "matrix": _matrix, "balance": _balance}
"""How puzzles are composed, by their sort."""
