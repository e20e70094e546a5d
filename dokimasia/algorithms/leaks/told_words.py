"""Whether a text says the answer's own word, or repeats a ground truth."""

import re
from collections.abc import Sequence

from dokimasia.algorithms.leaks.context import ENDS, left_open, word_in_a_row
from dokimasia.algorithms.leaks.secrets import ANSWERS, Secrets, content
from dokimasia.algorithms.leaks.values import read
from dokimasia.algorithms.leaks.wording import plain_words, stem, stems_of
from dokimasia.algorithms.text.words import ARTICLES, FUNCTION_WORDS

RUN = 5
"""Words in a row of a ground truth that are a quotation; a ground truth of fewer words is one as a whole."""

SHORTEST = 3
"""Words of a ground truth from which it can be quoted as a whole."""

# fmt: off
_TWO_MEANINGS_TEXT = """
    left right fall may march save stone light lead close closed open first second third like point mark show read watch will can
    change well mean fine still none even odd over under up down in out on off before after above below behind more less same rise
    one all end middle top bottom side front back call order set match present past round square cross run start stop go high low
    long short full empty sign letter word number plain check line"""
_TWO_MEANINGS = frozenset(map(stem, _TWO_MEANINGS_TEXT.split()))
_SAID = frozenset((
    "is", "are", "was", "of", "say", "says", "read", "reads", "written", "be", "called", "but", "it's", "answer", "simply",
    "just", ":", '"', "'"))
_DASHES = frozenset(("-", "\u2013", "\u2014"))
_NUMBERING = frozenset(("no", "number"))
_ATTRIBUTES = frozenset(stem(one) for one in ("colour", "material", "made", "pattern", "shape", "shade", "weather", "season"))
_DERIVED = frozenset(("n", "en", "y", "d", "ion", "tion", "ation", "al", "er", "or", "ment", "ness", "ly"))
# fmt: on


def tells_word(sentence: str, text: str, secrets: Secrets) -> bool:
    """Return whether a sentence names what the answer names, and nothing else that it could be.

    A word that the question has tells nothing, unless the sentence says of what is asked that it is so. What stands in
    a row, belongs to another thing, is denied or left open tells nothing either.
    """
    raw, low, _ = read(sentence)
    stems = [stem(one.removesuffix("'s")) for one in low]
    wanted = secrets.words
    if secrets.right is not None:
        wanted = secrets.choices[secrets.right].stems
        said = set(stems_of(re.sub(r"(?i)\bone\b", " ", text)))
        if any(_named(one.stems, wanted, said) for at, one in enumerate(secrets.choices) if at != secrets.right):
            return False
    else:
        wanted = frozenset(wanted - secrets.asked) or wanted
    if not wanted:
        return False
    if any(len(word) == 1 or word[0].isdigit() for word in wanted):
        return _in_order(low, secrets)
    places = [_place(word, low, stems) for word in wanted]
    if min(places) < 0:
        return False
    if wanted & ANSWERS:
        return _answers(low, places[0])
    if wanted <= secrets.asked:
        return _is_stated(sentence, raw, low, places, secrets)
    return _is_meant(sentence, raw, low, places, wanted, secrets)


def repeats(text: str, truth: str, secrets: Secrets) -> bool:
    """Return whether a text repeats a run of a ground truth's words that holds one which the question has not.

    Five words are such a run, or fewer that are all of the truth.
    """
    run, said = stems_of(truth), stems_of(text)
    if len(run) < SHORTEST or plain_words(truth) == plain_words(secrets.answer):
        return False
    fresh = content(frozenset(run)) - secrets.asked
    joined = f" {' '.join(said)} "
    least = min(RUN, len(run))
    for start in range(len(run) - least + 1):
        part = run[start : start + least]
        if fresh & set(part) and f" {' '.join(part)} " in joined:
            return True
    return False


def _place(word: str, low: Sequence[str], stems: Sequence[str]) -> int:
    """Where a word of the answer stands in a sentence, itself or shortened with a full stop; -1 where it does not."""
    for at, one in enumerate(stems):
        if _same(one, word) or ("." in low[at + 1 : min(at + 2, len(low) - 1)] and _shortens(low[at], word)):
            return at
    return -1


def _shortens(short: str, word: str) -> bool:
    """Whether letters are the abbreviation of a word: its first one, and others of it in order."""
    rest = iter(word)
    return 2 <= len(short) <= 4 < len(word) and short[0] == word[0] and all(letter in rest for letter in short)


def _same(one: str, word: str) -> bool:
    """Whether two stems are of one word, or one is made from the other: wood and wooden."""
    if one == word:
        return True
    shorter, longer = sorted((one, word), key=len)
    return len(shorter) > 2 and longer.startswith(shorter) and longer[len(shorter) :] in _DERIVED and len(longer) > 4


