"""A criteria set keeps its rules, and its weights can be rescaled."""

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dokimasia.algorithms.criteria import check_criteria, leaks, rescale_weights
from dokimasia.domain.criterion import Criterion


def criterion(question: str, ground_truth: str, weight: int = 5) -> Criterion:
    """Return a criterion anchored to the whole image."""
    return Criterion(question=question, ground_truth=ground_truth, weight=weight)


GOOD = [
    criterion("Which animal stands in the water?", "A grey heron", 4),
    criterion("Where does the animal stand?", "On the left bank", 3),
    criterion("What weather is it?", "Fog", 3),
]


def texts(criteria: list[Criterion], question: str, **options: Any) -> list[str]:
    """What is wrong with a set, in words."""
    return [broken.text for broken in check_criteria(criteria, question, **options)]


def test_good_criteria_break_no_rule() -> None:
    """Three criteria of total weight ten that give nothing away pass, and so does a single one."""
    assert texts(GOOD, "What is going on by the river?") == []
    assert texts([criterion("How many herons stand there?", "Two", 10)], "How many herons?") == []


def test_every_broken_rule_is_named() -> None:
    """Count, weights, a leak, a duplicate and a second final answer are all reported, with the numbers of the criteria."""
    bad = [
        criterion("Is the animal a grey heron?", "A grey heron", 4),
        criterion("is the animal a GREY heron", "Yes", 4),
    ]
    assert texts([one.model_copy(update={"final": True}) for one in bad], "What is seen?", count=(3, 5)) == [
        "there are 2 criteria, but 3 to 5 are asked for",
        "the weights sum to 8, not to 10",
        "more than one criterion is said to be the final answer",
        "the question of criterion 1 contains its own ground truth",
        "criteria 1 and 2 ask the same question",
    ]


@pytest.mark.parametrize(
    ("asked", "wrong"),
    [
        ("What price does the solution read for the Merlot?", "speaks of 'the solution'"),
        ("Which years does the response name?", "speaks of 'the response'"),
        ("What is the final answer?", "speaks of 'final answer'"),
        ("Which number is the answer given for the second step?", "speaks of 'is the answer'"),
        ("What would another solution say of the boat?", "speaks of 'another solution'"),
        ("Which animals are there, and where in the picture do they sit?", "more than one thing"),
        ("What does the sign say and in which colour is it written?", "more than one thing"),
        ("Is the boat moored?", "yes or no"),
        ("Doesn't the sail hang down?", "yes or no"),
        ("What price stands in the row Supreme?", ""),
        ("In the row Supreme, what price stands?", ""),
        ("Which of the two words, black and white, stands first?", ""),
        ("How many people are sitting or lying down?", ""),
        ("At which place, counted from the left, does the red bar come?", ""),
        ("By which operation do both equations lead to the answer?", ""),
        ("What colour has the salt solution in the beaker?", ""),
    ],
)
def test_questions_are_put_to_the_image_for_one_thing_each(asked: str, wrong: str) -> None:
    """What speaks of an answer, asks for two things, or can be answered by yes or no is refused; as published it is not."""
    found = texts([criterion(asked, "heron", 10)], "What is going on here?")
    assert [wrong in text for text in found] == ([True] if wrong else [])
    assert texts([criterion(asked, "heron", 10)], "What is going on here?", wording=False) == []


def test_the_samples_own_words_are_no_fault() -> None:
    """A solution that the question is about may be asked for, and the final answer by the question itself."""
    beakers = criterion("Which colour has the solution after an hour?", "Violet", 10)
    assert texts([beakers], "Which solution has changed its colour?") == []
    own = "Is it safe, and what would happen to the solution?"
    final = criterion(own, "No; it would boil", 10).model_copy(update={"final": True})
    assert texts([final], own) == []


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
