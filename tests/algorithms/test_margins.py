"""Margins of ties: the best one by trying all, folds that keep images together, and never fitted on what is reported."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dokimasia.algorithms.margins import best_margin, cross_fitted, fold_of, sides
from dokimasia.algorithms.orders import beaten, drawn_orders, earlier_preferred
from dokimasia.algorithms.ranking import pairwise_accuracy

TENTHS = st.integers(10, 50).map(lambda tenths: tenths / 10)
PAIRS = st.lists(st.tuples(TENTHS, TENTHS, st.sampled_from((-1, 0, 1))), min_size=1, max_size=30)


@given(PAIRS, st.sampled_from((0.0, 0.1, 0.35, 1.0)))
def test_sides_are_those_of_pairwise_accuracy(pairs, margin: float) -> None:
    """Over any pairs the share of sides that agree is the pairwise accuracy at the same margin."""
    one, other, human = (np.array(column, dtype=float) for column in zip(*pairs, strict=True))
    agreed = float(np.mean(sides(one, other, margin) == human))
    predicted = [score for pair in zip(one, other, strict=True) for score in pair]
    said = [score for side in human for score in (side, 0.0)]
    samples = [number for number in range(len(pairs)) for _ in range(2)]
    assert pairwise_accuracy(predicted, said, margin, samples=samples) == pytest.approx(agreed)


@given(PAIRS)
def test_no_margin_agrees_more_often_than_the_best(pairs) -> None:
    """Of all margins in steps of a twentieth none has more hits, and no smaller one that says otherwise has as many."""
    one, other, human = (np.array(column) for column in zip(*pairs, strict=True))
    best = best_margin(one, other, human.astype(np.int8))
    hits = int((sides(one, other, best) == human).sum())
    for margin in (step / 20 for step in range(101)):
        verdicts = sides(one, other, margin)
        count = int((verdicts == human).sum())
        assert count <= hits
        assert count < hits or margin >= best or (verdicts == sides(one, other, best)).all()


def test_a_margin_is_fitted_on_other_folds() -> None:
    """What people say of a fold changes the margins of all folds but its own."""
    rng = np.random.default_rng(0)
    one, other = rng.normal(size=60), rng.normal(size=60)
    human = rng.integers(-1, 2, size=60).astype(np.int8)
    fold = fold_of([f"image {at // 3}" for at in range(60)], seed=0)
    before = cross_fitted(one, other, human, fold)
    changed = np.where(fold == 2, 0, human).astype(np.int8)
    after = cross_fitted(one, other, changed, fold)
    assert after.margins[2] == before.margins[2]
    assert after.margins != before.margins


def test_an_image_lies_in_one_fold() -> None:
    """Folds are as equal as can be, hold whole images, and with fewer images than folds there are as many as images."""
    clusters = [f"image {at % 11}" for at in range(44)]
    fold = fold_of(clusters, seed=3)
    assert {len({int(fold[at]) for at in range(44) if clusters[at] == one}) for one in clusters} == {1}
    assert sorted(np.bincount(fold)) == [8, 8, 8, 8, 12]
    assert set(fold_of(["a", "b", "a"], seed=0).tolist()) == {0, 1}


def test_one_image_has_no_margin() -> None:
    """Where there is nothing else to fit it on, only equal scores are a tie."""
    found = cross_fitted(
        np.array([1.0, 2.0]), np.array([1.1, 2.0]), np.array([0, 0], dtype=np.int8), fold_of("aa", seed=0)
    )
    assert found.margins == (0.0,)
    assert found.predicted.tolist() == [-1, 0]


def test_orders_show_every_two_both_ways() -> None:
    """Each second order is the one before it backwards; the seed decides the draw."""
    orders = drawn_orders(5, 4, seed=[1, 2])
    assert [set(order) for order in orders] == [set(range(5))] * 4
    assert (orders[1], orders[3]) == (orders[0][::-1], orders[2][::-1])
    assert orders == drawn_orders(5, 4, seed=[1, 2]) != drawn_orders(5, 4, seed=[2, 2])
    assert len(drawn_orders(5, 3, seed=[1])) == 3


def test_scores_and_preferences_of_places() -> None:
    """A response's score is the share of the others that it beats; ties prefer nobody."""
    assert beaten([1, 2, 2, 4]) == pytest.approx([1.0, 0.5, 0.5, 0.0])
    assert beaten([1]) == [0.5]
    assert earlier_preferred([2, 1, 1]) == [-1, -1]
    assert earlier_preferred([1, 1]) == []
