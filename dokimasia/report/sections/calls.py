"""The calls that one sample of a run took, as they were sent and answered."""

from collections.abc import Iterator, Mapping
from typing import Any

from dokimasia.report.blocks import Block, Paragraph, Span, Texts


def calls(view: Mapping[str, Any]) -> Iterator[Block]:
    """Yield every call of a sample whose view holds them whole (`show RUN --sample ID --raw`)."""
    for call in view.get("calls", ()):
        if isinstance(call, Mapping):
            yield Paragraph(Span(f"── {call['label']} · {call['key']} ──", "muted"))
            yield Texts([(Span(f"[{who}]", "strong"), text) for who, text in _said(call)])


def _said(call: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield a call's messages and its reply as (who, text), images as a mark."""
    for message in call["request"].get("messages", ()):
        parts = [
            part["text"] if part["kind"] == "text" else f"[image {part['sha256'][:12]}]" for part in message["parts"]
        ]
        yield message["role"], "\n".join([*parts, *_wishes(message)])
    yield "reply", "\n".join([call["reply"].get("text", ""), *_wishes(call["reply"])]).strip("\n")


def _wishes(said: Mapping[str, Any]) -> list[str]:
    """The tool calls of a message or a reply, a line each."""
    return [f"[calls {tool['name']} {tool['arguments']}]" for tool in said.get("tool_calls", ())]
