"""Intervals of shares: exact for independent trials, by effective trials for clustered ones."""

from typing import Literal, NamedTuple, Self

from dokimasia.algorithms.statistics.clusters import (
    Bounds,
    Clusters,
    Floats,
    jackknife_error,
    trusted_df,
)
from dokimasia.algorithms.statistics.distributions import beta_quantile, normal_quantile, student_t_quantile

IntervalName = Literal["", "gaffke"]

_MOST_TRIALS = 1e12


class _Limits(NamedTuple):
    low: float
    high: float


class ConfidenceInterval(_Limits):
    """A confidence interval: its lower and upper limit, in the unit of the estimate; or the reason why there is none.

    Attributes
    ----------
    low, high : float
        The limits. If the data permit none, they are the ends of the whole scale, infinite if it has no ends.
    reason : str
        Why there is no interval to print, as a phrase; empty if there is an interval. Intervals compare by their
        limits.
    method : {"", "gaffke"}
        The name of the interval, if it is not the usual one of its figure; else empty.

    Examples
    --------
    >>> low, high = ConfidenceInterval(1.0, 5.0, "2 images near the end of the scale")
    >>> (low, high), ConfidenceInterval(1.0, 2.0).reason
    ((1.0, 5.0), '')
    """

    reason: str
    method: IntervalName

    def __new__(cls, low: float, high: float, reason: str = "", *, method: IntervalName = "") -> Self:
        """Return an interval."""
        interval = super().__new__(cls, low, high)
        interval.reason = reason
        interval.method = method
        return interval


def clopper_pearson(k: int, n: int, level: float = 0.95) -> ConfidenceInterval:
    """Return the exact confidence interval of a share: k of n independent trials.

    Parameters
    ----------
    k, n : int
        Successes and trials, 0 <= k <= n, n at least 1.
    level : float
        The coverage is never below it.

    Returns
    -------
    ConfidenceInterval
        Shares, 0 to 1.

    Raises
    ------
    ValueError
        If the counts are impossible, or the level is not strictly between 0 and 1.

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
    return trials_limits(k, n, (1 - level) / 2)


def check_level(level: float) -> None:
    """Raise ValueError unless a level lies strictly between 0 and 1."""
    if not 0 < level < 1:
        raise ValueError(f"a level lies strictly between 0 and 1: {level}")


def share_of_scale(grouped: Clusters, level: float, scale: Bounds) -> ConfidenceInterval:
    """Return the limits of a mean, treating its position on a scale as a share; the clusters must not all be equal."""
    low, span = scale[0], scale[1] - scale[0]
    placed = Clusters((grouped.sums - low * grouped.sizes) / span, grouped.sizes)
    limits = effective_share(min(1.0, max(0.0, placed.mean)), placed.left_out, level)
    return ConfidenceInterval(low + limits.low * span, low + limits.high * span)


def effective_share(share: float, left_out: Floats, level: float) -> ConfidenceInterval:
    """Return the limits of an estimated share from its values without each cluster, which must vary."""
    quantile = (1 + level) / 2
    ratio = normal_quantile(quantile) / student_t_quantile(quantile, trusted_df(left_out))
    error = max(jackknife_error(left_out), _MOST_TRIALS**-0.5)
    trials = share * (1 - share) * (ratio / error) ** 2
    return trials_limits(share * trials, trials, 1 - quantile)


def trials_limits(k: float, n: float, tail: float) -> ConfidenceInterval:
    """Return the limits of a share observed as k of n trials, whole numbers or not."""
    low = 0.0 if k <= 0 else beta_quantile(tail, k, n - k + 1)
    high = 1.0 if k >= n else beta_quantile(1 - tail, k + 1, n - k)
    return ConfidenceInterval(low, high)
