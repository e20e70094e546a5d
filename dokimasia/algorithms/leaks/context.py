"""The context of a word or value in a sentence: a series of its kind, a denial, or words that leave it open."""

import re
from collections.abc import Sequence

from dokimasia.algorithms.leaks.secrets import Key, key_of
from dokimasia.algorithms.leaks.values import UNITS, StatedValue
from dokimasia.algorithms.text.words import word_set

ENDS = word_set(". , ; : ! ? ) \" '")
"""Tokens after which a statement ends or pauses."""

UNIT_WORDS = frozenset((*UNITS, *(f"{unit}s" for unit in UNITS), "percent", "%", "degrees", "pm", "am", "per", "cent"))

_WILL = word_set("will should can must")
_JOINS = word_set(", or and to a an the - \u2013 than between / even then with from")
_CONJUNCTIONS = word_set(
    """for because since so as and which where but though although then it you that the i he she they look there"""
)
_BY_THE_WAY = re.compile(
    r"\b(?:irrelevant|(?:n't|not) (?:matter|count|help|what you|prove|asked|be confused)|ignor\w+|leave \w+ out|no bearing"
    r"|nothing to do|distract\w*|confus\w+|mistak\w+ for|swapped|look alike|digits alike|fool\w*|for example|for instance"
    r"|such as|differ(?:s|ent|ently)?|unless|whether|beside the point|not asked|no help|example|needn't|need not)\b"
)
_IN_GENERAL = re.compile(r"\b(?:means?|might|could|typical\w*|in general|generally|tends?)\b")
_OPEN_BEFORE = re.compile(r"\b(?:compar\w+|if|either|any|unlike|some|other|another|like)\b")
_DENIED_BEFORE = re.compile(
    r"(?:\b(?:no|not|nor|neither|never|without|cannot|rather than|instead of|than)\b|n't\b)"
    r"(?! (?:be )?(?:miss|overlook|forget|skip))[^,.;!?]{0,25}$"
)
_TAG = re.compile(
    r"\b(?:is|are|was|were|does|do|has|have)n't (?:that|it|this|these|those|they|he|she|there|the|his|her)\b[^.;!?]*\?"
)


def left_open(low: Sequence[str], at: int, *, precise: bool = False) -> bool:
    """Return whether a sentence mentions a token only in passing, denies it, or leaves it open.

    Parameters
    ----------
    low : sequence of str
        The sentence's tokens in lower case.
    at : int
        The position of the token.
    precise : bool
        Whether it is too specific to be stated by chance; then only a denial, an example or an "or" leaves it open.
    """
    bounds = [0, *(index for index in range(1, len(low)) if _begins_clause(low, index)), len(low)]
    start = max(bound for bound in bounds if bound <= at)
    end = min(bound for bound in bounds if bound > at)
    clause, before = " ".join(low[start:end]), " ".join(low[start:at])
    return bool(
        _BY_THE_WAY.search(clause)
        or (_DENIED_BEFORE.search(before) and not _TAG.search(" ".join(low)))
        or "or" in low[max(0, at - 3) : at]
        or (not precise and (_IN_GENERAL.search(clause) or _OPEN_BEFORE.search(before)))
    )


def _begins_clause(low: Sequence[str], at: int) -> bool:
    before = low[at - 1]
    if before in (";", ":", "?", "!", "\u2013", "\u2014") or (before == "," and low[at] in _CONJUNCTIONS):
        return True
    return low[at] == "you" and before != "if" and bool(_WILL & set(low[at + 1 : at + 2]))


def value_in_a_row(
    low: Sequence[str], value: StatedValue, values: Sequence[StatedValue], secret: frozenset[Key]
) -> bool:
    """Return whether a value is next to another one of its kind ("at 14:30, 15:30 and 16:30"), or among several."""
    kinds = {other.kind for other in values if other.start == value.start} - {"n", "w", "o"}
    others = {
        key_of(other)
        for other in values
        if other.kind in kinds
        and key_of(other) not in secret
        and (other.end <= value.start or value.end <= other.start)
    }
    if len(others) > 1:
        return True
    for other in values:
        if other.kind != value.kind or key_of(other) in secret or (other.start < value.end and value.start < other.end):
            continue
        between = low[value.end : other.start] if other.start >= value.end else low[other.end : value.start]
        if len(between) <= 6 and all(token in _JOINS or token in UNIT_WORDS or len(token) == 1 for token in between):
            return True
    return False


_LEADS = word_set("a an the on in at under behind of with by to also some not")
"""Words that may precede an item of a series."""

SHORT_ITEM = 4
"""Maximum number of words in an item of a series."""


def word_in_a_row(low: Sequence[str], at: int) -> bool:
    """Return whether a word is part of a series: "tulips, lilies and roses", "a cat or a dog"."""
    start = max((index + 1 for index in range(at) if low[index] in _BREAKS), default=0)
    end = min((index for index in range(at, len(low)) if low[index] in _BREAKS), default=len(low))
    items: list[list[int]] = [[]]
    joins: list[str] = []
    for index in range(start, end):
        if low[index] not in (",", "and", "or", "but"):
            items[-1].append(index)
        elif items[-1]:
            items.append([])
            joins.append(low[index])
        elif joins:
            joins[-1] += low[index]
    own_item = next(number for number, item in enumerate(items) if at in item)
    first, last = own_item, own_item
    if all(low[index] in _LEADS for index in items[own_item] if index < at):
        while first > 0 and (first == own_item or len(items[first]) <= SHORT_ITEM):
            first -= 1
    if len([index for index in items[own_item] if index > at]) <= SHORT_ITEM:
        while last < len(items) - 1 and (last == own_item or len(items[last]) <= SHORT_ITEM):
            last += 1
    run = joins[first:last]
    return "or" in run or (len(run) >= 2 and any(join != "," for join in run)) or run.count(",") > 2


_BREAKS = word_set(": ; ? ! .")


_NEVER = (
    r"not|n't|nor|neither|never|no(?! (?:further|doubt|question|later))|cannot|without|forget|leave|except|strike"
    r"|rather than|instead of"
)
_OUT = (
    r"rul(?:e|es|ed|ing)\s+out|exclud\w+|eliminat\w+|discard\w*|cross\w*\s+(?:out|off)|ignor\w+|dismiss\w*|reject\w*"
    r"|set\s+aside|leave\s+out|drop"
)
_BEFORE = re.compile(
    rf"(?i)(?:(?<!\w)(?:{_NEVER}|{_OUT})\b|n't\b)(?:(?!, (?:the|it|you|then|but|so)\b)[^.;!?]){{0,60}}$"
)
_WRONG = r"(?:all\s+|both\s+)?(?:not\b|wrong|the\s+wrong|out\b|false|incorrect|impossible|exclud|ruled|crossed|eliminat|discard)"
_AFTER = re.compile(
    rf"(?i)^['\"]?[^\w,]{{0,2}}(?:\?\s*no\b|[^,.;!?]{{0,60}}?"
    rf"(?:\b(?:is|are|be|were|was)\s+{_WRONG}|n't\b|\bcannot\b|\bdo(?:es)?\s+not\b))"
)


def denied(text: str, start: int, end: int) -> bool:
    """Return whether the text says that the passage from `start` to `end` is wrong or ruled out."""
    return bool(_BEFORE.search(text[max(0, start - 120) : start]) or _AFTER.search(text[end : end + 120]))
