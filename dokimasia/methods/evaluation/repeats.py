"""How a model's score moves from one repeat to the next: the mean of each repeat on its own."""

from collections.abc import Iterable
from typing import Any

from dokimasia.methods.evaluation.scores import Row

DIGITS = 6


def means_by_repeat(rows: Iterable[Row]) -> dict[str, list[dict[str, Any]]]:
    """Return, by model, each repeat with n, n_scored and the mean over its scored answers (1 to 5; None without any)."""
    found: dict[str, dict[int, list[float | None]]] = {}
    for row in rows:
        found.setdefault(row.model, {}).setdefault(row.repeat, []).append(row.score)
    return {
        model: [_one(repeat, scores) for repeat, scores in sorted(repeats.items())] for model, repeats in found.items()
    }


def _one(repeat: int, scores: list[float | None]) -> dict[str, Any]:
    known = [score for score in scores if score is not None]
    mean = round(sum(known) / len(known), DIGITS) if known else None
    return {"repeat": repeat, "n": len(scores), "n_scored": len(known), "mean": mean}
