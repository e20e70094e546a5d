"""What a text lets one reckon: sums that come to the answer, and bounds or denials that leave it alone."""

import re
from collections.abc import Iterator, Sequence
from itertools import combinations

from dokimasia.algorithms.leaks.secrets import Secrets, key_of
from dokimasia.algorithms.leaks.values import Value, read
from dokimasia.algorithms.text.words import NUMBER_WORDS

SMALL = 12
"""Whole answers up to which two numbers come to it by chance: those need the step to be said in so many words."""

MOST = 6
"""Numbers of a text that are reckoned with."""

# fmt: off
_STEPS_TEXT = """
    add adds added adding plus sum sums together minus subtract subtracting subtracted take taking difference multiply
    multiplied times product double twice half halve halved halfway divide divided split rest remaining remainder back
    change more less fewer after before later earlier over under above below beyond forward missed each per an cost left
    costs gives makes used slightly between increased dropped higher lower another from of pay paying hour midway short"""
_STEPS = frozenset(_STEPS_TEXT.split())
_SAID_TEXT = "subtract subtracting plus minus add adding multiply divide double twice difference sum together"
_SAID = frozenset((*_SAID_TEXT.split(), "times", "after", "before", "later"))
_REST = frozenset(("rest", "remainder", "remaining", "remains", "left", "used", "gone", "else", "others"))
_HALF = frozenset(("half", "halfway", "midway", "halve", "halved", "halving"))
_TWICE = frozenset(("twice", "double", "doubled", "doubling"))
# fmt: on
_NUMBER = r"#(-?[\d.]+)#"
_UP = re.compile(
    r"\b(?:more than|over|above|greater than|bigger than|larger than|higher than|later than|older than|exceeds?|beyond|past"
    r"|after)"
    rf" (?:the |minus )?{_NUMBER}|{_NUMBER}[^#.;]{{0,30}}?\b(?:too few|too low|too small|too little|too early|not enough)"
)
_DOWN = re.compile(
    r"\b(?:less than|fewer than|under|below|smaller than|lower than|earlier than|younger than|before|short of|shy of|until)"
    rf" (?:the |minus )?{_NUMBER}|{_NUMBER}[^#.;]{{0,30}}?\b(?:too many|too high|too large|too big|too much|too late)"
)
_MISSED = re.compile(
    rf"\b(?:count|total|sum|number|answer|result|figure|tally) (?:of |was |is )?{_NUMBER}[^#.;]{{0,20}}?"
    rf"\b(?:missed|misses|overlooked|skipped|lacks|left out|forgot|is short by|falls short by)(?: exactly| just| only)? {_NUMBER}"
)
_PART = re.compile(
    rf"{_NUMBER}[^#.;:]{{1,40}}?,? (?:and |but |of which )?(?:only |just )?{_NUMBER} of (?:them|these|which|those)\b"
)


def reckoned(text: str, secrets: Secrets) -> set[str]:
    """Return the signs of what a text lets one reckon: `sum exact`, `sum said`, `bounded`."""
    found: set[str] = set()
    _, low, stated = read(text)
    found |= _denials(text, low, secrets)
    if not secrets.values and not secrets.answer_values:
        return found
    numbers = _distinct(low, stated)
    other = sum(
        bool(one.values & {key_of(value) for value in stated})
        for at, one in enumerate(secrets.choices)
        if at != secrets.right
    )
    said = {key_of(one) for one in stated}
    wanted = secrets.answer_values - secrets.known_values
    if _SAID & set(low):
        wanted |= secrets.values
    if not said & wanted and numbers and (other < 2 or (other == 2 and _SAID & set(low))):
        fresh = [one for one in numbers if key_of(one) not in secrets.known_values or other]
        if fresh and _STEPS & set(low) and any(_same(kind, value, wanted) for kind, value in _made(numbers, low)):
            found.add("sum exact")
    found |= _digits(low, secrets)
    marked = _marked(low, numbers)
    due = {value for kind, value in wanted if kind == "n"}
    for pattern, sign in ((_MISSED, 1), (_PART, -1)):
        if any(float(one[1]) + sign * float(one[2]) in due for one in pattern.finditer(marked)):
            found.add("sum said")
    if _bounded(marked, secrets):
        found.add("bounded")
    return found


def _distinct(low: Sequence[str], stated: Sequence[Value]) -> list[Value]:
    """The numbers, shares and quantities of a text in order, the first of them alone."""
    kept = [one for one in stated if one.kind in "nwp" or one.kind.startswith("u")]
    kept = [one for one in kept if low[one.start] not in ("one", "once", "zero") or one.kind != "w"]
    starts = sorted({one.start for one in kept})[:MOST]
    return [one for one in kept if one.start in starts]


def _same(kind: str, value: float, wanted: frozenset[tuple[str, float]]) -> bool:
    plain = "n" if kind == "w" else kind
    return any(
        plain == other and abs(value - due) < 1e-6 and (kind not in "nw" or due > SMALL or due % 1 > 0)
        for other, due in wanted
    )


