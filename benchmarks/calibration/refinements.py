"""The figures of `refine`: what again, retry, self and peer mend, their gains, and no gain where there is none."""

from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from benchmarks.calibration.planted import State, candidate, judge
from benchmarks.calibration.planted import draw_scores as judged
from benchmarks.calibration.trials import Seed, Trial, trial
from dokimasia.domain.refinement import SOLVED, RefinementRow
from dokimasia.methods.refinement.measures import Measure, arm_figures, gain_figures
from dokimasia.report.fields import as_json
from dokimasia.simulation.profiles import CandidateProfile, JudgeProfile
from dokimasia.simulation.scene import Scene, SceneQuestion
from dokimasia.simulation.truths.refinement import ARMS, Arm, expected_rates, guess_chance, states_answer
from dokimasia.simulation.world import make_world

SAMPLES = 168
"""Questions of one seed's world; somewhat less than half of them are answered wrong."""

LEARNER = candidate("sim/learner").clear
HEEDLESS = candidate("sim/learner-heedless").clear
FLIPPER = candidate("sim/learner-flipper").clear
RECITER = candidate("sim/learner-reciter").clear
DEAF = LEARNER.model_copy(update={"name": "sim/learner-deaf", "gap": 0.0})
"""A learner to which a hint is worth no more than the question that it stands beside, whatever the hint says."""

PEERS = (candidate("sim/tutor-leaky").clear, candidate("sim/steady").clear)
JUDGE = judge("sim/judge-noisy").model_copy(update={"format_noise": 0.0})
GAINS: tuple[tuple[Arm, Arm], ...] = (
    ("retry", "again"),
    ("self", "retry"),
    ("self", "again"),
    ("peer", "retry"),
    ("peer", "again"),
    ("peer", "self"),
)
ALIKE = 0.5
"""The share of images on which all steps fail for one reason, so that what is mended there belongs together."""
PERMUTATIONS = 2000
ATOM_MEASURES: tuple[Measure, ...] = ("shown", "withheld")


class Answered(NamedTuple):
    """One answer that was wrong: its question and image, its steps' scores, and by arm whether it was mended, and scores.

    `said` and `told` are the steps that the answer speaks of, before and by arm.
    """

    question: str
    image: str
    options: int | None
    before: list[int]
    shown: list[int]
    withheld: list[int]
    said: list[bool]
    right: dict[Arm, bool]
    after: dict[Arm, list[int]]
    told: dict[Arm, list[bool]]


def refinement(seed: int) -> Seed:
    """The four arms' accuracies and solved steps, their gains, and the gains of a model that heeds no feedback."""
    pairs = list(make_world(SAMPLES, seed))
    intervals: dict[str, Trial] = {}
    rows = _arms(Random(f"refinement {seed}"), LEARNER, pairs)
    planted = expected_rates(LEARNER, JUDGE, pairs, peers=PEERS)
    for arm in ARMS:
        found = as_json(arm_figures(rows[arm], seed=seed))
        intervals[f"arm accuracy, {arm}"] = trial(found["accuracy"], planted.accuracy[arm])
        for name, truth in (("shown", planted.solved_shown), ("withheld", planted.solved_withheld)):
            intervals[f"solved atoms, {name}, {arm}"] = trial(found[name]["solved"], truth[arm])
    for arm, control in GAINS:
        gain = as_json(gain_figures(rows[control], rows[arm], "accuracy", seed=seed, permutations=1))
        truth = planted.accuracy[arm] - planted.accuracy[control]
        intervals[f"arm gain, {arm} over {control}"] = trial(gain["difference"], truth)
    p_values: dict[str, float] = {}
    heedless = _arms(Random(f"heedless {seed}"), HEEDLESS, pairs)
    for arm, control in GAINS:
        name = f"{arm} over {control}"
        _null(heedless, arm, control, "accuracy", f"null world, {name}", seed, intervals, p_values)
    for measure in ATOM_MEASURES:
        _null(heedless, "self", "retry", measure, f"null world, {measure}, self over retry", seed, intervals, p_values)
    deaf = _arms(Random(f"deaf {seed}"), DEAF, pairs)
    _null(
        deaf, "peer", "self", "accuracy", "hints with content and none alike, peer over self", seed, intervals, p_values
    )
    flipper = _arms(Random(f"flipper {seed}"), FLIPPER, pairs)
    for arm in ("self", "peer"):
        _null(flipper, arm, "retry", "accuracy", f"flipping, {arm} over retry", seed, intervals, p_values)
    few = [row for row in flipper["retry"] if row.options]
    offered = [(scene, question) for scene, question in pairs if question.choices]
    truth = expected_rates(FLIPPER, JUDGE, offered, peers=PEERS).accuracy["retry"]
    intervals["arm accuracy, flipping, few possible answers, retry"] = trial(
        as_json(arm_figures(few, seed=seed))["accuracy"], truth
    )
    reciter = _arms(Random(f"reciter {seed}"), RECITER, pairs)
    _null(reciter, "self", "retry", "accuracy", "reciting, self over retry", seed, intervals, p_values)
    _null(reciter, "self", "retry", "spoken", "reciting, atoms spoken to, self over retry", seed, intervals, p_values)
    return Seed(intervals, p_values)


