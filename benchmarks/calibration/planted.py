"""Judgements drawn from the planted world's parameters, without pictures, prompts or the program's own parsing.

A step's outcome and a judge's score are drawn here from the profiles' definitions; what they should come to is asked of
`dokimasia.simulation.truths.evaluation`, which shares no code with this or with the estimators.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from random import Random
from typing import Literal, NamedTuple

from dokimasia.simulation.profiles import CandidateProfile, JudgeProfile, as_candidate, as_judge, find_profile
from dokimasia.simulation.scene import QUESTION_KINDS, Scene, SceneQuestion
from dokimasia.simulation.truths.evaluation import expected_score
from dokimasia.simulation.world import make_world

SAMPLES = 69
"""Questions of one seed's world, on some 28 images: as many as a small real data set has."""

FOG = 0.2
FOGGED_SKILL = 0.05

State = Literal["right", "hedged", "missing"]


class Candidate(NamedTuple):
    """A candidate that misreads whole images: with probability `fog` an image is answered by `fogged`, else by `clear`.

    All questions on one image share its fog, so that their scores belong together.
    """

    name: str
    clear: CandidateProfile
    fogged: CandidateProfile
    fog: float

    def expected(self, judge: JudgeProfile, scene: Scene, question: SceneQuestion) -> float:
        """Return the planted expectation of one question's score, 1 to 5."""
        clear = expected_score(self.clear, judge, scene, question)
        return (1 - self.fog) * clear + self.fog * expected_score(self.fogged, judge, scene, question)


def candidate(name: str, *, fog: float = FOG) -> Candidate:
    """Return a simulated candidate with fog planted on top of its own faults."""
    clear = as_candidate(find_profile(name))
    fogged = clear.model_copy(update={"base": FOGGED_SKILL, "overrides": {}, "domain_shift": {}})
    return Candidate(name, clear, fogged, fog)


def judge(name: str) -> JudgeProfile:
    """Return a simulated judge."""
    return as_judge(find_profile(name))


@lru_cache(maxsize=2)
def world(seed: int) -> tuple[tuple[Scene, SceneQuestion], ...]:
    """Return one seed's questions with their scenes: domains and kinds in turn."""
    return tuple(make_world(SAMPLES, seed))


def every_question(pairs: Sequence[tuple[Scene, SceneQuestion]]) -> Iterator[tuple[Scene, SceneQuestion]]:
    """Yield all six questions of each scene, so that many share an image."""
    for scene in {scene.id: scene for scene, _ in pairs}.values():
        for question in scene.questions:
            yield scene, question


def fogged_images(rng: Random, who: Candidate, pairs: Sequence[tuple[Scene, SceneQuestion]]) -> set[str]:
    """Draw the images that a candidate misreads as a whole."""
    return {id for id in dict.fromkeys(scene.id for scene, _ in pairs) if rng.random() < who.fog}


def draw_states(rng: Random, who: CandidateProfile, scene: Scene, question: SceneQuestion) -> list[State]:
    """Draw what becomes of each step of one answer."""
    fate = rng.random()
    kept = len(question.steps)
    if fate < who.refusal + who.malformed:
        kept = 0
    elif fate < who.refusal + who.malformed + who.truncated:
        kept //= 2
    return [
        _state(rng, who, who.skill(step.capability, scene.domain)) if position < kept else "missing"
        for position, step in enumerate(question.steps)
    ]


def draw_scores(rng: Random, rater: JudgeProfile, states: Sequence[State]) -> tuple[int, ...] | None:
    """Draw a judge's score for each step; None where its reply is of no use."""
    if rng.random() < 1 - (1 - rater.refusal) * (1 - rater.format_noise):
        return None
    return tuple(_score(rng, rater, state) for state in states)


def chance_of_agreement(rater: JudgeProfile, who: CandidateProfile, scene: Scene, question: SceneQuestion) -> float:
    """Return the mean over steps of the probability that a judge scores as a faultless one does."""
    whole = 1 - who.refusal - who.malformed - who.truncated
    chances: list[float] = []
    for position, step in enumerate(question.steps):
        stated = whole + (who.truncated if position < len(question.steps) // 2 else 0.0)
        good = stated * (1 - who.omission) * who.skill(step.capability, scene.domain)
        steady = 1 - rater.jitter
        chances.append(
            good * (1 - who.hedging) * (1 - rater.false_alarm) * steady
            + good * who.hedging * rater.detects_hedged
            + (1 - good) * rater.detects_missing * steady
        )
    return sum(chances) / len(chances)


def kinds_of(pairs: Sequence[tuple[Scene, SceneQuestion]]) -> dict[str, list[int]]:
    """Return the positions of each kind of question."""
    return {kind: [at for at, (_, question) in enumerate(pairs) if question.kind == kind] for kind in QUESTION_KINDS}


def _state(rng: Random, who: CandidateProfile, skill: float) -> State:
    if rng.random() < who.omission or rng.random() >= skill:
        return "missing"
    return "hedged" if rng.random() < who.hedging else "right"


def _score(rng: Random, rater: JudgeProfile, state: State) -> int:
    if state == "right":
        score = 1 if rng.random() < rater.false_alarm else 5
    elif state == "hedged":
        score = 3 if rng.random() < rater.detects_hedged else 5
    else:
        score = 1 if rng.random() < rater.detects_missing else 5
    if score != 3 and rng.random() < rater.jitter:
        return 2 if score == 1 else 4
    return score
