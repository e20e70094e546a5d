"""From coded atoms to figures: how often each mode is seen, by model and by leaf, in atoms that were met, and beside others."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from dokimasia.algorithms.modes import Kappa, kappa_of
from dokimasia.algorithms.statistics import adjusted, bootstrap_interval
from dokimasia.algorithms.statistics.within_clusters import draws_for, exchange_p_values, gaps_to_others
from dokimasia.methods.modes.coded import CodedAtom
from dokimasia.runs.reading.rates import limits, rounded, share

NO_MODE = "none of these"
"""What stands in the place of a mode's name for atoms in which none was seen."""

LIMIT = 0.05
"""The expected share of false marks among all marks of an analysis."""

FEWEST = 5
"""Samples that a comparison of a model with others rests on, at least."""


class Contrast(NamedTuple):
    """How much more often (above 0) a mode is seen in a model's failed atoms than in others' on the same samples.

    `n` counts the samples on which both failed; where these are fewer than five nothing is tested, and `verdict` is empty.
    """

    model: str
    mode: str
    n: int
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    no_interval: str | None = None
    p_value: float | None = None
    adjusted: float | None = None
    verdict: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the fields; the reason only where there is no interval."""
        return {name: value for name, value in self._asdict().items() if name != "no_interval" or value}


def of_atoms(atoms: Iterable[CodedAtom], mode: str | None) -> dict[str, Any]:
    """Return in how many of some atoms a mode is seen (None: none of them), with interval and what failures leave open."""
    listed = list(atoms)
    known = [one for one in listed if one.coding is not None]
    hits, clusters = [one.mode == mode for one in known], [one.cluster for one in known]
    return share(hits, clusters, unknown=len(listed) - len(known))


def of_answers(atoms: Iterable[CodedAtom], mode: str | None) -> dict[str, Any]:
    """Return in how many answers a mode is seen at least once; an answer of which an atom could not be coded is unknown."""
    by_answer: dict[str, list[CodedAtom]] = {}
    for one in atoms:
        by_answer.setdefault(one.answer.key, []).append(one)
    found: list[tuple[bool, str]] = []
    unknown = 0
    for each in by_answer.values():
        seen = any(one.coding is not None and one.mode == mode for one in each)
        if seen or all(one.coding is not None for one in each):
            found.append((seen, each[0].cluster))
        else:
            unknown += 1
    return share([seen for seen, _ in found], [cluster for _, cluster in found], unknown=unknown)


def of_mode(atoms: Sequence[CodedAtom], mode: str | None, models: Sequence[str]) -> dict[str, Any]:
    """Return what is counted of a mode (None: of having none), ready for JSON.

    Returns:
        failed, met (shares of the failed atoms, and of those that were met), right, wrong (shares of answers whose final
        answer is so, in which it is seen at least once), models {model: share of its failed atoms}, leaves {leaf: share of
        its failed atoms; only leaves at which it is seen}.
    """
    failed = [one for one in atoms if one.failed]
    leaves = sorted({one.leaf for one in failed if one.leaf and one.coding is not None and one.mode == mode})
    return {
        "failed": of_atoms(failed, mode),
        "met": of_atoms((one for one in atoms if not one.failed), mode),
        "right": of_answers((one for one in atoms if one.verdict == "right"), mode),
        "wrong": of_answers((one for one in atoms if one.verdict == "wrong"), mode),
        "models": {model: of_atoms((one for one in failed if one.answer.model == model), mode) for model in models},
        "leaves": {leaf: of_atoms((one for one in failed if one.leaf == leaf), mode) for leaf in leaves},
    }


def contrasts(atoms: Iterable[CodedAtom], modes: Sequence[str], models: Sequence[str], *, seed: int) -> list[Contrast]:
    """Return how each model's failures differ from the others' on the samples that both failed on.

    On each sample the share of the model's failed atoms under the mode is held against the mean share of the other models.
    Models change places within images (`exchange_p_values`), and all p-values are adjusted together (Benjamini and
    Hochberg). A mark takes both: the adjusted p-value, and the difference's own interval on one side of 0.
    """
    if len(models) < 2:
        return []
    known = [one for one in atoms if one.failed and one.coding is not None]
    draws = draws_for(len(models) * len(modes))
    by_mode = [_of_one_mode(known, mode, models, seed=seed, draws=draws) for mode in modes]
    drafts = [each[at] for at in range(len(models)) for each in by_mode]
    q_values = adjusted([one.p_value for one in drafts])
    return [
        one if q_value is None else _marked(one._replace(adjusted=rounded(q_value)))
        for one, q_value in zip(drafts, q_values, strict=True)
    ]


def _of_one_mode(
    known: Sequence[CodedAtom], mode: str, models: Sequence[str], *, seed: int, draws: int
) -> list[Contrast]:
    """Return each model's difference and its p-value, not adjusted yet."""
    by_sample: dict[str, dict[str, list[bool]]] = {}
    cluster_of: dict[str, str] = {}
    for one in known:
        hits = by_sample.setdefault(one.answer.sample_id, {})
        hits.setdefault(one.answer.model, []).append(one.mode == mode)
        cluster_of[one.answer.sample_id] = one.cluster
    shares = np.full((len(by_sample), len(models)), np.nan)
    for row, hits in enumerate(by_sample.values()):
        for at, model in enumerate(models):
            if model in hits:
                shares[row, at] = sum(hits[model]) / len(hits[model])
    clusters = list(cluster_of.values())
    gaps = gaps_to_others(shares)
    compared = np.isfinite(gaps)
    p_values = exchange_p_values(gaps, clusters, seed=seed, draws=draws)
    found: list[Contrast] = []
    for at, model in enumerate(models):
        own: list[float] = gaps[compared[:, at], at].tolist()
        if len(own) < FEWEST:
            found.append(Contrast(model, mode, len(own)))
            continue
        places = [cluster for cluster, is_in in zip(clusters, compared[:, at], strict=True) if is_in]
        ends = limits(bootstrap_interval(own, clusters=places, seed=seed, bounds=(-1.0, 1.0)))
        difference = rounded(sum(own) / len(own))
        found.append(Contrast(model, mode, len(own), difference, **ends, p_value=rounded(p_values[at])))
    return found


def _marked(one: Contrast) -> Contrast:
    sure = one.adjusted is not None and one.adjusted <= LIMIT and one.low is not None and one.high is not None
    if sure and (one.low or 0) > 0:
        return one._replace(verdict="more often")
    return one._replace(verdict="less often" if sure and (one.high or 0) < 0 else "unclear")


def agreement(atoms: Iterable[CodedAtom]) -> dict[str, Any]:
    """Return how far two coders agree on the atoms that both were given, ready for JSON.

    Returns:
        n (atoms that both coded), held (atoms that both were given), agreed, kappa with its interval low and high, None
        where it has no value.
    """
    asked = [one for one in atoms if one.asked_twice]
    both = [(one.coding.mode, one.second.mode, one.cluster) for one in asked if one.coding and one.second]
    found: Kappa = kappa_of(
        [one or "" for one, _, _ in both], [one or "" for _, one, _ in both], [one for *_, one in both]
    )
    ends = found.interval
    return {
        "n": found.n,
        "held": len(asked),
        "agreed": found.agreed,
        "kappa": None if found.value is None else rounded(found.value),
        **({"low": None, "high": None} if ends is None else limits(ends)),
    }
