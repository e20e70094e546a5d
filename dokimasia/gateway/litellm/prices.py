"""LiteLLM's bundled price list, read as a data file, without importing the library."""

import importlib.util
import math
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

import orjson

from dokimasia.domain.identity import JsonObject

PRICE_FILE = "model_prices_and_context_window_backup.json"
_TIER = re.compile(r"input_cost_per_token_above_(\d+)k_tokens")

_OF_IMAGES = ("image_generation", "image_edit")


class Rates(NamedTuple):
    """US dollars per million tokens: of input, of output, of input read from the provider's cache and of input written
    to it; None for one of the latter two if it costs the same as other input.
    """

    input: float
    output: float
    cached: float | None = None
    cache_write: float | None = None


class Tier(NamedTuple):
    """Rates in US dollars per million tokens for a call with more than `above` input tokens."""

    above: int
    input: float
    output: float
    cached: float | None = None
    cache_write: float | None = None


class ListPrice(NamedTuple):
    """List price in US dollars per million tokens; `tiers` are the rates of longer calls, by rising length."""

    input: float
    output: float
    tiers: tuple[Tier, ...] = ()
    cached: float | None = None
    cache_write: float | None = None


def list_price(model: str) -> ListPrice | None:
    """Return the listed price of a LiteLLM model name such as `openai/gpt-5`, or None if it is not listed.

    Discounts (batches, off-peak hours) and surcharges (audio, search) are not included. If reasoning tokens have their
    own rate, the output rate is the higher of the two. Image models have no price here: the list's text token rates are
    not the cost of an image.
    """
    entry = _entry(model)
    if entry is None or entry.get("mode") in _OF_IMAGES:
        return None
    tiers = _tiers(entry)
    base = _rates(entry)
    if base is None:
        if not tiers or tiers[0].above:
            return None
        base, tiers = Rates(*tiers[0][1:]), tiers[1:]
    return ListPrice(base.input, base.output, tuple(tiers), base.cached, base.cache_write)


def _tiers(entry: JsonObject) -> list[Tier]:
    """Return the rates of longer calls, from separate fields (`..._above_200k_tokens`) or a table of ranges."""
    tiers: list[tuple[int, Rates | None]] = []
    for field in entry:
        if match := _TIER.fullmatch(field):
            tiers.append((int(match[1]) * 1000, _rates(entry, f"_above_{match[1]}k_tokens")))
    for tier in entry.get("tiered_pricing") or ():
        if token_range := tier.get("range"):
            tiers.append((int(token_range[0]), _rates(tier)))
    return sorted(Tier(above, *rates) for above, rates in tiers if rates is not None)


def _rates(entry: JsonObject, suffix: str = "") -> Rates | None:
    """Return dollars per million tokens."""
    into = _number(entry.get(f"input_cost_per_token{suffix}"))
    out = _number(entry.get(f"output_cost_per_token{suffix}"))
    if into is None or out is None:
        return None
    thought = _number(entry.get(f"output_cost_per_reasoning_token{suffix}")) or 0.0
    read = _number(entry.get(f"cache_read_input_token_cost{suffix}"))
    written = _number(entry.get(f"cache_creation_input_token_cost{suffix}"))
    return Rates(
        into * 1e6,
        max(out, thought) * 1e6,
        None if read is None else read * 1e6,
        None if written is None else written * 1e6,
    )


def _entry(model: str) -> JsonObject | None:
    table = _table()
    entry = table.get(model)
    if entry is None and "/" in model:
        provider, bare = model.split("/", 1)
        entry = table.get(bare)
        if isinstance(entry, dict) and entry.get("litellm_provider") != provider:
            return None
    if isinstance(entry, dict):
        return entry
    return None


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if math.isfinite(value) and value >= 0:
        return float(value)
    return None


@cache
def _table() -> JsonObject:
    spec = importlib.util.find_spec("litellm")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(folder) / PRICE_FILE
        if path.is_file():
            table = orjson.loads(path.read_bytes())
            if isinstance(table, dict):
                return table
            return {}
    return {}
