"""Two runs, or two models of one, compared sample by sample, by criterion and on parts of the samples."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, TypedDict

from dokimasia.algorithms.statistics import bootstrap_interval, false_discovery_rate
from dokimasia.domain.identity import digest
from dokimasia.domain.judgement import Correctness, correctness_of
from dokimasia.errors import InputError
from dokimasia.report.comparison import (
    AccuracyComparison,
    ChangedItem,
    ChangedSample,
    ComparedMeans,
    ContentComparison,
    CorrectedAnswers,
    CriteriaAgreement,
    PartComparison,
    PartCounts,
    PlanDifference,
    RunComparison,
    ScoreComparison,
    ShareComparison,
    SharedCriteriaComparison,
    SideCounts,
    SideRun,
    UnpairedModels,
)
from dokimasia.report.fields import Bounds, Rate
from dokimasia.runs.catalogue import method_of
from dokimasia.runs.figures import shown_name, simulated_names
from dokimasia.runs.measures import limits, mean, mean_bounds, paired_difference, rounded
from dokimasia.runs.plans import identity
from dokimasia.storage.home import Home
from dokimasia.storage.people.corrections import corrections_of, standing_answers
from dokimasia.storage.results import ResultRow, results
from dokimasia.storage.runs import (
    Run,
    criteria_weights,
    judgement_scores,
    judgement_stated,
    response_texts,
    run_samples,
)
from dokimasia.storage.trees.lookup import criterion_key

Models = tuple[str, str]

Scale = tuple[float, float]
"""The lowest and the highest score."""

ATOMS: Scale = (1.0, 5.0)
"""The scale of scores by atomic criteria."""


@dataclass(frozen=True, slots=True)
class SampleRef:
    """A sample of a run: its name, the digest of its content, and the cluster of those that share its image."""

    sample_id: str
    digest: str
    cluster: str


@dataclass(frozen=True, slots=True)
class ComparedAnswer:
    """One scored or failed answer of one model; `criteria` and `response` tell whether two sets of criteria are the same, and
    whether two answers say the same word for word.

    `correctness` says whether its final answer is right, `stated` the share of the criteria's weight that it speaks to, and
    `criteria_stated` to which of them, whose weights are `weights`.
    """

    sample_id: str
    repeat: int
    score: float | None
    failure: str | None
    response: str | None = None
    criteria: str | None = None
    criteria_scores: tuple[int, ...] = ()
    correctness: Correctness = "failed"
    stated: float | None = None
    criteria_stated: tuple[bool, ...] = ()
    weights: tuple[int, ...] = ()

    @property
    def right(self) -> float | None:
        """1 if the answer is right, 0 if it is wrong; None where neither is decided."""
        return {"right": 1.0, "wrong": 0.0}.get(self.correctness)

    @property
    def strict(self) -> float | None:
        """1 if the answer is right, 0 if it is wrong or undecided; None where the decision failed."""
        return None if self.correctness == "failed" else float(self.correctness == "right")

    @property
    def upper(self) -> float | None:
        """1 if the answer is right or undecided, 0 if it is wrong; None where the decision failed."""
        return None if self.correctness == "failed" else float(self.correctness != "wrong")

    def same_criteria(self, other: "ComparedAnswer") -> bool:
        """Whether both were scored by the same criteria."""
        return self.criteria is not None and self.criteria == other.criteria

    def same_response(self, other: "ComparedAnswer") -> bool:
        """Whether both are scores of the same text, whoever wrote it and wherever it was read."""
        return self.response is not None and self.response == other.response


@dataclass(slots=True)
class ComparisonSide:
    """One model in one run: the run's samples in order, and the model's answers; `scored` unless nobody was there to score."""

    places: Sequence[SampleRef]
    answers: dict[str, list[ComparedAnswer]] = field(default_factory=dict[str, list[ComparedAnswer]])
    scored: bool = True

    @classmethod
    def of(
        cls, places: Sequence[SampleRef], answers: Iterable[ComparedAnswer], *, scored: bool = True
    ) -> "ComparisonSide":
        """Return the side with its answers by sample."""
        side = cls(places, scored=scored)
        for answer in answers:
            side.answers.setdefault(answer.sample_id, []).append(answer)
        return side

    def score(self, place: SampleRef) -> float | None:
        """The mean over the sample's scored repeats; None where none is scored."""
        return self.mean(place, lambda answer: answer.score)

    def mean(self, place: SampleRef, measure: Callable[[ComparedAnswer], float | None]) -> float | None:
        """The mean of a measure over the sample's answers that have it; None where none has."""
        values = [value for answer in self.answers.get(place.sample_id, ()) if (value := measure(answer)) is not None]
        return sum(values) / len(values) if values else None

    def loss(self, place: SampleRef) -> str:
        """Why something is not known of the sample: the kind of its first failure, that it has no result, or neither."""
        answers = self.answers.get(place.sample_id, ())
        failures = [answer.failure for answer in answers if answer.failure is not None]
        return failures[0] if failures else "not known" if answers else "no result"


