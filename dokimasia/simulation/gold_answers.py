"""Gold answers to planted pictures, errors of each dimension planted in them, and detection of these errors in a text.

A gold answer consists of statements about the picture. A statement can be wrong in an entity, an attribute, a number or a
reading. For other dimensions (theme, tone, order of steps, cause and so on), further sentences each have a right wording,
an equivalent one, and wrong ones. All are derived from the picture alone, so that a model that sees it knows which are
right.
"""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

from dokimasia.domain.blindspots import NEUTRAL
from dokimasia.simulation.data_files import read_data
from dokimasia.simulation.draws import Draws
from dokimasia.simulation.picture_content import (
    FactKey,
    PictureContent,
    PictureFact,
    Statement,
    read_statements,
    same_value,
)

FACTS_STATED = 8
"""Number of facts that a gold answer states."""

MAKERS = ("in a hurry to be done", "paid by the hour", "on the point of retiring")
EXTRAS = ("watering can", "folding ladder", "birdcage", "typewriter", "garden gnome")
"""Things that no planted picture shows."""


class GoldSentence(NamedTuple):
    """A sentence of a gold answer: its wording, an equivalent one, wrong ones, and the dimension of the error.

    If `wrong` is empty, the error is the absence of the sentence.
    """

    name: str
    dimension: str
    right: str
    also: str
    wrong: tuple[str, ...] = ()


_SENTENCE_FORMS = read_data("gold_sentences.yaml", tuple[GoldSentence, ...])


def stated_facts(picture: PictureContent) -> tuple[PictureFact, ...]:
    """Return the facts that a picture's gold answer states, with each sort represented, in the picture's order."""
    return _stated_facts(picture.points)


def gold_sentences(picture: PictureContent) -> Mapping[str, GoldSentence]:
    """Return the further sentences of a picture's gold answer, in order, by name."""
    return {sentence.name: sentence for sentence in _gold_sentences(picture.points)}


def gold_answer(picture: PictureContent) -> str:
    """Return the gold answer to a picture: entirely true, with material for every dimension that the picture allows."""
    return _laid_out(picture, [point.sentence() for point in stated_facts(picture)], neutral=False)


def reworded(picture: PictureContent, statements: list[str]) -> str:
    """Return an answer with these statements that is equivalent to the gold one, in other words and order."""
    return _laid_out(picture, statements[::-1], neutral=True)


def _laid_out(picture: PictureContent, statements: list[str], *, neutral: bool) -> str:
    wordings = {
        name: sentence.also if neutral else sentence.right for name, sentence in gold_sentences(picture).items()
    }
    before = [wordings.pop(name) for name in ("opening", "tone", "culture") if name in wordings]
    return " ".join([*before, *statements, *wordings.values()])


@lru_cache(maxsize=512)
def _stated_facts(points: tuple[PictureFact, ...]) -> tuple[PictureFact, ...]:
    settled = [point for point in points if not point.readings]
    first_of_sort = {point.sort: point for point in reversed(settled)}.values()
    rest = [point for point in settled if point not in first_of_sort]
    chosen = {point.key for point in [*first_of_sort, *rest][:FACTS_STATED]}
    return tuple(point for point in settled if point.key in chosen)


@lru_cache(maxsize=512)
def _gold_sentences(points: tuple[PictureFact, ...]) -> tuple[GoldSentence, ...]:
    facts = _stated_facts(points)
    names = {"subject": facts[0].subject, "attribute": facts[0].attribute, **_placement(facts)}
    subjects = list(dict.fromkeys(point.subject for point in facts))
    if len(subjects) > 2:
        names.update(zip("abc", subjects, strict=False))
    lacking = {name for name, field in (("place", "near"), ("steps", "a")) if field not in names}
    sentences: list[GoldSentence] = []
    for form in _SENTENCE_FORMS:
        if form.name not in lacking:
            right, also, *wrong = (wording.format(**names) for wording in (form.right, form.also, *form.wrong))
            sentences.append(GoldSentence(form.name, form.dimension, right, also, tuple(wrong)))
    return tuple(sentences)


