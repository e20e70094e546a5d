"""Short answers from closed sets of values: yes and no, numbers, months, colours, times."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from dokimasia.algorithms.leaks.numbers import ordinal
from dokimasia.algorithms.text.dates import day_of_year, month_number
from dokimasia.algorithms.text.quantities import Quantity, compare_quantities, is_doubtful_pair, read_any_quantity
from dokimasia.algorithms.text.words import FUNCTION_WORDS, word_set, word_table, words

Kind = Literal["yes or no", "number", "rank", "date", "month", "weekday", "time", "colour", "side"]

MONTHS = 12
Verdict = Literal["same", "different", "unsure"]
LONGEST = 300
"""Maximum number of characters of an answer to read; a longer one is free text."""

_QUOTES = str.maketrans({"\u2019": "'", "\u2018": "'", "\u02bc": "'", "\u201c": '"', "\u201d": '"', "\u2212": "-"})
_FRAME = re.compile(
    r"\A(?:(?:it|that|this|there|they|these|those)(?:'s|'re|\s(?:is|are|was|were))\s|"
    r"(?:the\s)?(?:answer|colou?r|month|day|weekday|date|number|total|count|year|time)\s(?:is|was|are)\s?:?\s)"
)
_EXACTLY = re.compile(r"\A(?:exactly|only|just|a total of)\s")
_IN_ALL = re.compile(r",?\s(?:in total|in all|altogether|total)\Z")
_BEFORE: dict[str, re.Pattern[str]] = {
    "month": re.compile(r"(?:in\s|during\s)?(?:the\smonth\sof\s)?"),
    "weekday": re.compile(r"(?:on\s)?(?:a\s)?"),
    "number": re.compile(r"(?:the\s(?=[0-9]))?"),
    "date": re.compile(r"(?:on\s)?(?:the\s)?"),
    "time": re.compile(r"(?:at\s)?"),
    "side": re.compile(r"(?:(?:on|to|at)\s)?(?:the\s)?"),
    "rank": re.compile(r"(?:the\s)?"),
}
_COLOUR_NAMED = re.compile(r"\s(?:in\scolou?r|colou?r(?:ed)?)\Z")


def _pairs(text: str) -> frozenset[frozenset[str]]:
    """Return the pairs of words in a text, in which each pair is joined by a hyphen."""
    return frozenset(frozenset(pair.split("-")) for pair in text.split())


_YES_PHRASES = (
    "yes|yeah|yep|yup|indeed|yes indeed|of course|yes of course|certainly|yes certainly|definitely|yes definitely"
    "|absolutely|yes absolutely"
)
_NO_PHRASES = (
    "no|nope|nah|not at all|no not at all|definitely not|no definitely not|certainly not|no certainly not|absolutely not"
    "|no absolutely not|of course not|no of course not|by no means"
)
_YES, _NO = frozenset(_YES_PHRASES.split("|")), frozenset(_NO_PHRASES.split("|"))
_CONTRARY = _pairs("yes-no true-false")
_WEEKDAYS = word_table(
    """
    monday: monday mon
    tuesday: tuesday tue tues
    wednesday: wednesday wed
    thursday: thursday thu thur thurs
    friday: friday fri
    saturday: saturday sat
    sunday: sunday sun
    """
)
_COLOURS = {name: name for name in word_set("black white red green yellow blue brown orange pink purple grey")}
_COLOURS["gray"] = "grey"
_ALIKE = _pairs(
    """purple-pink purple-blue red-orange red-pink red-brown orange-yellow orange-brown orange-pink yellow-green yellow-brown
    blue-green grey-white grey-black grey-blue grey-brown grey-green yellow-white purple-red black-brown black-blue pink-white"""
)
"""Pairs of colours that two people may use for the same surface."""
_SIDES = {name: name for name in word_set("left right north south east west")} | {
    f"{name} {of}".replace(" -", "-"): name for name in ("left", "right") for of in ("side", "hand side", "-hand side")
}
_OPPOSED = _pairs("left-right north-south east-west north-east north-west south-east south-west")
DOUBT = word_set(
    """about above all almost although and another apparently approx approximately around assume at bc bce believe below
    between billions both but by can cannot circa could couple dozen dozens early either else especially estimated
    except few fewer fold greater guess half hardly however hundreds if impossible instead ish late least less likely
    mainly many max maximum may maybe mid might millions minimum minus more most mostly nearly neither never nor not
    odd or other over pair pairs partly perhaps plus possibly presumably probably rather roughly same seem seemingly
    seems several some something sometimes somewhat than think though thousands times to unable unclear under unless
    unsure until usually whether with without x yet"""
)
"""Words that doubt or deny a value, join it with another, or apply it to something else."""
_OPTIONAL_WORDS = (FUNCTION_WORDS - word_set("no not yes true false but or")) | word_set(
    """am answer any be can can't color colour could count depicted exactly get give have he he's her here his how i i'm
    image it's many may me month much my name number our photo photograph picture pictured please question said see
    seen she she's should show shown so some tell that's there's they're total us visible we what's where's would year
    you your"""
)
"""Words of a question that an answer may omit when it repeats the question."""

_PRONOUN = r"(?:there|it|that|this|they|these|those|he|she|you|we|i)"
_VERB = r"(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should)"
_YES_CLAUSE = re.compile(rf"(?:yes|yeah|yep|yup),?\s{_PRONOUN}\s{_VERB}")
_NO_CLAUSE = re.compile(
    rf"(?:no|nope),?\s(?:{_PRONOUN}\s(?:{_VERB}n't|{_VERB}\snot|can't|cannot|won't)|{_PRONOUN}(?:'s|'re)\snot|there\s{_VERB}\snone)"
)
_SENTENCE = re.compile(r"(yes|no)[,.:;]?\s(.+)")
_DENIAL = re.compile(r"\b(?:not|no|none|never)\b|n't\b")
_TRUTH = re.compile(r"(?:(?:the|this|that)\s(?:statement|claim|sentence)\sis\s)?(true|false)")
_CLOCK = re.compile(
    r"(?P<hour>[0-9]{1,2})(?:[:.](?P<minute>[0-5][0-9]))?\s?(?:(?P<half>[ap])\.?m\.?)?|(?P<noon>noon|midday|midnight)"
)


DECADE = re.compile(r"[0-9]0'?s\Z", re.IGNORECASE)
"""The end of a text that may name a decade: `the 2010s`."""
_ALSO_WORDS = frozenset(("sun", "sat", "wed"))
"""Abbreviations of weekdays that are also words."""
_ASKS_DAY = re.compile(r"day|\b(?:when|date)\b", re.IGNORECASE)
_NOUGHT = frozenset(("none", "there are none", "there is none", "none at all"))
_COUNTING = re.compile(r"\b(?:how many|the number of|count)\b", re.IGNORECASE)


class Clock(NamedTuple):
    """A time of day in minutes after midnight, and whether it is unambiguous."""

    minute: int
    certain: bool


class Day(NamedTuple):
    """A date as (year, month, day), (year, month) or (month, day)."""

    parts: tuple[int, ...]

    @property
    def shape(self) -> tuple[int, bool]:
        """The number of parts, and whether the first is a year."""
        return len(self.parts), self.parts[0] > MONTHS


Value = str | int | Day | Quantity | Clock


class Closed(NamedTuple):
    """One reading of a text: its kind and its value."""

    kind: Kind
    value: "Value"


@lru_cache(maxsize=4096)
def closed_readings(text: str, question: str = "") -> tuple[Closed, ...]:
    """Return the readings of a text that states one value of a closed set, one for each kind that fits.

    Parameters
    ----------
    text : str
        A short answer: the value alone, or in a frame such as `It is ...`.
    question : str, optional
        If given, a sentence that repeats the question's words in order and adds only the value is also read.

    Returns
    -------
    tuple of Closed
        Empty for anything else: two values, doubt, a denied value, or any other content.

    Examples
    --------
    >>> closed_readings("in Mar."), closed_readings("No, there isn't.")
    ((Closed(kind='month', value=3),), (Closed(kind='yes or no', value='no'),))
    >>> closed_readings("The bus is blue", "Which colour is the bus?"), closed_readings("blue or green")
    ((Closed(kind='colour', value='blue'),), ())
    """
    plain = plain_answer(text)
    if not plain or "?" in plain or len(text) > LONGEST:
        return ()
    polar = _polar(plain, question)
    if polar is not None:
        return (polar,)
    if plain in _NOUGHT and _COUNTING.search(question):
        return (Closed("number", Quantity(0.0, "")),)
    value_text = _COLOUR_NAMED.sub("", _IN_ALL.sub("", _EXACTLY.sub("", without_frame(plain))))
    if value_text in _ALSO_WORDS and not _ASKS_DAY.search(question):
        return ()
    return tuple(_values(value_text, counted=plain.startswith("there"))) or tuple(
        _values(_left_of_sentence(plain, question))
    )


def compare_closed(
    first: Sequence[Closed], second: Sequence[Closed], *, tolerance: float, question: str = ""
) -> tuple[Verdict, Kind] | None:
    """Return whether two texts are the same or different by their readings, and in which kind; None if they share no kind.

    Two colours that people use for the same surface, and quantities in two units, count as neither.
    """
    for left in first:
        for right in second:
            if left.kind == right.kind and (verdict := _verdict(left, right, tolerance, question)) is not None:
                return verdict, left.kind
    return None


def plain_answer(text: str) -> str:
    """Return a text on one line, case folded, without emphasis, enclosing quotation marks and a final full stop."""
    plain = unicodedata.normalize("NFKC", text).translate(_QUOTES).casefold()
    plain = " ".join(plain.split()).strip("*_`\"' ")
    return plain.rstrip(".!").rstrip("*_`\"' ")


def without_frame(plain: str) -> str:
    """Return a plain answer without words that only introduce it, such as `it is` or `the answer is`.

    `That is right` expresses agreement rather than a side, so it is unchanged.
    """
    answer = _FRAME.sub("", plain)
    if answer == "right" and plain.startswith(("it", "that", "this")):
        return plain
    return answer


def says_otherwise(plain: str, question: str) -> bool:
    """Return whether a plain answer that begins with yes or no adds something that may contradict it.

    Such additions are the other word, a denial after yes, a missing denial after no, and the question's words in
    another order.
    """
    sentence = _SENTENCE.fullmatch(plain)
    if {"yes", "no"}.issubset(words(plain)):
        return True
    if sentence is None or not re.match(r"(?:yes|no)[,.:;]", plain):
        return False
    statement = (word for word in words(_DENIAL.sub(" ", sentence[2])) if word not in _OPTIONAL_WORDS)
    question_words = iter(_question_words(question))
    return len(_DENIAL.findall(sentence[2])) != (sentence[1] == "no") or not all(
        word in question_words for word in statement
    )


def _verdict(left: Closed, right: Closed, tolerance: float, question: str) -> Verdict | None:
    if isinstance(left.value, Quantity) and isinstance(right.value, Quantity):
        comparison = compare_quantities(left.value, right.value, tolerance)
        if comparison == "unsure" or is_doubtful_pair(left.value, right.value, question):
            return None
        return comparison
    if left.value == right.value:
        return "same"
    if isinstance(left.value, Clock) and isinstance(right.value, Clock):
        return _clocks(left.value, right.value)
    if isinstance(left.value, Day) and isinstance(right.value, Day):
        if left.value.shape == right.value.shape:
            return "different"
        return None
    pair = frozenset(map(str, (left.value, right.value)))
    if left.kind == "yes or no":
        if pair in _CONTRARY:
            return "different"
        return None
    if left.kind == "colour":
        if pair in _ALIKE:
            return None
        return "different"
    if left.kind == "side":
        if pair in _OPPOSED:
            return "different"
        return None
    return "different"


def _clocks(left: "Clock", right: "Clock") -> Verdict | None:
    """Return the comparison of two times of day, at least one of them unambiguous: `20:15` alone may be a score."""
    if not (left.certain or right.certain):
        return None
    if left.minute == right.minute:
        return "same"
    return "different"


def _values(plain: str, *, counted: bool = False) -> Iterator[Closed]:
    """Yield the readings of a text that is one value; a `counted` number has no unit."""
    if not plain:
        return
    for kind in ("month", "weekday", "date", "time", "side", "rank"):
        before = _BEFORE[kind].match(plain)
        value = _READERS[kind](plain[before.end() :] if before else plain)
        if value is not None:
            yield Closed(kind, value)
    if plain in _COLOURS:
        yield Closed("colour", _COLOURS[plain])
    if DECADE.search(plain):
        return
    quantity = read_any_quantity(_BEFORE["number"].sub("", plain, count=1))
    if quantity is not None and DOUBT.isdisjoint(quantity.unit.split()) and not (counted and quantity.unit):
        yield Closed("number", quantity)


def _polar(plain: str, question: str) -> Closed | None:
    """Return the reading of a text that says yes or no, true or false, and at most repeats the question."""
    simple = " ".join(plain.replace(",", " ").split())
    if simple in _YES or _YES_CLAUSE.fullmatch(plain):
        return Closed("yes or no", "yes")
    if simple in _NO or _NO_CLAUSE.fullmatch(plain):
        return Closed("yes or no", "no")
    truth = _TRUTH.fullmatch(without_frame(plain))
    if truth is not None:
        return Closed("yes or no", truth[1])
    sentence = _SENTENCE.fullmatch(plain)
    if sentence is None or not question or _DENIAL.search(question.casefold()):
        return None
    denials = len(_DENIAL.findall(sentence[2]))
    statement = [word for word in words(_DENIAL.sub(" ", sentence[2])) if word not in _OPTIONAL_WORDS]
    if denials != (sentence[1] == "no") or statement != _question_words(question):
        return None
    if not DOUBT.isdisjoint(_doubts(statement, question)):
        return None
    return Closed("yes or no", sentence[1])


def _left_of_sentence(plain: str, question: str) -> str:
    """Return the words that a sentence adds to a question repeated in order; empty if it does not repeat it."""
    question_words = _question_words(question)
    if not question_words or re.search(r"[?;:]|n't\b|[.,]\s", plain):
        return ""
    tokens = plain.split()
    sentence_words = words(plain)
    if not {"no", "not", "yes", "true", "false"}.isdisjoint(sentence_words):
        return ""
    if not DOUBT.isdisjoint(_doubts(sentence_words, question)):
        return ""
    for length in (1, 2, 3):
        for at in range(len(tokens) - length + 1):
            value = " ".join(tokens[at : at + length]).strip(",")
            remaining = [
                word for word in words(" ".join(tokens[:at] + tokens[at + length :])) if word not in _OPTIONAL_WORDS
            ]
            if [*map(_single, remaining)] == [*map(_single, question_words)] and any(_values(value)):
                return value
    return ""


def _question_words(question: str) -> list[str]:
    """Return the words of a question that a full-sentence answer must repeat."""
    return [word for word in words(question) if word not in _OPTIONAL_WORDS]


def _doubts(statement: Sequence[str], question: str) -> set[str]:
    return set(statement) - set(words(question))


def _single(word: str) -> str:
    if word in ("people", "persons"):
        return "person"
    if len(word) > 3 and word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word


def _time(plain: str) -> Clock | None:
    """Return a time of day in minutes; None if it may be in the morning or the evening."""
    match = _CLOCK.fullmatch(plain.removesuffix(" o'clock"))
    if match is None:
        return None
    noon, half = match.group("noon", "half")
    if noon:
        return Clock(0 if noon == "midnight" else 720, certain=True)
    hour, minute = int(match["hour"]), int(match["minute"] or 0)
    if half is not None:
        if 1 <= hour <= 12:
            return Clock((hour % 12 + 12 * (half == "p")) * 60 + minute, certain=True)
        return None
    if ":" in plain and 13 <= hour <= 23:
        return Clock(hour * 60 + minute, certain=False)
    return None


def _day(plain: str) -> Day | None:
    parts = day_of_year(plain)
    return None if parts is None else Day(parts)


def _rank(plain: str) -> int | None:
    return ordinal(plain.removesuffix(" place"))


_READERS = {
    "month": month_number,
    "weekday": _WEEKDAYS.get,
    "date": _day,
    "time": _time,
    "side": _SIDES.get,
    "rank": _rank,
}
