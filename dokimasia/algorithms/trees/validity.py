"""Whether the leaves of a taxonomy predict scores: ATOM's leave-one-out errors, and their null distribution."""

from collections.abc import Hashable, Mapping
from typing import NamedTuple

import numpy as np

from dokimasia.algorithms.statistics.clusters import Floats
from dokimasia.algorithms.statistics.exchange import Exchange, Whole

PERMUTATIONS = 200
_ROUNDING = 1e-9

Scores = Mapping[str, Mapping[str, float]]


class Validity(NamedTuple):
    """How well leaves predict scores.

    `mae_intra` and `mae_global` are mean absolute errors in points of the scores (lower is better), `delta` is the
    second minus the first (higher is better), `n` the number of (model, criterion) pairs; None where n is 0.
    """

    mae_intra: float | None
    mae_global: float | None
    delta: float | None
    n: int


class Null(NamedTuple):
    """A taxonomy's validity, and the validity of the same leaves assigned to samples by chance.

    `p_value` is (1 + number of permutations at or above the taxonomy's delta) / (1 + number of permutations); with fewer
    than 200 distinct exchanges it is None, and `reason` says so. `deltas` are those of the permutations, in ascending
    order; `exchanged` is the share of criteria that could move: a cluster with a unique number of criteria keeps its leaves.
    """

    validity: Validity
    p_value: float | None
    deltas: tuple[float, ...]
    exchanged: float
    reason: str = ""

    def percentile(self, percent: float) -> float:
        """Return a percentile, 0 to 100, of the permutations' deltas."""
        return float(np.percentile(np.array(self.deltas), percent))


class _Table(NamedTuple):
    """Scores by model and criterion, in the order of `exchange`: the criteria of a cluster are adjacent."""

    scores: Floats
    present: Floats
    leaf: Whole
    leaves: int
    exchange: Exchange


def validity(
    scores_by_model: Scores, leaf_of: Mapping[str, Hashable], sample_of: Mapping[str, Hashable] | None = None
) -> Validity:
    """Return how much better a criterion's score is predicted from its leaf than from all criteria.

    For a model and a criterion, the global prediction is the model's mean over all other criteria, and the prediction
    within the leaf is its mean over the others in the same leaf.

    Parameters
    ----------
    scores_by_model : mapping of str to mapping of str to float
        Model to criterion to score, 0 to 100. A missing score is left out, or None.
    leaf_of : mapping of str to hashable
        Criterion to leaf. Criteria without a leaf are ignored.
    sample_of : mapping of str to hashable, optional
        Criterion to sample. If given, the criteria of the same sample are left out of both predictions, since they
        share one response; criteria without a sample are then ignored.

    Returns
    -------
    Validity
        Errors are pooled over the pairs for which both predictions exist: the model has scored another criterion of
        the leaf (of another sample, with `sample_of`).

    Raises
    ------
    ValueError
        If a score is not finite.

    References
    ----------
    ATOM, appendix F.1 and table 3; leaving out the sample is an addition.

    Examples
    --------
    >>> scores = {"m": {"a": 0.0, "b": 0.0, "c": 100.0, "d": 100.0, "e": 50.0}}
    >>> validity(scores, {"a": "low", "b": "low", "c": "high", "d": "high", "e": "alone"})
    Validity(mae_intra=0.0, mae_global=62.5, delta=62.5, n=4)
    """
    table = _tabulate(scores_by_model, leaf_of, sample_of)
    by_sample = sample_of is not None
    return _measure(
        table, table.leaf, _groups(table) if by_sample else None, _global_errors(table, leave_cluster_out=by_sample)
    )