def _placement(facts: tuple[PictureFact, ...]) -> dict[str, str]:
    """Return the first two things of which one is entirely to the left of, or above, the other; empty if there are none."""
    for fact, other in combinations(facts, 2):
        if fact.box is None or other.box is None or fact.subject == other.subject:
            continue
        sides = (("to the left of", "to the right of", "x0", "x1"), ("above", "below", "y0", "y1"))
        for before, after, start, end in sides:
            for a, b in ((fact, other), (other, fact)):
                if getattr(a.box, end) <= getattr(b.box, start):
                    return {"near": a.subject, "before": before, "after": after, "far": b.subject}
    return {}


_WRONG_VALUE: Mapping[str, tuple[str, ...]] = {
    "entity_substitution": ("object",),
    "attribute_distortion": ("attribute",),
    "numerical_errors": ("count", "value"),
    "misread_key_elements": ("text",),
    "spatial_relation_swap": ("position",),
    "factual_perturbation": ("state",),
}
"""Dimension of a wrong value, by sort of statement."""

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


class ErrorInText(NamedTuple):
    """An answer with a planted error, and a description of the change."""

    text: str
    description: str


class TextFault(NamedTuple):
    """A fault of an answer: its dimension, the words that show it, and the fact concerned.

    `words` is empty if something is left out; `key` is None if no single fact is concerned.
    """

    dimension: str
    words: str = ""
    key: FactKey | None = None


def plant_error(dimension: str, text: str, picture: PictureContent, draws: Draws) -> ErrorInText | None:
    """Return a text with one planted error of a dimension; None if the text offers no place for it.

    `score_neutral` gives an equivalent text in other words. The text should be a gold answer to the picture; in another text,
    only statements and sentences in a gold answer's wording can be changed.
    """
    if dimension == NEUTRAL:
        return _plant_rewording(text, picture)
    if dimension in _ADDED:
        usable = _usable_statements(text, picture)
        if usable:
            return _ADDED[dimension](text, picture, usable, draws)
        return None
    sentences = [
        sentence
        for sentence in gold_sentences(picture).values()
        if sentence.dimension == dimension and sentence.right in text
    ]
    if sentences:
        changes: list[str] = []
        for sentence in sentences:
            wrong = draws.pick(sentence.wrong, "wording") if sentence.wrong else ""
            text = _without_gaps(text.replace(sentence.right, wrong, 1))
            changes.append(f"'{sentence.right}' " + (f"became '{wrong}'" if wrong else "was taken out"))
        return ErrorInText(text, "; ".join(changes) + ".")
    usable = _usable_statements(text, picture, _WRONG_VALUE.get(dimension, ()))
    if not usable:
        return None
    statement, point = draws.pick(usable, "statement")
    return _with_value(text, statement, draws.pick(point.false, "false") if point.false else "something else")


def faults_in_text(text: str, picture: PictureContent) -> tuple[TextFault, ...]:
    """Return the faults of an answer on a picture, by dimension; none for a gold answer, reworded or not.

    Omissions count only in a text that is, or was, a gold answer.
    """
    by_key = picture.by_key
    faults: list[TextFault] = []
    stated_here = read_statements(text)
    for sentence in stated_here:
        point = by_key.get(sentence.key)
        if point is None:
            faults.append(TextFault("phantom_details", sentence.sentence, sentence.key))
        elif point.readings or same_value(sentence.value, point.value):
            continue
        elif sentence.value.casefold() in _GENERAL.values():
            faults.append(TextFault("over_generalization", sentence.sentence, sentence.key))
        else:
            faults.append(TextFault(_OF_SORT[point.sort], sentence.sentence, sentence.key))
    gold = gold_sentences(picture)
    for sentence in gold.values():
        faults += [TextFault(sentence.dimension, words) for words in sentence.wrong if words in text]
    for dimension, pattern in _TRACES.items():
        faults += [TextFault(dimension, match[0]) for match in pattern.finditer(text)]
    if _was_gold(text, gold):
        keys = {statement.key for statement in stated_here}
        faults += [
            TextFault("detail_omission", key=point.key) for point in stated_facts(picture) if point.key not in keys
        ]
        faults += [
            TextFault(sentence.dimension)
            for sentence in gold.values()
            if not sentence.wrong and not _says(text, sentence)
        ]
    return tuple(dict.fromkeys(faults))


