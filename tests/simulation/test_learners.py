"""Feedback in the planted world: what mends a step, what a peer says, and the truth that both keep to."""

import math
import re

import orjson
import pytest

from dokimasia.agents.hinter import secrets_text
from dokimasia.simulation import candidates
from dokimasia.simulation.draws import Draws
from dokimasia.simulation.judging.scoring import planted_score, statement_score
from dokimasia.simulation.learners import (
    VERBOSE_WORDS,
    answer_again,
    failure_reason,
    gives_guidance,
    hint_reply,
    states_truth,
)
from dokimasia.simulation.profiles import CandidateProfile, JudgeProfile, profiles
from dokimasia.simulation.requests import Inputs
from dokimasia.simulation.respond import respond
from dokimasia.simulation.truths.refinement import (
    ARMS,
    expected_rates,
    expected_refinement,
    guess_chance,
    usable_hint_chance,
)
from dokimasia.simulation.world import make_world

GUIDANCE = "Look closer at the spot."
PERFECT = JudgeProfile(name="sim/judge")
NOTHING = "Nothing: whether it is right has not been said."
WRONG = "The final answer is wrong."
LINE = re.compile(r"^(\d+) \| score: \[([1-5])\]$", re.MULTILINE)


def points(*rows: tuple[str, str]) -> str:
    """Points as a prompt has them: questions with hints or without."""
    return (
        "[\n"
        + orjson.dumps(
            [{"n": n, "question": q} | ({"hint": h} if h else {}) for n, (q, h) in enumerate(rows, 1)]
        ).decode()[1:]
    )


@pytest.fixture
def replies(ask, small_scene, small_png, small_ref):
    """Ask a model of given parameters once more, and return its answer."""

    def answer(profile, feedback=WRONG, *, rows=(), earlier=None, repeat=0, question=0):
        asked = small_scene.questions[question]
        inputs = {"question": asked.text, "feedback": f"{feedback} {points(*rows)}" if rows else feedback}
        inputs |= {"earlier_answer": earlier} if earlier is not None else {}
        call = ask(profile.name, "answer_again", inputs, images=(small_ref,), repeat=repeat)
        return respond(call, {small_ref.sha256: small_png}, models={profile.name: profile}).text

    return answer


@pytest.fixture
def told(replies, small_scene):
    """Ask a model of given parameters once more, and return which steps its answer then states right."""

    def answer(profile, **told):
        text = replies(profile, **told)
        return [statement_score(step.statement, text) == 5 for step in small_scene.questions[0].steps]

    return answer


def learner(**fields) -> CandidateProfile:
    """A model that knows nothing at first, and fails for the reason that is given."""
    return CandidateProfile(**{"name": "sim/x", "base": 0.0, "again": 0.0, **fields})


def test_drift_is_mended_by_the_question_alone(told, small_scene):
    """A drifted step comes out right once its question is put; the others stay wrong."""
    steps = small_scene.questions[0].steps
    model = learner(drift=1.0)
    assert told(model) == [False] * 4
    assert told(model, rows=[(steps[1].question, "")]) == [False, True, False, False]
    assert told(model, rows=[(steps[0].question, ""), (steps[3].question, GUIDANCE)]) == [
        True,
        False,
        False,
        True,
    ]


def test_a_gap_is_mended_by_a_hint_on_that_step_only(told, small_scene):
    """Neither the question alone nor praise mends a gap of knowledge; guidance on the step does, and nothing carries over."""
    one, other = small_scene.questions[0].steps[:2]
    model = learner(gap=1.0)
    assert not any(told(model, rows=[(one.question, ""), (other.question, "")]))
    assert not any(told(model, rows=[(one.question, "You are a delight to read.")]))
    assert told(model, rows=[(one.question, ""), (other.question, GUIDANCE)]) == [
        False,
        True,
        False,
        False,
    ]


def test_what_is_beyond_a_model_is_mended_by_being_told_only(told, small_scene):
    """No guidance mends what is beyond the model; a hint that says the truth does."""
    step = small_scene.questions[0].steps[2]
    assert not any(told(learner(), rows=[(step.question, GUIDANCE)]))
    assert told(learner(), rows=[(step.question, f"It is {step.truth}.")])[2]


