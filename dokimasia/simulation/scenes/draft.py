"""A scene under composition: its facts, the clues read from them, and the questions they answer."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from random import Random
from typing import NamedTuple

from dokimasia.domain.criterion import Box
from dokimasia.simulation.scene import Fact, QuestionKind, SceneQuestion, SceneStep
from dokimasia.simulation.scenes.drawing import Pixels, box_of, union
from dokimasia.simulation.scenes.sorts import ORDINALS, MeasureWording, PictureSort, kind_of, places_of

_WEIGHTS: dict[int, tuple[tuple[int, ...], ...]] = {
    3: ((3, 3, 4), (2, 3, 5), (2, 2, 6)),
    4: ((2, 2, 2, 4), (1, 2, 3, 4), (2, 2, 3, 3)),
    5: ((1, 2, 2, 2, 3), (2, 2, 2, 2, 2), (1, 1, 2, 2, 4)),
}
_CHOICE_RATE = 0.35
_DIGITS = re.compile(r"(\d+)")

EvidenceRegion = Box | str | None
"""The location of a clue's evidence: a box, that of the fact with this id, or None for the whole image."""


class Clue(NamedTuple):
    """A step without a weight. `form` is its sentence, with `{}` in place of the truth."""

    ask: str
    form: str
    truth: str
    wrong: tuple[str, ...]
    leaf: str
    at: EvidenceRegion = None


