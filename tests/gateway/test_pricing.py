"""Prices, costs and forecasts."""

from typing import Any

import pytest

from dokimasia.domain.call import ImageEdit, ImageEditReply, Usage
from dokimasia.gateway.litellm.prices import list_price
from dokimasia.gateway.pricing import (
    DEFAULT_OUTPUT_TOKENS,
    Price,
    cost_of,
    cost_of_reply,
    estimate_usage,
    forecast_cost,
    known_price,
)


def test_configured_price_wins_and_is_per_million(acts: Any) -> None:
    """A model's configured prices are used as they stand: dollars per million tokens."""
    price = known_price(acts.spec(model="openai/gpt-4o", transport="auto", input_price=2.0, output_price=8.0))
    assert cost_of(Usage(input_tokens=1_000_000, output_tokens=500_000), price) == pytest.approx(6.0)


def test_bundled_list_knows_a_provider_model_without_loading_litellm(acts: Any) -> None:
    """A provider's model at its own address has its list price, with or without the provider's prefix in the list."""
    for model in ("openai/gpt-4o", "anthropic/claude-sonnet-4-5", "gemini/gemini-2.5-flash"):
        price = known_price(acts.spec(model=model, transport="auto"))
        assert price.input is not None
        assert price.output is not None
        assert 0 < price.input < price.output


@pytest.mark.parametrize(
    "fields", [{"api_base": "http://127.0.0.1:1/v1"}, {"transport": "sim"}, {"model": "openai/nix"}]
)
def test_price_of_elsewhere_is_unknown(acts: Any, fields: dict[str, Any]) -> None:
    """A server of one's own, another transport or an unlisted name has no known price, even under a famous name."""
    assert not known_price(acts.spec(**({"model": "openai/gpt-4o", "transport": "auto"} | fields))).known


def test_list_does_not_lend_a_price_across_providers() -> None:
    """A bare entry of one provider is not the price of the same name at another."""
    assert list_price("anthropic/gpt-4o") is None


@pytest.mark.parametrize(
    ("usage", "price"),
    [
        (Usage(), Price(input=1, output=1)),
        (Usage(input_tokens=5), Price(input=1, output=1)),
        (Usage(input_tokens=5, output_tokens=5), Price()),
        (Usage(input_tokens=5, output_tokens=5), Price(input=1)),
        (Usage(input_tokens=300_000, output_tokens=5), Price(input=1, output=1, up_to=200_000)),
    ],
)
def test_unknown_stays_unknown(usage: Usage, price: Price) -> None:
    """Missing usage, a missing price, or a length beyond the known price make the cost None and never 0."""
    assert cost_of(usage, price) is None


def test_price_of_zero_is_a_price() -> None:
    """A model that is configured as free costs 0, which is known."""
    assert cost_of(Usage(input_tokens=5, output_tokens=5), Price(input=0, output=0)) == 0.0


def test_forecast_counts_text_images_schema_and_output(acts: Any, blobs: Any) -> None:
    """A call's forecast grows with its text, its images and its schema; output is `max_tokens` or a default."""
    plain = estimate_usage(acts.call("x" * 400))
    assert plain == Usage(input_tokens=105, output_tokens=DEFAULT_OUTPUT_TOKENS)
    seen = estimate_usage(acts.call("x" * 400, images=(blobs.add(b"png"),), sampling={"max_tokens": 7}))
    assert seen == Usage(input_tokens=190, output_tokens=7)
    schema = {"type": "object", "properties": {}}
    assert estimate_usage(acts.call("x" * 400, output_schema=schema)).input_tokens == 113


@pytest.mark.parametrize("model", ["openai/gpt-image-1.5", "openai/gpt-image-1", "gemini/gemini-2.5-flash-image"])
def test_the_list_has_no_price_of_an_image_model(acts: Any, model: str) -> None:
    """What the list says of an image model's text tokens is no price of an image: unless it is configured it is unknown."""
    price = known_price(acts.spec(model=model, transport="auto"))
    assert not price.known
    reply = ImageEditReply(refusal="no", usage=Usage(input_tokens=300, output_tokens=4000))
    assert cost_of_reply(reply, price) is None


def test_an_edited_image_has_a_price_of_its_own(acts: Any, blobs: Any) -> None:
    """A configured price an image is the cost of an edit, whatever it reports; of a refused one the cost is unknown."""
    spec = acts.spec(image_price=0.04, input_price=5.0)
    price, image = known_price(spec), blobs.add(b"x")
    assert price.known
    assert spec.edits_images
    call = ImageEdit(model=spec.ref, image=image, instruction="redder")
    assert forecast_cost(call, estimate_usage(call), price) == 0.04
    assert cost_of_reply(ImageEditReply(image=image), price) == 0.04
    assert cost_of_reply(ImageEditReply(refusal="no"), price) is None


def test_an_edit_that_is_paid_by_the_token_goes_by_what_is_reported(acts: Any, blobs: Any) -> None:
    """With prices of tokens configured an edit costs what its usage comes to, and an unknown usage an unknown sum."""
    price = known_price(acts.spec(input_price=10.0, output_price=40.0))
    image = blobs.add(b"x")
    used = Usage(input_tokens=1000, output_tokens=4000)
    assert cost_of_reply(ImageEditReply(image=image, usage=used), price) == pytest.approx(0.17)
    assert cost_of_reply(ImageEditReply(image=image), price) is None
