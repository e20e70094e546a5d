"""The planted quality of a criterion: whether its ground truth is what the scene holds, and whether the answer rests on it."""

from dokimasia.simulation.profiles import JudgeProfile
from dokimasia.simulation.scene import Question, Scene

BEST, WORST = 3, 1


def planted_quality(scene: Scene, question: Question, asked: str, truth: str) -> tuple[int, int]:
    """Return the planted accuracy and necessity of a criterion, each 3 or 1.

    It is accurate where it says what a step of the question says, or a fact of the scene; necessary where it asks what a
    step asks, right or wrong.
    """
    step = next((one for one in question.steps if one.question == asked), None)
    if step is not None:
        return (BEST if truth == step.statement else WORST), BEST
    stated = {f"The {fact.attribute} of the {fact.subject} is {fact.value}." for fact in scene.facts}
    return (BEST if truth in stated else WORST), WORST


def expected_rating(rater: JudgeProfile, planted: int) -> float:
    """Return the mean rating that a rater with planted faults gives where the planted one is the best, or the worst."""
    faulted = rater.detects_missing if planted == WORST else rater.false_alarm
    return faulted * (WORST + rater.jitter) + (1 - faulted) * (BEST - rater.jitter)
