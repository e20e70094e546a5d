"""Natural scenes: a park, a street and a kitchen, with coloured things in a back and a front row, a sky and a sign."""

from collections.abc import Mapping
from functools import partial
from itertools import pairwise
from random import Random
from typing import NamedTuple

from dokimasia.domain.criterion import Box
from dokimasia.simulation import capabilities as can
from dokimasia.simulation.scene import SceneQuestion
from dokimasia.simulation.scenes.draft import (
    Clue,
    Compose,
    Composition,
    SceneDraft,
    article,
    by_how_much,
    coloured,
    say_both,
)
from dokimasia.simulation.scenes.drawing import (
    COLOUR_NAMES,
    Pixels,
    box_of,
    union,
)
from dokimasia.simulation.scenes.sorts import ORDINALS

_PLACES: dict[str, tuple[str, ...]] = {
    "park": ("ball", "balloon", "kite", "umbrella", "cat", "bench", "flower", "tent"),
    "street": ("car", "bus", "ball", "bicycle", "umbrella", "cat", "bench", "balloon"),
    "kitchen": ("mug", "bottle", "bowl", "book", "pot", "lamp", "flower", "cat"),
}
_SIGNS: dict[str, tuple[str, ...]] = {
    "park": ("Oak Meadow", "Swan Lake", "Maple Green", "Lindenhof", "Rose Garden", "Birch Hill", "Fern Hollow"),
    "street": ("Elm Lane", "Harbour Road", "Mill Street", "Abbey Row", "Queen Street", "Chapel Way", "Dock Road"),
    "kitchen": ("January", "February", "March", "April", "June", "August", "October", "December"),
}
_BOARD = {"park": "wooden sign", "street": "street sign", "kitchen": "calendar"}
PLURALS: dict[str, str] = {
    "ball": "balls", "balloon": "balloons", "kite": "kites", "umbrella": "umbrellas", "cat": "cats",
    "bench": "benches", "flower": "flowers", "tent": "tents", "car": "cars", "bus": "buses", "bicycle": "bicycles",
    "mug": "mugs", "bottle": "bottles", "bowl": "bowls", "book": "books", "pot": "pots", "lamp": "lamps",
}  # fmt: skip
"""Every thing that natural scenes are made of, and its plural."""
_TOP = {"park": 99, "street": 99, "kitchen": 29}
_SKIES = ("sun", "moon", "cloud")
_COUNTS = ((3, 2, 2, 1), (3, 3, 1, 1), (4, 2, 1, 1), (3, 2, 1, 1), (2, 2, 2, 1), (4, 1, 1, 1))
_ROWS = ("back", "front")


class SceneThing(NamedTuple):
    """A thing of a natural scene: its row, its place in it from 0, and its box."""

    kind: str
    colour: str
    row: str
    place: int
    box: Box

    @property
    def name(self) -> str:
        """Colour and kind."""
        return f"{self.colour} {self.kind}"


class Signed(NamedTuple):
    """What stands on a scene's sign, on which side it hangs, and what is in the sky on the other one."""

    words: str
    number: str
    side: str
    sky: str


def _things(rng: Random, setting: str) -> list[SceneThing]:
    kinds = rng.sample(_PLACES[setting], 4)
    named = [
        (kind, colour)
        for kind, n in zip(kinds, rng.choice(_COUNTS), strict=True)
        for colour in rng.sample(COLOUR_NAMES, n)
    ]
    rng.shuffle(named)
    front = rng.choice((3, 4)) if len(named) == 7 else 4
    slots: list[tuple[str, int, int]] = []
    for row, n in (("back", len(named) - front), ("front", front)):
        slots += [(row, position, column) for position, column in enumerate(sorted(rng.sample(range(4), n)))]
    return [
        SceneThing(kind, colour, row, at, box_of(_slot(row, column)))
        for (kind, colour), (row, at, column) in zip(named, slots, strict=True)
    ]


def _slot(row: str, column: int) -> Pixels:
    left, top = 42 + 148 * column, 190 if row == "back" else 342
    return (left, top, left + 112, top + 112)


def _compose(setting: str, d: SceneDraft) -> Composition:
    rng = d.rng
    things = _things(rng, setting)
    side = rng.choice(("left", "right"))
    words, number, weather = rng.choice(_SIGNS[setting]), str(rng.randrange(12, _TOP[setting])), rng.choice(_SKIES)
    board = _state_facts(setting, d, things, Signed(words, number, side, weather))
    sign = (words, number, side, box_of(board))
    questions = [
        _recognise(d, things),
        _count(d, setting, things),
        _relate(d, things),
        _read(d, setting, sign),
        _compare(d, things),
        _infer(d, things, weather),
    ]
    return f"{article(setting)} with {len(things)} things", questions


