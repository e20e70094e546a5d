"""What got better or worse between two runs, leaf by leaf, on the samples that both have, corrected for many leaves."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from dokimasia.algorithms.statistics import false_discovery_rate
from dokimasia.algorithms.statistics.paired import sign_flip_test
from dokimasia.domain.diagnosis import Asset, AssetColumn, AssetRow, Figure
from dokimasia.methods.diagnosis.cells import ADJUSTED, NOTHING, POINTS, VERDICT, mark_of, mean_of, number, text
from dokimasia.methods.diagnosis.leaves import leaves_in_order, name_of
from dokimasia.methods.diagnosis.measured import LIMIT, Material, slugs_of
from dokimasia.methods.tree import BEST, WORST, mapping_of
from dokimasia.runs.reading.differences import Place

FEWEST = 5
"""A leaf with fewer samples in both runs is shown, and not tested."""

Scores = Mapping[str, Mapping[str, float]]
"""Sample to leaf to the mean score of its criteria there."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A leaf of a model before its p-value is adjusted."""

    row: AssetRow
    p_value: float | None


def change_tables(
    first: Material, second: Material, shared: Sequence[tuple[Place, Place]], *, names: tuple[str, str]
) -> list[Asset]:
    """Return a table for each model that both runs have: every leaf before and after, and whether the change is sure.

    A sample counts at a leaf with the mean over its criteria there, in each run by that run's criteria; p-values are of
    sign flips of clusters of samples, adjusted over all leaves of all models.

    Args:
        first: one run; its tree says which leaves there are.
        second: the other, under the same tree.
        shared: the samples that both have.
        names: how the runs are called.
    """
    models = [model for model in first.models if model in second.models]
    drafts = {model: _drafts(first, second, shared, model) for model in models}
    tested = [one.p_value for each in drafts.values() for one in each if one.p_value is not None]
    adjusted = iter(false_discovery_rate(tested))
    slugs = slugs_of(models)
    return [
        _table(first, model, slugs[model], [_judged(one, adjusted) for one in each], names, len(shared))
        for model, each in drafts.items()
    ]


def _drafts(first: Material, second: Material, shared: Sequence[tuple[Place, Place]], model: str) -> list[Draft]:
    ours, theirs = _by_sample(first, model), _by_sample(second, model)
    drafts: list[Draft] = []
    for leaf in (
        *leaves_in_order(first),
        *[one for one in leaves_in_order(second) if one not in leaves_in_order(first)],
    ):
        held = [(one, other) for one, other in shared if leaf in ours[1].get(one.sample_id, ())]
        both = [
            (one.cluster, ours[0][one.sample_id][leaf], theirs[0][other.sample_id][leaf])
            for one, other in held
            if leaf in ours[0].get(one.sample_id, {}) and leaf in theirs[0].get(other.sample_id, {})
        ]
        clusters = [cluster for cluster, _, _ in both]
        before, after = [value for _, value, _ in both], [value for _, _, value in both]
        gaps = [late - early for _, early, late in both]
        drafts.append(
            Draft(
                AssetRow(
                    key=leaf,
                    cells=(
                        text(name_of(leaf)),
                        mean_of(before, clusters, bounds=(WORST, BEST), seed=first.seed),
                        mean_of(after, clusters, bounds=(WORST, BEST), seed=first.seed),
                        mean_of(gaps, clusters, bounds=(WORST - BEST, BEST - WORST), seed=first.seed),
                        NOTHING,
                        text(""),
                    ),
                    n=len(both),
                    held=len(held),
                    model=model,
                    node=leaf,
                ),
                sign_flip_test(gaps, clusters=clusters, seed=first.seed).p_value if len(both) >= FEWEST else None,
            )
        )
    return drafts


def _by_sample(material: Material, model: str) -> tuple[Scores, Mapping[str, set[str]]]:
    """Return a model's mean score by sample and leaf, and the leaves that each sample was asked about."""
    leaf_of = mapping_of(material.tree)
    scores, failed = material.measured.scores.get(model, {}), material.measured.failures.get(model, {})
    values: dict[str, dict[str, list[float]]] = {}
    asked: dict[str, set[str]] = {}
    for criterion, leaf in leaf_of.items():
        sample = material.measured.sample_of.get(criterion)
        if sample is None or (criterion not in scores and criterion not in failed):
            continue
        asked.setdefault(sample, set()).add(leaf)
        if criterion in scores:
            values.setdefault(sample, {}).setdefault(leaf, []).append(scores[criterion])
    means = {
        sample: {leaf: sum(each) / len(each) for leaf, each in leaves.items()} for sample, leaves in values.items()
    }
    return means, asked


def _judged(draft: Draft, adjusted: Iterator[float]) -> AssetRow:
    if draft.p_value is None:
        return draft.row
    q_value = next(adjusted)
    mark = mark_of(draft.row.cells[3], q_value, limit=LIMIT, down="worse", up="better")
    cells: tuple[Figure, ...] = (*draft.row.cells[:4], number(q_value), text(mark))
    return draft.row.model_copy(update={"cells": cells, "mark": mark})


def _table(
    first: Material, model: str, slug: str, rows: Sequence[AssetRow], names: tuple[str, str], shared: int
) -> Asset:
    better, worse = (sum(row.mark == kind for row in rows) for kind in ("better", "worse"))
    return Asset(
        id=f"changes/{slug}",
        title=f"{model}: {names[1]} against {names[0]}",
        sentence=(
            f"{model} is better at {better} and worse at {worse} of {first.counted(len(rows))} than in run {names[0]}, on "
            f"{shared} shared samples; sign flips of whole samples, at most {LIMIT:.0%} of the marks expected to be false."
        ),
        columns=(
            AssetColumn(name=first.leaf, kind="name"),
            AssetColumn(name="before", unit=POINTS, kind="score", better="higher"),
            AssetColumn(name="after", unit=POINTS, kind="score", better="higher"),
            AssetColumn(name="change", unit=POINTS, kind="difference", better="higher"),
            ADJUSTED,
            VERDICT,
        ),
        rows=tuple(rows),
        model=model,
        counts="samples",
    )
