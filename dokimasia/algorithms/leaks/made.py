"""Whether an answer can be made from a text: from its numbers by a sum, from its letters by spelling."""

import re
from collections.abc import Iterator, Sequence

from dokimasia.algorithms.leaks.secrets import Secrets
from dokimasia.algorithms.leaks.values import Value, bare, read
from dokimasia.algorithms.text.words import FUNCTION_WORDS, NUMBER_WORDS

_SPREAD = re.compile(r"(?<!\w)(?:[A-Za-z0-9][\s\-.,_/|+'\"]{1,3}){2,30}[A-Za-z0-9](?!\w)")
# fmt: off
_NATO = (
    "alpha alfa bravo charlie delta echo foxtrot golf hotel india juliet juliett kilo lima mike november oscar papa "
    "quebec romeo sierra tango uniform victor whiskey whisky xray yankee zulu"
)
NATO = {word: word[0] for word in _NATO.split()}
_AND = frozenset(("add", "adds", "added", "adding", "plus", "and", "more", "sum", "together", "total", "with", "another",
                  "combine", "combined", "later", "on", "after", "above", "+", "join", "extra", "up", "next", "each"))
_LESS = frozenset(("minus", "less", "subtract", "subtracting", "subtracted", "take", "taking", "from", "fewer", "away", "before",
                   "drop", "without", "off", "remove", "leaves", "left", "short", "of", "earlier", "back", "lose",
                   "below", "under", "to", "-", "gone", "knock"))
_TIMES = frozenset(("times", "multiply", "multiplied", "product", "each", "per", "x", "*", "of", "by", "groups", "rows",
                    "every", "lots", "twice", "double", "doubled", "sets", "\u00d7"))
_OVER = frozenset(("divide", "divided", "over", "split", "by", "half", "halve", "halved", "shared", "third", "quarter",
                   "/", "\u00f7", "between"))
# fmt: on
_FACTORS = {
    "half": 0.5,
    "halve": 0.5,
    "halved": 0.5,
    "double": 2.0,
    "doubled": 2.0,
    "twice": 2.0,
    "triple": 3.0,
    "thrice": 3.0,
    "tripled": 3.0,
    "quarter": 0.25,
    "third": 1 / 3,
}  # fmt: skip


_NAMES = {digits: (word,) for word, digits in NUMBER_WORDS.items()}


def sums(text: str, secrets: Secrets) -> set[str]:
    """Whether numbers of the text come to a value of the answer, and by which step."""
    wanted = {value for kind, value in secrets.answer_values if kind in ("n", "t", "p") or kind.startswith("u")}
    other = {value for kind, value in secrets.values if kind in ("n", "t")}
    _, low, values = read(text)
    plain = [one for one in values if one.kind in ("n", "w", "o")]
    said = set(low)
    singles = [Value("n", 1.0, at, at + 1) for at, one in enumerate(low) if one in ("a", "an", "another", "single")]
    found: set[str] = set()
    amounts = sorted({(one.value, one.start) for one in plain}, key=lambda one: one[1])[:6]
    if amounts and (wanted or other):
        made = _made(amounts, [(one.value, one.start) for one in singles][:3], said, low)
        for name, value in made:
            if any(abs(value - one) < 1e-6 for one in wanted):
                found.add(f"sum {name}")
                found.add("sum")
            elif any(abs(value - one) < 1e-6 for one in other):
                found.add("sum of truth")
    clocks = [one.value for one in values if one.kind == "t"]
    spans = [one.value / 60 for one in values if one.kind == "u:s"]
    due = {value for kind, value in secrets.answer_values if kind == "t"}
    if due and any((clock + sign * span) % 720 in due for clock in clocks for span in spans for sign in (1, -1)):
        found |= {"sum", "sum clock"}
    numbers = len({one.start for one in plain if low[one.start] != "one"})
    if numbers >= 2:
        found.add("numbers 2")
    digits = "".join(
        f"{one.value:g}" for one in plain if one.kind == "n" and one.value < 10 and one.value == int(one.value)
    )
    for value in wanted:
        written = f"{value:g}".replace(".", "")
        if len(written) > 1 and (written in digits or written in digits[::-1]):
            found.add("digits")
    for one in plain:
        for value in wanted:
            written = f"{value:g}"
            if len(written) > 1 and written[::-1] == f"{one.value:g}" and written != written[::-1]:
                found.add("digits reversed")
    return found


