# pyright: standard
# networkx ships no types; what is read from a tree here is given its type at once.
"""A capability tree as figures: what a run measured, and at each node what it holds and each model's mean score."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dokimasia.algorithms.scoring import normalise
from dokimasia.algorithms.statistics import bootstrap_interval
from dokimasia.algorithms.trees.places import in_order, members_below, place_of
from dokimasia.domain.capability import ROOT
from dokimasia.runs.figures import shown_name
from dokimasia.runs.reading.rates import limits
from dokimasia.storage.home import Home
from dokimasia.storage.results import results
from dokimasia.storage.runs import Run, judgement_scores, run_samples
from dokimasia.storage.trees.lookup import criteria_counts, criterion_key

if TYPE_CHECKING:
    from dokimasia.algorithms.taxonomy import Tree

DIGITS = 6
LEVEL = 0.95
WORST, BEST = 0.0, 100.0
"""Ends of the scale that criteria are scored on here: (s - 1) / 4 x 100."""


@dataclass(frozen=True, slots=True)
class MeasuredRun:
    """What a run measured, criterion by criterion.

    Attributes:
        scores: model (as it is shown) to criterion to score, 0 to 100, the mean over the scored repeats.
        failures: model to criterion to the kind of failure, for those that have no score at all.
        sample_of: criterion to sample.
        cluster_of: criterion to the cluster of its sample; the scores of all that is asked about one image belong
            together. By default each sample is a cluster of its own.
    """

    scores: Mapping[str, Mapping[str, float]] = field(default_factory=dict[str, Mapping[str, float]])
    failures: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])
    sample_of: Mapping[str, str] = field(default_factory=dict[str, str])
    cluster_of: Mapping[str, str] = field(default_factory=dict[str, str])

    def __post_init__(self) -> None:
        object.__setattr__(self, "cluster_of", self.cluster_of or self.sample_of)


def measured_of(home: Home, run: Run, *, as_judged: bool = False) -> MeasuredRun:
    """Return what a run measured of each model on each criterion, 0 to 100, the mean over scored repeats.

    A criterion without a score in any repeat is kept with the kind of its first failure; where a sample has no criteria
    at all, nothing can be said of them. A set that several samples have counts for the first by name. What people corrected
    counts as they did, but with `as_judged`.
    """
    judged = judgement_scores(home, run.id)
    values: dict[str, dict[str, list[float]]] = {}
    failed: dict[str, dict[str, str]] = {}
    sample_of: dict[str, str] = {}
    made = criteria_counts(home, run.id)
    for row in results(home, run.id, as_judged=as_judged):
        if row.kind != "score" or not row.criteria_id:
            continue
        name = shown_name(row.model, row.arm)
        scores = judged.get(row.judgement_id or "", ())
        for number in range(1, made.get(row.criteria_id, 0) + 1):
            key = criterion_key(row.criteria_id, number)
            sample_of[key] = min(sample_of.get(key, row.sample_id), row.sample_id)
            if row.failure is not None or len(scores) < number:
                failed.setdefault(name, {}).setdefault(key, row.failure or "unparsable")
            else:
                values.setdefault(name, {}).setdefault(key, []).append(normalise(scores[number - 1]))
    means = {name: {key: sum(each) / len(each) for key, each in keys.items()} for name, keys in values.items()}
    failures = {
        name: {key: kind for key, kind in kinds.items() if key not in means.get(name, {})}
        for name, kinds in failed.items()
    }
    clusters = {place.sample_id: place.cluster for place in run_samples(home, run.id)}
    cluster_of = {key: clusters.get(sample) or sample for key, sample in sample_of.items()}
    return MeasuredRun(scores=means, failures=failures, sample_of=sample_of, cluster_of=cluster_of)


def tree_view(
    tree: "Tree", measured: MeasuredRun | None = None, *, models: Sequence[str] = (), seed: int = 0
) -> dict[str, Any]:
    """Return a tree as plain figures, ready for JSON; equal trees and scores give equal figures.

    Args:
        tree: a capability tree.
        measured: the scores, where any are asked for.
        models: whose scores; a model without any result has None at every node.
        seed: of the intervals.

    Returns:
        categories, counts {categories, parents, capabilities, criteria}, models, and nodes, from the root down, each
        {id, name, layer, parent, support (criteria that it holds itself), below (criteria at and below), absorbed (how
        many nodes were merged or folded into it), scores {model: {n, held, samples, mean, low, high, bounds {low, high},
        failures {kind: n}} or None}}. Scores are 0 to 100, higher is better; `held` are the criteria below that the
        run asked about, `n` those with a score, `bounds` what the mean would be if those without had 0 and 100; the
        interval is a 95 % bootstrap clustered by images.
    """
    below = members_below(tree)
    nodes = [
        {
            "id": node,
            **place_of(node)._asdict(),
            "support": int(tree.nodes[node].get("support", 0)),
            "below": len(below[node]),
            "absorbed": len(tree.nodes[node].get("absorbed", ())),
            "scores": {} if measured is None else {name: _score(measured, name, below[node], seed) for name in models},
        }
        for node in in_order(tree)
    ]
    layers = [node["layer"] for node in nodes]
    return {
        "categories": list(tree.graph.get("categories", ())),
        "counts": {
            "categories": layers.count(1),
            "parents": layers.count(2),
            "capabilities": layers.count(3),
            "criteria": len(below[ROOT]),
        },
        "models": list(models),
        "nodes": nodes,
    }


def tally(measured: MeasuredRun, model: str, criteria: Sequence[str]) -> dict[str, Any]:
    """Return what a model has of some criteria, ready for JSON.

    Returns:
        n (criteria with a score), held (those that it was asked about), samples, mean (0 to 100; None without a score),
        bounds {low, high} (of the mean, if those without a score had 0, and 100; None where nothing was asked), and
        failures {kind: n}.
    """
    scores, failures = measured.scores.get(model, {}), measured.failures.get(model, {})
    scored = [one for one in criteria if one in scores]
    kinds = sorted(failures[one] for one in criteria if one in failures and one not in scores)
    held, total = len(scored) + len(kinds), sum(scores[one] for one in scored)
    return {
        "n": len(scored),
        "held": held,
        "samples": len({measured.sample_of.get(one, one) for one in scored}),
        "mean": rounded(total / len(scored)) if scored else None,
        "bounds": {
            "low": rounded((total + WORST * len(kinds)) / held),
            "high": rounded((total + BEST * len(kinds)) / held),
        }
        if held
        else None,
        "failures": dict(Counter(kinds)),
    }


def _score(measured: MeasuredRun, model: str, criteria: Sequence[str], seed: int) -> dict[str, Any] | None:
    found = tally(measured, model, criteria)
    if not found["held"]:
        return None
    if not found["n"]:
        return {**found, "low": None, "high": None}
    scores = {one: score for one in criteria if (score := measured.scores[model].get(one)) is not None}
    clusters = [measured.cluster_of.get(one, one) for one in scores]
    interval = bootstrap_interval(
        list(scores.values()), clusters=clusters, level=LEVEL, seed=seed, bounds=(WORST, BEST)
    )
    return {**found, **limits(interval)}


def rounded(value: float) -> float:
    """Return a figure as it is reported."""
    return round(value, DIGITS) + 0.0
