"""The tables of ties: how often each of two models scores higher, and which models share the highest score of a sample."""

from collections import Counter

from dokimasia.domain.diagnosis.tables import Asset, AssetColumn, AssetRow
from dokimasia.methods.diagnosis.cells import PAIR, number, share_of, text
from dokimasia.methods.diagnosis.measured import DiagnosisMaterial
from dokimasia.methods.diagnosis.samples import TIE, compared_pairs

MOST_PATTERNS = 20
"""Groups of models that share the highest score, at most, the most frequent first."""

NAMED = 6
"""Models of a group that are named; of more the rest is counted."""


def ties(material: DiagnosisMaterial) -> Asset:
    """Return how often each of two models has the higher score, and how often they tie."""
    rows: list[AssetRow] = []
    for row, gaps, clusters in compared_pairs(material):
        hits = ([gap > TIE for gap in gaps], [abs(gap) <= TIE for gap in gaps], [gap < -TIE for gap in gaps])
        shares = (share_of(each, clusters) for each in hits)
        rows.append(row.model_copy(update={"cells": (*row.cells, *shares)}))
    return Asset(
        id="ties",
        title="Wins and ties",
        sentence="On how many of the shared samples each of two models scores higher, and on how many they tie.",
        columns=(
            *PAIR,
            *(AssetColumn(name=name, kind="share") for name in ("first higher", "tied", "second higher")),
        ),
        rows=tuple(rows),
        counts="samples",
    )


def top_ties(material: DiagnosisMaterial) -> Asset:
    """Return which models, alone or together, have the highest score of a sample, and how often."""
    models, own = material.models, material.seen
    asked = dict.fromkeys(id for each in own.values() for id in each.clusters)
    shared = [id for id in asked if all(id in own[model].scores for model in models)]
    clusters = [own[models[0]].clusters[id] for id in shared]
    at_top: list[tuple[str, ...]] = []
    for id in shared:
        highest = max(own[model].scores[id] for model in models)
        at_top.append(tuple(model for model in models if own[model].scores[id] >= highest - TIE))
    counted = Counter(at_top)
    order = sorted(counted, key=lambda group: (-counted[group], [models.index(one) for one in group]))
    rows = [
        AssetRow(
            key=" + ".join(group),
            cells=(
                text(_named(group)),
                number(len(group)),
                number(counted[group]),
                share_of([one == group for one in at_top], clusters),
            ),
            n=len(shared),
            held=len(asked),
            model=group[0] if len(group) == 1 else "",
            samples=tuple(id for id, one in zip(shared, at_top, strict=True) if one == group),
        )
        for group in order[:MOST_PATTERNS]
    ]
    several = sum(len(group) > 1 for group in at_top)
    return Asset(
        id="top-ties",
        title="At the top",
        sentence=(
            f"Which models share the highest score of a sample: on {several} of the {len(shared)} samples that all have a "
            f"score for it is more than one. {len(order)} different groups"
            + (f", of which the {MOST_PATTERNS} most frequent are shown." if len(order) > MOST_PATTERNS else ".")
        ),
        columns=(
            AssetColumn(name="models at the top", kind="name"),
            AssetColumn(name="models", kind="count"),
            AssetColumn(name="times", kind="count"),
            AssetColumn(name="share of samples", kind="share"),
        ),
        rows=tuple(rows),
        counts="samples",
    )


def _named(group: tuple[str, ...]) -> str:
    more = len(group) - NAMED
    return ", ".join(group[:NAMED]) + (f" and {more} more" if more > 0 else "")
