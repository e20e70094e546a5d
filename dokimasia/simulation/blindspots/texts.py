"""Errors planted in an answer on a planted picture, one dimension at a time, and found again by whoever sees the picture."""

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from dokimasia.domain.blindspots import NEUTRAL
from dokimasia.simulation.blindspots.gold import EXTRAS, MAKERS, Turn, reworded, told, turns
from dokimasia.simulation.depicted import Depicted, Key, Point, Stated, same_value, statements
from dokimasia.simulation.draws import Draws

_WRONG_VALUE: Mapping[str, tuple[str, ...]] = {
    "entity_substitution": ("object",),
    "attribute_distortion": ("attribute",),
    "numerical_errors": ("count", "value"),
    "misread_key_elements": ("text",),
    "spatial_relation_swap": ("position",),
    "factual_perturbation": ("state",),
}
"""The dimensions that a false value of a statement is of, by the sorts of statement."""

_OF_SORT = {sort: dimension for dimension, sorts in _WRONG_VALUE.items() for sort in sorts}
_GENERAL = {
    "object": "some thing or other",
    "attribute": "some look or other",
    "count": "some number or other",
    "value": "some figure or other",
    "text": "some words or other",
    "position": "some place or other",
    "state": "some state or other",
}
_DENIED = re.compile(r'For all that, the [^"]{1,160} is not "[^"]{1,200}" at all\.', re.IGNORECASE)
_EXTRA = re.compile(r"There is also a ([a-z ]{1,40}) at its edge\.", re.IGNORECASE)
_MAKER = re.compile(r"Whoever made it was certainly ([a-z ]{1,60})\.", re.IGNORECASE)


class Planted(NamedTuple):
    """An answer with an error planted in it, and what was changed."""

    text: str
    description: str


class Fault(NamedTuple):
    """One thing that an answer is at fault in: its dimension, the words that show it, and the fact that it concerns.

    `words` is empty, and nothing can be quoted, where something is left out; `key` is None where no one fact is concerned.
    """

    dimension: str
    words: str = ""
    key: Key | None = None


def plant(dimension: str, text: str, picture: Depicted, draws: Draws) -> Planted | None:
    """Return a text with one error of a dimension planted in it; None where the text has nothing to plant it in.

    `score_neutral` gives the same text in other words. The text is best a gold answer of the picture; of another one only
    its statements, and what is told in a gold answer's words, can be changed.
    """
    if dimension == NEUTRAL:
        return _reworded(text, picture)
    if dimension in _ADDED:
        return _ADDED[dimension](text, picture, draws)
    said = [one for one in turns(picture).values() if one.dimension == dimension and one.right in text]
    if said:
        told: list[str] = []
        for one in said:
            wrong = draws.pick(one.wrong, "wording") if one.wrong else ""
            text = _without_gaps(text.replace(one.right, wrong, 1))
            told.append(f"'{one.right}' " + (f"became '{wrong}'" if wrong else "was taken out"))
        return Planted(text, "; ".join(told) + ".")
    usable = _usable(text, picture, _WRONG_VALUE.get(dimension, ()))
    if not usable:
        return None
    stated, point = draws.pick(usable, "statement")
    return _told_as(text, stated, draws.pick(point.false, "false") if point.false else "something else")


def faults(text: str, picture: Depicted) -> tuple[Fault, ...]:
    """Return what an answer on a picture is at fault in, by dimension; nothing for a gold answer, reworded or not.

    What is left out counts only against a text that is, or was, a gold answer: another one need not say it all.
    """
    by_key = picture.by_key
    found: list[Fault] = []
    stated = statements(text)
    for one in stated:
        point = by_key.get(one.key)
        if point is None:
            found.append(Fault("phantom_details", one.sentence, one.key))
        elif point.readings or same_value(one.value, point.value):
            continue
        elif one.value.casefold() in _GENERAL.values():
            found.append(Fault("over_generalization", one.sentence, one.key))
        else:
            found.append(Fault(_OF_SORT[point.sort], one.sentence, one.key))
    made = turns(picture)
    for one in made.values():
        found += [Fault(one.dimension, words) for words in one.wrong if words in text]
    for dimension, pattern in _TRACES.items():
        found += [Fault(dimension, match[0]) for match in pattern.finditer(text)]
    if _was_gold(text, made):
        keys = {one.key for one in stated}
        found += [Fault("detail_omission", key=point.key) for point in told(picture) if point.key not in keys]
        found += [Fault(one.dimension) for one in made.values() if not one.wrong and not _says(text, one)]
    return tuple(dict.fromkeys(found))