class SceneDraft:
    """A scene under composition. `rng` is its seeded generator; facts are in order of addition.

    The clues use the wording of the sort of picture under their key; `names` fill in the fields of that wording.
    """

    def __init__(self, rng: Random, id: str, sort: PictureSort) -> None:
        self.rng = rng
        self.id = id
        self.sort = sort
        self.facts: dict[str, Fact] = {}

    def fact(self, id: str, value: str | int, name: str = "", at: Pixels | None = None) -> None:
        """Add a fact whose form is defined by the sort of picture.

        Args:
            id: the fact's id.
            value: its value.
            name: its subject, if the form does not define it.
            at: its region in pixels, if the form does not define it.
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

    def state(self, **values: str | int) -> None:
        """Add facts whose form defines their subject and region."""
        for id, value in values.items():
            self.fact(id, value)

    def row(self, id: str, name: str, /, **values: str | int) -> None:
        """Add the facts `id.COLUMN` of a row of things, with the thing of that name as subject."""
        for column, value in values.items():
            self.fact(f"{id}.{column}", value, name)

    def words(self, name: str) -> tuple[str, ...]:
        """Return a list of words of this sort of picture."""
        return self.sort.words[name]

    def box(self, *ids: str) -> Box:
        """Return the smallest box that encloses the facts with these ids."""
        return union([self.facts[id].box for id in ids])

    def others(self, pool: Sequence[str], *excluded: str) -> tuple[str, ...]:
        """Return up to three different members of the pool that are not excluded, in a seeded order."""
        free = [value for value in dict.fromkeys(pool) if value not in excluded]
        return tuple(self.rng.sample(free, min(3, len(free))))

    def absent(self, pool: Sequence[str], present: Sequence[str]) -> str:
        """Return a member of the pool that is not present."""
        return self.rng.choice([value for value in pool if value not in present])

    def unequal(self, tally: Mapping[str, int]) -> tuple[str, str]:
        """Return a pair of names of which the first has the greater number."""
        return self.rng.choice([(high, low) for high in tally for low in tally if tally[high] > tally[low]])

    def near(self, number: int, k: int = 3, *, step: int = 1, low: int = 0) -> list[int]:
        """Return k different numbers near the given one, excluding itself and numbers below `low`."""
        reach = max(3, abs(number) // (6 * step))
        free = [number + d * step for d in range(-reach, reach + 1) if d and number + d * step >= low]
        return self.rng.sample(free, k)

    def clue(self, key: str, truth: str, wrong: Iterable[str], at: EvidenceRegion = None, **names: str) -> Clue:
        """Return the clue with that key, its truth and its falsehoods."""
        form = self.sort.clues[key]
        return Clue(fill(form.ask, names), fill(form.say, names), truth, tuple(wrong), form.leaf, at)

    def named(self, key: str, truth: str, pool: Sequence[str] = (), at: EvidenceRegion = None, **names: str) -> Clue:
        """Return a clue whose truth and falsehoods are members of a pool, by default that of its form."""
        pool = pool or self.words(self.sort.clues[key].pool)
        return self.clue(key, truth, self.others(pool, truth), at, **names)

    def counted(self, key: str, number: int, at: EvidenceRegion = None, **names: str) -> Clue:
        """Return a clue whose truth is a count."""
        return self.clue(key, str(number), map(str, self.near(number)), at, **names)

    def measured(self, key: str, number: int, at: EvidenceRegion = None, show: str = "", **names: str) -> Clue:
        """Return a clue whose truth is a positive number, by default shown as its form defines."""
        form = self.sort.clues[key]
        show = show or form.show
        wrong = [show.format(n) for n in self.near(number, step=form.step, low=form.step)]
        return self.clue(key, show.format(number), wrong, at, **names)

    def word(self, id: str, pool: Sequence[str] = (), key: str = "", **names: str) -> Clue:
        """Return the clue that reads a fact whose value is a member of a pool."""
        return self.named(key or kind_of(id), self.facts[id].value, pool, id, **names)

    def number(self, id: str, **names: str) -> Clue:
        """Return the clue that reads a fact whose value contains a positive number."""
        before, digits, after = _DIGITS.split(self.facts[id].value, maxsplit=1)
        return self.measured(kind_of(id), int(digits), id, f"{before}{{}}{after}", **names)

    def count(self, id: str, key: str = "", **names: str) -> Clue:
        """Return the clue that counts the things whose number is a fact."""
        return self.counted(key or kind_of(id), int(self.facts[id].value), id, **names)

    def genre(self) -> Clue:
        """Return the clue on the kind of the document, window, figure, drawing, puzzle or work."""
        noun, kind = self.sort.genre
        return self.named("genre", kind, self.words(noun), noun=noun)

    def measures(self, labels: Sequence[str], values: Sequence[int], at: str, **names: str) -> "Measures":
        """Return measured things; `at` is the id of the fact of each, with `{}` for its place."""
        pairs = enumerate(zip(labels, values, strict=True))
        items = [MeasuredItem(label, value, at.format(place)) for place, (label, value) in pairs]
        return Measures(self, items, names)

    def pose(
        self, kind: QuestionKind, text: str, clues: Sequence[Clue], answer: str = "", wrong: Sequence[str] = ()
    ) -> SceneQuestion:
        """Return the question of that kind, with weighted clues, and with choices in about a third of all cases.

        `wrong` are false answers; choices need three of them. By default the answer is that of the last clue.
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
        """Ask for several written things in the picture, joined in the order of the clues."""
        return self.join("read", text, clues)

    def ask_kind(self, text: str, *clues: Clue) -> SceneQuestion:
        """Ask for the kind of document, window, figure, drawing, puzzle or work, and for the other clues' truths."""
        return self.join("recognise", f"What kind of {self.sort.genre[0]} is this, {text}", (self.genre(), *clues))

    def join(self, kind: QuestionKind, text: str, clues: Sequence[Clue]) -> SceneQuestion:
        """Ask for the truths of all clues: the answer joins them, and a wrong answer has one of them false."""
        answer, wrong = say_all(lambda *truths: ", ".join(truths), *clues)
        self.rng.shuffle(wrong)
        return self.pose(kind, text, clues, answer, wrong)


def fill(text: str, names: Mapping[str, str]) -> str:
    """Return a text with its fields replaced by names; `{}` stays."""
    for name, value in names.items():
        text = text.replace(f"{{{name}}}", value)
    return text


def say_all(say: Callable[..., str], *clues: Clue) -> tuple[str, list[str]]:
    """Return the answer with the truths of all clues and, for each clue, a wrong one with this clue false."""
    truths = [clue.truth for clue in clues]
    wrong = [say(*truths[:at], clue.wrong[0], *truths[at + 1 :]) for at, clue in enumerate(clues)]
    return say(*truths), wrong


def say_both(say: Callable[..., str], first: Clue, second: Clue) -> tuple[str, list[str]]:
    """Return the answer with the truths of both clues, and three wrong ones: with either or both false."""
    answer, wrong = say_all(say, first, second)
    return answer, [*wrong, say(first.wrong[1], second.wrong[1])]


