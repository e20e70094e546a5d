"""What gives a secret away for certain: its value, the one choice that is named, or its very word."""

import re
from collections.abc import Iterator, Sequence

from dokimasia.algorithms.leaks.forms import stem
from dokimasia.algorithms.leaks.secrets import Secrets, key_of
from dokimasia.algorithms.leaks.values import UNITS, Value, read
from dokimasia.algorithms.text.words import FUNCTION_WORDS

SMALL = 12
"""Whole numbers up to which one is told by chance: it must stand where the question's own count, place or name stands."""

# fmt: off
_JOINS = frozenset((",", "or", "and", "to", "a", "an", "the", "-", "\u2013", "than", "between", "/", "even", "then"))
_LABELS_TEXT = """
    step page figure fig table note hint part point section line version chapter round seat row column label number no
    step's platform bus item stage level question digit scale room gate group phase top bottom"""
_LABELS = frozenset(_LABELS_TEXT.split())
_ARTICLES = frozenset(("the", "these", "those", "both", "all", "each", "every", "other", "last", "first", "any", "no", "of",
                       "a", "an", "one", "another", "same", "next", "by"))
_AFTER = frozenset(("ones", "them", "altogether", "total", "all", "overall", "exactly", "such"))
_ENDS = frozenset((".", ",", ";", ":", "!", "?", ")", '"', "'"))
_TWO_MEANINGS_TEXT = """
    left right fall may march save stone behind shade back light lead close closed clos open second first third like
    point mark show read watch will can change well mean fine still none no yes true false neither even odd over under up
    down in out on off before after above below more less same rise ris one all end middle top bottom side front train
    call order set match present past round square cross star wave run start stop go exit high low long short full empty
    full sign letter word number home head hand face guest runner bar tie plain check box line dot hot cold"""
_TWO_MEANINGS = frozenset(stem(one) for one in _TWO_MEANINGS_TEXT.split())
# fmt: on
_ASIDE = re.compile(
    r"(?i)\b(?:irrelevant|(?:n't|not) (?:matter|count|help|what you|prove|asked|be confused)|ignor\w+|leave \w+ out|no bearing|"
    r"nothing to do|distract\w*|confus\w+|mistak\w+ for|fool\w*|for example|for instance|such as|e\.g|differ\w*|unless|"
    r"means?|might|could|usually|often|typical\w*|in general|generally|tend|tends|whether|beside the point|not asked|"
    r"no help|example|needn't|belongs? to the)\b"
)
_OPEN_BEFORE = re.compile(r"(?i)\b(?:compar\w+|if|either|each|every|any|would|unlike|some|other|another)\b")
_DENIES = re.compile(
    r"(?i)(?:\b(?:no|not|nor|neither|never|without|cannot|rather than|instead of|than)\b|n't\b)[^,.;!?]{0,25}$"
)
_TAG = re.compile(
    r"(?i)\b(?:is|are|was|were|does|do|has|have)n't (?:that|it|this|these|those|they|he|she|there|the|his|her)\b[^.;!?]*\?"
)
_ATTRIBUTE = frozenset(
    stem(one) for one in ("colour", "color", "material", "made", "pattern", "shape", "shade", "weather", "season")
)
_CONJUNCTIONS_TEXT = (
    "for because since so as and which where but though although then it you that the i he she they look there"
)
_CONJUNCTIONS = frozenset(_CONJUNCTIONS_TEXT.split())
_MANY = stem("many")
_SENTENCE = re.compile(r"(?<=[.!?;])\s+(?=[^a-z])|\n+")


def certain(text: str, secrets: Secrets) -> set[str]:
    """Return the signs of a text that leave no doubt: `told value`, `told count`, `told choice`, `told word`."""
    found: set[str] = set()
    for sentence in _SENTENCE.split(text):
        found |= set(_values(sentence, secrets))
        found |= set(_names(sentence, text, secrets))
    return found


def _values(sentence: str, secrets: Secrets) -> Iterator[str]:
    _, low, stated = read(sentence)
    answer, held = secrets.answer_values - secrets.known_values, secrets.values
    keys = {key_of(one) for one in stated}
    if any(one.values & keys - held for at, one in enumerate(secrets.choices) if at != secrets.right):
        return
    for one in stated:
        key = key_of(one)
        if key not in held and key not in answer:
            continue
        if _aside(sentence, low, one.start):
            yield "value aside"
        elif _listed(low, one, stated, held | answer):
            yield "value in a row"
        elif _precise(one, low):
            if _counts_other(low, one, secrets):
                yield "value of others"
            else:
                yield "told value" if key in answer else "told value t"
        elif key in answer and _counted(low, one, secrets):
            yield "told count"


