"""A simulated judge of whole answers: ratings, rankings, criteria from differences, and duels.
 In a duel its verdict first follows quality: better from one more vivid line, much better from four more. Then it moves
a step towards the answer shown first at the rate `favours_first`, a step towards the longer one at the rate
`favours_longer`, and a step in either direction, equally likely, at the rate `jitter`; no verdict leaves the scale.
Scores of visual factuality follow the criteria alone, and miss by one point at the rate `jitter`.
"""

import re
from collections.abc import Sequence

import orjson
from pydantic import BaseModel

from dokimasia.domain.identity import unit_interval
from dokimasia.simulation.candidates import FINAL
from dokimasia.simulation.creative import count_true_statements, count_vivid_lines
from dokimasia.simulation.draws import Draws
from dokimasia.simulation.judging.scoring import RIGHT, planted_score, same_answer, statement_score, true_score
from dokimasia.simulation.profiles import JudgeProfile
from dokimasia.simulation.requests import Inputs, read_choices, read_rows
from dokimasia.simulation.scene import SceneQuestion
from dokimasia.simulation.unknown_inputs import content_words, sentences

METHOD_PROMPTS = ("pointwise", "batch_ranking", "scan_criteria", "scan_scores", "aspect_scores")
"""The prompts answered here."""

LUCKY, UNLUCKY = 0.9, 0.2
"""The quality of a response, 0 to 1, for a judge that looks only at the final answer: if it is right, and if it is not."""

ASPECTS = ("what is seen", "how it is reasoned", "what is concluded")
GENERAL = ("It comes to a final answer.", "It keeps to what was asked.")
"""Criteria that any response meets, which fill a list with too few differences."""

_STATES = "It states this: "
_STEP = re.compile(r"^\d+\. (.+)$", re.MULTILINE)
_FINAL = re.compile(r"^final answer: (.*)$", re.MULTILINE | re.IGNORECASE)


class ListedResponse(BaseModel):
    """A response of a list."""

    text: str = ""


class WeightedCriterion(BaseModel):
    """A criterion made from the differences between responses."""

    criterion: str
    weight: int = 1


def methods_reply(
    profile: JudgeProfile, prompt: str, inputs: Inputs, question: SceneQuestion | None, draws: Draws
) -> str:
    """Return the judge's reply; `question` is the planted one if its picture is shown."""
    if prompt == "pointwise":
        return f"Rating: [[{rating_of_worth(response_worth(profile, inputs, question, inputs.response, 0, draws))}]]"
    if prompt == "batch_ranking":
        return _ranking(profile, inputs, question, draws)
    if prompt == "scan_criteria":
        criteria = _difference_criteria(inputs, question)
        return orjson.dumps([criterion.model_dump() for criterion in criteria]).decode()
    if prompt == "scan_scores":
        return _criteria_scores(profile, inputs, draws)
    score = 1 + round(4 * _worth_beside_chain(profile, inputs, draws))
    return "\n".join(f"{aspect} | score: [{score}]" for aspect in ASPECTS)


def rating_of_worth(worth: float) -> int:
    """Return the rating from 1 to 10 for a quality from 0 to 1."""
    return 1 + round(9 * worth)


def response_worth(
    profile: JudgeProfile,
    inputs: Inputs,
    question: SceneQuestion | None,
    response: str,
    number: int,
    draws: Draws,
) -> float:
    """Return the quality of a response to the judge, 0 to 1: by its steps, or with outcome bias by its final answer."""
    if question is None:
        return min(1.0, len(content_words(response)) / 60)
    if draws.chance(profile.outcome_bias, "outcome", number):
        choices = read_choices(inputs.choices)
        if same_answer(_final_answer_of(response), question.answer, choices):
            return LUCKY
        return UNLUCKY
    scores = [
        planted_score(profile, statement_score(step.statement, response), 100 * number + position, draws)
        for position, step in enumerate(question.steps)
    ]
    total = sum(step.weight for step in question.steps)
    return sum(step.weight * (score - 1) for step, score in zip(question.steps, scores, strict=True)) / (4 * total)


def _final_answer_of(response: str) -> str:
    finals = _FINAL.findall(response)
    if finals:
        return finals[-1].strip()
    return response.rpartition(FINAL)[2]


def _response_texts(inputs: Inputs) -> list[str]:
    return [row.text for row in read_rows(inputs.responses, ListedResponse)]


def _ranking(profile: JudgeProfile, inputs: Inputs, question: SceneQuestion | None, draws: Draws) -> str:
    ratings = [
        rating_of_worth(response_worth(profile, inputs, question, text, number, draws))
        for number, text in enumerate(_response_texts(inputs), start=1)
    ]
    if ratings and draws.chance(profile.batch_bias, "first"):
        ratings[0] = max(ratings) + 1
    groups: dict[int, list[str]] = {}
    for number, rating in enumerate(ratings, start=1):
        groups.setdefault(rating, []).append(str(number))
    return f"Ranking: [[{' > '.join(' = '.join(groups[rating]) for rating in sorted(groups, reverse=True))}]]"