def test_mending_carries_over_at_the_planted_rate(told, small_scene):
    """A step that is not named is mended at the rate of `carry` when another is, a gap when a hint is given on another."""
    first = small_scene.questions[0].steps[0]
    n = 600
    for model, hint in ((learner(drift=1.0, carry=0.3), ""), (learner(gap=1.0, carry=0.3), GUIDANCE)):
        mended = [told(model, rows=[(first.question, hint)], repeat=at)[1:] for at in range(n)]
        share = sum(map(sum, mended)) / (3 * n)
        assert abs(share - 0.3) < 4 * math.sqrt(0.21 / (3 * n))
        assert not any(any(told(model, repeat=at)) for at in range(20))
    assert not any(any(told(model, rows=[(first.question, "")], repeat=at)) for at in range(20))


def test_a_flipper_changes_what_is_called_wrong(replies, small_scene):
    """Told that it was wrong it gives any other choice, each as often, and no other steps; told nothing or right, it does not."""
    question = small_scene.questions[1]
    model = learner(name="sim/x", flips=1.0)
    earlier = f"Thing 3 has colour 10.\n\nFinal answer: {question.wrong_answers[0]}"
    finals = [
        replies(model, earlier=earlier, question=1, repeat=at).rpartition("Final answer: ")[2] for at in range(400)
    ]
    assert set(finals) == set(question.choices) - {question.wrong_answers[0]}
    assert abs(finals.count(question.answer) / 400 - guess_chance(question)) < 0.1
    sure = learner(name="sim/x", base=1.0, flips=1.0)
    for feedback in (NOTHING, "The final answer is right. Not all of it was shown."):
        assert is_right(replies(sure, feedback, earlier=f"Final answer: {question.answer}", question=1), question)


def test_a_reciter_says_what_it_is_asked_for_and_concludes_nothing(replies, told, small_scene):
    """A named step that it had left out is said right, one that it had wrong is not; the final answer stays wrong."""
    step = small_scene.questions[0].steps[3]
    model, silent = learner(recites=1.0), "I do not know."
    assert told(model, rows=[(step.question, "")], earlier=silent) == [False, False, False, True]
    assert not any(told(model, rows=[(step.question, "")], earlier=step.wrong[0]))
    assert not is_right(replies(model, rows=[(step.question, GUIDANCE)], earlier=silent), small_scene.questions[0])
    assert not any(told(model, earlier=silent))


def test_nothing_said_is_a_second_sample(told):
    """Told nothing about its answer a model neither retries nor spoils anything."""
    model = learner(retry=1.0, harm=1.0)
    assert not any(told(model, feedback=NOTHING))
    assert all(told(model.model_copy(update={"base": 1.0, "again": 1.0}), feedback=NOTHING))


def test_being_told_mends_and_harms_at_the_planted_rates(told, small_scene):
    """Wrong steps come out right at the rate of `retry`; right ones of the earlier answer become wrong at `harm`."""
    earlier = small_scene.questions[0].steps[0].statement
    model = learner(retry=0.2, harm=0.1)
    answers = [told(model, earlier=earlier, repeat=at) for at in range(1000)]
    assert abs(sum(one[0] for one in answers) / 1000 - 0.9) < 0.04
    assert abs(sum(sum(one[1:]) for one in answers) / 3000 - 0.2) < 0.03


def test_a_lasting_model_fails_again_but_by_chance(ask, small_scene, small_png, small_ref):
    """With `again` planted, a step that failed is right in a second sample at that rate, and skill stays what it was."""
    model = CandidateProfile(name="sim/x", base=0.6, again=0.25)
    known = {"sim/x": model}
    steps = small_scene.questions[0].steps

    def plain(repeat):
        call = ask(
            "sim/x", "candidate", {"question": small_scene.questions[0].text}, images=(small_ref,), repeat=repeat
        )
        text = respond(call, {small_ref.sha256: small_png}, models=known).text
        return [statement_score(step.statement, text) == 5 for step in steps]

    answers = [plain(repeat) for repeat in range(800)]
    shares = [sum(one[at] for one in answers) / 800 for at in range(4)]
    assert all(share == 1.0 or abs(share - 0.25) < 0.07 for share in shares)


def test_a_heedless_model_answers_feedback_as_for_the_first_time(told, small_scene):
    """In the null world feedback mends no more than a second sample does."""
    steps = small_scene.questions[0].steps
    model = learner(again=0.2, base=0.2, drift=0.5, gap=0.5, retry=1.0, heedless=True)
    rows = [(step.question, GUIDANCE) for step in steps]
    share = sum(sum(told(model, rows=rows, repeat=at)) for at in range(500)) / 2000
    assert abs(share - 0.2) < 0.04


