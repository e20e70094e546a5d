"""Paired differences between two sets of answers to the same samples: how large, how sure, where, and how judges agree."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from dokimasia.algorithms.statistics import bootstrap_interval
from dokimasia.algorithms.statistics.paired import sign_flip_test
from dokimasia.runs.reading.rates import rounded

Scale = tuple[float, float]
"""The lowest and the highest score."""

ATOMS: Scale = (1.0, 5.0)
"""The scale of scores by atomic criteria."""


@dataclass(frozen=True, slots=True)
class Place:
    """A sample of a run: its name, the digest of its content, and the cluster of those that share its image."""

    sample_id: str
    digest: str
    cluster: str


@dataclass(frozen=True, slots=True)
class Answer:
    """One scored or failed answer of one model; the ids tell whether two answers, or two sets of criteria, are the same.

    `right` says whether its final answer is right (None: not known), `stated` the share of the criteria's weight that it
    speaks to, and `criteria_stated` to which of them, whose weights are `weights`.
    """

    sample_id: str
    repeat: int
    score: float | None
    failure: str | None
    response: str | None = None
    criteria: str | None = None
    criteria_scores: tuple[int, ...] = ()
    right: bool | None = None
    stated: float | None = None
    criteria_stated: tuple[bool, ...] = ()
    weights: tuple[int, ...] = ()


@dataclass(slots=True)
class Side:
    """One model in one run: the run's samples in order, and the model's answers."""

    places: Sequence[Place]
    answers: dict[str, list[Answer]] = field(default_factory=dict[str, list[Answer]])

    @classmethod
    def of(cls, places: Sequence[Place], answers: Iterable[Answer]) -> "Side":
        """Return the side with its answers by sample."""
        side = cls(places)
        for answer in answers:
            side.answers.setdefault(answer.sample_id, []).append(answer)
        return side

    def score(self, place: Place) -> float | None:
        """The mean over the sample's scored repeats; None where none is scored."""
        scores = [one.score for one in self.answers.get(place.sample_id, ()) if one.score is not None]
        return sum(scores) / len(scores) if scores else None

    def mean(self, place: Place, measure: Callable[[Answer], float | None]) -> float | None:
        """The mean of a measure over the sample's answers that have it; None where none has."""
        values = [value for one in self.answers.get(place.sample_id, ()) if (value := measure(one)) is not None]
        return sum(values) / len(values) if values else None

    def loss(self, place: Place) -> str:
        """Why the sample has no score: the kind of its first failure, or that it has no result."""
        failures = [one.failure for one in self.answers.get(place.sample_id, ()) if one.failure is not None]
        return failures[0] if failures else "no result"


class Pair(NamedTuple):
    """One sample in both runs, with both scores."""

    first: Place
    second: Place
    scores: tuple[float, float]

    @property
    def difference(self) -> float:
        """Second minus first."""
        return self.scores[1] - self.scores[0]


