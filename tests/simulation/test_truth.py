"""The planted truth: exact expectations, and the simulated models that keep to them."""

import math
import re
from collections import Counter

import orjson
import pytest

from dokimasia.errors import NotFound
from dokimasia.simulation.profiles import CandidateProfile, JudgeProfile
from dokimasia.simulation.respond import respond
from dokimasia.simulation.truths import evaluation as truth

SPOTTED = CandidateProfile(
    name="sim/spotted",
    base=0.8,
    overrides={"<Perception>": 0.6, "<Perception><Character Perception>": 0.3, "<Knowledge>": 0.5},
    domain_shift={"logic": -0.05},
    hedging=0.2,
    omission=0.15,
    refusal=0.05,
    malformed=0.04,
    truncated=0.1,
)
SHAKY = JudgeProfile(
    name="sim/judge-shaky", detects_missing=0.8, detects_hedged=0.6, false_alarm=0.1, jitter=0.25, format_noise=0.1
)
KNOWN = {"sim/spotted": SPOTTED, "sim/judge-shaky": SHAKY, "sim/judge": JudgeProfile(name="sim/judge")}

LINE = re.compile(r"^(\d+) \| score: \[([1-5]|not stated)\]$", re.MULTILINE)


def measure(ask, scene, png, ref, judge, *, repeats):
    """Ask the candidate and the judge over and over; return the weighted scores, and the scores of each step."""
    question = scene.questions[0]
    criteria = orjson.dumps(
        [
            {"n": number, "question": step.question, "ground_truth": step.statement, "weight": step.weight}
            for number, step in enumerate(question.steps, 1)
        ]
    ).decode()
    weighted, by_step = [], [[] for _ in question.steps]
    for repeat in range(repeats):
        asked = ask("sim/spotted", "candidate", {"question": question.text}, images=(ref,), repeat=repeat)
        text = respond(asked, {ref.sha256: png}, models=KNOWN).text
        inputs = {"question": question.text, "criteria": criteria, "response": text}
        judged = respond(ask(judge, "checkpoints", inputs, repeat=repeat), {}, models=KNOWN).text
        scores = {int(number): 1 if score == "not stated" else int(score) for number, score in LINE.findall(judged)}
        if len(scores) == len(question.steps):
            weighted.append(sum(step.weight * scores[n] for n, step in enumerate(question.steps, 1)) / 10)
            for n, score in scores.items():
                by_step[n - 1].append(score)
    return weighted, by_step


def within_error(values, expected):
    """Whether a mean lies within four standard errors of what is expected."""
    mean = sum(values) / len(values)
    spread = math.sqrt(sum((value - mean) ** 2 for value in values) / (len(values) - 1))
    return abs(mean - expected) < 4 * max(spread, 1e-6) / math.sqrt(len(values))


@pytest.mark.parametrize("judge", ["sim/judge", "sim/judge-shaky"])
def test_simulated_models_keep_to_the_planted_expectation(ask, small_scene, small_png, small_ref, judge):
    """Over many repeats the mean score, overall and of each step, agrees with the expectation from the parameters."""
    weighted, by_step = measure(ask, small_scene, small_png, small_ref, judge, repeats=1500)
    question = small_scene.questions[0]
    assert len(weighted) > 1200
    assert within_error(weighted, truth.expected_score(SPOTTED, KNOWN[judge], small_scene, question))
    of_leaf = truth.expected_by_capability("sim/spotted", judge, [(small_scene, question)], models=KNOWN)
    for step, scores in zip(question.steps, by_step, strict=True):
        assert within_error(scores, of_leaf[step.capability])


def test_final_answers_keep_to_the_planted_accuracy(ask, small_scene, small_png, small_ref):
    """The share of right final answers agrees with the expectation, refusals and broken replies counted as wrong."""
    question = small_scene.questions[1]
    choices = "\n".join(f"{letter}. {choice}" for letter, choice in zip("ABC", question.choices, strict=True))
    right = []
    for repeat in range(1500):
        inputs = {"question": question.text, "choices": choices}
        asked = ask("sim/spotted", "candidate", inputs, images=(small_ref,), repeat=repeat)
        text = respond(asked, {small_ref.sha256: small_png}, models=KNOWN).text
        answer = text.rpartition("Final answer: ")[2] if "Final answer: " in text else ""
        assert answer in ("", *question.choices)
        right.append(float(answer == question.answer))
    assert within_error(right, truth.expected_accuracy(SPOTTED, small_scene, question))


