"""How measured things are spoken of, and the questions that any set of them can be asked."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from dokimasia.simulation import capabilities as can
from dokimasia.simulation.scene import Question
from dokimasia.simulation.scenes.draft import Clue, Draft, Place, by_how_much

ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")


def article(words: str) -> str:
    """Return the words with `a` or `an` before them."""
    return f"{'an' if words[0] in 'aeiou' else 'a'} {words}"


def coloured(colour: str, kind: str) -> str:
    """Return a thing of that colour and kind, with `a` or `an` before it."""
    return article(f"{colour} {kind}")


class Item(NamedTuple):
    """A measured thing: its label, its value, and where its value is seen."""

    label: str
    value: int
    at: Place


class Wording(NamedTuple):
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

    def clue(self, d: Draft, ask: str, form: str, number: int, leaf: str, at: Place = None) -> Clue:
        """Return a clue whose truth is a number as it is shown, and whose falsehoods are near to it."""
        wrong = tuple(self.show(n) for n in d.near(number, step=self.step, low=self.step))
        return Clue(ask, form, self.show(number), wrong, leaf, at)


def reading(d: Draft, w: Wording, item: Item) -> Clue:
    """Return the clue that reads one thing's value."""
    name = w.called(item.label)
    return w.clue(d, w.ask.format(name), w.say.format(name=name, value="{}"), item.value, w.read, item.at)


def chosen(d: Draft, w: Wording, items: Sequence[Item], *, most: bool) -> Clue:
    """Return the clue that names the greatest or the least thing."""
    best = max(items, key=lambda i: i.value) if most else min(items, key=lambda i: i.value)
    ask = f"Which of all the {w.many} is the {w.degrees[not most]}?"
    form = f"Of all the {w.many}, the {w.degrees[not most]} is {{}}."
    return d.named(ask, form, best.label, [i.label for i in items], can.EXTREME, best.at)


def count_above(d: Draft, w: Wording, items: Sequence[Item]) -> Question:
    """Ask how many things lie above a limit that none of them equals."""
    values = sorted(i.value for i in items)
    cut = d.rng.randrange(1, len(values))
    limit = w.show((values[cut - 1] + values[cut]) // 2)
    above = f"The number of {w.many} above {limit} is {{}}."
    clues = [
        d.counted(f"How many {w.many} are there altogether?", f"Altogether there are {{}} {w.many}.", len(items)),
        chosen(d, w, items, most=True),
        chosen(d, w, items, most=False),
        d.counted(f"How many {w.many} lie above {limit}?", above, len(values) - cut, can.COUNTING_SELECTED),
    ]
    return d.pose("count", f"How many of the {w.many} are {w.degrees[2]} than {limit}?", clues)


def relate_next(d: Draft, w: Wording, items: Sequence[Item]) -> Question:
    """Ask which thing comes directly after another, and its value."""
    place = d.rng.randrange(len(items) - 1)
    this, after = items[place], items[place + 1]
    labels = [i.label for i in items]
    name = w.called(this.label)
    clues = [
        d.named(f"Which {w.single} stands {w.first}?", f"The {w.single} {w.first} is {{}}.", labels[0], labels,
                can.POSITION, items[0].at),
        d.named(f"At which place, counted from the {w.single} {w.first}, does {name} come?",
                f"Counted from there, {name} comes {{}}.", ORDINALS[place], ORDINALS[: len(items)], can.ORDINAL, this.at),
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


def compare_pair(d: Draft, w: Wording, items: Sequence[Item]) -> Question:
    """Ask which of a pair of things is the greater, and by how much."""
    one, other = d.rng.sample(list(items), 2)
    high, low = (one, other) if one.value > other.value else (other, one)
    more = w.degrees[2]
    gap = w.clue(d, f"By how much do the compared {w.many} differ?", "Between them lies a difference of {}.",
                 high.value - low.value, can.DIFFERENCE)  # fmt: skip
    clues = [
        reading(d, w, one),
        reading(d, w, other),
        gap,
        Clue(f"Which of the compared {w.many} is the {more}?", f"Of the compared {w.many}, the {more} is {{}}.",
             high.label, (low.label, "neither, since they are equal"), can.MAGNITUDE, high.at),
    ]  # fmt: skip
    text = f"Which is {more}, {w.called(one.label)} or {w.called(other.label)}, and by how much?"
    return d.pose("compare", text, clues, *by_how_much("{}, by {}".format, high.label, low.label, gap.truth, gap.wrong))


def infer_sum(d: Draft, w: Wording, items: Sequence[Item]) -> Question:
    """Ask how a pair of things together stands to a limit, or how far the greatest and the least lie apart."""
    if d.rng.random() < 0.4:
        return _infer_range(d, w, items)
    one, other = d.rng.sample(list(items), 2)
    total = one.value + other.value
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
        reading(d, w, one),
        reading(d, w, other),
        w.clue(d, f"What do both {w.many} come to together?", "Together they come to {}.", total, can.ADDITION),
        Clue(f"How do both {w.many} together stand to the limit of {limit}?",
             f"Held against the limit of {limit}, they {{}}.", truth, wrong, can.LIMIT),
    ]  # fmt: skip
    first, second = w.called(one.label), w.called(other.label)
    text = f"Do {first} and {second} together exceed {limit} or fall short of it, and by how much?"
    return d.pose("infer", text, clues, f"they {truth}", [f"they {value}" for value in wrong])


def _infer_range(d: Draft, w: Wording, items: Sequence[Item]) -> Question:
    high, low = max(items, key=lambda i: i.value), min(items, key=lambda i: i.value)
    most, least, _ = w.degrees
    ends = [
        w.clue(d, f"What is the {word} value among the {w.many}?", f"The {word} value found is {{}}.", end.value, w.read,
               end.at)
        for word, end in ((most, high), (least, low))
    ]  # fmt: skip
    clues = [
        chosen(d, w, items, most=True), ends[0], chosen(d, w, items, most=False), ends[1],
        w.clue(d, f"How far apart do the {most} and the {least} of the {w.many} lie?", "They lie {} apart.",
               high.value - low.value, can.DIFFERENCE),
    ]  # fmt: skip
    return d.pose("infer", f"How far apart are the {most} and the {least} of the {w.many}?", clues)
