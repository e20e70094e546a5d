"""A taxonomy's validity is what its definition says, and is told from chance."""

import random
from statistics import fmean

import numpy as np
import pytest

from dokimasia.algorithms.taxonomy import Validity, permutation_null, validity


def world(seed: int, *, samples: int = 40, effect: float = 0.0) -> tuple[dict, dict, dict]:
    """Scores of two models; a sample's criteria share a response and mostly a leaf, which counts as much as `effect`."""
    generator = np.random.default_rng(seed)
    scores: dict[str, dict[str, float]] = {"m": {}, "n": {}}
    leaf_of: dict[str, int] = {}
    sample_of: dict[str, str] = {}
    for sample in range(samples):
        theme, shared = int(generator.integers(5)), generator.normal(size=2)
        for at in range(3 + sample % 2):
            name = f"{sample}#{at}"
            leaf = theme if generator.random() < 0.7 else int(generator.integers(5))
            leaf_of[name], sample_of[name] = leaf, str(sample)
            for model, common in zip(scores, shared, strict=True):
                value = 50 + effect * (leaf - 2) + 12 * common + 12 * generator.normal()
                scores[model][name] = float(np.clip(value, 0, 100))
    return scores, leaf_of, sample_of


def by_definition(scores: dict, leaf_of: dict, sample_of: dict | None) -> Validity:
    """The errors as the definition reads, pair by pair."""
    overall, within = [], []
    for own in scores.values():
        known = [a for a in own if a in leaf_of and (sample_of is None or a in sample_of)]
        for a in known:
            others = [b for b in known if (b != a if sample_of is None else sample_of[b] != sample_of[a])]
            near = [own[b] for b in others if leaf_of[b] == leaf_of[a]]
            if near:
                overall.append(abs(own[a] - fmean(own[b] for b in others)))
                within.append(abs(own[a] - fmean(near)))
    return Validity(fmean(within), fmean(overall), fmean(overall) - fmean(within), len(within))


@pytest.mark.parametrize("apart", [False, True], ids=["as published", "without the sample's own"])
@pytest.mark.parametrize("seed", range(5))
def test_errors_are_those_of_the_definition(seed: int, apart: bool) -> None:
    """With scores, leaves and samples missing here and there, all figures equal a plain computation."""
    scores, leaf_of, sample_of = world(seed, samples=12, effect=10)
    rng = random.Random(seed)
    for own in scores.values():
        for name in rng.sample(sorted(own), 6):
            del own[name]
    for mapping in (leaf_of, sample_of):
        for name in rng.sample(sorted(mapping), 3):
            del mapping[name]
    leaf_of[next(iter(leaf_of))] = 99
    groups = sample_of if apart else None
    ours, plain = validity(scores, leaf_of, groups), by_definition(scores, leaf_of, groups)
    assert ours.n == plain.n
    assert ours[:3] == pytest.approx(plain[:3], abs=1e-9)


def test_what_cannot_be_predicted_has_no_figure() -> None:
    """Single criteria in leaves, no model, or one sample alone: no pair, None and not 0."""
    nothing = Validity(None, None, None, 0)
    assert validity({"m": {"a": 1.0, "b": 2.0}}, {"a": "x", "b": "y"}) == nothing
    assert validity({}, {}) == nothing
    assert validity({"m": {"a": 1.0, "b": 2.0}}, {"a": "x", "b": "x"}, {"a": "s", "b": "s"}) == nothing
    with pytest.raises(ValueError, match="not finite"):
        validity({"m": {"a": float("nan"), "b": 2.0}}, {"a": "x", "b": "x"})
    with pytest.raises(ValueError, match="nothing to predict"):
        permutation_null({"m": {"a": 1.0, "b": 2.0}}, {"a": "x", "b": "y"}, {"a": "s", "b": "s"}, seed=0)


@pytest.mark.parametrize("apart", [False, True], ids=["as published", "without the sample's own"])
def test_leaves_that_matter_are_beyond_chance(apart: bool) -> None:
    """Where leaves matter, delta lies beyond the 99th percentile of the null, in each of ten worlds."""
    for seed in range(10):
        scores, leaf_of, sample_of = world(seed, effect=10)
        null = permutation_null(scores, leaf_of, sample_of, leave_cluster_out=apart, seed=seed)
        assert null.validity == pytest.approx(validity(scores, leaf_of, sample_of if apart else None))
        assert null.validity.delta is not None
        assert null.validity.delta > null.percentile(99)
        assert null.p_value is not None
        assert null.p_value <= 0.01


def test_p_values_are_uniform_where_leaves_say_nothing() -> None:
    """In a null world p-values are uniform over 200 seeds; exchanging single criteria finds far too much."""
    from scipy import stats

    ours, single = [], []
    for seed in range(200):
        scores, leaf_of, sample_of = world(seed, samples=30)
        ours.append(permutation_null(scores, leaf_of, sample_of, seed=seed).p_value)
        single.append(permutation_null(scores, leaf_of, {one: one for one in leaf_of}, seed=seed).p_value)
    assert stats.kstest(ours, "uniform").pvalue > 0.01
    assert None not in [*ours, *single]
    assert sum(p <= 0.05 for p in ours) <= 31 * 200 // 400
    assert sum(p <= 0.05 for p in single) > 31 * 200 // 400


def test_random_leaves_predict_worse_than_the_mean() -> None:
    """The null lies below 0."""
    scores, leaf_of, sample_of = world(3)
    null = permutation_null(scores, leaf_of, sample_of, seed=0)
    assert fmean(null.deltas) < 0
    assert len(null.deltas) == 200
    assert null.exchanged == 1.0


def test_the_order_of_arrival_changes_nothing() -> None:
    """Criteria in another order give the same p-value and the same null."""
    scores, leaf_of, sample_of = world(4, effect=2)
    backwards = [dict(reversed(mapping.items())) for mapping in (leaf_of, sample_of)]
    one = permutation_null(scores, leaf_of, sample_of, seed=1)
    other = permutation_null(
        {m: dict(reversed(own.items())) for m, own in reversed(scores.items())}, *backwards, seed=1
    )
    assert one == other


def test_a_sample_of_its_own_size_keeps_its_leaves() -> None:
    """Where no two samples have equal numbers of criteria nothing can be exchanged: no p-value, and why."""
    leaf_of = {f"{sample}#{at}": at % 2 for sample in range(1, 5) for at in range(sample)}
    scores = {"m": {name: 100.0 * leaf for name, leaf in leaf_of.items()}}
    null = permutation_null(scores, leaf_of, {name: name[0] for name in leaf_of}, seed=0)
    assert (null.p_value, null.exchanged) == (None, 0.0)
    assert "in 1 way (at least 200 are needed)" in null.reason
