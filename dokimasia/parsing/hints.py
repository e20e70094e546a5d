"""A peer's hint between tags, held to its length and stripped of praise, and a judge's word on whether a text leaks."""

import re

from dokimasia.errors import UnparsableReply
from dokimasia.parsing.refusals import looks_like_refusal
from dokimasia.parsing.reply import matches, spoken
from dokimasia.parsing.verdicts import either

MAX_WORDS = 160
"""Words of a hint; the prompt asks for half as many. A longer one is sent back once."""

MAX_HINT = 4_000
"""Characters of a hint."""

_TAG = re.compile(r"<(/?)hint\s{0,9}>", re.IGNORECASE | re.ASCII)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_GOOD = (
    "(?:amazing|awesome|best|bright|brilliant|clever|excellent|fantastic|gifted|good|great|impressive|incredible|nice|"
    "outstanding|perfect|smart|superb|talented|terrific|wonderful)"
)
_PRAISE = re.compile(
    rf"\W{{0,5}}(?:(?:wow|bravo|congratulations|well done)\b|{_GOOD}\s{{0,3}}(?:[!.,]|$)|"
    rf"{_GOOD} (?:attempt|effort|job|question|start|thinking|try|work)\b|keep (?:it|going|up)\b|"
    rf"(?:you|your (?:answer|reasoning|work))(?:'re| are| is| was| were| did| do)"
    rf"(?: (?:a|absolutely|always|an|clearly|doing|just|quite|really|simply|so|such|the|truly|very)){{0,4}} {_GOOD}\b|"
    rf"what an? {_GOOD}\b|i (?:admire|believe in|love)\b)",
    re.IGNORECASE,
)
_PRAISE_WORDS = 14
"""A longer sentence may praise, too, but is likely to say something beside it."""

_LEAK = re.compile(r"\[\[\s{0,9}(leak|clean)\s{0,9}\]\]", re.IGNORECASE | re.ASCII)


def parse_hint(text: str) -> str:
    """Return the hint of the form `<hint>...</hint>`, without sentences that only praise.

    Raises:
        UnparsableReply: there is no such hint or more than one, it is empty or refuses, it says nothing but praise, or
            it is longer than 160 words.
    """
    reply = spoken(text)
    tags = [match[1] for match in matches(_TAG, reply)]
    if tags != ["", "/"]:
        raise UnparsableReply("write the hint once, in the form <hint>...</hint>")
    opening, closing = _TAG.finditer(reply)
    hint = reply[opening.end() : closing.start()].strip()
    if not hint:
        raise UnparsableReply("the hint is empty")
    if len(hint) > MAX_HINT or len(hint.split()) > MAX_WORDS:
        raise UnparsableReply(f"the hint has {len(hint.split())} words; write at most 80")
    if looks_like_refusal(hint):
        raise UnparsableReply("the hint declines instead of helping")
    kept = [one for one in _SENTENCE.split(hint) if one.strip() and not _only_praises(one.strip())]
    if not kept:
        raise UnparsableReply("the hint only praises; say where to look or what to bear in mind")
    return " ".join(one.strip() for one in kept)


def parse_leak(text: str) -> bool:
    """Return whether a judge finds that a text gives something away: `[[leak]]` or `[[clean]]`.

    Raises:
        UnparsableReply: there is no verdict, or both of them.
    """
    return either(_LEAK, text, "leak", "clean")


def _only_praises(sentence: str) -> bool:
    return len(sentence.split()) <= _PRAISE_WORDS and _PRAISE.match(sentence) is not None