def loss_reason(
    first: ComparisonSide, second: ComparisonSide, pair: tuple[SampleRef, SampleRef], measured: tuple[object, object]
) -> str:
    """Return why two places of one sample cannot be paired by what was measured at them, None where nothing was."""
    sides = zip(("first", "second"), (first, second), pair, measured, strict=True)
    return "; ".join(f"{name}: {side.loss(place)}" for name, side, place, value in sides if value is None)


def match_places(
    first: Sequence[SampleRef], second: Sequence[SampleRef]
) -> tuple[list[tuple[SampleRef, SampleRef]], Mapping[str, int]]:
    """Pair places by digest; of several with one content, those of one name first, the rest in their order."""
    waiting: dict[str, list[SampleRef]] = {}
    for place in second:
        waiting.setdefault(place.digest, []).append(place)
    partner: dict[str, SampleRef] = {}
    for by_name in (True, False):
        for place in first:
            if place.sample_id in partner:
                continue
            candidates = waiting.get(place.digest, [])
            match = next(
                (candidate for candidate in candidates if not by_name or candidate.sample_id == place.sample_id), None
            )
            if match is not None:
                partner[place.sample_id] = match
                candidates.remove(match)
    shared = [(place, partner[place.sample_id]) for place in first if place.sample_id in partner]
    left = sum(len(places) for places in waiting.values())
    return shared, {"only in the first run": len(first) - len(shared), "only in the second run": left}


class _Means(NamedTuple):
    """What two sides have at one sample, the mean over their answers, and the cluster of the sample."""

    first: float
    second: float
    cluster: str


class _Addressed(NamedTuple):
    """What is compared of answers beside their scores; None where nothing was measured for it."""

    strict_accuracy: AccuracyComparison | None
    stated: ShareComparison | None
    both_stated: SharedCriteriaComparison | None


def compare_addressed(
    first: ComparisonSide,
    second: ComparisonSide,
    shared: Sequence[tuple[SampleRef, SampleRef]],
    *,
    seed: int,
    widest: float,
) -> _Addressed:
    """Return `strict_accuracy`, `stated` and `both_stated` of two sides, those that something was measured for."""
    accuracy = both_stated = None
    strict, compared = _compare_share(first, second, shared, lambda answer: answer.strict, seed=seed)
    if strict is not None:
        accuracy = AccuracyComparison(**dict(strict), **_undecided(first, second, compared))
    stated, _ = _compare_share(first, second, shared, lambda answer: answer.stated, seed=seed)
    if stated is not None:
        means, criteria = _on_both_stated(first, second, shared)
        compared_means = _compared(means, widest=widest, seed=seed)
        both_stated = SharedCriteriaComparison(criteria=criteria, n=len(means), **dict(compared_means))
    return _Addressed(accuracy, stated, both_stated)


