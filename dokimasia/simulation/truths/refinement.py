"""The truth to compare self-correction with: each arm's corrections, from the planted parameters alone.
 Nothing here draws, renders, reads a reply or averages measurements. A step of an answer is in one of three states,
right, hedged or missing (wrong or omitted); a round of feedback moves it from one to another with probabilities that
follow from the definitions of `CandidateProfile` and `JudgeProfile`. They hold for one round, for scored judgements,
for criteria that are the planted steps, for a faultless check of final answers, and if no leaking hint gets through. A
step that states the whole answer is never named; an answer with only such failed steps is left unchanged, and excluded.
Of the other failed steps a half, rounded down, is withheld at random.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import product
from math import comb, prod
from typing import Literal, NamedTuple, get_args

from dokimasia.simulation.profiles import CandidateProfile, JudgeProfile
from dokimasia.simulation.scene import Scene, SceneQuestion, SceneStep

Arm = Literal["again", "retry", "self", "peer"]
ARMS: tuple[Arm, ...] = get_args(Arm)


class StepStates(NamedTuple):
    """Probabilities of a step's state (right, hedged, missing); they sum to 1 or, jointly with an event, to its probability."""

    right: float
    hedged: float
    missing: float


class ExpectedRefinement(NamedTuple):
    """Expected results for one answer: the probability that it is wrong and selected, and that an arm also corrects it.

    `shown` and `withheld` are expected numbers of steps judged failed in a wrong answer, by whether feedback may name them;
    `solved_shown` and `solved_withheld` are the expected numbers of these that are judged solved after each arm.
    """

    wrong: float
    mended: dict[Arm, float]
    shown: float
    withheld: float
    solved_shown: dict[Arm, float]
    solved_withheld: dict[Arm, float]


class RefinementRates(NamedTuple):
    """Expected rates over the wrong answers to several questions: of right answers and of solved steps, by arm."""

    accuracy: dict[Arm, float]
    solved_shown: dict[Arm, float]
    solved_withheld: dict[Arm, float]


class _WrongCase(NamedTuple):
    """A way for an answer to be wrong: its probability, and each step's states given it.

    `fresh` is, for each step, the probability that missing it says nothing about what the model knows (it was left out or
    cut off); `answers` says whether the answer states a final answer at all.
    """

    chance: float
    steps: tuple[StepStates, ...]
    fresh: tuple[float, ...]
    answers: bool


class _StepFeedback(NamedTuple):
    """The feedback on a step: whether it is named, and the probability of a usable hint (on it or, if not named, on another)."""

    named: bool
    helped: float
    earlier_shown: bool


