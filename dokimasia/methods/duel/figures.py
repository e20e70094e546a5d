"""The figures of duels: the models and their computation from judgements of answers.

Rewards are from -100 to 100, rates in percent, visual factuality 0 to 10. Intervals are clustered by cases that share an image.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Annotated, Literal, TypeVar

from pydantic import Field

from dokimasia.agents.candidate import BLIND
from dokimasia.algorithms.pairwise import (
    count_verdicts,
    position_bias,
    position_bias_interval,
    position_consistency,
    position_consistency_interval,
    reward_interval,
    win_rate_interval,
)
from dokimasia.algorithms.statistics.paired import sign_flip_test
from dokimasia.domain.duel import HIGHEST, LOWEST, PLACES, REWARD, TEXT, FactualityBy, Instruction, Place
from dokimasia.domain.identity import Value
from dokimasia.domain.judgement import OPEN_KINDS, FailureKind
from dokimasia.domain.options import Protocol
from dokimasia.methods.duel.elsewhere import Elsewhere
from dokimasia.report.blocks import Cell
from dokimasia.report.fields import (
    Bounds,
    Count,
    Direction,
    Display,
    Failures,
    Fraction,
    Interval,
    IntervalMethod,
    Lead,
    LeftOpen,
    NoInterval,
    Used,
)
from dokimasia.report.figures import NOTHING, interval, measured, p_value, signed_text
from dokimasia.runs.figure_models import DataFigures, Judge
from dokimasia.runs.figures import grouped
from dokimasia.runs.measures import (
    failure_fields,
    interval_of,
    lead_of,
    mean,
    mean_bounds,
    mean_with_interval,
    paired_difference,
    rounded,
    unrounded_mean,
    with_adjusted,
)
from dokimasia.runs.reading.correlations import LengthAssociation, adjusted_over, length_and_score

SCALE = (LOWEST, HIGHEST)
T = TypeVar("T")

VERDICTS = {
    "much_better": "much better",
    "better": "better",
    "tie": "equal",
    "worse": "worse",
    "much_worse": "much worse",
}
"""Displayed names of the verdict counts, best first."""

signed_reward = partial(measured, ends=1, signed=True)
"""Formats a reward, or a difference of rewards."""

factuality_score = partial(measured, ends=2)


def whole_number(value: float | None, pointer: str = "") -> Cell:
    """Return a mean rounded to a whole number."""
    if value is None:
        return NOTHING
    return f"{value:.0f}"


class Verdicts(Value):
    """Counts of verdicts on the evaluated model, by verdict and by `valid`, `one_order` and `failed`."""

    much_better: Count
    better: Count
    tie: Count
    worse: Count
    much_worse: Count
    failed: Count = Field(description="without a valid verdict; not in `valid`, and so in no reward and no win rate")
    valid: Annotated[Count, Display("verdicts")] = Field(
        description="on answers judged in every order that was asked: the sum of the five counts, and what reward and win rate "
        "are divided by"
    )
    one_order: Count = Field(
        description="on answers judged in one order alone, since the other has no verdict; not in `valid` either"
    )
    open: Annotated[Count, Display("open", "verdicts that the budget did not reach")] = Field(
        description="of the failed ones, those not asked for want of budget: a resume asks for them"
    )


class RewardBoundsFigures(Value):
    """Bounds of reward and win rate over all answers, with every failed verdict counted as the worst, or the best."""

    reward: Annotated[
        Bounds,
        Display(
            "reward if",
            "every failed verdict were the worst, or the best",
            write=partial(interval, signed=True, digits=1),
        ),
    ]
    win_rate: Bounds | None


class VerdictFigures(Value):
    """Reward, win rate and counts of verdicts; intervals clustered by cases that share an image."""

    reward: Annotated[
        Interval | None,
        Display("reward", "50 times the mean verdict, -100 to 100, with its 95 % interval", write=signed_reward),
    ] = Field(description="50 times the mean valid verdict (+2 to -2), -100 to 100; null without a valid one")
    win_rate: Annotated[
        Interval | None,
        Display(
            "win rate, %",
            "percent of valid verdicts that are better or much better",
            write=partial(measured, digits=1, ends=1),
        ),
    ] = Field(description="percent of valid verdicts that are better or much better")
    verdicts: Verdicts
    bounds: RewardBoundsFigures | None = Field(description="what failed verdicts leave open; null without a verdict")


class Factuality(Value):
    """Visual factuality, 0 to 10; cases to which it does not apply are not failures."""

    n: Count = Field(description="cases that it applies to")
    not_applicable: Count = Field(
        description="cases without criteria of visual factuality, or whose judge would have neither ground truth nor image"
    )
    judged: Count = Field(
        description="judgements with scores, each order apart, of answers scored in every order that was asked"
    )
    one_order: Count = Field(description="judgements with scores of answers that were scored in one order alone")
    failed: Count = Field(description="judgements without")
    model: Annotated[
        Interval | None,
        Display("VFS", "visual factuality score of the model, 0 to 10, with its 95 % interval", write=factuality_score),
    ] = Field(description="the model's mean score over the judged ones")
    baseline: Annotated[
        Interval | None,
        Display("baseline's", "visual factuality score of the baseline in the same judgements", write=factuality_score),
    ] = Field(description="the baseline's, in the same judgements")
    bounds: Bounds | None = Field(description="of the model's score, if every failed judgement had given 0, or 10")


class DuelPlaces(Value):
    """The effect of the order of places on verdicts, over answers with a valid verdict in both orders."""

    n: Count = Field(description="answers judged in both orders")
    consistency: Annotated[
        Interval, Display("consistency", "percent of answers that both orders decide for the same side")
    ] = Field(description="percent that both orders decide for the same side")
    bias: Annotated[
        Interval, Display("bias", "points of reward that the first place is worth", write=signed_reward)
    ] = Field(description="points of reward that the first place is worth; negative: the second")
    p: Annotated[
        Fraction,
        Display(
            "p",
            "of a bias as large by chance: sign flips of whole cases; not adjusted over models",
            write=p_value,
        ),
    ] = Field(description="of a bias as large by chance: sign flips of whole cases, two-sided")


class DuelPart(VerdictFigures):
    """One model's figures over some cases."""

    n: Count = Field(description="cases")
    factuality: Factuality | None = Field(description="null where it applies to no case")


