"""The roles for hints: a peer hints without revealing the answer, and a judge checks for leaks (ATOM, 3.5)."""

from collections.abc import Sequence
from functools import partial

from dokimasia.agents.answers import image_if
from dokimasia.agents.asking import Ask
from dokimasia.agents.evaluation import question_inputs
from dokimasia.agents.refiner import EARLIER_LIMIT, points_text, verdict_text
from dokimasia.domain.refinement import Feedback, FeedbackPoint, FoundLeak
from dokimasia.domain.sample import Sample
from dokimasia.parsing.hints import hints_form, parse_hints, parse_leaks
from dokimasia.prompts import lines_text

LEAK_FORM = "Verdict: [[leak]]\nVerdict: [[clean]]"
"""The empty form for people."""

OWN_ANSWER_LIMIT = 20_000
"""Maximum number of characters of a peer's own answer that the peer sees again."""


def give_hints(
    sample: Sample, points: Sequence[FeedbackPoint], own_answer: str, *, feedback: Feedback, earlier: str | None = None
) -> Ask[Sequence[str]]:
    """Ask a peer that solved atoms for a hint on each, in one reply; a hint may be empty.

    It sees the image, the question, the points, its own answer, the failed answer (`earlier`, if the reader sees it,
    too) and what the reader will see, but never a ground truth or the reference answer.
    """
    inputs = _inputs(sample, points, own_answer, feedback, earlier)
    return _asked("peer_hint", inputs, sample, len(points))


def rewrite_hints(
    sample: Sample, points: Sequence[FeedbackPoint], own_answer: str, *, feedback: Feedback, earlier: str | None = None
) -> Ask[Sequence[str]]:
    """Ask the peer to rewrite hints that reveal something, with the leaking words and the reason."""
    hints = [point.wordings[-1] for point in points]
    inputs = _inputs(sample, points, own_answer, feedback, earlier)
    inputs["hints"] = lines_text({"n": number, "hint": hint.text} for number, hint in enumerate(hints, start=1))
    inputs["given_away"] = "\n".join(
        f'- in hint {number}: "{passage}": {reason}'
        for number, hint in enumerate(hints, start=1)
        for passage, reason in {leak.excerpt: leak.reason for leak in reversed(hint.leaks)}.items()
    )
    return _asked("hint_rewrite", inputs, sample, len(points), "hints", "given_away")


def judge_leaks(sample: Sample, text: str, secrets: Sequence[tuple[str, str]]) -> Ask[Sequence[FoundLeak]]:
    """Ask a judge which passages of feedback or a hint reveal a secret of the question, and how.

    It sees the question, the secrets (ground truths and final answers, each with the question that it answers; an empty
    one means the sample's) and the text, but no image. In the reply to a repair request, a passage that is not in the
    text counts as the whole text.
    """
    return Ask(
        "leak_check",
        {**question_inputs(sample), "secrets": secrets_text(secrets), "text": text},
        shown=("question", "secrets", "text"),
        parse=partial(parse_leaks, checked=text),
        parse_again=partial(parse_leaks, checked=text, strict=False),
        form=LEAK_FORM,
    )


def secrets_text(secrets: Sequence[tuple[str, str]]) -> str:
    """Return secrets as a judge sees them: a JSON array with one object per line, each with its question, if any."""
    return lines_text(
        {**({"question": question} if question else {}), "secret": secret} for question, secret in secrets
    )


def _inputs(
    sample: Sample, points: Sequence[FeedbackPoint], own_answer: str, feedback: Feedback, earlier: str | None
) -> dict[str, str]:
    points_without_hints = [point.model_copy(update={"hint": ""}) for point in points]
    verdict = verdict_text(feedback.model_copy(update={"points": tuple(points_without_hints)}))
    own = "" if earlier is None else "their own answer, "
    with_images = ", with its images" if sample.images else ""
    inputs = {
        **question_inputs(sample),
        "points": points_text(points_without_hints),
        "own_answer": own_answer[:OWN_ANSWER_LIMIT],
        "reader": f'The question{with_images}, {own}the words "{verdict}" with these points, and your hint on each of them.',
        "form": hints_form(len(points)),
    }
    if earlier is not None:
        inputs["failed_answer"] = earlier[:EARLIER_LIMIT]
    return inputs


def _asked(prompt: str, inputs: dict[str, str], sample: Sample, expected: int, *more: str) -> Ask[Sequence[str]]:
    shown = [name for name in ("points", "own_answer", "failed_answer", *more) if name in inputs]
    return Ask(
        prompt,
        inputs,
        (*image_if(sample.images), "question", *shown),
        parse=partial(parse_hints, expected=expected),
        parse_again=partial(parse_hints, expected=expected, strict=False),
        images=sample.images,
    )
