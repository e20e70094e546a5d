"""The roles of a duel: candidates answer the bare request, and a judge compares two answers, or scores their factuality."""

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from dokimasia.agents.answers import answer_inputs, shown_as
from dokimasia.agents.asking import Ask
from dokimasia.agents.candidate import answer_question, respond
from dokimasia.agents.evaluation import question_inputs
from dokimasia.domain.duel import AGAIN, CaseCriteria, ground_truth_of
from dokimasia.domain.judgement import Response
from dokimasia.domain.sample import Sample
from dokimasia.parsing.pairwise import parse_factuality_scores, parse_pairwise_verdict

T = TypeVar("T")

AGAIN_DRAW = 500_000
"""Draws between an answer and the one that is drawn once more: more than there are repeats, less than a retry's stride."""


def answer_request(sample: Sample, *, arm: str = "", repeat: int = 0) -> Ask[Response]:
    """A candidate answers the bare request; in the arm `again` as another draw, in `blind` without the images."""
    if arm != AGAIN:
        return answer_question(sample, arm=arm, repeat=repeat, plain=True)
    shown = ("image", "question") if sample.images else ("question",)
    draw = AGAIN_DRAW + repeat
    inputs = question_inputs(sample)
    again = partial(respond, shown=shown, images=sample.images, arm=arm, repeat=repeat, draw=draw)
    return again("candidate_plain", inputs, sample)


def compare_responses(
    sample: Sample, criteria: CaseCriteria, responses: tuple[str, str], *, sees: bool = True, repeat: int = 0
) -> Ask[int]:
    """A judge says which of two responses is better and by how much: +2 to -2 for the first of them, response A.

    It is shown the images (unless it does not see), the request, and the subjective criteria.
    """
    return _two(
        "duel_verdict", sample, criteria.subjective, responses, parse_pairwise_verdict, sees=sees, repeat=repeat
    )


def score_factuality(
    sample: Sample, criteria: CaseCriteria, responses: tuple[str, str], *, sees: bool = False, repeat: int = 0
) -> Ask[tuple[float, float]]:
    """A judge scores two responses 0 to 10 by the factuality criteria; it is shown the ground truth, and images if it sees."""
    truth = ground_truth_of(sample)
    known = {"ground_truth": truth} if truth else {}
    return _two(
        "duel_factuality",
        sample,
        criteria.factuality,
        responses,
        parse_factuality_scores,
        sees=sees,
        repeat=repeat,
        known=known,
    )


def _two(
    prompt: str,
    sample: Sample,
    criteria: str,
    responses: tuple[str, str],
    parse: Callable[[str], T],
    *,
    sees: bool,
    repeat: int,
    known: dict[str, str] | None = None,
) -> Ask[T]:
    inputs = {**question_inputs(sample), "criteria": criteria, **(known or {})}
    shown = ["question", "criteria", *(known or {})]
    for letter, text in zip("ab", responses, strict=True):
        found = answer_inputs("response", text)
        inputs |= {f"{name}_{letter}": one for name, one in found.items()}
        shown.append(shown_as(f"response_{letter}", text))
    images = sample.images if sees else ()
    return Ask(prompt, inputs, (*shown, *(("image",) if images else ())), parse=parse, images=images, repeat=repeat)