def test_a_perfect_judge_of_a_faultless_candidate_expects_five(small_scene):
    """Without any fault planted the expectation is the highest score, and with no skill the lowest."""
    question = small_scene.questions[0]
    judge = JudgeProfile(name="sim/judge")
    assert truth.expected_score(CandidateProfile(name="sim/x", base=1.0), judge, small_scene, question) == 5.0
    assert truth.expected_score(CandidateProfile(name="sim/x", base=0.0), judge, small_scene, question) == 1.0


def test_the_expectation_by_hand(small_scene):
    """Skill, omission, hedging and weights enter as worked out by hand for one question."""
    candidate = CandidateProfile(name="sim/x", base=0.5, overrides={"<Knowledge>": 1.0}, omission=0.2, hedging=0.5)
    good, known = 0.8 * 0.5, 0.8 * 1.0
    by_hand = (6 * (good * 4 + (1 - good)) + 4 * (known * 4 + (1 - known))) / 10
    judge = JudgeProfile(name="sim/judge")
    assert truth.expected_score(candidate, judge, small_scene, small_scene.questions[0]) == pytest.approx(by_hand)


def test_what_is_not_said_costs_score_and_no_accuracy(small_scene):
    """A step that is made and not said counts 1 like one that is left out, and the final answer is right as often."""
    talkative, terse = (CandidateProfile(name="sim/x", base=0.5, silent=silent) for silent in (0.0, 0.6))
    question, judge = small_scene.questions[0], JudgeProfile(name="sim/judge")
    assert truth.expected_score(terse, judge, small_scene, question) == pytest.approx(1 + 4 * 0.5 * 0.4)
    accuracy = truth.expected_accuracy(terse, small_scene, question)
    assert accuracy == truth.expected_accuracy(talkative, small_scene, question) == pytest.approx(0.5)


def test_a_truncated_reply_keeps_half_of_its_steps(small_scene):
    """A candidate that is always cut off is expected to have its first two of four steps right and no more."""
    candidate = CandidateProfile(name="sim/x", base=1.0, truncated=1.0)
    expected = truth.expected_score(candidate, JudgeProfile(name="sim/judge"), small_scene, small_scene.questions[0])
    assert expected == pytest.approx((3 * 5 + 7 * 1) / 10)


def test_means_are_over_questions_and_by_domain(small_scene):
    """The mean is that of the questions' expectations; one domain's mean is that of its questions."""
    pairs = [(small_scene, question) for question in small_scene.questions]
    each = [truth.expected_score(SPOTTED, SHAKY, *pair) for pair in pairs]
    assert truth.expected_mean("sim/spotted", "sim/judge-shaky", pairs, models=KNOWN) == pytest.approx(sum(each) / 2)
    assert truth.expected_by_domain("sim/spotted", "sim/judge-shaky", pairs, models=KNOWN) == {
        "logic": pytest.approx(sum(each) / 2)
    }
    assert truth.expected_blind_mean("sim/judge-shaky", models=KNOWN) == pytest.approx(0.8 * 1.25 + 0.2 * 4.75)


def test_means_need_questions_and_known_models(small_scene):
    """No question has no mean, and an unknown model is named with those there are."""
    with pytest.raises(ValueError, match="at least one question"):
        truth.expected_mean("sim/strong", "sim/judge", [])
    with pytest.raises(NotFound, match=r"sim/nobody.*sim/strong"):
        truth.expected_mean("sim/nobody", "sim/judge", [(small_scene, small_scene.questions[0])])


def test_all_fates_of_a_reply_occur(ask, small_scene, small_png, small_ref):
    """Refused, garbled, truncated and whole replies come at about their planted rates."""
    fates = Counter()
    for repeat in range(1000):
        inputs = {"question": small_scene.questions[0].text}
        asked = ask("sim/spotted", "candidate", inputs, images=(small_ref,), repeat=repeat)
        reply = respond(asked, {small_ref.sha256: small_png}, models=KNOWN)
        if reply.refusal:
            fates["refused"] += 1
        elif reply.finish_reason == "length":
            fates["truncated"] += 1
        else:
            fates["whole" if "Final answer" in reply.text else "garbled"] += 1
    assert 20 < fates["refused"] < 90
    assert 15 < fates["garbled"] < 80
    assert 60 < fates["truncated"] < 145
    assert fates["whole"] > 700
