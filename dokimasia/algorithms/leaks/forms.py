"""How a secret can stand in a text without standing there: spelled out, in riddles, by what is denied, by a letter."""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from dokimasia.algorithms.leaks.numbers import ordinal
from dokimasia.algorithms.text.words import NUMBER_WORDS, words

# fmt: off
OPPOSITES = (
    ("left", "right"), ("up", "down"), ("top", "bottom"), ("above", "below"), ("over", "under"), ("inside", "outside"),
    ("in", "out"), ("yes", "no"), ("true", "false"), ("on", "off"), ("open", "closed"), ("open", "shut"),
    ("full", "empty"), ("hot", "cold"), ("warm", "cool"), ("big", "small"), ("large", "small"), ("tall", "short"),
    ("long", "short"), ("high", "low"), ("wet", "dry"), ("light", "dark"), ("black", "white"), ("day", "night"),
    ("male", "female"), ("man", "woman"), ("boy", "girl"), ("young", "old"), ("new", "old"), ("near", "far"),
    ("front", "back"), ("in front of", "behind"), ("before", "after"), ("early", "late"), ("more", "less"),
    ("even", "odd"), ("north", "south"), ("east", "west"), ("positive", "negative"), ("increase", "decrease"),
    ("rising", "falling"), ("fast", "slow"), ("heavy", "light"), ("summer", "winter"), ("horizontal", "vertical"),
)
# fmt: on

_JOINERS = re.compile(r"(?i)(?<=\b\w)[\s,;]+(?:and\s+then|and|then|followed\s+by)\s+(?:an?\s+)?(?=\w\b)")
_SPELLED = re.compile(r"(?<!\w)(?:\w[\s\-.,_*\u00b7/|+]{1,3}){1,30}\w(?!\w)")
_INITIALS = re.compile(r"(?i)\b(?:initials?|first\s+letters?|acrostic|beginning\s+letters?|letters\s+that\s+begin)\b")
_BACKWARDS = re.compile(
    r"(?i)\b(?:backwards?|revers\w+|mirrored|from\s+the\s+end|from\s+right\s+to\s+left|turn(?:ed)?\s+(?:around|round))\b"
)
_STARTS = re.compile(
    r"(?:start|begin)(?:s|ning|ing)?\s+(?:with|in)\s+(?:the\s+)?(?:an?\s+)?(?:letters?\s+)?[\"'\u2018\u201c]?(\w{1,4})\b"
    r"|(?:first|initial)\s+letter\s+(?:is|being)\s+(?:an?\s+)?[\"'\u2018\u201c]?(\w)\b",
    re.IGNORECASE,
)
_RHYMES = re.compile(r"rhym(?:es?|ing)\s+with\s+[\"'\u2018\u201c]?(\w{2,20})", re.IGNORECASE)
_OPPOSITE = re.compile(
    r"(?:opposite|reverse|contrary|antonym|inverse|other\s+than)\s+(?:of|to|from|than)?\s*[\"'\u2018\u201c]?(?:the\s+)?(\w{2,20})"
    r"|(?:anything|everything)\s+but\s+(\w{2,20})",
    re.IGNORECASE,
)
_LENGTH = re.compile(r"(?i)\b(\w+)[\s-]letters?\b|\bhas\s+(\w+)\s+letters\b|\b(\w+)\s+letters\s+long\b")


def plain_words(text: str) -> list[str]:
    """Return a text's words without accents and possessive endings.

    Examples
    --------
    >>> plain_words("The café's two doors")
    ['cafe', '2', 'doors']
    """
    return list(_plain_words(text))


@lru_cache(maxsize=2048)
def _plain_words(text: str) -> tuple[str, ...]:
    bare = "".join(sign for sign in unicodedata.normalize("NFKD", text) if not unicodedata.combining(sign))
    return tuple(word.removesuffix("'s").removesuffix("s'") or word for word in words(bare))


_SPELT = """gray:grey color:colour center:centre theater:theatre meter:metre liter:litre tire:tyre jewelry:jewellery
    harbor:harbour neighbor:neighbour mold:mould plow:plough pajamas:pyjamas mustache:moustache aluminum:aluminium
    donut:doughnut fiber:fibre program:programme airplane:aeroplane"""
_BRITISH = {american: british for american, _, british in (pair.partition(":") for pair in _SPELT.split())}


@lru_cache(maxsize=16384)
def stem(word: str) -> str:
    """Return a word without the ending of its plural, its tense or its adverb, and without a last e or y.

    Examples
    --------
    >>> stem("horses") == stem("horse"), stem("stripe") == stem("striped"), stem("running") == stem("runs")
    (True, True, True)
    """
    cut = word = _BRITISH.get(word, word)
    for ending, least in (("ies", 3), ("ing", 3), ("dish", 3), ("ish", 3), ("ed", 3), ("es", 3), ("ly", 4), ("s", 3)):
        if word.endswith(ending) and len(word) - len(ending) >= least and not word.endswith("ss"):
            cut = word[: -len(ending)] + ("y" if ending == "ies" else "")
            break
    if len(cut) > 3 and cut[-1] in "ey":
        cut = cut[:-1]
    if cut != word and len(cut) > 3 and cut[-1] == cut[-2] and cut[-1] not in "ls":
        cut = cut[:-1]
    return cut