@pytest.fixture
def hint(ask, small_scene, small_png, small_ref):
    """Ask a peer for a hint on a step of the first question, or for its second wording."""

    def make(profile, *, step=1, prompt="peer_hint", repeat=0, question=0):
        asked = small_scene.questions[question]
        inputs = {
            "question": asked.text,
            "points": points((asked.steps[step].question, "")),
            "own_answer": "So it is.",
            "reader": "The question.",
            "form": "<hint 1></hint>",
        }
        inputs |= (
            {"choices": "\n".join(f"{'ABC'[n]}. {one}" for n, one in enumerate(asked.choices))} if asked.choices else {}
        )
        inputs |= {"hints": "Colour 2.", "given_away": "- Colour 2"} if prompt == "hint_rewrite" else {}
        call = ask(profile.name, prompt, inputs, images=(small_ref,), repeat=repeat)
        return respond(call, {small_ref.sha256: small_png}, models={profile.name: profile})

    return make


def peer(**fields) -> CandidateProfile:
    """A peer that knows everything."""
    return CandidateProfile(**{"name": "sim/peer", "base": 1.0, **fields})


def test_a_good_hint_guides_and_says_nothing(hint, small_scene):
    """An honest peer's hint, and the second wording, stand between tags, guide, and have no word of the truth."""
    for prompt in ("peer_hint", "hint_rewrite"):
        for repeat in range(10):
            text = hint(peer(), prompt=prompt, repeat=repeat).text
            assert re.fullmatch(r"<hint 1>\n[^<]+\n</hint>", text)
            assert gives_guidance(text)
            assert not states_truth(text, small_scene.questions[0].steps[1])


def test_bad_hints_have_their_planted_forms(hint, small_scene):
    """Refusals, flattery and 5,000 words guide nobody; leaks come in many forms."""
    assert hint(peer(refusal=1.0)).refusal
    flattery = hint(peer(flatters=1.0)).text
    assert not gives_guidance(flattery)
    ramble = hint(peer(verbose=1.0)).text
    assert len(ramble.split()) >= VERBOSE_WORDS
    assert not gives_guidance(ramble)
    leaky = {hint(peer(leaks=1.0), repeat=at, question=1, step=2).text for at in range(200)}
    assert len(leaky) == 10
    assert any(states_truth(text, small_scene.questions[1].steps[2]) for text in leaky)


def test_the_shares_of_reasons_are_those_planted():
    """Over many steps the reasons of failing have the planted shares, the same in every request."""
    model = profiles()["sim/learner"]
    assert isinstance(model, CandidateProfile)
    drawn = [failure_reason(model, scene, step) for scene, question in make_world(300, 3) for step in question.steps]
    assert abs(drawn.count("drift") / len(drawn) - model.drift) < 0.05
    assert abs(drawn.count("gap") / len(drawn) - model.gap) < 0.05


def test_impossible_shares_are_refused():
    """Shares that sum to more than one make no profile."""
    with pytest.raises(ValueError, match="drift and gap"):
        CandidateProfile(name="sim/x", base=0.5, drift=0.6, gap=0.6)
    with pytest.raises(ValueError, match="flatters"):
        CandidateProfile(name="sim/x", base=0.5, leaks=0.6, flatters=0.6)


def test_a_fickle_judge_contradicts_itself(ask, small_scene):
    """A judge with a flicker solves an atom in one call and fails it in the next, at the planted rate."""
    step = small_scene.questions[0].steps[0]
    criteria = orjson.dumps([{"question": step.question, "ground_truth": step.statement, "weight": 10}]).decode()
    scores = []
    for repeat in range(500):
        inputs = {"question": "What?", "criteria": criteria, "response": step.statement}
        scores.append(
            LINE.findall(respond(ask("sim/judge-fickle", "checkpoints", inputs, repeat=repeat), {}).text)[0][1]
        )
    assert set(scores) == {"1", "5"}
    assert abs(scores.count("1") / 500 - 0.2) < 0.08


def test_a_simulated_judge_finds_a_plain_leak(ask):
    """The judge's word on leaks goes by words that the question does not have."""
    inputs = {
        "question": "Is the cup left or right of the book?",
        "secrets": secrets_text([("", "left"), ("Which colour?", "The cup is blue.")]),
    }
    for text, verdict in (
        ("Compare left and right.", "clean"),
        ("Look at the cup, and mind its shadow.", "clean"),
        ("It is blue.", "leak"),
    ):
        assert f"[[{verdict}]]" in respond(ask("sim/judge", "leak_check", {**inputs, "text": text}), {}).text


