"""Answers that leave things unsaid, drawn from planted parameters, and what is expected of them by the rules of probability.

A step is made right, hedged or wrong; then it is said or not; then a judge scores it, silence 1. The final answer is
always said, and is right where the last step is not wrong. The expectations share nothing with the estimators: they go
through the sets of criteria that may be said, and never through an answer.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from random import Random
from typing import NamedTuple

from benchmarks.calibration.planted import Candidate, State, draw_scores, draw_states
from dokimasia.simulation.profiles import CandidateProfile, JudgeProfile
from dokimasia.simulation.scene import Scene, SceneQuestion, SceneStep

Pairs = Sequence[tuple[Scene, SceneQuestion]]
Silence = Callable[[float, bool], float]
"""The probability that a step is not said, by how easy it is (0 to 1), and whether it is wrong."""

UNDECIDED = 0.03
"""The share of final answers of which no verdict comes, whether right or wrong."""

SHORTEST, DOUBLED, SPREAD = 5.0, 0.6, 0.5
"""Of an answer's length, as a logarithm to the base 2: without a step, more for each step said, and by chance."""


class Speaker(NamedTuple):
    """A candidate, how it is silent, and how easy criteria are, which does not depend on the candidate."""

    who: Candidate
    silence: Silence
    ease: CandidateProfile
    wordy: float = 0.0

    def easy(self, scene: Scene, step: SceneStep) -> float:
        """Return how easy a step is."""
        return self.ease.skill(step.capability, scene.domain)


class Said(NamedTuple):
    """One answer: whether it is right (None: no verdict), its scores (None: the judge failed), what it says, its length."""

    right: bool | None
    scores: tuple[int, ...] | None
    stated: tuple[bool, ...]
    length: int


def answers(
    rng: Random, speaker: Speaker, rater: JudgeProfile, pairs: Pairs, fogged: set[str], *, deaf: float = 0.0
) -> list[Said]:
    """Draw an answer to each question, and what a judge finds that takes a share `deaf` of silences for errors."""
    return [_answer(rng, speaker, rater, scene, question, scene.id in fogged, deaf) for scene, question in pairs]


def _answer(
    rng: Random, speaker: Speaker, rater: JudgeProfile, scene: Scene, question: SceneQuestion, fogged: bool, deaf: float
) -> Said:
    states = draw_states(rng, speaker.who.fogged if fogged else speaker.who.clear, scene, question)
    said = [
        rng.random() >= speaker.silence(speaker.easy(scene, step), state == "missing")
        for step, state in zip(question.steps, states, strict=True)
    ]
    right = None if rng.random() < UNDECIDED else states[-1] != "missing"
    length = round(2 ** (SHORTEST + speaker.wordy + DOUBLED * sum(said) + rng.gauss(0, SPREAD)))
    stated = [one or rng.random() < deaf for one in said]
    heard: list[State] = [state if one else "missing" for state, one in zip(states, said, strict=True)]
    scores = draw_scores(rng, rater, heard)
    if scores is not None:
        scores = tuple(score if one else 1 for score, one in zip(scores, stated, strict=True))
    return Said(right, scores, tuple(stated), length)


class Expected(NamedTuple):
    """What is expected of a speaker whose silence does not depend on whether it errs, over questions.

    `accuracy`, the share of weight `stated`, the `score` of what is stated over the samples where something is, and the
    correlation of the logarithm of the `length` with the score as published.
    """

    accuracy: float
    stated: float
    score: float
    length: float


def expected(speaker: Speaker, rater: JudgeProfile, pairs: Pairs, *, repeats: int = 1) -> Expected:
    """Return a speaker's planted figures."""
    accuracy = [chance_of_right(speaker.who, scene, question.steps[-1]) for scene, question in pairs]
    shares: list[float] = []
    scores: list[tuple[float, float]] = []
    for scene, question in pairs:
        weights = [step.weight for step in question.steps]
        says = _says(speaker, scene, question)
        shares.append(sum(w * p for w, p in zip(weights, says, strict=True)) / sum(weights))
        means = [_score(speaker.who, rater, scene, step) for step in question.steps]
        scores.append(_over_sets(says, means, weights, _usable(rater), repeats))
    return Expected(_mean(accuracy), _mean(shares), _pooled(scores), expected_length([speaker], rater, pairs))


def expected_gap(one: Speaker, other: Speaker, rater: JudgeProfile, pairs: Pairs) -> float:
    """Return the planted difference of scores, other minus one, on the criteria that both address."""
    gaps: list[tuple[float, float]] = []
    for scene, question in pairs:
        both = [a * b for a, b in zip(_says(one, scene, question), _says(other, scene, question), strict=True)]
        means = [_score(other.who, rater, scene, step) - _score(one.who, rater, scene, step) for step in question.steps]
        gaps.append(_over_sets(both, means, [step.weight for step in question.steps], _usable(rater) ** 2, 1))
    return _pooled(gaps)


