"""How planted questions are worded: clues that become weighted steps, and the forms that measured things share."""

from collections.abc import Callable, Sequence
from random import Random
from typing import NamedTuple

from dokimasia.domain.criterion import Box
from dokimasia.simulation import capabilities as can
from dokimasia.simulation.scene import Kind, Question, Step

ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")

_WEIGHTS: dict[int, tuple[tuple[int, ...], ...]] = {
    3: ((3, 3, 4), (2, 3, 5), (2, 2, 6)),
    4: ((2, 2, 2, 4), (1, 2, 3, 4), (2, 2, 3, 3)),
    5: ((1, 2, 2, 2, 3), (2, 2, 2, 2, 2), (1, 1, 2, 2, 4)),
}
_CHOICE_RATE = 0.35


class Clue(NamedTuple):
    """A step that has no weight yet. `form` is its sentence with `{}` in the place of the truth."""

    ask: str
    form: str
    truth: str
    wrong: tuple[str, ...]
    leaf: str
    box: Box | None = None


def pose(
    rng: Random, scene: str, kind: Kind, text: str, *, clues: Sequence[Clue], answer: str, wrong: Sequence[str]
) -> Question:
    """Return the question of that kind: clues weighted, and choices given in about a third of all cases.

    `wrong` are false answers; three of them are needed for choices.
    """
    weights = rng.choice(_WEIGHTS[len(clues)])
    choices: list[str] = []
    if len(wrong) >= 3 and rng.random() < _CHOICE_RATE:
        choices = list(wrong[:3])
        choices.insert(rng.randrange(4), answer)
    steps = tuple(
        Step(
            question=clue.ask,
            truth=clue.truth,
            statement=clue.form.format(clue.truth),
            wrong=tuple(clue.form.format(value) for value in clue.wrong),
            weight=weight,
            capability=clue.leaf,
            box=clue.box,
        )
        for clue, weight in zip(clues, weights, strict=True)
    )
    return Question(
        id=f"{scene}-{kind}", kind=kind, text=text, answer=answer, wrong_answers=tuple(wrong[:3]),
        choices=tuple(choices), steps=steps,
    )  # fmt: skip


def others(rng: Random, pool: Sequence[str], *taken: str, k: int = 3) -> tuple[str, ...]:
    """Return up to k different members of the pool that are not taken, in a seeded order."""
    free = [value for value in dict.fromkeys(pool) if value not in taken]
    return tuple(rng.sample(free, min(k, len(free))))


