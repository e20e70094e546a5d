"""A scene being composed: its facts, the clues that are read off them, and the questions that these settle."""

import re
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import NamedTuple

from dokimasia.domain.criterion import Box
from dokimasia.simulation import capabilities as can
from dokimasia.simulation.scene import Fact, QuestionKind, SceneQuestion, SceneStep
from dokimasia.simulation.scenes.drawing import Pixels, box_of, union
from dokimasia.simulation.scenes.sorts import ORDINALS, PictureSort, kind_of, places_of

_WEIGHTS: dict[int, tuple[tuple[int, ...], ...]] = {
    3: ((3, 3, 4), (2, 3, 5), (2, 2, 6)),
    4: ((2, 2, 2, 4), (1, 2, 3, 4), (2, 2, 3, 3)),
    5: ((1, 2, 2, 2, 3), (2, 2, 2, 2, 2), (1, 1, 2, 2, 4)),
}
_CHOICE_RATE = 0.35
_DIGITS = re.compile(r"(\d+)")

EvidenceRegion = Box | str | None
"""Where the evidence of a clue lies: a box, that of the fact with this id, or None for the whole image."""


class Clue(NamedTuple):
    """A step that has no weight yet. `form` is its sentence with `{}` in the place of the truth."""

    ask: str
    form: str
    truth: str
    wrong: tuple[str, ...]
    leaf: str
    at: EvidenceRegion = None