class Single(Value):
    """The verdicts of each order alone: the model's answer shown `first`, or `second`; null if that order was not asked."""

    first: VerdictFigures | None
    second: VerdictFigures | None


class DuelScores(DuelPart):
    """One model's figures that follow from its rows."""

    places: DuelPlaces | None = Field(description="null where no answer was judged in both orders")
    single: Single
    words: Annotated[float | None, Display("words", write=whole_number)] = Field(
        ge=0, description="mean words of its answers"
    )
    tokens: Annotated[float | None, Display("tokens", "mean output tokens of an answer", write=whole_number)] = Field(
        ge=0, description="mean output tokens of its answers; null where any is unknown"
    )
    same_text: Count = Field(description="answers that are the baseline's, word for word: both orders are one request")
    failures: Failures = Field(description="answers that failed in any part, by the kind of its first failure")
    left_open: LeftOpen = Field(default_factory=dict[FailureKind, int])
    by_category: dict[str, DuelPart]
    by_task: dict[str, DuelPart]


class DuelledModel(DuelScores, Used):
    """One model's figures against the baseline."""


def _signed_coefficient(value: float | None, pointer: str) -> Cell:
    if value is None:
        return NOTHING
    return signed_text(value, 3)


class LengthBias(Value):
    """The correlation of reward with the difference in length from the baseline's answer."""

    n: Annotated[Count, Display("answers", write=lambda value, pointer: f"{value:,}")] = Field(
        description="answers with a verdict"
    )
    words: Annotated[
        float,
        Display(
            "longer by",
            "mean words more than the baseline's answer",
            write=lambda value, pointer: signed_text(value, 0),
        ),
    ] = Field(description="mean of how many words more than the baseline's an answer has")
    r: Annotated[float | None, Display("r", write=_signed_coefficient)] = Field(
        ge=-1, le=1, description="correlation; null where one of the two does not vary"
    )
    low: float | None = Field(description="lower end of the 95 % interval")
    high: float | None = Field(description="upper end of the 95 % interval")
    no_interval: NoInterval = None
    interval_method: IntervalMethod = None
    p: Annotated[Fraction | None, Display("p", "exchange of whole cases", write=p_value)] = Field(
        description="exchange of whole cases; null without a test"
    )
    adjusted: Annotated[Fraction | None, Display("adjusted p", "Benjamini and Hochberg", write=p_value)] = Field(
        description="p corrected for all models that see the images"
    )
    p_published: Fraction | None = Field(description="p that takes answers for independent")
    reason: str = Field(description="why there is no test; empty where there is")


