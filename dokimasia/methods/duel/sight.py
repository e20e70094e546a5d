"""What the images are worth to a model: its answers without them, or by a description of them, beside those by them."""

from collections.abc import Mapping, Sequence
from typing import Any

from dokimasia.agents.candidate import BLIND
from dokimasia.algorithms.statistics import adjusted
from dokimasia.domain.duel import HIGHEST, REWARD, TEXT
from dokimasia.methods.duel.figures import DuelRow, complete
from dokimasia.runs.reading.rates import paired, rounded

WIDEST = {"reward": 4 * REWARD, "factuality": HIGHEST}
"""The largest difference that can occur."""

Judged = Mapping[tuple[str, int], DuelRow]
"""Rows of one arm by sample and repeat."""


def without_images(rows: Sequence[DuelRow], *, seed: int) -> dict[str, Any]:
    """Return how far the arms without images are from the same models' answers by them, as `shape.WithoutImages` describes.

    Cases and repeats that are judged in both are compared, clustered by cases that share an image; p-values are adjusted
    over all arms and both measures (Creation-MMBench, tables 3 and 6, figure 4).
    """
    by_model: dict[str, dict[tuple[str, int], DuelRow]] = {}
    for row in rows:
        by_model.setdefault(row.model, {})[row.sample_id, row.repeat] = row
    seeing = {name: name.removesuffix(f"#{BLIND}").removesuffix(f"#{TEXT}") for name in by_model}
    found = {
        name: {measure: _gap(by_model[name], by_model[full], measure, seed=seed) for measure in WIDEST}
        for name, full in seeing.items()
        if full != name and full in by_model
    }
    gaps = [gap for one in found.values() for gap in one.values()]
    for gap, p_value in zip(gaps, adjusted([one["p"] for one in gaps]), strict=True):
        gap["adjusted"] = None if p_value is None else rounded(p_value)
    return found


def _gap(arm: Judged, seeing: Judged, measure: str, *, seed: int) -> dict[str, Any]:
    pairs = [
        (after - before, row.cluster)
        for place, row in arm.items()
        if place in seeing
        and (before := _measured(seeing[place], measure)) is not None
        and (after := _measured(row, measure)) is not None
    ]
    clusters = [cluster for _, cluster in pairs]
    found = paired([gap for gap, _ in pairs], clusters, widest=WIDEST[measure], seed=seed)
    return {"n": len(pairs), "difference": found["difference"], "p": found["p_value"], "adjusted": None}


def _measured(row: DuelRow, measure: str) -> float | None:
    if measure == "reward":
        return row.reward
    scores = [score for score, _ in complete(row.factuality.values())]
    return sum(scores) / len(scores) if scores else None
