"""The rules of the leak filter: secrets quoted, paraphrased, counted, spelled out, picked from a list or left over."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from dokimasia.algorithms.leaks.counts import harmless
from dokimasia.algorithms.leaks.forms import (
    denied,
    mentions,
    named_choices,
    offered,
    plain_words,
    riddles,
    spells,
    stem,
)
from dokimasia.algorithms.leaks.numbers import numbers_in, sums_in, tokens_of
from dokimasia.algorithms.text.similarity import sentences
from dokimasia.algorithms.text.words import FUNCTION_WORDS

PARAPHRASE = 0.6
"""Share of a ground truth's own words that a sentence holds when it repeats it."""

EXCERPT = 160

PLACES = frozenset(
    [
        "left",
        "right",
        "top",
        "bottom",
        "middle",
        "centre",
        "center",
        "upper",
        "lower",
        "above",
        "below",
        "front",
        "back",
        "inside",
        "outside",
        "in",
        "out",
        "on",
        "off",
        "under",
        "over",
        "behind",
        "beside",
        "near",
        "up",
        "down",
        "first",
        "last",
        "next",
        "end",
        "side",
    ]
)
"""Words that guidance cannot do without: they give a secret away only where the text asserts them."""

_ASSERTS = re.compile(
    r"(?i)(?:\b(?:answer|solution|result|correct|right\s+one|total|count|equals?|exactly|only|just|precisely|namely|it's|it\s+is|"
    r"that\s+is|that's|there\s+(?:is|are)|there's|should\s+(?:be|get|read|see|find|say|arrive)|must\s+be|has\s+to\s+be|ought\s+to\s+be|"
    r"turns?\s+out|choose|chose|chosen|pick|picked|select|said|says?|write|wrote|written|answered|found|points?\s+to|"
    r"go\s+with|get|gives?|makes?|reads?|holds?|shows?|comes?\s+to|arrive\s+at|conclude|in\s+fact|actually|really|"
    r"you(?:'ll|\s+will)\s+(?:see|find|get|count|read)|name\s+is|called)\b|[:=?\u2192])[^.;!?]{0,40}$"
)
_OPEN = re.compile(r"(?i)\b(?:or|whether|either|which|versus|vs|between|rather\s+than|compare|if|unless)\b|\?\s*$")


class Leak(NamedTuple):
    """One thing that a text gives away: in which form, what, and where it stands."""

    form: str
    secret: str
    excerpt: str


class _Secret(NamedTuple):
    """A secret with its words, those of them that the question has not, and whether it is the answer itself."""

    text: str
    own: list[str]
    novel: list[str]
    whole: bool


class Known(NamedTuple):
    """A question as the rules see it: its options, which of them is right, the secrets, and the stems of its words."""

    options: tuple[str, ...]
    right: int | None
    secrets: tuple[_Secret, ...]
    asked: frozenset[str]


def known_of(question: str, choices: Sequence[str], ground_truths: Sequence[str], final_answer: str | None) -> Known:
    """Return what the rules look for in hints on a question; see `find_leaks` for the parameters."""
    options = list(choices) or offered(question)
    right = _right_choice(final_answer, options, lettered=bool(choices))
    asked = {stem(word) for word in plain_words(question)}
    secrets = _secrets(ground_truths, final_answer, options, right, asked, lettered=bool(choices))
    return Known(tuple(options), right, tuple(secrets), frozenset(asked))


def broken(text: str, known: Known) -> list[Leak]:
    """Return what the rules find that a text gives away; some of it may be by chance."""
    leaks: list[Leak] = []
    if known.right is not None:
        leaks += _by_choice(text, known, known.right)
    asked = set(known.asked)
    for secret in known.secrets:
        leaks += _by_words(text, secret, known.options, asked)
        leaks += _by_number(text, secret, known.options, asked)
        leaks += _in_disguise(text, secret)
    return list(dict.fromkeys(leaks))


def _right_choice(final_answer: str | None, choices: Sequence[str], *, lettered: bool) -> int | None:
    if final_answer is None or not choices:
        return None
    for place, choice in enumerate(choices):
        if plain_words(choice) == plain_words(final_answer):
            return place
    letter = re.fullmatch(r"(?i)\W*(?:option|choice)?\s*([a-z])\W*(?:\s.*)?", final_answer.strip(), re.DOTALL)
    place = -1 if letter is None or not lettered else ord(letter[1].upper()) - ord("A")
    return place if 0 <= place < len(choices) else None