class ImageGap(Value):
    """The difference between the answers of a second arm and those of a first, in one measure."""

    n: Count = Field(description="answers that were judged in both")
    difference: Annotated[Interval | None, Display("difference", write=signed_reward)] = Field(
        description="the second arm minus the first; null without a pair"
    )
    p: Fraction | None = Field(description="sign flips of whole cases, two-sided; null without a pair")
    adjusted: Annotated[Fraction | None, Display("adjusted p", write=p_value)] = Field(
        description="p corrected over all pairs of arms and both measures"
    )


class LanguageModelGap(Value):
    """A vision model minus a language model, both answering from the same descriptions (Creation-MMBench, table 3)."""

    language_model: str = Field(description="the first of the two")
    model: str = Field(description="the second of the two: a model that sees")
    reward: ImageGap
    factuality: ImageGap


class WithoutImages(Value):
    """The change of a model's figures without the images: the first arm sees them, the second does not."""

    reward: ImageGap
    factuality: ImageGap


class Cases(Value):
    """Counts of cases by the criteria, ground truth, images, category and task that they have."""

    general_criteria: Count = Field(
        description="cases without subjective criteria of their own, judged by general ones"
    )
    factuality_criteria: Count = Field(description="cases with criteria of visual factuality")
    factuality_by_image: Count = Field(
        description="of these, those without a ground truth, whose judge of it is shown the images"
    )
    factuality_unknown: Count = Field(
        description="of these, those whose judge is shown neither ground truth nor image: it does not apply to them"
    )
    ground_truth: Count = Field(description="cases with a ground truth")
    several_images: Count = Field(description="cases with more than one image")
    without_category: Count = Field(description="cases that name no category")
    without_task: Count = Field(description="cases that name no task")


class DuelFigures(Used, DataFigures):
    """The figures of duels."""

    samples: Count = Field(description="cases of the run")
    judge: Judge
    baseline: str = Field(description="whose answers the others are held against; `reference`: the data's")
    repeats: int = Field(ge=1, description="answers and judgements a case")
    orders: Literal[1, 2] = Field(description="orders of places that the judge was asked in")
    judge_sees: Literal["image", "text"] = Field(description="whether the judge of the duels was shown the images")
    protocol: Protocol = Field(description="default, or as in the paper")
    factuality: FactualityBy = Field(description="what visual factuality was judged by")
    describer: str | None = Field(description="who described the images; null where nobody did")
    descriptions: Instruction | None = Field(description="whether descriptions were made with an eye to the request")
    direction: Direction
    without_images: dict[str, WithoutImages] = Field(
        description="the arm without images minus the answers by the images, by the name of the arm, NAME#blind or NAME#text"
    )
    language_models: tuple[LanguageModelGap, ...] = Field(
        description="every model that sees minus every language model, by the same descriptions"
    )
    elsewhere: Elsewhere | None = Field(default=None, description="only where scores were given")
    cases: Cases
    lead: Lead | None = Field(
        default=None,
        description="model with the highest reward against the next, in points of reward; left out without two models, "
        "arms not counted",
    )
    models: dict[str, DuelledModel] = Field(
        description="by name; NAME#blind answered without images, NAME#text by a description of them, NAME#again is the "
        "baseline's second answer"
    )
    places: DuelPlaces | None = Field(description="over all models")
    length_bias: dict[str, LengthBias] = Field(description="by model")


