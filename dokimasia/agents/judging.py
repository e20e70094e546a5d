"""The roles of judging methods other than checkpoint scoring: they rate, rank, compare and score responses (ATOM, appendix B)."""

from collections.abc import Sequence
from functools import partial

from dokimasia.agents import schemas
from dokimasia.agents.answers import answer_inputs, image_if, shown_as
from dokimasia.agents.asking import Ask
from dokimasia.agents.evaluation import chain_text, image_sizes, question_inputs
from dokimasia.agents.rubrics import responses_text
from dokimasia.domain.criterion import Criterion, ReferenceChain
from dokimasia.domain.judging.judgements import ComparedCriteria
from dokimasia.domain.sample import Sample
from dokimasia.parsing.criteria import parse_criteria
from dokimasia.parsing.criterion_scores import parse_scores
from dokimasia.parsing.judging.replies import (
    AspectScore,
    parse_aspect_scores,
    parse_batch_ranking,
    parse_compared_criteria,
)
from dokimasia.parsing.verdicts import parse_rating
from dokimasia.prompts import lines_text

RATING = (1.0, 10.0)
"""The scale of pointwise ratings."""


def rate_response(sample: Sample, response: str, *, repeat: int = 0) -> Ask[float]:
    """Ask a judge to rate one response from 1 to 10, without reasons; it sees image, question and response."""
    return Ask(
        "pointwise",
        {**question_inputs(sample), **answer_inputs("response", response)},
        _shown_names(sample, shown_as("response", response)),
        partial(parse_rating, low=RATING[0], high=RATING[1]),
        images=sample.images,
        repeat=repeat,
    )


def rank_responses(sample: Sample, responses: Sequence[str]) -> Ask[tuple[int, ...]]:
    """Ask a judge to rank responses, shown in this order without authors; 1 is the best rank."""
    return Ask(
        "batch_ranking",
        {**question_inputs(sample), "responses": responses_text(responses)},
        _shown_names(sample, "responses"),
        partial(parse_batch_ranking, n=len(responses)),
        images=sample.images,
        form="Ranking: [[the numbers of all responses, each once, the best first; the sign > between one and a worse one, "
        "the sign = between two that are equally good]]",
    )


def compare_responses(sample: Sample, responses: Sequence[str]) -> Ask[tuple[tuple[str, int], ...]]:
    """Ask a judge for weighted criteria from the differences of auxiliary responses, which are not judged themselves."""
    return Ask(
        "scan_criteria",
        {**question_inputs(sample), "responses": responses_text(responses)},
        _shown_names(sample, "auxiliary responses"),
        parse_compared_criteria,
        images=sample.images,
    )


def score_compared(sample: Sample, criteria: ComparedCriteria, response: str, *, repeat: int = 0) -> Ask[list[int]]:
    """Ask a judge to score one response by criteria drawn from others, 1 to 5 each; it sees the image, too."""
    criteria_lines = lines_text(
        {"n": number, **criterion.model_dump()} for number, criterion in enumerate(criteria.criteria, start=1)
    )
    return Ask(
        "scan_scores",
        {**question_inputs(sample), "criteria": criteria_lines, **answer_inputs("response", response)},
        _shown_names(sample, "criteria", shown_as("response", response)),
        partial(parse_scores, expected=len(criteria.criteria)),
        images=sample.images,
        count=len(criteria.criteria),
        repeat=repeat,
    )


def score_aspects(
    sample: Sample, chain: ReferenceChain, response: str, *, show_image: bool = False, repeat: int = 0
) -> Ask[tuple[AspectScore, ...]]:
    """Ask a judge to score one response, given the chain, in aspects of its own choice, 1 to 5 each.

    It sees the same as in checkpoint scoring, with the whole chain in place of the criteria.
    """
    show_image = show_image and bool(sample.images)
    return Ask(
        "aspect_scores",
        {**question_inputs(sample), "chain": chain_text(chain), **answer_inputs("response", response)},
        ("question", "chain", shown_as("response", response), *image_if(show_image)),
        parse_aspect_scores,
        images=sample.images if show_image else (),
        repeat=repeat,
    )


def extract_without_chain(sample: Sample, *, count: str) -> Ask[Sequence[Criterion]]:
    """Ask the extractor for atomic criteria without a chain; it sees image, question and reference answer.

    The caller checks the criteria against the rules. `count` is the requested number, in words.
    """
    inputs = {**question_inputs(sample), "count": count}
    shown = _shown_names(sample)
    if sample.reference_text is not None:
        inputs["reference_answer"] = sample.reference_text
        shown = (*shown, "reference_answer")
    return Ask(
        "criteria_no_chain",
        inputs,
        shown,
        partial(parse_criteria, image_count=len(sample.images), sizes=image_sizes(sample)),
        structured=schemas.criteria(len(sample.images), sizes=image_sizes(sample)),
        images=sample.images,
    )


def _shown_names(sample: Sample, *more: str) -> tuple[str, ...]:
    return (*image_if(sample.images), "question", *more)