def _compare_share(
    first: ComparisonSide,
    second: ComparisonSide,
    shared: Sequence[tuple[SampleRef, SampleRef]],
    measure: Callable[[ComparedAnswer], float | None],
    *,
    seed: int,
) -> tuple[ShareComparison | None, list[tuple[SampleRef, SampleRef]]]:
    """Return a share of two sides over the samples that have it on both, and these; None where none has."""
    means: list[_Means] = []
    compared: list[tuple[SampleRef, SampleRef]] = []
    lost: dict[str, int] = {}
    for place, other in shared:
        one, two = first.mean(place, measure), second.mean(other, measure)
        if one is not None and two is not None:
            means.append(_Means(one, two, place.cluster))
            compared.append((place, other))
        else:
            why = loss_reason(first, second, (place, other), (one, two))
            lost[why] = lost.get(why, 0) + 1
    if not means:
        return None, compared
    compared_means = _compared(means, widest=1.0, seed=seed)
    return ShareComparison(lost=dict(sorted(lost.items())), n=len(means), **dict(compared_means)), compared


class _Undecided(TypedDict):
    n_undecided: SideCounts
    bounds: Bounds


def _undecided(
    first: ComparisonSide, second: ComparisonSide, compared: Sequence[tuple[SampleRef, SampleRef]]
) -> _Undecided:
    """Return how many answers to the samples compared are undecided on each side, and the bounds of the difference by that."""
    counts: list[int] = []
    ends: list[tuple[float, float]] = []
    for side, places in zip((first, second), zip(*compared, strict=True), strict=True):
        answers = [answer for position in places for answer in side.answers[position.sample_id]]
        counts.append(sum(answer.correctness == "undecided" for answer in answers))
        strict, upper = (
            sum(side.mean(position, measure) or 0.0 for position in places) / len(places)
            for measure in (lambda answer: answer.strict, lambda answer: answer.upper)
        )
        ends.append((strict, upper))
    low, high = (rounded(ends[1][end] - ends[0][1 - end]) for end in (0, 1))
    return {"n_undecided": SideCounts(first=counts[0], second=counts[1]), "bounds": Bounds(low=low, high=high)}


def _on_both_stated(
    first: ComparisonSide, second: ComparisonSide, shared: Sequence[tuple[SampleRef, SampleRef]]
) -> tuple[list[_Means], int]:
    """Return the scores on the criteria that both sides' answers of one repeat speak to, and how many criteria these are.

    A criterion that one of the two does not speak to is left out for both. So a model that says little is not compared
    by how much it says, and, since both are asked about the same criteria, not by which it chooses either.
    """
    means: list[_Means] = []
    criteria = 0
    for place, other in shared:
        scores: list[tuple[float, float]] = []
        theirs = {two.repeat: two for two in second.answers.get(other.sample_id, ())}
        for answer in first.answers.get(place.sample_id, ()):
            two = theirs.get(answer.repeat)
            if two is None or not answer.same_criteria(two):
                continue
            both = [
                at
                for at, stated in enumerate(zip(answer.criteria_stated, two.criteria_stated, strict=False))
                if all(stated)
            ]
            if weight := sum(answer.weights[at] for at in both):
                criteria += len(both)
                scores.append((_weighted_scores(answer, both) / weight, _weighted_scores(two, both) / weight))
        if scores:
            ours, others = zip(*scores, strict=True)
            means.append(_Means(sum(ours) / len(ours), sum(others) / len(others), place.cluster))
    return means, criteria


def _weighted_scores(answer: ComparedAnswer, criteria: Sequence[int]) -> int:
    return sum(answer.criteria_scores[at] * answer.weights[at] for at in criteria)


