"""Comparison of two runs, or of two models of one: by sample, by criterion, and on parts of the samples."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from math import isnan
from typing import Literal, NamedTuple, TypedDict, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import JsonValue

from dokimasia.algorithms.statistics import bootstrap_interval, false_discovery_rate
from dokimasia.algorithms.statistics.clusters import ClusterNames, Floats, Positions, group_means, total
from dokimasia.domain.differences import DIRECTION
from dokimasia.domain.identity import JsonObject, digest, natural_order
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
from dokimasia.runs.measures import limits, mean, mean_bounds, paired_difference, rounded, unrounded_mean
from dokimasia.runs.plans import identity
from dokimasia.storage.home import Home
from dokimasia.storage.people.corrections import corrections_of, count_standing
from dokimasia.storage.results import ResultRow, results
from dokimasia.storage.runs import (
    NOT_JUDGED,
    JudgedCriteria,
    Run,
    criteria_weights,
    judged_criteria,
    response_texts,
    run_samples,
)
from dokimasia.storage.trees.lookup import criterion_key
from dokimasia.storage.usage import ScoredAnswer

Models = tuple[str, str]

T = TypeVar("T", np.float64, np.int64)

Scale = tuple[float, float]
"""The lowest and the highest score."""

ATOMS: Scale = (1.0, 5.0)
"""The scale of scores by atomic criteria."""


@dataclass(frozen=True, slots=True)
class SampleRef:
    """A sample of a run: its id, the digest of its content, and the cluster of samples that share its image."""

    sample_id: str
    digest: str
    cluster: str


class ComparedAnswer(NamedTuple):
    """One scored or failed answer of one model.

    Equal `criteria` mean the same criteria set, and equal `response` the same text. `correctness` states whether the
    final answer is right, `stated` is the share of the criteria's weight that the answer addresses, `criteria_stated`
    marks the criteria it addresses, and `weights` are their weights.
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

    @classmethod
    def of(
        cls,
        row: ResultRow | ScoredAnswer,
        judgements: Mapping[str, JudgedCriteria],
        weights: Mapping[str, tuple[int, ...]],
    ) -> "ComparedAnswer":
        """Return the answer of a row without its text, with the run's judgements and weights of its criteria."""
        judged = judgements.get(row.judgement_id or "", NOT_JUDGED)
        return cls(
            sample_id=row.sample_id or row.item,
            repeat=row.repeat,
            score=row.score,
            failure=row.failure,
            criteria=row.criteria_id,
            criteria_scores=judged.scores,
            correctness=correctness_of(row.verdict, row.failure),
            stated=row.stated,
            criteria_stated=judged.stated,
            weights=weights.get(row.criteria_id or "", ()),
        )

    @property
    def right(self) -> float | None:
        """1 if the answer is right, 0 if it is wrong; None if undecided or failed."""
        return {"right": 1.0, "wrong": 0.0}.get(self.correctness)

    def same_criteria(self, other: "ComparedAnswer") -> bool:
        """Return whether both answers were scored by the same criteria."""
        return self.criteria is not None and self.criteria == other.criteria

    def same_response(self, other: "ComparedAnswer") -> bool:
        """Return whether both answers have the same text."""
        return self.response is not None and self.response == other.response


Integers = NDArray[np.int64]

AnswerMeasure = Literal["score", "stated", "right", "strict", "upper"]
"""What is measured of an answer: its score, the share that it addresses, or one of `WORTH`."""

CORRECTNESS: Sequence[Correctness] = ("right", "wrong", "undecided", "failed")

WORTH: Mapping[AnswerMeasure, Floats] = {
    "right": np.array([1.0, 0.0, np.nan, np.nan]),
    "strict": np.array([1.0, 0.0, 0.0, np.nan]),
    "upper": np.array([1.0, 0.0, 1.0, np.nan]),
}
"""The value of an answer of each `CORRECTNESS`: an undecided answer is missing, counts as not right, or as right."""