def expected_refinement(
    profile: CandidateProfile,
    judge: JudgeProfile,
    scene: Scene,
    question: SceneQuestion,
    *,
    peers: Sequence[CandidateProfile] = (),
    earlier_shown: bool = True,
) -> ExpectedRefinement:
    """Return the expected effect of one round of each arm on an answer to a question.

    Args:
        profile: the model that answers.
        judge: the judge of the steps, before and after.
        scene: the scene.
        question: the question.
        peers: the other models of the run. The peer that hints is modelled as a random one of those that solved the step,
            independently for each step; this is exact if all hint equally well or only one can have solved it.
        earlier_shown: whether the model is shown its earlier answer.
    """
    telling = [states_answer(question, step) for step in question.steps]
    skills = [profile.skill(step.capability, scene.domain) for step in question.steps]
    helped = [_helped(judge, scene, step, peers) for step in question.steps]
    wrong_rate, named_steps, withheld_steps = 0.0, 0.0, 0.0
    mended, solved_shown, solved_withheld = (dict.fromkeys(ARMS, 0.0) for _ in range(3))
    last = len(question.steps) - 1
    for case in _wrong_cases(profile, scene, question):

        @cache
        def after(
            arm: Arm, position: int, failed: bool, feedback: _StepFeedback, case: _WrongCase = case
        ) -> tuple[float, float]:
            """That the answer follows from a step after a round of an arm, and that the step is judged solved."""
            before, fresh = _given_judged(judge, case.steps[position], failed=failed), case.fresh[position]
            states, spoken_states = (
                _after(profile, arm, skills[position], before, fresh=fresh, feedback=feedback, recites=recites)
                for recites in (0.0, profile.recites if feedback.named else 0.0)
            )
            right = _flipped(profile, arm, question, case, states, earlier_shown=earlier_shown)
            return right, _solved(judge, _cut(spoken_states, profile.delivered(position, last + 1)))

        for failed, weight in _subsets([1 - _solved(judge, states) for states in case.steps]):
            usable = [at for at in failed if not telling[at]]
            if not usable:
                continue
            wrong_rate += case.chance * weight
            named = len(usable) - len(usable) // 2
            for position in range(last + 1):
                can_be = position in usable
                share = named / len(usable) if can_be else 0.0
                for is_named, part in ((True, share), (False, 1 - share)):
                    if part == 0:
                        continue
                    chance = case.chance * weight * part
                    named_steps += chance * (can_be and is_named)
                    withheld_steps += chance * (can_be and not is_named)
                    others = [helped[at] for at in usable if at != position]
                    hinted = 0.0 if is_named else _any_of(others, named)
                    solved = solved_shown if is_named else solved_withheld
                    for arm in ARMS:
                        pointed = is_named and arm in ("self", "peer")
                        hint = (helped[position] if is_named else hinted) if arm == "peer" else 0.0
                        feedback = _StepFeedback(pointed, hint, earlier_shown)
                        right, passed = after(arm, position, position in failed, feedback)
                        if position == last:
                            mended[arm] += chance * profile.whole * right
                        if can_be:
                            solved[arm] += chance * passed
    return ExpectedRefinement(wrong_rate, mended, named_steps, withheld_steps, solved_shown, solved_withheld)


def expected_rates(
    profile: CandidateProfile,
    judge: JudgeProfile,
    pairs: Iterable[tuple[Scene, SceneQuestion]],
    *,
    peers: Sequence[CandidateProfile] = (),
    earlier_shown: bool = True,
) -> RefinementRates:
    """Return the expected rates of each arm over the selected answers, as in `expected_refinement`.

    Raises:
        ValueError: no answer can be wrong.
    """
    expectations = [
        expected_refinement(profile, judge, scene, question, peers=peers, earlier_shown=earlier_shown)
        for scene, question in pairs
    ]
    wrong = sum(answer.wrong for answer in expectations)
    if wrong == 0:
        raise ValueError("no answer can be wrong, so that there is nothing to mend")
    shown = sum(answer.shown for answer in expectations)
    withheld = sum(answer.withheld for answer in expectations)
    return RefinementRates(
        _rates([answer.mended for answer in expectations], wrong),
        _rates([answer.solved_shown for answer in expectations], shown),
        _rates([answer.solved_withheld for answer in expectations], withheld),
    )


def _rates(amounts: Sequence[dict[Arm, float]], total: float) -> dict[Arm, float]:
    return {arm: sum(amount[arm] for amount in amounts) / total if total else 0.0 for arm in ARMS}


def usable_hint_chance(peer: CandidateProfile) -> float:
    """Return the probability that a peer's hint guides and is passed on, in its first or second wording."""
    good = 1 - peer.refusal - peer.flatters - peer.verbose - peer.leaks
    return good + peer.leaks * (1 - peer.leaks)


def guess_chance(question: SceneQuestion) -> float:
    """Return the probability that a random choice is right if the first answer is known to be wrong."""
    if question.choices:
        return 1 / (len(question.choices) - 1)
    return 0.0


def states_answer(question: SceneQuestion, step: SceneStep) -> bool:
    """Return whether a step states the whole answer (as a sequence of words), so that feedback cannot name it."""
    step_words, answer_words = (re.findall(r"\w+", text.casefold()) for text in (step.statement, question.answer))
    bare_step, bare_answer = (
        " ".join(word for word in words if word not in ("a", "an", "the")) for words in (step_words, answer_words)
    )
    return f" {bare_answer} " in f" {bare_step} "