def _arms(
    rng: Random, who: CandidateProfile, pairs: Sequence[tuple[Scene, SceneQuestion]]
) -> dict[Arm, list[RefinementRow]]:
    answers = _answers(rng, who, pairs)
    return {arm: _rows(answers, arm) for arm in ARMS}


def _null(
    rows: dict[Arm, list[RefinementRow]],
    arm: Arm,
    control: Arm,
    measure: Measure,
    name: str,
    seed: int,
    intervals: dict[str, Trial],
    p_values: dict[str, float],
) -> None:
    """Hold a gain that is planted to be none against 0, and keep its p-value."""
    gain = as_json(gain_figures(rows[control], rows[arm], measure, seed=seed, permutations=PERMUTATIONS))
    kind = "arm gain" if measure == "accuracy" else "atom gain"
    intervals[f"{kind}, {name}"] = trial(gain["difference"], 0.0)
    p_values[f"sign-flip test, {name}, false gain"] = gain["p_value"]


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
            failed=True,
            selected=True,
            draw=None,
            options=one.options,
            stopped="rounds",
            failure=None,
            reason="",
            answered="right" if one.right[arm] else "wrong",
            rule="exact",
            answered_before="wrong",
            weights=(1,) * len(one.before),
            before=tuple(map(float, one.before)),
            after=tuple(map(float, one.after[arm])),
            stated_before=tuple(one.said),
            stated=tuple(one.told[arm]),
            draws=(),
            score_before=None,
            score=None,
            shown=tuple(at + 1 for at in one.shown),
            withheld=tuple(at + 1 for at in one.withheld),
            unused=(),
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


def _answers(rng: Random, who: CandidateProfile, pairs: Sequence[tuple[Scene, SceneQuestion]]) -> list[Answered]:
    """Draw an answer to each question, and what every arm makes of those that are wrong."""
    shared = {scene.id: rng.random() if rng.random() < ALIKE else None for scene, _ in pairs}
    drawn = (_answer(rng, who, scene, question, shared[scene.id]) for scene, question in pairs)
    return [one for one in drawn if one is not None]


def _answer(
    rng: Random, who: CandidateProfile, scene: Scene, question: SceneQuestion, shared: float | None
) -> Answered | None:
    skills = [who.skill(step.capability, scene.domain) for step in question.steps]
    luck = [min(who.again or 0.0, skill) for skill in skills]
    known = [rng.random() < (skill - by) / (1 - by) for skill, by in zip(skills, luck, strict=True)]
    said, first = _said(rng, who, known, luck)
    if first[-1] == "right":
        return None
    before = _scores(rng, first)
    failed = [at for at, score in enumerate(before) if score < SOLVED]
    usable = [at for at in failed if not states_answer(question, question.steps[at])]
    if not usable:
        return None
    drawn = rng.sample(usable, len(usable))
    withheld, shown = set(drawn[: len(usable) // 2]), set(drawn[len(usable) // 2 :])
    reasons = [rng.random() if shared is None else shared for _ in skills]
    options = len(question.choices) or None
    answer = Answered(question.id, scene.id, options, before, sorted(shown), sorted(withheld), said, {}, {}, {})
    for arm in ARMS:
        spoken, states = _said(rng, who, known, luck)
        helped = {at for at in shown if arm == "peer" and _helped(rng, scene, question, at)}
        if arm != "again" and not who.heedless:
            for at, state in enumerate(first):
                drift, gap = reasons[at] < who.drift, who.drift <= reasons[at] < who.drift + who.gap
                if at in shown:
                    mends = arm != "retry" and (drift or (gap and at in helped))
                else:
                    mends = arm != "retry" and (drift or (gap and bool(helped))) and rng.random() < who.carry
                if state == "right":
                    spoken[at], states[at] = True, "missing" if rng.random() < who.harm else "right"
                elif mends or rng.random() < who.retry:
                    spoken[at], states[at] = True, "right"
        right = states[-1] == "right"
        if arm != "again" and rng.random() < who.flips:
            right = rng.random() < guess_chance(question)
        for at in shown:
            if arm in ("self", "peer") and not said[at] and rng.random() < who.recites:
                spoken[at], states[at] = True, "right"
        answer.right[arm] = right
        answer.told[arm] = spoken
        answer.after[arm] = _scores(rng, states)
    return answer


def _said(
    rng: Random, who: CandidateProfile, known: Sequence[bool], luck: Sequence[float]
) -> tuple[list[bool], list[State]]:
    """Draw which steps an answer speaks of, and what becomes of them."""
    said = [rng.random() >= who.omission for _ in known]
    good = [knows or rng.random() < by for knows, by in zip(known, luck, strict=True)]
    return said, ["right" if told and right else "missing" for told, right in zip(said, good, strict=True)]


def _scores(rng: Random, states: Sequence[State], rater: JudgeProfile = JUDGE) -> list[int]:
    return list(judged(rng, rater, states) or ())


def _helped(rng: Random, scene: Scene, question: SceneQuestion, at: int) -> bool:
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
