"""Whether a text states the answer's own words, even disguised, or repeats a ground truth."""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from dokimasia.algorithms.leaks.context import ENDS, left_open, word_in_a_row
from dokimasia.algorithms.leaks.secrets import ANSWERS, QuestionSecrets, content
from dokimasia.algorithms.leaks.values import read, token_at, token_before
from dokimasia.algorithms.leaks.wording import plain_words, stem, stems_of
from dokimasia.algorithms.text.words import ARTICLES, FUNCTION_WORDS, NUMBER_WORDS, word_set, word_table

RUN = 5
"""Minimum number of consecutive words of a ground truth that count as a quotation; a shorter truth counts as a
whole."""

SHORTEST = 3
"""Minimum number of words of a ground truth that can be quoted as a whole."""

SHORTEST_GAPPED = 3
"""Minimum number of letters of a word to search for with different gaps."""

_TWO_MEANINGS_TEXT = """
    left right fall may march save stone light lead close closed open first second third like point mark show read watch will can
    change well mean fine still none even odd over under up down in out on off before after above below behind more less same rise
    one all end middle top bottom side front back call order set match present past round square cross run start stop go high low
    long short full empty sign letter word number plain check line"""
_TWO_MEANINGS = frozenset(map(stem, _TWO_MEANINGS_TEXT.split()))
_SAYING = word_set("is are was of say says read reads written be called but it's answer simply just : \" '")
_DASHES = word_set("- \u2013 \u2014")
_NUMBERING = word_set("no number")
_ATTRIBUTES = frozenset(map(stem, word_set("colour material made pattern shape shade weather season")))
_DERIVED = word_set("n en y d ion tion ation al er or ment ness ly")


def tells_word(sentence: str, text: str, secrets: QuestionSecrets) -> bool:
    """Return whether a sentence names the answer and none of the other choices.

    A word of the question reveals nothing, unless the sentence states it about the thing asked for. A word that is part
    of a series, belongs to another thing, is denied or left open reveals nothing, either.
    """
    raw, low, _ = read(sentence)
    stems = [stem(token.removesuffix("'s")) for token in low]
    answer_stems = secrets.words
    if secrets.right is not None:
        answer_stems = secrets.choices[secrets.right].stems
        text_stems = set(stems_of(re.sub(r"(?i)\bone\b", " ", text)))
        if any(
            _mentions(choice.stems, answer_stems, text_stems)
            for at, choice in enumerate(secrets.choices)
            if at != secrets.right
        ):
            return False
    else:
        answer_stems = frozenset(answer_stems - secrets.question_stems) or answer_stems
    if not answer_stems:
        return False
    if any(len(word) == 1 or word[0].isdigit() for word in answer_stems):
        return _in_order(low, secrets)
    indices = [_index(word, low, stems) for word in answer_stems]
    if min(indices) < 0:
        return False
    if answer_stems & ANSWERS:
        return _answers(low, indices[0])
    if answer_stems <= secrets.question_stems:
        return _is_stated(sentence, raw, low, indices, secrets)
    return _has_same_sense(sentence, raw, low, indices, answer_stems, secrets)


def repeats(text: str, truth: str, secrets: QuestionSecrets) -> bool:
    """Return whether a text repeats consecutive words of a ground truth, at least one of them not in the question.

    Five words suffice, or fewer if they are the whole truth.
    """
    run, text_stems = stems_of(truth), stems_of(text)
    if len(run) < SHORTEST or plain_words(truth) == plain_words(secrets.answer):
        return False
    fresh = content(frozenset(run)) - secrets.question_stems
    joined = f" {' '.join(text_stems)} "
    least = min(RUN, len(run))
    for start in range(len(run) - least + 1):
        part = run[start : start + least]
        if fresh & set(part) and f" {' '.join(part)} " in joined:
            return True
    return False


def _index(word: str, low: Sequence[str], stems: Sequence[str]) -> int:
    """Return the position of a word of the answer in a sentence, as it is or abbreviated; -1 if it does not occur."""
    for at, token_stem in enumerate(stems):
        if _same(token_stem, word) or ("." in low[at + 1 : min(at + 2, len(low) - 1)] and _shortens(low[at], word)):
            return at
    return -1


def _shortens(short: str, word: str) -> bool:
    """Return whether letters abbreviate a word: its first letter and further letters in order."""
    letters = iter(word)
    return 2 <= len(short) <= 4 < len(word) and short[0] == word[0] and all(letter in letters for letter in short)


