"""The model calls of a sample, with requests and replies."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from dokimasia.domain.call import Chat, ChatReply, ModelCall, ModelReply, ToolCall
from dokimasia.domain.identity import Value
from dokimasia.domain.sample import ImageRef
from dokimasia.report.blocks import Block, Paragraph, Span, Texts


class CallView(Value):
    """A call with what it used (cost in US dollars, latency in seconds), and the originals of its reduced images, by hash."""

    key: str
    label: str
    model: str
    cost: float | None
    latency: float | None
    input_tokens: int | None
    output_tokens: int | None
    originals: dict[str, str]
    request: ModelCall
    reply: ModelReply


def calls(view: Mapping[str, object]) -> Iterator[Block]:
    """Yield the calls of a sample if its view contains them (`show RUN --sample ID --raw`), each with messages and reply."""
    call_views = view.get("calls")
    for fields in call_views if isinstance(call_views, list) else ():
        if isinstance(fields, Mapping):  # without `--raw`, some views list the calls' keys
            call = CallView.model_validate(fields)
            yield Paragraph(Span(f"── {_head(call)} ──", "muted"))
            yield Texts([(Span(f"[{role}]", "strong"), text) for role, text in _messages(call)], raw=True)


def _head(call: CallView) -> str:
    """Return the title of a call: role, model, latency, tokens, finish reason, and ledger key."""
    tokens = "tokens unknown"
    if call.input_tokens is not None and call.output_tokens is not None:
        cached = call.reply.usage.cached_tokens
        of_which = f" ({cached:,} of them cached)" if cached else ""
        tokens = f"{call.input_tokens:,} tokens in{of_which}, {call.output_tokens:,} out"
    parts = [
        call.label,
        call.model,
        "latency unknown" if call.latency is None else f"{call.latency:.3f} s",
        tokens,
        call.reply.finish_reason if isinstance(call.reply, ChatReply) else call.reply.kind,
        call.key,
    ]
    return " · ".join(parts)


def _messages(call: CallView) -> Iterator[tuple[str, str]]:
    """Yield the messages and the reply of a call as role and text; an image is a placeholder."""
    for message in call.request.messages if isinstance(call.request, Chat) else ():
        parts = [part.text if part.kind == "text" else _image(part, call.originals) for part in message.parts]
        yield message.role, "\n".join([*parts, *_wishes(message.tool_calls)])
    text, tool_calls = "", ()
    if isinstance(call.reply, ChatReply):
        text, tool_calls = call.reply.text, call.reply.tool_calls
    yield "reply", "\n".join([text, *_wishes(tool_calls)]).strip("\n")


def reduced_images(view: Mapping[str, Any]) -> Iterator[Block]:
    """Yield a line for every image of a sample that was reduced before it was sent."""
    line = (
        "image {original:.12}: sent as {sha256:.12}, {width} × {height} pixels, {bytes:,} bytes, to models with "
        "max_image_side {side}"
    )
    for image in view.get("reduced_images", ()):
        yield Paragraph(line.format_map(image))


def _image(part: ImageRef, originals: Mapping[str, str]) -> str:
    original = originals.get(part.sha256)
    origin = "" if original is None else f", {part.width} × {part.height}, made from {original[:12]}"
    return f"[image {part.sha256[:12]}{origin}]"


def _wishes(tool_calls: Iterable[ToolCall]) -> list[str]:
    """Return the tool calls of a message or a reply, one per line."""
    return [f"[calls {tool.name} {tool.arguments}]" for tool in tool_calls]
