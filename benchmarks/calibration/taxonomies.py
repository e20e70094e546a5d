"""The capability tree's tests and intervals, in worlds where capability says nothing about scores."""

from statistics import NormalDist

import numpy as np

from benchmarks.calibration.trials import Seed, tested, trial
from dokimasia.algorithms.taxonomy import add_all, assign, new_tree, permutation_null
from dokimasia.algorithms.trees.weakness import node_findings

SAMPLES, MODELS, LEAVES, PARENTS = 60, 3, 8, 4
SIZES = (3, 4, 5)
"""Criteria of a sample, in turn."""

SCORES, SHARES = np.array([0.0, 25.0, 50.0, 75.0, 100.0]), np.array([0.1, 0.1, 0.15, 0.2, 0.45])
ALIKE = 0.4
"""How far the scores of one response go together."""

THEME = 0.7
"""How often a criterion belongs to its sample's theme, so that the leaves of a sample go together too."""

LOOKED_AT = "<A><Parent 0><Leaf 0>"


def taxonomy(seed: int) -> Seed:
    """A null world: a sample's criteria share a response and a theme, and the theme says nothing about the scores."""
    generator = np.random.default_rng(seed)
    sizes = [SIZES[at % len(SIZES)] for at in range(SAMPLES)]
    criteria = [f"s{sample:02d}#{at}" for sample, size in enumerate(sizes) for at in range(size)]
    sample_of = {one: one.partition("#")[0] for one in criteria}
    index = np.repeat(np.arange(SAMPLES), sizes)
    theme = generator.integers(0, LEAVES, SAMPLES)[index]
    stray = generator.integers(0, LEAVES, len(criteria))
    chosen = np.where(generator.random(len(criteria)) < THEME, theme, stray)
    paths = [f"<{'AB'[leaf % PARENTS % 2]}><Parent {leaf % PARENTS}><Leaf {leaf}>" for leaf in range(LEAVES)]
    leaf_of = {one: paths[leaf] for one, leaf in zip(criteria, chosen.tolist(), strict=True)}
    scores = {f"m{model}": _scores(generator, criteria, index) for model in range(MODELS)}
    published = permutation_null(scores, leaf_of, sample_of, seed=seed)
    apart = permutation_null(scores, leaf_of, sample_of, leave_cluster_out=True, seed=seed)
    single = permutation_null(scores, leaf_of, {one: one for one in criteria}, seed=seed)
    tree = assign(add_all(new_tree("AB"), paths), leaf_of)
    found = {one.node: one for one in node_findings(tree, scores["m0"], sample_of, seed=seed, permutations=1000)}
    return Seed(
        {
            f"score at a leaf, {name}": trial(found[name].interval, float(SCORES @ SHARES))
            for name in (LOOKED_AT, "<A>")
        },
        {
            "validity of leaves, null world": tested(published.p_value),
            "validity of leaves without the sample's own, null world": tested(apart.p_value),
            "validity of leaves, single criteria exchanged, unclustered": tested(single.p_value),
            "weakness of one category, null world": tested(found["<A>"].p_value),
            "weakness or strength of any node": min(tested(one.q_value) for one in found.values()),
        },
    )


def _scores(generator: np.random.Generator, criteria: list[str], index: np.ndarray) -> dict[str, float]:
    """Draw one model's scores, crowded at the top and alike within a sample."""
    shared = generator.normal(size=SAMPLES)[index] * np.sqrt(ALIKE)
    latent = shared + generator.normal(size=len(criteria)) * np.sqrt(1 - ALIKE)
    limits = [NormalDist().inv_cdf(share) for share in np.cumsum(SHARES)[:-1].tolist()]
    return dict(zip(criteria, SCORES[np.searchsorted(limits, latent)].tolist(), strict=True))