@dataclass(slots=True)
class ComparisonSide:
    """One model in one run: the run's samples in order, and the model's answers; `scored` is false without a judge.

    A side takes part in many comparisons, so what it contributes to each is computed once, as arrays by sample.
    """

    places: Sequence[SampleRef]
    answers: dict[str, list[ComparedAnswer]] = field(default_factory=dict[str, list[ComparedAnswer]])
    scored: bool = True
    _measured: dict[AnswerMeasure, Floats] = field(
        default_factory=dict[AnswerMeasure, Floats], init=False, repr=False, compare=False
    )
    _positions: dict[str, int] | None = field(default=None, init=False, repr=False, compare=False)
    _clusters: Positions | None = field(default=None, init=False, repr=False, compare=False)
    _columns: "_AnswerColumns | None" = field(default=None, init=False, repr=False, compare=False)
    _by_repeat: "dict[str, dict[int, ComparedAnswer]] | None" = field(
        default=None, init=False, repr=False, compare=False
    )

    @classmethod
    def of(
        cls, places: Sequence[SampleRef], answers: Iterable[ComparedAnswer], *, scored: bool = True
    ) -> "ComparisonSide":
        """Return the side with the answers grouped by sample; they do not change afterwards."""
        side = cls(places, scored=scored)
        for answer in answers:
            side.answers.setdefault(answer.sample_id, []).append(answer)
        return side

    def score(self, place: SampleRef) -> float | None:
        """Return the mean score over the sample's scored repeats; None if there are none."""
        return self.mean(place, "score")

    def mean(self, place: SampleRef, measure: AnswerMeasure) -> float | None:
        """Return the mean of a measure over the sample's answers that have it; None if none has."""
        position = self.positions.get(place.sample_id)
        if position is None:
            return None
        value = float(self.column(measure)[position])
        return None if isnan(value) else value

    def column(self, measure: AnswerMeasure) -> Floats:
        """Return the mean of a measure over the answers to each sample of the side; NaN if none has it."""
        column = self._measured.get(measure)
        if column is None:
            means = group_means(self.columns.measured(measure), self.columns.samples, len(self.places))
            column = self._measured[measure] = self._by_place(means)
        return column

    def _by_place(self, column: NDArray[T]) -> NDArray[T]:
        """Return a column for all places: sample names may repeat, and the answers are those of the last occurrence."""
        if len(self.positions) == len(self.places):
            return column
        return column[[self.positions[place.sample_id] for place in self.places]]

    def values(self, measure: AnswerMeasure, places: Iterable[SampleRef]) -> Floats:
        """Return the mean of a measure over the answers to each of these samples; NaN if none has it."""
        return self.column(measure)[[self.positions[place.sample_id] for place in places]]

    @property
    def positions(self) -> dict[str, int]:
        """The position of each sample on the side, by name."""
        if self._positions is None:
            self._positions = {place.sample_id: position for position, place in enumerate(self.places)}
        return self._positions

    @property
    def clusters(self) -> Positions:
        """The cluster of each sample as a number from 0."""
        if self._clusters is None:
            numbers = {cluster: number for number, cluster in enumerate({place.cluster: None for place in self.places})}
            self._clusters = np.array([numbers[place.cluster] for place in self.places], dtype=np.intp)
        return self._clusters

    @property
    def undecided(self) -> Integers:
        """The number of undecided answers to each sample."""
        columns, undecided = self.columns, CORRECTNESS.index("undecided")
        samples = columns.samples[columns.correctness == undecided]
        return self._by_place(np.bincount(samples, minlength=len(self.places)))

    @property
    def scored_answers(self) -> dict[str, dict[int, ComparedAnswer]]:
        """The answers with a score, by sample and repeat."""
        if self._by_repeat is None:
            self._by_repeat = {
                sample: {answer.repeat: answer for answer in answers if answer.score is not None}
                for sample, answers in self.answers.items()
            }
        return self._by_repeat

    @property
    def columns(self) -> "_AnswerColumns":
        """The answers to the samples of the side, by column."""
        if self._columns is None:
            self._columns = _AnswerColumns.of(self.positions, self.answers)
        return self._columns

    def loss(self, place: SampleRef) -> str:
        """Return why a measure of the sample is missing: the kind of its first failure, `no result` or `not known`."""
        answers = self.answers.get(place.sample_id, ())
        failures = [answer.failure for answer in answers if answer.failure is not None]
        if failures:
            return failures[0]
        if answers:
            return "not known"
        return "no result"


@dataclass(frozen=True, slots=True)
class _AnswerColumns:
    """The answers of a side by column, with their criteria in flat arrays.

    Answer i is to the sample at position `samples[i]`. `numbers` has the i of each sample position and repeat, whose
    columns are in `repeats`; -1 without an answer. Answer i has `lengths[i]` criteria from `starts[i]` on, of the set
    `sets[i]` (empty for none): whether it addresses each, its score and its weight. `named` states whether any answer
    has criteria, `worded` whether any has a text.
    """

    samples: Positions
    correctness: Positions
    own_scores: Floats
    own_stated: Floats
    numbers: Positions
    repeats: Mapping[int, int]
    sets: NDArray[np.str_]
    starts: Integers
    lengths: Integers
    stated: NDArray[np.bool_]
    scores: Integers
    weights: Integers
    named: bool
    worded: bool

    @classmethod
    def of(cls, positions: Mapping[str, int], answers: Mapping[str, Sequence[ComparedAnswer]]) -> "_AnswerColumns":
        """Return the columns of answers by sample, for the given sample positions."""
        all_answers = [answer for sample, of_sample in answers.items() if sample in positions for answer in of_sample]
        samples = np.array([positions[answer.sample_id] for answer in all_answers], dtype=np.intp)
        repeats = {repeat: column for column, repeat in enumerate(sorted({answer.repeat for answer in all_answers}))}
        numbers = np.full((max(positions.values(), default=-1) + 1, len(repeats)), -1, dtype=np.intp)
        numbers[samples, [repeats[answer.repeat] for answer in all_answers]] = np.arange(len(all_answers))
        sizes = [len(answer.criteria_stated) for answer in all_answers]
        lengths = np.array(sizes, dtype=np.int64)

        def flat(values: Iterable[Sequence[int]]) -> Integers:
            return np.array(list(chain.from_iterable(values)), dtype=np.int64)

        return cls(
            samples,
            np.array([CORRECTNESS.index(answer.correctness) for answer in all_answers], dtype=np.intp),
            np.array([answer.score for answer in all_answers], dtype=np.float64),
            np.array([answer.stated for answer in all_answers], dtype=np.float64),
            numbers,
            repeats,
            np.array([answer.criteria or "" for answer in all_answers], dtype=np.str_),
            np.cumsum(lengths) - lengths,
            lengths,
            flat(answer.criteria_stated for answer in all_answers).astype(np.bool_),
            flat(answer.criteria_scores[:size] for answer, size in zip(all_answers, sizes, strict=True)),
            flat(answer.weights[:size] for answer, size in zip(all_answers, sizes, strict=True)),
            any(answer.criteria is not None for answer in all_answers),
            any(answer.response is not None for answer in all_answers),
        )

    def measured(self, measure: AnswerMeasure) -> Floats:
        """Return a measure of each answer; NaN if missing."""
        if measure == "score":
            return self.own_scores
        if measure == "stated":
            return self.own_stated
        return WORTH[measure][self.correctness]