def _same(first: str, second: str) -> bool:
    """Return whether two stems belong to one word, or one is derived from the other: wood and wooden."""
    if first == second:
        return True
    shorter, longer = sorted((first, second), key=len)
    return len(shorter) > 2 and longer.startswith(shorter) and longer[len(shorter) :] in _DERIVED and len(longer) > 4


def _mentions(stems: frozenset[str], answer_stems: frozenset[str], text_stems: set[str]) -> bool:
    return bool((content(stems) - answer_stems or stems) & text_stems)


def _answers(low: Sequence[str], at: int) -> bool:
    """Return whether yes, no, true or false is an answer: at the start, in quotes, or after a verb of saying."""
    after = token_at(low, at + 1)
    if not at:
        return (after in ENDS or after in _DASHES) and "but" not in low
    if low[at - 1] in ('"', "'") and sum(token in ('"', "'") for token in low) == 2:
        return True
    return (
        not left_open(low, at) and after in ENDS and (low[at - 1] in _SAYING or low[at - 1] in ("with", "a", "clear"))
    )


def _is_stated(
    sentence: str, raw: Sequence[str], low: Sequence[str], indices: Sequence[int], secrets: QuestionSecrets
) -> bool:
    """Return whether an option of the question is stated about the thing asked for: "the gate is closed", "LEFT", "panel 4"."""
    at = max(indices)
    after = token_at(low, at + 1)
    if left_open(low, at) or word_in_a_row(low, at):
        return False
    if _stands_out(sentence, raw, at) or _in_order(low, secrets):
        return True
    return (
        at > 1
        and low[at - 1] in ("is", "are", "was", "were")
        and (
            low[at - 2] in ("it", "answer", "that")
            or (stem(low[at - 2]) in secrets.question_stems and low[at - 2] not in FUNCTION_WORDS)
        )
        and after in ENDS
    )


def _in_order(low: Sequence[str], secrets: QuestionSecrets) -> bool:
    """Return whether a sentence contains an answer of several words (not all numbers) in order and not left open."""
    skipped = _NUMBERING | ARTICLES
    answer_words = [word for word in plain_words(secrets.answer) if word not in skipped]
    flat = [(word, at) for at, token in enumerate(low) for word in plain_words(token) if word not in skipped]
    return (
        len(answer_words) > 1
        and any(word.isalpha() for word in answer_words)
        and any(
            [word for word, _ in flat[start : start + len(answer_words)]] == answer_words
            and not left_open(low, flat[start][1])
            and not word_in_a_row(low, flat[start][1])
            for start in range(len(flat) - len(answer_words) + 1)
        )
    )


def _has_same_sense(
    sentence: str,
    raw: Sequence[str],
    low: Sequence[str],
    indices: Sequence[int],
    answer_stems: frozenset[str],
    secrets: QuestionSecrets,
) -> bool:
    """Return whether words have the same sense as in the answer, and are not mentioned in passing."""
    at, last = min(indices), max(indices)
    if secrets.right is None and word_in_a_row(low, at):
        return False
    if _stands_out(sentence, raw, at):
        return not left_open(low, at, precise=True) or '"' in raw or "'" in raw
    after = token_at(low, last + 1)
    neighbours = {token_before(low, at), after}
    if left_open(low, at) or "-" in neighbours or low[last].endswith("ish"):
        return False
    if (
        answer_stems <= _TWO_MEANINGS
        and not _in_order(low, secrets)
        and not _as_a_name(raw, low, at, secrets.question_stems)
    ):
        return False
    belongs = (
        secrets.question_stems & _ATTRIBUTES
        and low[at] in plain_words(secrets.answer)
        and len(answer_stems) == 1
        and after[0].isalpha()
        and stem(after) not in secrets.question_stems
        and after not in FUNCTION_WORDS
        and after not in ("one", "ones", "there", "here", "when", "if", "so")
    )
    return not belongs


def _stands_out(sentence: str, raw: Sequence[str], at: int) -> bool:
    """Return whether a word is the whole sentence, or set off in it by capitals, emphasis or quotation marks."""
    word = raw[at]
    if len([token for token in raw if token[0].isalnum()]) == 1:
        return True
    if word.isupper() and len(word) > 2 and not sentence.isupper():
        return True
    if at and word[0].isupper() and raw[at - 1] not in (".", "!", "?", ":", '"', "'"):
        return True
    return (
        re.search(rf"(?:\*|_|`|[\"'\u2018\u201c]){re.escape(word)}[.,]?(?:\*|_|`|[\"'\u2019\u201d])", sentence)
        is not None
    )


