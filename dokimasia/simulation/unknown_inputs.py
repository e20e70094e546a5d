"""Samples outside the planted world: replies of simulated models from words alone.

A simulated judge cannot see a real photograph. It treats the reference answer in its prompt as the truth, derives
criteria from the displayed solution, and scores by shared words. A candidate uses the question's words. None of this
measures anything; it lets all methods run on real data without a real model.
"""

import re
from collections.abc import Sequence

from dokimasia.domain.call import ChatReply
from dokimasia.domain.criterion import MAX_CRITERIA, WEIGHT_TOTAL
from dokimasia.simulation.candidates import FINAL, deliver_reply
from dokimasia.simulation.draws import Draws
from dokimasia.simulation.profiles import CandidateProfile
from dokimasia.simulation.scene import WrittenCriterion

_LEAST = 3
"""Minimum number of criteria, since nothing says how many a question needs."""

_QUESTIONS = (
    "What has to be noticed before anything else?",
    "Which observation comes next in a sound account?",
    "How does a careful reader go on from there?",
    "What further detail belongs into a complete reply?",
    "Where does the line of thought finally arrive?",
    "Which remark should nobody leave out?",
    "How is the second half of the matter put?",
    "What else would an attentive onlooker mention?",
    "Who or what deserves a word in addition?",
)
"""Open questions without content, so that they contain no ground truth; all are dissimilar."""

_KNOWN_QUESTIONS = frozenset(question.casefold() for question in _QUESTIONS)

_SCAFFOLD = (
    "The question asks about this:",
    "The picture is taken as showing",
    "What it shows leads to this:",
    "So the answer follows",
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9\"'(])")
_NUMBERING = re.compile(r"^\s*(?:(?:step\s+)?\d{1,2}[.):]|[-*•]|(?:final\s+)?answer:)\s+", re.IGNORECASE)
_TAG = re.compile(r"</?[a-z_]+\s*>", re.IGNORECASE)
_OWN_TAG = re.compile(r"</?(?:reasoning|answer)\s*>", re.IGNORECASE)
_WORD = re.compile(r"\d+(?:\.\d+)?|[^\W\d_]+")
_STOP_WORDS = (
    "a an the and or but of in on at to for from by with without into onto as is are was were be been being it its "
    "this that these those there here he she they them his her their you your i we what which who whom whose where "
    "when why how do does did can could may might must should would will shall have has had not no some any each also "
    "such than then so if image picture photo describe detailed manner given following possibly likely answer"
)
_STOP = frozenset(_STOP_WORDS.split())
_FILLERS = (
    "The scene looks like an ordinary place in daylight.",
    "Several objects stand close together in the middle of the picture.",
    "There are people and things of different colours and sizes.",
    "Something large is in the foreground, with smaller things behind it.",
    "On the left side and on the right side there are further details.",
    "The background shows a wall, a street or some grass with trees.",
    "Someone may be standing or sitting near a table, a car or a building.",
    "It suggests that people are preparing for an activity together.",
    "Safety, comfort and enough space are likely to matter here.",
    "One or two of the objects are black, white, brown or red.",
)


def content_words(text: str) -> list[str]:
    """Return the distinct content words of a text in order, in lower case and without plural s."""
    words = (
        word if len(word) < 4 else word.removesuffix("s")
        for word in _WORD.findall(text.casefold())
        if word not in _STOP
    )
    return list(dict.fromkeys(words))


def answer_unknown_question(
    profile: CandidateProfile, question: str, choices: Sequence[str], draws: Draws
) -> ChatReply:
    """Return a candidate's answer from the question's words and general remarks; more skill adds more words."""
    words = [word for number, word in enumerate(content_words(question)) if draws.chance(profile.base, "word", number)]
    opening = (
        f"In the image I can see what the question is about: {', '.join(words)}."
        if words
        else "It is hard to make out."
    )
    remarks = [remark for number, remark in enumerate(_FILLERS) if draws.chance(profile.base / 2, "remark", number)]
    final = draws.pick(choices, "choice") if choices else " ".join(words) or "I am not sure."
    answer = " ".join([opening, *remarks]) + f"\n\n{FINAL}{final}"
    return deliver_reply(profile, draws, answer)