def lead_in_reward(rows: "Iterable[DuelRow]", *, seed: int) -> Lead | None:
    """Return the lead of the model with the highest reward; None with fewer than two models, arms not counted."""
    rewards: dict[str, dict[str, list[float]]] = {}
    clusters: dict[str, str] = {}
    for row in rows:
        if "#" not in row.model and row.reward is not None:
            rewards.setdefault(row.model, {}).setdefault(row.sample_id, []).append(row.reward)
            clusters[row.sample_id] = row.cluster
    means = {
        model: {id: sum(values) / len(values) for id, values in by_sample.items()}
        for model, by_sample in rewards.items()
    }
    return lead_of(means, clusters, widest=4.0 * REWARD, seed=seed)


@dataclass(frozen=True, slots=True)
class DuelRow:
    """An answer compared with the baseline's: the judgement in each order, None if it failed.

    `model` is the displayed name with the arm; `verdicts` are +2 to -2 in favour of the answer; `factuality` holds its
    score and the baseline's, 0 to 10, empty for a case without visual factuality. `words` and `tokens` are the answer's
    length (None if unknown), `longer` is the difference in words from the baseline's answer, and `same` says whether
    the two texts are identical.
    """

    sample_id: str
    cluster: str
    model: str
    repeat: int
    category: str
    task: str
    verdicts: Mapping[Place, int | None]
    factuality: Mapping[Place, tuple[float, float] | None]
    failure: FailureKind | None = None
    words: int | None = None
    tokens: int | None = None
    longer: int | None = None
    same: bool = False

    @property
    def verdict_pair(self) -> tuple[int, int] | None:
        """The verdicts with the answer in the first and in the second position; None unless both exist."""
        first, second = (self.verdicts.get(place) for place in PLACES)
        if first is None or second is None:
            return None
        return (first, second)

    @property
    def reward(self) -> float | None:
        """The mean reward over all orders; None unless each order has a verdict."""
        verdicts = complete(self.verdicts.values())
        if verdicts:
            return REWARD * sum(verdicts) / len(verdicts)
        return None

    @property
    def factuality_score(self) -> float | None:
        """The mean visual factuality score over all orders; None unless each order has one."""
        return unrounded_mean([score for score, _ in complete(self.factuality.values())])


def complete(judgements: Iterable[T | None]) -> tuple[T, ...]:
    """Return an answer's judgements in all orders; nothing if an order failed.

    A single order would confound the effect of the position with the quality of the answer.
    """
    all_judgements = tuple(judgements)
    valid = tuple(judgement for judgement in all_judgements if judgement is not None)
    if len(valid) == len(all_judgements):
        return valid
    return ()


class DuelTables(Value):
    """The figures that follow from the judgements of answers."""

    models: dict[str, DuelScores]
    places: DuelPlaces | None
    length_bias: dict[str, LengthBias]
    without_images: dict[str, WithoutImages]
    language_models: tuple[LanguageModelGap, ...]


