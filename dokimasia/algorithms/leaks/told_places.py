"""Whether a text tells which choice is right by its letter or by its place in the list, without a word of the choice."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from dokimasia.algorithms.leaks.context import denied
from dokimasia.algorithms.leaks.numbers import ordinal
from dokimasia.algorithms.leaks.secrets import Secrets
from dokimasia.algorithms.leaks.values import SENTENCE_END, bare
from dokimasia.algorithms.leaks.wording import stem, stems_of
from dokimasia.algorithms.text.words import FUNCTION_WORDS, NUMBER_WORDS

_CHOICE = (
    r"(?:options?|choices?|letter|answers?|alternatives?|statements?|entry|entries|items?|candidates?|possibility"
    r"|repl(?:y|ies))"
)
_RANK = r"(?:first|second|third|fourth|fifth|sixth|1st|2nd|3rd|4th|5th|6th)"
_LISTED = r"(?:mentioned|listed|named|offered|given|printed|written|suggested|on offer)"
_LIST = r"(?:list|choices|options|alternatives|answers|replies)"

_LETTER = re.compile(
    rf"(?i:\b{_CHOICE}\s+[\"'(]?([a-h])[)\"'])|\(([a-h])\)|\b(?i:option|choice)\s+([a-h])\)|(?<![\w'\u00b0])([A-H])(?![\w'\u00b0])"
)
_NOT_A_CHOICE = re.compile(
    r"(?i)(?:\b(?:label(?:led|ed)?|point|plan|chart|angle|side|cell|vertex|figure|panel|vitamin|stage|circuit|line|step|switch"
    r"|note|gate|platform|team|table|building|room|row|column|section|type|class|grade|bus|key|at)|\d)\s*$"
)
_HEAD = re.compile(r"(?:^|[.!?:;]\s*|[\"'(])$")
_ARTICLE = re.compile(
    r"\s+(?!(?:is|was|looks|seems|fits|suits|matches|describes|would|will|must|has|as|because|since|if|when|and|after)\b)\w"
)
"""What stands behind an A at the head of a sentence that is an article; elsewhere a capital A is none."""

_AMONG = re.compile(
    rf"(?i)\b(?:{_CHOICE}|{_LISTED}|list\s+of|(?:the|your|this|in|on)\s+(?:\w+\s+)?list|pick|choose|chosen|tick|box|position|"
    rf"(?:stop|halt|settle)\s+(?:\w+\s+)?(?:at|on|with|for|when)|comes\s+(?:{_RANK}|last)|"
    r"of\s+(?:the|your|these|those)?\s*(?:two|three|four|five|six|both)\b|of\s+both)\b"
)
"""Words of choosing: without them a place may be that of anything in the picture."""

_FROM_THE_END = re.compile(
    r"(?i)\b(?:last\s+but\s+one|(?:next|second)[\s-]to[\s-]last|second[\s-]last|penultimate|before\s+the\s+(?:last|final)|second\s+from\s+the\s+end)\b"
)
_LAST = re.compile(
    rf"(?i)\b(?:last|final|closing|bottom|latter)\b(?!\s+(?:of\s+)?(?:the\s+)?(?:page|picture|image))|\bat\s+the\s+(?:very\s+)?end\b"
    rf"|\b(?:closes|ends|concludes)\s+(?:the|your)\s+{_LIST}|\bnothing\s+(?:comes|stands|follows)\s+after\b"
)
_FIRST = re.compile(
    rf"(?i)\b(?:initial|opening|former|top)\b|\b(?:head|start|beginning)\s+of\s+(?:the|your)\s+{_LIST}"
    rf"|\b(?:opens|begins|starts|heads)\s+(?:the|your)\s+{_LIST}|\bbefore\s+all\s+(?:the\s+|of\s+the\s+)?(?:others|other|rest)\b"
)
_MIDDLE = re.compile(r"(?i)\b(?:middle|central)\b")
_NUMBERED = re.compile(
    rf"(?i)\b(?:number|no\.?|{_CHOICE}(?:\s+(?:number|no\.?))?)\s+(one|two|three|four|five|six|[1-6])\b(?!\s+(?:of|more|that))|#\s?([1-6])\b"
)
_RANKED = re.compile(rf"(?i)\b({_RANK})\b(?!\s+(?:smallest|largest|lowest|highest|biggest|letter))")
_ON_THE_LIST = re.compile(rf"(?i)(?:\W+\w+){{0,5}}?\W+(?:{_LISTED}|{_CHOICE}|{_LIST}|among|choose)\b")
_IS_LISTED = re.compile(rf"(?i)\b(?:{_LISTED}|comes|stands)\s*$")
_FROM_TOP = re.compile(r"(?i)\bfrom\s+top\s+to\s+bottom\b")
_CHOICE_RANKED = re.compile(
    rf"(?i)\b({_RANK})\s+(?:answer\s+)?{_CHOICE}\b"
    rf"|\b{_CHOICE}\s+(?:number\s+|no\.?\s+)?(one|two|three|four|five|six|[1-6])\b"
)
_ALPHABET = re.compile(rf"(?i)\b({_RANK})\s+letter\b")
_SIZED = re.compile(
    r"(?i)\b(?:(second)\s+)?(?:(smallest|lowest|least|minimum|shortest)|(largest|highest|biggest|greatest|maximum|longest))\b"
)
_BESIDE = re.compile(r"(?i)\b(?:(before|above|precedes)|(after|below|follows|following))\s+(?:the\s+|an?\s+)?\W?(\w+)")
_BETWEEN = re.compile(
    rf"(?i)\bbetween\s+(?:the\s+)?(?:{_CHOICE}\s+)?(?:([A-H])|({_RANK}))\b(?:\s+{_CHOICE})?"
    rf"\s+and\s+(?:the\s+)?(?:{_CHOICE}\s+)?(?:([A-H])|({_RANK}))\b"
)
_NEXT = re.compile(
    r"(?i)\b(?:letter|one|choice|option|answer)\s+(?:that\s+)?(?:comes\s+|right\s+|directly\s+)*(after|before)\s+([A-H])\b"
)
_ASKS = re.compile(
    r"(?i)^\W*(?:(?:at|in|on|from|to|by|for|of)\s+)?(?:what|which|who|whose|where|when|how|why)\b.*\?\s*$"
)


class _Named(NamedTuple):
    place: int
    start: int
    end: int


def tells_place(text: str, secrets: Secrets) -> bool:
    """Return whether a text names the letter or the place of the right choice, and of no other, as the one to choose.

    Letters that question or choices speak of themselves ("the planet labelled C") are none of a choice, and places only
    count in a sentence about choosing.

    Examples
    --------
    >>> from dokimasia.algorithms.leaks.secrets import secrets_of
    >>> secrets = secrets_of("Which is it?", ("red", "green", "blue"), (), "B")
    >>> tells_place("It's B, no doubt.", secrets), tells_place("Tick the box in second place.", secrets)
    (True, True)
    >>> tells_place("Look at the second row of windows.", secrets), tells_place("It is A or B.", secrets)
    (False, False)
    """
    count = len(secrets.choices)
    if secrets.right is None or not secrets.lettered or count < 2:
        return False
    plain = bare(text)
    for found in (_letters(plain, secrets), _ranked_choices(plain), _places(plain, secrets)):
        told = {one.place % count for one in found if one.place < count and not denied(plain, one.start, one.end)}
        if told == {secrets.right}:
            return True
    return False


def _letters(text: str, secrets: Secrets) -> list[_Named]:
    between, after = list(_BETWEEN.finditer(text)), list(_NEXT.finditer(text))
    taken = [one.span() for one in (*between, *after)]
    found: list[_Named] = []
    for one in between:
        if one[1] and one[3] and abs(_place(one[1]) - _place(one[3])) == 2:
            found.append(_Named(min(_place(one[1]), _place(one[3])) + 1, *one.span()))
    for one in after:
        found.append(_Named(_place(one[2]) + (1 if one[1].casefold() == "after" else -1), *one.span()))
    own = {one for one in secrets.asked if len(one) == 1} | {one for choice in secrets.choices for one in choice.stems}
    for one in _LETTER.finditer(text):
        letter = next(part for part in one.groups() if part)
        if any(start <= one.start() < end for start, end in taken):
            continue
        if not one[4] or not _is_no_choice(one, text, own, secrets):
            found.append(_Named(_place(letter), *one.span()))
    return found


def _is_no_choice(one: re.Match[str], text: str, own: set[str], secrets: Secrets) -> bool:
    """Whether a capital letter by itself is a label, a letter that the question speaks of, or an article."""
    before = text[: one.start()]
    called = re.search(rf"(?i)\b{_CHOICE}\s*$", before)
    if one[4].casefold() in own and (called is None or called[0].casefold().startswith("letter")):
        return True
    if called is not None:
        return False
    article = one[4] == "A" and _HEAD.search(before) is not None and _ARTICLE.match(text, one.end()) is not None
    return article or _labels(before, secrets)


def _labels(before: str, secrets: Secrets) -> bool:
    """Whether what stands before a letter makes it the label of something in the picture."""
    word = re.search(r"(\w+)\s*$", before)
    asked = word is not None and len(word[1]) > 3 and stem(word[1].casefold()) in secrets.asked
    return asked or _NOT_A_CHOICE.search(before) is not None


def _place(letter: str) -> int:
    return ord(letter.upper()) - ord("A")


def _ranked_choices(text: str) -> list[_Named]:
    return [_Named(_number(one[1] or one[2]) - 1, *one.span()) for one in _CHOICE_RANKED.finditer(text)]


def _number(word: str) -> int:
    """The number of a rank, of a number word or of a figure."""
    low = word.casefold()
    said = NUMBER_WORDS.get(low, low)
    return int(said) if said.isdigit() else ordinal(low) or 0


def _places(text: str, secrets: Secrets) -> list[_Named]:
    found: list[_Named] = []
    at = 0
    for sentence in SENTENCE_END.split(text):
        at = text.find(sentence, at)
        if _AMONG.search(sentence) and not _ASKS.search(sentence):
            found += [_Named(one.place, one.start + at, one.end + at) for one in _ranks(sentence, secrets)]
    return found


def _ranks(sentence: str, secrets: Secrets) -> Iterator[_Named]:
    """The places that a sentence about choosing names; what a pattern has read, the later ones do not see."""
    count = len(secrets.choices)
    for one in _BETWEEN.finditer(sentence):
        if one[2] and one[4]:
            low, high = sorted((_number(one[2]) - 1, _number(one[4]) - 1))
            if high - low == 2:
                yield _Named(low + 1, *one.span())
    rest = _BETWEEN.sub(_blank, sentence)
    for one in _FROM_THE_END.finditer(rest):
        yield _Named(count - 2, *one.span())
    rest = _FROM_TOP.sub(_blank, _FROM_THE_END.sub(_blank, rest))
    yield from _sized(rest, secrets)
    yield from _beside(rest, secrets)
    for pattern, place in ((_LAST, count - 1), (_FIRST, 0), (_MIDDLE, count // 2 if count % 2 else count)):
        for one in pattern.finditer(rest):
            yield _Named(place, *one.span())
    for one in (*_RANKED.finditer(rest), *_ALPHABET.finditer(rest)):
        if _IS_LISTED.search(rest[: one.start()]) or not _of_another(rest[one.end() :], secrets):
            yield _Named(_number(one[1]) - 1, *one.span())
    for one in _NUMBERED.finditer(rest):
        yield _Named(_number(one[1] or one[2]) - 1, *one.span())


def _of_another(after: str, secrets: Secrets) -> bool:
    """Whether a rank is that of a thing which is neither asked for nor in the list: "the third footnote"."""
    word = re.match(r"\s+([^\W\d_]+)", after)
    if word is None or word[1].casefold() in FUNCTION_WORDS.union(("one", "among", "place", "position")):
        return False
    return stem(word[1].casefold()) not in secrets.asked and _ON_THE_LIST.match(after) is None


def _blank(found: re.Match[str]) -> str:
    return " " * len(found[0])


def _sized(sentence: str, secrets: Secrets) -> Iterator[_Named]:
    """Places of choices by their size among numbers: "the second smallest of the options"."""
    sizes = [max((value for kind, value in one.values if kind == "n"), default=None) for one in secrets.choices]
    if any(size is None for size in sizes):
        return
    order = sorted(range(len(sizes)), key=lambda at: sizes[at] or 0.0)
    for one in _SIZED.finditer(sentence):
        step = 1 if one[1] else 0
        yield _Named(order[step] if one[2] else order[-1 - step], *one.span())


def _beside(sentence: str, secrets: Secrets) -> Iterator[_Named]:
    """Places of choices by their neighbours in the list: "the one listed right after the airport"."""
    for one in _BESIDE.finditer(sentence):
        for place, choice in enumerate(secrets.choices):
            if choice.stems and choice.stems <= set(stems_of(one[3])):
                yield _Named(place + (-1 if one[1] else 1), *one.span())
