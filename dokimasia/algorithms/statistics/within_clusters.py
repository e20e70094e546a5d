"""Each column of a table against the others, by permutation of columns within clusters."""

from collections.abc import Hashable, Sequence

import numpy as np

from dokimasia.algorithms.statistics.clusters import Floats, Positions, number_clusters

FEWEST_DRAWS = 4_000
DRAWS_A_TEST = 100
"""Number of draws per test of a family, enough for a single finding to survive the correction."""

_ENOUGH = 50
"""Number of draws beyond the observed value with which a p-value is precise enough."""

_STEP, _AT_ONCE = 2_000, 250_000
_ROUNDING = 1e-9


def draws_for(tests: int) -> int:
    """Return the number of draws for p-values that are adjusted over this many tests.

    Examples
    --------
    >>> draws_for(3), draws_for(600)
    (4000, 60000)
    """
    return max(FEWEST_DRAWS, DRAWS_A_TEST * tests)


def gaps_to_others(values: Floats) -> Floats:
    """Return each value minus the mean of the others in its row.

    Parameters
    ----------
    values : array of float, rows by columns
        Such as scores by sample and model; NaN where a value is missing.

    Returns
    -------
    array of float
        NaN where the value is missing, or all others in its row are.

    Examples
    --------
    >>> gaps_to_others(np.array([[100.0, 50.0, 0.0], [80.0, np.nan, 60.0], [10.0, np.nan, np.nan]])).tolist()
    [[75.0, 0.0, -75.0], [20.0, nan, -20.0], [nan, nan, nan]]
    """
    present = np.isfinite(values)
    others = present.sum(axis=1, keepdims=True) - 1
    sums = np.where(present, values, 0.0).sum(axis=1, keepdims=True) - values
    return values - np.divide(sums, others, out=np.full_like(values, np.nan), where=present & (others > 0))


def exchange_p_values(
    gaps: Floats, clusters: Sequence[Hashable], *, seed: int, draws: int = FEWEST_DRAWS
) -> list[float]:
    """Return for each column the two-sided p-value of its mean gap.

    Parameters
    ----------
    gaps : array of float, rows by columns
        As from `gaps_to_others`.
    clusters : sequence of hashable
        The cluster (image) of each row.
    seed : int
        Seed of the draws.
    draws : int
        Maximum number of exchanges to draw (`draws_for`); fewer if p-values are precise enough earlier.

    Returns
    -------
    list of float
        Two-sided p-values by column: twice the smaller tail, since the null distribution may be asymmetric. 1 if no
        exchange makes a difference. They are not adjusted for the number of columns.

    Notes
    -----
    Under the null hypothesis, the columns are alike on every cluster, however hard it is: each could equally well have
    the values of any other one there. So a column's gaps in a cluster, all together, are replaced by those of a random
    column among all that are present wherever this one is, separately for every cluster. The gaps of a row stay the
    same numbers under all exchanges, since they do not depend on which column has which. A value that a column lacks is
    missing in every exchange. A cluster in which no other column is present in all its rows cannot be exchanged and
    affects no p-value.

    Flipping signs would not do: a value minus the mean of several others has no symmetric distribution under this null
    hypothesis, least of all near an end of the scale.

    The test uses Student's statistic, the sum over clusters divided by the root of the sum of squares, so that a column
    does not count as different merely because its values vary more.

    References
    ----------
    Phipson and Smyth, Permutation p-values should never be zero, 2010; Besag and Clifford, Sequential Monte Carlo
    p-values, 1991; Chung and Romano, Exact and asymptotically robust permutation tests, 2013 (the statistic).

    Examples
    --------
    >>> scores = np.array([[0.0, 100.0, 100.0, 100.0]] * 6 + [[100.0, 0.0, 100.0, 100.0], [100.0, 100.0, 100.0, 0.0]])
    >>> [round(p, 2) for p in exchange_p_values(gaps_to_others(scores), list(range(8)), seed=0)]
    [0.01, 0.73, 0.2, 0.73]
    """
    number = number_clusters(clusters, len(gaps))
    by_cluster = np.argsort(number, kind="stable")
    gaps, number = gaps[by_cluster], number[by_cluster]
    present = np.isfinite(gaps)
    columns_by_presence: dict[bytes, list[int]] = {}
    for column in range(gaps.shape[1]):
        columns_by_presence.setdefault(present[:, column].tobytes(), []).append(column)
    p_values = np.ones(gaps.shape[1])
    for columns in columns_by_presence.values():
        rows = present[:, columns[0]]
        if rows.any():
            start = np.flatnonzero(np.diff(number[rows], prepend=-1))
            p_values[columns] = _p_values(np.add.reduceat(gaps[rows], start, axis=0), columns, seed=seed, draws=draws)
    return p_values.tolist()


def _p_values(sums: Floats, columns: Sequence[int], *, seed: int, draws: int) -> Floats:
    """Return the p-values of columns that are present in the same rows, from sums by cluster and column."""
    ordered = np.sort(sums, axis=1)
    counts = np.isfinite(ordered).sum(axis=1)
    spread = ordered[np.arange(len(sums)), counts - 1] - ordered[:, 0]
    moving = spread > _ROUNDING * np.nanmax(np.abs(sums))
    if not moving.any():
        return np.ones(len(columns))
    observed = _student(sums[moving][:, columns].T)
    ordered, counts = ordered[moving], counts[moving]
    by_value = np.lexsort((*ordered.T[::-1], counts))
    ordered, counts = ordered[by_value], counts[by_value]
    place = np.arange(len(ordered)) * ordered.shape[1]
    n_above, n_below, n_drawn = np.ones(len(columns)), np.ones(len(columns)), 0
    generator = np.random.default_rng(seed)
    step = min(_STEP, max(1, _AT_ONCE // len(ordered)))
    while n_drawn < draws and (n_drawn < _STEP or np.minimum(n_above, n_below).min() < _ENOUGH):
        batch = min(step, draws - n_drawn)
        drawn: Positions = (generator.random((batch, len(ordered))) * counts).astype(np.intp) + place
        statistics = np.sort(_student(ordered.ravel()[drawn]))
        n_above += batch - np.searchsorted(statistics, observed - _ROUNDING, side="left")
        n_below += np.searchsorted(statistics, observed + _ROUNDING, side="right")
        n_drawn += batch
    return np.minimum(1.0, 2 * np.minimum(n_above, n_below) / (1 + n_drawn))


def _student(sums: Floats) -> Floats:
    """Return each row's sum divided by the root of the sum of its squares; 0 if all are 0."""
    squares = np.einsum("ij,ij->i", sums, sums)
    return sums.sum(axis=1) / np.sqrt(np.where(squares > 0, squares, 1.0))