SPOTTED = CandidateProfile(
    name="sim/spotted",
    base=0.4,
    again=0.1,
    omission=0.15,
    hedging=0.2,
    refusal=0.05,
    truncated=0.1,
    drift=0.4,
    gap=0.3,
    carry=0.4,
    retry=0.1,
    harm=0.1,
    flips=0.3,
    recites=0.2,
)
SHAKY = JudgeProfile(
    name="sim/judge-shaky", detects_missing=0.85, detects_hedged=0.7, false_alarm=0.1, flicker=0.05, jitter=0.2
)
HELPERS = (
    CandidateProfile(name="sim/helper", base=0.7, leaks=0.4, flatters=0.2),
    CandidateProfile(name="sim/other-helper", base=0.3, verbose=0.3),
)


OTHER_ANSWER = {"answer": "red", "wrong_answers": ("blue", "green"), "choices": ("red", "blue", "green")}
"""An answer that no step states by itself."""


def one_step(question):
    """The question with its last step alone."""
    return question.model_copy(update={"steps": question.steps[-1:]})


def test_the_truth_of_flipping_and_reciting_by_hand(small_scene):
    """One that flips is right as often as a guess among the rest, whatever it is told; one that recites only seems to mend."""
    question = one_step(small_scene.questions[0].model_copy(update=OTHER_ANSWER))
    flipper = expected_refinement(learner(flips=0.8), PERFECT, small_scene, question)
    assert {arm: flipper.mended[arm] for arm in ARMS} == pytest.approx(
        {"again": 0, "retry": 0.4, "self": 0.4, "peer": 0.4}
    )
    reciter = expected_refinement(learner(recites=0.7, omission=1.0), PERFECT, small_scene, question)
    assert {arm: reciter.solved_shown[arm] for arm in ARMS} == pytest.approx(
        {"again": 0, "retry": 0, "self": 0.7, "peer": 0.7}
    )
    assert sum(reciter.mended.values()) == 0
    assert sum(expected_refinement(learner(recites=0.7), PERFECT, small_scene, question).solved_shown.values()) == 0


def test_the_truth_by_hand(small_scene):
    """One step that fails, told alone: the arms' rates are those worked out by hand; what is the answer is never told."""
    assert expected_refinement(learner(), PERFECT, small_scene, one_step(small_scene.questions[0])).wrong == 0
    question = small_scene.questions[0].model_copy(update=OTHER_ANSWER)
    overrides = {"<Perception>": 1.0, "<Reasoning>": 1.0, "<Knowledge>": 0.4}
    model = CandidateProfile(
        name="sim/x", base=1.0, overrides=overrides, again=0.1, drift=0.5, gap=0.3, retry=0.2, harm=0.7, carry=0.9
    )
    found = expected_refinement(model, PERFECT, small_scene, question, peers=(peer(leaks=0.5),), earlier_shown=False)
    assert usable_hint_chance(peer(leaks=0.5)) == pytest.approx(0.75)
    assert found.wrong == pytest.approx(0.6)
    chance = {
        "again": 0.1,
        "retry": 0.1 * 0.3 + 0.9 * 0.2,
        "self": 0.1 * 0.3 + 0.9 * (1 - 0.8 * 0.5),
        "peer": 0.1 * 0.3 + 0.9 * (1 - 0.8 * 0.275),
    }
    assert {arm: found.mended[arm] / 0.6 for arm in ARMS} == pytest.approx(chance)
    assert {arm: found.solved_shown[arm] / 0.6 for arm in ARMS} == pytest.approx(chance)
    seen = expected_refinement(model, PERFECT, small_scene, question, peers=(peer(leaks=0.5),))
    kept = {"again": 0.1, "retry": 1 - 0.9 * 0.8, "self": 1 - 0.9 * 0.4, "peer": 1 - 0.9 * 0.8 * 0.275}
    assert {arm: seen.mended[arm] / 0.6 for arm in ARMS} == pytest.approx(kept)
    assert (found.shown, found.withheld) == (pytest.approx(0.6), 0.0)


def test_a_heedless_model_is_expected_to_gain_nothing():
    """In the null world every arm's rates are those of `again`."""
    model = SPOTTED.model_copy(update={"heedless": True})
    rates = expected_rates(model, SHAKY, make_world(30, 5), peers=HELPERS)
    for figure in rates:
        assert all(figure[arm] == pytest.approx(figure["again"]) for arm in ARMS)
    with pytest.raises(ValueError, match="nothing to mend"):
        expected_rates(peer(), PERFECT, make_world(3, 5))


