"""Replies of a simulated judge with planted faults: solutions, criteria and ratings, scores, equivalence and leaks."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from pydantic import BaseModel, JsonValue

from dokimasia.domain.call import ChatReply, ToolSpec
from dokimasia.domain.criterion import MAX_CRITERIA, WEIGHT_TOTAL, Box
from dokimasia.simulation.candidates import REFUSED
from dokimasia.simulation.draws import Draws, text_reply
from dokimasia.simulation.judging.diagnosing import DIAGNOSIS_PROMPTS as DIAGNOSIS_PROMPTS
from dokimasia.simulation.judging.diagnosing import diagnosis_reply
from dokimasia.simulation.judging.modes import MODE_PROMPTS as MODES_PROMPTS
from dokimasia.simulation.judging.modes import modes_reply
from dokimasia.simulation.judging.probes import (
    DESCRIBING,
    criteria_of_description,
    says_the_same,
    solution_of_description,
)
from dokimasia.simulation.judging.scoring import (
    MISSING,
    RIGHT,
    SCORING,
    planted_score,
    read_criteria,
    same_answer,
    score_reason,
    true_score,
    unaddressed_criteria,
    words_of,
)
from dokimasia.simulation.judging.tree import TREE_PROMPTS as TREE_PROMPTS
from dokimasia.simulation.judging.tree import tree_reply
from dokimasia.simulation.judging.whole_answers import DUEL_PROMPTS as DUEL_PROMPTS
from dokimasia.simulation.judging.whole_answers import METHOD_PROMPTS as METHOD_PROMPTS
from dokimasia.simulation.judging.whole_answers import duel_reply, methods_reply
from dokimasia.simulation.picture_content import PictureContent
from dokimasia.simulation.profiles import JudgeProfile
from dokimasia.simulation.requests import Inputs, UnderstoodPrompt, read_choices, read_rows
from dokimasia.simulation.scene import Fact, Scene, SceneQuestion, SceneStep, WrittenCriterion, criteria_text
from dokimasia.simulation.structured import judge_reply_as_object
from dokimasia.simulation.truths.judges import WORST, planted_quality
from dokimasia.simulation.unknown_inputs import criteria_of_chain, is_unknown_question, solve_unknown_question
from dokimasia.simulation.visibility import WHOLE, ImagePart, ask_to_enlarge, box_in_part, makes_out

_SPELLED = re.compile(r"\b(?:\w[-. ])+\w\b")
_SUM = re.compile(r"\b(\d+) (?:plus|and|\+) (\d+)\b")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_ASKS = re.compile(
    r"(?:(?:at|in|on|from|to|by|for|of) )?(?:what|which|who|whose|where|when|how|why)\b.*\?$", re.IGNORECASE
)
_EMPHASIS = re.compile(r"\*([^*\n]+)\*")
_DENIES = re.compile(r"\b(?:none|not|neither|nor|cannot|rule out)\b")
_BACKWARDS = re.compile(r"\b(?:backwards?|revers\w+|from its end)\b")


class ListedSecret(BaseModel):
    """A thing to be found out, as the prompt `leak_check` lists it."""

    secret: str


def telling_passage(secrets: str, text: str, question: str, choices: Sequence[str]) -> str:
    """Return the first sentence that gives a secret away (the last if several do so together), or an empty text."""
    sentences = [sentence.strip() for sentence in _SENTENCE.split(text) if sentence.strip()]
    first = next((sentence for sentence in sentences if gives_away(secrets, sentence, question, choices)), "")
    return first or (sentences[-1] if sentences and gives_away(secrets, text, question, choices) else "")


def gives_away(secrets: str, text: str, question: str, choices: Sequence[str]) -> bool:
    """Return whether a reader who has the question and the text knows one of the secrets (a line each).

    Repeating words of the question and choices gives nothing away, nor does a sentence that only asks.
    """
    text = " ".join(sentence for sentence in _SENTENCE.split(text) if not _ASKS.match(sentence))
    words_of_question = words_of(" ".join((question, *choices)))
    words_of_text, low = words_of(text), text.casefold()
    run = f" {' '.join(word for word in words_of_text if word not in words_of_question)} "
    pieces = [re.sub(r"\W", "", piece) for piece in _SPELLED.findall(low)]
    loud = [words for phrase in _EMPHASIS.findall(text) if (words := words_of(phrase))]
    sums = {str(int(first) + int(second)) for first, second in _SUM.findall(low)}
    for line in secrets.splitlines():
        words = words_of(line)
        if not words:
            continue
        fresh = [word for word in words if word not in words_of_question]
        numbers = {word for word in words if word[0].isdigit()}
        is_stated = f" {' '.join(fresh)} " in run and {words[-1], *numbers} <= set(words_of_text)
        if fresh and (
            is_stated or set(words) <= set(words_of_text) or any(set(phrase) <= set(words) for phrase in loud)
        ):
            return True
        if (numbers - set(words_of(question))) & {*words_of_text, *sums}:
            return True
        for word in {word for word in words if len(word) > 1}:
            turned = word[::-1] in words_of_text and word[::-1] != word and _BACKWARDS.search(low)
            if turned or any(word in piece for piece in pieces):
                return True
        if _rules_out_others(line, low, choices):
            return True
    return False


def _rules_out_others(secret: str, text: str, choices: Sequence[str]) -> bool:
    """Return whether a text rules out all choices but the secret."""
    unnamed = [choice for choice in choices if choice.casefold() not in text]
    right = len(unnamed) == 1 and words_of(unnamed[0]) == words_of(secret)
    return right and len(choices) > 1 and _DENIES.search(text) is not None


_LEAST_HEAVY = 3
_NUMBERED_STEP = re.compile(r"^\d+\. (.+)$", re.MULTILINE)
_COUNT_AT_END = re.compile(r"(\d+)\s*$")


def draw_criteria(
    profile: JudgeProfile,
    scene: Scene,
    question: SceneQuestion,
    chain: str,
    draws: Draws,
    *,
    count: str | None,
    image: int,
    part: ImagePart,
    mending: bool,
) -> list[WrittenCriterion]:
    """Return the steps of a planted question as criteria and, at the planted rate, an unnecessary one.

    Args:
        profile: the judge.
        scene: the content of the image.
        question: the planted question.
        chain: the reasoning whose wording the criteria use.
        draws: the request's draws.
        count: the requested number of criteria, such as `3 to 5`; None if the prompt does not state it.
        image: the image that shows the scene.
        part: the displayed part of the scene.
        mending: whether a set was returned for repair, in which case nothing is invented.
    """
    with_final = count is not None
    most = _COUNT_AT_END.search(count or "")
    steps = question.steps[-(int(most[1]) if most else MAX_CRITERIA) :]
    criteria = [_criterion_of_step(step, question, chain, image, part, with_final=with_final) for step in steps]
    criteria[-1].weight += WEIGHT_TOTAL - sum(criterion.weight for criterion in criteria)
    heaviest = max(criteria, key=lambda criterion: criterion.weight)
    spare = [fact for fact in scene.facts if not any(_speaks_of(step, fact) for step in question.steps)]
    room = len(criteria) < MAX_CRITERIA and heaviest.weight >= _LEAST_HEAVY
    if room and spare and not mending and draws.chance(profile.incidental, "incidental"):
        heaviest.weight -= 2
        criteria.insert(0, _criterion_of_fact(draws.pick(spare, "incidental-fact"), image, part, with_final=with_final))
    return criteria


def examine_criteria(text: str, chain: str) -> str:
    """Return a second look at criteria: they are needed if their ground truth is in a numbered step of the solution.

    Nothing is known about criteria outside the planted world, so none of them is faulted.
    """
    criteria = read_criteria(text)
    if not criteria:
        return "The points are not a list that I can read."
    steps = [step.casefold() for step in _NUMBERED_STEP.findall(chain)]
    lines: list[str] = []
    for criterion in criteria:
        truth = criterion.ground_truth.casefold()
        needed = is_unknown_question(criterion.question) or any(truth in step for step in steps)
        word, reason = ("YES", "-") if needed else ("NO", "no step of the solution says it")
        lines.append(f"{criterion.n} | needed: {word} | single: YES | open: YES | {reason}")
    return "\n".join([*lines, "missing: nothing"])


def chain_in_mind(profile: JudgeProfile, question: SceneQuestion, draws: Draws) -> str:
    """Return the steps as known to a judge without a written chain: each but the last is wrong at its own rate."""
    last = len(question.steps) - 1
    return "\n".join(
        draws.pick(step.wrong, "in-mind", at)
        if at < last and draws.chance(profile.chainless, "chainless", at)
        else step.statement
        for at, step in enumerate(question.steps)
    )


def _criterion_of_step(
    step: SceneStep, question: SceneQuestion, chain: str, image: int, part: ImagePart, *, with_final: bool
) -> WrittenCriterion:
    """Return a step as a criterion, with its ground truth as worded in the chain, even if that is wrong."""
    wording_in_chain = next((wording for wording in (step.statement, *step.wrong) if wording in chain), step.statement)
    final = step is question.steps[-1] and step.truth == question.answer
    return WrittenCriterion(
        question=step.question,
        ground_truth=wording_in_chain,
        weight=step.weight,
        anchor=_anchor(step.box, image, part),
        final=final if with_final else None,
    )


def _criterion_of_fact(fact: Fact, image: int, part: ImagePart, *, with_final: bool) -> WrittenCriterion:
    """Return a fact that the question does not depend on, as a criterion."""
    return WrittenCriterion(
        question=f"What is the {fact.attribute} of the {fact.subject}?",
        ground_truth=f"The {fact.attribute} of the {fact.subject} is {fact.value}.",
        weight=2,
        anchor=_anchor(fact.box, image, part),
        final=False if with_final else None,
    )


def _anchor(box: Box | None, image: int, part: ImagePart) -> JsonValue:
    shown = None if box is None else box_in_part(box, part)
    if shown is None:
        return "whole image"
    return {"image": image, "box": [*shown]}


def _speaks_of(step: SceneStep, fact: Fact) -> bool:
    """Return whether a step mentions the value of a fact."""
    return fact.value.casefold() in f"{step.statement} {step.question}".casefold()


QUALITY_PROMPT = "criterion_quality"


def quality_reply(
    profile: JudgeProfile, inputs: Inputs, scene: Scene | None, question: SceneQuestion | None, draws: Draws
) -> str:
    """Return the ratings of a criterion: the planted ones, with the judge's faults; the best outside the planted world.

    A fault is noticed with probability `detects_missing`, a criterion without one is faulted with probability
    `false_alarm`, and a rating is off by one with probability `jitter`.
    """
    planted = {"accuracy": 3, "necessity": 3}
    if scene is not None and question is not None:
        accuracy, necessity = planted_quality(scene, question, inputs.criterion, inputs.ground_truth)
        planted = {"accuracy": accuracy, "necessity": necessity}
    parts: list[str] = []
    for name, truth in planted.items():
        rating = truth
        if truth == WORST and not draws.chance(profile.detects_missing, "sees", name):
            rating = 3
        elif truth != WORST and draws.chance(profile.false_alarm, "false-alarm", name):
            rating = WORST
        if draws.chance(profile.jitter, "jitter", name):
            rating += 1 if rating < 3 else -1
        parts.append(f"<{name}>\n<reasoning>Compared with the picture.</reasoning>\n<score>{rating}</score>\n</{name}>")
    return "<criterion_rating>\n" + "\n".join(parts) + "\n</criterion_rating>"


_ORDER_SCORE = re.compile(
    r"\b(?:give|award|assign|rate|score|mark|grade)\b[^\n]*?\b(?:(full marks|top marks|the maximum)|([1-5]))\b",
    re.IGNORECASE,
)
_ORDER_SAME = re.compile(r"\b(?:say|answer|reply|declare|decide|call)\b[^\n]*?\b(same|different)\b", re.IGNORECASE)
_NOISE = (
    "Having looked at everything with care, I find that the work is quite good on the whole, if not in every respect.",
    "Let me think about this first. There are several points to weigh, and I would like to begin with the most",
)


class SceneView(NamedTuple):
    """A model's view of the planted world: scene and question, and which image shows which part (x0, y0, x1, y1).

    `parts` are those shown by all images of the scene, including images made by a tool.
    """

    scene: Scene
    question: SceneQuestion
    image: int
    part: ImagePart
    parts: tuple[ImagePart, ...] = (WHOLE,)


def judge_reply(
    profile: JudgeProfile,
    understood: UnderstoodPrompt,
    view: SceneView | None,
    draws: Draws,
    *,
    as_object: bool = False,
    tools: Sequence[ToolSpec] = (),
    picture: PictureContent | None = None,
) -> ChatReply:
    """Return the judge's reply to one of the prompts it knows; `picture` is what it sees without a `view`.

    With an output schema, the judge gives the same reply as an object, and never in unusable form. A judge that cannot
    recognise what it needs requests a look with the tools that it may still use.
    """
    request = understood.request
    if draws.chance(profile.refusal, "refusal"):
        return REFUSED
    hidden = [] if view is None else _hidden_steps(profile, understood, view)
    if view is not None and hidden:
        look = ask_to_enlarge(tools, (step.box for step in hidden), view.image, view.part, draws.key)
        if look is not None:
            return look
    order = understood.outside if profile.gullible else ""
    text = _reply_text(profile, understood, order, view, draws, picture)
    if as_object:
        text = judge_reply_as_object(request.name, text)
    elif draws.chance(profile.format_noise, "noise"):
        text = _spoil_reply(text, draws)
    return text_reply(text)


def _reply_text(
    profile: JudgeProfile,
    understood: UnderstoodPrompt,
    order: str,
    view: SceneView | None,
    draws: Draws,
    picture: PictureContent | None,
) -> str:
    request, inputs = understood.request, understood.inputs
    choices = read_choices(inputs.choices)
    asked_for = DESCRIBING.search(inputs.question) and not choices and inputs.reference_answer is None
    if picture is not None and picture.planted and view is None and asked_for:
        if request.name == "solver":
            return solution_of_description(picture)
        if request.name in ("criteria", "criteria_published", "criteria_no_chain"):
            return criteria_text(criteria_of_description(picture, final=inputs.count is not None))
    if request.name == "solver":
        return _solution_reply(profile, inputs, choices, view, draws)
    if request.name in ("criteria", "criteria_published", "criteria_no_chain"):
        return criteria_text(_criteria_reply(profile, understood, view, draws))
    if request.name == "criteria_check":
        return examine_criteria(inputs.criteria, inputs.chain)
    if request.name in SCORING:
        return _scores_reply(profile, understood, view, draws)
    if request.name == "equivalence":
        reference = inputs.reference_answer or ""
        same = says_the_same(profile, inputs.answer, reference)
        same = same_answer(inputs.answer, reference, choices) if same is None else same
        same ^= draws.chance(profile.fails_right if same else profile.passes_wrong, "equivalence")
        ordered = _ORDER_SAME.search(order)
        verdict = "same" if same else "different"
        if ordered:
            verdict = ordered[1].lower()
        return f"The two answers were compared by what they say on the question.\n\nVerdict: [[{verdict}]]"
    if request.name in METHOD_PROMPTS:
        return methods_reply(profile, request.name, inputs, view.question if view else None, draws)
    if request.name in TREE_PROMPTS:
        return tree_reply(profile, request.name, inputs, draws)
    if request.name in DUEL_PROMPTS:
        return duel_reply(profile, request.name, inputs, order, draws)
    if request.name in DIAGNOSIS_PROMPTS:
        return diagnosis_reply(profile, request.name, inputs, draws)
    if request.name in MODES_PROMPTS:
        return modes_reply(profile, request.name, inputs, view.question if view else None, draws)
    if request.name == QUALITY_PROMPT:
        return quality_reply(profile, inputs, view.scene if view else None, view.question if view else None, draws)
    if request.name == "leak_check":
        rows = read_rows(inputs.secrets, ListedSecret)
        secrets = "\n".join(" ".join(row.secret.split()) for row in rows)
        passage = telling_passage(secrets, inputs.text, inputs.question, choices)
        line = f'Leak: "{passage}" | by: said\nVerdict: [[leak]]' if passage else "Verdict: [[clean]]"
        return f"The text was searched for what is to be found out.\n\n{line}"
    return f"I am a simulated judge and have not learnt what the prompt {request.name!r} asks for."


def _solution_reply(
    profile: JudgeProfile, inputs: Inputs, choices: list[str], view: SceneView | None, draws: Draws
) -> str:
    if view:
        evidence = [f"The picture, {view.scene.title.rstrip('.')!r}, shows: {_evidence(view, profile.sight)}."]
        visible = [makes_out(profile.sight, step.box, view.parts) for step in view.question.steps]
        steps = [
            step.statement if visible[number] else draws.pick(step.wrong, "unseen", number)
            for number, step in enumerate(view.question.steps)
        ]
        is_certain = visible[-1] or inputs.reference_answer is not None
        final = view.question.answer if is_certain else draws.pick(view.question.wrong_answers, "unseen-answer")
    else:
        evidence = []
        steps, final = solve_unknown_question(inputs.question, choices, inputs.reference_answer, draws)
    if draws.chance(profile.contradiction, "contradiction"):
        final = _wrong_answer(final, view, choices, draws)
    numbered = [f"{number}. {step}" for number, step in enumerate(steps, 1)]
    reasoning = "\n".join([*evidence, *numbered])
    return f"<reasoning>\n{reasoning}\n</reasoning>\n<answer>\n{final}\n</answer>"


def _wrong_answer(final: str, view: SceneView | None, choices: Sequence[str], draws: Draws) -> str:
    wrong = [choice for choice in choices if choice != final] or (list(view.question.wrong_answers) if view else [])
    if wrong:
        return draws.pick(wrong, "other")
    return "It cannot be told from the picture."


def _hidden_steps(profile: JudgeProfile, understood: UnderstoodPrompt, view: SceneView) -> list[SceneStep]:
    """Return the steps that the request needs but whose regions are not recognisable in any image."""
    steps: Sequence[SceneStep] = ()
    if understood.request.name == "solver":
        steps = view.question.steps
    elif understood.request.name in SCORING:
        questions = {criterion.question for criterion in read_criteria(understood.inputs.criteria)}
        steps = [step for step in view.question.steps if step.question in questions]
    return [step for step in steps if not makes_out(profile.sight, step.box, view.parts)]


def _evidence(view: SceneView, sight: float) -> str:
    """Return the recognisable facts in the steps' regions, at most eight; without any, the first few of the scene."""
    boxes = [step.box for step in view.question.steps if step.box]
    facts = [fact for fact in view.scene.facts if any(_centre_in(fact.box, box) for box in boxes)] or view.scene.facts[
        :4
    ]
    facts = [fact for fact in facts if makes_out(sight, fact.box, view.parts)]
    if not facts:
        return "things that are too small to make out"
    return "; ".join(f"{fact.subject}, {fact.attribute}: {fact.value}" for fact in facts[:8])