def loss_reason(
    first: ComparisonSide, second: ComparisonSide, pair: tuple[SampleRef, SampleRef], measured: tuple[object, object]
) -> str:
    """Return why a sample cannot be paired: the side without a measured value (None), and its reason."""
    sides = zip(("first", "second"), (first, second), pair, measured, strict=True)
    return "; ".join(f"{name}: {side.loss(place)}" for name, side, place, value in sides if value is None)


UNSHARED: Mapping[str, int] = {"only in the first run": 0, "only in the second run": 0}
"""The counts of samples that only one of two sides has, for sides with the same samples."""


def match_places(
    first: Sequence[SampleRef], second: Sequence[SampleRef]
) -> tuple[list[tuple[SampleRef, SampleRef]], Mapping[str, int]]:
    """Return pairs of samples with the same digest (matching ids first, then in order), and the counts
    of the others.
    """
    if first == second:
        return [(place, place) for place in first], UNSHARED
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
    unmatched = sum(len(places) for places in waiting.values())
    return shared, {"only in the first run": len(first) - len(shared), "only in the second run": unmatched}


class _Shared(NamedTuple):
    """Paired samples of two sides: their positions on each side, and their clusters as numbers."""

    first: Positions
    second: Positions
    clusters: Positions

    def only(self, chosen: NDArray[np.bool_] | Positions) -> "_Shared":
        """Return the chosen pairs."""
        return _Shared(self.first[chosen], self.second[chosen], self.clusters[chosen])


def _share(first: ComparisonSide, second: ComparisonSide) -> tuple[_Shared, Mapping[str, int]]:
    """Return the paired samples of two sides, and the counts of the others."""
    if first.places == second.places:
        every = np.arange(len(first.places), dtype=np.intp)
        return _Shared(every, every, first.clusters), UNSHARED
    pairs, unshared = match_places(first.places, second.places)
    ours = np.array([first.positions[place.sample_id] for place, _ in pairs], dtype=np.intp)
    theirs = np.array([second.positions[place.sample_id] for _, place in pairs], dtype=np.intp)
    return _Shared(ours, theirs, first.clusters[ours]), unshared


def _lost(
    first: ComparisonSide, second: ComparisonSide, shared: _Shared, firsts: Floats, seconds: Floats
) -> dict[str, int]:
    """Return the number of paired samples that cannot be compared for lack of a measured value, by reason."""
    lost: dict[str, int] = {}
    for number in np.flatnonzero(~(np.isfinite(firsts) & np.isfinite(seconds))).tolist():
        pair = first.places[shared.first[number]], second.places[shared.second[number]]
        values = [None if isnan(column[number]) else column[number] for column in (firsts, seconds)]
        reason = loss_reason(first, second, pair, (values[0], values[1]))
        lost[reason] = lost.get(reason, 0) + 1
    return lost


class _Means(NamedTuple):
    """The means of two sides over their answers to the same samples, and the samples' clusters."""

    firsts: Floats
    seconds: Floats
    clusters: ClusterNames


class _Addressed(NamedTuple):
    """Comparisons in addition to scores; None if nothing was measured."""

    strict_accuracy: AccuracyComparison | None
    stated: ShareComparison | None
    both_stated: SharedCriteriaComparison | None


def _compare_addressed(
    first: ComparisonSide, second: ComparisonSide, shared: _Shared, *, seed: int, widest: float
) -> _Addressed:
    """Return the comparisons `strict_accuracy`, `stated` and `both_stated` of two sides, where measured."""
    accuracy = both_stated = None
    strict, compared = _compare_share(first, second, shared, "strict", seed=seed)
    if strict is not None:
        accuracy = AccuracyComparison(**dict(strict), **_undecided(first, second, compared, seed=seed))
    stated, _ = _compare_share(first, second, shared, "stated", seed=seed)
    if stated is not None:
        means, criteria = _on_both_stated(first, second, shared)
        compared_means = _compared_means(means, widest=widest, seed=seed)
        both_stated = SharedCriteriaComparison(criteria=criteria, n=len(means.firsts), **dict(compared_means))
    return _Addressed(accuracy, stated, both_stated)


