"""The roles of a duel: candidates answer from the images or their descriptions, and a judge compares two answers."""

import re
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from dokimasia.agents.answers import answer_inputs, image_if, shown_as
from dokimasia.agents.asking import Ask
from dokimasia.agents.candidate import answer_question, description, respond
from dokimasia.agents.evaluation import question_inputs
from dokimasia.domain.duel import AGAIN, TEXT, CaseCriteria, Described, ground_truth_of
from dokimasia.domain.judgement import Response
from dokimasia.domain.options import prompt_of_protocol
from dokimasia.domain.sample import Sample
from dokimasia.errors import UnparsableReply
from dokimasia.parsing.pairwise import parse_factuality_scores, parse_pairwise_verdict

T = TypeVar("T")

LONGEST_OBSERVED = 1_000
"""Maximum number of characters of what a description should pay attention to; the prompt asks for one sentence."""

_LABEL = re.compile(r"[*# ]{0,5}contents to observe[*# ]{0,5}:[*# ]{0,5}", re.IGNORECASE)
"""The end of the request, which a reply may repeat."""

AGAIN_DRAW = 500_000
"""Number of draws between an answer and its second draw: more than the repeats, less than a retry's stride."""


def answer_request(sample: Sample, *, arm: str = "", repeat: int = 0) -> Ask[Response]:
    """Ask a candidate the bare request, as a second draw in the arm `again`, and without the images in `blind`."""
    if arm != AGAIN:
        return answer_question(sample, arm=arm, repeat=repeat, plain=True)
    shown = ("image", "question") if sample.images else ("question",)
    draw = AGAIN_DRAW + repeat
    inputs = question_inputs(sample)
    ask_again = partial(respond, shown=shown, images=sample.images, arm=arm, repeat=repeat, draw=draw)
    return ask_again("candidate_plain", inputs, sample)


def say_what_to_observe(sample: Sample) -> Ask[str]:
    """Ask a describer what a description must include; it sees only the request and a few examples.

    Creation-MMBench, figure 32.
    """
    return Ask("observe", {"question": sample.prompt}, ("question",), parse=_observed)


def describe_images(sample: Sample, *, observe: str = "") -> Ask[Response]:
    """Ask a describer what all images of a case show together, with attention to what it must observe, if anything.

    The reply states the number of images and, for each, what it shows, its type, people and things, scene and
    atmosphere, relations and text (Creation-MMBench, figure 31). Without `observe`, cases with the same images share
    the call.
    """
    inputs = {"observe": observe} if observe else {}
    return description("describe_images", inputs, ("image", *inputs), Sample(id=sample.id, images=sample.images))


def answer_described(sample: Sample, described: Described, *, repeat: int = 0) -> Ask[Response]:
    """Ask a candidate the request, with descriptions in place of its images."""
    inputs = {**question_inputs(sample), "descriptions": described.shown}
    shown = ("question", "descriptions")
    return respond("candidate_described", inputs, sample, shown=shown, images=(), arm=TEXT, repeat=repeat)


def _observed(text: str) -> str:
    sentence = " ".join(text.split())
    if label := _LABEL.match(sentence):
        sentence = sentence[label.end() :]
    if not sentence:
        raise UnparsableReply("the reply is empty")
    if len(sentence) > LONGEST_OBSERVED:
        raise UnparsableReply(f"the reply has {len(sentence):,} characters; one sentence was asked for")
    return sentence


def compare_responses(
    sample: Sample,
    criteria: CaseCriteria,
    responses: tuple[str, str],
    *,
    sees: bool = True,
    published: bool = False,
    repeat: int = 0,
) -> Ask[int]:
    """Ask a judge which of two responses is better: from +2 (the first, response A, is much better) to -2.

    It sees the images (unless it is a text model), the request, the subjective criteria, and the lengths of both
    responses. With `published`, no lengths are given, much better means clearly better, and the judge writes an
    evaluation of each response (Creation-MMBench, figure 33).
    """
    return _pair_ask(
        prompt_of_protocol("duel_verdict", published=published),
        sample,
        criteria.subjective,
        responses,
        parse_pairwise_verdict,
        sees=sees,
        repeat=repeat,
        known={} if published else {"lengths": lengths_text(responses)},
    )


def lengths_text(responses: tuple[str, str]) -> str:
    """Return the lengths of two responses, one per line; characters are for languages written without spaces."""
    return "\n".join(
        f"response {letter}: {_count_text(len(text.split()), 'word')}, {_count_text(len(text), 'character')}"
        for letter, text in zip("AB", responses, strict=True)
    )


def _count_text(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def score_factuality(
    sample: Sample,
    criteria: CaseCriteria,
    responses: tuple[str, str],
    *,
    sees: bool = False,
    published: bool = False,
    repeat: int = 0,
) -> Ask[tuple[float, float]]:
    """Ask a judge to score two responses from 0 to 10 by the factuality criteria, with the ground truth and any images.

    `factuality_by` returns the evidence it relies on. With `published`, the prompt does not mention silence or partly
    met criteria (Creation-MMBench, figure 34).
    """
    truth = ground_truth_of(sample)
    known = {"ground_truth": truth} if truth else {}
    return _pair_ask(
        prompt_of_protocol("duel_factuality", published=published),
        sample,
        criteria.factuality,
        responses,
        parse_factuality_scores,
        sees=sees,
        repeat=repeat,
        known=known,
    )


def _pair_ask(
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
        answer = answer_inputs("response", text)
        inputs |= {f"{name}_{letter}": value for name, value in answer.items()}
        shown.append(shown_as(f"response_{letter}", text))
    images = sample.images if sees else ()
    return Ask(prompt, inputs, (*shown, *image_if(images)), parse=parse, images=images, repeat=repeat)
