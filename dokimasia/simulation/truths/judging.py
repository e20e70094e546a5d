"""How far a holistic judge agrees with people on planted responses: exact expectations, from what is planted alone.

Nothing here draws, reads a reply or averages measurements. A judge rates every response apart, by its steps or, with
outcome bias, by its final answer; of two responses this leaves four cases with known probabilities.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, product
from typing import Any

from dokimasia.simulation.judging.ranked import Planted
from dokimasia.simulation.profiles import JudgeProfile

RATED_LUCKY, RATED_UNLUCKY = 9, 3
"""The ratings of a response whose final answer is right, or wrong, by a judge that looks at nothing else."""

WHOLE = 10
"""The weight of all steps together."""

Ranked = tuple[Sequence[Planted], Iterable[Mapping[str, Any]]]
"""The responses to one question, and what people say of them, a line each."""


def expected_pointwise(judge: JudgeProfile, questions: Iterable[Ranked], *, margin: float = 0.0) -> float:
    """Return the expected share of people's verdicts on pairs that a judge without other faults agrees with, 0 to 1."""

    def ratings(one: Planted) -> dict[float, float]:
        by_answer = float(RATED_LUCKY if one.right else RATED_UNLUCKY)
        by_steps = 1.0 + round(9 * one.merit / WHOLE)
        chances = {by_steps: 1 - judge.outcome_bias}
        chances[by_answer] = chances.get(by_answer, 0.0) + judge.outcome_bias
        return chances

    return _expected(questions, ratings, margin)


def expected_atoms(questions: Iterable[Ranked], *, margin: float = 0.0) -> float:
    """Return the same for a judge that scores every step without a fault: it has no eye for the final answer alone."""
    return _expected(questions, lambda one: {1 + 4 * one.merit / WHOLE: 1.0}, margin)


def _expected(questions: Iterable[Ranked], chances_of: Any, margin: float) -> float:
    total = count = 0.0
    for responses, lines in questions:
        chances = {one.model: chances_of(one) for one in responses}
        for line in lines:
            places = _places(line)
            for one, other in combinations(sorted(places), 2):
                said = (places[one] > places[other]) - (places[one] < places[other])
                for (first, chance), (second, other_chance) in product(chances[one].items(), chances[other].items()):
                    apart = first - second
                    verdict = 0 if abs(apart) <= margin + 1e-9 else 1 if apart > 0 else -1
                    total += chance * other_chance * (verdict == said)
                count += 1
    return total / count


def _places(line: Mapping[str, Any]) -> dict[str, float]:
    if "scores" in line:
        return dict(line["scores"])
    return {model: -float(place) for place, group in enumerate(line["ranking"]) for model in group}