def _compared(means: Sequence[_Means], *, widest: float, seed: int) -> ComparedMeans:
    """Return both sides' means and their paired difference, second minus first."""
    differences = [pair.second - pair.first for pair in means]
    paired = paired_difference(differences, [pair.cluster for pair in means], widest=widest, seed=seed)
    return ComparedMeans(
        first=mean([pair.first for pair in means]), second=mean([pair.second for pair in means]), **dict(paired)
    )


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
    first: ComparisonSide,
    second: ComparisonSide,
    *,
    seed: int,
    top: int = 10,
    scale: Scale = ATOMS,
    models: Models = ("", ""),
) -> ScoreComparison:
    """Return the paired differences of two sides, second minus first.

    Samples are paired by the digest of their content: images, question, options and reference. A sample's score is the
    mean over its scored repeats. What cannot be paired is counted by its reason. Where nobody was there to score a side no
    score is compared, and `lost` does not count by it.

    Args:
        first: one side.
        second: the other.
        seed: of the bootstrap and of the permutations.
        top: how many of the samples that changed most are listed.
        scale: the lowest and the highest score.
        models: what the sides are called.
    """
    shared, unshared = match_places(first.places, second.places)
    pairs: list[ScorePair] = []
    lost = dict(unshared)
    lowest, highest = scale
    low = high = 0.0
    without: list[Literal["first", "second"]] = []
    if not first.scored:
        without.append("first")
    if not second.scored:
        without.append("second")
    for one, other in () if without else shared:
        scores = first.score(one), second.score(other)
        if scores[0] is not None and scores[1] is not None:
            pairs.append(ScorePair(one, other, (scores[0], scores[1])))
            low, high = low + scores[1] - scores[0], high + scores[1] - scores[0]
            continue
        low += (lowest if scores[1] is None else scores[1]) - (highest if scores[0] is None else scores[0])
        high += (highest if scores[1] is None else scores[1]) - (lowest if scores[0] is None else scores[0])
        why = loss_reason(first, second, (one, other), scores)
        lost[why] = lost.get(why, 0) + 1
    n = len(shared)
    means = [_Means(*pair.scores, pair.first.cluster) for pair in pairs]
    addressed = compare_addressed(first, second, shared, seed=seed, widest=highest - lowest)
    same_criteria, same_answers, agreement = _agreement(first, second, pairs, seed=seed)
    return ScoreComparison(
        first_model=models[0],
        second_model=models[1],
        n_shared=n,
        n_paired=len(pairs),
        coverage=rounded(len(pairs) / n) if n and not without else None,
        lost={why: count for why, count in sorted(lost.items()) if count},
        without_scores=tuple(without),
        **dict(_compared(means, widest=highest - lowest, seed=seed)),
        bounds=None if without else mean_bounds(low, high, n),
        most_changed=_most_changed(pairs, top),
        same_criteria=same_criteria,
        same_answers=same_answers,
        agreement=agreement,
        **addressed._asdict(),
    )


def _most_changed(pairs: Sequence[ScorePair], top: int) -> tuple[ChangedSample, ...]:
    changed = [pair for pair in pairs if rounded(pair.difference) != 0]
    ranked = sorted(changed, key=lambda pair: (-rounded(abs(pair.difference)), pair.first.sample_id))
    return tuple(
        ChangedSample(
            sample=pair.first.sample_id,
            in_second=None if pair.first.sample_id == pair.second.sample_id else pair.second.sample_id,
            first=rounded(pair.scores[0]),
            second=rounded(pair.scores[1]),
            difference=rounded(pair.difference),
        )
        for pair in ranked[:top]
    )


