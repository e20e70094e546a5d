"""Agreement beyond chance agrees with its definitions and with another implementation."""

import math

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import aggregate_raters
from statsmodels.stats.inter_rater import fleiss_kappa as statsmodels_fleiss_kappa

from dokimasia.algorithms.statistics.agreement import cohen_kappa, fleiss_kappa, krippendorff_alpha

pytestmark = pytest.mark.quick

CODING = [
    [1, 1, None, 1],
    [2, 2, 3, 2],
    [3, 3, 3, 3],
    [3, 3, 3, 3],
    [2, 2, 2, 2],
    [1, 2, 3, 4],
    [4, 4, 4, 4],
    [1, 1, 2, 1],
    [2, 2, 2, 2],
    [None, 5, 5, 5],
    [None, None, 1, 1],
    [None, 3, None, None],
]
"""The worked example of Hayes and Krippendorff, 2007: twelve units, four observers."""


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
def test_cohen_kappa_agrees_with_another_implementation(weights) -> None:
    """Over random ratings with an unused category, every weighting gives scikit-learn's value."""
    generator = np.random.default_rng(4)
    for _ in range(20):
        first = generator.choice([1, 2, 3, 5], 40).tolist()
        second = [one if generator.random() < 0.5 else int(generator.choice([1, 2, 3, 5])) for one in first]
        ours = cohen_kappa(first, second, weights=weights, categories=[1, 2, 3, 4, 5])
        assert ours == pytest.approx(cohen_kappa_score(first, second, weights=weights, labels=[1, 2, 3, 4, 5]))


def test_cohen_kappa_refuses_what_has_none() -> None:
    """Unequal lengths, nothing, one category throughout, and ratings that are no category raise."""
    for first, second, options in (
        ([1], [1, 2], {}),
        ([], [], {}),
        ([1, 1], [1, 1], {}),
        ([1, 6], [1, 2], {"categories": [1, 2]}),
    ):
        with pytest.raises(ValueError, match=r"rated|category|categories"):
            cohen_kappa(first, second, **options)


def test_fleiss_kappa_of_the_published_example() -> None:
    """Fleiss' definition, worked out for ten things that fourteen raters put into five categories."""
    counts = [
        [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
    ]  # fmt: skip
    ratings = [[category for category, count in enumerate(row) for _ in range(count)] for row in counts]
    assert fleiss_kappa(ratings) == pytest.approx(0.210, abs=5e-4)
    for wrong in ([[1, 2], [1]], [[1], [2]], [[1, 1], [1, 1]], []):
        with pytest.raises(ValueError, match=r"number of ratings|one category"):
            fleiss_kappa(wrong)


@pytest.mark.parametrize("raters", [2, 3, 7])
def test_fleiss_kappa_agrees_with_another_implementation(raters: int) -> None:
    """Over random ratings of any number of raters, statsmodels' value comes out to the last digit."""
    generator = np.random.default_rng(6)
    for _ in range(20):
        ratings = generator.choice(5, (30, raters), p=[0.4, 0.3, 0.15, 0.1, 0.05])
        assert fleiss_kappa(ratings.tolist()) == statsmodels_fleiss_kappa(aggregate_raters(ratings)[0])


@pytest.mark.parametrize(("scale", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_krippendorff_alpha_of_the_published_example(scale, alpha: float) -> None:
    """Twelve units and four observers with missing ratings give the values published for each scale."""
    assert krippendorff_alpha(CODING, scale=scale) == pytest.approx(alpha, abs=6e-4)


def test_krippendorff_alpha_takes_names_and_refuses_what_has_no_value() -> None:
    """Names work on the nominal scale alone; nothing rated twice, one value throughout and ragged rows raise."""
    named = [[None if one is None else f"category {one}" for one in row] for row in CODING]
    assert krippendorff_alpha(named) == pytest.approx(krippendorff_alpha(CODING))
    with pytest.raises(ValueError, match="finite number"):
        krippendorff_alpha(named, scale="interval")
    with pytest.raises(ValueError, match="finite number"):
        krippendorff_alpha([[1, math.inf], [1, 2]], scale="ordinal")
    for wrong in ([[1, None], [None, 2]], [[1, 1], [1, 1]], [[1, 2], [1]], []):
        with pytest.raises(ValueError, match=r"alpha"):
            krippendorff_alpha(wrong)