def _aside(sentence: str, low: Sequence[str], at: int) -> bool:
    """Whether a clause names something only by the way, denies it, or leaves it open."""
    bounds = [0, *(here for here in range(1, len(low)) if _begins_clause(low, here)), len(low)]
    start = max(bound for bound in bounds if bound <= at)
    end = min(bound for bound in bounds if bound > at)
    before = " ".join(low[start:at])
    return bool(
        _ASIDE.search(" ".join(low[start:end]))
        or _OPEN_BEFORE.search(before)
        or (_DENIES.search(before) and not _TAG.search(sentence))
        or "or" in low[max(0, at - 3) : at]
    )


def _begins_clause(low: Sequence[str], at: int) -> bool:
    before = low[at - 1]
    return before in (";", ":", "?", "!", "\u2013", "\u2014") or (before == "," and low[at] in _CONJUNCTIONS)


def _listed(low: Sequence[str], one: Value, stated: Sequence[Value], secret: frozenset[tuple[str, float]]) -> bool:
    """Whether a value stands in a row of others of its kind, or beside one in a comparison."""
    for other in stated:
        if other.start >= one.start and other.end <= one.end:
            continue
        if key_of(other) in secret or abs(other.value - one.value) < 1e-9:
            continue
        if other.kind in "ow" or ((one.kind in "md" or other.kind in "md") and other.kind != one.kind):
            continue
        between = low[one.end : other.start] if other.start >= one.end else low[other.end : one.start]
        if other.start < one.end and one.start < other.end:
            continue
        if len(between) <= 6 and all(token in _JOINS or token in _UNITS or len(token) == 1 for token in between):
            return True
    return False


_UNITS = frozenset((*UNITS, *(f"{unit}s" for unit in UNITS), "percent", "degrees", "pm", "am", "per", "cent"))


def _precise(one: Value, low: Sequence[str]) -> bool:
    """Whether a value is of a kind that no one states by chance."""
    tokens = low[one.start : one.end]
    figures = any(token[0].isdigit() for token in tokens)
    if one.kind == "p":
        return (figures and not (one.value == 0.5 and "/" not in tokens and "%" not in low)) or one.value > 0.5
    if one.kind == "t":
        return not figures or ":" in tokens[0] or "." in tokens[0] or len(tokens) > 1
    if one.kind == "m":
        return tokens[0] not in ("may", "march", "mar")
    if one.kind == "d" or one.kind.startswith("u"):
        return one.value > 0
    return one.kind == "n" and (one.value > SMALL or one.value % 1 > 0)


def _counts_other(low: Sequence[str], one: Value, secrets: Secrets) -> bool:
    """Whether a number stands as a label, or counts things that neither question nor secret speak of."""
    if one.kind not in "nw":
        return False
    before = low[one.start - 1] if one.start else ""
    if before in _LABELS and stem(before) not in secrets.asked:
        return True
    after = low[one.end] if one.end < len(low) else ""
    own = secrets.asked | secrets.answer | secrets.truth
    return (
        after.isalpha()
        and after.endswith("s")
        and after not in FUNCTION_WORDS
        and after not in _AFTER
        and after not in _UNITS
        and stem(after) not in own
        and before in _ARTICLES
    )


def _counted(low: Sequence[str], one: Value, secrets: Secrets) -> bool:
    """Whether a small number stands as the count, rank or number of what is asked for."""
    word = low[one.start]
    before = low[one.start - 1] if one.start else ""
    after = low[one.end] if one.end < len(low) else "."
    then = low[one.end + 1] if one.end + 1 < len(low) else "."
    if word == "second" and one.kind != "o":
        return False
    if word in ("one", "half", "quarter", "both", "once", "single", "score", "zero", "nothing"):
        return False
    if _MANY in secrets.asked and (before in ("no", ".", "number", "#") or (one.kind == "o" and before != "the")):
        return False
    if one.kind == "o":
        return stem(after) in secrets.asked and after not in FUNCTION_WORDS and after not in ("question",)
    if before in ("no", ".", "number", "#"):
        at = one.start - 1
        while at > 0 and low[at] in ("no", ".", "number", "#"):
            at -= 1
        before = low[at]
        return stem(before) in secrets.asked and before not in FUNCTION_WORDS
    if (
        one.kind in "nw"
        and _MANY not in secrets.asked
        and stem(before) in secrets.asked
        and before not in FUNCTION_WORDS
        and before not in _ENDS
    ):
        return after in _ENDS or not low[one.start][0].isalpha()
    if before in _ARTICLES or before in _LABELS or one.kind not in "n":
        return False
    if after == "of" and then in ("them", "these", "those"):
        return True
    if stem(after) in secrets.asked and after not in FUNCTION_WORDS:
        return True
    if after in ("ones", "altogether", "overall") or (after == "in" and then in ("all", "total")):
        return True
    return then == "ones" or (after in _ENDS and before in _TELLS)