def duel_tables(rows: Iterable[DuelRow], *, seed: int) -> DuelTables:
    """Return the figures of compared answers.

    Args:
        rows: the compared answers, in the run's order.
        seed: seed of the bootstrap and of the tests.
    """
    all_rows = list(rows)
    by_model = grouped(all_rows, lambda row: row.model)
    return DuelTables(
        models={name: model_figures(of_model, seed=seed) for name, of_model in by_model.items()},
        places=place_figures(all_rows, seed=seed),
        length_bias=_length_biases(by_model, seed=seed),
        without_images=_image_ablation(by_model, seed=seed),
        language_models=_language_models(by_model, seed=seed),
    )


def model_figures(rows: Sequence[DuelRow], *, seed: int) -> DuelScores:
    """Return the figures of one model from its rows."""
    tokens = [row.tokens for row in rows if row.tokens is not None]
    words = [row.words for row in rows if row.words is not None]
    return DuelScores(
        **dict(part_figures(rows, seed=seed)),
        places=place_figures(rows, seed=seed),
        single=Single(first=one_order(rows, "first", seed=seed), second=one_order(rows, "second", seed=seed)),
        words=mean(words),
        tokens=mean(tokens) if len(tokens) == len(words) else None,
        same_text=sum(row.same for row in rows),
        **failure_fields(row.failure for row in rows if row.failure),
        by_category=_parts(rows, lambda row: row.category, seed=seed),
        by_task=_parts(rows, lambda row: row.task, seed=seed),
    )


def part_figures(rows: Sequence[DuelRow], *, seed: int) -> DuelPart:
    """Return the figures of a model over some cases: reward, win rate, verdict counts, visual factuality."""
    answers = [(tuple(row.verdicts.values()), row.cluster) for row in rows]
    verdicts = verdict_figures(answers, seed=seed, unasked=unasked(rows))
    return DuelPart(
        **dict(verdicts),
        n=len({row.sample_id for row in rows}),
        factuality=_factuality(rows, seed=seed),
    )


def unasked(rows: Iterable[DuelRow]) -> int:
    """Return the number of verdicts that are missing because the budget ran out; a resume requests them."""
    count = 0
    for row in rows:
        if row.failure in OPEN_KINDS:
            count += sum(verdict is None for verdict in row.verdicts.values())
    return count


def verdict_figures(
    answers: Sequence[tuple[Sequence[int | None], str]], *, seed: int, unasked: int = 0
) -> VerdictFigures:
    """Return reward and win rate with intervals, counts, and bounds that allow for failures.

    Reward, win rate and counts cover the answers judged in every order, so that both positions have equal weight;
    bounds cover all answers.

    Args:
        answers: for each answer, its verdicts by order (None where one failed) and its cluster.
        seed: seed of the bootstrap.
        unasked: number of missing verdicts that were not requested because the budget ran out.
    """
    values: list[int] = []
    clusters: list[str] = []
    all_verdicts: list[int | None] = []
    for verdicts, cluster in answers:
        complete_verdicts = complete(verdicts)
        values += complete_verdicts
        clusters += [cluster] * len(complete_verdicts)
        all_verdicts += verdicts
    valid = [verdict for verdict in all_verdicts if verdict is not None]
    counts = count_verdicts(values)
    all_counts = count_verdicts(valid, failed=len(all_verdicts) - len(valid))
    reward = win_rate = bounds = None
    if values:
        reward = interval_of(counts.reward or 0.0, reward_interval(values, clusters=clusters, seed=seed))
        win_rate = interval_of(counts.win_rate or 0.0, win_rate_interval(values, clusters=clusters))
    if all_verdicts:
        bounds = RewardBoundsFigures(
            reward=_bounds(all_counts.reward_bounds), win_rate=_bounds(all_counts.win_rate_bounds)
        )
    return VerdictFigures(
        reward=reward,
        win_rate=win_rate,
        verdicts=Verdicts(
            **counts._replace(failed=all_counts.failed)._asdict(),
            valid=counts.n_valid,
            one_order=all_counts.n_valid - counts.n_valid,
            open=unasked,
        ),
        bounds=bounds,
    )


