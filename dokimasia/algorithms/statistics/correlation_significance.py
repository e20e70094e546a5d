"""Whether a correlation differs from none: the two-sided p-value of Pearson's r."""

import math


def correlation_p_value(r: float, n: int) -> float:
    """Return the two-sided p-value of a correlation under the hypothesis of none, 0 to 1.

    Parameters
    ----------
    r : float
        Pearson's correlation, -1 to 1.
    n : int
        How many independent pairs it was computed from, at least 3. Pairs that share an image are not independent: then
        the value is too small.

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