def _agreement(
    first: ComparisonSide, second: ComparisonSide, pairs: Sequence[ScorePair], *, seed: int
) -> tuple[int | None, int, CriteriaAgreement | None]:
    """Return in how many pairs the criteria and the answers are the same, and how two judges score the same answers by them."""
    same_criteria = same_answers = 0
    gaps: list[int] = []
    clusters: list[str] = []
    answers = 0
    for pair in pairs:
        ours, theirs = (
            {answer.repeat: answer for answer in side.answers[place.sample_id] if answer.score is not None}
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
    has_criteria = any(
        answer.criteria is not None for side in (first, second) for each in side.answers.values() for answer in each
    )
    criteria_shared = same_criteria if has_criteria else None
    if not gaps:
        return criteria_shared, same_answers, None
    exact = [float(gap == 0) for gap in gaps]
    interval = bootstrap_interval(exact, clusters=clusters, seed=seed, bounds=(0.0, 1.0))
    agreement = CriteriaAgreement(
        answers=answers,
        criteria=len(gaps),
        exact=Rate(share=mean(exact), **limits(interval)),
        within_one=rounded(sum(gap <= 1 for gap in gaps) / len(gaps)),
        mean_absolute=rounded(sum(gaps) / len(gaps)),
    )
    return criteria_shared, same_answers, agreement


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


def match_samples(first: ComparisonSide, second: ComparisonSide) -> list[MatchedSample]:
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
) -> list[PartComparison]:
    """Return the paired differences of two sides on parts of their samples, second minus first, those with a pair alone.

    Scores are compared where both sides were scored, and strict accuracy where one was not.

    Args:
        first: one side.
        second: the other.
        parts: named by samples of the first side.
        seed: of the intervals and tests.
        scale: the lowest and the highest score.

    The p-values are adjusted by Benjamini and Hochberg over all these parts.
    """
    by_score = first.scored and second.scored
    shared, _ = match_places(first.places, second.places)
    compared: list[tuple[PartCounts, ComparedMeans]] = []
    for part in parts:
        own = [(one, other) for one, other in shared if one.sample_id in part.samples]
        means: list[_Means] = []
        for one, other in own:
            ours, theirs = _mean_on_part(first, one, part, by_score), _mean_on_part(second, other, part, by_score)
            if ours is not None and theirs is not None:
                means.append(_Means(ours, theirs, one.cluster))
        if means:
            counts = PartCounts(
                title=part.title,
                depth=part.depth,
                measure="score" if by_score else "strict_accuracy",
                n=len(means),
                n_shared=len(own),
            )
            compared.append((counts, _compared(means, widest=scale[1] - scale[0] if by_score else 1.0, seed=seed)))
    adjusted = false_discovery_rate([means.p_value for _, means in compared if means.p_value is not None])
    return [
        PartComparison(**dict(counts), **dict(means), adjusted=rounded(value))
        for (counts, means), value in zip(compared, adjusted, strict=True)
    ]


class CriterionApart(NamedTuple):
    """A criterion whose scores differ: its sample, as the first side calls it, its set, its number from 1, and the means."""

    sample: str
    criteria: str
    number: int
    weight: int
    first: float
    second: float


def criteria_apart(first: ComparisonSide, second: ComparisonSide, *, top: int) -> list[CriterionApart]:
    """Return the criteria on which the scores of two sides differ most, where both were scored by the same ones.

    The largest differences come first, of equal ones the heavier first.
    """
    apart: list[CriterionApart] = []
    for place, other in match_places(first.places, second.places)[0]:
        ours, theirs = (
            [answer for answer in side.answers.get(at.sample_id, ()) if answer.criteria_scores]
            for side, at in ((first, place), (second, other))
        )
        sets = {our.criteria for our in (*ours, *theirs)}
        if not ours or not theirs or len(sets) != 1:
            continue
        criteria = ours[0].criteria or ""
        for at, weight in enumerate(ours[0].weights or (1,) * len(ours[0].criteria_scores)):
            means = [sum(answer.criteria_scores[at] for answer in each) / len(each) for each in (ours, theirs)]
            if rounded(means[0] - means[1]):
                mean_scores = rounded(means[0]), rounded(means[1])
                apart.append(CriterionApart(place.sample_id, criteria, at + 1, weight, *mean_scores))
    return sorted(
        apart, key=lambda criterion: (-abs(criterion.second - criterion.first), -criterion.weight, criterion.sample)
    )[:top]


def category_parts(samples: Iterable[tuple[str, str]]) -> list[SamplePart]:
    """Return samples by their category, given as pairs of name and category; those without one are in no part."""
    by_category: dict[str, set[str]] = {}
    for name, category in samples:
        if category:
            by_category.setdefault(category, set()).add(name)
    return [SamplePart(category, 0, frozenset(names)) for category, names in sorted(by_category.items())]


