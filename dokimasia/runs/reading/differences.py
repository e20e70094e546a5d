"""Paired differences between two sets of answers to the same samples: how large, how sure, where, and how judges agree."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from dokimasia.algorithms.statistics import bootstrap_interval
from dokimasia.runs.reading.rates import limits, mean, paired, rounded
from dokimasia.runs.reading.sides import ATOMS, ComparisonSide, SampleRef, Scale, lost_by, match_places
from dokimasia.runs.reading.spoken import spoken


class ScorePair(NamedTuple):
    """One sample in both runs, with both scores."""

    first: SampleRef
    second: SampleRef
    scores: tuple[float, float]

    @property
    def difference(self) -> float:
        """Second minus first."""
        return self.scores[1] - self.scores[0]


def compare(
    first: ComparisonSide, second: ComparisonSide, *, seed: int, top: int = 10, scale: Scale = ATOMS
) -> dict[str, Any]:
    """Return the paired differences of two sides, second minus first, ready for JSON.

    Samples are paired by the digest of their content: images, question, options and reference. A sample's score is the
    mean over its scored repeats. What cannot be paired is counted by its reason.

    Args:
        first: one side.
        second: the other.
        seed: of the bootstrap and of the permutations.
        top: how many of the samples that changed most are listed.
        scale: the lowest and the highest score.

    Returns:
        n_shared (samples in both runs), n_paired (scored on both sides), coverage (n_paired / n_shared), lost {why: n},
        without_scores (the sides on which nobody was there to score: then no score is compared, and `lost` does not count
        by it), first and second (mean scores over the pairs), difference {mean, low, high} (95 % bootstrap clustered by
        shared images), bounds {low, high} (of the mean difference over all shared samples, whatever the failed ones
        would have scored), strict_accuracy and stated (of the samples where it is known on both sides: n, lost {why: n} of
        the others that both runs have, the share of answers that are right, undecided ones not, or of the weight spoken to,
        of first and second, difference, p_value, changed, and for strict_accuracy n_undecided {first, second} answers and
        bounds {low, high} of the difference, whatever these are; left out where no answer has it), both_stated (the same
        for the score on the criteria that both speak to, with their number `criteria`), p_value with permutations
        {patterns, exact} (two-sided
        sign flips of whole clusters), changed {higher, equal, lower}, most_changed (with both scores), same_criteria and
        same_answers (pairs in which all is the same on both sides; the first is None where nothing says by what answers
        were scored), agreement (of the criteria scores where both are the
        same; None without such). What nothing was measured for is None.
    """
    shared, unshared = match_places(first.places, second.places)
    pairs: list[ScorePair] = []
    lost = dict(unshared)
    lowest, highest = scale
    low = high = 0.0
    without = [name for name, side in (("first", first), ("second", second)) if not side.scored]
    for one, other in () if without else shared:
        scores = first.score(one), second.score(other)
        if scores[0] is not None and scores[1] is not None:
            pairs.append(ScorePair(one, other, (scores[0], scores[1])))
            low, high = low + scores[1] - scores[0], high + scores[1] - scores[0]
            continue
        low += (lowest if scores[1] is None else scores[1]) - (highest if scores[0] is None else scores[0])
        high += (highest if scores[1] is None else scores[1]) - (lowest if scores[0] is None else scores[0])
        why = lost_by(first, second, (one, other), scores)
        lost[why] = lost.get(why, 0) + 1
    n = len(shared)
    differences = [pair.difference for pair in pairs]
    return {
        "n_shared": n,
        "n_paired": len(pairs),
        "coverage": rounded(len(pairs) / n) if n and not without else None,
        "lost": {why: count for why, count in sorted(lost.items()) if count},
        "without_scores": without,
        "first": mean([pair.scores[0] for pair in pairs]),
        "second": mean([pair.scores[1] for pair in pairs]),
        **paired(differences, [pair.first.cluster for pair in pairs], widest=highest - lowest, seed=seed),
        "bounds": {"low": rounded(low / n), "high": rounded(high / n)} if n and not without else None,
        "most_changed": _most_changed(pairs, top),
        **_agreement(first, second, pairs, seed=seed),
        **spoken(first, second, shared, seed=seed, widest=highest - lowest),
    }


def _most_changed(pairs: Sequence[ScorePair], top: int) -> list[dict[str, Any]]:
    changed = [pair for pair in pairs if rounded(pair.difference) != 0]
    ranked = sorted(changed, key=lambda pair: (-rounded(abs(pair.difference)), pair.first.sample_id))
    return [
        {
            "sample": pair.first.sample_id,
            **({} if pair.first.sample_id == pair.second.sample_id else {"in_second": pair.second.sample_id}),
            "first": rounded(pair.scores[0]),
            "second": rounded(pair.scores[1]),
            "difference": rounded(pair.difference),
        }
        for pair in ranked[:top]
    ]


def _agreement(
    first: ComparisonSide, second: ComparisonSide, pairs: Sequence[ScorePair], *, seed: int
) -> dict[str, Any]:
    """How two judges score the same answers by the same criteria, criterion by criterion."""
    same_criteria = same_answers = 0
    gaps: list[int] = []
    clusters: list[str] = []
    answers = 0
    for pair in pairs:
        ours, theirs = (
            {one.repeat: one for one in side.answers[place.sample_id] if one.score is not None}
            for side, place in ((first, pair.first), (second, pair.second))
        )
        both = [(ours[repeat], theirs[repeat]) for repeat in sorted(ours.keys() & theirs.keys())]
        alike = bool(both) and len(both) == len(ours) == len(theirs)
        same_criteria += alike and all(one.same_criteria(other) for one, other in both)
        same_answers += alike and all(one.same_response(other) for one, other in both)
        for one, other in both:
            if one.same_criteria(other) and one.same_response(other):
                answers += 1
                gaps += [abs(a - b) for a, b in zip(one.criteria_scores, other.criteria_scores, strict=True)]
                clusters += [pair.first.cluster] * len(one.criteria_scores)
    told = any(one.criteria is not None for side in (first, second) for each in side.answers.values() for one in each)
    shares = {"same_criteria": same_criteria if told else None, "same_answers": same_answers}
    if not gaps:
        return {**shares, "agreement": None}
    exact = [float(gap == 0) for gap in gaps]
    interval = bootstrap_interval(exact, clusters=clusters, seed=seed, bounds=(0.0, 1.0))
    return {
        **shares,
        "agreement": {
            "answers": answers,
            "criteria": len(gaps),
            "exact": {"share": mean(exact), **limits(interval)},
            "within_one": mean([float(gap <= 1) for gap in gaps]),
            "mean_absolute": mean(gaps),
        },
    }