def _compare_share(
    first: ComparisonSide, second: ComparisonSide, shared: _Shared, measure: AnswerMeasure, *, seed: int
) -> tuple[ShareComparison | None, _Shared]:
    """Return the comparison of a share over the samples measured on both sides (None: no sample), and these samples."""
    firsts, seconds = first.column(measure)[shared.first], second.column(measure)[shared.second]
    usable = np.isfinite(firsts) & np.isfinite(seconds)
    compared = shared.only(usable)
    if not usable.any():
        return None, compared
    lost = _lost(first, second, shared, firsts, seconds)
    means = _compared_means(_Means(firsts[usable], seconds[usable], compared.clusters), widest=1.0, seed=seed)
    return ShareComparison(lost=dict(sorted(lost.items())), n=len(compared.first), **dict(means)), compared


class _Undecided(TypedDict):
    n_undecided: SideCounts
    bounds: Bounds
    outer: Bounds | None


def _undecided(first: ComparisonSide, second: ComparisonSide, compared: _Shared, *, seed: int) -> _Undecided:
    """Return the undecided answers on each side, and the range of difference they leave open, with and without error."""
    count = len(compared.first)
    counts = [int(first.undecided[compared.first].sum()), int(second.undecided[compared.second].sum())]
    lows, highs = (
        (first.column(measure)[compared.first], second.column(measure)[compared.second])
        for measure in ("strict", "upper")
    )
    least, most = lows[1] - highs[0], highs[1] - lows[0]
    bounds = Bounds(low=rounded(total(least) / count), high=rounded(total(most) / count))
    outer = None
    if any(counts):
        clusters = compared.clusters
        low = bootstrap_interval(least, clusters=clusters, seed=seed, bounds=(-1.0, 1.0)).low
        high = bootstrap_interval(most, clusters=clusters, seed=seed, bounds=(-1.0, 1.0)).high
        outer = Bounds(low=rounded(low), high=rounded(high))
    return {"n_undecided": SideCounts(first=counts[0], second=counts[1]), "bounds": bounds, "outer": outer}


def _on_both_stated(first: ComparisonSide, second: ComparisonSide, shared: _Shared) -> tuple[_Means, int]:
    """Return mean scores on the criteria that both sides' answers address (repeat by repeat), and the number of
    criteria.

    A criterion that only one of the two answers addresses is dropped for both, so that the comparison depends neither
    on the length of answers nor on which criteria they address.
    """
    ours, theirs = first.columns, second.columns
    columns = [(column, theirs.repeats[repeat]) for repeat, column in ours.repeats.items() if repeat in theirs.repeats]
    own = ours.numbers[shared.first][:, [column for column, _ in columns]]
    other = theirs.numbers[shared.second][:, [column for _, column in columns]]
    places, repeats = np.nonzero((own >= 0) & (other >= 0))
    own, other = own[places, repeats], other[places, repeats]
    sets = ours.sets[own]
    same_sets = (sets == theirs.sets[other]) & (sets != "")
    places, own, other = places[same_sets], own[same_sets], other[same_sets]
    lengths = np.minimum(ours.lengths[own], theirs.lengths[other])
    starts = np.cumsum(lengths) - lengths
    within = np.arange(lengths.sum()) - np.repeat(starts, lengths)
    at, other_at = (np.repeat(start, lengths) + within for start in (ours.starts[own], theirs.starts[other]))
    both = ours.stated[at] & theirs.stated[other_at]

    def by_answer(values: Integers) -> Integers:
        sums = np.concatenate([[0], np.cumsum(np.where(both, values, 0))])
        return sums[starts + lengths] - sums[starts]

    weights, counts = by_answer(ours.weights[at]), by_answer(np.ones_like(at))
    our_sums = by_answer(ours.scores[at] * ours.weights[at])
    their_sums = by_answer(theirs.scores[other_at] * theirs.weights[other_at])
    weighed = weights > 0
    places = places[weighed]
    sizes = np.bincount(places)
    addressed = np.flatnonzero(sizes)
    firsts, seconds = (
        np.bincount(places, weights=sums[weighed] / weights[weighed])[addressed] / sizes[addressed]
        for sums in (our_sums, their_sums)
    )
    return _Means(firsts, seconds, shared.clusters[addressed]), int(counts[weighed].sum())


