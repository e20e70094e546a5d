"""The values that corrections take and return.

Terms have the same meaning throughout: a judge looks for *wrong* answers. Its `sensitivity` is the share of wrong
answers that it judges wrong, and its `specificity` the share of right answers that it judges right.
"""

from typing import NamedTuple, Self

from dokimasia.algorithms.statistics.shares import ConfidenceInterval, clopper_pearson


class ShareEstimate(NamedTuple):
    """A measured share, 0 to 1, with its 95 % interval."""

    share: float
    interval: ConfidenceInterval

    @classmethod
    def of(cls, k: int, n: int) -> Self:
        """Return the share of k of n independent trials."""
        return cls(k / n, clopper_pearson(k, n))

    @property
    def less(self) -> "ShareEstimate":
        """One minus the share, with its interval."""
        low, high = self.interval
        return ShareEstimate(
            1 - self.share, ConfidenceInterval(1 - high, 1 - low, self.interval.reason, method=self.interval.method)
        )


class DecidedLabel(NamedTuple):
    """A decision on an answer: whether it is right, and whether a judge decided it (a rule does not err)."""

    right: bool
    by_judge: bool = True


class Corrected(NamedTuple):
    """A corrected rate, or a difference of two, with its 95 % interval; or the reason why there is none.

    Attributes
    ----------
    rate : float or None
        0 to 1, a difference -1 to 1; None if the correction is refused.
    interval : ConfidenceInterval or None
        It includes the uncertainty of the answers and of sensitivity and specificity. If it has a `reason`, only the rate is
        known.
    reason : str
        The reason for a refusal of the correction, as a phrase; empty without one.
    """

    rate: float | None
    interval: ConfidenceInterval | None
    reason: str = ""
