"""How a simulated judge draws atomic criteria, invents incidental ones, and takes a second look at a set."""

import re
from typing import Any

from dokimasia.domain.criterion import MAX_CRITERIA, WEIGHT_TOTAL
from dokimasia.simulation import foreign
from dokimasia.simulation.draws import Draws
from dokimasia.simulation.judging.scoring import read_criteria
from dokimasia.simulation.profiles import JudgeProfile
from dokimasia.simulation.scene import Fact, Question, Scene, Step
from dokimasia.simulation.sight import Part, inside

_LEAST_HEAVY = 3
_STEP = re.compile(r"^\d+\. (.+)$", re.MULTILINE)
_MOST = re.compile(r"(\d+)\s*$")


def drawn(
    profile: JudgeProfile,
    scene: Scene,
    question: Question,
    inputs: dict[str, str],
    draws: Draws,
    *,
    image: int,
    part: Part,
    mending: bool,
) -> list[dict[str, Any]]:
    """Return the steps of a planted question as criteria, and with the rate that is planted one that nobody needs.

    Args:
        profile: of the judge.
        scene: what the image shows.
        question: the planted question.
        inputs: the prompt's; `count` is how many are wanted, where it is said.
        draws: the request's draws.
        image: the image that shows the scene.
        part: the part of the scene that it shows.
        mending: whether a set was sent back: then nothing is invented.
    """
    told = "count" in inputs
    most = _MOST.search(inputs.get("count", ""))
    steps = question.steps[-(int(most[1]) if most else MAX_CRITERIA) :]
    criteria = [_of_step(step, question, inputs["chain"], image, part, told=told) for step in steps]
    criteria[-1]["weight"] += WEIGHT_TOTAL - sum(one["weight"] for one in criteria)
    heaviest = max(criteria, key=lambda one: one["weight"])
    spare = [fact for fact in scene.facts if not any(_holds(step, fact) for step in question.steps)]
    room = len(criteria) < MAX_CRITERIA and heaviest["weight"] >= _LEAST_HEAVY
    if room and spare and not mending and draws.chance(profile.incidental, "incidental"):
        heaviest["weight"] -= 2
        criteria.insert(0, _of_fact(draws.pick(spare, "incidental-fact"), image, part, told=told))
    return criteria


def examined(text: str, chain: str) -> str:
    """Return a second look at criteria: those are needed whose ground truth a numbered step of the solution says.

    Of criteria outside of the planted world nothing is known, and nothing is found to be wrong.
    """
    criteria = read_criteria(text)
    if criteria is None:
        return "The points are not a list that I can read."
    steps = [step.casefold() for step in _STEP.findall(chain)]
    lines: list[str] = []
    for one in criteria:
        truth = one["ground_truth"].casefold()
        needed = foreign.is_foreign_question(one["question"]) or any(truth in step for step in steps)
        word, reason = ("YES", "-") if needed else ("NO", "no step of the solution says it")
        lines.append(f"{one['n']} | needed: {word} | single: YES | open: YES | {reason}")
    return "\n".join([*lines, "missing: nothing"])


def in_mind(profile: JudgeProfile, question: Question, draws: Draws) -> str:
    """Return the steps as a judge has them in mind that wrote no chain: each but the last is wrong at its own rate."""
    last = len(question.steps) - 1
    return "\n".join(
        draws.pick(step.wrong, "in-mind", at)
        if at < last and draws.chance(profile.chainless, "chainless", at)
        else step.statement
        for at, step in enumerate(question.steps)
    )


def _of_step(step: Step, question: Question, chain: str, image: int, part: Part, *, told: bool) -> dict[str, Any]:
    """A step as a criterion, its ground truth as the chain puts it, also where that is wrong."""
    said = next((one for one in (step.statement, *step.wrong) if one in chain), step.statement)
    shown = None if step.box is None else inside(step.box, part)
    final = step is question.steps[-1] and step.truth == question.answer
    return _criterion(step.question, said, step.weight, image, shown, {"final": final} if told else {})


def _of_fact(fact: Fact, image: int, part: Part, *, told: bool) -> dict[str, Any]:
    """A fact that the question does not turn on as a criterion."""
    asked = f"What is the {fact.attribute} of the {fact.subject}?"
    said = f"The {fact.attribute} of the {fact.subject} is {fact.value}."
    return _criterion(asked, said, 2, image, inside(fact.box, part), {"final": False} if told else {})


def _criterion(
    question: str, truth: str, weight: int, image: int, box: list[float] | None, more: dict[str, bool]
) -> dict[str, Any]:
    anchor: object = "whole image" if box is None else {"image": image, "box": box}
    return {"question": question, "ground_truth": truth, "weight": weight, "anchor": anchor, **more}


def _holds(step: Step, fact: Fact) -> bool:
    """Whether a step speaks of a fact's value."""
    return fact.value.casefold() in f"{step.statement} {step.question}".casefold()
