"""Input that a provider read from its cache of prompts: as reported, counted, priced, stored and shown."""

from typing import Any

import pytest

from dokimasia.domain.call import ModelRef, ModelSpec, Usage
from dokimasia.gateway.litellm.prices import list_price
from dokimasia.gateway.openai_format import usage_of
from dokimasia.gateway.pricing import cost_of, known_price

SPEC = ModelSpec(ref=ModelRef(name="m", model="m"), input_price=10.0, output_price=20.0)


@pytest.mark.parametrize(
    ("reported", "read", "written"),
    [
        ({}, None, None),
        ({"prompt_tokens_details": {"cached_tokens": 600}}, 600, None),
        ({"prompt_tokens_details": {"cached_tokens": 0}}, 0, None),
        ({"prompt_tokens_details": None}, None, None),
        ({"cache_read_input_tokens": 500, "cache_creation_input_tokens": 300}, 500, 300),
        ({"cached_content_token_count": 400}, 400, None),
        ({"prompt_cache_hit_tokens": 64, "prompt_cache_miss_tokens": 936}, 64, None),
        ({"prompt_tokens_details": {"cached_tokens": 7}, "cache_read_input_tokens": 0}, 7, None),
        ({"prompt_tokens_details": {"cached_tokens": "many"}}, None, None),
        ({"prompt_tokens_details": {"cached_tokens": -1}}, None, None),
        ({"prompt_tokens_details": {"cached_tokens": True}}, None, None),
    ],
)
def test_what_providers_report(reported: dict[str, Any], read: int | None, written: int | None) -> None:
    """Every provider's names are read; what is no count is unknown."""
    assert usage_of(1000, 10, reported) == Usage(
        input_tokens=1000, output_tokens=10, cached_tokens=read, cache_write_tokens=written
    )


def test_a_cache_that_is_counted_apart_is_part_of_the_input() -> None:
    """More cached tokens than tokens in are counted beside them."""
    used = usage_of(20, 5, {"cache_read_input_tokens": 900, "cache_creation_input_tokens": 100})
    assert (used.input_tokens, used.cached_tokens, used.cache_write_tokens) == (1020, 900, 100)


def test_cached_input_costs_its_own_rate_and_without_one_the_whole() -> None:
    """A rate for cached input lowers the cost, one for writing raises it; an unknown one is that of other input."""
    used = Usage(input_tokens=1000, output_tokens=100, cached_tokens=600, cache_write_tokens=200)
    plain = cost_of(Usage(input_tokens=1000, output_tokens=100), known_price(SPEC))
    assert cost_of(used, known_price(SPEC)) == pytest.approx(plain)
    priced = SPEC.model_copy(update={"cached_input_price": 1.0, "cache_write_price": 12.5})
    by_hand = (200 * 10 + 600 * 1 + 200 * 12.5 + 100 * 20) / 1e6
    assert cost_of(used, known_price(priced)) == pytest.approx(by_hand)
    all_cached = Usage(input_tokens=1000, output_tokens=0, cached_tokens=1000)
    free = SPEC.model_copy(update={"cached_input_price": 0.0})
    assert cost_of(all_cached, known_price(free)) == 0.0


@pytest.mark.parametrize("model", ["openai/gpt-5", "anthropic/claude-sonnet-4-5", "gemini/gemini-2.5-pro"])
def test_the_list_has_the_rates_of_cached_input(model: str) -> None:
    """LiteLLM's list gives a lower rate for input of the cache, in every tier of a call's length."""
    price = list_price(model)
    assert price is not None
    assert price.cached is not None
    assert price.cached < price.input
    for tier in price.tiers:
        assert tier.cached is not None
        assert tier.cached < tier.input
    used = Usage(input_tokens=1000, output_tokens=0, cached_tokens=1000)
    spec = ModelSpec(ref=ModelRef(name="m", model=model))
    assert cost_of(used, known_price(spec)) == pytest.approx(1000 * price.cached / 1e6)


def test_usage_without_a_cache_is_stored_as_before() -> None:
    """A reply whose provider says nothing of a cache has the same JSON, and so the same digest, as in older homes."""
    assert Usage(input_tokens=1, output_tokens=2).model_dump(mode="json") == {"input_tokens": 1, "output_tokens": 2}
