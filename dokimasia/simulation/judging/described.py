"""How a simulated judge that is used works on descriptions of planted pictures: solutions, criteria, and what says the same.

So that a judge which is probed under the prompts of evaluations finds in a changed description what is changed there.
"""

import re
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from dokimasia.domain.criterion import MAX_CRITERIA, WEIGHT_TOTAL
from dokimasia.domain.identity import unit_interval
from dokimasia.prompts.dimensions import error_dimensions
from dokimasia.simulation.blindspots.gold import gold_answer, told
from dokimasia.simulation.blindspots.texts import faults
from dokimasia.simulation.depicted import Depicted, Point, Stated, sort_of, statements
from dokimasia.simulation.foreign import sentences
from dokimasia.simulation.judging.blindspots import miss_rate
from dokimasia.simulation.planting import JudgeProfile

DESCRIBING = re.compile(r"\b(?:describe|description|caption)\b", re.IGNORECASE)
DECISION = "right-or-wrong"
"""The evaluator that asks whether two answers say the same."""

_PLACE = re.compile(
    r"In the picture the ([^.]{1,80}?) is (to the left of|to the right of|above|below) the ([^.]{1,80}?)\."
)
_OTHER_SIDE = {"to the left of": "to the right of", "above": "below"}
_LEAST_STATED = 3


def solution_of(picture: Depicted) -> str:
    """Return the model solution to a request to describe a picture: its gold answer, step by step."""
    gold = gold_answer(picture)
    steps = "\n".join(f"{number}. {one}" for number, one in enumerate(sentences(gold), 1))
    return f"<reasoning>\n{steps}\n</reasoning>\n<answer>\n{gold}\n</answer>"


def criteria_of(picture: Depicted, *, final: bool) -> list[dict[str, Any]]:
    """Return criteria on what the gold answer to a picture states, each of another sort as far as there are."""
    by_sort = sorted(told(picture), key=lambda point: (_place_in_sort(picture, point), point.sort))[:MAX_CRITERIA]
    weights = [WEIGHT_TOTAL // len(by_sort) + (number < WEIGHT_TOTAL % len(by_sort)) for number in range(len(by_sort))]
    return [
        {
            "question": f"What is the {point.attribute} of the {point.subject}?",
            "ground_truth": point.sentence(),
            "weight": weight,
            "anchor": "whole image",
            **({"final": False} if final else {}),
        }
        for point, weight in zip(by_sort, weights, strict=True)
    ]


def says_the_same(judge: JudgeProfile, answer: str, reference: str) -> bool | None:
    """Return whether a judge takes a description to say what a reference says; None where the two are no descriptions.

    Errors in it are missed as `misses` says for the evaluator `right-or-wrong`, harmless changes taken for errors with the
    rate `nitpicks`.
    """
    if min(len(statements(answer)), len(statements(reference))) < _LEAST_STATED:
        return None
    found = _differences(answer, reference)
    if not found:
        return answer == reference or unit_interval("nitpicks", judge.name, DECISION, answer) >= judge.nitpicks
    groups = error_dimensions("image-to-text")
    for dimension, words in found:
        rate = miss_rate(judge, dimension, groups[dimension].group, DECISION)
        if unit_interval("missed", judge.name, DECISION, reference, dimension, words) >= rate:
            return False
    return True


def _differences(answer: str, reference: str) -> list[tuple[str, str]]:
    """The dimensions in which a description departs from another that is right, each once, with the words that show it."""
    points = tuple(_as_written(stated, reference) for stated in statements(reference))
    found = sorted(
        (one.dimension, one.words or repr(one.key)) for one in faults(answer, Depicted("", "natural", points))
    )
    if _places(answer) != _places(reference):
        found.append(("spatial_relation_swap", repr(_places(answer))))
    return [next(rows) for _, rows in groupby(found, key=lambda row: row[0])]


def _as_written(stated: Stated, text: str) -> Point:
    """A statement of a text as a fact, in the text's own capitals."""
    attribute, subject = stated.key
    found = re.search(rf"\b({re.escape(attribute)}) of the ({re.escape(subject)}) is ", text, re.IGNORECASE)
    attribute, subject = found.groups() if found else stated.key
    return Point(attribute, subject, stated.value, (), sort=sort_of(stated.key[0], stated.value))


def _places(text: str) -> set[Sequence[str]]:
    """What is said of where things are, on whichever side it begins."""
    return {
        (one, side, other) if side in _OTHER_SIDE else (other, _from_other(side), one)
        for one, side, other in _PLACE.findall(text)
    }


def _from_other(side: str) -> str:
    return next(one for one, other in _OTHER_SIDE.items() if other == side)


def _place_in_sort(picture: Depicted, point: Point) -> int:
    return [one.key for one in told(picture) if one.sort == point.sort].index(point.key)