def _failure(side: ComparisonSide, place: SampleRef) -> str:
    return next((answer.failure for answer in side.answers.get(place.sample_id, ()) if answer.failure), "")


def _mean_on_part(side: ComparisonSide, place: SampleRef, part: SamplePart, by_score: bool) -> float | None:
    if not by_score:
        return side.mean(place, lambda answer: answer.strict)
    return side.mean(place, lambda answer: _within(answer, part)) if part.criteria else side.score(place)


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


LISTED = 20
"""Items of other content that are named, at most."""


def compare_runs(
    home: Home,
    first: Run,
    second: Run,
    *,
    models: Models | None = None,
    top: int = 10,
    seed: int | None = None,
    read: Callable[[Home, Run], Mapping[str, ComparisonSide]] | None = None,
) -> RunComparison:
    """Return the paired differences of two runs, second minus first; equal rows give equal bytes.

    Scores are on the scale that the method's figures are shown in.

    Args:
        home: where both runs are.
        first: one run.
        second: the other of the same method, or the same.
        models: a model of the first run and one of the second, as they are shown (`NAME#blind` for the arm without the
            image); by default every model of the same name.
        top: how many of the samples that changed most are listed for each pair.
        seed: of the intervals and the tests; by default that of the first run.
        read: gives each model's answers of a run, by default `sides_of`.

    Raises:
        InputError: there is nothing to pair, or the runs are of two methods or of one that is not compared.
    """
    method = method_of(first)
    if isinstance(method.diff, str):
        raise InputError(f"{method.title} is not compared so: {method.diff}")
    if first.method != second.method:
        raise InputError(
            f"run {first.id} is {method.title} and run {second.id} is {method_of(second).title}: compare two of one kind"
        )
    plans = [method.read(run)[0] for run in (first, second)]
    scale = method.scale and (method.scale[0] * method.shown, method.scale[1] * method.shown)
    both = {first.id: first, second.id: second}.values()
    sides: dict[str, Mapping[str, ComparisonSide]] = {}
    rows: dict[str, list[ResultRow]] = {}
    if scale:
        sides = {run.id: (read or sides_of)(home, run) for run in both}
    else:
        rows = {run.id: results(home, run.id, kind=method.row_kind) for run in both}
    names = [sorted(sides[run.id]) if scale else _models(rows[run.id]) for run in (first, second)]
    _check(first, second, names, models)
    wanted = [models] if models is not None else [(name, name) for name in names[0] if name in names[1]]
    seed = first.seed if seed is None else seed
    versions = [{"versions": run.options["versions"]} for run in (first, second)]
    identities = [identity(plan) | version for plan, version in zip(plans, versions, strict=True)]
    pairs: list[ScoreComparison | ContentComparison] = []
    for pair in wanted:
        if scale is None:
            pairs.append(_contents(home, (first, second), (rows[first.id], rows[second.id]), pair))
            continue
        ours, theirs = sides[first.id][pair[0]], sides[second.id][pair[1]]
        comparison = compare(ours, theirs, seed=seed, top=top, scale=scale, models=pair)
        if first.id == second.id:
            comparison = comparison.model_copy(update={"agreement": None})
        pairs.append(comparison)
    return RunComparison(
        first=SideRun(run=first.id, status=first.status, judge=plans[0].judge_name),
        second=SideRun(run=second.id, status=second.status, judge=plans[1].judge_name),
        corrected=_corrected(home, first, second),
        simulated=tuple(simulated_names(spec for plan in plans for spec in plan.models.values())),
        seed=seed,
        scored_by=None if scale is None else "criteria" if method.rubrics is None else "rubrics",
        scale=scale,
        differs=tuple(_differences(*identities)),
        pairs=tuple(pairs),
        unpaired=UnpairedModels(
            first=tuple(name for name in names[0] if name not in {model for model, _ in wanted}),
            second=tuple(name for name in names[1] if name not in {other for _, other in wanted}),
        ),
    )