def _state_facts(setting: str, d: SceneDraft, things: list[SceneThing], sign: Signed) -> Pixels:
    """Add the facts of a scene, and return where its sign hangs."""
    left = sign.side == "left"
    board: Pixels = (40, 24, 240, 124) if left else (400, 24, 600, 124)
    above: Pixels = (480, 30, 570, 114) if left else (70, 30, 160, 114)
    for n, thing in enumerate(things, 1):
        at = _slot(thing.row, round((thing.box.x0 * 640 - 42) / 148))
        d.fact(f"thing{n}.kind", thing.kind, f"{ORDINALS[thing.place]} in the {thing.row} row", at)
        d.fact(f"thing{n}.colour", thing.colour, thing.name, at)
    d.fact("sky", sign.sky, at=above)
    d.fact("sign.text", sign.words, _BOARD[setting], (board[0], board[1], board[2], board[1] + 50))
    d.fact("sign.number", sign.number, _BOARD[setting], (board[0], board[1] + 50, board[2], board[3]))
    return board


def arranged(
    setting: str, d: SceneDraft, rows: Mapping[str, list[tuple[str, str]]], sign: Signed
) -> list[SceneQuestion]:
    """Add the facts of a scene in which things stand as they are named: by row, each its colour and kind, from left to right.

    Returns one question, what a thing is. At most four things stand in a row.
    """
    things = [
        SceneThing(kind, colour, row, place, box_of(_slot(row, place)))
        for row, named in rows.items()
        for place, (colour, kind) in enumerate(named)
    ]
    _state_facts(setting, d, things, sign)
    return [_recognise(d, things)]


def _row_box(row: str) -> Box:
    return box_of((42, 190, 598, 302) if row == "back" else (42, 342, 598, 454))


def _kinds(things: list[SceneThing]) -> list[str]:
    return [t.kind for t in things]


def _recognise(d: SceneDraft, things: list[SceneThing]) -> SceneQuestion:
    it = d.rng.choice(things)
    where = f"the {ORDINALS[it.place]} thing from the left in the {it.row} row"
    row = sum(t.row == it.row for t in things)
    kind = d.named(f"What kind of thing is {where}?", "The thing asked for is of the kind {}.", it.kind, list(PLURALS),
                   can.OBJECT, it.box)  # fmt: skip
    colour = d.named(f"Which colour has {where}?", "The colour of the thing asked for is {}.", it.colour, COLOUR_NAMES,
                     can.COLOUR, it.box)  # fmt: skip
    answer, wrong = say_both(coloured, colour, kind)
    clues = [
        d.counted(f"How many things stand in the {it.row} row?", f"The {it.row} row holds {{}} things.", row,
                  at=_row_box(it.row)),
        kind,
        colour,
        Clue(f"How is {where} named in full, by colour and kind?", "Named in full, it is {}.", answer, tuple(wrong),
             can.FORM, it.box),
    ]  # fmt: skip
    return d.pose("recognise", f"What is {where}? Name its colour and kind.", clues, answer, wrong)


def _count(d: SceneDraft, setting: str, things: list[SceneThing]) -> SceneQuestion:
    kind = d.rng.choice([k for k in dict.fromkeys(_kinds(things)) if _kinds(things).count(k) > 1])
    many = PLURALS[kind]
    inside = [sum(t.kind == kind and t.row == row for t in things) for row in _ROWS]
    absent = d.absent(_PLACES[setting], _kinds(things))
    clues = [
        d.counted(f"How many {many} stand in the {row} row?", f"The number of {many} in the {row} row is {{}}.", n,
                  can.COUNTING_SELECTED, _row_box(row))
        for row, n in zip(_ROWS, inside, strict=True)
    ]  # fmt: skip
    clues.append(_missing(absent))
    clues.append(d.counted(f"How many {many} does the picture show altogether?",
                           f"Altogether the picture shows this number of {many}: {{}}.", sum(inside)))  # fmt: skip
    return d.pose("count", f"How many {many} are there in the picture?", clues)


def _missing(kind: str) -> Clue:
    name = article(kind)
    return Clue(f"Where in the picture is {name} to be seen?", f"As for {name}, the picture shows it {{}}.", "nowhere",
                ("in the back row", "in the front row"), can.ABSENCE)  # fmt: skip


def _relate(d: SceneDraft, things: list[SceneThing]) -> SceneQuestion:
    pairs = [(a, b) for a, b in pairwise(things) if a.row == b.row]
    it, beside = d.rng.choice(pairs)
    side = d.rng.choice(("right", "left"))
    if side == "left":
        it, beside = beside, it
    kind = d.named("What kind of thing is the neighbour on the side that is asked about?",
                   f"The {side} neighbour is of the kind {{}}.", beside.kind, list(PLURALS), can.POSITION,
                   beside.box)  # fmt: skip
    colour = d.named("Which colour has the neighbour on the side that is asked about?",
                     f"The colour of the {side} neighbour is {{}}.", beside.colour, COLOUR_NAMES, can.COLOUR,
                     beside.box)  # fmt: skip
    row_wrong = ("middle", "front" if it.row == "back" else "back")
    clues = [
        Clue(f"In which row does the {it.name} stand?", f"The {it.name} stands in the {{}} row.", it.row, row_wrong,
             can.POSITION, it.box),
        d.named(f"At which place from the left in its row does the {it.name} stand?",
                f"Counted from the left in its row, the {it.name} comes {{}}.", ORDINALS[it.place], ORDINALS[:4],
                can.ORDINAL, it.box),
        kind,
        colour,
    ]  # fmt: skip
    text = f"What stands next to the {it.name} on its {side} side, in the same row? Name its colour and kind."
    answers = say_both(lambda kind, colour: coloured(colour, kind), kind, colour)
    return d.pose("relate", text, clues, *answers)


