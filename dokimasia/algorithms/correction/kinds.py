"""Kinds of error: a judge's sensitivity to the mix of them that answers have, and how much another mix would change."""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from math import hypot, sqrt
from typing import NamedTuple

import numpy as np

from dokimasia.algorithms.correction.judged import LEAST_APART
from dokimasia.algorithms.correction.values import ShareEstimate
from dokimasia.algorithms.statistics.contrasts import contrast_interval
from dokimasia.algorithms.statistics.distributions import normal_quantile
from dokimasia.algorithms.statistics.shares import ConfidenceInterval

DRAWS = 20_000
_DRAWS_AT_ONCE = 2_000
_ROUNDING = 1e-9


class Mixes(NamedTuple):
    """What a corrected rate comes to whatever the mix of kinds: its lowest and highest value, and the kinds that lead there."""

    low: float
    high: float
    lowest: str
    highest: str


def mixed_sensitivity(
    by_kind: Mapping[str, ShareEstimate],
    mix: Mapping[str, float],
    *,
    seen: int | None = None,
    together: tuple[Mapping[str, float], ShareEstimate] | None = None,
) -> ShareEstimate:
    """Return the sensitivity to a mix of kinds of error.

    Parameters
    ----------
    by_kind : mapping of str to Measured
        The sensitivity to each kind.
    mix : mapping of str to float
        The share of each kind among the errors, or numbers that go as the shares do; each kind is in `by_kind`.
    seen : int, optional
        Of how many errors the mix was counted. Without it the mix is taken as known.
    together : tuple of (mapping, Measured), optional
        The mix that all kinds were measured in, and the sensitivity to it. Where errors of several kinds share images, its
        interval is wider than that of kinds that were measured apart, and this one is made wider by as much.

    Returns
    -------
    Measured
        The interval puts together what each kind's own interval adds, and what counting few errors leaves open of the mix.

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
    share, below, above = _added(by_kind, shares)
    counted = 0.0
    if seen:
        spread = sum(part * (by_kind[name].share - share) ** 2 for name, part in shares.items())
        counted = normal_quantile(0.975) * sqrt(spread / seen)
    wider = (1.0, 1.0)
    if together is not None and not together[1].interval.reason:
        own, whole = _added(by_kind, as_shares(together[0])), together[1]
        seen_apart = (whole.share - whole.interval.low, whole.interval.high - whole.share)
        wider = tuple(max(1.0, one / alone) if alone else 1.0 for one, alone in zip(seen_apart, own[1:], strict=True))
    low, high = share - hypot(counted, wider[0] * below), share + hypot(counted, wider[1] * above)
    return ShareEstimate(share, ConfidenceInterval(max(0.0, low), min(1.0, high)))


def _added(by_kind: Mapping[str, ShareEstimate], shares: Mapping[str, float]) -> tuple[float, float, float]:
    """Return the sensitivity to a mix, and how far it reaches below and above, as if kinds were measured apart."""
    parts = [(part, by_kind[name]) for name, part in shares.items()]
    return (
        sum(part * one.share for part, one in parts),
        hypot(*(part * (one.share - one.interval.low) for part, one in parts)),
        hypot(*(part * (one.interval.high - one.share) for part, one in parts)),
    )


def as_shares(mix: Mapping[str, float]) -> dict[str, float]:
    """Return a mix as shares that add up to 1, without kinds that have none.

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
    """Return how far a corrected rate could move if all errors were of one kind, the easiest or the hardest to see.

    Parameters
    ----------
    right : float
        The share of all answers that the judge judged right.
    by_kind : mapping of str to Measured
        The sensitivity to each kind; at least one.
    specificity : Measured
        The share of right answers that the judge judges right.
    by_rule : tuple of float
        The shares of all answers that rules found right and wrong.

    Returns
    -------
    Mixes
        Of the measured rates, without their intervals. A kind that is hardly told from right answers (sensitivity +
        specificity - 1 below 0.1) leaves all open towards the lowest rate; where every kind is such, all is open.

    Examples
    --------
    >>> by_kind = {"numbers": ShareEstimate.of(45, 50), "tone": ShareEstimate.of(20, 50)}
    >>> found = rates_over_mixes(0.8, by_kind, ShareEstimate.of(50, 50))
    >>> round(found.low, 6), round(found.high, 6), found.lowest, found.highest
    (0.5, 0.777778, 'tone', 'numbers')
    """
    fixed, wrong = by_rule
    judged = 1 - fixed - wrong

    told = {name: one.share + specificity.share - 1 for name, one in by_kind.items()}
    known = {name for name, apart in told.items() if apart >= LEAST_APART - _ROUNDING}

    def rate(name: str) -> float:
        if name not in known:
            return fixed
        found = right / judged - (1 - by_kind[name].share) if judged else 0.0
        return fixed + judged * min(1.0, max(0.0, found / told[name]))

    ordered = sorted(by_kind, key=lambda name: (rate(name), name))
    highest = rate(ordered[-1]) if known else fixed + judged
    return Mixes(rate(ordered[0]), highest, ordered[0], ordered[-1])


def same_kinds(
    kinds: Sequence[str], mix: Mapping[str, float], *, clusters: Sequence[Hashable] | None = None, seed: int
) -> float:
    """Return how often chance alone would bring kinds of error that are as far from a mix as those seen.

    Parameters
    ----------
    kinds : sequence of str
        The kind of each error seen, at least one. A kind that the mix has not makes the p-value the least there is.
    mix : mapping of str to float
        The shares that are expected, as in `mixed_sensitivity`.
    clusters : sequence of hashable, optional
        The cluster that each error belongs to. Of each cluster the first error counts, since those of one image go together.
    seed : int
        Of the drawn counts.

    Returns
    -------
    float
        The p-value of Pearson's chi-square, from 20,000 draws of as many errors; the one seen counts as one of them.

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
    seen = float(np.sum((np.array([counts[name] for name in shares]) - expected) ** 2 / expected))
    generator, as_far = np.random.default_rng(seed), 0
    for _ in range(0, DRAWS, _DRAWS_AT_ONCE):
        drawn = generator.multinomial(n, expected / n, size=_DRAWS_AT_ONCE)
        as_far += int(np.count_nonzero(((drawn - expected) ** 2 / expected).sum(axis=1) >= seen - _ROUNDING))
    return (1 + as_far) / (1 + DRAWS)


def unlike(first: ShareEstimate, second: ShareEstimate) -> bool:
    """Return whether two shares, measured on different things, differ significantly: their difference's interval leaves out 0.

    Examples
    --------
    >>> unlike(ShareEstimate.of(45, 50), ShareEstimate.of(20, 50)), unlike(ShareEstimate.of(45, 50), ShareEstimate.of(18, 20))
    (True, False)
    """
    low, high = contrast_interval(first.share, first.interval, second.share, second.interval)
    return low > 0 or high < 0
