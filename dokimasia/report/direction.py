"""In which direction two sides differ: two models of a run first minus second, as on its page; two runs second minus first."""

from collections.abc import Mapping
from typing import Any


def within_a_run(found: Mapping[str, Any]) -> bool:
    """Whether two models of one run are compared, and not two runs."""
    return found["first"]["run"] == found["second"]["run"]


def turned(one: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was found of a pair, or of a part of it, as first minus second.

    Examples:
        >>> turned({"difference": {"mean": 0.5, "low": 0.2, "high": 0.8}, "changed": {"higher": 3, "equal": 1, "lower": 0}})
        {'difference': {'mean': -0.5, 'low': -0.8, 'high': -0.2}, 'changed': {'higher': 0, 'equal': 1, 'lower': 3}}
    """
    made = dict(one)
    for name in ("difference", "bounds"):
        if isinstance(span := one.get(name), Mapping):
            ends = {end: span.get(other) for end, other in (("mean", "mean"), ("low", "high"), ("high", "low"))}
            made[name] = {**span, **{end: _less(value) for end, value in ends.items() if end in span}}
    if changed := one.get("changed"):
        made["changed"] = {"higher": changed["lower"], "equal": changed["equal"], "lower": changed["higher"]}
    for name in ("strict_accuracy", "stated", "both_stated"):
        if one.get(name) is not None:
            made[name] = turned(one[name])
    if one.get("most_changed"):
        made["most_changed"] = [{**each, "difference": _less(each["difference"])} for each in one["most_changed"]]
    return made


def _less(value: float | None) -> float | None:
    return None if value is None else 0.0 - value
