"""The roles whose replies are used unchanged: a candidate answers a question, a panel member describes an image."""

from collections.abc import Mapping, Sequence
from functools import partial

from dokimasia.agents.asking import Ask, failure
from dokimasia.agents.evaluation import question_inputs
from dokimasia.domain.call import ChatReply
from dokimasia.domain.judgement import EMPTY_REPLY, Failed, Flag, Provenance, Response
from dokimasia.domain.sample import ImageRef, Sample
from dokimasia.errors import UnparsableReply
from dokimasia.parsing.answers import parse_final_answer
from dokimasia.parsing.refusals import looks_like_refusal
from dokimasia.parsing.votes import parse_description

BLIND = "blind"
"""The arm in which the candidate answers without the image (Creation-MMBench, figure 4)."""


COMPARED = 20_000
"""Number of final characters that are compared in a response without a separate line for the final answer."""


def answer_question(sample: Sample, *, arm: str = "", repeat: int = 0, plain: bool = False) -> Ask[Response]:
    """Ask a candidate a sample's question, without the image in the arm `blind`.

    The prompt asks for what the answer rests on, and for the answer on a separate last line; with `plain`, only the
    bare question is sent.

    A refusal or truncated text is a response with a flag; only an empty or filtered answer, or a call without an
    answer, is a failure.
    """
    images = () if arm == BLIND else sample.images
    shown = ("image", "question") if images else ("question",)
    prompt = "candidate_plain" if plain else "candidate"
    return respond(prompt, question_inputs(sample), sample, shown=shown, images=images, arm=arm, repeat=repeat)


def stated_answer(text: str) -> tuple[str, bool]:
    """Return a response's final answer, and whether the response states it on a separate line.

    Without such a line, the answer is the response itself, of which the last 20,000 characters are read.
    """
    stated = parse_final_answer(text)
    if stated:
        return (stated, True)
    return (text.strip()[-COMPARED:], False)


def describe_image(sample: Sample, request: str, *, repeat: int = 0) -> Ask[Response]:
    """Ask a member of a panel for the first description of an image (PerceptionRubrics, 3.3.1); see `description`."""
    return description("describe", {"request": request}, ("image", "request"), sample, repeat=repeat)


def description(
    prompt: str, inputs: Mapping[str, str], shown: Sequence[str], sample: Sample, *, repeat: int = 0
) -> Ask[Response]:
    """Return the ask for a description of a sample's images.

    A description that was cut at the token limit is kept with a flag; a refusal is a failure, since it is useless to
    others.
    """

    def take(reply: ChatReply, provenance: Provenance) -> Response | Failed:
        taken = as_it_stands(reply, provenance, sample=sample, arm="describe", repeat=repeat)
        if isinstance(taken, Failed):
            return taken
        if "refused" in taken.flags:
            return failure("refused", f"{provenance.model} refused: instead of a description: {taken.text}")
        try:
            return taken.model_copy(update={"text": parse_description(taken.text)})
        except UnparsableReply as problem:
            return failure("unparsable", problem.reason)

    return Ask(prompt, inputs, shown, take=take, images=sample.images, repeat=repeat)


def respond(
    prompt: str,
    inputs: Mapping[str, str],
    sample: Sample,
    *,
    shown: Sequence[str],
    images: Sequence[ImageRef],
    arm: str,
    repeat: int,
    draw: int | None = None,
) -> Ask[Response]:
    """Return the ask for a response to a sample; for responses and failures, see `answer_question`.

    The response has the number `repeat`, even if it is a different `draw`.
    """
    take = partial(as_it_stands, sample=sample, arm=arm, repeat=repeat)
    return Ask(prompt, inputs, shown, take=take, images=images, repeat=repeat if draw is None else draw)


def as_it_stands(
    reply: ChatReply, provenance: Provenance, *, sample: Sample, arm: str, repeat: int
) -> Response | Failed:
    """Return a reply as a response with its flags, or the failure that there is nothing to judge."""
    if reply.finish_reason == "content_filter":
        return failure("refused", f"{provenance.model} refused: the provider filtered its answer")
    text = reply.text if reply.text.strip() else (reply.refusal or "")
    if not text.strip():
        if reply.finish_reason == "length":
            return failure("truncated", "the token limit was reached before any text")
        return failure("unparsable", EMPTY_REPLY)
    flags: list[Flag] = []
    if reply.refusal is not None or looks_like_refusal(text):
        flags.append("refused")
    if reply.finish_reason == "length":
        flags.append("truncated")
    return Response(
        sample=sample.digest,
        model=provenance.model,
        arm=arm,
        repeat=repeat,
        text=text,
        flags=tuple(flags),
        provenance=provenance,
    )
