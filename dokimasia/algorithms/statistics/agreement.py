# pyright: standard
# krippendorff ships no types; what it returns is converted to a float at once.
"""Agreement of raters beyond chance: Cohen's and Fleiss' kappa, and Krippendorff's alpha."""

import math
from collections.abc import Hashable, Sequence
from typing import Any, Literal

import numpy as np

Weights = Literal["linear", "quadratic"]
Scale = Literal["nominal", "ordinal", "interval"]


def cohen_kappa(
    first: Sequence[Hashable],
    second: Sequence[Hashable],
    *,
    weights: Weights | None = None,
    categories: Sequence[Hashable] | None = None,
) -> float:
    """Return Cohen's kappa: the agreement of two raters beyond that expected from their marginal frequencies.

    Parameters
    ----------
    first, second : sequence of hashable
        The category that each rater gave to each item, in the same order. Leave out items that only one of them rated.
    weights : "linear" or "quadratic", optional
        Weigh a disagreement by the distance of the categories, or by its square; by default all count equally.
    categories : sequence of hashable, optional
        All categories in order, including unused ones; needed with weights unless the ratings sort into the right order
        and use every category.

    Returns
    -------
    float
        1 for full agreement, 0 for chance agreement, below 0 for less than that.

    Raises
    ------
    ValueError
        If the lengths differ or are 0, a rating is not a category, or both raters gave everything the same category, so
        that chance alone explains full agreement.

    References
    ----------
    Cohen, A coefficient of agreement for nominal scales, 1960; Cohen, Weighted kappa, 1968.

    Examples
    --------
    >>> cohen_kappa(["yes", "yes", "no", "no"], ["yes", "no", "no", "no"])
    0.5
    >>> round(cohen_kappa([1, 2, 3, 5], [1, 2, 4, 4], weights="quadratic", categories=[1, 2, 3, 4, 5]), 6)
    0.870968
    """
    if len(first) != len(second) or not len(first):
        raise ValueError(f"kappa needs the same things rated twice: {len(first)} and {len(second)} ratings")
    places = _places([*first, *second], categories)
    if len(set(first) | set(second)) == 1:
        raise ValueError("both raters gave one and the same category to everything: kappa has no value")
    table = np.zeros((len(places), len(places)))
    np.add.at(table, tuple([places[rating] for rating in side] for side in (first, second)), 1)
    distances = np.abs(np.subtract.outer(np.arange(len(places)), np.arange(len(places)))).astype(float)
    cost = (distances > 0).astype(float) if weights is None else distances ** (1 if weights == "linear" else 2)
    chance = np.outer(table.sum(axis=1), table.sum(axis=0)) / len(first)
    return 1 - float((cost * table).sum()) / float((cost * chance).sum())


def fleiss_kappa(ratings: Sequence[Sequence[Hashable]]) -> float:
    """Return Fleiss' kappa: the agreement beyond chance of any number of raters, not always the same ones.

    Parameters
    ----------
    ratings : sequence of sequence of hashable
        For each item its categories, the same number for each item and at least two; their order within an item does not
        matter. If ratings are missing, use `krippendorff_alpha`.

    Returns
    -------
    float
        1 for full agreement, 0 for chance agreement, below 0 for less than that.

    Raises
    ------
    ValueError
        If there is no item, the numbers of ratings differ or are below two, or all ratings are one category.

    References
    ----------
    Fleiss, Measuring nominal scale agreement among many raters, 1971.

    Examples
    --------
    >>> round(fleiss_kappa(["aaa", "aab", "bbb", "abb"]), 6)
    0.333333
    """
    if len({len(row) for row in ratings}) != 1 or len(ratings[0]) < 2:
        raise ValueError("Fleiss' kappa needs the same number of ratings for each thing, at least two")
    places = _places([rating for row in ratings for rating in row], None)
    if len(places) == 1:
        raise ValueError("all ratings are one category: kappa has no value")
    raters = len(ratings[0])
    table = np.zeros((len(ratings), len(places)))
    for number, row in enumerate(ratings):
        for rating in row:
            table[number, places[rating]] += 1
    shares = table.sum(axis=0) / table.sum()
    by_chance = (shares * shares).sum()
    agreeing_pairs = ((table * table).sum(axis=1) - raters) / (raters * (raters - 1.0))
    return float((agreeing_pairs.mean() - by_chance) / (1 - by_chance))


def krippendorff_alpha(ratings: Sequence[Sequence[Hashable | None]], *, scale: Scale = "nominal") -> float:
    """Return Krippendorff's alpha: agreement beyond chance for any number of raters, even with missing ratings.

    Parameters
    ----------
    ratings : sequence of sequence of hashable
        For each item one entry per rater, in the same order: a category or, on the other scales, a number; None for a
        missing rating. Items with fewer than two ratings are ignored.
    scale : {"nominal", "ordinal", "interval"}
        The weight of a disagreement: all equal; by the number of ratings between the two; by the squared difference.

    Returns
    -------
    float
        1 for full agreement, 0 for chance agreement, below 0 for less than that.

    Raises
    ------
    ValueError
        If the numbers of entries differ or are below two, no item has two ratings, all counted ratings are one value, or
        a rating is not a finite number although the scale requires one.

    References
    ----------
    Hayes and Krippendorff, Answering the call for a standard reliability measure for coding data, 2007.

    Examples
    --------
    >>> round(krippendorff_alpha([[1, 1, None], [2, 2, 3], [3, 3, 3], [None, 1, None]], scale="interval"), 6)
    0.840909
    """
    import krippendorff

    if len({len(row) for row in ratings}) != 1 or len(ratings[0]) < 2:
        raise ValueError(
            "alpha needs the same number of places for each thing, at least two; None where none was given"
        )
    pairable = [row for row in ratings if sum(rating is not None for rating in row) >= 2]
    values = [rating for row in pairable for rating in row if rating is not None]
    if len(set(values)) < 2:
        raise ValueError("no thing was rated twice, or all ratings are one value: alpha has no value")
    code = _places(values, None).__getitem__ if scale == "nominal" else _number
    codes = [[math.nan if rating is None else float(code(rating)) for rating in row] for row in pairable]
    return float(krippendorff.alpha(np.array(codes).T, level_of_measurement=scale))


def _places(ratings: Sequence[Hashable], categories: Sequence[Hashable] | None) -> dict[Hashable, int]:
    """Return the position of each category in order; without categories, in the ratings' own order if they have one."""
    if categories is not None:
        places = {category: at for at, category in enumerate(categories)}
        unknown = [rating for rating in ratings if rating not in places]
        if unknown:
            raise ValueError(f"the rating {unknown[0]!r} is none of the categories {list(categories)}")
        return places
    distinct: list[Any] = list(dict.fromkeys(ratings))
    kinds = {type(rating) for rating in distinct}
    if kinds <= {int, float, bool} or kinds == {str}:
        distinct.sort()
    return {category: at for at, category in enumerate(distinct)}


def _number(rating: Hashable) -> float:
    if not isinstance(rating, int | float) or not math.isfinite(rating):
        raise ValueError(f"the rating {rating!r} is no finite number, which ordinal and interval scales need")
    return float(rating)