def _compared_means(means: _Means, *, widest: float, seed: int) -> ComparedMeans:
    """Return both sides' means over samples, and their paired difference, second minus first."""
    firsts, seconds, clusters = means
    paired = paired_difference(seconds - firsts, clusters, widest=widest, seed=seed)
    count = len(firsts)
    if not count:
        return ComparedMeans(first=None, second=None, **dict(paired))
    return ComparedMeans(first=rounded(total(firsts) / count), second=rounded(total(seconds) / count), **dict(paired))


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
    agreement: bool = True,
) -> ScoreComparison:
    """Return the paired differences of two sides, second minus first.

    Samples are paired by the digest of their content: images, question, options and reference. A sample's score is the
    mean over its scored repeats. Samples that cannot be paired are counted by reason in `lost`. If a side had no judge,
    scores are not compared, and their absence is not counted in `lost`.

    Args:
        first: one side.
        second: the other side.
        seed: the seed of bootstrap and permutations.
        top: the number of most changed samples to list.
        scale: the lowest and the highest score.
        models: the names of the sides.
        agreement: whether to count equal criteria and answers, and to compare two judges on these.
    """
    shared, unshared = _share(first, second)
    n, widest = len(shared.first), scale[1] - scale[0]
    lost = dict(unshared)
    without: list[Literal["first", "second"]] = []
    if not first.scored:
        without.append("first")
    if not second.scored:
        without.append("second")
    firsts, seconds, compared, bounds = np.array([]), np.array([]), shared.only(np.arange(0)), None
    if not without:
        firsts, seconds = first.column("score")[shared.first], second.column("score")[shared.second]
        lost |= _lost(first, second, shared, firsts, seconds)
        bounds = mean_bounds(*_possible_sums(firsts, seconds, scale), n)
        usable = np.isfinite(firsts) & np.isfinite(seconds)
        firsts, seconds, compared = firsts[usable], seconds[usable], shared.only(usable)
    addressed = _compare_addressed(first, second, shared, seed=seed, widest=widest)
    pairs: list[ScorePair] = []
    if top or agreement:
        scores = zip(firsts.tolist(), seconds.tolist(), strict=True)
        places = zip(compared.first.tolist(), compared.second.tolist(), strict=True)
        pairs = [
            ScorePair(first.places[own], second.places[other], pair)
            for (own, other), pair in zip(places, scores, strict=True)
        ]
    agreed = _agreement(first, second, pairs, seed=seed) if agreement else (None, None, None)
    return ScoreComparison(
        first_model=models[0],
        second_model=models[1],
        n_shared=n,
        n_paired=len(firsts),
        coverage=rounded(len(firsts) / n) if n and not without else None,
        lost={reason: count for reason, count in sorted(lost.items()) if count},
        without_scores=tuple(without),
        **dict(_compared_means(_Means(firsts, seconds, compared.clusters), widest=widest, seed=seed)),
        bounds=bounds,
        most_changed=_most_changed(pairs, top),
        same_criteria=agreed[0],
        same_answers=agreed[1],
        agreement=agreed[2],
        **addressed._asdict(),
    )


def _possible_sums(firsts: Floats, seconds: Floats, scale: Scale) -> tuple[float, float]:
    """Return the lowest and the highest possible sum of differences, whatever the missing scores are."""
    lowest, highest = scale
    low, high = (
        np.where(np.isnan(seconds), theirs, seconds) - np.where(np.isnan(firsts), ours, firsts)
        for theirs, ours in ((lowest, highest), (highest, lowest))
    )
    return total(low), total(high)


def _most_changed(pairs: Sequence[ScorePair], top: int) -> tuple[ChangedSample, ...]:
    if not top:
        return ()
    changed = [pair for pair in pairs if rounded(pair.difference) != 0]
    ranked = sorted(changed, key=lambda pair: (-rounded(abs(pair.difference)), natural_order(pair.first.sample_id)))
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
) -> tuple[int | None, int | None, CriteriaAgreement | None]:
    """Return the numbers of pairs with the same criteria and the same answers, and two judges' agreement on these.

    A number is None if no row of either run names criteria, or answers.
    """
    same_criteria = same_answers = 0
    gaps: list[int] = []
    clusters: list[str] = []
    answers = 0
    for pair in pairs:
        ours, theirs = first.scored_answers[pair.first.sample_id], second.scored_answers[pair.second.sample_id]
        both = [(ours[repeat], theirs[repeat]) for repeat in sorted(ours.keys() & theirs.keys())]
        comparable = bool(both) and len(both) == len(ours) == len(theirs)
        same_criteria += bool(both) and all(answer.same_criteria(other) for answer, other in both)
        same_answers += comparable and all(answer.same_response(other) for answer, other in both)
        for answer, other in both:
            if answer.same_criteria(other) and answer.same_response(other):
                answers += 1
                gaps += [abs(a - b) for a, b in zip(answer.criteria_scores, other.criteria_scores, strict=True)]
                clusters += [pair.first.cluster] * len(answer.criteria_scores)
    criteria_shared = same_criteria if first.columns.named or second.columns.named else None
    answers_shared = same_answers if first.columns.worded or second.columns.worded else None
    if not gaps:
        return criteria_shared, answers_shared, None
    exact = [float(gap == 0) for gap in gaps]
    interval = bootstrap_interval(exact, clusters=clusters, seed=seed, bounds=(0.0, 1.0))
    agreement = CriteriaAgreement(
        answers=answers,
        criteria=len(gaps),
        exact=Rate(share=mean(exact), **limits(interval)),
        within_one=rounded(sum(gap <= 1 for gap in gaps) / len(gaps)),
        mean_absolute=rounded(sum(gaps) / len(gaps)),
    )
    return criteria_shared, answers_shared, agreement