def solve_unknown_question(
    question: str, choices: Sequence[str], reference: str | None, draws: Draws
) -> tuple[list[str], str]:
    """Return steps and final answer of a solution: the reference's sentences, or the question's words."""
    subject = ", ".join(content_words(question)[:6]) or "the picture as a whole"
    steps = [f"The question asks about this: {subject}."]
    if reference and reference.strip():
        steps += sentences(reference)
        return [*steps, "So the answer follows."], _OWN_TAG.sub(" ", reference).strip() or subject
    final = draws.pick(choices, "solution") if choices else f"It concerns {subject}."
    steps.append(f"The picture is taken as showing this: {subject}.")
    return [*steps, f"What it shows leads to this: {final.rstrip('.')}."], final


def criteria_of_chain(chain: str) -> list[WrittenCriterion]:
    """Return 3 to 5 criteria from a solution: its sentences as ground truths, with questions that reveal nothing."""
    points = _chain_points(chain)
    count = len(points)
    weights = [WEIGHT_TOTAL // count + (number >= count - WEIGHT_TOTAL % count) for number in range(count)]
    free: list[str] = list(_QUESTIONS)
    chosen: list[str] = []
    for point in points:
        question = min(free, key=lambda candidate: _given_away(point, candidate))
        chosen.append(question)
        free.remove(question)
    return [
        WrittenCriterion(question=question, ground_truth=point, weight=weight)
        for question, point, weight in zip(chosen, points, weights, strict=True)
    ]


def _given_away(point: str, question: str) -> tuple[bool, int]:
    """Return whether a question contains the whole point, and the number of shared content words."""
    words_of_point, words_of_question = _WORD.findall(point.casefold()), _WORD.findall(question.casefold())
    return f" {' '.join(words_of_point)} " in f" {' '.join(words_of_question)} ", len(
        set(words_of_point) & set(words_of_question) - _STOP
    )


def is_unknown_question(question: str) -> bool:
    """Return whether a criterion's question is one of `criteria_of_chain`, and hence belongs to no planted step."""
    return question.strip().casefold() in _KNOWN_QUESTIONS


def overlap_score(ground_truth: str, response: str) -> int:
    """Return a score from 1 to 5, by the share of the ground truth's content words in the response."""
    wanted = set(content_words(ground_truth)) or set(_WORD.findall(ground_truth.casefold()))
    have = set(content_words(response)) | set(_WORD.findall(response.casefold()))
    if wanted:
        return 1 + int(4 * len(wanted & have) / len(wanted) + 0.5)
    return 1


def shares_words(ground_truth: str, response: str) -> bool:
    """Return whether a response has any content word of the ground truth."""
    return not set(content_words(ground_truth)).isdisjoint(content_words(response))


def sentences(text: str) -> list[str]:
    """Return the sentences of a text, without tags, list numbers and headings."""
    lines = (_NUMBERING.sub("", line).strip() for line in _TAG.sub("\n", text).splitlines())
    pieces = [piece.strip() for line in lines for piece in _SENTENCE.split(line)]
    return [piece for piece in pieces if _WORD.search(piece) and not piece.endswith(":")]


def _chain_points(chain: str) -> list[str]:
    """Return 3 to 5 distinct sentences of the chain; if there are too few, some are split or rephrased."""
    unique = {" ".join(_WORD.findall(sentence.casefold())): sentence for sentence in reversed(sentences(chain))}
    every = list(reversed(unique.values())) or ["It concerns the picture as a whole."]
    points = [sentence for sentence in every if not sentence.startswith(_SCAFFOLD)] or every
    while len(points) < _LEAST:
        longest = max(range(len(points)), key=lambda number: len(points[number].split()))
        halves = _halves(points[longest])
        if halves is None:
            points = [points[0], f"the answer comes to {points[0]}", f"the picture as a whole shows {points[-1]}"]
        elif len(points) == 1:
            points = [*halves, points[0]]
        else:
            points[longest : longest + 1] = halves
    if len(points) <= MAX_CRITERIA:
        return points
    return [points[round(number * (len(points) - 1) / (MAX_CRITERIA - 1))] for number in range(MAX_CRITERIA)]


def _halves(point: str) -> list[str] | None:
    """Return the two halves of a sentence, split near the middle, both with content; None if that is impossible."""
    words = point.split()
    cuts = sorted(
        range(2, len(words) - 1),
        key=lambda cut: abs(cut - len(words) / 2) - (2 if words[cut - 1].endswith((",", ";")) else 0),
    )
    for cut in cuts:
        halves = [" ".join(words[:cut]).rstrip(",;"), " ".join(words[cut:])]
        if all(content_words(half) for half in halves) and content_words(halves[0]) != content_words(halves[1]):
            return halves
    return None
