"""Kinds of error: a judge's sensitivity to the mix of kinds in the answers, and the effect of another mix."""

from collections import Counter
from collections.abc import Mapping, Sequence
from math import hypot, sqrt
from typing import NamedTuple

import numpy as np

from dokimasia.algorithms.correction.judged import LEAST_APART
from dokimasia.algorithms.correction.values import ShareEstimate
from dokimasia.algorithms.statistics.clusters import ClusterNames
from dokimasia.algorithms.statistics.contrasts import contrast_interval
from dokimasia.algorithms.statistics.distributions import normal_quantile
from dokimasia.algorithms.statistics.shares import ConfidenceInterval

DRAWS = 20_000
_DRAWS_AT_ONCE = 2_000
_ROUNDING = 1e-9


class Mixes(NamedTuple):
    """The lowest and highest value of a corrected rate over all mixes of kinds, and the kinds at these extremes."""

    low: float
    high: float
    lowest: str
    highest: str


def mixed_sensitivity(
    by_kind: Mapping[str, ShareEstimate],
    mix: Mapping[str, float],
    *,
    n_errors: int | None = None,
    pooled: tuple[Mapping[str, float], ShareEstimate] | None = None,
) -> ShareEstimate:
    """Return the sensitivity to a mix of kinds of error.

    Parameters
    ----------
    by_kind : mapping of str to ShareEstimate
        The sensitivity to each kind.
    mix : mapping of str to float
        The share of each kind among the errors, or numbers proportional to the shares; each kind is in `by_kind`.
    n_errors : int, optional
        The number of errors that the mix was counted from. Without it, the mix is assumed to be known.
    pooled : tuple of (mapping, ShareEstimate), optional
        The mix in which all kinds were measured, and the sensitivity to it. If errors of several kinds share images, its
        interval is wider than that of kinds measured separately, and the result is widened by as much.

    Returns
    -------
    ShareEstimate
        The interval combines the interval of each kind with the uncertainty of a mix counted from few errors.

    Raises
    ------
    ValueError
        If a kind is not known, or the numbers are negative or all 0.

    Examples
    --------
    >>> by_kind = {"numbers": ShareEstimate.of(45, 50), "tone": ShareEstimate.of(10, 50)}
    >>> round(mixed_sensitivity(by_kind, {"numbers": 3, "tone": 1}).share, 6)
    0.725
    """
    shares = as_shares(mix)
    if unknown := sorted(set(shares) - set(by_kind)):
        raise ValueError(f"no sensitivity is known to errors of the kind {', '.join(unknown)}")
    if reason := next(
        (f"{name}: {by_kind[name].interval.reason}" for name in shares if by_kind[name].interval.reason), ""
    ):
        return ShareEstimate(0.0, ConfidenceInterval(0.0, 1.0, reason))
    share, below, above = _mix_with_widths(by_kind, shares)
    sampling = 0.0
    if n_errors:
        spread = sum(part * (by_kind[name].share - share) ** 2 for name, part in shares.items())
        sampling = normal_quantile(0.975) * sqrt(spread / n_errors)
    if pooled is not None and not pooled[1].interval.reason:
        joint = pooled[1]
        _, separate_below, separate_above = _mix_with_widths(by_kind, as_shares(pooled[0]))
        below *= _widening(joint.share - joint.interval.low, separate_below)
        above *= _widening(joint.interval.high - joint.share, separate_above)
    low, high = share - hypot(sampling, below), share + hypot(sampling, above)
    return ShareEstimate(share, ConfidenceInterval(max(0.0, low), min(1.0, high)))


def _widening(joint: float, separate: float) -> float:
    """Return how much wider an interval of all kinds together is than one of separately measured kinds, at least 1."""
    if separate:
        return max(1.0, joint / separate)
    return 1.0


def _mix_with_widths(by_kind: Mapping[str, ShareEstimate], shares: Mapping[str, float]) -> tuple[float, float, float]:
    """Return the sensitivity to a mix, and the widths of its interval below and above, as if kinds were measured separately."""
    parts = [(part, by_kind[name]) for name, part in shares.items()]
    return (
        sum(part * estimate.share for part, estimate in parts),
        hypot(*(part * (estimate.share - estimate.interval.low) for part, estimate in parts)),
        hypot(*(part * (estimate.interval.high - estimate.share) for part, estimate in parts)),
    )


def as_shares(mix: Mapping[str, float]) -> dict[str, float]:
    """Return a mix as shares that sum to 1, without the kinds whose share is 0.

    Raises
    ------
    ValueError
        If a number is negative or all are 0.
    """
    total = sum(mix.values())
    if not mix or min(mix.values()) < 0 or total <= 0:
        raise ValueError("a mix names kinds of error, each with a share of at least 0, not all 0")
    return {name: value / total for name, value in mix.items() if value}