def _corrected(home: Home, first: Run, second: Run) -> dict[str, CorrectedAnswers] | None:
    """Return how many answers of each run people corrected, and how many samples they left out; None without any."""
    counts: dict[str, CorrectedAnswers] = {}
    for name, run in (("first", first), ("second", second)):
        stands = corrections_of(home, run.id)
        answers = len(standing_answers(home, run.id, stands))
        counts[name] = CorrectedAnswers(answers=answers, left_out=len(stands.left_out))
    return counts if any(count.answers or count.left_out for count in counts.values()) else None


def _models(rows: Sequence[ResultRow]) -> list[str]:
    return sorted({shown_name(row.model, row.arm) for row in rows})


def _check(first: Run, second: Run, names: Sequence[Sequence[str]], models: Models | None) -> None:
    ours, theirs = names
    for run, known in ((first, ours), (second, theirs)):
        if not known:
            way = (
                "it is empty"
                if run.status == "done"
                else f"it is {run.status}: dokimasia resume {run.id} goes on with it"
            )
            raise InputError(f"run {run.id} has no result to compare yet; {way}")
    if models is None:
        if first.id == second.id:
            raise InputError(
                f"run {first.id} does not differ from itself; compare two of its models with --models A,B "
                f"({', '.join(ours)})"
            )
        if not set(ours) & set(theirs):
            raise InputError(
                f"no model is in both runs: {first.id} has {', '.join(ours)}; {second.id} has {', '.join(theirs)}. "
                "Pair one of each with --models A,B"
            )
        return
    for name, run, known in ((models[0], first, ours), (models[1], second, theirs)):
        if name not in known:
            raise InputError(f"run {run.id} has no results of {name!r}; it has those of {', '.join(known)}")
    if first.id == second.id and models[0] == models[1]:
        raise InputError(f"{models[0]} does not differ from itself in run {first.id}; name two models")


def sides_of(home: Home, run: Run) -> dict[str, ComparisonSide]:
    """Return each model's answers with their scores, on the scale that the method's figures are shown in, by its shown name."""
    places, scores = _places(home, run), judgement_scores(home, run.id)
    stated, weights = judgement_stated(home, run.id), criteria_weights(home, run.id)
    texts = {id: digest("text", text) for id, text in response_texts(home, run.id)}
    method = method_of(run)
    rows, judged = results(home, run.id, kind=method.row_kind), bool(method.read(run)[0].judge_name)
    rubrics = None if method.rubrics is None else method.rubrics(home, run)
    answers: dict[str, list[ComparedAnswer]] = {}
    for row in rows:
        answer = answer_of(row, scores, stated, weights, texts)
        if rubrics is not None:
            answer = replace(answer, criteria=rubrics[row.sample_id])
        if answer.score is not None:
            answer = replace(answer, score=answer.score * method.shown)
        answers.setdefault(shown_name(row.model, row.arm), []).append(answer)
    scored = judged or any(row.score is not None for row in rows)
    return {
        name: ComparisonSide.of(_samples_answered(run, places, listed), listed, scored=scored)
        for name, listed in sorted(answers.items())
    }


def answer_of(
    row: ResultRow,
    scores: Mapping[str, tuple[int, ...]],
    stated: Mapping[str, tuple[bool, ...]],
    weights: Mapping[str, tuple[int, ...]],
    texts: Mapping[str, str] = {},
) -> ComparedAnswer:
    """Return a row as an answer that is compared, with the scores of its judgement and the weights of its criteria.

    `texts` are what tells the texts of responses apart, by the response's id; without them no two answers are the same.
    """
    return ComparedAnswer(
        sample_id=row.sample_id or row.item,
        repeat=row.repeat,
        score=row.score,
        failure=row.failure,
        response=texts.get(row.response_id or ""),
        criteria=row.criteria_id,
        criteria_scores=scores.get(row.judgement_id or "", ()),
        correctness=correctness_of(row.verdict, row.failure),
        stated=row.stated,
        criteria_stated=stated.get(row.judgement_id or "", ()),
        weights=weights.get(row.criteria_id or "", ()),
    )


