# pyright: standard
# scikit-learn ships no types; its results are annotated at once.
"""Candidate synonyms: nearest neighbours of texts, or of embeddings."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dokimasia.algorithms.statistics.clusters import Floats, Positions

NEIGHBOURS = 10
"""The number of nearest neighbours to consider for each text."""

THRESHOLD = 0.3
BLOCK = 20

_TREES, _TREES_OF_VECTORS = 3, 8
_LEAF = 512
_PART = 256
_DIMENSIONS = 192
_RARE = 200
_HEAVIEST = 12
_ROWS = 2_000

Vectors = NDArray[np.float32]


class SynonymPair(NamedTuple):
    """Two keys in order, and their cosine similarity: up to 1, higher is more similar."""

    first: str
    second: str
    similarity: float


def candidate_synonyms(
    texts: Mapping[str, str],
    *,
    vectors: Mapping[str, Sequence[float]] | None = None,
    threshold: float = THRESHOLD,
    seed: int = 0,
) -> list[SynonymPair]:
    """Return the pairs of texts that may mean the same.

    Parameters
    ----------
    texts : mapping of str to str
        Key (a leaf's id, say) to text (its name, its parent's name, a few of its criteria).
    vectors : mapping of str to sequence of float, optional
        An embedding of each key, all of one length; by default a text is represented by its character and word n-grams,
        weighted by rarity (TF-IDF), which finds other spellings and word orders, but not other words.
    threshold : float
        Minimum similarity of a pair.
    seed : int
        Seed of the search. The order of the texts does not matter.

    Returns
    -------
    list of SynonymPair
        The most similar first, then by key; each pair once.

    Raises
    ------
    ValueError
        If a key has no vector, or vectors differ in length or are not finite.

    Notes
    -----
    Up to 512 texts, all pairs are considered. Larger sets are split repeatedly by random hyperplanes into parts of at
    most 256, and neighbours are searched within the parts; texts are also compared with those that share one of their
    twelve heaviest n-grams, if at most 200 texts have it. Time grows as n log n; a neighbour may be missed.

    References
    ----------
    Dasgupta and Freund, Random projection trees and low dimensional manifolds, 2008.

    Examples
    --------
    >>> names = {"1": "object counting", "2": "counting of objects", "3": "colour recognition"}
    >>> [(pair.first, pair.second) for pair in candidate_synonyms(names)]
    [('1', '2')]
    """
    keys = sorted(texts)
    if len(keys) < 2:
        return []
    rows = _ngrams([texts[key] for key in keys]) if vectors is None else _rows_of_vectors(keys, vectors)
    count = min(NEIGHBOURS, len(keys) - 1)
    trees = _TREES if vectors is None else _TREES_OF_VECTORS
    near = _neighbours(_projected(rows, seed), count, seed, trees=trees)
    if vectors is None and len(keys) > _LEAF:
        near = np.hstack([near, _sharing(rows, count)])
    first, second = _pairs(near)
    similarities = _cosines(rows, first, second)
    chosen = np.flatnonzero(similarities >= threshold)
    pairs = [SynonymPair(keys[first[at]], keys[second[at]], round(float(similarities[at]), 6)) for at in chosen]
    return sorted(pairs, key=lambda pair: (-pair.similarity, pair.first, pair.second))


def synonym_blocks(pairs: Iterable[SynonymPair], *, size: int = BLOCK) -> list[tuple[str, ...]]:
    """Return groups of keys to judge together; the most similar keys join first, up to the size of a group.

    Parameters
    ----------
    pairs : iterable of SynonymPair
        Candidates.
    size : int
        Maximum number of keys in a group, at least 2.

    Returns
    -------
    list of tuple of str
        Sorted; each key of a pair is in one group. Keys that fit into no group with any of their candidates are left
        out.

    Raises
    ------
    ValueError
        If `size` is below 2.

    Examples
    --------
    >>> synonym_blocks([SynonymPair("a", "b", 0.9), SynonymPair("b", "c", 0.8), SynonymPair("d", "e", 0.7)], size=2)
    [('a', 'b'), ('d', 'e')]
    """
    if size < 2:
        raise ValueError(f"a group of fewer than two has nothing to compare: {size}")
    group_of: dict[str, list[str]] = {}
    for first, second, _ in sorted(pairs, key=lambda pair: (-pair.similarity, pair.first, pair.second)):
        group, other = group_of.get(first, [first]), group_of.get(second, [second])
        if group is other or len(group) + len(other) > size:
            continue
        group.extend(other)
        for key in group:
            group_of[key] = group
    return sorted({id(group): tuple(sorted(group)) for group in group_of.values()}.values())


def _ngrams(texts: list[str]) -> Any:
    """Return each text as a sparse row of unit length, half characters, half words; an empty row without words."""
    from scipy.sparse import csr_matrix, hstack
    from sklearn.feature_extraction.text import TfidfVectorizer

    parts: list[object] = []
    options: dict[str, Any] = {"sublinear_tf": True, "dtype": np.float32, "strip_accents": "unicode"}
    for kind in ({"analyzer": "char_wb", "ngram_range": (2, 4)}, {"token_pattern": r"\w+", "ngram_range": (1, 2)}):
        try:
            parts.append(TfidfVectorizer(**kind, **options).fit_transform(texts))
        except ValueError:  # scikit-learn's term for texts that consist of spaces or signs
            parts.append(csr_matrix((len(texts), 1), dtype=np.float32))
    return (hstack(parts, format="csr") * np.float32(0.5**0.5)).tocsr()


def _rows_of_vectors(keys: list[str], vectors: Mapping[str, Sequence[float]]) -> Vectors:
    missing = [key for key in keys if key not in vectors]
    if missing:
        raise ValueError(f"{len(missing)} texts have no vector: {', '.join(missing[:5])}")
    if len({len(vectors[key]) for key in keys}) > 1:
        raise ValueError("the vectors differ in length")
    rows = np.array([vectors[key] for key in keys], dtype=np.float32)
    if not np.isfinite(rows).all():
        raise ValueError("a vector is not finite")
    return _unit(rows)


def _unit(rows: Vectors) -> Vectors:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)


def _projected(rows: Any, seed: int) -> Vectors:
    """Return rows, sparse or dense, projected to few dimensions, which keeps their cosines up to some noise."""
    if rows.shape[1] <= _DIMENSIONS:
        if isinstance(rows, np.ndarray):
            return rows
        return _unit(rows.toarray())
    generator = np.random.default_rng(seed)
    signs = generator.integers(0, 2, size=(rows.shape[1], _DIMENSIONS), dtype=np.int8).astype(np.float32) * 2 - 1
    return _unit(np.asarray(rows @ signs, dtype=np.float32))


def _neighbours(rows: Vectors, count: int, seed: int, *, trees: int) -> NDArray[np.int64]:
    """Return, for each row, the numbers of its nearest rows in each of its parts; -1 for none."""
    generator = np.random.default_rng(seed + 1)
    neighbours: list[NDArray[np.int64]] = []
    for _ in range(1 if len(rows) <= _LEAF else trees):
        near = np.full((len(rows), count), -1, dtype=np.int64)
        waiting = [np.arange(len(rows))]
        while waiting:
            part = waiting.pop()
            if len(part) > (_LEAF if len(rows) <= _LEAF else _PART):
                waiting += _halves(rows, part, generator)
                continue
            similarities = rows[part] @ rows[part].T
            np.fill_diagonal(similarities, -np.inf)
            take = min(count, len(part) - 1)
            if take > 0:
                near[part, :take] = part[np.argpartition(-similarities, take - 1, axis=1)[:, :take]]
        neighbours.append(near)
    return np.hstack(neighbours)


def _sharing(rows: Any, count: int) -> NDArray[np.int64]:
    """Return, for each row, the numbers of the rows that share most weight of its rare features; -1 for none."""
    from scipy.sparse import csr_matrix

    near = np.full((rows.shape[0], count), -1, dtype=np.int64)
    holders = np.bincount(rows.indices, minlength=rows.shape[1])
    rare: Any = csr_matrix(rows[:, np.flatnonzero((holders > 1) & (holders <= _RARE))])
    row = np.repeat(np.arange(len(near)), np.diff(rare.indptr))
    order = np.lexsort((rare.indices, -rare.data, row))
    heavy = order[np.arange(len(order)) - rare.indptr[row] < _HEAVIEST]
    rare = csr_matrix((rare.data[heavy], (row[heavy], rare.indices[heavy])), shape=rare.shape)
    columns = rare.T.tocsr()
    for start in range(0, len(near), _ROWS):
        shared = (rare[start : start + _ROWS] @ columns).tocsr()
        row = np.repeat(np.arange(start, start + shared.shape[0]), np.diff(shared.indptr))
        other = row != shared.indices
        row, column, weight = row[other], shared.indices[other], shared.data[other]
        order = np.lexsort((column, -weight, row))
        row, column = row[order], column[order]
        rank = np.arange(len(row)) - np.searchsorted(row, row)
        best = rank < count
        near[row[best], rank[best]] = column[best]
    return near


def _halves(rows: Vectors, part: Positions, generator: np.random.Generator) -> list[Positions]:
    """Return a part split into two equal halves along the line between two of its rows."""
    first, second = generator.choice(part, 2, replace=False)
    order = np.argsort(rows[part] @ (rows[first] - rows[second]), kind="stable")
    middle = len(part) // 2
    return [part[order[:middle]], part[order[middle:]]]


def _pairs(near: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return each pair of neighbours once, the smaller number first."""
    size = len(near)
    row = np.repeat(np.arange(size), near.shape[1])
    column = near.ravel()
    row, column = row[column >= 0], column[column >= 0]
    keys = np.unique(np.minimum(row, column) * size + np.maximum(row, column))
    return keys // size, keys % size


def _cosines(rows: Any, first: NDArray[np.int64], second: NDArray[np.int64]) -> Floats:
    """Return the exact similarity of pairs of unit rows, in bounded memory."""
    similarities = np.empty(len(first))
    for start in range(0, len(first), 50_000):
        chunk = slice(start, start + 50_000)
        left, right = rows[first[chunk]], rows[second[chunk]]
        product = left.multiply(right) if hasattr(left, "multiply") else left * right
        similarities[chunk] = np.asarray(product.sum(axis=1)).ravel()
    return similarities