def _secrets(
    ground_truths: Sequence[str],
    final_answer: str | None,
    options: Sequence[str],
    right: int | None,
    asked: set[str],
    *,
    lettered: bool,
) -> list[_Secret]:
    answers = [final_answer.strip()] if final_answer and final_answer.strip() else []
    if right is not None:
        answers = [one for one in answers if not (lettered and re.fullmatch(r"\W*[A-Za-z]\W*", one))]
        answers.append(options[right].strip())
    found: list[_Secret] = []
    for text in dict.fromkeys([*answers, *(truth.strip() for truth in ground_truths if truth.strip())]):
        own = [word for word in plain_words(text) if word not in FUNCTION_WORDS] or plain_words(text)
        whole = any(plain_words(text) == plain_words(answer) for answer in answers)
        if own:
            found.append(_Secret(text, own, [word for word in own if stem(word) not in asked], whole))
    return found


def _by_choice(text: str, known: Known, right: int) -> list[Leak]:
    choices = known.options
    secret = choices[right]
    named, mentioned = named_choices(text, choices), mentions(text, choices)
    if {choice.casefold() for choice in choices} == {"yes", "no"}:
        mentioned = [one for one in mentions(text, choices) if _spoken(text, choices[one.place])]
    leaks: list[Leak] = []
    asked = known.asked & frozenset("bcdefgh") == frozenset((chr(ord("a") + right),)) and not re.search(
        r"(?i)\b(?:answer|option|choice|choose|pick)\b", text
    )
    if {one.place for one in named if not one.denied} == {right} and not asked:
        leaks.append(Leak("letter", secret, cut(text)))
    out = {one.place for one in (*named, *mentioned) if one.denied}
    others = set(range(len(choices))) - {right}
    kept = {one.place for one in (*named, *mentioned) if not one.denied}
    if others and others <= out and not others & kept and (len(others) > 1 or right not in kept):
        leaks.append(Leak("elimination", secret, cut(text)))
    return leaks


def _spoken(text: str, word: str) -> bool:
    """Whether a yes or a no is spoken of as an answer: in quotes, or after answer, say or with."""
    return re.search(rf"(?i)[\"'\u2018\u201c]{word}\b|\b(?:answer|say|with|a)\s+{word}\b", text) is not None


def _by_words(text: str, secret: _Secret, choices: Sequence[str], asked: set[str]) -> list[Leak]:
    leaks: list[Leak] = []
    for sentence in sentences(text) or [text]:
        form = _in_sentence(sentence, secret, choices)
        if form:
            leaks.append(Leak(form, secret.text, cut(sentence)))
    return leaks


def _in_sentence(sentence: str, secret: _Secret, choices: Sequence[str]) -> str | None:
    """Return the form in which the words of one sentence give a secret away, or None."""
    own, novel = secret.own, [word for word in secret.novel if not _is_number(word)]
    if all(word in FUNCTION_WORDS for word in own):
        return "verbatim" if secret.whole and _says(sentence, own) else None
    stems = [stem(word) for word in plain_words(sentence)]
    wanted = [stem(word) for word in own]
    if all(_is_number(word) for word in own):
        return None
    if _has_run(stems, wanted):
        at = _place(sentence, own)
        if at is not None and denied(sentence, *at):
            return None
        plain = bool(novel) and not all(word in PLACES or word in _COMMON for word in novel)
        if _asserted(sentence, own) or (plain and not _among_others(sentence, choices, own)):
            return "verbatim"
        return None
    fresh = {stem(word) for word in novel if word not in PLACES}
    shared = fresh & set(stems)
    shared |= {one for one in fresh - shared if len(one) > 4 and any(_alike(one, other) for other in stems)}
    if len(fresh) == 1 and shared and not secret.whole and next(iter(fresh)) not in _COMMON:
        return None if _among_others(sentence, choices, own) or not _asserted_any(sentence, shared) else "paraphrase"
    enough = len(shared) / len(fresh) >= PARAPHRASE if fresh else False
    if (
        (len(shared) >= 3 or (len(shared) == 2 and len(shared) / len(fresh) >= 0.66))
        and enough
        and not _OPEN.search(sentence)
    ):
        return None if _among_others(sentence, choices, own) else "paraphrase"
    return None


_COMMON = frozenset(
    [
        "save",
        "may",
        "lead",
        "stone",
        "change",
        "point",
        "mark",
        "show",
        "read",
        "open",
        "close",
        "light",
        "watch",
        "will",
        "can",
        "like",
    ]
)
"""Words with an everyday second meaning, which guidance uses in that one."""


