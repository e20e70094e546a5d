"""The figures of `refine`: what again, retry, self and peer mend, their gains, and no gain where feedback does nothing."""

from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from benchmarks.calibration.planted import State, candidate, judge
from benchmarks.calibration.planted import draw_scores as judged
from benchmarks.calibration.trials import Seed, Trial, trial
from dokimasia.domain.refinement import SOLVED, RefinementRow
from dokimasia.methods.refinement.arms import Measure, arm_figures, gain_figures
from dokimasia.simulation.profiles import CandidateProfile, JudgeProfile
from dokimasia.simulation.scene import Question, Scene
from dokimasia.simulation.truths.refining import ARMS, Arm, expected_rates
from dokimasia.simulation.world import make_world

SAMPLES = 168
"""Questions of one seed's world; somewhat less than half of them are answered wrong."""

LEARNER = candidate("sim/learner").clear
HEEDLESS = candidate("sim/learner-heedless").clear
PEERS = (candidate("sim/tutor-leaky").clear, candidate("sim/steady").clear)
JUDGE = judge("sim/judge-noisy").model_copy(update={"format_noise": 0.0})
GAINS: tuple[tuple[Arm, Arm], ...] = (
    ("retry", "again"),
    ("self", "retry"),
    ("peer", "retry"),
    ("self", "again"),
    ("peer", "again"),
)
ALIKE = 0.5
"""The share of images on which all steps fail for one reason, so that what is mended there belongs together."""
PERMUTATIONS = 2000
ATOM_MEASURES: tuple[Measure, ...] = ("shown", "withheld")


class Answered(NamedTuple):
    """One answer that was wrong: its question and image, its steps' scores, and by arm whether it was mended, and scores."""

    question: str
    image: str
    before: list[int]
    shown: list[int]
    withheld: list[int]
    right: dict[Arm, bool]
    after: dict[Arm, list[int]]


def refinement(seed: int) -> Seed:
    """The four arms' accuracies and solved steps, their gains, and the gains of a model that heeds no feedback."""
    pairs = list(make_world(SAMPLES, seed))
    intervals: dict[str, Trial] = {}
    rows = {
        arm: _rows(answers, arm) for answers in [_answers(Random(f"refinement {seed}"), LEARNER, pairs)] for arm in ARMS
    }
    planted = expected_rates(LEARNER, JUDGE, pairs, peers=PEERS)
    for arm in ARMS:
        found = arm_figures(rows[arm], seed=seed)
        intervals[f"arm accuracy, {arm}"] = trial(found["accuracy"], planted.accuracy[arm])
        for name, truth in (("shown", planted.solved_shown), ("withheld", planted.solved_withheld)):
            intervals[f"solved atoms, {name}, {arm}"] = trial(found[name]["solved"], truth[arm])
    for arm, control in GAINS:
        gain = gain_figures(rows[control], rows[arm], "accuracy", seed=seed, permutations=1)
        truth = planted.accuracy[arm] - planted.accuracy[control]
        intervals[f"arm gain, {arm} over {control}"] = trial(gain["difference"], truth)
    rows = {
        arm: _rows(answers, arm) for answers in [_answers(Random(f"heedless {seed}"), HEEDLESS, pairs)] for arm in ARMS
    }
    p_values: dict[str, float] = {}
    for arm, control in GAINS:
        gain = gain_figures(rows[control], rows[arm], "accuracy", seed=seed, permutations=PERMUTATIONS)
        intervals[f"arm gain, null world, {arm} over {control}"] = trial(gain["difference"], 0.0)
        p_values[f"sign-flip test, null world, {arm} over {control}, false gain"] = gain["p_value"]
    for measure in ATOM_MEASURES:
        gain = gain_figures(rows["retry"], rows["self"], measure, seed=seed, permutations=PERMUTATIONS)
        intervals[f"atom gain, null world, {measure}, self over retry"] = trial(gain["difference"], 0.0)
        p_values[f"sign-flip test, null world, {measure} atoms, self over retry, false gain"] = gain["p_value"]
    return Seed(intervals, p_values)


