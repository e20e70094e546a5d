"""Distribution functions that intervals need: the regularised incomplete beta and the quantiles drawn from it."""

import math

_TINY = 1e-300
_PRECISION = 1e-15
_MAX_TERMS = 200_000


def beta_cdf(x: float, a: float, b: float) -> float:
    """Return the regularised incomplete beta function, the distribution function of Beta(a, b).

    Parameters
    ----------
    x : float
        Where to evaluate, clipped to 0..1.
    a, b : float
        Shapes, positive.

    Returns
    -------
    float
        A probability.

    Raises
    ------
    ValueError
        If a shape is not positive.

    Notes
    -----
    The continued fraction is evaluated by the modified Lentz method, on the side of the mean where it converges fast.

    References
    ----------
    NIST Digital Library of Mathematical Functions, 8.17.22.

    Examples
    --------
    >>> round(beta_cdf(0.5, 2, 2), 12)
    0.5
    >>> round(beta_cdf(0.3, 1, 1), 12)
    0.3
    """
    if a <= 0 or b <= 0:
        raise ValueError("the shapes of a beta distribution are positive")
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    front = math.exp(log_front)
    if x < (a + 1) / (a + b + 2):
        return min(1.0, front * _continued_fraction(x, a, b) / a)
    return max(0.0, 1.0 - front * _continued_fraction(1 - x, b, a) / b)


def beta_quantile(p: float, a: float, b: float) -> float:
    """Return the value below which Beta(a, b) lies with probability p, by bisection to the last bit.

    Examples
    --------
    >>> round(beta_quantile(0.5, 3, 3), 12)
    0.5
    """
    low, high = 0.0, 1.0
    while True:
        middle = (low + high) / 2
        if middle in (low, high):
            return middle
        if beta_cdf(middle, a, b) < p:
            low = middle
        else:
            high = middle


def student_t_cdf(t: float, df: float) -> float:
    """Return the distribution function of Student's t with `df` degrees of freedom.

    Examples
    --------
    >>> student_t_cdf(0.0, 5)
    0.5
    >>> round(student_t_cdf(1.0, 1), 12)
    0.75
    """
    square = t * t
    # The side on which the argument of the incomplete beta is small keeps the digits.
    if square < df:
        half = beta_cdf(square / (df + square), 0.5, df / 2) / 2
        return 0.5 + half if t >= 0 else 0.5 - half
    tail = beta_cdf(df / (df + square), df / 2, 0.5) / 2
    return 1 - tail if t > 0 else tail


def student_t_quantile(p: float, df: float) -> float:
    """Return the value below which Student's t with `df` degrees of freedom lies with probability p.

    Raises
    ------
    ValueError
        If p is not strictly between 0 and 1.

    Examples
    --------
    >>> round(student_t_quantile(0.975, 11), 6)
    2.200985
    """
    if not 0 < p < 1:
        raise ValueError("a quantile needs a probability strictly between 0 and 1")
    if p < 0.5:
        return -student_t_quantile(1 - p, df)
    low, high = 0.0, 1.0
    while student_t_cdf(high, df) < p:
        low, high = high, high * 2
    while True:
        middle = (low + high) / 2
        if middle in (low, high):
            return middle
        if student_t_cdf(middle, df) < p:
            low = middle
        else:
            high = middle


def _continued_fraction(x: float, a: float, b: float) -> float:
    """Evaluate the continued fraction of the incomplete beta function."""
    numerator, denominator = 1.0, _away_from_zero(1 - (a + b) * x / (a + 1))
    denominator = 1 / denominator
    result = denominator
    for m in range(1, _MAX_TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        denominator = 1 / _away_from_zero(1 + even * denominator)
        numerator = _away_from_zero(1 + even / numerator)
        result *= numerator * denominator
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        denominator = 1 / _away_from_zero(1 + odd * denominator)
        numerator = _away_from_zero(1 + odd / numerator)
        change = numerator * denominator
        result *= change
        if abs(change - 1) < _PRECISION:
            break
    return result


def _away_from_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
