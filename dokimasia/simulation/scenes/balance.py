"""Balances that tell what weighs what."""

from dokimasia.simulation import capabilities as can
from dokimasia.simulation.scene import Question
from dokimasia.simulation.scenes.draft import Clue, Draft, who_has_more
from dokimasia.simulation.scenes.drawing import COLOURS, FAINT, Canvas, Pixels, Rgb
from dokimasia.simulation.scenes.layout import Composed, Layout, Sight
from dokimasia.simulation.scenes.stock import LETTERS, TONES, WHITE, describe

_BODIES: tuple[str, ...] = ("cube", "ball", "cone", "drum")


def _pan(at: int, side: str) -> Pixels:
    left = 36 + at * 200 + (0 if side == "left" else 92)
    return (left, 140, left + 78, 306)


def _balance(d: Draft) -> Composed:
    rng = d.rng
    heavy, middle, light = rng.sample(_BODIES, 3)
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
    shown = [loads[n] for n in order]
    d.fact("caption", "puzzle", "caption", f"Weighing {caption}", (120, 20, 520, 66))
    for at, (left, right, state) in enumerate(shown):
        for side, (body, many) in (("left", left), ("right", right)):
            d.fact(f"pan{at}{side}.body", f"{side} pan of {letters[at]}", "bodies", body, _pan(at, side))
            d.fact(f"pan{at}{side}.many", f"{side} pan of {letters[at]}", "number", str(many), _pan(at, side))
        x0, x1 = _pan(at, "left")[0], _pan(at, "right")[2]
        d.fact(f"state{at}", letters[at], "lower side", state, (x0, 140, x1, 380))
        d.fact(f"letter{at}", f"balance {at + 1}", "letter", letters[at], (x0, 396, x1, 440))
    for body, tone in tones.items():
        d.fact(f"tone.{body}", body, "colour", tone, (30, 140, 610, 306))
    tilted = order.index(2)
    questions = _balance_questions(d, shown, letters, tones, tilted)
    questions.append(_weigh(d, (heavy, middle, light), (a, b), [letters[order.index(n)] for n in (0, 1)]))
    return f"balances with {heavy}s, {middle}s and {light}s", questions


_Load = tuple[tuple[str, int], tuple[str, int], str]


def _balance_questions(d: Draft, shown: list[_Load], letters: list[str], tones: dict[str, str], tilted: int
                       ) -> list[Question]:  # fmt: skip
    at = d.rng.randrange(3)
    (left, _), (_, many), _ = shown[at]
    here = f"balance {letters[at]}"
    body = d.word(f"pan{at}left.body", f"What lies in the left pan of {here}?",
                  f"In the left pan of {here} lies a {{}}.", _BODIES, can.OBJECT)  # fmt: skip
    tone = d.named(f"Which colour has the body in the left pan of {here}?", f"The left body of {here} is {{}}.",
                   tones[left], TONES, can.COLOUR, f"pan{at}left.body")  # fmt: skip
    number = d.count(f"pan{at}right.many", f"How many bodies lie in the right pan of {here}?",
                     f"The right pan of {here} holds {{}} of them.")  # fmt: skip
    kind = d.word(f"pan{at}right.body", f"Of which kind are the bodies in the right pan of {here}?",
                  f"The right pan of {here} holds the kind {{}}.", _BODIES, can.OBJECT)  # fmt: skip
    both = d.counted(f"How many bodies lie on {here} altogether?", f"Altogether {here} bears {{}} bodies.", many + 1,
                     can.ADDITION)  # fmt: skip
    state = shown[tilted][2]
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
        describe(d, "puzzle", "set of balances", f"and which body of which colour lies in the left pan of {here}?", body, tone),
        d.pose("count", f"How many bodies lie on {here} in both pans together?", (kind, number, both)),
        d.pose("relate", "Which balance does not stand level, and which of its sides hangs lower?", (level, side, gist),
               answer=f"{letters[tilted]}, the {state} side",
               wrong=[f"{letters[tilted]}, the {side.wrong[0]} side", f"{level.wrong[0]}, the {state} side",
                      f"{level.wrong[1]}, the {side.wrong[0]} side"]),
        d.read_out("What is written over the balances, and which letters have the first and the last of them?", head,
                   *ends),
        _pans(d, letters, first, second),
    ]  # fmt: skip


def _pans(d: Draft, letters: list[str], first: int, second: int) -> Question:
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


def _weigh(d: Draft, bodies: tuple[str, str, str], times: tuple[int, int], letters: list[str]) -> Question:
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


def _body(c: Canvas, name: str, at: Pixels, fill: Rgb) -> None:
    x0, y0, x1, y1 = at
    if name == "ball":
        c.oval(at, fill)
    elif name == "cone":
        c.poly([((x0 + x1) / 2, y0), (x1, y1), (x0, y1)], fill)
    elif name == "drum":
        c.rect((x0, y0 + 5, x1, y1), fill, radius=4)
        c.oval((x0, y0, x1, y0 + 11), WHITE)
    else:
        c.rect(at, fill)


def _paint_balance(c: Canvas, s: Sight) -> None:
    c.rect((8, 8, 632, 472), WHITE, line=FAINT)
    c.text(s.at("caption"), s.value("caption"), size=30, align="centre")
    for at, id in enumerate(s.under("letter")):
        c.text(s.at(id), s.value(id), size=28, align="centre")
        lean = {"level": 0, "left": 22, "right": -22}[s.value(f"state{at}")]
        (x0, _, x1, _), (x2, _, x3, _) = _pan(at, "left"), _pan(at, "right")
        middle, left, right = (x0 + x3) / 2, (x0 + x1) / 2, (x2 + x3) / 2
        c.line([(left, 300 + lean), (right, 300 - lean)], width=5)
        c.poly([(middle, 300), (middle + 30, 380), (middle - 30, 380)], (190, 194, 202))
        for side, x, drop in (("left", left, lean), ("right", right, -lean)):
            floor = 276 + drop
            c.line([(x, 300 + drop), (x, floor)], width=4)
            c.line([(x - 39, floor), (x + 39, floor)], width=5)
            body, many = s.value(f"pan{at}{side}.body"), s.number(f"pan{at}{side}.many")
            for n in range(many):
                row, column = n // 2, n % 2
                left_edge = x - 17 if many == 1 else x - 36 + column * 38
                top = floor - 36 - row * 36
                _body(c, body, (left_edge, top, left_edge + 34, top + 33), COLOURS[s.value(f"tone.{body}")])


BALANCE = Layout("balance", _balance, _paint_balance)
"""The layout."""
