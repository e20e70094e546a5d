"""Whether a text writes the answer in disguise: with other gaps between its letters, as a Roman numeral, digit by digit."""

import re
from functools import lru_cache
from itertools import pairwise

from dokimasia.algorithms.leaks.secrets import Secrets
from dokimasia.algorithms.text.words import NUMBER_WORDS

SHORTEST = 3
"""Letters of a word from which one with other gaps is told from chance."""


def spelt_out(text: str, secrets: Secrets) -> bool:
    """Return whether a text writes the answer with other gaps than it has: c l o s e d, FreshFishDaily, to-morrow.

    Of a number its Roman numeral counts, too.
    """
    numbers = [int(value) for kind, value in secrets.values if kind == "n"]
    if any(_digit_by_digit(str(number), text) for number in numbers):
        return True
    named = re.search(r"(?i)\broman\b", text)
    for form in (secrets.answer, *map(_roman, numbers)):
        if len(re.sub(r"[\W_]", "", form)) < SHORTEST and not form.isdigit() and not named:
            continue
        for found in _gapped(form).finditer(text):
            usual = " ".join(form.strip(_SIGNS).split()).casefold()
            if " ".join(found[0].split()).casefold() not in (usual, f"{usual}s") or named:
                return True
    return False


def _digit_by_digit(number: str, text: str) -> bool:
    """Whether a text names the digits of a number of several digits one after the other: "four, eight and two"."""
    said = re.sub(r"[\s,]+(?:and\s+|then\s+)*", " ", text.casefold()).split(" ")
    digits = (NUMBER_WORDS.get(one.strip(".!?;:"), "?" if one == "or" else "-") for one in said)
    return len(number) > 1 and re.search(rf"(?<![\d?]){number}(?![\d?])", "".join(digits)) is not None


_SIGNS = "$\u20ac\u00a3.,;:!?'\"()[]% \u00b0"


@lru_cache(maxsize=512)
def _gapped(form: str) -> re.Pattern[str]:
    """A form with gaps between its letters, or between its digits where they are spaces or its own signs."""
    parts = re.findall(r"[^\W_]|[\W_]+", form.strip(_SIGNS))
    pattern = ""
    sign = r"[\W_]{0,3}" if min(map(len, re.split(r"[\W_]+", form.strip(_SIGNS)))) > 1 else r"[\W_]{1,3}"
    for one, after in pairwise([*parts, ""]):
        if not one.isalnum():
            pattern += rf"\s{{0,2}}{re.escape(one.strip())}\s{{0,2}}" if one.strip() else sign
        else:
            pattern += one + (_gap(one, after) if after.isalnum() else "")
    plural = "s?" if parts[-1].isalpha() and len(form) > SHORTEST else ""
    return re.compile(rf"(?i)(?<![^\W_]){pattern}{plural}(?![^\W_])") if pattern else re.compile(r"(?!)")


def _gap(one: str, after: str) -> str:
    """What may stand between two signs of an answer: any marks between letters, spaces between digits."""
    if one.isalpha() and after.isalpha():
        return r"[\W_]{0,9}"
    return r"\s{0,2}" if one.isdigit() and after.isdigit() else r"[\s-]{0,2}"


_ROMAN = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"), (9, "ix"),
    (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip


def _roman(number: int) -> str:
    """A whole number as a Roman numeral in lower case; empty where it has none, or is one."""
    if not 1 < number < 4000:
        return ""
    made = ""
    for value, sign in _ROMAN:
        made += sign * (number // value)
        number %= value
    return made
