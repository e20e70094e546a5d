"""Groupings without a model: alike things together, whatever their order; nothing from nothing."""

import pytest

from dokimasia.algorithms.trees.groupings import group_by_words, text_clusters, vector_clusters

TEXTS = {f"c{at}": ("How many cups are there?", "Which colour is the cup?")[at % 2] for at in range(10)}


def test_the_order_does_not_matter() -> None:
    """The same things in another order fall into the same groups."""
    turned = dict(reversed(list(TEXTS.items())))
    assert text_clusters(TEXTS, 2, seed=0) == text_clusters(turned, 2, seed=0)
    vectors = {key: [float(at % 3), float(at)] for at, key in enumerate(TEXTS)}
    assert vector_clusters(vectors, 3, seed=1) == vector_clusters(dict(reversed(list(vectors.items()))), 3, seed=1)


def test_more_groups_than_things() -> None:
    """There are never more groups than different things."""
    assert len(set(text_clusters(TEXTS, 50, seed=0).values())) == 2
    assert set(vector_clusters({"a": [1.0], "b": [1.0]}, 5, seed=0).values()) == {0}


def test_nothing_to_group() -> None:
    """No things, no groups, and texts without a word are no error."""
    assert group_by_words({}, {"a": "b"}) == group_by_words({"a": "b"}, {}) == {}
    assert group_by_words({"a": "?"}, {"b": "!"}) == {}
    assert text_clusters({}, 3, seed=0) == {}
    assert vector_clusters({}, 3, seed=0) == {}
    assert text_clusters({"a": "?", "b": "!"}, 3, seed=0) == {"a": 0, "b": 0}


def test_what_cannot_be_grouped() -> None:
    """Vectors of several lengths or without end, and no groups at all, are refused."""
    with pytest.raises(ValueError, match="differ in length"):
        vector_clusters({"a": [1.0], "b": [1.0, 2.0]}, 2, seed=0)
    with pytest.raises(ValueError, match="not finite"):
        vector_clusters({"a": [float("nan")]}, 1, seed=0)
    with pytest.raises(ValueError, match="0 groups"):
        text_clusters(TEXTS, 0, seed=0)