def compare(first: Side, second: Side, *, seed: int, top: int = 10, scale: Scale = ATOMS) -> dict[str, Any]:
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
        first and second (mean scores over the pairs), difference {mean, low, high} (95 % bootstrap clustered by
        shared images), bounds {low, high} (of the mean difference over all shared samples, whatever the failed ones
        would have scored), right and stated (of the samples where it is known on both sides: n, the share of answers
        that are right, or of the weight spoken to, of first and second, difference, p_value; left out where no answer has
        it), both_stated (the same for the score on the criteria that both speak to, with their number `criteria`), p_value
        with permutations {patterns, exact} (two-sided sign flips of whole clusters), changed
        {higher, equal, lower}, most_changed (with both scores), same_criteria and same_answers (pairs in which all is
        the same on both sides), agreement (of the criteria scores where both are the same; None without such). What
        nothing was measured for is None.
    """
    shared, unshared = match_places(first.places, second.places)
    pairs: list[Pair] = []
    lost = dict(unshared)
    lowest, highest = scale
    low = high = 0.0
    for one, other in shared:
        scores = first.score(one), second.score(other)
        if scores[0] is not None and scores[1] is not None:
            pairs.append(Pair(one, other, (scores[0], scores[1])))
            low, high = low + scores[1] - scores[0], high + scores[1] - scores[0]
            continue
        low += (lowest if scores[1] is None else scores[1]) - (highest if scores[0] is None else scores[0])
        high += (highest if scores[1] is None else scores[1]) - (lowest if scores[0] is None else scores[0])
        why = "; ".join(
            f"{name}: {side.loss(place)}"
            for name, side, place, score in (("first", first, one, scores[0]), ("second", second, other, scores[1]))
            if score is None
        )
        lost[why] = lost.get(why, 0) + 1
    n = len(shared)
    differences = [pair.difference for pair in pairs]
    return {
        "n_shared": n,
        "n_paired": len(pairs),
        "coverage": _round(len(pairs) / n) if n else None,
        "lost": {why: count for why, count in sorted(lost.items()) if count},
        "first": _mean([pair.scores[0] for pair in pairs]),
        "second": _mean([pair.scores[1] for pair in pairs]),
        **_significance(differences, [pair.first.cluster for pair in pairs], widest=highest - lowest, seed=seed),
        "bounds": {"low": _round(low / n), "high": _round(high / n)} if n else None,
        "changed": {
            "higher": sum(_round(one) > 0 for one in differences),
            "equal": sum(_round(one) == 0 for one in differences),
            "lower": sum(_round(one) < 0 for one in differences),
        },
        "most_changed": _most_changed(pairs, top),
        **_agreement(first, second, pairs, seed=seed),
        **_spoken(first, second, shared, seed=seed, widest=highest - lowest),
    }


def match_places(
    first: Sequence[Place], second: Sequence[Place]
) -> tuple[list[tuple[Place, Place]], Mapping[str, int]]:
    """Pair places by digest; of several with one content, those of one name first, the rest in their order."""
    waiting: dict[str, list[Place]] = {}
    for place in second:
        waiting.setdefault(place.digest, []).append(place)
    partner: dict[str, Place] = {}
    for by_name in (True, False):
        for place in first:
            if place.sample_id in partner:
                continue
            candidates = waiting.get(place.digest, [])
            found = next((one for one in candidates if not by_name or one.sample_id == place.sample_id), None)
            if found is not None:
                partner[place.sample_id] = found
                candidates.remove(found)
    shared = [(place, partner[place.sample_id]) for place in first if place.sample_id in partner]
    left = sum(len(places) for places in waiting.values())
    return shared, {"only in the first run": len(first) - len(shared), "only in the second run": left}


def _significance(differences: Sequence[float], clusters: Sequence[str], *, widest: float, seed: int) -> dict[str, Any]:
    if not differences:
        return {"difference": None, "p_value": None, "permutations": None}
    interval = bootstrap_interval(differences, clusters=clusters, seed=seed, bounds=(-widest, widest))
    test = sign_flip_test(differences, clusters=clusters, seed=seed)
    return {
        "difference": {"mean": _mean(differences), "low": _round(interval.low), "high": _round(interval.high)},
        "p_value": _round(test.p_value),
        "permutations": {"patterns": test.patterns, "exact": test.exact},
    }


def _most_changed(pairs: Sequence[Pair], top: int) -> list[dict[str, Any]]:
    changed = [pair for pair in pairs if _round(pair.difference) != 0]
    ranked = sorted(changed, key=lambda pair: (-_round(abs(pair.difference)), pair.first.sample_id))
    return [
        {
            "sample": pair.first.sample_id,
            **({} if pair.first.sample_id == pair.second.sample_id else {"in_second": pair.second.sample_id}),
            "first": _round(pair.scores[0]),
            "second": _round(pair.scores[1]),
            "difference": _round(pair.difference),
        }
        for pair in ranked[:top]
    ]


def _agreement(first: Side, second: Side, pairs: Sequence[Pair], *, seed: int) -> dict[str, Any]:
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
        same_criteria += alike and all(_same(one.criteria, other.criteria) for one, other in both)
        same_answers += alike and all(_same(one.response, other.response) for one, other in both)
        for one, other in both:
            if _same(one.criteria, other.criteria) and _same(one.response, other.response):
                answers += 1
                gaps += [abs(a - b) for a, b in zip(one.criteria_scores, other.criteria_scores, strict=True)]
                clusters += [pair.first.cluster] * len(one.criteria_scores)
    shares = {"same_criteria": same_criteria, "same_answers": same_answers}
    if not gaps:
        return {**shares, "agreement": None}
    exact = [float(gap == 0) for gap in gaps]
    interval = bootstrap_interval(exact, clusters=clusters, seed=seed, bounds=(0.0, 1.0))
    return {
        **shares,
        "agreement": {
            "answers": answers,
            "criteria": len(gaps),
            "exact": {"share": _mean(exact), "low": _round(interval.low), "high": _round(interval.high)},
            "within_one": _mean([float(gap <= 1) for gap in gaps]),
            "mean_absolute": _mean(gaps),
        },
    }


def _same(one: str | None, other: str | None) -> bool:
    return one is not None and one == other


def _spoken(
    first: Side, second: Side, shared: Sequence[tuple[Place, Place]], *, seed: int, widest: float
) -> dict[str, Any]:
    """Compare two sides by right answers, by how much they speak to, and by how they score on what both speak to."""
    found: dict[str, Any] = {}
    measures: dict[str, Callable[[Answer], float | None]] = {
        "right": lambda one: None if one.right is None else float(one.right),
        "stated": lambda one: one.stated,
    }
    for name, measure in measures.items():
        pairs: list[tuple[float, float, str]] = []
        for place, other in shared:
            one, two = first.mean(place, measure), second.mean(other, measure)
            if one is not None and two is not None:
                pairs.append((one, two, place.cluster))
        if pairs:
            found[name] = _compared(
                [one for one, _, _ in pairs], [two for _, two, _ in pairs], [c for *_, c in pairs], seed=seed
            )
    if "stated" in found:
        found["both_stated"] = _on_both_stated(first, second, shared, seed=seed, widest=widest)
    return found


def _on_both_stated(
    first: Side, second: Side, shared: Sequence[tuple[Place, Place]], *, seed: int, widest: float
) -> dict[str, Any]:
    """Compare the scores, by weight, on the criteria that the answers of one repeat speak to on both sides."""
    ours: list[float] = []
    theirs: list[float] = []
    clusters: list[str] = []
    criteria = 0
    for place, other in shared:
        means: list[tuple[float, float]] = []
        seconds = {one.repeat: one for one in second.answers.get(other.sample_id, ())}
        for one in first.answers.get(place.sample_id, ()):
            two = seconds.get(one.repeat)
            if (
                two is None
                or not _same(one.criteria, two.criteria)
                or not one.criteria_stated
                or not two.criteria_stated
            ):
                continue
            both = [at for at, told in enumerate(one.criteria_stated) if told and two.criteria_stated[at]]
            weight = sum(one.weights[at] for at in both)
            if weight:
                criteria += len(both)
                scored = (sum(side.criteria_scores[at] * side.weights[at] for at in both) for side in (one, two))
                mine, other_mean = (total / weight for total in scored)
                means.append((mine, other_mean))
        if means:
            ours.append(sum(one for one, _ in means) / len(means))
            theirs.append(sum(two for _, two in means) / len(means))
            clusters.append(place.cluster)
    return {"criteria": criteria, **_compared(ours, theirs, clusters, seed=seed, widest=widest)}


def _compared(
    first: Sequence[float], second: Sequence[float], clusters: Sequence[str], *, seed: int, widest: float = 1.0
) -> dict[str, Any]:
    """Return both means and their paired difference, second minus first."""
    differences = [two - one for one, two in zip(first, second, strict=True)]
    return {
        "n": len(differences),
        "first": _mean(first),
        "second": _mean(second),
        **_significance(differences, clusters, widest=widest, seed=seed),
    }


def _mean(values: Sequence[float]) -> float | None:
    return _round(sum(values) / len(values)) if values else None


def _round(value: float) -> float:
    return rounded(value) + 0.0
