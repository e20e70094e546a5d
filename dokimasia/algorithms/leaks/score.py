"""How likely a text gives a secret away: its signs and those of its clauses, weighed by coefficients that were fitted."""

import re
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import NamedTuple

import orjson

from dokimasia.algorithms.leaks.rules import Known, broken
from dokimasia.algorithms.leaks.secrets import Secrets
from dokimasia.algorithms.leaks.signs import signs

CERTAIN = frozenset(
    (
        "rule sum",
        "rule spelled",
        "rule riddle",
        "rule letter",
        "place right",
        "other denied",
        "others denied",
        "all 4 others all",
        "others ruled out",
        "quotes 5",
        "quotes 6",
        "spells row",
        "spells code",
        "spells back",
        "spells initials",
        "spells rhyme",
        "sum clock",
        "sum factor",
        "converted",
        "nothing else",
        "answers first",
        "loud",
        "emphasis",
        "hidden sign",
        "told value",
        "told value t",
        "told count",
        "told choice",
        "told word",
        "told place",
        "sum exact",
        "sum said",
        "digits in a row",
        "run together",
        "digits backwards",
        "bounded",
    )
)
"""Signs that are leaks by themselves when the whole text has them: on the development sets, no clean hint had."""

_CLAUSE = re.compile(
    r"(?<=[.!?;:])\s+|,\s+(?=(?:and|so|because|since|which|for|as|but|where|then|that|look|judging|you|it|the)\b)"
    r"|\s+(?=(?:because|since|after|and you|so that|as soon)\b)|\s+[\u2013\u2014]\s+|\n+"
)
_FORMS = (
    ("place right", "letter"),
    ("told place", "letter"),
    ("letter right", "letter"),
    ("all others all", "elimination"),
    ("other denied", "elimination"),
    ("others denied", "elimination"),
    ("spells", "spelled"),
    ("sum", "sum"),
    ("sum clock", "sum"),
    ("digits", "spelled"),
    ("sum exact", "sum"),
    ("sum said", "sum"),
    ("bounded", "elimination"),
    ("told value", "number"),
    ("told count", "number"),
    ("told value t", "number"),
    ("told choice", "verbatim"),
    ("told word", "verbatim"),
    ("1 #=", "number"),
    ("1 ANS", "verbatim"),
    ("1 SYN", "synonym"),
    ("1 CLUE", "comparison"),
    ("fresh 7", "paraphrase"),
    ("fresh words 2", "paraphrase"),
    ("1 TSYN", "synonym"),
    ("1 TCLUE", "comparison"),
)


class Weights(NamedTuple):
    """A fitted model: the coefficient of each sign, the intercept, the words that count as themselves, the threshold."""

    coefficients: Mapping[str, float]
    intercept: float
    words: frozenset[str]
    threshold: float


class Judged(NamedTuple):
    """Why a text was found to give something away: the form, the passage, and its score above the threshold."""

    form: str
    passage: str
    score: float


@cache
def weights() -> Weights:
    """Return the fitted model that lies beside this file; it is read at the first call."""
    read = orjson.loads(resources.files("dokimasia.algorithms.leaks").joinpath("weights.json").read_bytes())
    return Weights(read["coefficients"], read["intercept"], frozenset(read["words"]), read["threshold"])


def pieces(text: str) -> list[str]:
    """Return a text and, where there are several, its clauses.

    Examples
    --------
    >>> pieces("Look at the door, and you see that it is red.")
    ['Look at the door, and you see that it is red.', 'Look at the door', 'and you see that it is red.']
    """
    clauses = [one.strip() for one in _CLAUSE.split(text) if one and one.strip()]
    return [text, *(one for one in clauses if len(one.split()) > 1)] if len(clauses) > 1 else [text]


def rule_forms(text: str, known: Known, answer: str) -> list[str]:
    """Return the forms that the rules find in a text, those of a ground truth marked as such."""
    return sorted({leak.form if leak.secret in ("", answer) else f"{leak.form} t" for leak in broken(text, known)})


def judged(text: str, known: Known, secrets: Secrets, answer: str) -> Judged | None:
    """Return why a text gives something away: by a sign that is certain, or by the sum of its signs; None: it is clean."""
    model = weights()
    found: list[Judged] = []
    for at, piece in enumerate(pieces(text)):
        told = signs(piece, secrets, model.words, rule_forms(piece, known, answer))
        if at == 0:
            told.add("whole text")
        score = model.intercept + sum(model.coefficients.get(sign, 0.0) for sign in told) - model.threshold
        if at == 0 and told & CERTAIN:
            return Judged(_form(told), piece, max(score, 0.0))
        found.append(Judged(_form(told), piece, score))
    best = max(found, key=lambda one: one.score)
    return best if best.score >= 0 else None


def _form(told: set[str]) -> str:
    return next((form for sign, form in _FORMS if sign in told), "told")