class SamplePart(NamedTuple):
    """A part of the samples to compare: a title, its depth in the hierarchy of parts, and the samples' ids.

    With `criteria` (`storage.trees.lookup.criterion_key`), only scores on these count.
    """

    title: str
    depth: int
    samples: frozenset[str]
    criteria: frozenset[str] = frozenset()


class MatchedSample(NamedTuple):
    """A sample of both sides: its id on each side, mean scores, shares of right answers, and failures.

    A missing value is None, or "" for a failure. An undecided answer counts as neither right nor wrong.
    """

    first: str
    second: str
    scores: tuple[float | None, float | None]
    right: tuple[float | None, float | None]
    failures: tuple[str, str]

    @property
    def gap(self) -> float | None:
        """The second score minus the first; without scores, the difference in right answers."""
        for low, other in (self.scores, self.right):
            if low is not None and other is not None:
                return rounded(other - low)
        return None


def match_samples(first: ComparisonSide, second: ComparisonSide) -> list[MatchedSample]:
    """Return the samples of both sides, in the order of the first."""
    return [
        MatchedSample(
            one.sample_id,
            other.sample_id,
            (first.score(one), second.score(other)),
            (first.mean(one, "right"), second.mean(other, "right")),
            (_failure(first, one), _failure(second, other)),
        )
        for one, other in match_places(first.places, second.places)[0]
    ]


def compare_parts(
    first: ComparisonSide, second: ComparisonSide, parts: Sequence[SamplePart], *, seed: int, scale: Scale
) -> list[PartComparison]:
    """Return the paired differences of two sides, second minus first, on each part with at least one pair.

    Scores are compared if both sides were scored, otherwise strict accuracy. The p-values are adjusted over all parts (false
    discovery rate, Benjamini and Hochberg).

    Args:
        first: one side.
        second: the other side.
        parts: the parts, by samples of the first side.
        seed: the seed of intervals and tests.
        scale: the lowest and the highest score.
    """
    by_score = first.scored and second.scored
    shared, _ = match_places(first.places, second.places)
    compared: list[tuple[PartCounts, ComparedMeans]] = []
    for part in parts:
        own = [(one, other) for one, other in shared if one.sample_id in part.samples]
        means: list[tuple[float, float]] = []
        clusters: list[str] = []
        for one, other in own:
            ours, theirs = _mean_on_part(first, one, part, by_score), _mean_on_part(second, other, part, by_score)
            if ours is not None and theirs is not None:
                means.append((ours, theirs))
                clusters.append(one.cluster)
        if means:
            firsts, seconds = np.array(means, dtype=np.float64).T
            columns = _Means(firsts, seconds, clusters)
            counts = PartCounts(
                title=part.title,
                depth=part.depth,
                measure="score" if by_score else "strict_accuracy",
                n=len(means),
                n_shared=len(own),
            )
            compared.append(
                (counts, _compared_means(columns, widest=scale[1] - scale[0] if by_score else 1.0, seed=seed))
            )
    adjusted = false_discovery_rate([means.p_value for _, means in compared if means.p_value is not None])
    return [
        PartComparison(**dict(counts), **dict(means), adjusted=rounded(value))
        for (counts, means), value in zip(compared, adjusted, strict=True)
    ]


class CriterionApart(NamedTuple):
    """A criterion whose scores differ: its sample's id on the first side, its set, its number from 1, and the means."""

    sample: str
    criteria: str
    number: int
    weight: int
    first: float
    second: float


def criteria_apart(first: ComparisonSide, second: ComparisonSide, *, top: int) -> list[CriterionApart]:
    """Return the criteria on which the scores of two sides differ most, of samples with the same criteria on both sides.

    The largest differences come first, then the higher weights.
    """
    differing: list[CriterionApart] = []
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
                differing.append(CriterionApart(place.sample_id, criteria, at + 1, weight, *mean_scores))
    return sorted(
        differing, key=lambda criterion: (-abs(criterion.second - criterion.first), -criterion.weight, criterion.sample)
    )[:top]


def category_parts(samples: Iterable[tuple[str, str]]) -> list[SamplePart]:
    """Return one part for each category; `samples` are pairs of id and category, skipped without a category."""
    by_category: dict[str, set[str]] = {}
    for name, category in samples:
        if category:
            by_category.setdefault(category, set()).add(name)
    return [SamplePart(category, 0, frozenset(names)) for category, names in sorted(by_category.items())]


def _failure(side: ComparisonSide, place: SampleRef) -> str:
    return next((answer.failure for answer in side.answers.get(place.sample_id, ()) if answer.failure), "")


