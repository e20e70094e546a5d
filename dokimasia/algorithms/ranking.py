"""How faithfully predicted scores rank the responses to a sample compared with people."""

from collections.abc import Hashable, Sequence
from itertools import combinations

_ROUNDING = 1e-12
"""The relative rounding error of decimals, and of means over a few of them."""


def pairwise_accuracy(
    predicted: Sequence[float],
    human: Sequence[float],
    tie_margin: float = 0.0,
    *,
    samples: Sequence[Hashable] | None = None,
) -> float:
    """Return the share, 0 to 1, of pairs of responses on which win, tie or loss agrees; higher is better.

    Parameters
    ----------
    predicted, human : sequence of float
        A score for each response, in the same order; higher is better in both (callers negate ranks). Leave out responses
        that lack one.
    tie_margin : float
        Predicted scores that differ by no more than this tie; human scores tie only if they are equal, in both cases up
        to rounding, so that 3.1 and 3.0 differ by no more than 0.1. Fix a margin other than 0 on different data from
        those it is reported on. Not negative.
    samples : sequence of hashable, optional
        The sample that each response answers: only responses to the same sample are compared, and all pairs count
        equally. By default all are responses to one sample.

    Raises
    ------
    ValueError
        If the lengths differ, the margin is negative, or there is no pair.

    References
    ----------
    ATOM, section 4.2 and table 1 (the three-way comparison).

    Examples
    --------
    >>> pairwise_accuracy([3.0, 2.0, 1.0], [9, 9, 4])
    0.6666666666666666
    >>> pairwise_accuracy([3.1, 3.0, 1.0], [9, 9, 4], tie_margin=0.1)
    1.0
    """
    if len(predicted) != len(human) or (samples is not None and len(samples) != len(human)):
        raise ValueError("each response has one predicted and one human score, and one sample where samples are given")
    if not tie_margin >= 0:
        raise ValueError(f"a margin is not negative: {tie_margin}")
    responses: dict[Hashable, list[int]] = {}
    for at in range(len(human)):
        responses.setdefault(samples[at] if samples is not None else None, []).append(at)
    agreed = [
        _side(predicted[first], predicted[second], tie_margin) == _side(human[first], human[second], 0.0)
        for group in responses.values()
        for first, second in combinations(group, 2)
    ]
    if not agreed:
        raise ValueError("no sample has two responses: there is no pair to compare")
    return sum(agreed) / len(agreed)


def _side(first: float, second: float, margin: float) -> int:
    rounding = _ROUNDING * max(abs(first), abs(second))
    if abs(first - second) <= margin + rounding:
        return 0
    return 1 if first > second else -1
