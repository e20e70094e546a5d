"""Judges under test: nine ways of asking a judge about an answer, for two tasks (FOCUS, section 3); and readers.

The judged answer is a text on an image (image-to-text) or an image made from a prompt (text-to-image), as its type
shows. The judge sees the image, the request, the answer or answers and, for reference-guided scoring, the reference;
for a generated image, it sees the prompt, the image or images, and the gold image as the reference.
"""

from collections.abc import Sequence
from functools import partial

from dokimasia.agents.answers import answer_inputs, image_if, shown_as
from dokimasia.agents.asking import Ask
from dokimasia.agents.candidate import respond
from dokimasia.agents.evaluation import question_inputs
from dokimasia.agents.schemas import Place, Structured, number, structured
from dokimasia.domain.blindspots import AXES, OVERALL, PAIRWISE_ONLY, Choice, Evaluator, Task, by_axes, paradigm_of
from dokimasia.domain.judgement import Response
from dokimasia.domain.sample import ImageRef, Sample
from dokimasia.parsing.blindspots.judged import (
    HIGHEST,
    LOWEST,
    ReadByAxis,
    ReadNotice,
    parse_axis_choices,
    parse_axis_scores,
    parse_notice,
    parse_structured_axis_choices,
    parse_structured_axis_scores,
)

Judged = str | ImageRef
"""A judged answer: a text, or a generated image."""

NEW_REFERENCE = "new-reference"
"""The arm of a newly written reference."""


def task_of(answer: Judged) -> Task:
    """Return the task that an answer belongs to."""
    if isinstance(answer, str):
        return "image-to-text"
    return "text-to-image"


def prompt_of(evaluator: Evaluator, task: Task) -> str:
    """Return the name of the prompt for one of the nine published evaluators.

    Raises:
        ValueError: the evaluator is another one.
    """
    paradigm, _, strategy = evaluator.partition("-")
    if paradigm not in ("single", "pairwise", "reference"):
        raise ValueError(f"{evaluator} is asked by prompts of its own")
    answer = "text" if task == "image-to-text" else "image"
    return "_".join(filter(None, (paradigm, answer, strategy.replace("-", "_"))))


def axes_asked(evaluator: Evaluator, task: Task) -> tuple[str, ...]:
    """Return the axes that a judge scores: `overall` alone, or all of the task; creativity only for pairs."""
    if not by_axes(evaluator):
        return (OVERALL,)
    return tuple(axis for axis in AXES[task] if paradigm_of(evaluator) == "pairwise" or axis not in PAIRWISE_ONLY)


def score_answer(
    sample: Sample, evaluator: Evaluator, answer: Judged, *, reference: Judged | None = None, repeat: int = 0
) -> Ask[ReadByAxis[int]]:
    """Ask a judge for 1 to 10 points for an answer, alone or with a reference, overall or on each axis, with reasons.

    Args:
        sample: the sample that the answer belongs to.
        evaluator: a way of single-answer scoring, or `reference`.
        answer: the text, or the generated image.
        reference: under `reference`, a right answer of the same kind: the gold answer, or a newly written one.
        repeat: number of the independent draw.

    Raises:
        ValueError: the evaluator does not score single answers, or the reference is missing, of another kind, or
            unexpected.
    """
    if paradigm_of(evaluator) not in ("single", "reference"):
        raise ValueError(f"{evaluator} scores no single answer")
    if (reference is not None) != (evaluator == "reference"):
        raise ValueError(f"{evaluator} goes {'with' if reference is None else 'without'} a reference")
    task = task_of(answer)
    if reference is not None and task_of(reference) != task:
        raise ValueError("an answer and its reference are both texts or both images")
    axes = axes_asked(evaluator, task)
    inputs, shown, images = _single_parts(sample, {"reference": reference} if reference is not None else {}, answer)
    return Ask(
        prompt_of(evaluator, task),
        inputs,
        shown,
        partial(parse_axis_scores, axes=axes),
        structured=_scores_form(axes),
        images=images,
        tools=True,
        repeat=repeat,
    )


