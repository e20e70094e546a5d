"""Expected results of an evaluation, computed from the planted parameters alone, to compare estimates with.

Nothing here draws, renders, reads a reply or averages measurements; the numbers follow from the definitions of
`CandidateProfile` and `JudgeProfile` by the rules of probability. They hold for scored replies, since a judge's refusals
and unusable replies affect all responses alike. They do not cover faults of the transport or server, a `max_tokens` that
cuts an answer, and criteria other than the planted steps.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from dokimasia.simulation.profiles import CandidateProfile, JudgeProfile, Profile, as_candidate, as_judge, find_profile
from dokimasia.simulation.scene import Scene, SceneQuestion, SceneStep

Pairs = Iterable[tuple[Scene, SceneQuestion]]


class _StepScores(NamedTuple):
    """Mean score that a judge gives to a step that is right, hedged, or wrong or missing."""

    right: float
    hedged: float
    missing: float


def expected_score(
    profile: CandidateProfile,
    judge: JudgeProfile,
    scene: Scene,
    question: SceneQuestion,
    *,
    show_image: bool = False,
    tools: bool = False,
) -> float:
    """Return the expected weighted score, 1 to 5, of an answer to a question, by the judge's own criteria.

    `show_image` and `tools` (which also show the image, and enlarge it) affect only a near-sighted judge.
    """
    scores = _expected_steps(profile, judge, scene, question, show_image=show_image, tools=tools)
    total = sum(step.weight for step in question.steps)
    return sum(step.weight * score for step, score in zip(question.steps, scores, strict=True)) / total


def expected_mean(
    candidate: str,
    judge: str,
    pairs: Pairs,
    *,
    models: Mapping[str, Profile] | None = None,
    show_image: bool = False,
    tools: bool = False,
) -> float:
    """Return the mean expected score of a candidate over questions, 1 to 5, under a judge.

    Raises:
        NotFound: a model is unknown.
        ValueError: there are no pairs.
    """
    model, rater = as_candidate(find_profile(candidate, models=models)), as_judge(find_profile(judge, models=models))
    scores = [
        expected_score(model, rater, scene, question, show_image=show_image, tools=tools) for scene, question in pairs
    ]
    if not scores:
        raise ValueError("an expected mean needs at least one question")
    return sum(scores) / len(scores)


def expected_blind_mean(judge: str, *, models: Mapping[str, Profile] | None = None) -> float:
    """Return the expected score, 1 to 5, of a candidate that answers without the image: no step is ever stated."""
    return _scale(as_judge(find_profile(judge, models=models))).missing


def expected_by_capability(
    candidate: str, judge: str, pairs: Pairs, *, models: Mapping[str, Profile] | None = None
) -> dict[str, float]:
    """Return the unweighted mean expected score of the steps of each capability, 1 to 5, by capability path."""
    model, rater = as_candidate(find_profile(candidate, models=models)), as_judge(find_profile(judge, models=models))
    scores: defaultdict[str, list[float]] = defaultdict(list)
    for scene, question in pairs:
        for step, score in zip(question.steps, _expected_steps(model, rater, scene, question), strict=True):
            scores[step.capability].append(score)
    return {capability: sum(values) / len(values) for capability, values in sorted(scores.items())}


def expected_by_domain(
    candidate: str, judge: str, pairs: Pairs, *, models: Mapping[str, Profile] | None = None
) -> dict[str, float]:
    """Return the mean expected score of the questions of each domain, 1 to 5."""
    groups: defaultdict[str, list[tuple[Scene, SceneQuestion]]] = defaultdict(list)
    for scene, question in pairs:
        groups[scene.domain].append((scene, question))
    return {domain: expected_mean(candidate, judge, group, models=models) for domain, group in sorted(groups.items())}


def expected_accuracy(profile: CandidateProfile, scene: Scene, question: SceneQuestion) -> float:
    """Return the probability that the final answer is right: a complete reply whose last step is right or hedged."""
    return profile.whole * (1 - profile.omission) * profile.skill(question.steps[-1].capability, scene.domain)


def expected_chain_right(judge: JudgeProfile, pairs: Pairs, *, tools: bool = False) -> float:
    """Return the share of steps that the judge's own solutions state correctly.

    Raises:
        ValueError: there are no pairs.
    """
    small = [is_small(judge, step) for _, question in pairs for step in question.steps]
    if not small:
        raise ValueError("an expected share needs at least one question")
    if tools:
        return 1.0
    return 1 - sum(small) / len(small)


def is_small(judge: JudgeProfile, step: SceneStep) -> bool:
    """Return whether a step's region is too small a part of the picture for the judge to recognise it."""
    box = step.box
    return box is not None and (box.x1 - box.x0) * (box.y1 - box.y0) < judge.sight


def _expected_steps(
    profile: CandidateProfile,
    judge: JudgeProfile,
    scene: Scene,
    question: SceneQuestion,
    *,
    show_image: bool = False,
    tools: bool = False,
) -> list[float]:
    scale = _scale(judge)
    expected: list[float] = []
    for position, step in enumerate(question.steps):
        statement_rate = (
            profile.delivered(position, len(question.steps)) * (1 - profile.omission) * (1 - profile.silent)
        )
        skill = profile.skill(step.capability, scene.domain)
        good = statement_rate * skill
        if is_small(judge, step) and not tools:
            # Seen, it is beyond verification and passes. Else it is one of the wrong statements, equally likely.
            passed = 1.0 if show_image else statement_rate * (1 - skill) / len(step.wrong)
            expected.append(passed * scale.right + (1 - passed) * scale.missing)
            continue
        plain, hedged = good * (1 - profile.hedging), good * profile.hedging
        expected.append(plain * scale.right + hedged * scale.hedged + (1 - good) * scale.missing)
    return expected


def _scale(judge: JudgeProfile) -> _StepScores:
    top, bottom = 5 - judge.jitter, 1 + judge.jitter

    def mean(fives: float, threes: float = 0.0) -> float:
        # A flicker exchanges a 5 for a 1, and makes a 5 of anything else.
        after = fives * (1 - judge.flicker) + (1 - fives) * judge.flicker
        stays_three = threes * (1 - judge.flicker)
        return after * top + stays_three * 3 + (1 - after - stays_three) * bottom

    return _StepScores(
        right=mean(1 - judge.false_alarm),
        hedged=mean(1 - judge.detects_hedged, judge.detects_hedged),
        missing=mean(1 - judge.detects_missing),
    )
