"""From people's rankings and judges' scores to which pairs of responses they order alike (ATOM, section 4.1 and table 1)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from dokimasia.algorithms.margins import CrossFit, Sides, cross_fitted, fold_of, sides
from dokimasia.domain.judging.judgements import HumanRanking

Scores = Mapping[tuple[str, str], float]
"""Of one judge and method, the score of each response by sample and model; higher is better. What failed is not there."""


@dataclass(frozen=True, slots=True)
class Comparisons:
    """All pairs of responses that somebody ranked, one a pair and annotator, in the order of the rankings.

    Attributes:
        pairs: sample and the two models.
        annotators: who ranked the pair.
        human: which one is better to them: 1 the first, -1 the second, 0 neither.
        clusters: of each pair, that of the samples that share an image.
        categories: of each pair, that of its sample.
        folds: of each pair, for the margin of ties; an image lies in one as a whole.
    """

    pairs: Sequence[tuple[str, str, str]]
    annotators: Sequence[str]
    human: Sides
    clusters: Sequence[str]
    categories: Sequence[str]
    folds: NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.pairs)

    def at(self, category: str) -> NDArray[np.bool_]:
        """Return which pairs are of a category; all for the empty name."""
        return np.array([not category or one == category for one in self.categories], dtype=bool)


@dataclass(frozen=True, slots=True)
class JudgeAgreement:
    """What one judge and method say of the comparisons: which of them are judged, and what agrees among these.

    Attributes:
        judged: whether both responses of a pair have a score.
        fitted: predicted sides of the judged pairs under margins that were fitted on other images.
        plain: whether the side agrees where only equal scores are a tie, of the judged pairs.
    """

    judged: NDArray[np.bool_]
    fitted: CrossFit
    plain: NDArray[np.bool_]

    @property
    def hits(self) -> NDArray[np.float64]:
        """Of every comparison 1 where the side agrees, 0 where it does not, not a number where it is not judged."""
        found = np.full(len(self.judged), np.nan)
        found[self.judged] = self.fitted.agreed
        return found


def comparisons_of(
    rankings: Iterable[HumanRanking], clusters: Mapping[str, str], categories: Mapping[str, str], *, seed: int
) -> Comparisons:
    """Return the pairs that people ranked.

    Args:
        rankings: what they said.
        clusters: by sample, its cluster.
        categories: by sample, its category; empty for none.
        seed: of the draw of folds.
    """
    pairs: list[tuple[str, str, str]] = []
    annotators: list[str] = []
    human: list[tuple[float, float]] = []
    for ranking in rankings:
        for one, other in combinations(sorted(ranking.scores), 2):
            pairs.append((ranking.sample, one, other))
            annotators.append(ranking.annotator)
            human.append((ranking.scores[one], ranking.scores[other]))
    scores = np.array(human, dtype=np.float64).reshape(-1, 2)
    of = [clusters[sample] for sample, _, _ in pairs]
    return Comparisons(
        pairs,
        annotators,
        sides(scores[:, 0], scores[:, 1]),
        of,
        [categories.get(sample, "") for sample, _, _ in pairs],
        fold_of(of, seed=seed),
    )


def agreement(comparisons: Comparisons, scores: Scores) -> JudgeAgreement:
    """Return how one judge and method order the pairs that people ranked."""
    one = np.array([scores.get((sample, model), np.nan) for sample, model, _ in comparisons.pairs])
    other = np.array([scores.get((sample, model), np.nan) for sample, _, model in comparisons.pairs])
    judged = ~(np.isnan(one) | np.isnan(other))
    one, other, human = one[judged], other[judged], comparisons.human[judged]
    fitted = cross_fitted(one, other, human, comparisons.folds[judged])
    return JudgeAgreement(judged, fitted, sides(one, other) == human)


def human_agreement(comparisons: Comparisons) -> tuple[list[bool], list[int]]:
    """Return of each pair of responses and each two people who ranked it whether they agree, and the place of its comparison.

    Nothing where nobody ranked what somebody else ranked.
    """
    by_pair: dict[tuple[str, str, str], list[int]] = {}
    for place, pair in enumerate(comparisons.pairs):
        by_pair.setdefault(pair, []).append(place)
    agreed: list[bool] = []
    places: list[int] = []
    for several in by_pair.values():
        for first, second in combinations(several, 2):
            agreed.append(bool(comparisons.human[first] == comparisons.human[second]))
            places.append(first)
    return agreed, places
