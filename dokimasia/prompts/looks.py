"""Looks as messages: what a model asked of its tools, what it was told, and the images that were made for it."""

from collections.abc import Sequence

from dokimasia.domain.call import Message, ToolCall
from dokimasia.domain.sample import ImageRef, Part, TextPart


def with_looks(
    messages: Sequence[Message],
    text: str,
    calls: Sequence[tuple[ToolCall, str]],
    images: Sequence[tuple[int, ImageRef]],
) -> tuple[Message, ...]:
    """Return the messages with one round of looks at their end.

    A tool's message carries text only, which is all that many endpoints take there; the images follow in one message
    of the user.

    Args:
        messages: what was said before.
        text: what the model said beside its calls.
        asked: its calls, each with what it is told.
        images: images that were made, with their numbers.
    """
    parts: tuple[Part, ...] = (TextPart(text=text),) if text else ()
    added = [Message(role="assistant", parts=parts, tool_calls=tuple(call for call, _ in calls))]
    added += [Message(role="tool", parts=(TextPart(text=answer),), tool_call_id=call.id) for call, answer in calls]
    if images:
        image_parts: list[Part] = []
        for number, image in images:
            image_parts += [TextPart(text=f"Image {number}:"), image]
        added.append(Message(role="user", parts=tuple(image_parts)))
    return (*messages, *added)


def without_looks(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return the messages without any round of looks; the inverse of `with_looks`."""
    remaining: list[Message] = []
    inside = False
    for message in messages:
        if message.role == "assistant":
            inside = bool(message.tool_calls)
        elif inside and message.role == "user" and not message.images:
            inside = False
        if not inside:
            remaining.append(message)
    return tuple(remaining)