def _any_of(chances: Sequence[float], count: int) -> float:
    """Return the probability that at least one of `count` events occurs, drawn at random from independent ones."""
    sums = [1.0, *[0.0] * count]
    for chance in chances:
        for size in range(count, 0, -1):
            sums[size] += sums[size - 1] * (1 - chance)
    if len(chances) >= count:
        return 1 - sums[count] / comb(len(chances), count)
    return 0.0


def _flipped(
    profile: CandidateProfile,
    arm: Arm,
    question: SceneQuestion,
    case: _WrongCase,
    last: StepStates,
    *,
    earlier_shown: bool,
) -> float:
    """Return the probability that the final answer of a complete reply is right, for a model that may change a wrong one."""
    right = last.right + last.hedged
    if arm == "again" or profile.heedless or (earlier_shown and not case.answers):
        return right
    changed = guess_chance(question) * (1.0 if earlier_shown else 1 - right)
    return profile.flips * changed + (1 - profile.flips) * right


def _wrong_cases(profile: CandidateProfile, scene: Scene, question: SceneQuestion) -> list[_WrongCase]:
    count = len(question.steps)
    plain = [_first(profile, scene, step) for step in question.steps]
    skill = profile.skill(question.steps[-1].capability, scene.domain)
    # Of the missing steps, the share that was omitted rather than stated wrong.
    omitted = [profile.omission / states.missing if states.missing else 0.0 for states in plain]
    whole, cut = profile.whole, profile.truncated
    none = StepStates(0.0, 0.0, 1.0)
    half = count // 2
    cases = [
        _WrongCase(whole * profile.omission, (*plain[:-1], none), (*omitted[:-1], 1.0), answers=True),
        _WrongCase(
            whole * (1 - profile.omission) * (1 - skill), (*plain[:-1], none), (*omitted[:-1], 0.0), answers=True
        ),
        _WrongCase(
            cut, (*plain[:half], *[none] * (count - half)), (*omitted[:half], *[1.0] * (count - half)), answers=False
        ),
        _WrongCase(1 - whole - cut, (none,) * count, (1.0,) * count, answers=False),
    ]
    return [case for case in cases if case.chance > 0]


def _first(profile: CandidateProfile, scene: Scene, step: SceneStep) -> StepStates:
    return _stated(profile, profile.skill(step.capability, scene.domain))


def _subsets(chances: Sequence[float]) -> list[tuple[frozenset[int], float]]:
    """Return every set of events that can occur together, by index, with its probability."""
    subsets: list[tuple[frozenset[int], float]] = []
    for pattern in product((False, True), repeat=len(chances)):
        weight = prod(chance if hit else 1 - chance for hit, chance in zip(pattern, chances, strict=True))
        if weight > 0:
            subsets.append((frozenset(at for at, hit in enumerate(pattern) if hit), weight))
    return subsets


def _passes(judge: JudgeProfile) -> StepStates:
    """Return the probabilities that a right, hedged or missing step is judged solved."""
    fives = (1 - judge.false_alarm, 1 - judge.detects_hedged, 1 - judge.detects_missing)
    right, hedged, missing = (five * (1 - judge.flicker) + (1 - five) * judge.flicker for five in fives)
    return StepStates(right, hedged, missing)


def _solved(judge: JudgeProfile, states: StepStates) -> float:
    right, hedged, missing = _passes(judge)
    return states.right * right + states.hedged * hedged + states.missing * missing


def _given_judged(judge: JudgeProfile, states: StepStates, *, failed: bool) -> StepStates:
    """Return a step's states, given its judgement."""
    joint = [state * (1 - passed if failed else passed) for state, passed in zip(states, _passes(judge), strict=True)]
    total = sum(joint)
    return StepStates(*(rate / total for rate in joint))


