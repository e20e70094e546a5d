"""How a simulated judge scores a response: the true score, altered by the planted faults."""

import re
from difflib import SequenceMatcher

from pydantic import BaseModel

from dokimasia.simulation.draws import Draws
from dokimasia.simulation.profiles import JudgeProfile
from dokimasia.simulation.requests import read_rows
from dokimasia.simulation.unknown_inputs import is_unknown_question, overlap_score, shares_words

RIGHT, HEDGED, MISSING = 5, 3, 1

_LIKE = 0.4
_SPACE = re.compile(r"\s+")
_HEDGES = re.compile(r"\b(probably|perhaps|maybe|possibly|might be|may be|not sure|unsure|i guess|i think|seems)\b")
_ANY = "Any one of these is accepted: "
_STARTS = "\n.!?:;)*-\u2013\u2014\u2022\"'"
NUMBER_WORDS = "zero one two three four five six seven eight nine ten eleven twelve"
_NUMBERS: dict[str, str] = {word: str(number) for number, word in enumerate(NUMBER_WORDS.split())}


class ShownCriterion(BaseModel):
    """A criterion as a judge is shown it; `n` is 0 where it bears no number."""

    n: int = 0
    question: str
    ground_truth: str


def read_criteria(text: str) -> list[ShownCriterion]:
    """Return the criteria of a scoring prompt; none if the list cannot be read."""
    criteria = read_rows(text, ShownCriterion)
    for number, criterion in enumerate(criteria, 1):
        criterion.n = criterion.n or number
    return criteria


def true_score(question: str, ground_truth: str, response: str) -> int:
    """Return the score of a faultless judge.

    A ground truth that is a sentence is searched for word by word: 5 if the response states it, 3 if it states it only
    with a hedge, else 1. A criterion written by a simulated judge for a sample outside the planted world, or a ground
    truth that is not a sentence, is scored 1 to 5 by the words it shares with the response.
    """
    if is_unknown_question(question) or not ground_truth.rstrip().endswith((".", "!", "?")):
        return overlap_score(ground_truth, response)
    return statement_score(ground_truth, response)


def unaddressed_criteria(criteria: list[ShownCriterion], response: str) -> set[int]:
    """Return the numbers of the criteria that a response does not address, rightly or wrongly.

    Sentences that state no ground truth are matched with the unstated ground truths, the most similar in words and
    order first, and address the criteria they are matched with.
    """
    lines = [line for line in map(plain_text, response.splitlines()) if line and not line.startswith("final answer:")]
    truths = {criterion.n: plain_text(criterion.ground_truth) for criterion in criteria}
    unknown_numbers = {criterion.n for criterion in criteria if is_unknown_question(criterion.question)}
    unsaid = {
        number: words_of(truth)
        for number, truth in truths.items()
        if number not in unknown_numbers and not any(truth in line for line in lines)
    }
    wrong = [words_of(line) for line in lines if not any(truth in line for truth in truths.values())]
    likeness = {
        (at, number): SequenceMatcher(None, words, truth).ratio()
        for at, words in enumerate(wrong)
        for number, truth in unsaid.items()
    }
    matched_lines: set[int] = set()
    spoken: set[int] = set()
    for (at, number), like in sorted(likeness.items(), key=lambda pair: (-pair[1], abs(pair[0][0] - pair[0][1]))):
        if like >= _LIKE and at not in matched_lines and number not in spoken:
            matched_lines.add(at)
            spoken.add(number)
    return (set(unsaid) - spoken) | {
        criterion.n
        for criterion in criteria
        if criterion.n in unknown_numbers and not shares_words(criterion.ground_truth, response)
    }


def plain_text(text: str) -> str:
    """Return a text in lower case with single spaces."""
    return _SPACE.sub(" ", text).strip().casefold()


def statement_score(sentence: str, response: str) -> int:
    """Return 5, 3 or 1: whether the response states the sentence plainly, after a hedge, or not at all.

    The line that begins with `Final answer:` is the answer rather than a step, and is not searched.
    """
    wanted = plain_text(sentence)
    best = MISSING
    for text in map(plain_text, response.splitlines()):
        if text.startswith("final answer:"):
            continue
        position = text.find(wanted)
        while position >= 0:
            before = text[:position].rstrip()
            if not before or before[-1] in _STARTS:
                hedge = _HEDGES.search(re.split(r"[.!?](?: |$)", before)[-1])
                best = max(best, HEDGED if hedge else RIGHT)
            position = text.find(wanted, position + 1)
    return best


def planted_score(profile: JudgeProfile, true: int, number: int, draws: Draws) -> int:
    """Return the judge's score instead of the true one, with missed faults, false alarms, flickers and near misses."""
    if true > HEDGED:
        score = MISSING if draws.chance(profile.false_alarm, "false-alarm", number) else true
    else:
        detects = profile.detects_hedged if true == HEDGED else profile.detects_missing
        score = true if draws.chance(detects, "detects", number) else RIGHT
    if draws.chance(profile.flicker, "flicker", number):
        score = MISSING if score == RIGHT else RIGHT
    if score in (RIGHT, MISSING) and draws.chance(profile.jitter, "jitter", number):
        score += 1 if score == MISSING else -1
    return score


SCORING = ("checkpoints", "checkpoints_published", "checkpoints_reasons")
"""The prompts for scoring a response criterion by criterion."""

_REASONS = {
    5: "The response says what the ground truth says.",
    4: "The response says it, with a small imprecision.",
    3: "The response says it only with a hedge.",
    2: "The response comes near the ground truth but misses what decides the point.",
    1: "What the response says on the point is not the ground truth.",
}


def score_reason(score: int | str) -> str:
    """Return a simulated judge's sentence on a score, or on a criterion that is `not stated`."""
    if isinstance(score, int):
        return _REASONS[score]
    return "The response does not speak of the point."


def same_answer(answer: str, reference: str, choices: list[str]) -> bool:
    """Return whether two answers agree: they choose the same option, or contain the reference's words in order."""
    if not answer.strip() or not reference.strip():
        return False
    if reference.startswith(_ANY):
        return any(
            same_answer(answer, alternative, choices) for alternative in reference.removeprefix(_ANY).split("; ")
        )
    mine, theirs = _chosen_option(answer, choices), _chosen_option(reference, choices)
    if mine is not None and theirs is not None:
        return mine == theirs
    first, second = words_of(answer), words_of(reference)
    if first == second:
        return True
    denied = {"not", "no", "never", "none"}
    rest = iter(first)
    return bool(second) and all(word in rest for word in second) and denied & set(first) == denied & set(second)


def _chosen_option(text: str, choices: list[str]) -> int | None:
    words = words_of(text)
    for number, choice in enumerate(choices):
        letter = chr(ord("a") + number)
        if (
            words == words_of(choice)
            or text.strip().casefold().strip("().") == letter
            or words == [letter, *words_of(choice)]
        ):
            return number
    return None


def words_of(text: str) -> list[str]:
    """Return the words and numbers of a text in lower case, without articles and with small numbers as digits."""
    words = re.findall(r"\d+(?:\.\d+)?|[^\W\d_]+", text.casefold().replace(",", ""))
    return [_NUMBERS.get(str(word), str(word)) for word in words if word not in ("a", "an", "the")]
