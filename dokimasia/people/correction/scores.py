"""Mean scores of a run from people's scores of some answers and the judge's of all."""

from collections.abc import Mapping, Sequence
from itertools import combinations

from dokimasia.algorithms.correction import Powered, RatedAnswers, labels_needed, stratified_difference, stratified_mean
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
    """Return each model's mean score, and every two models compared.

    Args:
        judged: the run, with the judge's scores.
        labels: people's scores.
        by_category: whether they are random draws of each category, rather than of all answers.
        width: the width of an interval to count labels for, as a share of the scale; None without any.
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
    """Return at most five sentences: how models compare, or the score of the only one, and which labels are missing."""
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
            f"Corrected by labels, {name} has a mean score of {one.score:.2f}{bracketed(one, lambda end: f'{end:.2f}')}."
            for name, one in scores.models.items()
            if one.score is not None
        ]
    missing = {name: one.missing for name, one in scores.models.items() if one.missing}
    if missing:
        counts = ", ".join(f"{name} {count:,}" for name, count in missing.items())
        sentences.insert(0, f"At least {sum(missing.values()):,} labels are missing ({counts}).")
    return tuple(sentences[:MOST_SENTENCES])


def _rated(answers: Sequence[AnswerScore], labels: ScoreLabels, categories: Mapping[str, str] | None) -> RatedAnswers:
    return RatedAnswers(
        [one.score for one in answers],
        [None if one.repeat else labels.scores.get(one.unit) for one in answers],
        None if categories is None else [categories[one.unit.id] for one in answers],
    )


def _model(
    answers: Sequence[AnswerScore],
    labels: ScoreLabels,
    categories: Mapping[str, str] | None,
    *,
    width: float | None,
    seed: int,
) -> ScoreByLabels:
    rated, clusters = _rated(answers, labels, categories), [one.cluster for one in answers]
    found = stratified_mean(rated, clusters=clusters, scale=SCALE, together=categories is None, seed=seed)
    judged = mean([one.score for one in answers])
    needed: int | None = None
    if width is not None:
        points = width * (HIGHEST - LOWEST)
        needed = labels_needed(rated, points, clusters=clusters, scale=SCALE, seed=seed)
    return ScoreByLabels(
        **dict(_score(found)),
        answers=len(answers),
        judged=None if judged is None else rounded(judged),
        weight=None if found.rate is None else rounded(found.weight),
        labels=found.labels,
        clusters=found.clusters,
        missing=found.missing,
        needed=needed,
        alone=_score(
            found if found.alone is None else found._replace(rate=found.alone.share, interval=found.alone.interval)
        ),
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
    others = {(one.unit.id, one.repeat): one for one in scores[second]}
    both = [(one, others[one.unit.id, one.repeat]) for one in scores[first] if (one.unit.id, one.repeat) in others]
    found, judged = Powered(None, None, 0.0, None, 0, 0, 0, "nothing was scored of both"), None
    if both:
        sides = [_rated(side, labels, categories) for side in zip(*both, strict=True)]
        clusters = [one.cluster for one, _ in both]
        found = stratified_difference(
            sides[0], sides[1], clusters=clusters, scale=SCALE, together=categories is None, seed=seed
        )
        judged = rounded(sum(after.score - before.score for before, after in both) / len(both))
    return ScoreDifference(
        first=first,
        second=second,
        n=len(both),
        judged=judged,
        difference=None if found.rate is None else rounded(found.rate),
        **limits(found.interval),
        refused=found.reason,
    )


def _score(found: Powered) -> CorrectedScore:
    score = None if found.rate is None else rounded(found.rate)
    return CorrectedScore(score=score, **limits(found.interval), refused=found.reason)
