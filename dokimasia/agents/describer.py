"""The describer: a panel member that writes the first description of an image (PerceptionRubrics, 3.3.1)."""

from dataclasses import replace

from dokimasia.agents.asking import Asked, failure
from dokimasia.agents.candidate import respond
from dokimasia.domain.call import ModelSpec
from dokimasia.domain.judgement import Response
from dokimasia.domain.ports import Gateway
from dokimasia.domain.sample import Sample
from dokimasia.errors import UnparsableReply
from dokimasia.parsing.votes import parse_description
from dokimasia.prompts import PromptLibrary, render


async def describe_image(
    sample: Sample,
    request: str,
    *,
    gateway: Gateway,
    member: ModelSpec,
    repeat: int = 0,
    library: PromptLibrary | None = None,
) -> Asked[Response]:
    """Return a member's description of a sample's image; it is shown the image and the request.

    A description that was cut at the token limit is one, flagged; a refusal is a failure, since nobody can review it.
    """
    rendered = render("describe", {"request": request}, images=sample.images, library=library)
    asked = await respond(
        rendered, sample, shown=("image", "request"), gateway=gateway, spec=member, arm="describe", repeat=repeat
    )
    if asked.value is not None and "refused" in asked.value.flags:
        return Asked(None, failure("refused", f"instead of a description: {asked.value.text}"), asked.call)
    if asked.value is None:
        return asked
    try:
        return replace(asked, value=asked.value.model_copy(update={"text": parse_description(asked.value.text)}))
    except UnparsableReply as problem:
        return Asked(None, failure("unparsable", problem.reason), asked.call)