def _read(d: SceneDraft, setting: str, sign: tuple[str, str, str, Box]) -> SceneQuestion:
    words, number, side, box = sign
    board = _BOARD[setting]
    texts = d.others(_SIGNS[setting], words)
    numbers = tuple(map(str, d.near(int(number), low=10)))
    corners = ("upper left", "upper right", "lower left", "lower right")
    corner = f"upper {side}"
    clues = [
        d.named(f"In which corner of the picture hangs the {board}?", f"The {board} hangs in the {{}} corner.", corner,
                corners, can.POSITION, box),
        Clue(f"Which words stand on the {board}?", f"The words on the {board} read {{}}.", words, texts, can.TEXT, box),
        Clue(f"Which number stands on the {board}?", f"The number on the {board} is {{}}.", number, numbers, can.NUMBER,
             box),
    ]  # fmt: skip
    answers = say_both("{} {}".format, *clues[1:])
    return d.pose("read", f"What do the words and the number on the {board} say?", clues, *answers)


def _compare(d: SceneDraft, things: list[SceneThing]) -> SceneQuestion:
    tally = {k: _kinds(things).count(k) for k in dict.fromkeys(_kinds(things))}
    high, low = d.unequal(tally)
    compared = [high, low]
    d.rng.shuffle(compared)
    gap = tally[high] - tally[low]
    clues = [
        d.counted(f"How many {PLURALS[k]} are in the picture?", f"The count of the {PLURALS[k]} is {{}}.", tally[k],
                  can.COUNTING, union([t.box for t in things if t.kind == k]))
        for k in compared
    ]  # fmt: skip
    gaps = tuple(map(str, d.near(gap)))
    clues.append(Clue("By how many do the compared kinds differ?", "The compared kinds differ by {}.", str(gap), gaps,
                      can.DIFFERENCE))  # fmt: skip
    clues.append(Clue("Which of the compared kinds is the more numerous?", "The more numerous kind is the {}.",
                      PLURALS[high], (PLURALS[low], "neither, since both are equally many"), can.MAGNITUDE))  # fmt: skip
    text = f"Are there more {PLURALS[compared[0]]} or more {PLURALS[compared[1]]}, and how many more?"
    answers = by_how_much("{}, {} more".format, PLURALS[high], PLURALS[low], str(gap), gaps)
    return d.pose("compare", text, clues, *answers)


def _infer(d: SceneDraft, things: list[SceneThing], weather: str) -> SceneQuestion:
    rng = d.rng
    if rng.random() < 0.5:
        colour = rng.choice([t.colour for t in things])
        n = sum(t.colour == colour for t in things)
        clues = [
            d.counted("How many things do both rows hold together?", "Both rows together hold {} things.", len(things)),
            d.counted(f"How many of the things are {colour}?", f"The number of {colour} things is {{}}.", n,
                      can.COUNTING_SELECTED),
            d.counted(f"How many things are left when all that is {colour} is gone?",
                      f"Without all that is {colour}, the number of things left is {{}}.", len(things) - n, can.DIFFERENCE),
        ]  # fmt: skip
        text = f"If everything {colour} were taken away from both rows, how many things would remain?"
        return d.pose("infer", text, clues)
    kind = rng.choice(_kinds(things))
    remaining, more = sum(t.kind == kind and t.row == "back" for t in things), rng.randrange(2, 6)
    many = PLURALS[kind]
    lit = {"sun": "a sunny day", "moon": "night", "cloud": "a clouded day"}
    clues = [
        d.word("sky", "What is to be seen in the sky?", "In the sky one sees a {}.", _SKIES, can.STATE),
        d.named("What time and weather does the sky tell of?", "The sky tells of {}.", lit[weather], list(lit.values()),
                can.CONVENTION, "sky"),
        d.counted(f"How many {many} stood in the back row from the start?",
                  f"From the start the back row holds this number of {many}: {{}}.", remaining, can.COUNTING_SELECTED,
                  _row_box("back")),
        d.counted(f"How many {many} stand in the back row at the end?",
                  f"At the end the number of {many} there is {{}}.", remaining + more, can.ADDITION),
    ]  # fmt: skip
    text = (
        f"Under the sky that is shown, the front row is cleared away and {more} more {many} are put into the back row. "
        f"Is it day or night, and how many {many} stand in the back row then?"
    )
    end = {"sun": "day", "moon": "night", "cloud": "day"}
    wrong = [f"{end[weather]}, {n}" for n in d.near(remaining + more, 2)]
    wrong.insert(1, f"{'day' if weather == 'moon' else 'night'}, {remaining + more}")
    return d.pose("infer", text, clues, f"{end[weather]}, {remaining + more}", wrong)


LAYOUTS: Mapping[str, Compose] = {setting: partial(_compose, setting) for setting in _PLACES}
"""How natural scenes are composed, by their place."""
