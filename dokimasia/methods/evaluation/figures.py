"""The figures of an evaluation: the models, their computation from stored rows, and columns of an export."""

import operator
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from math import isnan, log2
from typing import Annotated, NamedTuple, get_args

import numpy as np
import orjson
from pydantic import Field

from dokimasia.algorithms.scoring import normalise
from dokimasia.algorithms.statistics import correlation_interval, pearson
from dokimasia.algorithms.statistics.clusters import Floats, Positions, group_means, total
from dokimasia.domain.criterion import CriteriaSet, Defect
from dokimasia.domain.identity import Value
from dokimasia.domain.judgement import CheckpointScores, FailureKind, FinalAnswer, Response, correctness_of
from dokimasia.domain.options import Protocol
from dokimasia.methods.evaluation.plan import EvaluationPlan, QuestionStyle
from dokimasia.report import figures
from dokimasia.report.fields import (
    Bounds,
    Count,
    CountedRate,
    Coverage,
    Display,
    Failures,
    ForkedFrom,
    Interval,
    IntervalMethod,
    Lead,
    LeftOpen,
    NoInterval,
    StrictShare,
    Used,
)
from dokimasia.runs.figure_models import DataFigures, Judge
from dokimasia.runs.figures import costs, counts_by_name, forked_from, heading, shown_name
from dokimasia.runs.measures import (
    counted_rate,
    coverage,
    failures_by_kind,
    lead_of,
    left_open,
    limits,
    mean,
    mean_bounds,
    mean_with_interval,
    rounded,
    spread,
    strict_accuracy,
)
from dokimasia.runs.reading.comparison import ATOMS, CORRECTNESS, WORTH
from dokimasia.runs.reading.exporting import ANSWERED, ColumnType, answer_cells
from dokimasia.storage.home import Home
from dokimasia.storage.people.corrections import corrections_of, standing_answers
from dokimasia.storage.results import ResultRow
from dokimasia.storage.runs import Run, SqliteValueStore
from dokimasia.storage.usage import LedgerUsage, ScoredAnswer, count_items, scored_answers, usage_of

LOWEST, HIGHEST = ATOMS
FEWEST_FOR_LENGTH = 10
BLIND_MARK = "#blind"


class OverSamples(Value):
    """A mean over samples with its 95 % interval, clustered by image; null where no sample has a value."""

    n: Count = Field(description="samples with a value")
    mean: float | None
    low: float | None
    high: float | None
    no_interval: NoInterval = None
    interval_method: IntervalMethod = None


class LengthAndScore(Value):
    """The tendency of longer answers to score higher: Pearson's correlation of log length and score over scored answers.

    The correlation is null with fewer than ten images, or if lengths or scores do not vary.
    """

    n: Annotated[Count, Display("scored answers")] = Field(description="scored answers")
    characters: Annotated[float | None, Display("characters", "mean length of an answer")] = Field(
        description="mean length; null without an answer"
    )
    correlation: Annotated[
        float | None, Display("correlation", "Pearson's, of the logarithm of the length with the score")
    ] = Field(description="-1 to 1")
    low: float | None = Field(description="lower end of the 95 % interval, clustered by image")
    high: float | None = Field(description="upper end of the 95 % interval")
    no_interval: NoInterval = None
    interval_method: IntervalMethod = None


class Scores(Value):
    """A model's scores over samples, 1 to 5, higher is better; a sample's is the mean over its scored repeats."""

    n: Count = Field(description="samples")
    n_scored: Count = Field(description="samples with a scored answer")
    answers: Count = Field(description="answers, all repeats")
    answers_scored: Count = Field(description="answers with a score")
    coverage: Annotated[Coverage, Display("coverage", "share of answers that were scored", write=figures.share)]
    strict_accuracy: StrictShare | None = Field(
        description="over answers to samples with a reference answer, repeats, too; null where there is no such sample"
    )
    score: Interval | None = Field(description="mean, 1 to 5; clustered by image; null where nothing was scored")
    bounds: Bounds | None = Field(
        description="of the mean over all n, if every failed answer had 1, or 5; null without a sample"
    )
    stated: OverSamples = Field(description="share of the criteria's weight that answers address, 0 to 1")
    stated_score: OverSamples = Field(
        description="score on what answers address, 1 to 5; models choose what that is, so it is not to be compared"
    )
    spread: float | None = Field(
        ge=0, description="standard deviation over repeats, pooled over samples; null without repeats"
    )
    failures: Failures = Field(description="samples without any scored answer, by the kind of their first failure")
    left_open: LeftOpen
    failed_answers: Failures = Field(description="answers that failed, by kind of failure")


