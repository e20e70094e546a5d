"""Natural scenes: a park, a street and a kitchen, with coloured things in a back and a front row, a sky and a sign."""

from collections import Counter
from collections.abc import Mapping
from functools import partial
from itertools import pairwise
from random import Random
from typing import NamedTuple

from dokimasia.domain.criterion import Box
from dokimasia.simulation.scene import SceneQuestion
from dokimasia.simulation.scenes.draft import (
    Compose,
    Composition,
    SceneDraft,
    article,
    by_how_much,
    coloured,
    say_both,
)
from dokimasia.simulation.scenes.drawing import COLOUR_NAMES, Pixels, box_of, union
from dokimasia.simulation.scenes.sorts import ORDINALS

_THINGS = "ball balloon kite umbrella cat bench flower tent car bus bicycle mug bottle bowl book pot lamp"
THINGS: tuple[str, ...] = tuple(_THINGS.split())
"""All things in natural scenes."""

_TOP = {"park": 99, "street": 99, "kitchen": 29}
_SKIES = ("sun", "moon", "cloud")
_COUNTS = ((3, 2, 2, 1), (3, 3, 1, 1), (4, 2, 1, 1), (3, 2, 1, 1), (2, 2, 2, 1), (4, 1, 1, 1))
_ROWS = ("back", "front")


class SceneThing(NamedTuple):
    """A thing of a natural scene: its row, its place in it from 0, and its column."""

    kind: str
    colour: str
    row: str
    place: int
    column: int

    @property
    def name(self) -> str:
        """Colour and kind."""
        return f"{self.colour} {self.kind}"

    @property
    def slot(self) -> Pixels:
        """Its region in pixels."""
        left, top = 42 + 148 * self.column, 190 if self.row == "back" else 342
        return (left, top, left + 112, top + 112)

    @property
    def box(self) -> Box:
        """Its region."""
        return box_of(self.slot)


class Signed(NamedTuple):
    """The text on a scene's sign, the sign's side, and the object in the sky on the other side."""

    words: str
    number: str
    side: str
    sky: str


def _plural(kind: str) -> str:
    if kind in ("bench", "bus"):
        return f"{kind}es"
    return f"{kind}s"


def _things(rng: Random, among: tuple[str, ...]) -> list[SceneThing]:
    kinds = rng.sample(among, 4)
    named: list[tuple[str, str]] = []
    for kind, n in zip(kinds, rng.choice(_COUNTS), strict=True):
        named += [(kind, colour) for colour in rng.sample(COLOUR_NAMES, n)]
    rng.shuffle(named)
    front = rng.choice((3, 4)) if len(named) == 7 else 4
    slots: list[tuple[str, int, int]] = []
    for row, n in (("back", len(named) - front), ("front", front)):
        slots += [(row, position, column) for position, column in enumerate(sorted(rng.sample(range(4), n)))]
    return [SceneThing(*thing, *slot) for thing, slot in zip(named, slots, strict=True)]


def _compose(setting: str, d: SceneDraft) -> Composition:
    rng = d.rng
    things = _things(rng, d.words("things"))
    side = rng.choice(("left", "right"))
    words, number, sky = rng.choice(d.words("signs")), str(rng.randrange(12, _TOP[setting])), rng.choice(_SKIES)
    sign = Signed(words, number, side, sky)
    board = _state_facts(d, things, sign)
    questions = [
        _recognise(d, things),
        _count(d, things),
        _relate(d, things),
        _read(d, sign, box_of(board)),
        _compare(d, things),
        _infer(d, things, sky),
    ]
    return f"{article(setting)} with {len(things)} things", questions


def _state_facts(d: SceneDraft, things: list[SceneThing], sign: Signed) -> Pixels:
    """Add the facts of a scene, and return the place of its sign."""
    left = sign.side == "left"
    board: Pixels = (40, 24, 240, 124) if left else (400, 24, 600, 124)
    above: Pixels = (480, 30, 570, 114) if left else (70, 30, 160, 114)
    for n, thing in enumerate(things, 1):
        d.fact(f"thing{n}.kind", thing.kind, f"{ORDINALS[thing.place]} in the {thing.row} row", thing.slot)
        d.fact(f"thing{n}.colour", thing.colour, thing.name, thing.slot)
    d.fact("sky", sign.sky, at=above)
    x0, y0, x1, y1 = board
    (name,) = d.words("board")
    d.fact("sign.text", sign.words, name, (x0, y0, x1, y0 + 50))
    d.fact("sign.number", sign.number, name, (x0, y0 + 50, x1, y1))
    return board


def arranged(d: SceneDraft, rows: Mapping[str, list[tuple[str, str]]], sign: Signed) -> list[SceneQuestion]:
    """Add the facts of a scene with the named things: by row, each its colour and kind, from left to right.

    Returns one question, what a thing is. At most four things stand in a row.
    """
    things = [
        SceneThing(kind, colour, row, place, place)
        for row, named in rows.items()
        for place, (colour, kind) in enumerate(named)
    ]
    _state_facts(d, things, sign)
    return [_recognise(d, things)]


def _row_box(row: str) -> Box:
    return box_of((42, 190, 598, 302) if row == "back" else (42, 342, 598, 454))


def _in_rows(things: list[SceneThing], kind: str) -> list[int]:
    """Return how many things of a kind are in each row."""
    return [sum(t.kind == kind and t.row == row for t in things) for row in _ROWS]


