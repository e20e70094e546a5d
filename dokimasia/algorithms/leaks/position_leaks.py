"""Whether a text reveals the right choice by its letter or its position in the list, without its words."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from dokimasia.algorithms.leaks.context import denied
from dokimasia.algorithms.leaks.numbers import ordinal
from dokimasia.algorithms.leaks.secrets import QuestionSecrets
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
"""The text after an A that is an article at the beginning of a sentence; elsewhere a capital A is not an article."""

_AMONG = re.compile(
    rf"(?i)\b(?:{_CHOICE}|{_LISTED}|list\s+of|(?:the|your|this|in|on)\s+(?:\w+\s+)?list|pick|choose|chosen|tick|box|position|"
    rf"(?:stop|halt|settle)\s+(?:\w+\s+)?(?:at|on|with|for|when)|comes\s+(?:{_RANK}|last)|"
    r"of\s+(?:the|your|these|those)?\s*(?:two|three|four|five|six|both)\b|of\s+both)\b"
)
"""Words about choosing; without them, a position may be that of anything in the image."""

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


class _NamedChoice(NamedTuple):
    number: int
    start: int
    end: int


def names_position(text: str, secrets: QuestionSecrets) -> bool:
    """Return whether a text recommends the right choice, and no other, by its letter or its place.

    Letters that the question or the choices mention themselves ("the planet labelled C") do not count, and places count
    only in a sentence about choosing.

    Examples
    --------
    >>> from dokimasia.algorithms.leaks.secrets import secrets_of
    >>> secrets = secrets_of("Which is it?", ("red", "green", "blue"), (), "B")
    >>> names_position("It's B, no doubt.", secrets), names_position("Tick the box in second place.", secrets)
    (True, True)
    >>> names_position("Look at the second row of windows.", secrets), names_position("It is A or B.", secrets)
    (False, False)
    """
    count = len(secrets.choices)
    if secrets.right is None or not secrets.lettered or count < 2:
        return False
    plain = bare(text)
    for positions in (_letters(plain, secrets), _ranked_choices(plain), _positions(plain, secrets)):
        choice_positions = [position for position in positions if position.number < count]
        recommended = {
            choice.number % count for choice in choice_positions if not denied(plain, choice.start, choice.end)
        }
        if recommended == {secrets.right}:
            return True
    return False


def _letters(text: str, secrets: QuestionSecrets) -> list[_NamedChoice]:
    between, after = list(_BETWEEN.finditer(text)), list(_NEXT.finditer(text))
    spans = [match.span() for match in (*between, *after)]
    positions: list[_NamedChoice] = []
    for match in between:
        if match[1] and match[3] and abs(_index(match[1]) - _index(match[3])) == 2:
            positions.append(_NamedChoice(min(_index(match[1]), _index(match[3])) + 1, *match.span()))
    for match in after:
        positions.append(_NamedChoice(_index(match[2]) + (1 if match[1].casefold() == "after" else -1), *match.span()))
    labels = {word for word in secrets.question_stems if len(word) == 1}
    labels |= {word for choice in secrets.choices for word in choice.stems}
    for match in _LETTER.finditer(text):
        letter = next(part for part in match.groups() if part)
        if any(start <= match.start() < end for start, end in spans):
            continue
        if not match[4] or not _is_no_choice(match, text, labels, secrets):
            positions.append(_NamedChoice(_index(letter), *match.span()))
    return positions


def _is_no_choice(match: re.Match[str], text: str, labels: set[str], secrets: QuestionSecrets) -> bool:
    """Return whether a single capital letter is a label, a letter that the question mentions, or an article."""
    before = text[: match.start()]
    choice_word = re.search(rf"(?i)\b{_CHOICE}\s*$", before)
    if match[4].casefold() in labels and (choice_word is None or choice_word[0].casefold().startswith("letter")):
        return True
    if choice_word is not None:
        return False
    article = match[4] == "A" and _HEAD.search(before) is not None and _ARTICLE.match(text, match.end()) is not None
    return article or _labels(before, secrets)


def _labels(before: str, secrets: QuestionSecrets) -> bool:
    """Return whether the text before a letter makes it the label of something in the image."""
    word = re.search(r"(\w+)\s*$", before)
    spoken_of = word is not None and len(word[1]) > 3 and stem(word[1].casefold()) in secrets.question_stems
    return spoken_of or _NOT_A_CHOICE.search(before) is not None


def _index(letter: str) -> int:
    return ord(letter.upper()) - ord("A")


def _ranked_choices(text: str) -> list[_NamedChoice]:
    return [_NamedChoice(_number(match[1] or match[2]) - 1, *match.span()) for match in _CHOICE_RANKED.finditer(text)]


def _number(word: str) -> int:
    """Return the number of a rank, a number word or a figure."""
    low = word.casefold()
    digits = NUMBER_WORDS.get(low, low)
    if digits.isdigit():
        return int(digits)
    return ordinal(low) or 0


def _positions(text: str, secrets: QuestionSecrets) -> list[_NamedChoice]:
    positions: list[_NamedChoice] = []
    offset = 0
    for sentence in SENTENCE_END.split(text):
        offset = text.find(sentence, offset)
        if _AMONG.search(sentence) and not _ASKS.search(sentence):
            for choice in _ranks(sentence, secrets):
                positions.append(_NamedChoice(choice.number, choice.start + offset, choice.end + offset))
    return positions


def _ranks(sentence: str, secrets: QuestionSecrets) -> Iterator[_NamedChoice]:
    """Yield the positions named by a sentence about choosing; later patterns skip what an earlier one has matched."""
    count = len(secrets.choices)
    for match in _BETWEEN.finditer(sentence):
        if match[2] and match[4]:
            low, high = sorted((_number(match[2]) - 1, _number(match[4]) - 1))
            if high - low == 2:
                yield _NamedChoice(low + 1, *match.span())
    remaining = _BETWEEN.sub(_blank, sentence)
    for match in _FROM_THE_END.finditer(remaining):
        yield _NamedChoice(count - 2, *match.span())
    remaining = _FROM_TOP.sub(_blank, _FROM_THE_END.sub(_blank, remaining))
    yield from _size_positions(remaining, secrets)
    yield from _neighbour_positions(remaining, secrets)
    for pattern, index in ((_LAST, count - 1), (_FIRST, 0), (_MIDDLE, count // 2 if count % 2 else count)):
        for match in pattern.finditer(remaining):
            yield _NamedChoice(index, *match.span())
    for match in (*_RANKED.finditer(remaining), *_ALPHABET.finditer(remaining)):
        if _IS_LISTED.search(remaining[: match.start()]) or not _is_other_rank(remaining[match.end() :], secrets):
            yield _NamedChoice(_number(match[1]) - 1, *match.span())
    for match in _NUMBERED.finditer(remaining):
        yield _NamedChoice(_number(match[1] or match[2]) - 1, *match.span())


def _is_other_rank(after: str, secrets: QuestionSecrets) -> bool:
    """Return whether a rank belongs to something neither requested nor in the list: "the third footnote"."""
    word = re.match(r"\s+([^\W\d_]+)", after)
    if word is None or word[1].casefold() in FUNCTION_WORDS.union(("one", "among", "place", "position")):
        return False
    return stem(word[1].casefold()) not in secrets.question_stems and _ON_THE_LIST.match(after) is None


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _size_positions(sentence: str, secrets: QuestionSecrets) -> Iterator[_NamedChoice]:
    """Yield positions of choices named by their size among numbers: "the second smallest of the options"."""
    sizes = [max((value for kind, value in choice.values if kind == "n"), default=None) for choice in secrets.choices]
    if any(size is None for size in sizes):
        return
    order = sorted(range(len(sizes)), key=lambda at: sizes[at] or 0.0)
    for match in _SIZED.finditer(sentence):
        step = 1 if match[1] else 0
        yield _NamedChoice(order[step] if match[2] else order[-1 - step], *match.span())


def _neighbour_positions(sentence: str, secrets: QuestionSecrets) -> Iterator[_NamedChoice]:
    """Yield positions of choices named by their neighbours in the list: "the one listed right after the airport"."""
    for match in _BESIDE.finditer(sentence):
        for position, choice in enumerate(secrets.choices):
            if choice.stems and choice.stems <= set(stems_of(match[3])):
                yield _NamedChoice(position + (-1 if match[1] else 1), *match.span())