class TokenFigures(Value):
    """Tokens that calls used."""

    input: Annotated[Count | None, Display("tokens in", write=figures.count)] = Field(
        description="null where no call reported them"
    )
    output: Annotated[Count | None, Display("tokens out", write=figures.count)] = Field(
        description="null where no call reported them"
    )
    cached: Count | None = Field(
        default=None,
        exclude_if=operator.not_,
        description="of the tokens in, those that came from providers' caches; absent where no call reported any",
    )
    unknown: Annotated[Count, Display("calls of unknown usage")] = Field(description="calls whose use was not reported")


class UsageFigures(Used):
    """The usage of calls, each counted once."""

    tokens: TokenFigures


class ModelScores(UsageFigures, Scores):
    """One model's scores, and what its answers and their scoring used."""

    length: LengthAndScore
    by_category: dict[str, Scores] = Field(description="by the data's own categories")


class Surviving(Value):
    """The share of a model's score that remains without the image, over samples scored with and without it."""

    n: Annotated[Count, Display("samples", "scored in both arms")] = Field(
        description="samples scored with and without"
    )
    share: Annotated[
        float | None,
        Display(
            "share that survives", "of the score above the floor of 1, on samples scored in both", write=figures.share
        ),
    ] = Field(description="of the score above the floor of 1; null where there is none")
    difference: Interval | None = Field(
        description="score with the image less without; null with one cluster or a zero score"
    )


class FaultsFound(Value):
    """The outcomes of faults of one kind."""

    mended: Count = Field(description="sent back and gone since, or asked for by the sample's own question")
    dropped: Count = Field(description="left out with their criterion")
    left: Count = Field(description="could not be helped")


class CriteriaFigures(Value):
    """The criteria that answers were scored by."""

    sets: Count = Field(description="samples with criteria")
    points: float | None = Field(description="mean number of criteria per sample; null without any")
    only_final: CountedRate = Field(description="samples of which the final answer is the only criterion")
    contradicting: Count = Field(
        description="samples whose chain contradicts the reference answer; as published their criteria are kept"
    )
    checked: Count = Field(description="sets at which a second look was taken")
    faults: dict[Defect, FaultsFound] = Field(description="what was found to be wrong, by kind")


class SampleLeftOut(Value):
    """A sample that a person left out."""

    sample: str
    who: str
    reason: str


class AsJudged(Value):
    """A model's figures before corrections by hand, on all samples."""

    n: Count = Field(description="samples")
    n_scored: Count = Field(description="samples with a scored answer")
    strict_accuracy: StrictShare | None
    score: Interval | None


class HandCorrections(Value):
    """Corrections by hand, which the figures include. People chose the answers, so these are no random sample."""

    answers: Count = Field(description="answers of which a person has the last word")
    of: Count = Field(description="answers of the samples that count")
    by: dict[str, Count] = Field(description="answers and samples, by who corrected them or left them out last")
    left_out: tuple[SampleLeftOut, ...] = Field(description="samples that are in no figure, and why")
    as_judged: dict[str, AsJudged] = Field(description="the judge's own figures, by model")


class ScoreReasons(Value):
    """Counts of the reasons that the judge was asked to give."""

    scores: Count = Field(description="scores of a criterion, all answers together, before any correction by hand")
    missing: Count = Field(description="of these, scores that the judge gave no reason for")


class EvaluationFigures(DataFigures):
    """The figures of an evaluation."""

    samples: Count = Field(description="samples of the run")
    judge: Judge = Field(default="", description="left out where rules alone decided")
    ask: QuestionStyle | None = Field(description="how the question was put; null where the answers were there before")
    protocol: Protocol
    forked_from: ForkedFrom | None = Field(description="null where the run is no fork")
    criteria: CriteriaFigures | None = Field(default=None, description="left out where rules alone decided")
    reasons: ScoreReasons | None = Field(default=None, description="left out where the judge was not asked for reasons")
    models: dict[str, ModelScores] = Field(description="by name; NAME#blind is the arm without images")
    length: LengthAndScore = Field(description="over the answers of all models, those without images left out")
    lead: Lead | None = Field(
        default=None,
        description="best model against the next best, in percentage points of strict accuracy; without any reference "
        "answer in points of the score; left out without two models, those without images not counted",
    )
    preparation: UsageFigures = Field(description="what chains and criteria used")
    together: UsageFigures = Field(
        description="what all results used; a call that several models rest on is in the figures of each, and here once"
    )
    blind: dict[str, Surviving] = Field(
        default_factory=dict, description="by model; only where models were asked without the image, too"
    )
    corrections: HandCorrections | None = Field(default=None, description="left out where nothing was corrected")