def _made(
    amounts: list[tuple[float, int]], singles: list[tuple[float, int]], said: set[str], low: Sequence[str]
) -> Iterator[tuple[str, float]]:
    both = [*amounts, *singles]
    for first, at in amounts:
        for word, factor in _FACTORS.items():
            if word in said:
                yield "factor", first * factor
        if "square" in said or "squared" in said:
            yield "square", first**2
        if {"root", "square"} <= said:
            yield "root", first**0.5
        near = set(low[max(0, at - 4) : at + 4])
        if near & {"after", "above", "following", "next", "follows", "beyond", "past", "over"}:
            yield "next", first + 1
        if near & {"before", "below", "preceding", "under", "precedes", "short", "shy", "until"}:
            yield "next", first - 1
    for first, at in both:
        for second, place in both:
            if at < place:
                if said & _AND:
                    yield (
                        ("plus" if (first, at) in amounts and (second, place) in amounts else "plus one"),
                        first + second,
                    )
                if said & _LESS:
                    name = "minus" if (first, at) in amounts and (second, place) in amounts else "minus one"
                    yield name, first - second
                    yield name, second - first
                if said & _TIMES:
                    yield "times", first * second
                if said & _OVER:
                    yield from (("over", one / two) for one, two in ((first, second), (second, first)) if two)
                if "between" in said and abs(first - second) <= 2:
                    yield "between", (first + second) / 2
                if said & {"halfway", "midway", "mean", "average"}:
                    yield "between", (first + second) / 2
    if len(amounts) >= 3:
        for skip in range(min(3, len(amounts) - 2)):
            one, two, three = (amount for amount, _ in amounts[skip : skip + 3])
            yield from (("three", value) for value in (
                one + two + three, one + two - three, one - two - three, one - two + three, one * two + three,
                one * two - three, one + two * three, one * two * three))  # fmt: skip
        if len(amounts) > 3:
            yield "three", sum(amount for amount, _ in amounts)


_LETTERED_TEXT = "initials initial letters letter acrostic capitals beginnings first"
_LETTERED = frozenset(_LETTERED_TEXT.split())


def spelling(text: str, secrets: Secrets) -> set[str]:
    """Whether letters of the text make a word of the answer: in a row, in code, backwards, mixed up, or as its ends."""
    found: set[str] = set()
    low = read(text)[1]
    letters = "".join(one for one in low if len(one) == 1 and one.isalpha())
    code = "".join(NATO[one] for one in low if one in NATO)
    pieces = re.sub(r"\W|_", "", bare(text)).casefold()
    runs = [re.sub(r"\W", "", run[0]).casefold() for run in _SPREAD.finditer(bare(text))]
    initials = "".join(one[0] for one in low if one[0].isalpha())
    if runs or len(code) > 1 or len(letters) >= 3:
        found.add("letters")
    words = {word for word in secrets.words if word not in FUNCTION_WORDS or word in ("yes", "no")}
    numbers = {f"{value:g}" for kind, value in secrets.answer_values if kind == "n"}
    names = {name for one in numbers for name in _NAMES.get(one, ())}
    whole = "".join(secrets.words)
    mixed_kinds = any(one.isdigit() for one in whole) and any(one.isalpha() for one in whole)
    if len(whole) > 5 and (len(secrets.words) > 1 or mixed_kinds) and whole in pieces and whole in "".join(low):
        found |= (
            {"run together"}
            if any(whole in one for one in re.sub(r"[-_]", "", bare(text)).casefold().split())
            else set()
        )
    for word in {*words, *names, whole} - {""}:
        back = word[::-1]
        mixed = sorted(word)
        if len(word) > 1 and (
            word in letters
            or any(word in run for run in runs)
            or (len(word) > 2 and (back in letters or any(back in run for run in runs)))
        ):
            found |= {"spells", "spells row"}
        if len(word) > 1 and word in code:
            found |= {"spells", "spells code"}
        if len(word) > 2 and any((back == one or (back in one and len(word) > 3)) and one != word for one in low):
            found |= {"spells", "spells back"}
        if len(word) > 2 and any(sorted(one) == mixed and one != word for one in low):
            found |= {"spells", "spells mixed"}
        if len(word) > 4 and word in pieces and word not in low and word not in bare(text).casefold():
            found |= {"spells", "spells pieces"}
        if len(word) > 2 and word in initials and (len(word) > 4 or _LETTERED & set(low)):
            found |= {"spells", "spells initials"}
        if any(len(one) > 1 and one != word and word.startswith(one) and len(one) < len(word) for one in low[1:]):
            found.add("begins")
        if any(len(one) > 1 and one != word and word.endswith(one) and len(one) < len(word) for one in low[1:]):
            found.add("ends")
        if letters and letters[0] == word[0]:
            found.add("first letter")
        if letters and letters[-1] == word[-1]:
            found.add("last letter")
        if {"rhyme", "rhymes", "rhyming", "sounds"} & set(low):
            found.add("rhymes")
            if any(len(one) > 2 and one != word and one[-2:] == word[-2:] for one in low):
                found |= {"spells", "spells rhyme"}
    return found