def _named(stems: frozenset[str], wanted: frozenset[str], said: set[str]) -> bool:
    return bool((content(stems) - wanted or stems) & said)


def _answers(low: Sequence[str], at: int) -> bool:
    """Whether yes, no, true or false is said as an answer: first of all and for itself, in quotes, or after a verb of saying."""
    after = low[at + 1] if at + 1 < len(low) else "."
    if not at:
        return (after in ENDS or after in _DASHES) and "but" not in low
    if low[at - 1] in ('"', "'") and sum(one in ('"', "'") for one in low) == 2:
        return True
    return not left_open(low, at) and after in ENDS and (low[at - 1] in _SAID or low[at - 1] in ("with", "a", "clear"))


def _is_stated(sentence: str, raw: Sequence[str], low: Sequence[str], places: Sequence[int], secrets: Secrets) -> bool:
    """Whether what the question offers is said of what it asks about: "the gate is closed", "LEFT", "panel 4"."""
    at = max(places)
    after = low[at + 1] if at + 1 < len(low) else "."
    if left_open(low, at) or word_in_a_row(low, at):
        return False
    if _stands_out(sentence, raw, at) or _in_order(low, secrets):
        return True
    return (
        at > 1
        and low[at - 1] in ("is", "are", "was", "were")
        and (
            low[at - 2] in ("it", "answer", "that")
            or (stem(low[at - 2]) in secrets.asked and low[at - 2] not in FUNCTION_WORDS)
        )
        and after in ENDS
    )


def _in_order(low: Sequence[str], secrets: Secrets) -> bool:
    """Whether an answer of several words, not all of them numbers, stands in a sentence word by word, not left open."""
    skipped = _NUMBERING | ARTICLES
    own = [word for word in plain_words(secrets.answer) if word not in skipped]
    flat = [(word, at) for at, token in enumerate(low) for word in plain_words(token) if word not in skipped]
    return (
        len(own) > 1
        and any(word.isalpha() for word in own)
        and any(
            [word for word, _ in flat[start : start + len(own)]] == own
            and not left_open(low, flat[start][1])
            and not word_in_a_row(low, flat[start][1])
            for start in range(len(flat) - len(own) + 1)
        )
    )


def _is_meant(
    sentence: str,
    raw: Sequence[str],
    low: Sequence[str],
    places: Sequence[int],
    wanted: frozenset[str],
    secrets: Secrets,
) -> bool:
    """Whether words of the answer stand for what they are in the answer, and not by the way or in another sense."""
    at, last = min(places), max(places)
    if secrets.right is None and word_in_a_row(low, at):
        return False
    if _stands_out(sentence, raw, at):
        return not left_open(low, at, precise=True) or '"' in raw or "'" in raw
    after = low[last + 1] if last + 1 < len(low) else "."
    beside = {low[at - 1] if at else "", after}
    if left_open(low, at) or "-" in beside or low[last].endswith("ish"):
        return False
    if wanted <= _TWO_MEANINGS and not _in_order(low, secrets) and not _as_a_name(raw, low, at, secrets.asked):
        return False
    belongs = (
        secrets.asked & _ATTRIBUTES
        and low[at] in plain_words(secrets.answer)
        and len(wanted) == 1
        and after[0].isalpha()
        and stem(after) not in secrets.asked
        and after not in FUNCTION_WORDS
        and after not in ("one", "ones", "there", "here", "when", "if", "so")
    )
    return not belongs


def _stands_out(sentence: str, raw: Sequence[str], at: int) -> bool:
    """Whether a word is the whole sentence, or set off in it by capitals, by emphasis or by quotation marks."""
    word = raw[at]
    if len([one for one in raw if one[0].isalnum()]) == 1:
        return True
    if word.isupper() and len(word) > 2 and not sentence.isupper():
        return True
    if at and word[0].isupper() and raw[at - 1] not in (".", "!", "?", ":", '"', "'"):
        return True
    return (
        re.search(rf"(?:\*|_|`|[\"'\u2018\u201c]){re.escape(word)}[.,]?(?:\*|_|`|[\"'\u2019\u201d])", sentence)
        is not None
    )


def _as_a_name(raw: Sequence[str], low: Sequence[str], at: int, asked: frozenset[str]) -> bool:
    """Whether a word of two meanings stands as a name or ends a statement: "it reads open.", "made of stone"."""
    after = low[at + 1] if at + 1 < len(low) else "."
    if stem(after) in asked and low[at] != "right" and at and low[at - 1] == "the":
        return True
    return (
        bool(at) and low[at - 1] in _SAID and (after in ENDS or (stem(after) in asked and after not in FUNCTION_WORDS))
    )