class AnswerFigures(Value):
    """The figures that depend on answers alone, as in `EvaluationFigures`."""

    models: dict[str, ModelScores]
    length: LengthAndScore
    lead: Lead | None = None
    preparation: UsageFigures
    together: UsageFigures
    blind: dict[str, Surviving] = Field(default_factory=dict)


class LengthPoints(NamedTuple):
    """Scored answers: their clusters, the base-2 logarithms of their lengths in characters, and their scores."""

    clusters: Positions
    lengths: Floats
    scores: Floats


NO_POINTS = LengthPoints(np.zeros(0, dtype=np.intp), np.zeros(0), np.zeros(0))


@dataclass(frozen=True, slots=True)
class AnsweredSamples:
    """A model's answers by column, in the run's order.

    Samples are numbered: `ids` and `clusters` belong to samples, and `samples` holds the number of each answer's
    sample. In `scores`, `stated_shares` (the share of the criteria's weight that the answer addresses), `stated_scores`
    (on those criteria) and `lengths`, missing values are NaN. `correctness` holds the index in `CORRECTNESS`, or -1 for
    samples without a reference answer.
    """

    ids: Sequence[str]
    clusters: Positions
    samples: Positions
    scores: Floats
    failures: Sequence[FailureKind | None]
    stated_shares: Floats
    stated_scores: Floats
    lengths: Floats
    correctness: Positions

    @classmethod
    def of(cls, rows: Sequence[ScoredAnswer], clusters: Mapping[str, int]) -> "AnsweredSamples":
        """Return the answers in some rows, whose clusters are numbered."""
        of_samples = {row.sample_id: clusters[row.cluster] for row in rows}
        numbers = dict(zip(of_samples, range(len(of_samples)), strict=True))
        correctness = [CORRECTNESS.index(correctness_of(row.verdict, row.failure)) for row in rows]
        referenced = np.array([bool(row.referenced) for row in rows])
        return cls(
            list(of_samples),
            np.array(list(of_samples.values()), dtype=np.intp),
            np.array([numbers[row.sample_id] for row in rows], dtype=np.intp),
            np.array([row.score for row in rows], dtype=np.float64),
            [row.failure for row in rows],
            np.array([row.stated for row in rows], dtype=np.float64),
            np.array([row.stated_score for row in rows], dtype=np.float64),
            np.array([row.length for row in rows], dtype=np.float64),
            np.where(referenced, np.array(correctness, dtype=np.intp), -1),
        )

    def means(self, column: Floats) -> Floats:
        """Return the mean of a column over each sample's answers that have a value; NaN if none has."""
        return group_means(column, self.samples, len(self.ids))

    def by_sample(self, column: Floats) -> dict[str, float]:
        """Return the means of a column by sample id, without samples that lack one."""
        return {id: mean for id, mean in zip(self.ids, self.means(column).tolist(), strict=True) if not isnan(mean)}

    def right_shares(self, *, undecided_right: bool = False) -> dict[str, float]:
        """Return the share of right answers by sample; failed answers are excluded, undecided ones wrong by default."""
        return self.by_sample(WORTH["upper" if undecided_right else "strict"][self.correctness])

    @property
    def points(self) -> LengthPoints:
        """The answers that have both a score and a length."""
        valid = np.isfinite(self.scores) & (self.lengths > 0)
        lengths = np.array([log2(length) for length in self.lengths[valid].tolist()])
        return LengthPoints(self.clusters[self.samples[valid]], lengths, self.scores[valid])


class CollectedAnswers(NamedTuple):
    """Answers by model, and by model and category."""

    models: Mapping[str, AnsweredSamples]
    categories: Mapping[str, Mapping[str, AnsweredSamples]]