def place_figures(rows: Sequence[DuelRow], *, seed: int) -> DuelPlaces | None:
    """Return the effect of the order on verdicts, over answers with a valid verdict in both orders; None without any.

    `consistency` is the percentage of answers that both orders decide for the same side. `bias` is the advantage of the
    first position in points of reward: half of a model's gain from being shown first instead of second. `p` tests the
    bias by sign flips of whole cases.
    """
    first: list[int] = []
    second: list[int] = []
    clusters: list[str] = []
    for row in rows:
        if row.verdict_pair is not None:
            first.append(row.verdict_pair[0])
            second.append(row.verdict_pair[1])
            clusters.append(row.cluster)
    if not clusters:
        return None
    agreeing = position_consistency_interval(first, second, clusters=clusters)
    bias = position_bias_interval(first, second, clusters=clusters, seed=seed)
    differences = [before - after for before, after in zip(first, second, strict=True)]
    return DuelPlaces(
        n=len(clusters),
        consistency=interval_of(100 * position_consistency(first, second), agreeing, unit=100),
        bias=interval_of(position_bias(first, second), bias),
        p=rounded(sign_flip_test(differences, clusters=clusters, seed=seed).p_value),
    )


def one_order(rows: Sequence[DuelRow], place: Place, *, seed: int) -> VerdictFigures | None:
    """Return the figures of the verdicts in one order; None if that order was not judged."""
    rows = [row for row in rows if place in row.verdicts]
    if not rows:
        return None
    n_unasked = sum(row.verdicts[place] is None for row in rows if row.failure in OPEN_KINDS)
    return verdict_figures([((row.verdicts[place],), row.cluster) for row in rows], seed=seed, unasked=n_unasked)


def _parts(rows: Sequence[DuelRow], part_of: Callable[[DuelRow], str], *, seed: int) -> dict[str, DuelPart]:
    """Return the figures by category or task, without rows that lack one."""
    parts = grouped([row for row in rows if part_of(row)], part_of)
    return {name: part_figures(part, seed=seed) for name, part in sorted(parts.items())}


def _factuality(rows: Sequence[DuelRow], *, seed: int) -> Factuality | None:
    """Return the visual factuality scores of a model and of the baseline, 0 to 10; None if no case has one."""
    applicable = [row for row in rows if row.factuality]
    if not applicable:
        return None
    scores: list[float] = []
    baseline_scores: list[float] = []
    clusters: list[str] = []
    valid: list[float] = []
    failures = 0
    for row in applicable:
        for score, baseline_score in complete(row.factuality.values()):
            scores.append(score)
            baseline_scores.append(baseline_score)
            clusters.append(row.cluster)
        for judgement in row.factuality.values():
            if judgement is None:
                failures += 1
            else:
                valid.append(judgement[0])
    cases = len({row.sample_id for row in applicable})
    return Factuality(
        n=cases,
        not_applicable=len({row.sample_id for row in rows}) - cases,
        judged=len(scores),
        one_order=len(valid) - len(scores),
        failed=failures,
        model=mean_with_interval(scores, clusters, seed=seed, bounds=SCALE),
        baseline=mean_with_interval(baseline_scores, clusters, seed=seed, bounds=SCALE),
        bounds=mean_bounds(sum(valid), sum(valid) + HIGHEST * failures, len(valid) + failures),
    )


def _length_biases(models: Mapping[str, Sequence[DuelRow]], *, seed: int) -> dict[str, LengthBias]:
    """Return the correlation of reward with the difference of lengths, by model; models without a judged answer are left out.

    P-values are adjusted over the models that see the images.
    """
    biases: dict[str, LengthAssociation] = {}
    for name, rows in models.items():
        triples: list[tuple[float, float, str]] = []
        for row in rows:
            if row.longer is not None and row.reward is not None:
                triples.append((float(row.longer), row.reward, row.cluster))
        if triples:
            biases[name] = length_and_score(triples, seed=seed)
    sighted = {name: bias for name, bias in biases.items() if not name.endswith((f"#{BLIND}", f"#{TEXT}"))}
    adjusted_p = adjusted_over(sighted)
    return {name: LengthBias(**dict(bias), adjusted=adjusted_p.get(name)) for name, bias in biases.items()}


