# pyright: standard
# SciPy ships no types: this file adds them, so that its importers are checked strictly.
"""Distribution functions for intervals and tests, and the root of a function; SciPy is imported at the first call."""

from collections.abc import Callable


def beta_quantile(p: float, a: float, b: float) -> float:
    """Return the value below which Beta(a, b) lies with probability p.

    Parameters
    ----------
    p : float
        A probability.
    a, b : float
        Shapes, positive.

    Returns
    -------
    float
        0 to 1.

    Examples
    --------
    >>> round(beta_quantile(0.5, 3, 3), 12)
    0.5
    """
    from scipy import special

    return float(special.betaincinv(a, b, p))


def normal_quantile(p: float) -> float:
    """Return the value below which the standard normal distribution lies with probability p.

    Examples
    --------
    >>> round(normal_quantile(0.975), 6)
    1.959964
    """
    from scipy import special

    return float(special.ndtri(p))


def normal_tail(z: float) -> float:
    """Return the probability that a standard normal value is larger than z.

    Examples
    --------
    >>> round(normal_tail(1.959964), 6)
    0.025
    """
    from scipy import special

    return float(special.ndtr(-z))


def student_t_quantile(p: float, df: float) -> float:
    """Return the value below which Student's t with `df` degrees of freedom, whole or not, lies with probability p.

    Examples
    --------
    >>> round(student_t_quantile(0.975, 11), 6)
    2.200985
    """
    from scipy import special

    return float(special.stdtrit(df, p))


def student_t_tails(t: float, df: float) -> float:
    """Return the two-sided probability that Student's t with `df` degrees of freedom lies at least as far from 0 as t.

    Examples
    --------
    >>> round(student_t_tails(2.200985, 11), 6)
    0.05
    """
    from scipy import special

    return 2 * float(special.stdtr(df, -abs(t)))


def noncentral_t_cdf(t: float, df: float, shift: float) -> float:
    """Return the probability that Student's t with `df` degrees of freedom, shifted by `shift`, lies below t.

    Examples
    --------
    >>> round(noncentral_t_cdf(0.0, 10, 0.0), 12)
    0.5
    """
    from scipy import special

    return float(special.nctdtr(df, shift, t))


def root(function: Callable[[float], float], low: float, high: float) -> float:
    """Return the root of a function between two points at which its signs differ.

    Examples
    --------
    >>> round(root(lambda x: x * x - 2, 0, 2), 9)
    1.414213562
    """
    from scipy import optimize

    return float(optimize.root_scalar(function, bracket=(low, high), method="brentq", xtol=1e-12).root)
