"""How a simulated judge plays judging methods other than checkpoint scoring: ratings, rankings, criteria from differences."""

import re
from collections.abc import Mapping, Sequence

import orjson

from dokimasia.simulation import foreign
from dokimasia.simulation.candidates import FINAL
from dokimasia.simulation.draws import Draws
from dokimasia.simulation.judging.scoring import RIGHT, planted_score, same_answer, stated, true_score
from dokimasia.simulation.profiles import JudgeProfile
from dokimasia.simulation.reading import read_choices, read_json
from dokimasia.simulation.scene import Question

PROMPTS = ("pointwise", "batch_ranking", "scan_criteria", "scan_scores", "aspect_scores")
"""The prompts that are answered here."""

LUCKY, UNLUCKY = 0.9, 0.2
"""How good a response is, 0 to 1, to a judge that looks at the final answer alone: where that is right, and where not."""

ASPECTS = ("what is seen", "how it is reasoned", "what is concluded")
GENERAL = ("It comes to a final answer.", "It keeps to what was asked.")
"""Criteria that any response meets; they fill up a list that the differences leave too short."""

_STATES = "It states this: "
_STEP = re.compile(r"^\d+\. (.+)$", re.MULTILINE)
_FINAL = re.compile(r"^final answer: (.*)$", re.MULTILINE | re.IGNORECASE)


def methods_reply(
    profile: JudgeProfile, prompt: str, inputs: Mapping[str, str], question: Question | None, draws: Draws
) -> str:
    """Return the judge's reply; `question` is the planted one, where the picture is shown that it is about."""
    if prompt == "pointwise":
        return f"Rating: [[{rating(worth(profile, inputs, question, inputs['response'], 0, draws))}]]"
    if prompt == "batch_ranking":
        return _ranking(profile, inputs, question, draws)
    if prompt == "scan_criteria":
        return orjson.dumps(_compared(inputs, question)).decode()
    if prompt == "scan_scores":
        return _scores(profile, inputs, draws)
    score = 1 + round(4 * _beside_chain(profile, inputs, draws))
    return "\n".join(f"{aspect} | score: [{score}]" for aspect in ASPECTS)


def rating(worth: float) -> int:
    """Return how good a response is, 0 to 1, on the scale from 1 to 10."""
    return 1 + round(9 * worth)


def worth(
    profile: JudgeProfile,
    inputs: Mapping[str, str],
    question: Question | None,
    response: str,
    number: int,
    draws: Draws,
) -> float:
    """Return how good a response is to the judge, 0 to 1: by its steps, or with outcome bias by its final answer alone."""
    if question is None:
        return min(1.0, len(foreign.content_words(response)) / 60)
    if draws.chance(profile.outcome_bias, "outcome", number):
        choices = read_choices(inputs.get("choices", ""))
        return LUCKY if same_answer(_final(response), question.answer, choices) else UNLUCKY
    scores = [
        planted_score(profile, stated(step.statement, response), 100 * number + place, draws)
        for place, step in enumerate(question.steps)
    ]
    total = sum(step.weight for step in question.steps)
    return sum(step.weight * (score - 1) for step, score in zip(question.steps, scores, strict=True)) / (4 * total)


def _final(response: str) -> str:
    found = _FINAL.findall(response)
    return found[-1].strip() if found else response.rpartition(FINAL)[2]


def _texts(inputs: Mapping[str, str]) -> list[str]:
    rows = read_json(inputs["responses"])
    return [str(row.get("text", "")) for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def _ranking(profile: JudgeProfile, inputs: Mapping[str, str], question: Question | None, draws: Draws) -> str:
    ratings = [
        rating(worth(profile, inputs, question, text, number, draws))
        for number, text in enumerate(_texts(inputs), start=1)
    ]
    if ratings and draws.chance(profile.batch_bias, "first"):
        ratings[0] = max(ratings) + 1
    groups: dict[int, list[str]] = {}
    for number, one in enumerate(ratings, start=1):
        groups.setdefault(one, []).append(str(number))
    return f"Ranking: [[{' > '.join(' = '.join(groups[one]) for one in sorted(groups, reverse=True))}]]"


def _compared(inputs: Mapping[str, str], question: Question | None) -> list[dict[str, object]]:
    """Return what some of the auxiliary responses state and others do not, as criteria."""
    texts = _texts(inputs)
    said: Sequence[tuple[str, int]]
    if question is None:
        said = [(one, 3) for text in texts for one in foreign.sentences(text)[:2]]
    else:
        said = [(step.statement, step.weight) for step in question.steps]
    apart: dict[str, int] = {}
    for sentence, weight in said:
        stating = sum(stated(sentence, text) >= RIGHT for text in texts)
        if 0 < stating < len(texts):
            apart[f"{_STATES}{sentence}"] = weight
    chosen = list(apart.items())[:6]
    chosen += [(general, 1) for general in GENERAL[: max(0, 2 - len(chosen))]]
    return [{"criterion": text, "weight": weight} for text, weight in chosen]


def _scores(profile: JudgeProfile, inputs: Mapping[str, str], draws: Draws) -> str:
    rows = read_json(inputs["criteria"])
    lines: list[str] = []
    for number, row in enumerate(rows if isinstance(rows, list) else [], start=1):
        criterion = str(row["criterion"])
        true = RIGHT
        if criterion not in GENERAL:
            true = true_score("", criterion.removeprefix(_STATES), inputs["response"])
        lines.append(f"{number} | score: [{planted_score(profile, true, number, draws)}]")
    return "\n".join(lines)


def _beside_chain(profile: JudgeProfile, inputs: Mapping[str, str], draws: Draws) -> float:
    """Return how good a response is beside a chain that the judge wrote: by its numbered steps, or by the final answer."""
    chain, response = inputs["chain"], inputs["response"]
    if draws.chance(profile.outcome_bias, "outcome"):
        same = same_answer(_final(response), _final(chain), read_choices(inputs.get("choices", "")))
        return LUCKY if same else UNLUCKY
    steps = _STEP.findall(chain) or [chain]
    scores = [planted_score(profile, true_score("", step, response), place, draws) for place, step in enumerate(steps)]
    return sum(score - 1 for score in scores) / (4 * len(scores))
