"""Where two sides differ: sample by sample, criterion by criterion, and on parts of the samples such as a capability."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from dokimasia.algorithms.statistics import false_discovery_rate
from dokimasia.runs.reading.rates import mean, paired, rounded
from dokimasia.runs.reading.sides import ComparedAnswer, ComparisonSide, SampleRef, Scale, match_places
from dokimasia.storage.trees.lookup import criterion_key


class SamplePart(NamedTuple):
    """Samples that are compared on their own: a title, how deep it lies among the parts before it, and the samples' names.

    With `criteria` (`storage.trees.lookup.criterion_key`), only scores by these count.
    """

    title: str
    depth: int
    samples: frozenset[str]
    criteria: frozenset[str] = frozenset()


class MatchedSample(NamedTuple):
    """A sample that both sides have, by its name on each, with the mean scores, the shares of right answers, and failures.

    What is not known of a side is None, or "" for a failure. An undecided answer is neither right nor wrong.
    """

    first: str
    second: str
    scores: tuple[float | None, float | None]
    right: tuple[float | None, float | None]
    failures: tuple[str, str]

    @property
    def gap(self) -> float | None:
        """The second score minus the first, or where there are none, the difference in right answers."""
        for one, other in (self.scores, self.right):
            if one is not None and other is not None:
                return rounded(other - one)
        return None


def matched(first: ComparisonSide, second: ComparisonSide) -> list[MatchedSample]:
    """Return the samples that both sides have, in the order of the first."""
    return [
        MatchedSample(
            one.sample_id,
            other.sample_id,
            (first.score(one), second.score(other)),
            (first.mean(one, lambda answer: answer.right), second.mean(other, lambda answer: answer.right)),
            (_failure(first, one), _failure(second, other)),
        )
        for one, other in match_places(first.places, second.places)[0]
    ]


def compare_parts(
    first: ComparisonSide, second: ComparisonSide, parts: Sequence[SamplePart], *, seed: int, scale: Scale
) -> list[dict[str, Any]]:
    """Return the paired differences of two sides on parts of their samples, second minus first, those with a pair alone.

    Scores are compared where both sides were scored, and strict accuracy where one was not.

    Args:
        first: one side.
        second: the other.
        parts: named by samples of the first side.
        seed: of the intervals and tests.
        scale: the lowest and the highest score.

    Returns:
        For each part `title`, `depth`, `measure` (`score`, or `strict_accuracy` in shares), `n` pairs of `n_shared` samples,
        both means `first` and `second`, what `rates.paired` says of their differences, and `adjusted`, the p-value after
        Benjamini and Hochberg over all these parts.
    """
    by_score = first.scored and second.scored
    shared, _ = match_places(first.places, second.places)
    found: list[dict[str, Any]] = []
    for part in parts:
        own = [(one, other) for one, other in shared if one.sample_id in part.samples]
        pairs = [
            (a, b, one.cluster)
            for one, other in own
            for a, b in ((_on(first, one, part, by_score), _on(second, other, part, by_score)),)
            if a is not None and b is not None
        ]
        if pairs:
            found.append(
                {
                    "title": part.title,
                    "depth": part.depth,
                    "measure": "score" if by_score else "strict_accuracy",
                    "n": len(pairs),
                    "n_shared": len(own),
                    "first": mean([a for a, _, _ in pairs]),
                    "second": mean([b for _, b, _ in pairs]),
                    **paired(
                        [b - a for a, b, _ in pairs],
                        [cluster for *_, cluster in pairs],
                        widest=scale[1] - scale[0] if by_score else 1.0,
                        seed=seed,
                    ),
                }
            )
    adjusted = false_discovery_rate([one["p_value"] for one in found])
    return [{**one, "adjusted": rounded(value)} for one, value in zip(found, adjusted, strict=True)]


def criteria_apart(first: ComparisonSide, second: ComparisonSide, *, top: int) -> list[dict[str, Any]]:
    """Return the criteria on which the scores of two sides differ most, where both were scored by the same ones.

    Returns:
        For each its sample (`sample`, as the first side calls it), the set's id `criteria`, its `number` from 1, its `weight`,
        and the mean scores `first` and `second`; the largest differences first, of equal ones the heavier first.
    """
    found: list[dict[str, Any]] = []
    for place, other in match_places(first.places, second.places)[0]:
        ours, theirs = (
            [one for one in side.answers.get(at.sample_id, ()) if one.criteria_scores]
            for side, at in ((first, place), (second, other))
        )
        sets = {our.criteria for our in (*ours, *theirs)}
        if not ours or not theirs or len(sets) != 1:
            continue
        for at, weight in enumerate(ours[0].weights or (1,) * len(ours[0].criteria_scores)):
            means = [sum(one.criteria_scores[at] for one in each) / len(each) for each in (ours, theirs)]
            if rounded(means[0] - means[1]):
                told = {"first": rounded(means[0]), "second": rounded(means[1]), "weight": weight}
                found.append({"sample": place.sample_id, "criteria": ours[0].criteria, "number": at + 1, **told})
    return sorted(found, key=lambda one: (-abs(one["second"] - one["first"]), -one["weight"], one["sample"]))[:top]


def parts_of(samples: Iterable[tuple[str, str]]) -> list[SamplePart]:
    """Return samples by their category, given as pairs of name and category; those without one are in no part."""
    by_category: dict[str, set[str]] = {}
    for name, category in samples:
        if category:
            by_category.setdefault(category, set()).add(name)
    return [SamplePart(category, 0, frozenset(names)) for category, names in sorted(by_category.items())]


def _failure(side: ComparisonSide, place: SampleRef) -> str:
    return next((one.failure for one in side.answers.get(place.sample_id, ()) if one.failure), "")


def _on(side: ComparisonSide, place: SampleRef, part: SamplePart, by_score: bool) -> float | None:
    if not by_score:
        return side.mean(place, lambda one: one.strict)
    return side.mean(place, lambda one: _within(one, part)) if part.criteria else side.score(place)


def _within(answer: ComparedAnswer, part: SamplePart) -> float | None:
    """Return an answer's score on the criteria of a part alone; None where it has none of them."""
    if answer.criteria is None or not answer.criteria_scores:
        return None
    own = [
        (score, weight)
        for number, (score, weight) in enumerate(zip(answer.criteria_scores, answer.weights, strict=False), start=1)
        if criterion_key(answer.criteria, number) in part.criteria
    ]
    weights = sum(weight for _, weight in own)
    return sum(score * weight for score, weight in own) / weights if weights else None
