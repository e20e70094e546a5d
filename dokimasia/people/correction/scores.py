"""Mean scores of a run, corrected with people's scores of some of its answers."""

from collections.abc import Mapping, Sequence
from itertools import combinations

from dokimasia.algorithms.correction import (
    Corrected,
    Powered,
    RatedAnswers,
    labels_needed,
    stratified_difference,
    stratified_mean,
)
from dokimasia.people.correction.given import ScoreLabels
from dokimasia.people.correction.shape import CorrectedScore, CorrectedScores, ScoreByLabels, ScoreDifference
from dokimasia.report.conclusions import MOST_SENTENCES
from dokimasia.report.figures import HIGHEST, LOWEST, bracketed, signed_text
from dokimasia.runs.decisions import AnswerScore, DecidedRun
from dokimasia.runs.measures import limits, mean, rounded

SCALE = (LOWEST, HIGHEST)


def corrected_scores(
    judged: DecidedRun, labels: ScoreLabels, *, by_category: bool, width: float | None, seed: int
) -> CorrectedScores:
    """Return each model's corrected mean score, and the difference between every two models.

    Args:
        judged: the run, with the judge's scores.
        labels: people's scores.
        by_category: whether the labels were drawn at random within each category, rather than from all answers.
        width: count the labels required for an interval of this width, as a share of the scale; None for no count.
        seed: the seed of the folds.
    """
    categories = judged.categories if by_category else None
    models = {
        name: _model(answers, labels, categories, width=width, seed=seed) for name, answers in judged.scores.items()
    }
    pairs = [
        _pair(first, second, judged.scores, labels, categories, seed=seed)
        for first, second in combinations(judged.scores, 2)
    ]
    return CorrectedScores(labels=len(labels.scores), people=labels.people, models=models, pairs=tuple(pairs))


def score_conclusion(scores: CorrectedScores) -> tuple[str, ...]:
    """Return at most five sentences: how the models compare (or a single model's score), and the missing labels."""
    sentences: list[str] = []
    for pair in scores.pairs:
        if pair.difference is None or pair.low is None or pair.high is None:
            continue
        size = f"{pair.second} − {pair.first} is {signed_text(pair.difference, 2)} points"
        size += bracketed(pair, lambda end: signed_text(end, 2))
        if pair.low <= 0 <= pair.high:
            sentences.append(
                f"Corrected by labels, it is not clear whether {pair.second} or {pair.first} is better: {size}."
            )
        else:
            better, worse = (pair.second, pair.first) if pair.difference > 0 else (pair.first, pair.second)
            sentences.append(f"Corrected by labels, {better} scores higher than {worse}: {size}.")
    if not sentences:
        sentences += [
            f"Corrected by labels, {name} has a mean score of {estimate.score:.2f}"
            f"{bracketed(estimate, lambda end: f'{end:.2f}')}."
            for name, estimate in scores.models.items()
            if estimate.score is not None
        ]
    missing = {name: estimate.missing for name, estimate in scores.models.items() if estimate.missing}
    if missing:
        counts = ", ".join(f"{name} {count:,}" for name, count in missing.items())
        sentences.insert(0, f"At least {sum(missing.values()):,} labels are missing ({counts}).")
    return tuple(sentences[:MOST_SENTENCES])


def _rated_answers(
    answers: Sequence[AnswerScore], labels: ScoreLabels, categories: Mapping[str, str] | None
) -> RatedAnswers:
    return RatedAnswers(
        [answer.score for answer in answers],
        [None if answer.repeat else labels.scores.get(answer.unit) for answer in answers],
        None if categories is None else [categories[answer.unit.id] for answer in answers],
    )


def _model(
    answers: Sequence[AnswerScore],
    labels: ScoreLabels,
    categories: Mapping[str, str] | None,
    *,
    width: float | None,
    seed: int,
) -> ScoreByLabels:
    rated, clusters = _rated_answers(answers, labels, categories), [answer.cluster for answer in answers]
    estimate = stratified_mean(rated, clusters=clusters, scale=SCALE, together=categories is None, seed=seed)
    judged = mean([answer.score for answer in answers])
    needed: int | None = None
    if width is not None:
        points = width * (HIGHEST - LOWEST)
        needed = labels_needed(rated, points, clusters=clusters, scale=SCALE, seed=seed)
    alone = estimate
    if estimate.alone is not None:
        alone = estimate._replace(rate=estimate.alone.share, interval=estimate.alone.interval)
    return ScoreByLabels(
        **dict(_score(estimate)),
        answers=len(answers),
        judged=rounded(judged),
        weight=None if estimate.rate is None else rounded(estimate.weight),
        labels=estimate.labels,
        clusters=estimate.clusters,
        missing=estimate.missing,
        needed=needed,
        alone=_score(alone),
    )


def _pair(
    first: str,
    second: str,
    scores: Mapping[str, Sequence[AnswerScore]],
    labels: ScoreLabels,
    categories: Mapping[str, str] | None,
    *,
    seed: int,
) -> ScoreDifference:
    others = {(answer.unit.id, answer.repeat): answer for answer in scores[second]}
    before: list[AnswerScore] = []
    after: list[AnswerScore] = []
    for answer in scores[first]:
        if (other := others.get((answer.unit.id, answer.repeat))) is not None:
            before.append(answer)
            after.append(other)
    estimate: Corrected | Powered = Corrected(None, None, "nothing was scored of both")
    judged: float | None = None
    if before:
        sides = _rated_answers(before, labels, categories), _rated_answers(after, labels, categories)
        clusters = [answer.cluster for answer in before]
        estimate = stratified_difference(*sides, clusters=clusters, scale=SCALE, together=categories is None, seed=seed)
        steps = [other.score - answer.score for answer, other in zip(before, after, strict=True)]
        judged = rounded(sum(steps) / len(steps))
    return ScoreDifference(
        first=first,
        second=second,
        n=len(before),
        judged=judged,
        difference=rounded(estimate.rate),
        **limits(estimate.interval),
        refused=estimate.reason,
    )


def _score(estimate: Powered) -> CorrectedScore:
    score = rounded(estimate.rate)
    return CorrectedScore(score=score, **limits(estimate.interval), refused=estimate.reason)