def compare_answers(
    sample: Sample, evaluator: Evaluator, first: Judged, second: Judged, *, repeat: int = 0
) -> Ask[ReadByAxis[Choice]]:
    """Ask a judge which of two answers is better, A (the first), B or neither, overall or on each axis, with reasons.

    Raises:
        ValueError: the evaluator does not compare answers, or the answers are of different kinds.
    """
    if paradigm_of(evaluator) != "pairwise":
        raise ValueError(f"{evaluator} compares no two answers")
    task = task_of(first)
    if task_of(second) != task:
        raise ValueError("two answers that are compared are both texts or both images")
    axes = axes_asked(evaluator, task)
    inputs, shown, images = _pair_parts(sample, first, second)
    return Ask(
        prompt_of(evaluator, task),
        inputs,
        shown,
        partial(parse_axis_choices, axes=axes),
        structured=_choices_form(axes),
        images=images,
        tools=True,
        repeat=repeat,
    )


def read_justification(justification: str, *, error: str = "", where: str = "", repeat: int = 0) -> Ask[ReadNotice]:
    """Ask a reader whether a justification names an error, and which words do so.

    The reader sees neither answer nor image, so that its finding rests on the justification alone.

    Args:
        justification: a judge's justification of its judgement.
        error: the description of the inserted error; without it, the question is whether any error is named.
        where: the answer whose error must be named, such as `response B`; empty if only one was judged.
        repeat: number of the independent draw.
    """
    inputs = {name: text for name, text in (("error", error), ("where", where)) if text}
    return Ask(
        "justification",
        {"justification": justification, **inputs},
        ("justification", *inputs),
        partial(parse_notice, justification=justification),
        repeat=repeat,
    )


def write_reference(sample: Sample, *, repeat: int = 0) -> Ask[Response]:
    """Ask a model to answer a sample's request and images, as the reference for other answers (FOCUS, section 4.4)."""
    shown = (*image_if(sample.images), "question")
    return respond(
        "new_reference",
        question_inputs(sample),
        sample,
        shown=shown,
        images=sample.images,
        arm=NEW_REFERENCE,
        repeat=repeat,
    )


Seen = tuple[dict[str, str], tuple[str, ...], tuple[ImageRef, ...]]


def _single_parts(sample: Sample, reference: dict[str, Judged], answer: Judged) -> Seen:
    """Return inputs, record of what is shown, and images of a prompt on one answer; a reference comes first."""
    if not isinstance(answer, str):
        images = (*(image for image in reference.values() if not isinstance(image, str)), answer)
        return {"prompt": sample.prompt}, ("prompt", *(f"{name} image" for name in reference), "image"), images
    inputs = {**question_inputs(sample), **answer_inputs("response", answer)}
    shown = [*image_if(sample.images), "question"]
    for name, text in reference.items():
        inputs |= {
            ("reference_part" if key == "part" else key): text for key, text in answer_inputs(name, str(text)).items()
        }
        shown.append(shown_as(name, str(text)))
    return inputs, (*shown, shown_as("response", answer)), sample.images


def _pair_parts(sample: Sample, first: Judged, second: Judged) -> Seen:
    """Return the same for a prompt on two answers: the first is A, and its image comes first."""
    if not isinstance(first, str) or not isinstance(second, str):
        images = tuple(image for image in (first, second) if not isinstance(image, str))
        return {"prompt": sample.prompt}, ("prompt", "image A", "image B"), images
    inputs = question_inputs(sample)
    shown = [*image_if(sample.images), "question"]
    for letter, text in (("a", first), ("b", second)):
        inputs |= {f"{name}_{letter}": text for name, text in answer_inputs("response", text).items()}
        shown.append(shown_as(f"response_{letter}", text))
    return inputs, tuple(shown), sample.images


def _scores_form(axes: Sequence[str]) -> Structured[ReadByAxis[int]]:
    points = number(range(LOWEST, HIGHEST + 1))
    return structured(
        "axis_scores",
        {"justification": "JUSTIFICATION", "scores": dict.fromkeys(axes, points)},
        partial(parse_structured_axis_scores, axes=axes),
    )


def _choices_form(axes: Sequence[str]) -> Structured[ReadByAxis[Choice]]:
    choice = Place('"CHOICE"', {"type": "string", "enum": ["A", "B", "tie"]})
    return structured(
        "axis_choices",
        {"justification": "JUSTIFICATION", "better": dict.fromkeys(axes, choice)},
        partial(parse_structured_axis_choices, axes=axes),
    )
