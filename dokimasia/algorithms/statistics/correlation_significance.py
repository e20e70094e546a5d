"""The two-sided p-value of Pearson's correlation, for independent pairs or for whole clusters."""

import math
from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np

from dokimasia.algorithms.statistics.clusters import finite
from dokimasia.algorithms.statistics.exchange import Exchange

PERMUTATIONS = 2_000
_ROUNDING = 1e-9


class ExchangeTest(NamedTuple):
    """A two-sided p-value from exchanges of whole clusters; None, with the reason, if fewer than 200 are distinct."""

    p_value: float | None
    reason: str = ""


def correlation_p_value(r: float, n: int) -> float:
    """Return the two-sided p-value of a correlation under the hypothesis of none, 0 to 1.

    Parameters
    ----------
    r : float
        Pearson's correlation, -1 to 1.
    n : int
        The number of independent pairs, at least 3. Pairs that share an image are not independent: for them the value is
        too small.

    Raises
    ------
    ValueError
        The correlation lies outside -1 to 1, or there are fewer than three pairs.

    References
    ----------
    Student's t with n - 2 degrees of freedom; PerceptionRubrics, section 5.2, reports such values.

    Examples
    --------
    >>> round(correlation_p_value(-0.079, 505), 3), round(correlation_p_value(0.0, 10), 3), correlation_p_value(1.0, 5)
    (0.076, 1.0, 0.0)
    """
    if not -1 <= r <= 1:
        raise ValueError(f"a correlation lies between -1 and 1: {r}")
    if n < 3:
        raise ValueError(f"a p-value of a correlation needs at least three pairs: {n}")
    if abs(r) == 1:
        return 0.0
    from scipy import special  # pyright: ignore[reportMissingTypeStubs]

    t = abs(r) * math.sqrt((n - 2) / (1 - r * r))
    return float(2 * special.stdtr(n - 2, -t))


def correlation_exchange_test(
    x: Sequence[float],
    y: Sequence[float],
    *,
    clusters: Sequence[Hashable],
    seed: int,
    permutations: int = PERMUTATIONS,
) -> ExchangeTest:
    """Return the two-sided p-value of a correlation by permutation of whole clusters.

    The x values of whole clusters are exchanged between clusters with equal numbers of pairs, so that common properties
    of repeats and questions about one image count once.

    Parameters
    ----------
    x, y : sequence of float
        Pairs, in any units.
    clusters : sequence of hashable
        The cluster of each pair. The order of pairs within a cluster matters, that of clusters does not.
    seed : int
        Seed of the exchanges.
    permutations : int
        The number of draws, at least 1.

    Raises
    ------
    ValueError
        If there is no pair, a value is not finite, or the lengths differ.

    References
    ----------
    Phipson and Smyth, Permutation p-values should never be zero, 2010; Pearson's r as in PerceptionRubrics, section 5.2,
    whose p-values treat responses as independent.

    Examples
    --------
    >>> correlation_exchange_test([1, 2, 3], [1, 2, 3], clusters="abc", seed=0).reason[:10]
    'no p-value'
    >>> up = list(map(float, range(10)))
    >>> correlation_exchange_test(up, up, clusters=up, seed=0).p_value < 0.002
    True
    """
    first, second = finite(x), finite(y)
    if not len(first) == len(second) == len(clusters):
        raise ValueError(f"{len(first)} and {len(second)} values for {len(clusters)} cluster names")
    exchange = Exchange(clusters)
    first, second = first[exchange.order], second[exchange.order]
    _, kinds = np.unique(first, return_inverse=True)
    if reason := exchange.untested(kinds.astype(np.intp)):
        return ExchangeTest(None, reason.replace("leaves", "values").replace("criteria", "responses"))
    first, second = first - first.mean(), second - second.mean()
    observed = abs(float(first @ second)) * (1 - _ROUNDING)
    beyond = sum(abs(float(first[source] @ second)) >= observed for source in exchange.draw(permutations, seed=seed))
    return ExchangeTest((1 + beyond) / (1 + permutations))
