"""A peer's hints between tags, held to their length and stripped of praise, and the passages that a judge finds to leak."""

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
"""Words of a hint; the prompt asks for half as many. A longer one is sent back once."""

MAX_HINT = 4_000
"""Characters of a hint."""

WAYS = ("said", "reworded", "described", "left over", "worked out", "spelt out")
"""How a passage may give something away, in the words of the prompt."""

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
"""A longer sentence may praise, too, but is likely to say something beside it."""

_LEAK = re.compile(r"^[ \t>*_`-]{0,9}leak[*_ ]{0,5}:[*_ \t]{0,9}(.*)$", re.IGNORECASE | re.MULTILINE)
_BY = re.compile(
    r"^(.*?)[ \t]{0,9}\|[ \t]{0,9}by[*_ ]{0,5}:[ \t*_\"']{0,9}([a-z -]{1,40}?)[\s.*_\"']{0,9}$", re.IGNORECASE
)
_QUOTES = " \t\"'`*_\u2018\u2019\u201a\u201c\u201d\u201e\u00ab\u00bb"
_PLAIN = str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u00a0": " "})


def hints_form(count: int) -> str:
    """Return the empty form of a reply with so many hints."""
    return "\n".join(f"<hint {n}>\n{_BLANK.format(n=n)}\n</hint>" for n in range(1, count + 1))


def parse_hints(text: str, expected: int, *, strict: bool = True) -> Sequence[str]:
    """Return the hints of the form `<hint 1>...</hint>`, in order, without sentences that only praise; empty for `none`.

    Args:
        text: the peer's reply. Where one hint is expected its number may be missing.
        expected: how many hints were asked for.
        strict: whether every fault is one; otherwise a hint that cannot be used is left empty.

    Raises:
        UnparsableReply: a hint is missing or stands there twice, is empty, a form that was not filled in, or too long,
            refuses, or only praises; all of it is named. When not strict: no hint can be used.
    """
    found = _between_tags(spoken(text))
    faults: list[str] = []
    kept: list[str] = []
    strangers = sorted(number for number in found if not 1 <= number <= expected and (number or expected > 1))
    if strangers:
        faults.append(f"there are hints without a number from 1 to {expected}")
    for number in range(1, expected + 1):
        written = [*found.get(number, ()), *(found.get(0, ()) if expected == 1 else ())]
        whose = f"hint {number}"
        if len(written) != 1:
            faults.append(f"{whose}: write it once, in the form <hint {number}>...</hint>")
            kept.append("")
            continue
        hint = _read_hint(written[0].strip(), number)
        if hint.fault:
            faults.append(f"{whose} {hint.fault}")
        kept.append(hint.text)
    if faults and (strict or not any(kept)):
        raise UnparsableReply("; ".join(faults))
    return tuple(kept)


def parse_leaks(text: str, checked: str, *, strict: bool = True) -> Sequence[FoundLeak]:
    """Return the passages of a text that a judge finds to give something away; none where it is clean.

    A judge says `[[leak]]` or `[[clean]]`, and of a leak in lines `Leak: "passage" | by: way` which words of the text they
    are, and how they give it away.

    Args:
        text: the judge's reply.
        checked: the text that it was asked about.
        strict: whether a passage has to stand in that text and a way to be one that was asked for; otherwise a leak without
            such a passage is one of the text as a whole, its passage empty.

    Raises:
        UnparsableReply: there is no verdict, or both of them; or passages and verdict do not agree, a passage does not
            stand in the text, or a way is none of the six; all of it is named.
    """
    reply = spoken(text)
    leaks = either(reply, "leak", "clean")
    lines = [match[1] for match in matches(_LEAK, reply)]
    if not leaks:
        if lines and strict:
            raise UnparsableReply("passages are named as leaks, but the verdict is [[clean]]")
        return ()
    faults: list[str] = []
    found: dict[FoundLeak, None] = {}
    for line in lines:
        match = _BY.match(line)
        passage = (match[1] if match else line).strip(_QUOTES)
        way = " ".join(match[2].casefold().replace("-", " ").split()) if match else ""
        stands = _as_it_stands(passage, checked)
        if stands is None:
            faults.append(f'"{short(passage)}" does not stand in the text in these words')
        if way not in WAYS:
            faults.append(f'"{short(passage)}": after "by:" goes one of {", ".join(WAYS)}')
        if stands is not None:
            found[FoundLeak(form=way if way in WAYS else "judge", excerpt=stands, found_by="judge")] = None
    if not lines:
        faults.append('the verdict is [[leak]], but no line of the form Leak: "words of the text" | by: way says where')
    if strict and faults:
        raise UnparsableReply("; ".join(faults))
    return tuple(found) or (FoundLeak(form="judge", excerpt="", found_by="judge"),)


class _Hint(NamedTuple):
    text: str
    fault: str = ""


def _read_hint(hint: str, number: int) -> _Hint:
    """Return one hint without praise, empty for `none`, or what is wrong with it."""
    if _NONE.fullmatch(hint):
        return _Hint("")
    if not hint or hint == _BLANK.format(n=number):
        return _Hint("", "is empty")
    if len(hint) > MAX_HINT or len(hint.split()) > MAX_WORDS:
        return _Hint("", f"has {len(hint.split())} words; write at most 80")
    if looks_like_refusal(hint):
        return _Hint("", "declines instead of helping")
    kept = [sentence for sentence in _SENTENCE.split(hint) if sentence.strip() and not _only_praises(sentence.strip())]
    if not kept:
        return _Hint("", "only praises; say where to look or what to bear in mind")
    return _Hint(" ".join(sentence.strip() for sentence in kept))


def _between_tags(text: str) -> dict[int, list[str]]:
    """What stands between tags, by their number (0: a tag without one); what is not closed is left out."""
    found: dict[int, list[str]] = {}
    tags = matches(_TAG, text)
    for at, tag in enumerate(tags):
        if not tag[1] and at + 1 < len(tags) and tags[at + 1][1]:
            found.setdefault(int(tag[2] or 0), []).append(text[tag.end() : tags[at + 1].start()])
    return found


def _as_it_stands(passage: str, text: str) -> str | None:
    """Return a passage in the words of the text, whatever its case, quotes and white space; None where it is not in it."""
    words = passage.translate(_PLAIN).split()
    if not words:
        return None
    pattern = r"\s+".join(map(re.escape, words))
    found = re.search(pattern, text.translate(_PLAIN), re.IGNORECASE)
    return text[found.start() : found.end()] if found else None


def _only_praises(sentence: str) -> bool:
    return len(sentence.split()) <= _PRAISE_WORDS and _PRAISE.match(sentence) is not None
