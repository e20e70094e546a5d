"""Text as a sequence of normalised words, so that different spellings of a text compare equal."""

import re
import unicodedata

_COUNTING = """
    zero one two three four five six seven eight nine ten eleven twelve
    thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty
"""

NUMBER_WORDS = {word: str(value) for value, word in enumerate(_COUNTING.split())}


def word_set(text: str) -> frozenset[str]:
    """Return the words listed in a text, as written."""
    return frozenset(text.split())


def word_table(text: str) -> dict[str, str]:
    """Return the value by word from a text whose lines each list a value and the words for it.

    Examples
    --------
    >>> word_table("12: dozen dozens")
    {'dozen': '12', 'dozens': '12'}
    """
    table: dict[str, str] = {}
    for line in text.strip().splitlines():
        value, _, names = line.partition(":")
        table.update(dict.fromkeys(names.split(), value.strip()))
    return table


ARTICLES = word_set("a an the")

FUNCTION_WORDS = ARTICLES | word_set(
    """and are as at be been but by did do does for from had has have how in into is it its no not of on or that their
    there these they this those to was were what when where which who whose why will with yes true false"""
)
"""Words without content; yes, no, true and false are among them, since any question can contain them."""

_THOUSANDS = re.compile(r"(?<=[0-9])[,\u00a0\u202f\u2009](?=[0-9]{3}(?![0-9]))")
_WORD = re.compile(r"(?:(?<![^\W_])[+-])?[0-9]+(?:\.[0-9]+)?|[^\W_]+(?:'[^\W_]+)?|[%°$€£¥]")
_SIGN = re.compile(r"(?P<joint>(?<=[0-9])[-.,:](?=[0-9])|-(?=[0-9]))|[^\w\s]")
_MEANINGFUL = frozenset("/*^\\@#&%")
_APOSTROPHES = str.maketrans({"\u2019": "'", "\u02bc": "'", "\u2212": "-", "\u2010": "-", "\u2011": "-"})


def words(text: str) -> list[str]:
    """Return the words of a text: NFKC, case folded, without punctuation and articles, numbers in digits.

    An article at the very end is kept, since it names something ("vitamin A").

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    list of str
        In order. Thousands separators are dropped; `%`, `°` and currency signs are kept as separate words.

    Examples
    --------
    >>> words("The Twelve  red-brick HOUSES, (1,250 m)!")
    ['12', 'red', 'brick', 'houses', '1250', 'm']
    """
    tokens = [match.group() for match in _WORD.finditer(_plain(text))]
    plain = [NUMBER_WORDS.get(word, word) for word in tokens]
    return [word for word in plain[:-1] if word not in ARTICLES] + plain[-1:]


def signs(text: str) -> list[str]:
    """Return the signs of a text that carry meaning, in order: symbols, slashes, and signs that join digits.

    Examples
    --------
    >>> signs("x >= 3/4, surely."), signs("10-20"), signs("red-brick")
    (['>', '=', '/'], ['-'], [])
    """
    return [
        match.group()
        for match in _SIGN.finditer(_plain(text))
        if match["joint"] or match[0] in _MEANINGFUL or unicodedata.category(match[0])[0] == "S"
    ]


def content_words(text: str) -> list[str]:
    """Return the words of a text that carry content, in order.

    Examples
    --------
    >>> content_words("It is on the left of the two suitcases.")
    ['left', '2', 'suitcases']
    """
    return [word for word in words(text) if word not in FUNCTION_WORDS]


def contains_run(haystack: list[str], needle: list[str]) -> bool:
    """Return whether the needle's words occur consecutively in the haystack; an empty needle does not.

    Examples
    --------
    >>> contains_run(["a", "red", "bus"], ["red", "bus"]), contains_run(["red", "old", "bus"], ["red", "bus"])
    (True, False)
    """
    size = len(needle)
    return size > 0 and any(haystack[at : at + size] == needle for at in range(len(haystack) - size + 1))


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", _THOUSANDS.sub("", text)).translate(_APOSTROPHES).casefold()
