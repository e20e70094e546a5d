"""The roles around a hint: a peer points the way without giving it away, and a judge looks whether it does (ATOM, 3.5)."""

from collections.abc import Sequence

from dokimasia.agents.asking import Ask
from dokimasia.agents.evaluation import question_inputs
from dokimasia.domain.refinement import FoundLeak
from dokimasia.domain.sample import Sample
from dokimasia.parsing.hints import parse_hint, parse_leak

OWN_ANSWER_LIMIT = 20_000
"""Characters of a peer's own answer that it is shown again."""


def give_hint(sample: Sample, point: str, own_answer: str) -> Ask[str]:
    """A peer that solved an atom writes a hint on it.

    It is shown image, question, the atom's question (`point`) and its own answer; never a ground truth or the
    reference answer, and not the answer of the model that the hint is for.
    """
    inputs = {**question_inputs(sample), "point": point, "own_answer": own_answer[:OWN_ANSWER_LIMIT]}
    return Ask("peer_hint", inputs, _shown(sample), parse_hint, images=sample.images)


def rewrite_hint(sample: Sample, point: str, own_answer: str, hint: str, leaks: Sequence[FoundLeak]) -> Ask[str]:
    """The peer words a hint that gives something away anew; it is shown which passages of its hint do."""
    inputs = {
        **question_inputs(sample),
        "point": point,
        "own_answer": own_answer[:OWN_ANSWER_LIMIT],
        "hint": hint,
        "given_away": "\n".join(f"- {leak.excerpt or 'the hint as a whole'}" for leak in leaks),
    }
    return Ask("hint_rewrite", inputs, (*_shown(sample), "hint", "given_away"), parse_hint, images=sample.images)


def judge_leak(sample: Sample, text: str, secrets: Sequence[str]) -> Ask[bool]:
    """A judge says whether a feedback or hint gives away any of the secrets in this question.

    It is shown question, secrets (ground truths and the final answer) and the text; no image.
    """
    return Ask(
        "leak_check",
        {**question_inputs(sample), "secrets": "\n".join(f"- {secret}" for secret in secrets), "text": text},
        shown=("question", "secrets", "text"),
        parse=parse_leak,
    )


def _shown(sample: Sample) -> tuple[str, ...]:
    return (*(("image",) if sample.images else ()), "question", "point", "own_answer")