def collect(rows: Iterable[ScoredAnswer]) -> CollectedAnswers:
    """Return the answers by model and category, in the run's order."""
    models: defaultdict[str, list[ScoredAnswer]] = defaultdict(list)
    for row in rows:
        models[row.model].append(row)
    clusters: dict[str, int] = {}
    categories: dict[str, dict[str, AnsweredSamples]] = {}
    for name, answers in models.items():
        by_category: defaultdict[str, list[ScoredAnswer]] = defaultdict(list)
        for row in answers:
            clusters.setdefault(row.cluster, len(clusters))
            if row.category:
                by_category[row.category].append(row)
        categories[name] = {category: AnsweredSamples.of(part, clusters) for category, part in by_category.items()}
    return CollectedAnswers(
        {name: AnsweredSamples.of(answers, clusters) for name, answers in models.items()}, categories
    )


def summarise(
    answers: CollectedAnswers,
    *,
    seed: int,
    judged: bool = True,
    usage: Mapping[str, LedgerUsage] | None = None,
    preparation: LedgerUsage | None = None,
    together: LedgerUsage | None = None,
) -> AnswerFigures:
    """Return the figures of the collected answers.

    A sample's score is the mean over its scored repeats. A sample without a scored repeat counts as failed, under the
    kind of its first failure; the bounds assume 1 and 5 for every failed answer.

    Args:
        answers: the collected answers of the run.
        seed: seed of the bootstrap.
        judged: whether a judge scored; if not, rules decided which answers are right, and nothing is scored.
        usage: usage of the calls for each model's answers and their scores, by displayed name.
        preparation: usage of the calls for chains and criteria.
        together: usage of all calls, each counted once.
    """
    usage = usage or {}
    models: dict[str, ModelScores] = {}
    blind: dict[str, Surviving] = {}
    points = [NO_POINTS]
    for name, samples in answers.models.items():
        by_category: dict[str, Scores] = {}
        for category, part in sorted(answers.categories[name].items()):
            by_category[category] = scores_of(part, seed=seed, judged=judged)
        models[name] = ModelScores(
            **dict(scores_of(samples, seed=seed, judged=judged)),
            **dict(_usage(usage.get(name))),
            length=length_and_score(samples.points),
            by_category=by_category,
        )
        if name + BLIND_MARK in answers.models:
            blind[name] = _surviving(samples, answers.models[name + BLIND_MARK], seed=seed)
        if "#" not in name:
            points.append(samples.points)
    return AnswerFigures(
        models=models,
        length=length_and_score(LengthPoints(*map(np.concatenate, zip(*points, strict=True)))),
        lead=_lead(answers.models, seed=seed),
        preparation=_usage(preparation),
        together=_usage(together),
        blind=blind,
    )


def _lead(models: Mapping[str, AnsweredSamples], *, seed: int) -> Lead | None:
    """Return the best model's lead in strict accuracy, or in score if no sample has a reference answer."""
    samples_by_model = {name: samples for name, samples in models.items() if "#" not in name}
    clusters: dict[str, int] = {}
    for samples in samples_by_model.values():
        clusters |= zip(samples.ids, samples.clusters.tolist(), strict=True)
    shares = {name: samples.right_shares() for name, samples in samples_by_model.items()}
    if any(shares.values()):
        highest = {name: samples.right_shares(undecided_right=True) for name, samples in samples_by_model.items()}
        return lead_of(shares, clusters, widest=1.0, seed=seed, unit=100.0, highest=highest)
    scores = {name: samples.by_sample(samples.scores) for name, samples in samples_by_model.items()}
    return lead_of(scores, clusters, widest=HIGHEST - LOWEST, seed=seed)