def _image_ablation(models: Mapping[str, Sequence[DuelRow]], *, seed: int) -> dict[str, WithoutImages]:
    """Return the differences between arms without images and the same models' answers with images.

    The comparison covers cases and repeats judged in both arms, clustered by shared images; p-values are adjusted over
    all arms and both measures (Creation-MMBench, tables 3 and 6, figure 4).
    """
    gaps: dict[str, tuple[ImageGap, ImageGap]] = {}
    for name, arm in models.items():
        full_name = name.removesuffix(f"#{BLIND}").removesuffix(f"#{TEXT}")
        if full_name != name and full_name in models:
            gaps[name] = _gaps(models[full_name], arm, seed=seed)
    return {name: WithoutImages(reward=reward, factuality=factuality) for name, reward, factuality in _adjusted(gaps)}


def _language_models(models: Mapping[str, Sequence[DuelRow]], *, seed: int) -> tuple[LanguageModelGap, ...]:
    """Return each vision model minus each language model, both answering from descriptions."""
    by_text = [name.removesuffix(f"#{TEXT}") for name in models if name.endswith(f"#{TEXT}")]
    gaps: dict[tuple[str, str], tuple[ImageGap, ImageGap]] = {}
    for first, second in product(by_text, by_text):
        if first not in models and second in models:
            gaps[first, second] = _gaps(models[f"{first}#{TEXT}"], models[f"{second}#{TEXT}"], seed=seed)
    model_gaps: list[LanguageModelGap] = []
    for (first, second), reward, factuality in _adjusted(gaps):
        model_gaps.append(LanguageModelGap(language_model=first, model=second, reward=reward, factuality=factuality))
    return tuple(model_gaps)


def _gaps(first: Sequence[DuelRow], second: Sequence[DuelRow], *, seed: int) -> tuple[ImageGap, ImageGap]:
    """Return reward and visual factuality of the second arm minus those of the first, on the same cases and repeats."""
    row_by_key = {(row.sample_id, row.repeat): row for row in second}
    pairs = [(row, row_by_key[key]) for row in first if (key := (row.sample_id, row.repeat)) in row_by_key]
    return (
        _gap(pairs, lambda row: row.reward, widest=4 * REWARD, seed=seed),
        _gap(pairs, lambda row: row.factuality_score, widest=HIGHEST, seed=seed),
    )


def _gap(
    pairs: Sequence[tuple[DuelRow, DuelRow]],
    measure: Callable[[DuelRow], float | None],
    *,
    widest: float,
    seed: int,
) -> ImageGap:
    """Return the mean difference of two arms, second minus first, over pairs with the measure on both sides."""
    differences: list[float] = []
    clusters: list[str] = []
    for row, other in pairs:
        value, other_value = measure(row), measure(other)
        if value is not None and other_value is not None:
            differences.append(other_value - value)
            clusters.append(row.cluster)
    comparison = paired_difference(differences, clusters, widest=widest, seed=seed)
    return ImageGap(n=len(differences), difference=comparison.difference, p=comparison.p_value, adjusted=None)


def _adjusted(gaps: Mapping[T, tuple[ImageGap, ImageGap]]) -> Iterator[tuple[T, ImageGap, ImageGap]]:
    """Yield both gaps of each pair of arms, with p-values adjusted over all of them."""
    tested = [gap for pair in gaps.values() for gap in pair]
    both = iter(with_adjusted(tested, [gap.p for gap in tested]))
    for name in gaps:
        yield name, next(both), next(both)


def _bounds(ends: tuple[float, float]) -> Bounds:
    low, high = ends
    return Bounds(low=rounded(low), high=rounded(high))
