"""How a simulated judge rates a criterion: by what is planted in the scene that it sees."""

from collections.abc import Mapping

from dokimasia.simulation.draws import Draws
from dokimasia.simulation.profiles import JudgeProfile
from dokimasia.simulation.scene import Question, Scene
from dokimasia.simulation.truths.quality import WORST, planted_quality

PROMPT = "criterion_quality"


def quality_reply(
    profile: JudgeProfile, inputs: Mapping[str, str], scene: Scene | None, question: Question | None, draws: Draws
) -> str:
    """Return the ratings of a criterion: the planted ones, with the judge's faults; of what is not planted the best.

    A fault is seen with probability `detects_missing`, a criterion without one is faulted with probability `false_alarm`,
    and a rating lies one off with probability `jitter`.
    """
    planted = {"accuracy": 3, "necessity": 3}
    if scene is not None and question is not None:
        accuracy, necessity = planted_quality(scene, question, inputs["criterion"], inputs["ground_truth"])
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
