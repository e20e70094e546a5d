"""The roles around an edited image: writing the instruction, executing it, and checking the result."""

from functools import partial
from typing import NamedTuple

from dokimasia.agents.asking import Ask, draw, failure
from dokimasia.domain.blindspots import ErrorDimension
from dokimasia.domain.call import ImageEdit, ImageEditReply, ModelSpec
from dokimasia.domain.judgement import Failed
from dokimasia.domain.perturbation import EditCheck, EditInstruction
from dokimasia.domain.ports import Gateway
from dokimasia.domain.sample import ImageRef, Sample
from dokimasia.errors import CallFailed
from dokimasia.parsing.blindspots.edits import (
    EditCheckReply,
    GoldImageReply,
    InstructionReply,
    UnsuitedReply,
    parse_edit_check,
    parse_edit_instruction,
    parse_gold_image_check,
)
from dokimasia.parsing.declared import blank
from dokimasia.prompts import lines_text
from dokimasia.tools.comparing import changed_share

__all__ = [
    "Edited",
    "changed_share",
    "check_edit",
    "check_gold_image",
    "edit_image",
    "make_image",
    "write_edit_instruction",
]

LABEL = "image_edit"

ANOTHER = (
    "Make another image to the same text, as good as this one, which may differ from it in whatever the text leaves open. "
    "The text:\n{prompt}"
)
"""The instruction for an image model that makes a new reference from a gold image."""


def write_edit_instruction(
    sample: Sample, dimension: ErrorDimension, image: ImageRef | None = None
) -> Ask[EditInstruction]:
    """Ask a model how to edit the gold image so that it has a fault in a dimension, or why that is impossible.

    It sees the prompt, the image (by default, the sample's), and the dimension with its definition and example.
    """
    described = {
        "kind": dimension.name,
        "definition": dimension.definition,
        "before": dimension.right,
        "after": dimension.wrong,
    }
    return Ask(
        "edit_instruction",
        {"prompt": sample.prompt, "dimension": lines_text([described])},
        shown=("prompt", "image", "dimension"),
        parse=partial(parse_edit_instruction, unnamed=(dimension.name, dimension.title)),
        images=sample.images[:1] if image is None else (image,),
        form=blank(InstructionReply, UnsuitedReply),
    )


def check_gold_image(prompt: str, image: ImageRef) -> Ask[str]:
    """Ask a model what is wrong with an image made from a prompt; the reply is empty if it is right."""
    return Ask(
        "gold_image_check",
        {"prompt": prompt},
        shown=("prompt", "image"),
        parse=parse_gold_image_check,
        images=(image,),
        form=blank(GoldImageReply),
    )


def check_edit(before: ImageRef, after: ImageRef, told: EditInstruction) -> Ask[EditCheck]:
    """Ask a model whether an edit was carried out without changing anything else; it sees both images."""
    return Ask(
        "edit_check",
        {"instruction": told.instruction, "change": told.change},
        shown=("image", "edited image", "instruction"),
        parse=parse_edit_check,
        images=(before, after),
        form=blank(EditCheckReply),
    )


class Edited(NamedTuple):
    """The result of an edit: the image or the failure, and the ledger key of the call if a reply arrived."""

    image: ImageRef | None
    failed: Failed | None
    calls: tuple[str, ...]


async def make_image(prompt: str, *, gateway: Gateway, model: ModelSpec, attempt: int = 0) -> Edited:
    """Return a new image from an image model and a prompt, or the failure of the call; see `edit_image`."""
    return await edit_image(None, prompt, gateway=gateway, model=model, attempt=attempt)


async def edit_image(
    image: ImageRef | None, instruction: str, *, gateway: Gateway, model: ModelSpec, attempt: int = 0
) -> Edited:
    """Return an image edited by an image model, or the failure of the call.

    Args:
        image: the image to edit; None for a new image.
        instruction: the instruction for the model.
        gateway: the way to the model.
        model: the image model; its `sampling.extra` is sent along.
        attempt: number of the attempt; each attempt is a separate draw.

    Returns:
        The edited image, or the failure of the call: `refused` if the provider declines.
    """
    call = ImageEdit(
        model=model.ref, image=image, instruction=instruction, extra=model.sampling.extra, repeat=draw(0, attempt)
    )
    try:
        answer = await gateway.ask(call, label="image_generation" if image is None else LABEL)
    except CallFailed as failed:
        return Edited(None, failure(failed.kind, failed.reason), ())
    reply, calls = answer.reply, (answer.key,)
    if not isinstance(reply, ImageEditReply):
        wrong = failure("api_error", "the endpoint answered an image edit with another kind of reply")
        return Edited(None, wrong, calls)
    if reply.image is None:
        return Edited(None, failure("refused", f"{model.ref.name} refused: {reply.refusal}"), calls)
    return Edited(reply.image, None, calls)


def unusable(before: bytes, after: bytes, changed: float) -> str:
    """Return why an edited image is unusable: it equals the original; empty if it is usable."""
    if before == after or not changed:
        return "the image came back as it was: no pixel is changed"
    return ""


def not_carried_out(check: EditCheck) -> str:
    """Return why a check rejects an edit; empty if the edit was carried out (people decide on other changes)."""
    if check.done:
        return ""
    return f"the edit was not carried out{'' if check.alone else ' and something else was changed'}: {check.seen}"