def _usable_statements(
    text: str, picture: PictureContent, sorts: tuple[str, ...] = tuple(_GENERAL)
) -> list[tuple[Statement, PictureFact]]:
    """Return the true statements of a text that occur in it once and are of these sorts."""
    by_key = picture.by_key
    return [
        (statement, point)
        for statement in read_statements(text)
        if (point := by_key.get(statement.key)) is not None
        and point.sort in sorts
        and same_value(statement.value, point.value)
        and text.count(point.sentence()) == 1
    ]


def _with_value(text: str, statement: Statement, value: str) -> ErrorInText:
    old = next(match[0] for match in _statement_matches(text) if match[0].casefold() == statement.sentence.casefold())
    new = old.replace(f'"{statement.value}"', f'"{value}"')
    attribute, subject = statement.key
    change = f'The {attribute} of the {subject} is "{statement.value}", and became "{value}".'
    return ErrorInText(text.replace(old, new, 1), change)


def _statement_matches(text: str) -> list[re.Match[str]]:
    return list(re.finditer(r'\bThe [^".\n]{1,60}? of the [^"\n]{1,80}? is "[^"\n]{1,200}"\.', text, re.IGNORECASE))


_Usable = list[tuple[Statement, PictureFact]]


def _over_general(text: str, picture: PictureContent, usable: _Usable, draws: Draws) -> ErrorInText:
    statement, point = draws.pick(usable, "statement")
    return _with_value(text, statement, _GENERAL[point.sort])


def _omitted(text: str, picture: PictureContent, usable: _Usable, draws: Draws) -> ErrorInText | None:
    keys = {point.key for point in stated_facts(picture)}
    points = [point for _, point in usable if point.key in keys]
    if not points or not _was_gold(text, gold_sentences(picture)):
        return None
    point = draws.pick(points, "statement")
    attribute, subject = point.key
    remainder = _without_gaps(text.replace(point.sentence(), "", 1))
    return ErrorInText(remainder, f"The {attribute} of the {subject} was left out.")


def _contradicted(text: str, picture: PictureContent, usable: _Usable, draws: Draws) -> ErrorInText:
    _, point = draws.pick(usable, "statement")
    added = f'For all that, the {point.attribute} of the {point.subject} is not "{point.value}" at all.'
    return ErrorInText(_insert_after(text, point, added), f"The text now contradicts itself on the {point.subject}.")


def _phantom(text: str, picture: PictureContent, usable: _Usable, draws: Draws) -> ErrorInText:
    thing = draws.pick(EXTRAS, "thing")
    added = f"There is also a {thing} at its edge."
    return ErrorInText(_insert_after(text, usable[-1][1], added), f"A {thing} was added.")


def _assumed(text: str, picture: PictureContent, usable: _Usable, draws: Draws) -> ErrorInText:
    added = f"Whoever made it was certainly {draws.pick(MAKERS, 'maker')}."
    return ErrorInText(_insert_after(text, usable[-1][1], added), "Something was added on who made it.")


def _plant_rewording(text: str, picture: PictureContent) -> ErrorInText | None:
    gold = gold_sentences(picture)
    if not _was_gold(text, gold) or any(sentence.right not in text for sentence in gold.values()):
        return None
    return ErrorInText(
        reworded(picture, [match[0] for match in _statement_matches(text)]), "The same is said in other words."
    )


_ADDED: Mapping[str, Callable[[str, PictureContent, _Usable, Draws], ErrorInText | None]] = {
    "over_generalization": _over_general,
    "detail_omission": _omitted,
    "logical_inconsistency": _contradicted,
    "phantom_details": _phantom,
    "ungrounded_assumptions": _assumed,
}
_TRACES = {"logical_inconsistency": _DENIED, "phantom_details": _EXTRA, "ungrounded_assumptions": _MAKER}


def _was_gold(text: str, gold: Mapping[str, GoldSentence]) -> bool:
    return any(_says(text, sentence) for sentence in gold.values()) or any(
        words in text for sentence in gold.values() for words in sentence.wrong
    )


def _says(text: str, turn: GoldSentence) -> bool:
    return turn.right in text or turn.also in text


def _insert_after(text: str, point: PictureFact, added: str) -> str:
    return text.replace(point.sentence(), f"{point.sentence()} {added}", 1)


def _without_gaps(text: str) -> str:
    return " ".join(text.split())