def rates_over_mixes(
    right: float,
    by_kind: Mapping[str, ShareEstimate],
    specificity: ShareEstimate,
    *,
    by_rule: tuple[float, float] = (0.0, 0.0),
) -> Mixes:
    """Return how far a corrected rate could move if all errors were of one kind, the easiest or the hardest to detect.

    Parameters
    ----------
    right : float
        The share of all answers that the judge judged right.
    by_kind : mapping of str to ShareEstimate
        The sensitivity to each kind; at least one.
    specificity : ShareEstimate
        The share of right answers that the judge judges right.
    by_rule : tuple of float
        The shares of all answers that rules found right and wrong.

    Returns
    -------
    Mixes
        From the measured rates, without their intervals. A kind that the judge hardly distinguishes from right answers
        (sensitivity + specificity - 1 below 0.1) leaves the lower end open; if all kinds are like this, both ends are
        open.

    Examples
    --------
    >>> by_kind = {"numbers": ShareEstimate.of(45, 50), "tone": ShareEstimate.of(20, 50)}
    >>> mixes = rates_over_mixes(0.8, by_kind, ShareEstimate.of(50, 50))
    >>> round(mixes.low, 6), round(mixes.high, 6), mixes.lowest, mixes.highest
    (0.5, 0.777778, 'tone', 'numbers')
    """
    fixed, wrong = by_rule
    judged = 1 - fixed - wrong

    separations = {name: estimate.share + specificity.share - 1 for name, estimate in by_kind.items()}
    usable = {name for name, separation in separations.items() if separation >= LEAST_APART - _ROUNDING}

    def rate(name: str) -> float:
        if name not in usable:
            return fixed
        excess = right / judged - (1 - by_kind[name].share) if judged else 0.0
        return fixed + judged * min(1.0, max(0.0, excess / separations[name]))

    ordered = sorted(by_kind, key=lambda name: (rate(name), name))
    highest = rate(ordered[-1]) if usable else fixed + judged
    return Mixes(rate(ordered[0]), highest, ordered[0], ordered[-1])


def same_kinds(
    kinds: Sequence[str], mix: Mapping[str, float], *, clusters: ClusterNames | None = None, seed: int
) -> float:
    """Return the p-value of the hypothesis that kinds of error come from a mix.

    Parameters
    ----------
    kinds : sequence of str
        The kind of each observed error, at least one. A kind outside the mix gives the smallest possible p-value.
    mix : mapping of str to float
        The expected shares, as in `mixed_sensitivity`.
    clusters : sequence of hashable, optional
        The cluster that each error belongs to. Only the first error of each cluster counts, since errors on one image correlate.
    seed : int
        Seed of the drawn counts.

    Returns
    -------
    float
        The p-value of Pearson's chi-square, from 20,000 draws of as many errors; the observed one counts as one of them.

    Examples
    --------
    >>> same_kinds(["tone"] * 10 + ["numbers"] * 10, {"tone": 1, "numbers": 1}, seed=0) > 0.9
    True
    >>> same_kinds(["tone"] * 18 + ["numbers"] * 2, {"tone": 1, "numbers": 1}, seed=0) < 0.01
    True
    """
    places = range(len(kinds)) if clusters is None else clusters
    first = dict(zip(reversed(list(places)), reversed(kinds), strict=True))
    counts, n = Counter(first.values()), len(first)
    shares = dict(sorted(as_shares(mix).items()))
    if set(counts) - set(shares):
        return 1 / (DRAWS + 1)
    expected = np.array([n * share for share in shares.values()])
    observed = float(np.sum((np.array([counts[name] for name in shares]) - expected) ** 2 / expected))
    generator, as_extreme = np.random.default_rng(seed), 0
    for _ in range(0, DRAWS, _DRAWS_AT_ONCE):
        drawn = generator.multinomial(n, expected / n, size=_DRAWS_AT_ONCE)
        as_extreme += int(np.count_nonzero(((drawn - expected) ** 2 / expected).sum(axis=1) >= observed - _ROUNDING))
    return (1 + as_extreme) / (1 + DRAWS)


def unlike(first: ShareEstimate, second: ShareEstimate) -> bool:
    """Return whether two independent shares differ significantly: the interval of their difference excludes 0.

    Examples
    --------
    >>> unlike(ShareEstimate.of(45, 50), ShareEstimate.of(20, 50)), unlike(ShareEstimate.of(45, 50), ShareEstimate.of(18, 20))
    (True, False)
    """
    low, high = contrast_interval(first.share, first.interval, second.share, second.interval)
    return low > 0 or high < 0
