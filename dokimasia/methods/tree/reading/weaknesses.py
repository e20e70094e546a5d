# pyright: standard
# networkx ships no types; what is read from a tree here is given its type at once.
"""Where a model is weak and strong on a capability tree: nodes that differ from the rest, or EvalTree's descent."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dokimasia.algorithms.statistics import clopper_pearson
from dokimasia.algorithms.trees.places import members_below, place_of
from dokimasia.algorithms.trees.weakness import NodeFinding, evident_nodes, node_findings, roll_up
from dokimasia.domain.capability import ROOT
from dokimasia.methods.tree.reading.view import BEST, LEVEL, WORST, MeasuredRun, rounded, tally
from dokimasia.runs.reading.rates import limits

if TYPE_CHECKING:
    from dokimasia.algorithms.taxonomy import Tree

LIMIT = 0.05
"""The expected share of false findings among all that is called weak or strong."""

MIN_SUPPORT = 5
SOLVED = 75.0
"""A criterion counts as solved from this score on: 4 of 5."""

EXAMPLES = 3


def model_findings(
    tree: "Tree",
    measured: MeasuredRun,
    model: str,
    *,
    seed: int,
    min_support: int = MIN_SUPPORT,
    limit: float = LIMIT,
    examples: int = EXAMPLES,
) -> dict[str, Any]:
    """Return at which nodes a model is weaker or stronger than elsewhere, ready for JSON.

    Args:
        tree: a capability tree whose criteria are mapped.
        measured: the scores.
        model: whose, as it is shown.
        seed: of permutations and intervals.
        min_support: nodes with fewer scored criteria are not looked at.
        limit: the share of false findings (Benjamini and Hochberg over all nodes looked at).
        examples: how many criteria of each weak node with the lowest scores (of each strong one with the highest).

    Returns:
        method "fdr", limit, level, min_support, overall {n, held, samples, mean, bounds, failures}, looked_at, reason
        (why no node has a p-value; else empty), and weak, strong, unclear and untested: lists of {node, name, layer, n,
        held, samples, mean, low, high, bounds {low, high}, difference (mean here minus mean elsewhere, in points),
        p_value, q_value, failures {kind: n}, examples [{criterion, sample, score}]}, the lowest mean first (of strong
        nodes the highest).
    """
    scores = measured.scores.get(model, {})
    below = members_below(tree)
    found = node_findings(
        tree, scores, measured.cluster_of, seed=seed, min_support=min_support, limit=limit, bounds=(WORST, BEST)
    )
    rows = {
        verdict: [_finding(one, measured, model, below[one.node], examples) for one in found if one.verdict == verdict]
        for verdict in ("weak", "strong", "unclear", "untested")
    }
    return {
        "method": "fdr",
        "limit": limit,
        "level": LEVEL,
        "min_support": min_support,
        "overall": tally(measured, model, below[ROOT]),
        "looked_at": len(found),
        "reason": next((one.reason for one in found if one.reason), ""),
        **rows,
        "strong": rows["strong"][::-1],
    }


def evident_findings(
    tree: "Tree",
    measured: MeasuredRun,
    model: str,
    *,
    threshold: float | None = None,
    examples: int = EXAMPLES,
) -> dict[str, Any]:
    """Return EvalTree's weak and strong nodes: the most specific whose share of solved criteria is significantly off a threshold.

    As published, trials count as independent and nodes are not corrected for being many.

    Args:
        tree: a capability tree whose criteria are mapped.
        measured: the scores; a criterion counts as solved from 75 of 100 (4 of 5) on.
        model: whose, as it is shown.
        threshold: a share, 0 to 1; by default the model's own share of solved criteria.
        examples: as `model_findings`.

    Returns:
        method "evaltree", threshold, level, solved_from, overall {n, held, samples, mean, bounds, failures, solved}, looked_at,
        and weak and strong: lists of {node, name, layer, n, held, samples, mean, bounds, failures, solved, share, low, high (of
        the share), examples}.
    """
    below = members_below(tree)
    hits = {one: score >= SOLVED for one, score in measured.scores.get(model, {}).items()}
    totals = roll_up(tree, {one: float(hit) for one, hit in hits.items()})
    whole = totals[ROOT]
    chosen = threshold if threshold is not None else (whole.mean or 0.0)

    def row(node: str, *, highest: bool) -> dict[str, Any]:
        n, total = totals[node]
        interval = clopper_pearson(round(total), n, LEVEL)
        return {
            **_name(node),
            **tally(measured, model, below[node]),
            "solved": round(total),
            "share": rounded(total / n),
            **limits(interval),
            "examples": _examples(measured, model, below[node], examples, highest=highest),
        }

    weak = evident_nodes(tree, hits, chosen, side="below", level=LEVEL)
    strong = evident_nodes(tree, hits, chosen, side="above", level=LEVEL)
    return {
        "method": "evaltree",
        "threshold": rounded(chosen),
        "threshold_given": threshold is not None,
        "level": LEVEL,
        "solved_from": SOLVED,
        "overall": {**tally(measured, model, below[ROOT]), "solved": round(whole.total)},
        "looked_at": sum(1 for one in totals.values() if one.n),
        "weak": sorted((row(node, highest=False) for node in weak), key=lambda one: (one["share"], one["node"])),
        "strong": sorted((row(node, highest=True) for node in strong), key=lambda one: (-one["share"], one["node"])),
    }


def _finding(
    one: NodeFinding, measured: MeasuredRun, model: str, criteria: Sequence[str], examples: int
) -> dict[str, Any]:
    return {
        **_name(one.node),
        **tally(measured, model, criteria),
        **limits(one.interval),
        "difference": rounded(one.difference),
        "p_value": None if one.p_value is None else rounded(one.p_value),
        "q_value": None if one.q_value is None else rounded(one.q_value),
        "examples": _examples(measured, model, criteria, examples, highest=one.verdict == "strong"),
    }


def _name(node: str) -> dict[str, Any]:
    place = place_of(node)
    return {"node": node, "name": place.name, "layer": place.layer}


def _examples(
    measured: MeasuredRun, model: str, criteria: Sequence[str], most: int, *, highest: bool
) -> list[Mapping[str, Any]]:
    """Return the criteria with the lowest scores, or the highest, not two of one sample while others are left."""
    scores = measured.scores.get(model, {})
    ranked = sorted(
        (one for one in criteria if one in scores), key=lambda one: (-scores[one] if highest else scores[one], one)
    )
    first: dict[str, str] = {}
    for one in ranked:
        first.setdefault(measured.sample_of.get(one, one), one)
    return [
        {"criterion": one, "sample": sample, "score": rounded(scores[one])}
        for sample, one in list(first.items())[:most]
    ]
