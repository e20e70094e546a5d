"""The cost of calls in US dollars and their length in tokens: exact where known, None where unknown, never 0."""

import orjson
from pydantic import Field

from dokimasia.domain.call import Embedding, ImageEdit, ImageEditReply, ModelCall, ModelReply, ModelSpec, Usage
from dokimasia.domain.identity import Value
from dokimasia.domain.sample import ImageRef
from dokimasia.gateway.litellm.prices import Tier, list_price

PER_MILLION = 1_000_000
NEW_IMAGE_TOKENS = 1_600
"""The assumed tokens of a new image, whose size is unknown beforehand."""
DEFAULT_OUTPUT_TOKENS = 512
"""The assumed tokens of a reply if the call sets no `max_tokens`."""


class Price(Value):
    """US dollars per million tokens; None is unknown. `tiers` are the rates of longer calls, by rising length.

    `cached` and `cache_write` are for input that the provider read from its cache of prompts, or wrote into it; None
    where that costs what other input does. `image` is US dollars per edited or new image, whatever its tokens; None
    where an image is paid for by its tokens.
    """

    input: float | None = Field(default=None, ge=0)
    output: float | None = Field(default=None, ge=0)
    cached: float | None = Field(default=None, ge=0)
    cache_write: float | None = Field(default=None, ge=0)
    tiers: tuple[Tier, ...] = ()
    image: float | None = Field(default=None, ge=0)

    @property
    def known(self) -> bool:
        """Whether both sides, or the price of an image, are known."""
        return self.image is not None or (self.input is not None and self.output is not None)

    def at(self, input_tokens: int) -> "Price | Tier":
        """Return the rates of a call with this many input tokens: those of its tier apply to the whole call."""
        reached = [tier for tier in self.tiers if input_tokens > tier.above]
        return reached[-1] if reached else self


def known_price(spec: ModelSpec) -> Price:
    """Return the price of a model: its configuration's, else LiteLLM's bundled list, else unknown.

    The list is used only for a model at its provider's own address: the price of a name there does not apply to a
    self-hosted server (`api_base`) with a model of the same name.
    """
    if spec.input_price is not None or spec.output_price is not None or spec.image_price is not None:
        return Price(
            input=spec.input_price,
            output=spec.output_price,
            cached=spec.cached_input_price,
            cache_write=spec.cache_write_price,
            image=spec.image_price,
        )
    if spec.api_base is not None or spec.transport not in ("auto", "litellm"):
        return Price()
    list_entry = list_price(spec.ref.model)
    if list_entry is None:
        return Price()
    return Price(**list_entry._asdict())


def cost_of(usage: Usage, price: Price) -> float | None:
    """Return the cost of one call in US dollars, or None if usage or price leave it unknown.

    Input from the provider's cache has its own rate if known, and otherwise the rate of other input. Tiers depend on
    the length of a call, so the sum of several calls' tokens has no cost here.
    """
    if usage.input_tokens is None or usage.output_tokens is None:
        return None
    total = 0.0
    rates, read, written = price.at(usage.input_tokens), usage.cached_tokens or 0, usage.cache_write_tokens or 0
    for tokens, rate in (
        (usage.input_tokens - read - written, rates.input),
        (read, rates.input if rates.cached is None else rates.cached),
        (written, rates.input if rates.cache_write is None else rates.cache_write),
        (usage.output_tokens, rates.output),
    ):
        if tokens <= 0:
            continue
        if rate is None:
            return None
        total += tokens * rate / PER_MILLION
    return total


def cost_of_reply(reply: ModelReply, price: Price) -> float | None:
    """Return the cost of a reply in US dollars, of an edited image by its own price if there is one; None: unknown.

    The charge for a refused edit is unknown.
    """
    if not isinstance(reply, ImageEditReply) or price.image is None:
        return cost_of(reply.usage, price)
    if reply.image is None:
        return None
    return price.image


def forecast_cost(call: ModelCall, usage: Usage, price: Price) -> float | None:
    """Return the likely cost of a call in US dollars, from a forecast of its tokens; None: unknown."""
    if call.kind == "image_edit" and price.image is not None:
        return price.image
    return cost_of(usage, price)


def estimate_usage(call: ModelCall) -> Usage:
    """Return a rough forecast of a call's tokens: a quarter of the text's bytes, and images by their pixels.

    Output is `max_tokens` if the call sets it, else `DEFAULT_OUTPUT_TOKENS`.
    """
    if isinstance(call, Embedding):
        return Usage(input_tokens=sum(text_tokens(text) for text in call.texts), output_tokens=0)
    if isinstance(call, ImageEdit):
        shown = 0 if call.image is None else _image_tokens(call.image)
        return Usage(input_tokens=text_tokens(call.instruction) + shown, output_tokens=shown or NEW_IMAGE_TOKENS)
    tokens = sum(4 + text_tokens(message.text) for message in call.messages)
    tokens += sum(_image_tokens(image) for message in call.messages for image in message.images)
    if call.output_schema is not None:
        tokens += len(orjson.dumps(call.output_schema)) // 4
    tokens += sum(len(orjson.dumps(tool.model_dump(mode="json"))) // 4 for tool in call.tools)
    return Usage(input_tokens=tokens, output_tokens=call.sampling.max_tokens or DEFAULT_OUTPUT_TOKENS)


def text_tokens(text: str) -> int:
    """Return a rough forecast of the tokens of a text: a quarter of its bytes."""
    return len(text.encode("utf-8", "surrogatepass")) // 4 + 1


def _image_tokens(image: ImageRef) -> int:
    return min(max(image.width * image.height // 750, 85), 1600)
