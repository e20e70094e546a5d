"""How a simulated judge decides duels: by what is vivid and true in two answers, and by the biases planted in it.

Its verdict first follows quality: better from one vivid line more, much better from four more. Then it moves a step
towards the answer shown first at the rate `favours_first`, a step towards the longer one at the rate `favours_longer`, and
a step either way, each as likely, at the rate `jitter`; no verdict leaves the scale. Scores of visual factuality follow
the criteria alone, and miss by one point at the rate `jitter`.
"""

import re

from dokimasia.domain.identity import unit_interval
from dokimasia.simulation.creating import quality, truths_told
from dokimasia.simulation.draws import Draws
from dokimasia.simulation.foreign import content_words
from dokimasia.simulation.profiles import JudgeProfile

PROMPTS = ("duel_verdict", "duel_factuality")
MUCH = 4
"""So many vivid lines more make an answer much better."""

VERDICTS = {2: "A>>B", 1: "A>B", 0: "A=B", -1: "B>A", -2: "B>>A"}
_ORDER = re.compile(
    r"\b(?:say|answer|reply|declare|decide|call|choose|prefer)\b[^\n]*?\b(?:response )?([AB])\b", re.IGNORECASE
)


def duel_reply(profile: JudgeProfile, name: str, inputs: dict[str, str], order: str, draws: Draws) -> str:
    """Return the judge's reply to a prompt of duels; a gullible one does as an `order` outside of the fences says."""
    texts = inputs["response_a"], inputs["response_b"]
    if name == "duel_factuality":
        return _factuality(profile, inputs["criteria"], texts, draws)
    ordered = _ORDER.search(order)
    value = (2 if ordered[1].upper() == "A" else -2) if ordered else verdict(profile, texts, draws)
    said = "Both were read against the criteria, first each by itself and then side by side."
    return f"{said}\n\nFinal Verdict is: [[{VERDICTS[value]}]]"


def verdict(profile: JudgeProfile, texts: tuple[str, str], draws: Draws) -> int:
    """Return the verdict on two answers, +2 to -2 for the one that is shown first."""
    first, second = map(worth, texts)
    value = honest(first - second)
    if draws.chance(profile.favours_first, "first"):
        value += 1
    longer = len(texts[0].split()) - len(texts[1].split())
    if longer and draws.chance(profile.favours_longer, "longer"):
        value += 1 if longer > 0 else -1
    if draws.chance(profile.jitter, "jitter"):
        value += draws.pick((-1, 1), "way")
    return max(-2, min(2, value))


def honest(ahead: int) -> int:
    """Return the verdict of an impartial judge from how many vivid lines the first answer has more than the second."""
    size = 0 if not ahead else 2 if abs(ahead) >= MUCH else 1
    return size if ahead > 0 else -size


def worth(text: str) -> int:
    """Return how good an answer is: its vivid lines, and of one that is none of the planted world, what its text hashes to."""
    planted = quality(text)
    return int(4 * unit_interval("worth", text)) if planted is None else planted


def _factuality(profile: JudgeProfile, criteria: str, texts: tuple[str, str], draws: Draws) -> str:
    lines: list[str] = []
    for letter, text in zip("AB", texts, strict=True):
        told = truths_told(criteria, text)
        share = _overlap(criteria, text) if told is None else told[0] / told[1]
        points = 10 * share
        if draws.chance(profile.jitter, "points", letter):
            points += draws.pick((-1.0, 1.0), "points-way", letter)
        lines.append(f"Response {letter} Visual Factuality Score: {min(10.0, max(0.0, points)):.4g}/10")
    return "The criteria were gone through one by one for each response.\n\n" + "\n".join(lines)


def _overlap(criteria: str, text: str) -> float:
    wanted = set(content_words(criteria))
    return len(wanted & set(content_words(text))) / len(wanted) if wanted else 1.0