class SceneDraft:
    """A scene being composed. `rng` is its seeded draw; facts stand in the order in which they were told."""

    def __init__(self, rng: Random, id: str, sort: PictureSort) -> None:
        self.rng = rng
        self.id = id
        self.sort = sort
        self.facts: dict[str, Fact] = {}

    def fact(self, id: str, value: str | int, name: str = "", at: Pixels | None = None) -> None:
        """Add a fact of a form that the sort of picture has.

        Args:
            id: of the fact.
            value: its value.
            name: what it is told of, where the form does not say so.
            at: its region in pixels, where the form does not say so.
        """
        form = self.sort.form(id)
        place = [*places_of(id), 0][0]
        names = {"name": name, "number": place + 1, "ordinal": ORDINALS[place]}
        self.facts[id] = Fact(
            id=id,
            subject=form.subject.format(**names),
            attribute=form.attribute.format(**names) or kind_of(id).rpartition(".")[2],
            value=str(value),
            box=box_of(at or form.region(id)),
        )

    def words(self, name: str) -> tuple[str, ...]:
        """Return a list of words that this sort of picture chooses from."""
        return self.sort.words[name]

    def box(self, *ids: str) -> Box:
        """Return the smallest box that encloses the facts with these ids."""
        return union([self.facts[id].box for id in ids])

    def others(self, pool: Sequence[str], *excluded: str) -> tuple[str, ...]:
        """Return up to three different members of the pool that are not taken, in a seeded order."""
        free = [value for value in dict.fromkeys(pool) if value not in excluded]
        return tuple(self.rng.sample(free, min(3, len(free))))

    def absent(self, pool: Sequence[str], present: Sequence[str]) -> str:
        """Return a member of the pool that is not present."""
        return self.rng.choice([value for value in pool if value not in present])

    def unequal(self, tally: Mapping[str, int]) -> tuple[str, str]:
        """Return a pair of names of which the first has the greater number."""
        return self.rng.choice([(high, low) for high in tally for low in tally if tally[high] > tally[low]])

    def near(self, number: int, k: int = 3, *, step: int = 1, low: int = 0) -> list[int]:
        """Return k different numbers near to the given one, never itself and never below `low`."""
        reach = max(3, abs(number) // (6 * step))
        free = [number + d * step for d in range(-reach, reach + 1) if d and number + d * step >= low]
        return self.rng.sample(free, k)

    def counted(self, ask: str, form: str, number: int, leaf: str = can.COUNTING, at: EvidenceRegion = None) -> Clue:
        """Return a clue whose truth is a count."""
        return Clue(ask, form, str(number), tuple(map(str, self.near(number))), leaf, at)

    def named(self, ask: str, form: str, truth: str, pool: Sequence[str], leaf: str, at: EvidenceRegion = None) -> Clue:
        """Return a clue whose truth is a member of a pool, which its falsehoods come from too."""
        return Clue(ask, form, truth, self.others(pool, truth), leaf, at)

    def measured(
        self, ask: str, form: str, number: int, show: str, leaf: str, at: EvidenceRegion = None, *, step: int = 1
    ) -> Clue:
        """Return a clue whose truth is a positive number as `show` writes it (`{}` is the number)."""
        wrong = tuple(show.format(n) for n in self.near(number, step=step, low=step))
        return Clue(ask, form, show.format(number), wrong, leaf, at)

    def word(self, id: str, ask: str, form: str, pool: Sequence[str], leaf: str) -> Clue:
        """Return the clue that reads a fact whose value is a member of a pool."""
        return self.named(ask, form, self.facts[id].value, pool, leaf, id)

    def number(self, id: str, ask: str, form: str, leaf: str, *, step: int = 1) -> Clue:
        """Return the clue that reads a fact whose value has a positive number in it."""
        before, digits, after = _DIGITS.split(self.facts[id].value, maxsplit=1)
        return self.measured(ask, form, int(digits), f"{before}{{}}{after}", leaf, id, step=step)

    def count(self, id: str, ask: str, form: str, leaf: str = can.COUNTING) -> Clue:
        """Return the clue that counts what a fact gives the number of."""
        return self.counted(ask, form, int(self.facts[id].value), leaf, id)

    def pose(
        self, kind: QuestionKind, text: str, clues: Sequence[Clue], answer: str = "", wrong: Sequence[str] = ()
    ) -> SceneQuestion:
        """Return the question of that kind: clues weighted, and choices given in about a third of all cases.

        `wrong` are false answers; three of them are needed for choices. Without an answer it is what the last clue says.
        """
        answer, wrong = (answer, wrong) if answer else (clues[-1].truth, clues[-1].wrong)
        weights = self.rng.choice(_WEIGHTS[len(clues)])
        choices: list[str] = []
        if len(wrong) >= 3 and self.rng.random() < _CHOICE_RATE:
            choices = list(wrong[:3])
            choices.insert(self.rng.randrange(4), answer)
        steps = tuple(
            SceneStep(
                question=clue.ask,
                truth=clue.truth,
                statement=clue.form.format(clue.truth),
                wrong=tuple(clue.form.format(value) for value in clue.wrong),
                weight=weight,
                capability=clue.leaf,
                box=self.box(clue.at) if isinstance(clue.at, str) else clue.at,
            )
            for clue, weight in zip(clues, weights, strict=True)
        )
        return SceneQuestion(
            id=f"{self.id}-{kind}", kind=kind, text=text, answer=answer, wrong_answers=tuple(wrong[:3]),
            choices=tuple(choices), steps=steps,
        )  # fmt: skip

    def read_out(self, text: str, *clues: Clue) -> SceneQuestion:
        """Ask for several things that are written in the picture, joined in the order of the clues."""
        return self.join("read", text, clues)

    def join(self, kind: QuestionKind, text: str, clues: Sequence[Clue]) -> SceneQuestion:
        """Ask for what all clues say: the answer joins their truths, and a wrong answer has one of them false."""
        answer, wrong = say_all(lambda *truths: ", ".join(truths), *clues)
        self.rng.shuffle(wrong)
        return self.pose(kind, text, clues, answer, wrong)


def say_all(say: Callable[..., str], *clues: Clue) -> tuple[str, list[str]]:
    """Return the answer that says the truths of all clues, and for each clue a wrong one that has this clue false."""
    truths = [clue.truth for clue in clues]
    wrong = [say(*truths[:at], clue.wrong[0], *truths[at + 1 :]) for at, clue in enumerate(clues)]
    return say(*truths), wrong


def say_both(say: Callable[..., str], first: Clue, second: Clue) -> tuple[str, list[str]]:
    """Return the answer that says the truths of both clues, and three wrong ones: the one false, the other, and both."""
    answer, wrong = say_all(say, first, second)
    return answer, [*wrong, say(first.wrong[1], second.wrong[1])]


def by_how_much(say: Callable[..., str], more: str, less: str, gap: str, gaps: Sequence[str]) -> tuple[str, list[str]]:
    """Return which of a pair is the greater and by how much, and three wrong answers; `gaps` are false numbers."""
    return say(more, gap), [say(less, gap), say(more, gaps[0]), say(less, gaps[1])]


def who_has_more(names: Sequence[str], counts: Sequence[int]) -> tuple[str, tuple[str, ...]]:
    """Return which of a pair holds more, or that neither does, and what else might be said of it."""
    first, second = (f"{name} holds more" for name in names)
    verdicts = (first, second) if counts[0] > counts[1] else (second, first)
    equal = "both hold equally many"
    return (equal, (first, second)) if counts[0] == counts[1] else (verdicts[0], (verdicts[1], equal))


Composition = tuple[str, list[SceneQuestion]]
"""What is composed beside the facts: the title, and one question of each kind."""

Compose = Callable[[SceneDraft], Composition]
"""How a sort of picture is composed: it tells the facts of a draft, and asks the questions."""


def spread(rng: Random, n: int, low: int, high: int, *, step: int = 1, gap: int = 3) -> list[int]:
    """Return n multiples of `step` in [low, high], each at least `gap` steps from every other, in a seeded order."""
    room = (high - low) // step - gap * (n - 1)
    offsets = sorted(rng.randrange(room + 1) for _ in range(n))
    values = [low + (offset + gap * i) * step for i, offset in enumerate(offsets)]
    rng.shuffle(values)
    return values


def article(words: str) -> str:
    """Return the words with `a` or `an` before them."""
    return f"{'an' if words[0] in 'aeiou' else 'a'} {words}"


def coloured(colour: str, kind: str) -> str:
    """Return a thing of that colour and kind, with `a` or `an` before it."""
    return article(f"{colour} {kind}")


class MeasuredItem(NamedTuple):
    """A measured thing: its label, its value, and where its value is seen."""

    label: str
    value: int
    at: EvidenceRegion


def measured_items(labels: Sequence[str], values: Sequence[int], at: str) -> list[MeasuredItem]:
    """Return measured things with their labels and values; `at` is the id of the fact of each, with `{}` for its place."""
    pairs = enumerate(zip(labels, values, strict=True))
    return [MeasuredItem(label, value, at.format(place)) for place, (label, value) in pairs]


class MeasureWording(NamedTuple):
    """How a set of measured things is spoken of.

    `ask` holds `{}` for a thing's name, `say` `{name}` and `{value}`; `degrees` are adjectives for the greatest, the
    least and the greater; `first` and `after` say how the things are ordered. `name` holds `{}` for the label, and
    `plural` is needed where that is not formed with an s. `step` is the grain of the values.
    """

    single: str
    ask: str
    say: str
    show: Callable[[int], str]
    read: str
    degrees: tuple[str, str, str] = ("highest", "lowest", "higher")
    first: str = "furthest to the left"
    after: str = "directly to the right of"
    name: str = ""
    plural: str = ""
    step: int = 1

    @property
    def many(self) -> str:
        """What several of the things are called."""
        return self.plural or self.single + "s"

    def called(self, label: str) -> str:
        """Return what the thing with this label is called."""
        return (self.name or f"the {self.single} {{}}").format(label)

    def clue(self, d: SceneDraft, ask: str, form: str, number: int, leaf: str, at: EvidenceRegion = None) -> Clue:
        """Return a clue whose truth is a number as it is shown, and whose falsehoods are near to it."""
        wrong = tuple(self.show(n) for n in d.near(number, step=self.step, low=self.step))
        return Clue(ask, form, self.show(number), wrong, leaf, at)


def reading_clue(d: SceneDraft, w: MeasureWording, item: MeasuredItem) -> Clue:
    """Return the clue that reads one thing's value."""
    name = w.called(item.label)
    return w.clue(d, w.ask.format(name), w.say.format(name=name, value="{}"), item.value, w.read, item.at)


def extreme_clue(d: SceneDraft, w: MeasureWording, items: Sequence[MeasuredItem], *, most: bool) -> Clue:
    """Return the clue that names the greatest or the least thing."""
    best = max(items, key=lambda i: i.value) if most else min(items, key=lambda i: i.value)
    ask = f"Which of all the {w.many} is the {w.degrees[not most]}?"
    form = f"Of all the {w.many}, the {w.degrees[not most]} is {{}}."
    return d.named(ask, form, best.label, [i.label for i in items], can.EXTREME, best.at)


def count_above(d: SceneDraft, w: MeasureWording, items: Sequence[MeasuredItem]) -> SceneQuestion:
    """Ask how many things lie above a limit that none of them equals."""
    values = sorted(i.value for i in items)
    cut = d.rng.randrange(1, len(values))
    limit = w.show((values[cut - 1] + values[cut]) // 2)
    above = f"The number of {w.many} above {limit} is {{}}."
    clues = [
        d.counted(f"How many {w.many} are there altogether?", f"Altogether there are {{}} {w.many}.", len(items)),
        extreme_clue(d, w, items, most=True),
        extreme_clue(d, w, items, most=False),
        d.counted(f"How many {w.many} lie above {limit}?", above, len(values) - cut, can.COUNTING_SELECTED),
    ]
    return d.pose("count", f"How many of the {w.many} are {w.degrees[2]} than {limit}?", clues)


def relate_next(d: SceneDraft, w: MeasureWording, items: Sequence[MeasuredItem]) -> SceneQuestion:
    """Ask which thing comes directly after another, and its value."""
    position = d.rng.randrange(len(items) - 1)
    this, after = items[position], items[position + 1]
    labels = [i.label for i in items]
    name = w.called(this.label)
    clues = [
        d.named(f"Which {w.single} stands {w.first}?", f"The {w.single} {w.first} is {{}}.", labels[0], labels,
                can.POSITION, items[0].at),
        d.named(f"At which place, counted from the {w.single} {w.first}, does {name} come?",
                f"Counted from there, {name} comes {{}}.", ORDINALS[position], ORDINALS[: len(items)], can.ORDINAL, this.at),
        Clue(f"Which {w.single} comes {w.after} {name}?", f"The {w.single} {w.after} {name} is {{}}.", after.label,
             d.others(labels, after.label, this.label), can.POSITION, after.at),
        w.clue(d, f"What is the value of the {w.single} that comes {w.after} {name}?",
               "The value of that neighbour is {}.", after.value, w.read, after.at),
    ]  # fmt: skip
    text = f"Which {w.single} comes {w.after} {name}, and what is its value?"
    label, value = clues[2:]
    answer = f"{label.truth}, {value.truth}"
    pairs = ((label.wrong[0], value.truth), (label.truth, value.wrong[0]), (label.wrong[0], value.wrong[1]))
    return d.pose("relate", text, clues, answer, [", ".join(pair) for pair in pairs])


def compare_pair(d: SceneDraft, w: MeasureWording, items: Sequence[MeasuredItem]) -> SceneQuestion:
    """Ask which of a pair of things is the greater, and by how much."""
    first, second = d.rng.sample(list(items), 2)
    high, low = (first, second) if first.value > second.value else (second, first)
    more = w.degrees[2]
    gap = w.clue(d, f"By how much do the compared {w.many} differ?", "Between them lies a difference of {}.",
                 high.value - low.value, can.DIFFERENCE)  # fmt: skip
    clues = [
        reading_clue(d, w, first),
        reading_clue(d, w, second),
        gap,
        Clue(f"Which of the compared {w.many} is the {more}?", f"Of the compared {w.many}, the {more} is {{}}.",
             high.label, (low.label, "neither, since they are equal"), can.MAGNITUDE, high.at),
    ]  # fmt: skip
    text = f"Which is {more}, {w.called(first.label)} or {w.called(second.label)}, and by how much?"
    return d.pose("compare", text, clues, *by_how_much("{}, by {}".format, high.label, low.label, gap.truth, gap.wrong))


def infer_sum(d: SceneDraft, w: MeasureWording, items: Sequence[MeasuredItem]) -> SceneQuestion:
    """Ask how a pair of things together stands to a limit, or how far the greatest and the least lie apart."""
    if d.rng.random() < 0.4:
        return _infer_range(d, w, items)
    one_item, other_item = d.rng.sample(list(items), 2)
    total = one_item.value + other_item.value
    miss = d.rng.choice((-5, -4, -3, -2, 2, 3, 4, 5)) * w.step
    limit = w.show(total + miss)
    size = abs(miss)
    forms = ("exceed it by {}", "fall short of it by {}")
    form, contrary = forms if miss < 0 else forms[::-1]
    wrong = (
        contrary.format(w.show(size)),
        form.format(w.show(size + 3 * w.step)),
        contrary.format(w.show(size + w.step)),
    )
    truth = form.format(w.show(size))
    clues = [
        reading_clue(d, w, one_item),
        reading_clue(d, w, other_item),
        w.clue(d, f"What do both {w.many} come to together?", "Together they come to {}.", total, can.ADDITION),
        Clue(f"How do both {w.many} together stand to the limit of {limit}?",
             f"Held against the limit of {limit}, they {{}}.", truth, wrong, can.LIMIT),
    ]  # fmt: skip
    first, second = w.called(one_item.label), w.called(other_item.label)
    text = f"Do {first} and {second} together exceed {limit} or fall short of it, and by how much?"
    return d.pose("infer", text, clues, f"they {truth}", [f"they {value}" for value in wrong])


def _infer_range(d: SceneDraft, w: MeasureWording, items: Sequence[MeasuredItem]) -> SceneQuestion:
    high, low = max(items, key=lambda i: i.value), min(items, key=lambda i: i.value)
    most, least, _ = w.degrees
    ends = [
        w.clue(d, f"What is the {word} value among the {w.many}?", f"The {word} value found is {{}}.", end.value, w.read,
               end.at)
        for word, end in ((most, high), (least, low))
    ]  # fmt: skip
    clues = [
        extreme_clue(d, w, items, most=True), ends[0], extreme_clue(d, w, items, most=False), ends[1],
        w.clue(d, f"How far apart do the {most} and the {least} of the {w.many} lie?", "They lie {} apart.",
               high.value - low.value, can.DIFFERENCE),
    ]  # fmt: skip
    return d.pose("infer", f"How far apart are the {most} and the {least} of the {w.many}?", clues)


TONES: tuple[str, ...] = ("red", "orange", "yellow", "green", "blue", "purple", "pink")
"""The colours of figures that are drawn on white paper."""

LETTERS: tuple[str, ...] = tuple("BCDEFGHKLMNPQRSTVWXZ")
"""Labels of a letter; A and I are words, O and 0, J and U are easily confused."""

PEOPLE_NAMES: tuple[str, ...] = (
    "Nora Hale", "Omar Reyes", "Paula Stern", "Quentin Moss", "Ruth Adler", "Simon Okoro", "Tara Voss", "Iris Lund",
)  # fmt: skip

MONTHS: tuple[str, ...] = ("January", "March", "April", "May", "July", "September", "October", "November")

PICTURE_KINDS: dict[str, tuple[str, ...]] = {
    "document": ("invoice", "letter", "event programme", "contract", "recipe"),
    "window": ("settings window", "file list", "music player", "calendar", "chat window"),
    "figure": ("bar chart", "line chart", "pie chart", "table", "scatter plot"),
    "drawing": ("circuit diagram", "geometric figure", "row of beakers", "weather map", "molecule"),
    "puzzle": ("sequence of figures", "matrix with a gap", "set of balances", "maze", "crossword"),
    "work": ("poster", "coat of arms", "comic strip", "postage stamp", "book cover"),
}
"""What kinds of picture there are, by the noun that a question calls them."""


def genre_clue(d: SceneDraft, noun: str, kind: str) -> Clue:
    """Return the clue that says of which kind the document, window, figure, drawing, puzzle or work is."""
    ask, form = f"What kind of {noun} is shown?", f"The {noun} shown is of the kind {{}}."
    return d.named(ask, form, kind, PICTURE_KINDS[noun], can.GENRE)


def ask_kind(d: SceneDraft, noun: str, kind: str, text: str, *clues: Clue) -> SceneQuestion:
    """Ask what kind of document, window, figure, drawing, puzzle or work this is, and what else the clues say."""
    return d.join("recognise", f"What kind of {noun} is this, {text}", (genre_clue(d, noun, kind), *clues))