def _helped(judge: JudgeProfile, scene: Scene, step: SceneStep, peers: Sequence[CandidateProfile]) -> float:
    """Return the probability of a usable hint on a step, from a peer drawn among those that solved it."""
    # A truncated reply is counted as one without the step, which is exact for steps of the second half.
    chances = [_solved(judge, _cut(_first(peer, scene, step), peer.whole)) for peer in peers]
    helped = 0.0
    for solved, weight in _subsets(chances):
        able = [usable_hint_chance(peer) for at, peer in enumerate(peers) if at in solved]
        helped += weight * (sum(able) / len(able) if able else 0.0)
    return helped


def _after(
    profile: CandidateProfile,
    arm: Arm,
    skill: float,
    before: StepStates,
    *,
    fresh: float,
    feedback: _StepFeedback,
    recites: float,
) -> StepStates:
    """Return a step's states in a complete reply after a round of an arm, given its states before.

    `recites` is the probability that a step that was left out is stated correctly once it is named.
    """
    anew = _anew(profile, skill, fresh=fresh)
    if arm == "again" or profile.heedless:
        return _mixed(before, anew)
    mends = 0.0
    if arm != "retry":
        reached = 1.0 if feedback.named else profile.carry
        mends = reached * (profile.drift + (profile.gap * feedback.helped if arm == "peer" else 0.0))
    mends += (1 - mends) * profile.retry
    if not feedback.earlier_shown:
        right, hedged, missed = (_upon(profile, state, mends) for state in anew)
        return _mixed(before, (right, hedged, missed))
    named = feedback.named and arm != "retry"

    def missing(left_out: float) -> StepStates:
        """The states after a step was missing: left out, or stated wrong."""
        states = _anew(profile, skill, fresh=left_out)[2]
        right = mends + (1 - mends) * states.right
        recited = recites * left_out if named else 0.0
        remainder = (1 - mends) * (1 - recited)
        return StepStates(right + recited * (1 - right), remainder * states.hedged, remainder * states.missing)

    wrong = missing(0.0)
    after_round = (
        StepStates(1 - profile.harm, 0.0, profile.harm),
        StepStates(mends, 1 - mends, 0.0),
        _mixed(StepStates(fresh, 1 - fresh, 0.0), (missing(1.0), wrong, wrong)),
    )
    return _mixed(before, after_round)


def _upon(profile: CandidateProfile, states: StepStates, mends: float) -> StepStates:
    """Return a step's states for a model that answers anew, after feedback has corrected or harmed it."""
    right = states.right * (1 - profile.harm) + (1 - states.right) * mends
    hedged = states.hedged * (1 - mends)
    return StepStates(right, hedged, 1 - right - hedged)


def _anew(profile: CandidateProfile, skill: float, *, fresh: float) -> tuple[StepStates, StepStates, StepStates]:
    """Return a step's states when the question is answered anew, given that it was right, hedged, and missing before."""
    if profile.again is None:
        good = wrong = skill
    else:
        luck = min(profile.again, skill)
        knowledge = (skill - luck) / (1 - luck) if luck < 1 else 1.0
        good = (knowledge + (1 - knowledge) * luck**2) / skill if skill else 0.0
        wrong = fresh * skill + (1 - fresh) * luck

    solved = _stated(profile, good)
    return solved, solved, _stated(profile, wrong)


def _stated(profile: CandidateProfile, skill: float) -> StepStates:
    """Return a step's states in an answer in which it is right, if it is stated, with a probability."""
    good = (1 - profile.omission) * skill
    return StepStates(good * (1 - profile.hedging), good * profile.hedging, 1 - good)


def _mixed(before: StepStates, after: tuple[StepStates, StepStates, StepStates]) -> StepStates:
    """Return the states after a round, from those before and from the outcome of each of them."""
    was_right, was_hedged, was_missing = before
    right, hedged, missing = after
    return StepStates(
        was_right * right.right + was_hedged * hedged.right + was_missing * missing.right,
        was_right * right.hedged + was_hedged * hedged.hedged + was_missing * missing.hedged,
        was_right * right.missing + was_hedged * hedged.missing + was_missing * missing.missing,
    )


def _cut(states: StepStates, share: float) -> StepStates:
    return StepStates(states.right * share, states.hedged * share, 1 - share * (states.right + states.hedged))