def _recognise(d: SceneDraft, things: list[SceneThing]) -> SceneQuestion:
    it = d.rng.choice(things)
    where = f"the {ORDINALS[it.place]} thing from the left in the {it.row} row"
    row = sum(t.row == it.row for t in things)
    kind = d.named("kind", it.kind, THINGS, it.box, where=where)
    colour = d.named("colour", it.colour, COLOUR_NAMES, it.box, where=where)
    answer, wrong = say_both(coloured, colour, kind)
    clues = [
        d.counted("row_size", row, _row_box(it.row), row=it.row),
        kind,
        colour,
        d.clue("full_name", answer, wrong, it.box, where=where),
    ]
    return d.pose("recognise", f"What is {where}? Name its colour and kind.", clues, answer, wrong)


def _count(d: SceneDraft, things: list[SceneThing]) -> SceneQuestion:
    tally = Counter(t.kind for t in things)
    kind = d.rng.choice([kind for kind, n in tally.items() if n > 1])
    many = _plural(kind)
    absent = article(d.absent(d.words("things"), list(tally)))
    clues = [
        d.counted("kind_in_row", n, _row_box(row), many=many, row=row)
        for row, n in zip(_ROWS, _in_rows(things, kind), strict=True)
    ]
    clues.append(d.clue("absent", "nowhere", ("in the back row", "in the front row"), absent=absent))
    clues.append(d.counted("kind_altogether", tally[kind], many=many))
    return d.pose("count", f"How many {many} are there in the picture?", clues)


def _relate(d: SceneDraft, things: list[SceneThing]) -> SceneQuestion:
    pairs = [(a, b) for a, b in pairwise(things) if a.row == b.row]
    it, beside = d.rng.choice(pairs)
    side = d.rng.choice(("right", "left"))
    if side == "left":
        it, beside = beside, it
    kind = d.named("neighbour_kind", beside.kind, THINGS, beside.box, side=side)
    colour = d.named("neighbour_colour", beside.colour, COLOUR_NAMES, beside.box, side=side)
    other_row = "front" if it.row == "back" else "back"
    clues = [
        d.clue("row", it.row, ("middle", other_row), it.box, thing=it.name),
        d.named("place", ORDINALS[it.place], ORDINALS[:4], it.box, thing=it.name),
        kind,
        colour,
    ]
    text = f"What stands next to the {it.name} on its {side} side, in the same row? Name its colour and kind."
    answers = say_both(lambda kind, colour: coloured(colour, kind), kind, colour)
    return d.pose("relate", text, clues, *answers)


def _read(d: SceneDraft, sign: Signed, box: Box) -> SceneQuestion:
    (board,) = d.words("board")
    texts = d.others(d.words("signs"), sign.words)
    numbers = map(str, d.near(int(sign.number), low=10))
    corners = ("upper left", "upper right", "lower left", "lower right")
    clues = [
        d.named("corner", f"upper {sign.side}", corners, box, board=board),
        d.clue("words", sign.words, texts, box, board=board),
        d.clue("number", sign.number, numbers, box, board=board),
    ]
    answers = say_both("{} {}".format, *clues[1:])
    return d.pose("read", f"What do the words and the number on the {board} say?", clues, *answers)


def _compare(d: SceneDraft, things: list[SceneThing]) -> SceneQuestion:
    tally = Counter(t.kind for t in things)
    high, low = d.unequal(tally)
    compared = [high, low]
    d.rng.shuffle(compared)
    gap = str(tally[high] - tally[low])
    clues = [
        d.counted("tally", tally[k], union([t.box for t in things if t.kind == k]), many=_plural(k)) for k in compared
    ]
    gaps = tuple(map(str, d.near(int(gap))))
    more, less = _plural(high), _plural(low)
    clues.append(d.clue("gap", gap, gaps))
    clues.append(d.clue("numerous", more, (less, "neither, since both are equally many")))
    first, second = map(_plural, compared)
    text = f"Are there more {first} or more {second}, and how many more?"
    return d.pose("compare", text, clues, *by_how_much("{}, {} more".format, more, less, gap, gaps))


def _infer(d: SceneDraft, things: list[SceneThing], sky: str) -> SceneQuestion:
    rng = d.rng
    if rng.random() < 0.5:
        colour = rng.choice([t.colour for t in things])
        n = sum(t.colour == colour for t in things)
        clues = [
            d.counted("both_rows", len(things)),
            d.counted("of_colour", n, colour=colour),
            d.counted("remaining", len(things) - n, colour=colour),
        ]
        text = f"If everything {colour} were taken away from both rows, how many things would remain?"
        return d.pose("infer", text, clues)
    kind = rng.choice([t.kind for t in things])
    before, more = _in_rows(things, kind)[0], rng.randrange(2, 6)
    after, many = before + more, _plural(kind)
    weathers = {"sun": "a sunny day", "moon": "night", "cloud": "a clouded day"}
    clues = [
        d.word("sky", _SKIES),
        d.named("weather", weathers[sky], list(weathers.values()), "sky"),
        d.counted("before", before, _row_box("back"), many=many),
        d.counted("after", after, many=many),
    ]
    text = (
        f"Under the sky that is shown, the front row is cleared away and {more} more {many} are put into the back row. "
        f"Is it day or night, and how many {many} stand in the back row then?"
    )
    time, other = ("night", "day") if sky == "moon" else ("day", "night")
    wrong = [f"{time}, {n}" for n in d.near(after, 2)]
    wrong.insert(1, f"{other}, {after}")
    return d.pose("infer", text, clues, f"{time}, {after}", wrong)


LAYOUTS: Mapping[str, Compose] = {setting: partial(_compose, setting) for setting in _TOP}
"""The composers of natural scenes, by place."""
