"""Position effects of a judge: how often both orders agree, and how much the first position gains."""

from collections.abc import Sequence

from dokimasia.algorithms.pairwise.people import check_pairs
from dokimasia.algorithms.pairwise.verdicts import MOST, check_verdicts
from dokimasia.algorithms.statistics import ConfidenceInterval, bootstrap_interval, rate_interval
from dokimasia.algorithms.statistics.clusters import ClusterNames


def position_consistency(first: Sequence[int], swapped: Sequence[int]) -> float:
    """Return the share, 0 to 1, of pairs that both orders decide for the same side; higher is better.

    Parameters
    ----------
    first, swapped : sequence of int
        Each pair's verdict with the evaluated model shown first, and with positions swapped, both as values for the
        evaluated model (+2 to -2). Only win, tie and loss are distinguished. Leave out pairs that lack a valid verdict
        in one order.

    Raises
    ------
    ValueError
        If the lengths differ or are 0, or a verdict is not within -2 to 2.

    Examples
    --------
    >>> position_consistency([2, 1, 0, -1], [1, -1, 0, -2])
    0.75
    """
    return sum(_same_side(first, swapped)) / len(first)


def position_consistency_interval(
    first: Sequence[int],
    swapped: Sequence[int],
    *,
    clusters: ClusterNames | None = None,
) -> ConfidenceInterval:
    """Return a confidence interval of `position_consistency`, a share, by `rate_interval`.

    Parameters
    ----------
    first, swapped
        As `position_consistency`.
    clusters : sequence of hashable, optional
        The case of each pair; by default each pair is its own cluster.

    Raises
    ------
    ValueError
        As `position_consistency`.

    Examples
    --------
    >>> low, high = position_consistency_interval([2, 1, 0, -1], [1, -1, 0, -2])
    >>> round(low, 3), round(high, 3)
    (0.194, 0.994)
    """
    return rate_interval(_same_side(first, swapped), clusters=clusters)


def position_bias(first: Sequence[int], swapped: Sequence[int]) -> float:
    """Return the undue gain of the first position, in points of reward, -100 to 100.

    Parameters
    ----------
    first, swapped : sequence of int
        As `position_consistency`: each pair's verdict with the evaluated model shown first, and with places swapped,
        both as values for the evaluated model. Leave out pairs that lack a valid verdict in one order.

    Returns
    -------
    float
        50 times the mean of (first - swapped) / 2. Above 0 the judge favours the response shown first, below 0 the one shown
        second; 0 if the places have no effect overall; 100 if the first place always wins clearly.

    Raises
    ------
    ValueError
        As `position_consistency`.

    Notes
    -----
    With positions swapped, both responses come first once, so that an impartial judge gives the first position a reward
    of 0 over both orders, whatever the quality of the responses: the excess over 0 is the bias. It is also the error of
    one order alone: over the same pairs the reward with the evaluated model always first is the reward of both orders
    plus the bias, and with the evaluated model always second it is that reward minus the bias. Test it for chance by
    `sign_flip_test` of first - swapped, clustered by case.

    Examples
    --------
    >>> position_bias([2, 1, 0, -1], [1, -1, 0, -2])
    25.0
    """
    return sum(_gains(first, swapped)) / len(first)


def position_bias_interval(
    first: Sequence[int],
    swapped: Sequence[int],
    *,
    clusters: ClusterNames | None = None,
    seed: int,
) -> ConfidenceInterval:
    """Return a confidence interval of `position_bias`, resampling whole cases.

    Parameters
    ----------
    first, swapped
        As `position_bias`.
    clusters : sequence of hashable, optional
        The case of each pair; by default each pair is its own cluster.
    seed
        As `bootstrap_interval`, whose refusals hold here too.

    Raises
    ------
    ValueError
        As `position_bias`.

    Examples
    --------
    >>> low, high = position_bias_interval([2, 1, 0, -1, 1, 1], [1, -1, 0, -2, 0, 1], seed=0)
    >>> -100 < low < 25 < high < 100
    True
    """
    gains = _gains(first, swapped)
    return bootstrap_interval(gains, clusters=clusters, seed=seed, bounds=(-50.0 * MOST, 50.0 * MOST))


def _gains(first: Sequence[int], swapped: Sequence[int]) -> list[float]:
    """Return, for each pair, the reward of the first position over both orders."""
    _check(first, swapped)
    return [50 * (as_first - as_second) / 2 for as_first, as_second in zip(first, swapped, strict=True)]


def _same_side(first: Sequence[int], swapped: Sequence[int]) -> list[bool]:
    _check(first, swapped)
    return [_sign(as_first) == _sign(as_second) for as_first, as_second in zip(first, swapped, strict=True)]


def _check(first: Sequence[int], swapped: Sequence[int]) -> None:
    check_pairs(first, swapped)
    check_verdicts((*first, *swapped))


def _sign(verdict: int) -> int:
    return (verdict > 0) - (verdict < 0)
