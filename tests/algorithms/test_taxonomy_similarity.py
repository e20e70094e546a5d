"""Groupings are compared as their measures say, and candidates for synonyms are found among many names."""

import random

import numpy as np
import pytest

from dokimasia.algorithms.trees.partitions import adjusted_rand, cluster_agreement, mapping_agreement
from dokimasia.algorithms.trees.synonyms import SynonymPair, candidate_synonyms, synonym_blocks


def planted(n: int, seed: int = 0) -> tuple[dict[str, str], dict[str, int]]:
    """Names of n // 4 planted things, four each: words in another order and number, with a stray word."""
    rng = random.Random(seed)
    syllables = [a + b for a in "bdfgklmnprstvz" for b in "aeiou"]
    vocabulary = ["".join(rng.sample(syllables, 3)) for _ in range(n)]
    texts: dict[str, str] = {}
    truth: dict[str, int] = {}
    for thing in range(n // 4):
        words = rng.sample(vocabulary, 3)
        for at in range(4):
            rng.shuffle(words)
            key = f"{rng.random():.12f}"
            texts[key], truth[key] = " ".join([*words[:-1], words[-1] + "s" * (at % 2), rng.choice(vocabulary)]), thing
    return texts, truth


@pytest.mark.parametrize("n", [200, 3000])
def test_planted_variants_are_candidates(n: int) -> None:
    """Nearly all pairs of one thing are found, in a list that is much shorter than all pairs."""
    texts, truth = planted(n)
    pairs = candidate_synonyms(texts)
    found = sum(truth[pair.first] == truth[pair.second] for pair in pairs)
    assert found >= 0.97 * 6 * (n // 4)
    assert len(pairs) <= 10 * n
    assert all(pair.first < pair.second for pair in pairs)
    assert [pair.similarity for pair in pairs] == sorted((pair.similarity for pair in pairs), reverse=True)


def test_the_order_of_texts_changes_nothing() -> None:
    """Texts in another order give the same pairs."""
    texts, _ = planted(1200)
    assert candidate_synonyms(dict(reversed(texts.items()))) == candidate_synonyms(texts)


def test_vectors_decide_where_they_are_given() -> None:
    """Names without a letter in common are candidates if their vectors are near; missing and odd vectors raise."""
    texts = {"1": "tally", "2": "counting", "3": "hue"}
    vectors = {"1": [1.0, 0.1, 0.0], "2": [0.9, 0.2, 0.0], "3": [0.0, 0.0, 2.0]}
    assert [pair[:2] for pair in candidate_synonyms(texts, vectors=vectors)] == [("1", "2")]
    assert candidate_synonyms(texts) == []
    for wrong in ({"1": [1.0]}, {**vectors, "3": [1.0]}, {**vectors, "3": [float("nan"), 0.0, 1.0]}):
        with pytest.raises(ValueError, match=r"vector"):
            candidate_synonyms(texts, vectors=wrong)


def test_many_vectors_are_searched() -> None:
    """Among 2,000 pairs of near vectors nearly all are found, and zeros and duplicates do no harm."""
    generator = np.random.default_rng(0)
    centres = generator.normal(size=(2000, 24))
    vectors = {
        f"{at}{twin}": (centres[at] + 0.2 * generator.normal(size=24)).tolist() for at in range(2000) for twin in "ab"
    }
    vectors |= {f"zero{at}": [0.0] * 24 for at in range(300)} | {f"same{at}": [1.0] * 24 for at in range(600)}
    pairs = candidate_synonyms(dict.fromkeys(vectors, ""), vectors=vectors, threshold=0.8)
    assert sum(pair.first[:-1] == pair.second[:-1] and pair.first[-1] == "a" for pair in pairs) >= 1900
    assert not any(pair.first.startswith("zero") for pair in pairs)


@pytest.mark.parametrize(
    "texts", [{}, {"a": "one"}, {"a": "", "b": ""}, {"a": "...", "b": "   "}, {"a": "", "b": "word"}]
)
def test_nothing_to_compare_gives_no_pair(texts: dict[str, str]) -> None:
    """No text, one text, empty texts and texts of signs have no candidates."""
    assert candidate_synonyms(texts) == []


def test_blocks_hold_the_most_alike_together() -> None:
    """Groups never exceed their size, name a key once, and join the most alike first."""
    texts, truth = planted(2000)
    pairs = candidate_synonyms(texts)
    blocks = synonym_blocks(pairs, size=12)
    keys = [key for block in blocks for key in block]
    assert len(keys) == len(set(keys))
    assert max(map(len, blocks)) <= 12
    block_of = {key: at for at, block in enumerate(blocks) for key in block}
    together = [len({block_of.get(key, key) for key in truth if truth[key] == thing}) == 1 for thing in range(500)]
    assert sum(together) >= 0.9 * 500
    assert synonym_blocks([], size=2) == []
    with pytest.raises(ValueError, match="fewer than two"):
        synonym_blocks([SynonymPair("a", "b", 1.0)], size=1)


def test_groupings_agree_as_far_as_they_are_equal() -> None:
    """Names of groups do not matter, chance is 0, and criteria that one grouping lacks are left out."""
    rng = random.Random(0)
    first = {str(at): at % 5 for at in range(500)}
    renamed = {key: f"leaf {group}" for key, group in first.items()} | {"other": "x"}
    assert adjusted_rand(first, renamed) == 1.0
    assert cluster_agreement(first, renamed)[:2] == (500, 1.0)
    assert abs(adjusted_rand(first, {key: rng.randrange(5) for key in first})) < 0.03
    with pytest.raises(ValueError, match="in common"):
        adjusted_rand(first, {"no": 1})


def test_mappings_agree_by_hit_rate_and_kappa() -> None:
    """Unplaced is an answer; where both name one leaf throughout kappa has no value."""
    assert mapping_agreement({"a": "x", "b": None}, {"a": "x", "b": None}).hit_rate == 1.0
    assert mapping_agreement({"a": "x", "b": "x"}, {"a": "x", "b": "x"}).kappa is None
    assert mapping_agreement({"a": "x", "b": None}, {"a": "x", "b": "y"}) == (2, 0.5, pytest.approx(1 / 3))
