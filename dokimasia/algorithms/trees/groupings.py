# pyright: standard
# scikit-learn ships no types; its results are annotated at once.
"""Grouping without a model: by words shared with named groups, and by distance of vectors."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from dokimasia.algorithms.statistics.clusters import Floats

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

_STARTS = 4


def group_by_words(texts: Mapping[str, str], groups: Mapping[str, str]) -> dict[str, str]:
    """Return, for each text, the group whose description is most similar by weighted words.

    Parameters
    ----------
    texts : mapping of str to str
        Key to text.
    groups : mapping of str to str
        Group to the words that describe it.

    Returns
    -------
    dict of str to str
        Key to group. Texts that share no word with any group are left out. Among equally similar groups, the first is
        used.

    Examples
    --------
    >>> group_by_words({"1": "How many dogs are there?", "2": "Hm?"}, {"counting": "count how many", "colour": "colour"})
    {'1': 'counting'}
    """
    if not texts or not groups:
        return {}
    from sklearn.feature_extraction.text import TfidfVectorizer

    keys, names = sorted(texts), list(groups)
    vectorizer = TfidfVectorizer(token_pattern=r"\w+", sublinear_tf=True, strip_accents="unicode")
    try:
        group_rows: csr_matrix = vectorizer.fit_transform([groups[name] for name in names])
    except ValueError:  # scikit-learn's term for groups without a single word
        return {}
    similarity = np.asarray((vectorizer.transform([texts[key] for key in keys]) @ group_rows.T).todense())
    best = similarity.argmax(axis=1)
    return {key: names[best[at]] for at, key in enumerate(keys) if similarity[at, best[at]] > 0}


def text_clusters(texts: Mapping[str, str], count: int, *, seed: int) -> dict[str, int]:
    """Return groups of texts with similar words: k-means on TF-IDF of their words and pairs of words.

    Parameters
    ----------
    texts : mapping of str to str
        Key to text.
    count : int
        The number of groups, at least 1; fewer if there are fewer distinct texts.
    seed : int
        Seed of the first centres. The order of the texts does not matter.

    Returns
    -------
    dict of str to int
        Key to the number of its group.

    Examples
    --------
    >>> clusters = text_clusters({"a": "red colour", "b": "which colour", "c": "how many"}, 2, seed=0)
    >>> clusters["a"] == clusters["b"], clusters["a"] == clusters["c"]
    (True, False)
    """
    if not texts:
        return {}
    from sklearn.feature_extraction.text import TfidfVectorizer

    keys = sorted(texts)
    try:
        rows: csr_matrix = TfidfVectorizer(token_pattern=r"\w+", ngram_range=(1, 2), sublinear_tf=True).fit_transform(
            [texts[key] for key in keys]
        )
    except ValueError:  # no text has a word
        return dict.fromkeys(keys, 0)
    return dict(zip(keys, _means(rows, count, seed), strict=True))


def vector_clusters(vectors: Mapping[str, Sequence[float]], count: int, *, seed: int) -> dict[str, int]:
    """Return groups of keys with similar vectors: k-means on standardised dimensions.

    Parameters
    ----------
    vectors : mapping of str to sequence of float
        Key to vector, all of one length.
    count : int
        The number of groups, at least 1; fewer if there are fewer distinct vectors.
    seed : int
        Seed of the first centres. The order does not matter.

    Returns
    -------
    dict of str to int
        Key to the number of its group.

    Raises
    ------
    ValueError
        If the vectors differ in length or are not finite.

    Examples
    --------
    >>> clusters = vector_clusters({"a": [0, 0], "b": [0, 1], "c": [9, 9]}, 2, seed=0)
    >>> clusters["a"] == clusters["b"], clusters["a"] == clusters["c"]
    (True, False)
    """
    if not vectors:
        return {}
    keys = sorted(vectors)
    if len({len(vectors[key]) for key in keys}) > 1:
        raise ValueError("the vectors differ in length")
    rows = np.array([vectors[key] for key in keys], dtype=np.float64)
    if not np.isfinite(rows).all():
        raise ValueError("a vector is not finite")
    spread = rows.std(axis=0)
    rows = (rows - rows.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return dict(zip(keys, _means(rows, count, seed), strict=True))


def _means(rows: "csr_matrix | Floats", count: int, seed: int) -> list[int]:
    """Return the group of each row, numbered by the first row that belongs to it."""
    from sklearn.cluster import KMeans

    if count < 1:
        raise ValueError(f"there is no grouping into {count} groups")
    different = len({row.tobytes() for row in rows}) if isinstance(rows, np.ndarray) else _different(rows)
    options: dict[str, Any] = {"n_clusters": min(count, different), "n_init": _STARTS, "random_state": seed}
    labels = KMeans(**options).fit_predict(rows)
    numbers: dict[int, int] = {}
    return [numbers.setdefault(int(label), len(numbers)) for label in labels]


def _different(rows: "csr_matrix") -> int:
    """Return the number of distinct rows of a sparse matrix."""
    sorted_rows = rows.tocsr().sorted_indices()
    starts = sorted_rows.indptr
    return len({(sorted_rows.indices[a:b].tobytes(), sorted_rows.data[a:b].tobytes()) for a, b in pairwise(starts)})
