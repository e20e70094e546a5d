"""What endpoints report beside a reply's text, read the same way for every transport: its end, its tokens, its vectors."""

import math
from collections.abc import Iterable
from typing import Any

from dokimasia.domain.call import MOST_TOKENS, EmbeddingReply, FinishReason, Usage
from dokimasia.errors import TransportError

_OWN_WORDS: dict[str, FinishReason] = {
    "stop": "stop",
    "length": "length",
    "content_filter": "content_filter",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
}
"""The format's own words for how a reply ended."""

_OTHER_WORDS: dict[str, FinishReason] = {
    **dict.fromkeys(("STOP", "stop_sequence", "end_turn", "eos", "eos_token", "COMPLETE"), "stop"),
    **dict.fromkeys(("max_tokens", "MAX_TOKENS"), "length"),
    **dict.fromkeys(("content_filtered", "SAFETY"), "content_filter"),
    "tool_use": "tool_calls",
}
"""Words of other formats that some endpoints pass on."""

LONGEST_WORD = 100
"""Characters of an endpoint's own word for how a reply ended."""

LONGEST_NAME = 200
"""Characters of what an endpoint calls a model."""

NATIVE_STOPS = frozenset(word for word, reason in (_OWN_WORDS | _OTHER_WORDS).items() if reason == "stop")


def finish_of(word: object) -> tuple[FinishReason, str | None]:
    """Return how a reply ended, and the endpoint's own word where it is none of the format's.

    A word that nobody knows, and a missing one, is `unknown`.
    """
    if word is None:
        return "unknown", None
    text = storable(word)[:LONGEST_WORD]
    if text in _OWN_WORDS:
        return _OWN_WORDS[text], None
    return _OTHER_WORDS.get(text, "unknown"), text


def version_of(name: object, asked: str) -> str | None:
    """Return what an endpoint calls the model that replied; None where it does not say, or repeats the name asked for.

    LiteLLM repeats it where an endpoint does not say.
    """
    text = storable(name)[:LONGEST_NAME] if isinstance(name, str) else ""
    return text if text and not f"/{asked}".endswith(f"/{text}") else None


def usage_of(prompt_tokens: object, completion_tokens: object) -> Usage:
    """Return the tokens that the endpoint reported, up to `MOST_TOKENS`. No prompt has 0 tokens: a 0 there means *not
    reported*."""
    into, out = _count(prompt_tokens), _count(completion_tokens)
    if not into:
        return Usage(output_tokens=out or None)
    return Usage(input_tokens=into, output_tokens=out)


def embedding_of(items: Iterable[tuple[Any, Any]], usage: Usage) -> EmbeddingReply:
    """Return vectors as a reply in the order of the texts.

    Args:
        items: index (None: its position) and numbers of each vector.
        usage: what was reported; an embedding has no output tokens, so the input alone makes its usage known.

    Raises:
        TransportError: `broken_envelope`: no vectors, or one that is missing, doubled or not of numbers.
    """
    vectors: dict[int, tuple[float, ...]] = {}
    try:
        for position, (index, numbers) in enumerate(items):
            vectors[position if index is None else int(index)] = tuple(float(number) for number in numbers)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        vectors.clear()
    if not all(math.isfinite(number) for vector in vectors.values() for number in vector):
        vectors.clear()
    if not vectors or sorted(vectors) != list(range(len(vectors))):
        message = "the endpoint returned no readable vectors"
        raise TransportError("broken_envelope", message, retryable=True, status=200)
    return EmbeddingReply(
        vectors=tuple(vectors[index] for index in sorted(vectors)),
        usage=usage.model_copy(update={"output_tokens": 0}) if usage.input_tokens is not None else Usage(),
    )


def storable(value: object) -> str:
    """Return text that can be stored: half a surrogate pair, which no UTF-8 can hold, becomes a replacement mark."""
    try:
        text = str(value or "")
    except (ValueError, RecursionError):  # a number of thousands of digits, lists within lists
        return "\ufffd"
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _count(value: object) -> int | None:
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value <= MOST_TOKENS else None
