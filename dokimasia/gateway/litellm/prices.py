"""LiteLLM's bundled price list, read as the data file that it is, without loading the library."""

import importlib.util
import math
import re
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import orjson

PRICE_FILE = "model_prices_and_context_window_backup.json"
_TIER = re.compile(r"(?:input|output)_cost_per_token_above_(\d+)k_tokens")

_OF_IMAGES = ("image_generation", "image_edit")


class ListPrice(NamedTuple):
    """List price in US dollars per million tokens; above `up_to` input tokens another one holds."""

    input: float
    output: float
    up_to: int | None


def list_price(model: str) -> ListPrice | None:
    """Return the listed price of a LiteLLM model name such as `openai/gpt-5`, or None if the list does not have it.

    Discounts (cached input, batches) and surcharges (audio, search) are not in it. Of an image model it has none: what the
    list says of the tokens of texts is not what an image costs.
    """
    entry = _entry(model)
    if entry is None or entry.get("mode") in _OF_IMAGES:
        return None
    into, out = _number(entry.get("input_cost_per_token")), _number(entry.get("output_cost_per_token"))
    if into is None or out is None:
        return None
    tiers = [int(match[1]) * 1000 for field in entry if (match := _TIER.fullmatch(field))]
    return ListPrice(into * 1e6, out * 1e6, min(tiers, default=None))


def _entry(model: str) -> dict[str, Any] | None:
    table = _table()
    entry = table.get(model)
    if entry is None and "/" in model:
        provider, bare = model.split("/", 1)
        entry = table.get(bare)
        if isinstance(entry, dict) and entry.get("litellm_provider") != provider:
            return None
    return entry if isinstance(entry, dict) else None


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) and value >= 0 else None


@cache
def _table() -> dict[str, Any]:
    spec = importlib.util.find_spec("litellm")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(folder) / PRICE_FILE
        if path.is_file():
            table = orjson.loads(path.read_bytes())
            return table if isinstance(table, dict) else {}
    return {}
