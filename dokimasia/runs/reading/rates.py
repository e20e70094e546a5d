"""Shares as figures for JSON: a count, a share, its interval, and the bounds that what failed leaves open."""

from collections.abc import Hashable, Sequence
from typing import Any

from dokimasia.algorithms.statistics.shares import rate_interval

DIGITS = 6


def share(hits: Sequence[bool], clusters: Sequence[Hashable] | None = None, *, unknown: int = 0) -> dict[str, Any]:
    """Return how many of some trials hit, ready for JSON.

    Args:
        hits: one a trial.
        clusters: the cluster of each trial.
        unknown: trials beside these whose outcome is not known.

    Returns:
        `k`, `n`, `share` (0..1) with its 95 % interval `low` and `high` (None without a trial), and `bounds` {low, high}
        of the share over all trials, if none or all of the unknown ones had hit (None without any).
    """
    k, n = sum(hits), len(hits)
    known: dict[str, Any] = {"share": None, "low": None, "high": None}
    if n:
        interval = rate_interval(hits, clusters=clusters)
        known = {
            "share": round(k / n, DIGITS),
            "low": round(interval.low, DIGITS),
            "high": round(interval.high, DIGITS),
        }
    total = n + unknown
    bounds = {"low": round(k / total, DIGITS), "high": round((k + unknown) / total, DIGITS)} if total else None
    return {"k": k, "n": n, **known, "bounds": bounds}