def _centre_in(inner: Box, outer: Box) -> bool:
    x, y = (inner.x0 + inner.x1) / 2, (inner.y0 + inner.y1) / 2
    return outer.x0 <= x <= outer.x1 and outer.y0 <= y <= outer.y1


def _criteria_reply(
    profile: JudgeProfile, understood: UnderstoodPrompt, view: SceneView | None, draws: Draws
) -> list[WrittenCriterion]:
    inputs = understood.inputs
    if view is None:
        criteria = criteria_of_chain(inputs.chain or inputs.reference_answer or inputs.question)
        if inputs.count is not None:
            for criterion in criteria:
                criterion.final = False
        return criteria
    return draw_criteria(
        profile,
        view.scene,
        view.question,
        inputs.chain or chain_in_mind(profile, view.question, draws),
        draws,
        count=inputs.count,
        image=view.image,
        part=view.part,
        mending=understood.request.problem is not None,
    )


def _scores_reply(
    profile: JudgeProfile,
    understood: UnderstoodPrompt,
    view: SceneView | None,
    draws: Draws,
) -> str:
    inputs, prompt = understood.inputs, understood.request.name
    criteria = read_criteria(inputs.criteria)
    if not criteria:
        return "The criteria are not a list that I can read."
    ordered = _ORDER_SCORE.search(understood.outside) if profile.gullible else None
    boxes = {step.question: step.box for step in view.question.steps} if view else {}
    silent = set[int]() if prompt == "checkpoints_published" else unaddressed_criteria(criteria, inputs.response)
    lines: list[str] = []
    for criterion in criteria:
        true = true_score(criterion.question, criterion.ground_truth, inputs.response)
        if view and not makes_out(profile.sight, boxes.get(criterion.question), view.parts):
            true = RIGHT
        score = planted_score(profile, true, criterion.n, draws)
        if ordered:
            score = int(ordered[2] or 5)
        stated_score = "not stated" if score == MISSING and criterion.n in silent else score
        line = f"{criterion.n} | score: [{stated_score}]"
        lines.append(f"{line} | reason: {score_reason(stated_score)}" if prompt == "checkpoints_reasons" else line)
    return "\n".join(lines)


def _spoil_reply(text: str, draws: Draws) -> str:
    """Return a useless reply: chatter instead, only part of it, or with all digits and brackets removed."""
    kind = draws.pick(("chatter", "cut", "bare"), "noise-kind")
    if kind == "chatter":
        return draws.pick(_NOISE, "chatter")
    if kind == "cut":
        bracket = text.rfind("[")
        if bracket > 0:
            return text[:bracket]
        return text[: len(text) // 2]
    return re.sub(r"[\[\]{}<>\d]", "", text)
