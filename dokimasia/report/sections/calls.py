"""The model calls of a sample, with requests and replies."""

from collections.abc import Iterator, Mapping
from typing import Any

from dokimasia.report.blocks import Block, Paragraph, Span, Texts


def calls(view: Mapping[str, Any]) -> Iterator[Block]:
    """Yield the calls of a sample if its view contains them (`show RUN --sample ID --raw`), each with messages and reply."""
    model_calls: Any = view.get("calls")
    for call in model_calls if isinstance(model_calls, list) else ():
        if isinstance(call, Mapping):
            yield Paragraph(Span(f"── {_head(call)} ──", "muted"))
            yield Texts([(Span(f"[{role}]", "strong"), text) for role, text in _said(call)], raw=True)


def _head(call: Mapping[str, Any]) -> str:
    """Return the title of a call: role, model, latency, tokens, finish reason, and ledger key."""
    seconds, tokens_in, tokens_out = call["latency"], call["input_tokens"], call["output_tokens"]
    parts = [
        call["label"],
        call["model"],
        "latency unknown" if seconds is None else f"{seconds:.3f} s",
        "tokens unknown" if tokens_in is None or tokens_out is None else f"{tokens_in:,} tokens in, {tokens_out:,} out",
        call["reply"].get("finish_reason", call["reply"]["kind"]),
        call["key"],
    ]
    return " · ".join(parts)


def _said(call: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the messages and the reply of a call as role and text; an image is a placeholder."""
    for message in call["request"].get("messages", ()):
        parts = [
            part["text"] if part["kind"] == "text" else _image(part, call.get("originals", {}))
            for part in message["parts"]
        ]
        yield message["role"], "\n".join([*parts, *_wishes(message)])
    yield "reply", "\n".join([call["reply"].get("text", ""), *_wishes(call["reply"])]).strip("\n")


def reduced_images(view: Mapping[str, Any]) -> Iterator[Block]:
    """Yield a line for every image of a sample that was reduced before it was sent."""
    for image in view.get("reduced_images", ()):
        yield Paragraph(
            f"image {image['original'][:12]}: sent as {image['sha256'][:12]}, {image['width']} × {image['height']} pixels, "
            f"{image['bytes']:,} bytes, to models with max_image_side {image['side']}"
        )


def _image(part: Mapping[str, Any], originals: Mapping[str, str]) -> str:
    text = f"image {part['sha256'][:12]}"
    if part["sha256"] in originals:
        text += f", {part['width']} × {part['height']}, made from {originals[part['sha256']][:12]}"
    return f"[{text}]"


def _wishes(said: Mapping[str, Any]) -> list[str]:
    """Return the tool calls of a message or a reply, one per line."""
    return [f"[calls {tool['name']} {tool['arguments']}]" for tool in said.get("tool_calls", ())]
