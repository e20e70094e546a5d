"""Looking closer: execute a model's tool calls, show it the resulting images, and record what it looked at."""

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import orjson

from dokimasia.domain.call import ChatReply, Message, ToolCall, ToolSpec
from dokimasia.domain.criterion import Box
from dokimasia.domain.look import Look, Region
from dokimasia.domain.options import LOOKS
from dokimasia.domain.ports import BlobStore
from dokimasia.domain.sample import ImageRef
from dokimasia.errors import ToolFailure
from dokimasia.prompts import with_looks
from dokimasia.prompts.fence import fence, nonces, repeats_marker
from dokimasia.tools.pictures import WHOLE, ToolResult, within
from dokimasia.tools.registry import MAX_ARGUMENTS, TOOLS, Request, perform, read_request

MAX_CALLS = 100
"""Maximum number of tool calls in one reply that get an answer, if only that no looks remain."""

_ARGUMENTS_KEPT = 500


@dataclass(frozen=True, slots=True)
class Looking:
    """The means to look closer: tools by name, the store of images, and the maximum number of looks per ask."""

    tools: tuple[str, ...]
    blobs: BlobStore
    limit: int = LOOKS

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """The tools as the model sees them."""
        return tuple(TOOLS[name].spec for name in self.tools)


@dataclass(frozen=True, slots=True)
class ShownImage:
    """An image shown to a model, and the part of one of the first images that it shows."""

    image: ImageRef
    region: Region


def as_shown(messages: Sequence[Message]) -> tuple[ShownImage, ...]:
    """Return the images of a prompt in the order of their numbers."""
    images = (image for message in messages for image in message.images)
    return tuple(ShownImage(image, Region(image=image.sha256, box=WHOLE)) for image in images)


async def take_looks(
    messages: Sequence[Message],
    reply: ChatReply,
    images: tuple[ShownImage, ...],
    looking: Looking,
    *,
    left: int,
    call: str,
    prompt: str,
) -> tuple[tuple[Message, ...], tuple[ShownImage, ...], tuple[Look, ...]]:
    """Execute the looks that a reply asks for, up to the remaining number; the model learns which were not executed.

    Faults of a call are reported to the model, and the work continues.

    Args:
        messages: the messages before the reply.
        reply: the reply that calls tools.
        images: the images shown to the model so far.
        looking: the tools, the store of images, and the limit.
        left: the number of remaining looks.
        call: the reply's ledger key.
        prompt: the prompt of the call.

    Returns:
        The messages extended by these looks, the images extended by new ones, and the looks.

    Raises:
        StorageError: an image cannot be read from or written to the store.
    """
    tool_results: list[tuple[ToolCall, str]] = []
    new_images: list[tuple[int, ImageRef]] = []
    looks: list[Look] = []
    visible = list(images)
    for tool_call in reply.tool_calls[:MAX_CALLS]:
        if len(looks) >= left:
            tool_results.append(
                (_repeatable_call(tool_call), f"Not done: all {looking.limit} looks are used. Give your reply now.")
            )
            continue
        earlier = "\n".join([*(message.text for message in messages), *(result for _, result in tool_results)])
        look, text, part = await _look(tool_call, visible, looking, call, prompt, earlier)
        looks.append(look)
        if look.made is not None and part is not None:
            new_images.append((len(visible), look.made))
            text += f" It follows as image {len(visible)}."
            visible.append(ShownImage(look.made, part))
        if len(looks) == left:
            text += " That was the last look: give your reply now."
        tool_results.append((_repeatable_call(tool_call), text))
    return with_looks(messages, reply.text, tool_results, new_images), tuple(visible), tuple(looks)


async def _look(
    tool_call: ToolCall, visible: Sequence[ShownImage], looking: Looking, call: str, prompt: str, earlier: str
) -> tuple[Look, str, Region | None]:
    """Return the look, its result for the model, and the part that its image shows, if it made one."""
    regions: tuple[Region, ...] = ()
    new_image: ImageRef | None = None
    part: Region | None = None
    failed = False
    try:
        request = read_request(tool_call.name, tool_call.arguments, images=len(visible), offered=looking.tools)
        regions = tuple(_traced(visible[number], box) for number, box in request.regions)
        result, new_image = await asyncio.to_thread(_perform, request, visible, looking.blobs)
        text = _result_text(result, earlier)
        if result.box is not None:
            part = _traced(visible[request.regions[0][0]], result.box)
    except ToolFailure as problem:
        text, failed = f"Not done: {problem}.", True
    look = Look(
        tool=tool_call.name[:64],
        arguments=tool_call.arguments[:_ARGUMENTS_KEPT],
        regions=regions,
        text=text,
        failed=failed,
        made=new_image,
        call=call,
        prompt=prompt,
    )
    return look, text, part


def _perform(request: Request, visible: Sequence[ShownImage], blobs: BlobStore) -> tuple[ToolResult, ImageRef | None]:
    data = {number: blobs.get(visible[number].image.sha256) for number, _ in request.regions}
    result = perform(request, data)
    if result.image is None:
        return result, None
    sha256 = hashlib.sha256(result.image).hexdigest()
    new_image = ImageRef(sha256=sha256, media_type="image/png", width=result.width, height=result.height)
    blobs.put_image(result.image, new_image)
    return result, new_image


def _result_text(result: ToolResult, earlier: str) -> str:
    """Return a tool's result in words, with fences around text read in the image.

    Raises:
        ToolFailure: the text contains the nonce of a marker in the earlier text, so that it could pass for that block.
    """
    if result.quoted is None:
        return result.text
    if repeats_marker(result.quoted, earlier):
        raise ToolFailure("the text there repeats a marker of this request, which no text of an image does by chance")
    mark = nonces("looking", 1, {"earlier": earlier, "text": result.quoted})["text"]
    return f"{result.text}\n{fence('text', result.quoted, mark)}"


def _traced(image: ShownImage, box: Box) -> Region:
    return Region(image=image.region.image, box=within(image.region.box, box))


def _repeatable_call(tool_call: ToolCall) -> ToolCall:
    """Return a call as it is repeated to the model, since many servers refuse arguments that are not a JSON object."""
    try:
        readable = len(tool_call.arguments) <= MAX_ARGUMENTS and isinstance(orjson.loads(tool_call.arguments), dict)
    except orjson.JSONDecodeError:
        readable = False
    if readable:
        return tool_call
    return tool_call.model_copy(update={"arguments": "{}"})