def _usable(text: str, picture: Depicted, sorts: tuple[str, ...] = tuple(_GENERAL)) -> list[tuple[Stated, Point]]:
    """The statements of a text that are true of the picture, stand in it once, and are of these sorts."""
    by_key = picture.by_key
    return [
        (one, point)
        for one in statements(text)
        if (point := by_key.get(one.key)) is not None
        and point.sort in sorts
        and same_value(one.value, point.value)
        and text.count(point.sentence()) == 1
    ]


def _told_as(text: str, stated: Stated, value: str) -> Planted:
    old = next(match[0] for match in _sentences(text) if match[0].casefold() == stated.sentence.casefold())
    new = old.replace(f'"{stated.value}"', f'"{value}"')
    attribute, subject = stated.key
    said = f'The {attribute} of the {subject} is "{stated.value}", and became "{value}".'
    return Planted(text.replace(old, new, 1), said)


def _sentences(text: str) -> list[re.Match[str]]:
    return list(re.finditer(r'\bThe [^".\n]{1,60}? of the [^"\n]{1,80}? is "[^"\n]{1,200}"\.', text, re.IGNORECASE))


def _over_general(text: str, picture: Depicted, draws: Draws) -> Planted | None:
    usable = _usable(text, picture)
    if not usable:
        return None
    stated, point = draws.pick(usable, "statement")
    return _told_as(text, stated, _GENERAL[point.sort])


def _omitted(text: str, picture: Depicted, draws: Draws) -> Planted | None:
    keys = {point.key for point in told(picture)}
    usable = [(stated, point) for stated, point in _usable(text, picture) if point.key in keys]
    if not usable or not _was_gold(text, turns(picture)):
        return None
    stated, point = draws.pick(usable, "statement")
    attribute, subject = stated.key
    left = _without_gaps(text.replace(point.sentence(), "", 1))
    return Planted(left, f"The {attribute} of the {subject} was left out.")


def _contradicted(text: str, picture: Depicted, draws: Draws) -> Planted | None:
    usable = _usable(text, picture)
    if not usable:
        return None
    _, point = draws.pick(usable, "statement")
    added = f'For all that, the {point.attribute} of the {point.subject} is not "{point.value}" at all.'
    return Planted(_after(text, point.sentence(), added), f"The text now contradicts itself on the {point.subject}.")


def _phantom(text: str, picture: Depicted, draws: Draws) -> Planted | None:
    usable = _usable(text, picture)
    if not usable:
        return None
    thing = draws.pick(EXTRAS, "thing")
    added = f"There is also a {thing} at its edge."
    return Planted(_after(text, usable[-1][1].sentence(), added), f"A {thing} was added.")


def _assumed(text: str, picture: Depicted, draws: Draws) -> Planted | None:
    usable = _usable(text, picture)
    if not usable:
        return None
    added = f"Whoever made it was certainly {draws.pick(MAKERS, 'maker')}."
    return Planted(_after(text, usable[-1][1].sentence(), added), "Something was added on who made it.")


def _reworded(text: str, picture: Depicted) -> Planted | None:
    made = turns(picture)
    if not _was_gold(text, made) or any(one.right not in text for one in made.values()):
        return None
    return Planted(reworded(picture, [match[0] for match in _sentences(text)]), "The same is said in other words.")


_ADDED: Mapping[str, Callable[[str, Depicted, Draws], Planted | None]] = {
    "over_generalization": _over_general,
    "detail_omission": _omitted,
    "logical_inconsistency": _contradicted,
    "phantom_details": _phantom,
    "ungrounded_assumptions": _assumed,
}
_TRACES = {"logical_inconsistency": _DENIED, "phantom_details": _EXTRA, "ungrounded_assumptions": _MAKER}


def _was_gold(text: str, made: Mapping[str, Turn]) -> bool:
    return any(_says(text, one) for one in made.values()) or any(
        words in text for one in made.values() for words in one.wrong
    )


def _says(text: str, turn: Turn) -> bool:
    return turn.right in text or turn.also in text


def _after(text: str, sentence: str, added: str) -> str:
    return text.replace(sentence, f"{sentence} {added}", 1)


def _without_gaps(text: str) -> str:
    return " ".join(text.split())