def _rows(answers: Sequence[Answered], arm: Arm) -> list[RefinementRow]:
    """Return what an arm made of the answers as the rows that figures are made from."""
    return [
        RefinementRow(
            run="",
            source="",
            sample_id=one.question,
            cluster=one.image,
            category=None,
            model="",
            repeat=0,
            arm=arm,
            round=1,
            last=True,
            selected=True,
            stopped="rounds",
            failure=None,
            reason="",
            answered="right" if one.right[arm] else "wrong",
            rule="exact",
            answered_before="wrong",
            weights=(1,) * len(one.before),
            before=tuple(map(float, one.before)),
            after=tuple(map(float, one.after[arm])),
            draws=(),
            score_before=None,
            score=None,
            shown=tuple(at + 1 for at in one.shown),
            withheld=tuple(at + 1 for at in one.withheld),
            told=(),
            points=(),
            flags=(),
            criteria_id="",
            response_id=None,
            judgement_ids=(),
            feedback_id=None,
            final_id=None,
            calls=(),
            cost=None,
        )
        for one in answers
    ]


def _answers(rng: Random, who: CandidateProfile, pairs: Sequence[tuple[Scene, Question]]) -> list[Answered]:
    """Draw an answer to each question, and what every arm makes of those that are wrong."""
    shared = {scene.id: rng.random() if rng.random() < ALIKE else None for scene, _ in pairs}
    drawn = (_answer(rng, who, scene, question, shared[scene.id]) for scene, question in pairs)
    return [one for one in drawn if one is not None]


def _answer(
    rng: Random, who: CandidateProfile, scene: Scene, question: Question, shared: float | None
) -> Answered | None:
    skills = [who.skill(step.capability, scene.domain) for step in question.steps]
    luck = [min(who.again or 0.0, skill) for skill in skills]
    known = [rng.random() < (skill - by) / (1 - by) for skill, by in zip(skills, luck, strict=True)]
    first: list[State] = [_state(rng, knows, by) for knows, by in zip(known, luck, strict=True)]
    if first[-1] == "right":
        return None
    before = _scores(rng, first)
    failed = [at for at, score in enumerate(before) if score < SOLVED]
    drawn = rng.sample(failed, len(failed))
    withheld, shown = set(drawn[: len(failed) // 2]), set(drawn[len(failed) // 2 :])
    reasons = [rng.random() if shared is None else shared for _ in skills]
    answer = Answered(question.id, scene.id, before, sorted(shown), sorted(withheld), {}, {})
    for arm in ARMS:
        states: list[State] = []
        for at in range(len(question.steps)):
            anew = _state(rng, known[at], luck[at])
            if arm != "again" and not who.heedless:
                drift, gap = reasons[at] < who.drift, who.drift <= reasons[at] < who.drift + who.gap
                mends = False
                if arm != "retry" and at in shown:
                    mends = drift or (gap and arm == "peer" and _helped(rng, scene, question, at))
                elif arm != "retry" and shown:
                    mends = drift and rng.random() < who.carry
                if anew == "right":
                    anew = "missing" if rng.random() < who.harm else "right"
                elif mends or rng.random() < who.retry:
                    anew = "right"
            states.append(anew)
        answer.right[arm] = states[-1] == "right"
        answer.after[arm] = _scores(rng, states)
    return answer


def _state(rng: Random, known: bool, luck: float) -> State:
    return "right" if known or rng.random() < luck else "missing"


def _scores(rng: Random, states: Sequence[State], rater: JudgeProfile = JUDGE) -> list[int]:
    return list(judged(rng, rater, states) or ())


def _helped(rng: Random, scene: Scene, question: Question, at: int) -> bool:
    """Draw whether a peer that solved the step, if one did, gives a hint that guides and does not leak to the end."""
    able: list[CandidateProfile] = []
    for peer in PEERS:
        stated = rng.random() < (1 - peer.refusal - peer.malformed - peer.truncated) * (1 - peer.omission)
        good = stated and rng.random() < peer.skill(question.steps[at].capability, scene.domain)
        state: State = ("hedged" if rng.random() < peer.hedging else "right") if good else "missing"
        if _scores(rng, [state])[0] >= SOLVED:
            able.append(peer)
    if not able:
        return False
    peer = rng.choice(able)
    fate = rng.random() - peer.refusal - peer.flatters - peer.verbose
    return fate >= peer.leaks or (fate >= 0 and rng.random() >= peer.leaks)