def scores_of(samples: AnsweredSamples, *, seed: int, judged: bool) -> Scores:
    """Return a model's scores over samples."""
    is_scored = np.isfinite(samples.scores)
    sums = np.bincount(samples.samples[is_scored], weights=samples.scores[is_scored], minlength=len(samples.ids))
    counts = np.bincount(samples.samples[is_scored], minlength=len(samples.ids))
    kinds: list[FailureKind] = []
    unscored: dict[int, FailureKind] = {}
    failures = np.zeros(len(samples.ids))
    for answer in np.flatnonzero(~is_scored).tolist():
        if (kind := samples.failures[answer]) is not None:
            sample = int(samples.samples[answer])
            kinds.append(kind)
            failures[sample] += 1
            if not counts[sample]:
                unscored.setdefault(sample, kind)
    accuracy = None
    referenced = samples.correctness >= 0
    if referenced.any():
        words = [CORRECTNESS[place] for place in samples.correctness[referenced].tolist()]
        accuracy = strict_accuracy(words, samples.clusters[samples.samples[referenced]].tolist())
    bounds = None
    if judged:
        nonempty = np.flatnonzero(counts + failures)
        low, high = (total((sums + end * failures)[nonempty] / (counts + failures)[nonempty]) for end in ATOMS)
        bounds = mean_bounds(low, high, len(nonempty))
    repeated = is_scored & (counts > 1)[samples.samples]
    by_sample, ends = np.argsort(samples.samples[repeated], kind="stable"), np.cumsum(counts[counts > 1])
    return Scores(
        **coverage(zip(counts.tolist(), failures.astype(np.intp).tolist(), strict=True)),
        strict_accuracy=accuracy,
        score=_over_samples(samples, samples.scores, ATOMS, seed=seed),
        bounds=bounds,
        stated=_with_number(samples, samples.stated_shares, (0.0, 1.0), seed=seed),
        stated_score=_with_number(samples, samples.stated_scores, ATOMS, seed=seed),
        spread=spread(part.tolist() for part in np.split(samples.scores[repeated][by_sample], ends[:-1])),
        failures=failures_by_kind(unscored.values()),
        left_open=left_open(kinds),
        failed_answers=failures_by_kind(kinds),
    )


def _over_samples(samples: AnsweredSamples, column: Floats, ends: tuple[float, float], *, seed: int) -> Interval | None:
    """Return the mean over samples of their means over repeats; None without values."""
    means = samples.means(column)
    valid = np.isfinite(means)
    return mean_with_interval(means[valid], samples.clusters[valid], seed=seed, bounds=ends)


def _with_number(samples: AnsweredSamples, column: Floats, ends: tuple[float, float], *, seed: int) -> OverSamples:
    """Return the interval of `_over_samples`, with the number of samples that have a value."""
    interval = _over_samples(samples, column, ends, seed=seed)
    if interval is None:
        return OverSamples(n=0, mean=None, low=None, high=None)
    return OverSamples(n=int(np.isfinite(samples.means(column)).sum()), **dict(interval))


def length_and_score(points: LengthPoints) -> LengthAndScore:
    """Return the correlation of the logarithm of an answer's length with its score.

    There is no interval with fewer than ten different images, or if lengths or scores do not vary.
    """
    correlation = interval = characters = None
    lengths, scores = points.lengths.tolist(), points.scores.tolist()
    if len(np.unique(points.clusters)) >= FEWEST_FOR_LENGTH:
        with suppress(ValueError):
            interval = correlation_interval(lengths, scores, clusters=points.clusters)
            correlation = rounded(pearson(lengths, scores))
    if lengths:
        characters = round(sum(2**length for length in lengths) / len(lengths), 1)
    return LengthAndScore(n=len(lengths), characters=characters, correlation=correlation, **limits(interval))


def _surviving(full: AnsweredSamples, blind: AnsweredSamples, *, seed: int) -> Surviving:
    """Return the share of the normalised score (1 is 0, 5 is 100) left without the image, over samples in both arms."""
    with_image, without_image = full.by_sample(full.scores), blind.by_sample(blind.scores)
    shared_ids = [id for id in with_image if id in without_image]
    total_with_image = sum(normalise(with_image[id]) for id in shared_ids)
    total_without_image = sum(normalise(without_image[id]) for id in shared_ids)
    if not total_with_image:
        return Surviving(n=len(shared_ids), share=None, difference=None)
    cluster_of = dict(zip(full.ids, full.clusters.tolist(), strict=True))
    clusters = [cluster_of[id] for id in shared_ids]
    difference = None
    if len(set(clusters)) > 1:
        gaps = [with_image[id] - without_image[id] for id in shared_ids]
        widest = HIGHEST - LOWEST
        difference = mean_with_interval(gaps, clusters, seed=seed, bounds=(-widest, widest))
    return Surviving(
        n=len(shared_ids),
        share=rounded((total_without_image / len(shared_ids)) / (total_with_image / len(shared_ids))),
        difference=difference,
    )


