"""A criteria set keeps its rules, and its weights can be rescaled."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dokimasia.algorithms.criteria import check_criteria, leaks, rescale_weights
from dokimasia.domain.criterion import Criterion


def criterion(question: str, ground_truth: str, weight: int = 5) -> Criterion:
    """Return a criterion anchored to the whole image."""
    return Criterion(question=question, ground_truth=ground_truth, weight=weight)


GOOD = [
    criterion("Which animal does the solution see?", "A grey heron", 4),
    criterion("Where does it place the animal?", "On the left bank", 3),
    criterion("What weather does it conclude?", "Fog", 3),
]


def test_good_criteria_break_no_rule() -> None:
    """Three criteria of total weight ten that give nothing away pass."""
    assert check_criteria(GOOD, "What is going on by the river?") == []


def test_every_broken_rule_is_named() -> None:
    """Count, weights, a leak and a duplicate are all reported, with the numbers of the criteria."""
    bad = [
        criterion("Is the animal a grey heron?", "A grey heron", 4),
        criterion("is the animal a GREY heron", "Yes", 4),
    ]
    problems = check_criteria(bad, "What is seen?")
    assert problems == [
        "there are 2 criteria, but 3 to 5 are asked for",
        "the weights sum to 8, not to 10",
        "the question of criterion 1 contains its own ground truth",
        "criteria 1 and 2 ask the same question",
    ]


@pytest.mark.parametrize(
    ("asked", "truth", "question", "leaking"),
    [
        ("Does it count three boats?", "Three boats.", "How many boats are there?", True),
        ("Does it count 3 boats?", "three", "How many boats are there?", True),
        ("How many boats does it count?", "Three boats", "How many boats are there?", False),
        ("What colour has the tall mast?", "The tall mast is white", "Describe the tall mast.", False),
        ("Does the solution answer yes?", "Yes", "Is it open?", False),
        ("Which word is on the sign?", "STOP", "Read it.", False),
        ("Is the word stop on the sign?", "STOP", "Read it.", True),
        ("What stands on it?", "on", "Where is it?", False),
        ("Is the boat's sail dark red?", "dark red", "Which red is the sail?", True),
    ],
)
def test_leaks(asked: str, truth: str, question: str, leaking: bool) -> None:
    """A question leaks its ground truth by the words that the sample's question does not contain."""
    assert leaks(asked, truth, question) is leaking


@given(st.lists(st.floats(0.001, 1e6), min_size=1, max_size=10))
def test_rescaled_weights_sum_to_ten(weights: list[float]) -> None:
    """Any positive weights become whole ones of at least 1 that sum to 10 and keep their order."""
    whole = rescale_weights(weights)
    assert sum(whole) == 10
    assert min(whole) >= 1
    assert all(
        a <= b + 1
        for (x, a) in zip(weights, whole, strict=True)
        for (y, b) in zip(weights, whole, strict=True)
        if x <= y
    )


@given(st.sets(st.integers(1, 9)))
def test_good_weights_stay(cuts: set[int]) -> None:
    """Weights that sum to ten are returned as they are."""
    edges = [0, *sorted(cuts), 10]
    weights = [after - before for before, after in itertools.pairwise(edges)]
    assert rescale_weights(weights) == tuple(weights)


@pytest.mark.parametrize("weights", [[], [0, 5], [-1, 2], [1] * 11])
def test_hopeless_weights_are_refused(weights: list[int]) -> None:
    """No weights, weights that are not positive, and more than ten of them raise."""
    with pytest.raises(ValueError, match="weight"):
        rescale_weights(weights)
