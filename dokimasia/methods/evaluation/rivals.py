"""Every two models of a run compared with each other, with p-values adjusted for looking at all of them."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

from dokimasia.algorithms.statistics import false_discovery_rate
from dokimasia.runs.reading.differences import Side, compare

DIGITS = 6


def rival_differences(sides: Mapping[str, Side], order: Sequence[str], *, seed: int) -> list[dict[str, Any]]:
    """Return the paired differences of every two models, the first in the order minus the second, ready for JSON.

    Args:
        sides: each model's answers, by its shown name.
        order: the models to compare, best first, so that differences of means lean to the positive.
        seed: of the bootstrap and of the permutations.

    Returns:
        One mapping a pair, in the order of the models: `better` and `worse` (the names), what
        `dokimasia.runs.reading.differences.compare` returns with `first` and `second` as mean scores of `worse` and
        `better`, and `adjusted`, the p-value after Benjamini and Hochberg over all pairs that have one (None without).
    """
    pairs = [
        {"better": better, "worse": worse, **compare(sides[worse], sides[better], seed=seed, top=0)}
        for better, worse in combinations([name for name in order if name in sides], 2)
    ]
    tested = [pair for pair in pairs if pair["p_value"] is not None]
    adjusted = false_discovery_rate([pair["p_value"] for pair in tested])
    by_pair = {
        (pair["better"], pair["worse"]): round(value, DIGITS) for pair, value in zip(tested, adjusted, strict=True)
    }
    return [{**pair, "adjusted": by_pair.get((pair["better"], pair["worse"]))} for pair in pairs]