def _made(numbers: Sequence[Value], low: Sequence[str]) -> Iterator[tuple[str, float]]:
    said = set(low)
    for one in numbers:
        kind = "n" if one.kind == "w" else one.kind
        if said & _HALF and kind != "p":
            yield kind, one.value / 2
        if said & _TWICE and kind != "p":
            yield kind, one.value * 2
        if said & _REST and kind == "p":
            yield "p", 1 - one.value
        if said & _REST and kind == "n":
            yield "n", 100 - one.value
    for one, two in combinations(numbers, 2):
        if one.start == two.start:
            continue
        first, second = ("n" if value.kind == "w" else value.kind for value in (one, two))
        if first == second:
            yield first, one.value + two.value
            yield first, abs(one.value - two.value)
            if {"between", "halfway", "midway", "slightly"} & said:
                yield first, (one.value + two.value) / 2
        if "n" in (first, second):
            kind = second if first == "n" else first
            yield kind, one.value * two.value
            if kind == first and two.value:
                yield kind, one.value / two.value
            if kind == second and one.value:
                yield kind, two.value / one.value


_BETWEEN_DIGITS = frozenset(
    (
        ",",
        "-",
        "and",
        "then",
        "a",
        "an",
        "the",
        "right",
        "after",
        "it",
        "point",
        "first",
        "followed",
        "by",
        "in",
        "front",
    )
)
_REVERSED = re.compile(r"\b(?:revers\w+|backwards?|mirror\w*|swap\w*|turned around|from right to left)\b")


def _digits(low: Sequence[str], secrets: Secrets) -> set[str]:
    """Whether digits in a row, or the digits of a number read backwards, make the answer."""
    due = {f"{value:g}".replace(".", "") for kind, value in secrets.answer_values - secrets.known_values if kind == "n"}
    due = {one for one in due if len(one) > 1}
    runs = [""]
    for one in low:
        digit = one if len(one) == 1 and one.isdigit() else NUMBER_WORDS.get(one, "")
        if len(digit) == 1:
            runs[-1] += digit
        elif one == "or":
            runs[-1] += "?"
        elif one not in _BETWEEN_DIGITS and runs[-1]:
            runs.append("")
    if {"alike", "similar", "confuse", "confused", "swapped", "differ"} & set(low) or due & set(low):
        return set()
    found = {"digits in a row"} if due & set(runs) else set[str]()
    if _REVERSED.search(" ".join(low)) and any(one[::-1] in low and one[::-1] != one for one in due):
        found.add("digits backwards")
    return found


def _marked(low: Sequence[str], numbers: Sequence[Value]) -> str:
    """The text with its plain numbers as `#7#`."""
    at = {one.start: one for one in numbers if one.kind in "nw"}
    out: list[str] = []
    here = 0
    while here < len(low):
        one = at.get(here)
        if one is None:
            out.append(low[here])
            here += 1
        else:
            out.append(f"#{one.value:.10g}#")
            here = max(one.end, here + 1)
    return " ".join(out).replace(" ,", ",").replace(" .", ".").replace(" ;", ";")


def _bounded(marked: str, secrets: Secrets) -> bool:
    """Whether bounds that a text states leave the answer alone among the choices, or among whole numbers."""
    up = [float(one[1] or one[2]) for one in _UP.finditer(marked)]
    down = [float(one[1] or one[2]) for one in _DOWN.finditer(marked)]
    if not up and not down:
        return False
    due = {value for kind, value in secrets.answer_values if kind == "n"}
    low, high = max(up, default=-1e18), min(down, default=1e18)
    if not any(low < value < high for value in due):
        return False
    sized = [{value for kind, value in one.values if kind == "n"} for one in secrets.choices]
    if sized and all(sized) and secrets.right is not None:
        left = [at for at, values in enumerate(sized) if any(low < value < high for value in values)]
        return left == [secrets.right]
    return bool(up and down) and high - low == 2


_DENIAL = re.compile(
    r"\b(?:not|no|nor|neither|never|none|nothing|nobody|without|cannot|isn't|aren't|wasn't|doesn't|don't|can't|won't|hasn't|"
    r"excludes?|exclude|discard|dismiss|forget|strike|cross out|rule out|ruled out|too \w+)\b"
)
_LEAVES = re.compile(
    r"\b(?:which|what|only one|one|so you know)\b[^.;]*\b(?:remains?|is left|are left|left over|possible|survives?|stays)\b"
    r"|\b(?:cross|strike|rule|throw)\b[^.;]*\b(?:out|off|away)\b|\bdrops? out\b|\bfall away\b"
    r"|\bleaves? (?:only )?(?:one|just one)\b"
)


def _denials(text: str, low: Sequence[str], secrets: Secrets) -> set[str]:
    """Whether a text denies thing after thing, and whether it speaks of what is left then."""
    said = " ".join(low)
    count = len(_DENIAL.findall(said))
    if re.search(r"\b(?:no|not|nor|neither|exclude)\b", said):
        rows = re.search(r"\b(?:no|not|nor|neither|exclude) [^.;,]+(?:, [^.;,]+)*,? (?:or|nor|and) ", said)
        count += rows[0].count(",") if rows else 0
    found = {f"denies {step}" for step in (2, 3, 4) if count >= step}
    if _LEAVES.search(said):
        found.add("leaves one")
        found |= {f"denies {step}, leaves" for step in (1, 2, 3) if count >= step}
    first = low[0] if low else ""
    if (
        first
        in ("not", "no", "neither", "nobody", "nothing", "none", "it", "it's", "she", "he", "they", "they're", "there")
        and count >= 2
    ):
        found.add("denies from the start")
    if len(secrets.choices) > 2 and count >= len(secrets.choices) - 1:
        found.add("denies as many as there are")
    return found
