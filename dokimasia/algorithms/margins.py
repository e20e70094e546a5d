"""The margin within which predicted scores tie, fitted on other samples than those it is applied to (cross-fitting)."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dokimasia.algorithms.statistics.clusters import Floats, Mask, Positions, number_clusters

FOLDS = 5
"""The number of folds."""

Floats = Floats
Sides = NDArray[np.int8]
_ROUNDING = 1e-12
_DIGITS = 9


@dataclass(frozen=True, slots=True)
class CrossFit:
    """A three-way comparison whose margin was fitted on other samples.

    Attributes:
        margins: the margin of each fold, fitted on all others; 0 if there are no others.
        predicted: the predicted side of each pair, 1, 0 (a tie) or -1.
        agreed: whether it is people's side.
    """

    margins: tuple[float, ...]
    predicted: Sides
    agreed: Mask


def sides(first: Floats, second: Floats, margin: float | Floats = 0.0) -> Sides:
    """Return which of two scores is higher: 1 the first, -1 the second, 0 if they differ by the margin at most.

    As `ranking.pairwise_accuracy` compares, for many pairs at once.

    Examples
    --------
    >>> sides(np.array([3.1, 2.0, 1.0]), np.array([3.0, 1.0, 4.0]), 0.1).tolist()
    [0, 1, -1]
    """
    difference = first - second
    within = np.abs(difference) <= margin + _ROUNDING * np.maximum(np.abs(first), np.abs(second))
    return np.where(within, 0, np.sign(difference)).astype(np.int8)


def best_margin(first: Floats, second: Floats, human: Sides) -> float:
    """Return the margin with which predicted scores agree most with people's sides; if several do, the smallest.

    Parameters
    ----------
    first, second : array of float
        The predicted scores of each pair; higher is better.
    human : array of int
        People's side of each pair: 1, 0 or -1.

    Returns
    -------
    float
        0, midway between two occurring differences, or just beyond the largest; 0 without pairs.

    Examples
    --------
    >>> scores = np.array([3.0, 3.2, 5.0]), np.array([3.1, 3.0, 1.0])
    >>> round(best_margin(*scores, np.array([0, 0, 1], dtype=np.int8)), 6)
    2.1
    """
    size = np.round(np.abs(first - second), _DIGITS)
    order = np.argsort(size, kind="stable")
    size, tied = size[order], human[order] == 0
    right = (sides(first, second) == human)[order] & (size > 0)
    ends = np.flatnonzero(np.diff(size, append=np.inf))
    hits = (
        np.concatenate(([0], np.cumsum(tied)))[ends + 1]
        + right.sum()
        - np.concatenate(([0], np.cumsum(right)))[ends + 1]
    )
    distinct = size[ends]
    if not len(distinct) or distinct[0] > 0:
        hits = np.concatenate(([right.sum()], hits))
        distinct = np.concatenate(([0.0], distinct))
    best = int(np.argmax(hits))
    if best == 0:
        return 0.0
    after = distinct[best + 1] if best + 1 < len(distinct) else distinct[best] * (1 + 1e-6)
    return float(distinct[best] + after) / 2


def cross_fitted(first: Floats, second: Floats, human: Sides, fold: Positions) -> CrossFit:
    """Return the predicted sides, with the margin of each fold fitted on all other folds.

    Parameters
    ----------
    first, second, human
        As for `best_margin`.
    fold : array of int
        The fold of each pair, from `fold_of`: one draw for all compared methods, so that a method with failed
        judgements is fitted on the same folds as the others.
    """
    margins = np.zeros(int(fold.max(initial=0)) + 1)
    for number in range(len(margins)):
        others = fold != number
        margins[number] = best_margin(first[others], second[others], human[others])
    predicted = sides(first, second, margins[fold])
    return CrossFit(tuple(margins.tolist()), predicted, predicted == human)


def fold_of(clusters: Sequence[Hashable], *, seed: int) -> Positions:
    """Return the fold of each item, from 0, by whole clusters, with all folds as equal in size as possible."""
    number = number_clusters(clusters, len(clusters))
    count = int(number.max(initial=-1)) + 1
    place = np.random.default_rng(seed).permutation(count)
    return (place[number] % max(1, min(FOLDS, count))).astype(np.intp)