def permutation_null(
    scores_by_model: Scores,
    leaf_of: Mapping[str, Hashable],
    cluster_of: Mapping[str, Hashable],
    *,
    leave_cluster_out: bool = False,
    permutations: int = PERMUTATIONS,
    seed: int,
) -> Null:
    """Return a taxonomy's validity and its permutation test.

    A permutation exchanges the leaves of whole clusters between clusters with equal numbers of criteria, the same for
    all models. A cluster comprises all questions about one image: exchanging samples or single criteria would ignore that
    they share an image, a theme and, within a sample, a response, and would produce too many false findings. Since
    random leaves are noisier than the global mean, the deltas lie below 0.

    Parameters
    ----------
    scores_by_model, leaf_of : mapping
        As `validity`.
    cluster_of : mapping of str to hashable
        Criterion to cluster. The criteria of a cluster are taken in the order of their ids.
    leave_cluster_out : bool
        Whether predictions leave out the criteria of the same cluster, as `validity` does with clusters as samples.
    permutations : int
        At least 1; 200 or more for a meaningful p-value.
    seed : int
        Seed of the permutations. The order of the criteria does not matter.

    Returns
    -------
    Null
        Under the null hypothesis that leaves say nothing about scores, the p-value is at or below q with a probability
        of at most q.

    Raises
    ------
    ValueError
        If a score is not finite, there is no pair to predict, or `permutations` is below 1.

    References
    ----------
    Phipson and Smyth, Permutation p-values should never be zero, 2010.

    Examples
    --------
    >>> scores = {"m": {f"{sample}.{i}": 100.0 * i for sample in range(20) for i in (0, 1)}}
    >>> criteria = list(scores["m"])
    >>> by_theme = {criterion: "easy" if criterion.endswith("1") else "hard" for criterion in criteria}
    >>> null = permutation_null(scores, by_theme, {criterion: criterion[:-2] for criterion in criteria}, seed=0)
    >>> null.validity.delta > 50, null.p_value, null.exchanged
    (True, None, 1.0)

    In this example every sample has the same leaves in the same order, so that exchanging them changes nothing.
    """
    if permutations < 1:
        raise ValueError(f"a null distribution needs at least one permutation: {permutations}")
    table = _tabulate(scores_by_model, leaf_of, cluster_of)
    groups = _groups(table)
    errors = _global_errors(table, leave_cluster_out=leave_cluster_out)
    observed = _measure(table, table.leaf, groups if leave_cluster_out else None, errors)
    if observed.delta is None:
        raise ValueError("no leaf holds two scored criteria: there is nothing to predict")
    start = table.exchange.start
    offset = groups - start
    deltas = np.empty(permutations)
    for at, source in enumerate(table.exchange.draw(permutations, seed=seed)):
        moved = start + offset[source] if leave_cluster_out else None
        exchanged = _measure(table, table.leaf[source], moved, errors).delta
        deltas[at] = -np.inf if exchanged is None else exchanged
    tolerance = _ROUNDING * max(1.0, abs(observed.delta))
    n_above = int(np.count_nonzero(deltas >= observed.delta - tolerance))
    reason = table.exchange.untested(table.leaf)
    p_value = None if reason else (1 + n_above) / (1 + permutations)
    return Null(observed, p_value, tuple(np.sort(deltas).tolist()), table.exchange.share, reason)


def _tabulate(
    scores_by_model: Scores, leaf_of: Mapping[str, Hashable], sample_of: Mapping[str, Hashable] | None
) -> _Table:
    """Return the scores of all criteria with a leaf (and a sample), in an order that depends only on their ids."""
    scored: set[str] = set()
    for scores in scores_by_model.values():
        scored.update(scores)
    usable = sorted(
        criterion for criterion in scored if criterion in leaf_of and (sample_of is None or criterion in sample_of)
    )
    exchange = Exchange(usable if sample_of is None else [sample_of[criterion] for criterion in usable])
    order: list[int] = exchange.order.tolist()
    usable = [usable[at] for at in order]
    numbers: dict[Hashable, int] = {}
    leaf = np.array([numbers.setdefault(leaf_of[criterion], len(numbers)) for criterion in usable], dtype=np.intp)
    rows = [[scores_by_model[model].get(criterion) for criterion in usable] for model in sorted(scores_by_model)]
    values = np.array(rows, dtype=np.float64).reshape(len(rows), len(usable))
    present = np.array([[value is not None for value in row] for row in rows], dtype=np.bool_).reshape(values.shape)
    if not np.isfinite(values[present]).all():
        raise ValueError("a score is not finite; what is missing is left out")
    return _Table(np.where(present, values, 0.0), present.astype(np.float64), leaf, len(numbers), exchange)


def _groups(table: _Table) -> Whole:
    """Return, for each criterion, the position of the first criterion of the same cluster and leaf."""
    keys = table.exchange.cluster * table.leaves + table.leaf
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    return first[inverse].astype(np.intp)


def _global_errors(table: _Table, *, leave_cluster_out: bool) -> Floats:
    """Return the error of predicting each score by the mean of all other criteria; NaN if there are none."""
    cluster = table.exchange.cluster
    rows: list[Floats] = []
    for scores, present in zip(table.scores, table.present, strict=True):
        if leave_cluster_out:
            group_sums = np.bincount(cluster, scores)[cluster]
            group_counts = np.bincount(cluster, present)[cluster]
        else:
            group_sums, group_counts = scores, present
        others = present.sum() - group_counts
        predicted = np.divide(
            scores.sum() - group_sums, others, out=np.full_like(scores, np.nan), where=(others > 0) & (present > 0)
        )
        rows.append(np.abs(scores - predicted))
    return np.array(rows).reshape(table.scores.shape)


def _measure(table: _Table, leaf: Whole, groups: Whole | None, global_errors: Floats) -> Validity:
    """Return the pooled errors; `groups` joins criteria that are left out together, None leaves out one at a time."""
    within = overall = 0.0
    pairs = 0
    size = len(leaf)
    for scores, present, errors in zip(table.scores, table.present, global_errors, strict=True):
        sums = np.bincount(leaf, scores, minlength=table.leaves)[leaf]
        counts = np.bincount(leaf, present, minlength=table.leaves)[leaf]
        if groups is None:
            group_sums, group_counts = scores, present
        else:
            group_sums = np.bincount(groups, scores, minlength=size)[groups]
            group_counts = np.bincount(groups, present, minlength=size)[groups]
        others = counts - group_counts
        use = np.flatnonzero((others > 0.5) & (present > 0) & ~np.isnan(errors))
        within += float(np.abs(scores[use] - (sums[use] - group_sums[use]) / others[use]).sum())
        overall += float(errors[use].sum())
        pairs += len(use)
    if pairs == 0:
        return Validity(None, None, None, 0)
    return Validity(within / pairs, overall / pairs, (overall - within) / pairs, pairs)