def expected_length(speakers: Sequence[Speaker], rater: JudgeProfile, pairs: Pairs) -> float:
    """Return the planted correlation of the logarithm of length and score, over all answers of speakers."""
    moments = [
        [chance * value for value in _moments(speaker, profile, rater, scene, question)]
        for speaker in speakers
        for scene, question in pairs
        for chance, profile in ((1 - speaker.who.fog, speaker.who.clear), (speaker.who.fog, speaker.who.fogged))
    ]
    whole = len(speakers) * len(pairs)
    length, score, lengths, scores, both = (math.fsum(column) / whole for column in zip(*moments, strict=True))
    return (both - length * score) / math.sqrt((lengths - length**2) * (scores - score**2))


def _moments(
    speaker: Speaker, profile: CandidateProfile, rater: JudgeProfile, scene: Scene, question: SceneQuestion
) -> tuple[float, float, float, float, float]:
    """Return the means of length, score, their squares and their product; the steps of an answer are independent."""
    total = sum(step.weight for step in question.steps)
    length, score, covariance = SHORTEST + speaker.wordy, 0.0, 0.0
    length_variance, score_variance = SPREAD**2, 0.0
    for step, says in zip(question.steps, _says(speaker, scene, question), strict=True):
        share = step.weight / total
        chances = _score_chances(profile, rater, scene, step)
        mean = sum(value * chance for value, chance in chances.items())
        square = sum(value**2 * chance for value, chance in chances.items())
        published = says * mean + (1 - says)
        length, score = length + DOUBLED * says, score + share * published
        length_variance += DOUBLED**2 * says * (1 - says)
        score_variance += share**2 * (says * square + (1 - says) - published**2)
        covariance += DOUBLED * share * says * (1 - says) * (mean - 1)
    return length, score, length_variance + length**2, score_variance + score**2, covariance + length * score


def _over_sets(
    chances: Sequence[float], values: Sequence[float], weights: Sequence[int], usable: float, repeats: int
) -> tuple[float, float]:
    """Return the probability that anything is said in a usable answer, and the mean by weight over what is said then."""
    some = mean = 0.0
    for said in product((False, True), repeat=len(chances)):
        if not any(said):
            continue
        chance = math.prod(p if one else 1 - p for p, one in zip(chances, said, strict=True))
        weight = sum(w for w, one in zip(weights, said, strict=True) if one)
        some += chance
        mean += chance * sum(w * v for w, v, one in zip(weights, values, said, strict=True) if one) / weight
    return 1 - (1 - usable * some) ** repeats, mean / some


def _says(speaker: Speaker, scene: Scene, question: SceneQuestion) -> list[float]:
    return [1 - speaker.silence(speaker.easy(scene, step), False) for step in question.steps]


def _usable(rater: JudgeProfile) -> float:
    return (1 - rater.refusal) * (1 - rater.format_noise)


def chance_of_right(who: Candidate, scene: Scene, step: SceneStep) -> float:
    """Return how likely a candidate gets a step right, or nearly."""
    clear, fogged = (one.skill(step.capability, scene.domain) for one in (who.clear, who.fogged))
    return (1 - who.fog) * clear + who.fog * fogged


def _score(who: Candidate, rater: JudgeProfile, scene: Scene, step: SceneStep) -> float:
    """Return the expected score of a step that is said."""
    return sum(
        share * value * chance
        for share, profile in ((1 - who.fog, who.clear), (who.fog, who.fogged))
        for value, chance in _score_chances(profile, rater, scene, step).items()
    )


def _score_chances(
    profile: CandidateProfile, rater: JudgeProfile, scene: Scene, step: SceneStep
) -> Mapping[int, float]:
    """Return the probability of each score of a step that is said."""
    good = profile.skill(step.capability, scene.domain)
    right, hedged, wrong = good * (1 - profile.hedging), good * profile.hedging, 1 - good
    three = hedged * rater.detects_hedged
    low = right * rater.false_alarm + wrong * rater.detects_missing
    high = 1 - three - low
    flat = 1 - rater.jitter
    return {1: low * flat, 2: low * rater.jitter, 3: three, 4: high * rater.jitter, 5: high * flat}


def _pooled(parts: Sequence[tuple[float, float]]) -> float:
    return sum(chance * mean for chance, mean in parts) / sum(chance for chance, _ in parts)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