def _mean_on_part(side: ComparisonSide, place: SampleRef, part: SamplePart, by_score: bool) -> float | None:
    if not by_score or not part.criteria:
        return side.mean(place, "score" if by_score else "strict")
    values = [value for answer in side.answers.get(place.sample_id, ()) if (value := _scored(answer, part)) is not None]
    return unrounded_mean(values)


def _scored(answer: ComparedAnswer, part: SamplePart) -> float | None:
    """Return an answer's weighted score on the criteria of a part; None if it has none of them."""
    if answer.criteria is None or not answer.criteria_scores:
        return None
    own = [
        (score, weight)
        for number, (score, weight) in enumerate(zip(answer.criteria_scores, answer.weights, strict=False), start=1)
        if criterion_key(answer.criteria, number) in part.criteria
    ]
    weights = sum(weight for _, weight in own)
    if weights:
        return sum(score * weight for score, weight in own) / weights
    return None


LISTED = 20
"""The most items with different content that are listed."""


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

    Scores are on the scale of the method's displayed figures.

    Args:
        home: the home of both runs.
        first: one run.
        second: another run of the same method, or the same run.
        models: the shown names of a model of the first run and one of the second (`NAME#blind` for the arm without the
            image); by default every model in both runs.
        top: the number of most changed samples to list for each pair.
        seed: the seed of intervals and tests; by default that of the first run.
        read: returns each model's answers of a run; by default `sides_of`.

    Raises:
        InputError: there is nothing to pair, no sample is in both, the runs are of different methods, or the method cannot
            be compared.
    """
    method = method_of(first)
    if method.scores.no_diff is not None:
        raise InputError(f"{method.title} is not compared so: {method.scores.no_diff}")
    if first.method != second.method:
        raise InputError(
            f"run {first.id} is {method.title} and run {second.id} is {method_of(second).title}: compare two of one kind"
        )
    plans = [method.read(run)[0] for run in (first, second)]
    scale = method.scores.shown_scale
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
    identities = [identity(plan) | {"versions": run.versions} for plan, run in zip(plans, (first, second), strict=True)]
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
    scored_by = "criteria" if method.scores.rubrics is None else "rubrics"
    if scale is None:
        scored_by = None
    elif not any(pair.n_shared for pair in pairs):
        raise InputError(
            f"runs {first.id} and {second.id} have no sample in common: samples are paired by images, question, options and "
            "reference; compare runs over the same data"
        )
    return RunComparison(
        first=SideRun(run=first.id, status=first.status, judge=plans[0].judge_name),
        second=SideRun(run=second.id, status=second.status, judge=plans[1].judge_name),
        corrected=_corrected(home, first, second, wanted),
        simulated=tuple(simulated_names(spec for plan in plans for spec in plan.models.values())),
        seed=seed,
        direction=DIRECTION,
        scored_by=scored_by,
        scale=scale,
        differs=tuple(_differences(*identities)),
        pairs=tuple(pairs),
        unpaired=UnpairedModels(
            first=tuple(name for name in names[0] if name not in {model for model, _ in wanted}),
            second=tuple(name for name in names[1] if name not in {other for _, other in wanted}),
        ),
    )


def _corrected(home: Home, first: Run, second: Run, compared: Sequence[Models]) -> dict[str, CorrectedAnswers] | None:
    """Return the number of answers of compared models that people corrected, and of excluded samples, on each side;
    None without any.
    """
    counts: dict[str, CorrectedAnswers] = {}
    for place, (name, run) in enumerate((("first", first), ("second", second))):
        stands = corrections_of(home, run.id)
        models = {pair[place] for pair in compared}
        answers = sum(
            count for model, count in count_standing(home, run.id, stands).items() if shown_name(*model) in models
        )
        counts[name] = CorrectedAnswers(answers=answers, left_out=len(stands.left_out))
    if any(count.answers or count.left_out for count in counts.values()):
        return counts
    return None


def _models(rows: Sequence[ResultRow]) -> list[str]:
    return sorted({shown_name(row.model, row.arm) for row in rows})


def _check(first: Run, second: Run, names: Sequence[Sequence[str]], models: Models | None) -> None:
    ours, theirs = names
    for run, rows in ((first, ours), (second, theirs)):
        if not rows:
            way = (
                "it is empty"
                if run.status == "done"
                else f"it is {run.status}: dokimasia resume {run.id} goes on with it"
            )
            raise InputError(f"run {run.id} has no result to compare yet; {way}")
    if models is None:
        if first.id == second.id:
            raise InputError(
                f"run {first.id} does not differ from itself; compare two of its models: dokimasia diff {first.id} "
                f"--models A,B (it has {', '.join(ours)})"
            )
        if not set(ours) & set(theirs):
            raise InputError(
                f"no model is in both runs: {first.id} has {', '.join(ours)}; {second.id} has {', '.join(theirs)}. "
                "Pair one of each with --models A,B"
            )
        return
    for name, run, rows in ((models[0], first, ours), (models[1], second, theirs)):
        if name not in rows:
            raise InputError(f"run {run.id} has no results of {name!r}; it has those of {', '.join(rows)}")
    if first.id == second.id and models[0] == models[1]:
        raise InputError(f"{models[0]} does not differ from itself in run {first.id}; name two models")


def sides_of(home: Home, run: Run) -> dict[str, ComparisonSide]:
    """Return each model's answers by its shown name, with scores on the scale of the method's displayed figures."""
    places, judgements, weights = sample_refs(home, run), judged_criteria(home, run.id), criteria_weights(home, run.id)
    texts = {id: digest("text", text) for id, text in response_texts(home, run.id)}
    method = method_of(run)
    rows, scored = results(home, run.id, kind=method.row_kind), bool(method.read(run)[0].judge_name)
    rubrics = None if method.scores.rubrics is None else method.scores.rubrics(home, run)
    answers: dict[str, list[ComparedAnswer]] = {}
    for row in rows:
        answer = ComparedAnswer.of(row, judgements, weights)._replace(response=texts.get(row.response_id or ""))
        if rubrics is not None:
            answer = answer._replace(criteria=rubrics[row.sample_id])
        if answer.score is not None:
            answer = answer._replace(score=answer.score * method.scores.factor)
        answers.setdefault(shown_name(row.model, row.arm), []).append(answer)
    scored = scored or any(row.score is not None for row in rows)
    return {
        name: ComparisonSide.of(_samples_answered(run, places, listed), listed, scored=scored)
        for name, listed in sorted(answers.items())
    }


def _samples_answered(run: Run, places: Sequence[SampleRef], answers: Sequence[ComparedAnswer]) -> Sequence[SampleRef]:
    """Return the samples of a model: in a finished run only those with an answer, otherwise all.

    The items of a run without samples are paired by their names.
    """
    if not places:
        return [SampleRef(answer.sample_id, answer.sample_id, answer.sample_id) for answer in answers]
    if run.status != "done":
        return places
    named = {answer.sample_id for answer in answers}
    return [position for position in places if position.sample_id in named]


def sample_refs(home: Home, run: Run) -> list[SampleRef]:
    """Return the ids, digests and clusters of a run's samples, in order."""
    return [SampleRef(sample.sample_id, sample.digest, sample.cluster) for sample in run_samples(home, run.id)]