_TELLS_TEXT = """
    is are at to be reach reads shows says read equals exactly only just = (
    make comes totals makes total count get gets find than show"""
_TELLS = frozenset(_TELLS_TEXT.split())


def _names(sentence: str, text: str, secrets: Secrets) -> Iterator[str]:
    """Whether a sentence names what the answer names, and none of what else could be it."""
    raw, low, _ = read(sentence)
    stems = [stem(one) for one in low]
    if secrets.right is not None and secrets.choices:
        wanted = secrets.choices[secrets.right].stems
        everything = {stem(one) for one in read(text)[1]}
        if any(one.stems & everything for at, one in enumerate(secrets.choices) if at != secrets.right):
            return
        sign = "told choice"
    else:
        wanted = secrets.answer - secrets.asked
        sign = "told word"
        if len(secrets.answer) > 3:
            return
    wanted = {one for one in wanted if one not in FUNCTION_WORDS}
    if not wanted or not wanted <= set(stems):
        return
    if wanted <= secrets.asked:
        if len(wanted) == 1 and _stated(sentence, low, stems.index(next(iter(wanted))), secrets.asked):
            yield sign
        return
    if any(not one.isalpha() or len(one) < 3 for one in wanted):
        return
    at = next(at for at, one in enumerate(stems) if one in wanted)
    if wanted & _TWO_MEANINGS and not _meant(raw, low, at, secrets.asked):
        return
    if _aside(sentence, low, at):
        yield "word aside"
        return
    if sign == "told word" and _enumerated(low, at):
        yield "word in a row"
        return
    last = max(at for at, one in enumerate(stems) if one in wanted)
    after = low[last + 1] if last + 1 < len(low) else "."
    if "-" in (after, low[at - 1] if at else "") or low[last].endswith("ish"):
        return
    if (
        secrets.asked & _ATTRIBUTE
        and len(wanted) == 1
        and after[0].isalpha()
        and stem(after) not in secrets.asked
        and after not in FUNCTION_WORDS
        and after not in ("one", "ones", "there", "here", "when", "if", "so")
    ):
        yield "word of others"
    else:
        yield sign


def _enumerated(low: Sequence[str], at: int) -> bool:
    """Whether a word stands in a row of words: "tulips, lilies and roses"."""
    parts: list[list[int]] = [[]]
    joins: list[str] = []
    for here, token in enumerate(low):
        if token in (",", ";", "and", "or"):
            if parts[-1]:
                parts.append([])
                joins.append(token)
            elif joins:
                joins[-1] += token
        else:
            parts[-1].append(here)
    mine = next((number for number, part in enumerate(parts) if at in part), 0)
    first, last = mine, mine
    while first > 0 and (first == mine or len(parts[first]) <= 4):
        first -= 1
    while last < len(parts) - 1 and (last == mine or len(parts[last]) <= 4):
        last += 1
    run = joins[first:last]
    return "or" in run or (len(run) >= 2 and any(one != "," for one in run)) or run.count(",") >= 2


def _stated(sentence: str, low: Sequence[str], at: int, asked: frozenset[str]) -> bool:
    """Whether what the question offers is said of what it asks about, and nothing more: "the gate is closed"."""
    after = low[at + 1] if at + 1 < len(low) else "."
    return (
        at > 1
        and low[at - 1] in ("is", "are", "was", "were")
        and (low[at - 2] == "it" or (stem(low[at - 2]) in asked and low[at - 2] not in FUNCTION_WORDS))
        and after in _ENDS
        and low[at] not in ("true", "false", "right")
        and not _aside(sentence, low, at)
    )


def _meant(raw: Sequence[str], low: Sequence[str], at: int, asked: frozenset[str]) -> bool:
    """Whether a word of two meanings stands as a name or at the end of a statement: "it reads OPEN", "made of stone"."""
    if at and raw[at][0].isupper() and low[at - 1] not in _ENDS:
        return True
    after = low[at + 1] if at + 1 < len(low) else "."
    if stem(after) in asked and low[at] != "right" and at and low[at - 1] == "the":
        return True
    return bool(at) and low[at - 1] in ("is", "are", "was", "of", "says", "reads", "it's", '"', "'") and after in _ENDS