def _as_a_name(raw: Sequence[str], low: Sequence[str], at: int, question_stems: frozenset[str]) -> bool:
    """Return whether an ambiguous word is used as a name or ends a statement: "it reads open.", "made of stone"."""
    after = token_at(low, at + 1)
    if stem(after) in question_stems and low[at] != "right" and at and low[at - 1] == "the":
        return True
    return (
        bool(at)
        and low[at - 1] in _SAYING
        and (after in ENDS or (stem(after) in question_stems and after not in FUNCTION_WORDS))
    )


def spelt_out(text: str, secrets: QuestionSecrets) -> bool:
    """Return whether a text spells the answer with different gaps: c l o s e d, FreshFishDaily, to-morrow.

    For a number, its Roman numeral counts, too.
    """
    numbers = [int(value) for kind, value in secrets.values if kind == "n"]
    if any(_digit_by_digit(str(number), text) for number in numbers):
        return True
    names_roman = re.search(r"(?i)\broman\b", text)
    for form in (secrets.answer, *map(_roman, numbers)):
        if len(re.sub(r"[\W_]", "", form)) < SHORTEST_GAPPED and not form.isdigit() and not names_roman:
            continue
        for match in _gapped(form).finditer(text):
            usual = " ".join(form.strip(_SIGNS).split()).casefold()
            if " ".join(match[0].split()).casefold() not in (usual, f"{usual}s") or names_roman:
                return True
    return False


def _digit_by_digit(number: str, text: str) -> bool:
    """Return whether a text names the digits of a number one after the other: "four, eight and two"."""
    words = re.sub(r"[\s,]+(?:and\s+|then\s+)*", " ", text.casefold()).split(" ")
    digits = (NUMBER_WORDS.get(word.strip(".!?;:"), "?" if word == "or" else "-") for word in words)
    return len(number) > 1 and re.search(rf"(?<![\d?]){number}(?![\d?])", "".join(digits)) is not None


_SIGNS = "$\u20ac\u00a3.,;:!?'\"()[]% \u00b0"


@lru_cache(maxsize=512)
def _gapped(form: str) -> re.Pattern[str]:
    """Return a pattern of a text with any gaps between letters, and spaces between digits."""
    parts = re.findall(r"[^\W_]|[\W_]+", form.strip(_SIGNS))
    pattern = ""
    sign = r"[\W_]{0,3}" if min(map(len, re.split(r"[\W_]+", form.strip(_SIGNS)))) > 1 else r"[\W_]{1,3}"
    for part, after in pairwise([*parts, ""]):
        if not part.isalnum():
            pattern += rf"\s{{0,2}}{re.escape(part.strip())}\s{{0,2}}" if part.strip() else sign
        else:
            pattern += part + (_gap(part, after) if after.isalnum() else "")
    plural = "s?" if parts[-1].isalpha() and len(form) > SHORTEST_GAPPED else ""
    if pattern:
        return re.compile(rf"(?i)(?<![^\W_]){pattern}{plural}(?![^\W_])")
    return re.compile(r"(?!)")


def _gap(sign: str, after: str) -> str:
    """Return the pattern between two characters of an answer: any marks between letters, spaces between digits."""
    if sign.isalpha() and after.isalpha():
        return r"[\W_]{0,9}"
    if sign.isdigit() and after.isdigit():
        return r"\s{0,2}"
    return r"[\s-]{0,2}"


_ROMAN_SIGNS = """
    1000: m
    900: cm
    500: d
    400: cd
    100: c
    90: xc
    50: l
    40: xl
    10: x
    9: ix
    5: v
    4: iv
    1: i
"""
_ROMAN = {sign: int(value) for sign, value in word_table(_ROMAN_SIGNS).items()}


def _roman(number: int) -> str:
    """Return a whole number as a Roman numeral in lower case; empty for 1 and for numbers without a numeral."""
    if not 1 < number < 4000:
        return ""
    numeral = ""
    for sign, value in _ROMAN.items():
        numeral += sign * (number // value)
        number %= value
    return numeral