def _usage(usage: LedgerUsage | None) -> UsageFigures:
    """Return calls, tokens and cost of ledger entries; each entry counts once, no matter how often it was used."""
    usage = usage or LedgerUsage()
    tokens = TokenFigures(
        input=usage.input_tokens,
        output=usage.output_tokens,
        cached=usage.cached_tokens,
        unknown=usage.unknown,
    )
    return UsageFigures(calls=usage.calls, tokens=tokens, **costs([usage.cost], [usage.known]))


def figures_of_run(home: Home, run: Run) -> EvaluationFigures:
    """Return the figures of an evaluation; the same stored rows give the same bytes."""
    plan = run.plan_as(EvaluationPlan)
    has_judge = plan.judge is not None
    with ThreadPoolExecutor(1) as other_thread:
        usage_read = other_thread.submit(usage_of, home, run.id)
        samples, rows = count_items(home, run.id)
        collected = collect(scored_answers(home, run.id))
        usage_by_work, together = usage_read.result()
    usage = {shown_name(model, arm): amount for (kind, model, arm), amount in usage_by_work.items() if kind == "score"}
    preparation = usage_by_work.get(("replay", "", ""))
    answers = summarise(
        collected, seed=run.seed, judged=has_judge, usage=usage, preparation=preparation, together=together
    )
    return EvaluationFigures(
        **heading(run, plan),
        samples=samples,
        open_items=0 if run.status == "done" else max(0, samples * plan.rows_per_sample - rows),
        forked_from=_parent(run),
        ask=plan.ask if plan.asked else None,
        protocol=plan.protocol,
        criteria=criteria_figures(home, run.id) if has_judge else None,
        reasons=reason_figures(home, run.id) if plan.reasons else None,
        **dict(answers),
        corrections=_hand_corrections(home, run, judged=has_judge),
    )


def _parent(run: Run) -> ForkedFrom | None:
    parent = forked_from(run)
    if parent is None:
        return None
    return ForkedFrom.model_validate(parent)


def _hand_corrections(home: Home, run: Run, *, judged: bool) -> HandCorrections | None:
    """Return the corrections by hand, and the figures without them; None if nothing was corrected."""
    corrections = corrections_of(home, run.id)
    answers = standing_answers(home, run.id, corrections)
    left_out = list(corrections.left_out.values())
    if not answers and not left_out:
        return None
    rows = list(scored_answers(home, run.id, as_judged=True))
    as_judged: dict[str, AsJudged] = {}
    for name, scores in summarise(collect(rows), seed=run.seed, judged=judged).models.items():
        as_judged[name] = AsJudged(
            n=scores.n, n_scored=scores.n_scored, strict_accuracy=scores.strict_accuracy, score=scores.score
        )
    return HandCorrections(
        answers=len(answers),
        of=sum(row.sample_id not in corrections.left_out for row in rows),
        by=counts_by_name(correction.who for correction in (*answers, *left_out)),
        left_out=tuple(
            SampleLeftOut(sample=correction.sample, who=correction.who, reason=correction.reason)
            for correction in left_out
        ),
        as_judged=as_judged,
    )


_CRITERIA_SETS = """
SELECT s.cluster, c.body FROM run_samples s
JOIN results r ON r.run_id = s.run_id AND r.sample_id = s.sample_id AND r.kind = 'replay'
JOIN criteria_sets c ON c.id = r.criteria_id
WHERE s.run_id = ? AND s.position >= ? AND s.position < ? ORDER BY s.position
"""
_CONTRADICTING = """
SELECT count(*) FROM results
WHERE run_id = ? AND kind = 'replay' AND outcome = 'made' AND reason IS NOT NULL
"""
PAGE = 1_000