def by_how_much(say: Callable[..., str], more: str, less: str, gap: str, gaps: Sequence[str]) -> tuple[str, list[str]]:
    """Return which of a pair is greater and by how much, and three wrong answers; `gaps` are false numbers."""
    return say(more, gap), [say(less, gap), say(more, gaps[0]), say(less, gaps[1])]


def who_has_more(names: Sequence[str], counts: Sequence[int]) -> tuple[str, tuple[str, ...]]:
    """Return which of a pair holds more, or that neither does, and the alternative answers."""
    first, second = (f"{name} holds more" for name in names)
    verdicts = (first, second) if counts[0] > counts[1] else (second, first)
    equal = "both hold equally many"
    if counts[0] == counts[1]:
        return (equal, (first, second))
    return (verdicts[0], (verdicts[1], equal))


Composition = tuple[str, list[SceneQuestion]]
"""A composition besides the facts: the title, and one question of each kind."""

Compose = Callable[[SceneDraft], Composition]
"""The composer of a sort of picture, which adds the facts to a draft and poses the questions."""


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
    """A measured thing: its label, its value, and the location of its value."""

    label: str
    value: int
    at: EvidenceRegion


class Measures:
    """The measured things of a picture, in order, and the questions on them."""

    def __init__(self, draft: SceneDraft, items: Sequence[MeasuredItem], names: Mapping[str, str]) -> None:
        assert draft.sort.measure is not None
        wording = draft.sort.measure
        self.draft = draft
        self.items = items
        self.wording: MeasureWording = wording
        self._name = fill(wording.name or f"the {wording.single} {{}}", names)
        self._show = fill(wording.show, names)
        most, least, more = wording.degrees
        self.names = {
            "single": wording.single,
            "many": fill(wording.plural or f"{wording.single}s", names),
            "first": wording.first,
            "after": wording.after,
            "most": most,
            "least": least,
            "more": more,
        }

    def called(self, label: str) -> str:
        """Return the name of the thing with this label."""
        return self._name.format(label)

    def clue(self, key: str, number: int, at: EvidenceRegion = None, **names: str) -> Clue:
        """Return a clue whose truth is a number as shown, with falsehoods near it."""
        return self.draft.clue(key, self._show.format(number), self._near(number), at, **self.names, **names)

    def _near(self, number: int) -> list[str]:
        step = self.wording.step
        return [self._show.format(n) for n in self.draft.near(number, step=step, low=step)]

    def reading(self, item: MeasuredItem) -> Clue:
        """Return the clue that reads one thing's value."""
        wording, name = self.wording, self.called(item.label)
        truth, wrong = self._show.format(item.value), tuple(self._near(item.value))
        return Clue(wording.ask.format(name), fill(wording.say, {"name": name}), truth, wrong, wording.leaf, item.at)

    def pair(self) -> list[MeasuredItem]:
        """Draw two of the things."""
        return self.draft.rng.sample(self.items, 2)

    def _extreme(self, item: MeasuredItem, degree: str) -> Clue:
        labels = [item.label for item in self.items]
        return self.draft.named("extreme", item.label, labels, item.at, **self.names, degree=degree)

    def _ends(self) -> tuple[MeasuredItem, MeasuredItem]:
        """Return the greatest and the least thing."""
        return max(self.items, key=lambda item: item.value), min(self.items, key=lambda item: item.value)

    def count_above(self) -> SceneQuestion:
        """Ask how many things are above a limit that none of them equals."""
        d, names, (high, low) = self.draft, self.names, self._ends()
        values = sorted(item.value for item in self.items)
        cut = d.rng.randrange(1, len(values))
        limit = self._show.format((values[cut - 1] + values[cut]) // 2)
        clues = [
            d.counted("altogether", len(values), **names),
            self._extreme(high, names["most"]),
            self._extreme(low, names["least"]),
            d.counted("above", len(values) - cut, **names, limit=limit),
        ]
        return d.pose("count", f"How many of the {names['many']} are {names['more']} than {limit}?", clues)

    def relate_next(self) -> SceneQuestion:
        """Ask which thing comes directly after another, and its value."""
        d, items = self.draft, self.items
        position = d.rng.randrange(len(items) - 1)
        this, after = items[position], items[position + 1]
        labels = [item.label for item in items]
        names = {**self.names, "name": self.called(this.label)}
        first = d.named("leading", labels[0], labels, items[0].at, **names)
        place = d.named("counted", ORDINALS[position], ORDINALS[: len(items)], this.at, **names)
        label = d.clue("following", after.label, d.others(labels, after.label, this.label), after.at, **names)
        value = self.clue("neighbour", after.value, after.at, name=names["name"])._replace(leaf=self.wording.leaf)
        text = fill("Which {single} comes {after} {name}, and what is its value?", names)
        pairs = ((label.wrong[0], value.truth), (label.truth, value.wrong[0]), (label.wrong[0], value.wrong[1]))
        wrong = [", ".join(pair) for pair in pairs]
        return d.pose("relate", text, [first, place, label, value], f"{label.truth}, {value.truth}", wrong)

    def compare_pair(self) -> SceneQuestion:
        """Ask which of a pair of things is greater, and by how much."""
        d = self.draft
        first, second = self.pair()
        high, low = (first, second) if first.value > second.value else (second, first)
        gap = self.clue("difference", high.value - low.value)
        equal = "neither, since they are equal"
        greater = d.clue("greater", high.label, (low.label, equal), high.at, **self.names)
        clues = [self.reading(first), self.reading(second), gap, greater]
        text = f"Which is {self.names['more']}, {self.called(first.label)} or {self.called(second.label)}, and by how much?"
        answers = by_how_much("{}, by {}".format, high.label, low.label, gap.truth, gap.wrong)
        return d.pose("compare", text, clues, *answers)

    def infer_sum(self) -> SceneQuestion:
        """Ask how the sum of two things compares with a limit, or for the difference of the greatest and the least."""
        d, step = self.draft, self.wording.step
        if d.rng.random() < 0.4:
            return self._infer_range()
        first, second = self.pair()
        total = first.value + second.value
        miss = d.rng.choice((-5, -4, -3, -2, 2, 3, 4, 5)) * step
        limit, size = self._show.format(total + miss), abs(miss)
        forms = ("exceed it by {}", "fall short of it by {}")
        form, contrary = forms if miss < 0 else forms[::-1]
        misses = ((form, size), (contrary, size), (form, size + 3 * step), (contrary, size + step))
        truth, *wrong = (wording.format(self._show.format(number)) for wording, number in misses)
        clues = [
            self.reading(first),
            self.reading(second),
            self.clue("together", total),
            d.clue("limit", truth, wrong, **self.names, limit=limit),
        ]
        both = f"{self.called(first.label)} and {self.called(second.label)}"
        text = f"Do {both} together exceed {limit} or fall short of it, and by how much?"
        return d.pose("infer", text, clues, f"they {truth}", [f"they {value}" for value in wrong])

    def _infer_range(self) -> SceneQuestion:
        names, (high, low) = self.names, self._ends()
        most, least = (
            self.clue("end", item.value, item.at, degree=degree)._replace(leaf=self.wording.leaf)
            for item, degree in ((high, names["most"]), (low, names["least"]))
        )
        clues = [
            self._extreme(high, names["most"]),
            most,
            self._extreme(low, names["least"]),
            least,
            self.clue("range", high.value - low.value),
        ]
        text = fill("How far apart are the {most} and the {least} of the {many}?", names)
        return self.draft.pose("infer", text, clues)


TONES: tuple[str, ...] = ("red", "orange", "yellow", "green", "blue", "purple", "pink")
"""The colours of figures drawn on white paper."""

LETTERS: tuple[str, ...] = tuple("BCDEFGHKLMNPQRSTVWXZ")
"""Single-letter labels; A and I are words, and O and 0, J and U are easily confused."""

PEOPLE_NAMES: tuple[str, ...] = (
    "Nora Hale", "Omar Reyes", "Paula Stern", "Quentin Moss", "Ruth Adler", "Simon Okoro", "Tara Voss", "Iris Lund",
)  # fmt: skip

MONTHS: tuple[str, ...] = ("January", "March", "April", "May", "July", "September", "October", "November")
