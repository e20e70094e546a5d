"""In which direction two sides differ: two models of a run first minus second, as on its page; two runs second minus first."""

from collections.abc import Mapping
from typing import Any


def within_a_run(comparison: Mapping[str, Any]) -> bool:
    """Whether two models of one run are compared, and not two runs."""
    return comparison["first"]["run"] == comparison["second"]["run"]


def turned(pair: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was found of a pair, or of a part of it, as first minus second.

    Examples:
        >>> turned({"difference": {"mean": 0.5, "low": 0.2, "high": 0.8}, "changed": {"higher": 3, "equal": 1, "lower": 0}})
        {'difference': {'mean': -0.5, 'low': -0.8, 'high': -0.2}, 'changed': {'higher': 0, 'equal': 1, 'lower': 3}}
    """
    turned_pair = dict(pair)
    for name in ("difference", "bounds"):
        if isinstance(span := pair.get(name), Mapping):
            ends = {end: span.get(other) for end, other in (("mean", "mean"), ("low", "high"), ("high", "low"))}
            turned_pair[name] = {**span, **{end: _less(value) for end, value in ends.items() if end in span}}
    if changed := pair.get("changed"):
        turned_pair["changed"] = {"higher": changed["lower"], "equal": changed["equal"], "lower": changed["higher"]}
    for name in ("strict_accuracy", "stated", "both_stated"):
        if pair.get(name) is not None:
            turned_pair[name] = turned(pair[name])
    if pair.get("most_changed"):
        turned_pair["most_changed"] = [
            {**sample, "difference": _less(sample["difference"])} for sample in pair["most_changed"]
        ]
    return turned_pair


def _less(value: float | None) -> float | None:
    return None if value is None else 0.0 - value