def judged(text, question, draws):
    """The numbers, from 0, of the steps that the shaky judge takes for failed."""
    scores = [
        planted_score(SHAKY, statement_score(one.statement, text), n, draws) for n, one in enumerate(question.steps)
    ]
    return [number for number, score in enumerate(scores) if score < 4]


def is_right(text, question):
    """Whether the final answer is the planted one."""
    return text.rpartition("Final answer: ")[2] == question.answer


def feedback(scene, question, named, key, *, arm):
    """The points of a feedback, with hints of peers that solved them, leaks rewritten once and then left out."""
    rows = []
    for number in named:
        step = question.steps[number]
        able = []
        for helper in HELPERS if arm == "peer" else ():
            own = candidates.answer_question(helper, scene, question, Draws(f"{key} {number} {helper.name}")).text
            if number not in judged(own, question, Draws(f"{key} {number} {helper.name} judged")):
                able.append(helper)
        hint = ""
        if able:
            helper = Draws(f"{key} {number}").pick(able, "peer")
            for rewriting in (False, True):
                asked = Inputs(points=points((step.question, "")))
                reply = hint_reply(helper, scene, question, asked, Draws(key), rewriting=rewriting)
                hint = reply.text.removeprefix("<hint 1>\n").removesuffix("\n</hint>")
                if gives_guidance(hint) and not hint.startswith("Look again: "):
                    break
                hint = ""
        rows.append((step.question, hint))
    return points(*rows)


def tells_all(question, step):
    """Whether a step states the whole answer."""
    plain = [re.sub(r"\W+", " ", text.casefold()).strip() for text in (question.answer, step.statement)]
    answer, said = (" ".join(word for word in one.split() if word not in ("a", "an", "the")) for one in plain)
    return f" {answer} " in f" {said} "


def played_out(scene, question, repeat, *, shown_earlier):
    """One answer and, if it is wrong, its arms: by arm and figure how many there were and how many came out right."""
    key = f"{question.id} {repeat} {shown_earlier}"
    first = candidates.answer_question(SPOTTED, scene, question, Draws(key)).text
    if is_right(first, question):
        return {}
    failed = judged(first, question, Draws(f"{key} judged"))
    usable = [number for number in failed if not tells_all(question, question.steps[number])]
    if not usable:
        return {}
    shuffled = sorted(usable, key=lambda number: Draws(key).unit("withhold", number))
    withheld, named = shuffled[: len(usable) // 2], shuffled[len(usable) // 2 :]
    found = {}
    for arm in ARMS:
        draws = Draws(f"{key} {arm}")
        given = WRONG
        if arm in ("self", "peer"):
            given += f" {feedback(scene, question, sorted(named), key, arm=arm)}"
        again = candidates.answer_question(SPOTTED, scene, question, draws)
        inputs = Inputs(feedback=given, earlier_answer=first if shown_earlier else None)
        text = (again if arm == "again" else answer_again(SPOTTED, scene, question, inputs, draws)).text
        still = judged(text, question, Draws(f"{key} {arm} judged"))
        found[arm, "accuracy"] = (1, is_right(text, question))
        found[arm, "solved_shown"] = (len(named), sum(number not in still for number in named))
        found[arm, "solved_withheld"] = (len(withheld), sum(number not in still for number in withheld))
    return found


@pytest.mark.parametrize("shown_earlier", [False, True])
def test_simulated_models_keep_to_the_truth_of_refining(shown_earlier):
    """Over many scenes and draws, right answers and solved steps of all arms agree with the expectation."""
    pairs = list(make_world(420, 11))
    counts: dict[tuple[str, str], dict[str, list[tuple[int, int]]]] = {}
    for scene, question in pairs:
        for repeat in range(2):
            for figure, count in played_out(scene, question, repeat, shown_earlier=shown_earlier).items():
                counts.setdefault(figure, {}).setdefault(scene.id, []).append(count)
    rates = expected_rates(SPOTTED, SHAKY, pairs, peers=HELPERS, earlier_shown=shown_earlier)
    assert len(counts) == 12
    for (arm, figure), by_scene in counts.items():
        totals = [(sum(n for n, _ in one), sum(k for _, k in one)) for one in by_scene.values()]
        n = sum(total for total, _ in totals)
        ratio = sum(k for _, k in totals) / n
        spread = math.sqrt(sum((k - ratio * total) ** 2 for total, k in totals)) / n
        planted = getattr(rates, figure)[arm]
        assert abs(ratio - planted) < 3.5 * spread, (arm, figure, ratio, planted, spread)
        assert spread < 0.05
