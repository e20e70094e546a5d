"""A peer's hints between tags, without praise and limited in length; and the leaking passages that a judge names."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from dokimasia.domain.refinement import FoundLeak
from dokimasia.errors import UnparsableReply
from dokimasia.parsing.examples import FormExample
from dokimasia.parsing.grammar import form
from dokimasia.parsing.refusals import looks_like_refusal
from dokimasia.parsing.reply import matches, short, spoken
from dokimasia.parsing.verdicts import either

MAX_WORDS = 160
"""The maximum number of words of a hint; the prompt asks for half as many."""

MAX_HINT = 4_000
"""The maximum number of characters of a hint."""

WAYS = ("said", "reworded", "described", "left over", "worked out", "spelt out")
"""The ways in which a passage may leak, in the words of the prompt."""

LEAK_EXAMPLE = FormExample('Leak: "the number of boats, one fewer than four" | by: worked out')

_BLANK = "(your hint on point {n})"
_TAG = form(r"<(/?)hint(?:[ _-]{0,3}(?:n\s?=\s?)?[\"']?(\d{1,3})[\"']?)?\s{0,9}>")
_NONE = re.compile(r"\W*none\W*", re.IGNORECASE)
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
"""The maximum number of words of a sentence that counts as mere praise; a longer one probably says more."""

_LEAK = re.compile(r"^[ \t>*_`-]{0,9}leak[*_ ]{0,5}:[*_ \t]{0,9}(.*)$", re.IGNORECASE | re.MULTILINE)
_ONE_WAY = "|".join(way.replace(" ", "[ -]") for way in WAYS)
_BY = re.compile(
    r"^(.*?)[ \t]{0,9}\|[ \t]{0,9}"
    rf"(?:by[*_ ]{{0,5}}:|(?=[ \t*_\"']{{0,9}}(?:{_ONE_WAY})[\s.*_\"']{{0,9}}$))"
    r"[ \t*_\"']{0,9}([a-z -]{1,40}?)[\s.*_\"']{0,9}$",
    re.IGNORECASE,
)
"""A passage and its way; `by:` may be missing before one of the six ways."""
_QUOTES = " \t\"'`*_\u2018\u2019\u201a\u201c\u201d\u201e\u00ab\u00bb"
_PLAIN = str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u00a0": " "})


def hints_form(count: int) -> str:
    """Return the empty form of a reply with `count` hints."""
    return "\n".join(f"<hint {n}>\n{_BLANK.format(n=n)}\n</hint>" for n in range(1, count + 1))


def parse_hints(text: str, expected: int, *, strict: bool = True) -> Sequence[str]:
    """Return the hints of the form `<hint 1>...</hint>`, in order, without sentences that only praise; empty for `none`.

    Args:
        text: the peer's reply. If one hint is expected, its number may be missing.
        expected: the number of hints.
        strict: whether one unusable hint makes the reply unusable; otherwise that hint is left empty.

    Raises:
        UnparsableReply: a hint is missing, repeated, empty, an unfilled form, too long, a refusal, or mere praise; the
            reason names all faults. When not strict: no hint can be used.
    """
    texts = _between_tags(spoken(text))
    faults: list[str] = []
    hints: list[str] = []
    strangers = sorted(number for number in texts if not 1 <= number <= expected and (number or expected > 1))
    if strangers:
        faults.append(f"there are hints without a number from 1 to {expected}")
    for number in range(1, expected + 1):
        written = [*texts.get(number, ()), *(texts.get(0, ()) if expected == 1 else ())]
        whose = f"hint {number}"
        if len(written) != 1:
            faults.append(f"{whose}: write it once, in the form <hint {number}>...</hint>")
            hints.append("")
            continue
        hint = _read_hint(written[0].strip(), number)
        if hint.fault:
            faults.append(f"{whose} {hint.fault}")
        hints.append(hint.text)
    if faults and (strict or not any(hints)):
        raise UnparsableReply("; ".join(faults))
    return tuple(hints)


def parse_leaks(text: str, checked: str, *, strict: bool = True) -> Sequence[FoundLeak]:
    """Return the passages of a text that leak according to a judge; none if the text is clean.

    A judge says `[[leak]]` or `[[clean]]`, and names each leak on a line `Leak: "passage" | by: way`: the words of the text,
    and how they give something away.

    Args:
        text: the judge's reply.
        checked: the text that was checked.
        strict: whether each passage must be in that text and each way one of `WAYS`; otherwise a leak without such a
            passage is one of the whole text, with an empty excerpt.

    Raises:
        UnparsableReply: there is no verdict, or both; or passages contradict the verdict, a passage is not in the text, or
            a way is none of the six. The reason names all faults.
    """
    reply = spoken(text)
    leaks = either(reply, "leak", "clean")
    lines = [match[1] for match in matches(_LEAK, reply)]
    if not leaks:
        if lines and strict:
            raise UnparsableReply("passages are named as leaks, but the verdict is [[clean]]")
        return ()
    faults: list[str] = []
    passages: dict[FoundLeak, None] = {}
    for line in lines:
        match = _BY.match(line)
        passage = (match[1] if match else line).strip(_QUOTES)
        way = " ".join(match[2].casefold().replace("-", " ").split()) if match else ""
        excerpt = _as_it_stands(passage, checked)
        if excerpt is None:
            faults.append(f'"{short(passage)}" does not stand in the text in these words')
        if way not in WAYS:
            faults.append(f'"{short(passage)}": after "by:" goes one of {", ".join(WAYS)}')
        if excerpt is not None:
            passages[FoundLeak(form=way if way in WAYS else "judge", excerpt=excerpt, found_by="judge")] = None
    if not lines:
        faults.append('the verdict is [[leak]], but no line of the form Leak: "words of the text" | by: way says where')
    if strict and faults:
        raise UnparsableReply("; ".join(faults))
    return tuple(passages) or (FoundLeak(form="judge", excerpt="", found_by="judge"),)


class _Hint(NamedTuple):
    text: str
    fault: str = ""


def _read_hint(hint: str, number: int) -> _Hint:
    """Return one hint without praise (empty for `none`), or its fault."""
    if _NONE.fullmatch(hint):
        return _Hint("")
    if not hint or hint == _BLANK.format(n=number):
        return _Hint("", "is empty")
    if len(hint) > MAX_HINT or len(hint.split()) > MAX_WORDS:
        return _Hint("", f"has {len(hint.split())} words; write at most 80")
    if looks_like_refusal(hint):
        return _Hint("", "declines instead of helping")
    sentences = [
        sentence for sentence in _SENTENCE.split(hint) if sentence.strip() and not _only_praises(sentence.strip())
    ]
    if not sentences:
        return _Hint("", "only praises; say where to look or what to bear in mind")
    return _Hint(" ".join(sentence.strip() for sentence in sentences))


def _between_tags(text: str) -> dict[int, list[str]]:
    """Return the texts between tags by their number (0: without a number); unclosed ones are left out."""
    texts: dict[int, list[str]] = {}
    tags = matches(_TAG, text)
    for position, tag in enumerate(tags):
        if not tag[1] and position + 1 < len(tags) and tags[position + 1][1]:
            texts.setdefault(int(tag[2] or 0), []).append(text[tag.end() : tags[position + 1].start()])
    return texts


def _as_it_stands(passage: str, text: str) -> str | None:
    """Return a passage as in the text, ignoring case, quotes and white space; None if it is not in the text."""
    words = passage.translate(_PLAIN).split()
    if not words:
        return None
    pattern = r"\s+".join(map(re.escape, words))
    match = re.search(pattern, text.translate(_PLAIN), re.IGNORECASE)
    if match:
        return text[match.start() : match.end()]
    return None


def _only_praises(sentence: str) -> bool:
    return len(sentence.split()) <= _PRAISE_WORDS and _PRAISE.match(sentence) is not None