def spells(text: str, secret: str, *, known: bool) -> bool:
    """Return whether a text spells a word: letter by letter, backwards, in pieces, or by the first letters of its words.

    Parameters
    ----------
    text : str
        Any text.
    secret : str
        A word or a number without spaces, in lower case; a small number is also looked for by its word.
    known : bool
        Whether the question contains the word: then a word that only reads so backwards is one by chance, unless the
        text speaks of reading backwards.
    """
    names = [secret, *(word for word, digits in NUMBER_WORDS.items() if digits == secret)]
    names = [name for name in names if len(name) > 2 and not name.isdigit()]
    joined = _JOINERS.sub(" ", text)
    runs = [re.sub(r"\W|_", "", found[0]).casefold() for found in _SPELLED.finditer(joined)]
    pieces = re.sub(r"\W|_", "", text).casefold()
    for name in names:
        back = name[::-1]
        if any(name in run or back in run for run in runs):
            return True
        if back != name and back in plain_words(text) and (not known or _BACKWARDS.search(text)):
            return True
        if len(name) > 4 and (name in pieces or back in pieces) and name not in text.casefold():
            return True
        if _INITIALS.search(text) and name in "".join(re.findall(r"\b([^\W\d_])", text)).casefold():
            return True
    return False


def riddles(text: str, secret: str) -> bool:
    """Return whether a text gives a short secret away by its first letters, its length, a rhyme, or its opposite."""
    word = secret.casefold()
    starts = any(word.startswith((found[1] or found[2]).casefold()) for found in _STARTS.finditer(text))
    rhymes = any(_rhyme(found[1].casefold(), word) for found in _RHYMES.finditer(text))
    opposites = {b if word == a else a for a, b in OPPOSITES if word in (a, b)}
    turned = any((found[1] or found[2]).casefold() in opposites for found in _OPPOSITE.finditer(text))
    lengths = {next(part for part in found.groups() if part).casefold() for found in _LENGTH.finditer(text)}
    long = any(NUMBER_WORDS.get(length, length) == str(len(word)) for length in lengths)
    return rhymes or turned or (starts and len(word) > 1) or (long and len(word) > 2 and starts)


def _rhyme(one: str, other: str) -> bool:
    return one != other and len(other) > 2 and one[-2:] == other[-2:]


class Named(NamedTuple):
    """A choice that a text names, and whether the text says that it is not the one."""

    place: int
    denied: bool


_LETTER = re.compile(
    r"(?i:\b(?:option|choice|letter|answers?(?:\s+is)?|alternative|choose|pick|select|mark|go\s+with|tick)\s*(?:is\s+|:\s*)?"
    r"(?:option\s+|choice\s+|letter\s+)?)[\"'\u2018\u201c(\[]?([A-H])(?![\w'])"
    r"|[(\[\"\u201c\u2018']([A-H])[)\]\"\u201d\u2019']|(?:(?<=\s)|^)([A-H])\)"
    r"|\b([B-H])(?=\s+(?:is|looks|seems|fits|must|would)\b)|(?<=[:?]\s)([A-H])(?=[.!]|$)"
    r"|(?i:\b(first|second|third|fourth|fifth|sixth|last|former|latter)\s+(?:option|choice|answer|alternative|is\s+the\s+one"
    r"|(?:\w+\s+)?(?:in|on)\s+(?:the\s+list|offer)|one\s+listed|of\s+(?:the|your)\s+(?:two|three|four|five|options|choices))\b)"
    r"|(?i:\b(?:opt\s+for|chosen|vote\s+for|take|tick)\s+(?:the\s+)?[(\[]?)([A-H])(?![\w'])|^([B-H])(?=[,.!])|\(([a-h])\)"
)
_LETTERS = re.compile(r"\b[A-H](?:(?:\s*,\s*(?:and\s+|or\s+|nor\s+)?|\s+and\s+|\s+or\s+|\s+nor\s+|/)[A-H])*\b")
_CHOOSES = re.compile(r"(?i)\b(?:options?|choices?|letters?|answers?|choose|pick)\s*$")
_NEVER = r"not|n't|nor|neither|never|no|cannot|without|forget|leave|except|strike"
_OUT = (
    r"rul(?:e|es|ed|ing)\s+out|exclud\w+|eliminat\w+|discard\w*|cross\w*\s+(?:out|off)|ignor\w+|dismiss\w*|reject\w*"
    r"|set\s+aside|leave\s+out|drop"
)
_BEFORE = re.compile(rf"(?i)(?:(?<![\w])(?:{_NEVER}|{_OUT})\b|n't\b)[^.;!?]{{0,60}}$")
_WRONG = (
    r"(?:all\s+|both\s+)?(?:not\b|wrong|the\s+wrong|out\b|false|incorrect|impossible|exclud|ruled|crossed|struck|gone"
    r"|eliminat|discard|dismiss)"
)
_AFTER = re.compile(
    rf"(?i)^['\"\u2019\u201d]?\W{{0,2}}(?:[^.;!?]{{0,60}}?(?:\b(?:is|are|be|were|was)\s+{_WRONG}|n't\b|\bcannot\b|\bdo(?:es)?\s+not\b|\bdrop\s+out|\bfall\s+away"
    r"|\baside\b)|\?\s*no\b)"
)


