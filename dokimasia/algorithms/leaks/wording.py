"""Stems of words, so that a word matches its plural, its other tenses and its other spelling."""

import unicodedata
from functools import lru_cache

from dokimasia.algorithms.text.words import words

_SPELT = """gray:grey color:colour center:centre theater:theatre meter:metre liter:litre tire:tyre jewelry:jewellery
    harbor:harbour neighbor:neighbour mold:mould plow:plough pajamas:pyjamas mustache:moustache aluminum:aluminium
    donut:doughnut fiber:fibre program:programme airplane:aeroplane"""
_BRITISH = {american: british for american, _, british in (pair.partition(":") for pair in _SPELT.split())}
_ENDINGS = (("ies", 3), ("ing", 3), ("dish", 3), ("ish", 3), ("ed", 3), ("es", 3), ("ly", 4), ("s", 3))


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
    plain = "".join(sign for sign in unicodedata.normalize("NFKD", text) if not unicodedata.combining(sign))
    return tuple(word.removesuffix("'s").removesuffix("s'") or word for word in words(plain))


@lru_cache(maxsize=16384)
def stem(word: str) -> str:
    """Return a word without the ending of a plural, tense or adverb, and without a final e or y.

    Examples
    --------
    >>> stem("horses") == stem("horse"), stem("stripe") == stem("striped"), stem("running") == stem("runs")
    (True, True, True)
    """
    cut = word = _BRITISH.get(word, word)
    for ending, least in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= least and not word.endswith("ss"):
            cut = word[: -len(ending)] + ("y" if ending == "ies" else "")
            break
    if len(cut) > 3 and cut[-1] in "ey":
        cut = cut[:-1]
    if cut != word and len(cut) > 3 and cut[-1] == cut[-2] and cut[-1] not in "ls":
        cut = cut[:-1]
    return cut


def stems_of(text: str) -> list[str]:
    """Return the stems of a text's words, in order."""
    return [stem(word) for word in plain_words(text)]
