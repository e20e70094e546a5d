"""Logic and puzzles: a sequence of figures to continue, a matrix with a gap, and balances that compare weights."""

from collections.abc import Mapping

from dokimasia.domain.criterion import Box
from dokimasia.simulation.scene import SceneQuestion
from dokimasia.simulation.scenes.draft import (
    LETTERS,
    TONES,
    Compose,
    Composition,
    SceneDraft,
    article,
    by_how_much,
    coloured,
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
    d.state(caption=f"Weighing {caption}")
    for at, (left, right, state) in enumerate(weighings):
        for side, (body, many) in (("left", left), ("right", right)):
            d.row(f"pan{at}{side}", letters[at], body=body, many=many)
        d.fact(f"state{at}", state, letters[at])
        d.fact(f"letter{at}", letters[at])
    for body, tone in tones.items():
        d.fact(f"tone.{body}", tone, body)
    tilted = order.index(2)
    questions = _balance_questions(d, weighings, letters, tones, tilted)
    questions.append(_weigh(d, (heavy, middle, light), (a, b), [letters[order.index(n)] for n in (0, 1)]))
    return f"balances with {heavy}s, {middle}s and {light}s", questions


_Load = tuple[tuple[str, int], tuple[str, int], str]


def _balance_questions(
    d: SceneDraft, weighings: list[_Load], letters: list[str], tones: dict[str, str], tilted: int
) -> list[SceneQuestion]:
    at = d.rng.randrange(3)
    (left, _), (_, many), _ = weighings[at]
    balance = f"balance {letters[at]}"
    body = d.word(f"pan{at}left.body", balance=balance)
    tone = d.named("left_tone", tones[left], TONES, f"pan{at}left.body", balance=balance)
    number = d.count(f"pan{at}right.many", balance=balance)
    kind = d.word(f"pan{at}right.body", balance=balance)
    both = d.counted("both", many + 1, balance=balance)
    state = weighings[tilted][2]
    skew = f"balance {letters[tilted]}"
    level = d.named("tilted", letters[tilted], letters)
    contrary = "right" if state == "left" else "left"
    side = d.clue("side", state, (contrary, "neither"), balance=skew)
    gist = d.clue("heavier", f"pan on the {state}", (f"pan on the {contrary}", "middle"), balance=skew)
    head = d.number("caption")._replace(at=None)
    ends = [
        d.named("letter", letters[n], [*letters, "Y"], where=where) for n, where in ((0, "far left"), (2, "far right"))
    ]
    first, second = d.rng.sample(range(3), 2)
    return [
        d.ask_kind(f"and which body of which colour lies in the left pan of {balance}?", body, tone),
        d.pose("count", f"How many bodies lie on {balance} in both pans together?", (kind, number, both)),
        d.pose("relate", "Which balance does not stand level, and which of its sides hangs lower?", (level, side, gist),
               answer=f"{letters[tilted]}, the {state} side",
               wrong=[f"{letters[tilted]}, the {contrary} side", f"{level.wrong[0]}, the {state} side",
                      f"{level.wrong[1]}, the {contrary} side"]),
        d.read_out("What is written over the balances, and which letters have the first and the last of them?", head,
                   *ends),
        _pans(d, letters, first, second),
    ]  # fmt: skip


def _pans(d: SceneDraft, letters: list[str], first: int, second: int) -> SceneQuestion:
    names = [letters[first], letters[second]]
    clues = [d.count(f"pan{at}right.many", "pan", letter=letters[at]) for at in (first, second)]
    tally = [int(clue.truth) for clue in clues]
    clues.append(d.counted("gap", abs(tally[0] - tally[1])))
    clues.append(d.clue("verdict", *who_has_more(names, tally)))
    text = f"Which right pan holds more bodies, that of balance {names[0]} or that of balance {names[1]}?"
    return d.pose("compare", text, clues)


def _weigh(d: SceneDraft, bodies: tuple[str, str, str], times: tuple[int, int], letters: list[str]) -> SceneQuestion:
    heavy, middle, light = bodies
    a, b = times
    clues = [
        d.counted("equation", a, heavier=heavy, lighter=middle, letter=letters[0]),
        d.counted("equation", b, heavier=middle, lighter=light, letter=letters[1]),
        d.clue("operation", "multiplication", ("addition", "subtraction", "division")),
        d.counted("solution", a * b, heavier=heavy, lighter=light),
    ]
    return d.pose("infer", f"How many {light}s would it take to balance one {heavy} exactly?", clues)


def _sequence(d: SceneDraft) -> Composition:
    rng = d.rng
    n = 6
    letters, step, start = rng.sample(LETTERS, n), rng.choice((3, 4, 5, 6, 7, 8, 9)), rng.randrange(13, 40)
    rising = rng.random() < 0.6
    numbers = [start + step * (i if rising else n - i) for i in range(n + 1)]
    shapes, tones = rng.sample(SHAPES, rng.choice((2, 3))), rng.sample(TONES, rng.choice((2, 3, 4)))
    rows = [(shapes[i % len(shapes)], tones[i % len(tones)]) for i in range(n + 1)]
    for at, letter in enumerate(letters):
        shape, tone = rows[at]
        d.row(f"figure{at}", letter, shape=shape, tone=tone, number=numbers[at], letter=letter)
    m = d.measures(letters, numbers[:n], "figure{}.number")
    d.state(gap="a question mark")
    at = rng.randrange(n)
    where = m.called(letters[at])
    kind = d.word(f"figure{at}.shape", SHAPES, where=where)
    tone = d.word(f"figure{at}.tone", TONES, where=where)
    first, second, third = rng.sample(m.items, 3)
    by = f"{'+' if rising else '-'}{step}"
    questions = [
        d.ask_kind(f"and which shape and colour has {where}?", kind, tone),
        _shape_count(d, [row[0] for row in rows[:n]]) if rng.random() < 0.6 else m.count_above(),
        m.relate_next(),
        d.read_out(f"Which numbers stand over {first.label}, over {second.label} and over {third.label}?",
                   *map(m.reading, (first, second, third))),
        m.compare_pair(),
        _next(d, rows[n], numbers[n], by) if rng.random() < 0.75 else m.infer_sum(),
    ]  # fmt: skip
    return "a sequence of figures to go on with", questions


def _shape_count(d: SceneDraft, shapes: list[str]) -> SceneQuestion:
    shape = d.rng.choice(shapes)
    ids = [f"figure{at}.shape" for at, name in enumerate(shapes) if name == shape]
    absent = article(d.absent(SHAPES, shapes))
    clues = [
        d.counted("drawn", len(shapes)),
        d.clue("absent", "nowhere", ("at the beginning", "in the middle"), absent=absent),
        d.counted("shaped", len(ids), d.box(*ids), shape=article(shape)),
    ]
    return d.pose("count", f"How many of the figures have the shape of {article(shape)}?", clues)


def _next(d: SceneDraft, row: tuple[str, str], number: int, by: str) -> SceneQuestion:
    sign = by[0]
    steps = (*(f"{sign}{n}" for n in d.near(int(by[1:]), 2, low=1)), ("-" if sign == "+" else "+") + by[1:])
    clues = [
        d.clue("rule", by, steps),
        d.measured("next_number", number),
        d.named("next_shape", row[0], SHAPES),
        d.named("next_tone", row[1], TONES),
    ]
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
    d.state(caption=f"Puzzle {number}")
    for row, letter in enumerate(letters):
        d.fact(f"letter{row}", letter)
    for (row, column), (shape, tone, many) in cells.items():
        if (row, column) != gap:
            d.row(f"cell{row}{column}", _CELL[row][column], shape=shape, tone=tone, many=many)
    filled_cells = [key for key in cells if key != gap]
    row, column = rng.choice(filled_cells)
    name, id = _CELL[row][column], f"cell{row}{column}"
    kind, tone = d.word(f"{id}.shape", SHAPES, cell=name), d.word(f"{id}.tone", TONES, cell=name)
    title = d.number("caption")
    rows = [d.word(f"letter{n}", [*letters, "Y"], where=where) for n, where in ((0, "top"), (2, "bottom"))]
    questions = [
        d.ask_kind(f"and which shape and colour stand in the {name} cell?", kind, tone),
        _figures(d, cells, filled_cells, shapes, letters),
        _below(d, cells, filled_cells),
        d.read_out("What is written over the matrix, and which letters mark its top and its bottom row?", title, *rows),
        _rows_compared(d, cells, filled_cells, shapes),
        _gap(d, cells[gap]),
    ]
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
    absent = article(d.absent(SHAPES, shapes))
    clues = [
        d.counted("filled", len(inside), area, row=letters[row]),
        d.clue("absent", "nowhere", ("in the top row", "in the bottom row"), absent=absent),
        d.counted("figures", total, area, row=letters[row]),
    ]
    return d.pose("count", f"How many single figures are there in row {letters[row]}?", clues)


def _below(d: SceneDraft, cells: _Cells, filled_cells: _Keys) -> SceneQuestion:
    above = d.rng.choice([key for key in filled_cells if (key[0] + 1, key[1]) in filled_cells])
    row, column = above[0] + 1, above[1]
    name, id = _CELL[above[0]][above[1]], f"cell{row}{column}"
    clues = [
        d.word(f"{id}.shape", SHAPES, "shape_below", cell=name),
        d.word(f"{id}.tone", TONES, "tone_below", cell=name),
        d.count(f"{id}.many", "many_below", cell=name),
    ]
    clues[2] = clues[2]._replace(wrong=_other_numbers(cells[row, column][2]))
    text = f"What lies directly below the {name} cell? Name colour, shape and number."
    return d.pose("relate", text, clues, *say_all("{1} {0}, number {2}".format, *clues))


def _other_numbers(many: int) -> tuple[str, ...]:
    return tuple(str(n) for n in (1, 2, 3, 4) if n != many)


def _rows_compared(d: SceneDraft, cells: _Cells, filled_cells: _Keys, shapes: list[str]) -> SceneQuestion:
    tally = {s: sum(cells[key][2] for key in filled_cells if cells[key][0] == s) for s in shapes}
    high, low = d.unequal(tally)
    compared = [high, low]
    d.rng.shuffle(compared)
    gap = str(tally[high] - tally[low])
    gaps = list(map(str, d.near(int(gap), low=1)))
    clues = [
        d.counted("of_shape", tally[s], _area(d, [key for key in filled_cells if cells[key][0] == s]), shape=s)
        for s in compared
    ]
    clues.append(d.clue("gap", gap, gaps))
    clues.append(d.clue("numerous", f"{high}s", (f"{low}s", "neither of them")))
    text = f"Does the matrix hold more {compared[0]}s or more {compared[1]}s, and how many more?"
    return d.pose("compare", text, clues, *by_how_much("{}s, {} more".format, high, low, gap, gaps))


def _gap(d: SceneDraft, cell: tuple[str, str, int]) -> SceneQuestion:
    shape, tone, many = cell
    clues = [
        d.clue("shared", "shape", ("colour", "number of figures")),
        d.named("gap_shape", shape, SHAPES),
        d.named("gap_tone", tone, TONES),
        d.clue("gap_many", str(many), _other_numbers(many)),
    ]
    text = "What belongs in the gap of the matrix? Name colour, shape and number of the figures."
    return d.pose("infer", text, clues, *say_all("{1} {0}, number {2}".format, *clues[1:]))


LAYOUTS: Mapping[str, Compose] = {"sequence": _sequence, "matrix": _matrix, "balance": _balance}
"""The composers of puzzles, by sort."""