def _contents(
    home: Home, runs: tuple[Run, Run], rows: tuple[Sequence[ResultRow], Sequence[ResultRow]], models: Models
) -> ContentComparison:
    """Return how many items have the same result in two runs without scores, and which differ."""
    ours, theirs = (
        {(row.sample_id, row.repeat): row for row in listed if shown_name(row.model, row.arm) == name}
        for listed, name in zip(rows, models, strict=True)
    )
    shared, _ = match_places(*(sample_refs(home, run) for run in runs))
    partner = {one.sample_id: other.sample_id for one, other in shared}
    same = 0
    different: list[ChangedItem] = []
    for (sample, repeat), row in ours.items():
        other = theirs.get((partner.get(sample, sample), repeat))
        if other is None:
            continue
        is_equal = (row.outcome, row.failure, row.value_ids) == (other.outcome, other.failure, other.value_ids)
        same += is_equal
        if not is_equal:
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


def _differences(first: JsonObject, second: JsonObject) -> Iterator[PlanDifference]:
    """Yield the differences between two plans' identities, each with its path, such as `judge.name`."""
    names = [{candidate["name"] for candidate in plan.get("candidates", ())} for plan in (first, second)]
    unshared = names[0] ^ names[1]
    ours, theirs = (_flat(_without_models(plan, unshared)) for plan in (first, second))
    for what in sorted(ours.keys() | theirs.keys()):
        one, other = _of(ours, what), _of(theirs, what)
        if what not in {"fresh", "fork", "fork.redone", "fork.taken"} and one != other:
            yield PlanDifference(what=what, first=one, second=other)


def _of(flat: JsonObject, what: str) -> JsonValue:
    """Return a value of an identity; a step without its own judge has the run's judge."""
    if what not in flat and what.startswith("judges."):
        return flat.get(f"judge.{what.split('.', 2)[2]}")
    return flat.get(what)


def _without_models(plan: JsonObject, models: set[str]) -> JsonObject:
    """Return an identity without candidates that only one of the runs has, since those are reported elsewhere."""
    if "candidates" not in plan:
        return plan
    candidates = [candidate for candidate in plan.get("candidates", ()) if candidate["name"] not in models]
    return {**plan, "candidates": candidates}


def _flat(value: JsonObject, prefix: str = "") -> JsonObject:
    """Return a nested mapping as one level, with dotted names; lists of named things are expanded by name."""
    flat: JsonObject = {}
    for key, inner in value.items():
        name = f"{prefix}{key}"
        if (
            isinstance(inner, Sequence)
            and inner
            and all(isinstance(candidate, Mapping) and "name" in candidate for candidate in inner)
        ):
            inner = {candidate["name"]: candidate for candidate in inner}
        if isinstance(inner, dict):
            flat |= _flat(inner, f"{name}.")
        else:
            flat[name] = inner
    return flat
