"""The candidate: the model under evaluation, asked in the data set's own words."""

from dokimasia.agents.asking import Asked, chat, draw, failure
from dokimasia.agents.solver import question_inputs
from dokimasia.domain.call import ChatReply, ModelSpec
from dokimasia.domain.judgement import Failed, Flag, Provenance, Response
from dokimasia.domain.ports import Gateway
from dokimasia.domain.sample import Sample
from dokimasia.parsing.refusals import looks_like_refusal
from dokimasia.prompts import PromptLibrary, Rendered, render

BLIND = "blind"
"""The arm in which the candidate answers without the image (Creation-MMBench, figure 4)."""


async def answer_question(
    sample: Sample,
    *,
    gateway: Gateway,
    candidate: ModelSpec,
    arm: str = "",
    repeat: int = 0,
    attempt: int = 0,
    library: PromptLibrary | None = None,
) -> Asked[Response]:
    """Return the candidate's response as it stands.

    A refusing or truncated text is a response, flagged; only an empty or filtered answer, or a call without an answer,
    is a failure. In the arm `blind` the candidate gets the question without the image. A later `attempt` is a new draw
    for the same repeat.
    """
    images = () if arm == BLIND else sample.images
    rendered = render("candidate", question_inputs(sample), images=images, library=library)
    return await respond(
        rendered,
        sample,
        shown=("image", "question") if images else ("question",),
        gateway=gateway,
        spec=candidate,
        arm=arm,
        repeat=repeat,
        attempt=attempt,
    )


async def respond(
    rendered: Rendered,
    sample: Sample,
    *,
    shown: tuple[str, ...],
    gateway: Gateway,
    spec: ModelSpec,
    arm: str = "",
    repeat: int = 0,
    attempt: int = 0,
) -> Asked[Response]:
    """Send a prompt whose reply is taken as it stands, and return it as a response to the sample.

    What is a response and what a failure is as in `answer_question`.
    """
    answer = await chat(rendered, gateway=gateway, spec=spec, repeat=draw(repeat, attempt))
    if isinstance(answer, Failed):
        return Asked(None, answer, None)
    reply = answer.reply
    if not isinstance(reply, ChatReply):
        return Asked(None, failure("api_error", "the endpoint answered a chat with another kind of reply"), answer.key)
    if reply.finish_reason == "content_filter":
        return Asked(None, failure("refused", "the provider filtered the answer"), answer.key)
    text = reply.text if reply.text.strip() else (reply.refusal or "")
    if not text.strip():
        if reply.finish_reason == "length":
            return Asked(None, failure("truncated", "the token limit was reached before any text"), answer.key)
        return Asked(None, failure("unparsable", "the answer is empty"), answer.key)
    flags: list[Flag] = []
    if reply.refusal is not None or looks_like_refusal(text):
        flags.append("refused")
    if reply.finish_reason == "length":
        flags.append("truncated")
    provenance = Provenance(
        call=answer.key,
        model=spec.ref.name,
        prompt=rendered.name,
        prompt_version=rendered.version,
        prompt_hash=rendered.hash,
        shown=shown,
    )
    response = Response(
        sample=sample.digest,
        model=spec.ref.name,
        arm=arm,
        repeat=repeat,
        text=text,
        flags=tuple(flags),
        provenance=provenance,
    )
    return Asked(response, None, answer.key, provenance)
