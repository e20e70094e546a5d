"""How a simulated judge replies: model solutions, criteria, scores and equivalence, with the faults planted in it."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import orjson

from dokimasia.domain.call import ChatReply, ToolSpec
from dokimasia.domain.criterion import Box
from dokimasia.prompts import Recognised
from dokimasia.simulation import foreign
from dokimasia.simulation.candidates import REFUSAL
from dokimasia.simulation.depicted import Depicted
from dokimasia.simulation.draws import Draws
from dokimasia.simulation.judging.criteria import drawn, examined, in_mind
from dokimasia.simulation.judging.described import DESCRIBING, criteria_of, says_the_same, solution_of
from dokimasia.simulation.judging.diagnosing import PROMPTS as DIAGNOSIS_PROMPTS
from dokimasia.simulation.judging.diagnosing import diagnosis_reply
from dokimasia.simulation.judging.duels import PROMPTS as DUEL_PROMPTS
from dokimasia.simulation.judging.duels import duel_reply
from dokimasia.simulation.judging.leaks import telling_passage
from dokimasia.simulation.judging.methods import PROMPTS as METHOD_PROMPTS
from dokimasia.simulation.judging.methods import methods_reply
from dokimasia.simulation.judging.modes import PROMPTS as MODES_PROMPTS
from dokimasia.simulation.judging.modes import modes_reply
from dokimasia.simulation.judging.quality import PROMPT as QUALITY_PROMPT
from dokimasia.simulation.judging.quality import quality_reply
from dokimasia.simulation.judging.scoring import (
    MISSING,
    RIGHT,
    planted_score,
    read_criteria,
    same_answer,
    silent_on,
    true_score,
)
from dokimasia.simulation.profiles import JudgeProfile
from dokimasia.simulation.reading import Understood, read_choices
from dokimasia.simulation.scene import Question, Scene, Step
from dokimasia.simulation.sight import WHOLE, Part, looks_closer, sees
from dokimasia.simulation.structured import in_object
from dokimasia.simulation.tree.judge import PROMPTS as TREE_PROMPTS
from dokimasia.simulation.tree.judge import tree_reply

_ORDER_SCORE = re.compile(
    r"\b(?:give|award|assign|rate|score|mark|grade)\b[^\n]*?\b(?:(full marks|top marks|the maximum)|([1-5]))\b",
    re.IGNORECASE,
)
_ORDER_SAME = re.compile(r"\b(?:say|answer|reply|declare|decide|call)\b[^\n]*?\b(same|different)\b", re.IGNORECASE)
_NOISE = (
    "Having looked at everything with care, I find that the work is quite good on the whole, if not in every respect.",
    "Let me think about this first. There are several points to weigh, and I would like to begin with the most",
)


class View(NamedTuple):
    """What a model sees of the planted world: scene and question, and which image shows which part (x0, y0, x1, y1).

    `parts` are those that all images of the scene show, the ones that a tool made among them.
    """

    scene: Scene
    question: Question
    image: int
    part: Part
    parts: tuple[Part, ...] = (WHOLE,)


def reply(
    profile: JudgeProfile,
    understood: Understood,
    view: View | None,
    draws: Draws,
    *,
    held: bool = False,
    tools: Sequence[ToolSpec] = (),
    picture: Depicted | None = None,
) -> ChatReply:
    """Return the judge's reply to one of the prompts that it knows; `picture` is what it sees where it has no `view`.

    A judge that is held to an output schema says the same in the object that it asks for, and never in unusable form.
    One that cannot make out what it needs to asks for a look with the tools that it may still use.
    """
    request = understood.request
    if draws.chance(profile.refusal, "refusal"):
        return ChatReply(text=REFUSAL, refusal=REFUSAL, finish_reason="stop", native_finish_reason="stop")
    hidden = [] if view is None else _hidden(profile, request, view)
    if view is not None and hidden:
        asked = looks_closer(tools, (step.box for step in hidden), view.image, view.part, draws.key)
        if asked is not None:
            return asked
    order = understood.outside if profile.gullible else ""
    text = _work(profile, request, order, view, draws, picture)
    if held:
        text = in_object(request.name, text)
    elif draws.chance(profile.format_noise, "noise"):
        text = _spoilt(text, draws)
    return ChatReply(text=text, finish_reason="stop", native_finish_reason="stop")


def _work(
    profile: JudgeProfile, request: Recognised, order: str, view: View | None, draws: Draws, picture: Depicted | None
) -> str:
    inputs = request.inputs
    choices = read_choices(inputs.get("choices", ""))
    asked_for = DESCRIBING.search(inputs.get("question", "")) and not choices and "reference_answer" not in inputs
    if picture is not None and picture.planted and view is None and asked_for:
        if request.name == "solver":
            return solution_of(picture)
        if request.name in ("criteria", "criteria_published", "criteria_no_chain"):
            return orjson.dumps(criteria_of(picture, final="count" in inputs)).decode()
    if request.name == "solver":
        return _solution(profile, inputs, choices, view, draws)
    if request.name in ("criteria", "criteria_published", "criteria_no_chain"):
        return orjson.dumps(_criteria(profile, request, view, draws)).decode()
    if request.name == "criteria_check":
        return examined(inputs["criteria"], inputs["chain"])
    if request.name in ("checkpoints", "checkpoints_published"):
        tells_silence = request.name == "checkpoints"
        return _scores(profile, inputs, order, view, draws, tells_silence=tells_silence)
    if request.name == "equivalence":
        same = says_the_same(profile, inputs["answer"], inputs["reference_answer"])
        same = same_answer(inputs["answer"], inputs["reference_answer"], choices) if same is None else same
        same ^= draws.chance(profile.fails_right if same else profile.passes_wrong, "equivalence")
        ordered = _ORDER_SAME.search(order)
        verdict = ordered[1].lower() if ordered else "same" if same else "different"
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
        told = telling_passage(inputs["secrets"], inputs["text"], inputs["question"], choices)
        line = f'Leak: "{told}" | by: said\nVerdict: [[leak]]' if told else "Verdict: [[clean]]"
        return f"The text was searched for what is to be found out.\n\n{line}"
    return f"I am a simulated judge and have not learnt what the prompt {request.name!r} asks for."


def _solution(
    profile: JudgeProfile, inputs: dict[str, str], choices: list[str], view: View | None, draws: Draws
) -> str:
    if view:
        shown = [f"The picture, {view.scene.title.rstrip('.')!r}, shows: {_evidence(view, profile.sight)}."]
        seen = [sees(profile.sight, step.box, view.parts) for step in view.question.steps]
        steps = [
            step.statement if seen[number] else draws.pick(step.wrong, "unseen", number)
            for number, step in enumerate(view.question.steps)
        ]
        known = seen[-1] or "reference_answer" in inputs
        final = view.question.answer if known else draws.pick(view.question.wrong_answers, "unseen-answer")
    else:
        shown = []
        steps, final = foreign.solution(inputs["question"], choices, inputs.get("reference_answer"), draws)
    if draws.chance(profile.contradiction, "contradiction"):
        final = _other(final, view, choices, draws)
    numbered = [f"{number}. {step}" for number, step in enumerate(steps, 1)]
    reasoning = "\n".join([*shown, *numbered])
    return f"<reasoning>\n{reasoning}\n</reasoning>\n<answer>\n{final}\n</answer>"


def _other(final: str, view: View | None, choices: Sequence[str], draws: Draws) -> str:
    wrong = [choice for choice in choices if choice != final] or (list(view.question.wrong_answers) if view else [])
    return draws.pick(wrong, "other") if wrong else "It cannot be told from the picture."


def _hidden(profile: JudgeProfile, request: Recognised, view: View) -> list[Step]:
    """The steps that the request needs and whose regions are not made out in any image."""
    steps: Sequence[Step] = ()
    if request.name == "solver":
        steps = view.question.steps
    elif request.name in ("checkpoints", "checkpoints_published"):
        asked = {one["question"] for one in read_criteria(request.inputs["criteria"]) or []}
        steps = [step for step in view.question.steps if step.question in asked]
    return [step for step in steps if not sees(profile.sight, step.box, view.parts)]


def _evidence(view: View, sight: float) -> str:
    """The facts that are made out where the steps look, at most eight; the first few of the scene where none is."""
    boxes = [step.box for step in view.question.steps if step.box]
    facts = [fact for fact in view.scene.facts if any(_centre_in(fact.box, box) for box in boxes)] or view.scene.facts[
        :4
    ]
    facts = [fact for fact in facts if sees(sight, fact.box, view.parts)]
    if not facts:
        return "things that are too small to make out"
    return "; ".join(f"{fact.subject}, {fact.attribute}: {fact.value}" for fact in facts[:8])


def _centre_in(inner: Box, outer: Box) -> bool:
    x, y = (inner.x0 + inner.x1) / 2, (inner.y0 + inner.y1) / 2
    return outer.x0 <= x <= outer.x1 and outer.y0 <= y <= outer.y1


def _criteria(profile: JudgeProfile, request: Recognised, view: View | None, draws: Draws) -> list[dict[str, Any]]:
    inputs = request.inputs
    if view is None:
        chain = inputs.get("chain") or inputs.get("reference_answer") or inputs["question"]
        criteria = foreign.criteria(chain)
        return criteria if "count" not in inputs else [{**one, "final": False} for one in criteria]
    mending = request.problem is not None
    if "chain" not in inputs:
        inputs = {**inputs, "chain": in_mind(profile, view.question, draws)}
    return drawn(profile, view.scene, view.question, inputs, draws, image=view.image, part=view.part, mending=mending)


def _scores(
    profile: JudgeProfile,
    inputs: dict[str, str],
    order: str,
    view: View | None,
    draws: Draws,
    *,
    tells_silence: bool,
) -> str:
    criteria = read_criteria(inputs["criteria"])
    if criteria is None:
        return "The criteria are not a list that I can read."
    ordered = _ORDER_SCORE.search(order)
    boxes = {step.question: step.box for step in view.question.steps} if view else {}
    silent = silent_on(criteria, inputs["response"]) if tells_silence else set[int]()
    lines: list[str] = []
    for one in criteria:
        number = one["n"]
        true = true_score(one["question"], one["ground_truth"], inputs["response"])
        if view and not sees(profile.sight, boxes.get(one["question"]), view.parts):
            true = RIGHT
        score = planted_score(profile, true, number, draws)
        if ordered:
            score = int(ordered[2] or 5)
        said = "not stated" if score == MISSING and number in silent else score
        lines.append(f"{number} | score: [{said}]")
    return "\n".join(lines)


def _spoilt(text: str, draws: Draws) -> str:
    """A reply of no use: chatter in its place, a part of it, or all of its digits and brackets gone."""
    kind = draws.pick(("chatter", "cut", "bare"), "noise-kind")
    if kind == "chatter":
        return draws.pick(_NOISE, "chatter")
    if kind == "cut":
        bracket = text.rfind("[")
        return text[:bracket] if bracket > 0 else text[: len(text) // 2]
    return re.sub(r"[\[\]{}<>\d]", "", text)
