"""The identity of a request to simulated models, and reproducible draws based on it."""

from collections.abc import Sequence
from typing import TypeVar

from dokimasia.domain.call import Chat, ChatReply, Embedding, ImageEdit, Message, ToolCall, Usage
from dokimasia.domain.identity import digest, unit_interval
from dokimasia.prompts import without_form

Choice = TypeVar("Choice")

CHARACTERS_PER_TOKEN = 4
IMAGE_TOKENS = 258


def bare_name(model: str) -> str:
    """Return a simulated model's name without provider: `openai/sim/strong` is `sim/strong`; other names are unchanged."""
    if model.startswith("sim/"):
        return model
    _, separator, rest = model.partition("/sim/")
    return f"sim/{rest}" if separator else model


def canonical_messages(messages: Sequence[Message]) -> list[list[object]]:
    """Return roles, texts and image hashes in order; adjacent texts are joined, since transports split them.

    The instruction to reply with an object is left out, like the output schema it belongs to.
    """
    canonical: list[list[object]] = []
    for message in without_form(messages):
        parts: list[list[str]] = []
        for part in message.parts:
            if part.kind == "image":
                parts.append(["image", part.sha256])
            elif parts and parts[-1][0] == "text":
                parts[-1][1] += part.text
            elif part.text:
                parts.append(["text", part.text])
        canonical.append([message.role, parts])
    return canonical


def request_hash(call: Chat | Embedding | ImageEdit) -> str:
    """Return a hash of a request: bare model, messages, sampling and seed; the same on every transport and after a restart.

    Endpoint, alias and output schema are left out, since transports may name them differently.
    """
    if call.kind == "embedding":
        return digest("sim-embedding/1", [bare_name(call.model.model), list(call.texts), call.repeat])
    if call.kind == "image_edit":
        image = None if call.image is None else call.image.sha256
        return digest(
            "sim-image-edit/1", [bare_name(call.model.model), image, call.instruction, call.extra, call.repeat]
        )
    identity = {
        "model": bare_name(call.model.model),
        "messages": canonical_messages(call.messages),
        "sampling": call.sampling.model_dump(mode="json", exclude_none=True),
        "seed": call.repeat,
    }
    if call.tools:
        identity |= {"tools": [tool.name for tool in call.tools]}
    return digest("sim-request/1", identity)


class Draws:
    """Independent draws from one key: equal names give equal draws, different names independent ones."""

    def __init__(self, key: str) -> None:
        self.key = key

    def unit(self, *name: str | int) -> float:
        """Return a draw in [0, 1)."""
        return unit_interval(self.key, *name)

    def chance(self, rate: float, *name: str | int) -> bool:
        """Return true with probability `rate`."""
        return self.unit(*name) < rate

    def pick(self, among: Sequence[Choice], *name: str | int) -> Choice:
        """Return one of the items, each equally likely."""
        return among[int(self.unit(*name) * len(among))]


def count_tokens(text: str) -> int:
    """Return a plausible number of tokens: one per four characters, rounded up."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)


def text_reply(text: str) -> ChatReply:
    """Return a reply that is complete."""
    return ChatReply(text=text, finish_reason="stop", native_finish_reason="stop")


def tool_reply(calls: Sequence[ToolCall]) -> ChatReply:
    """Return a reply that only calls tools."""
    return ChatReply(text="", finish_reason="tool_calls", native_finish_reason="tool_calls", tool_calls=tuple(calls))


def usage_of(call: Chat, text: str) -> Usage:
    """Return the tokens of a request and its reply, which depend on their content only."""
    words = sum(count_tokens(message.text) + 4 for message in call.messages)
    images = sum(len(message.images) for message in call.messages)
    return Usage(input_tokens=words + images * IMAGE_TOKENS, output_tokens=count_tokens(text))
