"""A scene being composed: its facts so far, the clues that are read off them, and the questions that these settle."""

import re
from collections.abc import Callable, Sequence
from random import Random
from typing import NamedTuple

from dokimasia.domain.criterion import Box
from dokimasia.simulation import capabilities as can
from dokimasia.simulation.scene import Fact, Kind, Question, Step
from dokimasia.simulation.scenes.drawing import Pixels, box_of, union

_WEIGHTS: dict[int, tuple[tuple[int, ...], ...]] = {
    3: ((3, 3, 4), (2, 3, 5), (2, 2, 6)),
    4: ((2, 2, 2, 4), (1, 2, 3, 4), (2, 2, 3, 3)),
    5: ((1, 2, 2, 2, 3), (2, 2, 2, 2, 2), (1, 1, 2, 2, 4)),
}
_CHOICE_RATE = 0.35
_DIGITS = re.compile(r"(\d+)")

Place = Box | str | None
"""Where the evidence of a clue lies: a box, that of the fact with this id, or None for the whole image."""


class Clue(NamedTuple):
    """A step that has no weight yet. `form` is its sentence with `{}` in the place of the truth."""

    ask: str
    form: str
    truth: str
    wrong: tuple[str, ...]
    leaf: str
    at: Place = None


class Draft:
    """A scene being composed. `rng` is its seeded draw; facts stand in the order in which they were told."""

    def __init__(self, rng: Random, id: str) -> None:
        self.rng = rng
        self.id = id
        self.facts: dict[str, Fact] = {}

    def fact(self, id: str, subject: str, attribute: str, value: str, at: Pixels) -> None:
        """Add a fact whose region is given in pixels."""
        self.facts[id] = Fact(id=id, subject=subject, attribute=attribute, value=value, box=box_of(at))

    def box(self, *ids: str) -> Box:
        """Return the smallest box that encloses the facts with these ids."""
        return union([self.facts[id].box for id in ids])

    def others(self, pool: Sequence[str], *taken: str) -> tuple[str, ...]:
        """Return up to three different members of the pool that are not taken, in a seeded order."""
        free = [value for value in dict.fromkeys(pool) if value not in taken]
        return tuple(self.rng.sample(free, min(3, len(free))))

    def near(self, number: int, k: int = 3, *, step: int = 1, low: int = 0) -> list[int]:
        """Return k different numbers near to the given one, never itself and never below `low`."""
        reach = max(3, abs(number) // (6 * step))
        free = [number + d * step for d in range(-reach, reach + 1) if d and number + d * step >= low]
        return self.rng.sample(free, k)

    def counted(self, ask: str, form: str, number: int, leaf: str = can.COUNTING, at: Place = None) -> Clue:
        """Return a clue whose truth is a count."""
        return Clue(ask, form, str(number), tuple(map(str, self.near(number))), leaf, at)

    def named(self, ask: str, form: str, truth: str, pool: Sequence[str], leaf: str, at: Place = None) -> Clue:
        """Return a clue whose truth is a member of a pool, which its falsehoods come from too."""
        return Clue(ask, form, truth, self.others(pool, truth), leaf, at)

    def measured(
        self, ask: str, form: str, number: int, show: str, leaf: str, at: Place = None, *, step: int = 1
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
        self, kind: Kind, text: str, clues: Sequence[Clue], answer: str = "", wrong: Sequence[str] = ()
    ) -> Question:
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
            Step(
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
        return Question(
            id=f"{self.id}-{kind}", kind=kind, text=text, answer=answer, wrong_answers=tuple(wrong[:3]),
            choices=tuple(choices), steps=steps,
        )  # fmt: skip

    def read_out(self, text: str, *clues: Clue) -> Question:
        """Ask for several things that are written in the picture, joined in the order of the clues."""
        return self.join("read", text, clues)

    def join(self, kind: Kind, text: str, clues: Sequence[Clue]) -> Question:
        """Ask for what all clues say: the answer joins their truths, and a wrong answer has one of them false."""
        answer, wrong = in_words(lambda *said: ", ".join(said), *clues)
        self.rng.shuffle(wrong)
        return self.pose(kind, text, clues, answer, wrong)


def in_words(say: Callable[..., str], *clues: Clue) -> tuple[str, list[str]]:
    """Return the answer that says the truths of all clues, and for each clue a wrong one that has this clue false."""
    truths = [clue.truth for clue in clues]
    wrong = [say(*truths[:at], clue.wrong[0], *truths[at + 1 :]) for at, clue in enumerate(clues)]
    return say(*truths), wrong


def of_two(say: Callable[..., str], one: Clue, other: Clue) -> tuple[str, list[str]]:
    """Return the answer that says the truths of both clues, and three wrong ones: the one false, the other, and both."""
    answer, wrong = in_words(say, one, other)
    return answer, [*wrong, say(one.wrong[1], other.wrong[1])]


def by_how_much(say: Callable[..., str], more: str, less: str, gap: str, gaps: Sequence[str]) -> tuple[str, list[str]]:
    """Return which of a pair is the greater and by how much, and three wrong answers; `gaps` are false numbers."""
    return say(more, gap), [say(less, gap), say(more, gaps[0]), say(less, gaps[1])]


def who_has_more(names: Sequence[str], counts: Sequence[int]) -> tuple[str, tuple[str, ...]]:
    """Return which of a pair holds more, or that neither does, and what else might be said of it."""
    first, second = (f"{name} holds more" for name in names)
    verdicts = (first, second) if counts[0] > counts[1] else (second, first)
    equal = "both hold equally many"
    return (equal, (first, second)) if counts[0] == counts[1] else (verdicts[0], (verdicts[1], equal))
