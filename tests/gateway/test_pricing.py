"""Prices, costs and forecasts."""

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from dokimasia.domain.call import ImageEdit, ImageEditReply, Usage
from dokimasia.gateway.litellm.prices import PRICE_FILE, Tier, list_price
from dokimasia.gateway.pricing import (
    DEFAULT_OUTPUT_TOKENS,
    Price,
    cost_of,
    cost_of_reply,
    estimate_usage,
    forecast_cost,
    known_price,
)

pytestmark = pytest.mark.quick


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
    ],
)
def test_unknown_stays_unknown(usage: Usage, price: Price) -> None:
    """Missing usage or a missing price make the cost None and never 0."""
    assert cost_of(usage, price) is None


@pytest.mark.parametrize(("tokens", "cost"), [(100, 210.0), (101, 343.0), (200, 640.0), (201, 1256.0)])
def test_a_call_is_paid_at_the_rates_of_its_own_tier(tokens: int, cost: float) -> None:
    """The whole of a call, output too, costs what its tier says, which begins above so many input tokens."""
    price = Price(input=2, output=1, tiers=(Tier(100, 3, 4), Tier(200, 6, 5)))
    usage = Usage(input_tokens=tokens, output_tokens=10)
    assert cost_of(usage, price) == pytest.approx(cost / 1_000_000)


def _price_list() -> dict[str, Any]:
    spec = importlib.util.find_spec("litellm")
    assert spec is not None
    folder = Path(next(iter(spec.submodule_search_locations or ())))
    return json.loads((folder / PRICE_FILE).read_bytes())


@pytest.mark.parametrize(
    ("model", "limit", "suffix"),
    [
        ("gemini/gemini-2.5-pro", 200_000, "_above_200k_tokens"),
        ("openai/gpt-5.4", 272_000, "_above_272k_tokens"),
        ("openai/gpt-5-mini", 10**9, ""),
        ("anthropic/claude-opus-4-5", 10**9, ""),
    ],
)
def test_listed_tiers_are_those_of_the_price_list(acts: Any, model: str, limit: int, suffix: str) -> None:
    """Short and long calls cost what the list says of their length, and models without tiers one rate at any length."""
    listed = _price_list()[model if model.startswith("gemini/") else model.split("/")[1]]
    price = known_price(acts.spec(model=model, transport="auto"))
    for tokens in (limit, limit + 1):
        tier = suffix if tokens > limit else ""
        by_hand = tokens * listed[f"input_cost_per_token{tier}"] + 1000 * listed[f"output_cost_per_token{tier}"]
        assert cost_of(Usage(input_tokens=tokens, output_tokens=1000), price) == pytest.approx(by_hand)


def test_tiers_of_a_table_of_ranges_and_reasoning_at_its_higher_rate() -> None:
    """A model listed by ranges of length has a price, and output counts at the rate of reasoning where that is higher."""
    first, second = _price_list()["dashscope/qwen-plus-latest"]["tiered_pricing"]
    listed = list_price("dashscope/qwen-plus-latest")
    assert listed is not None
    assert listed.output == pytest.approx(first["output_cost_per_reasoning_token"] * 1e6)
    assert listed.tiers == (
        Tier(
            int(second["range"][0]),
            second["input_cost_per_token"] * 1e6,
            second["output_cost_per_reasoning_token"] * 1e6,
        ),
    )


def test_every_entry_of_the_list_can_be_read() -> None:
    """Entries of every form, of search tools too, have a price or none, and none is an error."""
    for name in _price_list():
        listed = list_price(name)
        assert listed is None or list(listed.tiers) == sorted(listed.tiers)


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