def _difference_criteria(inputs: Inputs, question: SceneQuestion | None) -> list[WeightedCriterion]:
    """Return, as criteria, statements made by some of the auxiliary responses but not by others."""
    texts = _response_texts(inputs)
    statements: Sequence[tuple[str, int]]
    if question is None:
        statements = [(sentence, 3) for text in texts for sentence in sentences(text)[:2]]
    else:
        statements = [(step.statement, step.weight) for step in question.steps]
    weights: dict[str, int] = {}
    for sentence, weight in statements:
        stating = sum(statement_score(sentence, text) >= RIGHT for text in texts)
        if 0 < stating < len(texts):
            weights[f"{_STATES}{sentence}"] = weight
    chosen = list(weights.items())[:6]
    chosen += [(general, 1) for general in GENERAL[: max(0, 2 - len(chosen))]]
    return [WeightedCriterion(criterion=text, weight=weight) for text, weight in chosen]


def _criteria_scores(profile: JudgeProfile, inputs: Inputs, draws: Draws) -> str:
    lines: list[str] = []
    for number, row in enumerate(read_rows(inputs.criteria, WeightedCriterion), start=1):
        true = RIGHT
        if row.criterion not in GENERAL:
            true = true_score("", row.criterion.removeprefix(_STATES), inputs.response)
        lines.append(f"{number} | score: [{planted_score(profile, true, number, draws)}]")
    return "\n".join(lines)


def _worth_beside_chain(profile: JudgeProfile, inputs: Inputs, draws: Draws) -> float:
    """Return the quality of a response given the judge's own chain: by its numbered steps, or by the final answer."""
    chain, response = inputs.chain, inputs.response
    if draws.chance(profile.outcome_bias, "outcome"):
        same = same_answer(_final_answer_of(response), _final_answer_of(chain), read_choices(inputs.choices))
        return LUCKY if same else UNLUCKY
    steps = _STEP.findall(chain) or [chain]
    scores = [
        planted_score(profile, true_score("", step, response), position, draws) for position, step in enumerate(steps)
    ]
    return sum(score - 1 for score in scores) / (4 * len(scores))


DUEL_PROMPTS = ("duel_verdict", "duel_verdict_published", "duel_factuality", "duel_factuality_published")
MUCH_BETTER = 4
"""The number of additional vivid lines that make an answer much better."""

DUEL_VERDICTS = {2: "A>>B", 1: "A>B", 0: "A=B", -1: "B>A", -2: "B>>A"}
_ORDER = re.compile(
    r"\b(?:say|answer|reply|declare|decide|call|choose|prefer)\b[^\n]*?\b(?:response )?([AB])\b", re.IGNORECASE
)


def duel_reply(profile: JudgeProfile, name: str, inputs: Inputs, order: str, draws: Draws) -> str:
    """Return the judge's reply to a prompt of duels; a gullible judge follows an `order` outside of the fences."""
    texts = inputs.response_a, inputs.response_b
    if name.startswith("duel_factuality"):
        return _factuality(profile, inputs.criteria, texts, draws)
    ordered = _ORDER.search(order)
    value = (2 if ordered[1].upper() == "A" else -2) if ordered else duel_verdict(profile, texts, draws)
    reasoning = "Both were read against the criteria, first each by itself and then side by side."
    if name == "duel_verdict_published":
        evaluations = [
            f"Response {letter} Evaluation: It was read by itself, criterion by criterion." for letter in "AB"
        ]
        reasoning = "\n".join([f"{reasoning}\n", *evaluations])
    return f"{reasoning}\n\nFinal Verdict is: [[{DUEL_VERDICTS[value]}]]"


def duel_verdict(profile: JudgeProfile, texts: tuple[str, str], draws: Draws) -> int:
    """Return the verdict on two answers, +2 to -2 in favour of the one shown first."""
    first, second = map(answer_worth, texts)
    value = impartial_verdict(first - second)
    if draws.chance(profile.favours_first, "first"):
        value += 1
    longer = len(texts[0].split()) - len(texts[1].split())
    if longer and draws.chance(profile.favours_longer, "longer"):
        value += 1 if longer > 0 else -1
    if draws.chance(profile.jitter, "jitter"):
        value += draws.pick((-1, 1), "way")
    return max(-2, min(2, value))


def impartial_verdict(ahead: int) -> int:
    """Return an impartial judge's verdict, given how many more vivid lines the first answer has than the second."""
    return (ahead > 0) - (ahead < 0) + (ahead >= MUCH_BETTER) - (ahead <= -MUCH_BETTER)


def answer_worth(text: str) -> int:
    """Return the quality of an answer: its vivid lines, or, outside the planted world, a hash of its text."""
    planted = count_vivid_lines(text)
    if planted is None:
        return int(4 * unit_interval("worth", text))
    return planted


def _factuality(profile: JudgeProfile, criteria: str, texts: tuple[str, str], draws: Draws) -> str:
    lines: list[str] = []
    for letter, text in zip("AB", texts, strict=True):
        true_and_wanted = count_true_statements(criteria, text)
        share = _overlap(criteria, text) if true_and_wanted is None else true_and_wanted[0] / true_and_wanted[1]
        points = 10 * share
        if draws.chance(profile.jitter, "points", letter):
            points += draws.pick((-1.0, 1.0), "points-way", letter)
        lines.append(f"Response {letter} Visual Factuality Score: {min(10.0, max(0.0, points)):.4g}/10")
    return "The criteria were gone through one by one for each response.\n\n" + "\n".join(lines)


def _overlap(criteria: str, text: str) -> float:
    wanted = set(content_words(criteria))
    if wanted:
        return len(wanted & set(content_words(text))) / len(wanted)
    return 1.0