def _samples_answered(run: Run, places: Sequence[SampleRef], answers: Sequence[ComparedAnswer]) -> Sequence[SampleRef]:
    """Return the samples that have items of a model: in a run that is done all others were not asked about.

    The items of a run that has no samples are paired by their names.
    """
    if not places:
        return [SampleRef(answer.sample_id, answer.sample_id, answer.sample_id) for answer in answers]
    if run.status != "done":
        return places
    named = {answer.sample_id for answer in answers}
    return [position for position in places if position.sample_id in named]


def _places(home: Home, run: Run) -> list[SampleRef]:
    return [SampleRef(sample.sample_id, sample.digest, sample.cluster) for sample in run_samples(home, run.id)]


def _contents(
    home: Home, runs: tuple[Run, Run], rows: tuple[Sequence[ResultRow], Sequence[ResultRow]], models: Models
) -> ContentComparison:
    """Return how many items came to the same in two runs without scores, and which did not."""
    ours, theirs = (
        {(row.sample_id, row.repeat): row for row in listed if shown_name(row.model, row.arm) == name}
        for listed, name in zip(rows, models, strict=True)
    )
    shared, _ = match_places(*(_places(home, run) for run in runs))
    partner = {one.sample_id: other.sample_id for one, other in shared}
    same = 0
    different: list[ChangedItem] = []
    for (sample, repeat), row in ours.items():
        other = theirs.get((partner.get(sample, sample), repeat))
        if other is None:
            continue
        alike = (row.outcome, row.failure, row.value_ids) == (other.outcome, other.failure, other.value_ids)
        same += alike
        if not alike:
            ends = [result.failure or result.outcome for result in (row, other)]
            different.append(ChangedItem(sample=sample or row.item, first=ends[0], second=ends[1]))
    failed = [sum(row.failure is not None for row in listed.values()) for listed in (ours, theirs)]
    return ContentComparison(
        first_model=models[0],
        second_model=models[1],
        n_shared=same + len(different),
        same=same,
        different=len(different),
        failed=SideCounts(first=failed[0], second=failed[1]),
        items=tuple(different[:LISTED]),
    )


def _differences(first: Mapping[str, Any], second: Mapping[str, Any]) -> Iterator[PlanDifference]:
    """Yield what differs between two plans' identities, each by its name, such as `judge.name` or `prompts.solver`."""
    names = [{candidate["name"] for candidate in plan.get("candidates", ())} for plan in (first, second)]
    alone = names[0] ^ names[1]
    ours, theirs = (_flat(_without(plan, alone)) for plan in (first, second))
    for what in sorted(ours.keys() | theirs.keys()):
        one, other = _of(ours, what), _of(theirs, what)
        if what not in {"fresh", "fork", "fork.redone", "fork.taken"} and one != other:
            yield PlanDifference(what=what, first=one, second=other)


def _of(flat: Mapping[str, Any], what: str) -> Any:
    """Return what an identity says; a step for which a fork names no judge of its own is served by the run's judge."""
    if what not in flat and what.startswith("judges."):
        return flat.get(f"judge.{what.split('.', 2)[2]}")
    return flat.get(what)


def _without(plan: Mapping[str, Any], models: set[str]) -> dict[str, Any]:
    """Return an identity without some candidates: that only one of two runs has them is said elsewhere."""
    if "candidates" not in plan:
        return dict(plan)
    return {**plan, "candidates": [candidate for candidate in plan["candidates"] if candidate["name"] not in models]}


def _flat(value: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return a nested mapping as one level; a list of named things is taken apart by name."""
    flat: dict[str, Any] = {}
    for key, inner in value.items():
        name = f"{prefix}{key}"
        if (
            isinstance(inner, Sequence)
            and inner
            and all(isinstance(candidate, Mapping) and "name" in candidate for candidate in inner)
        ):
            inner = {candidate["name"]: candidate for candidate in inner}
        if isinstance(inner, Mapping):
            flat |= _flat(inner, f"{name}.")
        else:
            flat[name] = inner
    return flat