def criteria_figures(home: Home, run_id: str) -> CriteriaFigures:
    """Return the figures of a run's criteria: their number, the faults found in review, and answer-only samples."""
    clusters: list[str] = []
    only_final: list[bool] = []
    counts: list[float] = []
    checked_sets = 0
    became: Counter[tuple[str, str]] = Counter()
    [(end,)] = home.all("SELECT coalesce(max(position) + 1, 0) FROM run_samples WHERE run_id = ?", (run_id,))
    for start in range(0, end, PAGE):
        for cluster, body in home.all(_CRITERIA_SETS, (run_id, start, start + PAGE)):
            # Not validated again, for speed: each set was validated when it was stored.
            criteria_set = orjson.loads(body)
            criteria = criteria_set["criteria"]
            clusters.append(cluster)
            only_final.append(all(criterion["final"] for criterion in criteria))
            counts.append(len(criteria))
            checked_sets += criteria_set["checked"]
            became.update((fault["defect"], fault["became"]) for fault in criteria_set["faults"])
    faults: dict[Defect, FaultsFound] = {}
    for defect in get_args(Defect):
        tally = FaultsFound(
            mended=became[defect, "mended"], dropped=became[defect, "dropped"], left=became[defect, "left"]
        )
        if tally.mended or tally.dropped or tally.left:
            faults[defect] = tally
    [(contradicting,)] = home.all(_CONTRADICTING, (run_id,))
    return CriteriaFigures(
        sets=len(counts),
        points=mean(counts),
        only_final=counted_rate(only_final, clusters),
        contradicting=contradicting,
        checked=checked_sets,
        faults=faults,
    )


def reason_figures(home: Home, run_id: str) -> ScoreReasons:
    """Return how many scores in a run's judgements have a reason, and how many have none."""
    sql = (
        "SELECT j.body FROM results r JOIN judgements j ON j.id = r.judgement_id "
        "WHERE r.run_id = ? AND r.kind = 'score' AND r.judgement_id IS NOT NULL"
    )
    scores, n_missing = 0, 0
    for (body,) in home.all(sql, (run_id,)):
        judgement = orjson.loads(body)
        n_reasons = sum(reason is not None for reason in judgement.get("reasons", ()))
        scores += len(judgement["scores"])
        n_missing += len(judgement["scores"]) - n_reasons
    return ScoreReasons(scores=scores, missing=n_missing)


COLUMNS: dict[str, ColumnType] = {
    "verdict": "text",
    "rule": "text",
    "final_answer": "text",
    "final_stated": "truth",
    "stated": "number",
    "stated_score": "number",
    "length": "integer",
    "criteria_scores": "integers",
    "criteria_stated": "integers",
    "criteria_reasons": "texts",
    "weights": "integers",
    **ANSWERED,
}
"""Columns of an answer in an export, in addition to those of every row."""


async def cells(home: Home, run: Run, rows: Sequence[ResultRow]) -> list[dict[str, object]]:
    """Return the values of `COLUMNS` for each row.

    Raises:
        StorageError: a stored value is missing or damaged.
    """
    judge = run.plan_as(EvaluationPlan).judge_name
    store = SqliteValueStore(home, run.id)
    lines: list[dict[str, object]] = []
    for row in rows:
        line: dict[str, object] = {**dict.fromkeys(COLUMNS)}
        line |= row.model_dump(mode="json", include={"verdict", "stated", "stated_score", "length"})
        response, origin = None, None
        if row.response_id is not None:
            response = await store.get(Response, row.response_id)
        if row.criteria_id is not None:
            line |= {"weights": list((await store.get(CriteriaSet, row.criteria_id)).weights)}
        if row.final_id is not None:
            final = await store.get(FinalAnswer, row.final_id)
            line |= {"rule": final.rule, "final_answer": final.answer, "final_stated": final.stated}
        if row.judgement_id is not None:
            judgement = await store.get(CheckpointScores, row.judgement_id)
            origin = judgement.provenance
            line |= {
                "criteria_scores": list(judgement.scores),
                "criteria_stated": list(map(int, judgement.stated)) or None,
                "criteria_reasons": [reason or "" for reason in judgement.reasons] or None,
            }
        lines.append(line | answer_cells(judge, response, origin))
    return lines


def reason_of(cells: Mapping[str, object]) -> str | None:
    """Return why an answer was judged as it was: what was compared and how, and the reason of its lowest criterion score.

    Args:
        cells: the values of `COLUMNS` of the answer.
    """
    parts: list[str] = []
    rule, answer = cells.get("rule"), cells.get("final_answer")
    if rule and answer:
        parts.append(f"final answer {' '.join(str(answer).split())!r}, compared by {rule}")
    elif rule:
        parts.append(str(rule))
    scores = cells.get("criteria_scores")
    reasons = cells.get("criteria_reasons")
    if isinstance(scores, list) and isinstance(reasons, list):
        explained = [(score, number) for number, score in enumerate(scores) if reasons[number]]
        if explained:
            _, number = min(explained)
            parts.append(f"criterion {number + 1}: {reasons[number]}")
    return "; ".join(parts) or None
