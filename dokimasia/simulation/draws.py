"""The identity of a request as simulated models see it, and the reproducible draws that hang on it."""

from collections.abc import Sequence
from typing import Any, TypeVar

from dokimasia.domain.call import Chat, Embedding, ImageEdit, Message, Usage
from dokimasia.domain.identity import digest, unit_interval
from dokimasia.prompts import without_form

Choice = TypeVar("Choice")

CHARACTERS_PER_TOKEN = 4
IMAGE_TOKENS = 258


def bare_name(model: str) -> str:
    """Return the simulated model's own name: `openai/sim/strong` is `sim/strong`; other names stay as they are."""
    if model.startswith("sim/"):
        return model
    _, separator, rest = model.partition("/sim/")
    return f"sim/{rest}" if separator else model


def canonical_messages(messages: Sequence[Message]) -> list[Any]:
    """Return roles, texts and image hashes in order; neighbouring texts are one, since transports split them.

    The sentence that asks for an object stays out, as the output schema does that it goes with.
    """
    canonical: list[Any] = []
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
    """Return the hash of what is asked: bare model, messages, sampling, seed; the same on every transport and restart.

    Endpoint, alias and output schema stay out: the wire may name them differently without asking anything else.
    """
    if call.kind == "embedding":
        return digest("sim-embedding/1", [bare_name(call.model.model), list(call.texts), call.repeat])
    if call.kind == "image_edit":
        identity = [bare_name(call.model.model), call.image.sha256, call.instruction, call.extra, call.repeat]
        return digest("sim-image-edit/1", identity)
    identity = {
        "model": bare_name(call.model.model),
        "messages": canonical_messages(call.messages),
        "sampling": call.sampling.model_dump(mode="json", exclude_none=True),
        "seed": call.repeat,
    }
    if call.tools:
        identity["tools"] = [tool.name for tool in call.tools]
    return digest("sim-request/1", identity)


class Draws:
    """Independent draws from one key: the same name gives the same draw, another name an independent one."""

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
    """Return a plausible number of tokens: one for every four characters begun."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)


def usage_of(call: Chat, text: str) -> Usage:
    """Return the tokens of a request and its reply: a function of their content only."""
    words = sum(count_tokens(message.text) + 4 for message in call.messages)
    images = sum(len(message.images) for message in call.messages)
    return Usage(input_tokens=words + images * IMAGE_TOKENS, output_tokens=count_tokens(text))
