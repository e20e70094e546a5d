"""Models against the others: an exchange within images has the level that sign flips lack, and finds real differences."""

import numpy as np
import pytest

from dokimasia.algorithms.statistics import adjusted
from dokimasia.algorithms.statistics.clusters import Floats
from dokimasia.algorithms.statistics.paired import sign_flip_test
from dokimasia.algorithms.statistics.within_clusters import draws_for, exchange_p_values, gaps_to_others


def scores(models: int, images: int, *, seed: int, below: float = 0.1, worse: float = 0.0) -> Floats:
    """Scores of models on images that are hard or easy as a whole; the first falls short so much more often."""
    generator = np.random.default_rng(seed)
    share = generator.beta(4 * below, 4 * (1 - below), images)[:, None] + worse * (np.arange(models) == 0)
    return np.where(
        generator.random((images, models)) < share, generator.choice((0.0, 25.0, 50.0), (images, models)), 100.0
    )


def test_a_gap_is_taken_from_the_others_that_are_known() -> None:
    """What is missing has no gap and is no part of the others' mean; alone in its row a value has none either."""
    gaps = gaps_to_others(np.array([[100.0, 50.0, 0.0], [80.0, np.nan, 60.0], [10.0, np.nan, np.nan]]))
    np.testing.assert_array_equal(gaps, [[75, 0, -75], [20, np.nan, -20], [np.nan, np.nan, np.nan]])


@pytest.mark.parametrize("models", [5, 20])
def test_equal_models_near_the_ceiling_are_not_told_apart_more_often_than_by_chance(models: int) -> None:
    """In 60 data sets at most 7 have any adjusted p-value at or below 0.05; with sign flips 20 models have most of the 60."""
    exchanged, flipped = 0, 0
    for seed in range(60):
        gaps = gaps_to_others(scores(models, 20, seed=seed))
        p_values = exchange_p_values(gaps, range(20), seed=seed)
        exchanged += min(value for value in adjusted(p_values) if value is not None) <= 0.05
        flips = [sign_flip_test(own, seed=seed, permutations=2000).p_value for own in gaps.T.tolist()]
        flipped += min(value for value in adjusted(flips) if value is not None) <= 0.05
    assert exchanged <= 7
    assert models < 20 or flipped >= 30


def test_a_model_that_is_worse_stands_out_of_many_tests() -> None:
    """Its p-value is small enough for a family of 600 tests, and no other model's is."""
    gaps = gaps_to_others(scores(20, 60, seed=1, worse=0.4))
    p_values = exchange_p_values(gaps, range(60), seed=0, draws=draws_for(600))
    assert p_values[0] <= 0.05 / 600
    assert min(p_values[1:]) > 0.05 / 600


def test_p_values_are_those_of_sign_flips_where_two_models_are_compared() -> None:
    """The difference of two models is symmetric under equality, so that both tests ask the same."""
    for seed in range(5):
        gaps = gaps_to_others(scores(2, 30, seed=seed, below=0.4))
        flips = sign_flip_test(gaps[:, 0].tolist(), seed=0).p_value
        assert exchange_p_values(gaps, range(30), seed=0, draws=20_000) == pytest.approx([flips, flips], abs=0.04)


def test_rows_of_an_image_move_together() -> None:
    """The same scores once more on the same images say nothing new; on images of their own they would."""
    gaps = gaps_to_others(scores(5, 16, seed=3, below=0.3, worse=0.25))
    twice = np.concatenate([gaps, gaps])
    once = exchange_p_values(gaps, range(16), seed=0)
    assert exchange_p_values(twice, [*range(16)] * 2, seed=0) == once
    assert exchange_p_values(twice, range(32), seed=0)[0] < once[0]


def test_the_order_of_rows_does_not_matter() -> None:
    """The same seed gives the same p-values, in whatever order images come."""
    values = scores(4, 25, seed=5)
    values[3, 1] = values[7, 0] = np.nan
    gaps = gaps_to_others(values)
    found = exchange_p_values(gaps, range(25), seed=2)
    assert exchange_p_values(gaps, range(25), seed=2) == found
    assert exchange_p_values(gaps[::-1], range(25), seed=2) == pytest.approx(found, abs=1e-12)


def test_what_a_model_lacks_it_lacks_in_every_exchange() -> None:
    """An image without a model bears on the others alone, and one without another model in all its places on none."""
    gaps = gaps_to_others(scores(4, 20, seed=8, below=0.3))
    lacking = gaps.copy()
    lacking[10:, 0] = np.nan
    assert exchange_p_values(lacking, range(20), seed=0)[0] == exchange_p_values(gaps[:10], range(10), seed=0)[0]
    apart = gaps_to_others(np.array([[90.0, 10.0, np.nan], [80.0, np.nan, 20.0]] * 8))
    assert exchange_p_values(apart, np.repeat(np.arange(8), 2).tolist(), seed=0)[0] == 1.0


def test_where_all_are_alike_nothing_is_tested() -> None:
    """Equal values leave nothing to exchange: every p-value is 1."""
    assert exchange_p_values(gaps_to_others(np.full((6, 3), 100.0)), range(6), seed=0) == [1.0, 1.0, 1.0]
