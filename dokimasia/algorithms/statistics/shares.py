"""Intervals of shares: exact for independent trials, by effective trials where trials belong together."""

from collections.abc import Hashable, Sequence
from typing import NamedTuple, Self

from dokimasia.algorithms.statistics.clusters import Clusters, Floats, by_cluster, finite, jackknife_error, trusted_df
from dokimasia.algorithms.statistics.distributions import beta_quantile, normal_quantile, student_t_quantile

_MOST_TRIALS = 1e12


class _Ends(NamedTuple):
    low: float
    high: float


class ConfidenceInterval(_Ends):
    """A confidence interval: its lower and upper limit, in the unit of what it is about; or why there is none.

    Attributes
    ----------
    low, high : float
        The limits. Where the data cannot tell any, they are those of the whole scale, infinite where it has no ends.
    reason : str
        Why there is no interval to print, as a phrase; empty where there is one. Intervals are compared by their limits.

    Examples
    --------
    >>> low, high = ConfidenceInterval(1.0, 5.0, "2 images near the end of the scale")
    >>> (low, high), ConfidenceInterval(1.0, 2.0).reason
    ((1.0, 5.0), '')
    """

    reason: str

    def __new__(cls, low: float, high: float, reason: str = "") -> Self:
        """Return an interval."""
        made = super().__new__(cls, low, high)
        made.reason = reason
        return made


def clopper_pearson(k: int, n: int, level: float = 0.95) -> ConfidenceInterval:
    """Return the exact confidence interval of a share: k of n independent trials.

    Parameters
    ----------
    k, n : int
        Successes and trials, 0 <= k <= n, n at least 1.
    level : float
        Coverage is never below it.

    Returns
    -------
    ConfidenceInterval
        Shares, 0 to 1.

    Raises
    ------
    ValueError
        If the counts cannot be, or the level is not strictly between 0 and 1.

    References
    ----------
    Clopper and Pearson, The use of confidence or fiducial limits, Biometrika 26, 1934.

    Examples
    --------
    >>> low, high = clopper_pearson(0, 10)
    >>> low, round(high, 6)
    (0.0, 0.308497)
    """
    check_level(level)
    if n < 1 or not 0 <= k <= n:
        raise ValueError(f"{k} of {n} is no share")
    return _trials(k, n, (1 - level) / 2)


def rate_interval(
    hits: Sequence[bool], *, clusters: Sequence[Hashable] | None = None, level: float = 0.95
) -> ConfidenceInterval:
    """Return a confidence interval of a rate whose trials may belong together: the share of hits that are true.

    Parameters
    ----------
    hits : sequence of bool
        One a trial; at least one.
    clusters : sequence of hashable, optional
        The cluster that each trial belongs to; without it, or where each is alone, the interval is exact.
    level : float
        Nominal coverage, strictly between 0 and 1.

    Returns
    -------
    ConfidenceInterval
        Shares, 0 to 1; never narrower than Clopper and Pearson's. Where all clusters have the same rate, so that they
        do not show how they differ, each counts as one trial.

    Raises
    ------
    ValueError
        If there is no trial or an argument cannot be used.

    References
    ----------
    Korn and Graubard, Confidence Intervals for Proportions with Small Expected Number of Positive Counts Estimated from
    Survey Data, 1998.

    Examples
    --------
    >>> rate_interval([True, False, True, True]) == clopper_pearson(3, 4)
    True
    >>> alone, together = rate_interval([True, False] * 9), rate_interval([True, False] * 9, clusters="aabbbbccddddeeffff")
    >>> together.high - together.low > alone.high - alone.low
    True
    """
    array = finite([float(hit) for hit in hits])
    check_level(level)
    exact = clopper_pearson(int(array.sum()), max(1, array.size), level)
    grouped = by_cluster(array, clusters)
    if grouped.number == array.size:
        return exact
    if grouped.number == 1:
        return ConfidenceInterval(0.0, 1.0)
    if grouped.alike:
        whole = _trials(grouped.mean * grouped.number, grouped.number, (1 - level) / 2)
    else:
        whole = share_of_scale(grouped, level, (0.0, 1.0))
    return ConfidenceInterval(min(exact.low, whole.low), max(exact.high, whole.high))


def check_level(level: float) -> None:
    """Raise ValueError unless a level lies strictly between 0 and 1."""
    if not 0 < level < 1:
        raise ValueError(f"a level lies strictly between 0 and 1: {level}")


def share_of_scale(grouped: Clusters, level: float, scale: tuple[float, float]) -> ConfidenceInterval:
    """Return the limits of a mean, its place on a scale taken for a share; the clusters are not all alike."""
    low, span = scale[0], scale[1] - scale[0]
    placed = Clusters((grouped.sums - low * grouped.sizes) / span, grouped.sizes)
    limits = effective_share(min(1.0, max(0.0, placed.mean)), placed.left_out, level)
    return ConfidenceInterval(low + limits.low * span, low + limits.high * span)


def effective_share(share: float, left_out: Floats, level: float) -> ConfidenceInterval:
    """Return the limits of an estimated share from what it is without each cluster, which is not always the same."""
    quantile = (1 + level) / 2
    ratio = normal_quantile(quantile) / student_t_quantile(quantile, trusted_df(left_out))
    error = max(jackknife_error(left_out), _MOST_TRIALS**-0.5)
    trials = share * (1 - share) * (ratio / error) ** 2
    return _trials(share * trials, trials, 1 - quantile)


def _trials(k: float, n: float, tail: float) -> ConfidenceInterval:
    """Return the limits of a share that was seen as k of n trials, whole or not."""
    low = 0.0 if k <= 0 else beta_quantile(tail, k, n - k + 1)
    high = 1.0 if k >= n else beta_quantile(1 - tail, k + 1, n - k)
    return ConfidenceInterval(low, high)