def denied(text: str, start: int, end: int) -> bool:
    """Return whether what stands from `start` to `end` of a text is said not to be the one."""
    return bool(_BEFORE.search(text[max(0, start - 120) : start]) or _AFTER.search(text[end : end + 120]))


def named_choices(text: str, choices: Sequence[str]) -> list[Named]:
    """Return the choices that a text names: by letter, by place, between two others.

    `A` alone is an article; it is a choice after option, answer, letter or choose, in brackets or quotes, or in a list.
    """
    found: list[Named] = []
    for match in _LETTER.finditer(text):
        letter = next(part for part in match.groups() if part)
        number = ordinal(letter.casefold())
        ends = {"last": len(choices) - 1, "former": 0, "latter": 1}
        place = ends.get(letter.casefold(), -1) if number is None else number - 1
        place = ord(letter.upper()) - ord("A") if len(letter) == 1 else place
        found.append(Named(place, denied(text, match.start(), match.end())))
    for match in _LETTERS.finditer(text):
        letters = re.findall(r"\b[A-H]\b", match[0])
        no = denied(text, match.start(), match.end()) and (len(letters) > 1 or letters != ["A"])
        if no or _CHOOSES.search(text[max(0, match.start() - 40) : match.start()]):
            found += [Named(ord(letter) - ord("A"), no) for letter in letters]
    said = [set(plain_words(choice)) for choice in choices]
    shared = {word for word in said[0] if all(word in one for one in said)} if said else set[str]()
    for match in re.finditer(r"(?i)\b(\w{3,8})(?=[\s-]+(\w+)\b)", text):
        number = ordinal(match[1].casefold())
        if number is not None and stem(match[2].casefold()) in {stem(word) for word in shared}:
            found.append(Named(number - 1, denied(text, match.start(), match.end(2))))
    for match in re.finditer(r"\b[Bb]etween\s+(?:[a-z]+\s+)?([A-H])\s+and\s+(?:[a-z]+\s+)?([A-H])\b", text):
        first, last = sorted((ord(match[1]) - ord("A"), ord(match[2]) - ord("A")))
        if last - first == 2:
            found.append(Named(first + 1, denied=False))
    return [one for one in found if 0 <= one.place < len(choices)]


def mentions(text: str, choices: Sequence[str]) -> list[Named]:
    """Return the choices whose words stand in the text."""
    found: list[Named] = []
    for place, choice in enumerate(choices):
        parts = re.findall(r"\w+", choice)
        if len(parts) > 1 and parts[0].casefold() in ("a", "an", "the"):
            parts = parts[1:]
        pattern = r"\W+".join(map(re.escape, parts))
        for match in re.finditer(rf"(?i)(?<!\w){pattern}(?:e?s)?(?!\w)", text) if pattern else ():
            found.append(Named(place, denied(text, match.start(), match.end())))
    return found


_LISTED = re.compile(
    r"(?i)((?:(?:an?|the)\s+)?[\w-]{1,30}(?:\s*,\s*(?:(?:an?|the)\s+)?[\w-]{1,30}){0,6}),?\s+or\s+((?:(?:an?|the)\s+)?[\w-]{1,30})"
)


def offered(question: str) -> list[str]:
    """Return the answers between which a question without choices leaves the choice: "left or right?", or yes and no.

    Examples
    --------
    >>> offered("Is the door open or closed?"), offered("Can she reach it?"), offered("What is it?")
    (['open', 'closed'], ['yes', 'no'], [])
    """
    found = list(_LISTED.finditer(question))
    if found:
        last = found[-1]
        first = [part.strip() for part in last[1].split(",")]
        options = [*first, last[2]]
        return [re.sub(r"(?i)^(?:an?|the)\s+", "", option).casefold() for option in options]
    asks = re.match(
        r"(?i)\W*(?:is|are|was|were|do|does|did|can|could|has|have|had|will|would|may|must|should)\b", question
    )
    return ["yes", "no"] if asks else []