def _by_number(text: str, secret: _Secret, choices: Sequence[str], asked: set[str]) -> list[Leak]:
    """Find the numbers of a secret that the question has not, stated or as what a sum comes to."""
    words = secret.own if secret.whole else secret.novel
    tokens = tokens_of(secret.text)
    values = {number.value for number in numbers_in(tokens)}
    values |= {value / 100 for value in values if "%" in tokens or "percent" in tokens}
    if not values or (not secret.whole and not any(_is_number(word) for word in words)):
        return []
    known = {number.value for number in numbers_in([*asked])}
    leaks: list[Leak] = []
    for sentence in sentences(text) or [text]:
        said = tokens_of(sentence)
        if choices and _among_others(sentence, choices, secret.own):
            continue
        for number in numbers_in(said):
            if any(_close(number.value, value) for value in values) and (number.value not in known or secret.whole):
                strict = number.value in known
                if not harmless(said, number, asked, {stem(word) for word in secret.own}, strict=strict):
                    leaks.append(Leak("number", secret.text, cut(sentence)))
        if secret.whole or len(secret.own) <= 3:
            wanted = values - known
            if any(number.value in wanted for number in numbers_in(said)):
                continue
            if any(_close(result, value) for result in sums_in(sentence) for value in wanted):
                leaks.append(Leak("sum", secret.text, cut(sentence)))
    return leaks


def _in_disguise(text: str, secret: _Secret) -> list[Leak]:
    if not secret.whole and len(secret.own) > 2:
        return []
    for word in secret.own:
        if word in FUNCTION_WORDS and len(secret.own) > 1:
            continue
        if spells(text, word, known=word not in secret.novel):
            return [Leak("spelled", secret.text, cut(text))]
        if len(secret.own) == 1 and riddles(text, word):
            return [Leak("riddle", secret.text, cut(text))]
    return []


def _has_run(haystack: list[str], needle: list[str]) -> bool:
    size = len(needle)
    kept = [word for word in haystack if word not in FUNCTION_WORDS or word in needle]
    return any(kept[at : at + size] == needle for at in range(len(kept) - size + 1))


def _place(sentence: str, own: list[str]) -> tuple[int, int] | None:
    found = re.search(rf"(?i)(?<!\w){re.escape(own[0])}\w{{0,3}}", sentence)
    return None if found is None else (found.start(), found.end())


def _asserted(sentence: str, own: list[str]) -> bool:
    """Whether a sentence says that it is so: by a verb before it, by capitals, or by being nothing else."""
    pattern = rf"(?<!\w){re.escape(own[0])}\w{{0,3}}"
    found = re.search(pattern, sentence, re.IGNORECASE)
    if found is None:
        return False
    if found[0].isupper() and len(found[0]) > 1 and not sentence.isupper():
        return True
    if len(re.findall(r"\w+", sentence)) <= len(own) + 2 and not sentence.rstrip().endswith("?"):
        return True
    return not _OPEN.search(sentence) and bool(_ASSERTS.search(sentence[: found.start()]))


def _asserted_any(sentence: str, stems: set[str]) -> bool:
    return any(_asserted(sentence, [one]) for one in stems)


def _says(sentence: str, own: list[str]) -> bool:
    """Whether a sentence answers with words that mean nothing by themselves, such as yes or no: at its head, or asserted."""
    word = r"\W+".join(map(re.escape, own))
    if re.match(rf"(?i)\W*{word}(?=\s*(?:[,.;:!\u2014-]|$))", sentence) and not re.search(r"(?i)\bbut\b", sentence):
        return True
    at = re.search(rf"(?i)(?<!\w){word}(?=\s*(?:[\"'\u2019\u201d,.;:!)]|and\b|$))", sentence)
    return at is not None and not _OPEN.search(sentence) and bool(_ASSERTS.search(sentence[: at.start()]))


def _among_others(sentence: str, choices: Sequence[str], own: list[str]) -> bool:
    """Whether the sentence names other choices, too, and denies none of them."""
    found = mentions(sentence, choices)
    named = {one.place for one in found}
    return len(named) > 1 and not any(one.denied for one in found) and (len(named) > 2 or not _asserted(sentence, own))


def _alike(one: str, other: str) -> bool:
    """Whether two stems share most of their letters, as `arrange` and `arrangement` do."""
    shorter, longer = sorted((one, other), key=len)
    return len(shorter) > 4 and longer.startswith(shorter[: max(5, len(shorter) - 1)])


def _is_number(word: str) -> bool:
    return re.fullmatch(r"-?\d+(?:\.\d+)?", word) is not None


def _close(one: float, other: float) -> bool:
    return abs(one - other) <= 1e-9 * max(1.0, abs(one), abs(other))


def cut(text: str) -> str:
    """Return the beginning of a text, as much as a leak quotes."""
    return text[:EXCERPT]
