"""Table 3 of ATOM: how well each way of grouping criteria predicts scores, beside chance and beside other groupings."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dokimasia.algorithms.taxonomy import permutation_null, validity
from dokimasia.domain.identity import unit_interval
from dokimasia.methods.tree.reading.view import MeasuredRun, rounded

PERMUTATIONS = 200
RESAMPLES = 100
PERCENTILE = 99.0


@dataclass(frozen=True, slots=True)
class CriteriaGrouping:
    """A way of grouping criteria: its name, what it is in words, and criterion to group."""

    name: str
    about: str
    group_of: Mapping[str, Hashable]


def validity_table(
    groupings: Sequence[CriteriaGrouping],
    measured: MeasuredRun,
    *,
    models: Sequence[str],
    seed: int,
    permutations: int = PERMUTATIONS,
    resamples: int = RESAMPLES,
) -> dict[str, Any]:
    """Return the validity of several groupings of the same criteria, ready for JSON.

    Args:
        groupings: the tree to be judged first; the others are its baselines.
        measured: the scores.
        models: whose scores are pooled.
        seed: of permutations and resamples.
        permutations: of the null, at least 1.
        resamples: how many halves of the images are drawn for the stability; 0 for none.

    Returns:
        models, criteria (those that have a score of any model), permutations, resamples, and taxonomies: one mapping a
        grouping {name, about, leaves, grouped (scored criteria that it holds), published, leave_image_out}. The last
        two are {mae_global, mae_intra, delta, n, null {mean, p99, p_value, reason, exchanged}, stability {mean, low,
        high, positive, above_first}}: errors in points of 0 to 100, lower is better; delta = mae_global - mae_intra,
        higher is better; `leave_image_out` leaves all criteria of its image out of both predictions, `published` the
        criterion alone. `null` is of `permutations` exchanges of whole images' leaves (p_value None, and why in
        `reason`, where fewer than 200 differ). `stability` is the delta in random halves of the images: its mean, its
        5th and 95th percentile, the share of halves with delta above 0, and the share in which it lies above the first
        grouping's (None for the first). What has nothing to be computed from is None.
    """
    scores = {name: measured.scores[name] for name in models if measured.scores.get(name)}
    scored = {one for each in scores.values() for one in each}
    halves = [_half(sorted(set(measured.cluster_of.values())), seed, at) for at in range(resamples)]
    inside = [{one for one in scored if measured.cluster_of.get(one) in half} for half in halves]
    first: dict[str, list[float | None]] = {}
    rows: list[dict[str, Any]] = []
    for at, grouping in enumerate(groupings):
        group_of = {one: group for one, group in grouping.group_of.items() if one in scored}
        row: dict[str, Any] = {
            "name": grouping.name,
            "about": grouping.about,
            "leaves": len(set(group_of.values())),
            "grouped": len(group_of),
        }
        for kind, own in (("published", False), ("leave_image_out", True)):
            cluster_of = measured.cluster_of if own else None
            parts = [{one: group for one, group in group_of.items() if one in part} for part in inside]
            deltas = [validity(scores, part, cluster_of).delta for part in parts]
            if at == 0:
                first[kind] = deltas
            row[kind] = {
                **_measured(scores, group_of, measured.cluster_of, own=own, permutations=permutations, seed=seed),
                "stability": _stability(deltas, None if at == 0 else first[kind]),
            }
        rows.append(row)
    return {
        "models": sorted(scores),
        "criteria": len(scored),
        "permutations": permutations,
        "resamples": resamples,
        "taxonomies": rows,
    }


def _half(clusters: Sequence[str], seed: int, at: int) -> set[str]:
    """Return a random half of the clusters; a cluster's draw does not depend on the others."""
    ranked = sorted(clusters, key=lambda one: (unit_interval("validity", seed, at, one), one))
    return set(ranked[: (len(ranked) + 1) // 2])


def _measured(
    scores: Mapping[str, Mapping[str, float]],
    group_of: Mapping[str, Hashable],
    cluster_of: Mapping[str, str],
    *,
    own: bool,
    permutations: int,
    seed: int,
) -> dict[str, Any]:
    found = validity(scores, group_of, cluster_of if own else None)
    figures: dict[str, Any] = {
        name: None if value is None else rounded(value) for name, value in found._asdict().items()
    }
    figures |= {"n": found.n, "null": None}
    if found.delta is None:
        return figures
    null = permutation_null(scores, group_of, cluster_of, leave_cluster_out=own, permutations=permutations, seed=seed)
    finite = [one for one in null.deltas if one > float("-inf")]
    figures["null"] = {
        "mean": rounded(sum(finite) / len(finite)) if finite else None,
        "p99": rounded(null.percentile(PERCENTILE)) if finite else None,
        "p_value": None if null.p_value is None else rounded(null.p_value),
        "reason": null.reason,
        "exchanged": rounded(null.exchanged),
    }
    return figures


def _stability(deltas: Sequence[float | None], first: Sequence[float | None] | None) -> dict[str, Any] | None:
    known = sorted(one for one in deltas if one is not None)
    if not known:
        return None
    pairs = [
        (one, other) for one, other in zip(deltas, first or (), strict=False) if one is not None and other is not None
    ]
    last = len(known) - 1
    return {
        "halves": len(known),
        "mean": rounded(sum(known) / len(known)),
        "low": rounded(known[round(0.05 * last)]),
        "high": rounded(known[round(0.95 * last)]),
        "positive": rounded(sum(one > 0 for one in known) / len(known)),
        "above_first": rounded(sum(one > other for one, other in pairs) / len(pairs)) if pairs else None,
    }