def near(rng: Random, number: int, k: int = 3, *, step: int = 1, low: int = 0) -> list[int]:
    """Return k different numbers near to the given one, never itself and never below `low`."""
    reach = max(3, abs(number) // (6 * step))
    free = [number + d * step for d in range(-reach, reach + 1) if d and number + d * step >= low]
    return rng.sample(free, k)


def counted(rng: Random, ask: str, form: str, number: int, leaf: str = can.COUNTING, box: Box | None = None) -> Clue:
    """Return a clue whose truth is a count."""
    return Clue(ask, form, str(number), tuple(str(n) for n in near(rng, number)), leaf, box)


def named(rng: Random, ask: str, form: str, truth: str, pool: Sequence[str], leaf: str, box: Box | None = None) -> Clue:
    """Return a clue whose truth is a member of a pool, which its falsehoods come from too."""
    return Clue(ask, form, truth, others(rng, pool, truth), leaf, box)


def measured(
    rng: Random, ask: str, form: str, number: int, show: str, leaf: str, box: Box | None = None, *, step: int = 1
) -> Clue:
    """Return a clue whose truth is a positive number as `show` writes it (`{}` is the number)."""
    wrong = tuple(show.format(n) for n in near(rng, number, step=step, low=step))
    return Clue(ask, form, show.format(number), wrong, leaf, box)


def plural(number: int, single: str, many: str = "") -> str:
    """Return the number with its noun, in the singular for 1."""
    return f"{number} {single if number == 1 else many or single + 's'}"


def article(words: str) -> str:
    """Return the words with `a` or `an` before them."""
    return f"{'an' if words[0] in 'aeiou' else 'a'} {words}"


class Item(NamedTuple):
    """A measured thing: its label, its value, and where its value is seen."""

    label: str
    value: int
    box: Box


class Wording(NamedTuple):
    """How a set of measured things is spoken of.

    `name` holds `{}` for the label, `ask` `{}` for the name, `say` `{name}` and `{value}`; `most`, `least` and `more`
    are adjectives for the greatest, the least and the greater; `first` and `after` say how the things are ordered.
    `step` is the grain of the values.
    """

    single: str
    many: str
    name: str
    ask: str
    say: str
    show: Callable[[int], str]
    read: str
    most: str = "highest"
    least: str = "lowest"
    more: str = "higher"
    first: str = "furthest to the left"
    after: str = "directly to the right of"
    step: int = 1

    def values(self, rng: Random, number: int) -> tuple[str, ...]:
        """Return three false values near to the number, as they are shown."""
        return tuple(self.show(n) for n in near(rng, number, step=self.step, low=self.step))


def reading(rng: Random, w: Wording, item: Item) -> Clue:
    """Return the clue that reads one thing's value."""
    name = w.name.format(item.label)
    form = w.say.format(name=name, value="{}")
    return Clue(w.ask.format(name), form, w.show(item.value), w.values(rng, item.value), w.read, item.box)


def chosen(rng: Random, w: Wording, items: Sequence[Item], *, most: bool) -> Clue:
    """Return the clue that names the greatest or the least thing."""
    best = max(items, key=lambda i: i.value) if most else min(items, key=lambda i: i.value)
    word = w.most if most else w.least
    wrong = others(rng, [i.label for i in items], best.label)
    return Clue(
        f"Which of all the {w.many} is the {word}?",
        f"Of all the {w.many}, the {word} is {{}}.",
        best.label, wrong, can.EXTREME, best.box,
    )  # fmt: skip


def count_above(rng: Random, scene: str, w: Wording, items: Sequence[Item]) -> Question:
    """Ask how many things lie above a limit that none of them equals."""
    values = sorted(i.value for i in items)
    cut = rng.randrange(1, len(values))
    limit = w.show((values[cut - 1] + values[cut]) // 2)
    over = len(values) - cut
    clues = [
        counted(rng, f"How many {w.many} are there altogether?", f"Altogether there are {{}} {w.many}.", len(items)),
        chosen(rng, w, items, most=True),
        chosen(rng, w, items, most=False),
        counted(
            rng,
            f"How many {w.many} lie above {limit}?",
            f"The number of {w.many} above {limit} is {{}}.",
            over,
            can.COUNTING_SELECTED,
        ),
    ]
    text = f"How many of the {w.many} are {w.more} than {limit}?"
    return pose(rng, scene, "count", text, clues=clues, answer=str(over), wrong=clues[-1].wrong)


def relate_next(rng: Random, scene: str, w: Wording, items: Sequence[Item]) -> Question:
    """Ask which thing comes directly after another, and its value."""
    place = rng.randrange(len(items) - 1)
    this, after = items[place], items[place + 1]
    labels = [i.label for i in items]
    name = w.name.format(this.label)
    clues = [
        Clue(
            f"Which {w.single} stands {w.first}?",
            f"The {w.single} {w.first} is {{}}.",
            labels[0], others(rng, labels, labels[0]), can.POSITION, items[0].box,
        ),
        Clue(
            f"At which place, counted from the {w.single} {w.first}, does {name} come?",
            f"Counted from there, {name} comes {{}}.",
            ORDINALS[place], others(rng, ORDINALS[: len(items)], ORDINALS[place]), can.ORDINAL, this.box,
        ),
        Clue(
            f"Which {w.single} comes {w.after} {name}?",
            f"The {w.single} {w.after} {name} is {{}}.",
            after.label, others(rng, labels, after.label, this.label), can.POSITION, after.box,
        ),
        Clue(
            f"What is the value of the {w.single} that comes {w.after} {name}?",
            "The value of that neighbour is {}.",
            w.show(after.value), w.values(rng, after.value), w.read, after.box,
        ),
    ]  # fmt: skip
    text = f"Which {w.single} comes {w.after} {name}, and what is its value?"
    wrong_label, wrong_value = clues[2].wrong[0], clues[3].wrong
    answer = f"{after.label}, {clues[3].truth}"
    wrong = [f"{wrong_label}, {clues[3].truth}", f"{after.label}, {wrong_value[0]}", f"{wrong_label}, {wrong_value[1]}"]
    return pose(rng, scene, "relate", text, clues=clues, answer=answer, wrong=wrong)


def compare_pair(rng: Random, scene: str, w: Wording, items: Sequence[Item]) -> Question:
    """Ask which of a pair of things is the greater, and by how much."""
    one, other = rng.sample(list(items), 2)
    high, low = (one, other) if one.value > other.value else (other, one)
    gap = high.value - low.value
    gaps = [w.show(n) for n in near(rng, gap, step=w.step, low=w.step)]
    clues = [
        reading(rng, w, one),
        reading(rng, w, other),
        Clue(
            f"By how much do the compared {w.many} differ?", "Between them lies a difference of {}.",
            w.show(gap), tuple(gaps), can.DIFFERENCE,
        ),
        Clue(
            f"Which of the compared {w.many} is the {w.more}?", f"Of the compared {w.many}, the {w.more} is {{}}.",
            high.label, (low.label, "neither, since they are equal"), can.MAGNITUDE, high.box,
        ),
    ]  # fmt: skip
    text = f"Which is {w.more}, {w.name.format(one.label)} or {w.name.format(other.label)}, and by how much?"
    answer = f"{high.label}, by {w.show(gap)}"
    wrong = [f"{low.label}, by {w.show(gap)}", f"{high.label}, by {gaps[0]}", f"{low.label}, by {gaps[1]}"]
    return pose(rng, scene, "compare", text, clues=clues, answer=answer, wrong=wrong)


def infer_sum(rng: Random, scene: str, w: Wording, items: Sequence[Item]) -> Question:
    """Ask how a pair of things together stands to a limit, or how far the greatest and the least lie apart."""
    if rng.random() < 0.4:
        return _infer_range(rng, scene, w, items)
    one, other = rng.sample(list(items), 2)
    total = one.value + other.value
    miss = rng.choice((-5, -4, -3, -2, 2, 3, 4, 5)) * w.step
    limit = w.show(total + miss)
    size = abs(miss)
    over, under = "exceed it by {}", "fall short of it by {}"
    truth = (over if miss < 0 else under).format(w.show(size))
    wrong = (
        (under if miss < 0 else over).format(w.show(size)),
        (over if miss < 0 else under).format(w.show(size + 3 * w.step)),
        (under if miss < 0 else over).format(w.show(size + w.step)),
    )
    clues = [
        reading(rng, w, one),
        reading(rng, w, other),
        Clue(
            f"What do both {w.many} come to together?", "Together they come to {}.",
            w.show(total), w.values(rng, total), can.ADDITION,
        ),
        Clue(
            f"How do both {w.many} together stand to the limit of {limit}?",
            f"Held against the limit of {limit}, they {{}}.",
            truth, wrong, can.LIMIT,
        ),
    ]  # fmt: skip
    first, second = w.name.format(one.label), w.name.format(other.label)
    text = f"Do {first} and {second} together exceed {limit} or fall short of it, and by how much?"
    return pose(rng, scene, "infer", text, clues=clues, answer=f"they {truth}", wrong=[f"they {v}" for v in wrong])


def _infer_range(rng: Random, scene: str, w: Wording, items: Sequence[Item]) -> Question:
    high, low = max(items, key=lambda i: i.value), min(items, key=lambda i: i.value)
    gap = high.value - low.value
    ends = [
        Clue(
            f"What is the {word} value among the {w.many}?", f"The {word} value found is {{}}.",
            w.show(end.value), w.values(rng, end.value), w.read, end.box,
        )
        for word, end in ((w.most, high), (w.least, low))
    ]  # fmt: skip
    clues = [
        chosen(rng, w, items, most=True), ends[0], chosen(rng, w, items, most=False), ends[1],
        Clue(
            f"How far apart do the {w.most} and the {w.least} of the {w.many} lie?", "They lie {} apart.",
            w.show(gap), w.values(rng, gap), can.DIFFERENCE,
        ),
    ]  # fmt: skip
    text = f"How far apart are the {w.most} and the {w.least} of the {w.many}?"
    return pose(rng, scene, "infer", text, clues=clues, answer=w.show(gap), wrong=clues[-1].wrong)


def describe(rng: Random, scene: str, text: str, *clues: Clue) -> Question:
    """Ask what the picture is: the answer joins the truths of all clues, and a wrong answer has one of them false."""
    return _joined(rng, scene, "recognise", text, clues)


def read_out(rng: Random, scene: str, text: str, *clues: Clue) -> Question:
    """Ask for several things that are written in the picture, joined in the order of the clues."""
    return _joined(rng, scene, "read", text, clues)


def _joined(rng: Random, scene: str, kind: Kind, text: str, clues: Sequence[Clue]) -> Question:
    truths = [clue.truth for clue in clues]
    wrong = [", ".join([*truths[:at], clue.wrong[0], *truths[at + 1 :]]) for at, clue in enumerate(clues)]
    rng.shuffle(wrong)
    return pose(rng, scene, kind, text, clues=clues, answer=", ".join(truths), wrong=wrong)
