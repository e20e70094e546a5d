"""Pairs of responses are ranked as people rank them, within each sample."""

import pytest

from dokimasia.algorithms.ranking import pairwise_accuracy


def test_wins_ties_and_losses_all_count() -> None:
    """A predicted tie where people see a winner is wrong, and a winner where people see a tie too."""
    assert pairwise_accuracy([5, 4, 3], [3, 2, 1]) == 1
    assert pairwise_accuracy([3, 4, 5], [3, 2, 1]) == 0
    assert pairwise_accuracy([1, 1, 0], [2, 1, 0]) == pytest.approx(2 / 3)
    assert pairwise_accuracy([2, 1, 0], [1, 1, 0]) == pytest.approx(2 / 3)


def test_scores_that_differ_by_rounding_alone_are_tied() -> None:
    """3.1 and 3.0 differ by no more than 0.1, and means of the same ratings are equal in whatever order they were added."""
    assert pairwise_accuracy([3.1, 3.0], [1, 1], tie_margin=0.1) == 1
    assert pairwise_accuracy([2, 2], [0.1 + 0.2, 0.3]) == 1
    assert pairwise_accuracy([3.1001, 3.0], [1, 1], tie_margin=0.1) == 0
    assert pairwise_accuracy([1e-9, 0.0], [2, 1]) == 1


def test_margin_makes_ties_of_predictions_only() -> None:
    """Predicted scores within the margin are a tie; human ones only where they are equal."""
    assert pairwise_accuracy([3.2, 3.0], [7, 7], tie_margin=0.25) == 1
    assert pairwise_accuracy([3.2, 3.0], [7, 6.9], tie_margin=0.25) == 0
    assert pairwise_accuracy([4.0, 3.0], [7, 6.9], tie_margin=0.25) == 1


def test_only_responses_to_one_sample_are_compared() -> None:
    """With samples, pairs across samples do not count, and all samples' pairs count alike."""
    predicted, human, samples = [1, 2, 9, 8, 7], [1, 2, 1, 2, 3], ["a", "a", "b", "b", "b"]
    assert pairwise_accuracy(predicted, human, samples=samples) == pytest.approx(1 / 4)


def test_nothing_to_compare_raises() -> None:
    """Unequal lengths, a negative margin, and no pair raise."""
    for predicted, human, options in (
        ([1], [1], {}),
        ([1, 2], [1], {}),
        ([1, 2], [1, 2], {"tie_margin": -1}),
        ([1, 2], [1, 2], {"samples": ["a", "b"]}),
        ([1, 2], [1, 2], {"samples": ["a"]}),
    ):
        with pytest.raises(ValueError, match=r"pair|margin|one predicted"):
            pairwise_accuracy(predicted, human, **options)
